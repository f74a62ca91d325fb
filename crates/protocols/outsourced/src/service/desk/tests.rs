use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Type, Wire};
use garblet_client::{Begun, Identity, Invitation, Pending, Receipt, Rejected, Said, Visit};
use garblet_net::{Hello, NetError, SCHEDULE, memory_pair};
use garblet_primitives::{Block, Prg};
use garblet_protocol::stock::{ReadInput, SavedValues};

use super::{
    manners::{ALLOWANCE, CONNECTIONS_MAX},
    *,
};
use crate::service::{Offer, ServiceId};

thread_local! {
    /// The number of jobs read.
    pub(super) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

thread_local! {
    /// The number of seals tried.
    pub(super) static TRIED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

const CLIENTS: [&str; 2] = ["anna", "bo"];

/// A fresh stream each time.
fn random() -> Prg {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    Prg::new(Block::from_u128(CALLS.fetch_add(1, Ordering::Relaxed).into()))
}

/// An offer of one AND gate on the two clients' inputs.
fn offer(name: &str) -> Offer {
    offer_of(name, vec![Gate::And(Wire(0), Wire(1))])
}

/// An offer of these gates, the last of which gives the output.
fn offer_of(name: &str, gates: Vec<Gate>) -> Offer {
    let last = Wire(gates.len() as u32 + 1);
    let circuit = Circuit::new(2, gates, vec![last]).expect("a circuit");
    let port = |name: &str| Port::new(name, Type::Bits(1));
    let component = Component::new("and", vec![port("x"), port("y")], vec![port("z")], circuit).expect("it fits");
    let program = Arc::new(Program::from_component(component, &[Party(1), Party(2)]).expect("a program"));
    let clients = CLIENTS.map(|name| vec![name.to_string()]).to_vec();
    Offer { name: name.into(), program, clients, saved: SavedValues::default(), first: false }
}

fn agreed(service: u8, offers: Vec<Offer>) -> Result<Agreement, ProtocolError> {
    let servers = ["generator", "cloud"].map(Identity::of_client);
    let clients = CLIENTS.map(String::from).to_vec();
    Agreement::new(ServiceId([service; 16]), servers, clients, offers, BTreeMap::new(), Default::default())
}

fn secret(client: usize) -> Secret {
    Secret::from_bytes([client as u8 + 1; 32])
}

/// The generator's desk, just after its process has started with a store.
fn desk(store: &Store) -> Desk {
    let agreement = Arc::new(agreed(1, vec![offer("and")]).expect("an agreement"));
    Desk::new(agreement, Server::Generator, vec![secret(0), secret(1)], store, &mut random()).expect("a desk")
}

fn store() -> Store {
    Store::in_memory(&mut random()).expect("a store")
}

fn invitations(agreement: &Agreement, client: usize) -> [Invitation; 2] {
    Server::BOTH.map(|server| {
        let invited =
            Invitation::with_secret(agreement.server(server), &server.to_string(), CLIENTS[client], secret(client));
        invited.expect("a name")
    })
}

/// A client's deal with this counter.
fn begin(agreement: &Agreement, client: usize, counter: u64) -> Begun {
    let job = agreement.job("and", &CLIENTS.map(String::from), "", 1).expect("an offer");
    let [generator, cloud] = invitations(agreement, client);
    let receipt = Receipt::first("").with_counter(counter - 1);
    let begun = Visit::begin(&job, [&generator, &cloud], &receipt, &Bits::from_u128(1, 1), &mut random());
    begun.expect("they go together")
}

fn submit(desk: &Desk, begun: &Begun) -> Ticket {
    desk.submit(&begun.to_generator, &mut random())
}

/// The generator's reply to a client; `None` if the client has to wait.
fn said(desk: &Desk, client: usize, begun: &Begun, ticket: Ticket) -> Option<Said> {
    let frame = match ticket {
        Ticket::Stranger(frame) | Ticket::Reply(frame) => frame,
        Ticket::Wait(reply, _) => reply.borrow().as_ref()?.to_vec(),
    };
    let [generator, cloud] = invitations(desk.agreement(), client);
    let pending = Pending::decode(&begun.visit.pending().encode()).expect("it was saved");
    let frames = [&begun.to_generator[..], &begun.to_cloud];
    let visit = Visit::resume(pending, begun.receipt.clone(), frames, [&generator.secret, &cloud.secret]);
    let mut visit = visit.expect("it is of this visit");
    visit.hear(Server::Generator, &frame);
    match visit.open() {
        Err(Rejected::Unanswered { generator, .. }) => Some(*generator),
        _ => panic!("the cloud was not heard"),
    }
}

/// The reason of a sealed refusal.
fn reason(desk: &Desk, client: usize, begun: &Begun, ticket: Ticket) -> Reason {
    match said(desk, client, begun, ticket) {
        Some(Said::Refusal(refusal)) => refusal.reason,
        other => panic!("{other:?}"),
    }
}

/// Ages everything that waits at a desk.
fn wait(desk: &Desk, seconds: u64) {
    desk.lock().gatherings.values_mut().for_each(|gathering| gathering.since -= Duration::from_secs(seconds));
}

#[test]
fn a_refused_submission_is_never_run_even_after_a_crash() {
    let mut store = store();
    let before = desk(&store);
    let [anna, bo] = [0, 1].map(|client| begin(before.agreement(), client, 1));
    let waiting = submit(&before, &anna);
    before.expire(&mut store, &mut random()).expect("written");
    assert!(said(&before, 0, &anna, submit(&before, &anna)).is_none(), "the other client may come yet");
    wait(&before, 60);
    before.expire(&mut store, &mut random()).expect("written");
    assert_eq!(reason(&before, 0, &anna, waiting), Reason::Interrupted);
    // Neither at this desk nor at a restarted one.
    for desk in [before, desk(&store)] {
        assert!(said(&desk, 1, &bo, submit(&desk, &bo)).is_none());
        assert_eq!(reason(&desk, 0, &anna, submit(&desk, &anna)), Reason::Interrupted);
        assert!(desk.all_complete().is_empty());
        // The new deal completes the job.
        let again = begin(desk.agreement(), 0, 2);
        assert!(said(&desk, 0, &again, submit(&desk, &again)).is_none());
        assert_eq!(desk.all_complete().len(), 1);
    }
}

#[test]
fn a_complete_job_waits_longer_and_is_reported_while_it_lasts() {
    let mut store = store();
    let desk = desk(&store);
    let [anna, bo] = [0, 1].map(|client| begin(desk.agreement(), client, 1));
    let [_of_anna, _of_bo] = [&anna, &bo].map(|begun| submit(&desk, begun));
    wait(&desk, 61);
    desk.expire(&mut store, &mut random()).expect("nothing to write");
    let id = *desk.lock().complete.front().expect("it is complete");
    assert!(desk.job(&id).is_some());
    // A newer submission replaces one, which is no longer reported.
    let newer = begin(desk.agreement(), 0, 2);
    submit(&desk, &newer);
    assert!(desk.job(&id).is_none());
    assert_eq!(desk.lock().complete.len(), 1);
}

#[test]
fn a_used_submission_without_an_answer_may_have_been_run() {
    let mut store = store();
    let before = desk(&store);
    let [anna, bo] = [0, 1].map(|client| begin(before.agreement(), client, 1));
    let tickets = [&anna, &bo].map(|begun| submit(&before, begun));
    let gathered = before.take(&before.all_complete()[0]).expect("it is complete");
    before.burn(&gathered, &mut store).expect("written");
    // The process restarts here.
    let after = desk(&store);
    assert_eq!(after.unended(), 0);
    assert_eq!(reason(&after, 0, &anna, submit(&after, &anna)), Reason::Used);
    assert!(!Reason::Used.is_never_run());
    // The process ends when labels may have left.
    before.begin(&mut store).expect("written");
    assert_eq!(desk(&store).unended(), 1);
    // The process lives on, and the run ends.
    before.answer(&gathered, vec![vec![1], vec![2]], Some(&mut store), &mut random()).expect("written");
    assert!(tickets.into_iter().all(|ticket| matches!(ticket, Ticket::Wait(reply, _) if reply.borrow().is_some())));
    assert_eq!(desk(&store).unended(), 0);
}

#[test]
fn refusals_before_labels_leave_count_against_those_accused_and_never_end_the_service() {
    let mut store = store();
    let desk = desk(&store);
    for counter in 1..=u64::from(clients::UNENDED_MAX) {
        // Ignores the limit on the client's rate.
        desk.lock().manners[1].allowance = ALLOWANCE.0;
        desk.lock().manners[0].allowance = ALLOWANCE.0;
        desk.lock().records[0] = Record::default().used(counter - 1, [0; 32]);
        let [anna, bo] = [0, 1].map(|client| begin(desk.agreement(), client, counter));
        let tickets = [&anna, &bo].map(|begun| submit(&desk, begun));
        let gathered = desk.take(&desk.all_complete()[0]).expect("it is complete");
        desk.burn(&gathered, &mut store).expect("written");
        let refused = Refused { reason: Reason::WrongHash, accused: &[Party(1)], standing: Standing::default() };
        desk.refuse(&gathered, refused, Some(&mut store), &mut random()).expect("written");
        let [of_anna, of_bo] = tickets;
        assert_eq!(reason(&desk, 0, &anna, of_anna), Reason::WrongHash);
        assert_eq!(reason(&desk, 1, &bo, of_bo), Reason::WrongHash);
    }
    assert_eq!(desk.unended(), 0);
    assert!(!desk.lock().records[1].is_shut_out());
}

#[test]
fn a_client_cannot_flood_a_desk_and_may_submit_again_later() {
    let desk = desk(&store());
    let begun = (1..=2 * ALLOWANCE.0 as u64).map(|counter| begin(desk.agreement(), 0, counter));
    let busy = |begun: &Begun| said(&desk, 0, begun, submit(&desk, begun));
    let (last, refused) =
        begun.map(|begun| (busy(&begun), begun)).find_map(|(said, begun)| Some((begun, said?))).expect("one");
    assert!(last.receipt.counter() as f64 > ALLOWANCE.0);
    assert_eq!(refused, Said::Unproven(Reason::StateBusy));
    desk.lock().manners[0].allowance = 1.0;
    assert!(busy(&last).is_none(), "it is used now");
    let gone = (0..CONNECTIONS_MAX).map(|_| match submit(&desk, &last) {
        Ticket::Wait(_, gone) => gone,
        _ => panic!("it waits"),
    });
    let mut gone: Vec<oneshot::Receiver<()>> = gone.collect();
    let mut open = || -> Vec<bool> {
        gone.iter_mut().map(|gone| gone.try_recv() == Err(oneshot::error::TryRecvError::Empty)).collect()
    };
    assert_eq!(open(), [true; CONNECTIONS_MAX]);
    // Another one replaces the oldest.
    let _newest = submit(&desk, &last);
    assert_eq!(open(), [false, true, true, true]);
}

#[test]
fn a_newer_submission_neither_is_used_nor_interferes_while_another_runs() {
    let mut store = store();
    let desk = desk(&store);
    let [anna, bo] = [0, 1].map(|client| begin(desk.agreement(), client, 1));
    let [of_anna, _of_bo] = [&anna, &bo].map(|begun| submit(&desk, begun));
    let gathered = desk.take(&desk.all_complete()[0]).expect("it is complete");
    desk.burn(&gathered, &mut store).expect("written");
    let newer = begin(desk.agreement(), 0, 2);
    assert_eq!(said(&desk, 0, &newer, submit(&desk, &newer)), Some(Said::Unproven(Reason::StateBusy)));
    desk.answer(&gathered, vec![vec![1], vec![2]], Some(&mut store), &mut random()).expect("written");
    assert!(matches!(of_anna, Ticket::Wait(reply, _) if reply.borrow().is_some()));
    assert!(desk.lock().records[0].reply().is_some(), "it is kept");
    assert!(said(&desk, 0, &newer, submit(&desk, &newer)).is_none(), "it is used now");
}

/// A client that completes a job again before each meeting does not overtake those who wait.
#[test]
fn jobs_are_reported_to_the_other_server_in_the_order_of_completion() {
    let names: Vec<String> = (0..16).map(|client| format!("client-{client}")).collect();
    let mut alone = offer("and");
    let owners = [1, 1].map(Party);
    let port = |name: &str| Port::new(name, Type::Bits(1));
    let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).expect("a circuit");
    let component = Component::new("and", vec![port("x"), port("y")], vec![port("z")], circuit).expect("it fits");
    alone.program = Arc::new(Program::from_component(component, &owners).expect("a program"));
    alone.clients = vec![names.clone()];
    let servers = ["generator", "cloud"].map(Identity::of_client);
    let service = ServiceId([1; 16]);
    let agreement = Agreement::new(service, servers, names.clone(), vec![alone], BTreeMap::new(), Default::default())
        .expect("it fits");
    let secrets = (0..names.len()).map(secret).collect();
    let desk = Desk::new(Arc::new(agreement), Server::Generator, secrets, &store(), &mut random()).expect("a desk");
    let leave = |client: usize| {
        let job = desk.agreement().job("and", &names[client..=client], "", 1).expect("an offer");
        let [generator, cloud] = Server::BOTH.map(|server| {
            Invitation::with_secret(
                desk.agreement().server(server),
                &server.to_string(),
                &names[client],
                secret(client),
            )
            .expect("a name")
        });
        let receipt = Receipt::first("");
        let begun = Visit::begin(&job, [&generator, &cloud], &receipt, &Bits::zeros(2), &mut random());
        submit(&desk, &begun.expect("they go together"));
        *desk.lock().complete.back().expect("it is complete")
    };
    let due: Vec<Id> = (0..names.len()).map(leave).collect();
    assert!(desk.all_complete() == due);
}

/// Otherwise a crash would undo an unwritten refusal, and the submission would be run.
#[test]
fn a_refusal_is_sent_only_once_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = garblet_store::StoreKey::generate(&mut random());
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let path = folder.path().join("store");
    let open = || {
        let fails = fails.clone();
        let hook = move |_: &'static str| match fails.load(Ordering::Relaxed) {
            true => Err(std::io::Error::other("no room")),
            false => Ok(()),
        };
        garblet_store::testing::open_hooked(&path, &key, &mut random(), hook).expect("a store")
    };
    let mut store = open();
    let before = desk(&store);
    // One client is shut out, which is said at once, and one has waited too long.
    (0..16).for_each(|_| {
        let mut state = before.lock();
        state.records[0] = std::mem::take(&mut state.records[0]).accused();
    });
    let [anna, bo] = [0, 1].map(|client| begin(before.agreement(), client, 1));
    let [of_anna, of_bo] = [&anna, &bo].map(|begun| submit(&before, begun));
    let is_silent = |ticket: &Ticket| matches!(ticket, Ticket::Wait(reply, _) if reply.borrow().is_none());
    assert!(is_silent(&of_anna) && is_silent(&of_bo));
    wait(&before, 60);
    fails.store(true, Ordering::Relaxed);
    assert!(before.expire(&mut store, &mut random()).is_err(), "the disk is full");
    assert!(is_silent(&of_anna) && is_silent(&of_bo));
    // Coming again does not reveal it sooner.
    assert!(is_silent(&submit(&before, &anna)) && is_silent(&submit(&before, &bo)));
    let newer = begin(before.agreement(), 1, 2);
    submit(&before, &newer);
    assert_eq!(reason(&before, 1, &bo, submit(&before, &bo)), Reason::Used);
    // After a crash, all submissions may be run.
    let after = desk(&store);
    let tickets = [&anna, &bo].map(|begun| submit(&after, begun));
    assert_eq!((after.all_complete().len(), tickets.iter().all(is_silent)), (1, true));
    // Without a crash, it is said when there is room.
    fails.store(false, Ordering::Relaxed);
    drop(store);
    let mut store = open();
    before.expire(&mut store, &mut random()).expect("written");
    assert_eq!(reason(&before, 0, &anna, of_anna), Reason::Policy);
    assert_eq!(reason(&desk(&store), 0, &anna, submit(&desk(&store), &anna)), Reason::Policy);
}

