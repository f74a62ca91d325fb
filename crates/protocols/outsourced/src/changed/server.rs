//! A server over a base that runs a changed program.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_client::{Job, Server};
use garblet_net::Mesh;
use garblet_protocol::{
    MeshSession, Phase, Role, Security,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
    session::Session,
};

use super::{
    Seat,
    program::{Sizes, taken_apart},
};
use crate::{
    Step,
    plan::Plan,
    server::{NONCE_BYTES, SESSION_BYTES, send_to_clients, session_name, submissions, tell_clients, with},
    settle::Submissions,
    state,
};

/// One of the two servers, in its role of the base.
pub struct ChangedServer<R: Seat, K = Honest> {
    plan: Arc<Plan<R::Plan>>,
    role: R,
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
pub struct PreparedRun<P> {
    number: u64,
    job: Job,
    of_base: P,
}

impl<R: Seat, K: Conduct<Step>> ChangedServer<R, K> {
    /// Sets up with the other server.
    ///
    /// *Errors*: those of the base.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan<R::Plan>>,
        conduct: K,
    ) -> Result<Self, ProtocolError> {
        let other = plan.party(R::SERVER.other());
        let (mut pair, lent) = session.lend(other)?;
        let joined = join(&mut pair, &plan).await;
        session.give_back(pair, lent);
        let (role, name) = joined.map_err(|error| with(other, error))?;
        let counters = vec![0; plan.clients().len()];
        Ok(ChangedServer { plan, role, session: name, prepared: 0, counters, unsent: None, conduct })
    }
}

/// Meets the other server, and sets up the role in the base.
async fn join<R: Seat>(pair: &mut Session, plan: &Plan<R::Plan>) -> Result<(R, [u8; SESSION_BYTES]), ProtocolError> {
    plan.servers_hello(R::SERVER, None).exchange(pair.channel()).await?;
    let mut own = [0; NONCE_BYTES];
    pair.rng().fill_bytes(&mut own);
    let theirs = state::meet(pair, None, plan.states(), own).await?;
    let role = R::set_up(pair, plan.base().clone()).await?;
    Ok((role, session_name(R::SERVER, own, theirs)))
}

impl<R: Seat, K: Conduct<Step>> Role<Mesh> for ChangedServer<R, K> {
    type Prepared = PreparedRun<R::Prepared>;

    const NAME: &'static str = match R::SERVER {
        Server::Generator => "generator",
        Server::Cloud => "cloud",
    };

    fn security(&self) -> Security {
        self.plan.security(self.role.security())
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Self::Prepared, ProtocolError> {
        let job = self.plan.job(&[], &self.session)?;
        let other = self.plan.party(R::SERVER.other());
        let (mut pair, lent) = session.lend(other)?;
        let prepared = self.role.prepare(&mut pair).await;
        session.give_back(pair, lent);
        let of_base = prepared.map_err(|error| with(other, error))?;
        session.enter(Phase::Build);
        tell_clients(session, &self.plan, (&self.session, &[]), &mut self.conduct).await?;
        self.prepared += 1;
        Ok(PreparedRun { number: self.prepared - 1, job, of_base })
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        PreparedRun { number, job, of_base }: Self::Prepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        let plan = self.plan.clone();
        let own = plan.party(R::SERVER);
        party_io::own_input(plan.program(), own, inputs)?;
        let all = submissions(session, (&plan, R::SERVER), &job, number, &mut self.counters).await?;
        let mut submissions = Submissions::new((plan.clone(), &job), R::SERVER, Vec::new(), all, &mut self.conduct);
        let dealt = Sizes::of(plan.clients().map(|(_, dealt)| dealt)).values(submissions.dealt());
        let values: Vec<Bits> = inputs.iter().cloned().chain(dealt).collect();
        let other = plan.party(R::SERVER.other());
        let (mut pair, lent) = session.lend(other)?;
        let computed = self.role.compute(&mut pair, of_base, &values, &mut submissions).await;
        session.give_back(pair, lent);
        let outputs = computed.map_err(|error| with(other, error))?;
        let (outputs, for_clients) = taken_apart(plan.program(), plan.cloud(), own, outputs);
        self.unsent = send_to_clients(session, &submissions.answers(&for_clients)).await.err();
        Ok(outputs)
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        self.unsent.take()
    }
}
