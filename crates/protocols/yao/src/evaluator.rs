//! Party 1: evaluates.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble as garble;
use garblet_ot::{BitVec, CorrelatedReceiver, CotReceiver, PrecomputedCotReceiver};
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{
    EVALUATOR, GARBLER,
    plan::{Build, Plan, unread},
};
use garblet_protocol::{
    Role, Security,
    bulk::{receive_bits, receive_blocks, send_bits},
    error::ProtocolError,
    party_io,
    phase::Phase,
    session::Session,
};

/// The evaluator of a session.
pub struct Evaluator {
    plan: Arc<Plan>,
    ot: Option<CotReceiver>,
    /// The number of gates of all received circuits.
    gates_done: u64,
}

/// The evaluator's preparation of one run, which consumes it.
pub struct EvaluatorPrepared {
    /// `c` and `t` of step 2; `None` if the evaluator has no input.
    ot: Option<PrecomputedCotReceiver>,
    ahead: Option<Ahead>,
}

/// A circuit received ahead.
struct Ahead {
    hash_seed: Block,
    tables: Vec<u8>,
    /// The number of its first gate, since runs may be used in a different order than they were prepared.
    first_gate: u64,
}

impl Evaluator {
    /// Step 1.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let ot = match plan.input_bits(EVALUATOR) {
            0 => None,
            _ => {
                let (channel, rng) = session.parts();
                Some(CotReceiver::setup(channel, rng, plan.config().ot_width).await?)
            }
        };
        Ok(Evaluator { plan, ot, gates_done: 0 })
    }
}

impl Role for Evaluator {
    type Prepared = EvaluatorPrepared;
    const NAME: &'static str = "evaluator";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Steps 2 and 3: all work that can be done before the inputs are known.
    ///
    /// *Errors*: tables garbled ahead that this machine cannot hold.
    async fn prepare(&mut self, session: &mut Session) -> Result<EvaluatorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let ot = match &mut self.ot {
            Some(ot) => {
                let (choices, t) = ot.extend_random(session.channel(), self.plan.input_bits(EVALUATOR)).await?;
                Some(PrecomputedCotReceiver::new(choices, t)?)
            }
            None => None,
        };
        let ahead = match self.plan.config().build {
            Build::Stream => None,
            Build::Ahead => {
                session.enter(Phase::Build);
                Some(self.receive_ahead(session).await?)
            }
        };
        Ok(EvaluatorPrepared { ot, ahead })
    }

    /// Steps 4 to 8.
    ///
    /// *Shape*: `values` are the evaluator's inputs in program order. Returns one entry per program output, `None` where
    /// the evaluator is not a recipient.
    async fn online(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let own = party_io::own_input(self.plan.program(), EVALUATOR, values)?;
        session.enter(Phase::Online);
        let inputs = self.receive_inputs(session, &own, prepared.ot).await?;
        let labels = match prepared.ahead {
            Some(ahead) => self.evaluate_ahead(session, inputs, &ahead)?,
            None => self.evaluate_stream(session, inputs).await?,
        };
        let zero = receive_bits(session, self.plan.output_bits(EVALUATOR)).await?;
        send_bits(session, &self.plan.select_bits(GARBLER, &labels)).await?;
        session.channel().flush().await?;
        Ok(party_io::decode(self.plan.program(), EVALUATOR, &zero, &self.plan.select_bits(EVALUATOR, &labels)))
    }
}

impl Evaluator {
    /// Steps 4 and 5: active labels of all program inputs.
    async fn receive_inputs(
        &self,
        session: &mut Session,
        own: &Bits,
        ot: Option<PrecomputedCotReceiver>,
    ) -> Result<Vec<Box<[Block]>>, ProtocolError> {
        let own = match ot {
            Some(ot) => {
                let choices = BitVec::from_bytes(own.to_bytes(), own.len())?;
                ot.transfer(session.channel(), &choices).await?
            }
            None => Zeroizing::default(),
        };
        let mut garbler = Zeroizing::new(vec![Block::ZERO; self.plan.input_bits(GARBLER)]);
        receive_blocks(session, &mut garbler).await?;
        Ok(party_io::labels_by_input(self.plan.program(), &garbler, &own))
    }

    async fn receive_ahead(&mut self, session: &mut Session) -> Result<Ahead, ProtocolError> {
        let bytes = self.plan.table_bytes();
        let mut tables = Vec::new();
        let fits = usize::try_from(bytes).is_ok_and(|bytes| tables.try_reserve_exact(bytes).is_ok());
        if !fits {
            let reason = format!("{bytes} bytes of tables garbled ahead do not fit in memory; stream them instead");
            let program = self.plan.program().name().into();
            return Err(ProtocolError::Unsupported { protocol: super::NAME, program, reason });
        }
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        for piece in self.plan.pieces() {
            let begin = tables.len();
            tables.resize(begin + piece.bytes, 0);
            session.channel().receive_bytes(&mut tables[begin..]).await?;
            session.advance(piece.end, self.plan.and_count());
        }
        Ok(Ahead { hash_seed: seed[0], tables, first_gate: self.number_gates() })
    }

    fn evaluate_ahead(
        &self,
        session: &mut Session,
        inputs: Vec<Box<[Block]>>,
        ahead: &Ahead,
    ) -> Result<Zeroizing<Vec<Box<[Block]>>>, ProtocolError> {
        let plan = &self.plan;
        let mut evaluation = begin(plan, ahead.hash_seed, ahead.first_gate, inputs);
        let mut tables = &ahead.tables[..];
        for piece in plan.pieces() {
            let (now, later) = tables.split_at(piece.bytes);
            evaluation.evaluate_piece(now)?;
            evaluation.check().map_err(unread)?;
            tables = later;
            session.advance(piece.end, plan.and_count());
        }
        Ok(Zeroizing::new(evaluation.into_outputs()))
    }

    /// Step 6: evaluates each piece as it arrives.
    async fn evaluate_stream(
        &mut self,
        session: &mut Session,
        inputs: Vec<Box<[Block]>>,
    ) -> Result<Zeroizing<Vec<Box<[Block]>>>, ProtocolError> {
        let plan = self.plan.clone();
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let mut evaluation = begin(&plan, seed[0], self.number_gates(), inputs);
        let mut tables = Vec::new();
        for piece in plan.pieces() {
            tables.resize(piece.bytes, 0);
            session.channel().receive_bytes(&mut tables).await?;
            evaluation.evaluate_piece(&tables)?;
            evaluation.check().map_err(unread)?;
            session.advance(piece.end, plan.and_count());
        }
        Ok(Zeroizing::new(evaluation.into_outputs()))
    }

    /// The number of the first gate of the next circuit, in the order of arrival.
    fn number_gates(&mut self) -> u64 {
        let first = self.gates_done;
        self.gates_done += self.plan.and_count();
        first
    }
}

fn begin(plan: &Plan, hash_seed: Block, first_gate: u64, inputs: Vec<Box<[Block]>>) -> garble::Evaluator<'_> {
    garble::Evaluator::new(plan.program(), plan.schedules(), plan.config().garbling, hash_seed, first_gate, inputs)
}
