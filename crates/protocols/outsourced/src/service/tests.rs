//! A server that lies to the other one between runs, over the wire: conclusions, accusations and counts.

use std::{collections::BTreeMap, sync::Mutex};

use garblet_authenticated::{EvaluatorSide, GarblerSide, Participant, Side};
use garblet_circuit::{Circuit, Component, Gate, Port, Program, Type, Wire};
use garblet_client::{Begun, Identity, Invitation, Receipt, Rejected, Said, Visit};
use garblet_net::memory_pair;
use garblet_primitives::Block;
use garblet_protocol::{Session, conduct::Honest, stock::SavedValues};
use garblet_store::StoreKey;

use super::{
    desk::Ticket,
    words::{CLIENTS_MAX, Id, Word},
    *,
};
use crate::{server::NONCE_BYTES, state};

const CLIENTS: [&str; 2] = ["anna", "bo"];

/// A little more than the time after which an honest server compares counters.
const LONG: Duration = Duration::from_millis(2200);

fn rng(seed: u128) -> Prg {
    Prg::new(Block::from_u128(seed))
}

/// One AND gate on the two clients' inputs.
fn agreement() -> Arc<Agreement> {
    let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).expect("a circuit");
    let port = |name: &str| Port::new(name, Type::Bits(1));
    let component = Component::new("and", vec![port("x"), port("y")], vec![port("z")], circuit).expect("it fits");
    let program = Arc::new(Program::from_component(component, &[Party(1), Party(2)]).expect("a program"));
    let clients = CLIENTS.map(|name| vec![name.to_string()]).to_vec();
    let offer = Offer { name: "and".into(), program, clients, saved: SavedValues::default(), first: false };
    let (servers, names) = (["generator", "cloud"].map(Identity::of_client), CLIENTS.map(String::from).to_vec());
    let service = ServiceId([1; 16]);
    let agreed = Agreement::new(service, servers, names, vec![offer], BTreeMap::new(), Default::default());
    Arc::new(agreed.expect("an agreement"))
}

fn secret(client: usize) -> Secret {
    Secret::from_bytes([client as u8 + 1; 32])
}

/// An honest server with its log, and both clients of its job.
struct Scene {
    agreement: Arc<Agreement>,
    server: Server,
    service: Service,
    log: Arc<Mutex<Vec<String>>>,
    store: Arc<dyn Fn() -> Store + Send + Sync>,
    _folder: tempfile::TempDir,
}

