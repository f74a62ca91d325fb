//! The garbler's side of a run.

use garblet_circuit::{Bits, Party};
use garblet_garble::masked::MaskWalk;
use garblet_primitives::Block;
use garblet_protocol::{checks::Cheating, conduct::Conduct, domain::Hasher, error::ProtocolError, session::Session};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{CHALLENGE_BYTES, CONFIRMATION_BYTES, DIGEST_BYTES, RUN_BYTES, check_run, masked_values};
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
    place::Place,
    plan::Plan,
    shares::PowerSum,
    side::{Computed, Read, Side, Waiting, Work},
    supply::Supply,
    tags::weighed,
    wires::Wires,
};

/// Party 0's side.
pub struct GarblerSide;

/// A circuit that was garbled and sent.
pub struct Built {
    run: u64,
    /// Zero labels of the inputs that somebody gives, and of those that are read.
    labels: Zeroizing<Vec<Block>>,
    read: Read,
    own_masks: Zeroizing<Vec<bool>>,
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
        Ok(Built { run, labels, read: read.clone(), own_masks, garbled, transcript, secrets })
    }

    async fn compute<C: Conduct<Step>>(
        ground: &mut Ground<C>,
        session: &mut Session,
        plan: &Plan,
        work: Work<Built>,
        own: &Bits,
    ) -> Result<Computed, ProtocolError> {
        match work {
            Work::Built(built) => compute_built(ground, session, plan, built, own).await,
            Work::Waiting(waiting) => compute_streamed(ground, session, plan, *waiting, own).await,
        }
    }
}

/// Uniform zero labels, of which bit 0 is zero.
fn fresh_labels(session: &mut Session, count: usize) -> Zeroizing<Vec<Block>> {
    Zeroizing::new((0..count).map(|_| Block::random(session.rng()).with_lsb(false)).collect())
}

async fn compute_built<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    built: Built,
    own: &Bits,
) -> Result<Computed, ProtocolError> {
    let Built { run, labels, read, own_masks, garbled, mut transcript, secrets } = built;
    let masked = masked_inputs(session, plan, (run, own, &own_masks), &mut transcript).await?;
    send_labels(ground, session, run, (&labels, &masked), &mut transcript).await?;
    let mut judge = Judge::new(plan, run);
    judge.lot(ground, session, &secrets, &transcript, (&masked, &read)).await?;
    finish(ground, session, judge, garbled).await
}

async fn compute_streamed<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    waiting: Waiting,
    own: &Bits,
) -> Result<Computed, ProtocolError> {
    let Waiting { mut supply, inputs, own_masks, read, run } = waiting;
    let labels = fresh_labels(session, plan.given_bits());
    let by_port = read.labels(plan, &labels)?;
    let mut garbling = Garbling::new(ground, session, (plan, run, &read.marks), by_port, read.masks(plan, &inputs)?);
    let masked = masked_inputs(session, plan, (run, own, &own_masks), &mut garbling.transcript).await?;
    send_labels(ground, session, run, (&labels, &masked), &mut garbling.transcript).await?;
    let mut judge = Judge::new(plan, run);
    for lot in plan.lots() {
        let material = supply.next(lot.len())?;
        let (secrets, _) = garbling.lot(ground, session, material, lot, None).await?;
        judge.lot(ground, session, &secrets, &garbling.transcript, (&masked, &read)).await?;
    }
    let (garbled, _) = garbling.finish();
    finish(ground, session, judge, garbled).await
}

/// Step O1: the masked values of all inputs that somebody gives, in program order.
async fn masked_inputs(
    session: &mut Session,
    plan: &Plan,
    (run, own, own_masks): (u64, &Bits, &[bool]),
    transcript: &mut Hasher,
) -> Result<Vec<bool>, ProtocolError> {
    let bits = plan.input_bits(EVALUATOR);
    let mut message = vec![0; RUN_BYTES + bits.div_ceil(8)];
    session.channel().receive_bytes(&mut message).await?;
    let (number, theirs) = message.split_at(RUN_BYTES);
    check_run(run, number)?;
    let theirs = Packed(theirs.to_vec()).first(bits);
    transcript.add(&theirs.0);
    let (mut ours, mut evaluators) =
        (own.iter().zip(own_masks).map(|(bit, mask)| bit ^ mask), (0..bits).map(|at| theirs.get(at)));
    let value = |owner| if owner == GARBLER { ours.next() } else { evaluators.next() };
    Ok(plan.owners().flatten().map(value).map(Option::unwrap_or_default).collect())
}

/// Step O2: the active labels of all inputs that somebody gives.
async fn send_labels<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    run: u64,
    (zero, masked): (&[Block], &[bool]),
    transcript: &mut Hasher,
) -> Result<(), ProtocolError> {
    let delta = ground.delta.block();
    let mut active: Zeroizing<Vec<Block>> =
        Zeroizing::new(zero.iter().zip(masked).map(|(&zero, &bit)| zero ^ (Block::mask(bit) & delta)).collect());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut active);
    session.channel().send_bytes(&run.to_le_bytes()).await?;
    ground.send(session, Step::InputLabels, bytes).await?;
    transcript.add(bytes);
    Ok(())
}

