//! Whole runs of all parties, from the hello to the last message.

use std::sync::Arc;

use garblet::{Config, Ends, Party, Peer, Plan, Program, Protocol, library, net::Mesh};
use garblet_circuit::evaluate;
use garblet_primitives::secrets;

use crate::marks::{self, SecretRng, block_on, channels};

pub(crate) fn yao() {
    run("yao", &[], "lib:mul(8)");
    run("yao", &[("build", "ahead")], "lib:millionaires(8)");
}

pub(crate) fn gmw() {
    run("gmw", &[], "lib:mul(8)");
}

pub(crate) fn lego() {
    run("lego", &[], "lib:add(8)");
}

pub(crate) fn authenticated() {
    run("authenticated", &[], "lib:add(8)");
    run("authenticated", &[("check", "reveal"), ("build", "stream")], "lib:add(8)");
}

fn run(protocol: &str, parameters: &[(&str, &str)], program: &str) {
    let program = Arc::new(library::find(program).expect("there is one"));
    let protocol: Protocol = protocol.parse().expect("it is registered");
    let mut config = Config::of(protocol);
    parameters.iter().for_each(|(name, value)| config.set(name, value).expect("there is one"));
    let inputs = marks::inputs(&program);
    let plan = Plan::new(program.clone(), 2, &config).expect("it can be run");
    let party = async |party: u16, ends: Ends| {
        let own = program.inputs().iter().zip(&inputs).filter(|(input, _)| input.owner == Party(party));
        let own: Vec<_> = own.map(|(_, value)| value.clone()).collect();
        let mut peer = Peer::open(&plan, Party(party), ends, SecretRng::new(), Box::new(())).await.expect("honest");
        let prepared = peer.prepare().await.expect("honest");
        let report = peer.online(prepared, &own).await.expect("honest");
        peer.close().await.expect("honest");
        report.outputs
    };
    let [one, two] = ends(&config);
    let (one, two) = block_on(async { tokio::join!(party(0, one), party(1, two)) });
    check(&program, &inputs, &[one, two]);
}

fn ends(config: &Config) -> [Ends; 2] {
    if config.protocol().is_mesh() {
        let mut meshes = Mesh::of_pairs(2, |_, _| channels()).into_iter();
        return [meshes.next(), meshes.next()].map(|mesh| mesh.expect("two").into());
    }
    let (left, right) = channels();
    [left.into(), right.into()]
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
