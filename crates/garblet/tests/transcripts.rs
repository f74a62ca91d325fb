//! Golden transcripts: with fixed seeds every protocol sends the bytes that `vectors/transcripts.json` has for this `WIRE_VERSION`.
//!
//! After a change of the wire, raise `WIRE_VERSION` and call
//! `UPDATE_TRANSCRIPTS=1 cargo test -p garblet --test transcripts`, which refuses as long as the number has not risen.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use garblet::{
    Bits, Config, Contents, Error, MeshPeer, Party, Peer, Program, Protocol, Supply, Values, components, fill,
    fill_runs, lego, library,
    net::{
        Channel, Mesh, WIRE_VERSION,
        testing::{Direction, FrameKind, Transcript, intercepted_mesh, intercepted_pair},
    },
    store::Store,
};
use rand::{SeedableRng, rngs::StdRng};

/// Parameters by name.
type Parameters = &'static [(&'static str, &'static str)];

/// What is run, by its name in the file: a protocol with parameters that are not the standard ones.
const RUNS: &[(&str, &str, Parameters)] = &[
    ("yao", "yao", &[]),
    ("yao, tables ahead", "yao", &[("build", "ahead")]),
    ("yao, three halves", "yao", &[("scheme", "three-halves"), ("ot-k", "8")]),
    ("components", "components", &[]),
    ("components, keyed", "components", &[("links", "keyed")]),
    ("covert", "covert", &[]),
    ("covert, al07", "covert", &[("form", "al07"), ("circuits", "2")]),
    ("covert, al07, pvw", "covert", &[("form", "al07"), ("circuits", "2"), ("ot", "pvw")]),
    ("cut-and-choose", "cut-and-choose", &[("circuits", "5")]),
    ("cut-and-choose, lp07", "cut-and-choose", &[("form", "lp07"), ("circuits", "4")]),
    ("lego", "lego", &[]),
    ("lego, bch312", "lego", &[("code", "bch312")]),
    ("gmw", "gmw", &[]),
    ("gmw, 2012", "gmw", &[("form", "2012")]),
    ("bmr", "bmr", &[]),
    ("bmr, published", "bmr", &[("form", "published")]),
    ("bmr-bgw4", "bmr-bgw4", &[]),
    ("bmr-bgw3", "bmr-bgw3", &[]),
    ("bmr-bgw3, published", "bmr-bgw3", &[("form", "published")]),
    ("bmr-bgw2", "bmr-bgw2", &[]),
    ("bmr-bgw2, published", "bmr-bgw2", &[("form", "published")]),
];

/// The digests of the file, and the version that they are of.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Golden {
    wire_version: u32,
    /// By what is run, BLAKE3 of all frames, pair by pair, forth and then back.
    transcripts: BTreeMap<String, String>,
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/transcripts.json"))
}

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(16)").unwrap())
}

/// The inputs of a party: one of the first two has one.
fn own(party: Party) -> Vec<Bits> {
    let inputs = program().inputs().iter().filter(|input| input.owner == party).count();
    vec![Bits::from_u128(40_503 + 5 * u128::from(party.0), 16); inputs]
}

fn rng(party: Party) -> StdRng {
    StdRng::seed_from_u64(0x9a1b + u64::from(party.0))
}

/// What a version says of itself is the only thing in a hello that may change by itself.
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

fn supply(contents: Contents, rng: &mut StdRng) -> Supply {
    let store = Store::in_memory(rng).unwrap();
    Supply { contents, store, peer: "peer".into(), fill_first: false, values: Values::default() }
}

async fn two(party: Party, channel: Channel, config: Config) -> Result<(), Error> {
    let mut peer = Peer::open(program(), party, channel, config, &mut rng(party), Box::new(())).await?;
    let prepared = peer.prepare().await?;
    peer.online(prepared, &own(party)).await?;
    peer.close().await
}

