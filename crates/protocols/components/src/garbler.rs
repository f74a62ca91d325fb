//! Party 0: garbles components, and links them when the function is known.

use garblet_circuit::Bits;
use garblet_ot::PrecomputedCotSender;
use garblet_primitives::{Block, Prg};
use garblet_store::Store;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::library::OTS_PER_PIECE;
use crate::linking::plan::{Origin, Plan};
use crate::participant::{Participant, Side, Supplies, Taken};
use crate::pieces::material::Material;
use crate::pieces::secrets::Secrets;
use crate::pieces::stock::Kind;
use crate::run::{self, Piece, Wanted};
use crate::{EVALUATOR, GARBLER, pieces::fill, pieces::meeting};
use garblet_protocol::{bulk::receive_bits, error::ProtocolError, party_io, phase::Phase, session::Session};

/// The garbler of a session, with its store.
pub type Garbler = Participant<GarblerSide>;

/// The garbler's secrets of a store.
pub struct GarblerSide {
    pub(crate) secrets: Secrets,
}

/// The material that the garbler took from its store for one run; a run consumes it, so it is used at most once.
pub struct GarblerPrepared {
    pub(crate) plan: Plan,
    /// Zero labels of all wires; those of the evaluator's inputs are missing.
    pub(crate) labels: Zeroizing<Vec<Block>>,
    /// The keys that open prepared links: templates, then keyed links.
    pub(crate) keys: Zeroizing<Vec<Block>>,
    /// `q` of the prepared transfers.
    pub(crate) transfers: PrecomputedCotSender,
    ids: Taken,
}

impl GarblerPrepared {
    /// The pieces that were taken, by kind and identifier.
    pub fn pieces(&self, material: &Material) -> Vec<(String, u64)> {
        run::named(material, &self.ids)
    }
}

impl Side for GarblerSide {
    const NAME: &'static str = "garbler";
    type Prepared = GarblerPrepared;

    async fn meet(session: &mut Session, store: &mut Store) -> Result<Self, ProtocolError> {
        Ok(GarblerSide { secrets: meeting::garbler_secrets(session, store).await? })
    }

    async fn fill(
        &mut self,
        session: &mut Session,
        supplies: &mut Supplies,
        shortage: &[(Kind, u64)],
    ) -> Result<(), ProtocolError> {
        let Supplies { material, config, store } = supplies;
        fill::garbler(session, store, material, &self.secrets, config.ot_width, shortage).await
    }

    fn take(
        &mut self,
        session: &mut Session,
        Supplies { material, store, .. }: &mut Supplies,
        plan: Plan,
    ) -> Result<GarblerPrepared, ProtocolError> {
        let mut labels = zero_labels(material, &self.secrets, &plan, session.rng());
        let wanted = Wanted::all(store, material, &plan);
        let bits = party_io::input_bits(&plan.program, EVALUATOR);
        // Capacity for all, since growing would leave copies behind.
        let mut q = Zeroizing::new(Vec::with_capacity(bits.next_multiple_of(OTS_PER_PIECE as usize)));
        let ids = run::take(store, material, wanted, |piece| match piece {
            Piece::Transfers(bytes) => q.extend(run::blocks(bytes)),
            piece => put_outputs(&plan, piece, &mut labels),
        })?;
        q.truncate(bits);
        let transfers = PrecomputedCotSender::new(&self.secrets.delta, q);
        let keys = keys(material, &self.secrets, &plan)?;
        Ok(GarblerPrepared { plan, labels, keys, transfers, ids })
    }

    /// Steps 4 to 6: links and labels in one write.
    async fn compute(
        &mut self,
        session: &mut Session,
        material: &Material,
        prepared: GarblerPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let GarblerPrepared { plan, mut labels, keys, transfers, .. } = prepared;
        let own = party_io::own_input(&plan.program, GARBLER, values)?;
        session.enter(Phase::Online);
        if !transfers.is_empty() {
            let zeros = transfers.correct(session.channel()).await?;
            run::put_inputs(&plan, EVALUATOR, &zeros, &mut labels);
        }
        let message = message(material, &self.secrets, &plan, &labels, keys, &own);
        let zero = run::output_labels(&plan, |label| labels[label], constants(&self.secrets));
        let select = |party| party_io::select_bits(&plan.program, material.garbling(), party, &zero);
        session.channel().send_bytes(&message).await?;
        session.channel().flush().await?;
        let active = receive_bits(session, party_io::output_bits(&plan.program, GARBLER)).await?;
        session.channel().flush().await?;
        Ok(party_io::decode(&plan.program, GARBLER, &select(GARBLER), &active))
    }
}

