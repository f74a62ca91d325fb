//! Places of what clients deal, and the servers' program where they take that as it is.

use std::ops::Range;

use garblet_circuit::{InputId, Party, Program, Recipients};
use garblet_protocol::party_io::{EVALUATOR, GARBLER};

use crate::{GENERATOR, plan::NOBODY};

/// The number that stands for clients in the servers' program.
const OTHERS: Party = Party(2);
/// The parties' program, from which the servers' is made.
pub(crate) struct Outline<'p> {
    pub(crate) program: &'p Program,
    pub(crate) cloud: Party,
    /// The outputs that clients learn, client by client.
    pub(crate) learned: Vec<usize>,
    /// The places of what clients deal.
    pub(crate) clients: &'p [Dealt],
    /// The inputs that are read.
    pub(crate) read: &'p [usize],
    /// The outputs that are kept.
    pub(crate) kept: Vec<usize>,
}

/// The places of what a client deals, among all that is dealt to a server.
pub(crate) struct Dealt {
    pub(crate) inputs: Vec<Range<usize>>,
    pub(crate) pads: Range<usize>,
    pub(crate) masks: Range<usize>,
}

impl Dealt {
    /// All places, in the order of the hash.
    pub(crate) fn all(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.inputs.iter().cloned().chain([self.pads.clone(), self.masks.clone()])
    }
}

/// The program of servers who take what is dealt as it is: theirs by the numbers that the base has for them.
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

/// The number that the base has for a server; none for clients.
pub(crate) fn seat(party: Party, cloud: Party) -> Option<Party> {
    match party {
        GENERATOR => Some(GARBLER),
        party if party == cloud => Some(EVALUATOR),
        _ => None,
    }
}

/// The servers among those who learn an output, by the numbers that the base has for them.
pub(crate) fn servers_of(recipients: &Recipients, cloud: Party) -> Vec<Party> {
    [GENERATOR, cloud]
        .into_iter()
        .filter(|&party| recipients.contains(party))
        .filter_map(|party| seat(party, cloud))
        .collect()
}

/// The places of what each client deals: inputs in program order, pads and what hides hashes, so many bits, client by client.
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
