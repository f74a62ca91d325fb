//! Random programs by Rust's rules: definitions, functions and inputs. What is a variable's type is often left to be inferred.

use crate::{
    dice::Dice,
    tree::{Block, Expr, Fields, INTS, Input, Int, Item, Pattern, Program, Size, Stmt, Ty, USIZE},
};

/// Runs of each program.
const RUNS: usize = 4;

/// The name of the size that a function leaves open.
pub(crate) const SIZE: &str = "M";

/// The type with a size in the place of `M`.
fn with_size(ty: &Ty, size: &Size) -> Ty {
    match ty {
        Ty::Array(element, own) => {
            let own = if own.text == SIZE { size } else { own };
            Ty::Array(Box::new(with_size(element, size)), own.clone())
        }
        Ty::List(element, most) => Ty::List(Box::new(with_size(element, size)), *most),
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| with_size(part, size)).collect()),
        other => other.clone(),
    }
}

pub(crate) struct Generator {
    pub(crate) dice: Dice,
    /// Percents of numbers that have a suffix, and of variables that are declared with their type.
    pub(crate) suffixed: usize,
    pub(crate) annotated: usize,
    /// The types of integers that the program prefers, so that values meet.
    ints: Vec<Int>,
    pub(crate) structs: Vec<(String, Vec<(String, Ty)>)>,
    pub(crate) enums: Vec<(String, Vec<(String, Fields)>)>,
    /// Constants with their types and values.
    pub(crate) constants: Vec<(String, Ty, u128)>,
    /// Constants that are neither numbers nor Booleans.
    whole: Vec<Variable>,
    pub(crate) functions: Vec<(String, Vec<Ty>, Ty)>,
    /// Functions over the size `M`.
    over: Vec<(String, Vec<Ty>, Ty)>,
    /// The value that `M` is taken to have in the function over it that is being made.
    pub(crate) open: Option<usize>,
    pub(crate) scope: Vec<Variable>,
    /// The variables before those of the pattern that is being made, whose names are all different.
    pub(crate) before: usize,
    /// Set if something around says of which type a number is; if not, large ones mostly have a suffix.
    pub(crate) decided: bool,
    /// Loops around.
    pub(crate) loops: usize,
    /// Blocks around.
    pub(crate) blocks: usize,
    names: usize,
}

#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) mutable: bool,
}

impl Program {
    pub(crate) fn random(mut dice: Dice) -> Self {
        let suffixed = dice.pick(&[0, 0, 10, 30, 60, 95]);
        let annotated = dice.pick(&[0, 20, 60]);
        let mut ints: Vec<Int> = (0..3).map(|_| dice.pick(&INTS[..10])).collect();
        ints.push(INTS[10]);
        let mut generator = Generator {
            dice,
            suffixed,
            annotated,
            ints,
            structs: Vec::new(),
            enums: Vec::new(),
            constants: Vec::new(),
            whole: Vec::new(),
            functions: Vec::new(),
            over: Vec::new(),
            open: None,
            scope: Vec::new(),
            before: 0,
            decided: true,
            loops: 0,
            blocks: 0,
            names: 0,
        };
        let mut items = generator.definitions();
        for _ in 0..generator.dice.below(3) {
            items.push(generator.function());
        }
        let (main, params) = generator.main();
        items.push(main);
        let inputs = (0..RUNS).map(|_| params.iter().map(|ty| generator.input(ty)).collect()).collect();
        Program { items, inputs }
    }
}

impl Generator {
    fn definitions(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        for k in 0..self.dice.below(3) {
            items.push(self.constant(&format!("K{k}")));
        }
        if self.dice.chance(50) {
            let count = self.dice.below(5);
            let text = if self.dice.chance(50) { count.to_string() } else { format!("{count}usize") };
            items.push(Item::Const("N".into(), USIZE, Expr::Literal(text)));
            self.constants.push(("N".into(), USIZE, count as u128));
        }
        for k in 0..self.dice.below(3) {
            let name = format!("S{k}");
            let mut fields: Vec<(String, Ty)> = Vec::new();
            for field in ["b", "a", "c"].into_iter().take(1 + self.dice.below(3)) {
                let ty = self.ty(1);
                fields.push((field.into(), ty));
            }
            items.push(Item::Struct(name.clone(), fields.clone()));
            self.structs.push((name, fields));
        }
        if self.dice.chance(30) {
            let mut variants = Vec::new();
            for variant in ["B", "A", "C"].into_iter().take(1 + self.dice.below(3)) {
                let fields = match self.dice.below(3) {
                    0 => Fields::Unit,
                    1 => Fields::Tuple((0..=self.dice.below(2)).map(|_| self.ty(0)).collect()),
                    _ => Fields::Named(vec![("y".into(), self.ty(0)), ("x".into(), self.ty(0))]),
                };
                variants.push((variant.into(), fields));
            }
            items.push(Item::Enum("E".into(), variants.clone()));
            self.enums.push(("E".into(), variants));
        }
        for k in 0..self.dice.below(3) {
            items.extend(self.whole_constant(&format!("W{k}")));
        }
        items
    }