/// Strangers cannot make a server read jobs under any name, known or unknown.
#[test]
fn no_job_is_read_from_a_frame_that_does_not_open() {
    let desk = desk(&store());
    let begun = begin(desk.agreement(), 0, 1);
    let submit = Submit::decode(&begun.to_generator).expect("a frame");
    let is_strange = |submit: &Submit| {
        matches!(desk.submit(&submit.encode(), &mut random()), Ticket::Stranger(reply)
            if reply == FromServer::Refused(Reason::Unreadable).encode())
    };
    for place in 0..submit.sealed.len() {
        let mut sealed = submit.sealed.clone();
        sealed[place] ^= 1;
        assert!(is_strange(&Submit { sealed, ..submit.clone() }), "byte {place}");
    }
    let mut job = submit.job.clone();
    job[40] ^= 1;
    assert!(is_strange(&Submit { job, ..submit.clone() }));
    assert!(is_strange(&Submit { client: Identity::of_client(CLIENTS[1]), ..submit.clone() }));
    assert!(is_strange(&Submit { client: Identity::of_client("nobody"), ..submit.clone() }));
    assert_eq!(READ.get(), 0);
    assert!(!is_strange(&submit));
    assert_eq!(READ.get(), 1);
}

/// Earlier messages of clients are useless to servers that start again with another value.
#[test]
fn services_with_the_same_agreement_and_jobs_are_told_apart() {
    let [one, other] = [1, 2].map(|service| agreed(service, vec![offer("and")]).expect("an agreement"));
    assert_ne!(one.digest(), other.digest());
    let begun = begin(&one, 0, 1);
    let mut store = store();
    let desk = Desk::new(Arc::new(other), Server::Generator, vec![secret(0), secret(1)], &store, &mut random())
        .expect("a desk");
    let ticket = submit(&desk, &begun);
    desk.expire(&mut store, &mut random()).expect("written");
    assert_eq!(reason(&desk, 0, &begun, ticket), Reason::OtherJob);
    let twice = agreed(1, vec![offer("and"), offer("again")]).err().expect("they cannot be told apart");
    assert!(twice.to_string().contains("`and` and `again`"), "{twice}");
}

