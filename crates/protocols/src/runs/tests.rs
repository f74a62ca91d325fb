//! Runs that are prepared in one session and used in others.

use std::sync::{Arc, Mutex};

use garblet_circuit::{Bits, Party, Program, evaluate, library, random};
use garblet_net::{Hello, Mesh};
use garblet_ot::Width;
use garblet_primitives::Prg;
use garblet_store::{Store, StoreError};
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    Communication, Phase, PhaseCosts,
    bmr::{self, Garbling},
    gmw,
    mesh_run::{TIMEOUT, block_on, hello, own_inputs, run},
};

const PEERS: &str = "the others";

/// The stores of all parties between sessions.
struct Stores(Vec<Mutex<Option<Store>>>);

impl Stores {
    fn new(parties: u64) -> Self {
        let store = |seed| Mutex::new(Some(Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("made")));
        Stores((0..parties).map(store).collect())
    }

    fn get(&self, party: u16) -> Store {
        self.0[usize::from(party)].lock().expect("whole").take().expect("nobody else has it")
    }

    fn put(&self, party: u16, store: Store) {
        *self.0[usize::from(party)].lock().expect("whole") = Some(store);
    }
}

/// A plan of any protocol.
enum Any {
    Bmr(Arc<bmr::Plan>),
    Gmw(Arc<gmw::Plan>),
}

impl Any {
    fn all(program: &Arc<Program>, parties: u16) -> Vec<Any> {
        let joint = |garbling| bmr::Plan::new(program.clone(), parties, bmr::Config::of(garbling)).expect("fits");
        let shared = |form| {
            let config = gmw::Config { form, ot_width: Width::Four };
            gmw::Plan::new(program.clone(), parties, config).expect("fits")
        };
        let joint = Garbling::ALL.into_iter().map(|garbling| Any::Bmr(Arc::new(joint(garbling))));
        let shared = [gmw::Form::Triples, gmw::Form::Choi2012].map(|form| Any::Gmw(Arc::new(shared(form))));
        joint.chain(shared).collect()
    }

    fn of_three(program: &str) -> Any {
        let program = Arc::new(library::find(program).expect("known"));
        Any::Bmr(Arc::new(bmr::Plan::new(program, 3, bmr::Config::default()).expect("fits")))
    }

    fn program(&self) -> &Program {
        match self {
            Any::Bmr(plan) => plan.program(),
            Any::Gmw(plan) => plan.program(),
        }
    }

    fn parties(&self) -> u16 {
        match self {
            Any::Bmr(plan) => plan.parties(),
            Any::Gmw(plan) => plan.parties(),
        }
    }

    fn name(&self) -> String {
        match self {
            Any::Bmr(plan) => format!("{:?}", plan.config()),
            Any::Gmw(plan) => format!("{:?}", plan.config()),
        }
    }

