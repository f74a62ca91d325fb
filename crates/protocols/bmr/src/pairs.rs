//! Correlated OTs of one party with every other, both ways.
//!
//! In the OTs that party `j` sends, delta is its `delta^j`: it gets `q`, and the receiver `t = q + c delta^j` for its choice
//! `c`. So the two have shares of `c delta^j` without any further message.

use garblet_circuit::Party;
use garblet_net::{Channel, Line, Mesh, PerPeer};
use garblet_ot::{BitVec, CorrelatedReceiver, CorrelatedSender, Direction, OtError, PadHash, softspoken::BATCH_OTS};
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use super::secrets::Labels;
use garblet_protocol::{MeshSession, bulk::check_padding_of, error::ProtocolError, session::Watch};
use garblet_runs::ots::{Receiver, Sender, Source};

/// The number of OTs made between progress reports.
const CHUNK: usize = 8 * BATCH_OTS;

pub(super) const CORRECTIONS: &str = "choice corrections";

/// A party's ends of the OTs with all others.
///
/// A party without a delta sends no OTs.
pub(super) struct Pairs {
    ends: Ends,
    delta: Delta,
    source: Source,
    /// A generator that each pair has in common. *Secret*: from everybody outside the pair.
    common: PerPeer<Prg>,
}

/// The senders and the receivers of OTs.
pub(super) struct Ends {
    senders: PerPeer<Option<Sender>>,
    receivers: PerPeer<Option<Receiver>>,
}

/// The number of OTs that a party receives from each other party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// The number whose choices it already has.
    pub(super) chosen: usize,
    /// The number whose choices come later, see [`correct`].
    pub(super) later: usize,
}

impl Count {
    pub(super) fn all(self) -> usize {
        self.chosen + self.later
    }
}

/// OTs of this party with one other party.
pub(super) struct PairOts {
    /// The OTs as the sender: the chosen ones, then those whose choices come later.
    pub(super) q: Labels,
    /// The OTs as the receiver, in the same order.
    pub(super) t: Labels,
    /// The random choices of the OTs whose choices come later.
    pub(super) later: BitVec,
}

/// The hashes of the OTs with one other party; none for a direction that there is not.
pub(super) struct PairHashes {
    pub(super) sent: Option<PadHash>,
    pub(super) received: Option<PadHash>,
}

impl Ends {
    /// Base OTs, and the first silent ones if OTs are silent, with every other party. Of each pair the lower party is first the sender. `has_delta` tells whether a party sends OTs.
    pub(super) async fn setup(
        mesh: &mut Mesh,
        rng: &mut Prg,
        delta: &Delta,
        source: Source,
        has_delta: impl Fn(u16) -> bool,
    ) -> Result<Self, ProtocolError> {
        let own = mesh.party();
        let rngs = mesh.per_peer(|_| Prg::random(rng));
        let step = async |peer: u16, mut line: Line, mut rng: Prg| {
            let channel: &mut Channel = &mut line;
            let (mut sender, mut receiver) = (None, None);
            for sends in [own < peer, own > peer] {
                if sends && has_delta(own) {
                    sender = Some(
                        Sender::setup(channel, &mut rng, delta, source, Direction { sender: own, receiver: peer })
                            .await?,
                    );
                } else if !sends && has_delta(peer) {
                    receiver = Some(
                        Receiver::setup(channel, &mut rng, source, Direction { sender: peer, receiver: own }).await?,
                    );
                }
            }
            channel.flush().await?;
            Ok::<_, OtError>((sender, receiver))
        };
        let (senders, receivers) = unzip(mesh.each(rngs, step).await?);
        Ok(Ends { senders, receivers })
    }
}

impl Pairs {
    /// The OTs of these ends.
    pub(super) fn new(ends: Ends, delta: Delta, source: Source, common: PerPeer<Prg>) -> Self {
        Pairs { ends, delta, source, common }
    }

