//! Steps S2 to S4: each server proves that it announced the bits that clients dealt to it; for bases other than `authenticated`, see [`circuits`].

mod circuits;

use std::sync::Arc;

use garblet_authenticated::{
    self as base,
    others::{Dealing, Keeping, Told},
};
use garblet_circuit::{Bits, Party};
use garblet_client::{Answer, Job, OwnChallenge, Server, Submission};
use garblet_net::{Channel, NetError};
use garblet_primitives::Block;
use garblet_protocol::{checks::Refused, conduct::Conduct, error::ProtocolError, session::Session};
use garblet_store::Store;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Step,
    dealt::Dealt,
    plan::{BasePlan, Plan},
    state::{self, Standing},
};

/// Bytes of a challenge.
pub(crate) const CHALLENGE_BYTES: usize = 16;
/// Bytes of a proof.
pub(crate) const PROOF_BYTES: usize = 32;
/// Bytes in which a server accepts the other's messages, or names the client over which it refuses.
pub(crate) const VERDICT_BYTES: usize = 2;
/// Bytes in which the generator confirms that it has the next version.
pub(crate) const WORD_BYTES: usize = 1;

/// The fault of a wrong challenge.
pub(crate) const WRONG_CHALLENGE: &str = "the challenge does not match the client's commitment";
/// The fault of a wrong proof or hash.
const WRONG_HASH: &str = "the client's bits do not have the hash that the client dealt";

/// The faults in a verdict, by its first byte; zero stands for none.
const FAULTS: [&str; 2] = [WRONG_CHALLENGE, WRONG_HASH];

/// Separates proofs from all other uses of BLAKE3.
const PROOF_CONTEXT: &str = "garblet 2026 outsourced proof v1";
/// Separates chains of states from all other uses of BLAKE3.
const CHAIN_CONTEXT: &str = "garblet 2026 outsourced chain v1";

/// The messages of clients to a server, and its part in proving them to the other one, over the base with plan `B`.
pub struct Submissions<'a, K, B = base::Plan> {
    plan: Arc<Plan<B>>,
    server: Server,
    /// The states for which the run was prepared.
    standings: Vec<Standing>,
    /// The next version of the state to keep; `None` once the computation is known to have panicked.
    next: Option<Standing>,
    /// The version that answers report.
    answered: Standing,
    /// One submission per client.
    all: Vec<Submission>,
    /// The dealt bits in the base's order.
    bits: Bits,
    /// The sum of both servers' announced bits, once settled; zeros where outputs have pads already.
    sum: Bits,
    /// The challenges for this server's bits, once they are checked.
    own: Vec<OwnChallenge>,
    /// Called when labels are about to leave.
    begun: Option<Begun<'a>>,
    conduct: &'a mut K,
}

/// Records durably that from here on a run may fail to complete.
pub(crate) type Begun<'a> = Box<dyn FnOnce(&mut Store) -> Result<(), ProtocolError> + Send + Sync + 'a>;

impl<'a, K: Conduct<Step>, B: BasePlan> Submissions<'a, K, B> {
    pub(crate) fn new(
        (plan, job): (Arc<Plan<B>>, &Job),
        server: Server,
        standings: Vec<Standing>,
        all: Vec<Submission>,
        conduct: &'a mut K,
    ) -> Self {
        let count = plan.clients().flat_map(|(_, places)| places.all()).map(|range| range.end).max().unwrap_or(0);
        let mut bits = Bits::zeros(count);
        for ((_, places), submission) in plan.clients().zip(&all) {
            let dealt = submission.expand();
            let of_client = dealt.share.iter().chain(dealt.pad.iter()).chain(dealt.mask.iter());
            places.all().flatten().zip(of_client).for_each(|(at, bit)| bits.set(at, bit));
        }
        conduct.input(0, &mut bits);
        let next = plan.kept(&standings).map(|(_, before)| next(before, job, &all));
        let read = || job.state().map(|(name, _)| plan.standing(&standings, name));
        let answered = next.or_else(read).unwrap_or_default();
        let sum = Bits::zeros(bits.len());
        Submissions { plan, server, standings, next, answered, all, bits, sum, own: Vec::new(), begun: None, conduct }
    }

