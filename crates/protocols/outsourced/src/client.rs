//! A client: it deals to both servers, and opens their answers.

use std::sync::Arc;

use garblet_authenticated as base;
use garblet_circuit::{Bits, Party, Recipients};
use garblet_client::{Job, JobError, Rejected, Server, deal};
use garblet_net::{Line, Mesh, NetError};
use garblet_protocol::{
    MeshSession, Phase, Role, Security, checks,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
};

use zeroize::Zeroizing;

use crate::{
    Step,
    plan::{BasePlan, Plan},
    receipts::Receipts,
    server::{ANSWER_BYTES, SESSION_BYTES, STANDING_BYTES},
    state::Standing,
};

/// A client of two servers.
pub struct Client<K = Honest, B = base::Plan> {
    plan: Arc<Plan<B>>,
    party: Party,
    /// The number of prepared runs.
    prepared: u64,
    /// The number of the last submission.
    counter: u64,
    receipts: Option<Receipts>,
    /// The error from a receipt that could not be stored.
    unsaved: Option<ProtocolError>,
    conduct: K,
}

/// A client's preparation of one run: the servers' messages to it.
pub struct Told {
    number: u64,
    job: Job,
}

impl<K: Conduct<Step>, B: BasePlan> Role<Mesh> for Client<K, B> {
    type Prepared = Told;

    const NAME: &'static str = "client";

    fn security(&self) -> Security {
        self.plan.stated()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Told, ProtocolError> {
        session.enter(Phase::Build);
        let plan = self.plan.clone();
        let bytes = SESSION_BYTES + STANDING_BYTES * plan.states().len();
        let (name, standings) = told(&hear(session, &plan, bytes).await?).map_err(|what| self.rejected(what))?;
        for (state, told) in plan.states().iter().zip(&standings) {
            if let Some(receipts) = &mut self.receipts {
                // Both servers say so, so an honest one does, whatever the outcome of the run.
                receipts.hear(state, *told)?;
            }
        }
        let job = plan.job(&standings, &name)?;
        self.prepared += 1;
        Ok(Told { number: self.prepared - 1, job })
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        Told { number, job }: Told,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        let plan = self.plan.clone();
        let input = party_io::own_input(plan.program(), self.party, inputs)?;
        let receipt = match (&self.receipts, job.state()) {
            (Some(receipts), Some((state, _))) => Some(receipts.of(state)?),
            _ => None,
        };
        self.counter = match &mut self.receipts {
            Some(receipts) => receipts.next_counter()?,
            None => self.counter + 1,
        };
        let random = session.parts().1;
        let (to_generator, to_cloud, mut pending) =
            deal(&job, self.party, self.counter, &input, random).map_err(unfit)?;
        if let Some(receipt) = receipt {
            // The earlier messages were checked against the receipt; so are the answers.
            pending = pending.after(receipt).map_err(|_| self.rejected(BEHIND))?;
        }
        let mut payloads = [to_generator, to_cloud].map(|message| Zeroizing::new(message.payload().to_vec()));
        for (index, payload) in payloads.iter_mut().enumerate() {
            self.conduct.touch(Step::Submission, index, payload);
        }
        let messages = session.mesh().per_peer(|peer| match plan.server(Party(peer)) {
            Some(Server::Generator) => &payloads[0][..],
            Some(Server::Cloud) => &payloads[1][..],
            None => &[],
        });
        let mut nothing = session.mesh().per_peer(|_| []);
        // No other client's message or silence keeps this one from the answers: its deal is accepted.
        let others = plan.clients().map(|(client, _)| client.0);
        let mut exchanges = RunExchanges::new(RunId::Prepared(number)).without(others);
        exchanges.exchange(session.mesh(), &messages, &mut nothing).await?;
        let bytes = ANSWER_BYTES + output_bits(&plan, self.party).div_ceil(8);
        let [of_generator, of_cloud] = hear(session, &plan, bytes).await?;
        let opened = pending.open(&of_generator, &of_cloud).map_err(|rejected| self.rejected(words(&rejected)))?;
        if let (Some(receipts), Some(_)) = (&mut self.receipts, job.state()) {
            // The client gets its output even if the receipt cannot be stored.
            self.unsaved = receipts.keep(opened.receipt()).err();
        }
        let values = job.split_outputs(self.party, &opened.output).map_err(unfit)?;
        let mut values = values.into_iter().map(|(_, value)| value);
        let recipients = plan.program().outputs().iter().map(|output| &output.recipients);
        Ok(recipients.map(|to: &Recipients| if to.contains(self.party) { values.next() } else { None }).collect())
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        self.unsaved.take()
    }
}

impl<K: Conduct<Step>, B: BasePlan> Client<K, B> {
    /// The client with this number, perhaps with receipts of earlier runs.
    pub fn new(plan: Arc<Plan<B>>, party: Party, receipts: Option<Receipts>, conduct: K) -> Self {
        Client { plan, party, prepared: 0, counter: 0, receipts, unsaved: None, conduct }
    }

    fn rejected(&self, what: &'static str) -> ProtocolError {
        checks::Rejected { what, parties: Server::BOTH.map(|server| self.plan.party(server)) }.into()
    }
}

/// Receives `bytes` bytes from each server.
///
/// *Errors*: the connections'.
async fn hear<B: BasePlan>(
    session: &mut MeshSession,
    plan: &Plan<B>,
    bytes: usize,
) -> Result<[Vec<u8>; 2], ProtocolError> {
    let is_server = |peer| plan.server(Party(peer)).is_some();
    let sizes = session.mesh().per_peer(|peer| if is_server(peer) { bytes } else { 0 });
    let hear = async |_: u16, mut line: Line, bytes: usize| {
        let mut heard = vec![0; bytes];
        line.receive_bytes(&mut heard).await?;
        Ok::<_, NetError>(heard)
    };
    let heard = session.mesh().each(sizes, hear).await?;
    Ok(Server::BOTH.map(|server| heard.get(plan.party(server).0).cloned().unwrap_or_default()))
}

/// The refusal by a client that has seen a later state.
const BEHIND: &str = "the servers are behind what this client has seen";

/// The session and the states, on which both servers must agree.
fn told([of_generator, of_cloud]: &[Vec<u8>; 2]) -> Result<([u8; SESSION_BYTES], Vec<Standing>), &'static str> {
    if of_generator != of_cloud {
        return Err("the servers reported different sessions or states");
    }
    let (name, rest) = of_generator.split_first_chunk().unwrap_or((&[0; SESSION_BYTES], &[]));
    let standing = |bytes: &[u8; STANDING_BYTES]| {
        let (version, chain) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
        Standing { version: u64::from_le_bytes(*version), chain: *chain.first_chunk().unwrap_or(&[0; 32]) }
    };
    Ok((*name, rest.as_chunks::<STANDING_BYTES>().0.iter().map(standing).collect()))
}

fn words(rejected: &Rejected) -> &'static str {
    match rejected {
        Rejected::Differ { .. } => "the servers gave different answers",
        Rejected::Stale(_) => BEHIND,
        _ => "the servers gave no answer that can be opened",
    }
}

/// The error for values that do not fit the job.
fn unfit(error: JobError) -> ProtocolError {
    let (what, expected) = ("input".into(), "values of all ports of this party".into());
    ProtocolError::Input { what, expected, got: error.to_string() }
}

/// The number of output bits of a client.
pub(crate) fn output_bits<B: BasePlan>(plan: &Plan<B>, client: Party) -> usize {
    plan.outline().outputs_of(client).map(|port| port.width() as usize).sum()
}
