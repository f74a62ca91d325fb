//! Type inference, as in Rust: a literal without a type has an inference variable, and so do the elements of `[]`. Two
//! types that must be equal are unified, anywhere in a function. An integer whose type nothing decides is an i32.
//!
//! A variable may stand for a type with other variables in it, so a type can be much larger than anything in the source. Each
//! operation counts the parts of types that it visits and gives up beyond a limit; the function is then refused.

use std::cell::Cell;

use garblet_circuit::Float;

use super::{Checked, Checker};
use crate::{
    front::ast::{Int, Literal, Open, Type},
    number::Decimal,
    source_error::SourceError,
    tree::Span,
};

/// The inference variables of a function, and the checks to make once they are known.
#[derive(Default)]
pub(super) struct Inference {
    /// The type that each variable is unified with, which may be another variable.
    known: Vec<Option<Type>>,
    /// The parts of types that an operation has visited so far.
    visited: Cell<u64>,
    /// Set once an operation has given up.
    gave_up: Cell<bool>,
    pub(super) literals: Vec<(Literal, Type, Span)>,
    pub(super) decimals: Vec<(Decimal, Type, Span)>,
    /// Operands of `-`.
    pub(super) signed: Vec<(Type, Span)>,
    /// Operands of `%`.
    pub(super) remainders: Vec<(Type, Span)>,
    /// Operands of `as` of a type that is not decided yet, with the type that they are converted to.
    pub(super) casts: Vec<(Type, Type, Span)>,
    /// Operands of `sqrt`.
    pub(super) unsigned: Vec<(Type, Span)>,
}

/// The most parts of types that an operation visits: several times those that a type can have without variables.
const MAX_VISITED: u64 = 1 << 14;

impl Inference {
    /// Begins an operation.
    fn begin(&self) -> &Self {
        self.visited.set(0);
        self
    }

    /// Visits a part of a type, unless there were too many.
    fn visit(&self) -> bool {
        self.visited.set(self.visited.get() + 1);
        let goes_on = self.visited.get() <= MAX_VISITED;
        self.gave_up.set(self.gave_up.get() || !goes_on);
        goes_on
    }

    /// A new variable.
    fn open(&mut self, kind: Open) -> Type {
        self.known.push(None);
        Type::Open(kind, self.known.len() as u32 - 1)
    }

    /// The type, or what is known of it if it is a variable; parts of it may be variables.
    fn shallow<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        while let Type::Open(_, variable) = ty
            && let Some(known) = &self.known[*variable as usize]
        {
            ty = known;
        }
        ty
    }

    /// Makes two types equal, if they can be.
    fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.shallow(a).clone(), self.shallow(b).clone());
        match (&a, &b) {
            _ if !self.visit() => false,
            (Type::Open(_, x), Type::Open(_, y)) if x == y => true,
            (Type::Open(Open::Any, x), other) | (other, Type::Open(Open::Any, x)) => {
                let is_finite = !self.contains(other, *x);
                if is_finite {
                    self.known[*x as usize] = Some(other.clone());
                }
                is_finite
            }
            (Type::Open(Open::Integer, x), Type::Int(_) | Type::Open(Open::Integer, _))
            | (Type::Open(Open::Decimal, x), Type::Fixed(..) | Type::Float(_) | Type::Open(Open::Decimal, _)) => {
                self.known[*x as usize] = Some(b);
                true
            }
            (Type::Int(_), Type::Open(Open::Integer, y))
            | (Type::Fixed(..) | Type::Float(_), Type::Open(Open::Decimal, y)) => {
                self.known[*y as usize] = Some(a);
                true
            }
            (Type::Array(a, n), Type::Array(b, m)) | (Type::List(a, n), Type::List(b, m)) => n == m && self.unify(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, b)),
            _ => a == b,
        }
    }
}

impl Inference {
    /// Returns whether a type contains a variable.
    fn contains(&self, ty: &Type, variable: u32) -> bool {
        match self.shallow(ty) {
            _ if !self.visit() => true,
            Type::Open(_, other) => *other == variable,
            Type::Array(element, _) | Type::List(element, _) => self.contains(element, variable),
            Type::Tuple(fields) => fields.iter().any(|field| self.contains(field, variable)),
            _ => false,
        }
    }

    /// Returns whether a type contains a list, which an array can become.
    fn contains_list(&self, ty: &Type) -> bool {
        match self.shallow(ty) {
            _ if !self.visit() => false,
            Type::List(..) => true,
            Type::Array(element, _) => self.contains_list(element),
            Type::Tuple(fields) => fields.iter().any(|field| self.contains_list(field)),
            _ => false,
        }
    }

    /// The type with what is known of its variables; `otherwise` gives the type of an unknown variable.
    fn resolved(&self, ty: &Type, otherwise: &dyn Fn(&Type) -> Type) -> Type {
        let part = |part: &Type| self.resolved(part, otherwise);
        match self.shallow(ty) {
            _ if !self.visit() => Type::Unknown,
            Type::Array(element, size) => Type::Array(part(element).into(), size.clone()),
            Type::List(element, size) => Type::List(part(element).into(), size.clone()),
            Type::Tuple(fields) => Type::Tuple(fields.iter().map(part).collect()),
            open @ Type::Open(..) => otherwise(open),
            other => other.clone(),
        }
    }
}

impl Checker<'_> {
    /// The type of an integer, whose range is checked later.
    pub(super) fn literal(&mut self, literal: Literal, span: Span) -> Type {
        let ty = literal.suffix.map_or_else(|| self.open.open(Open::Integer), Type::Int);
        self.open.literals.push((literal, ty.clone(), span));
        ty
    }

    /// The type of a decimal number.
    pub(super) fn decimal(&mut self, decimal: Decimal, span: Span) -> Type {
        let ty = decimal.suffix.map_or_else(|| self.open.open(Open::Decimal), Type::Float);
        self.open.decimals.push((decimal, ty.clone(), span));
        ty
    }

    /// Any type, which is not known yet.
    pub(super) fn something(&mut self) -> Type {
        self.open.open(Open::Any)
    }

    /// A type of integers that is not known yet.
    pub(super) fn some_integer(&mut self) -> Type {
        self.open.open(Open::Integer)
    }

    /// The type as far as its outermost part is known.
    pub(super) fn shallow(&self, ty: &Type) -> Type {
        self.open.shallow(ty).clone()
    }

    /// The type as far as it is known.
    pub(super) fn so_far(&self, ty: &Type) -> Type {
        self.open.begin().resolved(ty, &Type::clone)
    }

    /// The final type, for which an undecided integer becomes an i32, and another number an f64.
    pub(super) fn settled(&self, ty: &Type) -> Type {
        self.open.begin().resolved(ty, &|open| match open {
            Type::Open(Open::Integer, _) => Type::Int(Int::Signed(32)),
            Type::Open(Open::Decimal, _) => Type::Float(Float::F64),
            _ => Type::Unknown,
        })
    }

    /// Returns whether a type contains a list, which an array can become.
    pub(super) fn contains_list(&self, ty: &Type) -> bool {
        self.open.begin().contains_list(ty)
    }

    /// Refuses a function whose types are too large.
    pub(super) fn bound_types(&mut self, span: Span) -> Checked {
        if !self.open.gave_up.get() {
            return Ok(());
        }
        let message = format!("a type in this function is too large: expected at most {MAX_VISITED} parts, got more");
        self.refuse(SourceError::new(span, message).hint("is an empty array repeatedly put into itself?"))
    }

    /// Makes two types equal, if they can be.
    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        self.open.begin();
        self.open.unify(a, b)
    }
}
