//! The cloud: evaluates all circuits, and alone knows which it checks.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_net::{Line, Mesh, NetError};
use garblet_ot::{MaliciousCotReceiver, RotReceiver};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    MeshSession, Phase, Role, Security,
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check, LastMessageSent, Majority, Refused, Unverified},
    conduct::{Conduct, Honest},
    domain::SessionId,
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
    session::Session,
    workers::Divided,
};
use garblet_seeded::{Buffers, InputHash, Shared, Split, wires::Pads};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Step,
    binding::ClientHashes,
    checks,
    circuits::{self, Examined, Examining, Ids, Remade, Taken},
    client::{Giving, receiver},
    gates,
    generator::random_bits,
    kept::{CloudState, Labels},
    meet::{self, told},
    oot::{self, Given, Taking},
    plan::{Giver, Plan},
    split::{Branch, CloudKeys},
};
use crate::{GENERATOR, server::with, settle::WORD_BYTES};

/// The server that evaluates.
pub struct Cloud<C = Honest> {
    plan: Arc<Plan>,
    state: CloudState,
    ot: RotReceiver<MaliciousCotReceiver>,
    conduct: C,
}

/// The cloud's preparation of one run, which consumes it.
pub struct CloudPrepared {
    number: u64,
    /// The seeds of all givers' encodings.
    encodings: Vec<Block>,
    own: Giving,
}

/// Proof that all circuits passed their checks; only [`verify`] makes it.
struct CircuitsVerified(());

impl<C: Conduct<Step>> Cloud<C> {
    /// Sets up with the generator, for a state that both servers have, or a new one.
    ///
    /// Takes the state if this succeeds; otherwise the state stays, as no run has begun.
    ///
    /// *Errors*: a server with another state; cheating in OTs; the connection's.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        state: &mut Option<CloudState>,
        conduct: C,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (mut pair, lent) = session.lend(GENERATOR)?;
        let met = meet_generator(&mut pair, &plan, state).await;
        session.give_back(pair, lent);
        let ot = met.map_err(|error| with(GENERATOR, error))?;
        let state = meet::taken(state)?;
        Ok(Cloud { plan, state, ot, conduct })
    }

    /// The state, for later runs with any clients.
    pub fn into_state(self) -> CloudState {
        self.state
    }
}

/// Agrees with the generator on a state, and makes one if there is none.
async fn meet_generator(
    pair: &mut Session,
    plan: &Plan,
    state: &mut Option<CloudState>,
) -> Result<RotReceiver<MaliciousCotReceiver>, ProtocolError> {
    let (own, theirs) = meet::exchange(pair, state).await?;
    let mut ot = receiver(pair, plan).await?;
    let state = match state {
        Some(state) => state,
        None => {
            let evaluated = plan.config().circuits.evaluated();
            let keys = CloudKeys::transfer(pair, &mut ot, plan.circuits(), evaluated).await?;
            state.insert(CloudState::new(keys, plan.config(), [theirs, own]))
        }
    };
    meet::check(state, plan)?;
    Ok(ot)
}

impl<C: Conduct<Step>> Role<Mesh> for Cloud<C> {
    type Prepared = CloudPrepared;
    const NAME: &'static str = "cloud";

