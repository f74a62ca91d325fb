//! Files: readers and writers of circuits, programs and values, readers of netlists, and drawings.
//!
//! A [front end](front_end) makes a program from a file or a text, a [`Format`] writes one.

mod binary;
pub mod bristol;
pub mod draw;
mod foreign;
pub mod front_end;
mod json;
mod kinds;
mod netlist;
pub mod program_file;
pub mod rewire;
pub mod value;
mod whole;
mod wires;

use std::{io::Write, path::Path, str::FromStr};

use garblet_circuit::{CircuitError, Program};

pub use bristol::Bristol;
pub use program_file::ProgramFile;

/// A format that programs can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The older Bristol format: two inputs, one output; XOR, AND, INV.
    Bristol,
    /// Bristol Fashion: any number of inputs and outputs; XOR, AND, INV, EQ, EQW.
    BristolFashion,
    /// The program file: names, types, owners, recipients, components and links.
    Program,
    /// The binary form of a program: all that the program file has, in few bytes, with the program's digest.
    Binary,
}

/// The highest party that a file may name; one more is still a number of parties.
pub(crate) const MAX_PARTY: u64 = u16::MAX as u64 - 1;

/// A program that cannot be written, at all or in that format.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file could not be written.
    #[error("cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The program is too large to be one circuit.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// The older Bristol format has two inputs.
    #[error("the Bristol format has at most two inputs, the program has {inputs}; use Bristol Fashion")]
    TooManyInputs {
        /// Inputs of the program.
        inputs: usize,
    },
    /// The older Bristol format makes constants from input wires.
    #[error("the Bristol format cannot express a constant without an input wire; use Bristol Fashion")]
    ConstantWithoutInput,
    /// Names that the program file cannot express.
    #[error("{what} {name:?} is not a name for a program file, expected letters, digits, `_` or `-`")]
    Name {
        /// The kind of thing that has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The rows of a batch are not in a file.
    #[error("the program is a batch of {rows} rows, expected the program of one row")]
    Batch {
        /// The number of rows.
        rows: u32,
    },
    /// A text that is too long for the binary form.
    #[error("a {what} has {bytes} bytes, the limit is {limit}")]
    Length {
        /// The kind of text.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The most allowed.
        limit: usize,
    },
    /// A type that cannot be read back from its text.
    #[error("port `{port}` has the type {ty}, which no file can express")]
    Type {
        /// The port.
        port: String,
        /// Its type.
        ty: String,
    },
}

impl Format {
    /// The format for a file's extension: `.json` a program file, `.gbc` the binary form, `.bristol` and `.txt` Bristol Fashion.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Program),
            "gbc" => Some(Format::Binary),
            "bristol" | "txt" => Some(Format::BristolFashion),
            _ => None,
        }
    }

    /// Writes a program. The Bristol formats hold one circuit without names, types, owners and recipients.
    ///
    /// *Errors*: a program that the format cannot express, or a file that cannot be written.
    pub fn write(self, program: &Program, out: &mut dyn Write) -> Result<(), WriteError> {
        match self {
            Format::Bristol => bristol::write_old(&program.flatten()?, out)?,
            Format::BristolFashion => bristol::write_fashion(&program.flatten()?, out)?,
            Format::Program => program_file::write(program, out)?,
            Format::Binary => binary::write(program, out)?,
        }
        out.flush()?;
        Ok(())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        match text {
            "bristol" => Ok(Format::Bristol),
            "bristol-fashion" => Ok(Format::BristolFashion),
            "program" | "json" => Ok(Format::Program),
            "gbc" => Ok(Format::Binary),
            _ => Err(UnknownFormat(text.into())),
        }
    }
}

/// An unknown name of a [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`, expected `bristol`, `bristol-fashion`, `json` or `gbc`")]
pub struct UnknownFormat(pub String);

#[cfg(test)]
mod tests;
