//! Overflow of the least number: by negation, and by division by -1.

use garblet_circuit::{Bits, Program, evaluate, notes::Panics};

use crate::reference::compile;

fn program(ty: &str, expression: &str, panics: bool) -> Program {
    let text = format!("pub fn main(a: {ty}, b: {ty}) -> {ty} {{ {expression} }}");
    compile(&text, &[], panics).unwrap_or_else(|e| panic!("{}", e.render()))
}

/// The value of the result, and whether it panics.
fn run(program: &Program, width: usize, inputs: [i128; 2]) -> (i128, bool) {
    let bits = |value: i128| (0..width).map(|at| value >> at.min(127) & 1 == 1).collect::<Bits>();
    let outputs = evaluate(program, &inputs.map(bits));
    let low = outputs[0].to_u128().expect("128 bits at most").cast_signed();
    let value = low << (128 - width) >> (128 - width);
    let code = match &program.notes().panics {
        Some(Panics::On { output: Some(at), .. }) => outputs[*at].to_u128(),
        _ => Some(0),
    };
    (value, code != Some(0))
}

#[test]
fn the_least_number_has_no_negative_and_no_quotient_by_minus_one() {
    // Of the last type, -1 is -2^8.
    for (ty, width, one) in [("i8", 8, 1), ("i32", 32, 1), ("i128", 128, 1), ("fixed<8, 8>", 16, 256)] {
        let least = i128::MIN >> (128 - width);
        let is_fixed = one > 1;
        for (expression, inputs, value, panics) in [
            ("-a", [least, one], None, true),
            ("-a", [least + 1, one], Some(!least), false),
            ("-a", [!least, one], Some(least + 1), false),
            ("a / b", [least, -one], None, true),
            ("a / b", [least + 1, -one], Some(!least), false),
            ("a / b", [least, one], Some(least), false),
            ("a / b", [-one, -one], Some(one), false),
            // A remainder of fixed-point numbers is exact, whatever the quotient.
            ("a % b", [least, -one], is_fixed.then_some(0), !is_fixed),
            ("a % b", [least, -1], is_fixed.then_some(0), !is_fixed),
            ("a % b", [least + 1, -one], Some((least + 1) % one), false),
            ("a % b", [least, one], Some(0), false),
            ("a % b", [-one, -one], Some(0), false),
        ] {
            let (got, panicked) = run(&program(ty, expression, true), width, inputs);
            assert_eq!(panicked, panics, "{expression} of {inputs:?}, {ty}");
            assert!(value.is_none_or(|value| value == got), "{expression} of {inputs:?}, {ty}: {got}");
        }
        for (expression, value) in [("-a", least), ("a / b", least), ("a % b", 0)] {
            let got = run(&program(ty, expression, false), width, [least, -one]);
            assert_eq!(got, (value, false), "{expression} without checks, {ty}");
        }
    }
}

#[test]
fn what_is_certain_is_refused_and_what_cannot_be_costs_nothing() {
    let refused = |expression: &str| {
        let text = format!("pub fn main(a: i8, b: i8) -> i8 {{ {expression} }}");
        let error = compile(&text, &[], true).expect_err("it panics").to_string();
        assert!(error.ends_with("this always panics: arithmetic overflow"), "{expression}: {error}");
    };
    for expression in ["-(-128i8)", "-128i8 / -1i8", "-128i8 % -1i8"] {
        refused(expression);
    }
    assert_eq!(run(&program("i8", "-128i8 + a - b", true), 8, [5, 5]), (-128, false));
    let added = |expression: &str| {
        let [on, off] = [true, false].map(|panics| program("i8", expression, panics).stats().and);
        on - off
    };
    // 7 gates say whether the divisor is 0, and 7 whether it is -1; a gate is that of the check itself.
    for (expression, gates) in [("-a", 1), ("-(a & 15)", 0), ("a / b", 7 + 3), ("a % b", 7 + 7 + 2)] {
        assert_eq!(added(expression), gates, "{expression}");
    }
    for expression in [
        "(a & 15) / b",
        "(a & 15) % b",
        "a / ((b & 15) + 1)",
        "a % ((b & 15) + 1)",
        "a % 7",
        "(a as i16 / b as i16) as i8",
    ] {
        let program = program("i8", expression, true);
        let Some(Panics::On { places, .. }) = &program.notes().panics else { panic!("checks are on") };
        assert!(!places.iter().any(|place| place.contains("overflow")), "{expression}: {places:?}");
    }
}
