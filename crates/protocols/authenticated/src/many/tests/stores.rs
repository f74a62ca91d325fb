//! Stores of all parties: what is filled serves runs; stores that were restored; parties that hang up in the test of leaky triples.

mod cut_off;

use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
};

use garblet_circuit::evaluate;
use garblet_net::{Hello, PerPeer};
use garblet_protocol::{
    Protocol,
    conduct::Honest,
    error::NotPrepared,
    kept,
    stock::{Notice, SavedValues},
};
use garblet_store::{State, Store, StoreError};

use super::*;
use crate::{
    many::{
        Drawing, NAME,
        checks::{ECHO, GATE_BITS, ZERO},
        protocol::AuthenticatedBmr,
        settle::LastTest,
        stock::STATE,
    },
    tests::{
        put_back::{copy, open},
        unsettled::until_it_leaves,
    },
};

const ORDER: Amounts = Amounts { triples: 32, masks: 64 };

/// Something that a party does with a store in a session.
#[derive(Clone, Copy)]
enum Task {
    /// It adds an order to the store.
    Fill,
    /// It runs a program.
    Run { top_up: bool },
    /// It runs a program in lots.
    Stream,
}

/// A party's deviation.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Well,
    /// It is gone when it is to send this.
    LeavesAt(Step),
    /// It is gone when it is to send this, after so many such messages.
    LeavesLater(Step, usize),
    /// All its leaky triples are false, and it is gone when it is to open its product.
    FalselyAndLeaves,
    /// The same, and it stays.
    Falsely,
    /// A block of its tables in each lot is wrong, and it is gone when it is to open masks of outputs.
    WronglyAndLeaves,
    /// It tells one party another nonce than all others.
    Equivocates,
    /// It says another commitment to one party than before.
    CommitsAnew,
    /// It keeps what it heard of all from one party.
    Withholds,
}

impl Conduct<Step> for Does {
    fn touch(&mut self, step: Step, peer: usize, bytes: &mut [u8]) {
        match (*self, step) {
            (Does::LeavesAt(at) | Does::LeavesLater(at, 0), step) if at == step => resume_unwind(Box::new(())),
            (Does::LeavesLater(at, left), step) if at == step => *self = Does::LeavesLater(at, left - 1),
            (Does::FalselyAndLeaves, Step::Product) | (Does::WronglyAndLeaves, Step::OutputMasks) => {
                resume_unwind(Box::new(()))
            }
            // Other garblers get none.
            (Does::WronglyAndLeaves, Step::Tables) => {
                bytes.get_mut(super::streams::BLOCK).into_iter().for_each(|byte| *byte ^= 1);
            }
            (Does::FalselyAndLeaves | Does::Falsely, Step::LeakyBlocks) => {
                bytes[128..].chunks_exact_mut(16).for_each(|block| block[15] ^= 0x80);
            }
            (Does::Equivocates, Step::Nonce) | (Does::CommitsAnew, Step::ProductCommitment) if peer == 0 => {
                bytes[0] ^= 1
            }
            (Does::Withholds, Step::Name) if peer == 1 => bytes[0] ^= 1,
            _ => {}
        }
    }
}

/// A store from which a run draws.
fn drawing(store: Store, top_up: bool) -> Drawing<'static> {
    Drawing { store, peers: "all others", top_up, saved: SavedValues::default(), retries: kept::RETRIES }
}

/// The stores of all parties in a folder.
struct Stores<'a> {
    folder: &'a Path,
    parties: u16,
}

/// The possessions of a party at the end of a session: its outputs, and the amounts that are left. None if it was gone.
type Ended = Option<Result<(Vec<Option<Bits>>, Amounts), ProtocolError>>;

