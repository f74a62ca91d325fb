//! The evaluator: it compares what the garblers say before anything that depends on their labels leaves it.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_garble as garble;
use garblet_net::{Mesh, PerPeer};
use garblet_primitives::{Block, Prg, secrets};
use garblet_protocol::{
    MeshSession, Phase, ProtocolError, Role, Security,
    checks::Digests,
    conduct::{Conduct, Honest},
    domain::SessionId,
    party_io,
    run_id::{RunExchanges, RunId},
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Step,
    checks::{COMMITMENTS, refused},
    commitments::{self, Commitments},
    decoding,
    meeting::{Meeting, WORD_BYTES},
    outputs,
    plan::{Build, Plan, garbling},
    secrets::OutputLabels,
    tables::{Arrived, evaluate_ahead},
};

/// The evaluator of a session.
pub struct Evaluator<K = Honest> {
    plan: Arc<Plan>,
    party: Party,
    meeting: Meeting,
    runs_done: u64,
    conduct: K,
}

/// The evaluator's preparation of one run, which consumes it.
pub struct EvaluatorPrepared {
    number: u64,
    pub(super) commitments: Commitments,
    /// Tables that were sent ahead.
    ahead: Option<(Vec<u8>, TablesAgreed)>,
}

/// Proof that the garblers agree about all tables of a run.
struct TablesAgreed(());

/// Proof that nothing that the garblers have sent contradicts anything else. Without it, nothing leaves that depends on labels.
struct Agreed(());

impl<K: Conduct<Step>> Evaluator<K> {
    /// Step 1.
    ///
    /// *Errors*: as of the meeting.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        party: Party,
        mut conduct: K,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let meeting = Meeting::meet(session, &plan, party, &mut conduct).await?;
        Ok(Evaluator { plan, party, meeting, runs_done: 0, conduct })
    }

    /// Step 3, at the evaluator: receives the commitments of one garbler and their digest of the other.
    async fn receive_commitments(
        &self,
        session: &mut MeshSession,
        run: &SessionId,
    ) -> Result<Commitments, ProtocolError> {
        let plan = &*self.plan;
        let mut incoming = receive(session, plan, |seat| match seat {
            0 => commitments::message_bytes(plan),
            _ => WORD_BYTES,
        })
        .await?;
        let [first, second] =
            plan.garblers().map(|garbler| incoming.get_mut(garbler.0).map(|bytes| std::mem::take(&mut **bytes)));
        let (message, sent) = (first.unwrap_or_default(), second.unwrap_or_default());
        let digest = commitments::digest(plan, run, &message);
        let same = digest.ct_eq(&sent[..]);
        match secrets::verdict(same, "two-garblers: whether the garblers agree about commitments") {
            true => Ok(Commitments::new(message)),
            false => Err(refused(COMMITMENTS, plan.garblers(), Digests::of(&sent, &digest))),
        }
    }

    /// Step 5, at the evaluator: deals a random share of its input to each garbler.
    async fn send_shares(
        &mut self,
        session: &mut MeshSession,
        number: u64,
        own: &Bits,
    ) -> Result<[Bits; 2], ProtocolError> {
        let plan = self.plan.clone();
        let seed = self.meeting.share_seed(&self.meeting.run(number), &plan);
        let shares = deal(own, &mut Prg::new(*seed));
        let share = |peer| plan.seat(Party(peer)).map_or_else(Vec::new, |seat| shares[seat].to_bytes());
        let mesh = session.mesh();
        let mut outgoing = mesh.per_peer(|peer| Zeroizing::new(share(peer)));
        outgoing.iter_mut().for_each(|(peer, share)| self.conduct.touch(Step::Share, peer.into(), share));
        let mut nothing = mesh.per_peer(|_| []);
        RunExchanges::new(RunId::Prepared(number)).exchange(mesh, &outgoing, &mut nothing).await?;
        Ok(shares)
    }

    /// Step 6, at the evaluator: receives labels, and checks them. Returns the active labels of all program inputs.
    async fn receive_labels(
        &self,
        session: &mut MeshSession,
        run: &SessionId,
        commitments: &Commitments,
        shares: &[Bits; 2],
    ) -> Result<Vec<Box<[Block]>>, ProtocolError> {
        let plan = &*self.plan;
        let incoming = receive(session, plan, |seat| size_of::<Block>() * plan.held_bits(seat)).await?;
        let held = plan.garblers().map(|garbler| {
            let bytes = incoming.get(garbler.0).map_or(&[][..], |bytes| bytes);
            Zeroizing::new(bytes.as_chunks().0.iter().map(|label| Block::from_bytes(*label)).collect::<Vec<Block>>())
        });
        for seat in [0, 1] {
            commitments.check(plan, run, seat, &shares[seat], &held[seat])?;
        }
        Ok(plan.labels_by_input([&held[0], &held[1]]))
    }

    /// Step 7: evaluates, and compares digests and decoding bits. Also returns the decoding bits.
    async fn evaluate(
        &self,
        session: &mut MeshSession,
        run: &SessionId,
        (inputs, hash_seed): (Vec<Box<[Block]>>, Block),
        ahead: Option<(Vec<u8>, TablesAgreed)>,
    ) -> Result<(OutputLabels, Bits, Agreed), ProtocolError> {
        let plan = &*self.plan;
        let evaluation = garble::Evaluator::new(plan.program(), plan.schedules(), garbling(), hash_seed, 0, inputs);
        let (active, tables) = match ahead {
            Some((tables, agreed)) => (evaluate_ahead(session, plan, evaluation, &tables)?, agreed),
            None => {
                let mut arrived = Arrived::new(plan, run);
                let active = arrived.evaluate(session, plan, evaluation).await?;
                (active, check_digests(session, plan, arrived).await?)
            }
        };
        let (decoding, agreed) = self.receive_decoding(session, run, tables).await?;
        Ok((active, decoding, agreed))
    }

    /// The decoding bits of the evaluator's outputs, which both garblers send.
    async fn receive_decoding(
        &self,
        session: &mut MeshSession,
        run: &SessionId,
        _: TablesAgreed,
    ) -> Result<(Bits, Agreed), ProtocolError> {
        let plan = &*self.plan;
        let incoming = receive(session, plan, |_| decoding::message_bytes(plan)).await?;
        let messages = plan.garblers().map(|garbler| incoming.get(garbler.0).map_or(&[][..], |bytes| bytes));
        Ok((decoding::open(plan, run, messages)?, Agreed(())))
    }

    /// Step 8.
    async fn send_outputs(
        &mut self,
        session: &mut MeshSession,
        run: &SessionId,
        active: &OutputLabels,
        _: Agreed,
    ) -> Result<(), ProtocolError> {
        let mesh = session.mesh();
        let mut outgoing = mesh.per_peer(|peer| Zeroizing::new(outputs::message(&self.plan, run, Party(peer), active)));
        outgoing.iter_mut().for_each(|(peer, message)| self.conduct.touch(Step::Outputs, peer.into(), message));
        Ok(mesh.exchange(&outgoing, &mut mesh.per_peer(|_| [])).await?)
    }
}

