//! Programs as users name them, from a file, the library or a text; and what a program's computation says when it panics.

use garblet_circuit::{Bits, Output, Party, Program, Recipients, diagnostic::Diagnostics, notes::Panics};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

/// The program that was asked for cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that cannot be read or is wrong, or a name that the library does not have.
    #[error(transparent)]
    Wrong(#[from] Diagnostics),
    /// Options for a function source, and a program that is none.
    #[error("{program} is no function source")]
    NoSource {
        /// The program.
        program: String,
    },
}

/// The computation has panicked: its outputs mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked at {place}")]
pub struct Panicked {
    /// The place and the reason, as `file:line:column: reason`.
    pub place: String,
}

/// Loads a program: a file of any known kind, or `lib:NAME` for one of the library.
///
/// *Errors*: a program that cannot be read or does not hold together; options for what is no function source.
pub fn load(name: &str, options: Options) -> Result<Program, LoadError> {
    let has_options = !(options.constants.is_empty() && options.panics);
    let program = FrontEnds::standard().with(Language { options }).load(name)?;
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

/// Lets all who learn an output, and nobody else, learn where the computation has panicked. After a change of recipients it is due again.
pub fn tell_panics(program: &mut Program) {
    let Some(at) = panic_output(program) else { return };
    let learn: Vec<Recipients> = results(program).map(|(_, output)| output.recipients.clone()).collect();
    let mut told: Vec<Party> = Vec::new();
    for recipients in learn {
        match recipients {
            Recipients::All => return program.set_recipients(at, Recipients::All),
            Recipients::Only(parties) => told.extend(parties),
        }
    }
    told.sort_unstable();
    told.dedup();
    program.set_recipients(at, Recipients::Only(told));
}

/// The output that says where the computation has panicked, if there is one.
fn panic_output(program: &Program) -> Option<usize> {
    match program.notes().panics {
        Some(Panics::On { output, .. }) => output,
        _ => None,
    }
}

/// The outputs with their numbers, without the one that says where the computation has panicked, which is none of the result.
pub fn results(program: &Program) -> impl Iterator<Item = (usize, &Output)> {
    let hidden = panic_output(program);
    program.outputs().iter().enumerate().filter(move |(at, _)| Some(*at) != hidden)
}

/// Looks whether a computation that is no batch has panicked, as far as the outputs that are known tell.
///
/// *Errors*: where and why it has; the other outputs then mean nothing.
pub fn check_panics(program: &Program, outputs: &[Option<Bits>]) -> Result<(), Panicked> {
    let (Some(at), Some(panics)) = (panic_output(program), &program.notes().panics) else { return Ok(()) };
    let code = outputs.get(at).and_then(Option::as_ref).map_or(0, |code| code.to_u128().unwrap_or(u128::MAX));
    place(panics, code).map_or(Ok(()), |place| Err(Panicked { place }))
}

/// The place where each row of a batch has panicked, none for a row that has a result; none at all if the program is no batch, cannot panic,
/// or does not tell.
pub fn row_panics(program: &Program, outputs: &[Option<Bits>]) -> Option<Vec<Option<String>>> {
    let (at, panics) = (panic_output(program)?, program.notes().panics.as_ref()?);
    let rows = program.notes().rows? as usize;
    let codes = outputs.get(at)?.as_ref()?;
    let width = codes.len() / rows.max(1);
    let code = |row: usize| codes.slice(row * width, width).to_u128().unwrap_or(u128::MAX);
    Some((0..rows).map(|row| place(panics, code(row))).collect())
}

/// The place and reason for a value of the output that says what has panicked.
fn place(panics: &Panics, code: u128) -> Option<String> {
    match panics.reason(code) {
        Some(reason) => Some(reason.into()),
        None => (code != 0).then(|| format!("an unknown place, number {code}")),
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::evaluate;

    use super::*;

    fn sum() -> Program {
        compile("sum", "pub fn main(a: u8, b: u8) -> u8 { a + b }", Options::default()).expect("it compiles")
    }

    fn of(program: &Program, inputs: [u128; 2]) -> Vec<Option<Bits>> {
        evaluate(program, &inputs.map(|value| Bits::from_u128(value, 8))).into_iter().map(Some).collect()
    }

    #[test]
    fn a_panic_is_told_with_its_place_and_is_no_output() {
        let program = sum();
        assert_eq!(results(&program).map(|(_, output)| &output.port.name[..]).collect::<Vec<_>>(), ["out0"]);
        assert_eq!(check_panics(&program, &of(&program, [200, 55])), Ok(()));
        let panicked = check_panics(&program, &of(&program, [200, 56])).expect_err("an overflow").to_string();
        assert!(panicked.starts_with("panicked at sum.garble.rs:1:35: "), "{panicked}");
        let wrong = vec![Some(Bits::from_u128(0x7f, 8)); 2];
        assert!(check_panics(&program, &wrong).is_err_and(|panicked| panicked.place.contains("number 127")));
        assert_eq!(check_panics(&program, &[None, None]), Ok(()));
    }

    #[test]
    fn each_row_of_a_batch_panics_for_itself() {
        let batch = sum().batch(2).expect("two rows");
        let values = [200, 1, 56, 2].map(|value| Bits::from_u128(value, 8));
        let [a, more, b, other] = values;
        let joined = |mut first: Bits, second: &Bits| {
            first.append(second);
            first
        };
        let outputs: Vec<Option<Bits>> =
            evaluate(&batch, &[joined(a, &more), joined(b, &other)]).into_iter().map(Some).collect();
        let places = row_panics(&batch, &outputs).expect("a batch");
        assert!(places[0].as_ref().is_some_and(|place| place.starts_with("sum.garble.rs:1:35: ")), "{places:?}");
        assert_eq!(places[1], None);
        assert_eq!(row_panics(&sum(), &of(&sum(), [200, 56])), None);
    }

    #[test]
    fn whoever_learns_an_output_learns_of_panics() {
        let mut program = sum();
        let (out, _) = results(&program).next().expect("an output");
        program.set_recipients(out, Recipients::Only(vec![Party(1)]));
        tell_panics(&mut program);
        assert!(program.outputs().iter().all(|output| output.recipients == Recipients::Only(vec![Party(1)])));
    }

    #[test]
    fn options_are_for_sources() {
        let without = || Options { panics: false, ..Options::default() };
        let error = load("lib:millionaires(8)", without()).expect_err("no source");
        assert_eq!(error.to_string(), "lib:millionaires(8) is no function source");
        assert!(load("lib:millionaires(8)", Options::default()).is_ok());
    }
}
