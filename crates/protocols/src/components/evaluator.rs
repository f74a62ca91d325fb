//! Party 1: keeps garbled components, and evaluates them when they are linked.

use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_ot::{Choices, PreparedCotReceiver};
use garblet_primitives::Block;
use garblet_store::Store;
use zeroize::Zeroizing;

use super::keys::{LinkKeys, Reveal, mask_keyed};
use super::material::{Material, Place};
use super::plan::Plan;
use super::run::{self, Config, Linking, Taken};
use super::stock::{Kind, OTS_PER_PIECE};
use super::{EVALUATOR, GARBLER, execute, fill, meeting};
use crate::{bulk::send_bits, error::ProtocolError, interface, phase::Phase, session::Session};

/// The evaluator of a session, with its store.
pub struct Evaluator {
    material: Arc<Material>,
    config: Config,
    store: Store,
    pub(super) hash_seed: Block,
    lost: u64,
}

/// What the evaluator has taken from its store for one run; a run consumes it, so it is used at most once.
pub struct EvaluatorPrepared {
    pub(super) plan: Plan,
    pub(super) taken: Taken,
    /// `c` and `t` of the prepared transfers.
    pub(super) transfers: PreparedCotReceiver,
}

impl EvaluatorPrepared {
    /// The pieces that were taken, by kind and identifier.
    pub fn pieces(&self, material: &Material) -> Vec<(String, u64)> {
        run::named(material, &self.taken.ids)
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
        let lost = meeting::reconcile(session, &mut store).await?;
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
        let taken = run::take(&mut self.store, &self.material, &plan)?;
        let transfers = transfers(&taken, interface::input_bits(program, EVALUATOR))?;
        Ok(EvaluatorPrepared { plan, taken, transfers })
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
        let EvaluatorPrepared { plan, taken, transfers } = prepared;
        let own = interface::own_input(&plan.program, EVALUATOR, values)?;
        session.enter(Phase::Online);
        let mut labels = Zeroizing::new(vec![Block::ZERO; plan.labels]);
        if !transfers.is_empty() {
            let choices = Choices::from_bytes(own.to_bytes(), own.len())?;
            let own = Zeroizing::new(transfers.correct(session.channel(), &choices).await?);
            run::put_inputs(&plan, EVALUATOR, &own, &mut labels);
        }
        let message = receive(session, &plan).await?;
        let Opened { links, zero } = open(&self.material, &plan, &taken, &message, &mut labels)?;
        evaluate(&self.material, &plan, &taken, self.hash_seed, &links, &mut labels);
        session.advance(plan.and_count, plan.and_count);
        let active = run::output_labels(&plan, &labels, [Block::ZERO; 2]);
        let select = |party| interface::select_bits(&plan.program, self.material.garbling(), party, &active);
        send_bits(session, &select(GARBLER)).await?;
        session.channel().flush().await?;
        Ok(interface::decode(&plan.program, EVALUATOR, &zero, &select(EVALUATOR)))
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

    async fn fill(&mut self, session: &mut Session, shortage: &[(Kind, u64)]) -> Result<(), ProtocolError> {
        let Evaluator { material, config, store, .. } = self;
        fill::evaluator(session, store, material, config.ot_width, shortage).await
    }
}

/// Step 5: receives the garbler's one message.
async fn receive(session: &mut Session, plan: &Plan) -> Result<Zeroizing<Vec<u8>>, ProtocolError> {
    let mut message = Zeroizing::new(vec![0; 16 * block_count(plan) + decode_bits(plan).div_ceil(8)]);
    session.channel().receive_bytes(&mut message).await?;
    Ok(message)
}

/// Takes the garbler's message apart: labels of its inputs go where they belong, prepared links are opened.
///
/// *Shape*: `message` is as long as the plan says.
pub(super) fn open(
    material: &Material,
    plan: &Plan,
    taken: &Taken,
    message: &[u8],
    labels: &mut [Block],
) -> Result<Opened, ProtocolError> {
    let (blocks, bits) = message.split_at(16 * block_count(plan));
    let blocks = Zeroizing::new(run::blocks(blocks).collect::<Vec<Block>>());
    let (reveals, rest) = blocks.split_at(reveal_blocks(plan));
    let (keys, rest) = rest.split_at(plan.keyed.len());
    let (sent, theirs) = rest.split_at(plan.sent_links);
    let mut links = Zeroizing::new(vec![Block::ZERO; plan.links]);
    links[..plan.sent_links].copy_from_slice(sent);
    open_keyed(material, plan, taken, keys, &mut links);
    open_templates(material, plan, taken, reveals, &mut links)?;
    run::put_inputs(plan, GARBLER, theirs, labels);
    Ok(Opened { links, zero: Bits::from_bytes(bits).slice(0, decode_bits(plan)) })
}

/// Step 6: evaluates everything.
pub(super) fn evaluate(
    material: &Material,
    plan: &Plan,
    taken: &Taken,
    hash_seed: Block,
    links: &[Block],
    labels: &mut [Block],
) {
    let tables: Vec<&[u8]> = plan.tasks.iter().map(|(place, ..)| tables(material, taken, *place)).collect();
    execute::evaluate(plan, material, hash_seed, links, &tables, labels);
}

/// Opens keyed links: their blocks stand behind the tables of the component that they come from.
fn open_keyed(material: &Material, plan: &Plan, taken: &Taken, keys: &[Block], links: &mut [Block]) {
    for (keyed, key) in plan.keyed.iter().zip(keys) {
        let link = &material.library().keyed()[keyed.link];
        let first = material.keyed_offset(keyed.link, keyed.source.id, keyed.candidate);
        let links = &mut links[keyed.first_link..][..link.source.len as usize];
        let Some(piece) = taken.components.get(&keyed.source) else { continue };
        let tables = material.instances(link.from).table_bytes();
        let blocks = run::blocks(&piece[tables..]).skip(first);
        links.iter_mut().zip(blocks).for_each(|(link, block)| *link = block);
        mask_keyed(*key, links);
    }
}

/// Opens the used parts of templates.
fn open_templates(
    material: &Material,
    plan: &Plan,
    taken: &Taken,
    reveals: &[Block],
    links: &mut [Block],
) -> Result<(), ProtocolError> {
    let mut reveals = reveals;
    for ((used, first), piece) in plan.uses.iter().zip(&plan.use_links).zip(&taken.templates) {
        let template = &material.library().templates()[used.template as usize];
        let (own, later) = reveals.split_at(used.part.reveal_blocks());
        reveals = later;
        let opened = || template.groups().iter().filter(|group| used.part.opens(group.opens));
        let mut at = *first;
        for group in opened() {
            let (links, blocks) = (&mut links[at..][..group.blocks], &piece[16 * group.first_block..]);
            links.iter_mut().zip(run::blocks(blocks)).for_each(|(link, block)| *link = block);
            at += group.blocks;
        }
        let mut at = *first;
        let keys = Reveal::from_blocks(used.part, own).and_then(|reveal| LinkKeys::revealed(used.part, &reveal));
        let open = keys.is_some_and(|keys| {
            keys.mask(opened(), links, |group| {
                at += group.blocks;
                at - group.blocks
            })
        });
        if !open {
            let (expected, got) = (format!("what opens {:?} of `{}`", used.part, template.name), "less".into());
            return Err(ProtocolError::Material { what: "keys of a template", expected, got });
        }
    }
    Ok(())
}

fn tables<'a>(material: &Material, taken: &'a Taken, place: Place) -> &'a [u8] {
    let bytes = material.instances(material.type_at(place)).table_bytes();
    taken.components.get(&place).and_then(|piece| piece.get(..bytes)).unwrap_or_default()
}

