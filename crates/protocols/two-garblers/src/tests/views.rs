//! The view of a single party is the same for all inputs of the others that give it the same outputs.

use garblet_circuit::{evaluate, random};
use garblet_protocol::{domain::SessionId, run_id::RUN_ID_BYTES};
use garblet_runs::testing::{
    coalition::{self, FUNCTIONS, bits},
    mesh_run::sent,
};
use rand::{SeedableRng, rngs::StdRng};

use super::*;

/// More runs than a view has bits, and the margin of hulls.
const RUNS: usize = 160;

/// The informative bits of all that the evaluator sees of every run: bit 0 of labels, permutation bits, decoding bits, its shares and its outputs.
/// Hashes are left out.
fn evaluators_views(plan: &Arc<Plan>, inputs: &[Bits]) -> Vec<Vec<bool>> {
    let (learned, transcripts) = runs(plan, inputs, RUNS, 9);
    let evaluator = plan.evaluator();
    let mut views: Vec<Vec<bool>> = learned[usize::from(evaluator.0)]
        .iter()
        .map(|outputs| outputs.iter().flatten().flat_map(|output| output.iter().collect::<Vec<_>>()).collect())
        .collect();
    let decoding = decoding::message_bytes(plan);
    let mut masked: Vec<Vec<Vec<u8>>> = vec![Vec::new(); RUNS];
    let shares = plan.share_bits().div_ceil(8);
    for (seat, garbler) in plan.garblers().into_iter().enumerate() {
        let all = sent(&transcripts, garbler.0, evaluator.0);
        let before = if seat == 0 { commitments::message_bytes(plan) } else { meeting::WORD_BYTES };
        let labels = 16 * plan.held_bits(seat);
        let tables = plan.table_bytes(seat) as usize + meeting::WORD_BYTES;
        let of_run = before + RUN_ID_BYTES + labels + tables + decoding;
        let permutation = if seat == 0 { (2 * plan.share_bits()).div_ceil(8) } else { 0 };
        assert_eq!(all.len(), 2 * meeting::WORD_BYTES + RUNS * of_run);
        let runs = all[2 * meeting::WORD_BYTES..].chunks(of_run);
        for ((view, masked), run) in views.iter_mut().zip(&mut masked).zip(runs) {
            view.extend(bits(&run[before - permutation..before]));
            let active = &run[before + RUN_ID_BYTES..][..labels];
            view.extend(active.chunks(16).map(|label| label[0] & 1 == 1));
            masked.push(run[of_run - decoding..].to_vec());
        }
        let told = sent(&transcripts, evaluator.0, garbler.0);
        let of_run = RUN_ID_BYTES + shares;
        assert_eq!(told.len(), 2 * meeting::WORD_BYTES + RUNS * of_run, "no other party learns anything");
        for (view, run) in views.iter_mut().zip(told[2 * meeting::WORD_BYTES..].chunks(of_run)) {
            view.extend(bits(&run[RUN_ID_BYTES..]));
        }
    }
    let session = session(plan, &transcripts);
    for (number, (view, masked)) in (0..).zip(views.iter_mut().zip(&masked)) {
        let decoding = decoding::open(plan, &session.run(number), [&masked[0], &masked[1]]).expect("honest garblers");
        view.extend(decoding.iter());
    }
    views
}

/// The session of these transcripts, in which every party's nonce comes first.
fn session(plan: &Plan, transcripts: &[PairTranscript]) -> SessionId {
    plan.session(&[0, 1, 2].map(|party| {
        let sent = sent(transcripts, party, plan.others(Party(party))[0].0);
        *sent.first_chunk().expect("a nonce")
    }))
}

#[test]
fn no_sum_of_what_the_evaluator_sees_tells_inputs() {
    for (name, function) in FUNCTIONS {
        let program = coalition::program(function, 3, 2);
        let plan = plan(&program, Build::Stream);
        assert_eq!(plan.evaluator(), Party(2));
        let hidden = coalition::hides(&program, 2, |inputs| evaluators_views(&plan, inputs));
        assert_eq!(hidden, Some(true), "{name}");
    }
}

/// Two inputs that differ at both other parties, with the same input and outputs of party `own`; `None` if its outputs tell all inputs.
fn twins(program: &Program, own: Party) -> Option<[Vec<Bits>; 2]> {
    let learned = |inputs: &[Bits]| {
        let all = program.outputs().iter().zip(evaluate(program, inputs));
        all.filter(|(output, _)| output.recipients.contains(own)).map(|(_, value)| value).collect::<Vec<Bits>>()
    };
    let mut rng = StdRng::seed_from_u64(6);
    let mut pairs = (0..10_000).map(|_| {
        let [one, mut other] = [(); 2].map(|()| random::inputs(&mut rng, program));
        other[usize::from(own.0)] = one[usize::from(own.0)].clone();
        [one, other]
    });
    let differ = |[one, other]: &[Vec<Bits>; 2]| {
        (0..3).filter(|party| one[*party] != other[*party]).count() == 2 && learned(one) == learned(other)
    };
    pairs.find(differ)
}

/// With the same coins, a garbler receives the same bytes, except for its share: the first one is a random string of the evaluator's, and the second
/// one its sum with the evaluator's input.
#[test]
fn a_garbler_receives_shares_and_outputs_and_nothing_else() {
    let mut compared = 0;
    for (name, function) in FUNCTIONS {
        let mut program = coalition::program(function, 3, 0);
        for output in 0..program.outputs().len() {
            program.set_recipients(output, members(7));
        }
        for (seat, build) in [(0, BUILDS[0]), (1, BUILDS[1])] {
            let plan = plan(&program, build);
            let (own, evaluator) = (plan.garblers()[seat], plan.evaluator());
            let Some(twins) = twins(&program, own) else { continue };
            compared += 1;
            let [one, other] = twins.clone().map(|inputs| {
                let (_, transcripts) = runs(&plan, &inputs, 1, 10);
                plan.others(own).map(|peer| sent(&transcripts, peer.0, own.0))
            });
            let share = 2 * meeting::WORD_BYTES + RUN_ID_BYTES;
            for (peer, (one, mut other)) in plan.others(own).into_iter().zip(one.into_iter().zip(other)) {
                if peer == evaluator && seat == 1 {
                    // Two bits of input.
                    let [x, y] =
                        [0, 1].map(|twin| twins[twin][usize::from(evaluator.0)].to_u128().expect("short") as u8);
                    other[share] ^= x ^ y;
                }
                assert!(one == other, "{name}: {peer} to {own}");
            }
        }
    }
    assert_eq!(compared, 7, "the last function tells the first garbler all inputs");
}
