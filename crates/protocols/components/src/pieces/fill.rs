//! Filling two stores before a function is known: step 2.
//!
//! No program is known here. Both parties know what is missing from the contents of both stores, so pieces follow one another
//! without headers. A batch is durable at each side separately. If a connection is cut, pieces that only one side has are
//! discarded at the next meeting, and made again under later identifiers.

use std::ops::Range;

use garblet_ot::{CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, Width};
use garblet_store::{PieceId, Store};
use zeroize::Zeroizing;

use crate::library::OTS_PER_PIECE;
use crate::pieces::garble::{Garbled, PieceGarbler};
use crate::pieces::material::Material;
use crate::pieces::secrets::Secrets;
use crate::pieces::stock::Kind;
use garblet_protocol::{error::ProtocolError, session::Session};

/// Bytes of a batch at the evaluator, unless a piece is larger.
const BATCH_BYTES: usize = 64 << 20;
/// Most pieces of a batch.
const BATCH_PIECES: u64 = 1 << 14;
/// Bytes that are sent while more is garbled.
const SEND_BYTES: usize = 256 << 10;

/// A batch: identifiers of one kind.
type Batch = (Kind, Range<u64>);

/// The batches that fill a shortage.
///
/// *Errors*: identifiers that are used up.
fn batches(store: &Store, material: &Material, shortage: &[(Kind, u64)]) -> Result<Vec<Batch>, ProtocolError> {
    let mut batches = Vec::new();
    for &(kind, missing) in shortage {
        let first = store.next_id(&material.stored(kind)).0;
        let end = first.saturating_add(missing);
        if end > material.most(kind) {
            let (what, expected) =
                ("pieces of a kind", format!("at most {} {}", material.most(kind), material.name(kind)));
            return Err(ProtocolError::Stored { what, expected, got: end.to_string() });
        }
        let mut next = first;
        while next < end {
            let bytes = piece_bytes(material, kind, next).max(1);
            let count = ((BATCH_BYTES / bytes) as u64).clamp(1, BATCH_PIECES).min(end - next);
            batches.push((kind, next..next + count));
            next += count;
        }
    }
    Ok(batches)
}

/// Bytes that the evaluator gets for a piece, including those of a template's cells.
fn piece_bytes(material: &Material, kind: Kind, id: u64) -> usize {
    let own = material.evaluator_bytes(kind, id);
    let Kind::Template(t) = kind else { return own };
    let cells = material.cells(t);
    own + (id * cells..(id + 1) * cells).map(|cell| material.evaluator_bytes(Kind::Cell(t), cell)).sum::<usize>()
}

/// Bytes that the garbler keeps of pieces.
fn kept_bytes(material: &Material, kind: Kind, ids: &Range<u64>) -> usize {
    ids.clone().map(|id| material.garbler_bytes(kind, id)).sum()
}

/// AND gates of a batch, for the progress display.
fn gates(material: &Material, (kind, ids): &Batch) -> u64 {
    let count = ids.end - ids.start;
    match kind {
        Kind::Transfers | Kind::Cell(_) => 0,
        Kind::Single(ty) => count * material.instances(*ty).and_count(),
        Kind::Template(t) => {
            let cells = material.library().templates()[*t as usize].cells();
            count * cells.iter().map(|ty| material.instances(*ty).and_count()).sum::<u64>()
        }
    }
}

/// The progress of a fill.
struct Done {
    gates: u64,
    total: u64,
}

impl Done {
    fn new(material: &Material, batches: &[Batch]) -> Self {
        Done { gates: 0, total: batches.iter().map(|batch| gates(material, batch)).sum() }
    }

    fn batch(&mut self, session: &mut Session, gates: u64) {
        self.gates += gates;
        session.advance(self.gates, self.total);
    }
}

/// The garbler's side.
pub(crate) async fn garbler(
    session: &mut Session,
    store: &mut Store,
    material: &Material,
    secrets: &Secrets,
    width: Width,
    shortage: &[(Kind, u64)],
) -> Result<(), ProtocolError> {
    let batches = batches(store, material, shortage)?;
    let mut done = Done::new(material, &batches);
    let mut garbler = PieceGarbler::new(material, secrets);
    let mut ot = None;
    for batch in &batches {
        let (kind, ids) = batch.clone();
        match kind {
            Kind::Transfers => {
                if ot.is_none() {
                    let (channel, rng) = session.parts();
                    ot = Some(CotSender::setup(channel, rng, &secrets.delta, width).await?);
                }
                let Some(ot) = &mut ot else { continue };
                let count = (ids.end - ids.start) * OTS_PER_PIECE;
                let q = ot.extend(session.channel(), count as usize).await?;
                put(store, material, kind, ids, bytemuck::cast_slice(&q), |kind, id| material.garbler_bytes(kind, id))?;
            }
            Kind::Single(ty) => {
                // Capacity for all, since growing would leave copies behind.
                let mut kept = Zeroizing::new(Vec::with_capacity(kept_bytes(material, kind, &ids)));
                let bytes = material.evaluator_bytes(kind, ids.start).max(1);
                let step = (SEND_BYTES / bytes).clamp(1, 4096) as u64;
                for first in ids.clone().step_by(step as usize) {
                    let count = step.min(ids.end - first) as usize;
                    let Garbled { sent, kept: own } = garbler.singles(ty, first, count);
                    session.channel().send_bytes(&sent).await?;
                    kept.extend_from_slice(&own);
                }
                put(store, material, kind, ids, &kept, |kind, id| material.garbler_bytes(kind, id))?;
            }
            Kind::Template(t) => {
                let cells = material.cells(t);
                let own = ids.start * cells..ids.end * cells;
                let mut kept = Zeroizing::new(Vec::with_capacity(kept_bytes(material, Kind::Cell(t), &own)));
                for id in ids.clone() {
                    let (Garbled { sent, kept: own }, links) = garbler.template(t, id);
                    session.channel().send_bytes(&sent).await?;
                    session.channel().send_bytes(&links).await?;
                    kept.extend_from_slice(&own);
                }
                let cells = (Kind::Cell(t), own, &kept[..]);
                put_all(store, material, &[cells, (kind, ids, &[])], |kind, id| material.garbler_bytes(kind, id))?;
            }
            Kind::Cell(_) => {}
        }
        done.batch(session, gates(material, batch));
    }
    session.channel().flush().await?;
    Ok(())
}

