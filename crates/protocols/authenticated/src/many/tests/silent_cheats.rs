//! Deviations from silent OT among many parties, each with its end at every honest party. The OTs have no security, so that batches are small: what a false
//! correction of a tree passes with at such sizes is counted in `garblet-ot`.

use garblet_net::testing::{Direction, Fault, Frame, FrameKind, flip_of_bulk, intercepted_pair};
use garblet_ot::{LpnSet, OtCheck};
use garblet_protocol::{
    checks::{Check, Unattributed},
    conduct::Honest,
    parameters::OtKind,
};

use super::{
    lies::{Change, Watched},
    *,
};
use crate::{
    coins::{COMMITMENT_BYTES, OPENING_BYTES},
    many::{
        bits::squares,
        checks::{COIN_TOSS_OPENING, ECHO},
        ground::DIGEST_BYTES,
        ots::{SQUARE, answer_bytes},
    },
};

const SET: LpnSet = LpnSet::TOY;

/// Masks of a batch without triples.
const MASKS: usize = 100;

/// The end of an honest party.
#[derive(Debug, PartialEq)]
enum End {
    /// It has its shares.
    Fine,
    /// It has heard something else of this than another party.
    Echo(&'static str),
    /// This check of OTs caught this party.
    CaughtInOt(u16, OtCheck),
    /// That check caught this party.
    Caught(u16, Check),
    /// It heard that the session is over.
    Heard,
}

/// Subjects of echoes.
const BITS: &str = "the hashes of all parties' bits";
const POINT: &str = "the shares of the point";

fn end(result: &Result<(), ProtocolError>) -> End {
    match result {
        Ok(()) => End::Fine,
        Err(ProtocolError::Unattributed(Unattributed { check, detail })) if *check == ECHO => {
            let subject = [BITS, POINT].into_iter().find(|subject| detail.contains(subject));
            End::Echo(subject.unwrap_or_else(|| panic!("{detail}")))
        }
        Err(ProtocolError::Peer { party: Party(party), source }) => match &**source {
            ProtocolError::Ot(error) if error.check().is_some() => {
                End::CaughtInOt(*party, error.check().expect("there is one"))
            }
            ProtocolError::Cheating(cheating) => End::Caught(*party, cheating.check),
            source if !source.is_evidence() => End::Heard,
            source => panic!("party {party}: {source}"),
        },
        Err(error) => panic!("{error}"),
    }
}

/// The ends of all parties that make one batch, each with its conduct, where a message between the first two may be changed on its way; and all frames between them.
fn ends<K: Conduct<Step>>(
    (parties, batch): (u16, Option<Batch>),
    fault: Option<Fault>,
    conduct: impl Fn(Party) -> K,
) -> (Vec<End>, Vec<Frame>) {
    let config = Config { ot: OtKind::Silent, evaluator: parties - 1, ..Config::default() };
    let part = async |session: &mut MeshSession| {
        let party = Party(session.mesh().party());
        let plan = Plan::new(product(), parties, config)?;
        let mut ground = Ground::set_up(session, &plan, party, conduct(party)).await?;
        ground.begin_silent(session, plan.setting(), SET).await?;
        let triples = batch.map_or(0, |batch| batch.triples as usize);
        ground.make(session, (batch, triples, MASKS), &mut Supply::with_room(parties, triples, MASKS)).await
    };
    block_on(async {
        let mut transcripts = Vec::new();
        let meshes = Mesh::of_pairs(parties, |low, high| {
            let (one, two, transcript) = intercepted_pair(fault.filter(|_| (low, high) == (0, 1)));
            transcripts.push(transcript);
            (one, two)
        });
        let ended = mesh_run::run(meshes, 1, TIMEOUT, part).await;
        (ended.iter().map(end).collect(), transcripts[0].frames())
    })
}

/// Asserts that party 0 deviates so that every other party ends as stated, among three parties and among four.
fn assert_ends<K: Conduct<Step>>(what: &str, conduct: impl Fn(Party) -> K, expected: impl Fn(u16) -> End) {
    for (parties, batch) in [(3, Some(Batch { triples: 8, bucket: 2 })), (4, None)] {
        let (ended, _) = ends((parties, batch), None, &conduct);
        for (party, ended) in (1..parties).zip(&ended[1..]) {
            assert_eq!(*ended, expected(party), "{what}: party {party} of {parties}");
        }
    }
}

#[test]
fn honest_parties_have_their_shares() {
    let all_fine = |ended: Vec<End>| ended.iter().all(|end| *end == End::Fine);
    assert!(all_fine(ends((3, Some(Batch { triples: 8, bucket: 2 })), None, |_| Honest).0));
    assert!(all_fine(ends((4, None), None, |_| Honest).0));
}

/// Party 0 corrects to another bit towards party 1.
#[derive(Default)]
struct Otherwise {
    is_cheat: bool,
    /// Set if it tells everybody the hash of what it has towards party 1; otherwise it tells each party what it has there.
    tells_the_same: bool,
    told: Option<[u8; 16]>,
}

impl Conduct<Step> for Otherwise {
    fn touch(&mut self, step: Step, peer: usize, bytes: &mut [u8]) {
        match step {
            Step::Bits if self.is_cheat && peer == 1 => bytes[2] ^= 4,
            Step::Answers if self.is_cheat && self.tells_the_same => {
                let (hash, _) = bytes.split_first_chunk_mut().expect("an answer begins with a hash");
                *hash = *self.told.get_or_insert(*hash);
            }
            _ => {}
        }
    }
}

#[test]
fn whoever_corrects_otherwise_on_one_link_is_found_by_all_by_what_others_heard_or_on_all_links_but_that_one() {
    let conduct = |tells_the_same| move |party| Otherwise { is_cheat: party == Party(0), tells_the_same, told: None };
    assert_ends("it tells each what it has there", conduct(false), |_| End::Echo(BITS));
    // All hear the hash of the bits towards party 1, so those towards others do not have it.
    assert_ends("it tells all the same", conduct(true), |party| match party {
        1 => End::Heard,
        _ => End::CaughtInOt(0, OtCheck::Choices),
    });
}

#[test]
fn whoever_lies_in_an_answer_is_found_by_whom_it_is_told() {
    let lie = |step, at| {
        move |party| Watched {
            changes: if party == Party(0) {
                vec![Change { step, to: Some(2), at, error: vec![1] }]
            } else {
                Vec::new()
            },
            ..Watched::default()
        }
    };
    let at_two = |caught: fn() -> End| move |party| if party == 2 { caught() } else { End::Heard };
    assert_ends("the hash of MACs", lie(Step::Answers, 16), at_two(|| End::CaughtInOt(0, OtCheck::Choices)));
    assert_ends("the digest of shares of the point", lie(Step::Answers, 32), at_two(|| End::Echo(POINT)));
    assert_ends("a share of the point", lie(Step::Coins, 0), at_two(|| End::Caught(0, COIN_TOSS_OPENING)));
    // The bits do not have the hash, whatever MACs do.
    assert_ends("the hash of bits", lie(Step::Answers, 0), at_two(|| End::CaughtInOt(0, OtCheck::Choices)));
}

/// The places of what party 0 sends party 1 for a batch of masks.
struct Places {
    /// The opening of its share of the coin of silent OTs.
    opening: usize,
    /// The corrections of its trees.
    trees: usize,
    /// Its answer to the check of them.
    answer: usize,
    /// Its query for the other direction.
    query: usize,
    /// Its corrections to its bits, and its answer to the check of these.
    bits: usize,
    of_bits: usize,
}

impl Places {
    fn of(frames: &[Frame]) -> Self {
        let sent = frames.iter().filter(|frame| frame.direction == Direction::Forth && frame.kind == FrameKind::Bulk);
        let all: usize = sent.map(|frame| frame.payload.len()).sum();
        let blocks = squares(MASKS);
        let [_, share, opened, query, answer] =
            SET.batch_messages((SQUARE * blocks) as u64).map(|bytes| bytes as usize);
        // Then the digest of the shares of the point, and that of the hashes of all bits.
        let of_bits = all - answer_bytes(true) - 2 * DIGEST_BYTES;
        let bits = of_bits - OPENING_BYTES - 16 * blocks;
        let query = bits - COMMITMENT_BYTES - query;
        let answer = query - share - answer;
        let opening = answer - opened;
        Places { opening, trees: opening + OPENING_BYTES, answer, query, bits, of_bits }
    }
}

/// A message of party 0 to party 1 is changed on its way.
#[test]
fn what_is_changed_on_one_link_is_found_there_by_the_check_of_it_and_nobody_else_has_evidence() {
    for parties in [3, 4] {
        let (ended, frames) = ends((parties, None), None, |_| Honest);
        assert!(ended.iter().all(|end| *end == End::Fine));
        let Places { opening, trees, answer, query, bits, of_bits } = Places::of(&frames);
        for (what, at, finder, check) in [
            ("its share of the coin", opening, 1, OtCheck::Coin),
            ("the opening of that", trees - 1, 1, OtCheck::Coin),
            ("a correction of the first tree", trees + 1, 1, OtCheck::Leaves),
            ("a correction of the last tree", answer - 1, 1, OtCheck::Leaves),
            ("its answer to the check of trees", answer, 1, OtCheck::Leaves),
            // Whoever asks at another point, or masks another sum of its noise, finds no answer that fits. The other has nothing to judge.
            ("the point of its check", query, 0, OtCheck::Leaves),
            ("its sum of noise", query + 16, 0, OtCheck::Leaves),
            ("a correction to its bits", bits + 1, 1, OtCheck::Choices),
            ("its hash of bits", of_bits, 1, OtCheck::Choices),
            ("its hash of MACs", of_bits + 16, 1, OtCheck::Choices),
        ] {
            let fault = flip_of_bulk(&frames, Direction::Forth, at);
            assert!(fault.is_some(), "as much is sent");
            let (ended, _) = ends((parties, None), fault, |_| Honest);
            for (party, ended) in (0..).zip(ended) {
                let expected = if party == finder { End::CaughtInOt(1 - finder, check) } else { End::Heard };
                assert_eq!(ended, expected, "{what}: party {party} of {parties}");
            }
        }
    }
}
