//! Fixed-point numbers.

use garblet_circuit::{Bits, Program as Compiled, Type, evaluate_many, notes::Panics};
use garblet_formats::value::{read_value, to_json};
use garblet_synthesis::builder::{CircuitBuilder, Integer, Signed, Unsigned};
use num_rational::BigRational;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::{
    fixed_random::{Program, Reason, Ty},
    reference::compile,
};

/// Runs of each program.
const RUNS: usize = 16;

fn programs() -> usize {
    if std::env::var_os("GARBLET_TEST_FULL").is_some() { 2000 } else { 100 }
}

fn wires(ty: Ty, rng: &mut TestRng) -> u128 {
    let any = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    let all = u128::MAX >> (128 - ty.bits());
    all & match rng.next_u32() % 5 {
        0 => any >> 120,
        1 => !(any >> 124),
        2 => (1u128 << (ty.bits() - 1)).wrapping_add(any >> 126),
        3 => (1u128 << (ty.bits() - 1)).wrapping_sub(1 + (any >> 127)),
        _ => any,
    }
}

/// The wires of the results, or why the run panicked.
fn outcome(program: &Compiled, outputs: &[Bits]) -> Result<Vec<u128>, String> {
    if let Some(panics @ Panics::On { output: Some(at), .. }) = &program.notes().panics {
        let code = outputs[*at].to_u128().expect("a code");
        if code != 0 {
            let place = panics.reason(code).expect("a place");
            return Err(place.rsplit(": ").next().unwrap_or_default().to_string());
        }
    }
    Ok(outputs.iter().take(2).map(|bits| bits.to_u128().expect("128 bits at most")).collect())
}

#[test]
fn random_programs_are_exact_arithmetic_with_the_stated_rounding() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut number, mut runs, mut panics, mut certain) = (0, 0, 0, 0);
    while number < programs() {
        let random = Program::random(&mut rng);
        let text = random.text();
        let expected = |inputs: &[u128]| -> Result<Vec<u128>, Reason> {
            let values: Vec<BigRational> = random.params().iter().zip(inputs).map(|(ty, &w)| ty.value(w)).collect();
            let results = random.run(&values)?;
            Ok(random.results().iter().zip(&results).map(|(ty, value)| ty.wires(value)).collect())
        };
        let program = match compile(&text, &[], true) {
            Ok(program) => program,
            Err(error) => {
                assert!(error.to_string().contains("this always panics"), "{}\n{text}", error.render());
                let inputs: Vec<u128> = random.params().iter().map(|&ty| wires(ty, &mut rng)).collect();
                assert!(expected(&inputs).is_err(), "program {number} is refused\n{text}");
                certain += 1;
                continue;
            }
        };
        number += 1;
        let inputs: Vec<Vec<u128>> =
            (0..RUNS).map(|_| random.params().iter().map(|&ty| wires(ty, &mut rng)).collect()).collect();
        let bits: Vec<Vec<Bits>> = inputs
            .iter()
            .map(|own| own.iter().zip(random.params()).map(|(&w, ty)| Bits::from_u128(w, ty.bits() as usize)).collect())
            .collect();
        let bits: Vec<&[Bits]> = bits.iter().map(|own| &own[..]).collect();
        for (outputs, inputs) in evaluate_many(&program, &bits).iter().zip(&inputs) {
            let got = outcome(&program, outputs);
            assert_eq!(got, expected(inputs).map_err(String::from), "program {number} on {inputs:x?}\n{text}");
            runs += 1;
            panics += usize::from(got.is_err());
        }
    }
    println!("{runs} runs of {number} programs, {panics} panics; {certain} programs panic for certain");
    assert!(panics > runs / 20 && panics < runs * 19 / 20, "{panics} of {runs}");
}

