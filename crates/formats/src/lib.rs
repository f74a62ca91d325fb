//! Files: readers and writers of circuits, programs and values, readers of netlists, and drawings.
//!
//! A [front end](front_end) makes a program from a file or a text, a [`Format`] writes one.

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
}

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
}

impl Format {
    /// The format for a file's extension: `.json` a program file, `.bristol` and `.txt` Bristol Fashion.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Program),
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
            _ => Err(UnknownFormat(text.into())),
        }
    }
}

/// An unknown name of a [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`, expected `bristol`, `bristol-fashion` or `json`")]
pub struct UnknownFormat(pub String);

#[cfg(test)]
mod tests;
