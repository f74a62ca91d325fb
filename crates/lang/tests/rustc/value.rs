//! Values: as rustc's programs print them, and as wires.

use garblet_circuit::{Bits, Type};
use garblet_formats::value::{bits_of_float, float_of_bits};

use crate::tree::Input;

/// A value as `{:?}` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// A number, a Boolean, or a variant without fields.
    Word(String),
    /// An array, a tuple, or a variant with fields, under its name.
    List(String, Vec<Printed>),
    /// A struct or a variant whose fields have names.
    Fields(String, Vec<(String, Printed)>),
}

impl Printed {
    pub(crate) fn parse(text: &str) -> Self {
        let mut rest = text;
        let value = parse(&mut rest);
        assert!(rest.is_empty(), "{text}: {rest}");
        value
    }
}

fn eat(rest: &mut &str, start: &str) -> bool {
    let after = rest.strip_prefix(start);
    if let Some(after) = after {
        *rest = after;
    }
    after.is_some()
}

fn parse(rest: &mut &str) -> Printed {
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    if eat(rest, " { ") {
        let mut fields = Vec::new();
        loop {
            let (name, after) = rest.split_once(": ").expect("a field");
            *rest = after;
            fields.push((name.to_string(), parse(rest)));
            if !eat(rest, ", ") {
                assert!(eat(rest, " }"), "{rest}");
                return Printed::Fields(word.into(), fields);
            }
        }
    }
    let end = match rest.chars().next() {
        Some('(') => ")",
        Some('[') => "]",
        _ => return Printed::Word(word.into()),
    };
    *rest = &rest[1..];
    let mut parts = Vec::new();
    while !eat(rest, end) {
        parts.push(parse(rest));
        // The comma of a tuple of one is without a space.
        let _ = eat(rest, ", ") || eat(rest, ",");
    }
    Printed::List(word.into(), parts)
}

/// The number of wires, as rustc prints it.
fn number(ty: &Type, bits: &Bits) -> Option<String> {
    let value = bits.to_u128()?;
    match ty {
        Type::Bool => Some((value == 1).to_string()),
        Type::Unsigned(_) => Some(value.to_string()),
        Type::Signed(width) => Some(((value as i128) << (128 - width) >> (128 - width)).to_string()),
        _ => None,
    }
}

/// Tells whether wires of a type have the value.
pub(crate) fn is(ty: &Type, bits: &Bits, printed: &Printed) -> bool {
    let part = |start: &mut usize, ty: &Type, printed: &Printed| {
        let width = ty.width() as usize;
        *start += width;
        is(ty, &bits.slice(*start - width, width), printed)
    };
    let mut start = 0;
    match (ty, printed) {
        (Type::Array(element, count), Printed::List(_, parts)) => {
            *count as usize == parts.len() && parts.iter().all(|printed| part(&mut start, element, printed))
        }
        (Type::List(element, most), Printed::List(_, parts)) => {
            start = Type::count_width(*most) as usize;
            let count = bits.slice(0, start).to_u128();
            count == Some(parts.len() as u128) && parts.iter().all(|printed| part(&mut start, element, printed))
        }
        (Type::Record(fields), Printed::List(_, parts)) => {
            fields.len() == parts.len()
                && fields.iter().zip(parts).all(|((_, ty), printed)| part(&mut start, ty, printed))
        }
        (Type::Record(fields), Printed::Fields(_, parts)) => {
            let mut own = |(name, ty): &(String, Type)| {
                let printed = parts.iter().find(|(other, _)| other == name);
                printed.is_some_and(|(_, printed)| part(&mut start, ty, printed))
            };
            fields.len() == parts.len() && fields.iter().all(&mut own)
        }
        (Type::Enum(variants), _) => {
            let tag = variants.len().next_power_of_two().trailing_zeros() as usize;
            let at = bits.slice(0, tag).to_u128().unwrap_or(0) as usize;
            let Some((name, types)) = variants.get(at) else { return false };
            start = tag;
            match printed {
                Printed::Word(word) => word == name && types.is_empty(),
                Printed::List(word, parts) => {
                    word == name
                        && types.len() == parts.len()
                        && types.iter().zip(parts).all(|(ty, printed)| part(&mut start, ty, printed))
                }
                Printed::Fields(word, _) => word == name && types.len() == 1 && part(&mut start, &types[0], printed),
            }
        }
        // A number beyond 32 bits is a `usize`, of which the function language has the low ones.
        (Type::Unsigned(32), Printed::Word(word)) => {
            word.parse::<u64>().is_ok_and(|value| bits.to_u128() == Some((value as u32).into()))
        }
        (Type::Float(format), Printed::Word(word)) => match word.as_str() {
            // Which NaN it is, is not said.
            "NaN" => float_of_bits(*format, bits.to_u128().expect("64 bits") as u64).is_nan(),
            word => bits_of_float(*format, word).map(u128::from) == bits.to_u128(),
        },
        (_, Printed::Word(word)) => number(ty, bits).as_ref() == Some(word),
        _ => false,
    }
}

