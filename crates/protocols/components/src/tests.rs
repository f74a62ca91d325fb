//! Both roles in one process, with access to the knowledge of each.

mod attack;
mod faults;
mod invariant;
mod linking;

use std::sync::Arc;

use garblet_circuit::{Bits, Component, InstanceId, Party, Program, evaluate, evaluate_circuit};
use garblet_net::{Hello, memory_pair};
use garblet_primitives::{Block, Prg};
use garblet_store::Store;
use garblet_synthesis::library as circuits;

use super::*;
use garblet_protocol::{error::ProtocolError, session::Session};

/// Both parties with their stores.
pub(crate) struct Pair {
    pub(crate) garbler: (Session, Garbler),
    pub(crate) evaluator: (Session, Evaluator),
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime without threads needs nothing that could be missing").block_on(future)
}

pub(crate) fn store(seed: u128) -> Store {
    Store::in_memory(&mut Prg::new(Block::from_u128(seed))).unwrap()
}

impl Pair {
    /// Two parties that have met, with these stores.
    pub(crate) async fn meet(library: &Library, config: Config, stores: [Store; 2]) -> Self {
        let material = Arc::new(Material::new(library.clone(), config.garbling));
        let (left, right) = memory_pair();
        let open = |channel, party: u16| {
            let rng = Prg::new(Block::from_u128(100 + u128::from(party)));
            async move { Session::open(channel, rng, &Hello::new(NAME, party, 2, [0; 32]), Box::new(())).await }
        };
        let (one, two) = tokio::join!(open(left, 0), open(right, 1));
        let (mut one, mut two) = (one.unwrap(), two.unwrap());
        let [mine, theirs] = stores;
        let (garbler, evaluator) = tokio::join!(
            Garbler::setup(&mut one, material.clone(), config, mine, "test"),
            Evaluator::setup(&mut two, material.clone(), config, theirs, "test")
        );
        Pair { garbler: (one, garbler.unwrap()), evaluator: (two, evaluator.unwrap()) }
    }

    /// Two parties with full stores.
    pub(crate) async fn prepared(library: &Library, config: Config) -> Self {
        let mut pair = Pair::meet(library, config, [store(1), store(2)]).await;
        pair.prepare().await;
        pair
    }

    pub(crate) async fn prepare(&mut self) {
        let Pair { garbler: (one, garbler), evaluator: (two, evaluator) } = self;
        let (left, right) = tokio::join!(garbler.prepare(one, 100), evaluator.prepare(two, 100));
        left.unwrap();
        right.unwrap();
    }

    pub(crate) async fn build(
        &mut self,
        program: &Arc<Program>,
    ) -> (Result<GarblerPrepared, ProtocolError>, Result<EvaluatorPrepared, ProtocolError>) {
        let Pair { garbler: (one, garbler), evaluator: (two, evaluator) } = self;
        tokio::join!(garbler.build(one, program), evaluator.build(two, program))
    }

    /// Runs a program and checks both parties' outputs.
    pub(crate) async fn run(&mut self, program: &Arc<Program>, inputs: &[Bits]) {
        let (mine, theirs) = self.build(program).await;
        self.online(program, inputs, mine.unwrap(), theirs.unwrap()).await;
    }

    /// The same where the evaluator has its inputs when the program is named.
    pub(crate) async fn run_at_once(&mut self, program: &Arc<Program>, inputs: &[Bits]) {
        let Pair { garbler: (one, garbler), evaluator: (two, evaluator) } = self;
        let [left, right] = [GARBLER, EVALUATOR].map(|party| own(program, inputs, party));
        let garble = async {
            let prepared = garbler.build(one, program).await?;
            garbler.online(one, prepared, &left).await
        };
        let (left, right) = tokio::join!(garble, evaluator.run(two, program, &right));
        check_outputs(program, inputs, [left.unwrap(), right.unwrap()]);
    }

    pub(crate) async fn online(
        &mut self,
        program: &Arc<Program>,
        inputs: &[Bits],
        mine: GarblerPrepared,
        theirs: EvaluatorPrepared,
    ) {
        let Pair { garbler: (one, garbler), evaluator: (two, evaluator) } = self;
        let [left, right] = [GARBLER, EVALUATOR].map(|party| own(program, inputs, party));
        let (left, right) = tokio::join!(garbler.online(one, mine, &left), evaluator.online(two, theirs, &right));
        check_outputs(program, inputs, [left.unwrap(), right.unwrap()]);
    }
}

fn own(program: &Program, inputs: &[Bits], party: Party) -> Vec<Bits> {
    let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
    own.map(|(_, bits)| bits.clone()).collect()
}

fn check_outputs(program: &Program, inputs: &[Bits], got: [Vec<Option<Bits>>; 2]) {
    let expected = evaluate(program, inputs);
    for (party, got) in [GARBLER, EVALUATOR].into_iter().zip(got) {
        for (output, (got, expected)) in program.outputs().iter().zip(got.iter().zip(&expected)) {
            let learned = output.recipients.contains(party);
            assert_eq!(got.as_ref(), learned.then_some(expected), "{}", output.port.name);
        }
    }
}

pub(crate) fn component(name: &str) -> Arc<Component> {
    Arc::new(circuits::component(name).unwrap())
}

/// Values of all wires of a program's instances: inputs and outputs of each.
pub(crate) fn plain(program: &Program, inputs: &[Bits]) -> Vec<[Vec<bool>; 2]> {
    let mut all: Vec<[Vec<bool>; 2]> = Vec::new();
    for instance in (0..program.instance_count() as u32).map(InstanceId) {
        let mut values = Vec::new();
        for link in program.instance_links(instance) {
            let (start, len) = (link.start as usize, link.len as usize);
            match link.source {
                garblet_circuit::Source::Constant(value) => values.extend(std::iter::repeat_n(value, len)),
                garblet_circuit::Source::Input(i) => values.extend(inputs[i.0 as usize].slice(start, len).iter()),
                garblet_circuit::Source::Instance(i) => values.extend(&all[i.0 as usize][1][start..start + len]),
            }
        }
        let words: Vec<u64> = values.iter().map(|value| u64::from(*value)).collect();
        let outputs = evaluate_circuit(program.component_of(instance).circuit(), &words);
        all.push([values, outputs.iter().map(|word| word & 1 == 1).collect()]);
    }
    all
}
