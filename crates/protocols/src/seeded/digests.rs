//! Digests of circuits, which stand for them before it is known which of them are wanted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use garblet_primitives::Block;
use tokio::sync::mpsc;

use super::{circuit::Shared, garbling::ToGarble};
use crate::{binding::Place, workers};

/// The digest of a circuit.
pub(crate) const DIGEST_BYTES: usize = 32;

/// Begins to garble circuits for nothing but their digests: each by one of so many threads, part by part where the part before
/// was. They come in any order, each with the number of its circuit; fewer than there are circuits if a thread panicked.
///
/// `see` sees each part, by its circuit and its number, and may change it. *Unique*: digests are all that is hashed at `place`.
pub(crate) fn begin(
    circuits: Vec<ToGarble>,
    shared: Arc<Shared>,
    place: Place,
    workers: usize,
    see: impl Fn(usize, usize, &mut [Block]) + Clone + Send + 'static,
) -> mpsc::Receiver<(usize, [u8; DIGEST_BYTES])> {
    let (give, take) = workers::channel();
    let (circuits, next) = (Arc::new(circuits), Arc::new(AtomicUsize::new(0)));
    for _ in 0..workers {
        let (give, circuits, shared, next, see) =
            (give.clone(), circuits.clone(), shared.clone(), next.clone(), see.clone());
        // Its end is the end of the channel.
        let _work = workers::Work::begin(move || {
            let mut room = Vec::new();
            while let Some(of) = circuits.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut stream = of.stream(&shared);
                let mut hash = place.at(of.circuit as u64).parts_hasher();
                let mut part = 0;
                while let Some(blocks) = stream.next_part(&mut room) {
                    see(of.circuit, part, blocks);
                    hash.add(bytemuck::cast_slice(blocks));
                    part += 1;
                }
                if give.blocking_send((of.circuit, hash.finish())).is_err() {
                    return;
                }
            }
        });
    }
    take
}
