//! Any bytes as what a client of outsourced runs and its servers read: jobs, submissions, answers, receipts, invitations, sealed
//! messages, frames, saved submissions. The first byte says which.

use garblet_circuit::{Bits, Party, Port, Recipients, Type};
use garblet_client::{
    Destination, FromServer, Header, Identity, Invitation, Job, JobInput, JobOutput, Origin, Pending, Receipt, Reply,
    Secret, Server, Statistical, Submission, Submit, Terms, ToServer, Visit, deal,
};
use garblet_primitives::{Block, Prg};

const CLIENT: Party = Party(1);

fn job() -> Job {
    let to = Destination::Parties(Recipients::All);
    let terms = Terms {
        program: [1; 32],
        inputs: vec![JobInput { port: Port::new("x", Type::Unsigned(13)), origin: Origin::Party(CLIENT) }],
        outputs: vec![JobOutput { port: Port::new("y", Type::Bits(9)), to }],
        generator: Identity([2; 32]),
        clients: vec![Identity([3; 32])],
        cloud: Identity([4; 32]),
        statistical: Statistical::Forty,
        parameters: Vec::new(),
        keeps: None,
        label: String::new(),
    };
    Job::new(terms).expect("terms that can be kept")
}

fn dealt(job: &Job) -> (ToServer, ToServer, Pending) {
    deal(job, CLIENT, 1, &Bits::zeros(13), &mut Prg::new(Block::ZERO)).expect("the client is there")
}

fn pending(job: &Job) -> Pending {
    dealt(job).2
}

/// A visit that goes on with its frames.
fn visit(job: &Job) -> Visit {
    let (to_generator, to_cloud, pending) = dealt(job);
    let secret = Secret::from_bytes([5; 32]);
    let frames = [to_generator, to_cloud].map(|to| {
        let sealed = secret.seal_submission(&to, &mut Prg::new(Block::ZERO));
        Submit { job: job.encode().to_vec(), client: Identity([3; 32]), sealed }.encode()
    });
    let resumed = Visit::resume(pending, Receipt::first(""), [&frames[0], &frames[1]], [&secret, &secret]);
    resumed.expect("its own frames")
}

pub fn run(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let job = job();
    match which % 9 {
        0 => {
            if let Ok(read) = Job::decode(bytes) {
                assert_eq!(read.encode(), bytes, "a job has one encoding");
            }
        }
        1 | 2 => {
            let server = Server::BOTH[usize::from(which % 9 - 1)];
            if let Ok(read) = Submission::decode(bytes, &job, CLIENT, server) {
                assert_eq!(read.expand().share.len(), 13);
            }
        }
        3 => {
            if let Ok(reply) = Reply::decode(bytes, 9) {
                let again = match reply {
                    Reply::Answer(answer) => answer.encode(),
                    Reply::Refusal(refusal) => refusal.encode(),
                };
                assert_eq!(again, bytes, "an answer has one encoding");
            }
            let (first, second) = bytes.split_at(bytes.len() / 2);
            if let Err(rejected) = pending(&job).open(first, second) {
                assert!(!rejected.to_string().is_empty() && !rejected.hint().is_empty());
            }
        }
        4 => {
            if let Ok(receipt) = Receipt::decode(bytes) {
                assert_eq!(receipt.encode(), bytes, "a receipt has one encoding");
            }
        }
        5 => {
            let text = String::from_utf8_lossy(bytes);
            for text in [text.to_string(), format!("garblet-invitation:{text}")] {
                if let Ok(invitation) = Invitation::from_text(&text) {
                    assert!(Invitation::from_text(&invitation.to_text()).is_ok());
                }
            }
        }
        6 => {
            let secret = Secret::from_bytes([5; 32]);
            let _ = Header::of(bytes);
            for server in Server::BOTH {
                assert!(secret.open_submission(bytes, &job, CLIENT, server, None).is_err());
                assert!(secret.open_answer(bytes, server, &pending(&job), &[6; 12]).is_err());
            }
        }
        7 => frames(bytes, &job),
        _ => {
            if let Ok(pending) = Pending::decode(bytes) {
                assert_eq!(*pending.encode(), bytes, "a saved submission has one encoding");
            }
        }
    }
}

/// The bytes as frames of a visit.
fn frames(bytes: &[u8], job: &Job) {
    if let Ok(submit) = Submit::decode(bytes) {
        assert_eq!(submit.encode(), bytes, "a frame has one encoding");
    }
    if let Ok(frame) = FromServer::decode(bytes) {
        assert_eq!(frame.encode(), bytes, "a frame has one encoding");
    }
    let secret = Secret::from_bytes([5; 32]);
    let frames = [bytes, bytes];
    assert!(Visit::resume(pending(job), Receipt::first(""), frames, [&secret, &secret]).is_err());
    let mut visit = visit(job);
    Server::BOTH.into_iter().for_each(|server| {
        visit.hear(server, bytes);
    });
    assert!(visit.open().is_err());
}
