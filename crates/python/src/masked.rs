//! Programs whose outputs are masked: of many runs, only the sum of their results is learned.

use garblet::{
    Party, Program,
    circuit::{CircuitError, Input, InstanceId, Link, Output, Port, Recipients, Source, Type},
    library, tell_panics,
};

/// The bits of a mask and of what it masks.
const BITS: u32 = 64;

/// The reason why an output has no mask.
pub(crate) enum Unmasked {
    /// Its type is not that of a number that fits.
    Type(Type),
    /// Nobody else learns it.
    Alone,
    /// The program would be too large, or a name is taken.
    Program(CircuitError),
}

impl From<CircuitError> for Unmasked {
    fn from(error: CircuitError) -> Self {
        Unmasked::Program(error)
    }
}

/// The program with the sum of an output and a mask modulo 2^64 in place of the output, which all its other recipients learn. The mask is one more input,
/// `OUTPUT_mask` of `party`.
///
/// *Cost*: 63 AND gates.
pub(crate) fn masked(program: &Program, output: usize, party: Party) -> Result<Program, Unmasked> {
    let hidden = &program.outputs()[output];
    let width = match hidden.port.ty {
        Type::Unsigned(bits) if bits <= BITS => bits,
        _ => return Err(Unmasked::Type(hidden.port.ty.clone())),
    };
    let recipients = (0..program.party_count()).map(Party).filter(|of| *of != party && hidden.recipients.contains(*of));
    let recipients: Vec<Party> = recipients.collect();
    if recipients.is_empty() {
        return Err(Unmasked::Alone);
    }
    let mut made = Program::new(program.name());
    for component in program.components() {
        made.add_component(component.clone());
    }
    for Input { port, owner } in program.inputs() {
        made.add_input(port.clone(), *owner)?;
    }
    let mask = made.add_input(Port::new(format!("{}_mask", hidden.port.name), Type::Unsigned(BITS)), party)?;
    for instance in (0..program.instance_count() as u32).map(InstanceId) {
        let links: Vec<Link> = program.instance_links(instance).collect();
        made.add_instance(program.component_id(instance), &links)?;
    }
    let zeros = Link { source: Source::Constant(false), start: 0, len: BITS - width };
    let mut links = hidden.links.clone();
    links.extend((zeros.len > 0).then_some(zeros));
    links.push(made.input_link(mask));
    let adder = library::find("add(64)").expect("it is in the library");
    let adder = made.add_component(adder.components()[0].clone());
    let sum = made.add_instance(adder, &links)?;
    for (number, Output { port, recipients: all, links }) in program.outputs().iter().enumerate() {
        match number == output {
            true => {
                let port = Port::new(port.name.clone(), Type::Unsigned(BITS));
                made.add_output(port, Recipients::Only(recipients.clone()), vec![made.instance_link(sum)])?;
            }
            false => made.add_output(port.clone(), all.clone(), links.clone())?,
        }
    }
    made.set_notes(program.notes().clone());
    tell_panics(&mut made);
    Ok(made)
}