/// Tells whether the outputs of a program are the result of its `main`.
pub(crate) fn are(outputs: &[(String, Type, Bits)], printed: &Printed) -> bool {
    // A tuple of one has one output too.
    if let [(name, ty, bits)] = outputs
        && name == "out0"
        && is(ty, bits, printed)
    {
        return true;
    }
    match printed {
        Printed::List(_, parts) => {
            parts.len() == outputs.len() && outputs.iter().zip(parts).all(|((_, ty, bits), part)| is(ty, bits, part))
        }
        Printed::Fields(_, fields) => {
            let own = |(name, ty, bits): &(String, Type, Bits)| {
                fields.iter().find(|(field, _)| field == name).is_some_and(|(_, part)| is(ty, bits, part))
            };
            fields.len() == outputs.len() && outputs.iter().all(own)
        }
        Printed::Word(_) => false,
    }
}

/// The wires of an input; none if the type is another.
pub(crate) fn wires(ty: &Type, value: &Input) -> Option<Bits> {
    let mut bits = Bits::default();
    push(ty, value, &mut bits).then_some(bits)
}

fn push(ty: &Type, value: &Input, into: &mut Bits) -> bool {
    match (ty, value) {
        (Type::Bool, Input::Bool(value)) => into.push(*value),
        (Type::Unsigned(width) | Type::Signed(width), Input::Int(int, value)) if int.bits == *width => {
            (0..*width).for_each(|k| into.push(value >> k & 1 == 1));
        }
        (Type::Float(format), Input::Float(width, value)) if format.width() == *width => {
            (0..*width).for_each(|k| into.push(value >> k & 1 == 1));
        }
        (Type::Array(element, count), Input::Array(parts)) if *count as usize == parts.len() => {
            return parts.iter().all(|part| push(element, part, into));
        }
        (Type::List(element, most), Input::List(parts)) => {
            let end = into.len() + ty.width() as usize;
            (0..Type::count_width(*most)).for_each(|k| into.push(parts.len() >> k & 1 == 1));
            let done = parts.iter().all(|part| push(element, part, into));
            while into.len() < end {
                into.push(false);
            }
            return done;
        }
        (Type::Record(fields), Input::Tuple(parts)) if fields.len() == parts.len() => {
            return fields.iter().zip(parts).all(|((_, ty), part)| push(ty, part, into));
        }
        (Type::Record(fields), Input::Struct(_, parts)) => {
            return fields.iter().all(|(name, ty)| {
                parts.iter().find(|(own, _)| own == name).is_some_and(|(_, part)| push(ty, part, into))
            });
        }
        (Type::Enum(variants), Input::Enum(_, at, variant, parts)) => {
            let end = into.len() + ty.width() as usize;
            let tag = variants.len().next_power_of_two().trailing_zeros();
            (0..tag).for_each(|k| into.push(at >> k & 1 == 1));
            let Some((name, types)) = variants.get(*at) else { return false };
            let done = match (&types[..], parts.first()) {
                ([Type::Record(fields)], Some((Some(_), _))) => fields.iter().all(|(name, ty)| {
                    let own = parts.iter().find(|(own, _)| own.as_ref() == Some(name));
                    own.is_some_and(|(_, part)| push(ty, part, into))
                }),
                _ => types.len() == parts.len() && types.iter().zip(parts).all(|(ty, (_, part))| push(ty, part, into)),
            };
            while into.len() < end {
                into.push(false);
            }
            return done && name == variant;
        }
        _ => return false,
    }
    true
}

/// The value of wires, for a reader.
pub(crate) fn shown(ty: &Type, bits: &Bits) -> String {
    let mut start = 0;
    if let Type::List(_, most) = ty {
        start = Type::count_width(*most) as usize;
    }
    let count = bits.slice(0, start).to_u128().unwrap_or_default();
    let mut part = |ty: &Type| {
        let width = ty.width() as usize;
        start += width;
        shown(ty, &bits.slice(start - width, width))
    };
    match ty {
        Type::Array(element, count) => {
            format!("[{}]", (0..*count).map(|_| part(element)).collect::<Vec<_>>().join(", "))
        }
        Type::List(element, _) => {
            format!("[{}]", (0..count).map(|_| part(element)).collect::<Vec<_>>().join(", "))
        }
        Type::Record(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {}", part(ty))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        _ => number(ty, bits).unwrap_or_else(|| format!("{ty:?} {:?}", bits.iter().map(u8::from).collect::<Vec<_>>())),
    }
}
