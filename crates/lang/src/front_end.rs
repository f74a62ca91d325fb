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
    front::MAX_BYTES,
    source_error::SourceError,
};

/// The suffix of a source's file name.
const EXTENSION: &str = ".garble.rs";
/// The most faults of a source to show.
const MAX_FAULTS: usize = 100;

/// The front end for sources: files that end in `.garble.rs`.
#[derive(Clone, Debug, Default)]
pub struct Language {
    /// The options for compiling them.
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
        let warnings = diagnosed(warnings, "warnings", &source.file, &text);
        let notes = program.notes().clone().of_source(&text, self.options.constants.given());
        program.set_notes(Notes { warnings, ..notes });
        Ok(program)
    }
}

fn read_text(source: &Source<'_>, text: &mut dyn BufRead) -> Result<String, Diagnostics> {
    let failed = |message: String| Diagnostic::new(&source.file, message);
    let mut bytes = Vec::new();
    let read = text.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes);
    if read.map_err(|e| failed(format!("cannot be read: {e}")))? > MAX_BYTES {
        let fault = failed(format!("this source is too long: expected at most {MAX_BYTES} bytes, got more"));
        return Err(fault.hint("make large tables inputs, and let a program file bind large parts as circuits").into());
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| failed(format!("is not UTF-8 from byte {} on", e.utf8_error().valid_up_to())))?;
    Ok(text)
}

/// The diagnostics of faults: the first of them, and the number of others.
fn diagnosed(faults: Vec<SourceError>, kind: &str, file: &str, text: &str) -> Vec<Diagnostic> {
    let more = faults.len().saturating_sub(MAX_FAULTS);
    let first = faults.into_iter().take(MAX_FAULTS).map(|fault| fault.diagnose(file, text));
    first.chain((more > 0).then(|| Diagnostic::new(file, format!("{more} more {kind}")))).collect()
}

fn diagnose(faults: Vec<SourceError>, file: &str, text: &str) -> Diagnostics {
    let found = diagnosed(faults, "errors", file, text);
    match Diagnostics::check(found) {
        Err(diagnostics) => diagnostics,
        Ok(()) => Diagnostic::new(file, "is rejected without a reason").into(),
    }
}
