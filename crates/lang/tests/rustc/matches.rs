//! Random matches and patterns.

use crate::{
    generator::Generator,
    tree::{Expr, Fields, Int, Pattern, Ty},
};

impl Generator {
    /// A match whose arms have a type.
    pub(crate) fn matching(&mut self, ty: &Ty, depth: usize) -> Expr {
        let constant = self.constants.iter().map(|(_, ty, _)| ty.clone()).next();
        let of = match self.dice.below(10) {
            0 | 1 if constant.is_some() => constant.unwrap(),
            0..=4 => Ty::Int(self.int()),
            5 => Ty::Bool,
            6 | 7 => Ty::Tuple((0..1 + self.dice.below(2)).map(|_| self.scalar()).collect()),
            _ if !self.enums.is_empty() => Ty::Named("E".into()),
            _ if !self.structs.is_empty() => Ty::Named(self.structs[0].0.clone()),
            _ => Ty::Int(self.int()),
        };
        let value = self.value_when(false, &of, depth);
        let mut arms = Vec::new();
        let mut arm = |generator: &mut Self, pattern: &mut dyn FnMut(&mut Self) -> Pattern| {
            let outer = generator.scope.len();
            generator.before = outer;
            let pattern = pattern(generator);
            let value = generator.value(ty, depth);
            generator.scope.truncate(outer);
            arms.push((pattern, value));
        };
        match &of {
            Ty::Named(name) if name == "E" => {
                for (variant, fields) in self.enums[0].1.clone() {
                    arm(self, &mut |generator| generator.variant_pattern(&variant, &fields));
                }
                if self.dice.chance(15) {
                    arm(self, &mut |_| Pattern::Any);
                }
            }
            Ty::Bool if self.dice.chance(60) => {
                for value in ["false", "true"] {
                    arm(self, &mut |_| Pattern::Literal(value.into()));
                }
            }
            _ => {
                for _ in 0..1 + self.dice.below(3) {
                    arm(self, &mut |generator| generator.pattern(&of, true));
                }
                arm(self, &mut |generator| generator.pattern(&of, false));
            }
        }
        Expr::Match(Box::new(value), arms)
    }

    fn variant_pattern(&mut self, variant: &str, fields: &Fields) -> Pattern {
        let name = format!("E::{variant}");
        match fields {
            Fields::Unit => Pattern::Variant(name, Vec::new()),
            Fields::Tuple(types) => Pattern::Variant(name, types.iter().map(|ty| self.pattern(ty, false)).collect()),
            Fields::Named(fields) => self.fields_pattern(name, fields),
        }
    }

    fn fields_pattern(&mut self, name: String, fields: &[(String, Ty)]) -> Pattern {
        let rest = self.dice.chance(30);
        let kept: Vec<_> = fields.iter().filter(|_| !rest || self.dice.chance(50)).cloned().collect();
        let fields = kept.into_iter().map(|(field, ty)| (field, self.pattern(&ty, false))).collect();
        Pattern::Struct(name, fields, rest)
    }

    /// A pattern of a value, which may leave values out if it is `partial`.
    pub(crate) fn pattern(&mut self, ty: &Ty, partial: bool) -> Pattern {
        match ty {
            Ty::Tuple(parts) => Pattern::Tuple(parts.iter().map(|ty| self.pattern(ty, partial)).collect()),
            Ty::Named(name) if self.dice.chance(70) => match self.structs.iter().find(|(own, _)| own == name) {
                Some((_, fields)) => self.fields_pattern(name.clone(), &fields.clone()),
                None => Pattern::Any,
            },
            Ty::Bool if partial => Pattern::Literal(self.dice.chance(50).to_string()),
            Ty::Int(int) if partial => self.number_pattern(*int),
            _ if self.dice.chance(25) => Pattern::Any,
            _ => Pattern::Name(self.declare(ty.clone(), false), false),
        }
    }

    fn number_pattern(&mut self, int: Int) -> Pattern {
        let constants: Vec<String> =
            self.constants.iter().filter(|(_, own, _)| *own == Ty::Int(int)).map(|(name, ..)| name.clone()).collect();
        if !constants.is_empty() && self.dice.chance(40) {
            return Pattern::Literal(self.dice.pick(&constants));
        }
        let text = |value: Expr| match value {
            Expr::Unary(_, inner) => match *inner {
                Expr::Literal(text) => format!("-{text}"),
                _ => unreachable!(),
            },
            Expr::Literal(text) => text,
            _ => unreachable!(),
        };
        let (_, first) = self.number(int);
        if self.dice.chance(60) {
            return Pattern::Literal(text(first));
        }
        let low = self.dice.below(6) as u128;
        let high = low + self.dice.below(100) as u128 + u128::from(self.dice.chance(95));
        let low = match int.signed && self.dice.chance(30) {
            true => first,
            false => self.literal(int, low),
        };
        let high = self.literal(int, high);
        Pattern::Range(text(low), self.dice.pick(&["..=", ".."]), text(high))
    }
}
