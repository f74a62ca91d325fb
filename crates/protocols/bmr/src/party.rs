//! One party: the phases of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, OutputWire, Party, Program, ScheduleDigest};
use garblet_net::{Hello, Mesh, PerPeer};
use garblet_ot::BitVec;
use garblet_primitives::{Backend, Block, Delta, Prg};
use zeroize::{Zeroize, Zeroizing};

use super::{
    bgw::Bgw,
    bgw_published::BgwPublished,
    config::{Form, Garbling},
    cost::communication,
    evaluate::{evaluate, public_values},
    half_gates::{self, HalfGates},
    linear::Linear,
    open::open,
    pairs::{Ends, Pairs, bits_of_peer},
    plan::Plan,
    published::Published,
    rows::Numbered,
    secrets::Secrets,
    shamir::{Dealer, share_bytes},
    source::{Circuit, RowSource},
    zeros::{ZeroSeeds, ZeroSource},
};
use garblet_protocol::{
    Communication, MeshSession, Phase, ProtocolError, Security, party_io,
    run_id::{RunExchanges, RunId},
};
use garblet_runs::joint::JointParty;

/// A party of a session.
pub struct BmrParty {
    pub(super) garbler: Garbler,
    pub(super) rows: Rows,
}

/// The part of a party that does not depend on how shares of the rows are made.
pub(super) struct Garbler {
    plan: Arc<Plan>,
    delta: Delta,
    /// The public seed of hash keys, to which all parties contributed.
    hash_seed: Block,
    zeros: ZeroSource,
    gates_done: u64,
    runs_done: u64,
}

/// The source of a session's shares of the rows.
pub(super) enum Rows {
    Linear(Linear),
    Published(Published),
    HalfGates(HalfGates),
    Bgw(Bgw),
    BgwPublished(BgwPublished),
}

/// A joint garbled circuit and this party's secrets for it; a run consumes it, so it is used at most once.
pub struct Prepared {
    pub(super) run: RunId,
    pub(super) secrets: Secrets,
    pub(super) numbered: Numbered,
    pub(super) circuit: Vec<Block>,
    pub(super) zeros: ZeroSeeds,
}

/// The message that each party sends to each other party at set-up.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable, Zeroize)]
#[repr(C)]
pub(super) struct Greeting {
    hash_seed: Block,
    /// The sender's part of the pair's seed. *Secret*: from everybody outside the pair.
    common_seed: Block,
    /// A share of the sender's delta; zero with OT.
    delta: Block,
}

impl JointParty for BmrParty {
    type Plan = Plan;
    type Prepared = Prepared;

    fn program(plan: &Plan) -> &Program {
        plan.program()
    }

    fn schedule(plan: &Plan) -> ScheduleDigest {
        plan.schedule().digest()
    }

    fn parties(plan: &Plan) -> u16 {
        plan.parties()
    }

    fn security(plan: &Plan) -> Security {
        plan.security()
    }

    fn cost(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
        communication(plan, party, phase, hellos)
    }

