//! Random expressions.

use crate::{
    generator::{Generator, SIZE, Variable},
    tree::{Block, Expr, Fields, INTS, Int, Size, Ty, USIZE},
};

/// Numbers at the borders of types.
const BORDERS: [u128; 24] = [
    126,
    127,
    128,
    129,
    200,
    255,
    256,
    300,
    32767,
    32768,
    60000,
    65535,
    65536,
    2147483647,
    2147483648,
    4294967295,
    4294967296,
    5000000000,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    (1 << 127) - 1,
    1 << 127,
];

fn boxed(value: Expr) -> Box<Expr> {
    Box::new(value)
}

/// The digits of a number that is written without a sign.
pub(crate) fn digits(value: &Expr) -> Option<String> {
    let Expr::Literal(text) = value else { return None };
    let end = text.find(['u', 'i']).unwrap_or(text.len());
    (!text.starts_with("0x")).then(|| text[..end].replace('_', ""))
}

// Numbers.
impl Generator {
    /// A number as it is written.
    pub(crate) fn literal(&mut self, int: Int, value: u128) -> Expr {
        let digits = match self.dice.below(12) {
            0 => format!("{value:#x}"),
            1 if value >= 1000 => format!("{}_{:03}", value / 1000, value % 1000),
            _ => value.to_string(),
        };
        // `0x1b8` has no suffix.
        let large = if value >> 31 == 0 {
            0
        } else if self.decided {
            25
        } else {
            93
        };
        let suffix = if self.dice.chance(self.suffixed.max(large)) { int.name } else { "" };
        Expr::Literal(format!("{digits}{suffix}"))
    }

    /// A number of a type, rarely of none: its bits, and how it is written.
    pub(crate) fn number(&mut self, int: Int) -> (u128, Expr) {
        let rarely = self.dice.chance(2);
        let most = if int.name == "usize" { 9 } else { int.most() };
        let size = match self.dice.below(10) {
            0 => most,
            1 => most - 1,
            2..=4 => {
                let within: Vec<u128> = BORDERS.into_iter().filter(|&border| rarely || border <= most).collect();
                if within.is_empty() { 1 } else { self.dice.pick(&within) }
            }
            5 if int.name != "usize" => self.dice.wide() & int.most(),
            _ => self.dice.below(12) as u128,
        };
        if !int.signed || self.dice.chance(65) {
            return (size, self.literal(int, size));
        }
        let size = if self.dice.chance(15) { int.least() } else { size.max(1) };
        (size.wrapping_neg(), Expr::Unary('-', boxed(self.literal(int, size))))
    }

    pub(crate) fn small(&mut self, int: Int, end: usize) -> Expr {
        let value = self.dice.below(end) as u128;
        self.literal(int, value)
    }

    pub(crate) fn mask(&mut self, int: Int) -> Expr {
        let value = self.dice.pick(&[1, 3, 7, 15]);
        self.literal(int, value)
    }
}

// Values.
impl Generator {
    /// A value of a type, which something around it decides or not.
    pub(crate) fn value_when(&mut self, decided: bool, ty: &Ty, depth: usize) -> Expr {
        let outer = std::mem::replace(&mut self.decided, decided);
        let value = self.value(ty, depth);
        self.decided = outer;
        value
    }

