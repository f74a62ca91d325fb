//! A mesh of two parties over an existing channel.

use super::{MESH, Mesh, PerPeer};
use crate::channel::Channel;
use crate::difference::Difference;
use crate::error::NetError;
use crate::hello::{Hello, JOB, agree};

impl Mesh {
    /// Joins party `party` of two to the other, which waits for it as [`Mesh::join`] does, over a channel to it.
    ///
    /// *Errors:* the peer is gone, or has another number or another mesh.
    ///
    /// # Panics
    ///
    /// If `party` is neither 0 nor 1.
    pub async fn pair(party: u16, mut channel: Channel) -> Result<Mesh, NetError> {
        assert!(party < 2, "a pair has parties 0 and 1, got {party}");
        channel.set_seat(party, 2);
        let ours = Hello::new(MESH, party, 2, [0; 32]);
        let theirs = ours.greet(&mut channel).await?;
        let mut differences = agree(&ours.on(&channel), &theirs);
        // A service recognises requests by their job; the hello of the run reports differing jobs.
        differences.retain(|difference| difference.field != JOB);
        let other = 1 - party;
        if theirs.party != other {
            let field = "party at this address".into();
            differences.push(Difference { field, ours: other.to_string(), theirs: theirs.party.to_string() });
        }
        match differences.is_empty() {
            true => Ok(Mesh::new(PerPeer::from_ends(party, vec![channel]))),
            false => Err(NetError::Incompatible { differences }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_pair;

    #[tokio::test]
    async fn two_parties_form_a_mesh_if_both_expect_two() {
        let (left, right) = memory_pair();
        let (first, second) = tokio::join!(Mesh::pair(0, left), Mesh::pair(1, right));
        let (first, second) = (first.expect("joined"), second.expect("joined"));
        assert_eq!((first.party(), second.party(), second.party_count()), (0, 1, 2));
        let (left, right) = memory_pair();
        let (first, second) = tokio::join!(Mesh::pair(1, left), Mesh::pair(1, right));
        for error in [first.err(), second.err()] {
            let error = error.expect("both are the same party").to_string();
            assert!(error.contains("party at this address"), "{error}");
        }
    }

    #[tokio::test]
    #[should_panic(expected = "a pair has parties 0 and 1, got 2")]
    async fn a_third_party_is_refused() {
        let _ = Mesh::pair(2, memory_pair().0).await;
    }
}
