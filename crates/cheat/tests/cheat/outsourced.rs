//! Every deviation from `outsourced` ends as the protocol promises.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use garblet_cheat::{
    Outputs,
    authenticated::configs as authenticated_configs,
    outsourced::{Cheat, ClientDeviation, ServerDeviation, run, run_saving},
};
use garblet_circuit::{Bits, Party, Program, Recipients, Type, evaluate};
use garblet_client::Server;
use garblet_cut_and_choose::checks::GARBLER_INPUT;
use garblet_outsourced::{Base, Config, Outsourced};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    Protocol, ProtocolError,
    checks::{Refused, Rejected},
    stock::{Notice, ReadInput, SavedState, SavedValues},
};
use garblet_store::{Store, StoreKey};
use garblet_synthesis::builder::{CircuitBuilder, Unsigned};

const CHALLENGE: &str = "the challenge does not match the client's commitment";
const HASH: &str = "the client's bits do not have the hash that the client dealt";
const OTHER_RUN: &str = "the client's message is not for this run";
const ANSWERS: &str = "the servers gave different answers";

pub(crate) const GENERATOR: usize = 0;
pub(crate) const CLOUD: usize = 3;

/// A generator, two clients and a cloud, all with an input: each learns the sum of all, and each client also a separate product.
pub(crate) fn program() -> Arc<Program> {
    let mut c = CircuitBuilder::new("meeting");
    let inputs: [Unsigned; 4] = ["g", "one", "two", "c"].map(|name| c.input(name, Type::Unsigned(8)));
    let [first, second, third, fourth] = &inputs;
    let sum = c.add(first, second);
    let sum = c.add(&sum, third);
    let sum = c.add(&sum, fourth);
    c.output("sum", &sum);
    let (one, two) = (c.mul(second, third), c.mul(third, fourth));
    c.output("for-one", &one);
    c.output("for-two", &two);
    let owners = [0, 1, 2, 3].map(Party);
    let mut program = Program::from_component(c.finish().expect("whole"), &owners).expect("owners of all");
    program.set_recipients(1, Recipients::Only(vec![Party(1)]));
    program.set_recipients(2, Recipients::Only(vec![Party(2)]));
    Arc::new(program)
}

pub(crate) fn inputs() -> Vec<Bits> {
    [77, 190, 3, 201].map(|value| Bits::from_u128(value, 8)).into()
}

/// Configurations of all bases that withstand malicious parties.
fn malicious() -> Vec<Config> {
    let shares = authenticated_configs().into_iter().map(|shares| Config { shares, ..Config::default() });
    shares.chain([over_circuits()]).collect()
}

fn over_circuits() -> Config {
    Config { base: Base::CutAndChoose, circuits: Some(5), ..Config::default() }
}

fn run_with(config: Config, cheater: usize, cheat: Cheat, seed: u64) -> Vec<Result<Outputs, ProtocolError>> {
    let mut cheats = [Cheat::None; 4];
    cheats[cheater] = cheat;
    run(&program(), &inputs(), config, &cheats, seed)
}

/// The refusal with which a party ended; `None` if it only learned that somebody gave up.
fn refused(result: &Result<Outputs, ProtocolError>) -> Option<Refused> {
    match result {
        Err(ProtocolError::Refused(refused)) => Some(*refused),
        Err(_) => None,
        Ok(_) => panic!("a party has a result"),
    }
}

#[test]
fn all_parties_learn_their_outputs_and_nothing_else() {
    let program = program();
    let values = evaluate(&program, &inputs());
    let semi_honest = Config { base: Base::Yao, ..Config::default() };
    for (seed, config) in (0..).zip(malicious().into_iter().chain([semi_honest])) {
        for (party, result) in run_with(config, 0, Cheat::None, seed).into_iter().enumerate() {
            let outputs = result.expect("all are honest");
            let due = program.outputs().iter().zip(&values);
            let due = due.map(|(output, value)| output.recipients.contains(Party(party as u16)).then(|| value.clone()));
            assert!(outputs == due.collect::<Vec<_>>(), "party {party}, {config:?}");
        }
    }
}

