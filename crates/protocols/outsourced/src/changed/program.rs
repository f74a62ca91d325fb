//! The servers' program where the base only has inputs of single parties: bits dealt to a server are that server's input.
//!
//! Each input bit of a client is the sum of its two shares, each output of a client has both pads added, and the bits that
//! hide hashes are not read. None of this takes an AND gate.

use std::ops::Range;

use garblet_circuit::{
    Bits, Circuit, CircuitError, Component, Gate, Input, InputId, InstanceId, Link, Party, Port, Program, Recipients,
    Source, Type, Wire,
};
use garblet_protocol::party_io::{EVALUATOR, GARBLER};

use crate::dealt::{Dealt, Outline, seat, servers_of};

/// The bits that clients deal to each server, by purpose. They are its last inputs, one after another.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) shares: usize,
    pub(crate) pads: usize,
    pub(crate) masks: usize,
}

impl Sizes {
    pub(crate) fn of<'d>(clients: impl Iterator<Item = &'d Dealt>) -> Self {
        clients.fold(Sizes { shares: 0, pads: 0, masks: 0 }, |Sizes { shares, pads, masks }, dealt| Sizes {
            shares: shares + dealt.inputs.iter().map(Range::len).sum::<usize>(),
            pads: pads + dealt.pads.len(),
            masks: masks + dealt.masks.len(),
        })
    }

    /// The values of a server's last inputs, from all bits dealt to it.
    pub(crate) fn values(self, dealt: &Bits) -> Vec<Bits> {
        let Sizes { shares, pads, masks } = self;
        let parts = [(0, shares), (shares, pads), (shares + pads, masks)];
        parts.into_iter().filter(|(_, len)| *len > 0).map(|(start, len)| dealt.slice(start, len)).collect()
    }
}

/// The program of both servers: the servers' own inputs; the shares, pads and hash masks dealt to the first, then to the second; their own
/// outputs, and all padded outputs of clients, for both.
///
/// *Errors*: more bits than a circuit may have.
pub(crate) fn changed(outline: &Outline<'_>) -> Result<Program, CircuitError> {
    let Outline { program, cloud, .. } = *outline;
    let sizes = Sizes::of(outline.clients.iter());
    let mut changed = Program::new(program.name());
    for input in program.inputs() {
        if let Some(owner) = seat(input.owner, cloud) {
            changed.add_input(input.port.clone(), owner)?;
        }
    }
    let dealt = [(GARBLER, "generator"), (EVALUATOR, "cloud")];
    let mut ports = |what: &str, bits: usize| -> Result<Vec<Link>, CircuitError> {
        let mut links = Vec::new();
        for (owner, server) in dealt {
            let name = free(&format!("{what} of the {server}"), program);
            if bits > 0 {
                let input = changed.add_input(Port::new(name, Type::Bits(bits as u32)), owner)?;
                links.push(changed.input_link(input));
            }
        }
        Ok(links)
    };
    let (shares, pads) = (ports("shares", sizes.shares)?, ports("pads", sizes.pads)?);
    ports("masks", sizes.masks)?;
    program.components().iter().for_each(|component| _ = changed.add_component(component.clone()));
    let moved = Moved::new(
        outline,
        match sizes.shares {
            0 => None,
            bits => Some(sum(&mut changed, "shares", bits, &shares)?),
        },
    );
    for instance in 0..program.instance_count() as u32 {
        let instance = InstanceId(instance);
        let links: Vec<Link> = program.instance_links(instance).map(|link| moved.link(link)).collect();
        changed.add_instance(program.component_id(instance), &links)?;
    }
    for output in program.outputs() {
        let servers = servers_of(&output.recipients, cloud);
        if !servers.is_empty() {
            let links = output.links.iter().map(|&link| moved.link(link)).collect();
            changed.add_output(output.port.clone(), Recipients::Only(servers), links)?;
        }
    }
    if sizes.pads > 0 {
        let learned = outline.learned.iter().flat_map(|&output| &program.outputs()[output].links);
        let links: Vec<Link> = learned.map(|&link| moved.link(link)).chain(pads).collect();
        let padded = sum(&mut changed, "pads", sizes.pads, &links)?;
        let name = free("for clients", program);
        let port = Port::new(name, Type::Bits(sizes.pads as u32));
        changed.add_output(port, Recipients::Only(vec![GARBLER, EVALUATOR]), vec![padded])?;
    }
    Ok(changed)
}

