//! Runs on bits that others deal to both parties: neither knows an input that is dealt, and what others learn has pads that neither has alone.
//!
//! An input bit `x` that is dealt is the sum of a share of each party. Its mask is opened to nobody: each party tells its share with its own share of the mask added, which says
//! nothing and fixes it, and both sums together are the masked value. *Pads*, one for each bit of [`Dealt::outputs`], and as many *further bits* as are wanted are
//! dealt and told alike, with masks of their own. All that was told is bound to MACs, so a party can prove what linear functions of its dealt bits are, see
//! [`Told`]. Both parties learn the sum of an output and its two pads.

use garblet_circuit::Bits;
use garblet_primitives::{Block, Delta};
use garblet_protocol::{error::ProtocolError, session::Session};

use crate::{opening::Packed, shares::Shares};

/// The outputs of a program that others learn, and what is bound beside inputs and pads.
#[derive(Clone, Default)]
pub struct Dealt {
    /// Outputs by their numbers; one that several learn stands there for each.
    pub outputs: Vec<usize>,
    /// The number of further bits.
    pub further: usize,
}

/// A party's part in a run for others.
///
/// *Order* of all bits that are dealt: those of inputs, in program order; pads, output by output; further bits.
pub trait Dealing: Send {
    /// The bits that were dealt to this party. *Secret*.
    fn bits(&self) -> &Bits;

    /// Lets the parties prove to each other what they were dealt. It is called when all is told and fixed, and before a label leaves.
    ///
    /// *Errors*: those of the proofs; the connection's.
    fn settle(
        &mut self,
        session: &mut Session,
        told: Told<'_>,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;
}

/// Nobody deals to a party whose runs are its own.
#[derive(Default)]
pub(crate) struct Nothing(Bits);

impl Dealing for Nothing {
    fn bits(&self) -> &Bits {
        &self.0
    }

    async fn settle(&mut self, _: &mut Session, _: Told<'_>) -> Result<(), ProtocolError> {
        Ok(())
    }
}

/// The bits that were told, and the shares of their masks. *Secret*.
///
/// For a linear function of a party's dealt bits: the party's share of the mask is the function of what it told, plus that of what it was dealt; of this share it
/// has the MAC, which is the function of [`Told::macs`]. The other party finds the same MAC from the function of [`Told::keys`], see [`Told::mac`].
pub struct Told<'a> {
    /// This party's.
    pub own: Bits,
    /// The peer's.
    pub peers: Bits,
    shares: &'a Shares,
    delta: &'a Delta,
}

impl Told<'_> {
    /// The MACs of this party's shares of all masks.
    pub fn macs(&self) -> &[Block] {
        &self.shares.peer
    }

    /// The keys of the peer's.
    pub fn keys(&self) -> &[Block] {
        &self.shares.own
    }

    /// The MAC that the peer must have, if a linear function of its shares is `share`, and that of the keys is `key`.
    pub fn mac(&self, key: Block, share: bool) -> Block {
        key ^ (Block::mask(share ^ key.lsb()) & self.delta.block())
    }
}

/// Lets both parties settle on what they have told, of whose masks this party has `shares`. Returns the sums of what both told.
///
/// *Errors*: those of [`Dealing::settle`].
pub(crate) async fn settle<D: Dealing>(
    session: &mut Session,
    dealing: &mut D,
    (shares, delta): (&Shares, &Delta),
    [own, peers]: [&Packed; 2],
) -> Result<Packed, ProtocolError> {
    let bits = |packed: &Packed| (0..shares.len()).map(|at| packed.get(at)).collect();
    let told = Told { own: bits(own), peers: bits(peers), shares, delta };
    dealing.settle(session, told).await?;
    Ok(own.sum(&peers.0))
}

/// The bits that were dealt to this party, as it tells them: with its shares of their masks added.
///
/// *Errors*: another number of bits.
pub(crate) fn hidden<D: Dealing>(dealing: &D, shares: &Shares) -> Result<Packed, ProtocolError> {
    let bits = dealing.bits();
    if bits.len() != shares.len() {
        let [expected, got] = [shares.len(), bits.len()].map(|bits| format!("{bits} bits"));
        return Err(ProtocolError::Input { what: "what was dealt".into(), expected, got });
    }
    Ok(Packed::collect(shares.len(), |at| bits.get(at) ^ shares.own[at].lsb()))
}
