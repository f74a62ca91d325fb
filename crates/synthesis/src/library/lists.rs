//! Lists of bounded length, each sorted by its owner, and the merge of two.
//!
//! **Invariant**: a list that violates the order the program relies on counts as empty. So outputs depend on a party's rows only
//! through the specified function. On unsorted rows, the networks would leak how they compare to the other party's rows. Everybody
//! learns whether the lists were in order.

use garblet_circuit::{
    CircuitError, Component, ComponentId, Party, Type,
    notes::{Order, Ordered},
};

use crate::builder::{
    Bit, BitString, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires, merge_comparators, merge_places,
};

/// An input: a list of keys, or of keys with one value each.
pub(super) struct ListInput {
    pub(super) name: &'static str,
    pub(super) party: Party,
    /// The maximum number of rows.
    pub(super) most: u32,
    pub(super) key: (&'static str, u32),
    /// Name and width of the value; width 0 means no value.
    pub(super) value: (&'static str, u32),
    pub(super) order: Order,
}

/// A list whose order was checked.
pub(super) struct Sorted {
    pub(super) rows: Vec<Row>,
    /// Set if the rows are in order.
    pub(super) in_order: Wires,
}

/// A row of a list.
pub(super) struct Row {
    /// Set if the row is absent.
    pub(super) absent: Wires,
    pub(super) key: Wires,
    pub(super) value: Wires,
}

/// The AND gates of [`presence`]: 2^K - K - 1, K bits of `most`.
pub(super) fn presence_ands(most: u64) -> u64 {
    let bits = u64::from(u64::BITS - most.leading_zeros());
    (1 << bits) - bits - 1
}

/// The AND gates of reading a list with keys of this many bits: (most - 1)(bits + 2) + most, and [`presence_ands`].
pub(super) fn list_ands(most: u64, bits: u64) -> u64 {
    presence_ands(most) + (most - 1) * (bits + 2) + most
}

impl ListInput {
    /// Adds the input and checks its order. *Cost*: [`list_ands`].
    pub(super) fn add(&self, p: &mut ProgramBuilder) -> Result<Sorted, CircuitError> {
        let (most, key, value) = (self.most, self.key.1, self.value.1);
        let row = match value {
            0 => Type::Unsigned(key),
            _ => Type::Record([self.key, self.value].map(|(name, bits)| (name.into(), Type::Unsigned(bits))).into()),
        };
        let width = row.width();
        let list = p.input(self.name, Type::List(Box::new(row), most), self.party)?;
        p.note_order(Ordered { input: self.name.into(), key_bits: key, order: self.order });
        let (present, rows) = split_list(p, &list, most, width)?;
        let keys: Vec<Wires> = rows.iter().map(|row| row.slice(0, Type::Unsigned(key))).collect();
        let mut in_order = Wires::constant(Type::Bool, |_| true);
        if most > 1 {
            let check = p.component(order(p, key, self.order)?);
            for (k, pair) in keys.windows(2).enumerate() {
                let next = present.slice(k as u64 + 1, Type::Bool);
                in_order = p.instance(check, &[&in_order, &next, &pair[0], &pair[1]])?.remove(0);
            }
        }
        let absent = p.component(absent(p, most)?);
        let absent = p.instance(absent, &[&present, &in_order])?.remove(0);
        let rows = keys.into_iter().zip(rows).enumerate().map(|(k, (own, row))| Row {
            absent: absent.slice(k as u64, Type::Bool),
            key: own,
            value: row.slice(key.into(), Type::Bits(value)),
        });
        Ok(Sorted { rows: rows.collect(), in_order })
    }
}

/// Splits a list into one presence bit per row, and the rows' wires.
pub(super) fn split_list(
    p: &mut ProgramBuilder,
    list: &Wires,
    most: u32,
    width: u64,
) -> Result<(Wires, Vec<Wires>), CircuitError> {
    let bits = Type::count_width(most);
    let presence = p.component(presence(p, most)?);
    let present = p.instance(presence, &[&list.slice(0, Type::Unsigned(bits))])?.remove(0);
    let row = |k: u32| list.slice(u64::from(bits) + u64::from(k) * width, Type::Bits(width as u32));
    Ok((present, (0..most).map(row).collect()))
}

/// Returns for each row whether a list of `most` rows at most has it. A count that is too large means a full list.
fn presence(p: &ProgramBuilder, most: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("rows({most})"));
    let count: Unsigned = c.input("count", Type::Unsigned(Type::count_width(most)));
    // For each k, whether the bits so far exceed k.
    let mut more: Vec<Bit> = Vec::new();
    for &bit in count.bits() {
        let both: Vec<Bit> = more.iter().map(|&rest| c.and(bit, rest)).collect();
        let mut next: Vec<Bit> = Vec::with_capacity(2 * more.len() + 1);
        for (&rest, &both) in more.iter().zip(&both) {
            let either = c.xor(bit, rest);
            next.push(c.xor(either, both));
        }
        next.push(bit);
        next.extend(both);
        more = next;
    }
    c.output("present", &BitString(more[..most as usize].to_vec()));
    c.finish()
}

/// Returns whether a list that was in order so far still is after its next row, if there is one.
fn order(p: &ProgramBuilder, bits: u32, order: Order) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("order({bits})"));
    let before: Bit = c.input("before", Type::Bool);
    let present: Bit = c.input("present", Type::Bool);
    let row: Unsigned = c.input("row", Type::Unsigned(bits));
    let next: Unsigned = c.input("next", Type::Unsigned(bits));
    let wrong = match order {
        Order::Strict => !c.less(&row, &next),
        Order::Ascending => c.less(&next, &row),
        Order::Descending => c.less(&row, &next),
    };
    let wrong = c.and(present, wrong);
    let after = c.and(before, !wrong);
    c.output("after", &after);
    c.finish()
}

