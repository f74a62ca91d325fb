//! A party of a session: its side of the protocol, and its stock.

use std::{collections::BTreeMap, sync::Arc};

use garblet_circuit::Bits;
use garblet_store::Store;
use zeroize::Zeroizing;

use super::{
    Amounts, Checks, EVALUATOR,
    config::Config,
    order::Order,
    plan::Plan,
    setup::secrets::{Fresh, Secrets},
    side::{Computed, Prepared, Side, Wire},
    stock::{
        orders::Orders,
        pieces::{InMemory, Storable},
        saved::{self, SavedOutputs},
        store::{Meeting, Stock, Taken, revoke_if_cheated},
    },
};
use garblet_protocol::{Security, conduct::Honest, error::ProtocolError, kept, phase::Phase, session::Session};

/// A party of a session.
pub struct Participant<S> {
    pub(crate) side: S,
    config: Config,
    secrets: Secrets,
    orders: Orders,
    /// The number of runs in this meeting.
    runs: u64,
    stock: Option<Stock>,
}

impl<S: Side<Conduct = Honest>> Participant<S> {
    /// Sets up OTs in both directions, commitments from one and delta from the other. Prepared material stays in memory.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        Participant::setup_with(session, config, Honest).await
    }

    /// Meets the peer with a store, which keeps all prepared material. Only the first meeting has something to set up.
    ///
    /// *Errors*: also stores that were not filled together, or for something else.
    pub async fn meet(session: &mut Session, config: Config, store: Store, peer: &str) -> Result<Self, ProtocolError> {
        Participant::meet_with(session, config, store, peer, Honest).await
    }
}

