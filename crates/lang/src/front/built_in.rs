//! The built-in functions of the language.

use std::collections::HashMap;

/// A built-in function. A function of the source that has the same name takes its place, as in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltIn {
    Min,
    Max,
    Sqrt,
    Sort,
    Keep,
    Join,
    /// Only a `for` loop can run over it.
    JoinIter,
}

impl BuiltIn {
    /// All of them, by name.
    pub(super) const ALL: [(&str, BuiltIn); 7] = [
        ("min", BuiltIn::Min),
        ("max", BuiltIn::Max),
        ("sqrt", BuiltIn::Sqrt),
        ("sort", BuiltIn::Sort),
        ("keep", BuiltIn::Keep),
        ("join", BuiltIn::Join),
        ("join_iter", BuiltIn::JoinIter),
    ];

    /// The built-in function that a call of `name` means, if the source does not define a function of that name.
    pub(super) fn called<F>(name: &str, source: &HashMap<String, F>) -> Option<Self> {
        let built_in = BuiltIn::ALL.iter().find(|(own, _)| *own == name)?;
        (!source.contains_key(name)).then_some(built_in.1)
    }

    /// The number of arguments.
    pub(super) fn arity(self) -> usize {
        match self {
            BuiltIn::Sqrt | BuiltIn::Sort | BuiltIn::Keep => 1,
            BuiltIn::Min | BuiltIn::Max | BuiltIn::Join | BuiltIn::JoinIter => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Bits, evaluate};

    use super::*;
    use crate::compile::{Options, compile};

    /// The result of a source on inputs of a byte each.
    fn result(source: &str, inputs: [u128; 2]) -> Option<u128> {
        let compiled = compile("main", "main.garble.rs", source, &Options::default(), &[]);
        let (program, _) = compiled.unwrap_or_else(|faults| panic!("{source}: {faults:?}"));
        evaluate(&program, &inputs.map(|input| Bits::from_u128(input, 8)))[0].to_u128()
    }

    #[test]
    fn a_function_of_the_source_takes_the_place_of_each() {
        for (name, built_in) in BuiltIn::ALL {
            let source = match built_in.arity() {
                1 => format!("fn {name}(x: u8) -> u8 {{ x ^ 1 }}\npub fn main(a: u8, b: u8) -> u8 {{ {name}(a) ^ b }}"),
                _ => format!(
                    "fn {name}(x: u8, y: u8) -> u8 {{ x ^ y ^ 1 }}\npub fn main(a: u8, b: u8) -> u8 {{ {name}(a, b) }}"
                ),
            };
            assert_eq!(result(&source, [5, 3]), Some(7), "{name}");
            let of_arrays = format!(
                "fn {name}(x: [u8; 2]) -> [u8; 2] {{ [x[1], 1] }}
                pub fn main(a: u8, b: u8) -> u8 {{ let mut s = 0; for x in {name}([a, b]) {{ s = s ^ (x << 1); }} s }}"
            );
            assert_eq!(result(&of_arrays, [5, 3]), Some(4), "{name}");
        }
    }

    #[test]
    fn each_is_there_without_one() {
        for (name, built_in) in BuiltIn::ALL {
            let wrong = format!("pub fn main(a: u8, b: u8) -> u8 {{ for x in {name}() {{ }} a ^ b }}");
            let faults = compile("main", "main.garble.rs", &wrong, &Options::default(), &[]).expect_err("no arguments");
            let arity = built_in.arity();
            let plural = if arity == 1 { "" } else { "s" };
            assert_eq!(faults[0].message, format!("expected {arity} argument{plural}, got 0"), "{name}");
        }
    }
}
