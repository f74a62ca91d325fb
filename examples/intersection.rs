//! The number of entries that two private lists share, with a program built in Rust.
//!
//! Each list has no entry twice, so the size of the intersection is the number of pairs that are equal. Run it with
//! `cargo run --release --example intersection`.

use std::error::Error;

use garblet::{
    Bits, Config, Party, Program,
    builder::{Bit, CircuitBuilder, Unsigned},
    circuit::{Type, evaluate},
    run_in_memory,
};

const ENTRIES: u32 = 8;
const BITS: u32 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let alice = [3, 14, 15, 92, 65, 35, 89, 79];
    let bob = [2, 3, 35, 5, 89, 13, 21, 34];

    let program = intersection_size()?;
    let inputs = [list(&alice), list(&bob)];
    let reports = run_in_memory(&program, &inputs, Config::default())?;
    let shared = reports[0].outputs[0].as_ref().and_then(Bits::to_u128);

    let clear = evaluate(&program, &inputs)[0].to_u128();
    let counts = program.stats();
    println!("the lists share {} entries ({} AND gates)", shared.unwrap_or_default(), counts.and);
    if shared != clear {
        return Err(format!("in the clear there are {clear:?}").into());
    }
    Ok(())
}

/// Every entry of party 0 is compared with every entry of party 1, and the matches are counted.
fn intersection_size() -> Result<Program, Box<dyn Error>> {
    let list = || Type::Array(Box::new(Type::Unsigned(BITS)), ENTRIES);
    let mut c = CircuitBuilder::new("intersection size");
    let alice: Vec<Unsigned> = c.input("alice", list());
    let bob: Vec<Unsigned> = c.input("bob", list());
    let mut matches: Vec<Bit> = Vec::new();
    for a in &alice {
        for b in &bob {
            matches.push(c.equal(a, b));
        }
    }
    let size = c.count_ones(&matches);
    c.output("size", &size);
    Ok(Program::from_component(c.finish()?, &[Party(0), Party(1)])?)
}

fn list(entries: &[u128]) -> Bits {
    entries.iter().flat_map(|&entry| Bits::from_u128(entry, BITS as usize).iter().collect::<Vec<_>>()).collect()
}
