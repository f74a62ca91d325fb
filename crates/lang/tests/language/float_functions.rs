//! Exponential, logarithm, sine and cosine, whose oracles are the circuits of the library and Rust.

use garblet_circuit::{Bits, Float, evaluate_circuit, evaluate_many};
use garblet_formats::value::{bits_of_float, float_of_bits};
use garblet_synthesis::library;

use crate::reference::compile;

type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Function; 4] = [("exp", f64::exp), ("ln", f64::ln), ("sin", f64::sin), ("cos", f64::cos)];

const NUMBERS: [&str; 16] = [
    "0.0", "-0.0", "1.0", "-1.0", "0.1", "2.5", "-7.25", "1e-3", "12.0", "-40.0", "1e4", "0.999", "NaN", "inf", "-inf",
    "6.1e-5",
];

fn program(text: &str) -> garblet_circuit::Program {
    compile(text, &[], true).unwrap_or_else(|e| panic!("{text}: {}", e.render()))
}

#[test]
fn methods_are_the_circuits_of_the_library() {
    for format in Float::ALL {
        let width = format.width() as usize;
        let numbers = NUMBERS.map(|text| bits_of_float(format, text).expect("a number"));
        // Those of long numbers have many gates.
        let functions = if format == Float::F64 { &FUNCTIONS[..1] } else { &FUNCTIONS[..] };
        let calls: Vec<String> = functions.iter().map(|(name, _)| format!("a.{name}()")).collect();
        let source =
            format!("pub fn main(a: {format}, b: bool) -> [{format}; {}] {{ [{}] }}", calls.len(), calls.join(", "));
        let inputs = numbers.map(|bits| [Bits::from_u128(bits.into(), width), Bits::from_u128(0, 1)]);
        let outputs = evaluate_many(&program(&source), &inputs);
        for (at, (name, function)) in functions.iter().enumerate() {
            let component = library::component(&format!("{format}-{name}")).expect("a member");
            let lanes = |i: usize| numbers.iter().enumerate().fold(0, |lanes, (k, bits)| lanes | (bits >> i & 1) << k);
            let expected = evaluate_circuit(component.circuit(), &(0..width).map(lanes).collect::<Vec<u64>>());
            for (k, bits) in numbers.iter().enumerate() {
                let got = outputs[k][0].slice(at * width, width).to_u128().expect("64 bits") as u64;
                let of_lanes = expected.iter().enumerate().fold(0, |bits, (i, lanes)| bits | (lanes >> k & 1) << i);
                assert_eq!(got, of_lanes, "{name} of {} in {format}", NUMBERS[k]);
                let [got, exact] = [float_of_bits(format, got), function(float_of_bits(format, *bits))];
                let unit = 2f64.powi(1 - format.fraction() as i32);
                let is_near =
                    got == exact || got.is_nan() && exact.is_nan() || (got - exact).abs() <= unit * exact.abs();
                // Beyond the greatest number, or below the least normal one.
                let beyond = got.is_infinite() && exact > float_of_bits(format, format.infinity() - 1);
                let small = exact.abs() < float_of_bits(format, 1 << format.fraction());
                assert!(is_near || beyond || small && got < 1e-4, "{name} of {} in {format}: {got}", NUMBERS[k]);
            }
        }
    }
}

#[test]
fn functions_of_known_numbers_are_known() {
    for format in Float::ALL {
        for (name, function) in FUNCTIONS {
            let source = format!(
                "pub fn main(a: bool, b: {format}) -> {format} {{ let x = 2.5{format}; if a {{ x.{name}() }} else {{ b }} }}"
            );
            let program = program(&source);
            assert!(program.stats().and <= format.width().into(), "{name} of {format}");
            let inputs = [Bits::from_u128(1, 1), Bits::from_u128(0, format.width() as usize)];
            let got = evaluate_many(&program, &[inputs])[0][0].to_u128().expect("64 bits") as u64;
            let error = float_of_bits(format, got) / function(2.5) - 1.0;
            assert!(error.abs() < 2f64.powi(-(format.fraction() as i32)), "{name} of {format}: {error}");
        }
    }
}

#[test]
fn integers_have_none() {
    for name in ["exp", "ln", "sin", "cos"] {
        let text = format!("pub fn main(a: u8, b: u8) -> u8 {{ a.{name}() }}");
        let error = compile(&text, &[], true).expect_err("a refusal");
        assert!(error.iter().any(|d| d.message.contains(&format!("u8 has no method `{name}`"))), "{name}");
    }
}
