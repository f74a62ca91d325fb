//! The garbler's side of a run.

use garblet_circuit::{Bits, Party};
use garblet_garble::masked::MaskWalk;
use garblet_primitives::{Block, secrets};
use garblet_protocol::{
    checks::Cheating,
    conduct::Conduct,
    domain::Hasher,
    error::ProtocolError,
    kept::{WORD_BYTES, has_kept},
    session::Session,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{CHALLENGE_BYTES, DIGEST_BYTES, RUN_BYTES, by_owner, check_run, masked_own, masked_values};
use crate::{
    EVALUATOR, GARBLER, Step,
    build::{
        InputMasks,
        garbler::{Garbled, Garbling, LotSecrets},
    },
    checks,
    config::ResultCheck,
    ground::Ground,
    opening::{Packed, Sums, add_each, open, opened, opened_bytes},
    others::{Dealing, hidden, keep, settle},
    place::Place,
    plan::Plan,
    shares::{PowerSum, Shares},
    side::{Computed, Read, Side, Waiting, Work},
    supply::Supply,
    tags::weighed,
    wires::Wires,
};

/// Party 0's side.
pub struct GarblerSide;

/// A circuit that is garbled and sent.
pub struct Built {
    run: u64,
    /// Zero labels of the inputs that a party provides, and of those that are read.
    labels: Zeroizing<Vec<Block>>,
    read: Read,
    own_masks: Zeroizing<Vec<bool>>,
    dealt: Shares,
    garbled: Garbled,
    transcript: Hasher,
    secrets: LotSecrets,
}

impl Side for GarblerSide {
    const PARTY: Party = GARBLER;
    const NAME: &'static str = "garbler";
    type Built = Built;

    async fn build<C: Conduct<Step>>(
        ground: &mut Ground<C>,
        session: &mut Session,
        plan: &Plan,
        mut supply: Supply,
        read: &Read,
    ) -> Result<Built, ProtocolError> {
        let inputs = InputMasks::new(plan, supply.inputs(plan)?);
        let labels = fresh_labels(session, plan.given_bits());
        let by_port = read.labels(plan, &labels)?;
        let run = ground.next_run();
        let mut garbling =
            Garbling::new(ground, session, (plan, run, &read.marks), by_port, read.masks(plan, &inputs)?);
        let all = 0..plan.and_count() as usize;
        let material = supply.next(all.len())?;
        let (secrets, own_masks) = garbling.lot(ground, session, material, all, Some(&inputs)).await?;
        session.channel().flush().await?;
        let (garbled, transcript) = garbling.finish();
        let dealt = inputs.dealt;
        Ok(Built { run, labels, read: read.clone(), own_masks, dealt, garbled, transcript, secrets })
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

/// Uniform zero labels, with bit 0 zero.
fn fresh_labels(session: &mut Session, count: usize) -> Zeroizing<Vec<Block>> {
    Zeroizing::new((0..count).map(|_| Block::random(session.rng()).with_lsb(false)).collect())
}

async fn compute_built<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    built: Built,
    (own, dealing): (&Bits, &mut D),
) -> Result<Computed, ProtocolError> {
    let Built { run, labels, read, own_masks, dealt, garbled, mut transcript, secrets } = built;
    let masked =
        masked_inputs(ground, session, plan, (run, &own_masks, &dealt), (own, dealing), &mut transcript).await?;
    send_labels(ground, session, (&labels, &masked), &mut transcript).await?;
    let mut judge = Judge::new(plan, run);
    judge.lot(ground, session, &secrets, &transcript, (&masked, &read)).await?;
    finish(ground, session, judge, garbled, (&dealt, dealing)).await
}

async fn compute_streamed<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    waiting: Waiting,
    (own, dealing): (&Bits, &mut D),
) -> Result<Computed, ProtocolError> {
    let Waiting { mut supply, inputs, own_masks, read, run } = waiting;
    let labels = fresh_labels(session, plan.given_bits());
    let by_port = read.labels(plan, &labels)?;
    let mut garbling = Garbling::new(ground, session, (plan, run, &read.marks), by_port, read.masks(plan, &inputs)?);
    let (dealt, transcript) = (inputs.dealt, &mut garbling.transcript);
    let masked = masked_inputs(ground, session, plan, (run, &own_masks, &dealt), (own, dealing), transcript).await?;
    send_labels(ground, session, (&labels, &masked), transcript).await?;
    let mut judge = Judge::new(plan, run);
    for lot in plan.lots() {
        let material = supply.next(lot.len())?;
        let (secrets, _) = garbling.lot(ground, session, material, lot, None).await?;
        judge.lot(ground, session, &secrets, &garbling.transcript, (&masked, &read)).await?;
    }
    let (garbled, _) = garbling.finish();
    finish(ground, session, judge, garbled, (&dealt, dealing)).await
}

/// Step O1: the masked values of all inputs that a party provides, in program order. Sends the number of the run.
async fn masked_inputs<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    (run, own_masks, dealt): (u64, &[bool], &Shares),
    (own, dealing): (&Bits, &mut D),
    transcript: &mut Hasher,
) -> Result<Vec<bool>, ProtocolError> {
    let bits = plan.input_bits(EVALUATOR);
    let mut message = vec![0; RUN_BYTES + bits.div_ceil(8) + dealt.len().div_ceil(8)];
    session.channel().receive_bytes(&mut message).await?;
    let (number, rest) = message.split_at(RUN_BYTES);
    check_run(run, number)?;
    let (theirs, told) = rest.split_at(bits.div_ceil(8));
    let theirs = Packed::received(theirs, bits)?;
    transcript.add(&theirs.0);
    let mut ours = masked_own(own, own_masks);
    secrets::publish(&mut ours.0, "authenticated: the garbler's masked input, which its next labels reveal");
    let mut message = run.to_le_bytes().to_vec();
    let mut others = Packed::zeros(0);
    if !dealt.is_empty() {
        let (told, own_told) = (Packed::received(told, dealt.len())?, hidden(dealing, dealt)?);
        transcript.add(&told.0);
        for bits in [&ours, &own_told] {
            message.extend_from_slice(&bits.0);
            transcript.add(&bits.0);
        }
        ground.send(session, Step::Told, &mut message).await?;
        others = settle(ground, session, dealing, dealt, [&own_told, &told]).await?;
    } else {
        session.channel().send_bytes(&message).await?;
    }
    Ok(by_owner(plan, [&ours, &theirs, &others]))
}

