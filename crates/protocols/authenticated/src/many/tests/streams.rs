//! Circuits that are streamed: lies in the first lot and in the last end in exactly their check, and nothing that depends on gates leaves before the verdict.

use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

use garblet_protocol::{checks::Check, conduct::Honest};

use super::{lies::found, *};
use crate::{
    config::Build,
    many::{checks, shares::Shares},
};

/// The evaluator.
const EVALUATOR: u16 = 2;

/// The lots of [`chain`], of one gate, two and two.
const LOTS: usize = 3;

/// A byte of a message of tables: the last one of the third block of the first gate, on which all results hang.
pub(super) const BLOCK: usize = 16 * 2 + 15;

/// A change of one message.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Bit 0 of this byte.
    Flip(usize),
    /// The message of the same step with this number comes once more.
    Replay(usize),
    /// The last bit of the first byte, which is beyond the bits of a lot.
    Pad,
}

/// A lie of a party in one message of a step to a party, or to all.
#[derive(Clone, Copy, Debug)]
struct Lie {
    by: u16,
    step: Step,
    to: Option<u16>,
    /// The number of messages of that step before it, to the same party.
    after: usize,
    change: Change,
}

/// All messages of a party.
type Sent = Arc<Mutex<Vec<(Step, usize, Vec<u8>)>>>;

/// A party's result, and what it sent.
type Ended = (Result<Vec<Option<Bits>>, ProtocolError>, Sent);

/// The conduct of a party that lies in some messages.
struct Late {
    lies: Vec<Lie>,
    sent: Sent,
}

impl Conduct<Step> for Late {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let mut sent = self.sent.lock().expect("nobody panics");
        let before: Vec<&Vec<u8>> =
            sent.iter().filter(|(of, to, _)| (*of, *to) == (step, index)).map(|(_, _, bytes)| bytes).collect();
        let is_meant = |lie: &&Lie| {
            lie.step == step && lie.to.is_none_or(|to| usize::from(to) == index) && lie.after == before.len()
        };
        for lie in self.lies.iter().filter(is_meant) {
            match lie.change {
                Change::Flip(byte) => bytes[byte] ^= 1,
                Change::Pad => bytes[0] ^= 0x80,
                Change::Replay(number) => {
                    assert_ne!(before[number], bytes, "it would be no lie");
                    bytes.copy_from_slice(before[number]);
                }
            }
        }
        sent.push((step, index, bytes.to_vec()));
    }
}

/// Gates that each read the last one's result, with inputs of all and outputs for all.
pub(super) fn chain() -> Program {
    let gates = [(0, 1), (3, 2), (4, 0), (5, 1), (6, 2)].map(|(a, b)| Gate::And(Wire(a), Wire(b))).to_vec();
    circuit(&[0, 1, EVALUATOR], 1, gates, vec![Wire(7), Wire(3)])
}

fn streamed(check: ResultCheck) -> Arc<Plan> {
    let config = Config { check, build: Build::Stream, evaluator: EVALUATOR, ..Config::default() };
    Arc::new(Plan::new(Arc::new(chain()), 3, config).expect("it can be run"))
}

/// The results of all parties, with everything that they sent.
fn results(check: ResultCheck, lies: &[Lie], seed: u64) -> Vec<Ended> {
    let plan = streamed(check);
    let sent: Vec<Sent> = (0..3).map(|_| Sent::default()).collect();
    let inputs = [Bits::from_iter([true]), Bits::from_iter([true]), Bits::from_iter([seed.is_multiple_of(2)])];
    let results = run(&plan, seed, &inputs, |party| Late {
        lies: lies.iter().filter(|lie| lie.by == party.0).copied().collect(),
        sent: sent[usize::from(party.0)].clone(),
    });
    for (party, result) in (0..).zip(&results) {
        if let Ok((outputs, _)) = result {
            assert_eq!(*outputs, learned(&plan, Party(party), &inputs), "{lies:?}: a wrong output");
        }
    }
    results.into_iter().map(|result| result.map(|(outputs, _)| outputs)).zip(sent).collect()
}

