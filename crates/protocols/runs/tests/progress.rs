//! The progress reports that users see for long work in a mesh.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use garblet_circuit::Program;
use garblet_net::{Mesh, Traffic};
use garblet_primitives::{Block, Prg};
use garblet_synthesis::library;

use garblet_bmr as bmr;
use garblet_gmw as gmw;
use garblet_protocol::{MeshSession, Phase, Progress, ProtocolError};
use garblet_runs::{
    joint::JointParty,
    testing::mesh_run::{block_on, hello},
};

/// One call of [`Progress::advance`], with the current phase.
#[derive(Clone, Copy)]
struct Told {
    phase: Phase,
    done: u64,
    total: u64,
    bytes: u64,
}

#[derive(Clone)]
struct Recorder {
    phase: Phase,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Progress for Recorder {
    fn advance(&mut self, done: u64, total: u64, traffic: Traffic) {
        let bytes = traffic.bytes_sent + traffic.bytes_received;
        self.told.lock().unwrap().push(Told { phase: self.phase, done, total, bytes });
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }
}

const PARTIES: u16 = 3;

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:layered(40, 50000)").expect("known"))
}

/// The reports that party 1 gets while all do `part`.
fn heard(part: impl AsyncFn(&mut MeshSession) -> Result<(), ProtocolError>) -> Vec<Told> {
    let recorder = Recorder { phase: Phase::Setup, told: Arc::default() };
    let one = async |mesh: Mesh| {
        let party = mesh.party();
        let progress: Box<dyn Progress> = if party == 1 { Box::new(recorder.clone()) } else { Box::new(()) };
        let rng = Prg::new(Block::from_halves(7, party.into()));
        let mut session = MeshSession::join(mesh, rng, &hello(party, PARTIES), progress).await?;
        part(&mut session).await?;
        // All traffic is reported.
        let bytes = session.mesh().traffic();
        Ok::<_, ProtocolError>(bytes.bytes_sent + bytes.bytes_received)
    };
    let bytes = block_on(join_all(Mesh::memory(PARTIES).into_iter().map(one)));
    let told = recorder.told.lock().unwrap().clone();
    assert!(told.iter().all(|told| told.bytes <= *bytes[1].as_ref().expect("an honest run")));
    told
}

/// Asserts that a phase goes from no gates to all gates in at least `steps` steps, with growing traffic.
fn check(told: &[Told], phase: Phase, gates: usize, steps: usize) {
    let told: Vec<Told> = told.iter().copied().filter(|told| told.phase == phase).collect();
    assert!(told.is_sorted_by_key(|told| (told.done, told.bytes)), "{phase:?} goes back");
    assert!(told.iter().all(|told| told.total == gates as u64), "{phase:?} of another number of gates");
    let mut done: Vec<u64> = told.iter().map(|told| told.done).collect();
    done.dedup();
    assert_eq!((done.first(), done.last()), (Some(&0), Some(&(gates as u64))), "{phase:?}");
    assert!(done.len() > steps, "{phase:?} in {} steps", done.len() - 1);
    assert!(told[0].bytes < told[told.len() - 1].bytes, "{phase:?} without traffic");
}

#[test]
fn gmw_reports_progress_while_it_prepares() {
    let program = program();
    for form in [gmw::Form::Triples, gmw::Form::Choi2012] {
        let config = gmw::Config { form, ..gmw::Config::default() };
        let plan = Arc::new(gmw::Plan::new(program.clone(), PARTIES, config).expect("can be run"));
        let told = heard(async |session| {
            let mut party = gmw::GmwParty::setup(session, plan.clone()).await?;
            party.prepare(session).await.map(drop)
        });
        check(&told, Phase::Prepare, plan.and_count(), 10);
    }
}

#[test]
fn bmr_reports_progress_while_it_prepares_and_builds() {
    let program = program();
    let published = bmr::Form::Published(bmr::Optimisations::BothWays);
    let kinds = [
        (bmr::Garbling::Ot, bmr::Form::Linear, 7, 50),
        (bmr::Garbling::Ot, bmr::Form::HalfGates, 5, 50),
        (bmr::Garbling::Ot, published, 12, 2),
        (bmr::Garbling::Bgw3, bmr::Form::Linear, 1, 2),
    ];
    for (garbling, form, prepare, build) in kinds {
        let config = bmr::Config { form, ..bmr::Config::of(garbling) };
        let plan = Arc::new(bmr::Plan::new(program.clone(), PARTIES, config).expect("can be run"));
        let told = heard(async |session| {
            let mut party = bmr::BmrParty::setup(session, plan.clone()).await?;
            party.prepare(session).await.map(drop)
        });
        check(&told, Phase::Prepare, plan.and_count(), prepare);
        check(&told, Phase::Build, plan.and_count(), build);
    }
}
