//! Programs in the function language, compared with rustc.

use std::collections::BTreeSet;

use garblet_circuit::{Bits, Type, evaluate_many, notes::Panics};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Constants, Language, Options};

use crate::{
    oracle::{ARGUMENTS, Run, Verdict},
    tree::{Input, Program},
    value::{Printed, are, shown, wires},
};

/// Our answer to a program.
#[derive(Clone, Debug)]
pub(crate) enum Ours {
    Refused(String),
    /// The runs, and the first and the last line of each function that nothing calls.
    Runs(Vec<OurRun>, Vec<(u64, u64)>),
    /// It compiles, but the arguments have other types than the parameters of `main`.
    Arguments,
    /// An error of this test or of the compiler.
    Broken(String),
}

#[derive(Clone, Debug)]
pub(crate) enum OurRun {
    Value(Vec<(String, Type, Bits)>),
    Panic(u64, String),
}

/// Compiles and runs a program.
pub(crate) fn ours(program: &Program) -> Ours {
    run(&program.text(), &program.given(), &program.inputs)
}

pub(crate) fn run(text: &str, given: &[(String, String)], inputs: &[Vec<Input>]) -> Ours {
    let whole = || {
        let mut constants = Constants::default();
        for (name, value) in given {
            constants.set(name, value).expect("a constant");
        }
        let options = Options { constants, ..Options::default() };
        let compiled = FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut text.as_bytes());
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(faults) => return Ours::Refused(faults.render()),
        };
        let types: Vec<&Type> = compiled.inputs().iter().map(|input| &input.port.ty).collect();
        let mut bits: Vec<Vec<Bits>> = Vec::new();
        for values in inputs {
            let wires = types.iter().zip(values).map(|(ty, value)| wires(ty, value)).collect::<Option<Vec<Bits>>>();
            match wires {
                Some(wires) if wires.len() == types.len() => bits.push(wires),
                _ => return Ours::Arguments,
            }
        }
        let runs = evaluate_many(&compiled, &bits).into_iter().map(|mut outputs| {
            if let Some(panics @ Panics::On { output: Some(at), .. }) = &compiled.notes().panics {
                let code = outputs[*at].to_u128().expect("a code");
                outputs.remove(*at);
                if let Some(place) = panics.reason(code) {
                    let mut parts = place.splitn(4, ':').skip(1);
                    let line = parts.next().and_then(|line| line.parse().ok()).expect("a line");
                    return OurRun::Panic(line, parts.nth(1).unwrap_or_default().trim().into());
                }
            }
            let ports = compiled.outputs().iter().map(|output| (output.port.name.clone(), output.port.ty.clone()));
            OurRun::Value(ports.zip(outputs).map(|((name, ty), bits)| (name, ty, bits)).collect())
        });
        let uncalled = compiled.notes().warnings.iter().filter(|warning| warning.message.ends_with(" is never called"));
        let begins = uncalled.filter_map(|warning| warning.place.as_ref()).map(|place| place.line);
        let end = |begin: u64| {
            let rest = text.lines().enumerate().skip(begin as usize - 1);
            rest.filter(|(_, line)| line.ends_with('}') && !line.starts_with(' ')).map(|(at, _)| at as u64 + 1).next()
        };
        Ours::Runs(runs.collect(), begins.map(|begin| (begin, end(begin).expect("the end of a function"))).collect())
    };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(whole));
    caught.unwrap_or_else(|_| Ours::Broken("the compiler or the evaluator panicked".into()))
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The values and the panics that are the same.
    Same(usize, usize),
    /// Both refuse.
    Refused,
    /// One refuses for a reason that is stated: its name.
    Stated(&'static str),
    /// The kind of difference, and what each says.
    Wrong(String, String),
}

/// A limit that the language states: its name, a part of our error, and the sentence that states it.
pub(crate) struct Limit {
    pub(crate) name: &'static str,
    pub(crate) error: &'static str,
    pub(crate) stated: &'static str,
}

/// Programs that we refuse and rustc takes.
pub(crate) const LIMITS: &[Limit] = &[
    Limit {
        name: "work to compile",
        error: "compiling takes more than",
        stated: "A source that takes more is refused, with the line that takes most",
    },
    Limit { name: "remainders of floating-point numbers", error: " has no `%`", stated: "There is no `%`" },
    Limit {
        name: "matches of floating-point numbers",
        error: "cannot be matched",
        stated: "Floating-point numbers are no patterns",
    },
    Limit {
        name: "usize beyond 32 bits",
        error: "out of range for usize: expected 0 to 4294967295, got",
        stated: "`usize` has 32 bits",
    },
    Limit {
        name: "a complement of no known type",
        error: "is not known here",
        stated: "the number after `!` needs its type, unless the range begins with a typed number",
    },
    Limit {
        name: "a range that ends with a variable",
        error: "the length of a loop must be known",
        stated: "a range of numbers and constants",
    },
    Limit {
        name: "an operator in a constant",
        error: "a constant is made of",
        stated: "**A constant that is a number or a bool is made of** numbers",
    },
    Limit {
        name: "order of Booleans",
        error: "expected a number, got bool",
        stated: "`<`, `>`, `<=` and `>=` take numbers only; Rust also compares `bool`",
    },
];

