//! Preparing alone: how long filling two stores on disk takes, against the work that cannot be done without.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    sync::Arc,
    time::Instant,
};

use garblet::{
    GarblingConfig,
    components::{Config, Evaluator, Garbler, Library, Material},
    store::{Store, StoreKey},
};
use garblet_cli::bench::loopback::open;
use garblet_console::{
    failure::Failure,
    hints::{explain, store_failure},
    output::{bytes, seconds},
    session::block_on,
};
use garblet_garble as garble;
use garblet_primitives::{Block, Delta, Prg};
use garblet_synthesis::library;
use serde_json::json;

use super::{parties::BENCH, rows};
use crate::{
    page::Form,
    published::{Paper, section},
};

/// Fills two stores on disk with rounds of AES, against garbling them alone and writing their tables alone.
pub(super) fn prepare_rounds(rounds: u64, form: &Form) -> Result<(), Failure> {
    let component = Arc::new(library::component("aes-round").map_err(Failure::no_result)?);
    let mut library = Library::new();
    library.add_type("round", component.clone(), rounds);
    let material = Arc::new(Material::new(library, GarblingConfig::default()));
    let folder = tempfile::tempdir().map_err(Failure::no_result)?;
    let store = |name: &str| {
        let key = StoreKey::generate(&mut rand::rng());
        Store::create(&folder.path().join(name), &key, &mut rand::rng()).map_err(|e| store_failure(&e))
    };
    let (mine, theirs) = (store("garbler")?, store("evaluator")?);
    let kind = garble::ComponentGarbling::new(&component, GarblingConfig::default());
    let garbling_seconds = bare_garbling(&kind, rounds);
    let table_bytes = rounds * kind.table_bytes() as u64;
    let writing_seconds = bare_writing(&folder.path().join("tables"), table_bytes).map_err(Failure::no_result)?;
    let begin = Instant::now();
    let [mine, theirs] = fill_both(material, [mine, theirs])?.map(|store| store.segment_bytes());
    let prepare_seconds = begin.elapsed().as_secs_f64();
    let bound = garbling_seconds + writing_seconds;
    let report = json!({
        "rounds": rounds,
        "garbling_seconds": garbling_seconds,
        "writing_seconds": writing_seconds,
        "prepare_seconds": prepare_seconds,
        "seconds_ratio": prepare_seconds / garbling_seconds,
        "seconds_ratio_with_writing": prepare_seconds / bound,
        "table_bytes": table_bytes,
        "evaluator_bytes": theirs,
        "evaluator_bytes_ratio": theirs as f64 / table_bytes as f64,
        "garbler_bytes": mine,
        "garbler_bytes_ratio": mine as f64 / table_bytes as f64,
    });
    let text = format!(
        "{rounds} rounds of AES: garbled alone in {}, their tables written alone in {}\n\
         prepared in {}: {:.2} of garbling, {:.2} of garbling and writing\n\
         tables {}, evaluator's store {} ({:.2}), garbler's store {} ({:.2})\n",
        seconds(garbling_seconds),
        seconds(writing_seconds),
        seconds(prepare_seconds),
        prepare_seconds / garbling_seconds,
        prepare_seconds / bound,
        bytes(table_bytes),
        bytes(theirs),
        theirs as f64 / table_bytes as f64,
        bytes(mine),
        mine as f64 / table_bytes as f64
    );
    form.give(&report, &text, section(Paper::Compgc, vec![rows::of_rounds(rounds, prepare_seconds)]))
}

/// Both parties fill their stores, each on a thread of its own.
fn fill_both(material: Arc<Material>, [mine, theirs]: [Store; 2]) -> Result<[Store; 2], Failure> {
    let (left, right) = garblet_net::memory_pair();
    let shared = material.clone();
    let (garbler, evaluator) = std::thread::scope(|scope| {
        let garbler = scope.spawn(move || {
            block_on(async {
                let mut session = open(BENCH, left, 0).await?;
                let role = Garbler::setup(&mut session, shared, Config::default(), mine, "bench").await;
                let mut role = role.map_err(|e| explain(&e))?;
                role.prepare(&mut session, 100).await.map_err(|e| explain(&e))?;
                Ok(role.into_store())
            })
        });
        let evaluator = block_on(async {
            let mut session = open(BENCH, right, 1).await?;
            let role = Evaluator::setup(&mut session, material, Config::default(), theirs, "bench").await;
            let mut role = role.map_err(|e| explain(&e))?;
            role.prepare(&mut session, 100).await.map_err(|e| explain(&e))?;
            Ok(role.into_store())
        });
        (garbler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), evaluator)
    });
    Ok([garbler?, evaluator?])
}

/// Garbles on one thread and throws the tables away.
fn bare_garbling(kind: &garble::ComponentGarbling, rounds: u64) -> f64 {
    const BATCH: usize = 64;
    let mut rng = Prg::new(Block::ONES);
    let (delta, seeds) = (Delta::random(&mut rng), garble::Seeds::random(&mut rng));
    let mut inputs = vec![Block::ZERO; BATCH * kind.input_count()];
    let mut tables = vec![0; BATCH * kind.table_bytes()];
    let mut outputs = vec![Block::ZERO; BATCH * kind.output_count()];
    let begin = Instant::now();
    let mut garbler = kind.garbler(&delta, &seeds, 0);
    for first in (0..rounds).step_by(BATCH) {
        rng.fill_blocks(&mut inputs);
        let count = BATCH.min((rounds - first) as usize);
        let (ins, outs) = (count * kind.input_count(), count * kind.output_count());
        let tables = &mut tables[..count * kind.table_bytes()];
        garbler.garble(first, count, &inputs[..ins], tables, &mut outputs[..outs]);
    }
    begin.elapsed().as_secs_f64()
}

/// Writes a number of bytes to a plain file, and waits once until they are durable.
fn bare_writing(path: &Path, bytes: u64) -> io::Result<f64> {
    let unit = vec![0x5a; 1 << 20];
    let begin = Instant::now();
    let mut file = File::create(path)?;
    let mut left = bytes;
    while left > 0 {
        let count = left.min(unit.len() as u64);
        file.write_all(&unit[..count as usize])?;
        left -= count;
    }
    file.sync_data()?;
    let seconds = begin.elapsed().as_secs_f64();
    fs::remove_file(path)?;
    Ok(seconds)
}
