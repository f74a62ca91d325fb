//! Numbers of IEEE 754, against the machine's own for `f32` and `f64`. The shorter formats are tested against `f64` rounded to odd, which
//! has more than twice their bits and two, so a second rounding changes nothing.

use garblet_circuit::{Component, Type, evaluate_circuit};
use garblet_synthesis::{
    builder::{Aim, CircuitBuilder, FloatFormat, Integer, Unsigned},
    library,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A format, and the machine's numbers for it.
struct Case {
    name: &'static str,
    format: FloatFormat,
    exponent: u32,
    fraction: u32,
}

const CASES: [Case; 4] = [
    Case { name: "f16", format: FloatFormat::F16, exponent: 5, fraction: 10 },
    Case { name: "bf16", format: FloatFormat::BF16, exponent: 8, fraction: 7 },
    Case { name: "f32", format: FloatFormat::F32, exponent: 8, fraction: 23 },
    Case { name: "f64", format: FloatFormat::F64, exponent: 11, fraction: 52 },
];

impl Case {
    fn width(&self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn nan(&self) -> u64 {
        ((2 << self.exponent) - 1) << (self.fraction - 1)
    }

    /// The value of a number of any format.
    fn value(&self, bits: u64) -> f64 {
        match self.name {
            "f64" => return f64::from_bits(bits),
            "f32" => return f64::from(f32::from_bits(bits as u32)),
            _ => {}
        }
        let sign = if bits >> (self.width() - 1) == 1 { -1.0 } else { 1.0 };
        let fraction = bits & ((1 << self.fraction) - 1);
        let exponent = bits >> self.fraction & ((1 << self.exponent) - 1);
        let bias = (1 << (self.exponent - 1)) - 1;
        let scale = |exponent: i32| 2f64.powi(exponent - bias - self.fraction as i32);
        sign * match exponent {
            0 => fraction as f64 * scale(1),
            top if top == (1 << self.exponent) - 1 => {
                if fraction == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            _ => (fraction | 1 << self.fraction) as f64 * scale(exponent as i32),
        }
    }

    /// The number next to a value, ties to even; every NaN is the same.
    fn round(&self, value: f64) -> u64 {
        if value.is_nan() {
            return self.nan();
        }
        let sign = u64::from(value.is_sign_negative()) << (self.width() - 1);
        let infinity = ((1u64 << self.exponent) - 1) << self.fraction;
        if value.is_infinite() || value == 0.0 {
            return sign | if value == 0.0 { 0 } else { infinity };
        }
        // The significand of 53 bits, with the highest one set, times 2^exponent.
        let (bits, raw) = (value.abs().to_bits() & ((1 << 52) - 1), (value.abs().to_bits() >> 52) as i32);
        let (significand, exponent) = match raw {
            0 => (
                bits << bits.leading_zeros().saturating_sub(11),
                -1074 - bits.leading_zeros().saturating_sub(11) as i32,
            ),
            _ => (bits | 1 << 52, raw - 1075),
        };
        let bias = (1 << (self.exponent - 1)) - 1;
        let last = (exponent + 52 - self.fraction as i32).max(1 - bias - self.fraction as i32);
        let dropped = (last - exponent).clamp(0, 60) as u32;
        let (kept, rest) = (significand >> dropped, significand & ((1 << dropped) - 1));
        let half = (1u64 << dropped) / 2;
        let up = dropped > 0 && (rest > half || rest == half && kept & 1 == 1);
        let kept = kept + u64::from(up);
        // A place above the fraction counts for the exponent.
        let base = (last + bias + self.fraction as i32 - 1) as u64;
        sign | ((base << self.fraction) + kept).min(infinity)
    }

    /// The same for a result that the machine has rounded to this format already, or to many more bits.
    fn result(&self, short: f32, long: f64) -> u64 {
        match self.name {
            "f64" if long.is_nan() => self.nan(),
            "f64" => long.to_bits(),
            "f32" if short.is_nan() => self.nan(),
            "f32" => short.to_bits().into(),
            _ => self.round(long),
        }
    }

    /// Zeros, the least and the greatest of subnormal and of normal numbers and their neighbours, ones, infinities and NaN.
    fn edges(&self) -> Vec<u64> {
        let (one, infinity) = (1u64 << self.fraction, ((1u64 << self.exponent) - 1) << self.fraction);
        let unit = ((1 << (self.exponent - 1)) - 1) * one;
        let positive =
            [0, 1, 2, one - 1, one, one + 1, infinity - 1, infinity, infinity + 1, unit, unit + 1, self.nan()];
        positive.into_iter().flat_map(|number| [number, number | 1 << (self.width() - 1)]).collect()
    }

    /// Numbers of every kind: anything, the edges of each range, numbers near one another, short ones and integers.
    fn number(&self, rng: &mut StdRng, near: u64) -> u64 {
        let mask = u64::MAX >> (64 - self.width());
        let (one, bias) = (1u64 << self.fraction, (1u64 << (self.exponent - 1)) - 1);
        let sign = u64::from(rng.random::<bool>()) << (self.width() - 1);
        let edges = self.edges();
        let fraction = rng.random::<u64>() % one;
        let exponent = rng.random::<u64>() % (1 << self.exponent);
        let place = rng.random_range(0..self.fraction);
        let number = match rng.random_range(0..8) {
            0 => edges[rng.random_range(0..edges.len())],
            1 => fraction,
            2 => near.wrapping_add(rng.random_range(0..5)).wrapping_sub(2),
            3 => near ^ (1 << rng.random_range(0..self.width())),
            4 => (bias + rng.random_range(0..8) - 4) * one + fraction,
            5 => exponent * one + (one >> place),
            6 => exponent * one + ((one - 1) << place) % one,
            _ => rng.random(),
        };
        (number ^ sign) & mask
    }
}

/// The outputs of 64 runs.
fn run(component: &Component, inputs: &[[u64; 64]]) -> Vec<[u64; 64]> {
    let ports = component.inputs().iter().zip(inputs);
    let bit = |values: &[u64; 64], i: u32| (0..64).fold(0u64, |lanes, k| lanes | (values[k] >> i & 1) << k);
    let wires: Vec<u64> = ports.flat_map(|(port, x)| (0..port.width()).map(move |i| bit(x, i))).collect();
    let out = evaluate_circuit(component.circuit(), &wires);
    let mut rest = &out[..];
    let mut take = |width: u32| {
        let (own, after) = rest.split_at(width as usize);
        rest = after;
        std::array::from_fn(|k| own.iter().enumerate().fold(0, |x, (i, lanes)| x | (lanes >> k & 1) << i))
    };
    component.outputs().iter().map(|port| take(port.width())).collect()
}

/// The number of runs of 64 cases: 10,240 cases, or a million.
fn rounds() -> usize {
    if std::env::var_os("GARBLET_TEST_FULL").is_some() { 15_625 } else { 160 }
}

/// Compares a circuit of some numbers of a format with an oracle.
fn check<const N: usize>(
    case: &Case,
    operation: &str,
    build: impl Fn(&mut CircuitBuilder, &[Unsigned; N]) -> Vec<Unsigned>,
    oracle: impl Fn([u64; N]) -> Vec<u64>,
) {
    for aim in [Aim::Size, Aim::Depth] {
        let mut c = CircuitBuilder::with_aim(format!("{operation}, {aim:?}"), aim);
        let inputs: [Unsigned; N] = std::array::from_fn(|k| c.input(format!("in{k}"), Type::Unsigned(case.width())));
        for (k, word) in build(&mut c, &inputs).iter().enumerate() {
            c.output(format!("out{k}"), word);
        }
        compare(case, &c.finish().unwrap(), &oracle);
    }
}

/// Compares a component with an oracle, with all pairs of edges first.
fn compare<const N: usize>(case: &Case, component: &Component, oracle: impl Fn([u64; N]) -> Vec<u64>) {
    let mut rng = StdRng::seed_from_u64(7);
    let edges = case.edges();
    for round in 0..rounds() {
        let mut numbers = [[0; 64]; N];
        for lane in 0..64 {
            let pair = 64 * round + lane;
            let mut near = 0;
            for (k, input) in numbers.iter_mut().enumerate() {
                near = match k {
                    0 if pair < edges.len().pow(2) => edges[pair % edges.len()],
                    1 if pair < edges.len().pow(2) => edges[pair / edges.len()],
                    _ => case.number(&mut rng, near),
                };
                input[lane] = near;
            }
        }
        let got = run(component, &numbers);
        for lane in 0..64 {
            let own = std::array::from_fn(|k| numbers[k][lane]);
            let got: Vec<u64> = got.iter().map(|values| values[lane]).collect();
            assert_eq!(got, oracle(own), "{} of {}: {own:x?}", component.name(), case.name);
        }
    }
}

/// The sum of two values to 53 bits, the last one set if there are more.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let virtual_b = sum - a;
    let error = (a - (sum - virtual_b)) + (b - virtual_b);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Towards zero if the error is of the other sign: the last bit of that number is set.
    let inwards = (error > 0.0) != (sum > 0.0);
    f64::from_bits(if inwards { sum.to_bits() - 1 } else { sum.to_bits() + 1 })
}

#[test]
fn sums_and_differences() {
    for case in &CASES {
        let short = |bits: u64| f32::from_bits(bits as u32);
        check(
            case,
            "add",
            |c, [a, b]| vec![c.float_add(case.format, a, b)],
            |[a, b]| vec![case.result(short(a) + short(b), case.value(a) + case.value(b))],
        );
        check(
            case,
            "sub",
            |c, [a, b]| vec![c.float_sub(case.format, a, b)],
            |[a, b]| vec![case.result(short(a) - short(b), case.value(a) - case.value(b))],
        );
    }
}

#[test]
fn products() {
    for case in &CASES {
        check(
            case,
            "mul",
            |c, [a, b]| vec![c.float_mul(case.format, a, b)],
            |[a, b]| {
                vec![case.result(f32::from_bits(a as u32) * f32::from_bits(b as u32), case.value(a) * case.value(b))]
            },
        );
    }
}

#[test]
fn quotients() {
    for case in &CASES {
        check(
            case,
            "div",
            |c, [a, b]| vec![c.float_div(case.format, a, b)],
            |[a, b]| {
                vec![case.result(f32::from_bits(a as u32) / f32::from_bits(b as u32), case.value(a) / case.value(b))]
            },
        );
    }
}

#[test]
fn roots() {
    for case in &CASES {
        check(
            case,
            "sqrt",
            |c, [a]| vec![c.float_sqrt(case.format, a)],
            |[a]| vec![case.result(f32::from_bits(a as u32).sqrt(), case.value(a).sqrt())],
        );
    }
}

#[test]
fn products_and_sums_rounded_once() {
    for case in &CASES {
        check(
            case,
            "fma",
            |c, [x, y, z]| vec![c.float_mul_add(case.format, x, y, z)],
            |[x, y, z]| {
                let short = [x, y, z].map(|bits| f32::from_bits(bits as u32));
                let long = [x, y, z].map(|bits| case.value(bits));
                let fused = match case.name {
                    "f64" => long[0].mul_add(long[1], long[2]),
                    // The product is exact.
                    _ => sum_to_odd(long[0] * long[1], long[2]),
                };
                vec![case.result(short[0].mul_add(short[1], short[2]), fused)]
            },
        );
    }
}

#[test]
fn comparisons() {
    for case in &CASES {
        let build = |c: &mut CircuitBuilder, [a, b]: &[Unsigned; 2]| {
            c.float_compare(case.format, a, b).map(|bit| Unsigned::new(vec![bit])).to_vec()
        };
        check(case, "compare", build, |[a, b]| {
            let (a, b) = (case.value(a), case.value(b));
            vec![(a < b).into(), (a == b).into(), (a.is_nan() || b.is_nan()).into()]
        });
    }
}

#[test]
fn formats() {
    for from in &CASES {
        for to in CASES.iter().filter(|to| to.name != from.name) {
            let operation = format!("to-{}", to.name);
            check(
                from,
                &operation,
                |c, [a]| vec![c.float_convert(from.format, to.format, a)],
                |[a]| {
                    let value = from.value(a);
                    // From f64 to f32 the machine rounds, too.
                    let expected = to.round(value);
                    if to.name == "f32" && !value.is_nan() {
                        assert_eq!(expected, (value as f32).to_bits().into());
                    }
                    vec![expected]
                },
            );
        }
    }
}

#[test]
fn integers() {
    for case in &CASES {
        for bits in [2u32, 8, 16, 31, 32, 64] {
            let least = i64::MIN >> (64 - bits);
            let mask = u64::MAX >> (64 - bits);
            let to = |c: &mut CircuitBuilder, [a]: &[Unsigned; 1]| {
                vec![c.float_to_int(case.format, a, bits as usize).as_unsigned()]
            };
            check(case, &format!("to-int({bits})"), to, |[a]| {
                let whole = (case.value(a) as i64).clamp(least, !least);
                vec![whole as u64 & mask]
            });
        }
        let name = |operation: &str| library::component(&format!("{}-{operation}", case.name)).unwrap();
        compare(case, &name("to-i64"), |[a]| vec![case.value(a) as i64 as u64]);
        compare(case, &name("to-u64"), |[a]| vec![case.value(a) as u64]);
        // Integers are the bits of long numbers here: any, and powers of two with a little more or less.
        let wide = &CASES[3];
        for bits in [2, 8, 16, 33, 64] {
            let from = |c: &mut CircuitBuilder, [a]: &[Unsigned; 1]| {
                vec![c.float_from_int(case.format, &a.as_signed().resize(bits))]
            };
            check(wide, &format!("from-int({bits})"), from, |[a]| {
                let integer = (a as i64) << (64 - bits) >> (64 - bits);
                vec![case.result(integer as f32, to_odd(case, integer.into()))]
            });
        }
        compare(wide, &name("from-i64"), |[a]| vec![case.result(a as i64 as f32, to_odd(case, (a as i64).into()))]);
        compare(wide, &name("from-u64"), |[a]| vec![case.result(a as f32, to_odd(case, a.into()))]);
    }
}

/// An integer to 53 bits: for `f64` to the nearest, for shorter formats with the last bit set if there are more.
fn to_odd(case: &Case, integer: i128) -> f64 {
    let near = integer as f64;
    let error = integer - near as i128;
    match error.signum() as f64 * near {
        _ if case.name == "f64" || error == 0 || near.to_bits() & 1 == 1 => near,
        side if side > 0.0 => f64::from_bits(near.to_bits() + 1),
        _ => f64::from_bits(near.to_bits() - 1),
    }
}
