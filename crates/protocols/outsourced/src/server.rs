//! A server: a party of the base, which accepts clients' deals and answers them.

use std::sync::Arc;

use garblet_authenticated::{Amounts, Participant, Prepared, Run, Side};
use garblet_circuit::{Bits, Party};
use garblet_client::{Job, Server, Submission};
use garblet_net::{Line, Mesh, NetError};
use garblet_protocol::{
    MeshSession, Phase, Role, Security,
    checks::Refused,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
    session::Session,
    stock::Stock,
};

use crate::{
    GENERATOR, Step,
    plan::{BasePlan, Plan},
    settle::Submissions,
    state::{self, Limits, Standing},
};

/// Bytes of an answer, without the output.
pub(crate) const ANSWER_BYTES: usize = 73;

/// Bytes of each server's nonce, which distinguish this session from all others.
pub(crate) const NONCE_BYTES: usize = 16;
/// Bytes of the name of a session, as sent to clients.
pub(crate) const SESSION_BYTES: usize = 32;
/// Bytes that clients receive about a state: version and chain.
pub(crate) const STANDING_BYTES: usize = 8 + 32;

/// Separates names of sessions from all other uses of BLAKE3.
const SESSION_CONTEXT: &str = "garblet 2026 outsourced session v1";

/// One of the two servers.
pub struct ServerRole<S, K = Honest> {
    plan: Arc<Plan>,
    server: Server,
    /// The limits of every state.
    limits: Limits,
    run: Run<S, Honest>,
    /// The name of the session, which jobs include.
    session: [u8; SESSION_BYTES],
    /// The number of prepared runs.
    prepared: u64,
    /// The last counter of each client.
    counters: Vec<u64>,
    /// The error of an answer that did not reach its client.
    unsent: Option<ProtocolError>,
    conduct: K,
}

/// A server's preparation of one run, which consumes it.
pub struct PreparedRun<S: Side> {
    number: u64,
    job: Job,
    standings: Vec<Standing>,
    of_base: Prepared<S::Built>,
}

impl<S: Side, K: Conduct<Step>> ServerRole<S, K> {
    /// Sets up with the other server. Prepared material comes from the stores, if both have one, and so do states, on which they agree.
    ///
    /// *Errors*: those of the base; a store at one server only; states that cannot be used.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        server: Server,
        stock: Option<Stock<Amounts>>,
        conduct: K,
    ) -> Result<Self, ProtocolError> {
        session.set_scratch(std::env::temp_dir());
        let other = plan.party(server.other());
        let (mut pair, lent) = session.lend(other)?;
        let top_up = stock.as_ref().is_some_and(|stock| stock.top_up);
        let retries = stock.as_ref().and_then(|stock| stock.retries);
        let limits = retries.map_or(Limits::default(), |retries| Limits { retries, ..Limits::default() });
        let participant = join(&mut pair, &plan, server, stock).await;
        session.give_back(pair, lent);
        let (participant, name) = participant.map_err(|error| with(other, error))?;
        let run = Run::new(participant, plan.base().clone(), top_up);
        let counters = vec![0; plan.clients().len()];
        Ok(ServerRole { plan, server, limits, run, session: name, prepared: 0, counters, unsent: None, conduct })
    }

    /// The current states of the plan.
    ///
    /// *Errors*: a state that cannot be used; states without a store.
    fn standings(&mut self) -> Result<Vec<Standing>, ProtocolError> {
        let Some(store) = self.run.store() else {
            return if self.plan.states().is_empty() { Ok(Vec::new()) } else { Err(no_store()) };
        };
        self.plan.states().iter().map(|name| state::standing(store, name, self.limits)).collect()
    }
}

