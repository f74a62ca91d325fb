//! The common state with one peer: random OT in both directions, and the seeds of input shares.

use garblet_circuit::Bits;
use garblet_net::Channel;
use garblet_ot::{BitVec, Direction, OtError, RotReceiver, RotSender};
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use super::bits::Packed;
use garblet_protocol::session::Watch;
use garblet_runs::ots::{Receiver, Sender, Source};

/// The OTs made at a time; a whole number of squares of the OT extension.
const CHUNK: usize = 1 << 14;

/// Bits of the OTs in which this party is sender: both messages.
pub(super) struct Sent {
    pub(super) zero: Packed,
    pub(super) one: Packed,
}

/// Bits of the OTs in which this party is receiver: choices, and the chosen messages.
pub(super) struct Received {
    pub(super) choices: Packed,
    pub(super) chosen: Packed,
}

/// A party's state with one peer.
pub(super) struct Pair {
    sender: RotSender<Sender>,
    receiver: RotReceiver<Receiver>,
    /// Tells whether this party begins as the sender; the peer does not.
    first: bool,
    /// Gives the seeds of the peer's shares of our inputs.
    ours: Prg,
    /// Gives the seeds of our shares of the peer's inputs.
    theirs: Prg,
}

/// Seeds of the shares of one run's inputs, which both parties of a pair have. *Secret*; wiped on drop.
#[derive(zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
pub(super) struct InputSeeds {
    /// The seed of the peer's share of our inputs.
    pub(super) ours: Block,
    /// The seed of our share of the peer's inputs.
    pub(super) theirs: Block,
}

impl Pair {
    /// Step 1 with the peer. The lower party of the two begins as the sender.
    pub(super) async fn setup(
        channel: &mut Channel,
        mut rng: Prg,
        source: Source,
        [own, peer]: [u16; 2],
    ) -> Result<Self, OtError> {
        let seed = Block::random(&mut rng);
        let mut theirs = [Block::ZERO];
        channel.exchange_bytes(&seed.to_bytes(), bytemuck::cast_slice_mut(&mut theirs)).await?;
        // Every peer has its own delta: nothing requires a common one.
        let delta = Delta::random(&mut rng);
        let [sends, receives] = [(own, peer), (peer, own)].map(|(sender, receiver)| Direction { sender, receiver });
        let first = own < peer;
        let (sender, receiver) = if first {
            let sender = Sender::setup(channel, &mut rng, &delta, source, sends).await?;
            (sender, Receiver::setup(channel, &mut rng, source, receives).await?)
        } else {
            let receiver = Receiver::setup(channel, &mut rng, source, receives).await?;
            (Sender::setup(channel, &mut rng, &delta, source, sends).await?, receiver)
        };
        channel.flush().await?;
        let (sender, receiver) = (RotSender::new(sender), RotReceiver::new(receiver));
        Ok(Pair { sender, receiver, first, ours: Prg::new(seed), theirs: Prg::new(theirs[0]) })
    }

    /// Step 2 with the peer: `count` random bit OTs in each direction. Corrections of this party's choices to the wanted
    /// ones follow, if any are wanted; the peer's are returned.
    pub(super) async fn random_ots(
        &mut self,
        channel: &mut Channel,
        count: usize,
        wanted: Option<&Packed>,
        watch: &Watch<'_>,
    ) -> Result<(Sent, Received, Packed), OtError> {
        let Pair { sender, receiver, first, .. } = self;
        if *first {
            sender.prepare(channel, count).await?;
            receiver.prepare(channel, count).await?;
        } else {
            receiver.prepare(channel, count).await?;
            sender.prepare(channel, count).await?;
        }
        let receive_side = async |out: &mut Channel| {
            let mut bits = Received { choices: Packed::zeros(count), chosen: Packed::zeros(count) };
            let mut chosen = Zeroizing::default();
            for (at, size) in chunks(count) {
                let before = out.traffic();
                let choices;
                (choices, chosen) = receiver.extend_into(out, size, chosen).await?;
                let choices = packed(&choices);
                if let Some(wanted) = wanted {
                    let mut correction = wanted.slice(at, size);
                    correction.add(&choices);
                    out.send_bytes(correction.as_bytes()).await?;
                }
                bits.choices.put(at, &choices);
                bits.chosen.put(at, &Packed::collect(chosen.iter().map(|block| block.lsb()), size));
                watch.add(size, out.traffic() - before);
            }
            out.flush().await?;
            Ok::<_, OtError>(bits)
        };
        let send_side = async |into: &mut Channel| {
            let mut bits = Sent { zero: Packed::zeros(count), one: Packed::zeros(count) };
            let mut corrections = Packed::zeros(count);
            let mut pads = Zeroizing::default();
            for (at, size) in chunks(count) {
                let before = into.traffic();
                pads = sender.extend_into(into, size, pads).await?;
                if wanted.is_some() {
                    let correction = BitVec::receive(into, size, "corrections of choices").await?;
                    corrections.put(at, &packed(&correction));
                }
                bits.zero.put(at, &Packed::collect(pads.iter().map(|pad| pad[0].lsb()), size));
                bits.one.put(at, &Packed::collect(pads.iter().map(|pad| pad[1].lsb()), size));
                watch.add(size, into.traffic() - before);
            }
            Ok::<_, OtError>((bits, corrections))
        };
        let (received, (sent, corrections)) = channel.full_duplex(receive_side, send_side).await?;
        Ok((sent, received, corrections))
    }

    /// The seeds of the shares of the next run's inputs.
    pub(super) fn input_seeds(&mut self) -> InputSeeds {
        InputSeeds { ours: self.ours.next_block(), theirs: self.theirs.next_block() }
    }
}

impl InputSeeds {
    /// `bits` bits of the peer's share of our inputs.
    pub(super) fn share_of_ours(&self, bits: usize) -> Bits {
        share(self.ours, bits)
    }

    /// `bits` bits of our share of the peer's inputs.
    pub(super) fn share_of_theirs(&self, bits: usize) -> Bits {
        share(self.theirs, bits)
    }
}

/// The starts and sizes of the chunks of `count` OTs.
fn chunks(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).step_by(CHUNK).map(move |at| (at, CHUNK.min(count - at)))
}

fn packed(choices: &BitVec) -> Packed {
    Packed::from_bytes(choices.as_bytes(), choices.len())
}

fn share(seed: Block, bits: usize) -> Bits {
    Bits::filled(bits, |bytes| Prg::new(seed).fill_bytes(bytes))
}
