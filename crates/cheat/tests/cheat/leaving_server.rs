//! A server of `outsourced` that leaves right after the generator has sent labels: nobody is accused, no output is wrong, and no version of a state counts
//! twice.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use garblet_authenticated::{Amounts, EvaluatorSide, GarblerSide};
use garblet_cheat::{Outputs, authenticated::configs};
use garblet_circuit::{Bits, Party, Program, evaluate};
use garblet_client::Server;
use garblet_net::{
    Hello, Mesh,
    testing::{Direction, FrameKind, Transcript, intercepted_mesh},
};
use garblet_outsourced::{Client, Config, FormPlan, NAME, Outsourced, Plan, Receipts, ServerRole, Step};
use garblet_protocol::{
    MeshSession, Protocol, ProtocolError, Role,
    conduct::{Conduct, Honest},
    protocol::Request,
    stock::{ReadInput, SavedValues, Stock},
};
use garblet_store::Store;

use crate::outsourced::{CLOUD, GENERATOR, Kept, advancing, at_version, inputs, program, rng};

const CLIENTS: [usize; 2] = [1, 2];

/// An upper bound on the bytes that the generator sends between its last verdict and the labels; labels have more.
const BEFORE_LABELS: usize = 128;

/// Counts the steps at which a server has reached its last verdict before labels leave.
#[derive(Clone, Default)]
struct Watched(Arc<AtomicUsize>);

