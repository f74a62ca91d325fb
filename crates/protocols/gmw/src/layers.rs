//! Step 5: the gates, layer by layer.

use garblet_circuit::{Bits, Carried, LayerWalk, Party};
use garblet_net::PerPeer;
use zeroize::Zeroizing;

use super::bits::Packed;
use super::plan::Plan;
use super::prepare::{BitOts, Material, Triples};
use garblet_protocol::error::ProtocolError;
use garblet_protocol::run_id::RunExchanges;
use garblet_protocol::session::MeshSession;

/// The shares of one party while it computes, 0 or 1 each.
pub(super) struct Evaluation<'p> {
    plan: &'p Plan,
    walk: LayerWalk<'p, u8>,
    /// Set if this party inverts its share when a value is inverted: one party does.
    inverts: bool,
}

impl<'p> Evaluation<'p> {
    /// Begins with the shares of all inputs.
    pub(super) fn new(plan: &'p Plan, own: Party, inputs: &Bits) -> Self {
        let walk = LayerWalk::new(plan.layers(), inputs.iter().map(u8::from).collect());
        Evaluation { plan, walk, inverts: own == Party(0) }
    }

    /// Computes everything; returns the shares of all outputs, joined in program order.
    pub(super) async fn run(
        mut self,
        session: &mut MeshSession,
        exchanges: &mut RunExchanges,
        material: &Material,
    ) -> Result<Packed, ProtocolError> {
        let (layers, inverts) = (self.plan.layers(), self.inverts);
        let read = |(share, inverted): (u8, bool)| share ^ u8::from(inverted & inverts) == 1;
        let (mut done, mut counts) = (0, layers.counts().iter());
        loop {
            let len = counts.next().copied().unwrap_or_default();
            let (mut x, mut y, mut at) = (Packed::zeros(len), Packed::zeros(len), 0);
            let and = |a, b, _| {
                x.set(at, read(a));
                y.set(at, read(b));
                at += 1;
            };
            if !self.walk.next_layer(|a, b, _| a ^ b, and) {
                break;
            }
            let z = match material {
                Material::Triples(triples) => multiply(session, exchanges, triples, done, &x, &y, inverts).await?,
                Material::BitOts(ots) => multiply_by_ot(session, exchanges, ots, done, &x, &y).await?,
            };
            let mut results = (0..len).map(|at| u8::from(z.get(at)));
            self.walk.finish_layer(|| results.next().unwrap_or_default());
            done += len;
            session.advance(done as u64, self.plan.and_count() as u64);
        }
        let output = |output| match output {
            Carried::Wire(share, inverted) => read((share, inverted)),
            Carried::Constant(value) => value & inverts,
        };
        Ok(Packed::collect(self.walk.outputs().map(output), layers.output_bits()))
    }
}

/// One message to everybody: `d = x + a`, `e = y + b`; the product is `c + d b + e a + d e`, whose last term one party adds.
async fn multiply(
    session: &mut MeshSession,
    exchanges: &mut RunExchanges,
    triples: &Triples,
    at: usize,
    x: &Packed,
    y: &Packed,
    inverts: bool,
) -> Result<Packed, ProtocolError> {
    let len = x.len();
    let [a, b, mut z] = [&triples.a, &triples.b, &triples.c].map(|bits| bits.slice(at, len));
    let (mut d, mut e) = (x.clone(), y.clone());
    d.add(&a);
    e.add(&b);
    let message = [d.as_bytes(), e.as_bytes()].concat();
    let mut incoming = session.mesh().per_peer(|_| vec![0; message.len()]);
    let outgoing = session.mesh().per_peer(|_| &message);
    exchanges.exchange(session.mesh(), &outgoing, &mut incoming).await?;
    for (peer, bytes) in incoming.iter() {
        let (theirs_d, theirs_e) = halves(peer, bytes, len)?;
        d.add(&theirs_d);
        e.add(&theirs_e);
    }
    let both = if inverts { u64::MAX } else { 0 };
    let opened = d.words().iter().zip(e.words());
    for ((z, (d, e)), (a, b)) in z.words_mut().iter_mut().zip(opened).zip(a.words().iter().zip(b.words())) {
        *z ^= d & b ^ e & a ^ d & e & both;
    }
    Ok(z)
}

/// Multiplies with each peer, in both directions: the one with `x` sends `x + s`, the other sends `p_(x + s) + r` for `x = 0` and
/// `p_(x + s) + r + y` for `x = 1`, so that `r` and what is received are shares of `x y`.
async fn multiply_by_ot(
    session: &mut MeshSession,
    exchanges: &mut RunExchanges,
    ots: &PerPeer<BitOts>,
    at: usize,
    x: &Packed,
    y: &Packed,
) -> Result<Packed, ProtocolError> {
    let len = x.len();
    let asked = ots.map_ref(|_, ots| {
        let mut asked = ots.received.choices.slice(at, len);
        asked.add(x);
        asked
    });
    let mut incoming = session.mesh().per_peer(|_| vec![0; Packed::byte_len(len)]);
    exchanges.exchange(session.mesh(), &asked, &mut incoming).await?;
    let mut z = Packed::zeros(len);
    for (z, (x, y)) in z.words_mut().iter_mut().zip(x.words().iter().zip(y.words())) {
        *z = x & y;
    }
    let mut answers = ots.map_ref(|_, _| Vec::new());
    for (peer, ots) in ots.iter() {
        let swap = Packed::received(peer, incoming.get(peer).map_or(&[], |bytes| bytes), len)?;
        let hidden = random_bits(session, len);
        let answer = answer(&ots.sent.zero.slice(at, len), &ots.sent.one.slice(at, len), &swap, &hidden, y);
        z.add(&hidden);
        if let Some(place) = answers.get_mut(peer) {
            *place = answer;
        }
    }
    let mut incoming = session.mesh().per_peer(|_| vec![0; 2 * Packed::byte_len(len)]);
    exchanges.exchange(session.mesh(), &answers, &mut incoming).await?;
    for ((peer, ots), (_, bytes)) in ots.iter().zip(incoming.iter()) {
        let (zero, one) = halves(peer, bytes, len)?;
        z.add(&ots.received.chosen.slice(at, len));
        for ((z, x), (zero, one)) in z.words_mut().iter_mut().zip(x.words()).zip(zero.words().iter().zip(one.words())) {
            *z ^= zero ^ x & (zero ^ one);
        }
    }
    Ok(z)
}

/// The two answers to a peer that asked for `swap`: its pads, over `hidden` and `hidden + y`.
fn answer(zero: &Packed, one: &Packed, swap: &Packed, hidden: &Packed, y: &Packed) -> Vec<u8> {
    let (mut first, mut second) = (hidden.clone(), hidden.clone());
    for (k, (zero, one)) in zero.words().iter().zip(one.words()).enumerate() {
        let swapped = (zero ^ one) & swap.words()[k];
        first.words_mut()[k] ^= zero ^ swapped;
        second.words_mut()[k] ^= one ^ swapped ^ y.words()[k];
    }
    [first.as_bytes(), second.as_bytes()].concat()
}

fn random_bits(session: &mut MeshSession, len: usize) -> Packed {
    let mut bytes = Zeroizing::new(vec![0; Packed::byte_len(len)]);
    session.rng().fill_bytes(&mut bytes);
    Packed::from_bytes(&bytes, len)
}

/// The two vectors of a message.
///
/// *Errors*: as [`Packed::received`].
fn halves(peer: u16, bytes: &[u8], len: usize) -> Result<(Packed, Packed), ProtocolError> {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    Ok((Packed::received(peer, first, len)?, Packed::received(peer, second, len)?))
}