impl Scene {
    fn new(server: Server) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, key) = (folder.path().join("store"), StoreKey::generate(&mut rng(1)));
        let store: Arc<dyn Fn() -> Store + Send + Sync> =
            Arc::new(move || Store::open_or_create(&path, &key, &mut rng(2)).expect("it opens"));
        let (agreement, log) = (agreement(), Arc::new(Mutex::new(Vec::new())));
        let heard = log.clone();
        let hear = move |event: Event<'_>| {
            let line = match event {
                Event::Refused { reason, accused, .. } => format!("refused: {reason:?} {accused:?}"),
                Event::Ran { .. } => "ran".into(),
                Event::Unended(count, _) => format!("{count} unended"),
                _ => return,
            };
            heard.lock().expect("no panic").push(line);
        };
        let secrets = vec![secret(0), secret(1)];
        let opened = store.clone();
        let open: OpenStore = Box::new(move || Ok(opened()));
        let stock = (&OrderRequest::default(), open);
        let service = Service::new((agreement.clone(), server), secrets, Vec::new(), stock, hear, &mut rng(3));
        Scene { agreement, server, service: service.expect("a service"), log, store, _folder: folder }
    }

    fn invitations(&self, client: usize) -> [Invitation; 2] {
        Server::BOTH.map(|server| {
            let (identity, name) = (self.agreement.server(server), server.to_string());
            Invitation::with_secret(identity, &name, CLIENTS[client], secret(client)).expect("a name")
        })
    }

    /// Lets a client leave a submission with this counter at the server.
    fn submit(&self, client: usize, counter: u64) -> Submitted {
        let job = self.agreement.job("and", &CLIENTS.map(String::from), "", 1).expect("an offer");
        let [generator, cloud] = self.invitations(client);
        let receipt = Receipt::first("").with_counter(counter - 1);
        let seed = 100 * client as u128 + u128::from(counter);
        let begun = Visit::begin(&job, [&generator, &cloud], &receipt, &Bits::from_u128(1, 1), &mut rng(seed));
        let Begun { visit, to_generator, to_cloud, .. } = begun.expect("they go together");
        let frame = if self.server == Server::Generator { to_generator } else { to_cloud };
        Submitted { visit, ticket: self.service.desk.submit(&frame, &mut rng(seed)) }
    }

    /// The server's reply to a client; `None` if the client has to wait.
    fn word(&self, Submitted { mut visit, ticket }: Submitted) -> Option<(Reason, Vec<Party>)> {
        let frame = match ticket {
            Ticket::Stranger(frame) | Ticket::Reply(frame) => frame,
            Ticket::Wait(reply, _) => reply.borrow().as_ref()?.to_vec(),
        };
        visit.hear(self.server, &frame);
        let Err(Rejected::Unanswered { generator, cloud }) = visit.open() else { panic!("one server said nothing") };
        match *(if self.server == Server::Generator { generator } else { cloud }) {
            Said::Refusal(refusal) => Some((refusal.reason, refusal.accused)),
            other => panic!("{other:?}"),
        }
    }

    /// Lets the server work with one that meets it honestly and then deviates as given; returns the server's error, if it ends with one before the other
    /// leaves.
    fn against<S: Side>(&self, liar: impl AsyncFnOnce(&mut Session)) -> String {
        let (ours, theirs) = memory_pair();
        let options = Options { timeout: Duration::from_secs(20), ..Options::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let honest = self.service.pair(ours, (self.service.open)().expect("it opens"), &options, rng(4));
            let lies = async {
                let hello = self.agreement.hello(self.server.other());
                let mut session = Session::open(theirs, rng(5), &hello, Box::new(())).await.expect("both agree");
                let stock = (Store::in_memory(&mut rng(6)).expect("a store"), "the honest one");
                let met = Participant::<S, Honest>::meet(&mut session, self.agreement.config(), stock, Honest).await;
                let mut met = met.expect("both are honest so far");
                let states = self.agreement.states();
                state::meet(&mut session, met.store(), &states, [7; NONCE_BYTES]).await.expect("there are none");
                liar(&mut session).await;
                session.abort().await;
            };
            let (honest, ()) = tokio::join!(honest, lies);
            honest.expect_err("it works for ever").to_string()
        })
    }

    fn lines(&self) -> Vec<String> {
        self.log.lock().expect("no panic").clone()
    }

    /// The number of refusals that accused a client, as finally stored.
    fn accusations(&self, client: usize) -> u32 {
        let record = clients::Record::of(&(self.store)(), self.agreement.identity(client)).expect("a record");
        record.refusals()
    }
}

/// A client that waits for its answer.
struct Submitted {
    visit: Visit,
    ticket: Ticket,
}

async fn say(session: &mut Session, word: Word) {
    session.channel().send(&word).await.expect("the other server is there");
    session.channel().flush().await.expect("the other server is there");
}

/// The next message that is not a sign of life.
async fn heard(session: &mut Session) -> Word {
    loop {
        match session.channel().receive().await.expect("the other server is there") {
            Word::Here => {}
            word => return word,
        }
    }
}

/// The job that the cloud reports as complete.
async fn had(session: &mut Session) -> (Id, [u64; CLIENTS_MAX]) {
    match heard(session).await {
        Word::Have(id, _, counters) => (id, counters),
        word => panic!("{word:?}"),
    }
}

fn with_counter(mut counters: [u64; CLIENTS_MAX], client: usize, counter: u64) -> [u64; CLIENTS_MAX] {
    counters[client] = counter;
    counters
}

/// This looks the same as a client that dealt to each server with another counter: both are named, and the other client is not.
#[test]
fn a_generator_that_reports_wrong_counters_is_named_beside_the_client() {
    let scene = Scene::new(Server::Cloud);
    let waiting = [scene.submit(0, 1), scene.submit(1, 1)];
    let mut later = None;
    scene.against::<GarblerSide>(async |session| {
        let (id, counters) = had(session).await;
        assert_eq!(counters, with_counter(with_counter([0; CLIENTS_MAX], 0, 1), 1, 1));
        tokio::time::sleep(LONG).await;
        say(session, Word::Differ(id, with_counter(counters, 1, 2))).await;
        // The job is gone, and nobody is accused twice; the servers go on with each other.
        say(session, Word::Differ(id, with_counter(counters, 0, 2))).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        later = Some([scene.submit(0, 2), scene.submit(1, 2)]);
        had(session).await;
    });
    for waiting in waiting {
        assert_eq!(scene.word(waiting), Some((Reason::Interrupted, vec![Party(0), Party(2)])));
    }
    assert!(Reason::Interrupted.is_never_run(), "clients may deal again");
    assert_eq!(scene.lines(), [format!("refused: {:?} {:?}", Reason::Interrupted, [Party(2), Party(0)])]);
    assert_eq!([0, 1].map(|client| scene.accusations(client)), [0, 1]);
    assert_eq!(scene.service.desk.unended(), 0, "no label has left");
    for later in later.expect("they have come") {
        assert_eq!(scene.word(later), None, "the new job waits for a generator");
    }
}

