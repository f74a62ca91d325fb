//! Runs on bits that others deal to both parties: neither party knows a dealt input, and the outputs of others are hidden by pads that neither party knows.
//!
//! A dealt input bit `x` is the sum of a share of each party. Its mask is opened to nobody: each party sends its share plus its own share of the mask. That
//! reveals nothing and fixes the share, and both sums together are the masked value. *Pads*, one for each bit of [`Dealt::outputs`], and any number of
//! *further bits* are dealt and sent in the same way, with their own masks. All these messages are bound to MACs, so a party can prove linear functions of its
//! dealt bits, see [`Told`]. Both parties learn the sum of an output and its two pads.

use garblet_circuit::{Bits, Party};
use garblet_net::NetError;
use garblet_primitives::{Block, Delta};
use garblet_protocol::{error::ProtocolError, kept, session::Session};
use garblet_store::{State, Store};

use crate::{
    EVALUATOR,
    ground::Ground,
    opening::Packed,
    plan::Plan,
    shares::Shares,
    stock::{saved, store::Stock},
    wires::Wires,
};
pub use crate::{plan::Dealt, stock::saved::FOR_OTHERS};

/// A party's part in a run for others.
///
/// *Order* of all dealt bits: bits of inputs, in program order; pads, output by output; further bits.
pub trait Dealing: Send {
    /// The bits dealt to this party. *Secret*.
    fn bits(&self) -> &Bits;

    /// Lets the parties prove their dealt bits to each other. It is called when all these bits are fixed, and before a label is sent. The store is the
    /// party's, if it has one.
    ///
    /// *Errors*: those of the proofs; the connection's and the store's.
    fn settle(
        &mut self,
        session: &mut Session,
        told: Told<'_>,
        store: Option<&mut Store>,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Keeps the outputs that the plan names, once they are known to be right: the evaluator before it hands over the garbler's outputs, the garbler after it
    /// has checked them. If the computation has panicked, which both parties know then, there is nothing to keep.
    ///
    /// *Errors*: what ends the run; the evaluator's, before it hands anything over.
    fn keep(&mut self, keeping: Option<Keeping<'_>>) -> Result<(), ProtocolError>;

    /// Tells whether the evaluator has kept its part. The garbler learns that.
    fn has_kept(&self) -> bool {
        true
    }

    /// Receives whether the evaluator has kept its part, before the garbler keeps its own.
    ///
    /// *Errors*: what ends the run.
    fn peer_has_kept(&mut self, has: bool) -> Result<(), ProtocolError> {
        match has {
            true => Ok(()),
            false => {
                Err(NetError::Unexpected { expected: "that outputs are kept".into(), got: "that they are not".into() }
                    .into())
            }
        }
    }
}

/// The wires of a run, which can be kept in the store.
pub struct Keeping<'a> {
    stock: Option<&'a mut Stock>,
    plan: &'a Plan,
    run: u64,
    wires: &'a Wires,
}

impl<'a> Keeping<'a> {
    /// Keeps the outputs under a name, in place of earlier ones, and returns the store. Runs of the two parties for themselves use no names that begin with
    /// [`FOR_OTHERS`].
    ///
    /// *Errors*: the store's; a party without a store.
    pub fn under(self, name: &str) -> Result<&'a mut Store, ProtocolError> {
        let (store, state) = self.state()?;
        store.set_state(&kept::place(name), state)?;
        Ok(store)
    }

    /// Keeps the outputs under a name, with which the run has ended for the garbler: [`kept::keep`].
    fn ended(self, name: &str) -> Result<(), ProtocolError> {
        let (store, state) = self.state()?;
        kept::keep(store, name, state)
    }

    /// Makes the outputs pending under a name, until the peer has kept its own: [`kept::advance`].
    fn pending(self, name: &str) -> Result<(), ProtocolError> {
        let (store, state) = self.state()?;
        Ok(store.set_state(&kept::pending_place(name), state)?)
    }

    fn state(self) -> Result<(&'a mut Store, State), ProtocolError> {
        let stock = self.stock.ok_or_else(kept::no_store)?;
        let state = saved::state(stock, self.run, (self.plan.program(), self.plan.kept()), self.wires);
        Ok((&mut stock.store, state))
    }
}

