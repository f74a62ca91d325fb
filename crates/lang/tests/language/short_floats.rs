//! `f16` and `bf16`, whose oracle is exact arithmetic of integers.

use std::cmp::Ordering;

use garblet_circuit::{Bits, Float, evaluate_many};
use garblet_formats::value::{bits_of_float, text_of_float};
use num_bigint::{BigInt, Sign};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::reference::compile;

/// Every number of every format, and every middle between two, is an integer divided by 2 to this power.
const PLACES: u64 = 1100;

const SHORT: [Float; 2] = [Float::F16, Float::Bf16];

/// The exact value of finite bits, times 2^PLACES; of infinity, the number that would come after the greatest.
fn exact(format: Float, bits: u64) -> BigInt {
    let fraction = bits & ((1 << format.fraction()) - 1);
    let field = bits >> format.fraction() & u64::from(2 * format.bias() + 1);
    let significand = if field == 0 { fraction } else { fraction | 1 << format.fraction() };
    let places = PLACES + field.max(1) - u64::from(format.bias() + format.fraction());
    let magnitude = BigInt::from(significand) << places;
    if is_negative(format, bits) { -magnitude } else { magnitude }
}

fn is_negative(format: Float, bits: u64) -> bool {
    bits >> (format.width() - 1) == 1
}

fn magnitude(format: Float, bits: u64) -> u64 {
    bits & !(1 << (format.width() - 1))
}

fn is_nan(format: Float, bits: u64) -> bool {
    magnitude(format, bits) > format.infinity()
}

fn is_infinite(format: Float, bits: u64) -> bool {
    magnitude(format, bits) == format.infinity()
}

fn nan(format: Float) -> u64 {
    format.infinity() | 1 << (format.fraction() - 1)
}

/// The number next to a magnitude of which only the order with others is known, ties to even.
fn nearest(format: Float, is_negative: bool, order: impl Fn(&BigInt) -> Ordering) -> u64 {
    let (mut least, mut most) = (0, format.infinity());
    while least < most {
        let between = (least + most) / 2;
        let middle = (exact(format, between) + exact(format, between + 1)) / 2;
        let is_below = match order(&middle) {
            Ordering::Less => true,
            Ordering::Equal => between % 2 == 0,
            Ordering::Greater => false,
        };
        (least, most) = if is_below { (least, between) } else { (between + 1, most) };
    }
    least | u64::from(is_negative) << (format.width() - 1)
}

/// The number of a format next to an exact value times 2^PLACES.
fn rounded(format: Float, is_negative: bool, value: &BigInt) -> u64 {
    nearest(format, is_negative, |middle| value.magnitude().cmp(middle.magnitude()))
}

