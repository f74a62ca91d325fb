//! Keys that are texts, such as e-mail addresses, as numbers: a text is brought into one form, and hashed under a key that the parties share.
//!
//! Two texts have the same hash of b bits with probability 2^-b, and then count as the same key: among n keys of one party and m of the other
//! that differ, some match falsely with probability at most n m / 2^b. Two different texts of one list with the same hash are refused.

use std::{collections::HashMap, str::FromStr};

use garblet_circuit::{Bits, Input, InputId, Port, Program, Type, notes::Order};
use unicode_normalization::UnicodeNormalization;

use super::{Misfit, Unfit, list};

/// The most bytes of a text.
const TEXT_BYTES_MAX: u32 = 320;

/// Separates hashes of keys from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 hashed keys v1";

/// The form to which texts are normalised before they are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// Any text: without blanks around it, in Unicode's normal form C.
    Text,
    /// An e-mail address: the same, in lower case.
    Email,
    /// A UUID: its 32 hexadecimal digits.
    Uuid,
}

impl KeyForm {
    /// All forms, with their names.
    pub const ALL: [(KeyForm, &str); 3] = [(KeyForm::Text, "text"), (KeyForm::Email, "email"), (KeyForm::Uuid, "uuid")];

    /// The name.
    pub fn name(self) -> &'static str {
        KeyForm::ALL.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }

    /// The phrase for a text of this form.
    pub(super) fn words(self) -> &'static str {
        match self {
            KeyForm::Text => "a text that is not empty",
            KeyForm::Email => "an e-mail address",
            KeyForm::Uuid => "a UUID",
        }
    }

    /// The normalised text; `None` if the text is not of this form.
    fn of(self, text: &str) -> Option<String> {
        let text: String = text.nfc().collect();
        let text = text.trim();
        match self {
            KeyForm::Text => Some(text.into()).filter(|text: &String| !text.is_empty()),
            KeyForm::Email => {
                let (name, domain) = text.split_once('@')?;
                let is_address = !name.is_empty() && !domain.is_empty() && !domain.contains('@');
                let lower = text.to_lowercase().nfc().collect();
                (is_address && !text.contains(char::is_whitespace)).then_some(lower)
            }
            KeyForm::Uuid => {
                let lower = text.to_ascii_lowercase();
                let bare = lower.strip_prefix("urn:uuid:").unwrap_or(&lower);
                let bare = bare.strip_prefix('{').and_then(|bare| bare.strip_suffix('}')).unwrap_or(bare);
                let groups: Vec<usize> = bare.split('-').map(str::len).collect();
                let digits = bare.replace('-', "");
                let is_hex = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                (is_hex && matches!(groups[..], [32] | [8, 4, 4, 4, 12])).then_some(digits)
            }
        }
    }
}

impl FromStr for KeyForm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = KeyForm::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(form, _)| *form).ok_or_else(|| {
            let names: Vec<&str> = KeyForm::ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown form of keys `{text}`, expected one of {}", names.join(", "))
        })
    }
}

/// The way in which the parties of a run turn keys that are texts into numbers.
#[derive(Clone)]
pub struct KeyHash {
    form: KeyForm,
    key: [u8; 32],
}

impl KeyHash {
    /// Hashes under a key that follows from what the parties have agreed on, such as the digest of their job.
    pub fn new(form: KeyForm, agreed: &[u8; 32]) -> Self {
        KeyHash { form, key: blake3::derive_key(CONTEXT, agreed) }
    }

    /// A program with the same inputs, whose keys are texts. Values are read like its inputs.
    ///
    /// *Errors*: a program without such keys.
    pub fn texts(&self, program: &Program) -> Result<Program, NoKeys> {
        let mut texts = Program::new(program.name());
        for Input { port, owner } in program.inputs() {
            let ty = if key_bits(program, port).is_some() { with_texts(&port.ty) } else { port.ty.clone() };
            // The names are those of a consistent program.
            texts.add_input(Port::new(port.name.clone(), ty), *owner).map_err(|_| NoKeys)?;
        }
        match program.inputs().iter().any(|input| key_bits(program, &input.port).is_some()) {
            true => Ok(texts),
            false => Err(NoKeys),
        }
    }

