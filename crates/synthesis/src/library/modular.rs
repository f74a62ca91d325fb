//! Arithmetic modulo public numbers, and in the prime fields of curves.

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{CircuitBuilder, Modulus, Unsigned};

/// The members of a field: its name, its modulus, and the AND gates of each.
macro_rules! field {
    ($name:literal, $prime:literal, $modulus:ident, $add:literal $sub:literal $mul:literal $inv:literal) => {
        [
            Member {
                name: concat!($name, "-field-add"),
                summary: concat!("a + b modulo ", $prime),
                ands: stringify!($add),
                and_count: |_| $add,
                ..member(TWO, |c, _| two(c, &Modulus::$modulus(), "sum", CircuitBuilder::mod_add))
            },
            Member {
                name: concat!($name, "-field-sub"),
                summary: concat!("a - b modulo ", $prime),
                ands: stringify!($sub),
                and_count: |_| $sub,
                ..member(TWO, |c, _| two(c, &Modulus::$modulus(), "difference", CircuitBuilder::mod_sub))
            },
            Member {
                name: concat!($name, "-field-mul"),
                summary: concat!("a * b modulo ", $prime),
                ands: stringify!($mul),
                and_count: |_| $mul,
                ..member(TWO, |c, _| two(c, &Modulus::$modulus(), "product", CircuitBuilder::mod_mul))
            },
            Member {
                name: concat!($name, "-field-inv"),
                summary: concat!("the inverse of a modulo ", $prime, ", 0 of 0"),
                ands: stringify!($inv),
                and_count: |_| $inv,
                ..member(ONE, |c, _| inverse(c, &Modulus::$modulus()))
            },
        ]
    };
}

const ONE: &[Party] = &[Party(0)];
const TWO: &[Party] = &[Party(0), Party(1)];
const MODULUS: &[Parameter] = &[Parameter::new("modulus", 1_000_003, 2, u32::MAX)];

/// Numbers of as many bits as the modulus, which need not be below it; results are.
///
/// - `mod-add(m)`, `mod-sub(m)`, `mod-mul(m)`: modulo any number from 2 on.
///
/// *Source*: the operations of [`CircuitBuilder`], whose docs cite theirs.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "mod-add",
        summary: "a + b modulo a public number of n bits",
        parameters: MODULUS,
        ands: "at most 3 n + 1, n bits of modulus",
        and_count: |p| 3 * bits(p) + 1,
        ..member(TWO, |c, p| two(c, &modulus(p), "sum", CircuitBuilder::mod_add))
    },
    Member {
        name: "mod-sub",
        summary: "a - b modulo a public number of n bits",
        parameters: MODULUS,
        ands: "at most 3 n + 1, n bits of modulus",
        and_count: |p| 3 * bits(p) + 1,
        ..member(TWO, |c, p| two(c, &modulus(p), "difference", CircuitBuilder::mod_sub))
    },
    Member {
        name: "mod-mul",
        summary: "a * b modulo a public number of n bits",
        parameters: MODULUS,
        ands: "at most 2 n^2 + 10 n, n bits of modulus",
        and_count: |p| 2 * bits(p) * bits(p) + 10 * bits(p),
        ..member(TWO, |c, p| two(c, &modulus(p), "product", CircuitBuilder::mod_mul))
    },
];

/// Numbers of 255 or 256 bits, which need not be below the prime; results are.
///
/// *Source*: RFC 7748, section 4.1.
pub(super) const CURVE25519: &[Member] = &field!("curve25519", "2^255 - 19", curve25519, 764 765 52251 595851);

/// The same of secp256k1. *Source*: SEC 2, version 2.0, section 2.4.1.
pub(super) const SECP256K1: &[Member] = &field!("secp256k1", "2^256 - 2^32 - 977", secp256k1, 767 768 52949 603195);

/// The same of P-256. *Source*: NIST SP 800-186, section 3.2.1.3.
pub(super) const P256: &[Member] = &field!("p256", "2^256 - 2^224 + 2^192 + 2^96 - 1", p256, 767 768 52898 593134);

type BuildComponent = fn(CircuitBuilder, &[u32]) -> Result<Component, CircuitError>;

/// A member without parameters, name, summary and gates.
const fn member(owners: &'static [Party], build: BuildComponent) -> Member {
    Member {
        name: "",
        summary: "",
        parameters: &[],
        ands: "",
        and_count: |_| 0,
        build: Build::Component { owners, build },
    }
}

