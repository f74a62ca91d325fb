//! The evaluator's side of a run.

use garblet_circuit::{Bits, Party};
use garblet_garble::masked::MaskedEvaluator;
use garblet_primitives::{Block, secrets};
use garblet_protocol::{
    bulk::receive_blocks, checks::Cheating, conduct::Conduct, domain::Hasher, error::ProtocolError, kept::WORD_BYTES,
    session::Session,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{RUN_BYTES, check_run, masked_own};
use crate::{
    EVALUATOR, GARBLER, Step,
    build::{
        InputMasks,
        evaluator::{LotEvaluated, LotReceived, Receiving},
    },
    checks,
    config::ResultCheck,
    ground::Ground,
    opening::{Packed, Sums, open, opened, opened_bytes},
    others::{Dealing, hidden, keep, settle},
    place::Place,
    plan::Plan,
    shares::{PowerSum, Shares},
    side::{Computed, Read, Side, Waiting, Work},
    supply::Supply,
    tags::weighed,
    wires::{Shared, Wires},
};

/// Party 1's side.
pub struct EvaluatorSide;

/// A received circuit.
pub struct Built {
    run: u64,
    read: Read,
    own_masks: Zeroizing<Vec<bool>>,
    dealt: Shares,
    lot: LotReceived,
    hash_seed: Block,
    masks: Shared,
    transcript: Hasher,
}

impl Side for EvaluatorSide {
    const PARTY: Party = EVALUATOR;
    const NAME: &'static str = "evaluator";
    type Built = Built;

    async fn build<C: Conduct<Step>>(
        ground: &mut Ground<C>,
        session: &mut Session,
        plan: &Plan,
        mut supply: Supply,
        read: &Read,
    ) -> Result<Built, ProtocolError> {
        let inputs = InputMasks::new(plan, supply.inputs(plan)?);
        let run = ground.next_run();
        let mut receiving = Receiving::new(ground, (plan, run, &read.marks), read.masks(plan, &inputs)?);
        let all = 0..plan.and_count() as usize;
        let material = supply.next(all.len())?;
        let (lot, own_masks) = receiving.lot(ground, session, material, all, Some(&inputs)).await?;
        let hash_seed = receiving.hash_seed;
        let (masks, transcript) = receiving.finish();
        let dealt = inputs.dealt;
        Ok(Built { run, read: read.clone(), own_masks, dealt, lot, hash_seed, masks, transcript })
    }

    async fn compute<C: Conduct<Step>, D: Dealing>(
        ground: &mut Ground<C>,
        session: &mut Session,
        plan: &Plan,
        work: Work<Built>,
        io: (&Bits, &mut D),
    ) -> Result<Computed, ProtocolError> {
        match work {
            Work::Built(built) => compute_built(ground, session, plan, built, io).await,
            Work::Waiting(waiting) => compute_streamed(ground, session, plan, *waiting, io).await,
        }
    }
}

async fn compute_built<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    built: Built,
    (own, dealing): (&Bits, &mut D),
) -> Result<Computed, ProtocolError> {
    let Built { run, read, own_masks, dealt, lot, hash_seed, masks, mut transcript } = built;
    let labels =
        receive_labels(ground, session, plan, (run, &own_masks, &dealt), (own, dealing), &mut transcript).await?;
    let mut evaluator = begin(ground, plan, hash_seed, &read, &labels)?;
    let mut verdict = Verdict::new(ground, plan, run);
    let evaluated = lot.evaluate(plan, &mut evaluator);
    verdict.lot(ground, session, evaluated, &transcript, &read).await?;
    let wires = Wires::new(masks, evaluator.into_outputs());
    finish(ground, session, verdict, wires, (&dealt, dealing)).await
}

async fn compute_streamed<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    waiting: Waiting,
    (own, dealing): (&Bits, &mut D),
) -> Result<Computed, ProtocolError> {
    let Waiting { mut supply, inputs, own_masks, read, run } = waiting;
    let mut receiving = Receiving::new(ground, (plan, run, &read.marks), read.masks(plan, &inputs)?);
    let (dealt, transcript) = (inputs.dealt, &mut receiving.transcript);
    let labels = receive_labels(ground, session, plan, (run, &own_masks, &dealt), (own, dealing), transcript).await?;
    let mut evaluator = None;
    let mut verdict = Verdict::new(ground, plan, run);
    for lot in plan.lots() {
        let material = supply.next(lot.len())?;
        let (lot, _) = receiving.lot(ground, session, material, lot, None).await?;
        // The seed of the hash comes with the first lot.
        let evaluator = match &mut evaluator {
            Some(evaluator) => evaluator,
            none => none.insert(begin(ground, plan, receiving.hash_seed, &read, &labels)?),
        };
        let evaluated = lot.evaluate(plan, evaluator);
        verdict.lot(ground, session, evaluated, &receiving.transcript, &read).await?;
    }
    let labels = evaluator.map(MaskedEvaluator::into_outputs).unwrap_or_default();
    let (masks, _) = receiving.finish();
    finish(ground, session, verdict, Wires::new(masks, labels), (&dealt, dealing)).await
}

