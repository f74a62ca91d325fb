//! Clients: they deal, keep what they need to come again, and open answers.

use garblet::outsourced::service::Agreement;
use garblet_circuit::Bits;
use garblet_client::{Begun, Invitation, Job, Opened, Pending, Receipt, Rejected, Secret, Server, Visit};
use garblet_primitives::Prg;

use super::agreed::{CLIENTS, Function, STATE};

/// A deal that a client wants an answer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deal {
    pub(crate) function: Function,
    /// The first balance, of a client that begins.
    pub(crate) first: u8,
    pub(crate) amount: u8,
    /// The version of the state that it names: that before the run.
    pub(crate) version: u64,
}

/// The submission of a deal, as kept until both servers have said what became of it.
pub(crate) struct Submission {
    /// Its number in the history.
    pub(crate) number: usize,
    pub(crate) frames: [Vec<u8>; 2],
    pending: Vec<u8>,
}

/// A client.
pub(crate) struct Client {
    name: &'static str,
    invitations: [Invitation; 2],
    receipt: Receipt,
    /// The version of the state that it last heard of.
    pub(crate) version: u64,
    pub(crate) submission: Option<Submission>,
}

/// The secret of a client and a server.
pub(crate) fn secret(server: Server, client: usize) -> Secret {
    Secret::from_bytes([16 * server as u8 + client as u8 + 1; 32])
}

impl Client {
    /// The client with this number in a new service.
    pub(crate) fn new(agreement: &Agreement, client: usize) -> Self {
        let invitation = |server: Server| {
            let (identity, name) = (agreement.server(server), server.to_string());
            let invitation = Invitation::with_secret(identity, &name, CLIENTS[client], secret(server, client));
            invitation.expect("these are names")
        };
        let (invitations, receipt) = (Server::BOTH.map(invitation), Receipt::first(STATE));
        Client { name: CLIENTS[client], invitations, receipt, version: 0, submission: None }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Deals, and keeps what it needs to come again.
    pub(crate) fn deal(&mut self, agreement: &Agreement, deal: Deal, number: usize, rng: &mut Prg) {
        let job = agreement.job(deal.function.name(), &[self.name.into()], "", 1).expect("it is offered");
        let job = Job::new(job.terms().clone().at_version(STATE, deal.version)).expect("it has one version");
        let values = [Some(deal.first).filter(|_| deal.function == Function::Start), Some(deal.amount)];
        let values: Vec<Bits> = values.into_iter().flatten().map(|value| Bits::from_u128(value.into(), 8)).collect();
        let party = job.client(&self.invitations[0].identity()).expect("it is a client");
        let input = job.join_inputs(party, &values).expect("they fit");
        let [generator, cloud] = &self.invitations;
        let begun = Visit::begin(&job, [generator, cloud], &self.receipt, &input, rng);
        let Begun { visit, receipt, to_generator, to_cloud } = begun.expect("it names no older version");
        self.receipt = receipt;
        let pending = visit.pending().encode().to_vec();
        self.submission = Some(Submission { number, frames: [to_generator, to_cloud], pending });
    }

    /// Opens the replies of both servers to its submission, or of one, or none; `None` without a submission.
    pub(crate) fn open(&mut self, replies: &[Option<Vec<u8>>; 2]) -> Option<Result<Opened, Rejected>> {
        let submission = self.submission.as_ref()?;
        let pending = Pending::decode(&submission.pending).expect("it was kept whole");
        let frames = submission.frames.each_ref().map(|frame| &frame[..]);
        let secrets = self.invitations.each_ref().map(|invitation| &invitation.secret);
        let visit = Visit::resume(pending, self.receipt.clone(), frames, secrets);
        let mut visit = visit.expect("these are its frames");
        for (server, reply) in Server::BOTH.into_iter().zip(replies) {
            reply.iter().for_each(|reply| _ = visit.hear(server, reply));
        }
        let opened = visit.open();
        if let Ok(opened) = &opened {
            self.receipt = opened.receipt().clone();
            self.version = self.receipt.version();
        }
        Some(opened)
    }
}
