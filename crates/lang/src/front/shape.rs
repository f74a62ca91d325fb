//! The shapes of types before these are checked: as much as decides how long the type checker will take.

use std::{collections::HashMap, rc::Rc};

use garble_lang::{
    UntypedPattern, UntypedProgram,
    ast::{PatternEnum, Type, Variant},
};

/// A type, as far as it can be told without checking.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Unknown,
    Bool,
    Unsigned,
    Signed,
    /// And how many parts there are.
    Array(Rc<Shape>, u64),
    Tuple(Rc<[Shape]>, u64),
    /// A struct or an enum.
    Named(Rc<str>),
}

impl Shape {
    pub(super) fn unit() -> Self {
        Shape::Tuple(Vec::new().into(), 1)
    }

    /// The shape, or the other one if nothing is known of it.
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

/// The definitions of a program, and how many parts they have.
pub(super) struct Shapes<'a> {
    pub(super) program: &'a UntypedProgram,
    /// Parts of structs and enums; none are recursive.
    pub(super) parts: HashMap<&'a str, u64>,
}

impl Shapes<'_> {
    /// The number of parts that a value has, elements of an array counted once; saturates.
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

    pub(super) fn of(&self, ty: &Type) -> Shape {
        match ty {
            Type::Bool => Shape::Bool,
            Type::Unsigned(_) => Shape::Unsigned,
            Type::Signed(_) => Shape::Signed,
            Type::Array(element, _) | Type::ArrayConst(element, _) | Type::ArrayConstExpr(element, _) => {
                self.array(self.of(element))
            }
            Type::Tuple(fields) => self.tuple(fields.iter().map(|field| self.of(field)).collect()),
            Type::UntypedTopLevelDefinition(name, _) | Type::Struct(name) | Type::Enum(name) => {
                Shape::Named(name.as_str().into())
            }
            Type::Fn(..) => Shape::Unknown,
        }
    }

    pub(super) fn field(&self, whole: &Shape, field: &str) -> Shape {
        let Shape::Named(name) = whole else { return Shape::Unknown };
        let fields = self.program.struct_defs.get(&**name).map(|definition| &definition.fields);
        let field = fields.into_iter().flatten().find(|(own, _)| own == field);
        field.map_or(Shape::Unknown, |(_, ty)| self.of(ty))
    }

    /// The types of the fields of a variant.
    pub(super) fn variant(&self, name: &str, variant: &str) -> &[Type] {
        let variants = self.program.enum_defs.get(name).map(|definition| &definition.variants);
        let fields = variants.into_iter().flatten().find_map(|own| match own {
            Variant::Tuple(name, fields) if name == variant => Some(&fields[..]),
            _ => None,
        });
        fields.unwrap_or_default()
    }

    /// The most cases that the type checker looks at for a `match` with these patterns; saturates.
    ///
    /// *Source*: Maranget, "Warnings for pattern matching" 2007, as `garble_lang` does it: it tells all values of Booleans and
    /// variants and all ranges between numbers of patterns apart, also where no pattern does.
    pub(super) fn cases(&self, shape: &Shape, patterns: &[&UntypedPattern]) -> u64 {
        let product = |cases: &mut dyn Iterator<Item = u64>| cases.fold(1, u64::saturating_mul);
        match shape {
            Shape::Bool => 2,
            Shape::Unsigned => {
                let ends = |pattern: &&UntypedPattern| match pattern.0 {
                    PatternEnum::NumUnsigned(..) | PatternEnum::NumSigned(..) => 1,
                    PatternEnum::UnsignedInclusiveRange(..) | PatternEnum::SignedInclusiveRange(..) => 2,
                    _ => 0,
                };
                2 * (1 + patterns.iter().map(ends).sum::<u64>())
            }
            Shape::Tuple(parts, _) => product(&mut parts.iter().enumerate().map(|(k, part)| {
                let own = patterns.iter().filter_map(|pattern| match &pattern.0 {
                    PatternEnum::Tuple(parts) => parts.get(k),
                    _ => None,
                });
                self.cases(part, &own.collect::<Vec<_>>())
            })),
            Shape::Named(name) => match (self.program.struct_defs.get(&**name), self.program.enum_defs.get(&**name)) {
                (Some(definition), _) => product(&mut definition.fields.iter().map(|(field, ty)| {
                    let own = patterns.iter().filter_map(|pattern| match &pattern.0 {
                        PatternEnum::Struct(_, fields) => fields.iter().find(|(own, _)| own == field),
                        _ => None,
                    });
                    self.cases(&self.of(ty), &own.map(|(_, pattern)| pattern).collect::<Vec<_>>())
                })),
                (None, Some(definition)) => {
                    let cases = definition.variants.iter().map(|variant| self.cases_of_variant(variant, patterns));
                    cases.fold(0, u64::saturating_add)
                }
                (None, None) => 1,
            },
            Shape::Unknown | Shape::Signed | Shape::Array(..) => 1,
        }
    }

    fn cases_of_variant(&self, variant: &Variant, patterns: &[&UntypedPattern]) -> u64 {
        let Variant::Tuple(name, fields) = variant else { return 1 };
        let cases = fields.iter().enumerate().map(|(k, ty)| {
            let own = patterns.iter().filter_map(|pattern| match &pattern.0 {
                PatternEnum::EnumTuple(_, own, parts) if own == name => parts.get(k),
                _ => None,
            });
            self.cases(&self.of(ty), &own.collect::<Vec<_>>())
        });
        cases.fold(1, u64::saturating_mul)
    }
}
