//! A client: the receiver in OTs with the generator, which hands its pads to the cloud.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_net::Mesh;
use garblet_ot::{BitVec, MaliciousCotReceiver, RotReceiver};
use garblet_primitives::Block;
use garblet_protocol::{
    MeshSession, Phase, Role, Security,
    bulk::{receive_bits, send_blocks},
    checks::Rejected,
    conduct::{Conduct, Honest},
    domain::SessionId,
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
    session::Session,
};
use garblet_seeded::encoding::Encoding;
use zeroize::Zeroizing;

use super::{
    Step, checks,
    config::SIGMA,
    meet::{self, TOLD_BYTES},
    oot::{Given, Keys},
    plan::Plan,
};
use crate::{GENERATOR, server::with, settle::hear_word};

/// A client of two servers.
pub struct Client<C = Honest> {
    plan: Arc<Plan>,
    party: Party,
    ot: RotReceiver<MaliciousCotReceiver>,
    conduct: C,
}

/// A client's preparation of one run, which consumes it.
pub struct ClientPrepared {
    number: u64,
    run: SessionId,
    giving: Giving,
}

/// A giver's OTs of one run. *Secret*.
pub(crate) struct Giving {
    random: BitVec,
    pads: Zeroizing<Vec<Block>>,
    encoding: Encoding,
    secret: Zeroizing<Block>,
}

impl Giving {
    /// Makes random OTs with the generator, and sends it fresh seeds. Also returns the seed of the encoding.
    pub(crate) async fn prepare(
        pair: &mut Session,
        plan: &Plan,
        party: Party,
        ot: &mut RotReceiver<MaliciousCotReceiver>,
    ) -> Result<(Giving, Block), ProtocolError> {
        let giver = plan.giver(party);
        let (random, pads) = ot.extend(pair.channel(), giver.wire_count()).await?;
        let [seed, secret] = meet::seeds(pair);
        send_blocks(pair, &[seed, secret]).await?;
        pair.channel().flush().await?;
        Ok((Giving { random, pads, encoding: giver.encoding(seed), secret: Zeroizing::new(secret) }, seed))
    }

    /// The message to the cloud for an input, and the corrections for the generator.
    pub(crate) fn give(&self, plan: &Plan, run: SessionId, party: Party, input: &Bits) -> (Given, BitVec) {
        let (choices, corrections) = self.encoding.choose(input, &self.random);
        let keys = Keys::new(run, party, *self.secret);
        (Given::new(&keys, plan.circuits(), &choices, &self.pads), corrections)
    }
}

/// Sets up as receiver of OTs with the generator.
pub(crate) async fn receiver(
    pair: &mut Session,
    plan: &Plan,
) -> Result<RotReceiver<MaliciousCotReceiver>, ProtocolError> {
    let (channel, rng) = pair.parts();
    Ok(RotReceiver::new(MaliciousCotReceiver::setup(channel, rng, plan.config().ot_width, SIGMA).await?))
}

impl<C: Conduct<Step>> Client<C> {
    /// Sets up with the generator.
    ///
    /// *Errors*: cheating in OTs; the connection's.
    pub async fn set_up(session: &mut MeshSession, plan: Arc<Plan>, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let party = Party(session.mesh().party());
        let (mut pair, lent) = session.lend(GENERATOR)?;
        let ot = receiver(&mut pair, &plan).await;
        session.give_back(pair, lent);
        let ot = ot.map_err(|error| with(GENERATOR, error))?;
        Ok(Client { plan, party, ot, conduct })
    }
}

impl<C: Conduct<Step>> Role<Mesh> for Client<C> {
    type Prepared = ClientPrepared;
    const NAME: &'static str = "client";