/// The exact result of two numbers, rounded. Doubles tell the results that are NaN or infinite.
fn binary(format: Float, op: char, [a, b]: [u64; 2]) -> u64 {
    let [x, y] = [a, b].map(|bits| double(format, bits));
    let about = match op {
        '+' => x + y,
        '-' => x - y,
        '*' => x * y,
        _ => x / y,
    };
    if about.is_nan() {
        return nan(format);
    }
    let sign = about.is_sign_negative();
    if about.is_infinite() || y.is_infinite() && op == '/' {
        return nearest(format, sign, |_| if about == 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let [x, y] = [a, b].map(|bits| exact(format, bits));
    nearest(format, sign, |middle| match op {
        '+' => (&x + &y).magnitude().cmp(middle.magnitude()),
        '-' => (&x - &y).magnitude().cmp(middle.magnitude()),
        '*' => (&x * &y).magnitude().cmp((middle << PLACES).magnitude()),
        _ => (&x << PLACES).magnitude().cmp((middle * &y).magnitude()),
    })
}

fn fused(format: Float, [a, b, c]: [u64; 3]) -> u64 {
    let [x, y, z] = [a, b, c].map(|bits| double(format, bits));
    // Products of two short numbers are exact as doubles, and a sum of two doubles has the right sign.
    let about = x * y + z;
    if about.is_nan() || about.is_infinite() {
        return if about.is_nan() { nan(format) } else { nearest(format, about < 0.0, |_| Ordering::Greater) };
    }
    let [x, y, z] = [a, b, c].map(|bits| exact(format, bits));
    let sum = x * y + (z << PLACES);
    nearest(format, about.is_sign_negative(), |middle| sum.magnitude().cmp((middle << PLACES).magnitude()))
}

fn root(format: Float, a: u64) -> u64 {
    let x = double(format, a);
    match x.sqrt() {
        root if root.is_nan() => nan(format),
        root if root.is_infinite() => a,
        root => {
            let square = exact(format, a) << PLACES;
            nearest(format, root.is_sign_negative(), |middle| square.cmp(&(middle * middle)))
        }
    }
}

/// The number of a short format as a double, which is exact.
fn double(format: Float, bits: u64) -> f64 {
    let field = magnitude(format, bits) >> format.fraction();
    let fraction = bits & ((1 << format.fraction()) - 1);
    let significand = if field == 0 { fraction } else { fraction | 1 << format.fraction() };
    let scale = 2f64.powi(field.max(1) as i32 - (format.bias() + format.fraction()) as i32);
    let value = match bits {
        _ if is_nan(format, bits) => f64::NAN,
        _ if is_infinite(format, bits) => f64::INFINITY,
        _ => significand as f64 * scale,
    };
    value.copysign(if is_negative(format, bits) { -1.0 } else { 1.0 })
}

fn converted(from: Float, to: Float, bits: u64) -> u64 {
    match bits {
        _ if is_nan(from, bits) => nan(to),
        _ if is_infinite(from, bits) => to.infinity() | u64::from(is_negative(from, bits)) << (to.width() - 1),
        // A short number is one of these exactly.
        _ if to == Float::F64 => double(from, bits).to_bits(),
        _ if to == Float::F32 => (double(from, bits) as f32).to_bits().into(),
        _ => rounded(to, is_negative(from, bits), &exact(from, bits)),
    }
}

/// The number without its fraction, in a type of this many bits.
fn whole(from: Float, bits: u64, width: u32, is_signed: bool) -> u128 {
    let (least, most) = match is_signed {
        true => (-(BigInt::from(1) << (width - 1)), (BigInt::from(1) << (width - 1)) - 1),
        false => (BigInt::ZERO, (BigInt::from(1) << width) - 1),
    };
    let value = match bits {
        _ if is_nan(from, bits) => BigInt::ZERO,
        _ if is_infinite(from, bits) => (if is_negative(from, bits) { &least } else { &most }).clone(),
        // A quotient of integers loses its fraction.
        _ => (exact(from, bits) / (BigInt::from(1) << PLACES)).clamp(least, most),
    };
    let wrapped = if value.sign() == Sign::Minus { value + (BigInt::from(1) << width) } else { value };
    u128::try_from(wrapped).expect("at most 128 bits")
}

/// Runs a source for many inputs, 64 in a pass, and gives the outputs of each.
fn run(text: &str, inputs: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let program = compile(text, &[], true).unwrap_or_else(|e| panic!("{text}: {}", e.render()));
    let widths: Vec<usize> = program.inputs().iter().map(|input| input.port.ty.width() as usize).collect();
    let bits = |row: &Vec<u128>| -> Vec<Bits> {
        row.iter().zip(&widths).map(|(value, width)| Bits::from_u128(*value, *width)).collect()
    };
    let instances: Vec<Vec<Bits>> = inputs.iter().map(bits).collect();
    let outputs = evaluate_many(&program, &instances);
    outputs.iter().map(|row| row.iter().map(|bits| bits.to_u128().expect("at most 128 bits")).collect()).collect()
}

/// Random bits, half of them near the edges of ranges and near one another.
struct Numbers(TestRng);

impl Numbers {
    fn new() -> Self {
        Numbers(TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
    }

    fn next(&mut self, format: Float, near: u64) -> u64 {
        let mask = u64::MAX >> (64 - format.width());
        let (raw, one) = (self.0.next_u64(), 1u64 << format.fraction());
        let edges = [0, one, u64::from(format.bias()) * one, format.infinity(), nan(format)];
        let sign = (raw >> 1 & 1) << (format.width() - 1);
        let number = match raw >> 2 & 7 {
            0 => edges[(raw >> 8) as usize % edges.len()].wrapping_add(raw >> 16 & 3).wrapping_sub(1),
            1 => near.wrapping_add(raw >> 8 & 7).wrapping_sub(3),
            2 => (u64::from(format.bias()) - 4 + (raw >> 8 & 7)) * one + (raw >> 16) % one,
            _ => raw >> 8,
        };
        (number ^ sign) & mask
    }
}

#[test]
fn unary_operations_and_conversions_of_all_numbers_are_exact_ones_rounded_once() {
    for format in SHORT {
        let other = if format == Float::F16 { Float::Bf16 } else { Float::F16 };
        let text = format!(
            "pub fn main(a: {format}, b: bool) -> ({format}, {other}, f32, f64, i8, u16, i64, u128, {format}, bool) {{
                (a.sqrt(), a as {other}, a as f32, a as f64, a as i8, a as u16, a as i64, a as u128, -a.abs(), a.is_nan())
            }}"
        );
        let all: Vec<Vec<u128>> = (0..1 << 16).map(|bits| vec![bits, 0]).collect();
        for (bits, got) in run(&text, &all).iter().enumerate() {
            let bits = bits as u64;
            let integers = [(8, true), (16, false), (64, true), (128, false)];
            let expected = [root(format, bits)]
                .into_iter()
                .chain([other, Float::F32, Float::F64].map(|to| converted(format, to, bits)))
                .map(u128::from)
                .chain(integers.map(|(width, is_signed)| whole(format, bits, width, is_signed)))
                .chain([(bits | 1 << 15).into(), is_nan(format, bits).into()]);
            assert_eq!(*got, expected.collect::<Vec<_>>(), "{bits:#x} of {format}");
        }
    }
}

#[test]
fn operations_of_two_and_three_numbers_are_exact_ones_rounded_once() {
    for format in SHORT {
        let text = format!(
            "pub fn main(a: {format}, b: {format}, c: {format}) -> ([{format}; 7], [bool; 4]) {{
                ([a + b, a - b, a * b, a / b, a.mul_add(b, c), min(a, b), a.max(b)], [a < b, a >= b, a == b, a != b])
            }}"
        );
        let mut numbers = Numbers::new();
        let rows: Vec<Vec<u64>> = (0..4096)
            .map(|_| {
                let a = numbers.next(format, 0);
                let b = numbers.next(format, a);
                vec![a, b, numbers.next(format, b)]
            })
            .collect();
        let inputs: Vec<Vec<u128>> =
            rows.iter().map(|row| row.iter().map(|bits| u128::from(*bits)).collect()).collect();
        for (row, got) in rows.iter().zip(run(&text, &inputs)) {
            let [a, b] = [row[0], row[1]];
            for (k, op) in "+-*/".chars().enumerate() {
                let expected = binary(format, op, [a, b]);
                assert_eq!(got[0] >> (16 * k) & 0xffff, expected.into(), "{a:#x} {op} {b:#x} of {format}");
            }
            let expected = fused(format, [a, b, row[2]]);
            assert_eq!(got[0] >> 64 & 0xffff, expected.into(), "{row:x?} of {format}");
            let [x, y] = [a, b].map(|bits| double(format, bits));
            for (k, expected) in [x.min(y), x.max(y)].into_iter().enumerate() {
                let got = double(format, (got[0] >> (80 + 16 * k) & 0xffff) as u64);
                assert!(got == expected || got.is_nan() && expected.is_nan(), "{a:#x}, {b:#x} of {format}");
            }
            let compared = [x < y, x >= y, x == y, x != y];
            let compared: u128 = (0..4).map(|k| u128::from(compared[k]) << k).sum();
            assert_eq!(got[1], compared, "{a:#x}, {b:#x} of {format}");
        }
    }
}

