//! Sums by groups, and counts of values by ranges.

use std::collections::BTreeMap;

use garblet_circuit::{
    CircuitError, Component, ComponentId, Party, Program, Recipients, Type,
    notes::{Limit, Order},
};

use super::{
    compact::{compact, compact_ands},
    lists::{Item, ListInput, both_in_order, count_bits, list_ands, presence_ands, same_key, split_list},
    member::{Build, Member, Parameter},
};
use crate::builder::{Bit, BitString, Integer, ProgramBuilder, Unsigned, Wires, Word, merge_comparators};

/// - `group-sum(n, groups, value bits)`: party 0 has the group of each row, 0 to groups - 1, and party 1 has the row's value.
///   Outputs the sum of each group, and whether both have equally many rows. A row counts nowhere if one party lacks it or its
///   group does not exist.
/// - `group-sum-by-key(n, m, groups, key bits, value bits)`: for each key, the sum of both parties' values; at most `groups` keys,
///   the least ones. Lists are sorted by key and may repeat keys. They are merged, sums run along equal keys, and the last row of
///   each key moves to the front.
/// - `histogram(n, m, bits, least, width, buckets)`: the number of both parties' values in each of several ranges of equal width,
///   the first of which begins with `least`; values outside every range count nowhere.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "group-sum",
        summary: "sums of party 1's values by party 0's groups for the same rows, numbers below `groups`",
        parameters: &[
            Parameter::new("n", 16, 1, 1 << 16),
            Parameter::new("groups", 8, 1, 1 << 10),
            Parameter::new("value_bits", 32, 1, 1024),
        ],
        ands: "n (value_bits + 1) + n value_bits T(groups) + groups A(n, value_bits) + 2 P(n) + K - 1, T(groups) = groups - 1 for a power of two",
        and_count: |p| group_ands(p[0], p[1], p[2]),
        build: Build::Program { size: |p| 60 * (p[1] + 2) * (p[2] + 20) + 14 * p[0], build: group_sum },
    },
    Member {
        name: "group-sum-by-key",
        summary: "sums of both parties' values by key, for at most `groups` keys; both lists are sorted by key",
        parameters: &[
            Parameter::new("n", 16, 1, 1 << 18),
            Parameter::new("m", 16, 1, 1 << 18),
            Parameter::new("groups", 8, 1, 1 << 19).within(&[0, 1]),
            Parameter::new("key_bits", 32, 1, 1024),
            Parameter::new("value_bits", 32, 1, 1024),
        ],
        ands: "(2 key_bits + value_bits + 2) M(n + m) + (n + m - 1) (key_bits + 1 + 2 w) + (n + m) (key_bits + w + 2) + F(n + m, groups, key_bits + w) + L(n) + L(m) + c, w = value_bits + ceil(log2(n + m)), at most; c at most 3 ceil(log2(n + m)) + 3",
        and_count: |p| by_key_ands(p[0], p[1], p[2], p[3], p[4]),
        build: Build::Program {
            size: |p| {
                let (rows, bits) = (p[0] + p[1], p[3] + p[4] + 40);
                merge_comparators(rows as usize) + rows * (count_bits(rows) + 16) + 10 * bits * (count_bits(rows) + 4)
            },
            build: group_sum_by_key,
        },
    },
    Member {
        name: "histogram",
        summary: "the number of both parties' values in each of `buckets` ranges of equal width, the first of which begins with `least`",
        parameters: &[
            Parameter::new("n", 16, 1, 1 << 16),
            Parameter::new("m", 16, 1, 1 << 16),
            Parameter::new("bits", 32, 1, 32),
            Parameter::new("least", 0, 0, u32::MAX),
            Parameter::new("width", 10, 1, u32::MAX),
            Parameter::new("buckets", 8, 1, 1 << 10),
        ],
        ands: "(n + m) (buckets + 1) bits + buckets A(n + m, 1) + P(n) + P(m), at most",
        and_count: |p| histogram_ands(p[0], p[1], p[2], p[5]),
        build: Build::Program { size: |p| 60 * (p[5] + 1) * (p[2] + 20) + 9 * (p[0] + p[1]), build: histogram },
    },
];

/// The width of a sum of this many values.
fn sum_bits(count: u64, bits: u64) -> u64 {
    bits + count_bits(count - 1)
}

