//! A garbler: both do the same with the same secrets.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_net::Mesh;
use garblet_primitives::Block;
use garblet_protocol::{
    MeshSession, Phase, ProtocolError, Role, Security,
    bulk::check_padding_of,
    conduct::{Conduct, Honest},
    domain::SessionId,
    party_io,
    run_id::{RunExchanges, RunId},
};
use zeroize::Zeroizing;

use super::{
    Step, commitments, decoding,
    meeting::Meeting,
    outputs,
    plan::{Build, Plan},
    secrets::{OutputLabels, Secrets},
    tables::{self, send_to},
};

/// A garbler of a session.
pub struct Garbler<K = Honest> {
    plan: Arc<Plan>,
    party: Party,
    seat: usize,
    meeting: Meeting,
    runs_done: u64,
    conduct: K,
}

/// A garbler's preparation of one run, which consumes it.
pub struct GarblerPrepared {
    number: u64,
    seed: Zeroizing<Block>,
    /// The zero labels of the outputs, if the tables were sent ahead.
    ahead: Option<OutputLabels>,
}

impl<K: Conduct<Step>> Garbler<K> {
    /// Step 1.
    ///
    /// *Errors*: as of the meeting; a party that does not garble.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        party: Party,
        mut conduct: K,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let Some(seat) = plan.seat(party) else {
            return Err(ProtocolError::NoSuchParty { party, reason: "it does not garble".into() });
        };
        let meeting = Meeting::meet(session, &plan, party, &mut conduct).await?;
        Ok(Garbler { plan, party, seat, meeting, runs_done: 0, conduct })
    }

    /// Step 5, at a garbler: receives its share of the evaluator's input, once all are known to be at the same run.
    async fn receive_share(&self, session: &mut MeshSession, number: u64) -> Result<Bits, ProtocolError> {
        let (plan, count) = (&*self.plan, self.plan.share_bits());
        let mesh = session.mesh();
        let from_evaluator = |peer| if Party(peer) == plan.evaluator() { count.div_ceil(8) } else { 0 };
        let mut incoming = mesh.per_peer(|peer| Zeroizing::new(vec![0; from_evaluator(peer)]));
        let nothing = mesh.per_peer(|_| []);
        RunExchanges::new(RunId::Prepared(number)).exchange(mesh, &nothing, &mut incoming).await?;
        let share = incoming.get(plan.evaluator().0).map_or(&[][..], |share| share);
        check_padding_of(plan.evaluator(), share, count)?;
        Ok(Bits::filled(count, |bytes| bytes.copy_from_slice(share)))
    }

    /// Step 6, at a garbler: opens the labels of its own input and of its share.
    async fn send_labels(
        &mut self,
        session: &mut MeshSession,
        secrets: &Secrets,
        mut held: Bits,
    ) -> Result<(), ProtocolError> {
        self.conduct.input(0, &mut held);
        let mut labels = Zeroizing::new(Vec::with_capacity(size_of::<Block>() * held.len()));
        let active = secrets.active(secrets.held[self.seat].iter().copied(), &held);
        active.for_each(|label| labels.extend_from_slice(&label.to_bytes()));
        self.conduct.touch(Step::Labels, 0, &mut labels);
        send_to(session.mesh(), self.plan.evaluator(), &labels).await
    }

    /// Step 4: the tables, and then the digest of those that the other garbler sends.
    async fn send_tables(
        &mut self,
        session: &mut MeshSession,
        run: &SessionId,
        secrets: &Secrets,
    ) -> Result<OutputLabels, ProtocolError> {
        let of_run = (run, secrets);
        let (outputs, mut digest) = tables::send(session, &self.plan, of_run, self.seat, &mut self.conduct).await?;
        self.conduct.touch(Step::TablesDigest, 0, &mut digest);
        send_to(session.mesh(), self.plan.evaluator(), &digest).await?;
        Ok(outputs)
    }
}

impl<K: Conduct<Step>> Role<Mesh> for Garbler<K> {
    type Prepared = GarblerPrepared;
    const NAME: &'static str = "garbler";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Steps 2 and 3; step 4 with [`Build::Ahead`].
    async fn prepare(&mut self, session: &mut MeshSession) -> Result<GarblerPrepared, ProtocolError> {
        session.enter(Phase::Build);
        let plan = self.plan.clone();
        let number = self.runs_done;
        self.runs_done += 1;
        let run = self.meeting.run(number);
        let seed = self.meeting.seed(&run, &plan);
        let secrets = Secrets::derive(&plan, *seed);
        let mut message = commitments::message(&plan, &run, &secrets);
        match self.seat {
            0 => self.conduct.touch(Step::Commitments, 0, &mut message),
            _ => {
                message = commitments::digest(&plan, &run, &message).to_vec();
                self.conduct.touch(Step::CommitmentsDigest, 0, &mut message);
            }
        }
        send_to(session.mesh(), plan.evaluator(), &message).await?;
        let ahead = match plan.config().build {
            Build::Stream => None,
            Build::Ahead => Some(self.send_tables(session, &run, &secrets).await?),
        };
        Ok(GarblerPrepared { number, seed, ahead })
    }

    /// Steps 5 to 9; step 4 with [`Build::Stream`].
    ///
    /// *Shape*: `values` are this party's inputs in program order. Returns one entry per program output, `None` where this party is not a recipient.
    ///
    /// *Errors*: [`ProtocolError::OtherRun`] of a peer, before a label is sent; an evaluator that hands over other outputs than it evaluated.
    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: GarblerPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let (plan, party) = (self.plan.clone(), self.party);
        let mut held = party_io::own_input(plan.program(), party, values)?;
        session.enter(Phase::Online);
        held.append(&self.receive_share(session, prepared.number).await?);
        let run = self.meeting.run(prepared.number);
        let secrets = Secrets::derive(&plan, *prepared.seed);
        self.send_labels(session, &secrets, held).await?;
        let zero = match prepared.ahead {
            Some(outputs) => outputs,
            None => self.send_tables(session, &run, &secrets).await?,
        };
        let mut decoding = decoding::message(&plan, &run, self.seat, &secrets, &zero);
        self.conduct.touch(Step::Decoding, 0, &mut decoding);
        let mesh = session.mesh();
        send_to(mesh, plan.evaluator(), &decoding).await?;
        let bytes = outputs::message_bytes(&plan, party);
        let mut incoming = mesh.per_peer(|peer| vec![0; if Party(peer) == plan.evaluator() { bytes } else { 0 }]);
        mesh.exchange(&mesh.per_peer(|_| []), &mut incoming).await?;
        let message = incoming.get(plan.evaluator().0).map_or(&[][..], |message| message);
        let learned = outputs::accept(&plan, &run, party, (&secrets, &zero), message)?;
        Ok(party_io::deal_outputs(plan.program(), party, &mut learned.iter()))
    }
}