#[test]
fn integers_and_longer_numbers_become_the_next_number() {
    for format in SHORT {
        let text = format!(
            "pub fn main(a: i16, b: (u16, i64, u128, f32, f64)) -> [{format}; 6] {{
                [a as {format}, b.0 as {format}, b.1 as {format}, b.2 as {format}, b.3 as {format}, b.4 as {format}]
            }}"
        );
        let mut numbers = Numbers::new();
        let mut inputs = Vec::new();
        let mut rows = Vec::new();
        for small in 0..1u64 << 16 {
            let raw = numbers.0.next_u64();
            // Of every length, and powers of two with a little more or less.
            let wide = [raw >> (raw & 63), (1 << (raw & 63)) + (raw >> 61)][(raw >> 60 & 1) as usize];
            let long = u128::from(wide) << (raw >> 8 & 63);
            let (single, double) = (numbers.next(Float::F32, 0), numbers.next(Float::F64, 0));
            let [single, double] = [(Float::F32, single), (Float::F64, double)].map(|(long, bits)| {
                // A quarter are middles, or next to one.
                let (near, side) = (numbers.next(format, 0) % format.infinity(), numbers.0.next_u64() & 15);
                let middle = (exact(format, near) + exact(format, near + 1)) / 2;
                if side < 4 { (rounded(long, false, &middle) + side).saturating_sub(1) } else { bits }
            });
            rows.push((small, wide, long, single, double));
            inputs.push(small as u128);
        }
        // A tuple of 16 + 64 + 128 + 32 + 64 wires is wider than one word.
        let program = compile(&text, &[], true).unwrap_or_else(|e| panic!("{text}: {}", e.render()));
        let instances: Vec<Vec<Bits>> = (rows.iter())
            .map(|(small, wide, long, single, double)| {
                let parts = [
                    (u128::from(*small), 16),
                    ((*wide).into(), 64),
                    (*long, 128),
                    ((*single).into(), 32),
                    ((*double).into(), 64),
                ];
                let mut tuple = Bits::default();
                parts.iter().for_each(|(value, width)| tuple.append(&Bits::from_u128(*value, *width)));
                vec![Bits::from_u128(u128::from(*small), 16), tuple]
            })
            .collect();
        let of_integer = |value: BigInt| rounded(format, value.sign() == Sign::Minus, &(value << PLACES));
        for (row, got) in rows.iter().zip(evaluate_many(&program, &instances)) {
            let (small, wide, long, single, double) = *row;
            let expected = [
                of_integer((small as u16).cast_signed().into()),
                of_integer(small.into()),
                of_integer(wide.cast_signed().into()),
                of_integer(long.into()),
                converted(Float::F32, format, single),
                converted(Float::F64, format, double),
            ];
            let expected: u128 = (0..6).map(|k| u128::from(expected[k]) << (16 * k)).sum();
            assert_eq!(got[0].to_u128(), Some(expected), "{row:x?} as {format}");
        }
    }
}