/// Lies in a lot, each with the check that fails and the honest parties at which it does.
fn in_lot(check: ResultCheck, lot: usize) -> Vec<(Lie, Check, Vec<u16>)> {
    let lie = |by, step, to, after, byte| Lie { by, step, to, after, change: Change::Flip(byte) };
    // Masks of inputs are opened before the first lot, and the seeds of hash keys come with it.
    let (opened, seed, gates) = (1 + lot, if lot == 0 { 16 } else { 0 }, if lot == 0 { 1 } else { 2 });
    let mut lies = vec![
        (lie(0, Step::GateBits, None, opened, 0), checks::GATE_BITS, vec![1, EVALUATOR]),
        (lie(0, Step::GateBits, Some(1), opened, 0), checks::GATE_BITS, vec![1, EVALUATOR]),
        (lie(EVALUATOR, Step::GateBits, Some(0), opened, 0), checks::GATE_BITS, vec![0, 1]),
        (lie(0, Step::GateProof, Some(1), opened, 3), checks::GATE_BITS, vec![1]),
        (lie(EVALUATOR, Step::GateProof, None, opened, 3), checks::GATE_BITS, vec![0, 1]),
    ];
    let (parts, tables) = (Step::TableParts, Step::Tables);
    match check {
        ResultCheck::Tags => {
            let tags = 16 * 3 * gates;
            lies.extend(
                [
                    lie(0, parts, Some(1), lot, BLOCK),
                    lie(0, tables, Some(EVALUATOR), lot, seed + BLOCK),
                    // The first garbler collects all tags.
                    lie(1, parts, Some(0), lot, tags + 2 * 6),
                    lie(0, tables, Some(EVALUATOR), lot, seed + tags + 2 * 6),
                ]
                .map(|lie| (lie, checks::TAGS, vec![EVALUATOR])),
            );
        }
        ResultCheck::Reveal => lies.extend([
            (lie(EVALUATOR, Step::RevealedGates, Some(0), lot, 0), checks::REVEALED_LABELS, vec![0]),
            (lie(0, tables, Some(EVALUATOR), lot, seed + BLOCK), checks::REVEALED_LABELS, vec![1]),
        ]),
    }
    lies
}

/// Lies after the last lot.
fn at_the_end(check: ResultCheck) -> Vec<(Lie, Check, Vec<u16>)> {
    let lie = |by, step, to: u16, byte| Lie { by, step, to: Some(to), after: 0, change: Change::Flip(byte) };
    let handed_over = (lie(EVALUATOR, Step::HandedOver, 0, 0), checks::OUTPUT_LABELS, vec![0]);
    match check {
        ResultCheck::Tags => vec![
            (lie(0, Step::OutputMasks, EVALUATOR, 0), checks::OUTPUT_MASKS, vec![EVALUATOR]),
            (lie(0, Step::OutputMasks, 1, 1), checks::OUTPUT_MASKS, vec![1]),
            handed_over,
        ],
        ResultCheck::Reveal => vec![
            (lie(EVALUATOR, Step::RevealedLabels, 1, 0), checks::REVEALED_LABELS, vec![1]),
            (lie(0, Step::RevealedSums, EVALUATOR, 3), checks::REVEALED_GATES, vec![EVALUATOR]),
            (lie(0, Step::RevealedSums, 1, 0), checks::OUTPUT_MASKS, vec![1]),
            handed_over,
        ],
    }
}

/// The honest parties that have evidence, and their check.
fn finders(results: &[Ended], by: u16) -> Vec<(u16, Check)> {
    let honest = (0..).zip(results).filter(|(party, _)| *party != by);
    honest.filter_map(|(party, (result, _))| Some((party, found(result.as_ref().err()?)?))).collect()
}

#[test]
fn lies_in_the_first_lot_and_in_the_last_end_in_exactly_their_check() {
    assert_eq!(streamed(ResultCheck::Tags).lots(), [0..1, 1..3, 3..5]);
    for check in [ResultCheck::Tags, ResultCheck::Reveal] {
        let none = results(check, &[], 1);
        assert!(none.iter().all(|(result, _)| result.is_ok()), "all are honest");
        let lies = [in_lot(check, 0), in_lot(check, LOTS - 1), at_the_end(check)].concat();
        for ((lie, expected, at), seed) in lies.into_iter().flat_map(|case| [2, 3].map(|seed| (case.clone(), seed))) {
            let found = finders(&results(check, &[lie], seed), lie.by);
            let expected: Vec<(u16, Check)> = at.into_iter().map(|party| (party, expected)).collect();
            assert_eq!(found, expected, "{lie:?}, {check:?}");
        }
    }
}

/// The proof of a lot comes with the bits of the next one.
#[test]
fn malformed_bits_hide_no_false_proof() {
    let lie = |step, after, change| Lie { by: 0, step, to: None, after, change };
    let lies = [lie(Step::GateProof, 1, Change::Flip(3)), lie(Step::GateBits, 2, Change::Pad)];
    let found = finders(&results(ResultCheck::Tags, &lies, 7), 0);
    assert_eq!(found, [1, EVALUATOR].map(|party| (party, checks::GATE_BITS)));
    let malformed = results(ResultCheck::Tags, &lies[1..], 7);
    assert!(malformed.iter().all(|(result, _)| result.is_err()) && finders(&malformed, 0).is_empty());
}

