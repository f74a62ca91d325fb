//! Random programs compute what a plain interpreter and `garble_lang`'s evaluator compute.

use crate::random::{Program, Ty};
use crate::reference::{Both, Outcome, compile, outcomes};
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Runs of each program.
const RUNS: usize = 16;

fn programs() -> usize {
    if std::env::var_os("GARBLET_TEST_FULL").is_some() { 3000 } else { 300 }
}

/// The scalars of a parameter from its bits.
fn numbers(scalars: &[Ty], bits: &[bool]) -> Vec<i128> {
    let mut rest = bits;
    let mut number = |ty: &Ty| {
        let (own, after) = rest.split_at(ty.bits() as usize);
        rest = after;
        let value = own.iter().rev().fold(0i128, |n, &b| n << 1 | i128::from(b));
        match ty {
            Ty::Int(bits, true) if value >> (bits - 1) == 1 => value - (1 << bits),
            _ => value,
        }
    };
    scalars.iter().map(&mut number).collect()
}

fn expected(program: &Program, inputs: &[Vec<bool>]) -> Result<Vec<bool>, &'static str> {
    let values: Vec<Vec<i128>> = program.params().iter().zip(inputs).map(|(ty, bits)| numbers(ty, bits)).collect();
    let bits = |(ty, value): (Ty, i128)| (0..ty.bits()).map(move |k| value >> k & 1 == 1);
    Ok(program.run(&values)?.into_iter().flat_map(bits).collect())
}

#[test]
fn results_and_panics_are_the_same() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut runs, mut panics, mut forgotten, mut invented, mut certain) = (0, 0, 0, 0, 0);
    let mut number = 0;
    while number < programs() {
        let program = Program::random(&mut rng);
        let text = program.text();
        if let Err(error) = compile(&text, &[], true) {
            assert!(error.to_string().contains("this always panics"), "{}\n{text}", error.render());
            let zeros: Vec<Vec<bool>> = program
                .params()
                .iter()
                .map(|p| p.iter().flat_map(|ty| vec![false; ty.bits() as usize]).collect())
                .collect();
            assert!(expected(&program, &zeros).is_err(), "program {number} is refused\n{text}");
            certain += 1;
            continue;
        }
        number += 1;
        let ran = Both::new(&text, &[]).run_with_inputs(RUNS, &mut rng);
        let few_layers = compile(&text.replacen("pub fn main", "#[depth] pub fn main", 1), &[], true);
        let few_layers = outcomes(&few_layers.expect("the same source"), ran.iter().map(|(inputs, ..)| &inputs[..]));
        for ((inputs, ours, theirs), in_few_layers) in ran.into_iter().zip(few_layers) {
            assert_eq!(ours, in_few_layers, "program {number}\n{text}");
            runs += 1;
            match (expected(&program, &inputs), &ours) {
                (Ok(value), Outcome::Value(got)) => assert_eq!(*got, value, "program {number}\n{text}"),
                (Err(reason), Outcome::Panic(_, _, got)) => {
                    assert_eq!(*got, reason, "program {number}\n{text}");
                    panics += 1;
                }
                (expected, _) => panic!("program {number}: {expected:?}, got {ours:?}\n{text}"),
            }
            // They restore the state of an earlier check at a later check that cannot fail, and forget panics between. The least number is
            // its own negative and quotient by -1 there.
            match (&ours, ours.by_line() == theirs.by_line()) {
                (_, true) => {}
                (Outcome::Panic(..), false) => forgotten += 1,
                // They may also restore the state of a branch that is not taken.
                (Outcome::Value(_), false) if matches!(theirs, Outcome::Panic(..)) => invented += 1,
                (Outcome::Value(_), false) => panic!("program {number}: they give {theirs:?}\n{text}"),
            }
        }
    }
    println!(
        "{runs} runs, {panics} panics, of which {forgotten} are forgotten there, and {invented} more there; {certain} programs panic for certain"
    );
    assert!(
        panics > runs / 20 && panics < runs * 19 / 20 && forgotten < panics && invented <= runs / 50,
        "{runs} {panics} {forgotten}"
    );
}
