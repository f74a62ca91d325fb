//! The greatest values of two lists, and the value at a given rank.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type, notes::Order};

use super::{
    lists::{Item, ListInput, both_in_order, count_bits, list_ands},
    member::{Build, Member, Parameter},
};
use crate::builder::{Bit, BitString, Integer, ProgramBuilder, Unsigned, Wires, Word, merge_comparators};

/// - `top-k(k, value bits, payload bits)`: the k greatest of both parties' values, each with its payload. Each party provides
///   its own k greatest, or all if it has fewer, in descending order. Compare the first value of one list with the last of the
///   other, the second with the last but one, and so on: the greater ones are the k greatest of all, and are merged.
/// - `quantile(n, m, bits, per mille)`: the least value that at least `per mille` thousandths of both parties' values do not exceed:
///   number ceil(N per mille / 1000) of N values in order, the first for 0. Lists are sorted. Each step halves the values, and
///   keeps the half that contains the result: the lesser or the greater ones of the two halves of a bitonic sequence.
///
/// *Source*: Batcher 1968; each step follows one half of his merge.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "top-k",
        summary: "the k greatest of both parties' values with their payloads; each party gives its k greatest, sorted",
        parameters: &[
            Parameter::new("k", 10, 1, 1 << 16),
            Parameter::new("value_bits", 32, 1, 1024),
            Parameter::new("payload_bits", 32, 0, 1024),
        ],
        ands: "(2 value_bits + payload_bits + 2) (k + M(k)) + k (value_bits + payload_bits + 1) + 2 L(k) + 1 - (number of ones in k written in binary)",
        and_count: |p| top_ands(p[0], p[1], p[2]),
        build: Build::Program {
            size: |p| merge_comparators(p[0] as usize) + 20 * p[0] + 10 * (p[1] + p[2] + 64),
            build: top,
        },
    },
    Member {
        name: "quantile",
        summary: "the value that `per_mille` thousandths of both parties' sorted values do not exceed, and whether there is one",
        parameters: &[
            Parameter::new("n", 16, 1, 1 << 18),
            Parameter::new("m", 16, 1, 1 << 18),
            Parameter::new("bits", 32, 1, 1024),
            Parameter::new("per_mille", 500, 0, 1000),
        ],
        ands: "2 (bits + 1) (2^p - 1) + bits + n + m + L(n) + L(m) + p^2 + 40 p + 250, p = ceil(log2(n + m)), at most",
        and_count: |p| quantile_ands(p[0], p[1], p[2]),
        build: Build::Program { size: |p| 22 * (p[0] + p[1]) + 20 * (p[2] + 64), build: quantile },
    },
];

fn top_item(value: u32, payload: u32) -> Item {
    Item { key: value, marked: false, descending: true, payload }
}

fn top_ands(k: u64, value: u64, payload: u64) -> u64 {
    let comparators = k + merge_comparators(k as usize);
    let counting = k - u64::from(k.count_ones());
    let comparing = top_item(value as u32, payload as u32).comparator_ands() * comparators;
    2 * list_ands(k, value) + 1 + comparing + k * (value + payload) + counting
}

fn quantile_ands(n: u64, m: u64, bits: u64) -> u64 {
    let p = count_bits(n + m - 1);
    let rank = p * p + 40 * p + 250;
    list_ands(n, bits) + list_ands(m, bits) + 2 * (bits + 1) * ((1 << p) - 1) + bits + n + m + rank
}

fn top(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[k, value, payload] = parameters else { unreachable!("three parameters were checked") };
    let list = |name, party| ListInput {
        name,
        party: Party(party),
        most: k,
        key: ("value", value),
        value: ("payload", payload),
        order: Order::Descending,
    };
    let (a, b) = (list("a", 0).add(&mut p)?, list("b", 1).add(&mut p)?);
    let in_order = both_in_order(&mut p, &a, &b)?;
    let item = top_item(value, payload);
    let comparator = p.component(item.comparator(&p, false)?);
    let mut greatest = Vec::with_capacity(k as usize);
    for (x, y) in a.rows.iter().zip(b.rows.iter().rev()) {
        greatest.push(p.instance(comparator, &[&item.of(x, false), &item.of(y, true)])?.remove(0));
    }
    item.merge_items(&mut p, &mut greatest, None)?;
    let shown = p.component(shown(&p, item)?);
    let mut absent = Vec::with_capacity(k as usize);
    let mut rows = Vec::with_capacity(k as usize);
    for own in &greatest {
        rows.push(p.instance(shown, &[own])?.remove(0));
        absent.push(own.slice(value.into(), Type::Bool));
    }
    let count = p.component(present_count(&p, k)?);
    let count = p.instance(count, &[&Wires::concat(Type::Bits(k), &absent)])?.remove(0);
    let row = match payload {
        0 => Type::Unsigned(value),
        _ => Type::Record(
            [("value", value), ("payload", payload)].map(|(name, bits)| (name.into(), Type::Unsigned(bits))).into(),
        ),
    };
    let rows = Wires::concat(Type::List(Box::new(row), k), [&count].into_iter().chain(&rows));
    p.output("rows", &rows, Recipients::All)?;
    p.output("in_order", &in_order, Recipients::All)?;
    Ok(p.finish())
}

