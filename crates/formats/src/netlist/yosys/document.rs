//! The parts of the JSON that are read, gate by gate.

use std::{borrow::Cow, collections::HashSet, fmt};

use garblet_circuit::diagnostic::{Diagnostic, clip};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use super::cells::{INPUTS_MAX, Kind, memory};
use crate::netlist::FLATTEN;

/// A whole text.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Document<'a> {
    #[serde(borrow)]
    modules: Members<'a, Module<'a>>,
}

/// A module: its ports, its gates, and the cells that are none.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Module<'a> {
    #[serde(default)]
    attributes: Attributes,
    #[serde(borrow, default)]
    pub(super) ports: Members<'a, Port<'a>>,
    #[serde(borrow, default)]
    pub(super) cells: Cells<'a>,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object")]
struct Attributes {
    #[serde(default)]
    top: Flag,
    #[serde(default)]
    blackbox: Flag,
}

/// A number, or its binary digits, that is not 0.
#[derive(Default)]
struct Flag(bool);

/// A port.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Port<'a> {
    #[serde(borrow)]
    pub(super) direction: Cow<'a, str>,
    pub(super) bits: Vec<Bit>,
}

/// A bit of a port or of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    Wire(u32),
    Constant(bool),
    /// `x` or `z`.
    Undefined(char),
}

/// The cells of a module.
#[derive(Default)]
pub(super) struct Cells<'a> {
    pub(super) gates: Vec<Gate<'a>>,
    /// The number of cells that are memory, and the kind and name of the first.
    pub(super) memory: u64,
    pub(super) first_memory: Option<(&'static str, Cow<'a, str>)>,
    /// The name and type of the first other cell that is no gate.
    pub(super) other: Option<[Cow<'a, str>; 2]>,
}

/// A gate.
pub(super) struct Gate<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) kind: Kind,
    /// As many as the kind has; the rest are 0.
    pub(super) inputs: [Bit; INPUTS_MAX],
    pub(super) output: Bit,
}

impl<'a> Document<'a> {
    /// The module that is marked as the top, or the only one.
    pub(super) fn top(self, file: &str) -> Result<Module<'a>, Diagnostic> {
        let mut modules = self.modules.0;
        modules.retain(|(_, module)| !module.attributes.blackbox.0);
        let marked = modules.iter().position(|(_, module)| module.attributes.top.0);
        match (marked, modules.len()) {
            (Some(place), _) => Ok(modules.swap_remove(place).1),
            (None, 1) => Ok(modules.swap_remove(0).1),
            (None, 0) => Err(Diagnostic::new(file, "is a netlist of Yosys without modules, expected one")),
            (None, _) => {
                let names: Vec<String> = modules.iter().take(8).map(|(name, _)| clip(name)).collect();
                let message =
                    format!("has {} modules, none of them marked as the top: {}", modules.len(), names.join(", "));
                Err(Diagnostic::new(file, message).hint(FLATTEN))
            }
        }
    }
}

impl<'a> Cells<'a> {
    /// Adds a cell.
    ///
    /// *Errors*: a gate without one of its bits, or with several for one.
    fn add(&mut self, name: Cow<'a, str>, cell: &Cell<'a>) -> Result<(), String> {
        let Some((kind, inputs)) = Kind::of(&cell.kind) else {
            if let Some(kind) = memory(&cell.kind) {
                self.memory += 1;
                self.first_memory.get_or_insert((kind, name));
            } else if cell.kind != "$scopeinfo" {
                self.other.get_or_insert([name, cell.kind.clone()]);
            }
            return Ok(());
        };
        let bit = |pin: char| {
            let bits = cell.connections.0.iter().find(|(name, _)| name.chars().eq([pin])).map(|(_, bits)| &bits[..]);
            match bits {
                Some([bit]) => Ok(*bit),
                Some(bits) => Err(format!("cell `{}`: `{pin}` has {} bits, expected 1", clip(&name), bits.len())),
                None => Err(format!("cell `{}`: `{pin}` is missing", clip(&name))),
            }
        };
        let mut bits = [Bit::Constant(false); INPUTS_MAX];
        for (place, pin) in inputs.chars().enumerate() {
            bits[place] = bit(pin)?;
        }
        let output = bit('Y')?;
        self.gates.push(Gate { name, kind, inputs: bits, output });
        Ok(())
    }
}

/// A cell as it is written.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Cell<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    connections: Members<'a, Vec<Bit>>,
}

/// A key.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object, in order.
pub(super) struct Members<'a, T>(pub(super) Vec<(Cow<'a, str>, T)>);

impl<T> Default for Members<'_, T> {
    fn default() -> Self {
        Members(Vec::new())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Members<'a, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (mut members, mut names) = (Vec::new(), HashSet::new());
        each_member(from, |name: Name<'a>, member: T| {
            if !names.insert(name.0.clone()) {
                return Err(format!("`{}` appears twice in one object, expected it once", clip(&name.0)));
            }
            members.push((name.0, member));
            Ok(())
        })?;
        Ok(Members(members))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Cells<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut cells = Cells::default();
        each_member(from, |name: Name<'a>, cell: Cell<'a>| cells.add(name.0, &cell))?;
        Ok(cells)
    }
}

/// Takes the members of an object one by one.
fn each_member<'de, D: Deserializer<'de>, N: Deserialize<'de>, T: Deserialize<'de>>(
    from: D,
    take: impl FnMut(N, T) -> Result<(), String>,
) -> Result<(), D::Error> {
    struct Each<N, T, F>(F, std::marker::PhantomData<(N, T)>);

    impl<'de, N: Deserialize<'de>, T: Deserialize<'de>, F: FnMut(N, T) -> Result<(), String>> Visitor<'de>
        for Each<N, T, F>
    {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some((name, member)) = map.next_entry()? {
                (self.0)(name, member).map_err(A::Error::custom)?;
            }
            Ok(())
        }
    }

    from.deserialize_map(Each(take, std::marker::PhantomData))
}

impl fmt::Display for Bit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bit::Wire(number) => write!(f, "{number}"),
            Bit::Constant(value) => write!(f, "{}", u8::from(*value)),
            Bit::Undefined(letter) => write!(f, "{letter}"),
        }
    }
}

impl<'de> Deserialize<'de> for Bit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneBit;

        impl Visitor<'_> for OneBit {
            type Value = Bit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a bit, \"0\" or \"1\"")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Bit, E> {
                let small = u32::try_from(number)
                    .map_err(|_| E::custom(format!("bit {number}, expected {} at most", u32::MAX)));
                small.map(Bit::Wire)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bit, E> {
                match text {
                    "0" => Ok(Bit::Constant(false)),
                    "1" => Ok(Bit::Constant(true)),
                    "x" => Ok(Bit::Undefined('x')),
                    "z" => Ok(Bit::Undefined('z')),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(&clip(text)), &self)),
                }
            }
        }

        from.deserialize_any(OneBit)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Digits;

        impl Visitor<'_> for Digits {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or its binary digits")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Flag, E> {
                Ok(Flag(number != 0))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Flag, E> {
                Ok(Flag(text.contains('1')))
            }
        }

        from.deserialize_any(Digits)
    }
}