/// Returns for each row whether it is absent or in a list that is out of order.
fn absent(p: &ProgramBuilder, most: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("absent({most})"));
    let present: BitString = c.input("present", Type::Bits(most));
    let in_order: Bit = c.input("in_order", Type::Bool);
    let kept = c.mask(in_order, &present);
    let absent = c.not_word(&kept);
    c.output("absent", &absent);
    c.finish()
}

/// Returns whether both lists are in order. *Cost*: 1.
pub(super) fn both_in_order(p: &mut ProgramBuilder, a: &Sorted, b: &Sorted) -> Result<Wires, CircuitError> {
    let mut c = p.circuit("both");
    let (x, y): (Bit, Bit) = (c.input("a", Type::Bool), c.input("b", Type::Bool));
    let both = c.and(x, y);
    c.output("both", &both);
    let both = p.component(c.finish()?);
    Ok(p.instance(both, &[&a.in_order, &b.in_order])?.remove(0))
}

/// The shape of the elements of a merge: wires of a number that orders them, and a payload.
///
/// The number is the key, with a bit above it that is set if the row is absent. Where the order among equal keys matters, a bit
/// below the key says to which list the row belongs.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) key: u32,
    pub(super) marked: bool,
    /// Set for descending order of keys.
    pub(super) descending: bool,
    pub(super) payload: u32,
}

impl Item {
    /// The width of the number.
    pub(super) fn number(self) -> u32 {
        self.key + 1 + u32::from(self.marked)
    }

    pub(super) fn ty(self) -> Type {
        Type::Bits(self.number() + self.payload)
    }

    /// The AND gates of a comparator: two for each bit of the number, one for each payload bit.
    pub(super) fn comparator_ands(self) -> u64 {
        u64::from(2 * self.number() + self.payload)
    }

    /// The element of a row.
    pub(super) fn of(self, row: &Row, second: bool) -> Wires {
        let mark = self.marked.then(|| Wires::constant(Type::Bool, |_| second));
        let rest = self.payload - row.value.ty().width() as u32;
        let rest = Wires::constant(Type::Bits(rest), |_| false);
        Wires::concat(self.ty(), mark.iter().chain([&row.key, &row.absent, &row.value, &rest]))
    }

    /// Key with the bit for absent rows above it, and payload, of an element in a circuit.
    pub(super) fn parts(self, item: &BitString) -> (Unsigned, BitString) {
        let (number, payload) = item.0.split_at(self.number() as usize);
        (Unsigned::new(number[usize::from(self.marked)..].to_vec()), BitString(payload.to_vec()))
    }