    fn security(&self) -> Security {
        self.plan.security()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<CloudPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let number = self.state.begin()?;
        let (plan, cloud) = (self.plan.clone(), self.plan.cloud());
        let told = told(&self.state, number);
        let mut encodings = Vec::with_capacity(plan.givers().len());
        for client in (1..cloud.0).map(Party) {
            let (mut pair, lent) = session.lend(client)?;
            let heard = hear_client(&mut pair, &told).await;
            session.give_back(pair, lent);
            encodings.push(heard.map_err(|error| with(client, error))?);
        }
        let (mut pair, lent) = session.lend(GENERATOR)?;
        let prepared = async {
            let own = Giving::prepare(&mut pair, &plan, cloud, &mut self.ot).await?;
            let mut of_clients = vec![Block::ZERO; encodings.len()];
            receive_blocks(&mut pair, &mut of_clients).await?;
            Ok((own, of_clients))
        };
        let prepared = prepared.await;
        session.give_back(pair, lent);
        let ((own, seed), of_clients) = prepared.map_err(|error| with(GENERATOR, error))?;
        if let Some(at) = (0..encodings.len()).find(|&at| encodings[at] != of_clients[at]) {
            let parties = [plan.givers()[at].party, GENERATOR];
            return Err(Refused::new(checks::CLIENTS_ENCODING, parties).into());
        }
        encodings.push(seed);
        Ok(CloudPrepared { number, encodings, own })
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: CloudPrepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        let (plan, cloud) = (self.plan.clone(), self.plan.cloud());
        let input = party_io::own_input(plan.program(), cloud, inputs)?;
        self.state.check()?;
        let read = self.state.read(&plan)?;
        let ids = meet::ids(&self.state, &plan, prepared.number);
        let (own, corrections) = prepared.own.give(&plan, ids.run, cloud, &input);
        let bytes = |peer: u16| match Party(peer) {
            GENERATOR => 0,
            client => Given::bytes(plan.giver(client), plan.circuits()),
        };
        let mut given = session.mesh().per_peer(|peer| Zeroizing::new(vec![0; bytes(peer)]));
        let messages =
            session.mesh().per_peer(|peer| if Party(peer) == GENERATOR { corrections.as_bytes() } else { &[] });
        let run = RunId::Prepared(prepared.number);
        RunExchanges::new(run).exchange(session.mesh(), &messages, &mut given).await?;
        let decode = |giver: &Giver| {
            let bytes = given.get(giver.party.0).map_or(&[][..], |given| given);
            Given::decode(bytes, giver, plan.circuits())
        };
        let mut given = plan.clients().iter().map(decode).collect::<Result<Vec<Given>, _>>()?;
        given.push(own);
        // Nothing that depends on the state has left this server until here: a client that is gone by now takes no state along.
        self.state.risk();
        let (mut pair, lent) = session.lend(GENERATOR)?;
        let computed = self.compute(&mut pair, &ids, prepared.encodings, given, read).await;
        session.give_back(pair, lent);
        let (majority, kept) = computed.map_err(|error| with(GENERATOR, error))?;
        // Sampled whether needed or not.
        let noise = random_bits(majority.value().len(), session);
        self.answer(session, &majority.value_or(&noise)).await?;
        let result = majority.settle(LastMessageSent::stated())?;
        let results = plan.results(cloud, &result);
        self.state.end(&plan, &results, kept);
        Ok(results)
    }
}

/// Receives the seed of a client's encoding, and announces the run to it.
async fn hear_client(pair: &mut Session, told: &[u8]) -> Result<Block, ProtocolError> {
    let mut seed = [Block::ZERO];
    receive_blocks(pair, &mut seed).await?;
    pair.channel().send_bytes(told).await?;
    pair.channel().flush().await?;
    Ok(seed[0])
}

impl<C: Conduct<Step>> Cloud<C> {
    /// The whole online exchange between the servers, and all checks. Returns the majority of the evaluated circuits, and the labels of kept outputs.
    async fn compute(
        &mut self,
        pair: &mut Session,
        ids: &Ids,
        encodings: Vec<Block>,
        given: Vec<Given>,
        read: Labels,
    ) -> Result<(Majority, Labels), ProtocolError> {
        let plan = self.plan.clone();
        let taken = self.take(pair, ids, &given, &read).await?;
        let mut challenge = [pair.rng().next_block()];
        self.conduct.touch(Step::Challenge, 0, bytemuck::cast_slice_mut(&mut challenge));
        send_blocks(pair, &challenge).await?;
        pair.channel().flush().await?;
        let hash = plan.universal_hash(challenge[0]);
        let value = receive_bits(pair, hash.rows()).await?;
        let hashes = ClientHashes::new(&plan, &ids.run, challenge[0]);
        let mut select_bits = Vec::with_capacity(plan.circuits());
        for _ in 0..plan.circuits() {
            select_bits.push(receive_bits(pair, plan.client_hash_bits()).await?);
        }
        let labels = ids.run.domain(GENERATOR, Step::HashLabels as u8);
        let shared = Shared::new(labels, plan.encoding(&encodings), InputHash::new(hash, value));
        let digests = digests(&ids.run);
        let keys = &self.state.keys;
        // Nobody can use the root of an evaluated circuit.
        let roots = Zeroizing::new((0..plan.circuits()).map(|circuit| keys.root(circuit)).collect());
        let buffers = Buffers::default();
        let examining = Arc::new(Examining {
            plan: plan.clone(),
            shared,
            ids: *ids,
            digests,
            hashes,
            select_bits,
            taken,
            read,
            roots,
            buffers,
        });
        let examined = circuits::receive(pair, &examining).await?;
        let remaking = examining.clone();
        let split = &self.state.keys.split;
        let remade = Divided::begin(pair.workers(), split.checked(), move |circuit| remaking.remake(circuit));
        let remade = remade.results().await?;
        let verified = verify(&plan, split, &examining.taken, &examined, &remade)?;
        let majority = votes(split, &examined, pair.rng(), verified).ok_or(ProtocolError::WorkerLost)?;
        Ok((majority, circuits::kept(split, examined, remade)))
    }