/// Reads the messages of all clients to a server, whose last counters are `counters`.
///
/// *Errors*: a message for another job or used before; [`ProtocolError::OtherRun`].
pub(crate) async fn submissions<B: BasePlan>(
    session: &mut MeshSession,
    (plan, server): (&Plan<B>, Server),
    job: &Job,
    run: u64,
    counters: &mut [u64],
) -> Result<Vec<Submission>, ProtocolError> {
    let sizes: Vec<usize> = plan.clients().map(|(client, _)| submission_bytes(plan, server, client)).collect();
    let room = |peer: u16| usize::from(peer).checked_sub(1).and_then(|at| sizes.get(at)).map_or(0, |&size| size);
    let mut messages = session.mesh().per_peer(|peer| zeroize::Zeroizing::new(vec![0; room(peer)]));
    let nothing = session.mesh().per_peer(|_| []);
    RunExchanges::new(RunId::Prepared(run)).exchange(session.mesh(), &nothing, &mut messages).await?;
    let mut all = Vec::with_capacity(plan.clients().len());
    for ((client, _), last) in plan.clients().zip(counters) {
        let bytes = messages.get(client.0).map_or(&[][..], |message| message);
        let refused = |what| Refused::new(what, [client; 2]);
        let submission = Submission::decode(bytes, job, client, server)
            .map_err(|_| refused("the client's message is not for this run"))?;
        let counter = submission.place().counter;
        if counter <= *last {
            return Err(refused("the client's message was used before").into());
        }
        *last = counter;
        all.push(submission);
    }
    Ok(all)
}

/// Agrees with the other server on stores, joins it, and agrees on states. Also returns the name of the session.
async fn join<S: Side>(
    pair: &mut Session,
    plan: &Plan,
    server: Server,
    stock: Option<Stock<Amounts>>,
) -> Result<(Participant<S, Honest>, [u8; SESSION_BYTES]), ProtocolError> {
    let words = stock.as_ref().map(|stock| stock.top_up);
    if words.is_none() && !plan.states().is_empty() {
        return Err(no_store());
    }
    plan.servers_hello(server, words).exchange(pair.channel()).await?;
    let mut participant = match stock {
        Some(stock) => Participant::meet(pair, plan.base().config(), (stock.store, &stock.peer), Honest).await?,
        None => Participant::setup(pair, plan.base().config(), Honest).await?,
    };
    let mut own = [0; NONCE_BYTES];
    pair.rng().fill_bytes(&mut own);
    let theirs = state::meet(pair, participant.store(), plan.states(), own).await?;
    Ok((participant, session_name(server, own, theirs)))
}

/// The name of a session, from the nonces of both servers.
pub(crate) fn session_name(server: Server, own: [u8; NONCE_BYTES], theirs: [u8; NONCE_BYTES]) -> [u8; SESSION_BYTES] {
    let nonces = if server == Server::Generator { [own, theirs] } else { [theirs, own] };
    blake3::derive_key(SESSION_CONTEXT, &nonces.concat())
}

/// The error for states without a store.
fn no_store() -> ProtocolError {
    let (what, expected) = ("states".into(), "a store to keep them in".into());
    ProtocolError::Input { what, expected, got: "none".into() }
}

/// Sends all clients the part of a run's job that is not in its terms: the session and the current states.
pub(crate) async fn tell_clients<K: Conduct<Step>, B: BasePlan>(
    session: &mut MeshSession,
    plan: &Plan<B>,
    (name, standings): (&[u8; SESSION_BYTES], &[Standing]),
    conduct: &mut K,
) -> Result<(), ProtocolError> {
    let mut told = name.to_vec();
    for Standing { version, chain } in standings {
        told.extend_from_slice(&version.to_le_bytes());
        told.extend_from_slice(chain);
    }
    let mut messages = vec![told; plan.clients().len()];
    messages.iter_mut().enumerate().for_each(|(client, told)| conduct.touch(Step::Standings, client, told));
    send_to_clients(session, &messages).await
}

/// Sends each client its message, in the order of their numbers.
pub(crate) async fn send_to_clients(session: &mut MeshSession, messages: &[Vec<u8>]) -> Result<(), ProtocolError> {
    let messages = session.mesh().per_peer(|peer| usize::from(peer).checked_sub(1).and_then(|at| messages.get(at)));
    let send = async |_: u16, mut line: Line, message: Option<&Vec<u8>>| {
        if let Some(message) = message {
            line.send_bytes(message).await?;
            line.flush().await?;
        }
        Ok::<_, NetError>(())
    };
    session.mesh().each(messages, send).await?;
    Ok(())
}