impl Conduct<Step> for Watched {
    fn touch(&mut self, step: Step, _: usize, _: &mut [u8]) {
        if matches!(step, Step::Proofs | Step::Verdict) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Both servers send a verdict and proofs; the cloud sends a second verdict once it has checked the generator's.
fn last_word(server: usize) -> usize {
    if server == CLOUD { 3 } else { 2 }
}

/// Runs a party until labels have left the generator after its last verdict; `None` if it left then.
async fn until_labels_have_left<T>(
    life: impl Future<Output = T>,
    (words, last): (&AtomicUsize, usize),
    between: &Transcript,
) -> Option<T> {
    let sent = || -> usize {
        let frames = between.frames().into_iter();
        let forth = frames.filter(|frame| frame.direction == Direction::Forth && frame.kind == FrameKind::Bulk);
        forth.map(|frame| frame.payload.len()).sum()
    };
    let (mut life, mut before) = (pin!(life), None);
    poll_fn(|context| {
        if before.is_some_and(|before| sent() > before + BEFORE_LABELS) {
            return Poll::Ready(None);
        }
        let polled = life.as_mut().poll(context).map(Some);
        if words.load(Ordering::Relaxed) >= last {
            before.get_or_insert_with(sent);
        }
        polled
    })
    .await
}

/// The end of a party: its result, with the error that came after its outputs; `None` if it left.
type Ended = Option<Result<(Outputs, Option<ProtocolError>), ProtocolError>>;

/// Runs all parties, one of which, a server, leaves silently.
fn run(
    (program, inputs): (Arc<Program>, &[Bits]),
    (config, saved): (Config, SavedValues),
    leaver: usize,
    stores: Vec<Option<Store>>,
) -> Vec<Ended> {
    let request = Request { program: program.clone(), parties: 4, config, saved };
    let FormPlan::Shares(plan) = Outsourced::plan(&request).expect("it can be run") else { panic!("the default form") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (meshes, transcripts) = intercepted_mesh(4, None);
        let between =
            transcripts.into_iter().find(|(pair, _)| *pair == (0, CLOUD as u16)).expect("the servers' pair").1;
        let lives = meshes.into_iter().zip(stores).map(|(mut mesh, store)| {
            mesh.set_timeout(Duration::from_secs(20));
            let party = Party(mesh.party());
            let is_read = |port: &str| request.saved.read.iter().any(|read| read.port == port);
            let own = program.inputs().iter().zip(inputs);
            let own = own.filter(|(input, _)| input.owner == party && !is_read(&input.port.name));
            let own: Vec<Bits> = own.map(|(_, value)| value.clone()).collect();
            let hello = Hello::new(NAME, party.0, 4, program.digest());
            let (plan, between, watched) = (plan.clone(), between.clone(), Watched::default());
            tokio::spawn(async move {
                let life = live(mesh, hello, (plan, party), own, store, watched.clone());
                match usize::from(party.0) == leaver {
                    true => until_labels_have_left(life, (&watched.0, last_word(leaver)), &between).await,
                    false => Some(life.await),
                }
            })
        });
        let lives: Vec<_> = lives.collect();
        let mut ended = Vec::new();
        for life in lives {
            ended.push(life.await.expect("no panic"));
        }
        ended
    })
}

/// Runs one party to its end. A party that fails tells the others.
async fn live(
    mesh: Mesh,
    hello: Hello,
    (plan, party): (Arc<Plan>, Party),
    own: Vec<Bits>,
    store: Option<Store>,
    watched: Watched,
) -> Result<(Outputs, Option<ProtocolError>), ProtocolError> {
    let mut session = MeshSession::join(mesh, rng(), &hello, Box::new(())).await?;
    let stock = |store| Stock {
        store,
        peer: "all".into(),
        order: Amounts::default(),
        top_up: true,
        fill_first: false,
        retries: None,
    };
    let ran = match plan.server(party) {
        Some(server @ Server::Generator) => {
            let role =
                ServerRole::<GarblerSide, _>::set_up(&mut session, plan, server, store.map(stock), watched).await;
            ran(role, &mut session, &own).await
        }
        Some(server @ Server::Cloud) => {
            let role =
                ServerRole::<EvaluatorSide, _>::set_up(&mut session, plan, server, store.map(stock), watched).await;
            ran(role, &mut session, &own).await
        }
        None => {
            let receipts = store.map(|store| Receipts::new(store, "all")).transpose()?;
            ran(Ok(Client::new(plan, party, receipts, Honest)), &mut session, &own).await
        }
    };
    if let Err(error) = &ran {
        session.abort(error).await;
    }
    ran
}

async fn ran<R: Role<Mesh>>(
    role: Result<R, ProtocolError>,
    session: &mut MeshSession,
    own: &[Bits],
) -> Result<(Outputs, Option<ProtocolError>), ProtocolError> {
    let mut role = role?;
    let outputs = role.run(session, own).await?;
    Ok((outputs, role.late_error()))
}

/// Checks that a party lost its outputs because another one left, and accuses nobody.
fn assert_lost_to(ended: &Ended, leaver: usize, what: &str) {
    let Some(Err(error)) = ended else { panic!("{what}: it has a result") };
    assert!(!error.is_evidence(), "{what}: {error}");
    assert!(!matches!(error, ProtocolError::Refused(_) | ProtocolError::Rejected(_)), "{what}: {error}");
    let blame = error.blame().unwrap_or_else(|| panic!("{what}: {error}"));
    assert_eq!(usize::from(blame.party), leaver, "{what}: {error}");
    assert!(blame.cause != garblet_net::Cause::Misbehaved, "{what}: {error}");
}

#[test]
fn a_server_that_leaves_after_labels_is_reported_gone_and_nobody_is_accused() {
    let sum = evaluate(&program(), &inputs())[0].clone();
    for shares in configs() {
        let config = Config { shares, ..Config::default() };
        for leaver in [GENERATOR, CLOUD] {
            let stores = (0..4).map(|_| None).collect();
            let ended = run((program(), &inputs()), (config, SavedValues::default()), leaver, stores);
            let what = |party: usize| format!("party {party}, {leaver} leaves, {config:?}");
            assert!(ended[leaver].is_none(), "{}: it has not left", what(leaver));
            for client in CLIENTS {
                assert_lost_to(&ended[client], leaver, &what(client));
            }
            match leaver {
                // The cloud has everything it needs from the generator, unless gates are streamed or it reveals masked values.
                GENERATOR => match &ended[CLOUD] {
                    Some(Ok((outputs, _))) => assert!(outputs[0] == Some(sum.clone()), "{}", what(CLOUD)),
                    failed => assert_lost_to(failed, leaver, &what(CLOUD)),
                },
                _ => assert_lost_to(&ended[GENERATOR], leaver, &what(GENERATOR)),
            }
        }
    }
}

/// The state stays at its version for both servers, even if the cloud has kept the next one as pending, and the next run makes that version, with the right
/// value.
#[test]
fn a_server_that_leaves_after_labels_leaves_the_state_unchanged_and_the_next_run_succeeds() {
    for leaver in [GENERATOR, CLOUD] {
        let kept = Kept::new();
        let read = || vec![ReadInput { port: "one".into(), name: "sum".into(), output: None }];
        for round in 0..3 {
            let (program, inputs, saved) = advancing(read());
            let stores = (0..4).map(|party| Some(kept.store(party))).collect();
            let ended = run((program, &inputs), (Config::default(), saved), leaver, stores);
            let what = |party: usize| format!("party {party}, {leaver} leaves, round {round}");
            assert!(ended[leaver].is_none(), "{}: it has not left", what(leaver));
            for party in [GENERATOR, CLIENTS[0], CLIENTS[1], CLOUD].into_iter().filter(|party| *party != leaver) {
                assert_lost_to(&ended[party], leaver, &what(party));
            }
            assert_eq!(kept.states(), at_version(1), "{}", what(leaver));
        }
        // The sum is 7, and 4 is added.
        let product = kept.again(CLOUD, garblet_cheat::outsourced::Cheat::None, 9);
        let product = product.into_iter().nth(1).expect("the first client").expect("all are honest");
        assert!(product[1] == Some(Bits::from_u128(7 * 4, 8)), "{leaver} has left three times");
        assert_eq!(kept.states(), at_version(2));
    }
}
