//! Golden transcripts: with fixed seeds every protocol sends the bytes that `vectors/transcripts.json` has for this `WIRE_VERSION`.
//!
//! After a change of the wire, raise `WIRE_VERSION` and call
//! `UPDATE_TRANSCRIPTS=1 cargo test -p garblet --test contract`, which refuses as long as the number has not risen.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use garblet::{
    Bits, Config, Ends, Error, Order, OrderRequest, Party, Peer, Plan, Program, Protocol, Stock, StockKinds,
    circuit::{evaluate, random},
    components::{self, Components},
    fill,
    lego::{self, Lego},
    library,
    net::{
        WIRE_VERSION,
        testing::{Direction, FrameKind, Transcript, intercepted_mesh, intercepted_pair},
    },
    store::Store,
};
use rand::{SeedableRng, rngs::StdRng};

use super::{borders, inputs, name, own, party_count, protocols, samples};

/// The settings under which a large program is run as well: what orders gates in each way, and what has so many transfers that they are silent.
const LARGE: [(&str, &[(&str, &str)]); 4] =
    [("yao", &[]), ("yao", &[("scheme", "three-halves")]), ("gmw", &[]), ("authenticated", &[("ot", "silent")])];

/// The digests of the file, and the version that they are of.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Golden {
    wire_version: u32,
    /// BLAKE3 of all frames, pair by pair, forth and then back, by what is run.
    transcripts: BTreeMap<String, String>,
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/transcripts.json"))
}

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(16)").unwrap())
}

/// The inputs: one of each of the first two parties.
fn two_inputs() -> Vec<Bits> {
    [0, 1].map(|party| Bits::from_u128(40_503 + 5 * party, 16)).to_vec()
}

fn rng(party: Party) -> StdRng {
    StdRng::seed_from_u64(0x9a1b + u64::from(party.0))
}

/// Takes out a version's word of itself, the only thing in a hello that may change by itself.
fn without_version(payload: &[u8]) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    match payload.windows(version.len()).position(|window| window == version) {
        Some(at) => [&payload[..at], &payload[at + version.len()..]].concat(),
        None => payload.to_vec(),
    }
}

/// Bulk data is one stream, in whatever pieces it came.
fn digest<'a>(transcripts: impl IntoIterator<Item = &'a Transcript>) -> String {
    let mut hash = blake3::Hasher::new();
    for transcript in transcripts {
        let frames = transcript.frames();
        for way in [Direction::Forth, Direction::Back] {
            let mut bulk = 0;
            for frame in frames.iter().filter(|frame| frame.direction == way) {
                if frame.kind == FrameKind::Bulk {
                    bulk += frame.payload.len() as u64;
                    hash.update(&frame.payload);
                    continue;
                }
                let payload = without_version(&frame.payload);
                hash.update(format!("{bulk} {:?} {} ", frame.kind, payload.len()).as_bytes());
                hash.update(&payload);
                bulk = 0;
            }
            hash.update(format!("{bulk} {way:?}").as_bytes());
        }
    }
    hash.finalize().to_hex().to_string()
}

/// A run, `parties` of one plan.
async fn one(party: Party, ends: Ends, parties: u16, config: Config) -> Result<(), Error> {
    run(&program(), &two_inputs(), party, ends, parties, &config).await
}

/// The same of a program that is large enough for everything that the order of what is sent depends on.
async fn large(party: Party, ends: Ends, parties: u16, config: Config) -> Result<(), Error> {
    let program = borders::program();
    run(&program, &inputs(&program), party, ends, parties, &config).await
}

async fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    party: Party,
    ends: Ends,
    parties: u16,
    config: &Config,
) -> Result<(), Error> {
    let plan = Plan::new(program.clone(), parties, config)?;
    let mut peer = Peer::open(&plan, party, ends, &mut rng(party), Box::new(())).await?;
    let prepared = peer.prepare().await?;
    let report = peer.online(prepared, &own(program, inputs, party)).await?;
    let whole = program.whole().expect("gates can be read");
    for (output, expected) in report.outputs.iter().zip(evaluate(&whole, inputs)) {
        assert!(output.as_ref().is_none_or(|output| *output == expected), "{party} of {config:?}");
    }
    peer.close().await
}

/// Fills a store.
async fn filled(party: Party, ends: Ends, parties: u16, config: Config) -> Result<(), Error> {
    let rng = &mut rng(party);
    let order = match config.stock() {
        Some(StockKinds::Library) => Order::of::<Components>(components::Library::of_program(&program())),
        Some(StockKinds::Pieces(_)) if config.protocol() == Protocol::of::<Lego>() => {
            Order::of::<Lego>(lego::Amounts { gates: 40, inputs: 32, input_pairs: 32, outputs: 17 })
        }
        Some(StockKinds::Pieces(kinds)) => {
            let amounts = kinds.iter().map(|kind| (kind.to_string(), 40)).collect();
            Order::new(&OrderRequest { amounts, ..OrderRequest::default() }, parties, &config)?
        }
        _ => {
            let amounts = vec![("runs".into(), 2)];
            Order::new(&OrderRequest { program: Some(program()), amounts, library: None }, parties, &config)?
        }
    };
    let stock = Stock::new(order, Store::in_memory(rng).unwrap(), "peer");
    fill(stock, party, ends, &config, 100, rng, Box::new(())).await.map(drop)
}

