//! Random well-typed programs, and what they compute: a plain interpreter.

use proptest::test_runner::TestRng;
use rand_core::Rng;

/// Types of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Bool,
    /// Bits, and whether it is signed.
    Int(u32, bool),
    Array(u32, usize),
    /// `(u16, bool)`.
    Pair,
    /// `struct P { x: u8, y: i32 }`.
    Struct,
}

const SCALARS: [Ty; 6] =
    [Ty::Bool, Ty::Int(8, false), Ty::Int(16, false), Ty::Int(32, false), Ty::Int(16, true), Ty::Int(32, true)];
const OTHERS: [Ty; 4] = [Ty::Array(8, 4), Ty::Array(16, 3), Ty::Pair, Ty::Struct];

impl Ty {
    fn name(self) -> String {
        match self {
            Ty::Bool => "bool".into(),
            Ty::Int(bits, signed) => format!("{}{bits}", if signed { 'i' } else { 'u' }),
            Ty::Array(bits, count) => format!("[u{bits}; {count}]"),
            Ty::Pair => "(u16, bool)".into(),
            Ty::Struct => "P".into(),
        }
    }

    /// The scalars of a value.
    pub(crate) fn scalars(self) -> Vec<Ty> {
        match self {
            Ty::Array(bits, count) => vec![Ty::Int(bits, false); count],
            Ty::Pair => vec![Ty::Int(16, false), Ty::Bool],
            Ty::Struct => vec![Ty::Int(8, false), Ty::Int(32, true)],
            scalar => vec![scalar],
        }
    }

    /// A field or element as it is written.
    fn part(self, k: usize) -> String {
        match self {
            Ty::Pair => format!(".{k}"),
            Ty::Struct => [".x", ".y"][k].into(),
            _ => format!("[{k}]"),
        }
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::Int(bits, _) => bits,
            _ => panic!("no scalar"),
        }
    }

    fn wrap(self, value: i128) -> i128 {
        let Ty::Int(bits, signed) = self else { return value & 1 };
        let low = value & ((1 << bits) - 1);
        if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
    }

    fn checked(self, value: i128) -> Result<i128, Reason> {
        if self.wrap(value) == value { Ok(value) } else { Err(OVERFLOW) }
    }
}

/// The reason why a run panics.
pub(crate) type Reason = &'static str;
const OVERFLOW: Reason = "arithmetic overflow";
const BY_ZERO: Reason = "division by zero";
const OUT_OF_BOUNDS: Reason = "index out of bounds";

