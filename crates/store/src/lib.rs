//! One-time material and saved wires on disk. Each piece is used at most once, whatever crashes.
//!
//! A *piece* is a run of bytes that a protocol prepared and will use once: a garbled component, precomputed OTs, a
//! triple, a gate, a saved wire. It has a [`Kind`] and, within the kind, a [`PieceId`] that both parties know. Pieces are added
//! in [batches](Store::batch) and [taken](Store::take) once. When the two parties meet, their stores
//! [reconcile](Store::reconcile), so that both have the same pieces. Small secrets that last as long as the store, such as
//! the global difference of all labels, are its [`State`]s.
//!
//! ```
//! use garblet_store::{Kind, Store};
//!
//! # use rand::{SeedableRng, rngs::StdRng};
//! # fn main() -> Result<(), garblet_store::StoreError> {
//! # let mut rng = StdRng::seed_from_u64(1);
//! let mut store = Store::in_memory(&mut rng)?;
//! let kind = Kind::new("component aes-round", b"half gates");
//! let mut batch = store.batch();
//! for table in [[1; 64], [2; 64]] {
//!     batch.push(&kind, batch.next_id(&kind), &table)?;
//! }
//! batch.commit()?;
//!
//! // When this returns, no crash brings the piece back.
//! let mut taken = store.take_next(&kind, 1)?;
//! let piece = taken.next().expect("one piece")?;
//! assert_eq!(piece.bytes[..], [1; 64]);
//! assert_eq!(store.count(&kind), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # On disk
//!
//! ```text
//! FOLDER/                 mode 700
//!   lock                  held while a process has the store open; the operating system releases it
//!   index.sqlite          which pieces there are, and which were taken: sealed rows
//!   segments/00000000.seg pieces, one after another, each sealed
//! ```
//!
//! **The index is an SQLite database** because it must survive anything. SQLite reports damaged files as errors, whereas
//! redb (4.4) panicked on 17 of 3,000 randomly damaged ones. SQLite overwrites deleted rows (`secure_delete`), whereas redb
//! leaves old pages until they are reused. Its commit costs one wait for the disk, as redb's does. The index holds ranges: a row per
//! kind, per segment, and per run of pieces of a kind in a batch.
//!
//! **Pieces are in plain files** because they are written once in large runs, read once, and then useless. They need none of
//! the services of a database, and a segment without pieces is simply removed.
//!
//! **To add a batch**, the store writes it to its segments, syncs these to disk, and then changes the index in one transaction. If it is
//! cut off before, the batch is absent, and the next opening removes its remains. **To take pieces** is one transaction of the index. Only
//! then does the store read, return and overwrite their bytes. If it is cut off in between, the pieces are lost: the store would rather lose
//! a piece than offer it twice. A failed write leaves the store [unusable](StoreError::Broken) until it is opened again.
//!
//! # What the key protects
//!
//! Everything except sizes, times, counts of rows, and the store's number is encrypted and authenticated with AES-256-GCM under keys that are
//! derived from the [`StoreKey`]. Somebody with the files but without the key learns nothing about the pieces and can change nothing unnoticed: a
//! changed, truncated or exchanged piece is [`StoreError::Damaged`] when it is read, and so is an index with a row that was
//! changed, removed, or replaced by an older one. Somebody with the key as well has everything, so do not keep both in the same backup.
//!
//! **A store must not be restored from a backup.** Nothing in the restored files shows that they are old, and pieces used since the backup would be
//! used again, which reveals inputs. Two mechanisms detect an old copy:
//!
//! - Its [record](Store::record_in) in another folder: a random name of its last change, updated durably before anything is handed out and before a meeting
//!   continues. A copy that does not know the last taken piece or the last meeting is refused ([older](StoreError::Restored), or [used
//!   separately](StoreError::Forked)), whatever the peer says, even if both parties restore their stores. A copy restored together with its record is not detected. A store without a
//!   record on this machine is opened, and the caller [learns that](Past::Unknown).
//! - The peer, if it is honest: when stores meet, each sends its own number of changes and the last number that it knows of the other. Both refuse a store that is
//!   [older](StoreError::RolledBack) than at the beginning of its last meeting, and pieces that the peer has used are discarded. A peer that lies, or whose store was restored as well,
//!   detects nothing. Nobody detects a copy that was made just before the last meeting, or later.
//!
//! No message of a peer can make a store offer a used piece again, or use up its remaining identifiers or kinds at one meeting: claims beyond what the protocol
//! [allows](Store::reconcile) are [refused](StoreError::PeerAhead).
//!
//! **Taken pieces are overwritten** when they are read, and the key of a segment without pieces is deleted with its file. On storage that keeps old
//! versions (flash, snapshots, copy-on-write file systems) overwriting is an attempt, not a guarantee; the encryption is one. The expanded keys inside
//! `ring` are not wiped from memory.

mod batch;
mod binding;
mod compact;
#[cfg_attr(not(feature = "database"), path = "no_database.rs")]
mod database;
mod edit;
mod error;
mod fail_points;
#[cfg(test)]
mod faults;
mod ids;
mod index;
mod key;
mod kind;
mod locked;
mod reconcile;
mod record;
mod rows;
mod scratch;
mod seal;
mod segment;
mod store;
mod store_dir;
mod take;
pub mod testing;
mod verify;

pub use batch::{Batch, PIECE_BYTES_MAX};
pub use binding::Binding;
pub use compact::Compacted;
pub use error::StoreError;
pub use ids::{IDS_MAX, IdSet, PieceId};
pub use key::StoreKey;
pub use kind::{Kind, KindDigest};
pub use reconcile::{AHEAD_MAX, Reconciled, Summary};
pub use record::Past;
pub use rows::State;
pub use scratch::{SLACK_BYTES, Scratch};
pub use store::{KINDS_MAX, STATE_BYTES_MAX, Stock, Store};
pub use store_dir::sync_folder;
pub use take::{Piece, Taken};
pub use verify::{Damage, Verified};
