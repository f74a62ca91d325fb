//! Party 1: keeps garbled components, and evaluates them when they are linked.

use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_ot::{BitVec, PrecomputedCotReceiver};
use garblet_primitives::Block;
use garblet_store::Store;
use zeroize::Zeroizing;

use crate::evaluation::work::{self, Work};
use crate::library::OTS_PER_PIECE;
use crate::linking::plan::Plan;
use crate::participant::{Participant, Side, Supplies, Taken};
use crate::pieces::material::Material;
use crate::pieces::stock::Kind;
use crate::run::{self, Piece, Wanted};
use crate::{EVALUATOR, GARBLER, pieces::fill, pieces::meeting};
use garblet_protocol::{bulk::send_bits, error::ProtocolError, party_io, phase::Phase, session::Session};

/// The evaluator of a session, with its store.
pub type Evaluator = Participant<EvaluatorSide>;

/// The evaluator's secrets of a store.
pub struct EvaluatorSide {
    pub(crate) hash_seed: Block,
}

/// The material that the evaluator took from its store for one run; a run consumes it, so it is used at most once.
pub struct EvaluatorPrepared {
    pub(crate) plan: Plan,
    pub(crate) work: Work,
    /// `c` and `t` of the prepared transfers.
    pub(crate) transfers: PrecomputedCotReceiver,
    ids: Taken,
}

impl EvaluatorPrepared {
    /// The pieces that were taken, by kind and identifier.
    pub fn pieces(&self, material: &Material) -> Vec<(String, u64)> {
        run::named(material, &self.ids)
    }
}

impl Side for EvaluatorSide {
    const NAME: &'static str = "evaluator";
    type Prepared = EvaluatorPrepared;

    async fn meet(session: &mut Session, store: &mut Store) -> Result<Self, ProtocolError> {
        Ok(EvaluatorSide { hash_seed: meeting::evaluator_hash(session, store).await? })
    }

    async fn fill(
        &mut self,
        session: &mut Session,
        supplies: &mut Supplies,
        shortage: &[(Kind, u64)],
    ) -> Result<(), ProtocolError> {
        let Supplies { material, config, store } = supplies;
        fill::evaluator(session, store, material, config.ot_width, shortage).await
    }

    fn take(
        &mut self,
        _: &mut Session,
        Supplies { material, store, .. }: &mut Supplies,
        plan: Plan,
    ) -> Result<EvaluatorPrepared, ProtocolError> {
        let mut work = Work::new(material, &plan, self.hash_seed)?;
        let mut received = Vec::new();
        let wanted = Wanted::all(store, material, &plan);
        let ids = run::take(store, material, wanted, |piece| match piece {
            Piece::Transfers(bytes) => received.push(Zeroizing::new(bytes.to_vec())),
            piece => work.put(material, &plan, piece),
        })?;
        let transfers = transfers(&received, party_io::input_bits(&plan.program, EVALUATOR))?;
        Ok(EvaluatorPrepared { plan, work, transfers, ids })
    }

    /// Steps 4 to 6: corrections out, links and labels in, evaluation.
    async fn compute(
        &mut self,
        session: &mut Session,
        material: &Material,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let EvaluatorPrepared { plan, work, transfers, .. } = prepared;
        let own = party_io::own_input(&plan.program, EVALUATOR, values)?;
        session.enter(Phase::Online);
        let own = correct(session, transfers, &own).await?;
        finish(session, material, plan, work, &own).await
    }

    /// The corrections leave first, and components are chosen while they are on their way.
    async fn compute_at_once(
        &mut self,
        session: &mut Session,
        supplies: &mut Supplies,
        program: &Arc<Program>,
        values: &[Bits],
    ) -> Result<Option<Vec<Option<Bits>>>, ProtocolError> {
        let Supplies { material, config, store } = supplies;
        run::check(program, material.garbling())?;
        session.enter(Phase::Build);
        let Ok(draft) = run::draft(store, material, *config, program)? else { return Ok(None) };
        let own = party_io::own_input(program, EVALUATOR, values)?;
        let mut received = Vec::new();
        let wanted = Wanted::transfers(store, material, program);
        run::take(store, material, wanted, |piece| {
            if let Piece::Transfers(bytes) = piece {
                received.push(Zeroizing::new(bytes.to_vec()));
            }
        })?;
        let transfers = transfers(&received, own.len())?;
        session.enter(Phase::Online);
        let own = correct(session, transfers, &own).await?;
        session.enter(Phase::Build);
        let plan = draft.plan();
        let mut work = Work::new(material, &plan, self.hash_seed)?;
        let wanted = Wanted::components(&plan);
        run::take(store, material, wanted, |piece| work.put(material, &plan, piece))?;
        session.enter(Phase::Online);
        finish(session, material, plan, work, &own).await.map(Some)
    }
}

/// Steps 5 and 6. `own` are the labels of the evaluator's inputs.
async fn finish(
    session: &mut Session,
    material: &Material,
    plan: Plan,
    mut work: Work,
    own: &[Block],
) -> Result<Vec<Option<Bits>>, ProtocolError> {
    run::put_inputs(&plan, EVALUATOR, own, &mut work.labels);
    let message = receive(session, &plan).await?;
    let zero = work.open(material, &plan, &message)?;
    work.evaluate(material);
    session.advance(plan.and_count, plan.and_count);
    let active = work.outputs(&plan);
    let select = |party| party_io::select_bits(&plan.program, material.garbling(), party, &active);
    send_bits(session, &select(GARBLER)).await?;
    session.channel().flush().await?;
    Ok(party_io::decode(&plan.program, EVALUATOR, &zero, &select(EVALUATOR)))
}

/// Step 4: sends the corrections of the evaluator's inputs, and returns their labels.
async fn correct(
    session: &mut Session,
    transfers: PrecomputedCotReceiver,
    own: &Bits,
) -> Result<Zeroizing<Vec<Block>>, ProtocolError> {
    if transfers.is_empty() {
        return Ok(Zeroizing::default());
    }
    let choices = BitVec::from_bytes(own.to_bytes(), own.len())?;
    Ok(transfers.correct(session.channel(), &choices).await?)
}

/// Step 5: receives the garbler's one message.
async fn receive(session: &mut Session, plan: &Plan) -> Result<Zeroizing<Vec<u8>>, ProtocolError> {
    let mut message = Zeroizing::new(vec![0; work::message_bytes(plan)]);
    session.channel().receive_bytes(&mut message).await?;
    Ok(message)
}

/// The prepared transfers for this many input bits.
fn transfers(pieces: &[Zeroizing<Vec<u8>>], count: usize) -> Result<PrecomputedCotReceiver, ProtocolError> {
    // Capacity for all, since growing would leave copies behind.
    let room = pieces.len() * OTS_PER_PIECE as usize;
    let mut t = Zeroizing::new(Vec::with_capacity(room));
    let mut choices = Zeroizing::new(Vec::with_capacity(room / 8));
    for piece in pieces {
        let (blocks, bits) = piece.split_at(piece.len().min(16 * OTS_PER_PIECE as usize));
        t.extend(run::blocks(blocks));
        choices.extend_from_slice(bits);
    }
    t.truncate(count);
    choices.truncate(count.div_ceil(8));
    Ok(PrecomputedCotReceiver::new(BitVec::from_bytes(std::mem::take(&mut *choices), count)?, t)?)
}