/// Bytes of a client's message to a server.
pub(crate) fn submission_bytes<B: BasePlan>(plan: &Plan<B>, server: Server, client: Party) -> usize {
    let share: usize = plan.outline().inputs_of(client).map(|port| port.width() as usize).sum();
    let in_message = if server == Server::Cloud { share.div_ceil(8) } else { 0 };
    104 + plan.hash_bits() / 8 + in_message
}

/// An error from the work with the other server.
pub(crate) fn with(other: Party, error: ProtocolError) -> ProtocolError {
    match error {
        // These name their parties themselves, or concern this server's own store.
        ProtocolError::Refused(_)
        | ProtocolError::State { .. }
        | ProtocolError::NotPrepared(_)
        | ProtocolError::Input { .. } => error,
        ProtocolError::Store(own) if !own.is_misbehaviour() => own.into(),
        error => ProtocolError::Peer { party: other, source: Box::new(error) },
    }
}

impl<S: Side, K: Conduct<Step>> Role<Mesh> for ServerRole<S, K> {
    type Prepared = PreparedRun<S>;

    const NAME: &'static str = if S::PARTY.0 == GENERATOR.0 { "generator" } else { "cloud" };

    fn security(&self) -> Security {
        self.plan.security(self.run.security())
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<PreparedRun<S>, ProtocolError> {
        let standings = self.standings()?;
        let job = self.plan.job(&standings, &self.session)?;
        self.run.read_for_others(self.plan.reads(&standings)?)?;
        let other = self.plan.party(self.server.other());
        let (mut pair, lent) = session.lend(other)?;
        let prepared = Role::<garblet_net::Channel>::prepare(&mut self.run, &mut pair).await;
        session.give_back(pair, lent);
        let of_base = prepared.map_err(|error| with(other, error))?;
        session.enter(Phase::Build);
        tell_clients(session, &self.plan, (&self.session, &standings), &mut self.conduct).await?;
        self.prepared += 1;
        Ok(PreparedRun { number: self.prepared - 1, job, standings, of_base })
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: PreparedRun<S>,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        party_io::own_input(self.plan.program(), self.plan.party(self.server), inputs)?;
        let PreparedRun { number, job, standings, of_base } = prepared;
        if let Some(store) = self.run.store() {
            // Another run, prepared for the same version, may already have made the next one.
            let mut states = self.plan.states().iter().zip(&standings);
            states.try_for_each(|(name, prepared)| state::check(store, name, self.limits, *prepared))?;
        }
        let to_this = (&*self.plan, self.server);
        let all = submissions(session, to_this, &job, number, &mut self.counters).await?;
        let plan = (self.plan.clone(), &job);
        let mut submissions = Submissions::new(plan, self.server, standings, all, &mut self.conduct);
        let other = self.plan.party(self.server.other());
        let (mut pair, lent) = session.lend(other)?;
        let computed = compute(&mut self.run, &mut pair, of_base, inputs, &mut submissions).await;
        session.give_back(pair, lent);
        let (outputs, for_clients) = computed.map_err(|error| with(other, error))?;
        // Step S6. A client that does not collect its answer cannot withhold this server's outputs from anyone.
        self.unsent = send_to_clients(session, &submissions.answers(&for_clients)).await.err();
        Ok(outputs)
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        self.unsent.take()
    }
}

/// Steps S1 to S5, then ends the run for the states.
pub(crate) async fn compute<S: Side, K: Conduct<Step>>(
    run: &mut Run<S, Honest>,
    pair: &mut Session,
    prepared: Prepared<S::Built>,
    inputs: &[Bits],
    submissions: &mut Submissions<'_, K>,
) -> Result<(Vec<Option<Bits>>, Bits), ProtocolError> {
    let computed = run.online_for_others(pair, prepared, inputs, submissions).await?;
    submissions.end(pair, run.store()).await?;
    Ok(computed)
}
