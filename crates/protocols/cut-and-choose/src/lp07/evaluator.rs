//! Steps 5 to 7 of the evaluator.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_ot::BitVec;
use garblet_primitives::Block;
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::{
    super::{
        Step,
        evaluator::Evaluator,
        examine::{Examining, Keys},
        plan::Plan,
    },
    Challenge,
    kept::Kept,
    supersets::{self, Shape},
};
use garblet_protocol::{
    bulk::receive_blocks,
    checks::{Cheating, Suspected, Unverified},
    coin_toss::Committer,
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    party_io::{EVALUATOR, GARBLER},
    session::Session,
    workers::{self, Divided, Work},
};
use garblet_seeded::{Buffers, InputHash, Secrets, Shared, encoding::Encoding, lanes};

/// Receives circuits and supersets, tosses coins, checks the openings, and evaluates the unchecked circuits.
pub(in super::super) async fn examine<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    run: &SessionId,
    encoding: Encoding,
    mut keys: Vec<Keys>,
    choices: BitVec,
) -> Result<Vec<Unverified<Bits>>, ProtocolError> {
    let plan = evaluator.plan.clone();
    let shape = Shape {
        domain: run.domain(GARBLER, Step::Superset as u8),
        wires: plan.blueprint().garbler_wires(),
        circuits: plan.circuits(),
    };
    let kept = Arc::new(receive(&plan, session, &shape).await?);
    let challenge = Arc::new(toss(evaluator, session, run).await?);
    let mut seeds = vec![Block::ZERO; plan.config().checked()];
    let received = session.channel().receive_bytes(bytemuck::cast_slice_mut(&mut seeds)).await;
    received.map_err(|source| Suspected { source })?;
    for (circuit, &seed) in challenge.circuits.checked().zip(&seeds) {
        keys[circuit].seed = Zeroizing::new(seed);
    }
    let secrets =
        challenge.circuits.checked().zip(&seeds).map(|(c, &seed)| (c, Secrets::of_seed(plan.blueprint(), seed)));
    let openings = Openings { shape, challenge: challenge.clone(), kept: kept.clone(), checked: secrets.collect() };
    // With the seeds the evidence is complete: a garbler that leaves now is named if a checked circuit is bad.
    let (circuits, gone): (Vec<usize>, _) = match receive_openings(session, openings).await {
        Ok(opened) => {
            opened.into_iter().for_each(|(circuit, labels)| keys[circuit].garbler = labels);
            ((0..plan.circuits()).collect(), None)
        }
        Err(ProtocolError::Net(source)) => (challenge.circuits.checked().collect(), Some(Suspected { source })),
        Err(error) => return Err(error),
    };
    let shared = Shared::new(run.domain(GARBLER, Step::Head as u8), encoding, InputHash::none());
    let (digests, buffers) = (run.domain(GARBLER, Step::CircuitDigest as u8), Buffers::default());
    let examining = Arc::new(Examining { plan, shared, digests, keys, choices, buffers });
    let results = check_and_evaluate(session.workers(), examining, challenge, kept, circuits).await?;
    match gone {
        Some(suspected) => Err(suspected.into()),
        None => Ok(results),
    }
}

/// Step 5: receives all circuits and supersets; they must have arrived before anything reveals which are checked.
async fn receive(plan: &Plan, session: &mut Session, shape: &Shape) -> Result<Kept, ProtocolError> {
    let kept = Kept::new(session, plan, shape)?;
    let mut buffer = Vec::new();
    for (circuit, part) in lanes::order(plan.circuits(), plan.blueprint().part_count()) {
        let blocks = plan.blueprint().room_for(part, &mut buffer);
        receive_blocks(session, blocks).await?;
        kept.add_part(circuit, blocks)?;
    }
    let mut commitments = vec![0; shape.commitment_bytes()];
    for superset in 0..plan.config().supersets() {
        session.channel().receive_bytes(&mut commitments).await?;
        kept.add_superset(superset, &commitments)?;
    }
    Ok(kept)
}

/// Step 6.
async fn toss<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    run: &SessionId,
) -> Result<Challenge, ProtocolError> {
    let domain = run.domain(EVALUATOR, Step::TossCommitment as u8);
    let steps = [Step::TossCommitment, Step::TossOpening];
    let coins = Committer::toss(session, domain, steps, &mut evaluator.conduct).await?;
    Ok(Challenge::of(&evaluator.plan, coins))
}

/// The data to compare with the openings of supersets.
struct Openings {
    shape: Shape,
    challenge: Arc<Challenge>,
    kept: Arc<Kept>,
    checked: Vec<(usize, Secrets)>,
}