    fn purpose(&self) -> Purpose<'_> {
        Purpose { program: self.program(), protocol: self.name(), peers: PEERS }
    }

    fn online_cost(&self, party: u16) -> Communication {
        let hellos: Vec<Hello> = (0..self.parties()).map(|party| hello(party, self.parties())).collect();
        match self {
            Any::Bmr(plan) => bmr::communication(plan, Party(party), Phase::Online, &hellos),
            Any::Gmw(plan) => gmw::communication(plan, Party(party), Phase::Online, &hellos),
        }
    }

    /// All parties prepare so many runs and keep them; returns what each lost.
    fn prepare(&self, stores: &Stores, count: u64, seed: u64) -> Vec<Result<u64, ProtocolError>> {
        let part = async |session: &mut MeshSession| {
            let party = session.mesh().party();
            let mut runs = RunStore::meet(session, stores.get(party), &self.purpose()).await?;
            match self {
                Any::Bmr(plan) => {
                    let mut joint = bmr::JointParty::setup(session, plan.clone()).await?;
                    for _ in 0..count {
                        let run = joint.prepare(session).await?;
                        runs.keep::<bmr::Prepared>(plan, Party(party), &run)?;
                    }
                }
                Any::Gmw(plan) => {
                    let mut player = gmw::Player::setup(session, plan.clone()).await?;
                    for _ in 0..count {
                        let run = player.prepare(session).await?;
                        runs.keep::<gmw::Prepared>(plan, Party(party), &run)?;
                    }
                }
            }
            let lost = runs.lost();
            stores.put(party, runs.into_store());
            Ok(lost)
        };
        block_on(run(Mesh::memory(self.parties()), seed, TIMEOUT, part))
    }

    /// All parties take a run each and use it.
    fn run(&self, stores: &Stores, inputs: &[Bits], seed: u64) -> Vec<Result<Ran, ProtocolError>> {
        let part = async |session: &mut MeshSession| {
            let party = session.mesh().party();
            let own = own_inputs(self.program(), party, inputs);
            let mut runs = RunStore::meet(session, stores.get(party), &self.purpose()).await?;
            let lost = runs.lost();
            let taken = match self {
                Any::Bmr(plan) => {
                    let taken = runs.take::<bmr::Prepared>(plan, Party(party));
                    stores.put(party, runs.into_store());
                    let (id, run) = taken?;
                    (id, run.online(plan, session, &own).await?)
                }
                Any::Gmw(plan) => {
                    let taken = runs.take::<gmw::Prepared>(plan, Party(party));
                    stores.put(party, runs.into_store());
                    let (id, run) = taken?;
                    (id, run.online(plan, session, &own).await?)
                }
            };
            Ok(Ran { id: taken.0.0, outputs: taken.1, phases: session.costs(), lost })
        };
        block_on(run(Mesh::memory(self.parties()), seed, TIMEOUT, part))
    }
}

/// What a party has after a run.
struct Ran {
    id: u64,
    outputs: Vec<Option<Bits>>,
    phases: PhaseCosts,
    lost: u64,
}

fn check_equals_eval(plan: &Any, stores: &Stores, id: u64) {
    let inputs = random::inputs(&mut StdRng::seed_from_u64(id), plan.program());
    let expected: Vec<Option<Bits>> = evaluate(plan.program(), &inputs).into_iter().map(Some).collect();
    for (party, ran) in plan.run(stores, &inputs, 20 + id).into_iter().enumerate() {
        let ran = ran.unwrap_or_else(|error| panic!("{}, party {party}: {error}", plan.name()));
        assert_eq!((ran.id, ran.lost, ran.outputs), (id, 0, expected.clone()), "{}, party {party}", plan.name());
        let cost = |phase| ran.phases.of(phase).communication;
        assert_eq!(cost(Phase::Online), plan.online_cost(party as u16), "{}", plan.name());
        let before = [Phase::Prepare, Phase::Build].map(|phase| cost(phase).bytes_sent);
        assert_eq!(before, [0, 0], "all was prepared before");
    }
}

#[test]
fn every_protocol_runs_on_what_was_stored_and_on_each_piece_once() {
    let program = Arc::new(library::find("lib:millionaires(8)").expect("known"));
    for plan in Any::all(&program, 4) {
        let stores = Stores::new(4);
        assert!(plan.prepare(&stores, 2, 1).into_iter().all(|lost| lost.is_ok_and(|lost| lost == 0)));
        check_equals_eval(&plan, &stores, 0);
        // More can be prepared while there is some: it has numbers of its own.
        assert!(plan.prepare(&stores, 1, 2).into_iter().all(|lost| lost.is_ok_and(|lost| lost == 0)));
        check_equals_eval(&plan, &stores, 1);
        check_equals_eval(&plan, &stores, 2);
        let inputs = random::inputs(&mut StdRng::seed_from_u64(3), plan.program());
        for ran in plan.run(&stores, &inputs, 9) {
            let Err(ProtocolError::NoRun(none)) = ran else { panic!("{}: there is none", plan.name()) };
            assert_eq!(none, NoRun { program: "millionaires(8)".into(), others: vec![] });
            assert_eq!(none.to_string(), "the stores have no run of `millionaires(8)` left");
        }
    }
}

