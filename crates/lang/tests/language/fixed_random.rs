//! Random programs over fixed-point numbers, and what they compute in exact rational arithmetic.

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use proptest::test_runner::TestRng;
use rand_core::Rng;

/// A type: an integer, or bits before and behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Fixed(u32, u32),
    Int(u32, bool),
}

impl Ty {
    pub(crate) fn name(self) -> String {
        match self {
            Ty::Fixed(integer, fraction) => format!("fixed<{integer}, {fraction}>"),
            Ty::Int(bits, signed) => format!("{}{bits}", if signed { 'i' } else { 'u' }),
        }
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Ty::Fixed(integer, fraction) => integer + fraction,
            Ty::Int(bits, _) => bits,
        }
    }

    fn fraction(self) -> u32 {
        if let Ty::Fixed(_, fraction) = self { fraction } else { 0 }
    }

    fn signed(self) -> bool {
        !matches!(self, Ty::Int(_, false))
    }

    /// The least and the greatest number, times 2 to the power of the bits behind the point.
    fn ends(self) -> (BigInt, BigInt) {
        let half = BigInt::from(1) << (self.bits() - u32::from(self.signed()));
        (if self.signed() { -half.clone() } else { BigInt::from(0) }, half - 1)
    }

    /// The number that wires are.
    pub(crate) fn value(self, wires: u128) -> BigRational {
        let raw = BigInt::from(wires);
        let raw = if raw > self.ends().1 { raw - (BigInt::from(1) << self.bits()) } else { raw };
        BigRational::new(raw, BigInt::from(1) << self.fraction())
    }

    /// The wires of a number of the type.
    pub(crate) fn wires(self, value: &BigRational) -> u128 {
        let raw = (value * power(self.fraction())).to_integer();
        let raw = if raw.sign() == Sign::Minus { raw + (BigInt::from(1) << self.bits()) } else { raw };
        u128::try_from(raw).expect("128 bits at most")
    }

    /// The greatest number of the type that is no greater, whether or not it is in range.
    fn down(self, value: &BigRational) -> BigRational {
        (value * power(self.fraction())).floor() / power(self.fraction())
    }

    fn has(self, value: &BigRational) -> bool {
        let (least, most) = self.ends();
        let raw = (value * power(self.fraction())).to_integer();
        least <= raw && raw <= most
    }

    fn checked(self, value: BigRational) -> Result<BigRational, Reason> {
        let value = self.down(&value);
        if self.has(&value) { Ok(value) } else { Err("arithmetic overflow") }
    }

    /// The low wires of the number.
    fn wrapped(self, value: &BigRational) -> BigRational {
        let raw = (self.down(value) * power(self.fraction())).to_integer();
        let all = BigInt::from(1) << self.bits();
        let low = ((raw % &all) + &all) % &all;
        self.value(u128::try_from(low).expect("128 bits at most"))
    }

    /// The nearest number, and the even one of two.
    pub(crate) fn nearest(self, value: &BigRational) -> Option<BigRational> {
        let scaled = value * power(self.fraction());
        let down = scaled.floor();
        let rest = &scaled - &down;
        let half = BigRational::new(1.into(), 2.into());
        let odd = down.to_integer() % 2 != BigInt::from(0);
        let up = rest > half || rest == half && odd;
        let value = (down + BigRational::from_integer(i32::from(up).into())) / power(self.fraction());
        self.has(&value).then_some(value)
    }
}

fn power(exponent: u32) -> BigRational {
    BigRational::from_integer(BigInt::from(1) << exponent)
}

/// The reason why a run panics.
pub(crate) type Reason = &'static str;

enum Expr {
    Var(usize),
    Literal(String, BigRational),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Neg(Box<Expr>),
    Root(Box<Expr>),
    /// To another type, and whether it is an integer's.
    Cast(Ty, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>, Box<Expr>),
}

/// A program of two parameters; variable `k` is `vk`.
pub(crate) struct Program {
    vars: Vec<Ty>,
    lets: Vec<Expr>,
}

/// The number of parameters.
const PARAMS: usize = 2;

