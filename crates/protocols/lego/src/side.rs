//! The two sides of the protocol behind one trait, and their material for a run.

use std::{collections::BTreeMap, ops::BitXor, sync::Arc};

use garblet_circuit::{Bits, Party};
use garblet_homcommit::{ReceiverShare, SenderShare};
use garblet_store::IdSet;
use zeroize::Zeroizing;

use super::{
    Checks, Step,
    config::Config,
    eval::bucket::Material,
    order::Order,
    plan::Plan,
    setup::secrets::Secrets,
    stock::{
        orders::Orders,
        pieces::{EvaluatorPieces, Pieces, Storable, Wires, Workshop},
        saved::{SavedOutputs, SavedWire},
        store::{Ids, Stock, Unread},
    },
};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};

/// The wires among pieces, and the rest.
type Divided<W> = (Wires<W>, <W as Wire>::Material);

/// A party's side of the protocol: the figures' steps.
pub trait Side: Sized + Send {
    /// The party on this side.
    const PARTY: Party;
    /// The name of its role.
    const NAME: &'static str;
    type Conduct: Conduct<Step>;
    type Wire: Wire;

    /// The OTs of a setup.
    fn secrets(session: &mut Session, config: Config) -> impl Future<Output = Result<Secrets, ProtocolError>> + Send;

    /// Derives the streams of a meeting.
    fn new(secrets: &Secrets, config: Config, conduct: Self::Conduct) -> Result<Self, ProtocolError>;

    /// Has delta committed to.
    fn commit_to_delta(
        &mut self,
        session: &mut Session,
    ) -> impl Future<Output = Result<Self::Wire, ProtocolError>> + Send;

    /// Has an order made (`generate`). Returns the pieces that the workshop leaves, and the evaluator's checks.
    fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
        orders: &mut Orders,
        workshop: &mut impl Workshop,
    ) -> impl Future<Output = Result<(<Self::Wire as Wire>::Pieces, Checks), ProtocolError>> + Send;

    /// Divides pieces into wires and the rest; for a run in lots, where there are too many, the rest is kept beside the stock.
    fn material(
        &self,
        pieces: <Self::Wire as Wire>::Pieces,
        lots: Option<(usize, &mut Stock)>,
    ) -> Result<Divided<Self::Wire>, ProtocolError>;

    /// Solders buckets to the function (`build`).
    fn solder(
        &mut self,
        session: &mut Session,
        prepared: &mut Prepared<Self::Wire>,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Computes the function (`eval`).
    fn compute(
        &mut self,
        session: &mut Session,
        prepared: Prepared<Self::Wire>,
        values: &[Bits],
        orders: &Orders,
    ) -> impl Future<Output = Result<Computed<Self::Wire>, ProtocolError>> + Send;

    /// Tells whether the peer has given its secret away in the last run.
    fn peer_exposed(&self) -> bool {
        false
    }
}

/// The results of a run, and the wires of all outputs.
pub(crate) type Computed<W> = (Vec<Option<Bits>>, SavedOutputs<<W as Wire>::Saved>);

/// A wire as a side has it.
pub trait Wire: Storable + Default + BitXor<Output = Self> + 'static {
    /// A wire that stays after a run.
    type Saved: Storable;
    type Pieces: Pieces;
    /// The pieces of a run but their wires.
    type Material: Send;
}

impl Wire for SenderShare {
    type Saved = SenderShare;
    type Pieces = Wires<SenderShare>;
    type Material = ();
}

impl Wire for ReceiverShare {
    type Saved = SavedWire;
    type Pieces = EvaluatorPieces;
    type Material = Material;
}

/// Everything that a party needs for one run; a run consumes it, so it is used at most once.
pub struct Prepared<W: Wire> {
    pub(crate) plan: Arc<Plan>,
    pub(crate) wires: Wires<W>,
    pub(crate) material: W::Material,
    /// The wires of inputs that are read, by the input's number.
    pub(crate) read: BTreeMap<usize, Zeroizing<Vec<W::Saved>>>,
    /// The wires of all inputs and outputs, once the function is known.
    pub(crate) inputs: Zeroizing<Vec<W::Saved>>,
    pub(crate) outputs: Zeroizing<Vec<W>>,
    /// The gates that are to be taken from the store lot by lot.
    pub(crate) unread: Option<Unread>,
    /// The pieces that were taken from a store.
    pub(crate) taken: Ids,
    pub(crate) checks: Checks,
}

impl<W: Wire> Prepared<W> {
    /// Reads an input, by its number, from an output that was saved.
    ///
    /// *Errors*: no such output.
    pub(crate) fn read(
        &mut self,
        input: usize,
        saved: &SavedOutputs<W::Saved>,
        output: Option<&str>,
    ) -> Result<(), ProtocolError> {
        self.read.insert(input, Zeroizing::new(saved.output(output)?.to_vec()));
        Ok(())
    }

    /// The pieces that were taken from a store, by kind.
    pub fn pieces(&self) -> &[(&'static str, IdSet)] {
        &self.taken
    }

    /// The numbers of components that the evaluator checked when this was made; `None` if it comes from a store.
    pub fn checks(&self) -> Checks {
        self.checks
    }
}