/// Codes of rustc's errors about references, of which the language has none: values are copied.
const REFERENCES: &[&str] = &["E0499", "E0502", "E0503", "E0505", "E0506"];

pub(crate) fn compare(ours: &Ours, theirs: &Verdict) -> Outcome {
    let both = || format!("rustc: {theirs:?}\nours:  {}", described(ours));
    match (ours, theirs) {
        (Ours::Broken(why), _) => Outcome::Wrong(format!("broken: {why}"), both()),
        // The first that rustc refuses are the arguments, which follow the program.
        (Ours::Arguments, Verdict::Refused(codes, first))
            if codes.iter().eq(["E0308"]) && first.contains(ARGUMENTS) =>
        {
            Outcome::Refused
        }
        (Ours::Arguments, _) => Outcome::Wrong("the parameters of main have other types".into(), both()),
        (Ours::Refused(_), Verdict::Refused(..)) => Outcome::Refused,
        (_, Verdict::Endless) => Outcome::Stated("rustc: does not end in time"),
        (Ours::Refused(error), Verdict::Runs(runs, certain)) => {
            let line = error.lines().next().unwrap_or_default();
            let panics = *certain || runs.iter().all(|run| matches!(run, Run::Panic(..)));
            if error.contains("this always panics") && panics {
                return Outcome::Stated("certain to panic");
            }
            match LIMITS.iter().find(|limit| error.contains(limit.error)) {
                Some(limit) => Outcome::Stated(limit.name),
                None => Outcome::Wrong(format!("only we refuse: {}", without_numbers(line)), both()),
            }
        }
        // A mistake in a function that nothing calls, and no other one.
        (Ours::Runs(_, uncalled), Verdict::Refused(codes, first)) if codes.len() == 1 && is_in(first, uncalled) => {
            Outcome::Stated("rustc: in a function that nothing calls")
        }
        // An array becomes a list where one is expected; for rustc the text says that it does, and a mistake has put it elsewhere.
        (Ours::Runs(..), Verdict::Refused(codes, first))
            if codes.iter().eq(["E0308"]) && first.contains("List::of(") =>
        {
            Outcome::Stated("rustc: a list where an array is expected")
        }
        (Ours::Runs(..), Verdict::Refused(codes, first)) => {
            match codes.iter().all(|code| REFERENCES.contains(&&**code)) {
                true => Outcome::Stated("rustc: about references"),
                // The number is one of its type; that its negation is not, is a panic if it comes to that.
                false if codes.iter().eq(["overflowing_literals"]) && first.contains("--") => {
                    Outcome::Stated("rustc: the least number, negated twice")
                }
                false => Outcome::Wrong(
                    format!("only rustc refuses: {}", joined(codes)),
                    format!("line {first}\n{}", both()),
                ),
            }
        }
        (Ours::Runs(own, _), Verdict::Runs(runs, _)) => {
            let (mut values, mut panics) = (0, 0);
            for (own, run) in own.iter().zip(runs) {
                match (own, run) {
                    (OurRun::Value(own), Run::Value(text)) if are(own, &Printed::parse(text)) => values += 1,
                    (OurRun::Value(_), Run::Value(_)) => return Outcome::Wrong("value".into(), both()),
                    (OurRun::Panic(line, why), Run::Panic(their_line, theirs)) => {
                        if why != theirs {
                            return Outcome::Wrong("reason of a panic".into(), both());
                        }
                        if line != their_line {
                            return Outcome::Wrong("line of a panic".into(), both());
                        }
                        panics += 1;
                    }
                    (OurRun::Panic(..), _) => return Outcome::Wrong("only we panic".into(), both()),
                    (_, Run::Panic(..)) => return Outcome::Wrong("only rustc panics".into(), both()),
                }
            }
            Outcome::Same(values, panics)
        }
    }
}

/// Tells whether an error of rustc is in one of those ranges of lines.
fn is_in(first: &str, lines: &[(u64, u64)]) -> bool {
    let line = first.split(':').next().and_then(|line| line.parse().ok()).unwrap_or(0u64);
    lines.iter().any(|(begin, end)| (*begin..=*end).contains(&line))
}

fn joined(codes: &BTreeSet<String>) -> String {
    codes.iter().cloned().collect::<Vec<_>>().join(" ")
}

/// The words of an error, without what differs from one program to the next.
fn without_numbers(line: &str) -> String {
    let words = line.split(' ').filter(|word| !word.contains(|c: char| c.is_ascii_digit()) && !word.contains('`'));
    words.collect::<Vec<_>>().join(" ")
}

fn described(ours: &Ours) -> String {
    match ours {
        Ours::Refused(error) => format!("Refused\n{error}"),
        Ours::Broken(why) => format!("Broken: {why}"),
        Ours::Arguments => "Arguments of other types".into(),
        Ours::Runs(runs, _) => {
            let shown = |run: &OurRun| match run {
                OurRun::Panic(line, why) => format!("Panic({line}, {why})"),
                OurRun::Value(outputs) => {
                    let outputs: Vec<String> = outputs.iter().map(|(_, ty, bits)| shown(ty, bits)).collect();
                    format!("Value({})", outputs.join(", "))
                }
            };
            format!("Runs([{}])", runs.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
    }
}
