//! Input bits that a program discloses unchanged: inputs that reach an output unchanged or negated, and inputs that reach none.

use std::collections::BTreeMap;

use crate::{Circuit, Gate, InputId, InstanceId, Link, Literal, Output, Program, Recipients, Source};

/// The most links and runs of wires to follow. Outputs that take more are listed as unfollowed.
const STEPS_MAX: u64 = 1 << 26;

/// The inputs that reach a program's outputs unchanged or negated, and those that reach none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Inputs whose bits reach an output with a recipient other than their owner, by output and input.
    pub exposed: Vec<Exposed>,
    /// Inputs that no output depends on.
    pub unused: Vec<InputId>,
    /// Outputs that were not followed back to the inputs, because that takes too many steps: any input may reach them.
    pub unfollowed: Vec<usize>,
}

/// Bits of an input in an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// The input.
    pub input: InputId,
    /// The output's place.
    pub output: usize,
    /// The number of input bits that reach it, each counted once.
    pub bits: u32,
    /// The form in which they reach it.
    pub form: Form,
}

/// The form in which bits of an input reach an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All in order: the output is the input.
    Unchanged,
    /// All in order, negated.
    Negated,
    /// All, in another order or among other bits.
    Moved,
    /// Some.
    Some,
}

impl Program {
    /// Finds the inputs that reach outputs unchanged or negated. It sees through gates only where an operand is constant, or
    /// where both operands are the same wire or opposite.
    ///
    /// *Cost*: reads every gate of every component once, and every link; follows a bounded number of links back from the outputs.
    pub fn reach(&self) -> Reach {
        self.reach_within(STEPS_MAX)
    }

    /// Like [`Program::reach`], with that many steps for all outputs.
    fn reach_within(&self, steps: u64) -> Reach {
        let passes: Vec<Passes> = self.components().iter().map(|component| Passes::of(component.circuit())).collect();
        let mut walk = Trace { program: self, passes: &passes, left: steps };
        let mut reach = Reach { unused: self.unused(&passes), ..Reach::default() };
        for (place, output) in self.outputs().iter().enumerate() {
            match walk.exposed(place, output) {
                Some(exposed) => reach.exposed.extend(exposed),
                None => reach.unfollowed.push(place),
            }
        }
        reach
    }

    /// Inputs that no output depends on.
    fn unused(&self, passes: &[Passes]) -> Vec<InputId> {
        let mut used = vec![false; self.inputs().len()];
        let mut needed = vec![false; self.instance_count()];
        let mut need = |link: &Link, needed: &mut [bool]| match link.source {
            _ if link.len == 0 => (),
            Source::Input(InputId(id)) => used[id as usize] = true,
            Source::Instance(id) => needed[id.0 as usize] = true,
            Source::Constant(_) => (),
        };
        self.outputs().iter().flat_map(|output| &output.links).for_each(|link| need(link, &mut needed));
        for instance in (0..self.instance_count() as u32).rev().map(crate::InstanceId) {
            if !needed[instance.0 as usize] {
                continue;
            }
            let live = &passes[self.component_id(instance).0 as usize].live;
            let mut at = 0;
            for link in self.instance_links(instance) {
                let end = at + link.len as usize;
                if live[at..end].iter().any(|live| *live) {
                    need(&link, &mut needed);
                }
                at = end;
            }
        }
        let all = used.iter().enumerate().filter(|(id, used)| !**used && self.inputs()[*id].port.width() > 0);
        all.map(|(id, _)| InputId(id as u32)).collect()
    }
}

/// The wires that a component passes through.
struct Passes {
    /// Runs of outputs that equal inputs in order, perhaps negated; others are constant or computed.
    runs: Vec<Run>,
    /// Set for inputs that an output depends on.
    live: Vec<bool>,
}