impl Stores<'_> {
    fn place(&self, party: Party) -> PathBuf {
        self.folder.join(party.to_string())
    }

    fn open(&self, party: u16) -> Store {
        open(&self.place(Party(party)), 99)
    }

    /// The number of pieces that all parties have.
    fn pieces(&self) -> Vec<u64> {
        let of = |party| self.open(party).stock().iter().map(|kind| kind.available.len()).sum();
        (0..self.parties).map(of).collect()
    }

    fn are_unsettled(&self) -> Vec<bool> {
        let of = |party| AuthenticatedBmr::notices(&self.open(party)).contains(&Notice::UnsettledCheck);
        (0..self.parties).map(of).collect()
    }

    /// A session of all.
    fn meet(&self, seed: u64, task: Task, conduct: impl Fn(Party) -> Does) -> Vec<Ended> {
        let (plan, inputs) = task.job(self.parties);
        let live = async |mut mesh: Mesh| {
            mesh.set_timeout(TIMEOUT);
            let (number, party) = (mesh.party(), Party(mesh.party()));
            let rng = Prg::new(Block::from_halves(seed, number.into()));
            let hello = Hello::new(NAME, number, self.parties, [0; 32]);
            let mut session = MeshSession::join(mesh, rng, &hello, Box::new(())).await.expect("all agree");
            let (top_up, own) = (matches!(task, Task::Run { top_up: true }), Any::new(conduct(party)));
            let drawing = drawing(open(&self.place(party), 2 * seed + u64::from(number)), top_up);
            let result = async {
                let mut member = Member::meet(&mut session, plan.clone(), party, drawing, own).await?;
                let outputs = match task {
                    Task::Fill => {
                        member.ground.fill(&mut session, plan.setting(), ORDER).await?;
                        Vec::new()
                    }
                    Task::Run { .. } | Task::Stream => {
                        let inputs = own_inputs(&plan, party, &inputs);
                        member.run(&mut session, &inputs).await?
                    }
                };
                Ok((outputs, member.ground.stock.as_ref().expect("a store").has()))
            };
            let result = result.await;
            match &result {
                Err(error) => session.abort(error).await,
                Ok(_) => drop(session.close().await),
            }
            result
        };
        let lives = Mesh::memory(self.parties).into_iter().map(|mesh| until_it_leaves(live(mesh)));
        block_on(futures_util::future::join_all(lives))
    }

    /// A session in which nobody does anything wrong, and its amounts.
    fn well(&self, seed: u64, task: Task) -> Amounts {
        let mut amounts = Vec::new();
        for (party, ended) in (0..).zip(self.meet(seed, task, |_| Does::Well)) {
            let (outputs, has) = ended.expect("it stayed").expect("all are honest");
            if let Task::Run { .. } | Task::Stream = task {
                let (plan, inputs) = task.job(self.parties);
                assert_eq!(outputs, learned(&plan, Party(party), &inputs));
            }
            amounts.push(has);
        }
        assert!(amounts.iter().all(|has| *has == amounts[0]));
        amounts[0]
    }
}

fn inputs() -> [Bits; 2] {
    [[true], [true]].map(Bits::from_iter)
}

/// One party, the last, does something, and all others do well.
fn last(parties: u16, does: Does) -> impl Fn(Party) -> Does {
    move |party| if party == Party(parties - 1) { does } else { Does::Well }
}

/// A folder for a test, in which stores have been filled.
fn filled(parties: u16) -> (tempfile::TempDir, u16) {
    let folder = tempfile::tempdir().expect("a folder");
    let has = Stores { folder: folder.path(), parties }.well(1, Task::Fill);
    assert!(has.triples >= ORDER.triples && has.masks >= ORDER.masks);
    (folder, parties)
}

/// The book says how much the secrets take: some 130 KB for each other party.
#[test]
fn secrets_take_as_many_bytes_as_the_book_says() {
    for parties in [3, 4] {
        let (folder, parties) = filled(parties);
        let stores = Stores { folder: folder.path(), parties };
        let bytes = stores.open(0).state(STATE.name).expect("secrets").bytes.len();
        assert!((126..136).contains(&(bytes / usize::from(parties - 1) / 1000)), "{bytes} bytes, {parties} parties");
    }
}

#[test]
fn what_was_filled_serves_runs_until_it_is_used_up() {
    for parties in [3, 4] {
        let (folder, parties) = filled(parties);
        let stores = Stores { folder: folder.path(), parties };
        let full = stores.well(2, Task::Run { top_up: false });
        let less = stores.well(3, Task::Run { top_up: false });
        assert_eq!(full.triples - less.triples, 16, "a piece for one gate");
        assert_eq!(less.triples, 0);
        for ended in stores.meet(4, Task::Run { top_up: false }, |_| Does::Well) {
            let error = ended.expect("it stayed").expect_err("nothing is left");
            assert!(matches!(error, ProtocolError::NotPrepared(NotPrepared::Missing(_))), "{error}");
        }
        stores.well(5, Task::Run { top_up: true });
        let plan = plan(odd_outputs(), parties, ResultCheck::Tags);
        assert_eq!(evaluate(plan.program(), &inputs()).len(), plan.program().outputs().len());
    }
}