/// The AND gates of `total` for each group.
fn total_ands(count: u64, bits: u64) -> u64 {
    match count {
        1 => 0,
        _ => total_ands(count.div_ceil(2), bits) + total_ands(count / 2, bits) + sum_bits(count, bits) - 1,
    }
}

/// The width of a group number.
fn group_bits(groups: u64) -> u64 {
    count_bits(groups - 1).max(1)
}

/// The number of times that a value is split by the bits of a group number.
fn splits(groups: u64) -> u64 {
    (1..=group_bits(groups)).map(|level| groups.div_ceil(1 << level)).sum()
}

fn group_ands(n: u64, groups: u64, value: u64) -> u64 {
    let same_count = u64::from(Type::count_width(n as u32)) - 1;
    same_count + 2 * presence_ands(n) + n * (value + 1) + n * value * splits(groups) + groups * total_ands(n, value)
}

fn by_key_ands(n: u64, m: u64, groups: u64, key: u64, value: u64) -> u64 {
    let rows = n + m;
    let sum = sum_bits(rows, value);
    let item = Item { key: key as u32, marked: false, descending: false, payload: value as u32 };
    let merging = item.comparator_ands() * merge_comparators(rows as usize);
    let summing = (rows - 1) * (key + 1 + 2 * sum - 1 + 1) + rows * (key + sum + 2);
    let counting = 3 * count_bits(rows) + 3;
    let lists = list_ands(n, key) + list_ands(m, key);
    lists + merging + summing + compact_ands(rows, groups, key + sum) + counting
}

fn histogram_ands(n: u64, m: u64, bits: u64, buckets: u64) -> u64 {
    let counting = buckets * total_ands(n + m, 1);
    presence_ands(n) + presence_ands(m) + (n + m) * (buckets + 1) * bits + counting
}

/// Produces the array with a given number.
type Leaf<'a> = Box<dyn FnMut(&mut ProgramBuilder, usize) -> Result<Wires, CircuitError> + 'a>;

/// Adds up arrays of numbers, where `leaf(k)` produces array k; about one AND gate for each bit of each number.
struct Total<'a> {
    numbers: u32,
    bits: u32,
    adders: BTreeMap<(u32, u32), ComponentId>,
    leaf: Leaf<'a>,
}

impl<'a> Total<'a> {
    fn new(
        numbers: u32,
        bits: u32,
        leaf: impl FnMut(&mut ProgramBuilder, usize) -> Result<Wires, CircuitError> + 'a,
    ) -> Self {
        Total { numbers, bits, adders: BTreeMap::new(), leaf: Box::new(leaf) }
    }

    /// The sum of `count` arrays from the `from`-th on, by halves, so that few arrays are held at a time.
    fn sum(&mut self, p: &mut ProgramBuilder, from: usize, count: usize) -> Result<Wires, CircuitError> {
        if count == 1 {
            return (self.leaf)(p, from);
        }
        let half = count.div_ceil(2);
        let (a, b) = (self.sum(p, from, half)?, self.sum(p, from + half, count - half)?);
        let widths = [half, count - half].map(|count| sum_bits(count as u64, self.bits.into()) as u32);
        let adder = match self.adders.get(&(widths[0], widths[1])) {
            Some(&adder) => adder,
            None => {
                let adder = p.component(adder(p, self.numbers, widths)?);
                self.adders.insert((widths[0], widths[1]), adder);
                adder
            }
        };
        Ok(p.instance(adder, &[&a, &b])?.remove(0))
    }
}

fn numbers(count: u32, bits: u32) -> Type {
    Type::Array(Box::new(Type::Unsigned(bits)), count)
}

/// The sum of two arrays, element by element, with one bit more than the first has.
fn adder(p: &ProgramBuilder, count: u32, [first, second]: [u32; 2]) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("add({count}, {first})"));
    let a: Vec<Unsigned> = c.input("a", numbers(count, first));
    let b: Vec<Unsigned> = c.input("b", numbers(count, second));
    let sums: Vec<Unsigned> = a.iter().zip(&b).map(|(x, y)| c.add(&x.resize(first as usize + 1), y)).collect();
    c.output("sums", &sums);
    c.finish()
}