#[test]
fn what_one_party_lacks_is_given_up_by_all_and_counted() {
    let (plan, stores) = (Any::of_three("lib:add(4)"), Stores::new(3));
    assert!(plan.prepare(&stores, 3, 1).iter().all(Result::is_ok));
    // Party 1 was cut off after it had marked a run as used; party 2 before it had kept the last.
    let mut store = stores.get(1);
    drop(store.take_next(&kind_of(plan.program()), 1).expect("three"));
    stores.put(1, store);
    let mut store = stores.get(2);
    store.drop_pieces(&kind_of(plan.program()), &garblet_store::IdSet::range(PieceId(2), 1)).expect("durable");
    stores.put(2, store);
    let inputs = [Bits::from_u128(3, 4), Bits::from_u128(4, 4)];
    let ran: Vec<Ran> = plan.run(&stores, &inputs, 2).into_iter().map(|ran| ran.expect("one is left")).collect();
    assert!(ran.iter().all(|ran| ran.id == 1));
    assert_eq!(ran.iter().map(|ran| ran.lost).collect::<Vec<_>>(), [2, 1, 1]);
}

/// Takes a run and uses it, or the next if the first is `lost` without a word. Returns the error, and bytes sent online.
async fn run_after_loss<R: StoredRun>(
    session: &mut MeshSession,
    mut runs: RunStore,
    plan: &R::Plan,
    lost: bool,
    online: impl AsyncFnOnce(&mut MeshSession, R) -> Result<Vec<Option<Bits>>, ProtocolError>,
) -> (ProtocolError, u64) {
    let party = Party(session.mesh().party());
    if lost {
        drop(runs.take::<R>(plan, party).expect("there are two"));
    }
    let run = runs.take::<R>(plan, party).expect("there is another").1;
    let error = online(session, run).await.expect_err("runs differ");
    (error, session.costs().of(Phase::Online).communication.bytes_sent)
}

#[test]
fn a_party_that_has_lost_a_run_without_a_word_is_found_before_a_second_message() {
    let program = Arc::new(library::find("lib:millionaires(8)").expect("known"));
    let inputs = random::inputs(&mut StdRng::seed_from_u64(4), &program);
    for plan in Any::all(&program, 4) {
        let stores = Stores::new(4);
        assert!(plan.prepare(&stores, 2, 1).into_iter().all(|lost| lost.is_ok()));
        let part = async |session: &mut MeshSession| {
            let party = session.mesh().party();
            let own = own_inputs(plan.program(), party, &inputs);
            let runs = RunStore::meet(session, stores.get(party), &plan.purpose()).await?;
            Ok(match &plan {
                Any::Bmr(plan) => {
                    let online =
                        async |session: &mut MeshSession, run: bmr::Prepared| run.online(plan, session, &own).await;
                    run_after_loss(session, runs, &**plan, party == 2, online).await
                }
                Any::Gmw(plan) => {
                    let online =
                        async |session: &mut MeshSession, run: gmw::Prepared| run.online(plan, session, &own).await;
                    run_after_loss(session, runs, &**plan, party == 2, online).await
                }
            })
        };
        for (party, ended) in block_on(run(Mesh::memory(4), 3, TIMEOUT, part)).into_iter().enumerate() {
            let (error, sent) = ended.expect("they have met");
            let (peer, ours, theirs) = if party == 2 { (0, 1, 0) } else { (2, 0, 1) };
            let text =
                format!("party {peer}: the prepared run: expected {ours} of the stores, got {theirs} of the stores");
            assert_eq!(error.to_string(), text, "{}", plan.name());
            // A byte of public values, or of each vector of the first layer.
            let first = match &plan {
                Any::Bmr(_) => u64::from(party < 2),
                Any::Gmw(plan) => {
                    if plan.config().form == gmw::Form::Triples {
                        2
                    } else {
                        1
                    }
                }
            };
            assert_eq!(sent, 3 * (8 + first), "{}, party {party}", plan.name());
        }
    }
}

#[test]
fn a_run_of_another_program_is_not_taken_and_the_message_says_what_there_is() {
    let (plan, other, stores) = (Any::of_three("lib:add(4)"), Any::of_three("lib:add(5)"), Stores::new(3));
    assert!(plan.prepare(&stores, 2, 1).iter().all(Result::is_ok));
    let inputs = [Bits::from_u128(3, 5), Bits::from_u128(4, 5)];
    for ran in other.run(&stores, &inputs, 2) {
        let Err(error) = ran else { panic!("there is none of this program") };
        assert_eq!(error.to_string(), "the stores have no run of `add(5)`, but 2 of `add(4)`");
    }
    check_equals_eval(&plan, &stores, 0);
}