fn begin<'p, C: Conduct<Step>>(
    ground: &Ground<C>,
    plan: &'p Plan,
    hash_seed: Block,
    read: &Read,
    labels: &[Block],
) -> Result<MaskedEvaluator<'p>, ProtocolError> {
    let labels = read.labels(plan, labels)?;
    let with_tags = plan.config().check == ResultCheck::Tags;
    let (program, schedules) = (plan.program(), plan.schedules());
    Ok(MaskedEvaluator::new(program, schedules, hash_seed, ground.delta.block(), with_tags, labels))
}

/// Steps O1 and O2: sends the masked input, and receives the labels of all inputs that a party provides.
///
/// *Errors*: [`checks::INPUT_LABEL`]; the connection's.
async fn receive_labels<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    (run, own_masks, dealt): (u64, &[bool], &Shares),
    (own, dealing): (&Bits, &mut D),
    transcript: &mut Hasher,
) -> Result<Zeroizing<Vec<Block>>, ProtocolError> {
    let mut own = own.clone();
    ground.conduct.input(0, &mut own);
    let (masked, own_told) = (masked_own(&own, own_masks), hidden(dealing, dealt)?);
    let mut message = run.to_le_bytes().to_vec();
    for bits in [&masked, &own_told] {
        transcript.add(&bits.0);
        message.extend_from_slice(&bits.0);
    }
    ground.send(session, Step::MaskedInputs, &mut message).await?;
    session.channel().flush().await?;
    let mut number = [0; RUN_BYTES];
    session.channel().receive_bytes(&mut number).await?;
    check_run(run, &number)?;
    let mut known = [None, Some(masked), None];
    if !dealt.is_empty() {
        let garblers = plan.input_bits(GARBLER);
        let mut message = vec![0; garblers.div_ceil(8) + dealt.len().div_ceil(8)];
        session.channel().receive_bytes(&mut message).await?;
        let (theirs, told) = message.split_at(garblers.div_ceil(8));
        let (theirs, told) = (Packed::received(theirs, garblers)?, Packed::received(told, dealt.len())?);
        transcript.add(&theirs.0);
        transcript.add(&told.0);
        let others = settle(ground, session, dealing, dealt, [&own_told, &told]).await?;
        (known[0], known[2]) = (Some(theirs), Some(others));
    }
    let mut labels = Zeroizing::new(vec![Block::ZERO; plan.given_bits()]);
    receive_blocks(session, &mut labels).await?;
    transcript.add(bytemuck::cast_slice(&labels));
    // The masked values announced before: this party's, or everybody's in runs for others.
    let mut next = [0; 3];
    for (label, owner) in labels.iter().zip(plan.owners().flatten()) {
        let giver = usize::from(owner.0).min(2);
        let at = next[giver];
        next[giver] += 1;
        let wrong = known[giver].as_ref().map(|told| told.get(at) ^ label.lsb());
        if wrong
            .is_some_and(|wrong| secrets::public(wrong, "authenticated: whether a label encodes the sent masked input"))
        {
            return Err(Cheating::new(checks::INPUT_LABEL, format!("input bit {at}")).into());
        }
    }
    Ok(labels)
}

/// The evaluator's findings about the gates.
struct Verdict<'p> {
    plan: &'p Plan,
    run: u64,
    /// The sum that the garbler's must equal.
    sum: Block,
    labels: Option<Hasher>,
}

/// Proof that the garbler's sum is right. Nothing that depends on outputs is sent before. Only [`Verdict::verify`] makes it.
struct Verified(());

impl<'p> Verdict<'p> {
    fn new<C: Conduct<Step>>(ground: &Ground<C>, plan: &'p Plan, run: u64) -> Self {
        let reveals = plan.config().check == ResultCheck::Reveal && plan.and_count() > 0;
        Verdict { plan, run, sum: Block::ZERO, labels: reveals.then(|| ground.revealed(run)) }
    }