impl Program {
    pub(crate) fn random(rng: &mut TestRng) -> Self {
        let mut own = Generator { rng, vars: Vec::new(), types: Vec::new() };
        own.types = (0..3).map(|_| own.any_type()).collect();
        for _ in 0..PARAMS {
            let ty = own.pick();
            own.vars.push(ty);
        }
        let mut lets = Vec::new();
        for _ in 0..3 + own.below(4) {
            let ty = own.pick();
            lets.push(own.expr(ty, 2));
            own.vars.push(ty);
        }
        Program { vars: own.vars, lets }
    }

    pub(crate) fn params(&self) -> &[Ty] {
        &self.vars[..PARAMS]
    }

    pub(crate) fn results(&self) -> &[Ty] {
        &self.vars[self.vars.len() - 2..]
    }

    pub(crate) fn text(&self) -> String {
        let params: Vec<String> = (0..PARAMS).map(|k| format!("v{k}: {}", self.vars[k].name())).collect();
        let last = self.vars.len();
        let results: Vec<String> = self.results().iter().map(|ty| ty.name()).collect();
        let mut text = format!("pub fn main({}) -> ({}) {{\n", params.join(", "), results.join(", "));
        for (k, value) in self.lets.iter().enumerate() {
            let ty = self.vars[PARAMS + k].name();
            text += &format!("    let v{}: {ty} = {};\n", PARAMS + k, value.text());
        }
        text + &format!("    (v{}, v{})\n}}\n", last - 2, last - 1)
    }

    /// The results in exact arithmetic, rounded where the language rounds.
    pub(crate) fn run(&self, inputs: &[BigRational]) -> Result<Vec<BigRational>, Reason> {
        let mut values = inputs.to_vec();
        for (k, own) in self.lets.iter().enumerate() {
            let value = own.run(self.vars[PARAMS + k], &values, &self.vars)?;
            values.push(value);
        }
        Ok(values.split_off(values.len() - 2))
    }
}

impl Expr {
    fn text(&self) -> String {
        match self {
            Expr::Var(k) => format!("v{k}"),
            Expr::Literal(text, _) => text.clone(),
            Expr::Binary(op @ ("min" | "max"), a, b) => format!("{op}({}, {})", a.text(), b.text()),
            Expr::Binary(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
            Expr::Neg(a) => format!("(-{})", a.text()),
            Expr::Root(a) => format!("sqrt({})", a.text()),
            Expr::Cast(ty, a) => format!("({} as {})", a.text(), ty.name()),
            Expr::If(a, b, then, other) => {
                format!("if {} < {} {{ {} }} else {{ {} }}", a.text(), b.text(), then.text(), other.text())
            }
        }
    }

    /// The type of an operand of a cast or a comparison.
    fn ty(&self, vars: &[Ty]) -> Ty {
        match self {
            Expr::Var(k) => vars[*k],
            other => panic!("no operand: {}", other.text()),
        }
    }

    fn run(&self, ty: Ty, values: &[BigRational], vars: &[Ty]) -> Result<BigRational, Reason> {
        let zero = BigRational::from_integer(0.into());
        Ok(match self {
            Expr::Var(k) => values[*k].clone(),
            Expr::Literal(_, value) => value.clone(),
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.run(ty, values, vars)?, b.run(ty, values, vars)?);
                match *op {
                    "+" => ty.checked(a + b)?,
                    "-" => ty.checked(a - b)?,
                    "*" => ty.checked(a * b)?,
                    "/" | "%" if b == zero => return Err("division by zero"),
                    // Integers are rounded towards zero.
                    "/" if ty.fraction() == 0 && matches!(ty, Ty::Int(..)) => ty.checked((a / b).trunc())?,
                    "/" => ty.checked(a / b)?,
                    "%" => {
                        let quotient = (&a / &b).trunc();
                        // As in Rust, integers have no remainder where they have no quotient.
                        if matches!(ty, Ty::Int(..)) {
                            ty.checked(quotient.clone())?;
                        }
                        a - quotient * b
                    }
                    "min" => a.min(b),
                    _ => a.max(b),
                }
            }
            Expr::Neg(a) => ty.checked(-a.run(ty, values, vars)?)?,
            Expr::Root(a) => {
                let a = a.run(ty, values, vars)?;
                if a < zero {
                    return Err("square root of a negative number");
                }
                let raw = (a * power(2 * ty.fraction())).to_integer();
                BigRational::new(raw.sqrt(), BigInt::from(1) << ty.fraction())
            }
            Expr::Cast(to, a) => to.wrapped(&a.run(a.ty(vars), values, vars)?),
            Expr::If(a, b, then, other) => {
                let (a, b) = (a.run(a.ty(vars), values, vars)?, b.run(b.ty(vars), values, vars)?);
                if a < b { then } else { other }.run(ty, values, vars)?
            }
        })
    }
}

