//! The generator: garbles all circuits, without knowing which are checked.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_ot::{BitVec, MaliciousCotSender, RotSender};
use garblet_primitives::{Block, Delta};
use garblet_protocol::{
    MeshSession, Phase, Role, Security,
    bulk::{check_padding_of, receive_bits, receive_blocks, send_blocks},
    checks::Cheating,
    conduct::{Common, Conduct, Honest},
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
    session::Session,
};
use garblet_seeded::{
    InputHash, Part, Secrets, Shared,
    wires::{self, Pads},
};
use zeroize::Zeroizing;

use super::{
    Step,
    binding::ClientHashes,
    checks,
    circuits::{self, Ids, ToGarble},
    config::SIGMA,
    kept::{GeneratorState, Labels},
    meet::{self, told},
    oot::{self, Keys},
    plan::{Giver, Plan},
    split::{Branch, GeneratorKeys},
};
use crate::{GENERATOR, server::with, settle::hear_word};

/// The server that garbles.
pub struct Generator<C = Honest> {
    plan: Arc<Plan>,
    state: GeneratorState,
    /// The OT senders, one for each giver.
    ots: Vec<RotSender<MaliciousCotSender>>,
    conduct: Common<C>,
}

/// The generator's preparation of one run, which consumes it.
pub struct GeneratorPrepared {
    number: u64,
    givers: Vec<GiverPrepared>,
}

/// The material prepared with a giver.
struct GiverPrepared {
    /// Both pads of every wire.
    pads: Zeroizing<Vec<[Block; 2]>>,
    /// The seed of its encoding.
    encoding: Block,
    /// The seed of orders and blinds.
    secret: Zeroizing<Block>,
}

impl<C: Conduct<Step>> Generator<C> {
    /// Sets up with the cloud and all clients, for a state that both servers have, or a new one.
    ///
    /// Takes the state if this succeeds; otherwise the state stays, as no run has begun.
    ///
    /// *Errors*: a server with another state; cheating in OTs; the connections'.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        state: &mut Option<GeneratorState>,
        conduct: C,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let cloud = plan.cloud();
        let (mut pair, lent) = session.lend(cloud)?;
        let met = meet_cloud(&mut pair, &plan, state).await;
        session.give_back(pair, lent);
        let of_cloud = met.map_err(|error| with(cloud, error))?;
        let mut ots = Vec::with_capacity(plan.givers().len());
        for client in (1..cloud.0).map(Party) {
            let (mut pair, lent) = session.lend(client)?;
            let ot = sender(&mut pair, &plan).await;
            session.give_back(pair, lent);
            ots.push(ot.map_err(|error| with(client, error))?);
        }
        ots.push(of_cloud);
        let state = meet::taken(state)?;
        Ok(Generator { plan, state, ots, conduct: Common::new(conduct) })
    }

    /// The state, for later runs with any clients.
    pub fn into_state(self) -> GeneratorState {
        self.state
    }
}

/// Agrees with the cloud on a state, and makes one if there is none.
async fn meet_cloud(
    pair: &mut Session,
    plan: &Plan,
    state: &mut Option<GeneratorState>,
) -> Result<RotSender<MaliciousCotSender>, ProtocolError> {
    let (own, theirs) = meet::exchange(pair, state).await?;
    let mut ot = sender(pair, plan).await?;
    let state = match state {
        Some(state) => state,
        None => {
            let keys = GeneratorKeys::transfer(pair, &mut ot, plan.circuits()).await?;
            state.insert(GeneratorState::new(keys, plan.config(), [own, theirs]))
        }
    };
    meet::check(state, plan)?;
    Ok(ot)
}

async fn sender(pair: &mut Session, plan: &Plan) -> Result<RotSender<MaliciousCotSender>, ProtocolError> {
    let (channel, rng) = pair.parts();
    let delta = Delta::random(rng);
    Ok(RotSender::new(MaliciousCotSender::setup(channel, rng, &delta, plan.config().ot_width, SIGMA).await?))
}

impl<C: Conduct<Step>> Role<garblet_net::Mesh> for Generator<C> {
    type Prepared = GeneratorPrepared;
    const NAME: &'static str = "generator";