    /// A value of a type.
    pub(crate) fn value(&mut self, ty: &Ty, depth: usize) -> Expr {
        if depth == 0 || matches!(ty, Ty::List(..)) {
            return self.leaf(ty);
        }
        match self.dice.below(100) {
            0..=9 => return self.effect(ty, depth),
            10..=14 => {
                let condition = self.value(&Ty::Bool, depth - 1);
                let then = self.body(depth - 1, Some(ty));
                let other = Expr::Block(self.body(depth - 1, Some(ty)));
                return Expr::If(boxed(condition), then, Some(boxed(other)));
            }
            15..=18 => return self.matching(ty, depth - 1),
            19..=23 => {
                if let Some(call) = self.call(ty, depth - 1) {
                    return call;
                }
            }
            24..=29 => {
                if let Some(part) = self.part(ty, depth - 1) {
                    return part;
                }
            }
            30..=31 => return Expr::Block(self.body(depth - 1, Some(ty))),
            _ => {}
        }
        match ty {
            Ty::Bool => self.boolean(depth - 1),
            Ty::Int(int) => self.arithmetic(*int, depth - 1),
            Ty::Float(bits) => self.floating(*bits, depth - 1),
            _ => match self.dice.chance(50) {
                true => self.made(ty, depth - 1),
                false => self.leaf(ty),
            },
        }
    }

    /// A variable, a constant or a number.
    fn leaf(&mut self, ty: &Ty) -> Expr {
        let variables: Vec<Variable> = self.visible().into_iter().filter(|variable| variable.ty == *ty).collect();
        if !variables.is_empty() && self.dice.chance(65) {
            return Expr::Name(self.dice.pick(&variables).name);
        }
        if self.open.is_some() && *ty == USIZE && self.dice.chance(30) {
            return Expr::Name(SIZE.into());
        }
        let constants: Vec<String> =
            self.constants.iter().filter(|(_, own, _)| own == ty).map(|(name, ..)| name.clone()).collect();
        if !constants.is_empty() && self.dice.chance(25) {
            return Expr::Name(self.dice.pick(&constants));
        }
        match ty {
            Ty::Bool => Expr::Literal(self.dice.chance(50).to_string()),
            Ty::Int(int) if int.name != "usize" && self.dice.chance(4) => {
                Expr::Name(format!("{}::{}", int.name, self.dice.pick(&["MAX", "MIN"])))
            }
            Ty::Int(int) => self.number(*int).1,
            Ty::Float(bits) => self.decimal(*bits),
            _ => self.made(ty, 0),
        }
    }

    /// A tuple, an array, a struct or an enum of its parts.
    pub(crate) fn made(&mut self, ty: &Ty, depth: usize) -> Expr {
        match ty {
            Ty::Tuple(parts) => Expr::Tuple(parts.iter().map(|ty| self.value(ty, depth)).collect()),
            // An array of open size has no elements that could be listed.
            Ty::Array(element, size) if size.text == SIZE || self.dice.chance(35) => {
                let size = match size.text == SIZE || self.dice.chance(50) {
                    true => size.clone(),
                    false => Size { text: size.count.to_string(), ..size.clone() },
                };
                Expr::Repeat(boxed(self.value(element, depth)), size)
            }
            Ty::Array(element, size) => Expr::Array((0..size.count).map(|_| self.value(element, depth)).collect()),
            Ty::Named(name) => match self.structs.iter().find(|(own, _)| own == name).cloned() {
                Some((_, fields)) => self.record(name.clone(), fields, depth),
                None => {
                    let variants = self.enums[0].1.clone();
                    let (variant, fields) = self.dice.pick(&variants);
                    let name = format!("E::{variant}");
                    match fields {
                        Fields::Unit => Expr::Name(name),
                        Fields::Tuple(types) => {
                            Expr::Call(name, types.iter().map(|ty| self.value(ty, depth)).collect())
                        }
                        Fields::Named(fields) => self.record(name, fields, depth),
                    }
                }
            },
            Ty::List(element, most) => {
                let count = self.dice.below(most + 1);
                Expr::List((0..count).map(|_| self.value(element, depth)).collect())
            }
            _ => self.leaf(ty),
        }
    }

    /// Fields in any order.
    fn record(&mut self, name: String, mut fields: Vec<(String, Ty)>, depth: usize) -> Expr {
        let by = self.dice.below(fields.len());
        fields.rotate_left(by);
        Expr::Struct(name, fields.into_iter().map(|(field, ty)| (field, self.value(&ty, depth))).collect())
    }

