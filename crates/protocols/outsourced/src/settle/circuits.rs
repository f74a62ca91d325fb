//! The same over `cut-and-choose`, where bits dealt to a server are its input.
//!
//! Refusals are sent as verdicts to the other server, so that both end alike.
//!
//! | step | party | action | requires |
//! |---|---|---|---|
//! | 1 | cloud | corrects its choices, which fixes its bits | |
//! | 2 | generator | sends keys, which fix its own bits; then the challenges for the cloud's | message 1 |
//! | 3 | cloud | sends its verdict on 2 and the challenges for the generator's; proves that its bits have the dealt hashes, by a digest of the sums of its rows of correlated OT; sends the base's challenge | all of message 2; a check that clients committed to the challenges |
//! | 4 | generator | sends its verdict on 3 and the hashes of its bits, which labels have in every circuit | a check of challenges and proofs |
//! | 5 | cloud | sends its verdict on 4 and goes on: only circuits, which come later, can be evaluated | a check that the hashes are those dealt to it |

use garblet_circuit::Bits;
use garblet_client::{Server, Submission};
use garblet_cut_and_choose::{
    self as base,
    others::{Dealing, InputRows, PartHash},
};
use garblet_primitives::{Block, UniversalHash};
use garblet_protocol::{checks::Refused, conduct::Conduct, error::ProtocolError, party_io, session::Session};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{CHALLENGE_BYTES, PROOF_BYTES, Submissions, WRONG_HASH, gather};
use crate::{GENERATOR, Step, dealt::Dealt};

impl<K: Conduct<Step>> Submissions<'_, K, base::Plan> {
    /// The hashes of the generator's bits, as it sends them.
    fn told_hashes(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        for ((_, places), challenge) in self.plan.clients().zip(&self.own) {
            let bits: Bits = places.all().flatten().map(|at| self.bits.get(at)).collect();
            all.extend_from_slice(&challenge.matrix().of(&Zeroizing::new(bits.to_bytes())));
        }
        self.conduct.touch(Step::Proofs, 0, &mut all);
        all
    }

    /// Checks that the generator's hashes are those that clients dealt: all of them, even after one fails.
    fn check_hashes(&self, told: &[u8]) -> Result<(), Refused> {
        let mut wrong = None;
        let told = told.chunks(self.plan.hash_bits() / 8);
        for (((client, _), submission), told) in self.plan.clients().zip(&self.all).zip(told) {
            if !bool::from(submission.other_hash().to_bytes().ct_eq(told)) {
                wrong.get_or_insert(client);
            }
        }
        wrong.map_or(Ok(()), |client| Err(self.refused(client, WRONG_HASH)))
    }

    /// The hash of a client's bits among all input wires of the generator, where they come last except for the base's own.
    fn part(&self, places: &Dealt, hash: UniversalHash, value: Bits) -> PartHash {
        let first = party_io::input_bits(self.plan.program(), GENERATOR);
        let wires = places.all().map(|range| first + range.start..first + range.end).collect();
        PartHash { wires, hash, value }
    }
}

impl<K: Conduct<Step>> Dealing for Submissions<'_, K, base::Plan> {
    async fn settle(&mut self, session: &mut Session, rows: InputRows<'_>) -> Result<(), ProtocolError> {
        let clients = self.all.len();
        let mut challenges = vec![0; CHALLENGE_BYTES * clients];
        let of_bits = rows.of_bits();
        // Dealt bits come last in the cloud's input.
        let dealt = &of_bits[of_bits.len() - self.bits.len()..];
        let channel = session.channel();
        match self.server {
            Server::Generator => {
                channel.send_bytes(&self.challenges()).await?;
                self.hear(channel).await?;
                channel.receive_bytes(&mut challenges).await?;
                let mut proofs = vec![0; PROOF_BYTES * clients];
                channel.receive_bytes(&mut proofs).await?;
                let sums = |submission: &Submission, places: &Dealt| {
                    let sums = submission.other_matrix().sums(&gather(dealt, places));
                    let chosen = sums.iter().zip(submission.other_hash().iter());
                    Zeroizing::new(chosen.map(|(&sum, bit)| rows.chosen(sum, bit)).collect::<Vec<Block>>())
                };
                let judged = self.own_challenges(&challenges);
                match judged.and_then(|own| self.check(&proofs, sums).map(|()| own)) {
                    // The verdict goes with the hashes.
                    Ok(own) => self.own = own,
                    Err(refused) => self.tell::<()>(channel, Err(refused)).await?,
                }
            }
            Server::Cloud => {
                channel.receive_bytes(&mut challenges).await?;
                let judged = self.own_challenges(&challenges);
                self.own = self.tell(channel, judged).await?;
                channel.send_bytes(&self.challenges()).await?;
                channel.send_bytes(&self.prove(dealt)).await?;
            }
        }
        Ok(())
    }

    async fn hashes(&mut self, session: &mut Session) -> Result<Vec<PartHash>, ProtocolError> {
        let bytes = self.plan.hash_bits() / 8;
        let told = match self.server {
            Server::Generator => {
                self.tell(session.channel(), Ok(())).await?;
                let told = self.told_hashes();
                session.channel().send_bytes(&told).await?;
                told
            }
            Server::Cloud => {
                self.hear(session.channel()).await?;
                let mut told = vec![0; bytes * self.all.len()];
                session.channel().receive_bytes(&mut told).await?;
                if let Err(refused) = self.check_hashes(&told) {
                    self.tell::<()>(session.channel(), Err(refused)).await?;
                }
                told
            }
        };
        let matrices: Vec<UniversalHash> = match self.server {
            Server::Generator => self.own.iter().map(|challenge| challenge.matrix()).collect(),
            Server::Cloud => self.all.iter().map(|submission| submission.other_matrix()).collect(),
        };
        let parts = self.plan.clients().zip(matrices).zip(told.chunks(bytes));
        Ok(parts.map(|(((_, places), hash), value)| self.part(places, hash, Bits::from_bytes(value))).collect())
    }

    async fn agree(&mut self, session: &mut Session) -> Result<(), ProtocolError> {
        match self.server {
            Server::Generator => self.hear(session.channel()).await,
            Server::Cloud => self.tell(session.channel(), Ok(())).await,
        }
    }
}