fn bits(parameters: &[u64]) -> u64 {
    u64::from(u64::BITS - parameters[0].leading_zeros())
}

fn modulus(parameters: &[u32]) -> Modulus {
    Modulus::from_be_bytes(&parameters[0].to_be_bytes()).expect("from 2 on")
}

fn two(
    mut c: CircuitBuilder,
    modulus: &Modulus,
    output: &str,
    operation: fn(&mut CircuitBuilder, &Modulus, &Unsigned, &Unsigned) -> Unsigned,
) -> Result<Component, CircuitError> {
    let [a, b] = ["a", "b"].map(|name| c.input(name, Type::Unsigned(modulus.bits() as u32)));
    let result = operation(&mut c, modulus, &a, &b);
    c.output(output, &result);
    c.finish()
}

fn inverse(mut c: CircuitBuilder, modulus: &Modulus) -> Result<Component, CircuitError> {
    let a: Unsigned = c.input("a", Type::Unsigned(modulus.bits() as u32));
    let inverse = c.mod_inverse(modulus, &a);
    c.output("inverse", &inverse);
    c.finish()
}

#[cfg(test)]
mod tests {
    use garblet_circuit::evaluate_circuit;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use crate::library;

    /// For each pair of numbers of a field: a, b, their sum, difference and product, and the inverse of a, as Python's integers give them.
    fn vectors(field: &str) -> Vec<[Vec<bool>; 6]> {
        let of_hex = |text: &str| -> Vec<bool> {
            let digits = text.chars().rev().map(|digit| digit.to_digit(16).expect("a digit"));
            digits.flat_map(|digit| (0..4).map(move |i| digit >> i & 1 == 1)).collect()
        };
        let lines = include_str!("../../../../vectors/fields.txt").lines();
        let of_field = lines.filter_map(|line| line.strip_prefix(field)?.strip_prefix(' '));
        of_field.map(|line| line.split(' ').map(of_hex).collect::<Vec<_>>().try_into().expect("six numbers")).collect()
    }

    /// In the short form, with one inverse: they take seconds each.
    #[test]
    fn fields_of_curves() {
        let is_full = std::env::var_os("GARBLET_TEST_FULL").is_some();
        for (field, bits) in [("curve25519", 255), ("secp256k1", 256), ("p256", 256)] {
            let vectors = vectors(field);
            assert_eq!(vectors.len(), 64);
            let lanes = |number: usize| {
                let bit =
                    |i: usize| vectors.iter().enumerate().map(|(lane, v)| u64::from(v[number][i]) << lane).sum::<u64>();
                (0..bits).map(bit).collect::<Vec<u64>>()
            };
            let operations = [("add", &[0, 1][..], 2), ("sub", &[0, 1], 3), ("mul", &[0, 1], 4), ("inv", &[0], 5)];
            for (name, inputs, result) in &operations[..if is_full || field == "curve25519" { 4 } else { 3 }] {
                let component = library::component(&format!("{field}-field-{name}")).unwrap();
                let member = library::list().find(|m| m.name == component.name()).unwrap();
                assert_eq!(component.stats().and, member.and_count(&[]).unwrap(), "{field}-field-{name}");
                let inputs: Vec<u64> = inputs.iter().flat_map(|&number| lanes(number)).collect();
                assert_eq!(evaluate_circuit(component.circuit(), &inputs), lanes(*result), "{field}-field-{name}");
            }
        }
    }

    #[test]
    fn products_of_any_modulus_keep_their_bound() {
        let member = library::list().find(|m| m.name == "mod-mul").unwrap();
        let mut rng = StdRng::seed_from_u64(5);
        let random: Vec<u32> = (0..200).map(|k| (rng.random::<u32>() | 1 << 31) >> (22 - k % 23)).collect();
        // These take the most gates for their length among those that were tried.
        let dense = [615, 875, 947, 1_581, 30_543, 121_235, 445_055, 1_592_223];
        let borders = [65_535, 65_537, 1_000_003, 0x5555_5555, 0xaaaa_aaab, 0xb504_f333, u32::MAX];
        for modulus in (2..300).chain(dense).chain(borders).chain(random) {
            let ands = library::component(&format!("mod-mul({modulus})")).unwrap().stats().and;
            assert!(ands <= member.and_count(&[modulus]).unwrap(), "{modulus}: {ands}");
        }
    }
}
