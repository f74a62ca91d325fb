//! The shapes of types before they are checked: what decides how long the type checker will take.

use std::{collections::HashMap, rc::Rc};

use super::ast::{Fields, Program, Type, field_of};

/// A type, as far as it is known without checking.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Unknown,
    Scalar,
    /// With the number of its parts.
    Array(Rc<Shape>, u64),
    Tuple(Rc<[Shape]>, u64),
    /// A struct or an enum.
    Named(Rc<str>),
}

impl Shape {
    pub(super) fn unit() -> Self {
        Shape::Tuple(Vec::new().into(), 1)
    }

    /// The shape, or the other one if it is unknown.
    pub(super) fn or(self, other: Shape) -> Self {
        if let Shape::Unknown = self { other } else { self }
    }

    pub(super) fn element(&self) -> Self {
        if let Shape::Array(element, _) = self { (**element).clone() } else { Shape::Unknown }
    }

    pub(super) fn part(&self, index: usize) -> Self {
        match self {
            Shape::Tuple(parts, _) => parts.get(index).cloned().unwrap_or(Shape::Unknown),
            _ => Shape::Unknown,
        }
    }
}

/// The definitions of a program, and the number of their parts.
pub(super) struct Shapes<'a> {
    pub(super) program: &'a Program,
    /// The parts of structs and enums. None is recursive.
    pub(super) parts: HashMap<&'a str, u64>,
}

impl Shapes<'_> {
    /// The number of parts of a value, which saturates. The elements of an array count as one.
    pub(super) fn size(&self, shape: &Shape) -> u64 {
        match shape {
            Shape::Array(_, size) | Shape::Tuple(_, size) => *size,
            Shape::Named(name) => self.parts.get(&**name).copied().unwrap_or(1),
            _ => 1,
        }
    }

    pub(super) fn array(&self, element: Shape) -> Shape {
        let size = self.size(&element).saturating_add(1);
        Shape::Array(element.into(), size)
    }

    pub(super) fn tuple(&self, parts: Vec<Shape>) -> Shape {
        let size = parts.iter().fold(1u64, |sum, part| sum.saturating_add(self.size(part)));
        Shape::Tuple(parts.into(), size)
    }

    /// A tuple without its first part.
    pub(super) fn kept(&self, row: &Shape) -> Shape {
        match row {
            Shape::Tuple(parts, _) if parts.len() == 2 => parts[1].clone(),
            Shape::Tuple(parts, _) if parts.len() > 2 => self.tuple(parts[1..].to_vec()),
            _ => Shape::Unknown,
        }
    }

    pub(super) fn of(&self, ty: &Type) -> Shape {
        match ty {
            Type::Bool | Type::Int(_) | Type::Fixed(..) | Type::Float(_) => Shape::Scalar,
            Type::Array(element, _) | Type::List(element, _) => self.array(self.of(element)),
            Type::Tuple(fields) => self.tuple(fields.iter().map(|field| self.of(field)).collect()),
            Type::Named(name) => Shape::Named(name.text.as_str().into()),
            Type::Unknown | Type::Open(..) => Shape::Unknown,
        }
    }

    pub(super) fn field(&self, whole: &Shape, field: &str) -> Shape {
        let Shape::Named(name) = whole else { return Shape::Unknown };
        let definition = self.program.structs.get(&**name);
        let field = definition.and_then(|definition| field_of(&definition.fields, field));
        field.map_or(Shape::Unknown, |ty| self.of(ty))
    }

    /// The types of the fields of a variant.
    pub(super) fn variant(&self, name: &str, variant: &str) -> Vec<&Type> {
        let fields = self.program.enums.get(name).and_then(|definition| definition.variant(variant));
        fields.map(Fields::all).unwrap_or_default()
    }
}
