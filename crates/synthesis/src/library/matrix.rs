//! Matrix multiplication.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{CircuitBuilder, ProgramBuilder, Unsigned, Wires};

/// - `matrix-multiplication(n, bits)`: the product of two n by n matrices of integers modulo `2^bits`, as n²
///   instances of `dot-product`.
/// - `dot-product(n, bits)`: at most n (bits² - bits + 1) + (n - 1)(bits - 1) AND gates: sums the partial products of all
///   terms in one go.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "matrix-multiplication",
        summary: "product of party 0's and party 1's n by n matrices of integers modulo 2^bits",
        parameters: &[Parameter::new("n", 4, 1, 4096), Parameter::new("bits", 32, 1, 1024)],
        ands: "at most n^2 (n (bits^2 - bits + 1) + (n - 1) (bits - 1))",
        and_count: |p| p[0] * p[0] * dot_ands(p[0], p[1]),
        build: Build::Program { size: |p| p[0] * p[0] * (p[0] + 4) + 5 * dot_ands(p[0], p[1]), build: matrices },
    },
    Member {
        name: "dot-product",
        summary: "sum of the products of party 0's and party 1's n integers modulo 2^bits",
        parameters: &[Parameter::new("n", 4, 1, 1 << 16), Parameter::new("bits", 32, 1, 1024)],
        ands: "at most n (bits^2 - bits + 1) + (n - 1) (bits - 1)",
        and_count: |p| dot_ands(p[0], p[1]),
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, p| dot(c, p[0], p[1]) },
    },
];

fn dot_ands(n: u64, bits: u64) -> u64 {
    n * (bits * bits - bits + 1) + (n - 1) * (bits - 1)
}

fn vector(n: u32, bits: u32) -> Type {
    Type::Array(Box::new(Type::Unsigned(bits)), n)
}

fn dot(mut c: CircuitBuilder, n: u32, bits: u32) -> Result<Component, CircuitError> {
    let a: Vec<Unsigned> = c.input("a", vector(n, bits));
    let b: Vec<Unsigned> = c.input("b", vector(n, bits));
    let dot = c.dot(&a, &b, bits as usize);
    c.output("dot", &dot);
    c.finish()
}

/// Matrices are arrays of rows.
fn matrices(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, bits] = parameters else { unreachable!("two parameters were checked") };
    let matrix = Type::Array(Box::new(vector(n, bits)), n);
    let dot = p.component(dot(p.circuit(format!("dot-product({n}, {bits})")), n, bits)?);
    let a = p.input("a", matrix.clone(), Party(0))?;
    let b = p.input("b", matrix.clone(), Party(1))?;
    let rows: Vec<Wires> = (0..n).map(|i| a.element(i)).collect();
    let column = |j| (0..n).map(|k| b.element(k).element(j)).collect::<Vec<_>>();
    let columns: Vec<Wires> = (0..n).map(|j| Wires::concat(vector(n, bits), &column(j))).collect();
    let mut product = Vec::with_capacity((n * n) as usize);
    for (row, column) in rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column))) {
        product.append(&mut p.instance(dot, &[row, column])?);
    }
    p.output("product", &Wires::concat(matrix, &product), Recipients::All)?;
    Ok(p.finish())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{builder::simulate, library};

    proptest! {
        #[test]
        fn against_plain_sums(n in 1usize..5, bits in 1u32..20, seed in proptest::collection::vec(any::<u64>(), 32)) {
            let mask = (1u64 << bits) - 1;
            let (a, b) = seed.split_at(16);
            let program = library::find(&format!("matrix-multiplication({n}, {bits})")).unwrap();
            prop_assert!(program.stats().and <= (n * n) as u64 * dot_ands(n as u64, bits.into()));
            prop_assert_eq!((program.components().len(), program.instance_count()), (1, n * n));
            let wires = |m: &[u64]| -> Vec<bool> {
                m[..n * n].iter().flat_map(|&x| simulate::to_bits((x & mask).into(), bits as usize)).collect()
            };
            let product = simulate::program(&program, &[wires(a), wires(b)]).remove(0);
            for (k, element) in product.chunks(bits as usize).enumerate() {
                let (i, j) = (k / n, k % n);
                let sum = (0..n).fold(0u64, |sum, k| sum.wrapping_add(a[i * n + k].wrapping_mul(b[k * n + j])));
                prop_assert_eq!(simulate::from_bits(element), u128::from(sum & mask), "row {}, column {}", i, j);
            }
        }
    }
}
