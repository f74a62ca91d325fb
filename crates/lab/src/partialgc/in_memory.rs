//! Chains by `form=partialgc`, whose states live in memory: every party a thread, joined by loopback TCP.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, ScopedJoinHandle},
};

use garblet::{
    Bits, Conduct, Honest, MeshSession, Phase, PhaseCosts, Role,
    outsourced::{
        NAME, Outsourced,
        partialgc::{self, Client, Cloud, CloudState, Config, Generator, GeneratorState, Plan, Reuse, Step},
    },
    run_report::PartyPart,
};
use garblet_circuit::{Party, Program};
use garblet_cli::slow::{Relays, SlowParty};
use garblet_console::{
    failure::Failure,
    hints::{explain, mesh_failure, net_failure},
    session::block_on,
    settings::Settings,
};
use garblet_net::{Hello, Listener, Mesh, Options, PeersFile};
use garblet_primitives::Prg;

use super::{
    chains::{self, Chain, Kept},
    measure::{Measured, Ran, Setting, Way, check_cost},
    programs::{CLIENT, GENERATOR, PARTIES},
};

/// Both servers' states between runs; none before the first.
pub(super) type States = (Option<GeneratorState>, Option<CloudState>);

/// The parties' roles, in the order of their numbers.
const ROLES: [&str; PARTIES as usize] = ["generator", "client", "cloud"];

/// Runs a chain repeatedly on one state. Returns the cost of each step.
///
/// *Errors*: a run that fails; a result that is not the plain evaluator's, or bytes that are not those of the formulas.
pub(super) fn measure(chain: &Chain, way: &Way) -> Result<Vec<Measured>, Failure> {
    let config = config(&way.setting)?;
    let plan = |step: &chains::Step| plan(&step.program, config, &step.saved);
    let plans: Vec<Arc<Plan>> = chain.steps.iter().map(plan).collect::<Result<_, _>>()?;
    let mut states = States::default();
    let mut kept = Kept::new();
    let mut ran: Vec<Vec<Ran>> = chain.steps.iter().map(|_| Vec::new()).collect();
    for _ in 0..way.repeat {
        for ((step, plan), ran) in chain.steps.iter().zip(&plans).zip(&mut ran) {
            let example = chain.example(step, &mut kept);
            let is_new = states.0.is_none();
            let inputs = |party| step.of_party(&example.inputs, party).into_iter().map(|(_, bits)| bits).collect();
            let run = Run { plan, digest: step.program.digest(), inputs: &inputs, slow: way.slow };
            let Ended { outputs, per_party, states: after } = run.run(states, Honest)?;
            states = after;
            let learned = |(at, expected): (usize, &Option<Bits>)| {
                let mut of_all = outputs.iter().filter_map(|outputs| outputs.get(at)?.as_ref());
                of_all.next() == expected.as_ref() && of_all.all(|other| Some(other) == expected.as_ref())
            };
            if !example.expected.iter().enumerate().all(learned) {
                return Err(Failure::no_result(format!("{}: wrong result: this is a bug", step.name)));
            }
            run.check_bytes(&step.name, &per_party, is_new)?;
            ran.push(Ran { cheating_log2: plan.security().cheating_log2, per_party });
        }
    }
    plans.iter().zip(&ran).map(|(plan, ran)| Measured::new(way.setting.clone(), Some(plan), ran)).collect()
}

/// The published construction in full: kept labels come into the next circuits by partial gates.
fn config(setting: &Setting) -> Result<Config, Failure> {
    let settings: Settings = setting.settings();
    let config = settings.config()?;
    let config = config.get::<Outsourced>().and_then(|config| config.partialgc()).unwrap_or_default();
    Ok(Config { reuse: Reuse::PartialGates, ..config })
}

/// A program made ready for two servers and a client.
///
/// *Errors*: a program that cannot be run so.
pub(super) fn plan(program: &Program, config: Config, saved: &garblet::SavedValues) -> Result<Arc<Plan>, Failure> {
    let plan = Plan::new(Arc::new(program.clone()), PARTIES, config, saved.clone());
    plan.map(Arc::new).map_err(|error| explain(&error))
}