impl<K: Conduct<Step>> Role<Mesh> for Evaluator<K> {
    type Prepared = EvaluatorPrepared;
    const NAME: &'static str = "evaluator";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Step 3; step 4 with [`Build::Ahead`].
    ///
    /// *Errors*: garblers that contradict each other; tables garbled ahead that this machine cannot hold.
    async fn prepare(&mut self, session: &mut MeshSession) -> Result<EvaluatorPrepared, ProtocolError> {
        session.enter(Phase::Build);
        let plan = self.plan.clone();
        let number = self.runs_done;
        self.runs_done += 1;
        let run = self.meeting.run(number);
        let commitments = self.receive_commitments(session, &run).await?;
        let ahead = match plan.config().build {
            Build::Stream => None,
            Build::Ahead => {
                let mut arrived = Arrived::new(&plan, &run);
                let tables = arrived.receive(session, &plan).await?;
                Some((tables, check_digests(session, &plan, arrived).await?))
            }
        };
        Ok(EvaluatorPrepared { number, commitments, ahead })
    }

    /// Steps 5 to 9; step 4 with [`Build::Stream`].
    ///
    /// *Shape*: `values` are this party's inputs in program order. Returns one entry per program output, `None` where this party is not a recipient.
    ///
    /// *Errors*: [`ProtocolError::OtherRun`] of a peer; garblers that contradict each other or their commitments, before anything leaves that depends on
    /// labels.
    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let EvaluatorPrepared { number, commitments, ahead } = prepared;
        let (plan, party) = (self.plan.clone(), self.party);
        let mut own = party_io::own_input(plan.program(), party, values)?;
        self.conduct.input(0, &mut own);
        session.enter(Phase::Online);
        let shares = self.send_shares(session, number, &own).await?;
        let run = self.meeting.run(number);
        let inputs = self.receive_labels(session, &run, &commitments, &shares).await?;
        let garbled = (inputs, commitments.hash_seed());
        let (active, decoding, agreed) = self.evaluate(session, &run, garbled, ahead).await?;
        self.send_outputs(session, &run, &active, agreed).await?;
        Ok(party_io::decode(plan.program(), party, &decoding, &active.select_bits(&plan, party)))
    }
}

/// Two shares of bits: random ones, and the sum.
fn deal(bits: &Bits, rng: &mut Prg) -> [Bits; 2] {
    let first = Bits::filled(bits.len(), |bytes| rng.fill_bytes(bytes));
    let second = bits.iter().zip(first.iter()).map(|(bit, share)| bit ^ share).collect();
    [first, second]
}

/// Receives bytes of both garblers, as many as `bytes` says for each.
async fn receive(
    session: &mut MeshSession,
    plan: &Plan,
    bytes: impl Fn(usize) -> usize,
) -> Result<PerPeer<Zeroizing<Vec<u8>>>, ProtocolError> {
    let mesh = session.mesh();
    let mut incoming = mesh.per_peer(|peer| Zeroizing::new(vec![0; plan.seat(Party(peer)).map_or(0, &bytes)]));
    mesh.exchange(&mesh.per_peer(|_| []), &mut incoming).await?;
    Ok(incoming)
}

/// Receives the garblers' digests of tables, and compares them with what has arrived.
async fn check_digests(
    session: &mut MeshSession,
    plan: &Plan,
    arrived: Arrived,
) -> Result<TablesAgreed, ProtocolError> {
    let digests = receive(session, plan, |_| WORD_BYTES).await?;
    let sent = plan.garblers().map(|garbler| digests.get(garbler.0).map_or(&[][..], |digest| digest));
    arrived.check(plan, sent)?;
    Ok(TablesAgreed(()))
}
