//! Step 1: nonces, the name of the session, and the garblers' common secret.

use garblet_circuit::Party;
use garblet_primitives::{Block, secrets};
use garblet_protocol::{MeshSession, ProtocolError, checks::Digests, conduct::Conduct, domain::SessionId};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Step,
    checks::{NONCES, refused},
    plan::{Place, Plan},
};

/// Bytes of a nonce, of a secret, and of a digest.
pub(super) const WORD_BYTES: usize = 32;

/// A session of three parties.
pub(super) struct Meeting {
    id: SessionId,
    /// The sum of the garblers' secrets, at garblers; the evaluator's own secret, at the evaluator.
    secret: Zeroizing<[u8; WORD_BYTES]>,
}

/// Bytes of the first message between two parties.
pub(super) fn nonce_bytes(plan: &Plan, from: Party, to: Party) -> usize {
    let are_garblers = plan.seat(from).is_some() && plan.seat(to).is_some();
    if are_garblers { 2 * WORD_BYTES } else { WORD_BYTES }
}

impl Meeting {
    /// Every party sends the others a nonce, and a garbler sends the other one also a secret. All compare the name of the session, which is a hash of the
    /// nonces.
    ///
    /// *Errors*: [`Refused`](garblet_protocol::checks::Refused), which names both others, if the names differ; the connection's.
    pub(super) async fn meet(
        session: &mut MeshSession,
        plan: &Plan,
        party: Party,
        conduct: &mut impl Conduct<Step>,
    ) -> Result<Self, ProtocolError> {
        let (mesh, rng) = session.parts();
        let [mut nonce, mut own] = [(); 2].map(|()| Zeroizing::new([0; WORD_BYTES]));
        rng.fill_bytes(&mut *nonce);
        rng.fill_bytes(&mut *own);
        let words = Zeroizing::new([*nonce, *own]);
        let mut outgoing = mesh
            .per_peer(|peer| Zeroizing::new(words.as_flattened()[..nonce_bytes(plan, party, Party(peer))].to_vec()));
        outgoing.iter_mut().for_each(|(peer, message)| conduct.touch(Step::Nonce, peer.into(), message));
        let mut incoming = mesh.per_peer(|peer| Zeroizing::new(vec![0; nonce_bytes(plan, Party(peer), party)]));
        mesh.exchange(&outgoing, &mut incoming).await?;
        let mut nonces = [*nonce; 3];
        let mut secret = own;
        for (peer, message) in incoming.iter() {
            let (theirs, more) = message.split_at(WORD_BYTES);
            nonces[usize::from(peer)].copy_from_slice(theirs);
            secret.iter_mut().zip(more).for_each(|(sum, byte)| *sum ^= byte);
        }
        let meeting = Meeting { id: plan.session(&nonces), secret };
        meeting.compare_names(session, plan, party, conduct).await?;
        Ok(meeting)
    }

    async fn compare_names(
        &self,
        session: &mut MeshSession,
        plan: &Plan,
        party: Party,
        conduct: &mut impl Conduct<Step>,
    ) -> Result<(), ProtocolError> {
        let name = self.id.domain(plan.evaluator(), Place::Name as u8).digest(b"");
        let mesh = session.mesh();
        let mut outgoing = mesh.per_peer(|_| name);
        outgoing.iter_mut().for_each(|(peer, name)| conduct.touch(Step::Name, peer.into(), name));
        let mut incoming = mesh.per_peer(|_| [0; WORD_BYTES]);
        mesh.exchange(&outgoing, &mut incoming).await?;
        let same = incoming.iter().fold(Choice::from(1), |same, (_, theirs)| same & name.ct_eq(theirs));
        match secrets::verdict(same, "two-garblers: whether all have the same name of the session") {
            true => Ok(()),
            false => {
                let differing = incoming.iter().find_map(|(_, theirs)| Digests::of(&name, theirs));
                Err(refused(NONCES, plan.others(party), differing))
            }
        }
    }

    /// The domain of a run.
    pub(super) fn run(&self, number: u64) -> SessionId {
        self.id.run(number)
    }

    /// The seed of a run, which the garblers have in common.
    ///
    /// *Secret*: from the evaluator. *Unique*: no two runs have the same.
    pub(super) fn seed(&self, run: &SessionId, plan: &Plan) -> Zeroizing<Block> {
        self.derived(run, plan, Place::Seed)
    }

    /// The seed of the evaluator's shares in a run.
    ///
    /// *Secret*: from the garblers. *Unique*: as long as one garbler draws a new nonce, even if the evaluator is restored from a backup.
    pub(super) fn share_seed(&self, run: &SessionId, plan: &Plan) -> Zeroizing<Block> {
        self.derived(run, plan, Place::Share)
    }

    fn derived(&self, run: &SessionId, plan: &Plan, place: Place) -> Zeroizing<Block> {
        let digest = Zeroizing::new(run.domain(plan.evaluator(), place as u8).digest(&*self.secret));
        Zeroizing::new(Block::from_digest(&digest))
    }
}
