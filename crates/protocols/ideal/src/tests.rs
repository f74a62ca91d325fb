//! Every party learns its outputs, and messages contain only inputs for the trusted party and outputs from it.

use garblet_circuit::{Recipients, random};
use garblet_net::{
    NetError,
    testing::{Direction, Fault, FaultKind, FrameKind, PairFault, PairTranscript, flip_of_bulk, intercepted_mesh},
};
use garblet_primitives::{Block, Prg};
use garblet_protocol::stock::SavedValues;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;

/// The outputs of a party, `None` where it is not a recipient.
type Outputs = Vec<Option<Bits>>;

/// A run of all parties: their results, and their messages.
fn run(
    program: &Arc<Program>,
    parties: u16,
    inputs: &[Bits],
    fault: Option<PairFault>,
) -> (Vec<Result<Outputs, ProtocolError>>, Vec<PairTranscript>) {
    let request = Request::<Ideal> { program: program.clone(), parties, config: (), saved: SavedValues::default() };
    let job = Arc::new(Job::new(request).expect("any program can be run"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (meshes, transcripts) = intercepted_mesh(parties, fault);
        let lives = meshes.into_iter().map(|mesh| {
            let (party, job) = (Party(mesh.party()), job.clone());
            let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
            let own: Vec<Bits> = own.map(|(_, value)| value.clone()).collect();
            let hello = Hello::new(Ideal::NAME, party.0, parties, program.digest());
            tokio::spawn(async move {
                let rng = Prg::new(Block::from_u128(party.0.into()));
                let mut session = MeshSession::join(mesh, rng, &hello, Box::new(())).await?;
                let mut role = Ideal::set_up(&mut session, Terms { job, party, stock: None }).await?;
                let ran = role.run(&mut session, &own).await;
                if let Err(error) = &ran {
                    session.abort(error).await;
                }
                ran
            })
        });
        let lives: Vec<_> = lives.collect();
        let mut results = Vec::new();
        for life in lives {
            results.push(life.await.expect("no panic"));
        }
        (results, transcripts)
    })
}

/// The bulk data that a party sent to another one.
fn sent(transcripts: &[PairTranscript], from: u16, to: u16) -> Vec<u8> {
    let pair = (from.min(to), from.max(to));
    let direction = if from < to { Direction::Forth } else { Direction::Back };
    let (_, transcript) = transcripts.iter().find(|(of, _)| *of == pair).expect("every pair has one");
    let frames = transcript.frames().into_iter();
    let bulk = frames.filter(|frame| frame.direction == direction && frame.kind == FrameKind::Bulk);
    bulk.flat_map(|frame| frame.payload).collect()
}

/// Values one after another, as bytes.
fn joined<'a>(values: impl Iterator<Item = &'a Bits>) -> Vec<u8> {
    values.flat_map(|value| value.iter().collect::<Vec<bool>>()).collect::<Bits>().to_bytes()
}

/// A program whose outputs each go to some of the parties, or to nobody.
fn program(rng: &mut StdRng, parties: u16) -> Arc<Program> {
    let mut program = random::program(rng, 60, parties);
    for output in 0..program.outputs().len() {
        let learns = (0..parties).filter(|_| rng.random()).map(Party).collect();
        program.set_recipients(output, Recipients::Only(learns));
    }
    Arc::new(program)
}

#[test]
fn every_party_learns_its_outputs_and_nothing_else() {
    let mut rng = StdRng::seed_from_u64(3);
    for parties in [2, 3, 5, 8] {
        for _ in 0..8 {
            let program = program(&mut rng, parties);
            let inputs = random::inputs(&mut rng, &program);
            let values = evaluate(&program, &inputs);
            let (results, transcripts) = run(&program, parties, &inputs, None);
            for (party, result) in (0..parties).zip(results) {
                let outputs = program.outputs().iter().zip(&values);
                let learns = |(output, value): (&garblet_circuit::Output, &Bits)| {
                    output.recipients.contains(Party(party)).then(|| value.clone())
                };
                let due: Outputs = outputs.map(learns).collect();
                assert!(result.expect("all are honest") == due, "party {party} of {parties}");
                // A party receives only its outputs, from party 0, and sends only its inputs, to party 0.
                let owned = program.inputs().iter().zip(&inputs).filter(|(input, _)| input.owner == Party(party));
                let (said, heard) = (joined(owned.map(|(_, value)| value)), joined(due.iter().flatten()));
                for other in (0..parties).filter(|&other| other != party) {
                    let bytes = sent(&transcripts, party, other);
                    let (run, message) = bytes.split_at(RUN_ID_BYTES);
                    assert_eq!(run, [0; RUN_ID_BYTES], "the first run");
                    match (party, other) {
                        (_, 0) => assert_eq!(message, said, "party {party} of {parties}"),
                        (0, _) => {}
                        _ => assert!(message.is_empty(), "party {party} to {other}"),
                    }
                }
                if party > 0 {
                    assert_eq!(sent(&transcripts, 0, party)[RUN_ID_BYTES..], heard, "to party {party} of {parties}");
                }
            }
        }
    }
}

/// A last byte of 5 bits for the trusted party, and one of 6 bits from it.
#[test]
fn set_padding_bits_are_refused_and_their_sender_is_named() {
    let mut rng = StdRng::seed_from_u64(4);
    let program = loop {
        let program = random::program(&mut rng, 60, 2);
        let widths = (party_io::input_bits(&program, Party(1)), party_io::output_bits(&program, Party(1)));
        if widths.0 % 8 == 5 && widths.1 % 8 == 6 {
            break Arc::new(program);
        }
    };
    let inputs = random::inputs(&mut rng, &program);
    let (honest, transcripts) = run(&program, 2, &inputs, None);
    assert!(honest.iter().all(Result::is_ok), "all are honest");
    let frames = transcripts[0].1.frames();
    let [input_bits, output_bits] =
        [party_io::input_bits(&program, Party(1)), party_io::output_bits(&program, Party(1))];
    for (direction, from, to, bits) in [(Direction::Back, 1, 0, input_bits), (Direction::Forth, 0, 1, output_bits)] {
        let last = sent(&transcripts, from, to).len() - 1;
        for spare in bits % 8..8 {
            let Some(Fault { frame, kind: FaultKind::Flip(lowest), .. }) = flip_of_bulk(&frames, direction, last)
            else {
                panic!("it was sent")
            };
            let fault = Fault { direction, frame, kind: FaultKind::Flip(lowest + spare) };
            let (results, _) = run(&program, 2, &inputs, Some(PairFault { low: 0, high: 1, fault }));
            let Err(ProtocolError::Peer { party, source }) = &results[usize::from(to)] else {
                panic!("bit {spare} from party {from}")
            };
            let ProtocolError::Net(NetError::Malformed { what, .. }) = &**source else { panic!("{source}") };
            assert_eq!((*party, &what[..]), (Party(from), &format!("{bits} bits")[..]));
        }
    }
}