impl<S: Side> Participant<S> {
    /// [`Participant::setup`] with a conduct, for tests.
    ///
    /// *Errors*: as [`Participant::setup`].
    pub async fn setup_with(session: &mut Session, config: Config, conduct: S::Conduct) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        Participant::with_new_secrets(session, config, conduct, None).await
    }

    /// [`Participant::meet`] with a conduct, for tests.
    ///
    /// *Errors*: as [`Participant::meet`].
    pub async fn meet_with(
        session: &mut Session,
        config: Config,
        store: Store,
        peer: &str,
        conduct: S::Conduct,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (mut stock, meeting) = Stock::meet(session, store, config, S::PARTY, peer).await?;
        let mut role = match meeting {
            Meeting::Again(secrets) => Participant::with(secrets, config, conduct)?,
            Meeting::New(number, fresh) => {
                // Only a peer of the evaluator can learn something and then leave.
                if S::PARTY == EVALUATOR {
                    stock.begin_setup()?;
                }
                let role = Participant::with_new_secrets(session, config, conduct, Some((number, fresh))).await;
                let role: Self = stock.revoke_if_cheated(role)?;
                stock.replace(&role.secrets)?;
                if S::PARTY == EVALUATOR {
                    stock.end_setup()?;
                }
                role
            }
        };
        role.orders = stock.orders()?;
        role.stock = Some(stock);
        Ok(role)
    }

    /// Makes secrets, for a meeting if there are stores, and commits to delta.
    async fn with_new_secrets(
        session: &mut Session,
        config: Config,
        conduct: S::Conduct,
        meeting: Option<(u64, Fresh)>,
    ) -> Result<Self, ProtocolError> {
        let mut secrets = S::secrets(session, config).await?;
        if let Some((number, fresh)) = meeting {
            secrets.meet(number, fresh);
        }
        let mut role: Self = Participant::with(secrets, config, conduct)?;
        let delta = Zeroizing::new(role.side.commit_to_delta(session).await?);
        delta.append(config.code, &mut role.secrets.delta);
        Ok(role)
    }

    fn with(secrets: Secrets, config: Config, conduct: S::Conduct) -> Result<Self, ProtocolError> {
        let side = S::new(&secrets, config, conduct)?;
        Ok(Participant { side, config, secrets, orders: Orders::default(), runs: 0, stock: None })
    }

    /// Prepares the material of one run, by its plan: makes it, or takes it from the store.
    ///
    /// *Errors*: a peer that cheats; a store that has too little; the connection's.
    pub async fn prepare(
        &mut self,
        session: &mut Session,
        plan: Arc<Plan>,
    ) -> Result<Prepared<S::Wire>, ProtocolError> {
        session.enter(Phase::Prepare);
        if let Some(lacking) = self.stock.as_ref().and_then(|stock| stock.to_make(&plan.amounts(), self.config.top_up))
        {
            self.fill(session, &Order::new(lacking, self.config)?).await?;
        }
        let (Taken { pieces, gates: unread, ids: taken }, checks) = match &mut self.stock {
            Some(stock) => (stock.take(&plan.amounts())?, Checks::default()),
            None => {
                let order = plan.order()?;
                let (pieces, checks) = self.side.make(session, &order, &mut self.orders, &mut InMemory).await?;
                (Taken::in_memory(pieces), checks)
            }
        };
        let lots = self.stock.as_mut().filter(|_| unread.is_some()).map(|stock| (plan.lots().len(), stock));
        let (wires, material) = self.side.material(pieces, lots)?;
        let (read, inputs, outputs) = (BTreeMap::new(), Zeroizing::default(), Zeroizing::default());
        Ok(Prepared { plan, wires, material, read, inputs, outputs, unread, taken, checks })
    }

    /// Makes an order and adds it to the store. Returns the numbers of components that the evaluator checked.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's and the store's.
    pub async fn fill(&mut self, session: &mut Session, order: &Order) -> Result<Checks, ProtocolError> {
        session.enter(Phase::Prepare);
        let filled = self.fill_stock(session, order).await;
        revoke_if_cheated(&mut self.stock, filled)
    }

    async fn fill_stock(&mut self, session: &mut Session, order: &Order) -> Result<Checks, ProtocolError> {
        let mut filling = self.stock.as_mut().ok_or_else(kept::no_store)?.filling()?;
        let (_, checks) = self.side.make(session, order, &mut self.orders, &mut filling).await?;
        filling.finish(&self.orders)?;
        Ok(checks)
    }

    /// Solders buckets to the function: the left and right input of every AND gate, and the input buckets.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn build(
        &mut self,
        session: &mut Session,
        prepared: &mut Prepared<S::Wire>,
    ) -> Result<(), ProtocolError> {
        session.enter(Phase::Build);
        let soldered = self.side.solder(session, prepared).await;
        revoke_if_cheated(&mut self.stock, soldered)
    }

    /// Computes the function: one entry per output, `None` where this party is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; a peer that cheats; the connection's.
    pub async fn online(
        &mut self,
        session: &mut Session,
        prepared: Prepared<S::Wire>,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        Ok(self.online_saving(session, prepared, values).await?.0)
    }

    /// [`Participant::online`], and the wires of all outputs.
    ///
    /// *Errors*: as [`Participant::online`].
    pub(crate) async fn online_saving(
        &mut self,
        session: &mut Session,
        prepared: Prepared<S::Wire>,
        values: &[Bits],
    ) -> Result<Computed<S::Wire>, ProtocolError> {
        let computed = self.side.compute(session, prepared, values, &self.orders).await;
        self.runs += 1;
        revoke_if_cheated(&mut self.stock, computed)
    }

    /// The security of this party's runs, and whether the peer revealed its secret in the last one.
    pub fn security(&self) -> Security {
        Security { peer_exposed: self.side.peer_exposed(), ..self.orders.security(self.config.code) }
    }

    /// The amounts in the store; nothing without a store.
    pub fn stock(&self) -> Amounts {
        self.stock.as_ref().map(Stock::has).unwrap_or_default()
    }

    /// Saves the outputs of a run in the store under a name. The constructor's replace earlier ones, and its run has ended; the evaluator's are pending until
    /// it hears that the constructor has its own, see [`garblet_protocol::kept`].
    ///
    /// *Errors*: the store's; a party without a store.
    pub(crate) fn save(
        &mut self,
        name: &str,
        outputs: &SavedOutputs<<S::Wire as Wire>::Saved>,
    ) -> Result<(), ProtocolError> {
        let state = saved::state(&self.secrets, (self.runs, self.config.code), outputs);
        let store = self.store().ok_or_else(kept::no_store)?;
        match S::PARTY == EVALUATOR {
            true => Ok(store.set_state(&kept::pending_place(name), state)?),
            false => kept::keep(store, name, state),
        }
    }

    /// The outputs saved in the store under a name. Both parties must have settled the name before ([`saved::meet`]).
    ///
    /// *Errors*: no value of this name, or one from an earlier store of the peer.
    pub(crate) fn saved(&self, name: &str) -> Result<SavedOutputs<<S::Wire as Wire>::Saved>, ProtocolError> {
        saved::load(self.stock.as_ref().ok_or_else(kept::no_store)?, &self.secrets, name, self.config.code)
    }

    /// Pieces that were discarded at the meeting because only one store had them.
    pub fn lost(&self) -> u64 {
        self.stock.as_ref().map_or(0, Stock::lost)
    }

    /// The store, if it has one.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.stock.as_mut().map(Stock::store)
    }

    /// Ends the role and returns its store, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.stock.map(Stock::into_store)
    }

    #[cfg(test)]
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }
}
