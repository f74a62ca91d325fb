//! Party 0: garbles all circuits, without knowing which are checked.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_ot::{BitVec, MaliciousCotSender, RotSender, Rows};
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use super::{
    NAME, Step,
    authenticated::Key,
    config::Form,
    lp07,
    others::{Dealing, InputRows, Nothing},
    plan::Plan,
};
use garblet_protocol::{
    Role, Security,
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::Cheating,
    conduct::{Common, Conduct, Honest},
    domain::SessionId,
    error::ProtocolError,
    party_io::{self, GARBLER},
    phase::Phase,
    session::Session,
};
use garblet_seeded::{
    Blueprint, Garbling, InputHash, Part, Secrets, Shared, Split, ToGarble, digests,
    encoding::Encoding,
    wires::{self, Pads},
};

/// The garbler of a session.
pub struct Garbler<C = Honest> {
    pub(super) plan: Arc<Plan>,
    id: SessionId,
    ot: RotSender<MaliciousCotSender>,
    runs: u64,
    pub(super) conduct: Common<C>,
}

/// The garbler's preparation of one run, which consumes it.
pub struct GarblerPrepared {
    pub(super) run: SessionId,
    /// Both pads of every wire of the evaluator's encoded input.
    wires: Zeroizing<Vec<[Block; 2]>>,
    /// The rows of these OTs.
    rows: Rows,
    /// The pads of every circuit: for evaluation, for checking.
    cuts: Zeroizing<Vec<[Block; 2]>>,
    pub(super) encoding_seed: Block,
}

impl GarblerPrepared {
    /// The data that both parties share about the run's circuits, with this hash of the garbler's input.
    pub(super) fn shared(&self, encoding: Encoding, hash: InputHash) -> Shared {
        Shared::new(self.run.domain(GARBLER, Step::Head as u8), encoding, hash)
    }
}

impl Garbler {
    /// Step 1.
    ///
    /// *Errors*: those of [`MaliciousCotSender::setup`].
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        Garbler::setup_with(session, plan, Honest).await
    }
}

impl<C: Conduct<Step>> Garbler<C> {
    /// Step 1, for a garbler with this conduct.
    ///
    /// *Errors*: as [`Garbler::setup`].
    pub async fn setup_with(session: &mut Session, plan: Arc<Plan>, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (channel, rng) = session.parts();
        let id = SessionId::agree(channel, rng, NAME, plan.original().digest(), GARBLER).await?;
        let delta = Delta::random(rng);
        let config = plan.config();
        let ot = MaliciousCotSender::setup(channel, rng, &delta, config.ot_width, config.sigma()).await?;
        Ok(Garbler { plan, id, ot: RotSender::new(ot), runs: 0, conduct: Common::new(conduct) })
    }
}

impl<C: Conduct<Step>> Role for Garbler<C> {
    type Prepared = GarblerPrepared;
    const NAME: &'static str = "garbler";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Step 2: random OTs for the evaluator's wires and for the circuits; the evaluator chooses in the latter.
    ///
    /// *Errors*: an OT receiver caught cheating; the connection's.
    async fn prepare(&mut self, session: &mut Session) -> Result<GarblerPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let (wires, circuits) = (self.plan.blueprint().evaluator_wires(), self.plan.cut_ots());
        let (mut pads, mut rows) = self.ot.extend_with_rows(session.channel(), wires + circuits).await?;
        rows.truncate(wires);
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let corrections = BitVec::receive(session.channel(), circuits, "choices of circuits").await?;
        let mut cuts = Zeroizing::new(pads.split_off(wires));
        wires::exchange(&mut cuts, &corrections);
        let run = self.id.run(self.runs);
        self.runs += 1;
        Ok(GarblerPrepared { run, wires: pads, rows, cuts, encoding_seed: seed[0] })
    }

    /// Steps 3 to 9.
    ///
    /// *Shape*: `values` are the garbler's inputs in program order. Returns one entry per program output, `None` where the
    /// garbler is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; an evaluator caught cheating; the connection's.
    async fn online(
        &mut self,
        session: &mut Session,
        prepared: GarblerPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.online_for_others(session, prepared, values, &mut Nothing).await
    }
}

