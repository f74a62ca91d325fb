//! Runs on bits that others deal to both parties: neither knows an input that is dealt, and what others learn has pads that neither has alone.
//!
//! An input bit `x` that is dealt is the sum of a share of each party. Its mask is opened to nobody: each party tells its share with its own share of the mask added, which says
//! nothing and fixes it, and both sums together are the masked value. *Pads*, one for each bit of [`Dealt::outputs`], and as many *further bits* as are wanted are
//! dealt and told alike, with masks of their own. All that was told is bound to MACs, so a party can prove what linear functions of its dealt bits are, see
//! [`Told`]. Both parties learn the sum of an output and its two pads.

use garblet_circuit::Bits;
use garblet_primitives::{Block, Delta};
use garblet_protocol::{error::ProtocolError, session::Session};
use garblet_store::Store;

use crate::{
    ground::Ground,
    opening::Packed,
    plan::Plan,
    shares::Shares,
    stock::{
        saved,
        store::{Stock, no_store},
    },
    wires::Wires,
};
pub use crate::{plan::Dealt, stock::saved::FOR_OTHERS};

/// A party's part in a run for others.
///
/// *Order* of all bits that are dealt: those of inputs, in program order; pads, output by output; further bits.
pub trait Dealing: Send {
    /// The bits that were dealt to this party. *Secret*.
    fn bits(&self) -> &Bits;

    /// Lets the parties prove to each other what they were dealt. It is called when all is told and fixed, and before a label leaves. The store is the
    /// party's, if it has one.
    ///
    /// *Errors*: those of the proofs; the connection's and the store's.
    fn settle(
        &mut self,
        session: &mut Session,
        told: Told<'_>,
        store: Option<&mut Store>,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Keeps the outputs of which the plan says so, once they are known to be right: the evaluator before it hands over what the garbler learns, the garbler
    /// when it has checked that.
    ///
    /// *Errors*: what ends the run; the evaluator's, before it hands anything over.
    fn keep(&mut self, keeping: Keeping<'_>) -> Result<(), ProtocolError>;
}

/// The wires of a run, which can be kept in the store.
pub struct Keeping<'a> {
    stock: Option<&'a mut Stock>,
    plan: &'a Plan,
    run: u64,
    wires: &'a Wires,
}

impl<'a> Keeping<'a> {
    /// Keeps the outputs under a name, in place of those that were there, and returns the store. Names that begin with [`FOR_OTHERS`] are not used
    /// by runs of the two parties for themselves.
    ///
    /// *Errors*: the store's; a party that has none.
    pub fn under(self, name: &str) -> Result<&'a mut Store, ProtocolError> {
        let stock = self.stock.ok_or_else(no_store)?;
        saved::keep(stock, (name, self.run), self.plan, self.wires)?;
        Ok(&mut stock.store)
    }
}

/// The outputs that a store keeps under a name, if they are still of use.
pub fn kept_outputs(store: &Store, name: &str) -> Option<Vec<String>> {
    saved::outputs(store, name)
}

/// Forgets what a store keeps under names that are `gone`.
///
/// *Errors*: the store's.
pub fn forget_kept(store: &mut Store, gone: impl Fn(&str) -> bool) -> Result<(), ProtocolError> {
    Ok(saved::forget_named(store, gone)?)
}

/// Lets a party keep the wires of a run, if its plan says so.
///
/// *Errors*: those of [`Dealing::keep`].
pub(crate) fn keep<C, D: Dealing>(
    ground: &mut Ground<C>,
    (plan, run, wires): (&Plan, u64, &Wires),
    dealing: &mut D,
) -> Result<(), ProtocolError> {
    match plan.kept() {
        [] => Ok(()),
        _ => dealing.keep(Keeping { stock: ground.stock.as_mut(), plan, run, wires }),
    }
}

/// A party of which nobody else deals: its runs are its own, and it keeps outputs under a name.
#[derive(Default)]
pub(crate) struct Nothing<'a> {
    pub(crate) nothing: Bits,
    pub(crate) keep: Option<&'a str>,
    /// The reason why outputs that were to be kept are not.
    pub(crate) unsaved: Option<ProtocolError>,
}

impl Dealing for Nothing<'_> {
    fn bits(&self) -> &Bits {
        &self.nothing
    }

    async fn settle(&mut self, _: &mut Session, _: Told<'_>, _: Option<&mut Store>) -> Result<(), ProtocolError> {
        Ok(())
    }

    fn keep(&mut self, keeping: Keeping<'_>) -> Result<(), ProtocolError> {
        // The outputs are this party's, whether they can be kept or not.
        self.unsaved = self.keep.and_then(|name| keeping.under(name).err());
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
pub(crate) async fn settle<C, D: Dealing>(
    ground: &mut Ground<C>,
    session: &mut Session,
    dealing: &mut D,
    shares: &Shares,
    [own, peers]: [&Packed; 2],
) -> Result<Packed, ProtocolError> {
    let bits = |packed: &Packed| (0..shares.len()).map(|at| packed.get(at)).collect();
    let told = Told { own: bits(own), peers: bits(peers), shares, delta: &ground.delta };
    dealing.settle(session, told, ground.stock.as_mut().map(|stock| &mut stock.store)).await?;
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