fn group_sum(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, groups, value] = parameters else { unreachable!("three parameters were checked") };
    let index = group_bits(groups.into()) as u32;
    let mut list = |name, bits, party| {
        let list = p.input(name, Type::List(Box::new(Type::Unsigned(bits)), n), Party(party))?;
        let count = list.slice(0, Type::Unsigned(Type::count_width(n)));
        split_list(&mut p, &list, n, bits.into()).map(|(present, rows)| (count, present, rows))
    };
    let (group_count, groups_present, group_of) = list("groups", index, 0)?;
    let (value_count, values_present, values) = list("values", value, 1)?;
    p.note_limit(Limit { input: "groups".into(), field: "groups".into(), bits: index, below: groups.into() });
    let same = p.component(same_count(&p, n)?);
    let same = p.instance(same, &[&group_count, &value_count])?.remove(0);
    let spread = p.component(spread(&p, groups, index, value)?);
    let leaf = |p: &mut ProgramBuilder, k: usize| {
        let present = [&groups_present, &values_present].map(|present| present.slice(k as u64, Type::Bool));
        Ok(p.instance(spread, &[&present[0], &present[1], &group_of[k], &values[k]])?.remove(0))
    };
    let sums = Total::new(groups, value, leaf).sum(&mut p, 0, n as usize)?;
    p.output("sums", &sums, Recipients::All)?;
    p.output("same_count", &same, Recipients::All)?;
    Ok(p.finish())
}

/// Returns whether two lists of at most `most` rows have equally many.
fn same_count(p: &ProgramBuilder, most: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("same({most})"));
    let [a, b]: [Unsigned; 2] = ["a", "b"].map(|name| c.input(name, Type::Unsigned(Type::count_width(most))));
    let same = c.equal(&a, &b);
    c.output("same", &same);
    c.finish()
}

/// The value at the place of its group, and zeros elsewhere.
fn spread(p: &ProgramBuilder, groups: u32, index: u32, value: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("spread({groups}, {value})"));
    let (x, y): (Bit, Bit) = (c.input("group_present", Type::Bool), c.input("value_present", Type::Bool));
    let group: Unsigned = c.input("group", Type::Unsigned(index));
    let value: Unsigned = c.input("value", Type::Unsigned(value));
    let present = c.and(x, y);
    let mut places = vec![c.mask(present, &value)];
    for (level, &bit) in group.bits().iter().enumerate().rev() {
        let count = groups.div_ceil(1 << level) as usize;
        let mut next = Vec::with_capacity(count + 1);
        for all in places {
            let upper = c.mask(bit, &all);
            next.extend([c.xor_words(&all, &upper), upper]);
        }
        next.truncate(count);
        places = next;
    }
    c.output("places", &places);
    c.finish()
}

fn group_sum_by_key(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, groups, key, value] = parameters else { unreachable!("five parameters were checked") };
    let list = |name, party, most| ListInput {
        name,
        party: Party(party),
        most,
        key: ("key", key),
        value: ("value", value),
        order: Order::Ascending,
    };
    let (a, b) = (list("a", 0, n).add(&mut p)?, list("b", 1, m).add(&mut p)?);
    let in_order = both_in_order(&mut p, &a, &b)?;
    let item = Item { key, marked: false, descending: false, payload: value };
    let all = item.merge(&mut p, [&a, &b], None)?;
    let sum = sum_bits((n + m).into(), value.into()) as u32;
    let step = p.component(running_sum(&p, item, sum)?);
    let last = p.component(last_of_key(&p, item, sum)?);
    let first = all[0].slice(item.number().into(), Type::Bits(value));
    let mut running =
        Wires::concat(Type::Unsigned(sum), [&first, &Wires::constant(Type::Bits(sum - value), |_| false)]);
    let mut rows = Vec::with_capacity(all.len());
    let pair = |outputs: Vec<Wires>| <[Wires; 2]>::try_from(outputs).expect("two outputs");
    for two in all.windows(2) {
        let [same, next] = pair(p.instance(step, &[&running, &two[0], &two[1]])?);
        let [mark, row] = pair(p.instance(last, &[&same, &running, &two[0]])?);
        rows.push((mark, row));
        running = next;
    }
    let none = Wires::constant(Type::Bool, |_| false);
    let [mark, row] = pair(p.instance(last, &[&none, &running, &all[all.len() - 1]])?);
    rows.push((mark, row));
    let count = p.component(count_of(&p, rows.len() as u32, groups)?);
    let kept = compact(&mut p, rows, groups)?;
    let [count, more] = pair(p.instance(count, &[&kept.gaps])?);
    let fields = [("key", key), ("sum", sum)].map(|(name, bits)| (name.into(), Type::Unsigned(bits)));
    let rows = Type::List(Box::new(Type::Record(fields.into())), groups);
    p.output("rows", &Wires::concat(rows, [&count].into_iter().chain(&kept.rows)), Recipients::All)?;
    p.output("more", &more, Recipients::All)?;
    p.output("in_order", &in_order, Recipients::All)?;
    Ok(p.finish())
}

