//! Runs that several parties have prepared together, kept in the store of each until inputs are known: each is used once.
//!
//! A piece of such a store is everything that one party needs to run one program once: with `bmr` the joint garbled circuit and its
//! secrets, with `gmw` triples, for exactly these parties. All parties know it by the same identifier.
//!
//! # Steps
//!
//! | step | what |
//! |---|---|
//! | 1 | every party reports the contents of its store; all keep the runs that all have ([`RunStore::meet`]) |
//! | 2 | to prepare: the protocol's own steps, then the piece is written durably ([`RunStore::keep`]) |
//! | 3 | to run: the piece with the smallest identifier is durably marked as used, then read ([`RunStore::take`]) |
//!
//! Step 1 comes before step 2 in every session, and no party can end step 2 without messages that every other sends after
//! its step 1. So when a piece gets an identifier, all parties know the earlier ones, and pieces with one
//! identifier were made in one session, wherever a party was interrupted.
//!
//! *Cost*: step 1 takes a round and about 100 bytes to every peer for each program. After that, a run costs only the bytes and
//! rounds of its protocol's online phase.

pub mod joint;
mod messages;
pub mod ots;
#[cfg(feature = "testing")]
pub mod testing;
#[doc(hidden)]
pub use garblet_circuit as circuit;
pub use garblet_protocol as protocol;
#[doc(hidden)]
pub use garblet_store as store;

use garblet_circuit::{Party, Program, ScheduleDigest};
use garblet_net::Line;
use garblet_primitives::Block;
use garblet_store::{Binding, Kind, PIECE_BYTES_MAX, PieceId, State, Store, Summary};
use zeroize::Zeroizing;

use garblet_protocol::{
    error::{NotPrepared, ProtocolError},
    run_id::RunId,
    session::MeshSession,
};
use messages::HasRuns;

/// The most runs of a program by which one store may be ahead of another. A run is written before the next one is prepared, so it is one for each session that broke off
/// before a party wrote its first run: until then, its store forgets what it heard.
const AHEAD: u64 = 1 << 10;

/// The version of stored runs.
pub const VERSION: u32 = 1;

/// A party's preparation of one run, as bytes.
pub trait StoredRun: Sized {
    /// The agreement between the parties.
    type Plan;

    /// Its size in bytes.
    fn byte_len(plan: &Self::Plan, party: Party) -> usize;

    /// Appends these bytes.
    fn write(&self, plan: &Self::Plan, bytes: &mut Vec<u8>);

    /// Reads them back as the run with this number; `None` if there are too few.
    fn read(plan: &Self::Plan, party: Party, run: RunId, bytes: Reader<'_>) -> Option<Self>;
}

/// Bytes to read from the front.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads these bytes.
    #[cfg(feature = "testing")]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next block.
    pub fn block(&mut self) -> Option<Block> {
        Some(Block::from_bytes(self.take(16)?.try_into().ok()?))
    }

    /// The next `count` blocks.
    pub fn blocks(&mut self, count: usize) -> Option<Vec<Block>> {
        let (bytes, _) = self.take(count.checked_mul(16)?)?.as_chunks();
        Some(bytes.iter().map(|block| Block::from_bytes(*block)).collect())
    }
}

/// The purpose of stored runs.
pub struct Purpose<'a> {
    /// The program.
    pub program: &'a Program,
    /// The order of the program's gates.
    pub schedule: ScheduleDigest,
    /// The protocol, with all parameters.
    pub protocol: String,
    /// The identities of the peers, in order.
    pub peers: &'a str,
}

/// The name under which stores are bound that have runs of a protocol with all parameters.
pub(crate) fn bound_as(protocol: &str) -> String {
    format!("{protocol}, version {VERSION}")
}

/// A party's store of runs of one program that all parties have.
pub struct RunStore {
    store: Store,
    kind: Kind,
    program: String,
    lost: u64,
}