/// All stores are restored, so nobody notices: the same triples come back under other names.
#[test]
fn stores_that_are_all_put_back_serve_again_and_one_that_is_put_back_has_less() {
    for restored in [vec![0], vec![2], vec![0, 1], vec![0, 1, 2]] {
        let (folder, parties) = filled(3);
        let stores = Stores { folder: folder.path(), parties };
        let now: Vec<PathBuf> = (0..3).map(|party| stores.place(Party(party))).collect();
        let before = stores.pieces();
        let old: Vec<PathBuf> = (0..3).map(|party| folder.path().join(format!("old {party}"))).collect();
        now.iter().zip(&old).for_each(|(now, old)| copy(now, old));
        stores.well(2, Task::Run { top_up: false });
        let after = stores.pieces();
        assert!(after < before);
        for &party in &restored {
            std::fs::remove_dir_all(&now[party]).expect("it is there");
            copy(&old[party], &now[party]);
        }
        let ended = stores.meet(3, Task::Run { top_up: true }, |_| Does::Well);
        assert!(ended.into_iter().all(|ended| ended.is_some_and(|ended| ended.is_ok())), "{restored:?}");
        let left = stores.pieces();
        match restored.len() {
            3 => assert_eq!(left, after, "once more"),
            _ => assert!(left < after, "what one has used is gone for all"),
        }
    }
}

/// A store that has forgotten more than one meeting is refused by all others.
#[test]
fn a_store_put_back_by_two_meetings_is_refused() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let now = stores.place(Party(1));
    let old = folder.path().join("old");
    copy(&now, &old);
    stores.well(2, Task::Run { top_up: false });
    stores.well(3, Task::Run { top_up: false });
    std::fs::remove_dir_all(&now).expect("it is there");
    copy(&old, &now);
    let ended = stores.meet(4, Task::Run { top_up: true }, |_| Does::Well);
    let errors: Vec<ProtocolError> =
        ended.into_iter().map(|ended| ended.expect("it stayed").expect_err("refused")).collect();
    let names = |error: &ProtocolError| match error {
        ProtocolError::Peer { party: Party(1), source } => {
            matches!(**source, ProtocolError::Store(StoreError::PeerRolledBack { .. }))
        }
        _ => false,
    };
    assert!(names(&errors[0]) || names(&errors[2]), "{errors:?}");
    assert!(errors.iter().all(|error| !error.is_evidence()), "a backup is no cheat");
}

/// A party says that it has no secrets, or others, while something waits that was made with these: nobody loses anything.
#[test]
fn a_party_that_says_that_it_has_other_secrets_is_named_and_costs_nothing() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let secrets = |party| stores.open(party).state(STATE.name).expect("secrets").bytes.clone();
    let (before, pieces) = ([0, 1].map(secrets), stores.pieces());
    stores.open(2).remove_states(|place| place == STATE.name).expect("written");
    for ended in &stores.meet(2, Task::Run { top_up: true }, |_| Does::Well)[..2] {
        let error = ended.as_ref().expect("it stayed").as_ref().expect_err("refused");
        assert!(matches!(error, ProtocolError::Peer { party: Party(2), .. }) && !error.is_evidence(), "{error}");
    }
    assert!([0, 1].map(secrets) == before && stores.pieces()[..2] == pieces[..2]);
}

/// Nothing was made with the secrets yet: all make new ones.
#[test]
fn parties_without_common_secrets_make_new_ones_while_nothing_waits() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    for party in 0..3 {
        let mut store = stores.open(party);
        store.clear().expect("written");
        if party == 2 {
            store.remove_states(|place| place == STATE.name).expect("written");
        }
    }
    stores.well(2, Task::Run { top_up: true });
}

/// A new store in place of one that was lost is not the one that the others have met.
#[test]
fn a_new_store_in_place_of_a_lost_one_is_refused_and_costs_the_others_nothing() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let before = stores.pieces();
    std::fs::remove_dir_all(stores.place(Party(2))).expect("it is there");
    for ended in &stores.meet(2, Task::Run { top_up: true }, |_| Does::Well)[..2] {
        let error = ended.as_ref().expect("it stayed").as_ref().expect_err("refused");
        assert!(error.to_string().contains("party 2"), "{error}");
        assert!(!error.is_evidence());
    }
    assert_eq!(stores.pieces()[..2], before[..2]);
}

