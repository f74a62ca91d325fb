//! What a coalition of all but one party sees of that one is uniform, whatever its inputs: the chi-square test over the bytes
//! of every kind of message, over many runs with fixed inputs.
//!
//! Every other party is in the coalition, so that what any of them gets from party 0 is looked at.

use std::collections::BTreeMap;

use garblet_circuit::library;
use garblet_net::{
    share_of,
    testing::{Direction, Frame, FrameKind, Transcript, intercepted_mesh},
};
use garblet_ot::Choices;

use super::*;
use crate::uniformity::ByteCounts;

/// Runs, so that the shortest messages have bytes enough for the test.
const RUNS: usize = 400;

/// What party 0 sends a peer in one run after set-up, in order, with sizes in bytes.
fn messages(plan: &Plan, peer: u16) -> Vec<(&'static str, usize)> {
    let (gates, own) = (plan.and_count(), plan.input_bits(Party(0)));
    let all = 16 * plan.row_blocks();
    let rows = |party| share_of(all, 16 * plan.gate_blocks(), plan.parties(), party).len();
    let extension = |n: usize| plan.config().ot_width.extension_bytes(n as u64) as usize;
    let mut messages = match (plan.config().garbling, plan.form()) {
        (Garbling::Ot, Form::Linear) => vec![
            ("extension", extension(own + 2 * gates)),
            ("corrections", (own + gates) / 8),
            ("products", gates / 8),
            ("corrections of products", gates / 8),
        ],
        (Garbling::Ot, Form::Published) => vec![
            ("extension", extension(4 * gates)),
            ("corrections", gates / 8),
            ("products", gates / 8),
            ("corrections of rows", 3 * gates / 8),
            ("payloads", 48 * gates),
        ],
        (Garbling::Bgw3, Form::Linear) => vec![("shares of bits", own + gates), ("reduction", gates)],
        (_, Form::Linear) => vec![("shares of bits", own + gates)],
        (garbling, Form::Published) => {
            let mut sharing = vec![("shares of bits", 16 * plan.base_count()), ("shares of masks", all)];
            if garbling != Garbling::Bgw2 {
                sharing.push(("reduction", 16 * gates));
            }
            if garbling == Garbling::Bgw4 {
                sharing.push(("reduction of rows", all));
            }
            sharing
        }
    };
    match plan.form() {
        Form::Linear => messages.extend([("shares of rows", rows(peer)), ("rows", rows(0))]),
        Form::Published => messages.push(("shares of rows", all)),
    }
    let outputs = plan.output_bits(Party(peer)) / 8;
    messages.extend([("public values", own / 8), ("labels", 16 * plan.input_count()), ("shares of outputs", outputs)]);
    messages
}

/// Whether every peer gets the same bytes, which then count once.
fn is_broadcast(plan: &Plan, message: &str) -> bool {
    match message {
        "rows" | "public values" | "labels" | "shares of outputs" => true,
        "shares of rows" => plan.form() == Form::Published,
        _ => false,
    }
}

/// The last bytes of the bulk stream to the peer: those after set-up.
fn stream(transcript: &Transcript, bytes: usize) -> Vec<u8> {
    let forth = |frame: &Frame| frame.direction == Direction::Forth && frame.kind == FrameKind::Bulk;
    let all: Vec<u8> = transcript.frames().into_iter().filter(forth).flat_map(|frame| frame.payload).collect();
    all[all.len() - bytes..].to_vec()
}

/// The bytes of every kind of message that party 0 sends to any peer, over all runs. With `planted` it takes zeros for its
/// permutation bits in every fourth run.
fn view(config: Config, planted: bool) -> BTreeMap<&'static str, Vec<u8>> {
    let program = library::find("lib:min(32)").unwrap();
    let parties = 4;
    let plan = plan(&program, parties, config).unwrap();
    let inputs = [Bits::from_u128(0x0123_4567, 32), Bits::zeros(32)];
    let part = async |session: &mut MeshSession| {
        let party = session.mesh().party();
        let own = own_inputs(&program, party, &inputs);
        let mut joint = JointParty::setup(session, plan.clone()).await?;
        for run in 0..RUNS {
            let mut secrets = joint.secrets(session);
            if planted && party == 0 && run % 4 == 0 {
                secrets.permutation = Choices::zeros(plan.base_count());
            }
            let prepared = joint.garble(session, secrets).await?;
            joint.online(session, prepared, &own).await?;
        }
        Ok(())
    };
    let transcripts = block_on(async {
        let (meshes, transcripts) = intercepted_mesh(parties, None);
        run(meshes, 31, TIMEOUT, part).await.into_iter().for_each(|done| done.expect("an honest run"));
        transcripts
    });
    let mut view = BTreeMap::<_, Vec<u8>>::new();
    for ((_, peer), transcript) in transcripts.into_iter().filter(|((low, _), _)| *low == 0) {
        let messages = messages(&plan, peer);
        let per_run: usize = messages.iter().map(|(_, bytes)| bytes).sum();
        for run in stream(&transcript, RUNS * per_run).chunks_exact(per_run) {
            let mut rest = run;
            for (name, bytes) in &messages {
                let (message, later) = rest.split_at(*bytes);
                if peer == 1 || !is_broadcast(&plan, name) {
                    view.entry(*name).or_default().extend_from_slice(message);
                }
                rest = later;
            }
        }
    }
    view
}

#[test]
fn every_message_of_every_kind_is_uniform() {
    for kind in KINDS {
        for (name, bytes) in view(config(kind, Hash::Rekeyed), false) {
            let counts = ByteCounts::of(&bytes);
            assert!(counts.is_uniform(), "{name} of {kind:?}: chi-square {:.0}", counts.chi_square());
        }
    }
}

#[test]
fn a_planted_bias_is_caught() {
    let view = view(Config::default(), true);
    let is_uniform = |name: &str| ByteCounts::of(&view[name]).is_uniform();
    // The input shows through its public values; the OTs hide what it chose.
    assert!(!is_uniform("public values"));
    assert!(is_uniform("corrections") && is_uniform("products"));
}