/// Two clients have 8 input bits and 16 output bits each, with a pad for each output bit.
#[test]
fn a_server_that_changes_its_dealt_bits_is_refused_before_anything_is_decoded() {
    let (shares, pads, all) = (16, 32, 16 + 32 + 2 * 48);
    // The first and the last bit of each kind, and the client that dealt them.
    let places = [(0, 1), (shares - 1, 2), (shares, 1), (shares + pads - 1, 2), (shares + pads, 1), (all - 1, 2)];
    for (seed, config) in (0..).zip(malicious()) {
        for (server, other) in [(GENERATOR, CLOUD), (CLOUD, GENERATOR)] {
            for (place, client) in places {
                let deviation = Cheat::Server(ServerDeviation::OtherBit(place));
                let results = run_with(config, server, deviation, seed);
                let expected = Refused::new(HASH, [Party(client), Party(server as u16)]);
                assert_eq!(refused(&results[other]), Some(expected), "{deviation:?} {config:?}");
                results.iter().for_each(|result| assert!(result.is_err(), "nobody has a result"));
            }
        }
    }
}

#[test]
fn a_server_that_sends_another_challenge_or_proof_is_refused() {
    for (seed, config) in (0..).zip(malicious()) {
        for (server, other) in [(GENERATOR, CLOUD), (CLOUD, GENERATOR)] {
            for (deviation, what, client) in [
                (ServerDeviation::OtherChallenge, CHALLENGE, 1),
                (ServerDeviation::OtherProof, HASH, 1),
                (ServerDeviation::RepeatedProof, HASH, 2),
            ] {
                let results = run_with(config, server, Cheat::Server(deviation), seed);
                let expected = Refused::new(what, [Party(client), Party(server as u16)]);
                assert_eq!(refused(&results[other]), Some(expected), "{deviation:?} {config:?}");
                results.iter().for_each(|result| assert!(result.is_err(), "nobody has a result"));
            }
        }
    }
}

/// Both end the run alike: the refused server says so as well.
#[test]
fn a_server_that_refuses_correct_messages_is_not_named_and_one_with_an_invalid_verdict_is() {
    let servers = [(GENERATOR, CLOUD), (CLOUD, GENERATOR)];
    let cases = servers.into_iter().flat_map(|pair| [Config::default(), over_circuits()].map(|config| (pair, config)));
    for ((server, other), config) in cases {
        for (verdict, what, client) in [([1, 1], CHALLENGE, 1), ([2, 2], HASH, 2)] {
            let deviation = Cheat::Server(ServerDeviation::OtherVerdict(verdict));
            let results = run_with(config, server, deviation, 1);
            let expected = Refused::new(what, [Party(client), Party(other as u16)]);
            assert_eq!(refused(&results[other]), Some(expected), "{verdict:?}");
            results.iter().for_each(|result| assert!(result.is_err(), "nobody has a result"));
        }
        for verdict in [[0, 1], [1, 0], [2, 3], [3, 1]] {
            let deviation = Cheat::Server(ServerDeviation::OtherVerdict(verdict));
            let results = run_with(config, server, deviation, 1);
            let Err(ProtocolError::Peer { party, source }) = &results[other] else { panic!("{verdict:?}") };
            assert_eq!(usize::from(party.0), server);
            assert!(source.to_string().contains("a verdict"), "{source}");
        }
    }
}

#[test]
fn a_client_accepts_no_output_that_a_server_changed() {
    for (server, config) in
        [GENERATOR, CLOUD].into_iter().flat_map(|server| malicious().into_iter().map(move |c| (server, c)))
    {
        let results = run_with(config, server, Cheat::Server(ServerDeviation::OtherAnswer), 1);
        let expected = Rejected { what: ANSWERS, parties: [Party(0), Party(3)] };
        assert!(matches!(&results[1], Err(ProtocolError::Rejected(rejected)) if *rejected == expected), "{config:?}");
    }
}

