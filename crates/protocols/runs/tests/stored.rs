//! Runs prepared in one session and used in others.

use std::sync::{Arc, Mutex};

use garblet_circuit::{Bits, Party, Program, ScheduleDigest, evaluate, random};
use garblet_net::Mesh;
use garblet_primitives::{Block, Prg};
use garblet_store::{Binding, PieceId, Store, StoreError};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use garblet_bmr::{self as bmr, BmrParty, Garbling};
use garblet_gmw::{self as gmw, GmwParty};
use garblet_protocol::{Communication, MeshSession, Phase, PhaseCosts, ProtocolError, RunId, error::NotPrepared};
use garblet_runs::testing::mesh_run::{Outputs, TIMEOUT, block_on, hellos, own_inputs, run};
use garblet_runs::{joint::JointParty, *};

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

/// A program in any protocol.
trait AnyPlan {
    fn name(&self) -> &str;
    fn program(&self) -> &Program;
    fn schedule(&self) -> ScheduleDigest;
    fn parties(&self) -> u16;
    fn online_cost(&self, party: u16) -> Communication;

    /// Bytes of a party's first online message after the run's number.
    fn first_bytes(&self, party: u16) -> u64;

    /// Lets all parties prepare and keep `count` runs; returns the losses of each.
    fn prepare(&self, stores: &Stores, count: u64, seed: u64) -> Vec<Result<u64, ProtocolError>>;

    /// Lets all parties take a run and use it.
    fn run(&self, stores: &Stores, inputs: &[Bits], seed: u64) -> Vec<Result<Ran, ProtocolError>>;

    /// Lets all parties take a run and use it, or party 2 the next one. Returns the error of each, and the bytes that it sent online.
    fn run_after_loss(&self, stores: &Stores, inputs: &[Bits]) -> Vec<(ProtocolError, u64)>;

    /// Bytes of a party's stored run.
    fn byte_len(&self, party: Party) -> usize;

    /// Tells whether bytes can be read as a party's run.
    fn reads(&self, party: Party, bytes: &[u8]) -> bool;

    fn purpose(&self) -> Purpose<'_> {
        let (program, schedule, protocol) = (self.program(), self.schedule(), self.name().into());
        Purpose { program, schedule, protocol, peers: PEERS }
    }
}

struct Of<P: JointParty> {
    plan: Arc<P::Plan>,
    name: String,
    first_bytes: fn(u16) -> u64,
}

fn bmr_plan(program: &Arc<Program>, parties: u16, config: bmr::Config) -> Box<dyn AnyPlan> {
    let plan = Arc::new(bmr::Plan::new(program.clone(), parties, config).expect("fits"));
    // A byte of public values of each owner.
    Box::new(Of::<BmrParty> { plan, name: format!("{config:?}"), first_bytes: |party| u64::from(party < 2) })
}

fn gmw_plan(program: &Arc<Program>, parties: u16, form: gmw::Form) -> Box<dyn AnyPlan> {
    let config = gmw::Config { form, ..gmw::Config::default() };
    let plan = Arc::new(gmw::Plan::new(program.clone(), parties, config).expect("fits"));
    // A byte of each vector of the first layer.
    let first_bytes = if form == gmw::Form::Triples { |_| 2 } else { |_| 1 };
    Box::new(Of::<GmwParty> { plan, name: format!("{config:?}"), first_bytes })
}

fn all(program: &Arc<Program>, parties: u16) -> Vec<Box<dyn AnyPlan>> {
    let linear = bmr::Config { form: bmr::Form::Linear, ..bmr::Config::default() };
    let bmr = Garbling::ALL.into_iter().map(bmr::Config::of).chain([linear]);
    let bmr = bmr.map(|config| bmr_plan(program, parties, config));
    bmr.chain([gmw::Form::Triples, gmw::Form::Choi2012].map(|form| gmw_plan(program, parties, form))).collect()
}

fn of_three(program: &str) -> Box<dyn AnyPlan> {
    bmr_plan(&Arc::new(library::find(program).expect("known")), 3, bmr::Config::default())
}

impl<P: JointParty> AnyPlan for Of<P> {
    fn name(&self) -> &str {
        &self.name
    }

    fn program(&self) -> &Program {
        P::program(&self.plan)
    }