    /// The same, with a callback for when labels are about to leave.
    pub(crate) fn heard_by(self, begun: Begun<'a>) -> Self {
        Submissions { begun: Some(begun), ..self }
    }

    /// The dealt bits in the base's order. *Secret*.
    pub(crate) fn dealt(&self) -> &Bits {
        &self.bits
    }

    /// The answer to each client: its output with both pads, from the base's outputs.
    pub(crate) fn answers(&mut self, outputs: &Bits) -> Vec<Vec<u8>> {
        let mut start = 0;
        let mut all = Vec::with_capacity(self.all.len());
        let Standing { version, chain } = self.answered;
        for ((_, places), submission) in self.plan.clients().zip(&self.all) {
            let pads = places.pads.clone();
            let outputs = outputs.slice(start, pads.len());
            start += pads.len();
            let masked = pads.zip(outputs.iter()).map(|(pad, output)| self.sum.get(pad) ^ output).collect();
            all.push(Answer { run: submission.place().run(), version, chain, masked }.encode());
        }
        all.iter_mut().enumerate().for_each(|(client, answer)| self.conduct.touch(Step::Answer, client, answer));
        all
    }

    /// The challenges for the other server's bits.
    fn challenges(&mut self) -> Vec<u8> {
        let mut all: Vec<u8> = self.all.iter().flat_map(|submission| submission.other_challenge().to_bytes()).collect();
        self.conduct.touch(Step::Challenges, 0, &mut all);
        all
    }

    /// Checks that clients committed to the challenges for this server's bits.
    fn own_challenges(&self, told: &[u8]) -> Result<Vec<OwnChallenge>, Refused> {
        let challenges = told.as_chunks::<CHALLENGE_BYTES>().0.iter().map(|&challenge| Block::from_bytes(challenge));
        let check = |(submission, challenge): (&Submission, Block)| {
            let client = submission.place().client;
            submission.check_challenge(challenge).map_err(|_| self.refused(client, WRONG_CHALLENGE))
        };
        self.all.iter().zip(challenges).map(check).collect()
    }

    fn refused(&self, client: Party, what: &'static str) -> Refused {
        Refused::new(what, [client, self.plan.party(self.server.other())])
    }

    /// The proofs of this server, over blocks that are linear in its dealt bits.
    fn prove(&mut self, blocks: &[Block]) -> Vec<u8> {
        let mut proofs = Vec::with_capacity(PROOF_BYTES * self.all.len());
        for (((_, places), submission), challenge) in self.plan.clients().zip(&self.all).zip(&self.own) {
            let sums = challenge.matrix().sums(&gather(blocks, places));
            proofs.extend_from_slice(&proof(submission, self.server, &sums));
        }
        self.conduct.touch(Step::Proofs, 0, &mut proofs);
        proofs
    }

    /// Checks all of the other server's proofs, even after one fails. `sums` are the sums that it has if it announced its dealt bits.
    ///
    /// *Errors*: the first client whose proof differs.
    fn check(&self, proofs: &[u8], sums: impl Fn(&Submission, &Dealt) -> Zeroizing<Vec<Block>>) -> Result<(), Refused> {
        let mut wrong = None;
        let proofs = proofs.as_chunks::<PROOF_BYTES>().0;
        for (((client, places), submission), theirs) in self.plan.clients().zip(&self.all).zip(proofs) {
            let sums = sums(submission, places);
            if !bool::from(proof(submission, self.server.other(), &sums).ct_eq(theirs)) {
                wrong.get_or_insert(client);
            }
        }
        wrong.map_or(Ok(()), |client| Err(self.refused(client, WRONG_HASH)))
    }

    /// Sends the other server the verdict on its messages, so that both end the run alike and can go on with each other; returns the verdict.
    async fn tell<T: Send>(&mut self, channel: &mut Channel, judged: Result<T, Refused>) -> Result<T, ProtocolError> {
        let mut verdict = [0; VERDICT_BYTES];
        if let Err(Refused { what, parties: [client, _], .. }) = &judged {
            let fault = FAULTS.iter().position(|fault| fault == what).map_or(FAULTS.len(), |at| at + 1);
            verdict = [fault as u8, client.0 as u8];
        }
        self.conduct.touch(Step::Verdict, 0, &mut verdict);
        channel.send_bytes(&verdict).await?;
        if judged.is_err() {
            channel.flush().await?;
        }
        Ok(judged?)
    }

