//! Random statements.

use crate::{
    generator::{Generator, SIZE},
    tree::{Expr, Int, Pattern, Stmt, Ty, USIZE},
};

impl Generator {
    pub(crate) fn statement(&mut self, depth: usize) -> Stmt {
        let inner = depth.saturating_sub(1);
        match self.dice.below(100) {
            0..=34 => self.binding(depth),
            35..=63 => match self.assignment(depth) {
                Some(assign) => assign,
                None => self.binding(depth),
            },
            64..=72 if depth > 0 => {
                let condition = self.value(&Ty::Bool, depth);
                let then = self.body(inner, None);
                let other = match self.dice.below(3) {
                    0 => None,
                    1 => Some(Box::new(Expr::Block(self.body(inner, None)))),
                    _ => {
                        let condition = self.value(&Ty::Bool, inner);
                        Some(Box::new(Expr::If(Box::new(condition), self.body(inner, None), None)))
                    }
                };
                Stmt::Expr(Expr::If(Box::new(condition), then, other), false)
            }
            73..=84 if depth > 0 && self.loops < 2 => self.loop_over(inner),
            85..=88 if depth > 0 => {
                let matching = self.matching(&Ty::Tuple(Vec::new()), inner);
                Stmt::Expr(matching, false)
            }
            89..=91 if depth > 0 => Stmt::Expr(Expr::Block(self.body(inner, None)), false),
            92..=95 => {
                let ty = self.ty(1);
                Stmt::Expr(self.value_when(false, &ty, depth), true)
            }
            _ => self.binding(depth),
        }
    }

    fn binding(&mut self, depth: usize) -> Stmt {
        let ty = self.whole_type(2);
        // What is written as an array would be one.
        let is_list = matches!(ty, Ty::List(..));
        let stated = (is_list || self.dice.chance(self.annotated)).then(|| ty.clone());
        // The result is of the variables of `main`.
        let value = self.value_when(stated.is_some() || self.blocks == 0, &ty, depth);
        self.before = self.scope.len();
        let pattern = match &ty {
            Ty::Tuple(_) | Ty::Named(_) if self.dice.chance(40) => self.pattern(&ty, false),
            _ => {
                let mutable = self.dice.chance(60);
                Pattern::Name(self.declare(ty, mutable), mutable)
            }
        };
        Stmt::Let(pattern, stated, value)
    }

    fn loop_over(&mut self, depth: usize) -> Stmt {
        let outer = self.scope.len();
        let (over, ty) = match self.dice.below(10) {
            0..=6 => {
                let ints = [self.int(), self.int()];
                // A loop over numbers with a sign is none of the function language.
                let int = ints.into_iter().find(|int| !int.signed || self.dice.chance(10));
                let Ty::Int(size) = USIZE else { unreachable!() };
                let int = int.unwrap_or(size);
                (self.range(int), Ty::Int(int))
            }
            _ => {
                let element = self.ty(1);
                let size = self.size();
                let is_many = |ty: &Ty| matches!(ty, Ty::Array(..) | Ty::List(..));
                let arrays: Vec<_> = self.visible().into_iter().filter(|v| is_many(&v.ty)).collect();
                match arrays.is_empty() || self.dice.chance(30) {
                    true => (self.value(&Ty::Array(Box::new(element.clone()), size), depth), element),
                    false => {
                        let variable = self.dice.pick(&arrays);
                        let (Ty::Array(element, _) | Ty::List(element, _)) = variable.ty else { unreachable!() };
                        (Expr::Name(variable.name), *element)
                    }
                }
            }
        };
        self.before = self.scope.len();
        let pattern = self.pattern(&ty, false);
        self.loops += 1;
        let body = self.body(depth, None);
        self.loops -= 1;
        self.scope.truncate(outer);
        Stmt::For(pattern, over, body)
    }

    fn range(&mut self, int: Int) -> Expr {
        let mut constants: Vec<(String, u128)> = self
            .constants
            .iter()
            .filter(|(_, own, value)| *own == Ty::Int(int) && *value <= 5)
            .map(|(name, _, value)| (name.clone(), *value))
            .collect();
        let open = self.open.filter(|_| Ty::Int(int) == USIZE);
        constants.extend(open.map(|count| (SIZE.into(), count as u128)));
        let low = self.dice.pick(&[0, 0, 0, 1, 2]);
        let high = self.dice.below(5) as u128;
        let from = self.literal(int, low);
        let end = match !constants.is_empty() && self.dice.chance(50) {
            true => {
                let (name, value) = self.dice.pick(&constants);
                let name = Expr::Name(name);
                let (op, by) = match self.dice.below(8) {
                    0 => ("+", 1),
                    1 if value > 0 => ("-", 1),
                    2 => ("*", 2),
                    3 => ("/", 2),
                    4 => ("%", 2),
                    _ => return self.range_to(from, name),
                };
                Expr::Binary(op, Box::new(name), Box::new(self.literal(int, by)))
            }
            false => self.literal(int, high),
        };
        self.range_to(from, end)
    }

    fn range_to(&mut self, from: Expr, end: Expr) -> Expr {
        Expr::Range(Box::new(from), self.dice.pick(&["..", "..", "..", "..="]), Box::new(end))
    }

    /// A place that can be assigned to, and its type.
    pub(crate) fn place(&mut self, depth: usize) -> Option<(Expr, Ty)> {
        let mut places = Vec::new();
        for variable in self.visible().into_iter().filter(|variable| variable.mutable) {
            places.push((Expr::Name(variable.name.clone()), variable.ty.clone()));
            places.extend(self.parts_of(&variable));
        }
        if places.is_empty() {
            return None;
        }
        let (place, ty) = self.dice.pick(&places);
        Some((self.with_index(place, depth), ty))
    }

    /// An assignment, perhaps with an operator.
    pub(crate) fn assignment(&mut self, depth: usize) -> Option<Stmt> {
        let (place, ty) = self.place(depth)?;
        let outer = std::mem::replace(&mut self.decided, true);
        if let Ty::List(element, _) = &ty
            && self.dice.chance(80)
        {
            let value = self.value(element, depth);
            self.decided = outer;
            return Some(Stmt::Push(place, value));
        }
        let (op, value) = match (&ty, self.dice.below(10)) {
            (Ty::Int(_), 0..=2) => (self.dice.pick(&["&=", "|=", "^="]), self.value(&ty, depth)),
            (Ty::Int(int), 3) if !int.signed || self.dice.chance(50) => {
                let by = 1 + self.dice.below(4) as u128;
                (self.dice.pick(&["/=", "%="]), self.literal(*int, by))
            }
            (Ty::Int(int), 4) if int.name != "usize" => {
                let amount = self.int();
                (self.dice.pick(&["<<=", ">>="]), self.small(amount, 7))
            }
            (Ty::Int(_), 5) => (self.dice.pick(&["+=", "-="]), self.value(&ty, depth)),
            (Ty::Int(int), 6) => {
                let value = self.mask(*int);
                let masked = Expr::Binary("&", Box::new(self.value(&ty, depth)), Box::new(value));
                (self.dice.pick(&["+=", "-="]), masked)
            }
            (Ty::Float(_), 0 | 1) => (self.dice.pick(&["+=", "-=", "*=", "/="]), self.value(&ty, depth)),
            (Ty::Bool, 0 | 1) => (self.dice.pick(&["&=", "|=", "^="]), self.value(&ty, depth)),
            _ => ("=", self.value(&ty, depth)),
        };
        self.decided = outer;
        Some(Stmt::Assign(place, op, value))
    }
}