    fn schedule(&self) -> ScheduleDigest {
        P::schedule(&self.plan)
    }

    fn parties(&self) -> u16 {
        P::parties(&self.plan)
    }

    fn online_cost(&self, party: u16) -> Communication {
        P::cost(&self.plan, Party(party), Phase::Online, &hellos(self.parties()))
    }

    fn first_bytes(&self, party: u16) -> u64 {
        (self.first_bytes)(party)
    }

    fn prepare(&self, stores: &Stores, count: u64, seed: u64) -> Vec<Result<u64, ProtocolError>> {
        let part = async |session: &mut MeshSession| {
            let own = session.mesh().party();
            let mut runs = RunStore::meet(session, stores.get(own), &self.purpose()).await?;
            let mut party = P::setup(session, self.plan.clone()).await?;
            for _ in 0..count {
                let run = party.prepare(session).await?;
                runs.keep::<P::Prepared>(&self.plan, Party(own), &run)?;
            }
            let lost = runs.lost();
            stores.put(own, runs.into_store());
            Ok(lost)
        };
        block_on(run(Mesh::memory(self.parties()), seed, TIMEOUT, part))
    }

    fn run(&self, stores: &Stores, inputs: &[Bits], seed: u64) -> Vec<Result<Ran, ProtocolError>> {
        let part = async |session: &mut MeshSession| {
            let party = session.mesh().party();
            let own = own_inputs(self.program(), party, inputs);
            let mut runs = RunStore::meet(session, stores.get(party), &self.purpose()).await?;
            let lost = runs.lost();
            let taken = runs.take::<P::Prepared>(&self.plan, Party(party));
            stores.put(party, runs.into_store());
            let (id, run) = taken?;
            let outputs = P::online(run, &self.plan, session, &own).await?;
            Ok(Ran { id: id.0, outputs, phases: session.costs(), lost })
        };
        block_on(run(Mesh::memory(self.parties()), seed, TIMEOUT, part))
    }

    fn run_after_loss(&self, stores: &Stores, inputs: &[Bits]) -> Vec<(ProtocolError, u64)> {
        let part = async |session: &mut MeshSession| {
            let party = session.mesh().party();
            let own = own_inputs(self.program(), party, inputs);
            let mut runs = RunStore::meet(session, stores.get(party), &self.purpose()).await?;
            if party == 2 {
                drop(runs.take::<P::Prepared>(&self.plan, Party(party)).expect("there are two"));
            }
            let run = runs.take::<P::Prepared>(&self.plan, Party(party)).expect("there is another").1;
            let error = P::online(run, &self.plan, session, &own).await.expect_err("runs differ");
            Ok((error, session.costs().of(Phase::Online).communication.bytes_sent))
        };
        let ended = block_on(run(Mesh::memory(self.parties()), 3, TIMEOUT, part));
        ended.into_iter().map(|ended| ended.expect("they have met")).collect()
    }

    fn byte_len(&self, party: Party) -> usize {
        P::Prepared::byte_len(&self.plan, party)
    }

    fn reads(&self, party: Party, bytes: &[u8]) -> bool {
        P::Prepared::read(&self.plan, party, RunId::Stored(0), Reader::new(bytes)).is_some()
    }
}

/// A party's result of a run.
struct Ran {
    id: u64,
    outputs: Outputs,
    phases: PhaseCosts,
    lost: u64,
}

