//! Domain separation: a hash, a commitment or a key belongs to a session, a party, a step and an index.
//!
//! Every hash of a protocol against covert or malicious parties belongs to a [`Domain`]. Nothing made in one domain fits another: a message replayed from
//! another session, step or circuit is refused like random bytes.

use garblet_circuit::Party;
use garblet_net::{Channel, NetError};
use garblet_primitives::{Block, Commitment, Opened, Opening, OpeningMismatch, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Separates session identifiers from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 session identifier";

/// Bytes that give a position within a session.
const POSITION_BYTES: usize = 12;

/// Payload bytes that each party sends to agree on a [`SessionId`].
pub const NONCE_BYTES: u64 = 32;

/// Names one run of one protocol between two parties: both contribute randomness, so neither can make it repeat.
///
/// *Unique*: one per run. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionId([u8; 32]);

impl SessionId {
    /// Agrees with the peer on an identifier for a run of `protocol` on the data with this `digest`.
    ///
    /// *Cost*: 32 bytes each way, one round. *Errors*: the connection's.
    pub async fn agree(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        protocol: &'static str,
        digest: [u8; 32],
        party: Party,
    ) -> Result<SessionId, NetError> {
        let (mut ours, mut theirs) = ([0; 32], [0; 32]);
        rng.fill_bytes(&mut ours);
        channel.send_bytes(&ours).await?;
        channel.receive_bytes(&mut theirs).await?;
        let nonces = if party == Party(0) { [ours, theirs] } else { [theirs, ours] };
        Ok(SessionId::new(protocol, digest, nonces))
    }

    /// The identifier of a run to which the two parties have contributed these nonces.
    pub fn new(protocol: &str, digest: [u8; 32], nonces: [[u8; 32]; 2]) -> SessionId {
        let mut hash = blake3::Hasher::new_derive_key(CONTEXT);
        hash.update(&(protocol.len() as u64).to_le_bytes()).update(protocol.as_bytes());
        hash.update(&digest).update(nonces.as_flattened());
        SessionId(hash.finalize().into())
    }

    /// The identifier of run `number` of a session with several runs.
    pub fn run(&self, number: u64) -> SessionId {
        SessionId::new("run", self.0, [[0; 32], Domain { index: number, ..self.domain(Party(0), 0) }.digest(b"run")])
    }

    /// The domain for `party` at step `step`.
    pub fn domain(&self, party: Party, step: u8) -> Domain {
        Domain { session: self.0, party: party.0, step, branch: 0, index: 0 }
    }
}

/// An unfinished hash, see [`Domain::hasher`].
#[derive(Clone)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Adds bytes at the end.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of everything added.
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// An unfinished hash of parts, see [`Domain::parts_hasher`].
pub struct PartsHasher {
    /// The hashes of the parts.
    key: [u8; 32],
    of_digests: Hasher,
}

impl PartsHasher {
    /// Adds a part.
    pub fn add(&mut self, part: &[u8]) {
        self.of_digests.add(blake3::keyed_hash(&self.key, part).as_bytes());
    }

    /// The hash of all parts.
    pub fn finish(self) -> [u8; 32] {
        self.of_digests.finish()
    }
}

/// The domain of a hash: session, party, step, index and branch, encoded in a fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    session: [u8; 32],
    party: u16,
    step: u8,
    branch: u8,
    index: u64,
}

impl Domain {
    /// The same step, for index `index`.
    pub fn at(self, index: u64) -> Domain {
        Domain { index, ..self }
    }

    /// The same step and index, for one of up to 256 branches.
    pub fn branch(self, branch: u8) -> Domain {
        Domain { branch, ..self }
    }

