//! A server: a party of the base's, which takes what clients deal and answers them.

use std::sync::Arc;

use garblet_authenticated::{Amounts, Participant, Prepared, Run, Side};
use garblet_circuit::{Bits, Party};
use garblet_client::{Server, Submission};
use garblet_net::{Line, Mesh, NetError};
use garblet_protocol::{
    MeshSession, Phase, Role, Security,
    checks::Refused,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
    session::Session,
    stock::{SavedValues, Stock},
};

use crate::{GENERATOR, Step, plan::Plan, settle::Submissions};

/// Bytes of an answer, without the output.
pub(crate) const ANSWER_BYTES: usize = 73;

/// One of the two servers.
pub struct ServerRole<S, K = Honest> {
    plan: Arc<Plan>,
    server: Server,
    run: Run<S, Honest>,
    /// Runs that were prepared.
    prepared: u64,
    /// The last counter of each client.
    counters: Vec<u64>,
    conduct: K,
}

impl<S: Side, K: Conduct<Step>> ServerRole<S, K> {
    /// Sets up with the other server. What is prepared comes from a store, if both have one.
    ///
    /// *Errors*: those of the base; a server that has a store where the other has none.
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
        let participant = join(&mut pair, &plan, server, stock).await;
        session.give_back(pair, lent);
        let participant = participant.map_err(|error| with(other, error))?;
        let run = Run::new(participant, plan.base().clone(), SavedValues::default(), top_up);
        let counters = vec![0; plan.clients().len()];
        Ok(ServerRole { plan, server, run, prepared: 0, counters, conduct })
    }

    /// Reads the messages of all clients.
    ///
    /// *Errors*: one that is for another job or was there before; [`ProtocolError::OtherRun`].
    async fn submissions(&mut self, session: &mut MeshSession, run: u64) -> Result<Vec<Submission>, ProtocolError> {
        let (plan, server) = (self.plan.clone(), self.server);
        let sizes: Vec<usize> = plan.clients().map(|(client, _)| submission_bytes(&plan, server, client)).collect();
        let room = |peer: u16| usize::from(peer).checked_sub(1).and_then(|at| sizes.get(at)).map_or(0, |&size| size);
        let mut messages = session.mesh().per_peer(|peer| zeroize::Zeroizing::new(vec![0; room(peer)]));
        let nothing = session.mesh().per_peer(|_| []);
        RunExchanges::new(RunId::Prepared(run)).exchange(session.mesh(), &nothing, &mut messages).await?;
        let mut all = Vec::with_capacity(plan.clients().len());
        for ((client, _), last) in plan.clients().zip(&mut self.counters) {
            let bytes = messages.get(client.0).map_or(&[][..], |message| message);
            let refused = |what| Refused { what, parties: [client; 2] };
            let submission = Submission::decode(bytes, plan.job(), client, server)
                .map_err(|_| refused("the client's message is not for this run"))?;
            let counter = submission.place().counter;
            if counter <= *last {
                return Err(refused("the client's message was there before").into());
            }
            *last = counter;
            all.push(submission);
        }
        Ok(all)
    }
}

/// Agrees with the other server on stores, and joins it.
async fn join<S: Side>(
    pair: &mut Session,
    plan: &Plan,
    server: Server,
    stock: Option<Stock<Amounts>>,
) -> Result<Participant<S, Honest>, ProtocolError> {
    let words = stock.as_ref().map(|stock| stock.top_up);
    plan.servers_hello(server, words).exchange(pair.channel()).await?;
    match stock {
        Some(stock) => Participant::meet(pair, plan.config(), (stock.store, &stock.peer), Honest).await,
        None => Participant::setup(pair, plan.config(), Honest).await,
    }
}

/// Step S6: answers all clients.
async fn answer<K: Conduct<Step>>(
    session: &mut MeshSession,
    submissions: &mut Submissions<'_, K>,
    outputs: &Bits,
) -> Result<(), ProtocolError> {
    let answers = submissions.answers(outputs);
    let answers = session.mesh().per_peer(|peer| usize::from(peer).checked_sub(1).and_then(|at| answers.get(at)));
    let tell = async |_: u16, mut line: Line, answer: Option<&Vec<u8>>| {
        if let Some(answer) = answer {
            line.send_bytes(answer).await?;
            line.flush().await?;
        }
        Ok::<_, NetError>(())
    };
    session.mesh().each(answers, tell).await?;
    Ok(())
}

/// Bytes of a client's message to a server.
pub(crate) fn submission_bytes(plan: &Plan, server: Server, client: Party) -> usize {
    let share: usize = plan.job().inputs_of(client).map(|port| port.width() as usize).sum();
    let in_message = if server == Server::Cloud { share.div_ceil(8) } else { 0 };
    104 + plan.hash_bits() / 8 + in_message
}

/// An error of the other server's.
pub(crate) fn with(other: Party, error: ProtocolError) -> ProtocolError {
    match error {
        // Names its parties itself.
        ProtocolError::Refused(refused) => refused.into(),
        error => ProtocolError::Peer { party: other, source: Box::new(error) },
    }
}

impl<S: Side, K: Conduct<Step>> Role<Mesh> for ServerRole<S, K> {
    /// The number of the run, and the base's.
    type Prepared = (u64, Prepared<S::Built>);

    const NAME: &'static str = if S::PARTY.0 == GENERATOR.0 { "generator" } else { "cloud" };

    fn security(&self) -> Security {
        self.plan.security(self.run.security())
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Self::Prepared, ProtocolError> {
        let other = self.plan.party(self.server.other());
        let (mut pair, lent) = session.lend(other)?;
        let prepared = Role::<garblet_net::Channel>::prepare(&mut self.run, &mut pair).await;
        session.give_back(pair, lent);
        let prepared = prepared.map_err(|error| with(other, error))?;
        self.prepared += 1;
        Ok((self.prepared - 1, prepared))
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        (number, prepared): Self::Prepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        party_io::own_input(self.plan.program(), self.plan.party(self.server), inputs)?;
        let all = self.submissions(session, number).await?;
        let mut submissions = Submissions::new(self.plan.clone(), self.server, all, &mut self.conduct);
        let other = self.plan.party(self.server.other());
        let (mut pair, lent) = session.lend(other)?;
        let run: &mut Session = &mut pair;
        let computed = self.run.online_for_others(run, prepared, inputs, &mut submissions).await;
        session.give_back(pair, lent);
        let (outputs, for_clients) = computed.map_err(|error| with(other, error))?;
        answer(session, &mut submissions, &for_clients).await?;
        Ok(outputs)
    }
}