    fn security(&self) -> Security {
        self.plan.security()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<GeneratorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let number = self.state.begin()?;
        let plan = self.plan.clone();
        let told = told(&self.state, number);
        let mut givers: Vec<GiverPrepared> = Vec::with_capacity(plan.givers().len());
        for (giver, ot) in plan.givers().iter().zip(&mut self.ots) {
            let seeds: Vec<Block> = givers.iter().map(|giver| giver.encoding).collect();
            let (mut pair, lent) = session.lend(giver.party)?;
            // Announces the run to clients, and passes the clients' seeds on to the cloud.
            let tell = if giver.party == plan.cloud() { bytemuck::cast_slice(&seeds) } else { &told[..] };
            let prepared = prepare_with(&mut pair, giver, ot, tell).await;
            session.give_back(pair, lent);
            givers.push(prepared.map_err(|error| with(giver.party, error))?);
        }
        Ok(GeneratorPrepared { number, givers })
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        mut prepared: GeneratorPrepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        let mut input = party_io::own_input(self.plan.program(), GENERATOR, inputs)?;
        self.state.check()?;
        let read = self.state.read(&self.plan)?;
        let plan = self.plan.clone();
        let bits = |peer: u16| plan.giver(Party(peer)).bit_count();
        let mut corrections = session.mesh().per_peer(|peer| vec![0; bits(peer).div_ceil(8)]);
        let nothing = session.mesh().per_peer(|_| []);
        let run = RunId::Prepared(prepared.number);
        RunExchanges::new(run).exchange(session.mesh(), &nothing, &mut corrections).await?;
        for (peer, bytes) in corrections.iter() {
            check_padding_of(Party(peer), bytes, bits(peer))?;
            let of_giver = BitVec::from_bytes(bytes.clone(), bits(peer))?;
            wires::exchange(&mut prepared.givers[usize::from(peer) - 1].pads, &of_giver);
        }
        // Nothing has left this server until here: a client that is gone by now takes no state along.
        self.state.risk();
        let key = plan.authenticator(GENERATOR).map(|authenticator| authenticator.key(session.rng()));
        if let Some(key) = &key {
            input.append(&key.inputs());
        }
        input.append(&random_bits(plan.blueprint().hash_rows(), session));
        let cloud = plan.cloud();
        let (mut pair, lent) = session.lend(cloud)?;
        let computed = self.compute(&mut pair, &prepared, &input, &read).await;
        session.give_back(pair, lent);
        let (kept, message) = computed.map_err(|error| with(cloud, error))?;
        let output = match (plan.authenticator(GENERATOR), key) {
            (Some(authenticator), Some(key)) => authenticator.verify(&key, &message).ok_or_else(|| {
                with(cloud, Cheating::new(checks::OUTPUT_TAG, format!("{} bits", message.len())).into())
            })?,
            _ => Bits::default(),
        };
        let results = plan.results(GENERATOR, &output);
        self.state.end(&plan, &results, kept);
        Ok(results)
    }
}

/// Makes random OTs for a giver's wires, and receives its seeds; then sends it a message.
async fn prepare_with(
    pair: &mut Session,
    giver: &Giver,
    ot: &mut RotSender<MaliciousCotSender>,
    tell: &[u8],
) -> Result<GiverPrepared, ProtocolError> {
    let pads = ot.extend(pair.channel(), giver.wire_count()).await?;
    let mut seeds = Zeroizing::new([Block::ZERO; 2]);
    receive_blocks(pair, &mut *seeds).await?;
    pair.channel().send_bytes(tell).await?;
    pair.channel().flush().await?;
    Ok(GiverPrepared { pads, encoding: seeds[0], secret: Zeroizing::new(seeds[1]) })
}

impl<C: Conduct<Step>> Generator<C> {
    /// The whole online exchange between the servers. Returns the labels of kept outputs, and the cloud's message.
    async fn compute(
        &mut self,
        pair: &mut Session,
        prepared: &GeneratorPrepared,
        input: &Bits,
        read: &Labels,
    ) -> Result<(Labels, Bits), ProtocolError> {
        let plan = self.plan.clone();
        let ids = meet::ids(&self.state, &plan, prepared.number);
        let bits = plan.read_bits();
        let read_by = |circuit: usize| &read[circuit * bits..(circuit + 1) * bits];
        let secrets = (0..plan.circuits())
            .map(|circuit| circuits::secrets(&plan, &ids, circuit, self.state.keys.root(circuit), read_by(circuit)));
        let secrets: Vec<Secrets> = secrets.collect();
        self.transfer(pair, &ids, prepared, &secrets, input, read_by).await?;
        let hash = self.answer_challenge(pair, &ids, input, &secrets).await?;
        let seeds: Vec<Block> = prepared.givers.iter().map(|giver| giver.encoding).collect();
        let labels = ids.run.domain(GENERATOR, Step::HashLabels as u8);
        let shared = Shared::new(labels, plan.encoding(&seeds), hash);
        let of = Arc::new(ToGarble { plan: plan.clone(), shared, secrets });
        let (conduct, part_count) = (self.conduct.clone(), plan.blueprint().part_count());
        let see = |part: &mut Part| conduct.touch(Step::of_part(part.part, part_count), part.circuit, part.bytes_mut());
        let kept = circuits::send(pair, of, see).await?;
        hear_word(pair.channel()).await?;
        let message = receive_bits(pair, plan.message_bits(GENERATOR)).await?;
        Ok((kept, message))
    }

