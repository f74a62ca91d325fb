//! Party 0: makes labels and tables.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble as garble;
use garblet_ot::{CorrelatedSender, CotSender, PrecomputedCotSender};
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use super::{
    EVALUATOR, GARBLER,
    plan::{Build, Plan, unread},
};
use garblet_protocol::{
    Role, Security,
    bulk::{receive_bits, send_bits, send_blocks},
    error::ProtocolError,
    party_io,
    phase::Phase,
    session::Session,
};

/// The garbler of a session: delta, and the OT that shares it with the evaluator.
pub struct Garbler {
    plan: Arc<Plan>,
    delta: Delta,
    ot: Option<CotSender>,
    gates_done: u64,
}

/// The garbler's preparation of one run, which consumes it.
pub struct GarblerPrepared {
    /// `q` of step 2, one block per input bit of the evaluator; `None` if it has no input.
    ot: Option<PrecomputedCotSender>,
    /// Labels of tables that were sent ahead.
    ahead: Option<Ahead>,
}

/// Zero labels of a circuit garbled ahead.
struct Ahead {
    inputs: InputLabels,
    outputs: Outputs,
}

/// Zero labels of the two parties' input bits.
struct InputLabels {
    garbler: Zeroizing<Vec<Block>>,
    evaluator: Zeroizing<Vec<Block>>,
}

/// Select bits of the zero labels of the outputs that each party learns.
struct Outputs {
    garbler: Bits,
    evaluator: Bits,
}

impl Garbler {
    /// Step 1.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let delta = Delta::random(session.rng());
        let ot = match plan.input_bits(EVALUATOR) {
            0 => None,
            _ => {
                let (channel, rng) = session.parts();
                Some(CotSender::setup(channel, rng, &delta, plan.config().ot_width).await?)
            }
        };
        Ok(Garbler { plan, delta, ot, gates_done: 0 })
    }
}

impl Role for Garbler {
    type Prepared = GarblerPrepared;
    const NAME: &'static str = "garbler";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Steps 2 and 3: all work that can be done before the inputs are known.
    async fn prepare(&mut self, session: &mut Session) -> Result<GarblerPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let ot = match &mut self.ot {
            Some(ot) => {
                let q = ot.extend(session.channel(), self.plan.input_bits(EVALUATOR)).await?;
                Some(PrecomputedCotSender::new(&self.delta, q))
            }
            None => None,
        };
        let ahead = match self.plan.config().build {
            Build::Stream => None,
            Build::Ahead => {
                session.enter(Phase::Build);
                let inputs = self.choose_labels(session);
                let outputs = self.send_tables(session, &inputs).await?;
                session.channel().flush().await?;
                Some(Ahead { inputs, outputs })
            }
        };
        Ok(GarblerPrepared { ot, ahead })
    }

    /// Steps 4 to 8.
    ///
    /// *Shape*: `values` are the garbler's inputs in program order. Returns one entry per program output, `None` where the
    /// garbler is not a recipient.
    async fn online(
        &mut self,
        session: &mut Session,
        prepared: GarblerPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let own = party_io::own_input(self.plan.program(), GARBLER, values)?;
        session.enter(Phase::Online);
        let outputs = match prepared.ahead {
            Some(Ahead { inputs, outputs }) => {
                self.send_inputs(session, &inputs, &own, prepared.ot).await?;
                outputs
            }
            None => {
                let inputs = self.choose_labels(session);
                self.send_inputs(session, &inputs, &own, prepared.ot).await?;
                self.send_tables(session, &inputs).await?
            }
        };
        send_bits(session, &outputs.evaluator).await?;
        let active = receive_bits(session, self.plan.output_bits(GARBLER)).await?;
        session.channel().flush().await?;
        Ok(party_io::decode(self.plan.program(), GARBLER, &outputs.garbler, &active))
    }
}

impl Garbler {
    fn choose_labels(&self, session: &mut Session) -> InputLabels {
        let config = self.plan.config().garbling;
        let mut choose = |count| {
            let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
            session.rng().fill_blocks(&mut labels);
            labels.iter_mut().for_each(|label| *label = config.zero_label(*label));
            labels
        };
        InputLabels {
            garbler: choose(self.plan.input_bits(GARBLER)),
            evaluator: choose(self.plan.input_bits(EVALUATOR)),
        }
    }

    /// Steps 4 and 5: the evaluator's labels by prepared OT, then the garbler's own.
    async fn send_inputs(
        &self,
        session: &mut Session,
        labels: &InputLabels,
        own: &Bits,
        ot: Option<PrecomputedCotSender>,
    ) -> Result<(), ProtocolError> {
        if let Some(ot) = ot {
            ot.transfer(session.channel(), &labels.evaluator).await?;
        }
        let delta = self.delta.block();
        let active = labels.garbler.iter().zip(own.iter()).map(|(zero, bit)| *zero ^ (delta & Block::mask(bit)));
        send_blocks(session, &Zeroizing::new(active.collect::<Vec<Block>>())).await
    }

    /// Step 3 or 6: the hash seed, then the tables, each piece leaving before the next is made.
    async fn send_tables(&mut self, session: &mut Session, labels: &InputLabels) -> Result<Outputs, ProtocolError> {
        let plan = self.plan.clone();
        let seeds = garble::Seeds::random(session.rng());
        send_blocks(session, &[seeds.hash]).await?;
        let inputs = party_io::labels_by_input(plan.program(), &labels.garbler, &labels.evaluator);
        let config = plan.config().garbling;
        let first_gate = self.gates_done;
        let mut garbling =
            garble::Garbler::new(plan.program(), plan.schedules(), config, &self.delta, seeds, first_gate, inputs);
        let total = plan.and_count();
        let mut tables = Vec::new();
        for piece in plan.pieces() {
            tables.resize(piece.bytes, 0);
            garbling.garble_piece_into(&mut tables);
            garbling.check().map_err(unread)?;
            session.channel().send_bytes(&tables).await?;
            session.advance(piece.end, total);
        }
        self.gates_done += total;
        let zero = Zeroizing::new(garbling.into_outputs());
        Ok(Outputs { garbler: plan.select_bits(GARBLER, &zero), evaluator: plan.select_bits(EVALUATOR, &zero) })
    }
}