impl RunStore {
    /// Step 1.
    ///
    /// *Errors*: a store that was filled for others; stores that were not filled together, or that were restored from a backup, naming
    /// their party.
    pub async fn meet(
        session: &mut MeshSession,
        mut store: Store,
        purpose: &Purpose<'_>,
    ) -> Result<Self, ProtocolError> {
        let (own, count) = (session.mesh().party(), session.mesh().party_count());
        store.bind(&Binding {
            peer: purpose.peers.into(),
            role: format!("party {own} of {count}"),
            protocol: bound_as(&purpose.protocol),
            library: String::new(),
        })?;
        let summary = store.summary();
        let exchange = async |_, mut line: Line, ()| {
            line.send(&HasRuns { summary: summary.clone() }).await?;
            Ok::<_, ProtocolError>(line.receive::<HasRuns>().await?.summary)
        };
        let peers = session.mesh().per_peer(|_| ());
        let theirs = session.mesh().each(peers, exchange).await?;
        for (at, (peer, summary)) in theirs.iter().enumerate() {
            let refuse =
                |error| ProtocolError::Peer { party: Party(peer), source: Box::new(ProtocolError::Store(error)) };
            store.check_peer(at, summary).map_err(refuse)?;
        }
        let theirs: Vec<Summary> = theirs.into_iter().map(|(_, summary)| summary).collect();
        let kind = kind_of(purpose.program, purpose.schedule);
        store.know(&[&kind])?;
        let lost = store.reconcile_all(&theirs, AHEAD)?.dropped.iter().map(|(_, count)| count).sum();
        Ok(RunStore { store, kind, program: purpose.program.name().into(), lost })
    }

    /// The number of stored runs of the program.
    pub fn ready(&self) -> u64 {
        self.store.count(&self.kind)
    }

    /// Step 2: keeps a newly prepared run. All parties keep the same runs in the same order.
    ///
    /// *Errors*: a store that cannot be written.
    pub fn keep<R: StoredRun>(&mut self, plan: &R::Plan, party: Party, run: &R) -> Result<(), ProtocolError> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(R::byte_len(plan, party)));
        run.write(plan, &mut bytes);
        let (name, program) = (self.kind.name().to_string(), self.program.clone());
        let mut batch = self.store.batch();
        batch.push(&self.kind, batch.next_id(&self.kind), &bytes)?;
        batch.set_state(&name, State { version: VERSION, bytes: program.into_bytes() })?;
        Ok(batch.commit()?)
    }

    /// Step 3: takes a run. When this returns, the run is durably marked as used.
    ///
    /// *Errors*: [`NotPrepared::NoRun`]; a piece that was changed on disk, which is also used up.
    pub fn take<R: StoredRun>(&mut self, plan: &R::Plan, party: Party) -> Result<(PieceId, R), ProtocolError> {
        if self.ready() == 0 {
            return Err(no_run(&self.store, &self.program).into());
        }
        let mut taken = self.store.take_next(&self.kind, 1)?;
        let piece = taken.next().transpose()?;
        let run = piece.and_then(|piece| {
            let fits = piece.bytes.len() == R::byte_len(plan, party);
            Some((piece.id, R::read(plan, party, RunId::of_piece(piece.id), Reader(&piece.bytes)).filter(|_| fits)?))
        });
        run.ok_or_else(|| {
            let (expected, got) = ("what was stored".into(), "other bytes".into());
            ProtocolError::Stored { what: "a run", expected, got }
        })
    }

    /// The number of pieces discarded because not all stores had them.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The store.
    pub fn into_store(self) -> Store {
        self.store
    }
}

/// The error for a program without runs in a store, with the runs of other programs.
pub(crate) fn no_run(store: &Store, program: &str) -> NotPrepared {
    let others = store.stock().into_iter().filter(|stock| !stock.available.is_empty());
    let name = |kind: &Kind| program_of(store, kind).unwrap_or_else(|| kind.name().into());
    let others = others.map(|stock| (name(&stock.kind), stock.available.len())).collect();
    NotPrepared::NoRun { program: program.into(), others }
}

/// Refuses a program whose runs are larger than a piece can be.
///
/// *Errors*: [`ProtocolError::Unsupported`].
pub(crate) fn check_size<R: StoredRun>(
    plan: &R::Plan,
    party: Party,
    protocol: &'static str,
    program: &Program,
) -> Result<(), ProtocolError> {
    let bytes = R::byte_len(plan, party);
    match bytes <= PIECE_BYTES_MAX {
        true => Ok(()),
        false => {
            let reason = format!("a run takes {bytes} bytes in a store, at most {PIECE_BYTES_MAX} can be kept");
            Err(ProtocolError::Unsupported { protocol, program: program.name().into(), reason })
        }
    }
}

/// The kind of runs of a program with this order of gates, as stores name it: parties do not agree on names of programs.
pub fn kind_of(program: &Program, schedule: ScheduleDigest) -> Kind {
    let digest = program.digest();
    let start: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Kind::new(&format!("run of program {start}"), &[digest, *schedule.as_bytes()].concat())
}

/// The name of the program behind a kind.
pub fn program_of(store: &Store, kind: &Kind) -> Option<String> {
    let name = store.state(kind.name()).filter(|state| state.version == VERSION)?;
    String::from_utf8(name.bytes.clone()).ok()
}
