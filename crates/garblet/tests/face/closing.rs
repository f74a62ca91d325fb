//! A result that a party has is its own, however the peer parts from it.

use std::sync::Arc;

use garblet::{
    Bits, Config, Error, Outcome, Party, Peer, Plan, Program, Protocol,
    circuit::evaluate,
    library,
    net::{Channel, memory_pair},
};
use rand::{SeedableRng, rngs::StdRng};

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(8)").expect("it is there"))
}

fn inputs() -> [Bits; 2] {
    [77, 31].map(|value| Bits::from_u128(value, 8))
}

fn config(protocol: Protocol) -> Config {
    let mut config = Config::of(protocol);
    // Only one of the two protocols has it.
    let _ = config.set("circuits", "9");
    config
}

async fn open(party: u16, channel: Channel, protocol: Protocol) -> Peer {
    let mut rng = StdRng::seed_from_u64(party.into());
    let plan = Plan::new(program(), 2, &config(protocol)).expect("any protocol runs it");
    Peer::open(&plan, Party(party), channel, &mut rng, Box::new(())).await.expect("both are honest until the result")
}

/// The evaluator's outcome when the garbler has its output and then does that.
async fn evaluator_against<F: Future<Output = ()>>(protocol: Protocol, then: impl FnOnce(Peer) -> F) -> Outcome {
    let (ours, theirs) = memory_pair();
    let garbler = async {
        let mut peer = open(0, theirs, protocol).await;
        let report = peer.run(&inputs()[..1]).await.expect("its output");
        assert_eq!(report.outputs, [Some(evaluate(&program(), &inputs())[0].clone())]);
        then(peer).await;
    };
    let evaluator = async { open(1, ours, protocol).await.finish(&inputs()[1..]).await };
    let ((), outcome) = tokio::join!(garbler, evaluator);
    outcome.expect("a result that nobody can take away")
}

#[tokio::test]
async fn a_garbler_that_takes_its_output_and_aborts_leaves_the_evaluator_its_result() {
    let right = evaluate(&program(), &inputs());
    for protocol in [Protocol::of::<garblet::cut_and_choose::CutAndChoose>(), Protocol::of::<garblet::yao::Yao>()] {
        let aborted = evaluator_against(protocol, async |peer| peer.abort(&Error::Over).await).await;
        assert_eq!(aborted.report.outputs, [Some(right[0].clone())], "{protocol}");
        let closing = aborted.closing.expect("the garbler has aborted");
        assert!(matches!(closing.net(), Some(garblet::net::NetError::PeerAborted { .. })), "{closing}");

        let gone = evaluator_against(protocol, async |peer| drop(peer)).await;
        assert_eq!(gone.report.outputs, [Some(right[0].clone())], "{protocol}");
        assert!(gone.closing.as_ref().and_then(Error::net).is_some(), "{protocol}");

        let closed = evaluator_against(protocol, async |peer| peer.close().await.expect("in order")).await;
        assert!(closed.closing.is_none(), "{protocol}");
    }
}
