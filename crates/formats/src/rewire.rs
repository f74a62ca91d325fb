//! Other ports for a circuit: a file may have none for each party, or have their bits the other way round.

use std::ops::Range;

use garblet_circuit::{
    CircuitError, Component, InputId, InstanceId, Party, Port, Program, Source, Type,
    diagnostic::{Diagnostic, nearest},
    notes::Notes,
};

use crate::wires::reordered;

/// An input port to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewInput {
    /// Its name.
    pub name: String,
    /// The number of its wires. None for an input that the program has at this place; it keeps its type.
    pub width: Option<u32>,
    /// Its owner.
    pub owner: Party,
}

/// Cuts the input wires of a circuit into other ports, in order.
///
/// *Errors*: a program that is not one circuit; widths that are not those of all its inputs together; an input that does not begin at this
/// place; two ports with one name.
pub fn with_inputs(program: &Program, inputs: &[NewInput]) -> Result<Program, Diagnostic> {
    let circuit = one_circuit(program)?;
    let wrong = |message: String| Err(Diagnostic::new(program.name(), message));
    let mut ports = Vec::new();
    let mut first = 0u64;
    for NewInput { name, width, .. } in inputs {
        let ty = match width {
            Some(width) => Type::Bits(*width),
            None => match ranges(circuit.inputs()).find(|(port, _)| port.name == *name) {
                Some((port, range)) if u64::from(range.start) == first => port.ty.clone(),
                Some((_, range)) => {
                    return wrong(format!("input `{name}` begins at wire {}, expected wire {first}", range.start));
                }
                None => return Err(no_port(program, name, circuit.inputs()).hint("give its width: NAME:WIDTH=K")),
            },
        };
        first += ty.width();
        ports.push(Port::new(name, ty));
    }
    if first != u64::from(circuit.input_width()) {
        return wrong(format!("the ports have {first} wires, expected {}, all of the inputs", circuit.input_width()));
    }
    let owners: Vec<Party> = inputs.iter().map(|input| input.owner).collect();
    let component = Component::new(circuit.name(), ports, circuit.outputs().to_vec(), circuit.circuit().clone());
    let mut cut = again(program, component.and_then(|component| Program::from_component(component, &owners)))?;
    // Other ports do not say which bit is first either.
    cut.set_notes(program.notes().clone());
    Ok(cut)
}

/// Turns the wires of an input or an output of a circuit around.
///
/// *Errors*: a program that is not one circuit, or has no such port.
pub fn reversed(program: &Program, port: &str) -> Result<Program, Diagnostic> {
    let circuit = one_circuit(program)?;
    let order = |ports: &[Port]| {
        let found = ranges(ports).find(|(own, _)| own.name == port).map(|(_, range)| range)?;
        let width = ports.iter().map(Port::width).sum();
        Some(
            (0..width)
                .map(|wire| if found.contains(&wire) { found.start + found.end - 1 - wire } else { wire })
                .collect(),
        )
    };
    let orders: [Option<Vec<u32>>; 2] = [circuit.inputs(), circuit.outputs()].map(order);
    let [None, None] = orders else {
        let body = reordered(circuit.circuit().clone(), orders[0].as_deref(), orders[1].as_deref());
        let ports = (circuit.inputs().to_vec(), circuit.outputs().to_vec());
        let component = body.and_then(|body| Component::new(circuit.name(), ports.0, ports.1, body));
        let owners: Vec<Party> = program.inputs().iter().map(|input| input.owner).collect();
        return again(program, component.and_then(|component| Program::from_component(component, &owners)));
    };
    let all: Vec<Port> = circuit.inputs().iter().chain(circuit.outputs()).cloned().collect();
    Err(no_port(program, port, &all))
}

/// The ports with their wires.
fn ranges(ports: &[Port]) -> impl Iterator<Item = (&Port, Range<u32>)> {
    ports.iter().scan(0, |first, port| {
        let range = *first..*first + port.width();
        *first = range.end;
        Some((port, range))
    })
}

/// The component of a program that is this component alone.
fn one_circuit(program: &Program) -> Result<&Component, Diagnostic> {
    let links = (0..program.inputs().len()).map(|input| program.input_link(InputId(input as u32)));
    let plain = Notes { warnings: Vec::new(), file: None, ..program.notes().clone() } == Notes::default();
    let alone = program.instance_count() == 1 && plain;
    if alone {
        let instance = InstanceId(0);
        let outputs: Vec<_> = program.outputs().iter().flat_map(|output| &output.links).collect();
        let mut first = 0;
        let in_order = outputs.iter().all(|link| {
            let follows = link.source == Source::Instance(instance) && link.start == first;
            first += link.len;
            follows
        });
        if in_order
            && program.instance_links(instance).eq(links)
            && first == program.component_of(instance).output_width()
        {
            return Ok(program.component_of(instance));
        }
    }
    let error = Diagnostic::new(program.name(), "is not one circuit, whose ports could be changed");
    Err(error.hint("make one of it: garblet convert PROGRAM OUT.txt"))
}

fn no_port(program: &Program, name: &str, ports: &[Port]) -> Diagnostic {
    let known: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let near = nearest(name, &known).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Diagnostic::new(program.name(), format!("has no port `{name}`{near}"))
}

