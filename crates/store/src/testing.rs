//! Fuzzing: the decoders behind the encryption, which nobody without the key can reach.

use crate::rows::{Extent, Head, KindRow, SegmentRow, State, decode};

/// Decodes bytes as every kind of row, and walks what comes out.
pub fn decode_row(bytes: &[u8]) {
    let _ = (decode::<Head>(bytes).is_some(), decode::<SegmentRow>(bytes).is_some(), decode::<State>(bytes).is_some());
    let row = KindRow::decode(bytes);
    if let (Some(extent), Some(row)) = (Extent::decode(bytes), &row) {
        let _ = (extent.runs_of(&row.available).count(), extent.ids().overlaps(&row.available));
    }
}
