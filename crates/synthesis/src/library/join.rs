//! Operations on two lists by key: sums over the intersection, the intersection itself, and a join.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type, notes::Order};

use super::{
    compact::{compact, compact_ands},
    lists::{Item, ListInput, Sorted, both_in_order, bring_back, count_bits, list_ands, return_comparators, same_key},
    member::{Build, Member, Parameter},
};
use crate::builder::{Bit, BitString, Integer, ProgramBuilder, Unsigned, Wires, Word, merge_comparators};

/// - `intersection-sum(n, m, key bits, value bits)`: the number of keys that party 0's list and party 1's records share, and the
///   sum of the values of these records.
/// - `intersection(n, m, key bits, a bits, b bits)`: the keys that both lists have, each with both parties' values for it. A party
///   with values of 0 bits contributes none.
/// - `join(n, m, key bits, value bits)`: for each of party 0's keys, party 1's value for it, or that there is none.
///
/// Lists are sorted by key, without repeats, except that party 0's list in `join` may repeat keys. The lists are merged and
/// neighbours compared. Results move to the front, or return along the merge to party 0's rows.
///
/// *Source*: Huang, Evans and Katz 2012, section 5, for merging and comparing neighbours.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "intersection-sum",
        summary: "the number of party 0's keys that party 1's records have, and the sum of these records' values; both sorted",
        parameters: &[N, M, KEY_BITS, Parameter::new("value_bits", 32, 1, 1024)],
        ands: "(2 key_bits + value_bits + 2) M(n + m) + (n + m - 1) (key_bits + 2 value_bits + 2 s - 1) + L(n) + L(m) + 1, s bits of min(n, m)",
        and_count: |p| sum_ands(p[0], p[1], p[2], p[3]),
        build: Build::Program { size: |p| program_size(p[0], p[1], p[2] + p[3], 0), build: intersection_sum },
    },
    Member {
        name: "intersection",
        summary: "the keys common to both parties' sorted lists, and both parties' values for each",
        parameters: &[N, M, KEY_BITS, Parameter::new("a_bits", 0, 0, 1024), Parameter::new("b_bits", 32, 0, 1024)],
        ands: "(2 (key_bits + 1 + t) + max(a_bits, b_bits)) M(n + m) + (n + m - 1) (2 key_bits + a_bits + b_bits + 1) + F((n + m) / 2, min(n, m), key_bits + a_bits + b_bits) + L(n) + L(m) + 1, t = 1 if both have values",
        and_count: |p| intersection_ands(p[0], p[1], p[2], [p[3], p[4]]),
        build: Build::Program {
            size: |p| program_size(p[0], p[1], p[2] + p[3] + p[4], (p[0] + p[1]).div_ceil(2)),
            build: intersection,
        },
    },
    Member {
        name: "join",
        summary: "for each of party 0's sorted keys, its value in party 1's sorted records, or none",
        parameters: &[N, M, KEY_BITS, Parameter::new("value_bits", 32, 1, 1024)],
        ands: "(2 key_bits + value_bits + 4) M(n + m) + (value_bits + 1) R(n, m) + (n + m - 1) (key_bits + value_bits + 2) + L(n) + L(m) + 2",
        and_count: |p| join_ands(p[0], p[1], p[2], p[3]),
        build: Build::Program { size: |p| 2 * program_size(p[0], p[1], p[2] + p[3], 0), build: join },
    },
];

const N: Parameter = Parameter::new("n", 16, 1, 1 << 18);
const M: Parameter = Parameter::new("m", 16, 1, 1 << 18);
const KEY_BITS: Parameter = Parameter::new("key_bits", 32, 1, 1024);

/// Gates of the components, with a few free gates for each AND gate, and instances, including those that compact this many
/// rows.
fn program_size(n: u64, m: u64, bits: u64, moved: u64) -> u64 {
    let moving = moved * (count_bits(moved) + 1) + 10 * bits * count_bits(moved);
    20 * (bits + 64) + 3 * (n + m) + merge_comparators((n + m) as usize) + 4 * (n + m) + moving
}