enum Expr {
    Literal(Ty, i128),
    Part(usize, usize),
    Index(usize, Box<Expr>),
    Binary(&'static str, Ty, Box<Expr>, Box<Expr>),
    Not(Ty, Box<Expr>),
    Neg(Ty, Box<Expr>),
    Cast(Ty, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match value { lo..=hi => .., k => .., _ => .. }` of a u8.
    Match(Box<Expr>, [i128; 3], Box<[Expr; 3]>),
    /// A call of `f`: of a u8 and a u16.
    Call(Box<Expr>, Box<Expr>),
}

enum Stmt {
    Let(usize, Vec<Expr>),
    Set(usize, usize, Expr),
    SetIndex(usize, Expr, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A loop variable of type u8 from 0 on.
    For(usize, i128, Vec<Stmt>),
    /// A loop over an array.
    ForIn(usize, usize, Vec<Stmt>),
}

/// A random program of two parameters.
pub(crate) struct Program {
    vars: Vec<Ty>,
    params: usize,
    body: Vec<Stmt>,
    results: Vec<(usize, usize)>,
}

/// The function that random programs call.
const CALLEE: &str = "struct P { x: u8, y: i32 }\n\
    fn f(a: u8, b: u16) -> u16 { if b > 200u16 { b - (a as u16) } else { b / (a as u16) } }\n";

struct Generator<'a> {
    rng: &'a mut TestRng,
    vars: Vec<Ty>,
    /// The variables that can be read, and whether each can be written.
    scope: Vec<(usize, bool)>,
}

impl Program {
    /// A program from a generator of random numbers.
    pub(crate) fn random(rng: &mut TestRng) -> Self {
        let mut generator = Generator { rng, vars: Vec::new(), scope: Vec::new() };
        for _ in 0..2 {
            let ty = generator.any_type();
            let id = generator.declare(ty);
            generator.scope.push((id, false));
        }
        let body = generator.statements(6, 2);
        let results = (0..3).map(|_| {
            let at = generator.rng.next_u32() as usize % generator.scope.len();
            let id = generator.scope[at].0;
            let parts = generator.vars[id].scalars().len();
            (id, generator.rng.next_u32() as usize % parts)
        });
        let results = results.collect();
        Program { vars: generator.vars, params: 2, body, results }
    }

    /// The source.
    pub(crate) fn text(&self) -> String {
        let params: Vec<String> = (0..self.params).map(|k| format!("v{k}: {}", self.vars[k].name())).collect();
        let results: Vec<Ty> = self.results.iter().map(|&(id, part)| self.vars[id].scalars()[part]).collect();
        let types: Vec<String> = results.iter().map(|ty| ty.name()).collect();
        let mut text = format!("{CALLEE}pub fn main({}) -> ({}) {{\n", params.join(", "), types.join(", "));
        // `f` is called, whatever is in the body.
        text += "    let unused = f(1u8, 1u16);\n";
        self.write(&self.body, 1, &mut text);
        let values: Vec<String> = self.results.iter().map(|&(id, part)| self.place(id, part)).collect();
        text + &format!("    ({})\n}}\n", values.join(", "))
    }

    fn place(&self, id: usize, part: usize) -> String {
        match SCALARS.contains(&self.vars[id]) {
            true => format!("v{id}"),
            false => format!("v{id}{}", self.vars[id].part(part)),
        }
    }

    fn write(&self, body: &[Stmt], depth: usize, text: &mut String) {
        let indent = "    ".repeat(depth);
        for stmt in body {
            let line = match stmt {
                Stmt::Let(id, parts) => format!("let mut v{id} = {};", self.whole(self.vars[*id], parts)),
                Stmt::Set(id, part, value) => format!("{} = {};", self.place(*id, *part), self.expr(value)),
                Stmt::SetIndex(id, index, value) => {
                    format!("v{id}[{} as usize] = {};", self.expr(index), self.expr(value))
                }
                Stmt::If(condition, then, other) => {
                    *text += &format!("{indent}if {} {{\n", self.expr(condition));
                    self.write(then, depth + 1, text);
                    *text += &format!("{indent}}} else {{\n");
                    self.write(other, depth + 1, text);
                    "}".into()
                }
                Stmt::For(id, end, inner) => {
                    *text += &format!("{indent}for v{id} in 0u8..{end}u8 {{\n");
                    self.write(inner, depth + 1, text);
                    "}".into()
                }
                Stmt::ForIn(id, array, inner) => {
                    *text += &format!("{indent}for v{id} in v{array} {{\n");
                    self.write(inner, depth + 1, text);
                    "}".into()
                }
            };
            *text += &format!("{indent}{line}\n");
        }
    }

    fn whole(&self, ty: Ty, parts: &[Expr]) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.expr(part)).collect();
        match ty {
            Ty::Array(..) => format!("[{}]", parts.join(", ")),
            Ty::Pair => format!("({})", parts.join(", ")),
            Ty::Struct => format!("P {{ x: {}, y: {} }}", parts[0], parts[1]),
            _ => parts[0].clone(),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Literal(Ty::Bool, value) => (*value != 0).to_string(),
            Expr::Literal(ty, value) => format!("{value}{}", ty.name()),
            Expr::Part(id, part) => self.place(*id, *part),
            Expr::Index(id, index) => format!("v{id}[{} as usize]", self.expr(index)),
            Expr::Binary(op, _, a, b) => format!("({} {op} {})", self.expr(a), self.expr(b)),
            Expr::Not(_, a) => format!("(!{})", self.expr(a)),
            Expr::Neg(_, a) => format!("(-{})", self.expr(a)),
            Expr::Cast(ty, a) => format!("({} as {})", self.expr(a), ty.name()),
            Expr::If(c, a, b) => format!("(if {} {{ {} }} else {{ {} }})", self.expr(c), self.expr(a), self.expr(b)),
            Expr::Match(value, [lo, hi, k], arms) => format!(
                "(match {} {{ {lo}u8..={hi}u8 => {}, {k}u8 => {}, _ => {} }})",
                self.expr(value),
                self.expr(&arms[0]),
                self.expr(&arms[1]),
                self.expr(&arms[2])
            ),
            Expr::Call(a, b) => format!("f({}, {})", self.expr(a), self.expr(b)),
        }
    }

    /// The results of the program with their types.
    pub(crate) fn run(&self, inputs: &[Vec<i128>]) -> Result<Vec<(Ty, i128)>, Reason> {
        let mut run = Run { values: vec![Vec::new(); self.vars.len()] };
        inputs.iter().enumerate().for_each(|(k, input)| run.values[k] = input.clone());
        run.statements(&self.body)?;
        let result = |&(id, part): &(usize, usize)| (self.vars[id].scalars()[part], run.values[id][part]);
        Ok(self.results.iter().map(result).collect())
    }

    /// The scalars of each parameter.
    pub(crate) fn params(&self) -> Vec<Vec<Ty>> {
        self.vars[..self.params].iter().map(|ty| ty.scalars()).collect()
    }
}

struct Run {
    values: Vec<Vec<i128>>,
}

impl Run {
    fn statements(&mut self, body: &[Stmt]) -> Result<(), Reason> {
        for stmt in body {
            match stmt {
                Stmt::Let(id, parts) => {
                    self.values[*id] = parts.iter().map(|part| self.expr(part)).collect::<Result<_, _>>()?;
                }
                Stmt::Set(id, part, value) => self.values[*id][*part] = self.expr(value)?,
                Stmt::SetIndex(id, index, value) => {
                    // As in Rust, the value comes before the index.
                    let value = self.expr(value)?;
                    let index = self.expr(index)? as usize;
                    *self.values[*id].get_mut(index).ok_or(OUT_OF_BOUNDS)? = value;
                }
                Stmt::If(condition, then, other) => {
                    let taken = if self.expr(condition)? != 0 { then } else { other };
                    self.statements(taken)?;
                }
                Stmt::For(id, end, inner) => {
                    for value in 0..*end {
                        self.values[*id] = vec![value];
                        self.statements(inner)?;
                    }
                }
                Stmt::ForIn(id, array, inner) => {
                    for value in self.values[*array].clone() {
                        self.values[*id] = vec![value];
                        self.statements(inner)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn expr(&self, expr: &Expr) -> Result<i128, Reason> {
        Ok(match expr {
            Expr::Literal(_, value) => *value,
            Expr::Part(id, part) => self.values[*id][*part],
            Expr::Index(id, index) => {
                let index = self.expr(index)? as usize;
                *self.values[*id].get(index).ok_or(OUT_OF_BOUNDS)?
            }
            Expr::Binary("&&", _, a, b) => i128::from(self.expr(a)? != 0 && self.expr(b)? != 0),
            Expr::Binary("||", _, a, b) => i128::from(self.expr(a)? != 0 || self.expr(b)? != 0),
            Expr::Binary(op, ty, a, b) => binary(op, *ty, self.expr(a)?, self.expr(b)?)?,
            Expr::Not(ty, a) => ty.wrap(!self.expr(a)?),
            Expr::Neg(ty, a) => ty.checked(-self.expr(a)?)?,
            Expr::Cast(ty, a) => ty.wrap(self.expr(a)?),
            Expr::If(c, a, b) => self.expr(if self.expr(c)? != 0 { a } else { b })?,
            Expr::Match(value, [lo, hi, k], arms) => match self.expr(value)? {
                value if value >= *lo && value <= *hi => self.expr(&arms[0])?,
                value if value == *k => self.expr(&arms[1])?,
                _ => self.expr(&arms[2])?,
            },
            Expr::Call(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                let op = if b > 200 { "-" } else { "/" };
                binary(op, Ty::Int(16, false), b, a)?
            }
        })
    }
}

/// An operation on operands of a type.
fn binary(op: &str, ty: Ty, a: i128, b: i128) -> Result<i128, Reason> {
    let shift = |value: i128| if b < i128::from(ty.bits()) { Ok(ty.wrap(value)) } else { Err(OVERFLOW) };
    match op {
        "+" => ty.checked(a + b),
        "-" => ty.checked(a - b),
        "*" => ty.checked(a * b),
        "/" | "%" if b == 0 => Err(BY_ZERO),
        "/" => ty.checked(a / b),
        // As in Rust, there is none where there is no quotient.
        "%" => ty.checked(a / b).map(|_| a % b),
        "<<" => shift(a << b.min(64)),
        ">>" => shift(a >> b.min(64)),
        "&" => Ok(a & b),
        "|" => Ok(a | b),
        "^" => Ok(a ^ b),
        "<" => Ok((a < b).into()),
        ">=" => Ok((a >= b).into()),
        "==" => Ok((a == b).into()),
        "!=" => Ok((a != b).into()),
        other => panic!("operator {other}"),
    }
}

impl Generator<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.rng.next_u32() as usize % end
    }

    fn any_type(&mut self) -> Ty {
        match self.below(3) {
            0 => OTHERS[self.below(OTHERS.len())],
            _ => SCALARS[self.below(SCALARS.len())],
        }
    }

    fn declare(&mut self, ty: Ty) -> usize {
        self.vars.push(ty);
        self.vars.len() - 1
    }

    fn statements(&mut self, count: usize, depth: usize) -> Vec<Stmt> {
        (0..1 + self.below(count)).map(|_| self.statement(depth)).collect()
    }

    /// Statements in a scope of their own, with one more variable, or none.
    fn inner(&mut self, variable: Option<usize>, depth: usize) -> Vec<Stmt> {
        let outer = self.scope.len();
        self.scope.extend(variable.map(|id| (id, false)));
        let body = self.statements(3, depth);
        self.scope.truncate(outer);
        body
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        let writable: Vec<usize> = self.scope.iter().filter(|(_, w)| *w).map(|(id, _)| *id).collect();
        match self.below(8) {
            0 | 1 if depth > 0 => {
                let condition = self.expr(Ty::Bool, 2);
                Stmt::If(condition, self.inner(None, depth - 1), self.inner(None, depth - 1))
            }
            2 if depth > 0 => {
                let id = self.declare(Ty::Int(8, false));
                let end = 1 + self.below(5) as i128;
                Stmt::For(id, end, self.inner(Some(id), depth - 1))
            }
            3 if depth > 0 => {
                let arrays = self.readable(|ty| matches!(ty, Ty::Array(..)));
                let Some(&array) = arrays.first() else { return self.statement(0) };
                let id = self.declare(self.vars[array].scalars()[0]);
                Stmt::ForIn(id, array, self.inner(Some(id), depth - 1))
            }
            4..=6 if !writable.is_empty() => {
                let id = writable[self.below(writable.len())];
                let scalars = self.vars[id].scalars();
                if let Ty::Array(..) = self.vars[id]
                    && self.below(2) == 0
                {
                    let index = self.index();
                    return Stmt::SetIndex(id, index, self.expr(scalars[0], 2));
                }
                let part = self.below(scalars.len());
                Stmt::Set(id, part, self.expr(scalars[part], 3))
            }
            _ => {
                let ty = self.any_type();
                let parts = ty.scalars().into_iter().map(|scalar| self.expr(scalar, 2)).collect();
                let id = self.declare(ty);
                self.scope.push((id, true));
                Stmt::Let(id, parts)
            }
        }
    }

    fn readable(&self, want: impl Fn(Ty) -> bool) -> Vec<usize> {
        self.scope.iter().map(|(id, _)| *id).filter(|id| want(self.vars[*id])).collect()
    }

    /// An index into an array, mostly within bounds.
    fn index(&mut self) -> Expr {
        let value = self.expr(Ty::Int(8, false), 1);
        match self.below(4) {
            0 => value,
            _ => {
                let mask = Box::new(Expr::Literal(Ty::Int(8, false), 3));
                Expr::Binary("&", Ty::Int(8, false), Box::new(value), mask)
            }
        }
    }

    fn literal(&mut self, ty: Ty) -> Expr {
        let value = match ty {
            Ty::Bool => self.below(2) as i128,
            Ty::Int(8, _) => self.below(256) as i128,
            _ => self.below(400) as i128,
        };
        Expr::Literal(ty, value)
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        let mut places = Vec::new();
        for (id, _) in &self.scope {
            let scalars = self.vars[*id].scalars();
            places.extend((0..scalars.len()).filter(|&k| scalars[k] == ty).map(|k| (*id, k)));
        }
        match places.is_empty() || self.below(5) == 0 {
            true => self.literal(ty),
            false => {
                let (id, part) = places[self.below(places.len())];
                Expr::Part(id, part)
            }
        }
    }

    fn boxed(&mut self, ty: Ty, depth: usize) -> Box<Expr> {
        Box::new(self.expr(ty, depth))
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match (self.below(10), ty) {
            (0, _) => self.leaf(ty),
            (1, _) => Expr::If(self.boxed(Ty::Bool, depth), self.boxed(ty, depth), self.boxed(ty, depth)),
            (2, _) => {
                let lo = self.below(100) as i128;
                let ends = [lo, lo + self.below(50) as i128, self.below(256) as i128];
                let arms = [self.expr(ty, depth), self.expr(ty, depth), self.expr(ty, depth)];
                Expr::Match(self.boxed(Ty::Int(8, false), depth), ends, Box::new(arms))
            }
            (3, _) => Expr::Not(ty, self.boxed(ty, depth)),
            (_, Ty::Bool) => self.condition(depth),
            (4, Ty::Int(bits, signed)) => self.cast(bits, signed, depth),
            (5, Ty::Int(_, true)) => Expr::Neg(ty, self.boxed(ty, depth)),
            (5, Ty::Int(bits, false)) => {
                let arrays = self.readable(|other| matches!(other, Ty::Array(b, _) if b == bits));
                match arrays.first() {
                    Some(&array) => Expr::Index(array, Box::new(self.index())),
                    None if bits == 16 => Expr::Call(self.boxed(Ty::Int(8, false), depth), self.boxed(ty, depth)),
                    None => self.leaf(ty),
                }
            }
            (6, _) => {
                let op = ["<<", ">>"][self.below(2)];
                let amount = match self.below(2) {
                    0 => Box::new(Expr::Literal(Ty::Int(8, false), self.below(18) as i128)),
                    _ => self.boxed(Ty::Int(8, false), 0),
                };
                Expr::Binary(op, ty, self.boxed(ty, depth), amount)
            }
            (7, Ty::Int(_, true)) => {
                // Few products of exactly the positive number that the least negative one would be, which they let pass.
                let mask = Box::new(Expr::Literal(ty, 63));
                let small = Box::new(Expr::Binary("&", ty, self.boxed(ty, depth), mask));
                Expr::Binary("*", ty, small, self.boxed(ty, 0))
            }
            _ => {
                let ops = if let Ty::Int(_, true) = ty {
                    &["+", "-", "/", "%", "&", "^"][..]
                } else {
                    &["+", "-", "*", "/", "%", "&", "|", "^"]
                };
                Expr::Binary(ops[self.below(ops.len())], ty, self.boxed(ty, depth), self.boxed(ty, depth))
            }
        }
    }

    fn condition(&mut self, depth: usize) -> Expr {
        if self.below(3) == 0 {
            let op = ["&&", "||", "^", "=="][self.below(4)];
            return Expr::Binary(op, Ty::Bool, self.boxed(Ty::Bool, depth), self.boxed(Ty::Bool, depth));
        }
        let ty = SCALARS[1 + self.below(SCALARS.len() - 1)];
        let op = ["<", ">=", "==", "!="][self.below(4)];
        Expr::Binary(op, ty, self.boxed(ty, depth), self.boxed(ty, depth))
    }

    /// A conversion to an integer; of signed ones to at most twice as many bits, beyond which they set some to zero.
    fn cast(&mut self, bits: u32, signed: bool, depth: usize) -> Expr {
        let to = Ty::Int(bits, signed);
        let from = SCALARS[self.below(SCALARS.len())];
        Expr::Cast(to, self.boxed(from, depth))
    }
}