async fn many(mesh: Mesh, config: Config) -> Result<(), Error> {
    let party = Party(mesh.party());
    let mut peer = MeshPeer::join(program(), mesh, config, &mut rng(party), Box::new(())).await?;
    let prepared = peer.prepare().await?;
    peer.online(prepared, &own(party)).await?;
    peer.close().await
}

/// Fills a store for two parties.
async fn filled(party: Party, channel: Channel, config: Config) -> Result<(), Error> {
    let rng = &mut rng(party);
    let contents = match config.protocol {
        Protocol::Components => Contents::Components(components::Library::of_program(&program())),
        _ => Contents::Gates(lego::Amounts { gates: 40, inputs: 32, input_pairs: 32, outputs: 17 }),
    };
    let supply = supply(contents, rng);
    fill(supply, party, channel, config, 100, rng, Box::new(())).await.map(drop)
}

async fn pair<F>(party: impl Fn(Party, Channel) -> F) -> String
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let (left, right, transcript) = intercepted_pair(None);
    let parties = [(Party(0), left), (Party(1), right)].map(|(number, channel)| tokio::spawn(party(number, channel)));
    for party in parties {
        party.await.unwrap().unwrap();
    }
    digest([&transcript])
}

async fn mesh<F>(config: Config, party: impl Fn(Mesh) -> F) -> String
where
    F: Future<Output = Result<(), Error>> + 'static,
{
    let count = (*config.protocol.parties().start()).max(3);
    let (meshes, transcripts) = intercepted_mesh(count, None);
    let local = tokio::task::LocalSet::new();
    let parties: Vec<_> = meshes.into_iter().map(|mesh| local.spawn_local(party(mesh))).collect();
    local.await;
    for party in parties {
        party.await.unwrap().unwrap();
    }
    digest(transcripts.iter().map(|(_, transcript)| transcript))
}

async fn transcripts() -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for (name, protocol, parameters) in RUNS {
        let mut config = Config::of(protocol.parse().unwrap());
        parameters.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        let digest = match config.protocol.is_mesh() {
            true => mesh(config, |mesh| many(mesh, config)).await,
            false => pair(|party, channel| two(party, channel, config)).await,
        };
        digests.insert(name.to_string(), digest);
    }
    for protocol in [Protocol::Components, Protocol::Lego] {
        let config = Config::of(protocol);
        let digest = pair(|party, channel| filled(party, channel, config)).await;
        digests.insert(format!("{protocol}, a store is filled"), digest);
    }
    for protocol in [Protocol::Gmw, Protocol::Bmr(Default::default())] {
        let config = Config::of(protocol);
        let fill = |mesh: Mesh| async move {
            let rng = &mut rng(Party(mesh.party()));
            let supply = supply(Contents::Runs, rng);
            fill_runs(program(), mesh, config, supply, 2, rng, Box::new(())).await.map(drop)
        };
        digests.insert(format!("{protocol}, a store is filled"), mesh(config, fill).await);
    }
    digests
}

#[test]
fn every_protocol_has_its_golden_transcript() {
    for protocol in Protocol::ALL {
        assert!(RUNS.iter().any(|(_, name, _)| *name == protocol.name()), "{protocol} has no golden transcript");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transcripts_change_with_the_wire_version_alone() {
    let text = std::fs::read_to_string(path()).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let now = Golden { wire_version: WIRE_VERSION, transcripts: transcripts().await };
    let changed = |name: &&String| now.transcripts.get(*name) != golden.transcripts.get(*name);
    let changed: Vec<&String> = golden.transcripts.keys().filter(changed).collect();
    assert!(
        changed.is_empty() || WIRE_VERSION > golden.wire_version,
        "the bytes on the wire have changed, but WIRE_VERSION is {WIRE_VERSION} as before: raise it; changed are {changed:?}"
    );
    if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
        std::fs::write(path(), serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
        return;
    }
    assert!(now == golden, "vectors/transcripts.json is behind; bring it up to date with UPDATE_TRANSCRIPTS=1");
}
