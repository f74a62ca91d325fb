//! Digests of circuits, which stand in for them before it is known which are wanted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use garblet_primitives::Block;

use super::{circuit::Shared, garbling::ToGarble};
use garblet_protocol::{domain::Domain, error::ProtocolError, workers};

/// The digest of a circuit.
pub const DIGEST_BYTES: usize = 32;

/// The number of AND gates after which a thread reports: more frequent reports would wake the waiting task more often.
const SAID_TOGETHER_ANDS: u64 = 1 << 16;

/// Garbles circuits only for their digests: each on one of `workers` threads, part by part in the same buffer. They are
/// numbered from 0, without gaps.
///
/// `see` sees each part, by its circuit and its number, and may change it; `advance` gets the number of finished circuits.
/// *Unique*: only digests are hashed in `domain`. *Errors*: a thread that panicked.
pub async fn of_all(
    circuits: Vec<ToGarble>,
    shared: Arc<Shared>,
    domain: Domain,
    workers: usize,
    see: impl Fn(usize, usize, &mut [Block]) + Clone + Send + 'static,
    mut advance: impl FnMut(usize),
) -> Result<Vec<[u8; DIGEST_BYTES]>, ProtocolError> {
    let mut digests = vec![[0; DIGEST_BYTES]; circuits.len()];
    let (give, mut take) = workers::channel();
    let (circuits, next) = (Arc::new(circuits), Arc::new(AtomicUsize::new(0)));
    for _ in 0..workers {
        let (give, circuits, shared, next, see) =
            (give.clone(), circuits.clone(), shared.clone(), next.clone(), see.clone());
        // It ends when the channel closes.
        let _work = workers::Work::begin(move || {
            let (mut buffer, mut made) = (Vec::new(), Vec::new());
            while let Some(of) = circuits.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut stream = of.stream(&shared);
                let mut hash = domain.at(of.circuit as u64).parts_hasher();
                let mut part = 0;
                while let Some(blocks) = stream.next_part(&mut buffer) {
                    see(of.circuit, part, blocks);
                    hash.add(bytemuck::cast_slice(blocks));
                    part += 1;
                }
                made.push((of.circuit, hash.finish()));
                let is_enough = made.len() as u64 * of.blueprint.and_count() >= SAID_TOGETHER_ANDS;
                if is_enough && give.blocking_send(std::mem::take(&mut made)).is_err() {
                    return;
                }
            }
            // If this fails, nobody is waiting any more.
            let _ = give.blocking_send(made);
        });
    }
    drop(give);
    let mut done = 0;
    while done < digests.len() {
        let made = take.recv().await.ok_or(ProtocolError::WorkerLost)?;
        done += made.len();
        made.into_iter().for_each(|(circuit, digest)| digests[circuit] = digest);
        advance(done);
    }
    Ok(digests)
}
