//! Deviations inside the oblivious transfers of whole protocols: each run ends with the intended check.
//!
//! The tests change a party's messages in transit, so the party's own code is honest.

use garblet_cheat::{Outcome, authenticated, covert, cut_and_choose, outcome};
use garblet_net::testing::{Direction, Fault, Frame, flip_of_bulk, intercepted_pair};
use garblet_ot::{LpnSet, OtCheck, StatisticalSecurity, Width};
use garblet_protocol::{conduct::Honest, parameters::OtKind};

use crate::job::{Job, job, tries};

/// Bytes of the parties' first messages: the nonces of the session.
const NONCE_BYTES: usize = 32;
/// Bytes of the answer in the base OTs, which ends them.
const ANSWER_BYTES: usize = 32;

/// A protocol whose evaluator extends OTs with the garbler's difference; with `authenticated` the garbler also does, with the evaluator's.
#[derive(Clone, Copy, Debug)]
enum Protocol {
    CutAndChoose,
    Covert,
    Authenticated(Width),
    /// The same with silent OT.
    Silent,
}

impl Protocol {
    const ALL: [Protocol; 6] = [
        Protocol::CutAndChoose,
        Protocol::Covert,
        Protocol::Authenticated(Width::Two),
        Protocol::Authenticated(Width::Four),
        Protocol::Authenticated(Width::Eight),
        Protocol::Silent,
    ];

    /// Silent OT needs a program of many gates.
    fn job(self) -> Job {
        match self {
            Protocol::Silent => Job::large(),
            _ => job(),
        }
    }

    /// The outcomes of garbler and evaluator with this fault, and the frames sent.
    fn run(self, fault: Option<Fault>, seed: u128) -> ([Outcome; 2], Vec<Frame>) {
        let job = self.job();
        let mut transcript = None;
        let connect = || {
            let (left, right, frames) = intercepted_pair(fault);
            transcript = Some(frames);
            (left, right)
        };
        let (program, inputs, honest) = (&job.program, &job.inputs, (Honest, Honest));
        let [garbler, evaluator] = match self {
            Protocol::CutAndChoose => cut_and_choose::run_over(connect, program, inputs, cut_config(), honest, seed),
            Protocol::Covert => covert::run_over(connect, program, inputs, covert_config(), honest, seed),
            Protocol::Authenticated(ot_width) => {
                let config = garblet_authenticated::Config { ot_width, ..Default::default() };
                authenticated::run_over(connect, program, inputs, config, honest, seed)
            }
            Protocol::Silent => {
                let config = garblet_authenticated::Config { ot: OtKind::Silent, ..Default::default() };
                authenticated::run_over(connect, program, inputs, config, honest, seed)
            }
        };
        let frames = transcript.map(|transcript| transcript.frames()).unwrap_or_default();
        ([outcome(&garbler, &job.right(0)), outcome(&evaluator, &job.right(1))], frames)
    }

    fn width(self) -> Width {
        match self {
            Protocol::CutAndChoose => cut_config().ot_width,
            Protocol::Covert => covert_config().ot_width,
            Protocol::Authenticated(width) => width,
            Protocol::Silent => Width::Eight,
        }
    }
}

fn cut_config() -> garblet_cut_and_choose::Config {
    garblet_cut_and_choose::Config { circuits: Some(9), ..Default::default() }
}

fn covert_config() -> garblet_covert::Config {
    garblet_covert::Config { circuits: Some(3), ..Default::default() }
}

/// A deviation: its party, the byte of its messages that changes, and the peer's check that catches it.
struct Deviation {
    what: &'static str,
    by: Direction,
    at: usize,
    found_by: OtCheck,
}

/// The parties set up an extension in each direction, the garbler first as the sender; then come nonces, and the first OTs.
fn deviations_both_ways(width: Width) -> Vec<Deviation> {
    let [as_receiver, tags] = [width.receiver_setup_bytes(), width.malicious_setup_bytes()].map(|bytes| bytes as usize);
    // In addition to the bytes of the party with the choices, one byte of a message.
    let as_sender = width.sender_setup_bytes() as usize - 1;
    let columns = as_receiver + tags + as_sender + NONCE_BYTES;
    let of = |what, by, at, found_by| Deviation { what, by, at, found_by };
    let mut all = Vec::new();
    for (by, own_extension, answer) in [
        (Direction::Forth, as_sender, as_sender - ANSWER_BYTES),
        (Direction::Back, 0, as_receiver + tags + as_sender - ANSWER_BYTES),
    ] {
        all.extend([
            of("the tag of the first tree", by, own_extension + as_receiver, OtCheck::Trees),
            of("the hash of all tags", by, own_extension + as_receiver + tags - 1, OtCheck::Trees),
            of("the answer in the base OTs", by, answer + 3, OtCheck::Answer),
            of("another choice in the column of one tree", by, columns, OtCheck::Choices),
            of("another choice in the column of another", by, columns + 7, OtCheck::Choices),
        ]);
    }
    all
}

