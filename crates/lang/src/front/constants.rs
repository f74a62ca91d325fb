//! Values of the constants that a source declares, and of the sizes and ends of ranges that are computed from them.
//!
//! As in Rust, every step of a computation must be a value of the type. Nothing wraps.

use std::{collections::HashMap, rc::Rc};

use garblet_circuit::diagnostic::clip;

use super::{
    ast::{ConstDef, ConstExpr, ConstKind, Fields, Int, Program, Size, SizeParam, Type},
    types::scalar,
};
use crate::{
    constants::Constants,
    float::{folded, sign_of},
    number::{Decimal, Number, ONE, ZERO, number, power},
    operation::Kind,
    source_error::{SourceError, Suggestions},
    tree::{Scalar, Span},
};

/// The digits of a number that no integer has, nor one that differs from it by little.
const MOST_DIGITS: u16 = Int::MAX_BITS + 2;
const USIZE: Type = Type::Int(Int::Usize);

/// The constants of a source, and the sizes of the instance that is at hand, which hide constants of the same names.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    list: Rc<HashMap<String, Value>>,
    sizes: HashMap<String, Value>,
    suggestions: Rc<Suggestions>,
}

#[derive(Clone, Debug)]
struct Value {
    ty: Type,
    /// `None` if its definition is wrong, which has been reported.
    number: Option<Number>,
    declared: Span,
}

/// A fault; `None` if it has been reported before.
type Fault = Option<SourceError>;

impl Values {
    /// The constants of a program; those of parties come from `given`.
    ///
    /// *Errors*: constants that are missing, have a wrong type, are out of range, are used before they are declared, or are
    /// given but not declared.
    pub(super) fn of(program: &Program, given: &Constants) -> Result<Self, Vec<SourceError>> {
        let mut definitions: Vec<(&String, &ConstDef)> = program.constants.iter().collect();
        // A constant can use only earlier ones.
        definitions.sort_by_key(|(_, definition)| definition.span);
        let mut parties = Parties { given, known: Vec::new(), faults: Vec::new() };
        definitions.iter().for_each(|(_, own)| parties.look_up(&own.value, &own.ty));
        let mut faults = std::mem::take(&mut parties.faults);
        let mut values = Values::default();
        for (name, definition) in definitions {
            let number = match values.number(&definition.value, &definition.ty, Some((name, &parties))) {
                Ok(number) => Some(number),
                Err(fault) => {
                    faults.extend(fault);
                    None
                }
            };
            let value = Value { ty: definition.ty.clone(), number, declared: definition.span };
            Rc::make_mut(&mut values.list).insert(name.clone(), value);
        }
        parties.known.sort_unstable();
        faults.extend(given.unknown(&parties.known));
        faults.sort_by_key(|fault| fault.span);
        if faults.is_empty() { Ok(values) } else { Err(faults) }
    }

    /// The same constants, with the sizes of an instance.
    pub(super) fn with(&self, sizes: &[SizeParam]) -> Self {
        let value = |size: &SizeParam| Value {
            ty: USIZE,
            number: size.value.map(|value| number(value as i128)),
            declared: size.span,
        };
        let sizes = sizes.iter().map(|size| (size.name.clone(), value(size))).collect();
        Values { list: self.list.clone(), sizes, suggestions: self.suggestions.clone() }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.sizes.get(name).or_else(|| self.list.get(name))
    }

    /// Returns whether the name is that of a size of the instance at hand.
    pub(super) fn is_size(&self, name: &str) -> bool {
        self.sizes.contains_key(name)
    }

    /// The type and the value of a constant.
    pub(super) fn get(&self, name: &str) -> Option<(&Type, Number)> {
        self.value(name).and_then(|value| Some((&value.ty, value.number?)))
    }

    /// The line in which a constant is declared.
    pub(super) fn line(&self, name: &str) -> u32 {
        self.value(name).map_or(0, |value| value.declared.line)
    }

    /// The value of an expression of that type, outside of the definition of a constant.
    ///
    /// *Errors*: parts of other types, and steps that are not values of the type.
    pub(super) fn evaluate(&self, expr: &ConstExpr, ty: &Type) -> Result<Number, SourceError> {
        let untold = || SourceError::new(expr.span, format!("`{expr}` is not known"));
        self.number(expr, ty, None).map_err(|fault| fault.unwrap_or_else(untold))
    }

