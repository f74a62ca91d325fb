//! Runs of all parties of a mesh in one test.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use garblet_circuit::{Bits, Party, Program};
use garblet_net::{
    Hello, Mesh,
    testing::{Direction, Fault, FaultKind, FrameKind, PairFault, PairTranscript, intercepted_mesh},
};
use garblet_primitives::{Block, Prg};

use super::is_full;
use crate::joint::JointParty;
use garblet_protocol::{MeshSession, Phase, PhaseCosts, ProtocolError, run_id::RUN_ID_BYTES};

/// The patience of a party in tests.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// The outputs of one party.
pub type Outputs = Vec<Option<Bits>>;

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

/// The hello of party `party` of `count` in [`run`].
pub fn hello(party: u16, count: u16) -> Hello {
    Hello::new("test", party, count, [0; 32])
}

/// The hellos of all parties in [`run`].
pub fn hellos(count: u16) -> Vec<Hello> {
    (0..count).map(|party| hello(party, count)).collect()
}

/// Runs one part for all parties of a mesh, each with its own generator made from `seed`; a party that fails tells the
/// others.
pub async fn run<T>(
    meshes: Vec<Mesh>,
    seed: u64,
    timeout: Duration,
    part: impl AsyncFn(&mut MeshSession) -> Result<T, ProtocolError>,
) -> Vec<Result<T, ProtocolError>> {
    let one = async |mut mesh: Mesh| {
        let (party, count) = (mesh.party(), mesh.party_count());
        mesh.set_timeout(timeout);
        let rng = Prg::new(Block::from_halves(seed, party.into()));
        let mut session = MeshSession::join(mesh, rng, &hello(party, count), Box::new(())).await?;
        match part(&mut session).await {
            Ok(value) => Ok(value),
            Err(error) => {
                session.abort(&error).await;
                Err(error)
            }
        }
    };
    join_all(meshes.into_iter().map(one)).await
}

/// Runs one part for `parties` honest parties. Also returns the transcripts of all pairs.
pub fn run_recorded<T>(
    parties: u16,
    seed: u64,
    part: impl AsyncFn(&mut MeshSession) -> Result<T, ProtocolError>,
) -> (Vec<T>, Vec<PairTranscript>) {
    let (done, transcripts) = block_on(async {
        let (meshes, transcripts) = intercepted_mesh(parties, None);
        (run(meshes, seed, TIMEOUT, part).await, transcripts)
    });
    (done.into_iter().map(|done| done.expect("honest parties")).collect(), transcripts)
}

/// A party's inputs among those of all.
pub fn own_inputs(program: &Program, party: u16, inputs: &[Bits]) -> Vec<Bits> {
    let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == Party(party));
    own.map(|(_, value)| value.clone()).collect()
}

/// One party's part of a single run with the inputs of all.
pub async fn whole_run<P: JointParty>(
    session: &mut MeshSession,
    plan: Arc<P::Plan>,
    inputs: &[Bits],
) -> Result<Outputs, ProtocolError> {
    let own = own_inputs(P::program(&plan), session.mesh().party(), inputs);
    let prepared = P::setup(session, plan.clone()).await?.prepare(session).await?;
    P::online(prepared, &plan, session, &own).await
}

/// Compares every phase of every party with the protocol's formula.
pub fn assert_costs<'a, P: JointParty>(plan: &P::Plan, costs: impl IntoIterator<Item = &'a PhaseCosts>) {
    let hellos = hellos(P::parties(plan));
    for (party, costs) in costs.into_iter().enumerate() {
        for phase in Phase::ALL {
            let stated = P::cost(plan, Party(party as u16), phase, &hellos);
            let name = P::program(plan).name();
            assert_eq!(costs.of(phase).communication, stated, "party {party}, {phase:?} of {name}");
        }
    }
}

/// The bulk data that one party sent to another.
pub fn sent(transcripts: &[PairTranscript], from: u16, to: u16) -> Vec<u8> {
    let pair = (from.min(to), from.max(to));
    let direction = if from < to { Direction::Forth } else { Direction::Back };
    let transcript = transcripts.iter().find(|(other, _)| *other == pair).expect("every pair has one");
    let frames = transcript.1.frames().into_iter();
    let bulk = frames.filter(|frame| frame.direction == direction && frame.kind == FrameKind::Bulk);
    bulk.flat_map(|frame| frame.payload).collect()
}

/// The online bulk data of the last runs, each of `bytes` bytes plus the run's number.
pub fn sent_online(transcripts: &[PairTranscript], from: u16, to: u16, runs: usize, bytes: usize) -> Vec<u8> {
    let all = sent(transcripts, from, to);
    let online = &all[all.len() - runs * (RUN_ID_BYTES + bytes)..];
    online.chunks(RUN_ID_BYTES + bytes).flat_map(|run| &run[RUN_ID_BYTES..]).copied().collect()
}

/// Asserts that any fault in every `step`-th frame between parties 0 and 1 of three ends the run with one of them to blame.
pub fn assert_faults_end_the_run(
    step: usize,
    kinds: &[FaultKind],
    part: impl AsyncFn(&mut MeshSession) -> Result<(), ProtocolError>,
) {
    let run_with = |fault: Option<PairFault>| {
        // A run without a fault is to end even if the machine is busy.
        let timeout = if fault.is_some() { Duration::from_millis(300) } else { Duration::from_secs(30) };
        block_on(async {
            let (meshes, transcripts) = intercepted_mesh(3, fault);
            (run(meshes, 7, timeout, &part).await, transcripts)
        })
    };
    let (done, transcripts) = run_with(None);
    assert!(done.iter().all(Result::is_ok));
    let frames = |direction| transcripts[0].1.frames().iter().filter(|frame| frame.direction == direction).count();
    for direction in [Direction::Forth, Direction::Back] {
        for frame in (0..frames(direction)).step_by(if is_full() { 1 } else { step }) {
            for &kind in kinds {
                let fault = PairFault { low: 0, high: 1, fault: Fault { direction, frame, kind } };
                let errors: Vec<_> = run_with(Some(fault)).0.into_iter().filter_map(Result::err).collect();
                // The last message may be lost for only one party.
                assert!(!errors.is_empty(), "{fault:?}");
                for error in errors {
                    let blame = error.blame().expect("somebody else");
                    assert!(blame.party < 2, "{fault:?}: {error}");
                }
            }
        }
    }
}

/// Asserts that inputs of the wrong number or width end a run of `add(4)` by three parties for all.
pub fn assert_inputs_must_fit<P: JointParty>(plan: &Arc<P::Plan>) {
    let part = async |session: &mut MeshSession| {
        let values = if session.mesh().party() == 2 { vec![] } else { vec![Bits::zeros(5)] };
        let prepared = P::setup(session, plan.clone()).await?.prepare(session).await?;
        P::online(prepared, plan, session, &values).await
    };
    let done = block_on(run(Mesh::memory(3), 7, TIMEOUT, part));
    let texts: Vec<String> = done.into_iter().map(|done| done.expect_err("does not fit").to_string()).collect();
    assert_eq!(texts[0], "input `a`: expected 4 bits, got 5 bits");
    assert!(texts[2].contains("the peer aborted"), "{}", texts[2]);
}