#[test]
fn a_program_without_inputs_and_gates_is_streamed() {
    let program = circuit(&[], 1, vec![Gate::Constant(true)], vec![Wire(0)]);
    let config = Config { build: Build::Stream, evaluator: EVALUATOR, ..Config::default() };
    let plan = Arc::new(Plan::new(Arc::new(program), 3, config).expect("it can be run"));
    for result in run(&plan, 8, &[], |_| Honest) {
        assert_eq!(result.expect("all are honest").0, [Some(Bits::from_iter([true]))]);
    }
}

/// Bits that were opened in one lot do not open another, not even with their proof.
#[test]
fn what_was_opened_in_another_lot_is_found() {
    let replay = |by, step| Lie { by, step, to: None, after: LOTS, change: Change::Replay(LOTS - 1) };
    for by in [0, EVALUATOR] {
        let bits = replay(by, Step::GateBits);
        for lies in [vec![bits], vec![bits, replay(by, Step::GateProof)]] {
            for seed in [4, 5] {
                let found = finders(&results(ResultCheck::Tags, &lies, seed), by);
                let honest = (0..3).filter(|party| *party != by);
                let expected: Vec<(u16, Check)> = honest.map(|party| (party, checks::GATE_BITS)).collect();
                assert_eq!(found, expected, "{lies:?}");
            }
        }
    }
}

/// An evaluator that meets a wrong gate in the first lot goes on to the last one as if it had not, and sends nothing after it.
#[test]
fn nothing_that_depends_on_gates_leaves_before_the_verdict() {
    let lie = |lot| Lie {
        by: 0,
        step: Step::Tables,
        to: Some(EVALUATOR),
        after: lot,
        change: Change::Flip(BLOCK + if lot == 0 { 16 } else { 0 }),
    };
    let steps = |lies: &[Lie]| -> Vec<(Step, usize)> {
        let (result, sent) = results(ResultCheck::Tags, lies, 6).swap_remove(EVALUATOR.into());
        assert_eq!(result.is_err(), !lies.is_empty());
        let sent = sent.lock().expect("nobody panics");
        sent.iter().map(|(step, _, bytes)| (*step, bytes.len())).collect()
    };
    let mut honest = steps(&[]);
    honest.retain(|(step, _)| *step != Step::HandedOver);
    for lot in [0, LOTS - 1] {
        assert_eq!(steps(&[lie(lot)]), honest, "a wrong gate in lot {lot}");
    }
}

/// Batches do not end where lots do. What is complete waits outside of memory, and comes back in order.
#[test]
fn the_material_of_lots_comes_back_as_it_was_made() {
    let results = all(3, 9, async |session, _| {
        let plan = streamed(ResultCheck::Tags);
        let batch = |first: u128, count: u128| {
            let column = |column: u128| (0..count).map(|at| Block::from_u128(first + 1_000 * column + at)).collect();
            Shares::of((0..3).map(column).collect())
        };
        let (first, second) = (batch(0, 3 * 4 + 4), batch(10_000, 3 * 4 + 4));
        let mut supply = Supply::in_lots(session, &plan)?;
        supply.add(&first, 4, 2, 4)?;
        assert_eq!((supply.triples.a.len(), supply.masks.len()), (1, 0), "the first lot has one gate");
        supply.add(&second, 4, 3, 4)?;
        assert_eq!((supply.triples.a.len(), supply.masks.len()), (0, 0));
        let of = |shares: &Shares| shares.columns().to_vec();
        let expected = |at: [Range<usize>; 2]| {
            let mut expected = Shares::with_room(3, 0);
            [(&first, at[0].clone()), (&second, at[1].clone())]
                .into_iter()
                .for_each(|(batch, at)| expected.extend(batch, at));
            of(&expected)
        };
        assert!(of(&supply.inputs(3)?) == expected([12..15, 0..0]));
        let [mut a, mut b, mut c, mut masks] = [(); 4].map(|()| Shares::with_room(3, 5));
        for lot in plan.lots() {
            let (triples, of_gates) = supply.next(lot.len())?;
            for (to, from) in
                [&mut a, &mut b, &mut c, &mut masks].into_iter().zip([&triples.a, &triples.b, &triples.c, &of_gates])
            {
                assert_eq!(from.len(), lot.len());
                to.extend(from, 0..lot.len());
            }
        }
        for (factor, shares) in [a, b, c].iter().enumerate() {
            assert!(of(shares) == expected([4 * factor..4 * factor + 2, 4 * factor..4 * factor + 3]));
        }
        assert!(of(&masks) == expected([15..16, 12..16]));
        Ok(())
    });
    results.into_iter().for_each(|result| result.expect("nothing fails"));
}