    /// The hash of a message that belongs here.
    ///
    /// *Source*: BLAKE3, keyed with the session's identifier; a random oracle for each domain.
    pub fn digest(&self, message: &[u8]) -> [u8; 32] {
        let position = self.position();
        // A label or a key is hashed in one go: setting up the state for longer messages would take longer than the hash.
        let mut short = Zeroizing::new([Block::ZERO; 4]);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut *short);
        let Some(bytes) = bytes.get_mut(..position.len() + message.len()) else {
            let mut hash = self.hasher();
            hash.add(message);
            return hash.finish();
        };
        let (before, rest) = bytes.split_at_mut(position.len());
        before.copy_from_slice(&position);
        rest.copy_from_slice(message);
        blake3::keyed_hash(&self.session, bytes).into()
    }

    /// The hash of a long message that belongs here, piece by piece. The result is [`Domain::digest`] of the whole message.
    pub fn hasher(&self) -> Hasher {
        let mut hash = blake3::Hasher::new_keyed(&self.session);
        hash.update(&self.position());
        Hasher(hash)
    }

    /// The hash of long parts that belong here: each part is hashed under a key of this domain, and the hashes are hashed. Each part then begins at a chunk of
    /// BLAKE3, which takes a fifth of the time.
    pub fn parts_hasher(&self) -> PartsHasher {
        // A hash of hashes is never taken over so few bytes.
        PartsHasher { key: self.digest(b"part"), of_digests: self.hasher() }
    }

    /// A key derived from a secret for this domain only.
    pub fn key(&self, secret: Block) -> Block {
        let digest = Zeroizing::new(self.digest(&secret.to_bytes()));
        Block::from_digest(&digest)
    }

    /// A stream derived from a secret for this domain only.
    pub fn stream(&self, secret: Block) -> Prg {
        Prg::new(self.key(secret))
    }

    /// Commits to a message that belongs here.
    pub fn commit(&self, message: &[u8], rng: &mut (impl CryptoRng + ?Sized)) -> (Commitment, Opening) {
        Commitment::new(&self.encode(), message, rng)
    }

    /// Opens a commitment that belongs here.
    ///
    /// *Errors*: a commitment to another message, or of another domain.
    pub fn open(&self, commitment: &Commitment, message: &[u8], opening: &Opening) -> Result<Opened, OpeningMismatch> {
        commitment.open(&self.encode(), message, opening)
    }

    fn position(&self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        bytes[..2].copy_from_slice(&self.party.to_le_bytes());
        (bytes[2], bytes[3]) = (self.step, self.branch);
        bytes[4..].copy_from_slice(&self.index.to_le_bytes());
        bytes
    }

    fn encode(&self) -> [u8; 32 + POSITION_BYTES] {
        let mut bytes = [0; 32 + POSITION_BYTES];
        bytes[..32].copy_from_slice(&self.session);
        bytes[32..].copy_from_slice(&self.position());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session_id() -> SessionId {
        SessionId::new("test", [1; 32], [[2; 32], [3; 32]])
    }

    fn domain() -> Domain {
        session_id().domain(Party(0), 4).at(5).branch(6)
    }

    /// Every domain that differs from [`domain`] in one component.
    fn others() -> Vec<Domain> {
        let sessions = [
            session_id().run(0),
            session_id().run(1),
            SessionId::new("tess", [1; 32], [[2; 32], [3; 32]]),
            SessionId::new("test", [0; 32], [[2; 32], [3; 32]]),
            SessionId::new("test", [1; 32], [[0; 32], [3; 32]]),
            SessionId::new("test", [1; 32], [[3; 32], [2; 32]]),
        ];
        let mut others: Vec<Domain> = sessions.iter().map(|s| s.domain(Party(0), 4).at(5).branch(6)).collect();
        let session = session_id();
        others.push(session.domain(Party(1), 4).at(5).branch(6));
        others.push(session.domain(Party(0), 5).at(5).branch(6));
        others.push(domain().at(6));
        others.push(domain().at(5 + (1 << 32)));
        others.push(domain().branch(5));
        others
    }

    #[test]
    fn hashing_short_messages_in_pieces_gives_the_same_hash() {
        let message: Vec<u8> = (0..100).collect();
        for length in [0, 1, 16, 51, 52, 53, 100] {
            let mut pieces = domain().hasher();
            message[..length].chunks(7).for_each(|piece| pieces.add(piece));
            assert_eq!(domain().digest(&message[..length]), pieces.finish(), "{length} bytes");
        }
    }

    #[test]
    fn nothing_fits_another_domain() {
        let (commitment, opening) = domain().commit(b"m", &mut Prg::new(Block::ONES));
        assert!(domain().open(&commitment, b"m", &opening).is_ok());
        for other in others() {
            assert_eq!(other.open(&commitment, b"m", &opening).err(), Some(OpeningMismatch), "{other:?}");
            assert_ne!(other.digest(b"m"), domain().digest(b"m"), "{other:?}");
            assert!(other.key(Block::ONES) != domain().key(Block::ONES), "{other:?}");
        }
        assert_ne!(domain().digest(b"n"), domain().digest(b"m"));
        let mut hasher = domain().hasher();
        [b"m", b"n"].iter().for_each(|piece| hasher.add(*piece));
        assert_eq!(hasher.finish(), domain().digest(b"mn"));
    }

    #[test]
    fn the_hash_of_parts_depends_on_their_order_and_bounds() {
        let of = |domain: Domain, parts: &[&[u8]]| {
            let mut hasher = domain.parts_hasher();
            parts.iter().for_each(|part| hasher.add(part));
            hasher.finish()
        };
        let long = [7; 3000];
        let expected = of(domain(), &[b"head", &long]);
        let different: [&[&[u8]]; 5] = [&[&long, b"head"], &[b"head", &long, b""], &[b"hea", &long], &[&long], &[]];
        assert!(different.iter().all(|parts| of(domain(), parts) != expected));
        assert!(others().iter().all(|domain| of(*domain, &[b"head", &long]) != expected));
        assert_ne!(of(domain(), &[]), domain().digest(b"part"));
    }

    #[test]
    fn both_parties_find_the_same_identifier_and_never_the_same_twice() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let agree = |seed: u128| {
            let (mut left, mut right) = garblet_net::memory_pair();
            let (mut a, mut b) = (Prg::new(Block::from_u128(seed)), Prg::new(Block::from_u128(7)));
            runtime.block_on(async {
                let ids = tokio::join!(
                    SessionId::agree(&mut left, &mut a, "test", [0; 32], Party(0)),
                    SessionId::agree(&mut right, &mut b, "test", [0; 32], Party(1))
                );
                assert_eq!(left.traffic().bytes_sent, NONCE_BYTES);
                let (ours, theirs) = (ids.0.unwrap(), ids.1.unwrap());
                assert_eq!(ours, theirs);
                ours
            })
        };
        assert_ne!(agree(1), agree(2));
    }
}