/// The program with the recipients of the one before, and its relation to the file.
fn again(before: &Program, program: Result<Program, CircuitError>) -> Result<Program, Diagnostic> {
    let mut program = program.map_err(|error| Diagnostic::new(before.name(), error.to_string()))?;
    for (place, output) in before.outputs().iter().enumerate() {
        program.set_recipients(place, output.recipients.clone());
    }
    program.set_notes(Notes { file: before.notes().file, ..Notes::default() });
    Ok(program)
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Bits, Recipients, evaluate, random};
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::front_end::FrontEnds;

    /// `out0` is all eight input bits, `out1` the AND of the first and the last.
    fn circuit() -> Program {
        let text = "9 17\n2 6 2\n2 8 1\n".to_string()
            + &(0..8).map(|k| format!("1 1 {k} {} EQW\n", k + 8)).collect::<String>()
            + "2 1 0 7 16 AND\n";
        FrontEnds::standard().read("c.txt", &mut text.as_bytes()).unwrap()
    }

    fn input(name: &str, width: Option<u32>, owner: u16) -> NewInput {
        NewInput { name: name.into(), width, owner: Party(owner) }
    }

    fn outputs(program: &Program, inputs: &[u128]) -> Vec<u128> {
        let widths = program.inputs().iter().map(|input| input.port.width() as usize);
        let inputs: Vec<Bits> =
            inputs.iter().zip(widths).map(|(value, width)| Bits::from_u128(*value, width)).collect();
        evaluate(program, &inputs).iter().map(|bits| bits.to_u128().unwrap()).collect()
    }

    #[test]
    fn input_wires_are_cut_into_ports_of_parties() {
        let mut program = circuit();
        program.set_recipients(1, Recipients::Only(vec![Party(1)]));
        let cut = with_inputs(&program, &[input("a", Some(4), 1), input("b", Some(4), 0)]).unwrap();
        let ports: Vec<_> = cut.inputs().iter().map(|i| (i.port.name.as_str(), i.port.width(), i.owner.0)).collect();
        assert_eq!(ports, [("a", 4, 1), ("b", 4, 0)]);
        assert_eq!(outputs(&cut, &[0b0001, 0b1001]), [0b1001_0001, 1]);
        assert_eq!(cut.outputs()[1].recipients, Recipients::Only(vec![Party(1)]));
        // An input that is there keeps its type.
        let kept = with_inputs(&program, &[input("in0", None, 2), input("rest", Some(2), 0)]).unwrap();
        assert_eq!((kept.inputs()[0].owner, kept.inputs()[0].port.width()), (Party(2), 6));
    }

    #[test]
    fn cutting_inputs_says_no_more_of_the_order_of_bits_and_turning_a_port_does() {
        let old = FrontEnds::standard().read("c.txt", &mut &b"1 5\n2 2 1\n2 1 0 3 4 AND\n"[..]).unwrap();
        let cut = with_inputs(&old, &[input("a", Some(4), 0)]).unwrap();
        assert_eq!((&cut.notes().warnings, old.notes().warnings.len()), (&old.notes().warnings, 1));
        assert!(reversed(&cut, "a").unwrap().notes().warnings.is_empty());
    }

    #[test]
    fn ports_that_do_not_fit_are_refused() {
        let fails = |inputs: &[NewInput]| with_inputs(&circuit(), inputs).unwrap_err().to_string();
        assert_eq!(fails(&[input("a", Some(7), 0)]), "c: the ports have 7 wires, expected 8, all of the inputs");
        assert_eq!(
            fails(&[input("a", Some(u32::MAX), 0)]),
            "c: the ports have 4294967295 wires, expected 8, all of the inputs"
        );
        assert_eq!(fails(&[input("in1", None, 0)]), "c: input `in1` begins at wire 6, expected wire 0");
        assert_eq!(fails(&[input("in2", None, 0)]), "c: has no port `in2`; did you mean `in0`?");
        let twice = fails(&[input("a", Some(4), 0), input("a", Some(4), 1)]);
        assert_eq!(twice, "c: component `c`: input port `a` appears twice");
        let two = FrontEnds::standard().load("lib:levenshtein(2,2,2)").unwrap();
        let refused = with_inputs(&two, &[]).unwrap_err().to_string();
        assert!(refused.ends_with("is not one circuit, whose ports could be changed"), "{refused}");
    }

    #[test]
    fn a_port_is_turned_around_and_the_others_stay() {
        let program = circuit();
        assert_eq!(outputs(&program, &[0b00_0001, 0b10]), [0b1000_0001, 1]);
        let turned = reversed(&program, "in0").unwrap();
        assert_eq!(outputs(&turned, &[0b10_0000, 0b10]), [0b1000_0001, 1]);
        let turned = reversed(&program, "out0").unwrap();
        assert_eq!(outputs(&turned, &[0b00_0011, 0b10]), [0b1100_0001, 1]);
        assert_eq!(reversed(&program, "in2").unwrap_err().to_string(), "c: has no port `in2`; did you mean `in0`?");
    }

    proptest! {
        #[test]
        fn a_port_that_is_turned_around_twice_computes_the_same(seed: u64) {
            let rng = &mut StdRng::seed_from_u64(seed);
            let program = random::single(rng, 60, 2);
            let ports = program.inputs().iter().map(|i| i.port.name.clone()).chain(program.outputs().iter().map(|o| o.port.name.clone()));
            for port in ports.collect::<Vec<_>>() {
                let once = reversed(&program, &port).unwrap();
                let twice = reversed(&once, &port).unwrap();
                prop_assert_eq!(twice.digest(), program.digest());
                let given = random::inputs(rng, &program);
                let turn = |values: Vec<Bits>, names: Vec<&str>| -> Vec<Bits> {
                    let turned = values.into_iter().zip(names);
                    turned.map(|(bits, name)| if name == port { bits.iter().rev().collect() } else { bits }).collect()
                };
                let inputs = turn(given.clone(), program.inputs().iter().map(|i| &*i.port.name).collect());
                let expected = turn(evaluate(&program, &given), program.outputs().iter().map(|o| &*o.port.name).collect());
                prop_assert_eq!(evaluate(&once, &inputs), expected);
            }
        }
    }
}
