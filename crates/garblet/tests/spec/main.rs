//! The vectors of `docs/spec`: seeds in, all intermediate values out, for whoever writes a peer.
//!
//! The values are those of the crates. Where the text defines them by a formula, the formula is here too, so the files are right and not only unchanged.
//! `UPDATE_SPEC=1 cargo test -p garblet --test spec` writes the files.

mod garbling;
mod masked;
mod notation;
mod programs;
mod transfers;

use std::path::PathBuf;

use garblet_primitives::Block;
use serde_json::Value;

/// Compares values with those of a file, or writes the file.
fn hold(name: &str, values: &Value) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/spec")).join(name);
    let text = format!("{}\n", serde_json::to_string_pretty(values).expect("values"));
    if std::env::var_os("UPDATE_SPEC").is_some() {
        return std::fs::write(&path, text).expect("written");
    }
    let held = std::fs::read_to_string(&path).expect("the file of vectors");
    assert!(
        held == text,
        "{}: the code has other values: if peers must know, raise WIRE_VERSION; then UPDATE_SPEC=1",
        path.display()
    );
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn block(block: Block) -> String {
    hex(block.to_bytes())
}

fn blocks(all: &[Block]) -> Vec<String> {
    all.iter().map(|&one| block(one)).collect()
}

/// The bytes of blocks, one after another.
fn joined(all: &[Block]) -> Vec<u8> {
    all.iter().flat_map(|block| block.to_bytes()).collect()
}

fn blake3(bytes: impl AsRef<[u8]>) -> String {
    hex(blake3::hash(bytes.as_ref()).as_bytes())
}
