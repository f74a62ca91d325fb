//! Panics of a program's computation, as a whole or in rows of a batch, for people.

use std::collections::BTreeMap;

use garblet_circuit::{Bits, Output, Party, Program, Recipients, notes::Panics};
use garblet_protocol::stock::has_panicked;

/// The computation has panicked, or all rows of a batch have: the outputs mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}panicked at {}{}", none_of(*rows), place.as_deref().unwrap_or(UNTOLD), stays(*keeps))]
pub struct Panicked {
    /// The place and the reason, as `file:line:column: reason`; in a batch those of the first row that panicked. `None` if this party does not learn
    /// it, but only that it has panicked.
    pub place: Option<String>,
    /// The rows of a batch, none of which has a result.
    pub rows: Option<u32>,
    /// Set if the run was to keep outputs. It has kept none, and all parties know that it panicked.
    pub keeps: bool,
}

/// The words for a place that a party does not learn.
const UNTOLD: &str = "a place that this party does not learn";

fn none_of(rows: Option<u32>) -> String {
    rows.map_or(String::new(), |rows| format!("none of {rows} rows has a result; the first "))
}

fn stays(keeps: bool) -> &'static str {
    if keeps { "; nothing was kept, and what was kept before is unchanged" } else { "" }
}

/// Lets all recipients of an output, and nobody else, learn where the computation has panicked. Call it again after a change of recipients.
pub fn tell_panics(program: &mut Program) {
    let Some(at) = program.notes().panic_output() else { return };
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

/// The outputs with their numbers, without those that say whether and where the computation has panicked, which are not part of the result.
pub fn results(program: &Program) -> impl Iterator<Item = (usize, &Output)> {
    program.outputs().iter().enumerate().filter(|(at, _)| !program.notes().tells_panics(*at))
}

/// Checks whether a computation has panicked, as far as the known outputs tell. Each row of a batch panics by itself, see [`panicked_rows`];
/// but if outputs are to be kept, one row that panics leaves no row a result.
///
/// *Errors*: where and why it has, or the first row of a batch if all have; the other outputs then mean nothing.
pub fn check_panics(program: &Program, outputs: &[Option<Bits>]) -> Result<(), Panicked> {
    let rows = program.notes().rows;
    let places = places(program, outputs).unwrap_or_default();
    if has_panicked(program, outputs) {
        return Err(Panicked { place: places.into_iter().flatten().next(), rows, keeps: true });
    }
    let places: Option<Vec<String>> = places.into_iter().collect();
    match places.and_then(|all| all.into_iter().next()) {
        Some(place) => Err(Panicked { place: Some(place), rows, keeps: false }),
        None => Ok(()),
    }
}

/// The rows of a batch that have no result, from 1, each with where and why it panicked.
pub fn panicked_rows(program: &Program, outputs: &[Option<Bits>]) -> BTreeMap<usize, String> {
    (1..).zip(row_panics(program, outputs).unwrap_or_default()).filter_map(|(row, place)| Some((row, place?))).collect()
}

/// The place and reason at which each row of a batch has panicked, if it has; none if the program is not a batch, or the outputs do not tell.
pub fn row_panics(program: &Program, outputs: &[Option<Bits>]) -> Option<Vec<Option<String>>> {
    program.notes().rows.and_then(|_| places(program, outputs))
}

/// The place and reason at which the computation, or each row of a batch, has panicked; none if the outputs do not tell.
fn places(program: &Program, outputs: &[Option<Bits>]) -> Option<Vec<Option<String>>> {
    let codes = outputs.get(program.notes().panic_output()?)?.as_ref()?;
    let panics = program.notes().panics.as_ref()?;
    let rows = program.notes().rows.unwrap_or(1).max(1) as usize;
    let width = codes.len() / rows;
    let code = |row: usize| codes.slice(row * width, width).to_u128().unwrap_or(u128::MAX);
    Some((0..rows).map(|row| place(panics, code(row))).collect())
}

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
    use crate::{compile, lang::Options};

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
        assert!(
            check_panics(&program, &wrong)
                .is_err_and(|panicked| panicked.place.is_some_and(|place| place.contains("number 127")))
        );
        assert_eq!(check_panics(&program, &[None, None]), Ok(()));
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
    fn in_runs_that_keep_whoever_learns_nothing_else_learns_that_it_panicked() {
        let mut program = sum();
        let (out, _) = results(&program).next().expect("an output");
        program.set_recipients(out, Recipients::Only(Vec::new()));
        tell_panics(&mut program);
        let program = program.telling_panics().expect("it is small");
        let of_nobody = |inputs| vec![None, None, of(&program, inputs).pop().flatten()];
        assert_eq!(check_panics(&program, &of_nobody([200, 55])), Ok(()));
        let panicked = check_panics(&program, &of_nobody([200, 56])).expect_err("an overflow").to_string();
        assert!(
            panicked.starts_with("panicked at a place that this party does not learn; nothing was kept"),
            "{panicked}"
        );
        assert_eq!(results(&program).count(), 1);
    }

    #[test]
    fn rows_panic_each_by_itself() {
        let program = sum().batch(2).expect("a batch");
        let run = |rows: [[u128; 2]; 2]| {
            let column = |at: usize| Bits::from_u128(rows[0][at] | rows[1][at] << 8, 16);
            evaluate(&program, &[column(0), column(1)]).into_iter().map(Some).collect::<Vec<_>>()
        };
        let one = run([[1, 2], [200, 56]]);
        assert_eq!(check_panics(&program, &one), Ok(()));
        assert_eq!(panicked_rows(&program, &one).into_keys().collect::<Vec<_>>(), [2]);
        let all = check_panics(&program, &run([[255, 1], [200, 56]])).expect_err("no row has a result").to_string();
        assert!(all.starts_with("none of 2 rows has a result; the first panicked at sum.garble.rs:1:35: "), "{all}");
    }
}