/// Returns whether two neighbours have the same key, and gives the running sum of the second one's key.
fn running_sum(p: &ProgramBuilder, item: Item, sum: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("sum({}, {sum})", item.key));
    let running: Unsigned = c.input("running", Type::Unsigned(sum));
    let a: BitString = c.input("a", item.ty());
    let b: BitString = c.input("b", item.ty());
    let ((a, _), (b, value)) = (item.parts(&a), item.parts(&b));
    let same = same_key(&mut c, &a, &b);
    let before = c.mask(same, &running);
    let next = c.add(&before, &Unsigned::new(value.0));
    c.output("same", &same);
    c.output("sum", &next);
    c.finish()
}

/// Key and sum of a present element if it is the last of its key; otherwise zeros.
fn last_of_key(p: &ProgramBuilder, item: Item, sum: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("last({}, {sum})", item.key));
    let same: Bit = c.input("same", Type::Bool);
    let running: Unsigned = c.input("running", Type::Unsigned(sum));
    let own: BitString = c.input("item", item.ty());
    let (key, _) = item.parts(&own);
    let mut row = key.to_bits();
    let absent = row.pop().expect("a bit for absent rows");
    let last = c.and(!same, !absent);
    row.extend(running.bits());
    let row = c.mask(last, &BitString(row));
    c.output("last", &last);
    c.output("row", &row);
    c.finish()
}

/// `rows` minus a number of gaps, as a count of at most `most`, and whether it exceeds `most`.
fn count_of(p: &ProgramBuilder, rows: u32, most: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("count({rows}, {most})"));
    let bits = Type::count_width(rows);
    let gaps: Unsigned = c.input("gaps", Type::Unsigned(bits));
    let count = c.sub(&Unsigned::constant(rows.into(), bits as usize), &gaps);
    let most_of = Unsigned::constant(most.into(), bits as usize);
    let more = c.less(&most_of, &count);
    let count = c.select(more, &most_of, &count).resize(Type::count_width(most) as usize);
    c.output("count", &count);
    c.output("more", &more);
    c.finish()
}

fn histogram(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, bits, least, width, buckets] = parameters else { unreachable!("six parameters were checked") };
    let mut values = Vec::with_capacity((n + m) as usize);
    for (name, most, party) in [("a", n, 0), ("b", m, 1)] {
        let list = p.input(name, Type::List(Box::new(Type::Unsigned(bits)), most), Party(party))?;
        let (present, rows) = split_list(&mut p, &list, most, bits.into())?;
        values.extend(rows.into_iter().enumerate().map(|(k, row)| (present.slice(k as u64, Type::Bool), row)));
    }
    let ends: Vec<u64> = (0..=u64::from(buckets)).map(|k| u64::from(least) + k * u64::from(width)).collect();
    let bucket = p.component(bucket(&p, bits, &ends)?);
    let leaf = |p: &mut ProgramBuilder, k: usize| Ok(p.instance(bucket, &[&values[k].0, &values[k].1])?.remove(0));
    let counts = Total::new(buckets, 1, leaf).sum(&mut p, 0, values.len())?;
    p.output("counts", &counts, Recipients::All)?;
    Ok(p.finish())
}

/// A one at the place of the value's range, and zeros elsewhere.
fn bucket(p: &ProgramBuilder, bits: u32, ends: &[u64]) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("bucket({}, {bits})", ends.len() - 1));
    let present: Bit = c.input("present", Type::Bool);
    let value: Unsigned = c.input("value", Type::Unsigned(bits));
    let mut below: Vec<Bit> = Vec::with_capacity(ends.len());
    for &end in ends {
        let less = match end >> bits {
            0 => c.less(&value, &Unsigned::constant(end.into(), bits as usize)),
            _ => Bit::TRUE,
        };
        below.push(c.and(present, less));
    }
    let counts: Vec<Unsigned> = below.windows(2).map(|two| Unsigned::new(vec![c.xor(two[0], two[1])])).collect();
    c.output("counts", &counts);
    c.finish()
}

#[cfg(test)]
mod tests;