    /// Step 1: the set-up for all runs of a session.
    async fn setup(session: &mut MeshSession, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (mesh, rng) = session.parts();
        let config = plan.config();
        let delta = Delta::random(rng);
        let ends = match config.garbling {
            Garbling::Ot => {
                let has_delta = |party| plan.slot(Party(party)).is_some();
                Some(Ends::setup(mesh, rng, &delta, plan.source(), has_delta).await?)
            }
            _ => None,
        };
        let shares = share_delta(&plan, &delta, rng);
        let hash_seed = rng.next_block();
        let greetings = mesh.per_peer(|peer| {
            let delta = shares.get(usize::from(peer)).copied().unwrap_or_default();
            Zeroizing::new(Greeting { hash_seed, common_seed: rng.next_block(), delta })
        });
        let theirs = greet(mesh, &greetings).await?;
        let hash_seed = theirs.iter().fold(hash_seed, |sum, (_, theirs)| sum ^ theirs.hash_seed);
        let mut common =
            greetings.zip(theirs.as_ref()).map(|_, (ours, theirs)| Prg::new(ours.common_seed ^ theirs.common_seed));
        let [for_rows, for_outputs] = [(); 2].map(|()| common.as_mut().map(|_, common| Prg::random(common)));
        let own = mesh.party();
        let of = |party| theirs.get(party).map_or_else(|| shares[usize::from(own)], |theirs| theirs.delta);
        let deltas = || Zeroizing::new((0..plan.parties()).map(of).collect::<Vec<Block>>());
        let pairs = |ends, common| Box::new(Pairs::new(ends, delta.clone(), plan.source(), common));
        let rows = match (ends, plan.form()) {
            (Some(ends), Form::Linear) => Rows::Linear(Linear(pairs(ends, for_rows))),
            (Some(ends), Form::Published(optimisations)) => {
                Rows::Published(Published { pairs: pairs(ends, for_rows), optimisations })
            }
            (Some(ends), Form::HalfGates) => Rows::HalfGates(HalfGates(pairs(ends, for_rows))),
            (None, Form::Linear | Form::HalfGates) => Rows::Bgw(Bgw::new(&deltas(), own, for_rows)),
            (None, Form::Published(_)) => Rows::BgwPublished(BgwPublished { deltas: deltas() }),
        };
        let zeros = ZeroSource::new(for_outputs);
        Ok(BmrParty { garbler: Garbler { plan, delta, hash_seed, zeros, gates_done: 0, runs_done: 0 }, rows })
    }

    /// Steps 2 to 5: the garbled circuit, before the inputs are known.
    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Prepared, ProtocolError> {
        let BmrParty { garbler, rows } = self;
        match rows {
            Rows::Linear(source) => garbler.prepare(session, source).await,
            Rows::Published(source) => garbler.prepare(session, source).await,
            Rows::HalfGates(source) => garbler.prepare(session, source).await,
            Rows::Bgw(source) => garbler.prepare(session, source).await,
            Rows::BgwPublished(source) => garbler.prepare(session, source).await,
        }
    }

    /// Steps 6 to 8.
    ///
    /// *Shape*: `values` are this party's inputs in program order. Returns one entry per program output, `None` where this
    /// party is not a recipient.
    ///
    /// *Errors*: [`ProtocolError::OtherRun`] of a peer, before labels are sent; [`ProtocolError::Material`] if the labels of the parties
    /// disagree on an output.
    async fn online(
        prepared: Prepared,
        plan: &Plan,
        session: &mut MeshSession,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let party = prepared.secrets.party;
        let own = party_io::own_input(plan.program(), party, values)?;
        session.enter(Phase::Online);
        let public = send_public_values(session.mesh(), prepared.run, plan, &prepared.secrets, &own).await?;
        if plan.form() == Form::HalfGates {
            let values = half_gates::finish(session, plan, &prepared, &public).await?;
            return Ok(party_io::decode(plan.program(), party, &values, &Bits::zeros(values.len())));
        }
        let (labels, decoding) = send_labels(session.mesh(), plan, &prepared.secrets, &prepared.zeros, &public).await?;
        if !plan.evaluates(party) {
            // This party learns no bit; outputs without bits need none.
            return Ok(party_io::decode(plan.program(), party, &Bits::default(), &Bits::default()));
        }
        let slots = evaluate(plan, prepared.numbered, &labels, &prepared.circuit, Backend::detect());
        let values = public_values(plan, &slots, plan.outputs_of(party)).map_err(disagreement)?;
        let gates = plan.and_count() as u64;
        session.advance(gates, gates);
        Ok(party_io::decode(plan.program(), party, &decoding, &values.0.into_iter().collect()))
    }
}

impl Garbler {
    async fn prepare<S: RowSource>(
        &mut self,
        session: &mut MeshSession,
        source: &mut S,
    ) -> Result<Prepared, ProtocolError> {
        let secrets = self.secrets(session);
        let material = source.prepare(session, &self.plan, &secrets).await?;
        self.garble(session, source, secrets, material).await
    }