/// Step O2: the active labels of all inputs that a party provides.
async fn send_labels<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    (zero, masked): (&[Block], &[bool]),
    transcript: &mut Hasher,
) -> Result<(), ProtocolError> {
    let delta = ground.delta.block();
    let mut active: Zeroizing<Vec<Block>> =
        Zeroizing::new(zero.iter().zip(masked).map(|(&zero, &bit)| zero ^ (Block::mask(bit) & delta)).collect());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut active);
    ground.send(session, Step::InputLabels, bytes).await?;
    transcript.add(bytes);
    Ok(())
}

/// The proof for the evaluator that all gates are right: the sum of tags, or of shares for the masked values that the evaluator sends.
struct Judge<'p> {
    plan: &'p Plan,
    run: u64,
    sum: Block,
    told: Option<Told<'p>>,
}

/// The masked values that the evaluator has sent so far.
struct Told<'p> {
    values: MaskWalk<'p>,
    labels: Hasher,
}

impl<'p> Judge<'p> {
    fn new(plan: &'p Plan, run: u64) -> Self {
        Judge { plan, run, sum: Block::ZERO, told: None }
    }

    /// Adds a lot that was sent: sums its tags, or receives its masked values.
    ///
    /// *Errors*: the connection's.
    async fn lot<C: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<C>,
        session: &mut Session,
        secrets: &LotSecrets,
        transcript: &Hasher,
        (masked, read): (&[bool], &Read),
    ) -> Result<(), ProtocolError> {
        match self.plan.config().check {
            ResultCheck::Tags => self.sum ^= weighed(transcript, &secrets.sums),
            ResultCheck::Reveal if secrets.labels.is_empty() => (),
            ResultCheck::Reveal => self.hear(ground, session, secrets, masked, read).await?,
        }
        Ok(())
    }

    async fn hear<C: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<C>,
        session: &mut Session,
        secrets: &LotSecrets,
        masked: &[bool],
        read: &Read,
    ) -> Result<(), ProtocolError> {
        let plan = self.plan;
        let ands = secrets.labels.len();
        // Before the first gates come the values of the inputs that are read, which the garbler does not know yet.
        let first = if self.told.is_none() { read.all_labels() } else { Zeroizing::default() };
        let count = first.len() + ands;
        let mut message = vec![0; count.div_ceil(8) + CHALLENGE_BYTES];
        session.channel().receive_bytes(&mut message).await?;
        let (bits, challenge) = message.split_at(count.div_ceil(8));
        let bits = Packed::received(bits, count)?;
        let challenge = Block::from_bytes(*challenge.first_chunk().unwrap_or(&[0; CHALLENGE_BYTES]));
        let value = |bit: bool| Block::from_u128(bit.into());
        if self.told.is_none() {
            let given: Vec<Block> = masked.iter().map(|&bit| value(bit)).collect();
            let saved: Vec<Block> = (0..first.len()).map(|at| value(bits.get(at))).collect();
            let inputs = plan.by_port(&given, |input| read.part(input, &saved))?;
            self.told = Some(Told { values: masked_values(plan, inputs), labels: ground.revealed(self.run) });
        }
        let Some(Told { values, labels }) = &mut self.told else { return Ok(()) };
        let delta = ground.delta.block();
        let active = |(at, &zero): (usize, &Block)| zero ^ (Block::mask(bits.get(at)) & delta);
        let mut all: Zeroizing<Vec<Block>> = Zeroizing::new(Vec::with_capacity(first.len() + ands));
        all.extend(first.iter().chain(&secrets.labels).enumerate().map(active));
        labels.add(bytemuck::cast_slice(&all));
        let results: Vec<Block> = (first.len()..first.len() + ands).map(|at| value(bits.get(at))).collect();
        let (mut left, mut right) = (vec![Block::ZERO; ands], vec![Block::ZERO; ands]);
        values.advance(&results, [&mut left, &mut right]);
        let mut sum = PowerSum::new(challenge);
        add_each(&mut sum, ands, |at| {
            let of_left = Block::mask(left[at].lsb()) & secrets.right[at];
            secrets.result[at] ^ of_left ^ (Block::mask(right[at].lsb()) & secrets.left[at])
        });
        self.sum ^= sum.finish();
        Ok(())
    }

    /// The sum, once the digest of the labels of all revealed values has arrived and is right.
    ///
    /// *Errors*: [`checks::REVEALED_LABELS`]; the connection's.
    async fn sum(self, session: &mut Session) -> Result<Block, ProtocolError> {
        if let Some(Told { labels, .. }) = self.told {
            let mut digest = [0; DIGEST_BYTES];
            session.channel().receive_bytes(&mut digest).await?;
            if !secrets::verdict(
                labels.finish().ct_eq(&digest),
                "authenticated: whether the digest matches the labels of revealed values",
            ) {
                return Err(Cheating::new(checks::REVEALED_LABELS, "the digest is of other labels").into());
            }
        }
        Ok(self.sum)
    }
}

