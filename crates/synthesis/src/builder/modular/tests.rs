use proptest::prelude::*;

use garblet_circuit::{Component, Type};

use super::*;
use crate::builder::simulate;

type Operation = fn(&mut CircuitBuilder, &Modulus, &Unsigned, &Unsigned) -> Unsigned;

const OPERATIONS: [Operation; 4] =
    [CircuitBuilder::mod_add, CircuitBuilder::mod_sub, CircuitBuilder::mod_mul, |c, modulus, a, _| {
        c.mod_inverse(modulus, a)
    }];

fn modulus(value: u64) -> Modulus {
    Modulus::from_be_bytes(&value.to_be_bytes()).expect("a modulus from 2 on")
}

fn build(modulus: &Modulus, operation: Operation) -> Component {
    let mut c = CircuitBuilder::new("modular");
    let ty = Type::Unsigned(modulus.bits() as u32);
    let (a, b): (Unsigned, Unsigned) = (c.input("a", ty.clone()), c.input("b", ty));
    let out = operation(&mut c, modulus, &a, &b);
    c.output("out", &out);
    c.finish().unwrap()
}

/// The inverse by Euclid's algorithm on plain integers; 0 for a multiple of the modulus, none for other common factors.
fn inverse(a: u64, m: u64) -> Option<u128> {
    let (mut old, mut new) = ((i128::from(a % m), 1i128), (i128::from(m), 0i128));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    match old.0 {
        1 => Some(old.1.rem_euclid(m.into()).cast_unsigned()),
        _ => a.is_multiple_of(m).then_some(0),
    }
}

fn check(m: u64, pairs: &[(u64, u64)]) {
    let components = OPERATIONS[..3 + (m % 2) as usize].iter().map(|&operation| build(&modulus(m), operation));
    for (number, component) in components.enumerate() {
        for pair in pairs {
            let [a, b] = [pair.0, pair.1].map(|x| x & u64::MAX >> m.leading_zeros());
            let (x, y, wide) = (u128::from(a), u128::from(b), u128::from(m));
            let expected = match number {
                0 => Some((x + y) % wide),
                1 => Some((x + 2 * wide - y) % wide),
                2 => Some(x * y % wide),
                _ => inverse(a, m),
            };
            let got = simulate::component(&component, &[x, y]);
            assert!(
                expected.is_none_or(|expected| got == [expected]),
                "operation {number}, {a}, {b} modulo {m}: {got:?}"
            );
        }
    }
}

#[test]
fn every_number_of_small_moduli() {
    for m in 2..20u64 {
        let end = 1 << (u64::BITS - m.leading_zeros());
        let pairs: Vec<(u64, u64)> = (0..end).flat_map(|a| (0..end).map(move |b| (a, b))).collect();
        check(m, &pairs);
    }
}

#[test]
fn moduli_at_the_borders_of_widths() {
    for m in [1u64 << 31, (1 << 31) + 1, (1 << 32) - 1, (1 << 32) - 5, (1 << 61) - 1, 1 << 63, u64::MAX, 0x5555_5555] {
        let all = u64::MAX >> m.leading_zeros();
        check(m, &[(0, 0), (0, all), (all, 0), (all, all), (m - 1, m - 1), (m, m), (m, 1), (1, m - 1)]);
    }
}

#[test]
fn counts_are_as_stated() {
    for m in (2..70).chain([1_000_003, (1 << 32) - 5, 0xdead_beef, u64::MAX]) {
        let n = modulus(m).bits() as u64;
        let ands = |operation| build(&modulus(m), operation).stats().and;
        assert!(ands(CircuitBuilder::mod_add) <= 3 * n + 1, "{m}");
        assert!(ands(CircuitBuilder::mod_sub) <= 3 * n + 1, "{m}");
    }
    for (modulus, stated) in [
        (Modulus::curve25519(), [764, 765, 52_251]),
        (Modulus::secp256k1(), [767, 768, 52_949]),
        (Modulus::p256(), [767, 768, 52_898]),
    ] {
        let ands =
            [OPERATIONS[0], OPERATIONS[1], OPERATIONS[2]].map(|operation| build(&modulus, operation).stats().and);
        assert_eq!(ands, stated);
    }
}

#[test]
fn no_modulus_below_two() {
    assert!([&[0u8; 0][..], &[0, 0], &[1], &[0, 1]].iter().all(|bytes| Modulus::from_be_bytes(bytes).is_none()));
    assert_eq!(Modulus::from_be_bytes(&[0, 2]).map(|modulus| modulus.bits()), Some(2));
}

#[test]
#[should_panic(expected = "an odd modulus")]
fn even_numbers_have_no_inverses() {
    build(&modulus(6), OPERATIONS[3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 20 } else { 200 }))]

    #[test]
    fn against_plain_arithmetic(m in 2u64.., shift in 0u32..62, pairs: [(u64, u64); 8]) {
        check((m >> shift).max(2), &pairs);
    }
}
