//! Integer arithmetic and comparison of party 0's `a` and party 1's `b`.

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, CircuitBuilder, Unsigned};

const BITS: &[Parameter] = &[Parameter::new("bits", 32, 1, 1 << 16)];
const OWNERS: &[Party] = &[Party(0), Party(1)];

/// Unsigned integers of n bits; the AND gates are as each formula states.
///
/// *Source*: the operations of [`CircuitBuilder`], whose docs cite theirs.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "add",
        summary: "a + b modulo 2^bits",
        parameters: BITS,
        ands: "bits - 1",
        and_count: |p| p[0] - 1,
        build: component(|c, p| word(c, p, "sum", |c, a, b| c.add(a, b))),
    },
    Member {
        name: "sub",
        summary: "a - b modulo 2^bits",
        parameters: BITS,
        ands: "bits - 1",
        and_count: |p| p[0] - 1,
        build: component(|c, p| word(c, p, "difference", |c, a, b| c.sub(a, b))),
    },
    Member {
        name: "mul",
        summary: "a * b modulo 2^bits",
        parameters: BITS,
        ands: "bits^2 - bits + 1, fewer from 27 bits on",
        and_count: |p| p[0] * p[0] - p[0] + 1,
        build: component(|c, p| word(c, p, "product", |c, a, b| c.mul(a, b))),
    },
    Member {
        name: "mul-full",
        summary: "a * b in twice as many bits",
        parameters: BITS,
        ands: "2 bits^2 - bits, fewer from 14 bits on",
        and_count: |p| 2 * p[0] * p[0] - p[0],
        build: component(|c, p| word(c, p, "product", |c, a, b| c.mul_full(a, b))),
    },
    Member {
        name: "div",
        summary: "a / b rounded down, all ones if b is 0",
        parameters: BITS,
        ands: "bits (bits + 1) / 2 + 2 bits - 3",
        and_count: |p| div_ands(p[0]),
        build: component(|c, p| word(c, p, "quotient", |c, a, b| c.div(a, b))),
    },
    Member {
        name: "rem",
        summary: "the remainder of a / b, a if b is 0",
        parameters: BITS,
        ands: "bits (bits + 1) / 2 + 4 bits - 4",
        and_count: |p| if p[0] == 1 { 1 } else { div_ands(p[0]) + 2 * p[0] - 1 },
        build: component(|c, p| word(c, p, "remainder", |c, a, b| c.rem(a, b))),
    },
    Member {
        name: "compare",
        summary: "whether a < b, and whether a = b",
        parameters: BITS,
        ands: "2 bits - 1",
        and_count: |p| 2 * p[0] - 1,
        build: component(compare),
    },
    Member {
        name: "compare-and-count",
        summary: "whether a < b, and the number of bits set in both",
        parameters: BITS,
        ands: "3 bits - (number of ones in bits written in binary)",
        and_count: |p| 3 * p[0] - u64::from(p[0].count_ones()),
        build: component(compare_and_count),
    },
    Member {
        name: "min",
        summary: "the lesser of a and b",
        parameters: BITS,
        ands: "2 bits",
        and_count: |p| 2 * p[0],
        build: component(|c, p| word(c, p, "min", |c, a, b| c.min(a, b))),
    },
    Member {
        name: "max",
        summary: "the greater of a and b",
        parameters: BITS,
        ands: "2 bits",
        and_count: |p| 2 * p[0],
        build: component(|c, p| word(c, p, "max", |c, a, b| c.max(a, b))),
    },
    Member {
        name: "millionaires",
        summary: "whether party 0 (alice) is richer than party 1 (bob)",
        parameters: BITS,
        ands: "bits",
        and_count: |p| p[0],
        build: component(millionaires),
    },
];

type BuildComponent = fn(CircuitBuilder, &[u32]) -> Result<Component, CircuitError>;

const fn component(build: BuildComponent) -> Build {
    Build::Component { owners: OWNERS, build }
}

fn word(
    mut c: CircuitBuilder,
    parameters: &[u32],
    output: &str,
    operation: fn(&mut CircuitBuilder, &Unsigned, &Unsigned) -> Unsigned,
) -> Result<Component, CircuitError> {
    let a: Unsigned = c.input("a", Type::Unsigned(parameters[0]));
    let b: Unsigned = c.input("b", Type::Unsigned(parameters[0]));
    let result = operation(&mut c, &a, &b);
    c.output(output, &result);
    c.finish()
}

fn compare(mut c: CircuitBuilder, parameters: &[u32]) -> Result<Component, CircuitError> {
    let a: Unsigned = c.input("a", Type::Unsigned(parameters[0]));
    let b: Unsigned = c.input("b", Type::Unsigned(parameters[0]));
    let (less, equal) = (c.less(&a, &b), c.equal(&a, &b));
    c.output("less", &less);
    c.output("equal", &equal);
    c.finish()
}

/// *Source*: Pinkas, Schneider, Smart and Williams 2009, section 6, example 1.
fn compare_and_count(mut c: CircuitBuilder, parameters: &[u32]) -> Result<Component, CircuitError> {
    let a: Unsigned = c.input("a", Type::Unsigned(parameters[0]));
    let b: Unsigned = c.input("b", Type::Unsigned(parameters[0]));
    let (less, both) = (c.less(&a, &b), c.and_words(&a, &b));
    let common = c.popcount(&both);
    c.output("less", &less);
    c.output("common", &common);
    c.finish()
}

fn millionaires(mut c: CircuitBuilder, parameters: &[u32]) -> Result<Component, CircuitError> {
    let alice: Unsigned = c.input("alice", Type::Unsigned(parameters[0]));
    let bob: Unsigned = c.input("bob", Type::Unsigned(parameters[0]));
    let richer: Bit = c.greater(&alice, &bob);
    c.output("alice_richer", &richer);
    c.finish()
}

fn div_ands(bits: u64) -> u64 {
    if bits == 1 { 1 } else { bits * (bits + 1) / 2 + 2 * bits - 3 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{builder::simulate, library};

    proptest! {
        #[test]
        fn against_plain_arithmetic(bits in 1u32..64, a: u64, b: u64, equal: bool) {
            let mask = (1u128 << bits) - 1;
            let a = u128::from(a) & mask;
            let b = if equal { a } else { u128::from(b) & mask };
            let cases: [(&str, Vec<u128>); 11] = [
                ("add", vec![(a + b) & mask]),
                ("sub", vec![a.wrapping_sub(b) & mask]),
                ("mul", vec![(a * b) & mask]),
                ("mul-full", vec![a * b]),
                ("div", vec![a.checked_div(b).unwrap_or(mask)]),
                ("rem", vec![a.checked_rem(b).unwrap_or(a)]),
                ("compare", vec![(a < b).into(), (a == b).into()]),
                ("compare-and-count", vec![(a < b).into(), (a & b).count_ones().into()]),
                ("min", vec![a.min(b)]),
                ("max", vec![a.max(b)]),
                ("millionaires", vec![(a > b).into()]),
            ];
            for (name, expected) in cases {
                let component = library::component(&format!("{name}({bits})")).unwrap();
                prop_assert_eq!(simulate::component(&component, &[a, b]), expected, "{}", name);
                let member = library::list().find(|m| m.name == name).unwrap();
                let (ands, stated) = (component.stats().and, member.and_count(&[bits]).unwrap());
                prop_assert!(ands == stated || ands < stated && name.starts_with("mul"), "{name}({bits}): {ands}");
            }
        }
    }
}