/// A value times 2^PLACES as a decimal number with all its digits.
fn decimal(value: &BigInt) -> String {
    let digits = (value * BigInt::from(5).pow(PLACES as u32)).to_string();
    format!("{digits}e-{PLACES}")
}

#[test]
fn decimal_numbers_are_rounded_once() {
    for format in SHORT {
        for bits in (0..format.infinity()).step_by(7).chain([0, format.infinity() - 1]) {
            let middle = (exact(format, bits) + exact(format, bits + 1)) / 2;
            let [text, longer] = [&middle, &(&middle * 10)].map(decimal);
            let read = |text: &str| bits_of_float(format, text).unwrap_or(format.infinity());
            assert_eq!(read(&text), bits + bits % 2, "{text} of {format}");
            // A double is too short to tell these from the middle.
            let [below, above] = [-1, 1].map(|step| {
                let digits: BigInt = longer.split_once('e').expect("an exponent").0.parse().expect("digits");
                format!("{}e-{}", digits + step, PLACES + 1)
            });
            assert_eq!([read(&below), read(&above)], [bits, bits + 1], "{text} of {format}");
        }
    }
    for (text, expected) in [
        ("1.00048828125f16", 0x3c00u128),
        ("1.000488281250000000000000000000000001f16", 0x3c01),
        ("1.00048828124999999999999999999999999f16", 0x3c00),
        ("1_0.0_1e-1_bf16", 0x3f80),
        ("1.00390625000000000000000000000001bf16", 0x3f81),
        ("65519.999999999999999999999999f16", 0x7bff),
        ("5e-8f16", 1),
        ("2f16", 0x4000),
        ("2bf16", 0x4000),
        ("f16::MAX", 0x7bff),
        ("f16::MIN", 0xfbff),
        ("f16::MIN_POSITIVE", 0x0400),
        ("f16::EPSILON", 0x1400),
        ("bf16::MAX", 0x7f7f),
        ("bf16::MIN_POSITIVE", 0x0080),
        ("bf16::EPSILON", 0x3c00),
        ("bf16::NEG_INFINITY", 0xff80),
        ("bf16::NAN", 0x7fc0),
        ("f16::NAN", 0x7e00),
        ("f16::from_bits(0x1234)", 0x1234),
    ] {
        let ty = if text.contains("bf16") { "bf16" } else { "f16" };
        let source =
            format!("pub fn main(a: bool, b: {ty}) -> u16 {{ let x = {text}; (if a {{ x }} else {{ b }}).to_bits() }}");
        assert_eq!(run(&source, &[vec![1, 0]]), [[expected]], "{text}");
    }
    for text in ["65520.0f16", "1e39bf16", "let x: f16 = 7e4; x"] {
        let error = compile(&format!("pub fn main(a: bool, b: bool) -> bool {{ {text} < 1.0 }}"), &[], true);
        let error = error.err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(error.iter().any(|d| d.message.contains("literal out of range for")), "{text}");
    }
}