/// What every party says if party `odd` comes with a store for something else, or with another store.
fn refusals(stores: &Stores, purposes: [&Purpose<'_>; 3]) -> Vec<ProtocolError> {
    let part = async |session: &mut MeshSession| {
        let party = session.mesh().party();
        RunStore::meet(session, stores.get(party), purposes[usize::from(party)]).await.map(|_| ())
    };
    let ended = block_on(run(Mesh::memory(3), 1, TIMEOUT, part));
    ended.into_iter().map(|ended| ended.expect_err("refused")).collect()
}

#[test]
fn other_peers_other_parameters_and_another_number_of_parties_are_refused_by_name() {
    let program = library::find("lib:add(4)").expect("known");
    let filled = |protocol: &str, peers: &str, role: &str| {
        let stores = Stores::new(3);
        let mut store = stores.get(2);
        let (peer, role) = (peers.into(), role.into());
        let protocol = format!("{protocol}, version {VERSION}");
        store.bind(&Binding { peer, role, protocol, library: String::new() }).expect("the first time");
        stores.put(2, store);
        stores
    };
    let purpose = Purpose { program: &program, protocol: "bmr, hash rekeyed".into(), peers: PEERS };
    for (protocol, peers, role, expected) in [
        ("bmr, hash rekeyed", "somebody else", "party 2 of 3", "another peer: expected the others, got somebody else"),
        ("bmr, hash fixed-key", PEERS, "party 2 of 3", "another protocol: expected bmr, hash rekeyed"),
        ("bmr, hash rekeyed", PEERS, "party 2 of 4", "another role: expected party 2 of 3, got party 2 of 4"),
    ] {
        let errors = refusals(&filled(protocol, peers, role), [&purpose; 3]);
        assert!(errors[2].to_string().contains(expected), "{}", errors[2]);
        assert!(matches!(errors[2], ProtocolError::Store(StoreError::OtherBinding { .. })));
    }
}

#[test]
fn a_store_that_was_not_there_when_the_others_were_filled_is_named_by_all() {
    let (plan, stores) = (Any::of_three("lib:add(4)"), Stores::new(3));
    assert!(plan.prepare(&stores, 1, 1).iter().all(Result::is_ok));
    stores.put(1, Store::in_memory(&mut StdRng::seed_from_u64(77)).expect("made"));
    let purpose = plan.purpose();
    let errors = refusals(&stores, [&purpose; 3]);
    for (party, error) in errors.iter().enumerate() {
        match (party, error) {
            (1, ProtocolError::Peer { source, .. }) => {
                assert!(matches!(**source, ProtocolError::Store(StoreError::OtherStore { .. })), "{error}");
            }
            (_, ProtocolError::Peer { party: Party(1), source }) => {
                assert!(matches!(**source, ProtocolError::Store(StoreError::OtherPeerStore { .. })), "{error}");
            }
            _ => panic!("party {party}: {error}"),
        }
    }
}

#[test]
fn bytes_that_are_no_run_are_an_error_and_too_few_never_read() {
    let program = Arc::new(library::find("lib:add(4)").expect("known"));
    let rng = &mut Prg::new(Block::ONES);
    for plan in Any::all(&program, 4) {
        for party in (0..4).map(Party) {
            let reads = |bytes: &[u8]| match &plan {
                Any::Bmr(plan) => bmr::Prepared::read(plan, party, RunId::Stored(0), Reader(bytes)).is_some(),
                Any::Gmw(plan) => gmw::Prepared::read(plan, party, RunId::Stored(0), Reader(bytes)).is_some(),
            };
            let len = match &plan {
                Any::Bmr(plan) => bmr::Prepared::byte_len(plan, party),
                Any::Gmw(plan) => gmw::Prepared::byte_len(plan, party),
            };
            let mut bytes = vec![0; len];
            rng.fill_bytes(&mut bytes);
            assert!(reads(&bytes), "{}", plan.name());
            assert!((0..len).step_by(7).all(|end| !reads(&bytes[..end])), "{}", plan.name());
        }
    }
}