/// A run of all parties.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Arc<Plan>,
    /// The digest of its program.
    pub(super) digest: [u8; 32],
    /// The inputs of a party.
    pub(super) inputs: &'a (dyn Fn(Party) -> Vec<Bits> + Sync),
    pub(super) slow: Option<SlowParty>,
}

/// The end of all parties.
pub(super) struct Ended {
    /// The outputs of each party.
    pub(super) outputs: Vec<Vec<Option<Bits>>>,
    pub(super) per_party: Vec<PartyPart>,
    pub(super) states: States,
}

/// The end of one party.
struct Life {
    outputs: Vec<Option<Bits>>,
    phases: PhaseCosts,
    states: States,
}

/// A party's place: where it gives its address and gets those of all others.
struct Place {
    party: Party,
    told: Sender<(Party, String)>,
    heard: Receiver<Vec<String>>,
}

impl Run<'_> {
    /// Runs all parties, of whom the generator behaves like this.
    ///
    /// *Errors*: the first party that fails.
    pub(super) fn run(&self, states: States, generator: impl Conduct<Step>) -> Result<Ended, Failure> {
        let (told, hear) = channel();
        let mut conduct = Some(generator);
        let (mut of_generator, mut of_cloud) = states;
        let lives: Vec<Result<Life, Failure>> = thread::scope(|scope| {
            let mut threads = Vec::new();
            let mut ways = Vec::new();
            for party in (0..PARTIES).map(Party) {
                let (way, heard) = channel();
                ways.push(way);
                let place = Place { party, told: told.clone(), heard };
                let own = match party {
                    GENERATOR => (of_generator.take(), None),
                    CLIENT => States::default(),
                    _ => (None, of_cloud.take()),
                };
                let conduct = conduct.take_if(|_| party == GENERATOR);
                threads.push(scope.spawn(move || block_on(self.live(place, own, conduct))));
            }
            drop(told);
            let relays = self.introduce(&hear, &ways);
            drop(ways);
            let lives = threads.into_iter().map(joined).collect();
            relays.map(drop).map_or_else(|failure| vec![Err(failure)], |()| lives)
        });
        self.ended(lives)
    }

    /// Gives every party the addresses of the others, once all parties that listen do so.
    fn introduce(&self, hear: &Receiver<(Party, String)>, ways: &[Sender<Vec<String>>]) -> Result<Relays, Failure> {
        let mut relays = Relays::of(self.slow);
        let mut addresses = vec![String::from("nowhere"); PARTIES.into()];
        // The last party listens for nobody. Who has failed says nothing.
        for (party, address) in hear.iter().take(usize::from(PARTIES) - 1) {
            addresses[usize::from(party.0)] = address;
        }
        for (caller, way) in ways.iter().enumerate() {
            let of = |(at, address): (usize, &String)| match at < caller {
                true => relays.way(caller, at, address),
                false => Ok(address.clone()),
            };
            let known = addresses.iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?;
            // One that has ended says so itself.
            let _ = way.send(known);
        }
        Ok(relays)
    }

    fn ended(&self, lives: Vec<Result<Life, Failure>>) -> Result<Ended, Failure> {
        let mut ended = Ended { outputs: Vec::new(), per_party: Vec::new(), states: States::default() };
        let (ends, mut failures): (Vec<_>, Vec<_>) = lives.into_iter().partition(Result::is_ok);
        failures.sort_by_key(|failure| failure.as_ref().err().is_some_and(|failure| failure.secondary));
        if let Some(Err(failure)) = failures.into_iter().next() {
            return Err(failure);
        }
        for (party, life) in ends.into_iter().flatten().enumerate() {
            let Life { outputs, phases, states } = life;
            let role = ROLES[party].to_string();
            // All parties are one process.
            let (peak_rss_bytes, cpu_seconds, load_seconds) = (None, None, None);
            let party = party as u16;
            ended.per_party.push(PartyPart {
                party,
                role,
                decided: BTreeMap::new(),
                peak_rss_bytes,
                cpu_seconds,
                load_seconds,
                phases,
            });
            ended.outputs.push(outputs);
            ended.states.0 = ended.states.0.or(states.0);
            ended.states.1 = ended.states.1.or(states.1);
        }
        Ok(ended)
    }

    /// Lives as a party, to its end.
    async fn live(&self, place: Place, mut own: States, conduct: Option<impl Conduct<Step>>) -> Result<Life, Failure> {
        let (party, plan) = (place.party, self.plan.clone());
        let mesh = place.meet().await?;
        let (rng, hello) = (Prg::random(&mut rand::rng()), Hello::new(NAME, party.0, PARTIES, self.digest));
        let failed = |error| explain(&error);
        let mut session = MeshSession::join(mesh, rng, &hello, Box::new(())).await.map_err(failed)?;
        let inputs = (self.inputs)(party);
        match (party, conduct) {
            (GENERATOR, Some(conduct)) => {
                let mut role = Generator::set_up(&mut session, plan, &mut own.0, conduct).await.map_err(failed)?;
                let (outputs, phases) = compute(&mut role, session, &inputs).await?;
                Ok(Life { outputs, phases, states: (Some(role.into_state()), None) })
            }
            (CLIENT, _) => {
                let mut role = Client::set_up(&mut session, plan, Honest).await.map_err(failed)?;
                let (outputs, phases) = compute(&mut role, session, &inputs).await?;
                Ok(Life { outputs, phases, states: States::default() })
            }
            _ => {
                let mut role = Cloud::set_up(&mut session, plan, &mut own.1, Honest).await.map_err(failed)?;
                let (outputs, phases) = compute(&mut role, session, &inputs).await?;
                Ok(Life { outputs, phases, states: (None, Some(role.into_state())) })
            }
        }
    }

    /// Compares what every party counted with the formulas, which are those of a new state: another costs less in the set-up, where others
    /// speak last, so that prepare has other waits.
    fn check_bytes(&self, name: &str, parts: &[PartyPart], is_new: bool) -> Result<(), Failure> {
        let hellos: Vec<Hello> = (0..PARTIES).map(|party| Hello::new(NAME, party, PARTIES, self.digest)).collect();
        for phase in Phase::ALL.into_iter().filter(|phase| is_new || *phase != Phase::Setup) {
            for part in parts {
                let mut expected = partialgc::communication(self.plan, Party(part.party), phase, &hellos);
                if !is_new && phase == Phase::Prepare {
                    expected.rounds = part.phases.of(phase).communication.rounds;
                }
                check_cost(name, part, phase, expected)?;
            }
        }
        Ok(())
    }
}

