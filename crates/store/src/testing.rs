//! For fuzzing: the decoders of decrypted data, which are out of reach without the key. For tests: the state of the disk at any write.

use crate::rows::{Extent, Head, KindRow, SegmentRow, State, decode};

/// Decodes bytes as every kind of row, and walks the results.
pub fn decode_row(bytes: &[u8]) {
    let _ = (decode::<Head>(bytes).is_some(), decode::<SegmentRow>(bytes).is_some(), decode::<State>(bytes).is_some());
    let row = KindRow::decode(bytes);
    if let (Some(extent), Some(row)) = (Extent::decode(bytes), &row) {
        let _ = (extent.runs_of(&row.available).count(), extent.ids().overlaps(&row.available));
    }
}

/// Opens a store, or creates one if there is none. `hook` receives the name of each write before it, and may make it fail.
///
/// *Errors*: as [`Store::open_or_create`](crate::Store::open_or_create).
#[cfg(feature = "testing")]
pub fn open_hooked(
    folder: &std::path::Path,
    key: &crate::StoreKey,
    rng: &mut impl rand_core::CryptoRng,
    hook: impl FnMut(&'static str) -> std::io::Result<()> + Send + 'static,
) -> Result<crate::Store, crate::StoreError> {
    let steps = crate::fail_points::FailPoints::with(hook);
    match crate::Store::find(folder) {
        Ok(()) => crate::Store::open_with(folder, key, rng, steps),
        Err(_) => crate::Store::create_with(folder, key, rng, steps),
    }
}
