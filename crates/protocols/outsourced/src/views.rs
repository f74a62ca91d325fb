//! The view of a server, alone or with a client, has the same distribution for two inputs that give the coalition the same outputs, even if outputs are sums of
//! inputs and several parties learn them.
//!
//! All bits of a view are sums of uniform bits, so equal hulls mean equal distributions: see [`Hull`]. The view omits MACs and digests, which a server can
//! compute from the rest, and the bits that hide hashes.

use std::sync::{Arc, Mutex};

use garblet_authenticated::{EvaluatorSide, GarblerSide, ResultCheck};
use garblet_circuit::{Bits, Party, Program, Recipients, Type, evaluate, random};
use garblet_client::Server;
use garblet_net::{Mesh, testing::PairTranscript};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    MeshSession, Protocol, ProtocolError, Role,
    conduct::{Conduct, Honest},
    protocol::Request,
    run_id::RUN_ID_BYTES,
    stock::SavedValues,
};
use garblet_runs::testing::{
    coalition::{FUNCTIONS, Function, bits},
    hull::Hull,
    mesh_run::{own_inputs, run_recorded, sent},
};
use garblet_synthesis::builder::{BitString, CircuitBuilder};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    Client, Config, FormPlan, GENERATOR, Outsourced, Plan, ServerRole, Step,
    settle::{CHALLENGE_BYTES, PROOF_BYTES, VERDICT_BYTES},
};

/// More runs than a view has bits, plus the margin of [`Hull`].
const RUNS: usize = 200;
/// A generator, three clients and a cloud.
const PARTIES: u16 = 5;
const CLOUD: Party = Party(PARTIES - 1);
const CLIENTS: usize = PARTIES as usize - 2;
/// The last client.
const LAST: Option<Party> = Some(Party(CLOUD.0 - 1));
/// Bits of a client's input.
const WIDTH: u32 = 2;
/// Bytes of the number of the run, as all parties send it and as servers send it.
const RUNS_BYTES: usize = 2 * RUN_ID_BYTES;

/// Records the bits dealt to a server, run by run.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Bits>>>);

impl Conduct<Step> for Recorder {
    fn input(&mut self, _: usize, bits: &mut Bits) {
        self.0.lock().expect("nobody panics with it").push(bits.clone());
    }
}

/// A weakness planted in an honest party or in a coalition's knowledge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bias {
    None,
    /// The last client uses the same randomness in every run.
    SameDeal,
    /// A server also has the other one's pads of the last client.
    KnownPads,
}

/// A coalition of a server and perhaps the last client.
struct Case {
    plan: Arc<Plan>,
    server: Server,
    client: Option<Party>,
    bias: Bias,
}

/// A party's outputs of all runs, and its dealt bits if it is a server.
pub(crate) type Ran = (Vec<Vec<Option<Bits>>>, Vec<Bits>);

impl Case {
    fn new(function: Function, check: ResultCheck, server: Server, client: Option<Party>) -> Self {
        let mut config = Config::default();
        config.shares.check = check;
        let request =
            Request { program: Arc::new(program(function)), parties: PARTIES, config, saved: SavedValues::default() };
        let FormPlan::Shares(plan) = Outsourced::plan(&request).expect("it can be run") else {
            panic!("the default form")
        };
        Case { plan, server, client, bias: Bias::None }
    }

    fn members(&self) -> Vec<Party> {
        [self.plan.party(self.server)].into_iter().chain(self.client).collect()
    }

    /// Tells whether the coalition sees the same with two inputs that give it the same outputs.
    fn hides(&self) -> bool {
        let [one, other] = self.twins().map(|inputs| Hull::of(&self.views(&inputs)));
        one.is(&other)
    }

    /// Two inputs that differ in the first client's, and in as many outputs outside the coalition as possible.
    fn twins(&self) -> [Vec<Bits>; 2] {
        let (program, members) = (self.plan.program(), self.members());
        let mut rng = StdRng::seed_from_u64(3);
        let is_known = |recipients: &Recipients| members.iter().any(|&member| recipients.contains(member));
        let pairs = (0..10_000).map(|_| {
            let [one, mut other] = [(); 2].map(|()| random::inputs(&mut rng, program));
            for (at, input) in program.inputs().iter().enumerate() {
                if members.contains(&input.owner) {
                    other[at] = one[at].clone();
                }
            }
            [one, other]
        });
        let outputs = |inputs: &[Bits], known: bool| -> Vec<Bits> {
            let all = program.outputs().iter().zip(evaluate(program, inputs));
            all.filter(|(output, _)| is_known(&output.recipients) == known).map(|(_, value)| value).collect()
        };
        let same = pairs.filter(|[one, other]| outputs(one, true) == outputs(other, true) && one[0] != other[0]);
        let differing = |[one, other]: &[Vec<Bits>; 2]| {
            outputs(one, false).iter().zip(outputs(other, false)).filter(|(one, other)| *one != other).count()
        };
        same.max_by_key(differing).expect("two such inputs")
    }