/// Splits the outputs of the servers' program: a server's own outputs in the parties' program, and all padded outputs of clients.
pub(crate) fn taken_apart(
    program: &Program,
    cloud: Party,
    party: Party,
    outputs: Vec<Option<Bits>>,
) -> (Vec<Option<Bits>>, Bits) {
    let mut outputs = outputs.into_iter();
    let own = program.outputs().iter().map(|output| match servers_of(&output.recipients, cloud).is_empty() {
        true => None,
        false => outputs.next().flatten().filter(|_| output.recipients.contains(party)),
    });
    let own = own.collect();
    (own, outputs.next().flatten().unwrap_or_default())
}

/// Translates links of the parties' program to the servers' program.
struct Moved {
    /// The link of each input.
    inputs: Vec<Link>,
    /// The number of instances before those of the parties' program.
    before: u32,
}

impl Moved {
    /// The input ports whose links are parts of the sum of shares.
    fn new(outline: &Outline<'_>, sum: Option<Link>) -> Self {
        let (mut own, mut dealt) = (0, 0);
        let place = |input: &Input| {
            let len = input.port.width();
            match (seat(input.owner, outline.cloud), sum) {
                (Some(_), _) => {
                    own += 1;
                    Link { source: Source::Input(InputId(own - 1)), start: 0, len }
                }
                (None, Some(sum)) => {
                    dealt += len;
                    Link { start: dealt - len, len, ..sum }
                }
                // Clients have no bits at all, so this input has none.
                (None, None) => Link { source: Source::Constant(false), start: 0, len: 0 },
            }
        };
        Moved { inputs: outline.program.inputs().iter().map(place).collect(), before: u32::from(sum.is_some()) }
    }

    fn link(&self, link: Link) -> Link {
        match link.source {
            Source::Input(input) => {
                let moved = self.inputs[input.0 as usize];
                Link { start: moved.start + link.start, len: link.len, ..moved }
            }
            Source::Instance(instance) => {
                Link { source: Source::Instance(InstanceId(instance.0 + self.before)), ..link }
            }
            Source::Constant(_) => link,
        }
    }
}

/// Adds an instance that sums links of `bits` bits each, whose total is a multiple of that. Returns the sum.
fn sum(program: &mut Program, name: &str, bits: usize, links: &[Link]) -> Result<Link, CircuitError> {
    let all: u64 = links.iter().map(|link| u64::from(link.len)).sum();
    let too_many =
        CircuitError::TooMany { program: program.name().into(), what: "dealt bits", limit: u32::MAX as usize };
    let (all, bits) = (u32::try_from(all).map_err(|_| too_many)?, bits as u32);
    let mut gates = Vec::new();
    let mut sums: Vec<Wire> = (0..bits).map(Wire).collect();
    for wire in bits..all {
        let sum = &mut sums[(wire % bits) as usize];
        gates.push(Gate::Xor(*sum, Wire(wire)));
        *sum = Wire(all + gates.len() as u32 - 1);
    }
    let port = |name: &str, bits| Port::new(name, Type::Bits(bits));
    let circuit = Circuit::new(all, gates, sums)?;
    let component = Component::new(name, vec![port("terms", all)], vec![port("sum", bits)], circuit)?;
    let component = program.add_component(component);
    let instance = program.add_instance(component, links)?;
    Ok(program.instance_link(instance))
}

