//! A digest of the data that two parties exchanged, as seen by one of them.

use crate::channel::Channel;

/// Separates digests of transcripts from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 transcript of a channel";

/// The kind of a piece of a transcript.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Piece {
    SentMessage,
    SentBulk,
    ReceivedMessage,
    ReceivedBulk,
}

/// Everything that went through a channel since the transcript began.
pub(crate) struct Transcript(blake3::Hasher);

impl Transcript {
    fn new() -> Self {
        Transcript(blake3::Hasher::new_derive_key(CONTEXT))
    }

    pub(crate) fn add(&mut self, piece: Piece, payload: &[u8]) {
        self.0.update(&[piece as u8]).update(&(payload.len() as u64).to_le_bytes()).update(payload);
    }
}

impl Channel {
    /// Begins a transcript: data sent and received from now on is digested, in the pieces in which this party's code sends and
    /// receives it. So the same code gives the same digest wherever it runs, if the peer sends the same.
    ///
    /// Only [`send`](Channel::send), [`receive`](Channel::receive), [`send_bytes`](Channel::send_bytes) and
    /// [`receive_bytes`](Channel::receive_bytes) are digested; a step with a transcript uses no others.
    pub fn begin_transcript(&mut self) {
        self.transcript = Some(Box::new(Transcript::new()));
    }

    /// Ends the transcript. Returns the digest of everything since [`begin_transcript`](Channel::begin_transcript), or the digest of
    /// no data if there is no transcript.
    pub fn end_transcript(&mut self) -> [u8; 32] {
        let begun = self.transcript.take().unwrap_or_else(|| Box::new(Transcript::new()));
        begun.0.finalize().into()
    }

    /// Adds a piece if there is a transcript.
    pub(crate) fn note(&mut self, piece: Piece, payload: &[u8]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.add(piece, payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::memory_pair;

    /// The first party's digest after it has sent `said` and received `heard`.
    async fn digest(said: &[&[u8]], heard: &[&[u8]]) -> [u8; 32] {
        let (mut ours, mut theirs) = memory_pair();
        ours.begin_transcript();
        for bytes in said {
            ours.send_bytes(bytes).await.unwrap();
        }
        for bytes in heard {
            theirs.send_bytes(bytes).await.unwrap();
        }
        theirs.flush().await.unwrap();
        for bytes in heard {
            ours.receive_bytes(&mut vec![0; bytes.len()]).await.unwrap();
        }
        ours.end_transcript()
    }

    #[tokio::test]
    async fn every_byte_and_its_direction_count() {
        let same = digest(&[b"ab"], &[b"cd"]).await;
        assert_eq!(digest(&[b"ab"], &[b"cd"]).await, same);
        for (said, heard) in [(b"aX", b"cd"), (b"ab", b"cX"), (b"cd", b"ab")] {
            assert_ne!(digest(&[said], &[heard]).await, same);
        }
        assert_ne!(digest(&[b"abcd"], &[]).await, same);
        assert_ne!(digest(&[b"a", b"b"], &[b"cd"]).await, same);
    }

    #[tokio::test]
    async fn only_data_after_the_beginning_counts() {
        let (mut ours, mut theirs) = memory_pair();
        let nothing = ours.end_transcript();
        ours.send_bytes(b"before").await.unwrap();
        ours.begin_transcript();
        assert_eq!(ours.end_transcript(), nothing);
        ours.send_bytes(b"after").await.unwrap();
        assert_eq!(ours.end_transcript(), nothing);
        theirs.flush().await.unwrap();
    }
}
