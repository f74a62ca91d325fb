//! The front end for sources of the function language.

use std::{
    io::{BufRead, Read},
    path::Path,
};

use garblet_circuit::{
    Program,
    diagnostic::{Diagnostic, Diagnostics},
    notes::Notes,
};
use garblet_formats::front_end::{FrontEnd, Source};

use crate::{
    compile::{Options, compile},
    source_error::SourceError,
};

/// The end of a source's name.
const EXTENSION: &str = ".garble.rs";
/// The most bytes that are read; the parser takes fewer.
const MAX_BYTES: u64 = 1 << 24;

/// The front end for sources: files that end in `.garble.rs`.
#[derive(Clone, Debug, Default)]
pub struct Language {
    /// The options with which they are compiled.
    pub options: Options,
}

impl FrontEnd for Language {
    fn name(&self) -> &'static str {
        "function source (.garble.rs)"
    }

    fn accepts(&self, file: &Path, _: &[u8]) -> bool {
        file.to_string_lossy().ends_with(EXTENSION)
    }

    fn has_functions(&self) -> bool {
        true
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let text = read_text(source, text)?;
        let name = source.stem().trim_end_matches(".garble");
        let (mut program, warnings) = compile(name, &source.file, &text, &self.options, source.bound())
            .map_err(|faults| diagnose(faults, &source.file, &text))?;
        let warnings = warnings.into_iter().map(|fault| fault.diagnose(&source.file, &text)).collect();
        let notes = program.notes().clone().of_source(&text, self.options.constants.given());
        program.set_notes(Notes { warnings, ..notes });
        Ok(program)
    }
}

fn read_text(source: &Source<'_>, text: &mut dyn BufRead) -> Result<String, Diagnostics> {
    let failed = |message: String| Diagnostic::new(&source.file, message);
    let mut bytes = Vec::new();
    let read = text.take(MAX_BYTES).read_to_end(&mut bytes);
    if read.map_err(|e| failed(format!("cannot be read: {e}")))? as u64 == MAX_BYTES {
        return Err(failed(format!("is longer than {MAX_BYTES} bytes")).into());
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| failed(format!("is not UTF-8 from byte {} on", e.utf8_error().valid_up_to())))?;
    Ok(text)
}

fn diagnose(faults: Vec<SourceError>, file: &str, text: &str) -> Diagnostics {
    let found: Vec<Diagnostic> = faults.into_iter().map(|fault| fault.diagnose(file, text)).collect();
    match Diagnostics::check(found) {
        Err(diagnostics) => diagnostics,
        Ok(()) => Diagnostic::new(file, "is not accepted, without a reason").into(),
    }
}
