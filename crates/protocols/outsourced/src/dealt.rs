//! Positions of dealt bits, and the servers' program for a base that takes these bits directly.

use std::ops::Range;

use garblet_circuit::{InputId, Party, Program, Recipients};
use garblet_protocol::party_io::{EVALUATOR, GARBLER};

use crate::{GENERATOR, plan::NOBODY};

/// The number that stands for clients in the servers' program.
const OTHERS: Party = Party(2);
/// The parties' program, from which the servers' program is made.
pub(crate) struct Outline<'p> {
    pub(crate) program: &'p Program,
    pub(crate) cloud: Party,
    /// The outputs that clients learn, client by client.
    pub(crate) learned: Vec<usize>,
    /// The positions of dealt bits.
    pub(crate) clients: &'p [Dealt],
    /// The inputs read from a state.
    pub(crate) read: &'p [usize],
    /// The outputs to keep.
    pub(crate) kept: Vec<usize>,
}

/// The positions of a client's dealt bits among all bits dealt to a server.
pub(crate) struct Dealt {
    pub(crate) inputs: Vec<Range<usize>>,
    pub(crate) pads: Range<usize>,
    pub(crate) masks: Range<usize>,
}

impl Dealt {
    /// All positions, in the order of the hash.
    pub(crate) fn all(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.inputs.iter().cloned().chain([self.pads.clone(), self.masks.clone()])
    }
}

/// The program of servers that take dealt bits directly, with the servers numbered as in the base.
pub(crate) fn servers_program(outline: &Outline<'_>) -> Program {
    let (program, cloud) = (outline.program, outline.cloud);
    let mut changed = program.clone();
    for (number, input) in program.inputs().iter().enumerate() {
        let seat = match input.owner {
            NOBODY => NOBODY,
            party => seat(party, cloud).unwrap_or(OTHERS),
        };
        changed.set_owner(InputId(number as u32), seat);
    }
    for (number, output) in program.outputs().iter().enumerate() {
        changed.set_recipients(number, Recipients::Only(servers_of(&output.recipients, cloud)));
    }
    changed
}

/// The number that the base uses for a server; `None` for clients.
pub(crate) fn seat(party: Party, cloud: Party) -> Option<Party> {
    match party {
        GENERATOR => Some(GARBLER),
        party if party == cloud => Some(EVALUATOR),
        _ => None,
    }
}

/// The servers among the recipients of an output, numbered as in the base.
pub(crate) fn servers_of(recipients: &Recipients, cloud: Party) -> Vec<Party> {
    [GENERATOR, cloud]
        .into_iter()
        .filter(|&party| recipients.contains(party))
        .filter_map(|party| seat(party, cloud))
        .collect()
}

/// The positions of each client's dealt bits, client by client: inputs in program order, pads, and `hash_bits` bits that hide hashes.
pub(crate) fn dealt(program: &Program, cloud: Party, hash_bits: usize) -> Vec<Dealt> {
    let (inputs, outputs) = (program.inputs(), program.outputs());
    let clients = (1..cloud.0).map(Party);
    let mut place = 0;
    let mut next = |bits: usize| {
        place += bits;
        place - bits..place
    };
    let is_client = |party: &Party| (1..cloud.0).contains(&party.0);
    let of_inputs: Vec<(Party, Range<usize>)> = inputs
        .iter()
        .filter(|input| is_client(&input.owner))
        .map(|input| (input.owner, next(input.port.width() as usize)))
        .collect();
    let learned = |client: Party| outputs.iter().filter(move |output| output.recipients.contains(client));
    let pads: Vec<Range<usize>> =
        clients.clone().map(|client| next(learned(client).map(|output| output.port.width() as usize).sum())).collect();
    let masks: Vec<Range<usize>> = clients.clone().map(|_| next(hash_bits)).collect();
    let of_client = |(client, (pads, masks)): (Party, (Range<usize>, Range<usize>))| {
        let inputs = of_inputs.iter().filter(|(owner, _)| *owner == client).map(|(_, range)| range.clone()).collect();
        Dealt { inputs, pads, masks }
    };
    clients.zip(pads.into_iter().zip(masks)).map(of_client).collect()
}