fn check_equals_eval(plan: &dyn AnyPlan, stores: &Stores, id: u64) {
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
fn every_protocol_runs_from_stores_and_uses_each_piece_once() {
    let program = Arc::new(library::find("lib:millionaires(8)").expect("known"));
    for plan in all(&program, 4) {
        let stores = Stores::new(4);
        assert!(plan.prepare(&stores, 2, 1).into_iter().all(|lost| lost.is_ok_and(|lost| lost == 0)));
        check_equals_eval(&*plan, &stores, 0);
        // More runs can be prepared while some are left: they get new numbers.
        assert!(plan.prepare(&stores, 1, 2).into_iter().all(|lost| lost.is_ok_and(|lost| lost == 0)));
        check_equals_eval(&*plan, &stores, 1);
        check_equals_eval(&*plan, &stores, 2);
        let inputs = random::inputs(&mut StdRng::seed_from_u64(3), plan.program());
        for ran in plan.run(&stores, &inputs, 9) {
            let Err(ProtocolError::NotPrepared(none)) = ran else { panic!("{}: there is none", plan.name()) };
            assert_eq!(none, NotPrepared::NoRun { program: "millionaires(8)".into(), others: vec![] });
            assert_eq!(none.to_string(), "the stores have no run of `millionaires(8)` left");
        }
    }
}

#[test]
fn runs_that_one_party_lacks_are_given_up_by_all_and_counted() {
    let (plan, stores) = (of_three("lib:add(4)"), Stores::new(3));
    assert!(plan.prepare(&stores, 3, 1).iter().all(Result::is_ok));
    // Party 1 was interrupted after marking a run as used; party 2 before keeping the last one.
    let mut store = stores.get(1);
    drop(store.take_next(&kind_of(plan.program(), plan.schedule()), 1).expect("three"));
    stores.put(1, store);
    let mut store = stores.get(2);
    store
        .drop_pieces(&kind_of(plan.program(), plan.schedule()), &garblet_store::IdSet::range(PieceId(2), 1))
        .expect("durable");
    stores.put(2, store);
    let inputs = [Bits::from_u128(3, 4), Bits::from_u128(4, 4)];
    let ran: Vec<Ran> = plan.run(&stores, &inputs, 2).into_iter().map(|ran| ran.expect("one is left")).collect();
    assert!(ran.iter().all(|ran| ran.id == 1));
    assert_eq!(ran.iter().map(|ran| ran.lost).collect::<Vec<_>>(), [2, 1, 1]);
}

#[test]
fn a_party_that_silently_lost_a_run_is_noticed_before_a_second_message() {
    let program = Arc::new(library::find("lib:millionaires(8)").expect("known"));
    let inputs = random::inputs(&mut StdRng::seed_from_u64(4), &program);
    for plan in all(&program, 4) {
        let stores = Stores::new(4);
        assert!(plan.prepare(&stores, 2, 1).into_iter().all(|lost| lost.is_ok()));
        for (party, (error, sent)) in plan.run_after_loss(&stores, &inputs).into_iter().enumerate() {
            let (peer, ours, theirs) = if party == 2 { (0, 1, 0) } else { (2, 0, 1) };
            let text =
                format!("party {peer}: the prepared run: expected {ours} of the stores, got {theirs} of the stores");
            assert_eq!(error.to_string(), text, "{}", plan.name());
            let first = plan.first_bytes(party as u16);
            assert_eq!(sent, 3 * (8 + first), "{}, party {party}", plan.name());
        }
    }
}

#[test]
fn a_run_of_another_program_is_not_taken_and_the_message_lists_the_stored_ones() {
    let (plan, other, stores) = (of_three("lib:add(4)"), of_three("lib:add(5)"), Stores::new(3));
    assert!(plan.prepare(&stores, 2, 1).iter().all(Result::is_ok));
    let inputs = [Bits::from_u128(3, 5), Bits::from_u128(4, 5)];
    for ran in other.run(&stores, &inputs, 2) {
        let Err(error) = ran else { panic!("there is none of this program") };
        assert_eq!(error.to_string(), "the stores have no run of `add(5)`, but 2 of `add(4)`");
    }
    check_equals_eval(&*plan, &stores, 0);
}

/// The errors of all parties when one has a store for something else, or a different store.
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
    let schedule = ScheduleDigest::default();
    let purpose = Purpose { program: &program, schedule, protocol: "bmr, hash rekeyed".into(), peers: PEERS };
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
fn a_store_that_was_absent_when_the_others_were_filled_is_named_by_all() {
    let (plan, stores) = (of_three("lib:add(4)"), Stores::new(3));
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
fn bytes_that_are_not_a_run_are_an_error_and_too_few_are_never_read() {
    let program = Arc::new(library::find("lib:add(4)").expect("known"));
    let rng = &mut Prg::new(Block::ONES);
    for plan in all(&program, 4) {
        for party in (0..4).map(Party) {
            let len = plan.byte_len(party);
            let mut bytes = vec![0; len];
            rng.fill_bytes(&mut bytes);
            assert!(plan.reads(party, &bytes), "{}", plan.name());
            assert!((0..len).step_by(7).all(|end| !plan.reads(party, &bytes[..end])), "{}", plan.name());
        }
    }
}