    /// All that the coalition sees of each run.
    fn views(&self, inputs: &[Bits]) -> Vec<Vec<bool>> {
        let (own, other) = (self.plan.party(self.server), self.plan.party(self.server.other()));
        let part = async |session: &mut MeshSession| all_runs(session, &self.plan, inputs, self.bias, RUNS).await;
        let (ran, transcripts) = run_recorded(PARTIES, 17, part);
        let last = self.plan.clients().last().expect("three clients");
        let dealt_bits = self.dealt_bits();
        let mut views = vec![Vec::new(); RUNS];
        for (run, view) in views.iter_mut().enumerate() {
            let [own_dealt, others_dealt] = [own, other].map(|server| &ran[usize::from(server.0)].1[run]);
            view.extend(own_dealt.slice(0, dealt_bits).iter());
            if self.client.is_some() {
                last.1.inputs.iter().for_each(|range| view.extend(range.clone().map(|at| others_dealt.get(at))));
            }
            if self.client.is_some() || self.bias == Bias::KnownPads {
                view.extend(last.1.pads.clone().map(|at| others_dealt.get(at)));
            }
            for member in self.members() {
                view.extend(ran[usize::from(member.0)].0[run].iter().flatten().flat_map(Bits::iter));
            }
        }
        for (from, to) in [(own, other), (other, own)] {
            for (run, message) in self.messages(&transcripts, from, to).into_iter().enumerate() {
                views[run].extend(self.seen(from, &message));
            }
        }
        views
    }

    /// The bits dealt to a server, without those that hide hashes.
    fn dealt_bits(&self) -> usize {
        self.plan.clients().map(|(_, dealt)| dealt.pads.end).max().unwrap_or(0)
    }

    /// The number of bits announced masked: all dealt bits.
    fn told_bits(&self) -> usize {
        self.plan.clients().map(|(_, dealt)| dealt.masks.end).max().unwrap_or(0)
    }

    /// The number of output bits that a server learns, and of all padded output bits.
    fn opened_bits(&self, server: Party) -> usize {
        let outputs = self.plan.program().outputs().iter();
        let of = |party: Party| -> usize {
            let learned = outputs.clone().filter(|output| output.recipients.contains(party));
            learned.map(|output| output.port.width() as usize).sum()
        };
        of(server) + (1..CLOUD.0).map(|client| of(Party(client))).sum::<usize>()
    }

    /// Bytes of the parts of a server's online messages to the other one: its dealt bits, masked; challenges, proofs and verdicts; labels; a sum; opened bits.
    fn parts(&self, from: Party) -> [usize; 5] {
        let told = RUNS_BYTES + self.told_bits().div_ceil(8);
        let settled = CLIENTS * (CHALLENGE_BYTES + PROOF_BYTES);
        let ands = self.plan.program().stats().and as usize;
        let reveals = self.plan.base().config().check == ResultCheck::Reveal && ands > 0;
        if from == GENERATOR {
            let labels = 16 * CLIENTS * WIDTH as usize;
            let opened = self.opened_bits(CLOUD).div_ceil(8) + 16;
            return [told, settled + VERDICT_BYTES, labels, if ands > 0 { 16 } else { 0 }, opened];
        }
        let opened = 2 * self.opened_bits(GENERATOR).div_ceil(8) + 16 + 32;
        // Masked values of all gates, the point of the sum, and a digest.
        let revealed = if reveals { ands.div_ceil(8) + 16 + 32 } else { 0 };
        [told, settled + 2 * VERDICT_BYTES, 0, revealed, opened]
    }

    /// The messages of a server to the other one online, run by run.
    fn messages(&self, transcripts: &[PairTranscript], from: Party, to: Party) -> Vec<Vec<u8>> {
        let (all, bytes) = (sent(transcripts, from.0, to.0), self.parts(from).iter().sum::<usize>());
        let online = &all[all.len() - RUNS * bytes..];
        let messages: Vec<Vec<u8>> = online.chunks(bytes).map(<[u8]>::to_vec).collect();
        for (run, message) in messages.iter().enumerate() {
            assert_eq!(message[..RUN_ID_BYTES], (run as u64).to_le_bytes(), "messages have other parts");
        }
        messages
    }