    /// Takes, for each circuit, the labels of all givers, both commitments to them, partial gates, and with the one key both branches, of
    /// which one decrypts correctly. The steps taken do not depend on which.
    async fn take(
        &mut self,
        pair: &mut Session,
        ids: &Ids,
        given: &[Given],
        read: &Labels,
    ) -> Result<Vec<Taken>, ProtocolError> {
        let plan = self.plan.clone();
        let mut pads: Vec<Pads> = given.iter().map(|given| Pads::of_keys(&given.ciphers)).collect();
        let (givers, garbler) = (plan.givers().len(), plan.blueprint().garbler_wires());
        let mut all = Vec::with_capacity(plan.circuits());
        for circuit in 0..plan.circuits() {
            let mut messages = Vec::with_capacity(givers);
            for giver in plan.givers() {
                let mut blocks = vec![Block::ZERO; oot::blocks(giver)];
                receive_blocks(pair, &mut blocks).await?;
                messages.push(blocks);
            }
            let mut gates = vec![0; circuits::partial_gates_bytes(&plan)];
            if !gates.is_empty() {
                pair.channel().receive_bytes(&mut gates).await?;
            }
            let mut evaluation = Zeroizing::new(vec![Block::ZERO; garbler + givers]);
            let mut orders = Zeroizing::new(vec![Block::ZERO; givers]);
            receive_blocks(pair, &mut evaluation).await?;
            receive_blocks(pair, &mut orders).await?;
            self.state.keys.decrypt(&ids.run, circuit, Branch::Evaluation, &mut evaluation);
            self.state.keys.decrypt(&ids.run, circuit, Branch::Checking, &mut orders);
            let (garbler, blinds) = evaluation.split_at(garbler);
            let mut taken = Taken {
                labels: Zeroizing::new(vec![Block::ZERO; plan.blueprint().evaluator_wires()]),
                garbler: Zeroizing::new(garbler.to_vec()),
                orders,
                opens: Vec::with_capacity(givers),
                keys_fit: Vec::with_capacity(givers),
                commitments: [0; 32],
                gates,
            };
            let mut hash = digests(&ids.run)[1].at(circuit as u64).hasher();
            for (at, (giver, message)) in plan.givers().iter().zip(&messages).enumerate() {
                let (labels, commitments) = message.split_at(2 * giver.wire_count());
                hash.add(bytemuck::cast_slice(commitments));
                let taking = Taking::new(blinds[at], &given[at].places[circuit]);
                let mut labels = pads[at].decrypt(labels, &taking.places, circuit);
                let opens = taking.take(&ids.run, giver, circuit, &mut labels, commitments);
                taken.opens.push(opens.into());
                let (of_order, of_blind) = given[at].digests[circuit].split_at(32);
                let is_key = |of, key, digest| oot::is_key(&ids.run, giver.party, of, circuit, key, digest).into();
                let order = taken.orders[at];
                taken.keys_fit.push([is_key(Step::Blind, blinds[at], of_blind), is_key(Step::Order, order, of_order)]);
                giver.wires().zip(labels.iter()).for_each(|(wire, &label)| taken.labels[wire] = label);
            }
            taken.commitments = hash.finish();
            let bits = plan.read_bits();
            let kept = read[circuit * bits..(circuit + 1) * bits].iter().map(|pair| pair[0]);
            let kept: Zeroizing<Vec<Block>> = Zeroizing::new(kept.collect());
            let labels = match taken.gates.is_empty() {
                true => kept,
                false => Zeroizing::new(gates::evaluate(&ids.run, circuit, &kept, &taken.gates)),
            };
            plan.read_wires().zip(labels.iter()).for_each(|(wire, &label)| taken.labels[wire] = label);
            all.push(taken);
        }
        Ok(all)
    }

