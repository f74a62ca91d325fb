//! An evaluator that tells garblers different masked inputs gets no label that it could use.

use super::{
    lies::{Change, Watched},
    *,
};
use crate::many::online::unlocked;

/// A garbler's zero labels of inputs, its difference, and its message to the evaluator.
struct Sent {
    zero: Vec<Block>,
    delta: Block,
    message: Vec<u8>,
}

/// All garblers' messages, if the evaluator tells these garblers the other value of its input.
fn messages(plan: &Plan, otherwise: &[usize], seed: u64) -> Vec<Sent> {
    let evaluator = plan.evaluator();
    let changes = otherwise.iter().map(|&to| Change { step: Step::MaskedInputs, to: Some(to), at: 0, error: vec![1] });
    let changes: Vec<Change> = changes.collect();
    let sent = all(plan.parties(), seed, async |session, party| {
        let changes = if party == evaluator { changes.clone() } else { Vec::new() };
        let mut ground = Ground::set_up(session, plan, party, Watched { changes, ..Watched::default() }).await?;
        let (built, _) = build(&mut ground, session, plan).await?;
        let zero = built.labels.iter().take(plan.input_count()).copied().collect();
        let inputs = vec![Bits::zeros(1); 3];
        let result = ground.compute(session, plan, built, &own_inputs(plan, party, &inputs)).await;
        assert!(party != evaluator || result.is_err() != otherwise.is_empty());
        let mut sent = ground.conduct.sent.into_iter().rev();
        let message = sent.find(|(step, to, _)| (*step, *to) == (Step::InputLabels, evaluator.0.into()));
        let message = message.map_or(Vec::new(), |(_, _, message)| message);
        Ok(Sent { zero, delta: ground.delta.block(), message })
    });
    let mut sent: Vec<Sent> = sent.into_iter().map(|sent| sent.expect("all get that far")).collect();
    sent.remove(evaluator.0.into());
    sent
}

/// The number of labels that the evaluator can unlock and that are those of a value.
fn usable(sent: &[Sent]) -> usize {
    let messages: Vec<&[u8]> = sent.iter().map(|sent| &sent.message[..]).collect();
    let of_slot = |(slot, Sent { zero, delta, .. }): (usize, &Sent)| {
        let labels = unlocked(&messages, slot, zero.len());
        labels.iter().zip(zero).filter(|(label, zero)| [**zero, **zero ^ *delta].contains(label)).count()
    };
    sent.iter().enumerate().map(of_slot).sum()
}

#[test]
fn whoever_tells_garblers_different_inputs_gets_no_usable_label() {
    let subsets: [(u16, &[&[usize]]); 2] = [(3, &[&[0], &[1]]), (4, &[&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]])];
    let both = [ResultCheck::Tags, ResultCheck::Reveal];
    for ((parties, subsets), of_gates) in subsets.into_iter().flat_map(|case| both.map(|check| (case, check))) {
        let mut program = circuit(&[0, 1, parties - 1], 1, vec![Gate::And(Wire(0), Wire(2))], vec![Wire(3)]);
        program.set_recipients(0, Recipients::Only(vec![Party(parties - 1)]));
        let plan = plan(program, parties, of_gates);
        let honest = messages(&plan, &[], 1);
        assert_eq!(usable(&honest), 3 * plan.garbler_count(), "the labels of three inputs, of every garbler");
        for subset in subsets {
            assert_eq!(usable(&messages(&plan, subset, 2)), 0, "{subset:?} of {parties} parties are told otherwise");
        }
    }
}