    /// The value of an expression whose type may not be known yet. Its steps are not checked.
    pub(super) fn plain(&self, expr: &ConstExpr, ty: &Type) -> Option<Number> {
        match &expr.kind {
            ConstKind::Number(literal) => Some(literal.value),
            ConstKind::Constant(name) => self.get(name).map(|(_, value)| value),
            kind => {
                let parts: Option<Vec<Number>> = expr.parts().into_iter().map(|part| self.plain(part, ty)).collect();
                // Steps out of range stay so, and computations with them stay within what a number holds.
                applied(kind, &parts?, scalar(ty)).map(|value| value.clamp(-power(MOST_DIGITS), power(MOST_DIGITS)))
            }
        }
    }

    /// The value of an expression, which may be part of the definition of a constant.
    fn number(&self, expr: &ConstExpr, ty: &Type, definition: Option<(&str, &Parties<'_>)>) -> Result<Number, Fault> {
        let fault = |message: String| Some(SourceError::new(expr.span, message));
        let value = match &expr.kind {
            ConstKind::Bool(value) if *ty == Type::Bool => return Ok(if *value { ONE } else { ZERO }),
            ConstKind::Bool(_) => return Err(fault(format!("expected {ty}, got bool"))),
            ConstKind::Number(literal) => match (ty, literal.suffix) {
                (Type::Int(int), None) => return literal.fits(*int, expr.span).map(|()| literal.value).map_err(Some),
                (Type::Int(int), Some(own)) if own == *int => {
                    return literal.fits(*int, expr.span).map(|()| literal.value).map_err(Some);
                }
                (_, Some(own)) => return Err(fault(format!("expected {ty}, got {own}"))),
                (Type::Fixed(..) | Type::Float(_), None) => {
                    let fault = SourceError::new(expr.span, format!("expected {ty}, got an integer"));
                    return Err(Some(fault.hint("write the number with a decimal point, as in `2.0`")));
                }
                (_, None) => return Err(fault(format!("expected {ty}, got an integer"))),
            },
            ConstKind::Decimal(decimal) => match (ty, scalar(ty), decimal.suffix) {
                (Type::Fixed(..) | Type::Float(_), Some(own), suffix) if suffix.is_none() || suffix == own.float => {
                    return of_scalar(decimal, own).ok_or_else(|| fault(out_of_range(decimal, own, ty)));
                }
                _ => return Err(fault(format!("expected {ty}, got {decimal}, a decimal number"))),
            },
            ConstKind::External(party, name) => match definition {
                Some((_, parties)) => return parties.value(party, name, ty).ok_or(None),
                None => {
                    let fault = SourceError::new(expr.span, "a party's constant must be declared first");
                    return Err(Some(fault.hint(format!("`const {name}: usize = {party}::{name};`"))));
                }
            },
            ConstKind::Constant(name) => match self.value(name) {
                Some(value) if value.ty == *ty => return value.number.ok_or(None),
                Some(value) => return Err(fault(format!("expected {ty}, got {}", value.ty))),
                None => return Err(Some(self.unknown(name, expr.span))),
            },
            kind => {
                let parts = expr.parts().into_iter().map(|part| self.number(part, ty, definition));
                let parts = parts.collect::<Result<Vec<_>, Fault>>()?;
                let value = computed(kind, &parts, ty)
                    .map_err(|what| fault(what.unwrap_or_else(|| format!("`{expr}` divides by zero"))))?;
                if let ConstKind::Not(_) = kind {
                    return Ok(value);
                }
                value
            }
        };
        match scalar(ty).filter(|ty| !ty.boolean) {
            Some(own) if (own.min()..=own.max()).contains(&value) => Ok(value),
            Some(own) => Err(Some(overflow(expr, value, own, ty, definition.map(|(name, _)| name)))),
            None => Err(fault(format!("expected {ty}, got a number"))),
        }
    }

    /// The fault for an unknown name.
    fn unknown(&self, name: &str, span: Span) -> SourceError {
        let fault = SourceError::new(span, format!("there is no variable, constant or function `{name}`"));
        let others = self
            .list
            .keys()
            .chain(self.sizes.keys())
            .map(String::as_str)
            .filter(|other| other.len() > 2 && name.len() > 2);
        match self.suggestions.hint(name, others) {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }

    /// The number for a size; errors about the name of a constant point at `span`.
    ///
    /// *Errors*: as [`Values::evaluate`].
    pub(super) fn size(&self, size: &Size, span: Span) -> Result<usize, SourceError> {
        let value = match size {
            Size::Number(count) => number(*count as i128),
            Size::Constant(name) => {
                self.evaluate(&ConstExpr { kind: ConstKind::Constant(name.clone()), span }, &USIZE)?
            }
            Size::Computed(value) => self.evaluate(value, &USIZE)?,
        };
        usize::try_from(value).map_err(|_| {
            SourceError::new(
                span,
                format!("this size is too large: expected at most {}, got {}", usize::MAX, clip(&value.to_string())),
            )
        })
    }

    /// Replaces all sizes in a type by numbers, so that equal types compare equal.
    ///
    /// *Errors*: as [`Values::evaluate`].
    pub(super) fn fix(&self, ty: &mut Type, span: Span) -> Result<(), SourceError> {
        match ty {
            Type::Array(element, size) | Type::List(element, size) => {
                *size = Size::Number(self.size(size, span)?);
                self.fix(element, span)
            }
            Type::Tuple(fields) => fields.iter_mut().try_for_each(|field| self.fix(field, span)),
            _ => Ok(()),
        }
    }

    /// Like [`Values::fix`], in all definitions of a program except the bodies of functions.
    ///
    /// *Errors*: as [`Values::evaluate`].
    pub(super) fn fix_definitions(&self, program: &mut Program) -> Vec<SourceError> {
        let mut types: Vec<(&mut Type, Span)> = Vec::new();
        for definition in program.structs.values_mut() {
            types.extend(definition.fields.iter_mut().map(|(_, ty)| (ty, definition.span)));
        }
        for definition in program.enums.values_mut() {
            let fields = definition.variants.iter_mut().flat_map(|(_, fields)| Fields::all_mut(fields));
            types.extend(fields.map(|ty| (ty, definition.span)));
        }
        // Those of a function over sizes are known in its instances.
        for function in program.functions.values_mut().filter(|function| function.sizes.is_empty()) {
            types.extend(function.params.iter_mut().map(|param| (&mut param.ty, function.span)));
            types.push((&mut function.result, function.span));
        }
        let mut faults: Vec<SourceError> =
            types.into_iter().filter_map(|(ty, span)| self.fix(ty, span).err()).collect();
        faults.sort_by_key(|fault| fault.span);
        faults.dedup();
        faults
    }
}

/// The value of an operation, which may be out of range, unless it is a complement.
///
/// *Errors*: an operation that the type does not have; `None` for a division by zero.
fn computed(kind: &ConstKind, parts: &[Number], ty: &Type) -> Result<Number, Option<String>> {
    let own = scalar(ty);
    let refuse = |expected: &str| Err(Some(format!("expected {expected}, got {ty}")));
    match (kind, applied(kind, parts, own)) {
        (ConstKind::Rem(..) | ConstKind::Not(_) | ConstKind::Min(_) | ConstKind::Max(_), _)
            if own.is_some_and(|own| own.float.is_some()) =>
        {
            refuse("a constant integer")
        }
        (_, Some(value)) if own.is_some_and(|own| own.float.is_some()) => Ok(value),
        (ConstKind::Mul(..) | ConstKind::Div(..) | ConstKind::Rem(..), _)
            if own.is_some_and(|own| own.fraction.is_some()) =>
        {
            refuse("a constant integer")
        }
        (ConstKind::Div(..) | ConstKind::Rem(..), _) if parts[1] == ZERO => Err(None),
        // As in Rust, the quotient overflows.
        (ConstKind::Rem(..), _) if own.is_some_and(|own| parts[0] == own.min()) && parts[1] == -ONE => Ok(-parts[0]),
        (ConstKind::Neg(_), _) if !own.is_some_and(|own| own.signed) => refuse("a signed number"),
        (ConstKind::Not(_), Some(value)) if own.is_some_and(|own| own.fraction.is_none()) => Ok(value),
        (ConstKind::Not(_), _) => refuse("a bool or an integer"),
        (_, value) => Ok(value.unwrap_or(ZERO)),
    }
}

/// The value of an operation; a complement depends on the type.
fn applied(kind: &ConstKind, parts: &[Number], ty: Option<Scalar>) -> Option<Number> {
    if let Some(format) = ty.and_then(|ty| ty.float) {
        return match (kind, parts) {
            (ConstKind::Add(..), [a, b]) => Some(folded(Kind::FloatAdd, format, &[*a, *b])),
            (ConstKind::Sub(..), [a, b]) => Some(folded(Kind::FloatSub, format, &[*a, *b])),
            (ConstKind::Mul(..), [a, b]) => Some(folded(Kind::FloatMul, format, &[*a, *b])),
            (ConstKind::Div(..), [a, b]) => Some(folded(Kind::FloatDiv, format, &[*a, *b])),
            (ConstKind::Neg(_), [a]) => Some(*a ^ sign_of(format)),
            _ => None,
        };
    }
    match (kind, parts) {
        (ConstKind::Max(_), _) => parts.iter().max().copied(),
        (ConstKind::Min(_), _) => parts.iter().min().copied(),
        (ConstKind::Add(..), [a, b]) => Some(*a + *b),
        (ConstKind::Sub(..), [a, b]) => Some(*a - *b),
        (ConstKind::Mul(..), [a, b]) => Some(*a * *b),
        // A quotient by zero is refused where its type is known.
        (ConstKind::Div(..), [a, b]) => Some(if *b == ZERO { ZERO } else { *a / *b }),
        (ConstKind::Rem(..), [a, b]) => Some(if *b == ZERO { ZERO } else { *a % *b }),
        (ConstKind::Neg(_), [a]) => Some(-*a),
        (ConstKind::Not(_), [a]) => ty.map(|ty| ty.min() + ty.max() - *a),
        _ => None,
    }
}

/// The fault for a step that is not a value of the type.
fn overflow(expr: &ConstExpr, value: Number, own: Scalar, ty: &Type, definition: Option<&str>) -> SourceError {
    let of = definition.map_or(String::new(), |name| format!("the constant `{name}`: "));
    let shown = |value: Number| match own.fraction {
        Some(fraction) => format!("{value} / 2^{fraction}"),
        None => clip(&value.to_string()),
    };
    let range = match own.fraction {
        Some(_) => format!("{} to {}", shown(own.min()), shown(own.max())),
        None => own.range(),
    };
    SourceError::new(
        expr.span,
        format!("{of}`{expr}` is out of range for {ty}: expected {range}, got {}", shown(value)),
    )
}

/// The fault for a decimal number that is out of its type's range.
pub(super) fn out_of_range(decimal: &Decimal, own: Scalar, ty: &Type) -> String {
    if own.float.is_some() {
        return format!("literal out of range for {ty}: got {decimal}");
    }
    if decimal.scaled(0).is_none() {
        let most = Decimal::MAX_DIGITS;
        return format!("expected a number of at most {most} digits for {ty}, without an exponent, got {decimal}");
    }
    let fraction = own.fraction.unwrap_or_default();
    let end = |value: Number| format!("{value} / 2^{fraction}");
    format!("{decimal} is out of range for {ty}: expected {} to {}", end(own.min()), end(own.max()))
}

/// The constants that parties give.
struct Parties<'p> {
    given: &'p Constants,
    /// Party and name of each constant that the source uses.
    known: Vec<(&'p str, &'p str)>,
    faults: Vec<SourceError>,
}

impl<'p> Parties<'p> {
    /// Looks up the constants of parties in an expression of a type.
    fn look_up(&mut self, value: &'p ConstExpr, ty: &Type) {
        if let ConstKind::External(party, name) = &value.kind {
            self.ask(party, name, ty, value.span);
        }
        value.parts().into_iter().for_each(|part| self.look_up(part, ty));
    }