/// The bytes of each message of silent OT in a direction, sender's and receiver's in turn: first those of the first OTs, then those of a batch.
fn silent_messages() -> ([usize; 4], [usize; 5]) {
    let (width, sigma, set) = (Width::Eight, StatisticalSecurity::Eighty, LpnSet::DEFAULT);
    let [point, answered] = width.malicious_extension_bytes(set.stock() as u64, sigma);
    let answer = sigma.digest_bytes() as u64;
    let first = [0, answered - answer, point, answer];
    let config = garblet_authenticated::Config { ot: OtKind::Silent, ..Default::default() };
    let plan = garblet_authenticated::Plan::new(Job::large().program, config, &[], false).expect("it can be run");
    (first.map(|bytes| bytes as usize), set.batch_messages(plan.ots()).map(|bytes| bytes as usize))
}

/// The places of the messages of silent OT among all of a party: of its point in the first OTs and of its first OTs' corrections; of commitment, opening, and answer in the
/// batch in which it is the sender; of the query in the other.
struct SilentPlaces {
    corrections: usize,
    opening: usize,
    answer: usize,
    query: usize,
}

fn silent_places(by: Direction) -> SilentPlaces {
    let width = Width::Eight;
    let set_ups = width.receiver_setup_bytes() + width.malicious_setup_bytes() + width.sender_setup_bytes() - 1;
    let begin = set_ups as usize + NONCE_BYTES;
    let ([_, corrections, point, digest], [commitment, share, opening, query, answer]) = silent_messages();
    let batch = begin + corrections + point + digest;
    match by {
        Direction::Forth => SilentPlaces {
            corrections: begin + point,
            opening: batch + commitment,
            answer: batch + commitment + opening,
            query: batch + commitment + opening + answer + share,
        },
        Direction::Back => SilentPlaces {
            corrections: begin,
            opening: batch + share + query + commitment,
            answer: batch + share + query + commitment + opening,
            query: batch + share,
        },
    }
}

fn deviations_of_silent() -> Vec<Deviation> {
    let mut all = Vec::new();
    for by in [Direction::Forth, Direction::Back] {
        let SilentPlaces { corrections, opening, answer, .. } = silent_places(by);
        let of = |what, at, found_by| Deviation { what, by, at, found_by };
        all.extend([
            of("another choice in the first OTs", corrections, OtCheck::Choices),
            of("another share of the coin than the committed one", opening, OtCheck::Coin),
            of("the correction of the first level of the first tree", opening + 64, OtCheck::Leaves),
            of("the correction of the last level of the last tree", answer - 1, OtCheck::Leaves),
            of("the answer to the check of all trees", answer, OtCheck::Leaves),
        ]);
    }
    all
}

/// A receiver that asks for another sum of its noise than it has finds no answer that fits, and learns nothing but that.
#[test]
fn a_receiver_of_silent_ots_that_asks_falsely_ends_the_run_itself() {
    let (_, frames) = Protocol::Silent.run(None, 12);
    for by in [Direction::Forth, Direction::Back] {
        let fault = flip_of_bulk(&frames, by, silent_places(by).query + 16).expect("as much is sent");
        let ([garbler, evaluator], _) = Protocol::Silent.run(Some(fault), 12);
        let (own, other) = match by {
            Direction::Forth => (garbler, evaluator),
            Direction::Back => (evaluator, garbler),
        };
        assert_eq!([own, other], [Outcome::CaughtInOt(OtCheck::Leaves), Outcome::Ended], "{by:?}");
    }
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
fn deviations_inside_oblivious_transfers_are_caught_by_the_intended_check() {
    for protocol in Protocol::ALL {
        let (outcomes, frames) = protocol.run(None, 11);
        assert_eq!(outcomes, [Outcome::Right; 2], "{protocol:?}");
        let deviations = match protocol {
            Protocol::Authenticated(width) => deviations_both_ways(width),
            Protocol::Silent => deviations_of_silent(),
            _ => deviations(protocol.width()),
        };
        for Deviation { what, by, at, found_by } in deviations {
            let fault = flip_of_bulk(&frames, by, at).expect("as much is sent");
            // Another choice in one tree is a guess that delta is zero there, which is right for one of `2^k` deltas.
            let is_found = 1.0 - (-(protocol.width().bits() as f64)).exp2();
            let mut outcomes = (11..11 + tries(is_found)).map(|seed| protocol.run(Some(fault), seed).0);
            let [garbler, evaluator] = match found_by {
                OtCheck::Choices => outcomes.find(|outcomes| *outcomes != [Outcome::Right; 2]),
                _ => outcomes.next(),
            }
            .expect("it is not always guessed");
            let (honest, other) = match by {
                Direction::Forth => (evaluator, garbler),
                Direction::Back => (garbler, evaluator),
            };
            assert_eq!(honest, Outcome::CaughtInOt(found_by), "{protocol:?}: {what}");
            assert_eq!(other, Outcome::Ended, "{protocol:?}: {what}");
        }
    }
}