    /// The hashes of the OTs with each other party.
    pub(super) fn hashes(&self) -> PerPeer<PairHashes> {
        let Ends { senders, receivers } = &self.ends;
        senders.as_ref().zip(receivers.as_ref()).map(|_, (sender, receiver)| PairHashes {
            sent: sender.as_ref().map(|sender| PadHash::new(sender.session_key())),
            received: receiver.as_ref().map(|receiver| PadHash::new(receiver.session_key())),
        })
    }

    /// Makes OTs with every other party at once: as many as `count` says each party receives from each that has a delta. This party's choices for the
    /// first of them are `chosen`, the same with everybody. Unless both directions run at once, the lower party of a pair
    /// receives first. Progress is reported as if for `gates`.
    ///
    /// *Cost*: one round; none for the last party unless both directions run at once.
    pub(super) async fn extend(
        &mut self,
        session: &mut MeshSession,
        gates: usize,
        chosen: &BitVec,
        count: impl Fn(u16) -> Count,
        both_ways: bool,
    ) -> Result<PerPeer<PairOts>, ProtocolError> {
        let party = session.mesh().party();
        let own = count(party);
        let of_pair = |peer, sender: bool, receiver: bool| {
            usize::from(receiver) * own.all() + usize::from(sender) * count(peer).all()
        };
        let Pairs { ends: Ends { senders, receivers }, delta, source, common } = self;
        let ends = senders.iter().zip(receivers.iter());
        let all = ends.map(|((peer, sender), (_, receiver))| of_pair(peer, sender.is_some(), receiver.is_some())).sum();
        let (mesh, _, watch) = session.watched(gates, all);
        let (delta, source) = (delta.block(), *source);
        let step = async |peer: u16, mut line: Line, ((mut sender, mut receiver), common): PairEnds<'_>| {
            let channel: &mut Channel = &mut line;
            for sends in [party < peer, party > peer] {
                match (&mut sender, &mut receiver) {
                    (Some(sender), _) if sends => sender.prepare(channel, count(peer).all()).await?,
                    (_, Some(receiver)) if !sends => receiver.prepare(channel, own.all()).await?,
                    _ => {}
                }
            }
            let send = async |channel: &mut Channel| {
                let Some(receiver) = receiver else { return Ok(Default::default()) };
                let (random, t) = receive_ots(receiver, channel, own.all(), &watch).await?;
                random.slice(0..own.chosen).xor(chosen)?.send(channel).await?;
                channel.flush().await?;
                Ok::<_, OtError>((random.slice(own.chosen..random.len()), t))
            };
            let receive = async |channel: &mut Channel| {
                let Some(sender) = sender else { return Ok(Zeroizing::default()) };
                let theirs = count(peer);
                let mut q = send_ots(sender, channel, theirs.all(), &watch).await?;
                let corrections = BitVec::receive(channel, theirs.chosen, CORRECTIONS).await?;
                correct(&mut q[..theirs.chosen], &corrections, delta);
                Ok(q)
            };
            let ((later, mut t), mut q) = match both_ways {
                true => channel.full_duplex(send, receive).await?,
                false if party < peer => (send(channel).await?, receive(channel).await?),
                false => {
                    let q = receive(channel).await?;
                    (send(channel).await?, q)
                }
            };
            if source.is_silent() {
                let both = if party < peer { [&mut q, &mut t] } else { [&mut t, &mut q] };
                both.into_iter().for_each(|blocks| hide_lowest_bits(blocks, common));
            }
            Ok::<_, OtError>(PairOts { q: Labels(std::mem::take(&mut q)), t: Labels(std::mem::take(&mut t)), later })
        };
        let ends = senders.as_mut().zip(receivers.as_mut());
        let ends = ends.map(|_, (sender, receiver)| (sender.as_mut(), receiver.as_mut()));
        Ok(mesh.each(ends.zip(common.as_mut()), step).await?)
    }
}

/// The ends of the OTs with one other party, and the generator in common with it.
type PairEnds<'a> = ((Option<&'a mut Sender>, Option<&'a mut Receiver>), &'a mut Prg);

