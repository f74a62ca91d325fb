//! Step P5: both parties' sums of the leaky triples are equal, or somebody has cheated.
//!
//! The sums themselves are never sent: their difference would tell an honest party's difference. What is compared are digests, which the garbler
//! opens only if they are equal.

use garblet_primitives::Block;
use garblet_protocol::{checks::Cheating, conduct::Conduct, error::ProtocolError, session::Session};
use subtle::ConstantTimeEq;

use crate::{
    GARBLER, Step, checks,
    coins::{OPENING_BYTES, opened},
    ground::{Ground, Place},
    shares::PowerSum,
};

/// Bytes of a digest, and of a commitment to one.
pub(crate) const DIGEST_BYTES: usize = 32;

impl<C: Conduct<Step>> Ground<C> {
    /// Compares the sums of all blocks at a point.
    ///
    /// *Errors*: [`checks::EQUALITY`], [`checks::EQUALITY_OPENING`]; the connection's.
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
        let mut own = self.domain(GARBLER, Place::EqualityDigest, number).digest(&sum.finish().to_bytes());
        let domain = self.domain(GARBLER, Place::Equality, number);
        let differs = || Cheating::new(checks::EQUALITY, format!("{} leaky triples", blocks.len()));
        let mut theirs = [0; DIGEST_BYTES];
        if self.party == GARBLER {
            let (commitment, opening) = domain.commit(&own, session.rng());
            self.send(session, Step::DigestCommitment, &mut commitment.to_bytes()).await?;
            session.channel().receive_bytes(&mut theirs).await?;
            if !bool::from(own.ct_eq(&theirs)) {
                return Err(differs().into());
            }
            let mut message = [0; OPENING_BYTES];
            message[..DIGEST_BYTES].copy_from_slice(&own);
            message[DIGEST_BYTES..].copy_from_slice(&opening.to_bytes());
            return self.send(session, Step::DigestOpening, &mut message).await;
        }
        let mut commitment = [0; DIGEST_BYTES];
        session.channel().receive_bytes(&mut commitment).await?;
        let honest = own;
        self.send(session, Step::Digest, &mut own).await?;
        let mut message = [0; OPENING_BYTES];
        session.channel().receive_bytes(&mut message).await?;
        let theirs = opened(&domain, commitment, &message)
            .ok_or_else(|| Cheating::new(checks::EQUALITY_OPENING, "it does not open the commitment"))?;
        if bool::from(honest.ct_eq(&theirs)) { Ok(()) } else { Err(differs().into()) }
    }
}