    /// Turns inputs whose keys are texts into inputs of a program.
    ///
    /// *Errors*: a text that is not of the form, and two of one list with the same hash.
    pub fn hash(&self, program: &Program, inputs: &mut [(InputId, Bits)]) -> Result<(), Unfit> {
        for (id, values) in inputs {
            let port = &program.inputs()[id.0 as usize].port;
            let (Some(bits), Type::List(element, most)) = (key_bits(program, port), &port.ty) else { continue };
            let texts = with_texts(&port.ty);
            let Type::List(with_text, _) = &texts else { continue };
            let (width, count_bits) = (texts.width() as usize, Type::count_width(*most) as usize);
            let (text_bits, row_bits) = (text_type().width() as usize, with_text.width() as usize);
            let runs = values.len() / width.max(1);
            let mut all = Bits::with_capacity(runs * port.ty.width() as usize);
            for run in 0..runs {
                let run_of = (runs > 1).then_some(run + 1);
                let unfit = |row: usize, wrong| Unfit { input: port.name.clone(), run: run_of, row, wrong };
                let count = values.slice(run * width, count_bits).to_u128().unwrap_or_default().min((*most).into());
                let (mut rows, mut known) = (Bits::default(), HashMap::new());
                for row in 0..count as usize {
                    let start = run * width + count_bits + row * row_bits;
                    let whole = self.digest(&values.slice(start, text_bits));
                    let whole = whole.ok_or_else(|| unfit(row + 1, Misfit::NoText { form: self.form }))?;
                    let mut stream = vec![0; bits.div_ceil(8) as usize];
                    blake3::Hasher::new_keyed(&self.key).update(&whole).finalize_xof().fill(&mut stream);
                    let number = Bits::from_bytes(&stream).slice(0, bits as usize);
                    if let Some((first, _)) = known.get(&number).filter(|(_, other)| *other != whole) {
                        return Err(unfit(row + 1, Misfit::Collision { first: *first, bits }));
                    }
                    rows.append(&number);
                    known.entry(number).or_insert((row + 1, whole));
                    rows.append(&values.slice(start + text_bits, element.width() as usize - bits as usize));
                }
                all.append(&list::pad(count as usize, &rows, &port.ty, *most));
            }
            *values = all;
        }
        Ok(())
    }

    /// The digest of the normalised text, from which the key's hash is made.
    fn digest(&self, text: &Bits) -> Option<[u8; 32]> {
        let Type::List(_, most) = text_type() else { return None };
        let counted = Type::count_width(most) as usize;
        // Texts that are given as bits may claim to be longer than they can be.
        let count = text.slice(0, counted).to_u128().filter(|count| *count <= most.into())? as usize;
        let bytes = text.slice(counted, 8 * count).to_bytes();
        let text = self.form.of(std::str::from_utf8(&bytes).ok()?)?;
        Some(blake3::keyed_hash(&self.key, text.as_bytes()).into())
    }

    /// The cost of hashing.
    pub fn price(&self, program: &Program) -> Option<Price> {
        let keyed =
            program.inputs().iter().filter_map(|input| match (key_bits(program, &input.port), &input.port.ty) {
                (Some(bits), Type::List(_, most)) => Some((bits, u64::from(*most))),
                _ => None,
            });
        let lists: Vec<(u32, u64)> = keyed.collect();
        let bits = lists.iter().map(|(bits, _)| *bits).min()?;
        let pairs = lists.iter().enumerate().flat_map(|(k, (_, n))| lists[..k].iter().map(move |(_, m)| n * m));
        let pairs = pairs.fold(0, u64::saturating_add).max(1);
        Some(Price { bits, pairs, log2: (pairs as f64).log2() - f64::from(bits) })
    }
}

/// The cost of hashing keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The bits of a hash.
    pub bits: u32,
    /// The pairs of keys of different lists, at most.
    pub pairs: u64,
    /// The logarithm to base 2 of the probability that some pair which differs matches, at most.
    pub log2: f64,
}

/// The program has no lists that are matched by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program matches no lists by a key that is an unsigned number")]
pub struct NoKeys;

/// The type of a text.
fn text_type() -> Type {
    Type::List(Box::new(Type::Unsigned(8)), TEXT_BYTES_MAX)
}

/// The type of a list whose keys are texts.
fn with_texts(ty: &Type) -> Type {
    let Type::List(element, most) = ty else { return ty.clone() };
    let element = match &**element {
        Type::Record(fields) => {
            let key = |(at, (name, ty)): (usize, &(String, Type))| {
                (name.clone(), if at == 0 { text_type() } else { ty.clone() })
            };
            Type::Record(fields.iter().enumerate().map(key).collect())
        }
        _ => text_type(),
    };
    Type::List(Box::new(element), *most)
}

