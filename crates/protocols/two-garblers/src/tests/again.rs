//! A message belongs to its run, and so does the number that a party says.

use garblet_circuit::evaluate;
use garblet_net::testing::intercepted_mesh;
use garblet_protocol::{
    checks::{Check, Digests, Refused},
    run_id::RUN_ID_BYTES,
};
use garblet_runs::testing::mesh_run::sent;

use super::*;

/// Sends the messages of a step of the first run again in the second one.
struct Again {
    step: Option<Step>,
    first: Vec<(usize, Vec<u8>)>,
}

impl Conduct<Step> for Again {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if self.step != Some(step) {
            return;
        }
        match self.first.iter().find(|(first, _)| *first == index) {
            Some((_, first)) => bytes.copy_from_slice(first),
            None => self.first.push((index, bytes.to_vec())),
        }
    }
}

/// The ends of a second run in which that party repeats a step of the first one. The first one is right.
fn ends_of_second(program: &Program, build: Build, (party, step): (u16, Step)) -> Vec<Result<Outputs, ProtocolError>> {
    let plan = plan(program, build);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| Bits::zeros(input.port.width() as usize)).collect();
    let right: Outputs = evaluate(program, &inputs).into_iter().map(Some).collect();
    let part = async |session: &mut MeshSession| {
        let own = own_inputs(plan.program(), session.mesh().party(), &inputs);
        let step = (session.mesh().party() == party).then_some(step);
        let mut role = set_up_with(session, &plan, Again { step, first: Vec::new() }).await?;
        assert!(role.run(session, &own).await? == right);
        role.run(session, &own).await
    };
    block_on(mesh_run::run(Mesh::memory(3), 12, TIMEOUT, part))
}

/// The text of an error, with zeros in place of digests.
fn text(error: &ProtocolError) -> String {
    let zeros = |_| Digests { expected: [0; 8], got: [0; 8] };
    match error {
        ProtocolError::Refused(refused) => Refused { digests: refused.digests.map(zeros), ..*refused }.to_string(),
        error => error.to_string(),
    }
}

#[test]
fn a_message_of_one_run_is_refused_in_another() {
    let small = circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(1)), Gate::And(Wire(2), Wire(3))], vec![Wire(4)]);
    let large = large();
    let zeros = "0".repeat(16);
    let refused = |what: &str| format!("refused: {what}: expected {zeros}, got {zeros}; party 1 or party 2 lies");
    let [commitments, tables] = [checks::COMMITMENTS, checks::TABLES].map(refused);
    let decoding = refused(checks::DECODING);
    let cheats = |party, check: Check, detail| format!("party {party}: the peer cheats: {check}: {detail}");
    let labels = |party| cheats(party, COMMITTED_LABELS, "the labels of its wires");
    let outputs = cheats(0, EVALUATED_LABELS, "the labels of outputs");
    let cases = [
        (&small, (1, Step::Commitments), 0, &commitments),
        (&small, (2, Step::CommitmentsDigest), 0, &commitments),
        (&small, (1, Step::Labels), 0, &labels(1)),
        (&small, (2, Step::Labels), 0, &labels(2)),
        (&small, (1, Step::Tables), 0, &tables),
        (&large, (2, Step::Tables), 0, &tables),
        (&large, (1, Step::TablesDigest), 0, &tables),
        (&small, (2, Step::TablesDigest), 0, &tables),
        (&small, (1, Step::Decoding), 0, &decoding),
        (&small, (2, Step::Decoding), 0, &decoding),
        (&small, (0, Step::Outputs), 1, &outputs),
        (&small, (0, Step::Outputs), 2, &outputs),
    ];
    for (program, repeated, finder, expected) in cases {
        for build in BUILDS {
            let ends = ends_of_second(program, build, repeated);
            let found = ends[finder].as_ref().err().map(text);
            assert_eq!(found.as_ref(), Some(expected), "{repeated:?}, {build:?}");
            let honest = ends.iter().enumerate().filter(|(party, _)| *party != usize::from(repeated.0));
            assert!(honest.map(|(_, end)| end).all(Result::is_err), "{repeated:?}, {build:?}");
        }
    }
}

/// The party that is at another run than the others, and has no label of theirs.
#[test]
fn a_party_at_another_run_is_refused_before_a_label_leaves() {
    let plan = plan(&circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(3)]), Build::Stream);
    for apart in 0..3 {
        let part = async |session: &mut MeshSession| {
            let mut role = set_up(session, &plan).await?;
            let (first, second) = (role.prepare(session).await?, role.prepare(session).await?);
            let prepared = if session.mesh().party() == apart { second } else { first };
            role.online(session, prepared, &[Bits::zeros(1)]).await
        };
        let (ends, transcripts) = block_on(async {
            let (meshes, transcripts) = intercepted_mesh(3, None);
            (mesh_run::run(meshes, 13, TIMEOUT, part).await, transcripts)
        });
        for (party, end) in (0..).zip(ends) {
            let (other, expected, got) = if party == apart { (u16::from(apart == 0), 1, 0) } else { (apart, 0, 1) };
            let text = format!(
                "party {other}: the prepared run: expected {expected} of this session, got {got} of this session"
            );
            assert_eq!(end.map(|_| ()).map_err(|error| error.to_string()), Err(text), "party {party}");
        }
        for (seat, garbler) in plan.garblers().into_iter().enumerate() {
            let prepared = if seat == 0 { commitments::message_bytes(&plan) } else { meeting::WORD_BYTES };
            let bytes = sent(&transcripts, garbler.0, plan.evaluator().0).len();
            assert_eq!(bytes, 2 * meeting::WORD_BYTES + 2 * prepared + RUN_ID_BYTES, "{garbler}");
        }
    }
}
