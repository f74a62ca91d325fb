//! The servers' messages between runs.

use garblet_net::{Message, NetError};
use garblet_protocol::ProtocolError;
use serde::{Deserialize, Serialize};

/// The number of a job with its submissions, see [`Gathered::id`](super::desk::Gathered).
pub(super) type Id = [u8; 32];

/// The most clients of a job.
pub(super) const CLIENTS_MAX: usize = crate::PARTIES_MAX as usize - 2;

/// A message of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Word {
    /// This server is alive.
    Here,
    /// The cloud has all submissions of the job with this digest, with these counters of its clients, in the order of the job.
    Have(Id, [u8; 32], [u64; CLIENTS_MAX]),
    /// The generator calls a job, for which it has all submissions, too.
    Call(Id),
    /// The cloud is ready for the called job, or for filling.
    Ready,
    /// This server refuses the job that was called or is to be called, or no longer has it.
    Refuse(Id),
    /// The generator refuses the job that the cloud has under this number, because its own submissions have these other counters.
    Differ(Id, [u64; CLIENTS_MAX]),
    /// The generator and the cloud fill their stores with this many triples and masks.
    Fill([u64; 2]),
}

impl Message for Word {
    const NAME: &'static str = "word of a server";
    const KIND: u8 = 9;
    const MAX_BYTES: usize = 80 + 10 * CLIENTS_MAX;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The error for a word that a server does not wait for.
pub(super) fn unexpected(expected: &str, got: Word) -> ProtocolError {
    NetError::Unexpected { expected: expected.into(), got: format!("{got:?}") }.into()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    fn decoded(bytes: &[u8]) -> Option<Word> {
        postcard::from_bytes(bytes).ok()
    }

    fn encoded(word: &Word) -> Vec<u8> {
        let bytes = postcard::to_stdvec(word).expect("a word has few bytes");
        assert!(bytes.len() <= Word::MAX_BYTES, "{word:?}: {} bytes", bytes.len());
        bytes
    }

    #[test]
    fn any_bytes_are_a_word_or_refused() {
        let (mut rng, most) = (StdRng::seed_from_u64(1), [u64::MAX; CLIENTS_MAX]);
        let words = [
            Word::Here,
            Word::Have([7; 32], [8; 32], most),
            Word::Call([7; 32]),
            Word::Ready,
            Word::Refuse([7; 32]),
            Word::Differ([7; 32], most),
            Word::Fill([u64::MAX; 2]),
        ];
        let mut come: Vec<Vec<u8>> = Vec::new();
        for word in &words {
            let bytes = encoded(word);
            assert_eq!(decoded(&bytes).as_ref(), Some(word));
            for end in 0..bytes.len() {
                assert_eq!(decoded(&bytes[..end]), None, "{word:?}, {end} of {} bytes", bytes.len());
            }
            for _ in 0..500 {
                let mut changed = bytes.clone();
                let at = rng.random_range(0..changed.len());
                changed[at] ^= rng.random_range(1..=255u8);
                come.push(changed);
            }
        }
        for _ in 0..5_000 {
            let mut random = vec![0; rng.random_range(0..=Word::MAX_BYTES)];
            rng.fill_bytes(&mut random);
            // Most kinds do not exist.
            if let Some(kind) = random.first_mut() {
                *kind %= 9;
            }
            come.push(random);
        }
        let words: Vec<Word> = come.iter().filter_map(|bytes| decoded(bytes)).collect();
        assert!(words.len() > 100 && words.len() < come.len(), "{} of {}", words.len(), come.len());
        assert!(words.iter().all(|word| decoded(&encoded(word)).as_ref() == Some(word)));
    }
}