    /// Step 2: this party's random choices.
    pub(super) fn secrets(&self, session: &mut MeshSession) -> Secrets {
        session.enter(Phase::Prepare);
        let (mesh, rng) = session.parts();
        let party = Party(mesh.party());
        match self.plan.form() {
            Form::HalfGates => Secrets::of_seed(&self.plan, party, &self.delta, rng.next_block()),
            _ => Secrets::random(&self.plan, party, &self.delta, rng),
        }
    }

    /// Steps 3 to 5.
    pub(super) async fn garble<S: RowSource>(
        &mut self,
        session: &mut MeshSession,
        source: &mut S,
        secrets: Secrets,
        material: S::Material,
    ) -> Result<Prepared, ProtocolError> {
        let gates = self.plan.and_count();
        let numbered = Numbered { seed: self.hash_seed, first: self.gates_done };
        self.gates_done += gates as u64;
        let run = RunId::Prepared(self.runs_done);
        self.runs_done += 1;
        let zeros = self.zeros.next_run();
        session.enter(Phase::Build);
        // Counts every gate three times: for its product or other work before the shares of its rows, for these shares, and for the rows.
        let (mesh, rng, watch) = session.watched(gates, 3 * gates);
        let circuit = Circuit { plan: &self.plan, secrets: &secrets, numbered };
        let shares = source.rows(mesh, circuit, material, rng, &watch).await?;
        watch.reach(2 * gates, mesh.traffic());
        let circuit = open(mesh, &self.plan, shares).await?;
        watch.reach(3 * gates, mesh.traffic());
        Ok(Prepared { run, secrets, numbered, circuit, zeros })
    }
}

/// This party's delta shared for BGW, by party; nothing with OT.
fn share_delta(plan: &Plan, delta: &Delta, rng: &mut Prg) -> Zeroizing<Vec<Block>> {
    let (degree, parties) = (usize::from(plan.threshold()), plan.parties());
    let shares = match (plan.config().garbling, plan.form()) {
        (Garbling::Ot, _) => Vec::new(),
        (_, Form::Linear | Form::HalfGates) => {
            let shares = share_bytes(&Zeroizing::new(delta.block().to_bytes())[..], degree, parties.into(), rng);
            shares.iter().map(|share| Block::from_bytes(share.first_chunk().copied().unwrap_or_default())).collect()
        }
        (_, Form::Published(_)) => {
            let mut dealer = Dealer::new(degree, rng);
            let mut share = |party| {
                let mut share = [Block::ZERO];
                dealer.share(party, 0, &[delta.block()], &mut share);
                share[0]
            };
            (0..parties).map(&mut share).collect()
        }
    };
    Zeroizing::new(shares)
}

async fn greet(
    mesh: &mut Mesh,
    ours: &PerPeer<Zeroizing<Greeting>>,
) -> Result<PerPeer<Zeroizing<Greeting>>, ProtocolError> {
    let zero = <Greeting as bytemuck::Zeroable>::zeroed();
    let mut theirs = mesh.per_peer(|_| Zeroizing::new(zero));
    let outgoing = ours.as_ref().map(|_, greeting| bytemuck::bytes_of(&**greeting));
    mesh.exchange(&outgoing, &mut theirs.as_mut().map(|_, greeting| bytemuck::bytes_of_mut(&mut **greeting))).await?;
    Ok(theirs)
}

/// Figure 3, step 1 (a): every input's owner announces its public value. Returns the public values of all inputs, once all parties are
/// known to be at the same run.
async fn send_public_values(
    mesh: &mut Mesh,
    run: RunId,
    plan: &Plan,
    secrets: &Secrets,
    own: &Bits,
) -> Result<Vec<bool>, ProtocolError> {
    let masked: BitVec =
        plan.inputs_of(secrets.party).zip(own.iter()).map(|(at, bit)| secrets.permutation.get(at) ^ bit).collect();
    let mut incoming = mesh.per_peer(|peer| vec![0; plan.input_bits(Party(peer)).div_ceil(8)]);
    let outgoing = mesh.per_peer(|_| masked.as_bytes());
    RunExchanges::new(run).exchange(mesh, &outgoing, &mut incoming).await?;
    let mut public = vec![false; plan.input_count()];
    plan.inputs_of(secrets.party)
        .zip(masked.public("bmr: masked inputs, which all parties learn"))
        .for_each(|(at, value)| public[at] = value);
    for (peer, bytes) in incoming {
        let values = bits_of_peer(peer, bytes, plan.input_bits(Party(peer)))?;
        plan.inputs_of(Party(peer))
            .zip(values.public("bmr: masked inputs, which all parties learn"))
            .for_each(|(at, value)| public[at] = value);
    }
    Ok(public)
}

