//! Bytes and rounds of every phase, as formulas.

use garblet_authenticated::communication_for_others;
use garblet_circuit::Party;
use garblet_client::Server;
use garblet_cut_and_choose as circuits;
use garblet_net::Hello;
use garblet_protocol::{
    party_io::{EVALUATOR, GARBLER},
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};
use garblet_yao as yao;

use crate::{
    SERVERS,
    client::output_bits,
    dealt::seat,
    plan::{BasePlan, Plan},
    server::{ANSWER_BYTES, NONCE_BYTES, SESSION_BYTES, STANDING_BYTES, submission_bytes},
    settle::{CHALLENGE_BYTES, PROOF_BYTES, VERDICT_BYTES, WORD_BYTES},
    state::TOLD_BYTES,
};

/// The cost of a phase of one run of `plan` for `party`, with the hellos of all parties.
///
/// When servers meet, each sends `16 + 73 S` bytes, for `S` states, and before a run each client receives `32 + 40 S` from each. All tell each other the
/// number of the run. Servers send the bytes of the base, and for the hashes `16 K` from the generator, `2 + 48 K` from the cloud, `2 + 32 K` from the
/// generator and 2 from the cloud before labels leave, with `K` clients; if a state is kept, also a byte from the generator at the end. A client with `n`
/// input and `m` output bits sends `104 + h / 8` bytes to each server, `n / 8` more to the cloud, and receives `73 + m / 8` from each.
pub(crate) fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    around(plan, party, phase, hellos, |seat, of_servers| {
        let clients = plan.clients().len();
        let settling = [
            (GARBLER, CHALLENGE_BYTES * clients),
            (EVALUATOR, VERDICT_BYTES + (CHALLENGE_BYTES + PROOF_BYTES) * clients),
            (GARBLER, VERDICT_BYTES + PROOF_BYTES * clients),
            (EVALUATOR, VERDICT_BYTES),
        ];
        let mut cost = communication_for_others(plan.base(), seat, phase, of_servers, &settling);
        if phase == Phase::Online && plan.keeps() {
            let word = WORD_BYTES as u64;
            cost += match seat {
                GARBLER => Communication { bytes_sent: word, ..Communication::default() },
                _ => Communication { bytes_received: word, rounds: 1, ..Communication::default() },
            };
        }
        cost
    })
}

/// The same over `cut-and-choose`: for the hashes `2 + (16 + h / 8) K` from the generator and `4 + 48 K` from the cloud, in the rounds of the base, which
/// computes the changed program.
pub(crate) fn over_circuits(
    plan: &Plan<circuits::Plan>,
    party: Party,
    phase: Phase,
    hellos: &[Hello],
) -> Communication {
    around(plan, party, phase, hellos, |seat, of_servers| {
        let mut cost = circuits::communication(plan.base(), seat, phase, of_servers);
        if phase == Phase::Online {
            let bytes = |from, _| {
                let [verdicts, told] = if from == GARBLER { [1, plan.hash_bits() / 8] } else { [2, PROOF_BYTES] };
                (verdicts * VERDICT_BYTES + plan.clients().len() * (CHALLENGE_BYTES + told)) as u64
            };
            cost += Communication::among(SERVERS, seat, bytes, 0);
        }
        cost
    })
}

/// The same over `yao`, where nothing is proved.
pub(crate) fn over_yao(plan: &Plan<yao::Plan>, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    around(plan, party, phase, hellos, |seat, of_servers| {
        let mut cost = yao::communication(plan.base(), seat, phase, of_servers);
        let ahead = plan.base().config().build == yao::Build::Ahead && plan.base().input_bits(EVALUATOR) > 0;
        if phase == Phase::Online && seat == GARBLER && ahead {
            // The garbler has been waiting for the number of the run since it sent tables.
            cost.rounds -= 1;
        }
        cost
    })
}

/// The cost outside the base, plus that of the base for a server, given its number there and the servers' hellos.
fn around<B: BasePlan>(
    plan: &Plan<B>,
    party: Party,
    phase: Phase,
    hellos: &[Hello],
    of_base: impl FnOnce(Party, &[Hello; 2]) -> Communication,
) -> Communication {
    let parties = plan.cloud().0 + 1;
    let mut cost = Communication::default();
    if let Some(seat) = seat(party, plan.cloud()) {
        cost += of_base(seat, &Server::BOTH.map(|server| plan.servers_hello(server, None)));
        if phase == Phase::Setup {
            let bytes = (NONCE_BYTES + plan.states().len() * TOLD_BYTES) as u64;
            cost += Communication { bytes_sent: bytes, bytes_received: bytes, rounds: 1 };
        }
    }
    match phase {
        Phase::Setup => {
            let hello = |from: Party| hellos.get(usize::from(from.0)).map_or(0, Hello::encoded_bytes);
            cost += Communication::among(parties, party, |from, _| hello(from), 1);
        }
        Phase::Online => {
            cost += Communication::among(
                parties,
                party,
                |from, to| match (plan.server(from), plan.server(to)) {
                    (None, None) => 0,
                    _ => RUN_ID_BYTES as u64 + dealt_or_answered(plan, from, to),
                },
                1,
            )
        }
        // Clients have nothing to build; they hear from the servers when all of it is done.
        Phase::Build => {
            let told = (SESSION_BYTES + STANDING_BYTES * plan.states().len()) as u64;
            let bytes = |from, to| match (plan.server(from), plan.server(to)) {
                (Some(_), None) => told,
                _ => 0,
            };
            cost += Communication::among(parties, party, bytes, 0);
        }
        Phase::Prepare => (),
    }
    cost
}

/// Bytes between a client and a server.
fn dealt_or_answered<B: BasePlan>(plan: &Plan<B>, from: Party, to: Party) -> u64 {
    let bytes = match (plan.server(from), plan.server(to)) {
        (None, Some(server)) => submission_bytes(plan, server, from),
        (Some(_), None) => ANSWER_BYTES + output_bits(plan, to).div_ceil(8),
        _ => 0,
    };
    bytes as u64
}