    /// Puts two elements in order; `tells` adds an output that says whether they were swapped.
    pub(super) fn comparator(self, p: &ProgramBuilder, tells: bool) -> Result<Component, CircuitError> {
        let mut c = p.circuit(format!("comparator({}, {})", self.number(), self.payload));
        let a: BitString = c.input("a", self.ty());
        let b: BitString = c.input("b", self.ty());
        let [x, y] = [&a, &b].map(|item| self.ordered(item));
        let swap = c.less(&y, &x);
        let (least, most) = c.swap_if(swap, &a, &b);
        c.output("least", &least);
        c.output("most", &most);
        if tells {
            c.output("swapped", &swap);
        }
        c.finish()
    }

    /// The number of an element, less for one that comes first.
    fn ordered(self, item: &BitString) -> Unsigned {
        let mut bits = item.0[..self.number() as usize].to_vec();
        if self.descending {
            let key = usize::from(self.marked);
            bits[key..key + self.key as usize].iter_mut().for_each(|bit| *bit = !*bit);
        }
        Unsigned::new(bits)
    }

    /// Merges the rows of two lists in order; records every comparator in `moved`: its places and whether it swapped.
    ///
    /// *Cost*: [`Item::comparator_ands`] for each of the [`merge_comparators`].
    pub(super) fn merge(
        self,
        p: &mut ProgramBuilder,
        [a, b]: [&Sorted; 2],
        moved: Option<&mut Vec<Move>>,
    ) -> Result<Vec<Wires>, CircuitError> {
        let first = a.rows.iter().map(|row| self.of(row, false));
        let second = b.rows.iter().rev().map(|row| self.of(row, true));
        let mut items: Vec<Wires> = first.chain(second).collect();
        self.merge_items(p, &mut items, moved)?;
        Ok(items)
    }

    /// Orders elements as [`Item::merge`] does: a first part is in order and the rest in reverse order.
    pub(super) fn merge_items(
        self,
        p: &mut ProgramBuilder,
        items: &mut [Wires],
        mut moved: Option<&mut Vec<Move>>,
    ) -> Result<(), CircuitError> {
        let comparator = p.component(self.comparator(p, moved.is_some())?);
        let mut places = Vec::with_capacity(merge_comparators(items.len()) as usize);
        merge_places(items.len(), |low, high| places.push((low, high)));
        for (low, high) in places {
            let sorted = p.instance(comparator, &[&items[low], &items[high]])?;
            let mut sorted = sorted.into_iter();
            let mut next = || sorted.next().expect("a comparator gives two elements and whether they were swapped");
            (items[low], items[high]) = (next(), next());
            if let Some(moves) = moved.as_deref_mut() {
                moves.push(Move { low, high, swapped: next() });
            }
        }
        Ok(())
    }
}

/// A comparator of a merge, after it has run.
pub(super) struct Move {
    low: usize,
    high: usize,
    swapped: Wires,
}

/// Carries values from a merge's elements back to the places that the elements came from, for the wanted places only.
///
/// *Cost*: the width of a value for each comparator that [`return_comparators`] counts.
pub(super) fn bring_back(
    p: &mut ProgramBuilder,
    moves: &[Move],
    values: &mut [Wires],
    wanted: impl Fn(usize) -> bool,
) -> Result<(), CircuitError> {
    let back = p.component(back(p, values[0].ty())?);
    let used = used(moves.iter().map(|m| (m.low, m.high)), values.len(), wanted);
    for (m, _) in moves.iter().zip(used).rev().filter(|(_, used)| *used) {
        let both: [Wires; 2] = two(p, back, [&m.swapped, &values[m.low], &values[m.high]])?;
        [values[m.low], values[m.high]] = both;
    }
    Ok(())
}

fn two(p: &mut ProgramBuilder, component: ComponentId, inputs: [&Wires; 3]) -> Result<[Wires; 2], CircuitError> {
    Ok(p.instance(component, &inputs)?.try_into().expect("a component with two outputs"))
}

/// The comparators of a merge of n elements through which values return to wanted places.
pub(super) fn return_comparators(n: usize, wanted: impl Fn(usize) -> bool) -> u64 {
    let mut places = Vec::new();
    merge_places(n, |low, high| places.push((low, high)));
    used(places.into_iter(), n, wanted).into_iter().filter(|used| *used).count() as u64
}