    /// Hands every party its message.
    async fn answer(&mut self, session: &mut MeshSession, bits: &Bits) -> Result<(), ProtocolError> {
        let plan = self.plan.clone();
        let mut messages: Vec<Vec<u8>> = (0..plan.cloud().0)
            .map(|party| [vec![1; WORD_BYTES], plan.message(bits, Party(party)).to_bytes()].concat())
            .collect();
        for (party, message) in messages.iter_mut().enumerate() {
            self.conduct.touch(Step::Answer, party, message);
        }
        let messages = session.mesh().per_peer(|peer| messages[usize::from(peer)].clone());
        let send = async |_: u16, mut line: Line, message: Vec<u8>| {
            line.send_bytes(&message).await?;
            line.flush().await?;
            Ok::<_, NetError>(())
        };
        session.mesh().each(messages, send).await?;
        Ok(())
    }
}

/// The domains of the digests of circuits and of commitments.
fn digests(run: &SessionId) -> [garblet_protocol::domain::Domain; 2] {
    [Step::CircuitDigest, Step::CommitmentsDigest].map(|step| run.domain(GENERATOR, step as u8))
}

/// Checks everything, once everything has arrived.
///
/// Whether it fails depends on the split, which a failure ends, on the actions of the generator and clients, and on values of encoded wires, which
/// reveal nothing about inputs, see [`super::binding`].
fn verify(
    plan: &Plan,
    split: &Split,
    taken: &[Taken],
    examined: &[Examined],
    remade: &[Remade],
) -> Result<CircuitsVerified, ProtocolError> {
    for (circuit, taken) in taken.iter().enumerate() {
        let is_checked = split.is_checked(circuit);
        for (giver, keys_fit) in plan.givers().iter().zip(&taken.keys_fit) {
            if !keys_fit[usize::from(is_checked)] {
                return Err(blame(plan, giver, circuit, (checks::KEY_OF_CLOUD, checks::CLIENTS_KEY)));
            }
        }
    }
    for remade in remade {
        let digest = examined.iter().find(|of| of.circuit == remade.circuit).map(|of| of.digest);
        let fits = [
            (remade.commitments_fit, checks::ORDER_OF_SEED),
            (remade.hashes_fit, checks::HASH_OF_SEED),
            (remade.gates_fit, checks::PARTIAL_GATE),
            (digest == Some(remade.digest), checks::CIRCUIT_OF_SEED),
        ];
        if let Some((_, check)) = fits.into_iter().find(|(fits, _)| !fits) {
            return Err(Cheating::in_circuit(check, remade.circuit).into());
        }
    }
    let evaluated = |circuit: &usize| !split.is_checked(*circuit);
    for circuit in (0..plan.circuits()).filter(evaluated) {
        if let Some(at) = taken[circuit].opens.iter().position(|opens| !opens) {
            return Err(blame(plan, &plan.givers()[at], circuit, (checks::LABEL_OF_CLOUD, checks::CLIENTS_LABEL)));
        }
    }
    let examined: Vec<&Examined> = examined.iter().filter(|of| evaluated(&of.circuit)).collect();
    if let Some(of) = examined.iter().find(|of| !of.garbler_labels_fit) {
        return Err(Cheating::in_circuit(checks::GENERATOR_INPUT, of.circuit).into());
    }
    let mut start = 0;
    for client in plan.clients() {
        let mut hashes = examined.iter().map(move |of| of.client_hashes.slice(start, client.hash_rows()).to_bytes());
        start += client.hash_rows();
        let first = hashes.next();
        if !hashes.all(|hash| first.as_ref().is_some_and(|first| first[..].ct_eq(&hash).into())) {
            return Err(Refused::new(checks::CLIENTS_INPUT, [client.party, GENERATOR]).into());
        }
    }
    Ok(CircuitsVerified(()))
}

/// The error for a fault between a giver and the generator.
fn blame(plan: &Plan, giver: &Giver, circuit: usize, (own, clients): (Check, &'static str)) -> ProtocolError {
    match giver.party == plan.cloud() {
        true => Cheating::in_circuit(own, circuit).into(),
        false => Refused::new(clients, [giver.party, GENERATOR]).into(),
    }
}

/// The outputs that most evaluated circuits gave.
fn votes(split: &Split, examined: &[Examined], rng: &mut Prg, _verified: CircuitsVerified) -> Option<Majority> {
    let evaluated = examined.iter().filter(|of| !split.is_checked(of.circuit));
    Majority::of(evaluated.map(|of| Unverified::new(of.outputs.clone())), rng)
}