impl<C: Conduct<Step>> Garbler<C> {
    /// The same, where others deal bits to both parties, see [`crate::others`].
    ///
    /// *Errors*: also those of `dealing`.
    pub async fn online_for_others(
        &mut self,
        session: &mut Session,
        mut prepared: GarblerPrepared,
        values: &[Bits],
        dealing: &mut impl Dealing,
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let input = party_io::own_input(self.plan.original(), GARBLER, values)?;
        session.enter(Phase::Online);
        let (key, input) = self.own_input(session, input);
        let corrections = BitVec::receive(session.channel(), self.plan.evaluator_bits(), "input corrections").await?;
        wires::exchange(&mut prepared.wires, &corrections);
        let mut seeds = Zeroizing::new(vec![Block::ZERO; self.plan.circuits()]);
        session.rng().fill_blocks(&mut seeds);
        self.send_keys(session, &prepared, &seeds, &input).await?;
        match self.plan.config().form {
            Form::Oblivious => {
                let encoding = self.plan.encoding(prepared.encoding_seed);
                let rows = std::mem::take(&mut prepared.rows);
                let rows = InputRows::of_garbler(rows, &corrections, self.ot.delta(), &encoding);
                dealing.settle(session, rows).await?;
                let hash = self.answer_challenge(session, &input, dealing).await?;
                let shared = Arc::new(prepared.shared(encoding, hash));
                self.send_all_and_chosen(session, &prepared, &seeds, &shared, dealing).await?;
            }
            Form::Lp07 => lp07::garble(self, session, &prepared, &seeds, &input).await?,
        }
        self.receive_output(session, key).await
    }

    /// Step 3: the garbler's input with the pad and the key of its output and the bits that hide the hash.
    fn own_input(&self, session: &mut Session, mut input: Bits) -> (Option<Key>, Bits) {
        let plan = &self.plan;
        let key = plan.authenticator().map(|authenticator| authenticator.key(session.rng()));
        if let (Some(authenticator), Some(key)) = (plan.authenticator(), &key) {
            input.append(&key.inputs(authenticator));
        }
        input.append(&random_bits(plan.blueprint().hash_rows(), session));
        (key, input)
    }

    /// Step 6.
    async fn send_all_and_chosen(
        &mut self,
        session: &mut Session,
        prepared: &GarblerPrepared,
        seeds: &[Block],
        shared: &Arc<Shared>,
        dealing: &mut impl Dealing,
    ) -> Result<(), ProtocolError> {
        let all = ToGarble::all(seeds, |circuit| self.blueprint_of(circuit))?;
        self.send_digests(session, prepared, all.clone(), shared).await?;
        dealing.agree(session).await?;
        let split = self.told_split(session).await?;
        let evaluated = all.into_iter().filter(|of| !split.is_checked(of.circuit)).collect();
        self.send_circuits(session, shared.clone(), evaluated).await
    }

    /// Step 5: the hash of the garbler's input, after the hashes of its parts.
    async fn answer_challenge(
        &mut self,
        session: &mut Session,
        input: &Bits,
        dealing: &mut impl Dealing,
    ) -> Result<InputHash, ProtocolError> {
        let mut challenge = [Block::ZERO];
        receive_blocks(session, &mut challenge).await?;
        let parts = dealing.hashes(session).await?;
        let hash = self.plan.universal_hash(challenge[0]);
        let mut bytes = hash.of(&Zeroizing::new(input.to_bytes()));
        self.conduct.touch(Step::InputHash, 0, &mut bytes);
        session.channel().send_bytes(&bytes).await?;
        session.channel().flush().await?;
        let value = Bits::from_bytes(&bytes).slice(0, hash.rows());
        Ok(InputHash::new(hash, value).with_parts(parts))
    }

    /// Step 6a: digests stand in for the circuits until the evaluator names those to evaluate. All workers garble the circuits only for these digests.
    async fn send_digests(
        &mut self,
        session: &mut Session,
        prepared: &GarblerPrepared,
        all: Vec<ToGarble>,
        shared: &Arc<Shared>,
    ) -> Result<(), ProtocolError> {
        let (conduct, part_count) = (self.conduct.clone(), self.plan.blueprint().part_count());
        let see = move |circuit: usize, part: usize, blocks: &mut [Block]| {
            conduct.touch(Step::of_part(part, part_count), circuit, bytemuck::cast_slice_mut(blocks));
        };
        let domain = prepared.run.domain(GARBLER, Step::CircuitDigest as u8);
        let (workers, plan) = (session.workers(), self.plan.clone());
        let mut digests = digests::of_all(all, shared.clone(), domain, workers, see, |done| {
            advance(session, &plan, done);
        })
        .await?;
        for (circuit, digest) in digests.iter_mut().enumerate() {
            self.conduct.touch(Step::CircuitDigest, circuit, digest);
        }
        session.channel().send_bytes(digests.as_flattened()).await?;
        Ok(session.channel().flush().await?)
    }