#[test]
fn a_party_that_left_settles_first_and_then_all_continue() {
    for parties in [3, 4] {
        let (folder, parties) = filled(parties);
        let stores = Stores { folder: folder.path(), parties };
        let before = stores.pieces();
        for seed in [2, 3] {
            // It may leave any number of times.
            let ended = stores.meet(seed, Task::Fill, last(parties, Does::LeavesAt(Step::Product)));
            assert!(ended.iter().flatten().all(Result::is_err));
            assert_eq!(stores.are_unsettled(), vec![true; usize::from(parties)], "it has written it, too");
            assert_eq!(stores.pieces(), before, "nothing of the batch was kept, and nothing was lost");
        }
        let has = stores.well(4, Task::Fill);
        assert!(has.triples >= 2 * ORDER.triples);
        assert_eq!(stores.are_unsettled(), vec![false; usize::from(parties)]);
    }
}

#[test]
fn a_party_that_leaves_before_products_are_opened_has_learned_nothing_and_nothing_is_settled() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let ended = stores.meet(2, Task::Fill, last(3, Does::LeavesAt(Step::ProductCommitment)));
    assert!(ended.iter().flatten().all(Result::is_err));
    assert_eq!(stores.are_unsettled(), [false; 3]);
    stores.well(3, Task::Fill);
}

/// Only one party has heard the commitments of all, and opened its product.
#[test]
fn whoever_is_behind_catches_up() {
    for ahead in 0..3 {
        let (folder, parties) = filled(3);
        let stores = Stores { folder: folder.path(), parties };
        let _ = stores.meet(2, Task::Fill, last(3, Does::LeavesAt(Step::ProductCommitment)));
        let test = |party| LastTest::of(&stores.open(party)).expect("readable").expect("there is one");
        let commitments: PerPeer<Vec<u8>> = PerPeer::new(ahead, 3, |party| test(party).commitment().to_vec());
        let mut open = test(ahead);
        open.hear(&commitments);
        open.keep(&mut stores.open(ahead)).expect("written");
        assert_eq!(stores.are_unsettled(), [0, 1, 2].map(|party| party == ahead));
        stores.well(3, Task::Fill);
        assert_eq!(stores.are_unsettled(), [false; 3]);
    }
}

/// A cheat that saw that its guess was wrong, and left, is found at the next meeting; the stores are given up.
#[test]
fn a_party_that_left_because_it_was_caught_is_caught_when_it_returns() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let ended = stores.meet(2, Task::Fill, last(3, Does::FalselyAndLeaves));
    assert!(ended.iter().flatten().all(Result::is_err));
    assert_eq!(stores.are_unsettled(), [true; 3]);
    let ended = stores.meet(3, Task::Fill, |_| Does::Well);
    let caught = |ended: &Ended| match ended {
        Some(Err(ProtocolError::Unattributed(failed))) => failed.check == ZERO,
        _ => false,
    };
    assert!(ended[..2].iter().any(caught));
    let given_up = |party| stores.open(party).state(STATE.name).is_some_and(|state| state.bytes.is_empty());
    for party in 0..2 {
        assert!(given_up(party) || stores.are_unsettled()[usize::from(party)], "party {party} may make nothing more");
    }
    // Whoever heard of it only by another's word finds out when all meet again, or is refused.
    let ended = stores.meet(4, Task::Fill, |_| Does::Well);
    assert!(ended.iter().flatten().all(Result::is_err));
}