    /// A constant that is neither a number nor a Boolean, of literals and constants.
    fn whole_constant(&mut self, name: &str) -> Option<Item> {
        let ty = self.ty(2);
        if matches!(ty, Ty::Bool | Ty::Int(_) | Ty::Float(_)) {
            return None;
        }
        let value = self.made(&ty, 0);
        self.whole.push(Variable { name: name.into(), ty: ty.clone(), mutable: false });
        Some(Item::Const(name.into(), ty, value))
    }

    fn constant(&mut self, name: &str) -> Item {
        let int = self.int();
        let (value, text) = self.number(int);
        let party = |value: &Expr| crate::expressions::digits(value).map(|digits| (digits, format!("PARTY_0::{name}")));
        let ty = Ty::Int(int);
        let before: Vec<String> =
            self.constants.iter().filter(|(_, own, _)| *own == ty).map(|(name, ..)| name.clone()).collect();
        let value_of = |name: &String, all: &[(String, Ty, u128)]| all.iter().find(|c| c.0 == *name).map_or(0, |c| c.2);
        // A sum that its type does not have is refused, so that its value does not matter.
        let step = |value: u128, sign: &str| if sign == "+" { value.wrapping_add(1) } else { value.wrapping_sub(1) };
        let (value, text) = match self.dice.below(10) {
            0 | 1 => match party(&text) {
                Some((digits, given)) => (value, Expr::Given(given, digits)),
                None => (value, text),
            },
            2 => match party(&text) {
                Some((digits, given)) => {
                    let sign = self.dice.pick(&["+", "-"]);
                    let given = Expr::Given(given, digits);
                    (step(value, sign), Expr::Binary(sign, Box::new(given), Box::new(self.literal(int, 1))))
                }
                None => (value, text),
            },
            3 if !before.is_empty() => {
                let other = self.dice.pick(&before);
                let sign = self.dice.pick(&["+", "-"]);
                let one = Box::new(self.literal(int, 1));
                (step(value_of(&other, &self.constants), sign), Expr::Binary(sign, Box::new(Expr::Name(other)), one))
            }
            4 => {
                let (other, more) = self.number(int);
                (value.wrapping_add(other), Expr::Binary("+", Box::new(text), Box::new(more)))
            }
            7 => {
                let (other, more) = self.number(int);
                (value.wrapping_mul(other), Expr::Binary("*", Box::new(text), Box::new(more)))
            }
            8 if !int.signed => {
                let by = self.dice.below(4) as u128;
                let op = self.dice.pick(&["/", "%"]);
                let quotient = if op == "/" { value.checked_div(by) } else { value.checked_rem(by) };
                (quotient.unwrap_or(0), Expr::Binary(op, Box::new(text), Box::new(self.literal(int, by))))
            }
            // That of a usize has other bits.
            5 if int.name != "usize" => {
                let value = !value & u128::MAX >> (128 - int.bits);
                let text = party(&text).map_or(text, |(digits, given)| Expr::Given(given, digits));
                (value, Expr::Unary('!', Box::new(text)))
            }
            6 if int.signed => {
                let given = party(&text).map(|(digits, given)| Expr::Given(given, digits));
                (value.wrapping_neg(), Expr::Unary('-', Box::new(given.unwrap_or(text))))
            }
            _ => (value, text),
        };
        self.constants.push((name.into(), ty.clone(), value));
        Item::Const(name.into(), ty, text)
    }

