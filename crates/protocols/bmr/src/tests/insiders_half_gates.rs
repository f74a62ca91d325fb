//! All that the evaluator of half gates and garblers with it see of a run, as in [`insiders`](super::insiders): no sum of it tells two
//! inputs with the same outputs apart.
//!
//! Of a part of a table that an honest garbler sends to a member there is what the evaluator can free from hashes: the sum that it
//! evaluates. What an honest garbler sends to the evaluator is an active label then, of which bit 0 is the public value.

use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_primitives::{Backend, Engine, QUAD_LANES};

use super::{
    insiders::{Kept, RUNS, all_runs, evaluated, random_program},
    tables::{Garbler, ONE},
    *,
};
use garblet_protocol::run_id::RUN_ID_BYTES;
use garblet_runs::testing::{
    coalition::{self, bits},
    is_full,
    mesh_run::{run_recorded, sent},
};

/// The views of the coalition of the parties from `first` on, of which the first evaluates, of every run.
fn views(plan: &Arc<Plan>, first: u16, inputs: &[Bits], with_zeros: bool) -> Vec<Vec<bool>> {
    assert_eq!(plan.evaluator(), Party(first));
    let part = async |session: &mut MeshSession| all_runs(session, plan, first, inputs, with_zeros).await;
    let (kept, transcripts) = run_recorded(plan.parties(), 13, part);
    let links = (0..first).flat_map(|from| (first..plan.parties()).map(move |to| (from, to)));
    let links: Vec<(u16, u16, Vec<u8>)> = links.map(|(from, to)| (from, to, sent(&transcripts, from, to))).collect();
    let view = |run: usize| {
        let kept: Vec<&Kept> = kept.iter().map(|kept| &kept[run]).collect();
        let public = evaluated(plan, inputs, kept.iter().copied()).public;
        let mut view: Vec<bool> = kept[usize::from(first)..].iter().flat_map(|kept| kept.known.clone()).collect();
        for (from, to, sent) in &links {
            let (from, seeds) = (kept[usize::from(*from)], &kept[usize::from(first)].circuit);
            Seen { plan, from, seeds, public: &public }.add(&mut view, Party(*to), sent, run);
        }
        view.extend(public);
        view
    };
    (0..RUNS).map(view).collect()
}

/// A run of an honest garbler.
struct Seen<'a> {
    plan: &'a Plan,
    from: &'a Kept,
    /// The seeds of hash keys.
    seeds: &'a [Block],
    /// The public values of gates.
    public: &'a [bool],
}

impl Seen<'_> {
    /// Adds what a member has from it, among all bytes that it sent.
    fn add(&self, view: &mut Vec<bool>, to: Party, sent: &[u8], run: usize) {
        let (plan, own, gates) = (self.plan, self.from.secrets.party, self.plan.and_count());
        let packed = |bits: usize| bits.div_ceil(8);
        let chosen = plan.input_bits(own) + gates;
        let extension = plan.config().width().extension_bytes((chosen + gates) as u64) as usize;
        // Bits after bytes that tell nothing, and the bytes of tables.
        let (skipped, told, tables) = match plan.slot(to) {
            Some(_) => (extension, vec![chosen, gates, gates], 48 * gates),
            None => (0, vec![gates, gates], 16 + 48 * gates),
        };
        let all = skipped + told.iter().copied().map(packed).sum::<usize>() + tables;
        let shares = packed(plan.output_bits(to));
        let online = RUN_ID_BYTES + packed(plan.input_bits(own)) + label_bytes(plan, to) + shares;
        let before = sent.len() - RUNS * (all + online);
        let mut rest = &sent[before + run * all + skipped..];
        for count in told {
            view.extend(bits(&rest[..packed(count)]));
            rest = &rest[packed(count)..];
        }
        if let Some(slot) = plan.slot(to) {
            view.extend(self.freed(slot, &rest[..tables]));
        }
        let online = &sent[before + RUNS * all + run * online..][RUN_ID_BYTES..online];
        view.extend(bits(&online[..packed(plan.input_bits(own))]).chain(bits(&online[online.len() - shares..])));
    }

    /// Bit 0 of what the evaluator frees from hashes of the part for a delta.
    fn freed(&self, slot: usize, tables: &[u8]) -> Vec<bool> {
        let secrets = &self.from.secrets;
        let garbler =
            Garbler { delta: secrets.delta.block(), seed: self.seeds[self.plan.slot(secrets.party).unwrap()] };
        let inputs = (0..self.plan.input_count()).map(|at| [secrets.label(at, false); QUAD_LANES]).collect();
        let labels =
            (self.plan.input_count()..).zip(self.public).map(|(at, public)| secrets.label(at, *public)).collect();
        let blocks = tables.as_chunks().0.iter().map(|block| Block::from_bytes(*block)).collect();
        let mut freed = Freed { garbler, slots: self.plan.slots(), slot, labels, blocks, bits: Vec::new() };
        walk(Backend::PORTABLE, self.plan.schedule(), 1, inputs, &mut freed);
        freed.bits
    }
}

/// Wires that carry active labels of an honest garbler.
struct Freed {
    garbler: Garbler,
    slots: usize,
    slot: usize,
    /// The active labels of gates.
    labels: Vec<Block>,
    /// Its part of the tables for a delta.
    blocks: Vec<Block>,
    bits: Vec<bool>,
}

impl AndGates for Freed {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let operands = [(gate.a, gate.inverted[0]), (gate.b, gate.inverted[1])];
        let [a, b] = operands.map(|(wire, inverted)| wire[0][0] ^ ONE & Block::mask(inverted));
        let hash = |half, label| self.garbler.hash(self.slots, (gate.index, self.slot, half), label);
        let [first, second, third] = [0, 1, 2].map(|k| self.blocks[3 * gate.index + k]);
        let sum = third ^ first & Block::mask(a.lsb()) ^ second & Block::mask(b.lsb()) ^ hash(0, a) ^ hash(1, b);
        self.bits.push(sum.lsb());
        out[0] = [self.labels[gate.index]; QUAD_LANES];
    }
}

/// Tells whether the coalition sees the same with two inputs that give the same outputs; none if there are no such inputs.
fn hides(parties: u16, first: u16, seed: u64, with_zeros: bool) -> Option<bool> {
    let plan = plan(&random_program(parties, first, seed), parties, config(HALF_GATES, Hash::Rekeyed)).unwrap();
    coalition::hides(plan.program(), first, |inputs| views(&plan, first, inputs, with_zeros))
}

#[test]
fn no_sum_of_all_that_a_coalition_with_the_evaluator_sees_tells_inputs() {
    let functions = if is_full() { 3 } else { 1 };
    for (parties, first) in [(3, 2), (4, 2), (4, 3)] {
        let hidden = (0..30).filter_map(|seed| hides(parties, first, seed, true)).take(functions);
        assert_eq!(hidden.collect::<Vec<bool>>(), vec![true; functions], "{first} others of {parties}");
    }
    let hidden = (0..30).filter_map(|seed| hides(4, 2, seed, false)).take(3).filter(|hidden| *hidden).count();
    assert!(hidden < 3, "without shares of zero a sum of what is seen tells inputs");
}