/// The bits of the key that matches a list with another; none if it has no such key. Values that are merely ordered are not keys.
fn key_bits(program: &Program, port: &Port) -> Option<u32> {
    let ordered = &program.notes().ordered;
    let own = ordered.iter().find(|ordered| ordered.input == port.name)?;
    let Type::List(element, _) = &port.ty else { return None };
    let (key, is_record) = match &**element {
        Type::Record(fields) => (&fields.first()?.1, true),
        element => (element, false),
    };
    let matches = is_record || ordered.iter().any(|ordered| ordered.order == Order::Strict);
    match key {
        Type::Unsigned(bits) if *bits == own.key_bits && own.order != Order::Descending && matches => Some(*bits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{
        Circuit, Component, Party, Wire,
        notes::{Notes, Ordered},
    };
    use garblet_synthesis::library;

    use super::*;
    use crate::value::{Arrange, arrange, read_inputs, to_json};

    const AGREED: [u8; 32] = [7; 32];

    /// With other tables the same text could have another hash, so that two versions of Garblet would match fewer rows without a word. Whoever changes
    /// these numbers raises the wire version.
    #[test]
    fn texts_are_brought_into_their_forms_by_these_tables_of_unicode() {
        assert_eq!((char::UNICODE_VERSION, unicode_normalization::UNICODE_VERSION), ((17, 0, 0), (18, 0, 0)));
    }

    /// Party 1's list, hashed and added up.
    fn hashed(program: &str, form: KeyForm, agreed: &[u8; 32], text: &str) -> Result<serde_json::Value, String> {
        let program = library::find(program).unwrap();
        let hash = KeyHash::new(form, agreed);
        let texts = hash.texts(&program).unwrap();
        let mut inputs = read_inputs(&texts, Party(1), "b.json", text).map_err(|wrong| wrong.to_string())?;
        hash.hash(&program, &mut inputs).map_err(|unfit| unfit.to_string())?;
        arrange(&program, &mut inputs, Arrange::SumByKey).map_err(|unfit| unfit.to_string())?;
        Ok(to_json(&program.inputs()[1].port.ty, &inputs[0].1))
    }

    #[test]
    fn texts_are_brought_into_one_form() {
        let of = |form: KeyForm, text: &str| form.of(text);
        let email = Some("anna.müller@example.com".to_string());
        for text in ["anna.müller@example.com", " Anna.M\u{fc}ller@EXAMPLE.com\t", "anna.mu\u{308}ller@example.com"] {
            assert_eq!(of(KeyForm::Email, text), email, "{text}");
        }
        for text in ["", "anna", "@b", "a@", "a@b@c", "a b@c"] {
            assert_eq!(of(KeyForm::Email, text), None, "{text}");
        }
        let uuid = Some("00112233445566778899aabbccddeeff".to_string());
        for text in [
            "00112233-4455-6677-8899-aabbccddeeff",
            "{00112233-4455-6677-8899-AABBCCDDEEFF}",
            " urn:uuid:00112233-4455-6677-8899-aabbccddeeff",
            "00112233445566778899AABBCCDDEEFF",
        ] {
            assert_eq!(of(KeyForm::Uuid, text), uuid, "{text}");
        }
        for text in ["", "0011", "00112233-44556677-8899-aabbccddeeff", "g0112233445566778899aabbccddeeff"] {
            assert_eq!(of(KeyForm::Uuid, text), None, "{text}");
        }
        assert_eq!(of(KeyForm::Text, " Ab c "), Some("Ab c".into()));
        assert_eq!(of(KeyForm::Text, "  "), None);
    }

    #[test]
    fn the_same_text_has_the_same_hash_under_one_key_and_another_under_another() {
        let list =
            |text: &str, agreed| hashed("lib:intersection-sum(4,4,64,16)", KeyForm::Email, agreed, text).unwrap();
        let one = list(r#"{"b": [{"key": "a@x.org", "value": 3}, {"key": " A@X.org", "value": 4}]}"#, &AGREED);
        assert_eq!((one.as_array().unwrap().len(), &one[0]["value"]), (1, &7.into()));
        let again = list(r#"{"b": [{"key": "a@x.org", "value": 7}]}"#, &AGREED);
        assert_eq!(again, one);
        assert_ne!(list(r#"{"b": [{"key": "a@x.org", "value": 7}]}"#, &[8; 32]), one);
        assert_ne!(list(r#"{"b": [{"key": "b@x.org", "value": 7}]}"#, &AGREED), one);
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        let told = |text: &str| hashed("lib:intersection-sum(4,4,64,16)", KeyForm::Email, &AGREED, text).unwrap_err();
        let row = r#"{"b": [{"key": "a@x.org", "value": 3}, {"key": "secret", "value": 4}]}"#;
        assert_eq!(told(row), "input `b`, row 2: expected an e-mail address, got another text");
        assert!(told(r#"{"b": [{"key": 3, "value": 3}]}"#).contains("got a number"));
        let long = format!(r#"{{"b": [{{"key": "{}@x.org", "value": 3}}]}}"#, "a".repeat(400));
        assert!(told(&long).contains("at most 320 bytes of UTF-8, got more"));
    }

    #[test]
    fn a_text_as_bits_that_says_it_is_longer_than_texts_are_is_refused() {
        let width = text_type().width() as usize;
        let told = |bits: String| {
            let text =
                format!(r#"{{"b": [{{"key": "a@x.org", "value": 3}}, {{"key": {{"bits": "{bits}"}}, "value": 4}}]}}"#);
            hashed("lib:intersection-sum(4,4,64,16)", KeyForm::Text, &AGREED, &text)
        };
        let counted = Type::count_width(TEXT_BYTES_MAX) as usize;
        for count in [u128::from(TEXT_BYTES_MAX) + 1, (1 << counted) - 1] {
            let bits = format!("{}{}", Bits::from_u128(count, counted), "0".repeat(width - counted));
            assert_eq!(told(bits), Err("input `b`, row 2: expected a text that is not empty, got another text".into()));
        }
        let full =
            Bits::from_u128(TEXT_BYTES_MAX.into(), counted).to_string() + &"10000010".repeat(TEXT_BYTES_MAX as usize);
        assert!(told(full).is_ok());
    }

    #[test]
    fn two_texts_of_one_hash_are_refused() {
        // Among 40 texts, some have the same hash of 5 bits.
        let rows: Vec<String> = (0..40).map(|k| format!(r#"{{"key": "t{k}", "value": 1}}"#)).collect();
        let text = format!(r#"{{"b": [{}]}}"#, rows.join(", "));
        let wrong = hashed("lib:intersection-sum(4,64,5,16)", KeyForm::Text, &AGREED, &text).unwrap_err();
        assert!(wrong.contains("not the text of row") && wrong.contains("hash of 5 bits"), "{wrong}");
    }

    /// A program of three parties' ordered lists of at most 2, 3 and 5 keys.
    fn three_lists() -> Program {
        let lists = [("a", 2), ("b", 3), ("c", 5)];
        let port = |(name, most)| Port::new(name, Type::List(Type::Unsigned(64).into(), most));
        let ports = lists.map(port).to_vec();
        let width = ports.iter().map(|port| port.ty.width() as u32).sum();
        let circuit = Circuit::new(width, Vec::new(), vec![Wire(0)]).unwrap();
        let component = Component::new("three", ports, vec![Port::new("z", Type::Bits(1))], circuit).unwrap();
        let mut program = Program::from_component(component, &[Party(0), Party(1), Party(2)]).unwrap();
        let ordered = lists.map(|(name, _)| Ordered { input: name.into(), key_bits: 64, order: Order::Strict });
        program.set_notes(Notes { ordered: ordered.to_vec(), ..Notes::default() });
        program
    }

    #[test]
    fn the_price_is_the_sum_over_pairs() {
        let price = |name: &str| KeyHash::new(KeyForm::Text, &AGREED).price(&library::find(name).unwrap());
        let Price { bits, pairs, log2, .. } = price("lib:intersection-sum(1024,4096,64,16)").unwrap();
        assert_eq!((bits, pairs, log2), (64, 1 << 22, -42.0));
        for name in ["lib:quantile(4,4,8,500)", "lib:top-k(4,8,8)", "lib:add(8)"] {
            assert_eq!(price(name), None, "{name}");
            let texts = KeyHash::new(KeyForm::Text, &AGREED).texts(&library::find(name).unwrap());
            assert_eq!(texts.err(), Some(NoKeys), "{name}");
        }
        assert_eq!(KeyHash::new(KeyForm::Text, &AGREED).price(&three_lists()).unwrap().pairs, 2 * 3 + 2 * 5 + 3 * 5);
        assert!(price("lib:join(4,4,32,8)").is_some() && price("lib:group-sum-by-key(4,4,2,32,8)").is_some());
    }
}