/// With any secret that a stranger may seal with, including zeros, which no name has.
#[test]
fn an_unknown_name_takes_as_long_as_a_known_one() {
    let desk = desk(&store());
    let agreement = desk.agreement().clone();
    let of = |name: &str, secret: [u8; 32]| {
        let job = agreement.job("and", &[name.to_string(), CLIENTS[1].into()], "", 1).expect("an offer");
        let [generator, cloud] = Server::BOTH.map(|server| {
            let secret = Secret::from_bytes(secret);
            Invitation::with_secret(agreement.server(server), &server.to_string(), name, secret).expect("a name")
        });
        let receipt = Receipt::first("").with_counter(3);
        let begun = Visit::begin(&job, [&generator, &cloud], &receipt, &Bits::from_u128(1, 1), &mut random());
        begun.expect("they go together")
    };
    let work = || (READ.with(std::cell::Cell::get), TRIED.with(std::cell::Cell::get));
    for secret in [[0; 32], [1; 32], [99; 32]] {
        let took = ["anna", "zoe"].map(|name| {
            let begun = of(name, if name == "anna" && secret == [1; 32] { [7; 32] } else { secret });
            let submit = Submit::decode(&begun.to_generator).expect("a frame");
            assert!(!desk.of_nobody.has_sealed(&submit.sealed, &submit.job, Server::Generator));
            let before = work();
            let Ticket::Stranger(told) = desk.submit(&begun.to_generator, &mut random()) else { panic!("no client") };
            let after = work();
            (told, after.0 - before.0, after.1 - before.1)
        });
        assert_eq!(took[0], took[1]);
        assert_eq!((took[0].1, took[0].2), (0, 1));
    }
    // Nobody can derive it, even with secrets of clients.
    let again = super::tests::desk(&store());
    assert!(desk.of_nobody.as_bytes() != again.of_nobody.as_bytes(), "it is drawn at random");
}

