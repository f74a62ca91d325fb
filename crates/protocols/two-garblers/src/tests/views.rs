//! The view of a single party is the same for all inputs of the others that give it the same outputs.

use garblet_circuit::{evaluate, random};
use garblet_protocol::{domain::SessionId, run_id::RUN_ID_BYTES};
use garblet_runs::testing::{
    coalition::{self, FUNCTIONS, Function, bits},
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

/// Tells whether the evaluator's views, with what is added to each, are the same for all inputs that give it the same outputs.
fn evaluators_views_hide(name: &str, function: Function, add: impl Fn(&[Bits], &mut Vec<bool>)) -> bool {
    let program = coalition::program(function, 3, 2);
    let plan = plan(&program, Build::Stream);
    assert_eq!(plan.evaluator(), Party(2));
    let views = |inputs: &[Bits]| {
        let mut views = evaluators_views(&plan, inputs);
        views.iter_mut().for_each(|view| add(inputs, view));
        views
    };
    coalition::hides(&program, 2, views).unwrap_or_else(|| panic!("two such inputs of {name}"))
}

#[test]
fn no_sum_of_what_the_evaluator_sees_tells_inputs() {
    for (name, function) in FUNCTIONS {
        assert!(evaluators_views_hide(name, function, |_, _| ()), "{name}");
    }
}

/// The test above finds a bit of a garbler's input under the sum of two random bits that the evaluator sees too, and does not take that sum alone for a leak.
#[test]
fn a_planted_leak_to_the_evaluator_is_found() {
    for (name, function) in FUNCTIONS {
        for is_leak in [true, false] {
            // The last bits of a view are decoding bits.
            let add = |inputs: &[Bits], view: &mut Vec<bool>| {
                let [.., one, other] = view[..] else { panic!("a view has bits") };
                view.push(one ^ other ^ (is_leak & inputs[0].get(1)));
            };
            assert_eq!(evaluators_views_hide(name, function, add), !is_leak, "{name}");
        }
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

/// Tells whether a garbler receives the same bytes from both others, with what is added to each, for two inputs that differ at both others and give it the
/// same outputs; `None` if its outputs tell all inputs. All coins are the same. The share of the second garbler may differ by the evaluator's input.
fn garblers_view_hides(
    function: Function,
    (seat, build): (usize, Build),
    add: impl Fn(&[Bits], &mut Vec<u8>),
) -> Option<bool> {
    let mut program = coalition::program(function, 3, 0);
    for output in 0..program.outputs().len() {
        program.set_recipients(output, members(7));
    }
    let plan = plan(&program, build);
    let (own, evaluator) = (plan.garblers()[seat], plan.evaluator());
    let received = |inputs: Vec<Bits>| {
        let (_, transcripts) = runs(&plan, &inputs, 1, 10);
        plan.others(own).map(|peer| {
            let mut bytes = sent(&transcripts, peer.0, own.0);
            if peer == evaluator && seat == 1 {
                // Two bits of input.
                bytes[2 * meeting::WORD_BYTES + RUN_ID_BYTES] ^= inputs[usize::from(evaluator.0)].to_bytes()[0];
            }
            add(&inputs, &mut bytes);
            bytes
        })
    };
    let [one, other] = twins(&program, own)?.map(received);
    Some(one == other)
}

/// All cases in which a garbler's outputs do not tell it all inputs: both garblers, each with another time at which tables are sent.
fn garblers_views_hide(add: impl Fn(&[Bits], &mut Vec<u8>)) -> Vec<bool> {
    let cases = FUNCTIONS.iter().flat_map(|(_, function)| [0, 1].map(|seat| (*function, seat)));
    cases.filter_map(|(function, seat)| garblers_view_hides(function, (seat, BUILDS[seat]), &add)).collect()
}

/// With the same coins, a garbler receives the same bytes, except for its share: the first one is a random string of the evaluator's, and the second
/// one its sum with the evaluator's input.
#[test]
fn a_garbler_receives_shares_and_outputs_and_nothing_else() {
    // The last function tells the first garbler all inputs.
    assert_eq!(garblers_views_hide(|_, _| ()), [true; 7]);
}

/// The test above finds a bit of the evaluator's input, and one of the other garbler's.
#[test]
fn a_planted_leak_to_a_garbler_is_found() {
    // Party 0 evaluates. The garbler's own input is the same in both runs, so that a difference is the other one's.
    for leaking in [vec![0], vec![1, 2]] {
        let leak = |inputs: &[Bits], bytes: &mut Vec<u8>| {
            leaking.iter().for_each(|party| bytes.extend(inputs[*party].to_bytes()))
        };
        assert_eq!(garblers_views_hide(leak), [false; 7], "{leaking:?}");
    }
}
