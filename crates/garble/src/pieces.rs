//! Pieces of tables: chunks that are sent and received together.

use crate::{
    config::{CHUNK_ANDS, GarblingConfig},
    evaluator::{EvaluateError, Evaluator},
    garbler::Garbler,
};

/// Chunks of a piece: waking a waiting peer costs more than moving a chunk. Six chunks of half gates are 768 KiB, which fit in the second-level
/// cache.
const PIECE_CHUNKS: usize = 6;

/// A piece of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of AND gates up to its end.
    pub end: u64,
    /// Its bytes.
    pub bytes: usize,
}

impl GarblingConfig {
    /// The pieces in which the tables of this many AND gates are sent, in order.
    pub fn pieces(self, and_count: u64) -> impl Iterator<Item = Piece> {
        (0..and_count).step_by(PIECE_CHUNKS * CHUNK_ANDS).map(move |begin| {
            let ands = (and_count - begin).min((PIECE_CHUNKS * CHUNK_ANDS) as u64);
            Piece { end: begin + ands, bytes: self.table_bytes(ands) as usize }
        })
    }
}

impl Garbler<'_> {
    /// Writes the next piece into `tables`.
    ///
    /// # Panics
    /// If `tables` does not have as many bytes as the next chunks.
    pub fn garble_piece_into(&mut self, tables: &mut [u8]) {
        let mut rest = tables;
        while !rest.is_empty() {
            let (chunk, later) = rest.split_at_mut(self.next_chunk_bytes());
            self.garble_chunk_into(chunk);
            rest = later;
        }
    }
}

impl Evaluator<'_> {
    /// Consumes the next piece, chunk by chunk.
    ///
    /// *Errors*: more bytes than chunks have.
    pub fn evaluate_piece(&mut self, mut tables: &[u8]) -> Result<(), EvaluateError> {
        while !tables.is_empty() {
            let bytes = self.next_chunk_bytes().clamp(1, tables.len());
            let (chunk, later) = tables.split_at(bytes);
            self.evaluate_chunk(chunk)?;
            tables = later;
        }
        Ok(())
    }
}
