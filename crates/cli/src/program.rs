//! Programs as users name them: a file, or a circuit of the library.

use garblet_circuit::{InputId, Program, diagnostic::nearest, front_end::FrontEnds};

use crate::{args::ProgramArgs, failure::Failure};

/// Loads a program and applies the changes of owners and recipients.
///
/// *Errors*: a program that cannot be read or does not hold together, and names that it does not have.
pub(crate) fn load(args: &ProgramArgs) -> Result<Program, Failure> {
    let mut program = read(&args.program)?;
    for change in &args.owners {
        let known: Vec<&str> = program.inputs().iter().map(|i| i.port.name.as_str()).collect();
        let at = position("--owner", "input", &change.input, &known)?;
        program.set_owner(InputId(at as u32), change.party);
    }
    for change in &args.recipients {
        let known: Vec<&str> = program.outputs().iter().map(|o| o.port.name.as_str()).collect();
        let at = position("--to", "output", &change.output, &known)?;
        program.set_recipients(at, change.recipients());
    }
    Ok(program)
}

fn read(name: &str) -> Result<Program, Failure> {
    FrontEnds::standard().load(name).map_err(Failure::diagnosed)
}

fn position(option: &str, side: &str, name: &str, known: &[&str]) -> Result<usize, Failure> {
    known.iter().position(|k| *k == name).ok_or_else(|| {
        let failure = Failure::call(format!("{option}: the program has no {side} `{name}`"));
        match nearest(name, known) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("it has {}", known.join(", "))),
        }
    })
}
