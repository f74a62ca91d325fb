//! Properties of inputs that a program relies on, besides their types. A program that relies on the order of a list's rows treats a list in
//! another order as empty. Here such a list is refused, or sorted if its owner wants that, which costs no gates. A number that the
//! program would replace or ignore is refused too.

use std::cmp::Reverse;

use garblet_circuit::{
    Bits, InputId, Program, Type,
    diagnostic::{Diagnostic, Place},
    notes::{Limit, Order, Ordered},
};

use super::{keys::KeyForm, list};

/// The treatment of a list before it is used, if the program relies on the order of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arrange {
    /// Refuse it unless its rows are in order.
    #[default]
    Check,
    /// Use it as it is, although the program treats it as empty.
    AsEmpty,
    /// Sort its rows by key.
    Sort,
    /// Sort its rows by key, and merge the rows with the same key, adding up their values.
    SumByKey,
}

/// A change to a list, made here or by the program, that its owner should know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arranged {
    /// The program treats it as empty.
    Empty(Unfit),
    /// Rows with the same key were added up.
    Summed {
        /// The input's name.
        input: String,
        /// The rows before.
        rows: usize,
        /// The rows after.
        keys: usize,
    },
    /// Rows with a repeated key were left out: they have nothing to add up, and the program counts each key once.
    LeftOut {
        /// The input's name.
        input: String,
        /// The rows before.
        rows: usize,
        /// The rows after.
        keys: usize,
    },
}

/// A list that cannot be used as it is. It reveals nothing about the values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("input `{input}`{}, row {row}: {wrong}", run.map(|run| format!(" of run {run}")).unwrap_or_default())]
pub struct Unfit {
    /// The input's name.
    pub input: String,
    /// The run of a batch, from 1.
    pub run: Option<usize>,
    /// The row, from 1.
    pub row: usize,
    /// The fault in it.
    pub wrong: Misfit,
}

/// The fault of a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The row may not follow the one before it.
    #[error("expected {order}, got {}", got(*order, *is_repeat))]
    Order {
        /// The order that the program relies on.
        order: Order,
        /// Set if the key repeats the previous row's.
        is_repeat: bool,
    },
    /// The row has the key of another one.
    #[error("expected each key once, got the key of row {first} again")]
    Repeat {
        /// The first row with that key.
        first: usize,
    },
    /// The sum of a field over all rows with the same key is too large.
    #[error("the sum of `{field}` over the rows up to this one with its key does not fit {ty}")]
    Overflow {
        /// The field.
        field: String,
        /// Its type.
        ty: Type,
    },
    /// The field is not a number.
    #[error("`{field}` cannot be added up: it is {ty}")]
    NoNumber {
        /// The field.
        field: String,
        /// Its type.
        ty: Type,
    },
    /// The number means nothing to the program.
    #[error("expected at most {most} for `{field}`, got more")]
    TooLarge {
        /// The field.
        field: String,
        /// The greatest number with a meaning.
        most: u64,
    },
    /// The row has the key of another one, and the program counts both.
    #[error(
        "the rows cannot be added up by key: this has the key of row {first} and no value, and the program counts both"
    )]
    NoValue {
        /// The first row with that key.
        first: usize,
    },
    /// The key is not a text of the required form.
    #[error("expected {}, got another text", form.words())]
    NoText {
        /// The form.
        form: KeyForm,
    },
    /// Two different keys have the same hash.
    #[error("the key is not the text of row {first}, but both have the same hash of {bits} bits")]
    Collision {
        /// The other row.
        first: usize,
        /// The bits of a hash.
        bits: u32,
    },
    /// The key is what the program ranks rows by.
    #[error("the rows cannot be added up by key: they are in {order}")]
    NoKey {
        /// The order that the program relies on.
        order: Order,
    },
}

fn got(order: Order, is_repeat: bool) -> &'static str {
    match (is_repeat, order) {
        (true, _) => "the key of the previous row again",
        (false, Order::Descending) => "a greater key than in the previous row",
        (false, _) => "a lesser key than in the previous row",
    }
}

impl Unfit {
    /// The arrangement that would make it fit.
    pub fn cure(&self) -> Option<Arrange> {
        match self.wrong {
            Misfit::Order { is_repeat: false, .. } => Some(Arrange::Sort),
            Misfit::Order { is_repeat: true, .. } | Misfit::Repeat { .. } => Some(Arrange::SumByKey),
            _ => None,
        }
    }

    /// The diagnostic, with the line of the file if it is known, and without its content.
    pub fn diagnose(&self, file: &str, line: Option<u64>) -> Diagnostic {
        let error = Diagnostic::new(file, self.to_string());
        let error = line.map_or(error.clone(), |line| error.at(Place::in_line(line, "", 0..0)));
        match self.cure() {
            Some(Arrange::Sort) => error.hint("sort the rows by key"),
            Some(_) => error.hint("merge the rows that have the same key"),
            None => error,
        }
    }
}

