//! Deviations inside the oblivious transfers of whole protocols: the protocol ends with the check that is there for each.
//!
//! What a party says in an oblivious transfer is changed on its way, so that its own code is the honest one.

use garblet_cheat::{Outcome, covert, cut_and_choose, outcome};
use garblet_net::testing::{Direction, Fault, Frame, flip_of_bulk, intercepted_pair};
use garblet_ot::{OtCheck, Width};
use garblet_protocol::conduct::Honest;

use crate::job::job;

/// Bytes of the parties' first messages: the nonces of the session.
const NONCE_BYTES: usize = 32;
/// Bytes of the answer in the base OTs, which ends them.
const ANSWER_BYTES: usize = 32;

/// A protocol whose evaluator extends OTs, the garbler having their difference.
#[derive(Clone, Copy, Debug)]
enum Protocol {
    CutAndChoose,
    Covert,
}

impl Protocol {
    const ALL: [Protocol; 2] = [Protocol::CutAndChoose, Protocol::Covert];

    /// The outcomes of garbler and evaluator with that fault, and the frames that were sent.
    fn run(self, fault: Option<Fault>) -> ([Outcome; 2], Vec<Frame>) {
        let job = job();
        let mut transcript = None;
        let connect = || {
            let (left, right, frames) = intercepted_pair(fault);
            transcript = Some(frames);
            (left, right)
        };
        let (program, inputs, honest) = (&job.program, &job.inputs, (Honest, Honest));
        let [garbler, evaluator] = match self {
            Protocol::CutAndChoose => cut_and_choose::run_over(connect, program, inputs, cut_config(), honest, 11),
            Protocol::Covert => covert::run_over(connect, program, inputs, covert_config(), honest, 11),
        };
        let frames = transcript.map(|transcript| transcript.frames()).unwrap_or_default();
        ([outcome(&garbler, &job.right(0)), outcome(&evaluator, &job.right(1))], frames)
    }

    fn width(self) -> Width {
        match self {
            Protocol::CutAndChoose => cut_config().ot_width,
            Protocol::Covert => covert_config().ot_width,
        }
    }
}

fn cut_config() -> garblet_cut_and_choose::Config {
    garblet_cut_and_choose::Config { circuits: Some(9), ..Default::default() }
}

fn covert_config() -> garblet_covert::Config {
    garblet_covert::Config { circuits: Some(3), ..Default::default() }
}

/// A deviation: who does it, at which byte of what it says, and the check of the other one that finds it.
struct Deviation {
    what: &'static str,
    by: Direction,
    at: usize,
    found_by: OtCheck,
}

fn deviations(width: Width) -> Vec<Deviation> {
    let trees = NONCE_BYTES + width.receiver_setup_bytes() as usize;
    let columns = trees + width.malicious_setup_bytes() as usize;
    let answer = NONCE_BYTES + width.sender_setup_bytes() as usize - 1 - ANSWER_BYTES;
    let of = |what, by, at, found_by| Deviation { what, by, at, found_by };
    let (garbler, evaluator) = (Direction::Forth, Direction::Back);
    vec![
        of("the tag of the first tree", evaluator, trees, OtCheck::Trees),
        of("the hash of all tags", evaluator, columns - 1, OtCheck::Trees),
        of("another choice in the column of one tree", evaluator, columns, OtCheck::Choices),
        of("another choice in the column of another", evaluator, columns + 7, OtCheck::Choices),
        of("the answer in the base OTs", garbler, answer + 3, OtCheck::Answer),
    ]
}

#[test]
fn deviations_inside_of_oblivious_transfers_are_found_by_the_check_that_is_there_for_them() {
    for protocol in Protocol::ALL {
        let (outcomes, frames) = protocol.run(None);
        assert_eq!(outcomes, [Outcome::Right; 2], "{protocol:?}");
        for Deviation { what, by, at, found_by } in deviations(protocol.width()) {
            let fault = flip_of_bulk(&frames, by, at).expect("as much is sent");
            let ([garbler, evaluator], _) = protocol.run(Some(fault));
            let (honest, other) = match by {
                Direction::Forth => (evaluator, garbler),
                Direction::Back => (garbler, evaluator),
            };
            assert_eq!(honest, Outcome::CaughtInOt(found_by), "{protocol:?}: {what}");
            assert_eq!(other, Outcome::Ended, "{protocol:?}: {what}");
        }
    }
}