/// The end of steps O2 and O4, and step O5.
async fn finish<C: Conduct<Step>, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    judge: Judge<'_>,
    garbled: Garbled,
    (dealt, dealing): (&Shares, &mut D),
) -> Result<Computed, ProtocolError> {
    let (plan, run) = (judge.plan, judge.run);
    let sum = judge.sum(session).await?;
    if plan.and_count() > 0 {
        ground.send(session, Step::Sum, &mut sum.to_bytes()).await?;
    }
    let (theirs, of_others) = (plan.learned(EVALUATOR, &garbled.masks.peer), plan.for_pads(&garbled.masks.peer));
    if theirs.len() + of_others.len() > 0 {
        let domain = ground.domain(GARBLER, Place::OutputMasks, run);
        let sums = Sums::default().and_alone(&theirs).and(&of_others, plan.pads_of(&dealt.peer));
        let mut message = open(&domain, &sums.bits(), &sums);
        ground.send(session, Step::OutputMasks, &mut message).await?;
    }
    session.channel().flush().await?;
    let (outputs, padded) = match plan.output_bits(GARBLER) + plan.pads() {
        0 => (plan.decoded(GARBLER, std::iter::empty()), Bits::default()),
        _ => own_outputs(ground, session, plan, run, (&garbled, dealt)).await?,
    };
    if plan.confirms() {
        let mut word = [0; WORD_BYTES];
        session.channel().receive_bytes(&mut word).await?;
        dealing.peer_has_kept(has_kept(word)?)?;
    }
    let Garbled { labels, masks } = &mut { garbled };
    let wires = Wires::new(std::mem::take(masks), std::mem::take(labels));
    keep(ground, (plan, run, &wires), &outputs, dealing)?;
    Ok(Computed { outputs, padded })
}

/// Step O5: the garbler's outputs, and those of others.
async fn own_outputs<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    run: u64,
    (garbled, dealt): (&Garbled, &Shares),
) -> Result<(Vec<Option<Bits>>, Bits), ProtocolError> {
    let of = [&garbled.masks.own, &garbled.masks.peer, &garbled.labels];
    let ([own, peer, mut labels], [own_others, peer_others, labels_others]) =
        (of.map(|blocks| plan.learned(GARBLER, blocks)), of.map(|blocks| plan.for_pads(blocks)));
    labels.extend_from_slice(&labels_others);
    let (ours, count) = (own.len(), labels.len());
    let (bytes, delta) = (count.div_ceil(8), ground.delta.block());
    let mut message = vec![0; bytes + opened_bytes(count) + DIGEST_BYTES];
    session.channel().receive_bytes(&mut message).await?;
    let (masked, rest) = message.split_at(bytes);
    let (told, digest) = rest.split_at(opened_bytes(count));
    let masked = Packed::received(masked, count)?;
    let sums = |alone, others, pads| Sums::default().and_alone(alone).and(others, plan.pads_of(pads));
    let shares = (&sums(&peer, &peer_others, &dealt.peer).bits(), &sums(&own, &own_others, &dealt.own));
    let domain = ground.domain(EVALUATOR, Place::OutputMasks, run);
    let masks = opened(&domain, told, checks::OUTPUT_MASKS, shares, delta)?;
    let active = labels.iter().enumerate().map(|(at, &zero)| zero ^ (Block::mask(masked.get(at)) & delta));
    let active = Zeroizing::new(active.collect::<Vec<Block>>());
    let fits = ground.output_digest(run, &active).ct_eq(digest);
    if !secrets::verdict(fits, "authenticated: whether the digest matches the labels of outputs") {
        return Err(Cheating::new(checks::OUTPUT_LABELS, "the digest is of other labels").into());
    }
    let bit = |at| masked.get(at) ^ masks.get(at);
    Ok((plan.decoded(GARBLER, (0..ours).map(bit)), (ours..count).map(bit).collect()))
}