    /// For each circuit both labels of givers' wires, commitments to them, partial gates, and both branches.
    async fn transfer<'r>(
        &mut self,
        pair: &mut Session,
        ids: &Ids,
        prepared: &GeneratorPrepared,
        secrets: &[Secrets],
        input: &Bits,
        read_by: impl Fn(usize) -> &'r [[Block; 2]],
    ) -> Result<(), ProtocolError> {
        let plan = self.plan.clone();
        let mut pads: Vec<Pads> = Vec::new();
        let mut keys: Vec<Keys> = Vec::new();
        for (giver, prepared) in plan.givers().iter().zip(&prepared.givers) {
            pads.push(Pads::of_sender(ids.run.domain(giver.party, Step::Labels as u8), &prepared.pads));
            keys.push(Keys::new(ids.run, giver.party, *prepared.secret));
        }
        for (circuit, secrets) in secrets.iter().enumerate() {
            let of_all = |key: fn(&Keys, usize) -> Block| -> Zeroizing<Vec<Block>> {
                Zeroizing::new(keys.iter().map(|keys| key(keys, circuit)).collect())
            };
            let (mut orders, mut blinds) = (of_all(Keys::order), of_all(Keys::blind));
            self.conduct.touch(Step::Order, circuit, bytemuck::cast_slice_mut(&mut orders));
            self.conduct.touch(Step::Blind, circuit, bytemuck::cast_slice_mut(&mut blinds));
            let givers = plan.givers().iter().zip(&mut pads).zip(orders.iter().zip(blinds.iter()));
            for ((giver, pads), (&order, &blind)) in givers {
                let message = self.labels(ids, circuit, giver, (secrets, pads), (order, blind));
                send_blocks(pair, &message).await?;
            }
            let mut gates = circuits::partial_gates(&plan, ids, circuit, read_by(circuit), secrets);
            self.conduct.touch(Step::PartialGates, circuit, &mut gates);
            pair.channel().send_bytes(&gates).await?;
            let mut own = input.clone();
            self.conduct.input(circuit, &mut own);
            let mut evaluation = secrets.active(&own);
            self.conduct.touch(Step::GeneratorLabels, circuit, bytemuck::cast_slice_mut(&mut evaluation));
            let mut evaluation = Zeroizing::new([&evaluation[..], &blinds].concat());
            let mut checking = orders;
            self.state.keys.encrypt(&ids.run, circuit, Branch::Evaluation, &mut evaluation);
            self.state.keys.encrypt(&ids.run, circuit, Branch::Checking, &mut checking);
            send_blocks(pair, &evaluation).await?;
            send_blocks(pair, &checking).await?;
        }
        Ok(pair.channel().flush().await?)
    }

    /// Both labels of a giver's wires, blinded, encrypted and in order, then the commitments to them.
    fn labels(
        &self,
        ids: &Ids,
        circuit: usize,
        giver: &Giver,
        (secrets, pads): (&Secrets, &mut Pads),
        (order, blind): (Block, Block),
    ) -> Zeroizing<Vec<Block>> {
        let mut labels = oot::both_labels(giver, secrets);
        let mut commitments = oot::expected_commitments(&ids.run, giver, circuit, secrets, order);
        self.conduct.touch(Step::Labels, circuit, bytemuck::cast_slice_mut(&mut labels));
        self.conduct.touch(Step::Commitments, circuit, bytemuck::cast_slice_mut(&mut commitments));
        oot::blind(&mut labels, blind);
        pads.encrypt(&mut labels, circuit);
        self.conduct.touch(Step::Ciphertexts, circuit, bytemuck::cast_slice_mut(&mut labels));
        oot::put_in_order(&mut labels, order);
        labels.extend_from_slice(&commitments);
        labels
    }

    /// The hash of the generator's input, and for each circuit the select bits of the hashes of clients' wires.
    async fn answer_challenge(
        &mut self,
        pair: &mut Session,
        ids: &Ids,
        input: &Bits,
        secrets: &[Secrets],
    ) -> Result<InputHash, ProtocolError> {
        let mut challenge = [Block::ZERO];
        receive_blocks(pair, &mut challenge).await?;
        let hash = self.plan.universal_hash(challenge[0]);
        let mut bytes = hash.of(&Zeroizing::new(input.to_bytes()));
        self.conduct.touch(Step::InputHash, 0, &mut bytes);
        pair.channel().send_bytes(&bytes).await?;
        let of_clients = ClientHashes::new(&self.plan, &ids.run, challenge[0]);
        for (circuit, secrets) in secrets.iter().enumerate() {
            let mut bits = of_clients.select_bits(&self.plan, &secrets.evaluator).to_bytes();
            self.conduct.touch(Step::ClientHashes, circuit, &mut bits);
            pair.channel().send_bytes(&bits).await?;
        }
        pair.channel().flush().await?;
        let value = Bits::from_bytes(&bytes).slice(0, hash.rows());
        Ok(InputHash::new(hash, value))
    }
}

pub(super) fn random_bits(count: usize, session: &mut MeshSession) -> Bits {
    Bits::filled(count, |bytes| session.rng().fill_bytes(bytes))
}