/// Prepares the lists of a party: checks those whose order the program relies on, or brings them into order. The values of an
/// input are one list, or those of all runs of a batch, one after another.
///
/// *Errors*: the first list that is not in order, or cannot be brought into it.
pub fn arrange(program: &Program, inputs: &mut [(InputId, Bits)], how: Arrange) -> Result<Vec<Arranged>, Unfit> {
    let mut told = Vec::new();
    for (id, values) in inputs {
        let port = &program.inputs()[id.0 as usize].port;
        let ty = match (&port.ty, program.notes().rows) {
            // In a program that is a batch, an input has the values of all runs.
            (Type::Array(ty, _), Some(_)) => ty,
            (ty, _) => ty,
        };
        let ordered = program.notes().ordered(&port.name);
        let limit = program.notes().limit(&port.name);
        if ordered.is_none() && limit.is_none() {
            continue;
        }
        let width = ty.width() as usize;
        let runs = values.len() / width.max(1);
        let mut all = Bits::with_capacity(values.len());
        for run in 0..runs {
            let (mut value, number) = (values.slice(run * width, width), (runs > 1).then_some(run + 1));
            if let Some(unfit) = limit.and_then(|limit| too_large(limit, ty, &value, number)) {
                match how {
                    Arrange::AsEmpty => told.push(Arranged::Empty(unfit)),
                    _ => return Err(unfit),
                }
            }
            if let Some(ordered) = ordered {
                let (ready, words) = List { ty, ordered, run: number }.arrange(value, how)?;
                told.extend(words);
                value = ready;
            }
            all.append(&value);
        }
        *values = all;
    }
    Ok(told)
}

/// Returns whether one of these inputs needs a treatment.
pub fn has_use(how: Arrange, program: &Program, inputs: impl IntoIterator<Item = InputId>) -> bool {
    let notes = program.notes();
    inputs.into_iter().any(|id| {
        let name = &program.inputs()[id.0 as usize].port.name;
        let limited = how == Arrange::AsEmpty && notes.limits.iter().any(|limit| limit.input == *name);
        limited || notes.ordered.iter().any(|ordered| ordered.input == *name)
    })
}

/// The first element whose number is too large.
fn too_large(limit: &Limit, ty: &Type, value: &Bits, run: Option<usize>) -> Option<Unfit> {
    let number = |row: &Row| row.bits.slice(0, limit.bits as usize).to_u128();
    let row = rows(ty, value).into_iter().find(|row| number(row).is_none_or(|number| number >= limit.below.into()))?;
    let wrong = Misfit::TooLarge { field: limit.field.clone(), most: limit.below - 1 };
    Some(Unfit { input: limit.input.clone(), run, row: row.number, wrong })
}

/// The elements of an array or a list.
fn rows(ty: &Type, value: &Bits) -> Vec<Row> {
    let (element, start, count) = match ty {
        Type::Array(element, count) => (element, 0, *count as usize),
        Type::List(element, most) => {
            let start = Type::count_width(*most) as usize;
            let count = value.slice(0, start).to_u128().unwrap_or_default().min((*most).into()) as usize;
            (element, start, count)
        }
        _ => return Vec::new(),
    };
    let width = element.width() as usize;
    (0..count).map(|k| Row { number: k + 1, bits: value.slice(start + k * width, width) }).collect()
}

/// A list whose order matters.
struct List<'a> {
    ty: &'a Type,
    ordered: &'a Ordered,
    run: Option<usize>,
}

/// A row, with the number that it had in the file, from 1.
struct Row {
    number: usize,
    bits: Bits,
}

