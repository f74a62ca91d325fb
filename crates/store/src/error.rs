//! The errors of a store.

use std::{io, path::PathBuf};

use crate::ids::{IdSet, PieceId};
use crate::kind::Kind;
use crate::store_dir::SCRATCH_EXTENSION;

/// The reason why a store could not be opened, filled or drawn from.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no store there.
    #[error("no store in {}", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder already contains a store or something else.
    #[error("{} is not empty, so no store can be created there", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process, or this one, already uses the store.
    #[error("the store in {} is in use by {}", folder.display(), by(*process))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process that uses it, if known.
        process: Option<u32>,
    },
    /// Other users of this machine can read it.
    #[error("{} has mode {mode:03o}, expected {expected:03o}: others on this machine have access", path.display())]
    Exposed {
        /// The folder or the key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// The bits that it should have.
        expected: u32,
    },
    /// The key file does not exist.
    #[error("no store key in {}: the file does not exist", path.display())]
    KeyMissing {
        /// The file.
        path: PathBuf,
    },
    /// The key file does not hold a key.
    #[error("no store key in {}: expected a file of 32 bytes, got {got}", path.display())]
    KeyMalformed {
        /// The file.
        path: PathBuf,
        /// A description of its content.
        got: String,
    },
    /// The key belongs to another store.
    #[error("the key does not open the store in {}", folder.display())]
    WrongKey {
        /// The folder.
        folder: PathBuf,
    },
    /// Another version of the program made the store, or wrote a state in it.
    #[error("the store in {}: its {what} is of format {got}, this Garblet reads format {expected}", folder.display())]
    OtherFormat {
        /// The folder.
        folder: PathBuf,
        /// The part of the store.
        what: String,
        /// The format that this version reads.
        expected: u32,
        /// The format of that part.
        got: i64,
    },
    /// The material was made for another peer, role, protocol or library.
    #[error("the store in {} was filled for another {what}: expected {expected}, got {got}", folder.display())]
    OtherBinding {
        /// The folder.
        folder: PathBuf,
        /// The property in which they differ.
        what: &'static str,
        /// The requested value.
        expected: String,
        /// The value that the store was filled for.
        got: String,
    },
    /// The peer's store is not the one that this store was filled together with.
    #[error("the peer's store is not the one that ours was filled with: expected store {expected}, got {got}")]
    OtherPeerStore {
        /// The store that ours met before.
        expected: String,
        /// The store that the peer has.
        got: String,
    },
    /// The store is not the one that the peer's was filled together with.
    #[error("our store is not the one that the peer's was filled with: expected store {expected}, got {got}")]
    OtherStore {
        /// The store that the peer's met before.
        expected: String,
        /// Our store.
        got: String,
    },
    /// The peer's store is older than it was at the last meeting.
    #[error("the peer's store is older than when we last met: expected at least change {expected}, got {got}")]
    PeerRolledBack {
        /// The last change of the peer's store that we know of.
        expected: u64,
        /// The last change that the peer's store knows of.
        got: u64,
    },
    /// The peer's store claims to have made more pieces than is possible.
    #[error("the peer's store is too far ahead of ours: expected at most {max} as the next piece of {kind}, got {got}")]
    PeerAhead {
        /// The kind of the pieces.
        kind: Kind,
        /// The largest next identifier that is possible.
        max: PieceId,
        /// The identifier that it claims.
        got: PieceId,
    },
    /// Two parties say that they have the same store.
    #[error("two parties have store {store}, expected one for each")]
    Twice {
        /// The store.
        store: String,
    },
    /// The stores of several parties claim numbers of pieces that cannot have been made together.
    #[error(
        "the stores of the parties are too far apart: expected the next piece of {kind} within {ahead} of {least}, got {most}"
    )]
    Apart {
        /// The kind of the pieces.
        kind: Kind,
        /// The largest distance that is possible.
        ahead: u64,
        /// The smallest next identifier.
        least: PieceId,
        /// The largest next identifier.
        most: PieceId,
    },
    /// The peer's store claims more kinds of pieces than two stores can have.
    #[error("the peer's store and ours have {got} kinds of pieces, expected at most {max}")]
    PeerKinds {
        /// The limit.
        max: usize,
        /// The number of kinds that there would be.
        got: usize,
    },
    /// This store is older than it was at the last meeting.
    #[error("our store is older than when it last met the peer's: expected at least change {expected}, got {got}")]
    RolledBack {
        /// The last change of our store that the peer knows of.
        expected: u64,
        /// The last change that our store knows of.
        got: u64,
    },
    /// The store is older than its record on this machine.
    #[error(
        "the store in {} is older than its record in {} says: expected at least change {expected}, got {got}",
        folder.display(),
        record.display()
    )]
    Restored {
        /// The folder.
        folder: PathBuf,
        /// The file of the record.
        record: PathBuf,
        /// The last change that was recorded.
        expected: u64,
        /// The last change that the store knows of.
        got: u64,
    },
    /// Pieces were taken from the store or from a copy of it, and this machine has no record of that.
    #[error(
        "the store in {} does not continue from its record in {}: it was used without the record, or a copy of it was used",
        folder.display(),
        record.display()
    )]
    Forked {
        /// The folder.
        folder: PathBuf,
        /// The file of the record.
        record: PathBuf,
    },
    /// The store was given up when its peer was caught cheating. Only the record says so.
    #[error("the store in {} was given up when the peer was found to cheat, according to its record in {}", folder.display(), record.display())]
    GivenUp {
        /// The folder.
        folder: PathBuf,
        /// The file of the record.
        record: PathBuf,
    },
    /// The store was to be given up, and neither it nor its record could be written.
    #[error("{store}; and its record cannot be marked as given up: {record}")]
    NotMarked {
        /// The store's failure.
        store: Box<StoreError>,
        /// The failure of the record.
        record: Box<StoreError>,
    },
    /// A copy of the store, in another folder, is open.
    #[error("the store in {} is a copy of one that is in use, according to its record in {}", folder.display(), record.display())]
    CopyInUse {
        /// The folder.
        folder: PathBuf,
        /// The file of the record.
        record: PathBuf,
    },
    /// There are fewer pieces than requested.
    #[error("the store has {available} of {wanted} pieces of {kind}: {} are missing", wanted - available)]
    NotEnough {
        /// The kind of the pieces.
        kind: Kind,
        /// The requested number of pieces.
        wanted: u64,
        /// The available number of pieces.
        available: u64,
    },
    /// Pieces requested by identifier are gone or never existed.
    #[error("the store does not have these pieces of {kind}: {missing}")]
    NotThere {
        /// The kind of the pieces.
        kind: Kind,
        /// The missing identifiers.
        missing: IdSet,
    },
    /// An identifier may have been used before.
    #[error("piece {got} of {kind} cannot be added: expected an identifier of at least {expected}")]
    IdUsed {
        /// The kind of the piece.
        kind: Kind,
        /// The smallest identifier that was never used.
        expected: PieceId,
        /// The identifier.
        got: PieceId,
    },
    /// A piece, or a state, is too large.
    #[error("{what} has {got} bytes, at most {max} are allowed")]
    TooLarge {
        /// The piece or the state.
        what: String,
        /// Its length.
        got: usize,
        /// The limit.
        max: usize,
    },
    /// There would be more kinds of pieces than a store can hold.
    #[error("more than {max} kinds of pieces")]
    TooManyKinds {
        /// The limit.
        max: usize,
    },
    /// The store's files were changed, truncated or lost.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// The place of the damage, and what is wrong there.
        what: String,
    },
    /// A file or folder of the store is a link, by which using the store would change another one.
    #[error("the store is damaged: {} is a link, which no store has", path.display())]
    Linked {
        /// The link.
        path: PathBuf,
    },
    /// An earlier write failed, so the contents of the disk are unknown.
    #[error("an earlier write to the store failed")]
    Broken,
    /// The store belongs to the process from which this one was forked.
    #[error("the store was opened by process {process}, from which this one was forked")]
    OtherProcess {
        /// The process that opened it.
        process: u32,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// The action that failed, for instance `cannot read`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// This program was built without stores on disk.
    #[error("{}: this program was built without stores on disk", path.display())]
    NoDatabase {
        /// The file of the index.
        path: PathBuf,
    },
    /// The database of the index refused.
    #[error("{doing} the index of the store: {source}")]
    Index {
        /// The action that failed, for instance `cannot read`.
        doing: &'static str,
        /// The database's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// Returns whether the peer's store makes claims that no honest one makes.
    pub fn is_misbehaviour(&self) -> bool {
        matches!(self, StoreError::PeerAhead { .. } | StoreError::PeerKinds { .. })
    }

    /// Returns whether the error concerns temporary room on disk.
    pub fn is_of_scratch(&self) -> bool {
        let is_scratch = |path: &PathBuf| path.extension().is_some_and(|extension| extension == SCRATCH_EXTENSION);
        matches!(self, StoreError::Io { path, .. } if is_scratch(path))
    }
}

fn by(process: Option<u32>) -> String {
    process.map_or("another process".into(), |id| format!("process {id}"))
}