    /// Receives the other server's verdict on this one's messages.
    ///
    /// *Errors*: its refusal; a refusal that names no client or no fault.
    async fn hear(&self, channel: &mut Channel) -> Result<(), ProtocolError> {
        let mut verdict = [0; VERDICT_BYTES];
        channel.receive_bytes(&mut verdict).await?;
        let [fault, client] = verdict.map(usize::from);
        let clients = 1..=self.all.len();
        match fault.checked_sub(1) {
            None if client == 0 => Ok(()),
            Some(at) if at < FAULTS.len() && clients.contains(&client) => {
                let parties = [Party(client as u16), self.plan.party(self.server)];
                Err(Refused::new(FAULTS[at], parties).into())
            }
            _ => {
                let expected =
                    format!("a verdict: 0 0, or a fault of 1 to {} and a client of {clients:?}", FAULTS.len());
                Err(NetError::Unexpected { expected, got: format!("{fault} {client}") }.into())
            }
        }
    }
}

impl<K: Conduct<Step>> Submissions<'_, K> {
    /// Counts the run for all states, durably: from here on it may fail to complete.
    fn count(&mut self, store: Option<&mut Store>) -> Result<(), ProtocolError> {
        let Some(store) = store else { return Ok(()) };
        self.begun.take().map_or(Ok(()), |begun| begun(store))?;
        let kept = self.plan.kept(&self.standings).map(|(name, _)| name);
        self.plan.states().iter().try_for_each(|name| state::count(store, name, kept == Some(name)))
    }

    /// Ends the run for its states: the generator has the next version and tells the cloud; both record it.
    ///
    /// *Errors*: the connection's and the store's.
    pub(crate) async fn end(&self, session: &mut Session, store: Option<&mut Store>) -> Result<(), ProtocolError> {
        let kept = self.plan.kept(&self.standings).map(|(name, _)| name);
        if kept.is_some() {
            let channel = session.channel();
            match self.server {
                Server::Generator => {
                    channel.send_bytes(&[1; WORD_BYTES]).await?;
                    channel.flush().await?;
                }
                Server::Cloud => hear_word(channel).await?,
            }
        }
        let Some(store) = store else { return Ok(()) };
        self.plan.states().iter().try_for_each(|name| match kept == Some(name) {
            true if self.next.is_some() => state::commit(store, name),
            keeps => state::succeeded(store, name, keeps),
        })
    }

    /// The sums of MACs that the other server has for its announced bits.
    fn macs(told: &Told<'_>, submission: &Submission, places: &Dealt) -> Zeroizing<Vec<Block>> {
        let matrix = submission.other_matrix();
        let keys = matrix.sums(&gather(told.keys(), places));
        let bits: Bits = places.all().flatten().map(|at| told.peers.get(at)).collect();
        // The hash of the announced bits; plus the hash of the dealt bits, it is the hash of the peer's shares of the masks.
        let of_told = Bits::from_bytes(&matrix.of(&bits.to_bytes()));
        let macs = keys.iter().zip(of_told.iter()).zip(submission.other_hash().iter());
        let macs = macs.map(|((&key, told_bit), dealt_bit)| told.mac(key, told_bit ^ dealt_bit));
        Zeroizing::new(macs.collect())
    }
}

/// Receives the word that the other server has the next version, or that an answer follows.
///
/// *Errors*: another word; the connection's.
pub(crate) async fn hear_word(channel: &mut Channel) -> Result<(), ProtocolError> {
    let mut word = [0; WORD_BYTES];
    channel.receive_bytes(&mut word).await?;
    match word {
        [1] => Ok(()),
        [other] => Err(NetError::Unexpected { expected: "the word 1".into(), got: other.to_string() }.into()),
    }
}

/// The blocks of a client's bits, in the order of the hash.
fn gather(blocks: &[Block], places: &Dealt) -> Zeroizing<Vec<Block>> {
    let mut all = Zeroizing::new(Vec::with_capacity(places.all().map(|range| range.len()).sum()));
    places.all().for_each(|range| all.extend_from_slice(&blocks[range]));
    all
}