fn lists_ands(n: u64, m: u64, key: u64) -> u64 {
    list_ands(n, key) + list_ands(m, key) + 1
}

fn comparators_ands(item: Item, n: u64, m: u64) -> u64 {
    item.comparator_ands() * merge_comparators((n + m) as usize)
}

fn sum_ands(n: u64, m: u64, key: u64, value: u64) -> u64 {
    let item = Item { key: key as u32, marked: false, descending: false, payload: value as u32 };
    let step = key + 2 * value + 2 * count_bits(n.min(m)) - 1;
    lists_ands(n, m, key) + comparators_ands(item, n, m) + (n + m - 1) * step
}

fn intersection_ands(n: u64, m: u64, key: u64, values: [u64; 2]) -> u64 {
    let item = common_item(key as u32, values.map(|bits| bits as u32));
    let width = key + values[0] + values[1];
    let rows = (n + m - 1).div_ceil(2);
    let count = count_of_gaps_ands(rows, n.min(m));
    let pairs = (n + m - 1) * (key + 1 + width);
    lists_ands(n, m, key) + comparators_ands(item, n, m) + pairs + compact_ands(rows, n.min(m), width) + count
}

/// The AND gates of `rows` minus a number, of which only the bits of a count of at most `most` are needed.
fn count_of_gaps_ands(rows: u64, most: u64) -> u64 {
    (count_bits(most) - 1).saturating_sub(1 + u64::from(rows.trailing_ones()))
}

fn join_ands(n: u64, m: u64, key: u64, value: u64) -> u64 {
    let item = Item { key: key as u32, marked: true, descending: false, payload: value as u32 };
    let back = return_comparators((n + m) as usize, |place| place as u64 >= m);
    let neighbours = (n + m - 1) * (key + value + 2) + 1;
    lists_ands(n, m, key) + comparators_ands(item, n, m) + neighbours + (value + 1) * back
}

/// The lists of both parties.
fn two_lists(
    p: &mut ProgramBuilder,
    [n, m, key]: [u32; 3],
    values: [u32; 2],
    first: Order,
) -> Result<[Sorted; 2], CircuitError> {
    let key = ("key", key);
    let list = |name, party, most, bits, order| ListInput {
        name,
        party: Party(party),
        most,
        key,
        value: ("value", bits),
        order,
    };
    Ok([list("a", 0, n, values[0], first).add(p)?, list("b", 1, m, values[1], Order::Strict).add(p)?])
}

fn intersection_sum(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, key, value] = parameters else { unreachable!("four parameters were checked") };
    let [a, b] = two_lists(&mut p, [n, m, key], [0, value], Order::Strict)?;
    let in_order = both_in_order(&mut p, &a, &b)?;
    let item = Item { key, marked: false, descending: false, payload: value };
    let all = item.merge(&mut p, [&a, &b], None)?;
    let bits = Type::count_width(n.min(m));
    let step = p.component(sum_step(&p, item, bits)?);
    let zero = |ty: Type| Wires::constant(ty, |_| false);
    let mut state = vec![zero(Type::Unsigned(bits)), zero(Type::Unsigned(value + bits))];
    for pair in all.windows(2) {
        state = p.instance(step, &[&state[0], &state[1], &pair[0], &pair[1]])?;
    }
    p.output("size", &state[0], Recipients::All)?;
    p.output("sum", &state[1], Recipients::All)?;
    p.output("in_order", &in_order, Recipients::All)?;
    Ok(p.finish())
}

