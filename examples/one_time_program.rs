//! A one-time program: AES-128 under a key that is in the program, which whoever has it can run once, on one block, without its maker.
//!
//! The program is a garbled circuit in a file. The labels of the input are in a *one-time memory*: cells of two values each, of which
//! one can be read, and then the other is gone. Real ones are hardware; this one is a file that forgets what is not asked for. How outputs
//! are decoded can be computed only from a share in every cell, so that all of the input is chosen before anything is learned.
//!
//! *Source*: Goldwasser, Kalai, Rothblum, *One-time programs* (CRYPTO 2008). Run it with
//! `cargo run --release --example one_time_program`.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use garblet::{Bits, GarblingConfig, Program, library};
use garblet_garble::{Evaluator, Garbler, Schedules, Seeds};
use garblet_primitives::{Block, Delta, Prg};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Bytes of a block in the files.
const BLOCK: usize = 16;
/// A cell: the label and the share for zero, the label and the share for one.
const CELL: usize = 4 * BLOCK;

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("one-time-program-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let (program, memory) = (folder.join("program"), OneTimeMemory { path: folder.join("memory") });
    let (key, block) = (Bits::from_bytes(&(0..16).collect::<Vec<u8>>()), hex("00112233445566778899aabbccddeeff")?);

    make(&program, &memory, &key)?;
    println!("{}", digits(&run(&program, &memory, &block)?));
    match run(&program, &memory, &hex("ffffffffffffffffffffffffffffffff")?) {
        Err(error) => println!("a second time: {error}"),
        Ok(_) => return Err("it ran twice".into()),
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Writes the program for a key, and fills the memory. The maker is not needed any more.
fn make(path: &Path, memory: &OneTimeMemory, key: &Bits) -> Result<()> {
    let mut rng = Prg::random(&mut rand::rng());
    let (aes, config) = (library::find("lib:aes128")?, GarblingConfig::default());
    let schedules = Schedules::new(&aes);
    let delta = Delta::random(&mut rng);
    let zero: Vec<Box<[Block]>> = [0, 1].map(|_| (0..128).map(|_| rng.next_block()).collect()).into();
    let seeds = Seeds::random(&mut rng);
    // Hash seed, labels of the key, tables, masked decoding bits.
    let mut file = seeds.hash.to_bytes().to_vec();
    for (&label, bit) in zero[0].iter().zip(key.iter()) {
        file.extend((label ^ (Block::mask(bit) & delta.block())).to_bytes());
    }
    let mut garbler = Garbler::new(&aes, &schedules, config, &delta, seeds, 0, zero.clone());
    while garbler.garble_chunk(&mut file) {}
    let decoding = select_bits(config, &garbler.into_outputs());
    let mut shares = Block::ZERO;
    let mut cells = Vec::with_capacity(128 * CELL);
    for &label in &zero[1] {
        let share = rng.next_block();
        shares ^= share;
        [label, share, label ^ delta.block(), share].iter().for_each(|block| cells.extend(block.to_bytes()));
    }
    file.extend(masked(&decoding, shares).to_bytes());
    fs::write(path, file)?;
    fs::write(&memory.path, cells)?;
    Ok(())
}

/// Runs the program on a block.
fn run(path: &Path, memory: &OneTimeMemory, block: &Bits) -> Result<Bits> {
    let (aes, config): (Program, _) = (library::find("lib:aes128")?, GarblingConfig::default());
    let schedules = Schedules::new(&aes);
    let cells = memory.read(block)?;
    let (labels, shares): (Vec<Block>, Vec<Block>) = cells.into_iter().unzip();
    let file = fs::read(path)?;
    let (fixed, rest) = file.split_at(129 * BLOCK);
    let mut fixed = fixed.as_chunks::<BLOCK>().0.iter().map(|&bytes| Block::from_bytes(bytes));
    let hash_seed = fixed.next().ok_or("the program has a hash seed")?;
    let inputs = vec![fixed.collect(), labels.into()];
    let mut evaluator = Evaluator::new(&aes, &schedules, config, hash_seed, 0, inputs);
    let mut rest = rest;
    while evaluator.next_chunk_bytes() > 0 {
        let (chunk, later) = rest.split_at(evaluator.next_chunk_bytes());
        evaluator.evaluate_chunk(chunk)?;
        rest = later;
    }
    let decoding = masked(&Bits::from_bytes(rest), shares.into_iter().fold(Block::ZERO, |sum, share| sum ^ share));
    let active = select_bits(config, &evaluator.into_outputs());
    Ok(active.iter().zip(decoding.iter()).map(|(active, zero)| active ^ zero).collect())
}

/// Cells that can be read once each.
struct OneTimeMemory {
    path: PathBuf,
}

impl OneTimeMemory {
    /// Reads of each cell the label and the share of a bit; then the cell is empty.
    fn read(&self, bits: &Bits) -> Result<Vec<(Block, Block)>> {
        let cells = fs::read(&self.path)?;
        if cells.len() != bits.len() * CELL {
            return Err("the memory has been read".into());
        }
        fs::write(&self.path, [])?;
        let read = |(cell, bit): (&[u8; CELL], bool)| {
            let half = &cell.as_chunks::<BLOCK>().0[2 * usize::from(bit)..][..2];
            (Block::from_bytes(half[0]), Block::from_bytes(half[1]))
        };
        Ok(cells.as_chunks::<CELL>().0.iter().zip(bits.iter()).map(read).collect())
    }
}

fn select_bits(config: GarblingConfig, labels: &[Box<[Block]>]) -> Bits {
    labels.iter().flatten().map(|&label| config.select_bit(label)).collect()
}

/// Bits added to the stream of a key.
fn masked(bits: &Bits, key: Block) -> Bits {
    let mut stream = vec![0; bits.len().div_ceil(8)];
    Prg::new(key).fill_bytes(&mut stream);
    bits.iter().zip(Bits::from_bytes(&stream).iter()).map(|(bit, mask)| bit ^ mask).collect()
}

fn digits(bits: &Bits) -> String {
    bits.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hex(digits: &str) -> Result<Bits> {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16);
    let bytes = (0..digits.len()).step_by(2).map(byte).collect::<std::result::Result<Vec<u8>, _>>()?;
    Ok(Bits::from_bytes(&bytes))
}