/// The labels of the garbler's input that a worker has found, and a superset that contains them.
type Found = Result<Option<(usize, Zeroizing<Vec<Block>>)>, ProtocolError>;

/// Step 7: checks the supersets as they are opened, on all workers. Returns the garbler's labels for each evaluated circuit.
///
/// *Errors*: findings in the received supersets take precedence over failures of the connection.
async fn receive_openings(
    session: &mut Session,
    openings: Openings,
) -> Result<Vec<(usize, Zeroizing<Vec<Block>>)>, ProtocolError> {
    let openings = Arc::new(openings);
    let (mut inboxes, mut checks) = (Vec::new(), Vec::new());
    for _ in 0..session.workers() {
        let (give, take) = workers::channel();
        let openings = openings.clone();
        checks.push(Work::begin(move || openings.check(take)));
        inboxes.push(give);
    }
    let Challenge { circuits, supersets } = &*openings.challenge;
    let mut received = Ok(());
    for superset in 0..supersets.checked().count() + supersets.evaluated().count() {
        let mut bytes = vec![0; openings.shape.opening_bytes(supersets.is_checked(superset), circuits)];
        received = session.channel().receive_bytes(&mut bytes).await;
        if received.is_err() {
            break;
        }
        // A worker that has caught the garbler cheating takes no more; its finding is handled below.
        let _ = inboxes[superset % inboxes.len()].send((superset, bytes)).await;
    }
    drop(inboxes);
    let mut labels: Option<(usize, Zeroizing<Vec<Block>>)> = None;
    for check in checks {
        let Some(found) = check.result().await?? else { continue };
        match &labels {
            Some(known) if known.1 != found.1 => return Err(another_input(known.0, found.0).into()),
            _ => labels = Some(found),
        }
    }
    received?;
    let labels = labels.map(|(_, labels)| labels).unwrap_or_default();
    let count = circuits.evaluated().count();
    let of = |at: usize| labels.iter().skip(at).step_by(count.max(1)).copied().collect::<Vec<Block>>();
    Ok(circuits.evaluated().enumerate().map(|(at, circuit)| (circuit, Zeroizing::new(of(at)))).collect())
}

impl Openings {
    fn check(&self, mut openings: mpsc::Receiver<(usize, Vec<u8>)>) -> Found {
        let mut labels: Option<(usize, Zeroizing<Vec<Block>>)> = None;
        while let Some((superset, opening)) = openings.blocking_recv() {
            let commitments = self.kept.superset(superset)?;
            if self.challenge.supersets.is_checked(superset) {
                supersets::check(&self.shape, superset, &commitments, &opening, &self.checked)?;
                continue;
            }
            let circuits = &self.challenge.circuits;
            let found = supersets::input_labels(&self.shape, superset, &commitments, &opening, circuits)?;
            match &labels {
                Some((known, labels)) if *labels != found => return Err(another_input(*known, superset).into()),
                _ => labels = Some((superset, found)),
            }
        }
        Ok(labels)
    }
}

fn another_input(known: usize, found: usize) -> Cheating {
    Cheating::new(checks::SUPERSET_INPUT, format!("supersets {known} and {found}"))
}

/// The second half of step 7, for these circuits: makes the checked ones again, evaluates the others.
async fn check_and_evaluate(
    workers: usize,
    examining: Arc<Examining>,
    challenge: Arc<Challenge>,
    kept: Arc<Kept>,
    circuits: Vec<usize>,
) -> Result<Vec<Unverified<Bits>>, ProtocolError> {
    let work = move |circuit: usize| {
        let blueprint = examining.plan.blueprint();
        let blocks = kept.circuit(circuit, blueprint)?;
        let parts = blueprint.parts(&blocks);
        Ok(match challenge.circuits.is_checked(circuit) {
            true => {
                check(&examining, circuit, &parts)?;
                None
            }
            false => Some(Unverified::new(examining.evaluate(circuit, &parts)?)),
        })
    };
    let results = Divided::begin(workers, circuits.into_iter(), work).results().await?;
    results.into_iter().filter_map(Result::transpose).collect()
}

fn check(examining: &Examining, circuit: usize, parts: &[&[Block]]) -> Result<(), Cheating> {
    let mut same = true;
    let own_labels_fit =
        examining.remake(circuit, |part, blocks| same &= parts.get(part).is_some_and(|came| *came == blocks));
    let check = match (same, own_labels_fit) {
        (false, _) => checks::CIRCUIT_OF_SEED,
        (true, false) => checks::LABEL_OF_SEED,
        (true, true) => return Ok(()),
    };
    Err(Cheating::in_circuit(check, circuit))
}
