//! Every deviation from `outsourced` ends as the protocol promises.

use std::sync::Arc;

use garblet_authenticated::Config;
use garblet_cheat::{
    Outputs,
    authenticated::configs,
    outsourced::{Cheat, ClientDeviation, ServerDeviation, run},
};
use garblet_circuit::{Bits, Party, Program, Recipients, Type, evaluate};
use garblet_client::Server;
use garblet_protocol::{
    ProtocolError,
    checks::{Refused, Rejected},
};
use garblet_synthesis::builder::{CircuitBuilder, Unsigned};

const CHALLENGE: &str = "the challenge that was told is not the one that the client committed to";
const HASH: &str = "what was told of the client's bits has not the hash that the client dealt";
const OTHER_RUN: &str = "the client's message is not for this run";
const ANSWERS: &str = "the servers gave different answers";

const GENERATOR: usize = 0;
const CLOUD: usize = 3;

/// A generator, two clients and a cloud, who all have an input: each learns the sum of all, and each client a product of its own.
fn program() -> Arc<Program> {
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

fn inputs() -> Vec<Bits> {
    [77, 190, 3, 201].map(|value| Bits::from_u128(value, 8)).into()
}

fn run_with(config: Config, cheater: usize, cheat: Cheat, seed: u64) -> Vec<Result<Outputs, ProtocolError>> {
    let mut cheats = [Cheat::None; 4];
    cheats[cheater] = cheat;
    run(&program(), &inputs(), config, &cheats, seed)
}

/// The refusal with which a party ended, or of which it heard nothing more than that somebody gave up.
fn refused(result: &Result<Outputs, ProtocolError>) -> Option<Refused> {
    match result {
        Err(ProtocolError::Refused(refused)) => Some(*refused),
        Err(_) => None,
        Ok(_) => panic!("a party has a result"),
    }
}

#[test]
fn all_learn_what_they_are_to_learn_and_nothing_else() {
    let program = program();
    let values = evaluate(&program, &inputs());
    for (seed, config) in (0..).zip(configs()) {
        for (party, result) in run_with(config, 0, Cheat::None, seed).into_iter().enumerate() {
            let outputs = result.expect("all are honest");
            let due = program.outputs().iter().zip(&values);
            let due = due.map(|(output, value)| output.recipients.contains(Party(party as u16)).then(|| value.clone()));
            assert!(outputs == due.collect::<Vec<_>>(), "party {party}, {config:?}");
        }
    }
}

/// Two clients have 8 input bits each, and 16 output bits each, of which pads are.
#[test]
fn a_server_that_changes_what_it_was_dealt_is_refused_before_anything_is_decoded() {
    let (shares, pads, all) = (16, 32, 16 + 32 + 2 * 48);
    // The first and the last bit of each kind, and the client that they are of.
    let places = [(0, 1), (shares - 1, 2), (shares, 1), (shares + pads - 1, 2), (shares + pads, 1), (all - 1, 2)];
    for (seed, config) in (0..).zip(configs()) {
        for (server, other) in [(GENERATOR, CLOUD), (CLOUD, GENERATOR)] {
            for (place, client) in places {
                let deviation = Cheat::Server(ServerDeviation::OtherBit(place));
                let results = run_with(config, server, deviation, seed);
                let expected = Refused { what: HASH, parties: [Party(client), Party(server as u16)] };
                assert_eq!(refused(&results[other]), Some(expected), "{deviation:?} {config:?}");
                results.iter().for_each(|result| assert!(result.is_err(), "nobody has a result"));
            }
        }
    }
}

#[test]
fn a_server_that_tells_another_challenge_or_proof_is_refused() {
    for (seed, config) in (0..).zip(configs()) {
        for (server, other) in [(GENERATOR, CLOUD), (CLOUD, GENERATOR)] {
            for (deviation, what) in [(ServerDeviation::OtherChallenge, CHALLENGE), (ServerDeviation::OtherProof, HASH)]
            {
                let results = run_with(config, server, Cheat::Server(deviation), seed);
                let expected = Refused { what, parties: [Party(1), Party(server as u16)] };
                assert_eq!(refused(&results[other]), Some(expected), "{deviation:?} {config:?}");
                results.iter().for_each(|result| assert!(result.is_err(), "nobody has a result"));
            }
        }
    }
}

#[test]
fn a_client_takes_no_output_that_a_server_changed() {
    for server in [GENERATOR, CLOUD] {
        let results = run_with(Config::default(), server, Cheat::Server(ServerDeviation::OtherAnswer), 1);
        let expected = Rejected { what: ANSWERS, parties: [Party(0), Party(3)] };
        assert!(matches!(&results[1], Err(ProtocolError::Rejected(rejected)) if *rejected == expected));
    }
}

/// The other client and both servers get nothing, and the error names the client beside a server that may be the liar.
#[test]
fn a_client_that_deals_what_does_not_fit_is_refused() {
    let pair = |server: usize| [Party(2), Party(server as u16)];
    let mut cases = vec![(ClientDeviation::OtherShare, GENERATOR, Refused { what: HASH, parties: pair(CLOUD) })];
    for (server, own, other) in [(Server::Generator, GENERATOR, CLOUD), (Server::Cloud, CLOUD, GENERATOR)] {
        let alone = |what| Refused { what, parties: [Party(2); 2] };
        cases.extend([
            (ClientDeviation::OtherJob(server), own, alone(OTHER_RUN)),
            (ClientDeviation::OtherSeed(server), other, Refused { what: HASH, parties: pair(own) }),
            (ClientDeviation::OtherCommitment(server), own, Refused { what: CHALLENGE, parties: pair(other) }),
            (ClientDeviation::OtherChallenge(server), other, Refused { what: CHALLENGE, parties: pair(own) }),
            (ClientDeviation::OtherHash(server), own, Refused { what: HASH, parties: pair(other) }),
        ]);
        let used = Refused { what: "the client's message was there before", parties: [Party(2); 2] };
        cases.push((ClientDeviation::OldCounter(server), own, used));
    }
    for (seed, (deviation, finder, expected)) in (0..).zip(cases) {
        let results = run_with(Config::default(), 2, Cheat::Client(deviation), seed);
        assert_eq!(refused(&results[finder]), Some(expected), "{deviation:?}");
        results.iter().for_each(|result| assert!(result.is_err(), "{deviation:?}: nobody has a result"));
    }
}