/// A name that no port of the program uses.
fn free(name: &str, program: &Program) -> String {
    let inputs = program.inputs().iter().map(|input| &input.port.name);
    let taken: Vec<&String> = inputs.chain(program.outputs().iter().map(|output| &output.port.name)).collect();
    let mut name = name.to_string();
    while taken.contains(&&name) {
        name.push('\'');
    }
    name
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{evaluate, random};
    use garblet_synthesis::{
        builder::{BitString, CircuitBuilder, Unsigned},
        library,
    };
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::dealt::dealt;

    /// Checks that randomly dealt shares and pads give the program's result.
    fn check(program: &Program, parties: u16, rng: &mut StdRng) {
        let (inputs, cloud) = (random::inputs(rng, program), Party(parties - 1));
        let outputs = program.outputs();
        let learned: Vec<(Party, usize)> = (1..cloud.0)
            .flat_map(|client| (0..outputs.len()).map(move |output| (Party(client), output)))
            .filter(|&(client, output)| outputs[output].recipients.contains(client))
            .collect();
        let places = dealt(program, cloud, 7);
        let outline = Outline {
            program,
            cloud,
            learned: learned.iter().map(|&(_, output)| output).collect(),
            clients: &places,
            read: &[],
            kept: Vec::new(),
        };
        let (sizes, changed) = (Sizes::of(places.iter()), changed(&outline).expect("it is small"));
        assert_eq!(changed.counts().and, program.counts().and);
        let all = sizes.shares + sizes.pads + sizes.masks;
        assert_eq!(places.iter().flat_map(|dealt| dealt.all()).map(|range| range.len()).sum::<usize>(), all);
        let mut of_servers = [(); 2].map(|()| -> Bits { (0..all).map(|_| rng.random()).collect() });
        for (client, places) in (1..).zip(&places) {
            let own = program.inputs().iter().zip(&inputs).filter(|(input, _)| input.owner == Party(client));
            let own = own.flat_map(|(_, value)| value.iter());
            for (place, bit) in places.inputs.iter().cloned().flatten().zip(own) {
                let share = of_servers[0].get(place);
                of_servers[1].set(place, share ^ bit);
            }
        }
        let own = program.inputs().iter().zip(&inputs).filter(|(input, _)| seat(input.owner, cloud).is_some());
        let mut values: Vec<Bits> = own.map(|(_, value)| value.clone()).collect();
        let [generator, cloud_s] = of_servers.each_ref().map(|dealt| sizes.values(dealt));
        values.extend(generator.into_iter().zip(cloud_s).flat_map(|(one, other)| [one, other]));
        let (expected, got) = (evaluate(program, &inputs), evaluate(&changed, &values));
        for (party, seat) in [(Party(0), GARBLER), (cloud, EVALUATOR)] {
            let learned = changed.outputs().iter().zip(&got);
            let learned = learned.map(|(output, value)| output.recipients.contains(seat).then(|| value.clone()));
            let (own, padded) = taken_apart(program, cloud, party, learned.collect());
            for ((output, expected), own) in outputs.iter().zip(&expected).zip(own) {
                assert_eq!(own.as_ref(), output.recipients.contains(party).then_some(expected));
            }
            check_padded(&padded, &of_servers, sizes, outline.learned.iter().map(|&output| &expected[output]));
        }
    }

    /// Checks that outputs are as expected once both pads are removed.
    fn check_padded<'e>(padded: &Bits, dealt: &[Bits; 2], sizes: Sizes, expected: impl Iterator<Item = &'e Bits>) {
        let pads = dealt.each_ref().map(|dealt| dealt.slice(sizes.shares, sizes.pads));
        let mut all = Bits::default();
        expected.for_each(|value| all.append(value));
        let bare = padded.iter().zip(pads[0].iter()).zip(pads[1].iter()).map(|((bit, one), other)| bit ^ one ^ other);
        assert_eq!(bare.collect::<Bits>(), all);
    }

    #[test]
    fn the_changed_program_computes_the_same_for_any_number_of_clients() {
        let mut rng = StdRng::seed_from_u64(7);
        for case in 0..100 {
            let parties = [3, 4, 10][case % 3];
            check(&random::program(&mut rng, 60, parties), parties, &mut rng);
        }
        for name in ["lib:add(16)", "lib:millionaires(8)", "lib:keyed-database(8,8,8)", "lib:aes-round"] {
            let mut program = library::find(name).expect("known");
            check(&program, 3, &mut rng);
            // Clients have all.
            for input in 0..program.inputs().len() as u32 {
                program.set_owner(InputId(input), Party(1 + input as u16 % 2));
            }
            (0..program.outputs().len()).for_each(|at| program.set_recipients(at, Recipients::Only(vec![Party(2)])));
            check(&program, 4, &mut rng);
        }
    }

    /// Only the second input has no wires.
    #[test]
    fn clients_without_input_bits_shift_nobodys_input() {
        let mut c = CircuitBuilder::new("sum");
        let a: Unsigned = c.input("a", Type::Unsigned(8));
        let BitString(_) = c.input("nothing", Type::Bits(0));
        let b: Unsigned = c.input("b", Type::Unsigned(8));
        let sum = c.add(&a, &b);
        c.output("sum", &sum);
        let component = c.finish().expect("whole");
        for owners in [[0, 1, 2], [2, 1, 0], [0, 1, 0], [2, 1, 2]] {
            let mut program = Program::from_component(component.clone(), &owners.map(Party)).expect("all have owners");
            for recipient in 0..3 {
                program.set_recipients(0, Recipients::Only(vec![Party(recipient)]));
                check(&program, 3, &mut StdRng::seed_from_u64(recipient.into()));
            }
            program.set_recipients(0, Recipients::All);
            check(&program, 3, &mut StdRng::seed_from_u64(9));
        }
    }

    #[test]
    fn names_that_are_taken_are_avoided() {
        let mut program = library::find("lib:add(4)").expect("known");
        let name = free("for clients", &program);
        let links = program.outputs()[0].links.clone();
        let port = program.outputs()[0].port.clone();
        program.add_output(Port { name, ..port }, Recipients::All, links).expect("it is new");
        assert_eq!(free("for clients", &program), "for clients'");
        check(&program, 3, &mut StdRng::seed_from_u64(8));
    }
}