/// It forgets its test, or its secrets: the others settle nothing and lose nothing.
#[test]
fn nobody_makes_anything_while_a_test_is_not_settled() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let before = stores.pieces();
    let _ = stores.meet(2, Task::Fill, last(3, Does::LeavesAt(Step::Product)));
    let kept = folder.path().join("kept");
    copy(&stores.place(Party(2)), &kept);
    for forgets in ["the test", "the secrets", "the store"] {
        let mut store = stores.open(2);
        match forgets {
            "the test" => LastTest::forget(&mut store).expect("written"),
            "the secrets" => store.remove_states(|place| place == STATE.name).expect("written"),
            _ => std::fs::remove_dir_all(stores.place(Party(2))).expect("it is there"),
        }
        drop(store);
        for task in [Task::Fill, Task::Run { top_up: true }] {
            let ended = stores.meet(3, task, |_| Does::Well);
            for ended in &ended[..2] {
                let error = ended.as_ref().expect("it stayed").as_ref().expect_err("it refuses");
                let ProtocolError::Peer { party: Party(2), source } = error else { panic!("{forgets}: {error}") };
                let is_refused = match forgets {
                    "the store" => matches!(**source, ProtocolError::Store(StoreError::OtherPeerStore { .. })),
                    _ => matches!(**source, ProtocolError::Unsettled { .. }),
                };
                assert!(is_refused, "{forgets}: {error}");
            }
            assert_eq!(stores.are_unsettled()[..2], [true; 2]);
            assert_eq!(stores.pieces()[..2], before[..2]);
        }
        let _ = std::fs::remove_dir_all(stores.place(Party(2)));
        copy(&kept, &stores.place(Party(2)));
    }
    stores.well(9, Task::Fill);
}

/// It says another product than it had committed to.
#[test]
fn nobody_opens_another_product_when_all_meet_again() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let _ = stores.meet(2, Task::Fill, last(3, Does::LeavesAt(Step::Product)));
    let told = LastTest::of(&stores.open(2)).expect("readable").expect("there is one").told();
    let mut other = LastTest::commit(told.name(), Party(2), [7; 16], &mut Prg::new(Block::ONES));
    let commitments = PerPeer::new(2, 3, |party| {
        LastTest::of(&stores.open(party)).expect("readable").expect("there is one").commitment().to_vec()
    });
    other.hear(&commitments);
    other.keep(&mut stores.open(2)).expect("written");
    let ended = stores.meet(3, Task::Fill, |_| Does::Well);
    for ended in &ended[..2] {
        let error = ended.as_ref().expect("it stayed").as_ref().expect_err("it refuses");
        assert!(error.to_string().contains("another commitment than before"), "{error}");
    }
    assert_eq!(stores.are_unsettled()[..2], [true; 2]);
}

/// It says its commitment otherwise to one party when all meet again: that one names it, and nobody opens anything else.
#[test]
fn nobody_commits_anew_when_all_meet_again() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let _ = stores.meet(2, Task::Fill, last(3, Does::LeavesAt(Step::Product)));
    let ended = stores.meet(3, Task::Fill, last(3, Does::CommitsAnew));
    let error = ended[0].as_ref().expect("it stayed").as_ref().expect_err("it refuses");
    assert!(matches!(error, ProtocolError::Peer { party: Party(2), .. }) && !error.is_evidence(), "{error}");
    assert!(stores.are_unsettled()[0]);
    stores.well(4, Task::Fill);
}

/// It asks for a test that nobody knows, or for the last one, which all know and which has passed. No honest party is named.
#[test]
fn a_party_that_asks_without_need_blames_nobody() {
    for knows in [true, false] {
        let (folder, parties) = filled(3);
        let stores = Stores { folder: folder.path(), parties };
        let mut test = LastTest::of(&stores.open(2)).expect("readable").expect("there is one");
        if !knows {
            test = LastTest::commit([9; 32], Party(2), [7; 16], &mut Prg::new(Block::ONES));
        }
        let commitments = PerPeer::new(2, 3, |party| {
            LastTest::of(&stores.open(party)).expect("readable").expect("there is one").commitment().to_vec()
        });
        test.hear(&commitments);
        test.keep(&mut stores.open(2)).expect("written");
        if knows {
            stores.well(2, Task::Fill);
            continue;
        }
        for ended in &stores.meet(2, Task::Fill, |_| Does::Well)[..2] {
            let error = ended.as_ref().expect("it stayed").as_ref().expect_err("it refuses");
            assert!(matches!(error, ProtocolError::Peer { party: Party(2), .. }) && !error.is_evidence(), "{error}");
        }
        assert_eq!(stores.are_unsettled(), [false, false, true]);
    }
}