/// Adds the same random bits to bit 0 of the blocks of both parties of a pair.
///
/// Bit 0 of silent OTs is zero at the sender and the choice at the receiver. With these bits it tells others as little as that of the extension, which is random too.
fn hide_lowest_bits(blocks: &mut [Block], common: &mut Prg) {
    for blocks in blocks.chunks_mut(128) {
        let bits = Zeroizing::new(common.next_block());
        let bits = bits.to_u128();
        blocks.iter_mut().enumerate().for_each(|(at, block)| *block ^= Block::from_u128(bits >> at & 1));
    }
}

/// The sizes of the chunks of `count` OTs.
fn chunks(count: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(CHUNK).map(move |done| CHUNK.min(count - done))
}

/// Makes `count` OTs as the sender.
async fn send_ots(
    sender: &mut Sender,
    channel: &mut Channel,
    count: usize,
    watch: &Watch<'_>,
) -> Result<Zeroizing<Vec<Block>>, OtError> {
    let mut q = Zeroizing::new(Vec::with_capacity(count));
    for size in chunks(count) {
        let before = channel.traffic();
        q.extend_from_slice(&sender.extend(channel, size).await?);
        watch.add(size, channel.traffic() - before);
    }
    Ok(q)
}

/// Makes `count` OTs as the receiver, with random choices.
async fn receive_ots(
    receiver: &mut Receiver,
    channel: &mut Channel,
    count: usize,
    watch: &Watch<'_>,
) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
    let mut choices = Zeroizing::new(Vec::with_capacity(count.div_ceil(8)));
    let mut t = Zeroizing::new(Vec::with_capacity(count));
    for size in chunks(count) {
        let before = channel.traffic();
        let (random, blocks) = receiver.extend_random(channel, size).await?;
        choices.extend_from_slice(random.as_bytes());
        t.extend_from_slice(&blocks);
        watch.add(size, channel.traffic() - before);
    }
    Ok((BitVec::from_bytes(std::mem::take(&mut choices), count)?, t))
}

/// Turns the sender's `q` into `q + d delta` for the receiver's corrections `d`.
pub(super) fn correct(q: &mut [Block], corrections: &BitVec, delta: Block) {
    for (q, d) in q.iter_mut().zip(corrections.iter()) {
        *q ^= delta & Block::mask(d);
    }
}

/// Exchanges equally many bits with every other party.
///
/// *Cost*: one round. *Errors*: as [`bits_of_peer`]; the connection's.
pub(super) async fn exchange_bits(
    mesh: &mut Mesh,
    outgoing: &PerPeer<BitVec>,
    count: usize,
) -> Result<PerPeer<BitVec>, ProtocolError> {
    let mut incoming = mesh.per_peer(|_| vec![0; count.div_ceil(8)]);
    mesh.exchange(&outgoing.as_ref().map(|_, bits| bits.as_bytes()), &mut incoming).await?;
    let mut bits = mesh.per_peer(|_| BitVec::default());
    for ((peer, bits), (_, bytes)) in bits.iter_mut().zip(incoming) {
        *bits = bits_of_peer(peer, bytes, count)?;
    }
    Ok(bits)
}

/// The bits in a peer's packed bytes, which must be exactly `count`.
///
/// *Errors*: as [`check_padding_of`].
pub(super) fn bits_of_peer(peer: u16, bytes: Vec<u8>, count: usize) -> Result<BitVec, ProtocolError> {
    check_padding_of(Party(peer), &bytes, count)?;
    Ok(BitVec::from_bytes(bytes, count)?)
}

fn unzip<A, B>(pairs: PerPeer<(A, B)>) -> (PerPeer<A>, PerPeer<B>) {
    let (own, count) = (pairs.own(), pairs.party_count());
    let (a, b): (Vec<A>, Vec<B>) = pairs.into_iter().map(|(_, pair)| pair).unzip();
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let missing = "a value for every peer";
    (PerPeer::new(own, count, |_| a.next().expect(missing)), PerPeer::new(own, count, |_| b.next().expect(missing)))
}