/// The result of an expression of `a: fixed<8, 8>` and `b: fixed<8, 8>` in decimal, or why it panics.
fn result(expression: &str, ty: &str, a: &str, b: &str) -> String {
    let text = format!("pub fn main(a: fixed<8, 8>, b: fixed<8, 8>) -> {ty} {{ {expression} }}");
    let program = compile(&text, &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let inputs = [a, b].map(|x| read_value("v.json", x, &Type::Fixed(8, 8)).expect("a number"));
    let outputs = evaluate_many(&program, &[&inputs]).remove(0);
    match outcome(&program, &outputs) {
        Ok(_) => match to_json(&program.outputs()[0].port.ty, &outputs[0]) {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        },
        Err(reason) => reason,
    }
}

#[test]
fn what_is_computed_is_rounded_down() {
    for (expression, ty, a, b, expected) in [
        ("a + b", "fixed<8, 8>", "1.5", "-3.25", "-1.75"),
        ("a + b", "fixed<8, 8>", "127", "1", "arithmetic overflow"),
        ("a * b", "fixed<8, 8>", "1.5", "-2.25", "-3.375"),
        // 2^-8 times 2^-1 is 2^-9, which lies between 0 and 2^-8.
        ("a * b", "fixed<8, 8>", "0.00390625", "0.5", "0"),
        ("a * b", "fixed<8, 8>", "-0.00390625", "0.5", "-0.00390625"),
        ("a * b", "fixed<8, 8>", "16", "8", "arithmetic overflow"),
        ("a * b", "fixed<8, 8>", "-16", "8", "-128"),
        ("a / b", "fixed<8, 8>", "1", "3", "0.33203125"),
        ("a / b", "fixed<8, 8>", "-1", "3", "-0.3359375"),
        ("a / b", "fixed<8, 8>", "1", "-3", "-0.3359375"),
        ("a / b", "fixed<8, 8>", "100", "0.5", "arithmetic overflow"),
        ("a / b", "fixed<8, 8>", "1", "0", "division by zero"),
        ("a % b", "fixed<8, 8>", "-7.5", "2", "-1.5"),
        ("-a", "fixed<8, 8>", "-128", "0", "arithmetic overflow"),
        ("-a", "fixed<8, 8>", "127.5", "0", "-127.5"),
        ("a % b", "fixed<8, 8>", "-128", "-1", "0"),
        ("sqrt(a)", "fixed<8, 8>", "2", "0", "1.4140625"),
        ("sqrt(a)", "fixed<8, 8>", "-0.00390625", "0", "square root of a negative number"),
        ("min(a, max(b, 0.5))", "fixed<8, 8>", "3", "-3", "0.5"),
        ("a < b", "bool", "-0.5", "0.5", "true"),
        ("a == b", "bool", "-0.5", "-0.5", "true"),
        ("a as i8", "i8", "-0.5", "0", "-1"),
        ("a as u8", "u8", "7.99", "0", "7"),
        ("a as fixed<4, 2>", "fixed<4, 2>", "9.8", "0", "-6.25"),
        ("a as fixed<40, 24>", "fixed<40, 24>", "-9.8", "0", "-9.80078125"),
        ("(300u16 as fixed<8, 8>) + a", "fixed<8, 8>", "1", "0", "45"),
        ("a * 0.1 + 1.0", "fixed<8, 8>", "10", "0", "2.015625"),
        ("if a > b { 1.5 } else { -1.5 }", "fixed<8, 8>", "10", "0", "1.5"),
    ] {
        assert_eq!(result(expression, ty, a, b), expected, "{expression} of {a} and {b}");
    }
}

#[test]
fn without_checks_the_low_wires_are_the_result() {
    let text = "pub fn main(a: fixed<8, 8>, b: fixed<8, 8>) -> [fixed<8, 8>; 4] { [a + b, a - b, a * b, a / b] }";
    let program = compile(text, &[], false).expect("a program");
    let ty = Ty::Fixed(8, 8);
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    for _ in 0..500 {
        let inputs = [wires(ty, &mut rng), wires(ty, &mut rng).max(1)];
        let bits = inputs.map(|w| Bits::from_u128(w, 16));
        let output = evaluate_many(&program, &[&bits]).remove(0).remove(0);
        let [a, b] = inputs.map(|w| i64::from(w as u16 as i16));
        let quotient = (a << 8).div_euclid(b) - i64::from(b < 0 && (a << 8).rem_euclid(b) != 0);
        let expected = [a + b, a - b, (a * b) >> 8, quotient].map(|x| u128::from(x as u16));
        let got: Vec<u128> = (0..4).map(|k| output.slice(16 * k, 16).to_u128().unwrap()).collect();
        assert_eq!(got, expected, "{a} and {b}");
    }
}

/// AND gates of an expression of `a: fixed<I, F>` and `b: fixed<I, F>`, with checks.
fn ands(expression: &str, integer: u32, fraction: u32, result: &str) -> u64 {
    let ty = format!("fixed<{integer}, {fraction}>");
    let text = format!("pub fn main(a: {ty}, b: {ty}) -> {} {{ {expression} }}", result.replace("Self", &ty));
    compile(&text, &[], true).unwrap_or_else(|e| panic!("{}", e.render())).stats().and
}

/// AND gates of a circuit that is made by hand, of the two numbers as integers.
fn by_hand(width: u32, make: impl Fn(&mut CircuitBuilder, &Signed, &Signed)) -> u64 {
    let mut c = CircuitBuilder::new("by hand");
    let (a, b): (Signed, Signed) = (c.input("a", Type::Signed(width)), c.input("b", Type::Signed(width)));
    make(&mut c, &a, &b);
    c.finish().expect("a circuit").stats().and
}

/// The low wires of a number, and whether others differ from the sign.
fn narrow(c: &mut CircuitBuilder, exact: &Signed, from: usize, width: usize) {
    let result = Signed::new(exact.bits()[from..from + width].to_vec());
    let sign = exact.bits()[from + width - 1];
    let above: Vec<_> = exact.bits()[from + width..].iter().map(|&bit| c.xor(bit, sign)).collect();
    let overflow = c.any(&above);
    c.output("result", &result);
    c.output("overflow", &overflow);
}

#[test]
fn gates_are_those_of_circuits_made_by_hand() {
    for (integer, fraction) in [(16u32, 16u32), (8, 8), (32, 32), (24, 8), (12, 20)] {
        let (n, f) = ((integer + fraction), fraction as usize);
        let width = n as usize;
        let sum = by_hand(n, |c, a, b| {
            let (sum, overflow) = c.add_overflow(a, b);
            c.output("result", &sum);
            c.output("overflow", &overflow);
        });
        let product = by_hand(n, |c, a, b| {
            let product = c.mul_full(a, b);
            narrow(c, &product, f, width);
        });
        let quotient = by_hand(n, |c, a, b| {
            let quotient = c.div_floor(a, b, f);
            narrow(c, &quotient, 0, width);
            let zero = c.is_zero(b);
            c.output("zero", &zero);
        });
        let less = by_hand(n, |c, a, b| {
            let less = c.less(a, b);
            c.output("result", &less);
        });
        let least = by_hand(n, |c, a, b| {
            let least = c.min(a, b);
            c.output("result", &least);
        });
        let root = by_hand(n, |c, a, _| {
            let low = std::iter::repeat_n(false.into(), f);
            let radicand = low.chain(a.bits()[..width - 1].iter().copied()).collect();
            let root = c.sqrt(&Unsigned::new(radicand));
            c.output("result", &root);
        });
        for (expression, result, by_hand) in [
            ("a + b", "Self", sum),
            ("a * b", "Self", product),
            ("a / b", "Self", quotient),
            ("a < b", "bool", less),
            ("min(a, b)", "Self", least),
            ("sqrt(a)", "Self", root),
        ] {
            let ours = ands(expression, integer, fraction, result);
            println!("fixed<{integer}, {fraction}> {expression}: {ours}, by hand {by_hand}");
            let near = ours.abs_diff(by_hand) * 100 <= by_hand * 2;
            // Checks that are the first to fail are found among those before, by a gate each.
            assert!(near || ours.abs_diff(by_hand) <= 2, "{expression}: {ours}, by hand {by_hand}");
        }
    }
}

#[test]
fn constants_are_fixed_point_too() {
    let text = "const RATE: fixed<16, 16> = 1.05;
        const FEE: fixed<16, 16> = min(PARTY_0::FEE, RATE + -0.3);
        pub fn main(a: fixed<16, 16>, b: u8) -> (fixed<16, 16>, fixed<16, 16>) { (a * RATE - FEE, FEE) }";
    let program = compile(text, &[("PARTY_0::FEE", "0.2")], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let ty = Type::Fixed(16, 16);
    let inputs = [read_value("v.json", "100", &ty).expect("a number"), Bits::zeros(8)];
    let outputs = evaluate_many(&program, &[&inputs]).remove(0);
    // 1.05 is 68813 / 2^16, 0.2 is 13107 / 2^16.
    assert_eq!(to_json(&ty, &outputs[0]), "104.8003082275390625");
    assert_eq!(to_json(&ty, &outputs[1]), "0.1999969482421875");
    let fails = |value: &str| compile(text, &[("PARTY_0::FEE", value)], true).expect_err("an error").render();
    assert!(fails("40000.5").contains("the constant `PARTY_0::FEE`: expected fixed<16, 16>, got 40000.5"));
    let integers = "const N: usize = PARTY_0::N; pub fn main(a: [u8; N], b: u8) -> u8 { a[0] }";
    let error = compile(integers, &[("PARTY_0::N", "2.5")], true).expect_err("an error").render();
    assert!(error.contains("the constant `PARTY_0::N`: expected usize, 0 to 4294967295, got 2.5"), "{error}");
}