/// The digest of all that the parties of a protocol send each other.
async fn transcript<F>(config: &Config, party: impl Fn(Party, Ends, u16, Config) -> F) -> String
where
    F: Future<Output = Result<(), Error>> + 'static,
{
    let local = tokio::task::LocalSet::new();
    let (ends, transcripts): (Vec<Ends>, Vec<Transcript>) = if config.protocol().is_mesh() {
        let (meshes, transcripts) = intercepted_mesh(party_count(config), None);
        (
            meshes.into_iter().map(Ends::from).collect(),
            transcripts.into_iter().map(|(_, transcript)| transcript).collect(),
        )
    } else {
        let (left, right, transcript) = intercepted_pair(None);
        (vec![left.into(), right.into()], vec![transcript])
    };
    let count = ends.len() as u16;
    let parties: Vec<_> = (0..)
        .map(Party)
        .zip(ends)
        .map(|(number, ends)| local.spawn_local(party(number, ends, count, config.clone())))
        .collect();
    local.await;
    for party in parties {
        party.await.unwrap().unwrap();
    }
    digest(&transcripts)
}

async fn transcripts() -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for config in samples() {
        digests.insert(name(&config), transcript(&config, one).await);
    }
    for (protocol, parameters) in LARGE {
        let Some(protocol) = protocols().into_iter().find(|tested| tested.to_string() == protocol) else { continue };
        let mut config = Config::of(protocol);
        parameters.iter().for_each(|(name, value)| config.set(name, value).expect("a parameter"));
        digests.insert(format!("{}, a large program", name(&config)), transcript(&config, large).await);
    }
    for protocol in protocols().into_iter().filter(|protocol| protocol.stock().is_some()) {
        let config = protocol.samples().remove(0);
        digests.insert(format!("{protocol}, a store is filled"), transcript(&config, filled).await);
    }
    digests
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transcripts_change_with_the_wire_version_alone() {
    let text = std::fs::read_to_string(path()).unwrap();
    let mut golden: Golden = serde_json::from_str(&text).unwrap();
    // Features may leave protocols out, and so may who asks for one alone.
    let tested: Vec<String> = protocols().iter().map(Protocol::to_string).collect();
    let in_file = golden.transcripts.len();
    golden
        .transcripts
        .retain(|name, _| name.split([' ', ',']).next().is_some_and(|name| tested.iter().any(|t| t == name)));
    let now = Golden { wire_version: WIRE_VERSION, transcripts: transcripts().await };
    let changed = |name: &&String| now.transcripts.get(*name) != golden.transcripts.get(*name);
    let changed: Vec<&String> = golden.transcripts.keys().filter(changed).collect();
    assert!(
        changed.is_empty() || WIRE_VERSION > golden.wire_version,
        "the bytes on the wire have changed, but WIRE_VERSION is {WIRE_VERSION} as before: raise it; changed are {changed:?}"
    );
    if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
        assert_eq!(tested.len(), Protocol::ALL.len(), "the file has the transcripts of all protocols");
        let hint = "the file has protocols that this build lacks: --features garblet/toy,garblet-cli/toy";
        assert_eq!(golden.transcripts.len(), in_file, "{hint}");
        std::fs::write(path(), serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
        return;
    }
    assert!(now == golden, "vectors/transcripts.json is behind; bring it up to date with UPDATE_TRANSCRIPTS=1");
}

/// The program of [`program`], with its gates elsewhere.
fn stored_program() -> Arc<Program> {
    let program = program();
    let stored = random::stored(&program.components()[0], 7).expect("nothing is to simplify");
    Arc::new(Program::from_component(stored, &[Party(0), Party(1)]).expect("it fits"))
}

async fn stored_one(party: Party, ends: Ends, parties: u16, config: Config) -> Result<(), Error> {
    run(&stored_program(), &two_inputs(), party, ends, parties, &config).await
}

/// Of the protocols that read all gates first, those that go about a program in different ways.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transcripts_do_not_depend_on_the_place_of_the_gates() {
    assert_eq!(stored_program().digest(), program().digest());
    let is_tested = |config: &Config| {
        let protocol = config.protocol();
        protocol.reads_gates() || ["gmw", "two-garblers", "authenticated"].contains(&protocol.name())
    };
    for config in samples().into_iter().filter(is_tested) {
        assert_eq!(transcript(&config, stored_one).await, transcript(&config, one).await, "{}", name(&config));
    }
}