/// Returns for each comparator whether it can have moved an element of a wanted place.
fn used(places: impl Iterator<Item = (usize, usize)>, n: usize, wanted: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut reached: Vec<bool> = (0..n).map(wanted).collect();
    let mut reaches = |(low, high): (usize, usize)| {
        let used = reached[low] || reached[high];
        (reached[low], reached[high]) = (used, used);
        used
    };
    places.map(&mut reaches).collect()
}

/// Two values, exchanged if their elements were swapped.
fn back(p: &ProgramBuilder, ty: &Type) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("back({})", ty.width()));
    let swapped: Bit = c.input("swapped", Type::Bool);
    let low: BitString = c.input("low", Type::Bits(ty.width() as u32));
    let high: BitString = c.input("high", Type::Bits(ty.width() as u32));
    let (low, high) = c.swap_if(swapped, &low, &high);
    c.output("low", &low);
    c.output("high", &high);
    c.finish()
}

/// Equality of the keys of two present neighbours. *Cost*: the bits of the key and 1.
pub(super) fn same_key(c: &mut CircuitBuilder, a: &Unsigned, b: &Unsigned) -> Bit {
    let same = c.equal(a, b);
    let absent = a.bits().last().copied().unwrap_or(Bit::FALSE);
    c.and(same, !absent)
}

/// The bits of a count of at most `most`.
pub(super) fn count_bits(most: u64) -> u64 {
    u64::from(u64::BITS - most.leading_zeros())
}

#[cfg(test)]
pub(super) mod encode {
    use crate::{builder::simulate, library};

    /// The outputs of a member. Checks that its AND gates match the stated number, or are at most 600 below a stated bound.
    pub(in crate::library) fn run(member: &str, parameters: &[usize], inputs: &[Vec<bool>]) -> Vec<Vec<bool>> {
        let text: Vec<String> = parameters.iter().map(usize::to_string).collect();
        let program = library::find(&format!("{member}({})", text.join(", "))).unwrap();
        let member = library::list().find(|m| m.name == member).unwrap();
        let parameters: Vec<u32> = parameters.iter().map(|&p| p as u32).collect();
        let (ands, stated) = (program.stats().and, member.and_count(&parameters).unwrap());
        let slack = if member.ands.contains("at most") { 600 } else { 0 };
        assert!(ands <= stated && stated <= ands + slack, "{} of {parameters:?}: {ands} of {stated}", member.name);
        simulate::program(&program, inputs)
    }

    /// The bits of a list of at most `most` rows with fields of these widths. Ones follow the last row.
    pub(in crate::library) fn list(rows: &[Vec<u128>], most: usize, widths: &[usize]) -> Vec<bool> {
        let mut bits = simulate::to_bits(rows.len() as u128, super::count_bits(most as u64) as usize);
        for row in rows {
            row.iter().zip(widths).for_each(|(&x, &width)| bits.extend(simulate::to_bits(x, width)));
        }
        bits.resize(bits.len() + (most - rows.len()) * widths.iter().sum::<usize>(), true);
        bits
    }

    /// The rows of a list, after a check that only zeros follow them.
    pub(in crate::library) fn rows(bits: &[bool], most: usize, widths: &[usize]) -> Vec<Vec<u128>> {
        let (count, bits) = bits.split_at(super::count_bits(most as u64) as usize);
        let count = simulate::from_bits(count) as usize;
        let rows = array(bits, widths);
        assert!(rows[count..].iter().flatten().all(|&x| x == 0), "{count} of {rows:?}");
        rows[..count].to_vec()
    }

    /// The rows of an array.
    pub(in crate::library) fn array(bits: &[bool], widths: &[usize]) -> Vec<Vec<u128>> {
        let fields = |row: &[bool]| {
            let mut rest = row;
            let mut field = |&width: &usize| {
                let (own, after) = rest.split_at(width);
                rest = after;
                simulate::from_bits(own)
            };
            widths.iter().map(&mut field).collect()
        };
        bits.chunks(widths.iter().sum()).map(fields).collect()
    }
}
