//! Values as texts for people: JSON whose fields are in the order of their declaration.

use garblet_circuit::{Bits, Type};
use serde_json::{Value, json};

use super::{byte_hex, to_json};

/// The fewest bytes of an array that are shown as hexadecimal digits: keys, blocks and digests, rather than small numbers.
const HEX_BYTES_MIN: u32 = 16;

/// A value as the command prints it: strings without quotation marks, byte strings and arrays of sixteen or more `u8` as hexadecimal digits, first
/// byte first, and all else as [`to_json_text`] has it.
///
/// # Panics
/// If there are not as many bits as the type has wires.
pub fn to_text(ty: &Type, bits: &Bits) -> String {
    match ty {
        Type::Array(element, HEX_BYTES_MIN..) if **element == Type::Unsigned(8) => byte_hex(bits),
        _ => match to_json(ty, bits) {
            // A byte string's digits say it all.
            Value::Object(object) if object.len() == 1 && matches!(ty, Type::Bytes(_)) => {
                object.values().filter_map(Value::as_str).collect()
            }
            Value::String(text) => text,
            value => in_order(ty, &value),
        },
    }
}

/// A value as [`to_json`] has it, with the fields of records in the order in which they were declared.
///
/// # Panics
/// If there are not as many bits as the type has wires.
pub fn to_json_text(ty: &Type, bits: &Bits) -> String {
    in_order(ty, &to_json(ty, bits))
}

fn in_order(ty: &Type, value: &Value) -> String {
    let list = |texts: Vec<String>| format!("[{}]", texts.join(","));
    match (ty, value) {
        (Type::Record(fields), Value::Object(object)) => {
            let field =
                |(name, ty): &(String, Type)| Some(format!("{}:{}", json!(name), in_order(ty, object.get(name)?)));
            format!("{{{}}}", fields.iter().filter_map(field).collect::<Vec<_>>().join(","))
        }
        (Type::Record(fields), Value::Array(values)) => {
            list(fields.iter().zip(values).map(|((_, ty), value)| in_order(ty, value)).collect())
        }
        (Type::Array(element, _) | Type::List(element, _), Value::Array(values)) => {
            list(values.iter().map(|value| in_order(element, value)).collect())
        }
        (Type::Enum(variants), Value::Object(object)) => {
            let known = object.iter().next().and_then(|(name, value)| {
                let (_, types) = variants.iter().find(|(variant, _)| variant == name)?;
                Some((name, types, value))
            });
            match known {
                Some((name, types, Value::Array(values))) if Type::named_fields(types).is_none() => {
                    let fields = types.iter().zip(values).map(|(ty, value)| in_order(ty, value)).collect();
                    format!("{{{}:{}}}", json!(name), list(fields))
                }
                Some((name, types, value)) if types.len() == 1 => {
                    format!("{{{}:{}}}", json!(name), in_order(&types[0], value))
                }
                _ => value.to_string(),
            }
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use garblet_circuit::random::small_type;

    use super::*;

    #[test]
    fn fields_stand_as_they_were_declared() {
        let record = |fields: &[(&str, Type)]| {
            Type::Record(fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect())
        };
        let inner = record(&[("z", Type::Bool), ("a", Type::Unsigned(2))]);
        let variants = vec![("V".into(), vec![Type::Bool, inner.clone()]), ("W".into(), vec![inner.clone()])];
        let ty = record(&[("y", inner.clone()), ("b", Type::List(Box::new(inner), 1)), ("e", Type::Enum(variants))]);
        // y = {z: 1, a: 2}, b = [{z: 0, a: 1}], and a variant.
        let bits: Bits = "101101001111".parse().unwrap();
        assert_eq!(
            to_json_text(&ty, &bits).split(r#","e""#).next(),
            Some(r#"{"y":{"z":true,"a":2},"b":[{"z":false,"a":1}]"#)
        );
    }

    #[test]
    fn the_text_is_the_value() {
        let rng = &mut StdRng::seed_from_u64(3);
        for _ in 0..500 {
            let ty = small_type(rng, 3);
            let bits: Bits = (0..ty.width()).map(|_| rng.random()).collect();
            let text = to_json_text(&ty, &bits);
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), to_json(&ty, &bits), "{ty} {text}");
        }
    }

    #[test]
    fn bytes_are_hexadecimal_digits_if_they_are_many() {
        let array = |count| Type::Array(Box::new(Type::Unsigned(8)), count);
        let bytes = |count: u8| Bits::from_bytes(&(0..count).collect::<Vec<u8>>());
        assert_eq!(to_text(&array(3), &bytes(3)), "[0,1,2]");
        assert_eq!(to_text(&array(16), &bytes(16)), "000102030405060708090a0b0c0d0e0f");
        assert_eq!(to_text(&Type::Bytes(2), &bytes(2)), "0001");
        assert_eq!(to_text(&Type::Unsigned(64), &bytes(8)), "506097522914230528");
    }
}
