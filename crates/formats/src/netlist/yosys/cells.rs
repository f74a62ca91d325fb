//! The gates of Yosys.

use garblet_circuit::Literal;

use crate::netlist::graph::{At, Graph};

/// The most inputs of a gate.
pub(super) const INPUTS_MAX: usize = 4;

/// A kind of gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Buf,
    Not,
    And,
    Nand,
    Or,
    Nor,
    Xor,
    Xnor,
    AndNot,
    OrNot,
    Mux,
    Nmux,
    Aoi3,
    Oai3,
    Aoi4,
    Oai4,
}

/// The types of gates, each with its inputs. The output is `Y`.
const KINDS: [(&str, Kind, &str); 16] = [
    ("$_BUF_", Kind::Buf, "A"),
    ("$_NOT_", Kind::Not, "A"),
    ("$_AND_", Kind::And, "AB"),
    ("$_NAND_", Kind::Nand, "AB"),
    ("$_OR_", Kind::Or, "AB"),
    ("$_NOR_", Kind::Nor, "AB"),
    ("$_XOR_", Kind::Xor, "AB"),
    ("$_XNOR_", Kind::Xnor, "AB"),
    ("$_ANDNOT_", Kind::AndNot, "AB"),
    ("$_ORNOT_", Kind::OrNot, "AB"),
    ("$_MUX_", Kind::Mux, "ABS"),
    ("$_NMUX_", Kind::Nmux, "ABS"),
    ("$_AOI3_", Kind::Aoi3, "ABC"),
    ("$_OAI3_", Kind::Oai3, "ABC"),
    ("$_AOI4_", Kind::Aoi4, "ABCD"),
    ("$_OAI4_", Kind::Oai4, "ABCD"),
];

impl Kind {
    /// The kind of a cell's type, and the names of its inputs.
    pub(super) fn of(name: &str) -> Option<(Kind, &'static str)> {
        KINDS.iter().find(|(known, ..)| *known == name).map(|(_, kind, inputs)| (*kind, *inputs))
    }

    /// The value of a gate. Inputs that it does not have are not read.
    pub(super) fn value(self, graph: &mut Graph, [a, b, c, d]: [Literal; INPUTS_MAX], at: At) -> Literal {
        match self {
            Kind::Buf => a,
            Kind::Not => !a,
            Kind::And => graph.and(a, b, at),
            Kind::Nand => !graph.and(a, b, at),
            Kind::Or => graph.or(a, b, at),
            Kind::Nor => !graph.or(a, b, at),
            Kind::Xor => graph.xor(a, b, at),
            Kind::Xnor => !graph.xor(a, b, at),
            Kind::AndNot => graph.and(a, !b, at),
            Kind::OrNot => graph.or(a, !b, at),
            Kind::Mux => graph.mux(c, [a, b], at),
            Kind::Nmux => !graph.mux(c, [a, b], at),
            Kind::Aoi3 | Kind::Aoi4 => {
                let left = graph.and(a, b, at);
                let right = if self == Kind::Aoi3 { c } else { graph.and(c, d, at) };
                !graph.or(left, right, at)
            }
            Kind::Oai3 | Kind::Oai4 => {
                let left = graph.or(a, b, at);
                let right = if self == Kind::Oai3 { c } else { graph.or(c, d, at) };
                !graph.and(left, right, at)
            }
        }
    }
}

/// The kind of memory that a cell's type is, if it is any.
pub(super) fn memory(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix('$')?.to_ascii_lowercase();
    let contains = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match () {
        () if contains(&["latch", "_sr_"]) || name == "sr" => Some("latch"),
        () if contains(&["dff", "_ff_"]) || name == "ff" => Some("flip-flop"),
        () if name.starts_with("mem") => Some("memory"),
        () => None,
    }
}