/// A server that reports differing counters too early accuses clients that could still submit again.
#[test]
fn counters_are_compared_only_for_jobs_that_have_long_been_complete() {
    let desk = desk(&store());
    let agreement = desk.agreement().clone();
    for client in 0..2 {
        submit(&desk, &begin(&agreement, client, 1));
    }
    let [id] = desk.all_complete()[..] else { panic!("both have submitted") };
    assert!(!desk.may_differ(&id, Duration::from_secs(3600)));
    assert!(desk.may_differ(&id, Duration::ZERO));
    desk.take(&id).expect("it is here");
    assert!(desk.may_differ(&id, Duration::from_secs(3600)), "the job is gone, and nobody is accused");
}

#[test]
fn an_agreement_reads_only_states_that_a_program_keeps() {
    let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).expect("a circuit");
    let of = |name: &str, keep: bool, output: Option<&str>| {
        let port = |name: &str| Port::new(name, Type::Bits(1));
        let component = Component::new("and", vec![port("x"), port("y")], vec![port("z")], circuit.clone());
        let mut program =
            Program::from_component(component.expect("it fits"), &[Party(1), Party(2)]).expect("a program");
        if keep {
            program.set_recipients(0, garblet_circuit::Recipients::Only(Vec::new()));
        }
        let read = ReadInput { port: "x".into(), name: "map".into(), output: output.map(String::from) };
        let saved = SavedValues { keep: keep.then(|| "map".into()), read: if keep { vec![] } else { vec![read] } };
        Offer { program: Arc::new(program), saved, ..offer(name) }
    };
    let refused = |offers: Vec<Offer>| agreed(1, offers).err().expect("refused").to_string();
    let error = refused(vec![of("look", false, None)]);
    assert!(error.contains("`look`, which reads `map`: expected a program that keeps that state, got none"), "{error}");
    let error = refused(vec![of("start", true, None), of("look", false, Some("w"))]);
    assert!(error.contains("expected `w` of 1 bits, got `z` of 1 bits, which `start` keeps"), "{error}");
    for output in [None, Some("z")] {
        assert!(agreed(1, vec![of("start", true, None), of("look", false, output)]).is_ok());
    }
}