/// Value and payload of a present element, zeros of an absent one.
fn shown(p: &ProgramBuilder, item: Item) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("shown({}, {})", item.key, item.payload));
    let own: BitString = c.input("item", item.ty());
    let (value, payload) = item.parts(&own);
    let mut row = value.to_bits();
    let absent = row.pop().expect("a bit for absent rows");
    row.extend(payload.0);
    let row = c.mask(!absent, &BitString(row));
    c.output("row", &row);
    c.finish()
}

/// The number of present rows.
fn present_count(p: &ProgramBuilder, rows: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("count({rows})"));
    let absent: BitString = c.input("absent", Type::Bits(rows));
    let present = c.not_word(&absent);
    let count = c.popcount(&present);
    c.output("count", &count);
    c.finish()
}

fn quantile(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, bits, per_mille] = parameters else { unreachable!("four parameters were checked") };
    let list = |name, party, most| ListInput {
        name,
        party: Party(party),
        most,
        key: ("value", bits),
        value: ("payload", 0),
        order: Order::Ascending,
    };
    let (a, b) = (list("a", 0, n).add(&mut p)?, list("b", 1, m).add(&mut p)?);
    let in_order = both_in_order(&mut p, &a, &b)?;
    let absent: Vec<&Wires> = a.rows.iter().chain(&b.rows).map(|row| &row.absent).collect();
    let absent = Wires::concat(Type::Bits(n + m), absent);
    let rank_bits = count_bits(u64::from(n + m) - 1) as u32;
    let rank = p.component(rank(&p, n + m, rank_bits, per_mille)?);
    let [found, rank]: [Wires; 2] = p.instance(rank, &[&absent])?.try_into().expect("whether and which");
    let item = Item { key: bits, marked: false, descending: false, payload: 0 };
    // First ascending, then descending; absent elements fill the middle.
    let between = (n + m..1 << rank_bits).map(|_| Wires::constant(item.ty(), |_| true));
    let first = a.rows.iter().map(|row| item.of(row, false));
    let second = b.rows.iter().rev().map(|row| item.of(row, true));
    let mut items: Vec<Wires> = first.chain(between).chain(second).collect();
    let pick = p.component(pick(&p, item)?);
    for level in (0..rank_bits).rev() {
        let upper = items.split_off(items.len() / 2);
        let greater = rank.slice(level.into(), Type::Bool);
        for (low, high) in items.iter_mut().zip(&upper) {
            *low = p.instance(pick, &[&greater, low, high])?.remove(0);
        }
    }
    let value = p.component(value_if(&p, bits)?);
    let value = p.instance(value, &[&found, &items[0].slice(0, Type::Unsigned(bits))])?.remove(0);
    p.output("found", &found, Recipients::All)?;
    p.output("value", &value, Recipients::All)?;
    p.output("in_order", &in_order, Recipients::All)?;
    Ok(p.finish())
}

/// Returns whether there are any values, and gives the wanted rank, counted from 0.
fn rank(p: &ProgramBuilder, rows: u32, bits: u32, per_mille: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("rank({rows}, {per_mille})"));
    let absent: BitString = c.input("absent", Type::Bits(rows));
    let present = c.not_word(&absent);
    let count = c.popcount(&present);
    let found = !c.is_zero(&count);
    let width = count.width() + 10;
    let constant = |value: u32| Unsigned::constant(value.into(), 10);
    let thousandths = c.mul(&count.resize(width), &constant(per_mille).resize(width));
    let raised = c.add(&thousandths, &constant(999).resize(width));
    let number = c.div(&raised, &constant(1000));
    let first = c.is_zero(&number);
    let rank = c.sub(&number, &constant(1));
    let rank = c.mask(!first, &rank.resize(bits as usize));
    c.output("found", &found);
    c.output("rank", &rank);
    c.finish()
}

/// The greater of two if `greater` is set, else the lesser.
fn pick(p: &ProgramBuilder, item: Item) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("pick({})", item.key));
    let greater: Bit = c.input("greater", Type::Bool);
    let low: BitString = c.input("low", item.ty());
    let high: BitString = c.input("high", item.ty());
    let less = c.less(&item.parts(&high).0, &item.parts(&low).0);
    let other = c.xor(less, greater);
    let picked = c.select(other, &high, &low);
    c.output("picked", &picked);
    c.finish()
}

fn value_if(p: &ProgramBuilder, bits: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("if({bits})"));
    let found: Bit = c.input("found", Type::Bool);
    let value: Unsigned = c.input("value", Type::Unsigned(bits));
    let value = c.mask(found, &value);
    c.output("value", &value);
    c.finish()
}

#[cfg(test)]
mod tests;