/// Step 5: the garbler's only message: the openings of prepared links, link labels, labels of its own inputs, and bits that
/// decode the evaluator's outputs.
///
/// *Shape*: `zero` are the zero labels of all wires.
pub(crate) fn message(
    material: &Material,
    secrets: &Secrets,
    plan: &Plan,
    zero: &[Block],
    keys: Zeroizing<Vec<Block>>,
    own: &Bits,
) -> Zeroizing<Vec<u8>> {
    let sent = plan.feeds.iter().filter(|feed| feed.link.is_some_and(|link| link < plan.sent_links));
    let links: usize = sent.map(|feed| feed.len).sum();
    let mut blocks = Zeroizing::new(Vec::with_capacity(keys.len() + links + own.len()));
    blocks.extend_from_slice(&keys);
    link_labels(secrets, plan, zero, &mut blocks);
    own_labels(secrets, plan, zero, own, &mut blocks);
    let outputs = run::output_labels(plan, |label| zero[label], constants(secrets));
    let decode = party_io::select_bits(&plan.program, material.garbling(), EVALUATOR, &outputs);
    Zeroizing::new([bytemuck::cast_slice(&blocks), &decode.to_bytes()].concat())
}

/// The zero labels of the constants false and true.
fn constants(secrets: &Secrets) -> [Block; 2] {
    [Block::ZERO, secrets.delta.block()]
}

/// The zero labels of everything but the evaluator's inputs and the outputs of components.
pub(crate) fn zero_labels(
    material: &Material,
    secrets: &Secrets,
    plan: &Plan,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Zeroizing<Vec<Block>> {
    let mut labels = Zeroizing::new(vec![Block::ZERO; plan.labels]);
    let inputs = *plan.inputs.last().unwrap_or(&0);
    // Those that feed a component first take its labels below; these are for inputs that go straight to an output.
    Prg::random(rng).fill_blocks(&mut labels[..inputs]);
    let mut streams = secrets.streams(material);
    for tasks in plan.tasks.chunk_by(|(one, ..), (next, ..)| material.is_behind(*one, *next)) {
        let ((first, begin, _), (last, end, _)) = (tasks[0], tasks[tasks.len() - 1]);
        let width = material.instances(material.type_at(last)).input_count();
        streams.inputs(material, first, 0, &mut labels[begin..end + width]);
    }
    for feed in plan.feeds.iter().filter(|feed| feed.link.is_none()) {
        match feed.from {
            // An input of another cell of the template, which comes first.
            Origin::Labels(from) if from >= plan.first_input => labels.copy_within(from..from + feed.len, feed.to),
            Origin::Labels(from) => labels.copy_within(feed.to..feed.to + feed.len, from),
            Origin::Constant(_) => {}
        }
    }
    labels
}

/// Puts the zero labels of a component's outputs where they belong.
pub(crate) fn put_outputs(plan: &Plan, piece: Piece<'_>, labels: &mut [Block]) {
    if let Piece::Component(task, kept) = piece {
        labels[plan.tasks[task].2..].iter_mut().zip(run::blocks(kept)).for_each(|(label, kept)| *label = kept);
    }
}

/// The keys that open prepared links: templates, then keyed links.
pub(crate) fn keys(
    material: &Material,
    secrets: &Secrets,
    plan: &Plan,
) -> Result<Zeroizing<Vec<Block>>, ProtocolError> {
    let mut streams = secrets.streams(material);
    // A template is opened by four keys at most.
    let mut keys = Zeroizing::new(Vec::with_capacity(4 * plan.uses.len() + plan.keyed.len()));
    for used in &plan.uses {
        let template = &material.library().templates()[used.template as usize];
        let reveal = streams.template(material, used.template, used.id, |secrets| secrets.reveal(template, used.part));
        // Both come from this party's own plan, so no peer can cause this.
        let beyond = || ProtocolError::Internal {
            what: format!("the plan uses {:?} of template `{}`, which has no such part", used.part, template.name),
        };
        keys.extend(reveal.ok_or_else(beyond)?.blocks());
    }
    for keyed in &plan.keyed {
        keys.push(streams.keyed_key(material, keyed.link, keyed.source.id, keyed.candidate));
    }
    Ok(keys)
}

/// The link labels that are sent: the zero labels of both ends added.
fn link_labels(secrets: &Secrets, plan: &Plan, zero: &[Block], blocks: &mut Vec<Block>) {
    let constants = constants(secrets);
    for feed in plan.feeds.iter().filter(|feed| feed.link.is_some_and(|link| link < plan.sent_links)) {
        let to = &zero[feed.to..][..feed.len];
        match feed.from {
            Origin::Labels(from) => blocks.extend(zero[from..].iter().zip(to).map(|(from, to)| *from ^ *to)),
            Origin::Constant(value) => blocks.extend(to.iter().map(|to| *to ^ constants[usize::from(value)])),
        }
    }
}

/// The active labels of the garbler's own inputs.
fn own_labels(secrets: &Secrets, plan: &Plan, zero: &[Block], own: &Bits, blocks: &mut Vec<Block>) {
    let delta = secrets.delta.block();
    let inputs = plan.program.inputs().iter().zip(&plan.inputs).filter(|(input, _)| input.owner == GARBLER);
    let wires = inputs.flat_map(|(input, first)| &zero[*first..][..input.port.width() as usize]);
    blocks.extend(wires.zip(own.iter()).map(|(zero, bit)| *zero ^ (delta & Block::mask(bit))));
}