    fn ask(&mut self, party: &'p str, name: &'p str, ty: &Type, span: Span) {
        let full = format!("{party}::{name}");
        let is_first = !self.known.contains(&(party, name));
        match self.given.find(party, name) {
            None if is_first => {
                let fault = SourceError::new(span, format!("the constant `{full}` ({ty}) is not given"));
                self.faults.push(fault.hint(format!("give --const {full}=VALUE")));
            }
            // Each use has its own type.
            Some(given) if self.value(party, name, ty).is_none() => {
                let message = match ty {
                    Type::Int(int) if given.is_integer() => format!(
                        "the constant `{full}` is out of range for {ty}: expected {}, got {}",
                        int.scalar().range(),
                        clip(&given.to_string())
                    ),
                    _ => format!("the constant `{full}`: expected {}, got {}", range(ty), clip(&given.to_string())),
                };
                let fault = SourceError::new(span, message);
                self.faults.push(match ty {
                    Type::Float(_) if given.is_integer() => fault.hint(
                        "no number of the type is exactly that integer: write a point, as in 1.0, to have it rounded",
                    ),
                    _ => fault,
                });
            }
            _ => {}
        }
        if is_first {
            self.known.push((party, name));
        }
    }

    fn value(&self, party: &str, name: &str, ty: &Type) -> Option<Number> {
        let (given, ty) = (self.given.find(party, name)?, scalar(ty)?);
        of_scalar(given, ty).filter(|_| ty.float.is_none_or(|format| given.is_kept_by(format)))
    }
}

/// The type, and the range of an integer type.
fn range(ty: &Type) -> String {
    match ty {
        Type::Int(int) => format!("{ty}, {}", int.scalar().range()),
        _ => ty.to_string(),
    }
}

/// The number as a value of a type, if it is one.
pub(super) fn of_scalar(number: &Decimal, ty: Scalar) -> Option<Number> {
    let value = match (ty.float, ty.fraction) {
        (Some(format), _) => number.bits(format)?,
        (None, Some(fraction)) => number.scaled(fraction)?,
        (None, None) => number.integer()?,
    };
    (ty.min()..=ty.max()).contains(&value).then_some(value)
}