#[tokio::test]
async fn servers_that_order_gates_differently_refuse_each_other() {
    let two = offer_of("two", vec![Gate::Xor(Wire(0), Wire(1)), Gate::And(Wire(0), Wire(2))]);
    let three =
        offer_of("two", vec![Gate::Xor(Wire(0), Wire(1)), Gate::And(Wire(0), Wire(2)), Gate::And(Wire(1), Wire(3))]);
    let agreement = agreed(1, vec![offer("and"), two]).expect("an agreement");
    let [generator, mut cloud] = Server::BOTH.map(|server| agreement.hello(server));
    let order = |hello: &Hello| hello.parameter(SCHEDULE).map(String::from).expect("the order of gates");
    let other = agreed(1, vec![offer("and"), three]).expect("an agreement").hello(Server::Cloud);
    assert_eq!(order(&generator), order(&cloud));
    assert_ne!(order(&generator), order(&other), "the order of every offer counts");
    for is_same in [true, false] {
        if !is_same {
            let told = cloud.parameters.iter_mut().find(|(name, _)| name == SCHEDULE).expect("the order of gates");
            told.1 = order(&other);
        }
        let (mut ours, mut theirs) = memory_pair();
        let (heard, also) = tokio::join!(generator.exchange(&mut ours), cloud.exchange(&mut theirs));
        for heard in [heard, also] {
            assert_eq!(heard.is_ok(), is_same);
            assert!(is_same || matches!(heard, Err(NetError::Incompatible { .. })));
        }
    }
}
