//! Keyword search by an oblivious pseudo-random function: a client finds the record of a keyword in a server's list, the server does
//! not learn the keyword, and the client learns nothing of the other records.
//!
//! The function is AES-128 under the server's key. For each record the server publishes half of the function's value of the keyword, to
//! find it by, and the record masked with the other half. The client computes the function of its keyword together with the
//! server, by `covert`: AES under a key of the other party. The server has to limit how often it answers, for a client may guess.
//!
//! *Source*: Freedman, Ishai, Pinkas, Reingold, *Keyword search and oblivious pseudorandom functions* (TCC 2005). Run it with
//! `cargo run --release --example keyword_search`.

use std::{collections::HashMap, error::Error};

use garblet::{
    Bits, Config, Party, Protocol,
    circuit::{Recipients, evaluate},
    library, run_in_memory,
};

/// The server's data: keywords of up to 16 bytes, records of up to 8.
const RECORDS: [(&str, &str); 4] = [("alder", "Alnus"), ("birch", "Betula"), ("elm", "Ulmus"), ("oak", "Quercus")];

fn main() -> Result<(), Box<dyn Error>> {
    let key: [u8; 16] = rand::random();
    let published = publish(&key)?;
    for keyword in ["elm", "oak", "palm"] {
        let value = together(&key, keyword)?;
        match published.get(&value[..8]) {
            Some(masked) => println!("{keyword}: {}", text(&sum(masked, &value[8..]))),
            None => println!("{keyword}: no such record"),
        }
    }
    Ok(())
}

/// The table that the server makes public: for each record what it is found by, and the record masked.
fn publish(key: &[u8; 16]) -> Result<HashMap<Vec<u8>, Vec<u8>>, Box<dyn Error>> {
    let aes = library::find("lib:aes128")?;
    let of_record = |(keyword, record): &(&str, &str)| {
        let inputs = [Bits::from_bytes(key), Bits::from_bytes(&padded::<16>(keyword))];
        let value = evaluate(&aes, &inputs)[0].to_bytes();
        (value[..8].to_vec(), sum(&padded::<8>(record), &value[8..]))
    };
    Ok(RECORDS.iter().map(of_record).collect())
}

/// The function of the client's keyword under the server's key; only the client learns it.
fn together(key: &[u8; 16], keyword: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut aes = library::find("lib:aes128")?;
    aes.set_recipients(0, Recipients::Only(vec![Party(1)]));
    let inputs = [Bits::from_bytes(key), Bits::from_bytes(&padded::<16>(keyword))];
    let reports = run_in_memory(&aes, &inputs, Config::of(Protocol::of::<garblet::covert::Covert>()))?;
    let value = reports[1].outputs[0].as_ref().ok_or("the client learns the value")?;
    Ok(value.to_bytes())
}

fn padded<const N: usize>(text: &str) -> [u8; N] {
    std::array::from_fn(|i| text.as_bytes().get(i).copied().unwrap_or_default())
}

fn sum(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

fn text(padded: &[u8]) -> String {
    String::from_utf8_lossy(padded).trim_end_matches('\0').into()
}