impl List<'_> {
    fn arrange(&self, list: Bits, how: Arrange) -> Result<(Bits, Option<Arranged>), Unfit> {
        match how {
            Arrange::Check => self.check(&list).map(|()| (list, None)),
            Arrange::AsEmpty => {
                let unfit = self.check(&list).err();
                Ok((list, unfit.map(Arranged::Empty)))
            }
            Arrange::Sort | Arrange::SumByKey => {
                let mut rows = rows(self.ty, &list);
                match self.ordered.order {
                    Order::Descending => rows.sort_by_cached_key(|row| Reverse(self.key(row))),
                    Order::Strict | Order::Ascending => rows.sort_by_cached_key(|row| self.key(row)),
                }
                let before = rows.len();
                if how == Arrange::SumByKey {
                    rows = self.sums(rows)?;
                }
                let repeat = rows.windows(2).find(|pair| self.key(&pair[0]) == self.key(&pair[1]));
                match repeat.filter(|_| self.ordered.order == Order::Strict) {
                    Some(pair) => Err(self.unfit(pair[1].number, Misfit::Repeat { first: pair[0].number })),
                    None => {
                        let (input, keys) = (self.ordered.input.clone(), rows.len());
                        let words = match self.values().is_empty() {
                            true => Arranged::LeftOut { input, rows: before, keys },
                            false => Arranged::Summed { input, rows: before, keys },
                        };
                        Ok((self.list(&rows), (keys < before).then_some(words)))
                    }
                }
            }
        }
    }

    fn check(&self, list: &Bits) -> Result<(), Unfit> {
        let Some(row) = self.ordered.misplaced(self.ty, list) else { return Ok(()) };
        let rows = rows(self.ty, list);
        let is_repeat = self.key(&rows[row - 2]) == self.key(&rows[row - 1]);
        Err(self.unfit(row, Misfit::Order { order: self.ordered.order, is_repeat }))
    }

    fn unfit(&self, row: usize, wrong: Misfit) -> Unfit {
        Unfit { input: self.ordered.input.clone(), run: self.run, row, wrong }
    }

    /// Element and most rows.
    fn shape(&self) -> (&Type, u32) {
        match self.ty {
            Type::List(element, most) => (element, *most),
            other => (other, 0),
        }
    }

    fn list(&self, rows: &[Row]) -> Bits {
        let mut values = Bits::default();
        rows.iter().for_each(|row| values.append(&row.bits));
        list::pad(rows.len(), &values, self.ty, self.shape().1)
    }

    /// A row's key from its highest byte down, so that keys compare as numbers do.
    fn key(&self, row: &Row) -> Vec<u8> {
        let mut key = row.bits.slice(0, self.ordered.key_bits as usize).to_bytes();
        key.reverse();
        key
    }

    /// The fields of a row outside its key, each with the bit at which it begins.
    fn values(&self) -> Vec<(usize, &(String, Type))> {
        let Type::Record(fields) = self.shape().0 else { return Vec::new() };
        let starts = fields.iter().scan(0, |at, (_, ty)| {
            let start = *at;
            *at += ty.width() as usize;
            Some(start)
        });
        let all = starts.zip(fields);
        all.filter(|(start, (_, ty))| start + ty.width() as usize > self.ordered.key_bits as usize).collect()
    }

    /// Merges sorted rows to one row for each key.
    fn sums(&self, rows: Vec<Row>) -> Result<Vec<Row>, Unfit> {
        if let (Order::Descending, Some(row)) = (self.ordered.order, rows.first()) {
            return Err(self.unfit(row.number, Misfit::NoKey { order: Order::Descending }));
        }
        let values = self.values();
        let counts_all = values.is_empty() && self.ordered.order != Order::Strict;
        let mut sums: Vec<Row> = Vec::with_capacity(rows.len());
        for row in rows {
            match sums.last_mut().filter(|sum| self.key(sum) == self.key(&row)) {
                Some(sum) if counts_all => return Err(self.unfit(row.number, Misfit::NoValue { first: sum.number })),
                Some(sum) => self.add(sum, &row, &values)?,
                None => sums.push(row),
            }
        }
        Ok(sums)
    }

    /// Adds the values of a row to another's.
    fn add(&self, sum: &mut Row, row: &Row, values: &[(usize, &(String, Type))]) -> Result<(), Unfit> {
        for (start, (name, ty)) in values {
            let (start, width) = (*start, ty.width() as usize);
            let [a, b] = [&sum.bits, &row.bits].map(|bits| bits.slice(start, width));
            let signed = match ty {
                Type::Unsigned(_) => false,
                Type::Signed(_) | Type::Fixed(..) => true,
                _ => return Err(self.unfit(row.number, Misfit::NoNumber { field: name.clone(), ty: ty.clone() })),
            };
            let total = plus(&a, &b, signed).ok_or_else(|| Misfit::Overflow { field: name.clone(), ty: ty.clone() });
            let total = total.map_err(|wrong| self.unfit(row.number, wrong))?;
            total.iter().enumerate().for_each(|(bit, value)| sum.bits.set(start + bit, value));
        }
        Ok(())
    }
}

/// The sum of two numbers of one width; none if it has more bits.
fn plus(a: &Bits, b: &Bits, signed: bool) -> Option<Bits> {
    let (mut carry, mut last) = (false, false);
    let mut sum = Bits::with_capacity(a.len());
    for (x, y) in a.iter().zip(b.iter()) {
        last = carry;
        sum.push(x ^ y ^ carry);
        carry = x & y | (x | y) & carry;
    }
    let overflows = if signed { carry != last } else { carry };
    (!overflows).then_some(sum)
}

#[cfg(test)]
mod tests;