/// The proof for the evaluator that all gates are right: the sum of tags, or of shares for the masked values that it tells.
struct Judge<'p> {
    plan: &'p Plan,
    run: u64,
    sum: Block,
    told: Option<Told<'p>>,
}

/// The masked values that the evaluator has told so far.
struct Told<'p> {
    values: MaskWalk<'p>,
    labels: Hasher,
}

impl<'p> Judge<'p> {
    fn new(plan: &'p Plan, run: u64) -> Self {
        Judge { plan, run, sum: Block::ZERO, told: None }
    }

    /// Takes a lot that was sent: adds its tags up, or hears its masked values.
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
        // Before the first gates those of the inputs that are read, of which the garbler has not heard.
        let first = if self.told.is_none() { read.all_labels() } else { Zeroizing::default() };
        let bits = first.len() + ands;
        let mut message = vec![0; bits.div_ceil(8) + CHALLENGE_BYTES];
        session.channel().receive_bytes(&mut message).await?;
        let (bits, challenge) = message.split_at(bits.div_ceil(8));
        let bits = Packed(bits.to_vec());
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

    /// The sum, once the digest of all labels of told values is there and fits them.
    ///
    /// *Errors*: [`checks::REVEALED_LABELS`]; the connection's.
    async fn sum(self, session: &mut Session) -> Result<Block, ProtocolError> {
        if let Some(Told { labels, .. }) = self.told {
            let mut digest = [0; DIGEST_BYTES];
            session.channel().receive_bytes(&mut digest).await?;
            if !bool::from(labels.finish().ct_eq(&digest)) {
                return Err(Cheating::new(checks::REVEALED_LABELS, "the digest is of other labels").into());
            }
        }
        Ok(self.sum)
    }
}

/// The end of steps O2 and O4, and step O5.
async fn finish<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    judge: Judge<'_>,
    garbled: Garbled,
) -> Result<Computed, ProtocolError> {
    let (plan, run) = (judge.plan, judge.run);
    let sum = judge.sum(session).await?;
    if plan.and_count() > 0 {
        ground.send(session, Step::Sum, &mut sum.to_bytes()).await?;
    }
    let theirs = plan.learned(EVALUATOR, &garbled.masks.peer);
    if !theirs.is_empty() {
        let domain = ground.domain(GARBLER, Place::OutputMasks, run);
        let mut message = open(&domain, &Sums::default().and_alone(&theirs));
        ground.send(session, Step::OutputMasks, &mut message).await?;
    }
    session.channel().flush().await?;
    let outputs = match plan.output_bits(GARBLER) {
        0 => plan.decoded(GARBLER, std::iter::empty()),
        _ => own_outputs(ground, session, plan, run, &garbled).await?,
    };
    if plan.confirms() {
        session.channel().receive_bytes(&mut [0; CONFIRMATION_BYTES]).await?;
    }
    let Garbled { labels, masks } = &mut { garbled };
    Ok((outputs, run, Wires::new(std::mem::take(masks), std::mem::take(labels))))
}

/// Step O5: the garbler's outputs.
async fn own_outputs<C: Conduct<Step>>(
    ground: &mut Ground<C>,
    session: &mut Session,
    plan: &Plan,
    run: u64,
    garbled: &Garbled,
) -> Result<Vec<Option<Bits>>, ProtocolError> {
    let [own, peer, labels] =
        [&garbled.masks.own, &garbled.masks.peer, &garbled.labels].map(|blocks| plan.learned(GARBLER, blocks));
    let count = own.len();
    let (bytes, delta) = (count.div_ceil(8), ground.delta.block());
    let mut message = vec![0; bytes + opened_bytes(count) + DIGEST_BYTES];
    session.channel().receive_bytes(&mut message).await?;
    let (masked, rest) = message.split_at(bytes);
    let (told, digest) = rest.split_at(opened_bytes(count));
    let masked = Packed(masked.to_vec());
    let shares = (&Sums::default().and_alone(&own), &Sums::default().and_alone(&peer));
    let domain = ground.domain(EVALUATOR, Place::OutputMasks, run);
    let masks = opened(&domain, told, checks::OUTPUT_MASKS, shares, delta)?;
    let active: Vec<Block> =
        labels.iter().enumerate().map(|(at, &zero)| zero ^ (Block::mask(masked.get(at)) & delta)).collect();
    if !bool::from(ground.output_digest(run, &active).ct_eq(digest)) {
        return Err(Cheating::new(checks::OUTPUT_LABELS, "the digest is of other labels").into());
    }
    Ok(plan.decoded(GARBLER, (0..count).map(|at| masked.get(at) ^ masks.get(at))))
}
