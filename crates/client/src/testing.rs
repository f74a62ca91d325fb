//! Jobs and generators of the tests.

use std::convert::Infallible;

use garblet_circuit::{Bits, Party, Port, Recipients, Type};
use garblet_primitives::{Block, Prg};
use rand_core::{TryCryptoRng, TryRng};
use serde_json::Value;

use crate::{
    Answer, Destination, Identity, Job, JobInput, JobOutput, Kept, Origin, Pending, Place, Server, Statistical,
    Submission, Terms, ToServer, deal,
};

pub(crate) const CLIENT: Party = Party(1);

/// Terms of two clients, of which the first has all ports.
pub(crate) fn terms(inputs: u32, outputs: u32, statistical: Statistical) -> Terms {
    let input = JobInput { port: Port::new("x", Type::Bits(inputs)), origin: Origin::Party(CLIENT) };
    let to = Destination::Parties(Recipients::Only(vec![CLIENT]));
    Terms {
        program: std::array::from_fn(|i| i as u8),
        inputs: vec![input],
        outputs: vec![JobOutput { port: Port::new("y", Type::Bits(outputs)), to }],
        generator: Identity([0xaa; 32]),
        clients: vec![Identity([0xbb; 32]), Identity([0xcc; 32])],
        cloud: Identity([0xdd; 32]),
        statistical,
        parameters: vec![("base".into(), "authenticated".into())],
        keeps: None,
        label: "a label".into(),
    }
}

/// The same with a state: version 4 is read, version 5 is kept.
pub(crate) fn with_state(mut terms: Terms) -> Terms {
    let port = |name: &str| Port::new(name, Type::Unsigned(32));
    let origin = Origin::State { state: "ledger".into(), output: "after".into(), version: 4 };
    terms.inputs.push(JobInput { port: port("before"), origin });
    terms.outputs.push(JobOutput { port: port("after"), to: Destination::State });
    terms.keeps = Some(Kept { state: "ledger".into(), version: 5 });
    terms
}

pub(crate) fn job(inputs: u32, outputs: u32, statistical: Statistical) -> Job {
    Job::new(terms(inputs, outputs, statistical)).unwrap()
}

/// The bytes of a text in known answers.
pub(crate) fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(Block::from_u128(seed))
}

pub(crate) fn random_bits(len: usize, seed: u128) -> Bits {
    let mut bytes = vec![0; len.div_ceil(8)];
    rng(seed).fill_bytes(&mut bytes);
    Bits::from_bytes(&bytes).slice(0, len)
}

/// Messages of a random input, and what opens the answers.
pub(crate) fn dealt(job: &Job, input: &Bits, counter: u64) -> (ToServer, ToServer, Pending) {
    deal(job, CLIENT, counter, input, &mut rng(counter.into())).unwrap()
}

pub(crate) fn submissions(job: &Job, to: [&ToServer; 2]) -> [Submission; 2] {
    let read = |to: &ToServer, server| Submission::decode(to.payload(), job, CLIENT, server).unwrap();
    [read(to[0], Server::Generator), read(to[1], Server::Cloud)]
}

/// The answer of honest servers that computed `output`.
pub(crate) fn answer(place: &Place, of: &[Submission; 2], output: &Bits, version: u64, chain: u8) -> Answer {
    let [pad_g, pad_c] = [0, 1].map(|server| of[server].expand().pad.clone());
    let masked = output.iter().zip(pad_g.iter()).zip(pad_c.iter()).map(|((y, g), c)| y ^ g ^ c).collect();
    Answer { run: place.run(), version, chain: [chain; 32], masked }
}

/// A generator whose bytes are given.
pub(crate) struct Script(pub(crate) Vec<u8>);

impl TryRng for Script {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("bytes are drawn at once")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("bytes are drawn at once")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        let rest = self.0.split_off(bytes.len());
        bytes.copy_from_slice(&std::mem::replace(&mut self.0, rest));
        Ok(())
    }
}

impl TryCryptoRng for Script {}
