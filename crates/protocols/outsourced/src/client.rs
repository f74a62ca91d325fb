//! A client: it deals to both servers, and opens what they answer.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Recipients};
use garblet_client::{JobError, Rejected, Server, deal};
use garblet_net::{Line, Mesh, NetError};
use garblet_protocol::{
    MeshSession, Phase, Role, Security, checks,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
    run_id::{RunExchanges, RunId},
};

use zeroize::Zeroizing;

use crate::{Step, plan::Plan, server::ANSWER_BYTES};

/// A client of two servers.
pub struct Client<K = Honest> {
    plan: Arc<Plan>,
    party: Party,
    /// Runs that were prepared.
    prepared: u64,
    /// The number of the last submission.
    counter: u64,
    conduct: K,
}

impl<K: Conduct<Step>> Role<Mesh> for Client<K> {
    /// The number of the run.
    type Prepared = u64;

    const NAME: &'static str = "client";

    fn security(&self) -> Security {
        self.plan.stated()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<u64, ProtocolError> {
        session.enter(Phase::Prepare);
        self.prepared += 1;
        Ok(self.prepared - 1)
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        run: u64,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        session.enter(Phase::Online);
        let (job, plan) = (self.plan.job(), &self.plan);
        let input = party_io::own_input(plan.program(), self.party, inputs)?;
        self.counter += 1;
        let random = session.parts().1;
        let (to_generator, to_cloud, pending) = deal(job, self.party, self.counter, &input, random).map_err(unfit)?;
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
        RunExchanges::new(RunId::Prepared(run)).exchange(session.mesh(), &messages, &mut nothing).await?;
        let bytes = ANSWER_BYTES + output_bits(plan, self.party).div_ceil(8);
        let sizes = session.mesh().per_peer(|peer| if plan.server(Party(peer)).is_some() { bytes } else { 0 });
        let hear = async |_: u16, mut line: Line, bytes: usize| {
            let mut answer = vec![0; bytes];
            line.receive_bytes(&mut answer).await?;
            Ok::<_, NetError>(answer)
        };
        let answers = session.mesh().each(sizes, hear).await?;
        let of = |server| answers.get(plan.party(server).0).map_or(&[][..], |answer| answer);
        let opened =
            pending.open(of(Server::Generator), of(Server::Cloud)).map_err(|rejected| self.rejected(&rejected))?;
        let values = job.split_outputs(self.party, &opened.output).map_err(unfit)?;
        let mut values = values.into_iter().map(|(_, value)| value);
        let recipients = plan.program().outputs().iter().map(|output| &output.recipients);
        Ok(recipients.map(|to: &Recipients| if to.contains(self.party) { values.next() } else { None }).collect())
    }
}

impl<K: Conduct<Step>> Client<K> {
    /// A client of this number.
    pub fn new(plan: Arc<Plan>, party: Party, conduct: K) -> Self {
        Client { plan, party, prepared: 0, counter: 0, conduct }
    }

    fn rejected(&self, rejected: &Rejected) -> checks::Rejected {
        let what = match rejected {
            Rejected::Differ { .. } => "the servers gave different answers",
            _ => "the servers gave no answer that can be opened",
        };
        checks::Rejected { what, parties: Server::BOTH.map(|server| self.plan.party(server)) }
    }
}

/// Values that do not fit the job.
fn unfit(error: JobError) -> ProtocolError {
    let (what, expected) = ("input".into(), "values of all ports of this party".into());
    ProtocolError::Input { what, expected, got: error.to_string() }
}

/// Output bits of a client.
pub(crate) fn output_bits(plan: &Plan, client: Party) -> usize {
    plan.job().outputs_of(client).map(|port| port.width() as usize).sum()
}