/// The proof that a server announced a client's bits: a digest of the MACs of their hash.
fn proof(submission: &Submission, server: Server, macs: &[Block]) -> [u8; PROOF_BYTES] {
    let mut hash = blake3::Hasher::new_derive_key(PROOF_CONTEXT);
    let byte = match server {
        Server::Generator => 0,
        Server::Cloud => 1,
    };
    hash.update(&submission.place().run()).update(&[byte]);
    hash.update(bytemuck::cast_slice(macs));
    let proof = hash.finalize().into();
    hash.zeroize();
    proof
}

/// The version that follows another one after a run of a job with these submissions.
fn next(before: Standing, job: &Job, all: &[Submission]) -> Standing {
    let version = before.version.saturating_add(1);
    let mut hash = blake3::Hasher::new_derive_key(CHAIN_CONTEXT);
    hash.update(&before.chain).update(job.digest()).update(&version.to_le_bytes());
    all.iter().for_each(|submission| {
        hash.update(&submission.place().counter.to_le_bytes());
    });
    Standing { version, chain: hash.finalize().into() }
}

impl<K: Conduct<Step>> Dealing for Submissions<'_, K> {
    fn bits(&self) -> &Bits {
        &self.bits
    }

    async fn settle(
        &mut self,
        session: &mut Session,
        told: Told<'_>,
        store: Option<&mut Store>,
    ) -> Result<(), ProtocolError> {
        let clients = self.all.len();
        let (mut challenges, mut proofs) = (vec![0; CHALLENGE_BYTES * clients], vec![0; PROOF_BYTES * clients]);
        let channel = session.channel();
        match self.server {
            Server::Generator => {
                channel.send_bytes(&self.challenges()).await?;
                self.hear(channel).await?;
                channel.receive_bytes(&mut challenges).await?;
                channel.receive_bytes(&mut proofs).await?;
                let judged = self.own_challenges(&challenges).and_then(|own| {
                    self.check(&proofs, |submission, places| Self::macs(&told, submission, places)).map(|()| own)
                });
                self.own = self.tell(channel, judged).await?;
                channel.send_bytes(&self.prove(told.macs())).await?;
                // Labels wait: both servers agree that a hash is wrong before the run has an effect.
                self.hear(channel).await?;
            }
            Server::Cloud => {
                channel.receive_bytes(&mut challenges).await?;
                let judged = self.own_challenges(&challenges);
                self.own = self.tell(channel, judged).await?;
                channel.send_bytes(&self.challenges()).await?;
                channel.send_bytes(&self.prove(told.macs())).await?;
                self.hear(channel).await?;
                channel.receive_bytes(&mut proofs).await?;
                let judged = self.check(&proofs, |submission, places| Self::macs(&told, submission, places));
                self.tell(channel, judged).await?;
                channel.flush().await?;
            }
        }
        self.count(store)?;
        self.sum = told.own.iter().zip(told.peers.iter()).map(|(own, peers)| own ^ peers).collect();
        Ok(())
    }

    fn keep(&mut self, keeping: Option<Keeping<'_>>) -> Result<(), ProtocolError> {
        let Some((name, before)) = self.plan.kept(&self.standings) else { return Ok(()) };
        let (Some(keeping), Some(next)) = (keeping, self.next) else {
            // The computation has panicked: the state keeps its version, and answers say so.
            (self.next, self.answered) = (None, before);
            return Ok(());
        };
        match self.server {
            Server::Generator => state::keep(keeping, name, next),
            Server::Cloud => state::keep_pending(keeping, name, next),
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_net::memory_pair;

    use super::*;

    #[test]
    fn a_word_has_one_encoding() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        for word in 0..=255 {
            let heard = runtime.block_on(async {
                let (mut ours, mut theirs) = memory_pair();
                theirs.send_bytes(&[word; WORD_BYTES]).await.expect("it is there");
                theirs.flush().await.expect("it is there");
                hear_word(&mut ours).await
            });
            assert_eq!(heard.is_ok(), word == 1, "{word}");
        }
    }
}
