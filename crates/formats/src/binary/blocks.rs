//! The gates of a circuit that stay in their file. Each block is read again as often as it is needed, and is used only if it has the bytes that it
//! had when the program was loaded: so what is garbled is what parties have compared, whatever happens to the file.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    sync::{Arc, Mutex, PoisonError},
};

use garblet_circuit::{
    Circuit, Gate, OneComponent, Wire,
    diagnostic::Diagnostic,
    stored::{GateBlocks, Shape, StoredGates, read_all},
};

use super::{bytes::Bytes, reader};
use crate::front_end::Again;

/// The blocks of a circuit in a file.
pub(super) struct Blocks {
    name: String,
    file: Mutex<File>,
    shape: Shape,
    places: Vec<Place>,
}

/// The bytes of a block.
struct Place {
    begin: u64,
    bytes: u64,
    hash: [u8; 32],
}

impl Blocks {
    /// Reads all gates once.
    ///
    /// *Errors*: wrong gates; a file that cannot be opened again.
    pub(super) fn read(
        bytes: &mut Bytes<'_>,
        again: &Again,
        (input_count, gate_count): (u32, u32),
        mut each: impl FnMut(Gate),
    ) -> Result<Self, Diagnostic> {
        let name = again.path.display().to_string();
        let file = File::open(&again.path).map_err(|error| unread(&name, &error))?;
        let shape = Shape { input_count, gate_count, block_gates: again.storing.block };
        let mut places = Vec::new();
        bytes.section();
        for block in 0..shape.blocks() {
            let (first, count) = shape.block(block);
            let begin = bytes.at();
            for own in (first..).take(count as usize) {
                each(reader::gate(bytes, own)?);
            }
            places.push(Place { begin, bytes: bytes.at() - begin, hash: bytes.section() });
        }
        Ok(Blocks { name, file: Mutex::new(file), shape, places })
    }

    /// The circuit with these outputs; in memory if it has to be simplified.
    ///
    /// *Errors*: gates that cannot be read again.
    pub(super) fn circuit(self, outputs: Vec<Wire>, encoded: OneComponent) -> Result<Circuit, Diagnostic> {
        let (shape, blocks) = (self.shape, Arc::new(self));
        match StoredGates::new(shape, outputs.clone(), blocks.clone(), encoded)? {
            Some(gates) => Ok(Circuit::stored(Arc::new(gates))),
            None => Circuit::new(shape.input_count, read_all(&shape, &*blocks)?, outputs)
                .map_err(|error| Diagnostic::new(&blocks.name, error.to_string())),
        }
    }

    /// The bytes of a block.
    fn bytes(&self, place: &Place) -> Result<Vec<u8>, Diagnostic> {
        let mut bytes = Vec::with_capacity(place.bytes as usize);
        let read = {
            // A reader that panicked has left nothing but a position.
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(place.begin))
                .and_then(|_| Read::take(&mut *file, place.bytes).read_to_end(&mut bytes))
        };
        read.map_err(|error| unread(&self.name, &error))?;
        match blake3::hash(&bytes) == place.hash {
            true => Ok(bytes),
            false => Err(self.changed(place)),
        }
    }

    fn changed(&self, place: &Place) -> Diagnostic {
        let (begin, end) = (place.begin + 1, place.begin + place.bytes);
        let message = format!("bytes {begin} to {end} are not those that were there when the program was loaded");
        Diagnostic::new(&self.name, message)
            .hint("begin again; its gates stay in the file, so leave it as it is until the run has ended")
    }
}

impl GateBlocks for Blocks {
    fn read(&self, block: usize, gates: &mut Vec<Gate>) -> Result<(), Diagnostic> {
        let place = &self.places[block];
        let bytes = self.bytes(place)?;
        let mut text = &bytes[..];
        let mut bytes = Bytes::new(&self.name, &mut text);
        let (first, count) = self.shape.block(block);
        for own in (first..).take(count as usize) {
            gates.push(reader::gate(&mut bytes, own)?);
        }
        Ok(())
    }
}

fn unread(name: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(name, format!("cannot be read again: {error}"))
}

#[cfg(test)]
mod tests;
