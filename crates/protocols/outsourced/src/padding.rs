//! Set padding bits are refused with `form=shares` in every message of dealt bits, and in answers.

use std::sync::Arc;

use garblet_circuit::{Bits, InputId, Party};
use garblet_net::{
    NetError,
    testing::{Direction, PairFault, PairTranscript, flips_before_ends, intercepted_mesh},
};
use garblet_protocol::{
    MeshSession, Protocol, ProtocolError,
    checks::{Refused, Rejected},
    protocol::Request,
    stock::SavedValues,
};
use garblet_runs::testing::mesh_run::{TIMEOUT, block_on, run};
use garblet_synthesis::library;

use crate::{
    Config, FormPlan, GENERATOR, Outsourced, Plan,
    client::output_bits,
    settle::CHALLENGE_BYTES,
    views::{Bias, all_runs},
};

const CLIENT: Party = Party(1);
const CLOUD: Party = Party(2);
const PARTIES: u16 = 3;
/// Bits of the client's input and of the cloud's, and of the sum that all learn.
const WIDTH: usize = 11;

const OTHER_RUN: &str = "the client's message is not for this run";
const UNOPENED: &str = "the servers gave no answer that can be opened";

/// Messages that end with bits: the sender, the receiver, and the bytes that follow in the same frame.
const MESSAGES: [(Party, Party, usize); 5] = [
    // The share of the client's input.
    (CLIENT, CLOUD, 0),
    // All dealt bits, masked; those of the generator with the challenge for the cloud's.
    (CLOUD, GENERATOR, 0),
    (GENERATOR, CLOUD, CHALLENGE_BYTES),
    // The client's output under both pads.
    (GENERATOR, CLIENT, 0),
    (CLOUD, CLIENT, 0),
];

fn plan() -> Arc<Plan> {
    let mut program = library::find(&format!("lib:add({WIDTH})")).expect("in the library");
    [CLIENT, CLOUD].into_iter().zip(0..).for_each(|(owner, input)| program.set_owner(InputId(input), owner));
    let (config, saved) = (Config::default(), SavedValues::default());
    let request = Request { program: Arc::new(program), parties: PARTIES, config, saved };
    let FormPlan::Shares(plan) = Outsourced::plan(&request).expect("it can be run") else { panic!("the default form") };
    plan
}

/// The errors of all parties with a fault, and the messages of all pairs.
fn run_with(plan: &Arc<Plan>, fault: Option<PairFault>) -> (Vec<Option<ProtocolError>>, Vec<PairTranscript>) {
    let inputs = [1000, 2000].map(|value| Bits::from_u128(value, WIDTH));
    let part = async |session: &mut MeshSession| all_runs(session, plan, &inputs, Bias::None, 1).await;
    let (ran, transcripts) = block_on(async {
        let (meshes, transcripts) = intercepted_mesh(PARTIES, fault);
        (run(meshes, 5, TIMEOUT, part).await, transcripts)
    });
    (ran.into_iter().map(Result::err).collect(), transcripts)
}

/// Tells whether a receiver has refused a message as expected, of `dealt` bits if it is between the servers.
fn is_refusal(error: &ProtocolError, (from, to): (Party, Party), dealt: usize) -> bool {
    match error {
        ProtocolError::Refused(refused) => *refused == Refused::new(OTHER_RUN, [from; 2]),
        ProtocolError::Rejected(rejected) => {
            to == CLIENT && *rejected == Rejected { what: UNOPENED, parties: [GENERATOR, CLOUD] }
        }
        ProtocolError::Peer { party, source } => {
            let ProtocolError::Net(NetError::Malformed { what, .. }) = &**source else { return false };
            *party == from && *what == format!("{dealt} bits")
        }
        _ => false,
    }
}

#[test]
fn set_padding_bits_are_refused_in_every_message_of_dealt_bits_and_in_answers() {
    let plan = plan();
    let dealt = plan.clients().map(|(_, dealt)| dealt.masks.end).max().expect("a client");
    assert!([dealt, WIDTH, output_bits(&plan, CLIENT)].iter().all(|bits| bits % 8 > 0), "all have spare bits");
    let (honest, transcripts) = run_with(&plan, None);
    assert!(honest.iter().all(Option::is_none), "all are honest: {honest:?}");
    for (from, to, followed_by) in MESSAGES {
        let pair = (from.0.min(to.0), from.0.max(to.0));
        let direction = if from < to { Direction::Forth } else { Direction::Back };
        let frames = transcripts.iter().find(|(of, _)| *of == pair).expect("every pair has one").1.frames();
        // The last ones first, as these messages are at the end.
        let refused = flips_before_ends(&frames, direction, followed_by).into_iter().rev().any(|fault| {
            let (errors, _) = run_with(&plan, Some(PairFault { low: pair.0, high: pair.1, fault }));
            errors[usize::from(to.0)].as_ref().is_some_and(|error| is_refusal(error, (from, to), dealt))
        });
        assert!(refused, "from party {from} to party {to}");
    }
}
