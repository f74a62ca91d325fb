//! Every deviation from `two-garblers` ends as the protocol promises.

use std::{collections::BTreeSet, sync::Arc};

use garblet_cheat::{
    Outputs,
    two_garblers::{Cheat, Deviation, run},
};
use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Recipients, Type, Wire, evaluate};
use garblet_protocol::{
    Protocol, ProtocolError,
    checks::{Check, Refused},
};
use garblet_two_garblers::{Build, COMMITTED_LABELS, Config, EVALUATED_LABELS, TwoGarblers};

const E: usize = 0;
const G1: usize = 1;
const G2: usize = 2;

const BUILDS: [Build; 2] = [Build::Stream, Build::Ahead];

/// Bits of each party's input.
const WIDTH: u32 = 3;

/// A program of all parties with so many gates. All learn the output, so party 0 evaluates.
fn program(gates: u32) -> Arc<Program> {
    let gate = |at: u32| {
        let (a, b) = (Wire(at), Wire(at + 5));
        if at % 4 == 3 { Gate::Xor(a, b) } else { Gate::And(a, b) }
    };
    let circuit = Circuit::new(3 * WIDTH, (0..gates).map(gate).collect(), (gates..gates + 9).map(Wire).collect());
    let port = |name: &str, width| Port::new(name, Type::Bits(width));
    let inputs = ["x", "y", "z"].map(|name| port(name, WIDTH)).to_vec();
    let component = Component::new("gates", inputs, vec![port("out", 9)], circuit.expect("wires that exist"));
    Arc::new(Program::from_component(component.expect("ports that fit"), &[0, 1, 2].map(Party)).expect("owners"))
}

fn inputs(values: [u128; 3]) -> Vec<Bits> {
    values.map(|value| Bits::from_u128(value, WIDTH as usize)).into()
}

const INPUTS: [[u128; 3]; 3] = [[5, 3, 6], [0, 7, 1], [7, 7, 7]];

/// The end of a run for an honest party, if it is not the right result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It accuses a party.
    Caught(usize, Check),
    /// It says that one of two parties lies.
    Refused(&'static str, [usize; 2]),
    /// It heard that another party gave up.
    Heard,
}

fn end(result: &Result<Outputs, ProtocolError>) -> End {
    match result {
        Ok(_) => panic!("an honest party has a result"),
        Err(ProtocolError::Refused(Refused { what, parties, .. })) => {
            End::Refused(what, parties.map(|party| usize::from(party.0)))
        }
        Err(ProtocolError::Peer { party, source }) => match &**source {
            ProtocolError::Cheating(cheating) => End::Caught(party.0.into(), cheating.check),
            _ => End::Heard,
        },
        Err(error) => panic!("{error}"),
    }
}

