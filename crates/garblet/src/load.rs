//! Programs as users name them: from a file, the library or a text.

use std::io::Read;

use garblet_circuit::{Program, diagnostic::Diagnostics};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

/// A program that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that cannot be read or is wrong, or a name that the library does not have.
    #[error(transparent)]
    Wrong(#[from] Diagnostics),
    /// Options for a function source, given with another kind of program.
    #[error("{program} is not a function source")]
    NoSource {
        /// The program.
        program: String,
    },
}

/// The way to load a program.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Options for a function source.
    pub source: Options,
    /// Set to run the gates of a circuit file as they are. Otherwise AND gates are [saved](FrontEnds::optimising) that can be in a second: parties who are to run the
    /// same program load it alike.
    pub as_it_is: bool,
}

impl From<Options> for LoadOptions {
    fn from(source: Options) -> Self {
        LoadOptions { source, as_it_is: false }
    }
}

/// Loads a program: a file of any known kind, or `lib:NAME` for one of the library.
///
/// *Errors*: a program that cannot be read or is inconsistent; options for what is not a function source.
pub fn load(name: &str, options: impl Into<LoadOptions>) -> Result<Program, LoadError> {
    made(FrontEnds::standard(), name, options.into(), |front_ends| front_ends.load(name))
}

/// The same, but gates stay in their file if that is a binary program of one large component. Such a program is counted, planned and run in memory that
/// does not grow with its gates by protocols that [read gates](crate::Protocol::reads_gates); [`Plan`](crate::Plan) reads all gates into memory for the
/// others. Whatever else is done with it needs [`Program::whole`] before. A file that is changed ends what is done with the program in an error.
///
/// *Errors*: as [`load`].
pub fn load_in_place(name: &str, options: impl Into<LoadOptions>) -> Result<Program, LoadError> {
    made(FrontEnds::standard().leaving_gates(), name, options.into(), |front_ends| front_ends.load(name))
}

/// Reads a program from elsewhere than its file. The file's name says what kind of program it is.
///
/// *Errors*: as [`load`].
pub fn read(name: &str, text: &mut dyn Read, options: impl Into<LoadOptions>) -> Result<Program, LoadError> {
    made(FrontEnds::standard(), name, options.into(), |front_ends| front_ends.read(name, text))
}

fn made(
    front_ends: FrontEnds,
    name: &str,
    LoadOptions { source: options, as_it_is }: LoadOptions,
    make: impl FnOnce(&FrontEnds) -> Result<Program, Diagnostics>,
) -> Result<Program, LoadError> {
    let has_options = !(options.constants.is_empty() && options.panics && options.function == Options::FUNCTION);
    let front_ends = if as_it_is { front_ends } else { front_ends.optimising() };
    let program = make(&front_ends.with(Language { options }))?;
    match program.notes().panics.is_none() && has_options {
        true => Err(LoadError::NoSource { program: name.into() }),
        false => Ok(program),
    }
}

/// Compiles a function source; diagnostics name it `name.garble.rs`.
///
/// *Errors*: everything that is wrong with it.
///
/// ```
/// let source = "pub fn main(a: u8, b: u8) -> bool { a > b }";
/// assert_eq!(garblet::compile("richer", source, garblet::lang::Options::default())?.stats().and, 8);
/// # Ok::<(), garblet::circuit::diagnostic::Diagnostics>(())
/// ```
pub fn compile(name: &str, source: &str, options: Options) -> Result<Program, Diagnostics> {
    let front_ends = FrontEnds::standard().with(Language { options });
    front_ends.read(&format!("{name}.garble.rs"), &mut source.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_for_sources() {
        let without = || Options { panics: false, ..Options::default() };
        let error = load("lib:millionaires(8)", without()).expect_err("no source");
        assert_eq!(error.to_string(), "lib:millionaires(8) is not a function source");
        let another = Options { function: "score".into(), ..Options::default() };
        assert!(matches!(load("lib:millionaires(8)", another), Err(LoadError::NoSource { .. })));
        assert!(load("lib:millionaires(8)", Options::default()).is_ok());
    }
}
