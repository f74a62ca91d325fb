//! Parties in memory, and their results.

mod as_published;
mod chains;
mod coalition;
mod cost;
mod deviations;
mod equals;
mod padding;
mod views;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{
    Hello, Mesh,
    testing::{PairFault, PairTranscript, intercepted_mesh},
};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    MeshSession, PhaseCosts, ProtocolError, Role, Session,
    conduct::Conduct,
    stock::{ReadInput, SavedValues},
};
use garblet_seeded::Split;

use coalition::Coalition;

use super::{
    Circuits, Client, Cloud, Config, Generator, Plan, Reuse, Step,
    kept::{CloudState, GeneratorState},
    split::{CloudKeys, GeneratorKeys},
};
use crate::{GENERATOR, NAME};

/// The outputs of a party.
type Outputs = Vec<Option<Bits>>;

/// The cost of each phase, by party.
type Costs = Arc<Mutex<BTreeMap<u16, PhaseCosts>>>;

/// Both servers' states.
type States = Option<(GeneratorState, CloudState)>;

/// A deviation of one party: its change to the bytes of a step in some circuits.
#[derive(Clone, Copy)]
struct Deviation {
    party: u16,
    step: Step,
    /// A one for each circuit.
    circuits: u64,
    change: fn(&mut [u8]),
}

impl Deviation {
    fn is(&self, step: Step, circuit: usize) -> bool {
        self.step == step && self.circuits >> circuit & 1 == 1
    }
}

/// The conduct of a party, which may deviate, alone or with another.
struct May(Option<Deviation>, Option<Coalition>);

impl Conduct<Step> for May {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if let Some(coalition) = &mut self.1 {
            coalition.touch(step, index, bytes);
        }
        if let Some(deviation) = self.0.filter(|of| of.is(step, index) && !bytes.is_empty()) {
            (deviation.change)(bytes);
        }
    }

    fn input(&mut self, index: usize, bits: &mut Bits) {
        // A deviation at `Seed` flips the first input bit.
        if !bits.is_empty() && self.0.is_some_and(|of| of.is(Step::Seed, index)) {
            bits.set(0, !bits.get(0));
        }
    }
}

/// A run of all parties.
struct Scene<'a> {
    program: &'a Arc<Program>,
    parties: u16,
    config: Config,
    saved: SavedValues,
    deviation: Option<Deviation>,
    /// A coalition of the generator and the first client.
    coalition: Option<Coalition>,
    /// A fault of a link.
    fault: Option<PairFault>,
    /// A party that leaves once all parties have met.
    absent: Option<u16>,
    seed: u64,
    /// The prepared runs, in the order of use.
    order: &'static [usize],
    /// The messages of all pairs, if recorded.
    record: Option<Arc<Mutex<Vec<PairTranscript>>>>,
    costs: Costs,
}

fn small(reuse: Reuse) -> Config {
    Config { circuits: Circuits::Sixteen, reuse, ..Config::default() }
}

impl<'a> Scene<'a> {
    fn new(program: &'a Arc<Program>, parties: u16, config: Config) -> Self {
        Scene {
            program,
            parties,
            config,
            saved: SavedValues::default(),
            deviation: None,
            coalition: None,
            fault: None,
            absent: None,
            seed: 1,
            order: &[0],
            record: None,
            costs: Costs::default(),
        }
    }

    /// Runs all parties; `inputs` are the program's inputs that are not read from kept values.
    fn run(self, inputs: &[Option<Bits>], states: States) -> (Vec<Result<Outputs, ProtocolError>>, States) {
        let (results, (generator, cloud)) = self.run_from(inputs, states.unzip());
        (results, generator.zip(cloud))
    }

    /// As [`run`](Scene::run), where possibly only one server has a state.
    fn run_from(
        self,
        inputs: &[Option<Bits>],
        (mut generator, mut cloud): OwnState,
    ) -> (Vec<Result<Outputs, ProtocolError>>, OwnState) {
        let Scene { program, parties, config, saved, .. } = &self;
        let plan = Arc::new(Plan::new((*program).clone(), *parties, *config, saved.clone()).expect("it can be run"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut lives = Vec::new();
            let meshes = match &self.record {
                None => intercepted_mesh(*parties, self.fault).0,
                Some(record) => {
                    let (meshes, transcripts) = intercepted_mesh(*parties, None);
                    record.lock().unwrap().extend(transcripts);
                    meshes
                }
            };
            for mut mesh in meshes {
                mesh.set_timeout(Duration::from_secs(60));
                let party = Party(mesh.party());
                let own = plan.program().inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
                let seat = Seat {
                    own: own.map(|(_, value)| value.clone().expect("it is given")).collect(),
                    hello: Hello::new(NAME, party.0, *parties, program.digest()),
                    plan: plan.clone(),
                    conduct: May(
                        self.deviation.filter(|of| of.party == party.0),
                        self.coalition.clone().filter(|_| party.0 < 2),
                    ),
                    absent: self.absent == Some(party.0),
                    rng: Prg::new(Block::from_halves(self.seed, party.0.into())),
                    order: self.order,
                    costs: self.costs.clone(),
                };
                let states = (generator.take_if(|_| party == GENERATOR), cloud.take_if(|_| party == plan.cloud()));
                lives.push(tokio::spawn(seat.take(mesh, party, states)));
            }
            let (mut results, mut states) = (Vec::new(), (None, None));
            for life in lives {
                let (result, (generator, cloud)) = life.await.unwrap();
                results.push(result);
                states = (states.0.or(generator), states.1.or(cloud));
            }
            (results, states)
        })
    }
}

