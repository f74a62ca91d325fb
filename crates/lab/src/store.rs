//! `garblet-lab store`: filling a store and drawing from it, against a plain file.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use garblet_console::{failure::Failure, hints::store_failure, output};
use garblet_store::{IdSet, Kind, PieceId, Store, StoreError, StoreKey};
use serde_json::json;

use crate::page::{Form, Piece};

/// The approximate size of a batch of pieces that is committed at once.
const BATCH_BYTES: u64 = 32 << 20;

/// The options of `garblet-lab store`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Pieces
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pieces: u64,
    /// Bytes of a piece; an AES round by half gates has 20,480
    #[arg(long, value_name = "N", default_value_t = 20_480, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    bytes: u64,
    /// Pieces taken at a time
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    take: u64,
    /// Make the store in this folder, and remove it at the end [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// The times and the bytes that were measured.
struct Measured {
    plain: Duration,
    fill: Duration,
    verify: Duration,
    take: Duration,
    store_bytes: u64,
}

/// Runs the benchmark.
///
/// *Errors*: a folder that cannot be written; standard output cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let parent = options.folder.clone().unwrap_or_else(std::env::temp_dir);
    let folder = parent.join(format!("garblet-bench-store-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| Failure::unwritable(&folder, &e))?;
    let measured = measure(options, &folder);
    let _ = fs::remove_dir_all(&folder);
    report(options, &measured?)
}

fn measure(options: &Options, folder: &Path) -> Result<Measured, Failure> {
    let piece: Vec<u8> = (0..options.bytes).map(|i| i as u8).collect();
    let plain = plain(options, &piece, &folder.join("plain")).map_err(|e| Failure::unwritable(folder, &e))?;
    let failed = |e: StoreError| store_failure(&e);
    let key = StoreKey::generate(&mut rand::rng());
    let mut store = Store::create(&folder.join("store"), &key, &mut rand::rng()).map_err(failed)?;
    let kind = Kind::new("piece", b"");
    let fill = timed(|| fill(&mut store, &kind, &piece, options.pieces)).map_err(failed)?;
    let store_bytes = store.segment_bytes();
    let verify = timed(|| store.verify(&mut |_, _| {}).map(drop)).map_err(failed)?;
    let take = timed(|| take(&mut store, &kind, options)).map_err(failed)?;
    Ok(Measured { plain, fill, verify, take, store_bytes })
}

/// The same bytes into a plain file, with a wait for the disk as often as the store has.
fn plain(options: &Options, piece: &[u8], path: &Path) -> std::io::Result<Duration> {
    use std::io::Write;
    let begin = Instant::now();
    let mut file = std::io::BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
    let mut since = 0;
    for _ in 0..options.pieces {
        file.write_all(piece)?;
        since += options.bytes;
        if since >= BATCH_BYTES {
            file.flush()?;
            file.get_ref().sync_data()?;
            since = 0;
        }
    }
    file.flush()?;
    file.get_ref().sync_data()?;
    let time = begin.elapsed();
    fs::remove_file(path)?;
    Ok(time)
}

fn fill(store: &mut Store, kind: &Kind, piece: &[u8], pieces: u64) -> Result<(), StoreError> {
    let per_batch = (BATCH_BYTES / piece.len() as u64).max(1);
    let mut left = pieces;
    while left > 0 {
        let mut batch = store.batch();
        for _ in 0..left.min(per_batch) {
            batch.push(kind, batch.next_id(kind), piece)?;
        }
        batch.commit()?;
        left -= left.min(per_batch);
    }
    Ok(())
}

fn take(store: &mut Store, kind: &Kind, options: &Options) -> Result<(), StoreError> {
    for first in (0..options.pieces).step_by(options.take as usize) {
        let ids = IdSet::range(PieceId(first), options.take.min(options.pieces - first));
        for piece in store.take(kind, &ids)? {
            std::hint::black_box(&piece?.bytes);
        }
    }
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<(), StoreError>) -> Result<Duration, StoreError> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed())
}

fn report(options: &Options, measured: &Measured) -> Result<(), Failure> {
    let bytes = options.pieces * options.bytes;
    let ratio = measured.store_bytes as f64 / bytes as f64;
    let lines =
        [("plain file", measured.plain), ("fill", measured.fill), ("verify", measured.verify), ("take", measured.take)];
    let seconds = |(name, time): (&str, Duration)| (name.replace(' ', "_"), json!(time.as_secs_f64()));
    let value = json!({
        "bench": "store",
        "pieces": options.pieces,
        "bytes_per_piece": options.bytes,
        "taken_together": options.take,
        "seconds": lines.map(seconds).into_iter().collect::<serde_json::Map<_, _>>(),
        "store_bytes": measured.store_bytes,
        "store_bytes_of_plain": ratio,
    });
    let row = |(name, time): (&str, Duration)| {
        let seconds = time.as_secs_f64();
        vec![
            name.to_string(),
            output::seconds(seconds),
            format!("{}B/s", output::rate(bytes as f64 / seconds)),
            format!("{:.1} us", 1e6 * seconds / options.pieces as f64),
        ]
    };
    let head = ["", "time", "rate", "per piece"].map(String::from).to_vec();
    let rows: Vec<_> = std::iter::once(head).chain(lines.map(row)).collect();
    let head = format!(
        "{} pieces of {} bytes, taken {} at a time; the store has {:.4} of the bytes\n\n",
        output::count(options.pieces),
        output::count(options.bytes),
        output::count(options.take),
        ratio
    );
    options.form.show(&value, vec![Piece::Words(head), Piece::Table(rows)])
}