/// Blocks of the garbler's message.
fn block_count(plan: &Plan) -> usize {
    reveal_blocks(plan) + plan.keyed.len() + plan.sent_links + interface::input_bits(&plan.program, GARBLER)
}

fn reveal_blocks(plan: &Plan) -> usize {
    plan.uses.iter().map(|used| used.part.reveal_blocks()).sum()
}

fn decode_bits(plan: &Plan) -> usize {
    interface::output_bits(&plan.program, EVALUATOR)
}

/// What the garbler's message comes to.
pub(super) struct Opened {
    pub(super) links: Zeroizing<Vec<Block>>,
    /// Select bits of the zero labels of the evaluator's outputs.
    pub(super) zero: Bits,
}

/// The prepared transfers of so many input bits.
fn transfers(taken: &Taken, count: usize) -> Result<PreparedCotReceiver, ProtocolError> {
    let mut t = Vec::with_capacity(count);
    let mut choices = Vec::with_capacity(count.div_ceil(8));
    for piece in &taken.transfers {
        let (blocks, bits) = piece.split_at(piece.len().min(16 * OTS_PER_PIECE as usize));
        t.extend(run::blocks(blocks));
        choices.extend_from_slice(bits);
    }
    t.truncate(count);
    choices.truncate(count.div_ceil(8));
    Ok(PreparedCotReceiver::new(Choices::from_bytes(choices, count)?, t)?)
}