/// The states of two servers, where the cloud evaluates these circuits.
fn states_of(config: Config, evaluated: [usize; 5]) -> States {
    let mut rng = Prg::new(Block::from_u128(8));
    let keys: Vec<[Block; 2]> = (0..16).map(|_| [rng.next_block(), rng.next_block()]).collect();
    let split = Split::told((0..16).map(|circuit| !evaluated.contains(&circuit)).collect());
    let cloud = CloudState::new(CloudKeys::of(split, &keys), config, [[0; 32]; 2]);
    Some((GeneratorState::new(GeneratorKeys::of(keys), config, [[0; 32]; 2]), cloud))
}

/// The state of a party, if it is a server.
type OwnState = (Option<GeneratorState>, Option<CloudState>);

/// Everything that a party needs.
struct Seat {
    own: Vec<Bits>,
    hello: Hello,
    plan: Arc<Plan>,
    conduct: May,
    absent: bool,
    rng: Prg,
    order: &'static [usize],
    costs: Costs,
}

impl Seat {
    /// Runs a party to its end.
    async fn take(self, mesh: Mesh, party: Party, states: OwnState) -> (Result<Outputs, ProtocolError>, OwnState) {
        let Seat { own, hello, plan, conduct, absent, rng, order, costs } = self;
        let cloud = plan.cloud();
        let mut session = match Session::join(mesh, rng, &hello, Box::new(())).await {
            Ok(session) => session,
            Err(error) => return (Err(error), states),
        };
        let mut states = states;
        if absent {
            return (part(session, ProtocolError::WorkerLost).await, states);
        }
        if party == GENERATOR {
            return match Generator::set_up(&mut session, plan, &mut states.0, conduct).await {
                Ok(mut role) => {
                    let result = live(&mut role, session, (&own, order), costs).await;
                    (result, (Some(role.into_state()), None))
                }
                Err(error) => (part(session, error).await, states),
            };
        }
        if party == cloud {
            return match Cloud::set_up(&mut session, plan, &mut states.1, conduct).await {
                Ok(mut role) => {
                    let result = live(&mut role, session, (&own, order), costs).await;
                    (result, (None, Some(role.into_state())))
                }
                Err(error) => (part(session, error).await, states),
            };
        }
        let result = match Client::set_up(&mut session, plan, conduct).await {
            Ok(mut role) => live(&mut role, session, (&own, order), costs).await,
            Err(error) => part(session, error).await,
        };
        (result, (None, None))
    }
}

/// Prepares as many runs as the order has, and runs them in that order; returns the outputs of the last.
async fn live<R: Role<Mesh>>(
    role: &mut R,
    mut session: MeshSession,
    (own, order): (&[Bits], &[usize]),
    costs: Costs,
) -> Result<Outputs, ProtocolError> {
    let ran = async {
        let mut prepared = Vec::new();
        for _ in order {
            prepared.push(Some(role.prepare(&mut session).await?));
        }
        let mut outputs = Outputs::new();
        for &number in order {
            outputs = role.online(&mut session, prepared[number].take().expect("each once"), own).await?;
        }
        Ok(outputs)
    };
    let ran = ran.await;
    costs.lock().unwrap().insert(session.mesh().party(), session.costs());
    match ran {
        Ok(outputs) => session.close().await.map(|()| outputs),
        Err(error) => part(session, error).await,
    }
}

async fn part<T>(session: MeshSession, error: ProtocolError) -> Result<T, ProtocolError> {
    session.abort(&error).await;
    Err(error)
}

/// The part that a party learns of the outputs of the plain evaluator.
fn learned(program: &Program, party: u16, outputs: &[Bits]) -> Outputs {
    let of = |(output, value): (&garblet_circuit::Output, &Bits)| {
        output.recipients.contains(Party(party)).then(|| value.clone())
    };
    program.outputs().iter().zip(outputs).map(of).collect()
}

fn read(port: &str, name: &str, output: Option<&str>) -> ReadInput {
    ReadInput { port: port.into(), name: name.into(), output: output.map(Into::into) }
}