/// The error of labels that do not agree about an output bit.
pub(super) fn disagreement(bit: usize) -> ProtocolError {
    ProtocolError::Material {
        what: "the joint garbled circuit",
        expected: format!("labels of all parties that agree about bit {bit} of the outputs"),
        got: "labels that differ".into(),
    }
}

/// The inversions of what a party learns.
pub(super) fn inversions(plan: &Plan, party: Party) -> BitVec {
    let inversion = |wire| match wire {
        OutputWire::Constant(value) => value,
        OutputWire::Slot(operand) => operand.inverted(),
    };
    plan.outputs_of(party).map(inversion).collect()
}

/// This party's shares of the permutation bits of the outputs that `recipient` learns, with its shares of zero.
pub(super) fn decoding_share(
    plan: &Plan,
    carried: &[bool],
    zeros: &ZeroSeeds,
    recipient: Party,
) -> Result<BitVec, ProtocolError> {
    let share = |wire| match wire {
        OutputWire::Constant(_) => false,
        OutputWire::Slot(operand) => carried[operand.slot()],
    };
    let share: BitVec = plan.outputs_of(recipient).map(share).collect();
    Ok(share.xor(&zeros.share(recipient, share.len())?)?)
}

/// Figure 3, step 1 (b), and with it figure 2, step 5: every party sends its labels of all inputs and its shares of the
/// recipients' output bits. Returns the labels of all parties, wire by wire, and the decoding bits of this party's outputs.
async fn send_labels(
    mesh: &mut Mesh,
    plan: &Plan,
    secrets: &Secrets,
    zeros: &ZeroSeeds,
    public: &[bool],
) -> Result<(Vec<Block>, Bits), ProtocolError> {
    let own: Vec<Block> = public.iter().enumerate().map(|(at, value)| secrets.label(at, *value)).collect();
    let carried = secrets.carried_bits(plan, |_, _| ());
    let mut outgoing = mesh.per_peer(|_| Vec::new());
    for (peer, message) in outgoing.iter_mut().filter(|(peer, _)| plan.evaluates(Party(*peer))) {
        message.extend_from_slice(bytemuck::cast_slice(&own));
        message.extend_from_slice(decoding_share(plan, &carried, zeros, Party(peer))?.as_bytes());
    }
    let outputs = plan.output_bits(secrets.party);
    let label_bytes = 16 * plan.input_count();
    let expected = if plan.evaluates(secrets.party) { label_bytes + outputs.div_ceil(8) } else { 0 };
    let mut incoming = mesh.per_peer(|_| vec![0; expected]);
    mesh.exchange(&outgoing, &mut incoming).await?;
    if expected == 0 {
        return Ok((Vec::new(), Bits::default()));
    }
    let parties = usize::from(plan.parties());
    let mut labels = vec![Block::ZERO; parties * plan.input_count()];
    let mut put = |party: u16, theirs: &mut dyn Iterator<Item = Block>| {
        labels.iter_mut().skip(party.into()).step_by(parties).zip(theirs).for_each(|(to, label)| *to = label);
    };
    put(mesh.party(), &mut own.iter().copied());
    let mut decoding = inversions(plan, secrets.party);
    decoding = decoding.xor(&decoding_share(plan, &carried, zeros, secrets.party)?)?;
    for (peer, bytes) in incoming {
        let (theirs, share) = bytes.split_at(label_bytes);
        put(peer, &mut theirs.as_chunks().0.iter().map(|label| Block::from_bytes(*label)));
        decoding = decoding.xor(&bits_of_peer(peer, share.to_vec(), outputs)?)?;
    }
    Ok((labels, Bits::from_bytes(decoding.as_bytes()).slice(0, outputs)))
}
