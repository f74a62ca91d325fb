//! Functions of numbers of IEEE 754 that are rounded from fixed point: how far they are from the exact ones.
//!
//! Of the shorter formats, the oracle is the machine's `f64`, whose errors are below a millionth of their last place. Of `f64` it is a list of numbers with
//! the exact results, which `mpmath` of Python computed.

use std::f64::consts::PI;

use garblet_circuit::{Component, evaluate_circuit};
use garblet_synthesis::library;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// The greatest error that these numbers have, in units in the last place; the documentation promises 0.55.
const MOST: f64 = 0.515;

/// A format with the bits of its fraction and its exponent.
struct Case {
    name: &'static str,
    exponent: u32,
    fraction: u32,
}

const SHORT: [Case; 3] = [
    Case { name: "f16", exponent: 5, fraction: 10 },
    Case { name: "bf16", exponent: 8, fraction: 7 },
    Case { name: "f32", exponent: 8, fraction: 23 },
];

/// A number of `f64`, the bits of the nearest result, and what the exact one is more.
type Row = (f64, u64, f64);

type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Function; 5] = [
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("sigmoid", |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }),
];

impl Case {
    fn width(&self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn bias(&self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn infinity(&self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    fn value(&self, bits: u64) -> f64 {
        let sign = if bits >> (self.width() - 1) == 1 { -1.0 } else { 1.0 };
        let fraction = (bits & ((1 << self.fraction) - 1)) as f64;
        let field = (bits >> self.fraction & ((1 << self.exponent) - 1)) as i32;
        let scale = 2f64.powi(field.max(1) - self.bias() - self.fraction as i32);
        match field {
            0 => sign * fraction * scale,
            top if top == 2 * self.bias() + 1 && fraction == 0.0 => sign * f64::INFINITY,
            top if top == 2 * self.bias() + 1 => f64::NAN,
            _ => sign * (fraction + 2f64.powi(self.fraction as i32)) * scale,
        }
    }

    /// The unit in the last place of numbers as large as this one.
    fn unit(&self, number: f64) -> f64 {
        let exponent = (number.abs().to_bits() >> 52) as i32 - 1023;
        2f64.powi(exponent.max(1 - self.bias()) - self.fraction as i32)
    }

    /// The error of a result in units in the last place; infinite if it is of another kind.
    fn error(&self, got: u64, expected: f64) -> f64 {
        let nan = self.infinity() | 1 << (self.fraction - 1);
        let greatest = self.value(self.infinity() - 1);
        let value = self.value(got);
        match expected {
            _ if expected.is_nan() => {
                if got == nan {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            _ if expected == 0.0 || expected.is_infinite() => {
                if value == expected {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            // Beyond the greatest number there is one more, which is infinite.
            _ if value.is_infinite() => {
                (greatest + self.unit(greatest) - expected.abs()).max(0.0) / self.unit(greatest)
            }
            _ => (value - expected).abs() / self.unit(expected.abs().min(greatest)),
        }
    }

    /// All numbers of 16 bits; of 32 bits the edges and random ones, half of them near 1.
    fn numbers(&self) -> Vec<u64> {
        if self.width() == 16 {
            return (0..1 << 16).collect();
        }
        let mut rng = StdRng::seed_from_u64(5);
        let one = 1u64 << self.fraction;
        let unit = self.bias() as u64 * one;
        let edges =
            [0, 1, one - 1, one, unit - 1, unit, unit + 1, self.infinity() - 1, self.infinity(), self.infinity() + 1];
        let edges = edges.into_iter().flat_map(|bits| [bits, bits | 1 << (self.width() - 1)]);
        let count = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 1 << 22 } else { 1 << 17 };
        let random = (0..count).map(|k| match k % 4 {
            0 | 1 => rng.random::<u64>() >> 32,
            2 => (unit + rng.random::<u64>() % (12 * one) - 4 * one) | (rng.random::<u64>() & 1) << 31,
            _ => unit - 1024 + rng.random::<u64>() % 2048,
        });
        edges.chain(random).collect()
    }
}

/// The results of a component of one number, 64 in a pass.
fn run(component: &Component, numbers: &[u64]) -> Vec<u64> {
    let width = component.inputs()[0].width();
    let of_lanes = |chunk: &[u64]| {
        let wire = |i: u32| chunk.iter().enumerate().fold(0u64, |lanes, (k, bits)| lanes | (bits >> i & 1) << k);
        let wires: Vec<u64> = (0..width).map(wire).collect();
        let out = evaluate_circuit(component.circuit(), &wires);
        let number = |k: usize| out.iter().enumerate().fold(0, |bits, (i, lanes)| bits | (lanes >> k & 1) << i);
        (0..chunk.len()).map(number).collect::<Vec<u64>>()
    };
    numbers.chunks(64).flat_map(of_lanes).collect()
}

/// Hard roundings, neighbours of multiples of pi / 2, borders of ranges.
#[rustfmt::skip]
const LONG: [(&str, &[Row]); 5] = [
    ("exp", &[
        (1.0, 0x4005bf0a8b145769, 1.446e-16),
        (-1.0, 0x3fd78b56362cef38, -1.243e-17),
        (1e-09, 0x3ff000000044b830, -8.224e-17),
        (-2.432220371956908e-12, 0x3fefffffffffaa6d, -5.479e-17),
        (709.782712893384, 0x7fefffffffffff2a, 2.109e+291),
        (-708.5, 0x000e6cf6d08897ac, -0.000e+00),
        (-745.1332191019411, 0x0000000000000001, -0.000e+00),
        (0.1, 0x3ff1aec7b35a00d4, -8.150e-17),
        (300.25, 0x5b01fda3eaeb3d0e, -6.155e+113),
        (-10.931765624758047, 0x3ef2bfeca07df4f7, 9.862e-22),
    ]),
    ("ln", &[
        (2.0, 0x3fe62e42fefa39ef, 2.319e-17),
        (0.1, 0xc0026bb1bbb55515, -1.715e-16),
        (1.0000000000000002, 0x3cafffffffffffff, 3.649e-48),
        (0.9999999999999999, 0xbca0000000000000, -6.163e-33),
        (0.9999999999999734, 0xbd1e000000000071, 1.578e-30),
        (1.0078, 0x3f7fd328f72edd7a, 3.525e-20),
        (5e-324, 0xc0874385446d71c3, -4.422e-14),
        (1.7976931348623157e+308, 0x40862e42fefa39ef, 2.364e-14),
        (0.5000001, 0xbfe62e42939a7039, -3.917e-17),
        (19.245900716687657, 0x4007a88be66d4ab6, 1.170e-16),
    ]),
    ("sin", &[
        (1.0, 0x3feaed548f090cee, 1.777e-18),
        (-0.5, 0xbfdeaee8744b05f0, 5.104e-18),
        (1e-05, 0x3ee4f8b588e1e8a2, 6.182e-22),
        (PI, 0x3ca1a62633145c07, -2.995e-33),
        (5.319372648326541e+255, 0x3ff0000000000000, -1.098e-37),
        (1e+22, 0xbfeb453ab76bf397, -6.781e-18),
        (-108.49848258448958, 0xbfefcb41ea956533, -5.482e-17),
        (1.7976931348623157e+308, 0x3f7452fc98b34e97, -2.505e-19),
        (5e-324, 0x0000000000000001, 0.000e+00),
        (-14.946764053965618, 0xbfe612c2dca3e5b6, 7.404e-19),
    ]),
    ("cos", &[
        (1.0, 0x3fe14a280fb5068c, -4.761e-17),
        (1e-09, 0x3ff0000000000000, -5.000e-19),
        (PI / 2.0, 0x3c91a62633145c07, -1.497e-33),
        (5.319372648326541e+255, 0xbc214ae72e6ba22f, 4.372e-36),
        (1e+22, 0x3fe0be2cef01c8f4, -4.714e-17),
        (944131.844609053, 0x3d9f4b7ca545c047, -3.982e-28),
        (-4.71238898038469, 0xbcaa79394c9e8a0a, -7.834e-33),
        (1.7976931348623157e+308, 0xbfefffe62ecfab75, -2.603e-17),
        (PI / 4.0, 0x3fe6a09e667f3bcd, -2.669e-17),
        (8.192676914864315, 0xbfd543b1ef81bc39, -1.392e-17),
    ]),
    ("sigmoid", &[
        (1.0, 0x3fe764d4f5d5a2bd, -1.680e-17),
        (-1.0, 0x3fd136561454ba86, 1.680e-17),
        (1e-09, 0x3fe0000000225c18, -2.069e-17),
        (-1e-09, 0x3fdfffffffbb47d0, 2.069e-17),
        (36.5, 0x3fefffffffffffff, -2.966e-17),
        (-40.25, 0x3c4e84430d66e9fb, 1.251e-34),
        (-224.9128174733754, 0x2ba6ef032f697b06, -1.607e-114),
        (-708.5, 0x000e6cf6d08897ac, -0.000e+00),
        (-745.5, 0x0000000000000000, 0.000e+00),
        (-16.592589277969893, 0x3e70b3b9d24be6cf, -4.304e-24),
    ]),
];

#[test]
fn results_of_doubles_are_near_the_exact_ones() {
    for (name, rows) in LONG {
        let component = library::component(&format!("f64-{name}")).unwrap();
        let numbers: Vec<u64> = rows.iter().map(|(number, ..)| number.to_bits()).collect();
        for ((number, nearest, more), got) in rows.iter().zip(run(&component, &numbers)) {
            let expected = f64::from_bits(*nearest);
            let unit = (f64::from_bits(nearest + 1) - expected).abs();
            let error = ((f64::from_bits(got) - expected) - more).abs() / unit;
            assert!(error < MOST, "{name} of {number:?}: {error}");
        }
    }
}

#[test]
fn what_is_no_number_and_infinite_comes_out_as_it_should() {
    let (nan, infinity) = (0x7ff8 << 48, f64::INFINITY.to_bits());
    let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.5, 1.0].map(f64::to_bits);
    let one = 1f64.to_bits();
    let half = 0.5f64.to_bits();
    for (name, expected) in [
        ("exp", [nan, infinity, 0, one, one]),
        ("ln", [nan, infinity, nan, infinity | 1 << 63, infinity | 1 << 63]),
        ("sin", [nan, nan, nan, 0, 1 << 63]),
        ("cos", [nan, nan, nan, one, one]),
        ("sigmoid", [nan, one, 0, half, half]),
    ] {
        let got = run(&library::component(&format!("f64-{name}")).unwrap(), &numbers);
        assert_eq!(got[..5], expected, "{name}");
        if name == "ln" {
            assert_eq!(got[5..], [nan, 0]);
        }
    }
}

#[test]
fn results_of_short_formats_are_near_the_exact_ones() {
    for case in &SHORT {
        let numbers = case.numbers();
        for (name, function) in FUNCTIONS {
            for aim in ["", "@depth"] {
                // In few layers, a part of them.
                let step = if aim.is_empty() { 1 } else { 7 };
                let numbers: Vec<u64> = numbers.iter().copied().step_by(step).collect();
                let component = library::component(&format!("{}-{name}{aim}", case.name)).unwrap();
                let mut worst = (0.0, 0);
                for (&bits, got) in numbers.iter().zip(run(&component, &numbers)) {
                    let error = case.error(got, function(case.value(bits)));
                    if error > worst.0 {
                        worst = (error, bits);
                    }
                }
                assert!(worst.0 < MOST, "{}-{name}{aim}: {} at {:#x}", case.name, worst.0, worst.1);
            }
        }
    }
}