    /// `{ v = ..; VALUE }`
    fn effect(&mut self, ty: &Ty, depth: usize) -> Expr {
        let Some(assign) = self.assignment(depth - 1) else { return self.leaf(ty) };
        let value = self.value(ty, depth - 1);
        Expr::Block(Block { body: vec![assign], value: Some(boxed(value)) })
    }

    fn call(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let functions: Vec<_> = self.functions.iter().filter(|(_, _, result)| result == ty).cloned().collect();
        if functions.is_empty() {
            return None;
        }
        let (name, params, _) = self.dice.pick(&functions);
        Some(Expr::Call(name, params.iter().map(|ty| self.value_when(true, ty, depth)).collect()))
    }

    /// An element or a field of a variable.
    fn part(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let mut found = Vec::new();
        for variable in self.visible() {
            found.extend(self.parts_of(&variable).into_iter().filter(|(_, own)| own == ty).map(|(part, _)| part));
        }
        if found.is_empty() {
            return (*ty == USIZE).then(|| self.length()).flatten();
        }
        let part = self.dice.pick(&found);
        Some(self.with_index(part, depth))
    }

    /// `.len()` of a variable.
    fn length(&mut self) -> Option<Expr> {
        let arrays: Vec<_> =
            self.visible().into_iter().filter(|v| matches!(v.ty, Ty::Array(..) | Ty::List(..))).collect();
        (!arrays.is_empty()).then(|| Expr::Len(boxed(Expr::Name(self.dice.pick(&arrays).name))))
    }

    /// The parts of a variable and their types. What an index is, is left open: it is the size.
    pub(crate) fn parts_of(&self, variable: &Variable) -> Vec<(Expr, Ty)> {
        let whole = Expr::Name(variable.name.clone());
        let field = |whole: &Expr, name: String| Expr::Field(boxed(whole.clone()), name);
        let one = |whole: &Expr, ty: &Ty| -> Vec<(Expr, Ty)> {
            match ty {
                Ty::Array(element, size) => {
                    let index = Expr::Literal(size.count.to_string());
                    vec![(Expr::Index(boxed(whole.clone()), boxed(index)), (**element).clone())]
                }
                Ty::List(element, most) => {
                    let index = Expr::Literal(most.to_string());
                    vec![(Expr::Index(boxed(whole.clone()), boxed(index)), (**element).clone())]
                }
                Ty::Tuple(parts) => {
                    parts.iter().enumerate().map(|(k, ty)| (field(whole, k.to_string()), ty.clone())).collect()
                }
                Ty::Named(name) => {
                    let fields = self.structs.iter().find(|(own, _)| own == name).map(|(_, fields)| fields.clone());
                    let fields = fields.into_iter().flatten();
                    fields.map(|(name, ty)| (field(whole, name), ty)).collect()
                }
                _ => Vec::new(),
            }
        };
        let first = one(&whole, &variable.ty);
        let second: Vec<_> = first.iter().flat_map(|(part, ty)| one(part, ty)).collect();
        first.into_iter().chain(second).collect()
    }

    /// Puts indices in.
    pub(crate) fn with_index(&mut self, part: Expr, depth: usize) -> Expr {
        match part {
            Expr::Index(whole, size) => {
                let count = digits(&size).and_then(|text| text.parse().ok()).unwrap_or(1);
                let whole = self.with_index(*whole, depth);
                let index = self.index(count, depth);
                Expr::Index(boxed(whole), boxed(index))
            }
            Expr::Field(whole, name) => Expr::Field(boxed(self.with_index(*whole, depth)), name),
            other => other,
        }
    }

