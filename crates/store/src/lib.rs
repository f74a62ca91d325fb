//! One-time material and saved wires on disk, each piece used at most once, whatever crashes.
//!
//! A *piece* is a run of bytes that a protocol prepared and will use once: a garbled component, precomputed OTs, a
//! triple, a gate, a saved wire. It has a [`Kind`] and, within it, a [`PieceId`] that both parties know it by. Pieces come
//! in [batches](Store::batch) and are [taken](Store::take) once; when the two parties meet, their stores
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
//!   index.sqlite          what there is, and what was taken: sealed rows
//!   segments/00000000.seg pieces, one behind the other, each sealed
//! ```
//!
//! **The index is an SQLite database** because it must survive anything: SQLite reports damaged files as errors, where
//! redb (4.4) panicked on 17 of 3,000 randomly damaged ones; it overwrites what is deleted (`secure_delete`), where redb
//! leaves old pages to be reused; and its commit costs one wait for the disk, as redb's does. The index holds ranges, not a row
//! per piece: a row per kind, per segment, and per run of pieces of a kind in a batch.
//!
//! **Pieces are in plain files**, because they are written once in large runs, read once, and then of no use: nothing that a
//! database does for gigabytes is needed, and a segment of which nothing is left is simply removed.
//!
//! **A batch** is written to its segments, these are made durable, then the index is changed in one transaction. Cut off before
//! that, the batch is not there, and the next opening removes what it left. **To take** is one transaction of the index; only
//! then are bytes read, handed out, and overwritten. Cut off in between, the pieces are lost, which is allowed; to offer them
//! again is not. A write that fails leaves the store [unusable](StoreError::Broken) until it is opened again.
//!
//! # What the key protects
//!
//! Everything but sizes, times, counts of rows, and the store's number is encrypted and authenticated with AES-256-GCM under keys that are
//! derived from the [`StoreKey`]. Who has the files and not the key learns nothing of the pieces, and changes nothing unnoticed: a
//! changed, cut or exchanged piece is [`StoreError::Damaged`] when it is read, and so is an index of which any row was
//! changed, removed, or put back alone. Who has the key as well has everything; it should not lie in the same backup.
//!
//! **A store must not be restored from a backup.** Files and key that are put back as a whole are as they once were, and nothing in
//! them can tell; what was used since would be used again, which reveals inputs. Two things speak against an old copy:
//!
//! - Its [record](Store::record_in) in another folder: a random name of its last change, brought up to date, durably, before anything is handed out, and
//!   before a meeting goes on. A copy that does not know the last piece that was taken or the last meeting is refused ([older](StoreError::Restored), or [gone on by
//!   itself](StoreError::Forked)), whatever the peer says, and if both parties' stores are put back. What is put back together with the record is not noticed so; a store of which there is no
//!   record on the machine is opened, and the caller [is told](Past::Unknown).
//! - The peer, if it is honest: when stores meet, each tells how often it has been changed and how far it knows the other to be, and a
//!   store that is older than when its last meeting began is [refused](StoreError::RolledBack) by both; what the peer has used is given up. A peer that
//!   lies, or whose store was put back as well, does not notice; nor does anybody a copy that was made at rest just before the last meeting, or later.
//!
//! Nothing that a peer says can make a store offer again what it knows to be used, nor at one meeting use up the identifiers or kinds that it has left:
//! claims beyond [what can be](AHEAD_MAX) are [refused](StoreError::PeerAhead).
//!
//! **Taken pieces are overwritten** when they are read, and the key of a segment of which nothing is left is deleted with
//! its file. On storage that keeps old versions (flash, snapshots, copying file systems) overwriting is an effort, not a
//! promise; the encryption is. The expanded keys inside `ring` are not wiped from memory.

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
pub use store::{KINDS_MAX, Stock, Store};
pub use store_dir::sync_folder;
pub use take::{Piece, Taken};
pub use verify::{Damage, Verified};