/// The totals are those of a search through all decimal numbers, in exact rationals, outside this program.
#[test]
fn results_have_as_few_digits_as_read_back_the_same() {
    for (format, total) in [(Float::F16, 118_144), (Float::Bf16, 92_695)] {
        let mut digits = 0;
        for bits in 0..format.infinity() {
            let text = text_of_float(format, bits);
            assert_eq!(bits_of_float(format, &text), Some(bits), "{text}");
            assert_eq!(text_of_float(format, bits | 1 << 15), format!("-{text}"));
            let significant: String = text.split('e').next().expect("a part").replace('.', "");
            digits += significant.trim_matches('0').len();
        }
        assert_eq!(digits, total, "{format}");
    }
}

#[test]
fn structs_arrays_and_constants_hold_them() {
    let source = "const RATE: bf16 = PARTY_0::RATE;
struct P { x: f16, y: [bf16; 2] }
fn sum<const N: usize>(v: [f16; N]) -> f16 { let mut s = 0.0; for x in v { s += x; } s }
pub fn main(a: f16, b: bf16) -> (f16, bf16) {
    let p = P { x: a, y: [b * RATE, 2.0] };
    (sum([p.x, p.y[0] as f16, 0.25]), p.y[1] + (1 as bf16))
}";
    let program = compile(source, &[("PARTY_0::RATE", "0.5")], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let inputs = vec![vec![Bits::from_u128(0x3e00, 16), Bits::from_u128(0x4000, 16)]];
    let got: Vec<Option<u128>> = evaluate_many(&program, &inputs)[0].iter().map(Bits::to_u128).collect();
    // 1.5 + 2.0 * 0.5 + 0.25, and 2.0 + 1.
    assert_eq!(got, [Some(0x4180), Some(0x4040)]);
    assert_eq!(program.inputs()[1].port.ty.to_string(), "bf16");
    let own = "struct f16 { x: u8 }\nfn bf16(a: u8) -> f16 { f16 { x: a } }\npub fn main(a: u8, b: u8) -> u8 { bf16(a).x ^ b }";
    assert_eq!(run(own, &[vec![5, 3]]), [[6]]);
}
