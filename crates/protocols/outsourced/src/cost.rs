//! Bytes and rounds of every phase, as formulas.

use garblet_authenticated::communication_for_others;
use garblet_circuit::Party;
use garblet_client::Server;
use garblet_net::Hello;
use garblet_protocol::{
    party_io::{EVALUATOR, GARBLER},
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};

use crate::{
    client::output_bits,
    plan::Plan,
    server::{ANSWER_BYTES, submission_bytes},
    settle::{CHALLENGE_BYTES, PROOF_BYTES},
};

/// The cost of a phase of one run of `plan` for `party`, with the hellos of all parties.
///
/// All tell each other the number of the run. Servers: those of the base, and of the hashes `16 K` from the generator, `48 K` from the cloud and `32 K` from the generator, of `K` clients. A client with `n` input and `m` output bits sends `104 + h / 8` bytes to each
/// server, `n / 8` more to the cloud, and receives `73 + m / 8` from each.
pub(crate) fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let parties = plan.cloud().0 + 1;
    let mut cost = Communication::default();
    if let Some(server) = plan.server(party) {
        let seat = if server == Server::Generator { GARBLER } else { EVALUATOR };
        let of_servers = Server::BOTH.map(|server| plan.servers_hello(server, None));
        let clients = plan.clients().len();
        let settling = [
            (GARBLER, CHALLENGE_BYTES * clients),
            (EVALUATOR, (CHALLENGE_BYTES + PROOF_BYTES) * clients),
            (GARBLER, PROOF_BYTES * clients),
        ];
        cost += communication_for_others(plan.base(), seat, phase, &of_servers, &settling);
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
                |from, to| RUN_ID_BYTES as u64 + dealt_or_answered(plan, from, to),
                1,
            )
        }
        Phase::Prepare | Phase::Build => (),
    }
    cost
}

/// Bytes between a client and a server.
fn dealt_or_answered(plan: &Plan, from: Party, to: Party) -> u64 {
    let bytes = match (plan.server(from), plan.server(to)) {
        (None, Some(server)) => submission_bytes(plan, server, from),
        (Some(_), None) => ANSWER_BYTES + output_bits(plan, to).div_ceil(8),
        _ => 0,
    };
    bytes as u64
}