/// A generator that sends the dealt hash with other bits is not a client's victim: its labels do not have that hash.
#[test]
fn a_generator_whose_labels_do_not_have_the_hash_that_it_sends_is_caught() {
    let masks = 16 + 32;
    for (place, bit) in [(masks, 0), (masks + 47, 47), (masks + 48, 48), (masks + 95, 95)] {
        let deviation = Cheat::Server(ServerDeviation::HiddenMask { place, bit });
        let results = run_with(over_circuits(), GENERATOR, deviation, bit as u64);
        let Err(ProtocolError::Peer { party: Party(0), source }) = &results[CLOUD] else {
            panic!("{deviation:?}: {:?}", results[CLOUD].as_ref().err());
        };
        // The sent hash is right, so nothing is refused; evaluated circuits have other labels.
        let caught = matches!(&**source, ProtocolError::Cheating(cheating) if cheating.check == GARBLER_INPUT);
        assert!(caught, "{deviation:?}: {source}");
        results.iter().for_each(|result| assert!(result.is_err(), "nobody has a result"));
    }
}

/// Over `yao` nothing is proved: another bit goes through, as expected of a semi-honest protocol.
#[test]
fn over_yao_other_bits_are_not_refused() {
    let config = Config { base: Base::Yao, ..Config::default() };
    let right = evaluate(&program(), &inputs());
    for server in [GENERATOR, CLOUD] {
        let results = run_with(config, server, Cheat::Server(ServerDeviation::OtherBit(0)), 3);
        let outputs = results.into_iter().map(|result| result.expect("nobody sees it"));
        assert!(outputs.into_iter().any(|outputs| outputs[0].as_ref() != Some(&right[0])));
    }
}

/// The other client and both servers get nothing, and the error names the client and the server that may be lying.
#[test]
fn a_client_with_an_inconsistent_deal_is_refused() {
    let pair = |server: usize| [Party(2), Party(server as u16)];
    let mut cases = vec![(ClientDeviation::OtherShare, GENERATOR, Refused::new(HASH, pair(CLOUD)))];
    for (server, own, other) in [(Server::Generator, GENERATOR, CLOUD), (Server::Cloud, CLOUD, GENERATOR)] {
        let alone = |what| Refused::new(what, [Party(2); 2]);
        cases.extend([
            (ClientDeviation::OtherJob(server), own, alone(OTHER_RUN)),
            (ClientDeviation::OtherSeed(server), other, Refused::new(HASH, pair(own))),
            (ClientDeviation::OtherCommitment(server), own, Refused::new(CHALLENGE, pair(other))),
            (ClientDeviation::OtherChallenge(server), other, Refused::new(CHALLENGE, pair(own))),
            (ClientDeviation::OtherHash(server), own, Refused::new(HASH, pair(other))),
        ]);
        let used = Refused::new("the client's message was used before", [Party(2); 2]);
        cases.push((ClientDeviation::OldCounter(server), own, used));
    }
    let cases = cases.into_iter().flat_map(|case| [Config::default(), over_circuits()].map(|config| (config, case)));
    for (seed, (config, (deviation, finder, expected))) in (0..).zip(cases) {
        let results = run_with(config, 2, Cheat::Client(deviation), seed);
        assert_eq!(refused(&results[finder]), Some(expected), "{deviation:?} {config:?}");
        if [CHALLENGE, HASH].contains(&expected.what) {
            // The other server gets the verdict, which is about its own message.
            let other = GENERATOR + CLOUD - finder;
            let heard = Refused::new(expected.what, pair(other));
            assert_eq!(refused(&results[other]), Some(heard), "{deviation:?} {config:?}");
        }
        results.iter().for_each(|result| assert!(result.is_err(), "{deviation:?}: nobody has a result"));
    }
}