    fn function(&mut self) -> Item {
        let name = format!("f{}", self.functions.len());
        let before = self.functions.len();
        self.open = self.dice.chance(40).then(|| 1 + self.dice.below(3));
        let mut params: Vec<Ty> = (0..1 + self.dice.below(3)).map(|_| self.whole_type(1)).collect();
        if let Some(count) = self.open {
            // What the size is follows from an argument.
            let element = Box::new(self.scalar());
            params.push(Ty::Array(element, Size { text: SIZE.into(), count }));
            let own = Size { text: SIZE.into(), count };
            let over = self.over.iter().map(|(name, params, result)| {
                (name.clone(), params.iter().map(|ty| with_size(ty, &own)).collect(), with_size(result, &own))
            });
            self.functions.extend(over);
        }
        let result = self.ty(1);
        let patterns = self.params(&params);
        let body = self.body(2, Some(&result));
        self.functions.truncate(before);
        let sizes = match self.open.take() {
            None => {
                self.functions.push((name.clone(), params.clone(), result.clone()));
                Vec::new()
            }
            Some(count) => {
                self.over.push((name.clone(), params.clone(), result.clone()));
                for count in [count, count + 1] {
                    let size = Size { text: count.to_string(), count };
                    let stated = if self.dice.chance(30) { format!("{name}::<{count}>") } else { name.clone() };
                    let params = params.iter().map(|ty| with_size(ty, &size)).collect();
                    self.functions.push((stated, params, with_size(&result, &size)));
                }
                vec![SIZE.into()]
            }
        };
        Item::Fn { name, sizes, params: patterns.into_iter().zip(params).collect(), result, body }
    }

    fn params(&mut self, types: &[Ty]) -> Vec<Pattern> {
        self.scope.clear();
        self.before = 0;
        let mut patterns = Vec::new();
        for ty in types {
            let mutable = self.dice.chance(30);
            let name = self.declare(ty.clone(), mutable);
            patterns.push(Pattern::Name(name, mutable));
        }
        patterns
    }

    /// `main`, whose result is of variables that are there at its end, and the types of its parameters.
    fn main(&mut self) -> (Item, Vec<Ty>) {
        let params: Vec<Ty> = (0..2).map(|_| self.whole_type(1)).collect();
        let patterns = self.params(&params);
        let mut body = Block::default();
        for (name, params, result) in self.functions.clone() {
            let arguments = params.iter().map(|ty| self.value_when(true, ty, 1)).collect();
            self.before = self.scope.len();
            let own = self.declare(result, false);
            body.body.push(Stmt::Let(Pattern::Name(own, false), None, Expr::Call(name, arguments)));
        }
        let count = 3 + self.dice.below(6);
        for _ in 0..count {
            let stmt = self.statement(2);
            body.body.push(stmt);
        }
        let mut results: Vec<Variable> = Vec::new();
        for variable in self.visible().into_iter().rev() {
            if results.len() < 5 && self.dice.chance(85) {
                results.push(variable);
            }
        }
        let values = results.iter().map(|variable| Expr::Name(variable.name.clone())).collect();
        let result = Ty::Tuple(results.into_iter().map(|variable| variable.ty).collect());
        body.value = Some(Box::new(Expr::Tuple(values)));
        let named = patterns.into_iter().zip(params.clone()).collect();
        let item = Item::Fn { name: "main".into(), sizes: Vec::new(), params: named, result, body };
        (item, params)
    }

    /// Statements, with a value at the end if one is wanted.
    pub(crate) fn body(&mut self, depth: usize, ty: Option<&Ty>) -> Block {
        let outer = self.scope.len();
        self.blocks += 1;
        let count = if ty.is_some() { self.dice.below(3) } else { 1 + self.dice.below(3) };
        let body = (0..count).map(|_| self.statement(depth)).collect();
        let value = ty.map(|ty| Box::new(self.value(ty, depth)));
        self.blocks -= 1;
        self.scope.truncate(outer);
        Block { body, value }
    }

    /// A name for a variable: a new one, or one that is there already.
    pub(crate) fn declare(&mut self, ty: Ty, mutable: bool) -> String {
        let (before, own) = self.scope.split_at(self.before.min(self.scope.len()));
        let used = (!before.is_empty()).then(|| before[self.dice.below(before.len())].name.clone());
        let used = used.filter(|name| self.dice.chance(20) && own.iter().all(|variable| variable.name != *name));
        let name = used.unwrap_or_else(|| {
            self.names += 1;
            format!("v{}", self.names)
        });
        self.scope.push(Variable { name: name.clone(), ty, mutable });
        name
    }

    /// The variables that can be seen.
    pub(crate) fn visible(&self) -> Vec<Variable> {
        let hidden = |at: usize| self.scope[at + 1..].iter().any(|later| later.name == self.scope[at].name);
        let variables = (0..self.scope.len()).filter(|&at| !hidden(at)).map(|at| self.scope[at].clone());
        variables.chain(self.whole.iter().cloned()).collect()
    }