/// Counts a pair of neighbours with the same key: one of each list, as no list has a key twice.
fn sum_step(p: &ProgramBuilder, item: Item, bits: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("count({}, {})", item.key, item.payload));
    let size: Unsigned = c.input("size", Type::Unsigned(bits));
    let sum: Unsigned = c.input("sum", Type::Unsigned(item.payload + bits));
    let a: BitString = c.input("a", item.ty());
    let b: BitString = c.input("b", item.ty());
    let ((a, x), (b, y)) = (item.parts(&a), item.parts(&b));
    let found = same_key(&mut c, &a, &b);
    // Only one of the two has a value.
    let both = c.xor_words(&x, &y);
    let value = c.mask(found, &both);
    let sum = c.add(&sum, &Unsigned::new(value.0));
    let size = c.add(&size, &Unsigned::new(vec![found]));
    c.output("size", &size);
    c.output("sum", &sum);
    c.finish()
}

/// If both lists have values, the first list's elements come first among equal keys, to show which value belongs to which list.
fn common_item(key: u32, values: [u32; 2]) -> Item {
    Item { key, marked: values[0] > 0 && values[1] > 0, descending: false, payload: values[0].max(values[1]) }
}

fn intersection(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, key, a_bits, b_bits] = parameters else { unreachable!("five parameters were checked") };
    let [a, b] = two_lists(&mut p, [n, m, key], [a_bits, b_bits], Order::Strict)?;
    let in_order = both_in_order(&mut p, &a, &b)?;
    let item = common_item(key, [a_bits, b_bits]);
    let all = item.merge(&mut p, [&a, &b], None)?;
    let pair = p.component(common_row(&p, item, [a_bits, b_bits])?);
    let found: Vec<Vec<Wires>> =
        all.windows(2).map(|pair_of| p.instance(pair, &[&pair_of[0], &pair_of[1]])).collect::<Result<_, _>>()?;
    // An element in two pairs has a partner in at most one of them.
    let either = p.component(either(&p, key + a_bits + b_bits)?);
    let mut rows = Vec::with_capacity(found.len().div_ceil(2));
    for pairs in found.chunks(2) {
        let [mark, row]: [Wires; 2] = match pairs {
            [x, y] => p.instance(either, &[&x[0], &x[1], &y[0], &y[1]])?,
            alone => alone[0].clone(),
        }
        .try_into()
        .expect("a mark and a row");
        rows.push((mark, row));
    }
    let most = n.min(m);
    let count = p.component(less_than(&p, rows.len() as u32, most)?);
    let kept = compact(&mut p, rows, most)?;
    let count = p.instance(count, &[&kept.gaps])?.remove(0);
    let fields = [("key", key), ("a", a_bits), ("b", b_bits)].into_iter().filter(|(_, bits)| *bits > 0);
    let row = Type::Record(fields.map(|(name, bits)| (name.into(), Type::Unsigned(bits))).collect());
    let rows = Wires::concat(Type::List(Box::new(row), most), [&count].into_iter().chain(&kept.rows));
    p.output("rows", &rows, Recipients::All)?;
    p.output("in_order", &in_order, Recipients::All)?;
    Ok(p.finish())
}

/// Returns whether two neighbours have the same key. If so, gives the key and both values; otherwise zeros.
fn common_row(p: &ProgramBuilder, item: Item, [a_bits, b_bits]: [u32; 2]) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("pair({}, {a_bits}, {b_bits})", item.key));
    let a: BitString = c.input("a", item.ty());
    let b: BitString = c.input("b", item.ty());
    let ((key, x), (other, y)) = (item.parts(&a), item.parts(&b));
    let found = same_key(&mut c, &key, &other);
    let mut row = key.to_bits();
    row.pop();
    if item.marked {
        row.extend(&x.0[..a_bits as usize]);
        row.extend(&y.0[..b_bits as usize]);
    } else {
        // Only one of the two has a value.
        row.extend(c.xor_words(&x, &y).0);
    }
    let row = c.mask(found, &BitString(row));
    c.output("found", &found);
    c.output("row", &row);
    c.finish()
}