impl Passes {
    /// Node 0 is the constant; inputs follow, then gates.
    fn of(circuit: &Circuit) -> Self {
        let inputs = circuit.input_count();
        if let Some(gates) = circuit.stored_gates() {
            let live = gates.inputs().iter().map(|used| used.live).collect();
            return Passes { runs: runs(gates.passed(), inputs), live };
        }
        let mut literals: Vec<Literal> = (0..circuit.wire_count() as u32).map(|wire| Literal::of(wire + 1)).collect();
        for (g, gate) in circuit.gates().iter().enumerate() {
            let at = |wire: crate::Wire| literals[wire.index()];
            let known = match *gate {
                Gate::Xor(a, b) => at(a).xor(at(b)),
                Gate::And(a, b) => at(a).and(at(b)),
                Gate::Not(a) => Some(at(a).invert_if(true)),
                Gate::Constant(value) => Some(Literal::constant(value)),
            };
            if let Some(known) = known {
                literals[inputs as usize + g] = known;
            }
        }
        let mut live = vec![false; circuit.wire_count()];
        circuit.outputs().iter().for_each(|wire| live[wire.index()] = true);
        for (g, gate) in circuit.gates().iter().enumerate().rev() {
            if live[inputs as usize + g] {
                gate.operands().for_each(|wire| live[wire.index()] = true);
            }
        }
        live.truncate(inputs as usize);
        let outputs = circuit.outputs().iter().map(|wire| literals[wire.index()]);
        Passes { runs: runs(outputs, inputs), live }
    }
}

/// Outputs of a component that equal inputs in order.
struct Run {
    output: u32,
    input: u32,
    len: u32,
    negated: bool,
}

/// The runs of outputs that are these literals, of which number 0 is the constant and those from 1 to `inputs` are the inputs.
fn runs(outputs: impl Iterator<Item = Literal>, inputs: u32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (output, literal) in (0u32..).zip(outputs) {
        let Some(input) = literal.number().checked_sub(1).filter(|input| *input < inputs) else { continue };
        let negated = literal.inverted();
        match runs.last_mut() {
            Some(last)
                if last.negated == negated && last.output + last.len == output && last.input + last.len == input =>
            {
                last.len += 1;
            }
            _ => runs.push(Run { output, input, len: 1, negated }),
        }
    }
    runs
}

/// Consecutive wires of a source, at a place of the output.
#[derive(Clone, Copy)]
struct Stretch {
    at: u32,
    source: Source,
    start: u32,
    len: u32,
    negated: bool,
}

/// Follows wires back to their origin.
struct Trace<'a> {
    program: &'a Program,
    passes: &'a [Passes],
    left: u64,
}

impl Trace<'_> {
    /// The inputs of other parties whose bits an output contains; `None` if that takes too many steps.
    fn exposed(&mut self, place: usize, output: &Output) -> Option<Vec<Exposed>> {
        let mut of: BTreeMap<InputId, Vec<Shown>> = BTreeMap::new();
        let mut open = Vec::new();
        let mut at = 0;
        for link in &output.links {
            open.push(Stretch { at, source: link.source, start: link.start, len: link.len, negated: false });
            at += link.len;
        }
        while let Some(stretch) = open.pop() {
            match stretch.source {
                Source::Constant(_) => {}
                Source::Input(input) => {
                    let shown = (0..stretch.len).map(|k| Shown {
                        at: stretch.at + k,
                        bit: stretch.start + k,
                        negated: stretch.negated,
                    });
                    of.entry(input).or_default().extend(shown);
                }
                Source::Instance(instance) => self.before(instance, stretch, &mut open)?,
            }
        }
        let is_told = |input: &InputId| match &output.recipients {
            Recipients::All => self.program.party_count() > 1,
            Recipients::Only(parties) => {
                parties.iter().any(|party| *party != self.program.inputs()[input.0 as usize].owner)
            }
        };
        let width = |input: InputId| self.program.inputs()[input.0 as usize].port.width();
        let told = of.into_iter().filter(|(input, _)| is_told(input));
        Some(told.map(|(input, wires)| exposed((input, width(input)), (place, at), &wires)).collect())
    }

    /// Adds the wires that the outputs of an instance equal, as far as it passes them on; `None` if that takes too many steps.
    fn before(&mut self, instance: InstanceId, stretch: Stretch, open: &mut Vec<Stretch>) -> Option<()> {
        let runs = &self.passes[self.program.component_id(instance).0 as usize].runs;
        let end = stretch.start + stretch.len;
        let first = runs.partition_point(|run| run.output + run.len <= stretch.start);
        for run in runs[first..].iter().take_while(|run| run.output < end) {
            let (begin, stop) = (run.output.max(stretch.start), end.min(run.output + run.len));
            let input = run.input + (begin - run.output);
            let place = (stretch.at + (begin - stretch.start), input, stop - begin);
            self.linked(instance, place, stretch.negated ^ run.negated, open)?;
        }
        Some(())
    }

    /// Adds the wires that feed inputs of an instance, from `input` on.
    fn linked(
        &mut self,
        instance: InstanceId,
        (at, input, len): (u32, u32, u32),
        negated: bool,
        open: &mut Vec<Stretch>,
    ) -> Option<()> {
        let mut own = 0;
        for link in self.program.instance_links(instance) {
            self.left = self.left.checked_sub(1)?;
            if own >= input + len {
                break;
            }
            let (begin, stop) = (own.max(input), (own + link.len).min(input + len));
            if begin < stop {
                let start = link.start + (begin - own);
                open.push(Stretch { at: at + (begin - input), source: link.source, start, len: stop - begin, negated });
            }
            own += link.len;
        }
        Some(())
    }
}

