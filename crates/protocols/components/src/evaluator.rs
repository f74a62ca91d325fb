//! Party 1: keeps garbled components, and evaluates them when they are linked.

use std::collections::BTreeMap;
use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_ot::{BitVec, PrecomputedCotReceiver};
use garblet_primitives::Block;
use garblet_store::Store;
use zeroize::Zeroizing;

use super::material::Material;
use super::plan::Plan;
use super::run::{self, Config, Linking, Piece, Wanted};
use super::stock::{Kind, OTS_PER_PIECE};
use super::work::{self, Work};
use super::{EVALUATOR, GARBLER, fill, meeting};
use garblet_protocol::{bulk::send_bits, error::ProtocolError, party_io, phase::Phase, session::Session};

/// The evaluator of a session, with its store.
pub struct Evaluator {
    material: Arc<Material>,
    config: Config,
    store: Store,
    pub(super) hash_seed: Block,
    lost: u64,
}

/// The material that the evaluator has taken from its store for one run; a run consumes it, so it is used at most once.
pub struct EvaluatorPrepared {
    pub(super) plan: Plan,
    pub(super) work: Work,
    /// `c` and `t` of the prepared transfers.
    pub(super) transfers: PrecomputedCotReceiver,
    ids: BTreeMap<Kind, Vec<u64>>,
}

impl EvaluatorPrepared {
    /// The pieces that were taken, by kind and identifier.
    pub fn pieces(&self, material: &Material) -> Vec<(String, u64)> {
        run::named(material, &self.ids)
    }
}

impl Evaluator {
    /// Step 1: the two stores agree on what both have.
    pub async fn setup(
        session: &mut Session,
        material: Arc<Material>,
        config: Config,
        mut store: Store,
        peer: &str,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        meeting::bind(&mut store, &material, "evaluator", peer)?;
        let lost = meeting::reconcile(session, &mut store, &material).await?;
        let hash_seed = meeting::evaluator_hash(session, &mut store).await?;
        Ok(Evaluator { material, config, store, hash_seed, lost: lost.dropped.iter().map(|(_, count)| count).sum() })
    }

    /// Step 2: fills the stores: of what there is less than `below` percent of what the library says, until there is all.
    pub async fn prepare(&mut self, session: &mut Session, below: u8) -> Result<(), ProtocolError> {
        session.enter(Phase::Prepare);
        let shortage = meeting::shortage(&self.store, &self.material, below);
        self.fill(session, &shortage).await
    }

    /// Step 3: chooses components for a program and takes them.
    ///
    /// *Errors*: [`NotPrepared`](super::NotPrepared) where something is missing and may not be made now.
    pub async fn build(
        &mut self,
        session: &mut Session,
        program: &Arc<Program>,
    ) -> Result<EvaluatorPrepared, ProtocolError> {
        run::check(program, self.material.garbling())?;
        session.enter(Phase::Build);
        let plan = match run::plan(&self.store, &self.material, self.config, program)? {
            Ok(plan) => plan,
            Err(lacking) if self.config.top_up => {
                self.fill(session, &run::top_up(&lacking)).await?;
                run::plan(&self.store, &self.material, self.config, program)?.map_err(run::not_prepared)?
            }
            Err(lacking) => return Err(run::not_prepared(lacking)),
        };
        let mut work = Work::new(&self.material, &plan, self.hash_seed)?;
        let mut received = Vec::new();
        let wanted = Wanted::all(&self.store, &self.material, &plan);
        let ids = run::take(&mut self.store, &self.material, wanted, |piece| match piece {
            Piece::Transfers(bytes) => received.push(Zeroizing::new(bytes.to_vec())),
            piece => work.put(&self.material, &plan, piece),
        })?;
        let transfers = transfers(&received, party_io::input_bits(program, EVALUATOR))?;
        Ok(EvaluatorPrepared { plan, work, transfers, ids })
    }

    /// Steps 4 to 6: corrections out, links and labels in, evaluation.
    ///
    /// *Shape*: `values` are the evaluator's inputs in program order. Returns one entry per program output, none where
    /// the evaluator is no recipient.
    pub async fn online(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let EvaluatorPrepared { plan, work, transfers, .. } = prepared;
        let own = party_io::own_input(&plan.program, EVALUATOR, values)?;
        session.enter(Phase::Online);
        let own = correct(session, transfers, &own).await?;
        self.finish(session, plan, work, &own).await
    }

    /// Steps 3 to 6 at once, where the inputs are known with the program: the corrections leave first, and components are
    /// chosen while they are on their way.
    ///
    /// The same goes over the wire as with [`build`](Evaluator::build) and [`online`](Evaluator::online), whose errors
    /// and shapes these are.
    pub async fn run(
        &mut self,
        session: &mut Session,
        program: &Arc<Program>,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        run::check(program, self.material.garbling())?;
        session.enter(Phase::Build);
        let material = self.material.clone();
        let Ok(draft) = run::draft(&self.store, &material, self.config, program)? else {
            let prepared = self.build(session, program).await?;
            return self.online(session, prepared, values).await;
        };
        let own = party_io::own_input(program, EVALUATOR, values)?;
        let mut received = Vec::new();
        let wanted = Wanted::transfers(&self.store, &self.material, program);
        run::take(&mut self.store, &self.material, wanted, |piece| {
            if let Piece::Transfers(bytes) = piece {
                received.push(Zeroizing::new(bytes.to_vec()));
            }
        })?;
        let transfers = transfers(&received, own.len())?;
        session.enter(Phase::Online);
        let own = correct(session, transfers, &own).await?;
        session.enter(Phase::Build);
        let plan = draft.plan();
        let mut work = Work::new(&material, &plan, self.hash_seed)?;
        let wanted = Wanted::components(&plan);
        run::take(&mut self.store, &material, wanted, |piece| work.put(&material, &plan, piece))?;
        session.enter(Phase::Online);
        self.finish(session, plan, work, &own).await
    }

    /// Says which links the next runs may use; the peer must say the same.
    pub fn set_linking(&mut self, linking: Linking) {
        self.config.linking = linking;
    }

    /// Pieces that were given up at the meeting because only one store had them.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The library with its components made ready.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Ends the role and gives the store back.
    pub fn into_store(self) -> Store {
        self.store
    }

    /// Steps 5 and 6. `own` are the labels of the evaluator's inputs.
    async fn finish(
        &mut self,
        session: &mut Session,
        plan: Plan,
        mut work: Work,
        own: &[Block],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        run::put_inputs(&plan, EVALUATOR, own, &mut work.labels);
        let message = receive(session, &plan).await?;
        let zero = work.open(&self.material, &plan, &message)?;
        work.evaluate(&self.material);
        session.advance(plan.and_count, plan.and_count);
        let active = work.outputs(&plan);
        let select = |party| party_io::select_bits(&plan.program, self.material.garbling(), party, &active);
        send_bits(session, &select(GARBLER)).await?;
        session.channel().flush().await?;
        Ok(party_io::decode(&plan.program, EVALUATOR, &zero, &select(EVALUATOR)))
    }

    async fn fill(&mut self, session: &mut Session, shortage: &[(Kind, u64)]) -> Result<(), ProtocolError> {
        let Evaluator { material, config, store, .. } = self;
        fill::evaluator(session, store, material, config.ot_width, shortage).await
    }
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

/// The prepared transfers of so many input bits.
fn transfers(pieces: &[Zeroizing<Vec<u8>>], count: usize) -> Result<PrecomputedCotReceiver, ProtocolError> {
    // Room for all, so that none is left behind where it was before.
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