    fn index(&mut self, count: usize, depth: usize) -> Expr {
        let Ty::Int(size) = USIZE else { unreachable!() };
        match self.dice.below(10) {
            0..=4 => {
                let at = self.dice.below(count);
                self.literal(size, at as u128)
            }
            5 if depth > 0 => self.value(&USIZE, depth - 1),
            6 if depth > 0 => self.effect(&USIZE, depth),
            7 if self.dice.chance(20) => self.literal(size, count as u128),
            _ => {
                let int = self.int();
                let outer = std::mem::replace(&mut self.decided, false);
                let value = self.leaf(&Ty::Int(int));
                self.decided = outer;
                let mask = if self.dice.chance(50) { 1 } else { 3 };
                let masked = Expr::Binary("&", boxed(value), boxed(self.literal(int, mask)));
                match self.dice.chance(60) {
                    true if count.is_power_of_two() || self.dice.chance(40) => Expr::Cast(boxed(masked), USIZE),
                    _ => {
                        let rest = Expr::Literal(count.to_string());
                        Expr::Binary("%", boxed(Expr::Cast(boxed(masked), USIZE)), boxed(rest))
                    }
                }
            }
        }
    }
}

// Operators.
impl Generator {
    fn boolean(&mut self, depth: usize) -> Expr {
        match self.dice.below(12) {
            0..=6 => {
                let ty = if self.dice.chance(85) { Ty::Int(self.int()) } else { self.ty(1) };
                let ordered = matches!(ty, Ty::Int(_) | Ty::Bool | Ty::Float(_));
                let ops: &[&str] = if ordered { &["<", ">", "<=", ">=", "==", "!="] } else { &["==", "!="] };
                let op = self.dice.pick(ops);
                let sides = [0, 1].map(|_| boxed(self.value_when(false, &ty, depth)));
                let [left, right] = sides;
                Expr::Binary(op, left, right)
            }
            7..=9 => {
                let op = self.dice.pick(&["&&", "||", "&", "|", "^"]);
                Expr::Binary(op, boxed(self.value(&Ty::Bool, depth)), boxed(self.value(&Ty::Bool, depth)))
            }
            10 => Expr::Unary('!', boxed(self.value(&Ty::Bool, depth))),
            11 if self.dice.chance(30) => {
                let ty = Ty::Float(self.dice.pick(&[32, 64]));
                let name = self.dice.pick(&["is_nan", "is_infinite", "is_finite"]);
                // The type of what has methods must be known before them.
                Expr::Method(name, vec![Expr::Cast(boxed(self.value_when(false, &ty, depth)), ty)])
            }
            _ => self.leaf(&Ty::Bool),
        }
    }

    /// A floating-point number, often an edge.
    pub(crate) fn real(&mut self) -> f64 {
        match self.dice.below(12) {
            0 => 0.0,
            1 => -0.0,
            2 => f64::NAN,
            3 => f64::INFINITY,
            4 => f64::NEG_INFINITY,
            5 => f64::from_bits(self.dice.wide() as u64),
            6 => f64::from(f32::from_bits(self.dice.wide() as u32)),
            7 => f64::MIN_POSITIVE / 4.0,
            8 => 16777217.0,
            _ => (self.dice.below(4000) as f64 - 2000.0) / 16.0,
        }
    }

    /// A floating-point number as it is written.
    fn decimal(&mut self, bits: u32) -> Expr {
        let name = if bits == 32 { "f32" } else { "f64" };
        if self.dice.chance(8) {
            let constant = ["MAX", "MIN", "EPSILON", "INFINITY", "NEG_INFINITY", "NAN", "MIN_POSITIVE"];
            return Expr::Name(format!("{name}::{}", self.dice.pick(&constant)));
        }
        let text = match self.dice.below(6) {
            0 => format!("{}e{}", self.dice.below(100), self.dice.below(9)),
            1 => format!("{}.5e-{}", self.dice.below(100), self.dice.below(30)),
            2 => format!("1_{:03}.0", self.dice.below(1000)),
            3 => self.dice.pick(&["0.1", "0.3", "1.0", "2.0", "16777217.0", "1e38"]).into(),
            _ => format!("{}.{}", self.dice.below(50), self.dice.below(1000)),
        };
        let suffix = if self.dice.chance(self.suffixed) { name } else { "" };
        let value = Expr::Literal(format!("{text}{suffix}"));
        if self.dice.chance(25) { Expr::Unary('-', boxed(value)) } else { value }
    }