    /// Step 6b.
    async fn told_split(&self, session: &mut Session) -> Result<Split, ProtocolError> {
        let told = BitVec::receive(session.channel(), self.plan.circuits(), "checked circuits").await?;
        let split = Split::told(told);
        let (expected, got) = (self.plan.evaluated(), split.evaluated().count());
        match got == expected {
            true => Ok(split),
            false => Err(Cheating::new(checks::TOLD_SPLIT, format!("{got} circuits, expected {expected}")).into()),
        }
    }

    /// Step 4: for each circuit both labels of the evaluator's wires, the garbler's labels, and the seed, each under its key.
    async fn send_keys(
        &mut self,
        session: &mut Session,
        prepared: &GarblerPrepared,
        seeds: &[Block],
        input: &Bits,
    ) -> Result<(), ProtocolError> {
        let domain = prepared.run.domain(GARBLER, Step::EvaluatorLabels as u8);
        let mut pads = Pads::of_sender(domain, &prepared.wires);
        for (circuit, &seed) in seeds.iter().enumerate() {
            let blueprint = self.blueprint_of(circuit)?;
            let secrets = Secrets::of_seed(&blueprint, seed);
            let mut message = wires::both_labels(&secrets);
            self.conduct.touch(Step::EvaluatorLabels, circuit, bytemuck::cast_slice_mut(&mut message));
            pads.encrypt(&mut message, circuit);
            send_blocks(session, &message).await?;
            if self.plan.config().form == Form::Lp07 {
                continue;
            }
            let mut own = input.clone();
            self.conduct.input(circuit, &mut own);
            let mut message = self.cut_keys(circuit, secrets.active(&own), seed);
            let domain = prepared.run.domain(GARBLER, Step::GarblerLabels as u8).at(circuit as u64);
            let (labels, seed) = message.split_at_mut(blueprint.garbler_wires());
            for (branch, part) in [labels, seed].into_iter().enumerate() {
                let mut stream = Zeroizing::new(vec![Block::ZERO; part.len()]);
                domain.branch(branch as u8).stream(prepared.cuts[circuit][branch]).fill_blocks(&mut stream);
                part.iter_mut().zip(stream.iter()).for_each(|(block, mask)| *block ^= *mask);
            }
            send_blocks(session, &message).await?;
        }
        Ok(())
    }

    /// The garbler's labels and the seed, before they are encrypted.
    fn cut_keys(&mut self, circuit: usize, mut own: Zeroizing<Vec<Block>>, seed: Block) -> Zeroizing<Vec<Block>> {
        let mut seed = [seed];
        self.conduct.touch(Step::GarblerLabels, circuit, bytemuck::cast_slice_mut(&mut own));
        self.conduct.touch(Step::Seed, circuit, bytemuck::cast_slice_mut(&mut seed));
        Zeroizing::new(own.iter().copied().chain(seed).collect())
    }

    /// Step 6c: circuits, garbled by all workers.
    pub(super) async fn send_circuits(
        &mut self,
        session: &mut Session,
        shared: Arc<Shared>,
        circuits: Vec<ToGarble>,
    ) -> Result<(), ProtocolError> {
        let (before, part_count) = (self.plan.garblings() - circuits.len(), self.plan.blueprint().part_count());
        let (conduct, plan) = (&self.conduct, &self.plan);
        let see = |part: &mut Part| conduct.touch(Step::of_part(part.part, part_count), part.circuit, part.bytes_mut());
        let advance = |session: &mut Session, done: usize| advance(session, plan, before + done);
        Garbling::begin(circuits, shared, session.workers()).send(session, see, advance).await
    }

    /// Step 9: the evaluator hands over the garbler's output.
    async fn receive_output(
        &mut self,
        session: &mut Session,
        key: Option<Key>,
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let output = match (self.plan.authenticator(), key) {
            (Some(authenticator), Some(key)) => {
                let message = receive_bits(session, authenticator.message_bits()).await?;
                authenticator.verify(&key, &message)?.into_bits()
            }
            _ => Bits::default(),
        };
        Ok(self.plan.garbler_result(&output))
    }

    /// The blueprint from which a circuit is garbled.
    pub(super) fn blueprint_of(&self, circuit: usize) -> Result<Arc<Blueprint>, ProtocolError> {
        match self.conduct.program(circuit) {
            None => Ok(self.plan.blueprint().clone()),
            Some(program) => Ok(Plan::new(program, self.plan.config())?.blueprint().clone()),
        }
    }
}

/// Reports the number of circuits garbled so far, where those garbled twice count twice.
fn advance(session: &mut Session, plan: &Plan, done: usize) {
    let gates = |circuits: usize| circuits as u64 * plan.and_count();
    session.advance(gates(done), gates(plan.garblings()));
}

fn random_bits(count: usize, session: &mut Session) -> Bits {
    Bits::filled(count, |bytes| session.rng().fill_bytes(bytes))
}
