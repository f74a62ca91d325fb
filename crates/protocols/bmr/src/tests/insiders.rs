//! The whole view of a coalition of recipients in a run by OT, given that public values of inputs are 0: no sum of its bits
//! tells two inputs with the same outputs apart. Programs are random, with many XOR gates.
//!
//! A block enters with its bit 0, which is 1 in deltas: so a sum of bits shows what a correlated OT says about a choice. Of the shares
//! of rows, only the evaluated row enters, without the masks, which the coalition can compute. The extensions themselves and the
//! coalition's other hashes are left out.

use garblet_circuit::{Recipients, Type};
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_net::{PerPeer, share_of};
use garblet_ot::BitVec;
use garblet_primitives::{Backend, Engine, QUAD_LANES};
use garblet_synthesis::builder::{Bit, BitString, CircuitBuilder};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    super::{
        linear,
        pairs::PairOts,
        party::{Garbler, Rows},
        rows::{self, Numbered},
        secrets::Secrets,
        source::RowSource,
        zeros,
    },
    *,
};
use garblet_protocol::run_id::RUN_ID_BYTES;
use garblet_runs::{
    joint::JointParty,
    testing::{
        coalition::{self, bits},
        is_full,
        mesh_run::{run_recorded, sent},
    },
};

/// More runs than a view has bits, plus the margin.
pub(super) const RUNS: usize = 500;

/// Bits of every party's input.
const WIDTH: u32 = 2;

/// A program whose AND operands and outputs are sums of random halves of the available wires.
pub(super) fn random_program(parties: u16, first: u16, seed: u64) -> Program {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut c = CircuitBuilder::new("sums");
    let inputs: Vec<BitString> = (0..parties).map(|k| c.input(format!("x{k}"), Type::Bits(WIDTH))).collect();
    let mut wires: Vec<Bit> = inputs.iter().flat_map(|input| input.0.clone()).collect();
    let mut some = |c: &mut CircuitBuilder, wires: &[Bit]| {
        let chosen: Vec<Bit> = wires.iter().copied().filter(|_| rng.random()).collect();
        c.parity(&chosen)
    };
    for _ in 0..4 {
        let operands = [(); 2].map(|()| some(&mut c, &wires));
        wires.push(c.and(operands[0], operands[1]));
    }
    // Half of the sums are of inputs only.
    let outputs = [wires.len(), inputs.len() * WIDTH as usize].map(|most| some(&mut c, &wires[..most]));
    c.output("y", &BitString(outputs.to_vec()));
    let owners: Vec<Party> = (0..parties).map(Party).collect();
    let mut program = Program::from_component(c.finish().unwrap(), &owners).unwrap();
    program.set_recipients(0, Recipients::Only((first..parties).map(Party).collect()));
    program
}

/// A party's knowledge about a run.
pub(super) struct Kept {
    pub(super) secrets: Secrets,
    numbered: Numbered,
    pub(super) circuit: Vec<Block>,
    /// All that it knows except what others send.
    pub(super) known: Vec<bool>,
}

/// The views of every run of the coalition of party `first` and all after it.
fn views(plan: &Arc<Plan>, first: u16, inputs: &[Bits], with_zeros: bool) -> Vec<Vec<bool>> {
    let part = async |session: &mut MeshSession| all_runs(session, plan, first, inputs, with_zeros).await;
    let (kept, transcripts) = run_recorded(plan.parties(), 13, part);
    let evaluated: Vec<Evaluated> =
        (0..RUNS).map(|run| evaluated(plan, inputs, kept.iter().map(|kept| &kept[run]))).collect();
    let members = kept[usize::from(first)..].iter();
    let known = |run: usize| members.clone().flat_map(move |kept| kept[run].known.clone());
    let mut views: Vec<Vec<bool>> =
        (0..RUNS).map(|run| known(run).chain(evaluated[run].public.clone()).collect()).collect();
    for from in 0..first {
        for to in first..plan.parties() {
            let sent = sent(&transcripts, from, to);
            for (run, view) in views.iter_mut().enumerate() {
                see(view, plan, &kept[usize::from(from)][run], to, &evaluated[run].rows, &sent, run);
            }
        }
    }
    views
}