    fn floating(&mut self, bits: u32, depth: usize) -> Expr {
        let ty = Ty::Float(bits);
        match self.dice.below(12) {
            0..=4 => {
                let op = self.dice.pick(&["+", "-", "*", "/"]);
                Expr::Binary(op, boxed(self.value(&ty, depth)), boxed(self.value(&ty, depth)))
            }
            5 => Expr::Unary('-', boxed(self.value(&ty, depth))),
            6 | 7 => {
                let from = match self.dice.chance(30) {
                    true => Ty::Float(96 - bits),
                    false => Ty::Int(self.int()),
                };
                Expr::Cast(boxed(self.value_when(false, &from, depth)), ty)
            }
            8 | 9 => {
                let (name, count) = self.dice.pick(&[("abs", 0), ("sqrt", 0), ("mul_add", 2)]);
                let first = Expr::Cast(boxed(self.value_when(false, &ty, depth)), ty.clone());
                let rest = (0..count).map(|_| self.value_when(true, &ty, depth)).collect::<Vec<_>>();
                Expr::Method(name, [first].into_iter().chain(rest).collect())
            }
            _ => self.leaf(&ty),
        }
    }

    fn arithmetic(&mut self, int: Int, depth: usize) -> Expr {
        let ty = Ty::Int(int);
        // The function language has fewer bits of `usize`.
        let narrow = int.name == "usize";
        let risky = self.dice.chance(12);
        match self.dice.below(22) {
            0..=4 if risky || narrow => {
                let op = self.dice.pick(if narrow { &["+", "-", "/", "%"] } else { &["+", "-", "*", "/", "%"] });
                Expr::Binary(op, boxed(self.value(&ty, depth)), boxed(self.value(&ty, depth)))
            }
            0..=2 => {
                let op = self.dice.pick(&["+", "*"]);
                let left = Expr::Binary("&", boxed(self.value(&ty, depth)), boxed(self.mask(int)));
                let right = match self.dice.chance(50) {
                    true => Expr::Binary("&", boxed(self.value(&ty, depth)), boxed(self.mask(int))),
                    false => self.small(int, 8),
                };
                Expr::Binary(op, boxed(left), boxed(right))
            }
            3 => {
                let left = Expr::Binary("|", boxed(self.value(&ty, depth)), boxed(self.literal(int, 15)));
                let right = Expr::Binary("&", boxed(self.value(&ty, depth)), boxed(self.mask(int)));
                Expr::Binary("-", boxed(left), boxed(right))
            }
            4 | 5 => {
                let op = self.dice.pick(&["/", "%"]);
                let by = match self.dice.chance(50) {
                    true => Expr::Binary("|", boxed(self.value(&ty, depth)), boxed(self.literal(int, 1))),
                    false => {
                        let by = 1 + self.dice.below(9) as u128;
                        self.literal(int, by)
                    }
                };
                Expr::Binary(op, boxed(self.value(&ty, depth)), boxed(by))
            }
            6..=9 => {
                let op = self.dice.pick(&["&", "|", "^"]);
                Expr::Binary(op, boxed(self.value(&ty, depth)), boxed(self.value(&ty, depth)))
            }
            10..=12 => self.shift(int, depth),
            13 if !narrow => Expr::Unary('!', boxed(self.value(&ty, depth))),
            14 if int.signed => Expr::Unary('-', boxed(self.value(&ty, depth))),
            15..=17 => self.cast(int, depth),
            20..=21 if !narrow => self.method(int, depth),
            _ => self.leaf(&ty),
        }
    }

