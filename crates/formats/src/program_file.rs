//! The program file: components joined by links, in JSON.
//!
//! ```json
//! {
//!   // Comments are allowed. The format and the name are optional.
//!   "format": 1,
//!   "name": "increment",
//!   "components": {
//!     "half": {
//!       "inputs": {"a": "bool", "b": "bool"},
//!       "outputs": {"carry": "bool", "sum": "bool"},
//!       "gates": ["carry = a & b", "sum = a ^ b"]
//!     }
//!   },
//!   "inputs": {"x": {"type": "u8", "owner": 0}},
//!   "instances": {
//!     "low": {"of": "half", "in": {"a": "x[0]", "b": true}},
//!     "high": {"of": "half", "repeat": 7,
//!              "in": {"a": "x[i+1]", "b": "high[i-1].carry"},
//!              "first": {"b": "low.carry"}}
//!   },
//!   "outputs": {"y": {"type": "u9", "from": ["low.sum", "high.sum", "high[6].carry"], "to": [0, 1]}}
//! }
//! ```
//!
//! **components** are given in one of three ways. `"file"`: a circuit file or another program file (which becomes one
//! component), relative to this file. `"library"`: a circuit of the library, by its name and parameters as after `lib:`.
//! `"gates"`: inline. With a file or library circuit, `"inputs"` and `"outputs"` are optional and give its ports other
//! names and types, in order and with the same number of wires altogether. Inline components need both.
//!
//! **Inline gates** are statements `name = operand`, `name = operand & operand` or `name = operand ^ operand`, in an order
//! in which everything is set before it is read. An operand is `0`, `1`, an input's wire (`a`, or `a[3]` of a wider one),
//! or what was set before, perhaps negated with `!`. What is set is an output's wire or a new name.
//!
//! **Types** are `bool`, `u8`, `i8` (any width), `bits8` (wires without meaning), `bytes16`, arrays `[u8; 4]` and records
//! `{age: u7, member: bool}`. Wire 0 is the least significant bit, the first byte, element or field.
//!
//! **inputs** have a type and the party that owns them; `"order"` and `"below"` state what the program relies on in
//! lists. **outputs** have a type, sources (`"from"`), and recipients: `"to"` is a party, a list of parties, or `"all"`,
//! which is the default.
//!
//! **instances** come in any order; `"of"` names the component, `"in"` names what feeds each of its inputs. With
//! `"repeat": n` there are `n` of them, numbered by `i` from 0, and indices may be computed from `i` with `+`, `-`, `*`;
//! `"first"` replaces some of the inputs for `i = 0`.
//!
//! **A feed** is a source or a list of sources whose wires follow one another, exactly as many as are
//! needed. A source is
//!
//! - `"x"`: a program input; `"low.sum"`: an output of an instance; `"high[3].sum"`: of one of several; `"high.sum"`: of
//!   all of them, one after another; `"low"`: all outputs of an instance;
//! - any of these with a wire, `"x[0]"`, or wires from one up to but not including another, `"x[4..8]"`;
//! - `true` or `false`: one constant wire; `{"bits": "0110"}`: constant wires in order; `{"type": "u8", "value": 200}`: a
//!   constant as in an input file.
//!
//! Any one source may feed any number of things.
//!
//! Instead of all this a program file may name a source of the function language, and circuits that replace functions
//! of it: files or `lib:NAME`, whose inputs are, one after another, the function's parameters, and their outputs its
//! result.
//!
//! ```json
//! {"source": "encrypt.garble.rs", "externs": {"aes128": "lib:aes128"}}
//! ```

mod feed;
mod gates;
mod order;
mod reader;
mod reference;
mod relied;
mod writer;

use std::{io::BufRead, path::Path};

use garblet_circuit::{Program, Type, diagnostic::Diagnostics, notes::Order};

use crate::{
    front_end::{FrontEnd, Source},
    whole,
};

pub(super) use writer::write;

/// The front end for [program files](crate::program_file).
pub struct ProgramFile;

impl FrontEnd for ProgramFile {
    fn name(&self) -> &'static str {
        "program file (JSON)"
    }

    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool {
        file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
            || beginning.trim_ascii_start().first() == Some(&b'{')
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let text = whole::text(&source.file, text)?;
        reader::read(source, &text)
    }
}

/// The newest format of program files.
const FORMAT: u32 = 1;

/// The orders of lists, by their names in files.
const ORDERS: [(Order, &str); 3] =
    [(Order::Strict, "ascending once"), (Order::Ascending, "ascending"), (Order::Descending, "descending")];

/// The number of bits of the key of an array's or a list's elements: of their first field, or of the whole element.
fn key_bits(ty: &Type) -> u32 {
    key_type(ty).map_or(0, |key| key.width() as u32)
}

/// The type of the key with which each element of an array or a list begins.
fn key_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(element, _) | Type::List(element, _) => match &**element {
            Type::Record(fields) => fields.first().map(|(_, key)| key),
            element => Some(element),
        },
        _ => None,
    }
}

/// Returns whether a name can appear in a reference.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests;