/// An honest party has not written the new secrets, and a cheat asks for a test that nobody knows: it is named, and not the honest one.
#[test]
fn a_party_that_asks_for_an_unknown_test_does_not_put_the_blame_on_one_without_secrets() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    for party in 0..3 {
        stores.open(party).clear().expect("written");
    }
    stores.open(1).remove_states(|place| place == STATE.name).expect("written");
    let mut test = LastTest::commit([9; 32], Party(2), [7; 16], &mut Prg::new(Block::ONES));
    test.hear(&PerPeer::new(2, 3, |_| vec![0; 32]));
    test.keep(&mut stores.open(2)).expect("written");
    for ended in &stores.meet(2, Task::Fill, |_| Does::Well)[..2] {
        let error = ended.as_ref().expect("it stayed").as_ref().expect_err("it refuses");
        let ProtocolError::Peer { party: Party(2), source } = error else { panic!("{error}") };
        assert!(matches!(**source, ProtocolError::Unsettled { .. }), "{error}");
    }
    LastTest::forget(&mut stores.open(2)).expect("written");
    stores.well(3, Task::Fill);
}

/// Only some parties hear that all heard the same: those that do not keep their stores, and the next meeting goes on.
#[test]
fn a_party_that_lies_about_what_it_heard_costs_nobody_a_store() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let before = stores.pieces();
    let ended = stores.meet(2, Task::Fill, last(3, Does::Withholds));
    assert!(ended.iter().flatten().all(Result::is_err));
    assert_eq!(stores.pieces(), before);
    stores.well(3, Task::Run { top_up: false });
}

#[test]
fn a_store_is_given_up_when_a_check_fails_and_serves_nothing_after_that() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let ended = stores.meet(2, Task::Fill, last(3, Does::Falsely));
    assert!(ended.iter().flatten().any(|ended| ended.as_ref().is_err_and(ProtocolError::is_evidence)));
    let ended = stores.meet(3, Task::Run { top_up: true }, |_| Does::Well);
    assert!(ended.iter().flatten().all(Result::is_err));
}

#[test]
fn a_party_that_tells_others_different_things_of_its_store_is_found() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let ended = stores.meet(2, Task::Run { top_up: false }, last(3, Does::Equivocates));
    let found = |ended: &Ended| match ended {
        Some(Err(ProtocolError::Unattributed(failed))) => failed.check == ECHO,
        _ => false,
    };
    assert!(ended[..2].iter().any(found));
    assert!(ended.iter().flatten().all(Result::is_err));
}

/// The parties take different pieces.
#[test]
fn pieces_that_not_all_take_open_nothing() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let plan = plan(odd_outputs(), parties, ResultCheck::Tags);
    let ended = all(parties, 7, async |session, party| {
        let drawing = drawing(stores.open(party.0), false);
        let mut member = Member::meet(session, plan.clone(), party, drawing, Any::new(Honest)).await?;
        if party == Party(0) {
            member.ground.stock.as_mut().expect("a store").take(parties, plan.amounts())?;
        }
        member.prepare(session).await.map(drop)
    });
    let found = |ended: &Result<(), ProtocolError>| match ended {
        Err(ProtocolError::Unattributed(failed)) => failed.check == GATE_BITS,
        _ => false,
    };
    assert!(ended.iter().any(found), "{ended:?}");
    assert!(ended.iter().all(Result::is_err));
}

/// A store for other parties, another number or evaluator is refused before anything is sent.
#[test]
fn a_store_is_bound_to_all_parties_and_the_evaluator() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let config = Config { evaluator: 0, ..Config::default() };
    let other = Arc::new(Plan::new(odd_outputs(), 3, config).expect("it can be run"));
    for (peers, plan) in [("others", plan(odd_outputs(), 3, ResultCheck::Tags)), ("all others", other)] {
        let ended = all(3, 8, async |session, party| {
            let drawing = Drawing { peers, ..drawing(stores.open(party.0), false) };
            Member::meet(session, plan.clone(), party, drawing, Any::new(Honest)).await.map(drop)
        });
        for ended in ended {
            let error = ended.expect_err("refused");
            assert!(matches!(error, ProtocolError::Store(StoreError::OtherBinding { .. })), "{error}");
        }
    }
}

/// Secrets that were changed on disk are refused.
#[test]
fn a_state_of_another_version_is_refused() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let bytes = stores.open(0).state(STATE.name).expect("secrets").bytes.clone();
    stores.open(0).set_state(STATE.name, State { version: 2, bytes }).expect("written");
    let ended = stores.meet(2, Task::Fill, |_| Does::Well);
    let error = ended[0].as_ref().expect("it stayed").as_ref().expect_err("it refuses");
    assert!(matches!(error, ProtocolError::Store(StoreError::OtherFormat { got: 2, .. })), "{error}");
}
