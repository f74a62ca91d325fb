//! Programs named by users: a file, or a circuit of the library.

use std::{path::Path, sync::Arc};

use garblet::{
    LoadError, LoadOptions, Program,
    circuit::{
        InputId,
        diagnostic::{Diagnostic, nearest},
    },
    formats::rewire,
    lang::{Constants, Options},
    library, tell_panics,
};
use serde_json::Value;

use crate::{
    args::{Constant, Ports, ProgramArgs, ProgramChanges},
    failure::Failure,
    output::tell_lines,
};

/// Loads a program and applies the changes of owners and recipients.
///
/// *Errors*: the program cannot be read or is inconsistent; unknown names.
pub fn load_quietly(args: &ProgramArgs) -> Result<Program, Failure> {
    changed(args, |options| garblet::load(&args.program, options))
}

/// The same for a program whose file has this content; the file's name says what kind of program it is.
///
/// *Errors*: as [`load_quietly`].
pub fn read_quietly(args: &ProgramArgs, mut content: &[u8]) -> Result<Program, Failure> {
    changed(args, |options| garblet::read(&args.program, &mut content, options))
}

/// The same, but gates may stay in their file, see [`garblet::load_in_place`].
///
/// *Errors*: as [`load_quietly`].
pub fn load_in_place_quietly(args: &ProgramArgs) -> Result<Program, Failure> {
    let ProgramChanges { ports, reversed, rows, .. } = &args.changes;
    // These change the circuit.
    let is_changed = ports.is_some() || !reversed.is_empty() || rows.is_some();
    let load = if is_changed { garblet::load } else { garblet::load_in_place };
    changed(args, |options| load(&args.program, options))
}

/// The same, and prints the program's warnings on standard error.
///
/// *Errors*: as [`load_quietly`].
pub fn load_in_place(args: &ProgramArgs) -> Result<Program, Failure> {
    Ok(told(load_in_place_quietly(args)?))
}

/// The program with all its gates in memory.
///
/// *Errors*: its file was changed.
pub fn whole(program: Program) -> Result<Program, Failure> {
    let whole = Arc::new(program).whole().map_err(Failure::diagnosed)?;
    Ok(Arc::unwrap_or_clone(whole))
}

fn changed(
    args: &ProgramArgs,
    load: impl FnOnce(LoadOptions) -> Result<Program, LoadError>,
) -> Result<Program, Failure> {
    let ProgramChanges { ports, reversed, owners, recipients, constants, function, panics, as_it_is, effort, rows } =
        &args.changes;
    let constants = read_all(constants)?;
    let option = match (constants.is_empty(), panics.0) {
        (false, _) => "--const",
        (true, false) => "--panics off",
        (true, true) => "--function",
    };
    let source = Options { constants, function: function.clone(), panics: panics.0, effort: *effort };
    let mut program = load(LoadOptions { source, as_it_is: *as_it_is }).map_err(|error| match error {
        LoadError::Wrong(diagnostics) => with_defaults(Failure::diagnosed(diagnostics), &args.program),
        LoadError::NoSource { .. } => Failure::call(format!("{option}: {error}")),
    })?;
    if let Some(Ports(ports)) = ports {
        program = rewire::with_inputs(&program, ports).map_err(|error| rewired("--ports", &error))?;
    }
    for port in reversed {
        program = rewire::reversed(&program, port).map_err(|error| rewired("--reverse", &error))?;
    }
    for change in owners {
        let known: Vec<&str> = program.inputs().iter().map(|i| i.port.name.as_str()).collect();
        let at = position("--owner", "input", &change.input, &known)?;
        program.set_owner(InputId(at as u32), change.party);
    }
    for change in recipients {
        let known: Vec<&str> = program.outputs().iter().map(|o| o.port.name.as_str()).collect();
        let at = position("--to", "output", &change.output, &known)?;
        program.set_recipients(at, change.recipients());
    }
    tell_panics(&mut program);
    batch(program, *rows)
}

/// Ports that cannot be changed as an option says.
fn rewired(option: &str, error: &Diagnostic) -> Failure {
    let failure = Failure::call(format!("{option}: {error}"));
    match &error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The program, for this number of rows if it is a batch.
///
/// *Errors*: too many to number.
pub fn batch(program: Program, rows: Option<u32>) -> Result<Program, Failure> {
    match rows {
        None => Ok(program),
        Some(rows) => whole(program)?.batch(rows).map_err(|error| {
            Failure::call(format!("a batch of {rows} rows is too large: {error}")).hint("split it into several")
        }),
    }
}

/// Adds a hint with the default parameters of a library circuit that was given none.
fn with_defaults(failure: Failure, program: &str) -> Failure {
    let name = program.strip_prefix(library::PREFIX).and_then(|call| call.split(['(', '@']).next()).map(str::trim);
    let Some(member) = library::list().find(|member| name == Some(member.name)) else { return failure };
    let defaults: Vec<String> = member.defaults().iter().map(u32::to_string).collect();
    match defaults.is_empty() {
        true => failure,
        false => failure.hint(format!(
            "with the default parameters, {} is lib:{}({})",
            member.signature(),
            member.name,
            defaults.join(",")
        )),
    }
}

/// The same as [`load_quietly`], and prints the program's warnings on standard error.
///
/// *Errors*: as [`load_quietly`].
pub fn load(args: &ProgramArgs) -> Result<Program, Failure> {
    Ok(told(load_quietly(args)?))
}

/// The program, once its warnings are printed on standard error.
pub(crate) fn told(program: Program) -> Program {
    let warnings = program.notes().warnings.iter();
    warnings.for_each(|warning| tell_lines(&format!("warning: {}", warning.render().trim_end())));
    program
}

fn read_all(given: &[Constant]) -> Result<Constants, Failure> {
    let mut constants = Constants::default();
    for constant in given {
        match constant {
            Constant::Value(name, value) => {
                constants.set(name, value).map_err(|e| Failure::call(format!("--const {name}={value}: {e}")))?;
            }
            Constant::File(path) => {
                for (name, value) in constants_in(path)? {
                    let wrong = |e| Failure::call(format!("{}: {e}", path.display()));
                    constants.set(&name, &value).map_err(wrong)?;
                }
            }
        }
    }
    Ok(constants)
}

/// The names and values in a file of constants.
///
/// *Errors*: the file has another format.
pub fn constants_in(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let wrong = |what: String| Failure::call(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| Failure::unreadable(path, &e))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| wrong(format!("not JSON: {e}")))?;
    let Value::Object(members) = value else {
        return Err(wrong("expected an object of constants".into()).hint("write {\"PARTY_0\": {\"ROWS\": 8}}"));
    };
    let mut constants = Vec::new();
    for (name, value) in members {
        match value {
            Value::Object(own) => {
                constants.extend(own.iter().map(|(inner, value)| (format!("{name}::{inner}"), value.to_string())));
            }
            value => constants.push((name, value.to_string())),
        }
    }
    Ok(constants)
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
