//! Random programs mean in the function language what they mean to rustc: values, panics with line and reason, and refusals.

mod cases;
mod compare;
mod dice;
mod expressions;
mod generator;
mod matches;
mod mistakes;
mod oracle;
mod shrink;
mod statements;
mod text;
mod tree;
mod value;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use compare::{Outcome, compare, ours};
use dice::Dice;
use oracle::{Source, verdicts};
use tree::Program;

/// Programs that are compiled together.
const BATCH: u64 = 100;
/// The most failures of a kind that are shown.
const SHOWN: usize = 2;

/// A program by its number: three of ten have mistakes.
fn program(seed: u64, number: u64) -> Program {
    let mut program = Program::random(Dice::new(seed, number));
    if number % 10 >= 7 {
        mistakes::damage(&mut program, &mut Dice::new(!seed, number));
    }
    program
}

#[derive(Default)]
struct Counts {
    programs: u64,
    values: usize,
    panics: usize,
    refused: usize,
    stated: BTreeMap<&'static str, u64>,
    /// Kinds of differences, with the numbers of the programs.
    wrong: BTreeMap<String, Vec<u64>>,
}

impl Counts {
    fn add(&mut self, number: u64, outcome: &Outcome) {
        self.programs += 1;
        match outcome {
            Outcome::Same(values, panics) => {
                self.values += values;
                self.panics += panics;
            }
            Outcome::Refused => self.refused += 1,
            Outcome::Stated(name) => *self.stated.entry(name).or_default() += 1,
            Outcome::Wrong(kind, _) => self.wrong.entry(kind.clone()).or_default().push(number),
        }
    }

    fn wrong(&self) -> usize {
        self.wrong.values().map(Vec::len).sum()
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { programs, values, panics, refused, stated, .. } = self;
        write!(f, "{programs} programs, {values} values, {panics} panics, {refused} refused by both, ")?;
        stated.iter().try_for_each(|(name, count)| write!(f, "{count} {name}, "))?;
        write!(f, "{} wrong", self.wrong())
    }
}

/// Compares so many programs from a number on.
fn run(seed: u64, first: u64, count: u64) -> Counts {
    let counts = Mutex::new(Counts::default());
    let next = AtomicU64::new(first);
    let shown = Mutex::new(BTreeMap::<String, usize>::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let begin = next.fetch_add(BATCH, Ordering::Relaxed);
                    if begin >= first + count {
                        return;
                    }
                    let numbers: Vec<u64> = (begin..(begin + BATCH).min(first + count)).collect();
                    let programs: Vec<Program> = numbers.iter().map(|&number| program(seed, number)).collect();
                    let sources: Vec<Source> = programs.iter().map(Source::of).collect();
                    let theirs = verdicts(&sources);
                    for ((number, program), verdict) in numbers.into_iter().zip(programs).zip(theirs) {
                        let outcome = compare(&ours(&program), &verdict);
                        counts.lock().unwrap().add(number, &outcome);
                        if let Outcome::Wrong(kind, both) = outcome {
                            let times = *shown.lock().unwrap().entry(kind.clone()).and_modify(|n| *n += 1).or_insert(1);
                            if times <= SHOWN {
                                show(&kind, number, program, &both);
                            }
                        }
                    }
                    eprintln!("{}", counts.lock().unwrap());
                }
            });
        }
    });
    counts.into_inner().unwrap()
}

/// Prints a program that fails, and what both say.
fn show(kind: &str, number: u64, mut program: Program, both: &str) {
    let mut both = both.to_string();
    program = shrink::shrink(program, kind);
    if let Outcome::Wrong(_, now) = compare(&ours(&program), &verdicts(&[Source::of(&program)])[0]) {
        both = now;
    }
    let source = Source::of(&program);
    eprintln!(
        "--- program {number}: {kind}\n{}given {:?}, inputs {:?}\n{both}\n",
        source.text, source.given, source.inputs
    );
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn limits_are_stated_in_the_book() {
    let book = include_str!("../../../../docs/src/language.md");
    for limit in compare::LIMITS {
        assert!(book.contains(limit.stated), "{}: {}", limit.name, limit.stated);
    }
}

#[test]
fn programs_mean_what_they_mean_to_rustc() {
    let [seed, first, count] = [("GARBLET_RUSTC_SEED", 1), ("GARBLET_RUSTC_FIRST", 0), ("GARBLET_RUSTC_PROGRAMS", 200)]
        .map(|(name, otherwise)| number(name, otherwise));
    let counts = run(seed, first, count);
    println!("{counts}");
    for (kind, numbers) in &counts.wrong {
        println!("{} of {kind}: {:?}", numbers.len(), &numbers[..numbers.len().min(5)]);
    }
    assert_eq!(counts.wrong(), 0, "programs that mean something else");
}