/// It reports the same counters as the cloud has, so no client can be at fault.
#[test]
fn a_generator_that_reports_a_difference_where_there_is_none_is_accused_alone() {
    let scene = Scene::new(Server::Cloud);
    let waiting = [scene.submit(0, 1), scene.submit(1, 1)];
    scene.against::<GarblerSide>(async |session| {
        let (id, counters) = had(session).await;
        tokio::time::sleep(LONG).await;
        // The job has two clients.
        say(session, Word::Differ(id, with_counter(counters, 2, 9))).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    });
    for waiting in waiting {
        assert_eq!(scene.word(waiting), Some((Reason::Interrupted, vec![Party(0)])));
    }
    assert_eq!([0, 1].map(|client| scene.accusations(client)), [0, 0]);
}

/// Clients may be about to submit again, and a cloud never reports differences.
#[test]
fn a_difference_reported_early_or_by_the_cloud_ends_the_meeting_and_accuses_nobody() {
    let cloud = Scene::new(Server::Cloud);
    let mut waiting = None;
    let early = cloud.against::<GarblerSide>(async |session| {
        // Now, because a job that has long been complete may differ.
        waiting = Some([cloud.submit(0, 1), cloud.submit(1, 1)]);
        let (id, counters) = had(session).await;
        // A difference for an unknown job means nothing.
        say(session, Word::Differ([9; 32], counters)).await;
        say(session, Word::Differ(id, with_counter(counters, 0, 2))).await;
        let _ = session.channel().receive::<Word>().await;
    });
    assert!(early.contains("no such message about a recently completed job"), "{early}");
    let generator = Scene::new(Server::Generator);
    let also = [generator.submit(0, 1), generator.submit(1, 1)];
    let by_cloud = generator.against::<EvaluatorSide>(async |session| {
        say(session, Word::Differ([9; 32], [1; CLIENTS_MAX])).await;
        let _ = session.channel().receive::<Word>().await;
    });
    assert!(by_cloud.contains("a message that this server waits for"), "{by_cloud}");
    for (scene, waiting) in [(&cloud, waiting.expect("they have submitted")), (&generator, also)] {
        assert!(scene.lines().is_empty(), "{:?}", scene.lines());
        assert_eq!(scene.service.desk.all_complete().len(), 1, "the job waits for the next meeting");
        assert_eq!(waiting.map(|waiting| scene.word(waiting)), [None, None]);
        assert_eq!([0, 1].map(|client| scene.accusations(client)), [0, 0]);
    }
}

/// The generator compares its counters with the reported ones, tells the cloud, and both are named.
#[test]
fn a_cloud_that_reports_wrong_counters_is_named_beside_the_client() {
    let scene = Scene::new(Server::Generator);
    let waiting = [scene.submit(0, 1), scene.submit(1, 1)];
    let job = *scene.agreement.job("and", &CLIENTS.map(String::from), "", 1).expect("an offer").digest();
    let told = with_counter(with_counter([0; CLIENTS_MAX], 0, 7), 1, 1);
    scene.against::<EvaluatorSide>(async |session| {
        say(session, Word::Have([5; 32], job, told)).await;
        let word = heard(session).await;
        assert_eq!(word, Word::Differ([5; 32], with_counter(told, 0, 1)), "its own counters");
    });
    for waiting in waiting {
        assert_eq!(scene.word(waiting), Some((Reason::Interrupted, vec![Party(1), Party(3)])));
    }
    assert_eq!([0, 1].map(|client| scene.accusations(client)), [1, 0]);
    assert_eq!(scene.service.desk.unended(), 0, "no label has left");
}