    /// Adds an evaluated lot: weighs its values, and sends the masked values if they are revealed.
    ///
    /// *Errors*: the connection's.
    async fn lot<C: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<C>,
        session: &mut Session,
        evaluated: LotEvaluated,
        transcript: &Hasher,
        read: &Read,
    ) -> Result<(), ProtocolError> {
        let LotEvaluated { first, values, labels } = &evaluated;
        let Some(hasher) = &mut self.labels else {
            self.sum ^= weighed(transcript, values);
            return Ok(());
        };
        let first = if *first { read.all_labels() } else { Zeroizing::default() };
        let mut told: Zeroizing<Vec<Block>> = Zeroizing::new(Vec::with_capacity(first.len() + labels.len()));
        told.extend(first.iter().chain(labels));
        hasher.add(bytemuck::cast_slice(&told));
        let challenge = Block::random(session.rng());
        let mut message = Packed::collect(told.len(), |at| told[at].lsb()).0.clone();
        message.extend_from_slice(&challenge.to_bytes());
        ground.send(session, Step::MaskedValues, &mut message).await?;
        session.channel().flush().await?;
        let mut sum = PowerSum::new(challenge);
        sum.add_all(values);
        self.sum ^= sum.finish();
        Ok(())
    }

    /// Receives the garbler's sum and checks it.
    ///
    /// *Errors*: [`checks::TAGS`] or [`checks::REVEALED_GATES`]; the connection's.
    async fn verify<C: Conduct<Step>>(
        self,
        ground: &mut Ground<C>,
        session: &mut Session,
    ) -> Result<Verified, ProtocolError> {
        if self.plan.and_count() == 0 {
            return Ok(Verified(()));
        }
        let check = if self.labels.is_some() { checks::REVEALED_GATES } else { checks::TAGS };
        if let Some(labels) = self.labels {
            ground.send(session, Step::MaskedValuesDigest, &mut labels.finish()).await?;
        }
        let mut theirs = [Block::ZERO];
        receive_blocks(session, &mut theirs).await?;
        let fits = theirs[0].ct_eq(&self.sum);
        match secrets::verdict(fits, "authenticated: whether all gates are right") {
            true => Ok(Verified(())),
            false => Err(Cheating::new(check, format!("{} AND gates", self.plan.and_count())).into()),
        }
    }
}

/// The end of steps O2 and O4, and step O5.
async fn finish<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    verdict: Verdict<'_>,
    wires: Wires,
    (dealt, dealing): (&Shares, &mut D),
) -> Result<Computed, ProtocolError> {
    let (plan, run) = (verdict.plan, verdict.run);
    let verified = verdict.verify(ground, session).await?;
    let of = [&wires.own, &wires.peer, &wires.labels];
    let ([own, peer, mut active], [own_others, peer_others, active_others]) =
        (of.map(|blocks| plan.learned(EVALUATOR, blocks)), of.map(|blocks| plan.for_pads(blocks)));
    active.extend_from_slice(&active_others);
    let (ours, count, delta) = (own.len(), active.len(), ground.delta.block());
    let (mut outputs, mut padded) = (plan.decoded(EVALUATOR, std::iter::empty()), Bits::default());
    if count > 0 {
        let mut told = vec![0; opened_bytes(count)];
        session.channel().receive_bytes(&mut told).await?;
        let sums = |alone, others, pads| Sums::default().and_alone(alone).and(others, plan.pads_of(pads));
        let shares = (&sums(&peer, &peer_others, &dealt.peer).bits(), &sums(&own, &own_others, &dealt.own));
        let domain = ground.domain(GARBLER, Place::OutputMasks, run);
        let total = opened(&domain, &told, checks::OUTPUT_MASKS, shares, delta)?;
        let bit = |at: usize| active[at].lsb() ^ total.get(at);
        outputs = plan.decoded(EVALUATOR, (0..ours).map(bit));
        padded = (ours..count).map(bit).collect();
    }
    keep(ground, (plan, run, &wires), &outputs, dealing)?;
    if plan.output_bits(GARBLER) + plan.pads() > 0 {
        hand_over(ground, session, plan, run, (&wires, dealt), &verified).await?;
    }
    if plan.confirms() {
        ground.send(session, Step::Confirmation, &mut [dealing.has_kept().into(); WORD_BYTES]).await?;
    }
    session.channel().flush().await?;
    Ok(Computed { outputs, padded })
}

/// Step O5: sends the garbler its outputs and those of others: masked values, the masks, and the digest of the labels.
async fn hand_over<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    run: u64,
    (wires, dealt): (&Wires, &Shares),
    _verified: &Verified,
) -> Result<(), ProtocolError> {
    let of = [&wires.peer, &wires.labels];
    let ([peer, mut active], [peer_others, active_others]) =
        (of.map(|blocks| plan.learned(GARBLER, blocks)), of.map(|blocks| plan.for_pads(blocks)));
    active.extend_from_slice(&active_others);
    let mut message = Packed::collect(active.len(), |at| active[at].lsb()).0.clone();
    ground.send(session, Step::MaskedOutputs, &mut message).await?;
    let domain = ground.domain(EVALUATOR, Place::OutputMasks, run);
    let sums = Sums::default().and_alone(&peer).and(&peer_others, plan.pads_of(&dealt.peer));
    let mut opening = open(&domain, &sums.bits(), &sums);
    ground.send(session, Step::OutputMasks, &mut opening).await?;
    ground.send(session, Step::OutputDigest, &mut ground.output_digest(run, &active)).await
}