/// A bit of an input in an output.
struct Shown {
    /// The place in the output.
    at: u32,
    /// The bit of the input.
    bit: u32,
    negated: bool,
}

/// The input bits that appear in an output of this many wires.
fn exposed((input, width): (InputId, u32), (output, wires): (usize, u32), shown: &[Shown]) -> Exposed {
    let mut bits: Vec<u32> = shown.iter().map(|shown| shown.bit).collect();
    bits.sort_unstable();
    bits.dedup();
    let in_order = wires == width && shown.len() == width as usize && shown.iter().all(|shown| shown.at == shown.bit);
    let form = match bits.len() == width as usize {
        true if in_order && shown.iter().all(|shown| !shown.negated) => Form::Unchanged,
        true if in_order && shown.iter().all(|shown| shown.negated) => Form::Negated,
        true => Form::Moved,
        false => Form::Some,
    };
    Exposed { input, output, bits: bits.len() as u32, form }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{Bits, Component, Party, Port, Type, Wire, evaluate, random};

    /// A program of one component, with inputs of four bits of parties 0 and 1.
    fn program(gates: Vec<Gate>, outputs: &[u32], recipients: Recipients) -> Program {
        let circuit = Circuit::new(8, gates, outputs.iter().map(|wire| Wire(*wire)).collect()).unwrap();
        let ports = ["a", "b"].map(|name| Port::new(name, Type::Unsigned(4))).to_vec();
        let out = vec![Port::new("out", Type::Bits(outputs.len() as u32))];
        let component = Component::new("c", ports, out, circuit).unwrap();
        let mut program = Program::from_component(component, &[Party(0), Party(1)]).unwrap();
        program.set_recipients(0, recipients);
        program
    }

    fn forms(gates: Vec<Gate>, outputs: &[u32]) -> (Vec<(u32, u32, Form)>, Vec<u32>) {
        let Reach { exposed, unused, unfollowed } = program(gates, outputs, Recipients::All).reach();
        assert!(unfollowed.is_empty());
        let exposed = exposed.into_iter().map(|one| (one.input.0, one.bits, one.form));
        (exposed.collect(), unused.into_iter().map(|input| input.0).collect())
    }

    #[test]
    fn what_is_handed_out_as_it_came_in_is_found() {
        let [n0, n1, n2, n3] = [0, 1, 2, 3].map(|wire| Gate::Not(Wire(wire)));
        let none = Vec::new;
        assert_eq!(forms(none(), &[0, 1, 2, 3]), (vec![(0, 4, Form::Unchanged)], vec![1]));
        assert_eq!(forms(vec![n0, n1, n2, n3], &[8, 9, 10, 11]), (vec![(0, 4, Form::Negated)], vec![1]));
        assert_eq!(forms(none(), &[1, 0, 2, 3]), (vec![(0, 4, Form::Moved)], vec![1]));
        assert_eq!(forms(vec![n0], &[8, 1, 2, 3]), (vec![(0, 4, Form::Moved)], vec![1]));
        assert_eq!(forms(none(), &[6, 6]), (vec![(1, 1, Form::Some)], vec![0]));
        assert_eq!(forms(none(), &[0, 1, 2, 3, 4, 5, 6, 7]), (vec![(0, 4, Form::Moved), (1, 4, Form::Moved)], vec![]));
        // Adding a constant passes a bit on; a sum of two inputs shows neither.
        let zero = Gate::Constant(false);
        assert_eq!(forms(vec![zero, Gate::Xor(Wire(0), Wire(8))], &[9]), (vec![(0, 1, Form::Some)], vec![1]));
        let twice = vec![Gate::Xor(Wire(0), Wire(4)), Gate::And(Wire(8), Wire(8))];
        assert_eq!(forms(twice, &[9]), (vec![], vec![]));
        // A gate that no output depends on uses none of its inputs.
        assert_eq!(forms(vec![Gate::And(Wire(0), Wire(4))], &[]), (vec![], vec![0, 1]));
    }

    /// A chain of instances that pass a number of party 0 on, negated in each, to two outputs; the second leaves out a bit.
    fn chain(instances: usize) -> Program {
        let circuit =
            Circuit::new(4, (0..4).map(|k| Gate::Not(Wire(k))).collect(), (4..8).map(Wire).collect()).unwrap();
        let port = |name: &str| vec![Port::new(name, Type::Unsigned(4))];
        let component = Component::new("not", port("x"), port("y"), circuit).unwrap();
        let mut program = Program::new("chain");
        let input = program.add_input(Port::new("a", Type::Unsigned(4)), Party(0)).unwrap();
        program.add_input(Port::new("b", Type::Unsigned(4)), Party(1)).unwrap();
        let component = program.add_component(component);
        let link = |source, len| Link { source, start: 0, len };
        let mut source = Source::Input(input);
        for _ in 0..instances {
            source = Source::Instance(program.add_instance(component, &[link(source, 4)]).unwrap());
        }
        program.add_output(Port::new("all", Type::Unsigned(4)), Recipients::All, vec![link(source, 4)]).unwrap();
        program.add_output(Port::new("some", Type::Unsigned(3)), Recipients::All, vec![link(source, 3)]).unwrap();
        program
    }

    #[test]
    fn outputs_that_are_too_far_from_inputs_are_named() {
        let program = chain(1000);
        let whole = program.reach();
        let forms: Vec<(usize, u32, Form)> = whole.exposed.iter().map(|one| (one.output, one.bits, one.form)).collect();
        assert_eq!((forms, whole.unfollowed), (vec![(0, 4, Form::Unchanged), (1, 3, Form::Some)], vec![]));
        assert_eq!(whole.unused, [InputId(1)]);
        // A step for each of the links, however many wires they have.
        for (steps, unfollowed) in
            [(2000, vec![]), (1999, vec![1]), (1000, vec![1]), (999, vec![0, 1]), (0, vec![0, 1])]
        {
            let reach = program.reach_within(steps);
            let known: Vec<Exposed> =
                whole.exposed.iter().filter(|one| !unfollowed.contains(&one.output)).cloned().collect();
            assert_eq!((reach.exposed, reach.unfollowed), (known, unfollowed), "{steps}");
            assert_eq!(reach.unused, [InputId(1)]);
        }
    }

    #[test]
    fn what_only_its_owner_learns_is_not_told() {
        let of = |party| program(Vec::new(), &[0, 1, 2, 3], Recipients::Only(vec![Party(party)])).reach().exposed.len();
        assert_eq!((of(0), of(1)), (0, 1));
    }

    #[test]
    fn what_is_told_of_random_programs_is_true() {
        let rng = &mut StdRng::seed_from_u64(7);
        let mut told = 0;
        for _ in 0..300 {
            let program = random::program(rng, 30, 2);
            let reach = program.reach();
            let inputs = random::inputs(rng, &program);
            let outputs = evaluate(&program, &inputs);
            for Exposed { input, output, form, .. } in &reach.exposed {
                let (input, output) = (&inputs[input.0 as usize], &outputs[*output]);
                let negated: Bits = input.iter().map(|bit| !bit).collect();
                match form {
                    Form::Unchanged => assert_eq!(output, input),
                    Form::Negated => assert_eq!(output, &negated),
                    Form::Moved | Form::Some => (),
                }
                told += 1;
            }
            for input in reach.unused {
                let mut others = inputs.clone();
                others[input.0 as usize] = (0..others[input.0 as usize].len()).map(|_| rng.random()).collect();
                assert_eq!(evaluate(&program, &others), outputs);
                told += 1;
            }
        }
        assert!(told > 50, "{told}");
    }
}