/// The evaluator's side.
pub(crate) async fn evaluator(
    session: &mut Session,
    store: &mut Store,
    material: &Material,
    width: Width,
    shortage: &[(Kind, u64)],
) -> Result<(), ProtocolError> {
    let batches = batches(store, material, shortage)?;
    let mut done = Done::new(material, &batches);
    let size = |kind, id| material.evaluator_bytes(kind, id);
    let mut ot = None;
    for batch in &batches {
        let (kind, ids) = batch.clone();
        match kind {
            Kind::Transfers => {
                if ot.is_none() {
                    let (channel, rng) = session.parts();
                    ot = Some(CotReceiver::setup(channel, rng, width).await?);
                }
                let Some(ot) = &mut ot else { continue };
                let count = ((ids.end - ids.start) * OTS_PER_PIECE) as usize;
                let (choices, t) = ot.extend_random(session.channel(), count).await?;
                session.channel().flush().await?;
                let pieces =
                    t.chunks(OTS_PER_PIECE as usize).zip(choices.as_bytes().chunks(OTS_PER_PIECE as usize / 8));
                let mut bytes = Zeroizing::new(Vec::with_capacity(16 * count + count / 8));
                for (t, choices) in pieces {
                    bytes.extend_from_slice(bytemuck::cast_slice(t));
                    bytes.extend_from_slice(choices);
                }
                put(store, material, kind, ids, &bytes, size)?;
            }
            Kind::Single(_) => receive_singles(session, store, material, kind, ids).await?,
            Kind::Template(t) => {
                let count = material.cells(t);
                let (mut cells, mut links) = (Vec::new(), Vec::new());
                for id in ids.clone() {
                    let bytes = (id * count..(id + 1) * count).map(|cell| size(Kind::Cell(t), cell)).sum();
                    cells.extend_from_slice(&receive(session, bytes).await?);
                    links.extend_from_slice(&receive(session, size(kind, id)).await?);
                }
                let cells = (Kind::Cell(t), ids.start * count..ids.end * count, &cells[..]);
                put_all(store, material, &[cells, (kind, ids, &links[..])], size)?;
            }
            Kind::Cell(_) => {}
        }
        done.batch(session, gates(material, batch));
    }
    Ok(())
}

/// Receives single components and adds them to the store while they are in the processor's cache.
async fn receive_singles(
    session: &mut Session,
    store: &mut Store,
    material: &Material,
    kind: Kind,
    mut ids: Range<u64>,
) -> Result<(), ProtocolError> {
    let stored = material.stored(kind);
    let mut batch = store.batch();
    let mut buffer = Vec::new();
    while !ids.is_empty() {
        let first = ids.start;
        let mut bytes = 0;
        while bytes < SEND_BYTES && !ids.is_empty() {
            bytes += material.evaluator_bytes(kind, ids.start);
            ids.start += 1;
        }
        buffer.resize(bytes, 0);
        session.channel().receive_bytes(&mut buffer).await?;
        let mut rest = &buffer[..];
        for id in first..ids.start {
            let (piece, later) = rest.split_at(material.evaluator_bytes(kind, id));
            batch.push(&stored, PieceId(id), piece)?;
            rest = later;
        }
    }
    Ok(batch.commit()?)
}

/// Receives bytes, whose number follows from our own library.
async fn receive(session: &mut Session, bytes: usize) -> Result<Vec<u8>, ProtocolError> {
    let mut all = vec![0; bytes];
    session.channel().receive_bytes(&mut all).await?;
    Ok(all)
}

fn put(
    store: &mut Store,
    material: &Material,
    kind: Kind,
    ids: Range<u64>,
    bytes: &[u8],
    size: impl Fn(Kind, u64) -> usize,
) -> Result<(), ProtocolError> {
    put_all(store, material, &[(kind, ids, bytes)], size)
}

/// Adds consecutive pieces to the store, in one change.
fn put_all(
    store: &mut Store,
    material: &Material,
    kinds: &[(Kind, Range<u64>, &[u8])],
    size: impl Fn(Kind, u64) -> usize,
) -> Result<(), ProtocolError> {
    let mut batch = store.batch();
    for (kind, ids, bytes) in kinds {
        let stored = material.stored(*kind);
        let mut rest = *bytes;
        for id in ids.clone() {
            let (piece, later) = rest.split_at(size(*kind, id));
            batch.push(&stored, PieceId(id), piece)?;
            rest = later;
        }
    }
    Ok(batch.commit()?)
}
