//! One party's models on the other party's features: linear models and decision trees.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type, notes::Limit};

use super::{
    lists::count_bits,
    member::{Build, Member, Parameter},
};
use crate::builder::{Integer, ProgramBuilder, Signed, Unsigned, Wires};

/// - `linear-model(rows, features, integer bits, fraction bits)`: for each row of party 1, the sum of its features times party 0's
///   weights, plus party 0's bias, exact except for one rounding down. The result is wide enough for every case.
/// - `decision-tree(rows, depth, features, bits, class bits)`: for each row of party 1, the class that party 0's tree assigns.
///   Nodes are numbered level by level: node k has the nodes 2k + 1 and 2k + 2 below it, and a row goes to the latter if the
///   feature that the node names exceeds the node's threshold. Every row costs the same, whatever path it takes.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "linear-model",
        summary: "scores of party 1's rows by party 0's weights and bias, in fixed point",
        parameters: &[
            Parameter::new("rows", 4, 1, 1 << 16),
            Parameter::new("features", 8, 1, 1 << 10),
            Parameter::new("integer_bits", 16, 1, 32),
            Parameter::new("fraction_bits", 16, 0, 32),
        ],
        ands: "rows (features (2 w^2 - w) + features (2 w + s - 2) - fraction_bits), w = integer_bits + fraction_bits, s bits of features; 1 for w = 1, at most",
        and_count: |p| p[0] * score_ands(p[1], p[2], p[3]),
        build: Build::Program { size: |p| 5 * score_ands(p[1], p[2], p[3]) + p[0] * 4, build: linear },
    },
    Member {
        name: "decision-tree",
        summary: "classes of party 1's rows by party 0's tree of that depth, whose thresholds and features are secret",
        parameters: &[
            Parameter::new("rows", 4, 1, 1 << 16),
            Parameter::new("depth", 4, 1, 12),
            Parameter::new("features", 8, 1, 1 << 10),
            Parameter::new("bits", 16, 1, 1024),
            Parameter::new("class_bits", 8, 1, 1024),
        ],
        ands: "rows ((2^depth - depth - 1) (f + bits) + depth features bits + (2^depth - 1) class_bits), f = ceil(log2(features))",
        and_count: |p| p[0] * tree_ands(p[1], p[2], p[3], p[4]),
        build: Build::Program { size: |p| 5 * tree_ands(p[1], p[2], p[3], p[4]) + p[0] * 4, build: tree },
    },
];

/// The width of a sum of products and a bias times 2^fraction.
fn score_bits(features: u64, width: u64) -> u64 {
    2 * width - 1 + count_bits(features)
}

fn score_ands(features: u64, integer: u64, fraction: u64) -> u64 {
    let width = integer + fraction;
    // The lowest product of a single feature is cut off, and carries nothing.
    let lowest = u64::from(features == 1 && fraction > 0);
    features * (2 * width * width - width + score_bits(features, width) - 1) - fraction - lowest
}

fn feature_bits(features: u64) -> u64 {
    count_bits(features - 1).max(1)
}

fn tree_ands(depth: u64, features: u64, bits: u64, class: u64) -> u64 {
    let nodes = ((1 << depth) - depth - 1) * (count_bits(features - 1) + bits);
    nodes + depth * features * bits + ((1 << depth) - 1) * class
}

fn array(element: Type, count: u32) -> Type {
    Type::Array(Box::new(element), count)
}

fn linear(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[rows, features, integer, fraction] = parameters else { unreachable!("four parameters were checked") };
    let number = Type::Fixed(integer, fraction);
    let weights = p.input("weights", array(number.clone(), features), Party(0))?;
    let bias = p.input("bias", number.clone(), Party(0))?;
    let inputs = p.input("rows", array(array(number, features), rows), Party(1))?;
    let score = p.component(score(&p, features, integer + fraction, fraction)?);
    let scores: Vec<Wires> = (0..rows)
        .map(|k| Ok(p.instance(score, &[&weights, &bias, &inputs.element(k)])?.remove(0)))
        .collect::<Result<_, CircuitError>>()?;
    let bits = score_bits(features.into(), (integer + fraction).into()) as u32;
    let scores = Wires::concat(array(Type::Fixed(bits - 2 * fraction, fraction), rows), &scores);
    p.output("scores", &scores, Recipients::All)?;
    Ok(p.finish())
}

/// The sum of products and bias, without the lowest `fraction` bits.
fn score(p: &ProgramBuilder, features: u32, width: u32, fraction: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("score({features}, {width})"));
    let weights: Vec<Signed> = c.input("weights", array(Type::Signed(width), features));
    let bias: Signed = c.input("bias", Type::Signed(width));
    let row: Vec<Signed> = c.input("row", array(Type::Signed(width), features));
    let bits = score_bits(features.into(), width.into()) as usize;
    let zeros = Signed::constant(0, fraction as usize);
    let mut sum = Signed::new([zeros.bits(), bias.bits()].concat()).resize(bits);
    for (weight, feature) in weights.iter().zip(&row) {
        let product = c.mul_full(weight, feature);
        sum = c.add(&sum, &product);
    }
    c.output("score", &Signed::new(sum.bits()[fraction as usize..].to_vec()));
    c.finish()
}

fn tree(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[rows, depth, features, bits, class] = parameters else { unreachable!("five parameters were checked") };
    let feature = feature_bits(features.into()) as u32;
    let node = vec![("feature".into(), Type::Unsigned(feature)), ("threshold".into(), Type::Unsigned(bits))];
    let nodes = p.input("nodes", array(Type::Record(node), (1 << depth) - 1), Party(0))?;
    let classes = p.input("classes", array(Type::Unsigned(class), 1 << depth), Party(0))?;
    let inputs = p.input("rows", array(array(Type::Unsigned(bits), features), rows), Party(1))?;
    p.note_limit(Limit { input: "nodes".into(), field: "feature".into(), bits: feature, below: features.into() });
    let walk = p.component(walk(&p, depth, features, feature, bits, class)?);
    let found: Vec<Wires> = (0..rows)
        .map(|k| Ok(p.instance(walk, &[&nodes, &classes, &inputs.element(k)])?.remove(0)))
        .collect::<Result<_, CircuitError>>()?;
    p.output("class", &Wires::concat(array(Type::Unsigned(class), rows), &found), Recipients::All)?;
    Ok(p.finish())
}

/// The class of a row.
fn walk(
    p: &ProgramBuilder,
    depth: u32,
    features: u32,
    feature: u32,
    bits: u32,
    class: u32,
) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("tree({depth}, {features}, {bits})"));
    let node = vec![("0".into(), Type::Unsigned(feature)), ("1".into(), Type::Unsigned(bits))];
    let nodes: Vec<(Unsigned, Unsigned)> = c.input("nodes", array(Type::Record(node), (1 << depth) - 1));
    let classes: Vec<Unsigned> = c.input("classes", array(Type::Unsigned(class), 1 << depth));
    let row: Vec<Unsigned> = c.input("row", array(Type::Unsigned(bits), features));
    // The turns so far, the last one lowest.
    let mut path = Vec::new();
    for level in 0..depth {
        let own = &nodes[(1 << level) - 1..][..1 << level];
        let (feature, threshold) = c.element(own, &Unsigned::new(path.clone()));
        let value = c.element(&row, &feature);
        path.insert(0, c.greater(&value, &threshold));
    }
    let found = c.element(&classes, &Unsigned::new(path));
    c.output("class", &found);
    c.finish()
}

#[cfg(test)]
mod tests;
