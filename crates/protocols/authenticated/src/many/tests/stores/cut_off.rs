//! Runs whose gates are streamed, and that end before their last lot.

use super::{super::streams::chain, *};
use crate::{config::Build, many::checks::TAGS};

impl Task {
    /// The plan of the program, and the inputs of all.
    pub(super) fn job(self, parties: u16) -> (Arc<Plan>, Vec<Bits>) {
        match self {
            Task::Stream => {
                let config = Config { build: Build::Stream, evaluator: parties - 1, ..Config::default() };
                let plan = Plan::new(Arc::new(chain()), parties, config).expect("it can be run");
                (Arc::new(plan), vec![Bits::from_iter([true]); 3])
            }
            _ => (plan(odd_outputs(), parties, ResultCheck::Tags), inputs().to_vec()),
        }
    }
}

/// Pieces are read lot by lot, but all of a run are used when it begins: whoever leaves in a lot has used them, and the others have too.
#[test]
fn a_streamed_run_that_is_cut_off_in_any_lot_has_used_its_pieces() {
    let steps =
        [(Step::GateBits, 2), (Step::GateBits, 6), (Step::GateProof, 4), (Step::Tables, 5), (Step::HandedOver, 0)];
    for (step, after) in steps {
        let (folder, parties) = filled(3);
        let stores = Stores { folder: folder.path(), parties };
        let before = stores.pieces();
        let ended = stores.meet(2, Task::Stream, last(parties, Does::LeavesLater(step, after)));
        assert!(ended[2].is_none(), "{step:?}, {after}: it left");
        for ended in ended.into_iter().flatten() {
            let error = ended.expect_err("the run was cut off");
            assert!(!error.is_evidence(), "{step:?}, {after}: {error}");
        }
        let after_it = stores.pieces();
        assert_eq!(after_it, before.iter().map(|pieces| pieces - 2).collect::<Vec<_>>(), "{step:?}, {after}");
        let has = stores.well(3, Task::Stream);
        assert_eq!(has.triples, 0, "two pieces of triples, each for one run");
    }
}

#[test]
fn whoever_leaves_before_the_verdict_does_not_hide_a_wrong_table() {
    let (folder, parties) = filled(3);
    let stores = Stores { folder: folder.path(), parties };
    let first = |party: Party| if party == Party(0) { Does::WronglyAndLeaves } else { Does::Well };
    let ended = stores.meet(2, Task::Stream, first);
    assert!(ended[0].is_none(), "it left");
    let error = ended[2].as_ref().expect("the evaluator stayed").as_ref().expect_err("a wrong table");
    assert!(matches!(error, ProtocolError::Unattributed(failed) if failed.check == TAGS), "{error}");
    let ended = stores.meet(3, Task::Run { top_up: true }, |_| Does::Well);
    assert!(ended.iter().flatten().all(Result::is_err), "the evaluator has given its store up");
}