/// A random generator for keys and stores, a different one each time.
pub(crate) fn rng() -> Prg {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Prg::new(Block::from_halves(7, NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Adds up both clients' numbers, or the second one's and the state, keeps the sum, and gives the first client the product.
pub(crate) fn advancing(read: Vec<ReadInput>) -> (Arc<Program>, [Bits; 2], SavedValues) {
    let mut c = CircuitBuilder::new("advance");
    let [one, two]: [Unsigned; 2] = ["one", "two"].map(|name| c.input(name, Type::Unsigned(8)));
    let sum = c.add(&one, &two);
    c.output("sum", &sum);
    let product = c.mul(&one, &two);
    c.output("product", &product);
    let mut program = Program::from_component(c.finish().expect("whole"), &[Party(1), Party(2)]).expect("owners");
    program.set_recipients(0, Recipients::Only(Vec::new()));
    program.set_recipients(1, Recipients::Only(vec![Party(1)]));
    let saved = SavedValues { keep: Some("sum".into()), read };
    (Arc::new(program), [3, 4].map(|value| Bits::from_u128(value, 8)), saved)
}

/// Stores of all parties, in which a sum of both clients is kept under `sum`.
pub(crate) struct Kept {
    folder: tempfile::TempDir,
    key: StoreKey,
}

impl Kept {
    pub(crate) fn new() -> Self {
        let kept = Kept { folder: tempfile::tempdir().expect("a folder"), key: StoreKey::generate(&mut rng()) };
        let first = kept.advance(Vec::new(), CLOUD, Cheat::None, 0);
        assert!(first.iter().all(Result::is_ok), "all are honest");
        kept
    }

    pub(crate) fn store(&self, party: usize) -> Store {
        let place = self.folder.path().join(party.to_string());
        Store::open_or_create(&place, &self.key, &mut rng()).expect("it opens")
    }

    /// A run of [`advancing`] with a cheater.
    fn advance(
        &self,
        read: Vec<ReadInput>,
        cheater: usize,
        cheat: Cheat,
        seed: u64,
    ) -> Vec<Result<Outputs, ProtocolError>> {
        let (program, inputs, saved) = advancing(read);
        let mut cheats = [Cheat::None; 4];
        cheats[cheater] = cheat;
        let stores = (0..4).map(|party| Some(self.store(party))).collect();
        run_saving(&program, &inputs, (Config::default(), saved), &cheats, stores, seed)
    }

    pub(crate) fn again(&self, cheater: usize, cheat: Cheat, seed: u64) -> Vec<Result<Outputs, ProtocolError>> {
        let read = ReadInput { port: "one".into(), name: "sum".into(), output: None };
        self.advance(vec![read], cheater, cheat, seed)
    }

    /// The state as both servers have it.
    pub(crate) fn states(&self) -> [Option<SavedState>; 2] {
        [GENERATOR, CLOUD].map(|server| match Outsourced::notices(&self.store(server)).first() {
            Some(Notice::Kept(names)) => names.state,
            _ => None,
        })
    }
}

pub(crate) fn at_version(version: u64) -> [Option<SavedState>; 2] {
    [Some(SavedState { version, closed: false }); 2]
}

#[test]
fn a_run_with_a_clients_wrong_hash_does_not_count() {
    let kept = Kept::new();
    let lies = Server::BOTH.map(|server| [ClientDeviation::OtherHash(server), ClientDeviation::OtherSeed(server)]);
    for (seed, deviation) in (1..).zip(lies.concat()) {
        let results = kept.again(2, Cheat::Client(deviation), seed);
        results.iter().for_each(|result| assert!(result.is_err(), "{deviation:?}: nobody has a result"));
        assert_eq!(kept.states(), at_version(1), "{deviation:?}");
    }
    assert!(kept.again(2, Cheat::None, 9).iter().all(Result::is_ok));
    assert_eq!(kept.states(), at_version(2));
}

#[test]
fn a_client_accepts_neither_other_states_nor_another_history_from_one_server() {
    let kept = Kept::new();
    let differ = "the servers reported different sessions or states";
    for (seed, server) in (1..).zip([GENERATOR, CLOUD]) {
        for (deviation, what) in [(ServerDeviation::OtherStandings, differ), (ServerDeviation::OtherHistory, ANSWERS)] {
            let results = kept.again(server, Cheat::Server(deviation), seed);
            let expected = Rejected { what, parties: [Party(0), Party(3)] };
            let rejects = matches!(&results[1], Err(ProtocolError::Rejected(rejected)) if *rejected == expected);
            assert!(rejects, "{deviation:?}: {:?}", results[1].as_ref().err());
            let states = kept.states();
            assert_eq!(states[0], states[1], "{deviation:?}");
        }
    }
}