    pub(crate) fn int(&mut self) -> Int {
        let ints = self.ints.clone();
        if self.dice.chance(90) { self.dice.pick(&ints) } else { self.dice.pick(&INTS) }
    }

    pub(crate) fn scalar(&mut self) -> Ty {
        match self.dice.below(100) {
            0..15 => Ty::Bool,
            15..22 => Ty::Float(self.dice.pick(&[32, 64, 64])),
            _ => Ty::Int(self.int()),
        }
    }

    /// The type of a variable, which may be a list.
    pub(crate) fn whole_type(&mut self, depth: usize) -> Ty {
        match self.dice.chance(6) {
            true => Ty::List(Box::new(self.scalar()), 1 + self.dice.below(4)),
            false => self.ty(depth),
        }
    }

    /// A type that is so deep at most.
    pub(crate) fn ty(&mut self, depth: usize) -> Ty {
        if depth == 0 {
            return self.scalar();
        }
        match self.dice.below(20) {
            0 | 1 => Ty::Tuple((0..1 + self.dice.below(3)).map(|_| self.ty(depth - 1)).collect()),
            2..=4 => {
                let element = self.ty(depth - 1);
                Ty::Array(Box::new(element), self.size())
            }
            5 if !self.structs.is_empty() => {
                let structs = self.structs.clone();
                Ty::Named(self.dice.pick(&structs).0)
            }
            6 if !self.enums.is_empty() => Ty::Named("E".into()),
            _ => self.scalar(),
        }
    }

    pub(crate) fn size(&mut self) -> Size {
        if let Some(count) = self.open.filter(|_| self.dice.chance(60)) {
            return Size { text: SIZE.into(), count };
        }
        let constant = self.constants.iter().find(|(name, _, count)| name == "N" && *count > 0).map(|c| c.2 as usize);
        match (constant, self.dice.below(6)) {
            (Some(count), 0 | 1) => Size { text: "N".into(), count },
            (Some(count), 2) => Size { text: "const { N + 1 }".into(), count: count + 1 },
            (Some(count), 3) => Size { text: "3 * N - 2 * N % 4".into(), count: 3 * count - 2 * count % 4 },
            _ => {
                let count = 1 + self.dice.below(4);
                let text = if self.dice.chance(30) { format!("{count}usize") } else { count.to_string() };
                Size { text, count }
            }
        }
    }

    fn input(&mut self, ty: &Ty) -> Input {
        match ty {
            Ty::Bool => Input::Bool(self.dice.chance(50)),
            Ty::Int(int) if int.name == "usize" => Input::Int(*int, self.dice.below(6) as u128),
            Ty::Int(int) => {
                let mask = u128::MAX >> (128 - int.bits);
                let bits = match self.dice.below(6) {
                    0 => int.most(),
                    1 => int.least().wrapping_neg(),
                    2 => self.dice.wide(),
                    3 => (self.dice.below(4) as u128).wrapping_neg(),
                    _ => self.dice.below(12) as u128,
                };
                Input::Int(*int, bits & mask)
            }
            Ty::Float(32) => Input::Float(32, (self.real() as f32).to_bits().into()),
            Ty::Float(bits) => Input::Float(*bits, self.real().to_bits()),
            Ty::Tuple(parts) => Input::Tuple(parts.iter().map(|ty| self.input(ty)).collect()),
            Ty::Array(element, size) => Input::Array((0..size.count).map(|_| self.input(element)).collect()),
            Ty::List(element, most) => {
                Input::List((0..self.dice.below(most + 1)).map(|_| self.input(element)).collect())
            }
            Ty::Named(name) => match self.structs.clone().into_iter().find(|(own, _)| own == name) {
                Some((_, fields)) => {
                    Input::Struct(name.clone(), fields.into_iter().map(|(f, ty)| (f, self.input(&ty))).collect())
                }
                None => {
                    let variants = self.enums[0].1.clone();
                    let at = self.dice.below(variants.len());
                    let (variant, fields) = variants[at].clone();
                    let fields = match fields {
                        Fields::Unit => Vec::new(),
                        Fields::Tuple(types) => types.iter().map(|ty| (None, self.input(ty))).collect(),
                        Fields::Named(fields) => fields.into_iter().map(|(f, ty)| (Some(f), self.input(&ty))).collect(),
                    };
                    Input::Enum(name.clone(), at, variant, fields)
                }
            },
        }
    }
}