struct Generator<'a> {
    rng: &'a mut TestRng,
    vars: Vec<Ty>,
    /// The types that the program has.
    types: Vec<Ty>,
}

impl Generator<'_> {
    fn below(&mut self, end: u32) -> u32 {
        self.rng.next_u32() % end
    }

    fn any_type(&mut self) -> Ty {
        match self.below(16) {
            0 | 8 => Ty::Int([8, 16, 32, 64][self.below(4) as usize], self.below(2) == 0),
            1 => {
                let integer = 1 + self.below(127);
                Ty::Fixed(integer, self.below(129 - integer))
            }
            2 => Ty::Fixed(16, 16),
            3 => Ty::Fixed(32, 32),
            _ => Ty::Fixed(1 + self.below(12), self.below(13)),
        }
    }

    fn pick(&mut self) -> Ty {
        let at = self.below(3) as usize;
        self.types[at]
    }

    fn var(&mut self, want: impl Fn(Ty) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.vars.len()).filter(|&k| want(self.vars[k])).collect();
        if fitting.is_empty() { None } else { Some(fitting[self.below(fitting.len() as u32) as usize]) }
    }

    fn literal(&mut self, ty: Ty) -> Expr {
        let digits = [self.below(10), self.below(300), self.below(100_000)][self.below(3) as usize];
        let negative = ty.signed() && self.below(3) == 0;
        let number = BigInt::from(if negative { -i64::from(digits) } else { digits.into() });
        let sign = if negative { "-" } else { "" };
        let (text, value) = match ty {
            Ty::Fixed(..) => (
                format!("{sign}{}.{:03}", digits / 1000, digits % 1000),
                ty.nearest(&BigRational::new(number, 1000.into())),
            ),
            _ => (format!("{sign}{digits}"), ty.nearest(&BigRational::from_integer(number))),
        };
        match (value, ty) {
            (Some(value), _) => Expr::Literal(text, value),
            (None, Ty::Fixed(..)) => Expr::Literal("0.0".into(), BigRational::from_integer(0.into())),
            (None, _) => Expr::Literal("0".into(), BigRational::from_integer(0.into())),
        }
    }

    fn expr(&mut self, ty: Ty, depth: u32) -> Expr {
        if depth == 0 || self.below(6) == 0 {
            return match self.var(|own| own == ty) {
                Some(var) if self.below(4) > 0 => Expr::Var(var),
                _ => self.literal(ty),
            };
        }
        let depth = depth - 1;
        let boxed = |own: &mut Self| Box::new(own.expr(ty, depth));
        match self.below(12) {
            0 => match self.var(|own| own != ty) {
                Some(var) => Expr::Cast(ty, Box::new(Expr::Var(var))),
                None => self.expr(ty, depth),
            },
            1 => match self.var(|_| true) {
                Some(a) => {
                    let same = self.vars[a];
                    let b = self.var(|own| own == same).unwrap_or(a);
                    let sides = [a, b].map(|k| Box::new(Expr::Var(k)));
                    let [a, b] = sides;
                    Expr::If(a, b, boxed(self), boxed(self))
                }
                None => self.expr(ty, depth),
            },
            2 if ty.signed() => match self.var(|own| own == ty) {
                Some(var) => Expr::Neg(Box::new(Expr::Var(var))),
                None => self.expr(ty, depth),
            },
            3 if matches!(ty, Ty::Fixed(..) | Ty::Int(_, false)) => match self.var(|own| own == ty) {
                Some(var) => Expr::Root(Box::new(Expr::Var(var))),
                None => self.expr(ty, depth),
            },
            // A product of integers that is exactly what negates the least number passes, as it does in `garble_lang`.
            4..=6 if !matches!(ty, Ty::Int(_, true)) => Expr::Binary("*", boxed(self), boxed(self)),
            7 | 8 => Expr::Binary("/", boxed(self), boxed(self)),
            9 => Expr::Binary(["%", "min", "max"][self.below(3) as usize], boxed(self), boxed(self)),
            _ => Expr::Binary(["+", "-"][self.below(2) as usize], boxed(self), boxed(self)),
        }
    }
}