/// Runs with one cheat, for several inputs, and returns the end of an honest party, which is the same for all. No other honest party has a wrong result.
fn against(program: &Arc<Program>, build: Build, cheat: (usize, Deviation), finder: usize) -> End {
    let mut ends = Vec::new();
    for (seed, values) in (0..).zip(INPUTS) {
        let inputs = inputs(values);
        let mut cheats = [Cheat::default(); 3];
        cheats[cheat.0] = Cheat(Some(cheat.1));
        let results = run(program, &inputs, Config { build }, cheats, seed);
        let right: Outputs = evaluate(program, &inputs).into_iter().map(Some).collect();
        for (party, result) in results.iter().enumerate().filter(|(party, _)| *party != cheat.0) {
            assert!(result.as_ref().map_or(true, |outputs| *outputs == right), "{cheat:?}: party {party} is wrong");
        }
        ends.push(end(&results[finder]));
        let blame = results[finder].as_ref().err().and_then(ProtocolError::blame);
        match ends[0] {
            End::Refused(..) => assert!(blame.is_none(), "{cheat:?}"),
            _ => assert_eq!(blame.map(|blame| usize::from(blame.party)), Some(cheat.0), "{cheat:?}"),
        }
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{cheat:?}: {ends:?}");
    ends[0]
}

/// The contradictions for which a party refuses the two others.
const NONCES: &str = "a party sent the two others different nonces, or another party reports them wrongly";
const COMMITMENTS: &str = "the commitments of one garbler do not have the digest that the other one sent";
const TABLES: &str = "the tables of one garbler do not have the digest that the other one sent";
const DECODING: &str = "the garblers sent different decoding bits";

#[test]
fn a_party_that_sends_different_nonces_or_reports_them_wrongly_stops_the_session() {
    let program = program(40);
    for (cheater, one, other) in [(E, G1, G2), (G1, E, G2), (G2, E, G1)] {
        for (deviation, finders) in [
            (Deviation::OtherNonce(one as u16), [(one, other), (other, one)].to_vec()),
            (Deviation::OtherName(one as u16), vec![(one, other)]),
        ] {
            for (finder, third) in finders {
                let End::Refused(what, named) = against(&program, Build::Stream, (cheater, deviation), finder) else {
                    panic!("{deviation:?}");
                };
                assert_eq!(what, NONCES);
                assert_eq!(BTreeSet::from(named), BTreeSet::from([cheater, third]), "{deviation:?}");
            }
        }
    }
}

#[test]
fn garblers_that_contradict_each_other_are_both_named_and_nobody_is_blamed() {
    let (small, large) = (program(40), program(90_000));
    let wires = 4 * WIDTH as isize;
    let cases = [
        (&small, G1, Deviation::OtherSecret(2), COMMITMENTS),
        (&small, G2, Deviation::OtherSecret(1), COMMITMENTS),
        (&small, G1, Deviation::OtherCommitment(0), COMMITMENTS),
        (&small, G1, Deviation::OtherCommitment(16), COMMITMENTS),
        (&small, G1, Deviation::OtherCommitment(16 + 64 * wires - 1), COMMITMENTS),
        (&small, G1, Deviation::OtherCommitment(-1), COMMITMENTS),
        (&small, G2, Deviation::OtherCommitmentsDigest, COMMITMENTS),
        (&small, G1, Deviation::OtherTable(0), TABLES),
        (&large, G2, Deviation::OtherTable(1), TABLES),
        (&large, G1, Deviation::OtherTable(2), TABLES),
        (&small, G1, Deviation::OtherTablesDigest, TABLES),
        (&large, G2, Deviation::OtherTablesDigest, TABLES),
        (&small, G1, Deviation::OtherDecoding(0), DECODING),
        (&small, G2, Deviation::OtherDecoding(16), DECODING),
        (&small, G1, Deviation::OtherDecoding(48), DECODING),
        (&small, G2, Deviation::OtherDecoding(49), DECODING),
    ];
    for (program, cheater, deviation, what) in cases {
        for build in BUILDS {
            let end = against(program, build, (cheater, deviation), E);
            assert_eq!(end, End::Refused(what, [G1, G2]), "{deviation:?} of party {cheater}");
            assert!(!garbler_has_result(program, build, (cheater, deviation)), "{deviation:?}");
        }
    }
}

/// Tells whether the honest garbler has a result.
fn garbler_has_result(program: &Arc<Program>, build: Build, (cheater, deviation): (usize, Deviation)) -> bool {
    let mut cheats = [Cheat::default(); 3];
    cheats[cheater] = Cheat(Some(deviation));
    let honest = if cheater == G1 { G2 } else { G1 };
    run(program, &inputs(INPUTS[0]), Config { build }, cheats, 1)[honest].is_ok()
}

#[test]
fn each_check_catches_and_names_the_party_that_fails_it() {
    let program = program(40);
    let own = WIDTH as usize;
    let mut checks = BTreeSet::new();
    let mut cases = Vec::new();
    for garbler in [G1, G2] {
        for deviation in [
            Deviation::OtherValue(own),
            Deviation::OtherValue(2 * own - 1),
            Deviation::OtherLabel(0),
            Deviation::OtherLabel(16 * own - 1),
            Deviation::OtherLabel(16 * own),
            Deviation::OtherLabel(32 * own - 1),
        ] {
            cases.push((garbler, deviation, E, COMMITTED_LABELS));
        }
        // Nine bits, and then the digest.
        for place in [0, 1, 2, 33] {
            cases.push((E, Deviation::OtherOutput(garbler as u16, place), garbler, EVALUATED_LABELS));
        }
    }
    for (cheater, deviation, finder, check) in cases {
        for build in BUILDS {
            let end = against(&program, build, (cheater, deviation), finder);
            assert_eq!(end, End::Caught(cheater, check), "{deviation:?} of party {cheater}");
            checks.insert(check);
        }
    }
    assert!(checks.iter().eq(BTreeSet::from_iter(TwoGarblers::CHECKS)), "every check has a deviation");
}

/// A corrupted party may choose its own input, and nothing else.
#[test]
fn another_input_is_another_input() {
    let program = program(40);
    for (cheater, deviation) in
        [(E, Deviation::OtherInput), (G1, Deviation::OtherValue(0)), (G2, Deviation::OtherValue(0))]
    {
        for (build, values) in BUILDS.into_iter().zip(INPUTS) {
            let mut used = values;
            used[cheater] ^= 1;
            let right: Outputs = evaluate(&program, &inputs(used)).into_iter().map(Some).collect();
            let mut cheats = [Cheat::default(); 3];
            cheats[cheater] = Cheat(Some(deviation));
            for result in run(&program, &inputs(values), Config { build }, cheats, 4) {
                assert!(result.expect("nobody can see it") == right, "{deviation:?} of party {cheater}");
            }
        }
    }
}

/// The evaluator that deals other shares than it remembers stops by itself.
#[test]
fn an_evaluator_that_deals_other_shares_gives_nobody_a_wrong_result() {
    let program = program(40);
    for garbler in [G1, G2] {
        let deviation = Deviation::OtherShare(garbler as u16);
        let mut cheats = [Cheat::default(); 3];
        cheats[E] = Cheat(Some(deviation));
        let results = run(&program, &inputs(INPUTS[0]), Config::default(), cheats, 5);
        assert!(results[G1..].iter().all(Result::is_err));
    }
}

/// A garbler that learns nothing has no message to check, and one that is the only one to learn gets its output.
#[test]
fn an_output_for_one_garbler_alone_is_checked_by_it() {
    let mut program = (*program(40)).clone();
    program.set_recipients(0, Recipients::Only(vec![Party(0)]));
    let honest = run(&Arc::new(program.clone()), &inputs(INPUTS[1]), Config::default(), [Cheat::default(); 3], 6);
    assert!(honest.iter().all(Result::is_ok));
    // Party 1 evaluates, and garbler 2 learns.
    program.set_recipients(0, Recipients::Only(vec![Party(1), Party(2)]));
    let mut cheats = [Cheat::default(); 3];
    cheats[1] = Cheat(Some(Deviation::OtherOutput(2, 0)));
    let results = run(&Arc::new(program), &inputs(INPUTS[1]), Config::default(), cheats, 6);
    assert_eq!(end(&results[2]), End::Caught(1, EVALUATED_LABELS));
}
