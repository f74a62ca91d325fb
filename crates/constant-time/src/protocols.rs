//! Whole runs of all parties, from the hello to the last message.

use std::sync::Arc;

use futures_util::future::join_all;
use garblet::{Config, Ends, Party, Peer, Plan, Program, Protocol, library, net::Mesh};
use garblet_circuit::{InputId, evaluate};
use garblet_primitives::secrets;

use crate::marks::{self, SecretRng, block_on, channels};

pub(crate) fn yao() {
    run("yao", &[], "lib:mul(8)");
    run("yao", &[("build", "ahead")], "lib:millionaires(8)");
}

#[cfg(feature = "all")]
pub(crate) fn gmw() {
    run("gmw", &[], "lib:mul(8)");
}

#[cfg(feature = "all")]
pub(crate) fn lego() {
    run("lego", &[], "lib:add(8)");
}

#[cfg(feature = "all")]
pub(crate) fn authenticated() {
    run("authenticated", &[], "lib:add(8)");
    run("authenticated", &[("check", "reveal"), ("build", "stream")], "lib:add(8)");
}

#[cfg(feature = "all")]
pub(crate) fn authenticated_bmr() {
    run("authenticated-bmr", &[], "lib:add(8)");
    // All parties but the evaluator have inputs.
    let mut program = library::find("lib:add(8)").expect("there is one");
    program.set_owner(InputId(1), Party(2));
    run_program("authenticated-bmr", &[("check", "reveal")], program.clone());
    run_program("authenticated-bmr", &[("build", "stream")], program);
}

pub(crate) fn two_garblers() {
    run("two-garblers", &[], "lib:mul(8)");
    // Both garblers have inputs.
    let mut program = library::find("lib:millionaires(8)").expect("there is one");
    program.set_owner(InputId(0), Party(2));
    run_program("two-garblers", &[("build", "ahead")], program);
}

fn run(protocol: &str, parameters: &[(&str, &str)], program: &str) {
    run_program(protocol, parameters, library::find(program).expect("there is one"));
}

/// Runs the fewest parties that the protocol can have.
fn run_program(protocol: &str, parameters: &[(&str, &str)], program: Program) {
    let program = Arc::new(program);
    let protocol: Protocol = protocol.parse().expect("it is registered");
    let mut config = Config::of(protocol);
    parameters.iter().for_each(|(name, value)| config.set(name, value).expect("there is one"));
    let inputs = marks::inputs(&program);
    let parties = *protocol.parties().start();
    let plan = Plan::new(program.clone(), parties, &config).expect("it can be run");
    let party = async |party: u16, ends: Ends| {
        let own = program.inputs().iter().zip(&inputs).filter(|(input, _)| input.owner == Party(party));
        let own: Vec<_> = own.map(|(_, value)| value.clone()).collect();
        let mut peer = Peer::open(&plan, Party(party), ends, SecretRng::new(), Box::new(())).await.expect("honest");
        let prepared = peer.prepare().await.expect("honest");
        let report = peer.online(prepared, &own).await.expect("honest");
        peer.close().await.expect("honest");
        report.outputs
    };
    let all = (0..).zip(ends(&config, parties)).map(|(number, ends)| party(number, ends));
    check(&program, &inputs, &block_on(join_all(all)));
}

fn ends(config: &Config, parties: u16) -> Vec<Ends> {
    if config.protocol().is_mesh() {
        return Mesh::of_pairs(parties, |_, _| channels()).into_iter().map(Ends::from).collect();
    }
    let (left, right) = channels();
    vec![left.into(), right.into()]
}

/// Checks that a protocol ran to its end.
fn check(program: &Program, inputs: &[garblet::Bits], outputs: &[Vec<Option<garblet::Bits>>]) {
    let bytes = |bits: &garblet::Bits| {
        let mut bytes = bits.to_bytes();
        secrets::publish(&mut bytes, "the check itself looks at results");
        bytes
    };
    let expected: Vec<Vec<u8>> = evaluate(program, inputs).iter().map(bytes).collect();
    for outputs in outputs {
        for (output, expected) in outputs.iter().zip(&expected) {
            assert!(output.as_ref().is_none_or(|output| bytes(output) == *expected), "a wrong result");
        }
    }
}