    /// The informative bits of a server's messages.
    fn seen(&self, from: Party, message: &[u8]) -> Vec<bool> {
        let [told, settled, labels, middle, _] = self.parts(from);
        let dealt = &message[RUNS_BYTES..told];
        let mut seen: Vec<bool> = bits(dealt).take(self.dealt_bits()).collect();
        let (labels_from, middle_from) = (told + settled, told + settled + labels);
        seen.extend(message[labels_from..middle_from].chunks(16).map(|label| label[0] & 1 == 1));
        let opened = &message[middle_from + middle..];
        if from == GENERATOR {
            seen.extend(bits(opened).take(self.opened_bits(CLOUD)));
            return seen;
        }
        let gates = if middle > 0 { self.plan.program().stats().and as usize } else { 0 };
        seen.extend(bits(&message[middle_from..]).take(gates));
        let count = self.opened_bits(GENERATOR);
        seen.extend(bits(opened).take(count));
        seen.extend(bits(&opened[count.div_ceil(8)..]).take(count));
        seen
    }
}

/// A function of all clients' inputs. Everybody learns the first output; each other output goes to one client, the last client first.
fn program(function: Function) -> Program {
    let mut c = CircuitBuilder::new("of-clients");
    let inputs: Vec<BitString> = (0..CLIENTS).map(|client| c.input(format!("x{client}"), Type::Bits(WIDTH))).collect();
    function(&mut c, &inputs);
    let owners: Vec<Party> = (1..CLOUD.0).map(Party).collect();
    let mut program = Program::from_component(c.finish().expect("well formed"), &owners).expect("well formed");
    for output in 1..program.outputs().len() {
        let client = CLOUD.0 - output as u16;
        program.set_recipients(output, Recipients::Only(vec![Party(client)]));
    }
    program
}

/// One party's part in all runs.
pub(crate) async fn all_runs(
    session: &mut MeshSession,
    plan: &Arc<Plan>,
    inputs: &[Bits],
    bias: Bias,
    runs: usize,
) -> Result<Ran, ProtocolError> {
    let party = Party(session.mesh().party());
    let own = own_inputs(plan.program(), party.0, inputs);
    let (plan, dealt) = (plan.clone(), Recorder::default());
    let repeats = bias == Bias::SameDeal && Some(party) == LAST;
    let outputs = match plan.server(party) {
        Some(server @ Server::Generator) => {
            let role = ServerRole::<GarblerSide, _>::set_up(session, plan, server, None, dealt.clone()).await?;
            live(role, session, &own, (repeats, runs)).await?
        }
        Some(server @ Server::Cloud) => {
            let role = ServerRole::<EvaluatorSide, _>::set_up(session, plan, server, None, dealt.clone()).await?;
            live(role, session, &own, (repeats, runs)).await?
        }
        None => live(Client::new(plan, party, None, Honest), session, &own, (repeats, runs)).await?,
    };
    let dealt = std::mem::take(&mut *dealt.0.lock().expect("nobody panics with it"));
    Ok((outputs, dealt))
}

async fn live<R: Role<Mesh>>(
    mut role: R,
    session: &mut MeshSession,
    own: &[Bits],
    (repeats, runs): (bool, usize),
) -> Result<Vec<Vec<Option<Bits>>>, ProtocolError> {
    // All runs are prepared first, so the online messages come last.
    let mut ahead = Vec::new();
    for _ in 0..runs {
        ahead.push(role.prepare(session).await?);
    }
    let mut outputs = Vec::new();
    for run in ahead {
        if repeats {
            *session.rng() = Prg::new(Block::ONES);
        }
        outputs.push(role.online(session, run, own).await?);
    }
    Ok(outputs)
}

#[test]
fn outputs_that_are_sums_reveal_nothing_else_to_a_server_alone_or_with_a_client() {
    let sums = [FUNCTIONS[0], FUNCTIONS[3]].map(|function| (function, ResultCheck::Tags));
    let with_a_gate = [ResultCheck::Tags, ResultCheck::Reveal].map(|check| (FUNCTIONS[2], check));
    for ((name, function), check) in sums.into_iter().chain(with_a_gate) {
        for server in Server::BOTH {
            for client in [None, LAST] {
                let case = Case::new(function, check, server, client);
                assert!(case.hides(), "{name}, {check:?}: the {server} learns more, with {client:?}");
            }
        }
    }
}

#[test]
fn pads_that_repeat_or_that_a_server_knows_reveal_a_clients_outputs() {
    for server in Server::BOTH {
        // Only the last client learns the sum of the others' inputs.
        for bias in [Bias::SameDeal, Bias::KnownPads] {
            let case = Case { bias, ..Case::new(FUNCTIONS[3].1, ResultCheck::Tags, server, None) };
            assert!(!case.hides(), "the {server} is not found to learn more");
        }
    }
}
