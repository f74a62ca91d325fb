//! Properties of lists that the circuits of a program file rely on: an input of the program that goes unchanged into such a circuit must have
//! them too.

use std::collections::HashMap;

use garblet_circuit::{
    ComponentId, Link, Program, Source, Type,
    notes::{Limit, Order, Ordered},
};

/// The inputs of a circuit whose properties it relies on.
#[derive(Default)]
pub(super) struct Relied {
    ports: Vec<Port>,
}

struct Port {
    /// The first of its wires among those of all inputs.
    first: u32,
    ty: Type,
    ordered: Option<Ordered>,
    limit: Option<Limit>,
}

impl Relied {
    /// The inputs on whose order or limits a loaded circuit relies.
    pub(super) fn of(circuit: &Program) -> Self {
        let mut next = 0;
        let port = |input: &garblet_circuit::Input| {
            let (first, ty) = (next, input.port.ty.clone());
            next += ty.width() as u32;
            let (ordered, limit) = (circuit.notes().ordered(&input.port.name), circuit.notes().limit(&input.port.name));
            Port { first, ty, ordered: ordered.cloned(), limit: limit.cloned() }
        };
        let ports = circuit.inputs().iter().map(port);
        Relied { ports: ports.filter(|port| port.ordered.is_some() || port.limit.is_some()).collect() }
    }
}

/// Notes, for each input of the program that goes unchanged into a circuit, what the circuit relies on. `feeds` are the links into each instance,
/// `components` its component.
///
/// *Errors*: an input whose properties for two circuits, or for the file and a circuit, cannot both be checked.
pub(super) fn inherit(
    program: &mut Program,
    relied: &HashMap<ComponentId, Relied>,
    components: &[ComponentId],
    feeds: &[Vec<Link>],
) -> Result<(), String> {
    let mut notes = program.notes().clone();
    for (component, links) in components.iter().zip(feeds) {
        for port in relied.get(component).into_iter().flat_map(|relied| &relied.ports) {
            let Some(input) = whole_input(program, port, links) else { continue };
            let name = &program.inputs()[input].port.name;
            if let Some(ordered) = &port.ordered {
                match notes.ordered.iter_mut().find(|own| own.input == *name) {
                    None => notes.ordered.push(Ordered { input: name.clone(), ..ordered.clone() }),
                    Some(own) => own.order = both(own, ordered)?,
                }
            }
            if let Some(limit) = &port.limit {
                match notes.limits.iter_mut().find(|own| own.input == *name) {
                    None => notes.limits.push(Limit { input: name.clone(), ..limit.clone() }),
                    Some(own) if own.bits == limit.bits => own.below = own.below.min(limit.below),
                    Some(own) => {
                        return Err(format!(
                            "input `{name}`: expected numbers of one width for all circuits that it goes into, got {} and {} bits",
                            own.bits, limit.bits
                        ));
                    }
                }
            }
        }
    }
    program.set_notes(notes);
    Ok(())
}

/// The order that satisfies both of two.
fn both(one: &Ordered, other: &Ordered) -> Result<Order, String> {
    match (one.order, other.order) {
        _ if one.key_bits != other.key_bits => {}
        (Order::Ascending | Order::Strict, Order::Strict) | (Order::Strict, Order::Ascending) => {
            return Ok(Order::Strict);
        }
        (one, other) if one == other => return Ok(one),
        _ => {}
    }
    let said = |ordered: &Ordered| format!("{} by a key of {} bits", ordered.order, ordered.key_bits);
    Err(format!(
        "input `{}`: expected one order for all circuits that it goes into, got {}, and {}",
        one.input,
        said(one),
        said(other)
    ))
}

/// The input of the program that feeds all of a circuit's input, wire by wire, with rows of the same width and number.
fn whole_input(program: &Program, port: &Port, links: &[Link]) -> Option<usize> {
    let (first, end) = (port.first, port.first + port.ty.width() as u32);
    let mut at = 0;
    let mut found = None;
    for link in links {
        let begin = at;
        at += link.len;
        if !(first..end).contains(&begin) {
            continue;
        }
        match link.source {
            Source::Input(input) if link.start == begin - first && found.is_none_or(|found| found == input) => {
                found = Some(input);
            }
            _ => return None,
        }
    }
    let input = found?.0 as usize;
    (shape(&program.inputs()[input].port.ty) == shape(&port.ty)).then_some(input)
}

/// The kind of a list or an array, true for a list, the number of its rows, and the bits of one.
fn shape(ty: &Type) -> Option<(bool, u32, u64)> {
    match ty {
        Type::List(element, most) => Some((true, *most, element.width())),
        Type::Array(element, count) => Some((false, *count, element.width())),
        _ => None,
    }
}