impl Place {
    /// Joins the others.
    async fn meet(self) -> Result<Mesh, Failure> {
        let Place { party, told, heard } = self;
        let listens = party.0 + 1 < PARTIES;
        let listener = match listens {
            true => Some(Listener::bind("127.0.0.1:0").await.map_err(|error| net_failure(&error))?),
            false => None,
        };
        if let Some(listener) = &listener {
            told.send((party, listener.address().to_string())).map_err(Failure::no_result)?;
        }
        drop(told);
        let addresses = heard.recv().map_err(Failure::no_result)?;
        let options = Options { timeout: std::time::Duration::from_secs(3600), ..Options::default() };
        let mesh = Mesh::join(party.0, &PeersFile::plain(addresses), listener, &options).await;
        mesh.map_err(|error| mesh_failure(&error))
    }
}

/// Prepares and runs.
async fn compute<R: Role<Mesh>>(
    role: &mut R,
    mut session: MeshSession,
    inputs: &[Bits],
) -> Result<(Vec<Option<Bits>>, PhaseCosts), Failure> {
    let failed = |error| explain(&error);
    let prepared = role.prepare(&mut session).await.map_err(failed)?;
    let outputs = role.online(&mut session, prepared, inputs).await.map_err(failed)?;
    let phases = session.costs();
    session.close().await.map_err(failed)?;
    Ok((outputs, phases))
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
