//! Party 1: checks, and evaluates.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_homcommit::{Code, CommitReceiver, ReceiverShare};
use zeroize::Zeroizing;

use super::{
    Checks, EVALUATOR, Step,
    build::ands::{AndBuckets, SpilledBuckets},
    config::Config,
    eval::bucket::Material,
    generate::{buckets::Buckets, gates::Components},
    order::Order,
    participant::Participant,
    setup::{delta_ot, secrets::Secrets},
    side::{Computed, Prepared, Side},
    stock::{
        orders::Orders,
        pieces::{EvaluatorPieces, Wires, Workshop},
        store::Stock,
    },
};
use garblet_protocol::{
    conduct::{Conduct, Honest},
    error::ProtocolError,
    session::Session,
    workers::Finishing,
};

/// The evaluator of a session.
pub type Evaluator<C = Honest> = Participant<EvaluatorSide<C>>;

/// Everything that the evaluator has for one run.
pub type EvaluatorPrepared = Prepared<ReceiverShare>;

/// The evaluator's commitments, OTs and components of a meeting.
pub struct EvaluatorSide<C> {
    pub(crate) conduct: C,
    pub(crate) code: Code,
    pub(crate) commitments: CommitReceiver,
    pub(crate) delta_ot: delta_ot::Evaluator,
    pub(crate) delta: Zeroizing<ReceiverShare>,
    pub(crate) components: Arc<Components>,
    /// Numbers of the next gate and the next authenticator.
    pub(crate) next_numbers: [u64; 2],
    /// Set if gates have revealed delta in the last run.
    pub(crate) exposed: bool,
    /// The material of the last run, which is being freed.
    pub(crate) freeing: Option<Finishing>,
}

impl<C: Conduct<Step>> Side for EvaluatorSide<C> {
    const PARTY: Party = EVALUATOR;
    const NAME: &'static str = "evaluator";
    type Conduct = C;
    type Wire = ReceiverShare;

    async fn secrets(session: &mut Session, config: Config) -> Result<Secrets, ProtocolError> {
        Secrets::of_evaluator(session, config).await
    }

    fn new(secrets: &Secrets, config: Config, conduct: C) -> Result<Self, ProtocolError> {
        let (commitments, delta_ot) = secrets.evaluator(config)?;
        Ok(EvaluatorSide {
            conduct,
            code: config.code,
            commitments,
            delta_ot,
            delta: Zeroizing::new(ReceiverShare::read(&secrets.delta)),
            components: Arc::new(Components::new(secrets.hashes())),
            next_numbers: [secrets.first_number(); 2],
            exposed: false,
            freeing: None,
        })
    }

    async fn commit_to_delta(&mut self, session: &mut Session) -> Result<ReceiverShare, ProtocolError> {
        let (channel, rng) = session.parts();
        self.delta = Zeroizing::new(self.commitments.commit_to(channel, rng, 1).await?[0]);
        Ok(*self.delta)
    }

    async fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
        orders: &mut Orders,
        workshop: &mut impl Workshop,
    ) -> Result<(EvaluatorPieces, Checks), ProtocolError> {
        self.generate(session, order, orders, workshop).await
    }

    fn material(
        &self,
        pieces: EvaluatorPieces,
        lots: Option<(usize, &mut Stock)>,
    ) -> Result<(Wires<ReceiverShare>, Material), ProtocolError> {
        let EvaluatorPieces { wires, buckets: [ands, input_gates, inputs], transfers, claimed } = pieces;
        let (ands, [input_gates, inputs]) = match lots {
            Some((lots, stock)) => {
                let mut spill = |buckets: Buckets| SpilledBuckets::on_disk(buckets, |streams| stock.room(streams));
                let spilled = [spill(input_gates)?, spill(inputs)?];
                (AndBuckets::lots(lots, |streams| stock.room(streams))?, spilled)
            }
            None => (AndBuckets::Whole(ands), [input_gates, inputs].map(SpilledBuckets::in_memory)),
        };
        let (components, schedules, joins) = (self.components.clone(), Default::default(), Vec::new());
        Ok((wires, Material { components, ands, input_gates, inputs, transfers, claimed, schedules, joins }))
    }

    async fn solder(&mut self, session: &mut Session, prepared: &mut EvaluatorPrepared) -> Result<(), ProtocolError> {
        self.build(session, prepared).await
    }

    async fn compute(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
        orders: &Orders,
    ) -> Result<Computed<ReceiverShare>, ProtocolError> {
        self.eval(session, prepared, values, orders.escaping()).await
    }

    fn peer_exposed(&self) -> bool {
        self.exposed
    }
}

#[cfg(test)]
impl<C> Evaluator<C> {
    pub(crate) fn work(&self) -> [u64; 2] {
        self.side.components.work()
    }
}