/// Adds what a party sends to a member in a run.
fn see(view: &mut Vec<bool>, plan: &Plan, from: &Kept, to: u16, active: &[usize], sent: &[u8], run: usize) {
    let (own, gates) = (from.secrets.party, plan.and_count());
    let count = linear::count(plan, own.0);
    let part = |party| share_of(16 * plan.row_blocks(), 16 * plan.gate_blocks(), plan.parties(), party);
    let extension = plan.config().width().extension_bytes((count.chosen + count.later) as u64) as usize;
    let told = [count.chosen, gates, gates].map(|bits| bits.div_ceil(8));
    let all = extension + told.iter().sum::<usize>() + part(to).len() + part(own.0).len();
    let online =
        [plan.input_bits(own), 128 * plan.input_count(), plan.output_bits(Party(to))].map(|bits| bits.div_ceil(8));
    let online_all = RUN_ID_BYTES + online.iter().sum::<usize>();
    let before = sent.len() - RUNS * (all + online_all);
    let mut at = before + run * all + extension;
    let put = |view: &mut Vec<bool>, at: usize, bytes: usize| {
        view.extend(bits(&sent[at..at + bytes]));
    };
    for bytes in told {
        put(view, at, bytes);
        at += bytes;
    }
    // Without the masks; the coalition cannot remove this party's label.
    let mut masks = vec![Block::ZERO; plan.row_blocks()];
    rows::mask(plan, &from.secrets, from.numbered, &mut masks);
    let parties = usize::from(plan.parties());
    let rows = part(to);
    for (gate, bytes) in sent[at..at + rows.len()].chunks(16 * plan.gate_blocks()).enumerate() {
        let gate = gate + rows.start / (16 * plan.gate_blocks());
        for slot in 0..parties {
            let place = active[gate] * parties + slot;
            let share = Block::from_bytes(*bytes[16 * place..].first_chunk().unwrap());
            // Bit 0 of the label is 0.
            view.push((share ^ masks[4 * parties * gate + place]).lsb());
        }
    }
    let at = before + RUNS * all + run * online_all + RUN_ID_BYTES;
    put(view, at, online[0]);
    put(view, at + online[0] + online[1], online[2]);
}

/// One party's part in all runs.
pub(super) async fn all_runs(
    session: &mut MeshSession,
    plan: &Arc<Plan>,
    first: u16,
    inputs: &[Bits],
    with_zeros: bool,
) -> Result<Vec<Kept>, ProtocolError> {
    let BmrParty { garbler, rows } = BmrParty::setup(session, plan.clone()).await?;
    match rows {
        Rows::Linear(source) => runs_of(session, garbler, source, plan, first, inputs, with_zeros).await,
        Rows::HalfGates(source) => runs_of(session, garbler, source, plan, first, inputs, with_zeros).await,
        _ => unreachable!("our forms by OT"),
    }
}

async fn runs_of<S: RowSource<Material = PerPeer<PairOts>>>(
    session: &mut MeshSession,
    mut garbler: Garbler,
    mut source: S,
    plan: &Arc<Plan>,
    first: u16,
    inputs: &[Bits],
    with_zeros: bool,
) -> Result<Vec<Kept>, ProtocolError> {
    let own = Party(session.mesh().party());
    let values = own_inputs(plan.program(), own.0, inputs);
    let (mut ahead, mut all) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut secrets = garbler.secrets(session);
        let of_inputs = plan.inputs_of(own).zip(values.iter().flat_map(|value| value.iter().collect::<Vec<_>>()));
        let mut bits: Vec<bool> = secrets.permutation.public("a test").collect();
        of_inputs.for_each(|(at, value)| bits[at] = value);
        secrets.permutation = bits.into_iter().collect();
        let mut known: Vec<bool> = secrets.permutation.public("a test").collect();
        let ots = source.prepare(session, plan, &secrets).await?;
        for (_, ots) in ots.iter() {
            known.extend(ots.q.0.iter().chain(&ots.t.0).map(|block| block.lsb()).chain(ots.later.public("a test")));
        }
        let mut prepared = garbler.garble(session, &mut source, secrets, ots).await?;
        if !with_zeros {
            prepared.zeros.0.clear();
        }
        for recipient in (first..plan.parties()).map(Party) {
            let shares = prepared.zeros.0.iter();
            known.extend(shares.flat_map(|seed| {
                zeros::of_pair(*seed, recipient, plan.output_bits(recipient)).public("a test").collect::<Vec<_>>()
            }));
        }
        let (secrets, numbered, circuit) = (prepared.secrets.clone(), prepared.numbered, prepared.circuit.clone());
        all.push(Kept { secrets, numbered, circuit, known });
        ahead.push(prepared);
    }
    for prepared in ahead {
        BmrParty::online(prepared, plan, session, &values).await?;
    }
    Ok(all)
}