/// Combines two rows, at least one of which is zero.
fn either(p: &ProgramBuilder, width: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("either({width})"));
    let x: (Bit, BitString) = (c.input("x", Type::Bool), c.input("x_row", Type::Bits(width)));
    let y: (Bit, BitString) = (c.input("y", Type::Bool), c.input("y_row", Type::Bits(width)));
    let (mark, row) = (c.xor(x.0, y.0), c.xor_words(&x.1, &y.1));
    c.output("mark", &mark);
    c.output("row", &row);
    c.finish()
}

/// `rows` minus a number of gaps, as a count of at most `most`.
fn less_than(p: &ProgramBuilder, rows: u32, most: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("count({rows})"));
    let gaps: Unsigned = c.input("gaps", Type::Unsigned(Type::count_width(rows)));
    let bits = Type::count_width(most) as usize;
    let count = c.sub(&Unsigned::constant(rows.into(), bits), &gaps.resize(bits));
    c.output("count", &count);
    c.finish()
}

fn join(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, key, value] = parameters else { unreachable!("four parameters were checked") };
    let [a, b] = two_lists(&mut p, [n, m, key], [0, value], Order::Ascending)?;
    let in_order = both_in_order(&mut p, &a, &b)?;
    // A record precedes the keys that look it up.
    let item = Item { key, marked: true, descending: false, payload: value };
    let mut moves = Vec::new();
    let all = item.merge(&mut p, [&b, &a], Some(&mut moves))?;
    let first = p.component(first_of_join(&p, item)?);
    let next = p.component(next_of_join(&p, item)?);
    let mut found = Vec::with_capacity(all.len());
    let mut state = p.instance(first, &[&all[0]])?;
    found.push(Wires::constant(Type::Bits(value + 1), |_| false));
    for pair in all.windows(2) {
        state = p.instance(next, &[&state[0], &state[1], &pair[0], &pair[1]])?;
        found.push(state.remove(2));
    }
    bring_back(&mut p, &moves, &mut found, |place| place >= m as usize)?;
    let fields = vec![("found".into(), Type::Bool), ("value".into(), Type::Unsigned(value))];
    // The merge takes the second list in reverse.
    let rows = Wires::concat(Type::Array(Box::new(Type::Record(fields)), n), found[m as usize..].iter().rev());
    p.output("rows", &rows, Recipients::All)?;
    p.output("in_order", &in_order, Recipients::All)?;
    Ok(p.finish())
}

/// Returns whether an element is a record, and gives its value.
fn first_of_join(p: &ProgramBuilder, item: Item) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("first({}, {})", item.key, item.payload));
    let own: BitString = c.input("item", item.ty());
    let (key, value) = item.parts(&own);
    let record = c.and(!own.0[0], !key.to_bits()[item.key as usize]);
    c.output("has", &record);
    c.output("value", &value);
    c.finish()
}

/// Passes the value of the preceding record on to an element with the same key.
fn next_of_join(p: &ProgramBuilder, item: Item) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("next({}, {})", item.key, item.payload));
    let has: Bit = c.input("has", Type::Bool);
    let value: BitString = c.input("value", Type::Bits(item.payload));
    let before: BitString = c.input("before", item.ty());
    let own: BitString = c.input("item", item.ty());
    let ((before, _), (key, own_value)) = (item.parts(&before), item.parts(&own));
    let same = c.equal(&before, &key);
    let found = c.and(has, same);
    let found_value = c.mask(found, &value);
    let record = c.and(!own.0[0], !key.to_bits()[item.key as usize]);
    // No record follows another with the same key, and a key has no value of its own.
    let has = c.xor(record, found);
    let value = c.xor_words(&own_value, &found_value);
    c.output("has", &has);
    c.output("value", &value);
    let row: Vec<Bit> = [found].into_iter().chain(found_value.0).collect();
    c.output("row", &BitString(row));
    c.finish()
}

#[cfg(test)]
mod tests;
