//! Views of a run are the same for all inputs of the other party that give the same outputs.

use std::sync::Mutex;

use super::*;

/// A message with its step.
type Sent = (Step, Vec<u8>);

/// Writes down all that a party sends.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Sent>>>);

impl Conduct<Step> for Recorder {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        self.0.lock().expect("nobody panics with it").push((step, bytes.to_vec()));
    }
}

impl Recorder {
    /// The bits that a party said at a step, from a byte on.
    fn bits(&self, at: Step, from: usize, count: usize) -> Vec<bool> {
        let sent = self.0.lock().expect("nobody panics with it");
        let (_, bytes) = sent.iter().find(|(step, _)| *step == at).expect("it was sent");
        (0..count).map(|bit| bytes[from + bit / 8] >> (bit % 8) & 1 == 1).collect()
    }

    /// The masked values of labels.
    fn labels(&self) -> Vec<bool> {
        let sent = self.0.lock().expect("nobody panics with it");
        let (_, bytes) = sent.iter().find(|(step, _)| *step == Step::InputLabels).expect("they were sent");
        bytes.chunks_exact(16).map(|label| label[0] & 1 == 1).collect()
    }
}

/// `x_0 y_0` and `x_1 y_1 + x_0`, of two bits of each party's.
fn program() -> Program {
    let gates = vec![Gate::And(Wire(0), Wire(2)), Gate::And(Wire(1), Wire(3)), Gate::Xor(Wire(5), Wire(0))];
    circuit([2, 2], gates, vec![Wire(4), Wire(6)])
}

const RUNS: usize = 400;

/// The bits that a party sees in many runs of these inputs, and the cost of the runs, which is the same for all.
fn seen(by: Party, plan: &Plan, inputs: [u128; 2]) -> (Vec<Vec<bool>>, Vec<[u64; 3]>) {
    let inputs = inputs.map(|value| Bits::from_u128(value, 2));
    let batch = Some(Batch { triples: plan.and_count(), bucket: 2 });
    let mut costs = None;
    let views = (0..RUNS as u64).map(|seed| {
        let [garbler, evaluator] = [Recorder::default(), Recorder::default()];
        // Other coins for other inputs.
        let seed = 4096
            * inputs.iter().fold(0, |seed, bits| 4 * seed + bits.iter().fold(0, |n, bit| 2 * n + u64::from(bit)))
            + seed;
        let ran = run(plan, batch, &inputs, (garbler.clone(), evaluator.clone()), seed)
            .map(|ran| ran.expect("both are honest"));
        let cost = ran.iter().flat_map(|(_, costs)| {
            Phase::ALL
                .map(|phase| costs.of(phase).communication)
                .map(|cost| [cost.bytes_sent, cost.bytes_received, cost.rounds])
        });
        let cost: Vec<_> = cost.collect();
        assert!(costs.get_or_insert_with(|| cost.clone()) == &cost, "bytes and rounds");
        match by {
            GARBLER => {
                // Masked inputs, masked outputs, and shares of the masks of those.
                let mut view = evaluator.bits(Step::MaskedInputs, 8, 2);
                view.extend(evaluator.bits(Step::MaskedOutputs, 0, 2));
                view.extend(evaluator.bits(Step::OutputMasks, 0, 2));
                if plan.config().check == ResultCheck::Reveal {
                    let told = evaluator.bits(Step::MaskedValues, 0, 2);
                    // Of the first gate it is the masked output.
                    assert_eq!(told[0], view[2]);
                    view.push(told[1]);
                }
                view
            }
            _ => {
                let mut view = garbler.labels();
                view.extend(garbler.bits(Step::OutputMasks, 0, 2));
                view
            }
        }
    });
    let views = views.collect();
    (views, costs.expect("there were runs"))
}

/// Bits are uniform and independent if all sums of them are fair coins.
fn assert_uniform(views: &[Vec<bool>], place: &str) {
    let bits = views[0].len();
    for mask in 1u32..1 << bits {
        let odd = |view: &&Vec<bool>| {
            view.iter().enumerate().filter(|(at, bit)| **bit && mask >> at & 1 == 1).count() % 2 == 1
        };
        let ones = views.iter().filter(odd).count();
        // There are some hundred sums in all: five deviations, beyond which there are 6 10^-7.
        let deviation = (views.len() as f64 / 4.0).sqrt();
        assert!((ones as f64 - views.len() as f64 / 2.0).abs() < 5.0 * deviation, "{place}, sum {mask:b}: {ones}");
    }
}

#[test]
fn the_garblers_view_is_uniform_for_any_input_of_the_evaluator() {
    for config in [configs()[0], configs()[3]] {
        let plan = plan(program(), config);
        // With no ones of its own, the outputs are the same for all inputs of the other.
        let [first, second] = [0b00, 0b11].map(|y| {
            let (views, costs) = seen(GARBLER, &plan, [0, y]);
            // Where masked values are revealed, that of the second gate is the second output's less the first input's: with the garbler's own label known it is
            // determined by nothing else that it sees here.
            assert_uniform(&views, &format!("{config:?}, y = {y:02b}"));
            costs
        });
        assert_eq!(first, second, "{config:?}");
    }
}

#[test]
fn the_evaluators_view_is_uniform_for_any_input_of_the_garbler() {
    for config in [configs()[1], configs()[2]] {
        let plan = plan(program(), config);
        let [first, second] = [0b00, 0b10].map(|x| {
            let (views, costs) = seen(EVALUATOR, &plan, [x, 0]);
            assert_uniform(&views, &format!("{config:?}, x = {x:02b}"));
            costs
        });
        assert_eq!(first, second, "{config:?}");
    }
}