/// The rows and public values that an evaluator sees.
pub(super) fn evaluated<'a>(plan: &Plan, inputs: &[Bits], kept: impl Iterator<Item = &'a Kept>) -> Evaluated {
    let sum = kept
        .map(|kept| &kept.secrets.permutation)
        .fold(BitVec::zeros(plan.base_count()), |sum, bits| sum.xor(bits).unwrap());
    let values = inputs.iter().flat_map(|bits| bits.iter().collect::<Vec<_>>());
    let carried =
        values.enumerate().map(|(at, value)| [wire(value, sum.get(at).public("a test")); QUAD_LANES]).collect();
    let mut evaluated =
        Evaluated { permutation: sum, inputs: plan.input_count(), rows: Vec::new(), public: Vec::new() };
    walk(Backend::PORTABLE, plan.schedule(), 1, carried, &mut evaluated);
    evaluated
}

/// Wires that carry their public value in bit 0, and their permutation bit in bit 1.
pub(super) struct Evaluated {
    permutation: BitVec,
    inputs: usize,
    /// The row of every gate that is evaluated.
    rows: Vec<usize>,
    /// The public value of every gate's output.
    pub(super) public: Vec<bool>,
}

fn wire(value: bool, permutation: bool) -> Block {
    Block::from_u128(u128::from(value ^ permutation) | u128::from(permutation) << 1)
}

impl AndGates for Evaluated {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let value = |quad: &Quad, inverted: bool| {
            let bits = quad[0].halves()[0];
            (bits & 1 == 1) ^ (bits >> 1 & 1 == 1) ^ inverted
        };
        self.rows.push(2 * usize::from(gate.a[0][0].lsb()) + usize::from(gate.b[0][0].lsb()));
        let value = value(&gate.a[0], gate.inverted[0]) & value(&gate.b[0], gate.inverted[1]);
        let permutation = self.permutation.get(self.inputs + gate.index).public("a test");
        self.public.push(value ^ permutation);
        out[0] = [wire(value, permutation); QUAD_LANES];
    }
}

/// Tells whether the coalition sees the same with two inputs that give the same outputs; `None` if there are no such inputs.
fn hides(parties: u16, first: u16, seed: u64, with_zeros: bool) -> Option<bool> {
    let plan = plan(&random_program(parties, first, seed), parties, config(LINEAR, Hash::Rekeyed)).unwrap();
    coalition::hides(plan.program(), first, |inputs| views(&plan, first, inputs, with_zeros))
}

#[test]
fn no_sum_over_a_coalitions_view_reveals_inputs() {
    let functions = if is_full() { 3 } else { 1 };
    for (parties, first) in [(3, 2), (4, 2), (4, 3)] {
        let hidden = (0..30).filter_map(|seed| hides(parties, first, seed, true)).take(functions);
        assert_eq!(hidden.collect::<Vec<bool>>(), vec![true; functions], "{first} others of {parties}");
    }
    let hidden = (0..30).filter_map(|seed| hides(4, 2, seed, false)).take(3).filter(|hidden| *hidden).count();
    assert!(hidden < 3, "without shares of zero, a sum over the view reveals inputs");
}