    fn security(&self) -> Security {
        self.plan.security()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<ClientPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let plan = self.plan.clone();
        let cloud = plan.cloud();
        let (mut pair, lent) = session.lend(GENERATOR)?;
        let prepared = Giving::prepare(&mut pair, &plan, self.party, &mut self.ot).await;
        let prepared = match prepared {
            Ok(prepared) => hear(&mut pair).await.map(|told| (prepared, told)),
            Err(error) => Err(error),
        };
        session.give_back(pair, lent);
        let ((giving, mut seed), told) = prepared.map_err(|error| with(GENERATOR, error))?;
        self.conduct.touch(Step::EncodingSeed, 0, bytemuck::bytes_of_mut(&mut seed));
        let (mut pair, lent) = session.lend(cloud)?;
        let of_cloud = async {
            send_blocks(&mut pair, &[seed]).await?;
            pair.channel().flush().await?;
            hear(&mut pair).await
        };
        let of_cloud = of_cloud.await;
        session.give_back(pair, lent);
        if of_cloud.map_err(|error| with(cloud, error))? != told {
            let what = "the servers reported different states or runs";
            return Err(Rejected { what, parties: [GENERATOR, cloud] }.into());
        }
        let number = told.last_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        Ok(ClientPrepared { number, run: meet::run(&told, &plan), giving })
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: ClientPrepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        let plan = self.plan.clone();
        let cloud = plan.cloud();
        let mut input = party_io::own_input(plan.program(), self.party, inputs)?;
        let key = plan.authenticator(self.party).map(|authenticator| authenticator.key(session.rng()));
        if let Some(key) = &key {
            input.append(&key.inputs());
        }
        let (mut given, corrections) = prepared.giving.give(&plan, prepared.run, self.party, &input);
        self.deviate(&mut given);
        let given = given.encode();
        let messages = session.mesh().per_peer(|peer| match Party(peer) {
            GENERATOR => corrections.as_bytes(),
            party if party == cloud => &given[..],
            _ => &[],
        });
        let mut nothing = session.mesh().per_peer(|_| []);
        let run = RunId::Prepared(prepared.number);
        // No other client's message or silence keeps this one from the answer: its input is accepted.
        let mut exchanges = RunExchanges::new(run).without(1..cloud.0);
        exchanges.exchange(session.mesh(), &messages, &mut nothing).await?;
        let (mut pair, lent) = session.lend(cloud)?;
        let heard = answer(&mut pair, &plan, self.party).await;
        session.give_back(pair, lent);
        let message = heard.map_err(|error| with(cloud, error))?;
        let output = match (plan.authenticator(self.party), key) {
            (Some(authenticator), Some(key)) => {
                let rejected = Rejected { what: checks::CLIENTS_TAG, parties: [GENERATOR, cloud] };
                authenticator.verify(&key, &message).ok_or(rejected)?
            }
            _ => Bits::default(),
        };
        Ok(plan.results(self.party, &output))
    }
}

impl<C: Conduct<Step>> Client<C> {
    fn deviate(&mut self, given: &mut Given) {
        self.conduct.touch(Step::Ciphers, 0, bytemuck::cast_slice_mut(&mut given.ciphers));
        for (circuit, (places, digests)) in given.places.iter_mut().zip(&mut given.digests).enumerate() {
            let mut bytes = places.as_bytes().to_vec();
            self.conduct.touch(Step::MaskedPlaces, circuit, &mut bytes);
            if let Ok(touched) = BitVec::from_bytes(bytes, places.len()) {
                *places = touched;
            }
            self.conduct.touch(Step::KeyDigests, circuit, digests);
        }
    }
}

/// Receives the announcement of a run.
async fn hear(pair: &mut Session) -> Result<[u8; TOLD_BYTES], ProtocolError> {
    let mut told = [0; TOLD_BYTES];
    pair.channel().receive_bytes(&mut told).await?;
    Ok(told)
}

/// The cloud's message.
async fn answer(pair: &mut Session, plan: &Plan, party: Party) -> Result<Bits, ProtocolError> {
    hear_word(pair.channel()).await?;
    receive_bits(pair, plan.message_bits(party)).await
}
