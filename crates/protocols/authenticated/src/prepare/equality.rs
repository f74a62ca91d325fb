//! Step P5: both parties' sums of the leaky triples are equal, or one has cheated.
//!
//! The sums themselves are never sent: their difference would reveal an honest party's difference. The parties compare digests, and the garbler
//! opens its own only if they are equal. For the state that a store keeps of this, see [`unsettled`](crate::stock::unsettled).

use garblet_primitives::{Block, secrets};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};
use subtle::ConstantTimeEq;

use crate::{
    GARBLER, Step,
    coins::OPENING_BYTES,
    ground::Ground,
    place::Place,
    shares::PowerSum,
    stock::unsettled::{LastCheck, check_opening, commitment_domain, differs, opening_message},
};

/// Bytes of a digest, and of a commitment to one.
const DIGEST_BYTES: usize = 32;

impl<C: Conduct<Step>> Ground<C> {
    /// Compares the sums of all blocks at a point.
    ///
    /// *Errors*: [`checks::EQUALITY`](crate::checks::EQUALITY), [`checks::EQUALITY_OPENING`](crate::checks::EQUALITY_OPENING); the connection's.
    pub(super) async fn check_equality(
        &mut self,
        session: &mut Session,
        blocks: &[Block],
        point: Block,
        number: u64,
    ) -> Result<(), ProtocolError> {
        let mut sum = PowerSum::new(point);
        sum.add_all(blocks);
        // The same place for both: equal sums have equal digests.
        let place = self.domain(GARBLER, Place::EqualityDigest, number);
        let digest = place.digest(&sum.finish().to_bytes());
        let name = place.branch(1).digest(b"name");
        if self.party == GARBLER {
            self.compare(session, name, digest).await
        } else {
            self.be_compared(session, name, digest).await
        }
    }

    /// The garbler's part.
    async fn compare(&mut self, session: &mut Session, name: [u8; 32], digest: [u8; 32]) -> Result<(), ProtocolError> {
        let mut told = digest;
        self.conduct.touch(Step::OwnDigest, 0, &mut told);
        let (commitment, opening) = commitment_domain(name).commit(&told, session.rng());
        let last = |heard| LastCheck::Committed { name, digest: told, opening: opening.to_bytes(), heard };
        self.keep_check(&last(None))?;
        self.send(session, Step::DigestCommitment, &mut commitment.to_bytes()).await?;
        let mut theirs = [0; DIGEST_BYTES];
        session.channel().receive_bytes(&mut theirs).await?;
        self.keep_check(&last(Some(theirs)))?;
        if !secrets::verdict(digest.ct_eq(&theirs), "authenticated: whether the digests of a batch are equal") {
            return Err(differs().into());
        }
        self.send(session, Step::DigestOpening, &mut opening_message(&told, &opening)).await
    }

    /// The evaluator's part.
    async fn be_compared(
        &mut self,
        session: &mut Session,
        name: [u8; 32],
        digest: [u8; 32],
    ) -> Result<(), ProtocolError> {
        let mut commitment = [0; DIGEST_BYTES];
        session.channel().receive_bytes(&mut commitment).await?;
        self.keep_check(&LastCheck::Unsettled { name, digest, commitment })?;
        self.send(session, Step::Digest, &mut digest.clone()).await?;
        let mut message = [0; OPENING_BYTES];
        session.channel().receive_bytes(&mut message).await?;
        check_opening(name, &digest, commitment, &message)?;
        self.keep_check(&LastCheck::Settled)
    }

    fn keep_check(&mut self, check: &LastCheck) -> Result<(), ProtocolError> {
        match &mut self.stock {
            Some(stock) => check.keep(&mut stock.store),
            None => Ok(()),
        }
    }
}