/// The outputs that a store keeps under a name, if they are still usable.
pub fn kept_outputs(store: &Store, name: &str) -> Option<Vec<String>> {
    saved::outputs(store, name)
}

/// Removes all values that a store keeps under names that are `gone`.
///
/// *Errors*: the store's.
pub fn forget_kept(store: &mut Store, gone: impl Fn(&str) -> bool) -> Result<(), ProtocolError> {
    Ok(kept::forget(store, gone)?)
}

/// Lets a party keep the wires of a run, if its plan says so and its outputs do not say that the computation has panicked.
///
/// *Errors*: those of [`Dealing::keep`].
pub(crate) fn keep<C, D: Dealing>(
    ground: &mut Ground<C>,
    (plan, run, wires): (&Plan, u64, &Wires),
    outputs: &[Option<Bits>],
    dealing: &mut D,
) -> Result<(), ProtocolError> {
    match plan.kept() {
        [] => Ok(()),
        _ if plan.has_panicked(outputs) => dealing.keep(None),
        _ => dealing.keep(Some(Keeping { stock: ground.stock.as_mut(), plan, run, wires })),
    }
}

/// A party to which nobody deals: it runs for itself, and keeps outputs under a name. The evaluator's are pending until it hears that the garbler has its own.
pub(crate) struct Nothing<'a> {
    nothing: Bits,
    keep: Option<&'a str>,
    is_evaluator: bool,
    /// Set once outputs are kept, or pending.
    pub(crate) has_kept: bool,
    /// The reason why outputs were not kept.
    pub(crate) unsaved: Option<ProtocolError>,
}

impl<'a> Nothing<'a> {
    pub(crate) fn new(party: Party, keep: Option<&'a str>) -> Self {
        Nothing { nothing: Bits::default(), keep, is_evaluator: party == EVALUATOR, has_kept: false, unsaved: None }
    }
}

impl Dealing for Nothing<'_> {
    fn bits(&self) -> &Bits {
        &self.nothing
    }

    async fn settle(&mut self, _: &mut Session, _: Told<'_>, _: Option<&mut Store>) -> Result<(), ProtocolError> {
        Ok(())
    }

    fn keep(&mut self, keeping: Option<Keeping<'_>>) -> Result<(), ProtocolError> {
        let (Some(keeping), Some(name), None) = (keeping, self.keep, &self.unsaved) else { return Ok(()) };
        // The outputs are this party's, whether they can be kept or not.
        self.unsaved = if self.is_evaluator { keeping.pending(name).err() } else { keeping.ended(name).err() };
        self.has_kept = self.unsaved.is_none();
        Ok(())
    }

    fn has_kept(&self) -> bool {
        self.unsaved.is_none()
    }

    fn peer_has_kept(&mut self, has: bool) -> Result<(), ProtocolError> {
        if !has {
            self.unsaved = Some(kept::not_kept(self.keep.unwrap_or_default()));
        }
        Ok(())
    }
}

/// The masked shares that both parties sent, and the shares of their masks. *Secret*.
///
/// For a linear function of a party's dealt bits: the party's share of the mask is the function of the announced bits plus that of the dealt bits; of this
/// share it has the MAC, which is the function of [`Told::macs`]. The other party finds the same MAC from the function of [`Told::keys`], see [`Told::mac`].
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

    /// The MAC that the peer must have, if a linear function of its shares is `share`, and the same function of the keys is `key`.
    pub fn mac(&self, key: Block, share: bool) -> Block {
        key ^ (Block::mask(share ^ key.lsb()) & self.delta.block())
    }
}

/// Lets both parties settle on their masked shares, whose masks this party has `shares` of. Returns the sums of both parties' masked shares.
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

/// The bits dealt to this party, with its shares of their masks added.
///
/// *Errors*: another number of bits.
pub(crate) fn hidden<D: Dealing>(dealing: &D, shares: &Shares) -> Result<Packed, ProtocolError> {
    let bits = dealing.bits();
    if bits.len() != shares.len() {
        let [expected, got] = [shares.len(), bits.len()].map(|bits| format!("{bits} bits"));
        return Err(ProtocolError::Input { what: "dealt bits".into(), expected, got });
    }
    Ok(Packed::collect(shares.len(), |at| bits.get(at) ^ shares.own[at].lsb()))
}
