//! Ports made of bits with names.

use std::{borrow::Cow, collections::HashMap};

use garblet_circuit::{Circuit, CircuitError, Component, Port, Type};

use crate::wires::reordered;

/// The most ports of a side. The bits of more are one port.
pub(super) const MAX_PORTS: usize = 4096;

/// The number in the name of a bit, and its place in the file.
type NamedBit = (Option<u32>, usize);

/// The ports of a side.
pub(super) struct Side {
    pub(super) ports: Vec<Port>,
    /// The bits of the file in the order of the ports' wires; none if it is that of the file.
    order: Option<Vec<u32>>,
}

impl Side {
    /// One port for all bits, whose order the file does not state.
    pub(super) fn whole(name: &str, bits: usize) -> Self {
        Side { ports: vec![Port::new(name, Type::Bits(bits as u32))], order: None }
    }

    /// Ports of the bits of the file in another order.
    pub(super) fn in_order(ports: Vec<Port>, order: Vec<u32>) -> Self {
        Side { ports, order: Some(order) }
    }

    /// Ports from the names of bits. `a[0]`, `a[1]`, .. are the wires of a port `a` from its least significant bit on, in any order, if the
    /// numbers have no gap and nothing else is named `a`; every other bit is a port. `a[0]_01`, .. are a port `a_01`, as ABC names step 1. Ports come in the order of their first bits. More than
    /// [`MAX_PORTS`] become one port named `whole`.
    pub(super) fn of_names(names: &[&str], whole: &str) -> Self {
        let mut groups: Vec<(Cow<'_, str>, Vec<NamedBit>)> = Vec::new();
        let mut places = HashMap::new();
        for (bit, name) in names.iter().enumerate() {
            let (base, index) = indexed(name).map_or((Cow::Borrowed(*name), None), |(base, index)| (base, Some(index)));
            let place = *places.entry(base.clone()).or_insert(groups.len());
            if place == groups.len() {
                groups.push((base, Vec::new()));
            }
            groups[place].1.push((index, bit));
        }
        let (mut ports, mut order) = (Vec::new(), Vec::new());
        for (base, mut bits) in groups {
            bits.sort_unstable();
            let follows = |pair: &[NamedBit]| pair[0].0.and_then(|low| low.checked_add(1)) == pair[1].0;
            if bits[0].0.is_some() && bits.windows(2).all(follows) {
                ports.push(Port::new(&*base, Type::Bits(bits.len() as u32)));
            } else {
                bits.sort_unstable_by_key(|(_, bit)| *bit);
                ports.extend(bits.iter().map(|(_, bit)| Port::new(names[*bit], Type::Bits(1))));
            }
            order.extend(bits.iter().map(|(_, bit)| *bit as u32));
        }
        match ports.len() > MAX_PORTS {
            true => Side::whole(whole, names.len()),
            false => Side { ports, order: Some(order) },
        }
    }
}

/// A component of a circuit whose inputs and outputs are in the order of the file.
///
/// *Errors*: two ports of a side have one name.
pub(super) fn component(name: &str, [inputs, outputs]: [Side; 2], circuit: Circuit) -> Result<Component, CircuitError> {
    let circuit = reordered(circuit, inputs.order.as_deref(), outputs.order.as_deref())?;
    Component::new(name, inputs.ports, outputs.ports, circuit)
}

/// `a` and 3 of `a[3]`; `a_01` and 3 of `a[3]_01`.
fn indexed(name: &str) -> Option<(Cow<'_, str>, u32)> {
    let (name, step) = match name.rsplit_once("]_") {
        Some((before, step)) if step.bytes().all(|byte| byte.is_ascii_digit()) => (before, Some(step)),
        _ => (name.strip_suffix(']')?, None),
    };
    let (base, index) = name.rsplit_once('[')?;
    let plain = index.bytes().all(|byte| byte.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
    let index = index.parse().ok().filter(|_| plain)?;
    let whole = step.map_or(Cow::Borrowed(base), |step| Cow::Owned(format!("{base}_{step}")));
    (!base.is_empty()).then_some((whole, index))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> (Vec<String>, Vec<u32>) {
        let Side { ports, order } = Side::of_names(names, "in0");
        (ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect(), order.unwrap_or_default())
    }

    #[test]
    fn numbered_bits_are_a_port_from_the_least_significant_on() {
        assert_eq!(of(&["a[1]", "b", "a[0]", "a[2]"]), (vec!["a: bits3".into(), "b: bits1".into()], vec![2, 0, 3, 1]));
        assert_eq!(of(&["x[7]", "x[5]", "x[6]"]), (vec!["x: bits3".into()], vec![1, 2, 0]));
        assert_eq!(of(&["x[0]_00", "x[1]_00", "x[0]_01"]).0, ["x_00: bits2", "x_01: bits1"]);
        assert_eq!(of(&["m[1][0]", "m[1][1]", "m[0][0]"]).0, ["m[1]: bits2", "m[0]: bits1"]);
    }

    #[test]
    fn other_bits_are_ports_of_their_own() {
        for names in [&["a[0]", "a[2]"][..], &["a", "a[0]"], &["[0]", "a[01]"], &["a[x]", "a]"], &["a[0]", "a[0]"]] {
            let (ports, order) = of(names);
            let single: Vec<String> = names.iter().map(|name| format!("{name}: bits1")).collect();
            assert_eq!((ports, order), (single, vec![0, 1]), "{names:?}");
        }
        assert_eq!(of(&[]), (vec![], vec![]));
    }

    #[test]
    fn very_many_ports_become_one() {
        let names: Vec<String> = (0..=MAX_PORTS).map(|k| format!("x{k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(of(&names).0, [format!("in0: bits{}", MAX_PORTS + 1)]);
        assert_eq!(of(&names[1..]).0.len(), MAX_PORTS);
    }
}