    /// A method whose result has that type. None overflows: rustc tells a line of the standard library.
    fn method(&mut self, int: Int, depth: usize) -> Expr {
        let ty = Ty::Int(int);
        let known = |value: Expr, ty: &Ty| Expr::Cast(boxed(value), ty.clone());
        let first = known(self.value_when(false, &ty, depth), &ty);
        let method = |name, parts: Vec<Expr>| Expr::Method(name, parts);
        match self.dice.below(12) {
            0..=5 => {
                let two =
                    ["wrapping_add", "wrapping_sub", "wrapping_mul", "saturating_add", "saturating_sub", "min", "max"];
                let name = self.dice.pick(&two);
                let second = self.value_when(true, &ty, depth);
                method(name, vec![first, second])
            }
            6 | 7 => {
                let name = self.dice.pick(&["rotate_left", "rotate_right"]);
                let by = self.value_when(true, &Ty::Int(INTS[2]), depth);
                method(name, vec![first, by])
            }
            8 => method("wrapping_neg", vec![first]),
            9 => {
                let small = Expr::Binary("&", boxed(first), boxed(self.literal(int, 3)));
                let exponent = Expr::Literal(self.dice.below(5).to_string());
                method("pow", vec![known(small, &ty), exponent])
            }
            10 if int.signed => {
                let half = Expr::Binary("/", boxed(first), boxed(self.literal(int, 2)));
                method("abs", vec![known(half, &ty)])
            }
            _ if int.signed => self.leaf(&ty),
            10 => {
                let other =
                    INTS.into_iter().find(|other| other.signed && other.bits == int.bits).expect("a signed one");
                let ty = Ty::Int(if self.dice.chance(50) { other } else { int });
                let first = known(self.value_when(false, &ty, depth), &ty);
                let second = self.value_when(true, &ty, depth);
                method("abs_diff", vec![first, second])
            }
            _ if int.bits == 32 => {
                let ty = Ty::Int(self.dice.pick(&INTS[..10]));
                let name = self.dice.pick(&["count_ones", "count_zeros", "leading_zeros", "trailing_zeros"]);
                method(name, vec![known(self.value_when(false, &ty, depth), &ty)])
            }
            _ => method("isqrt", vec![first]),
        }
    }

    fn shift(&mut self, int: Int, depth: usize) -> Expr {
        let op = if int.name == "usize" { ">>" } else { self.dice.pick(&["<<", ">>"]) };
        let by = if self.dice.chance(60) { self.int() } else { int };
        let amount = match self.dice.below(10) {
            // By 40, say, only our `usize` overflows.
            0 if int.name != "usize" => self.value_when(false, &Ty::Int(by), depth),
            1..=6 => self.small(by, 8),
            _ => Expr::Binary("&", boxed(self.value_when(false, &Ty::Int(by), depth)), boxed(self.literal(by, 7))),
        };
        Expr::Binary(op, boxed(self.value(&Ty::Int(int), depth)), boxed(amount))
    }

    fn cast(&mut self, int: Int, depth: usize) -> Expr {
        let from = match self.dice.below(100) {
            0..15 => Ty::Bool,
            // Rustc has more of a `usize`.
            15..22 if int.name != "usize" => Ty::Float(self.dice.pick(&[32, 64])),
            _ => Ty::Int(self.int()),
        };
        // `-1 as u8` is refused.
        let negative = matches!(&from, Ty::Int(own) if own.signed) && !int.signed && self.dice.chance(90);
        let suffixed = if negative { 100 } else { self.suffixed };
        let outer = std::mem::replace(&mut self.suffixed, suffixed);
        let mut value = self.value_when(false, &from, depth);
        self.suffixed = outer;
        if let (Ty::Int(own), "usize") = (&from, int.name)
            && own.name != "usize"
        {
            value = Expr::Binary("&", boxed(value), boxed(self.mask(*own)));
        }
        Expr::Cast(boxed(value), Ty::Int(int))
    }
}
