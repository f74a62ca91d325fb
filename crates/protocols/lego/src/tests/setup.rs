//! Constructors that cheat in the set-up of new secrets: being caught ends it, and leaving counts.

use std::path::Path;

use garblet_store::{Store, StoreKey};

use super::*;
use crate::{
    setup::secrets::Secrets,
    stock::store::{Meeting, Stock},
};

/// The conduct of a constructor in a setup.
#[derive(Clone, Copy)]
enum Setup {
    Honest,
    /// It is gone before it commits to the difference.
    Leaves,
    /// The commitment to the difference is not a codeword.
    Cheats,
}

fn open(folder: &Path, seed: u64) -> Store {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    Store::open_or_create(folder, &key, &mut StdRng::seed_from_u64(seed)).expect("opens")
}

/// Claims to have no secrets, to force a set-up, and deviates in it.
async fn cheat(session: &mut Session, store: Store, setup: Setup) -> Result<(), ProtocolError> {
    let config = Config::default();
    let (_, meeting) = Stock::meet(session, store, config, CONSTRUCTOR, "test").await?;
    let Meeting::New(number, fresh) = meeting else { panic!("it has kept nothing") };
    let mut secrets = Secrets::of_constructor(session, config).await?;
    secrets.meet(number, fresh);
    if let Setup::Cheats = setup {
        let (mut commitments, _) = secrets.constructor(config)?;
        let spoil = |corrections: &mut [u8]| corrections.iter_mut().for_each(|byte| *byte ^= 0xff);
        let (_, pending) = commitments.begin_with(session.channel(), 1, spoil).await?;
        commitments.prove(session.channel(), pending).await?;
    }
    session.channel().flush().await?;
    Ok(())
}

/// The evaluator's result in a meeting of the stores in a folder.
fn meet(folder: &Path, setup: Setup, seed: u64) -> Result<(), ProtocolError> {
    let (ours, theirs) = memory_pair();
    let store = |party: Party| open(&folder.join(party.to_string()), 2 * seed + u64::from(party.0));
    let constructor = async {
        let mut session = session(ours, CONSTRUCTOR, seed).await;
        // Its own result does not matter.
        let _ = match setup {
            Setup::Honest => {
                Constructor::meet(&mut session, Config::default(), store(CONSTRUCTOR), "test").await.map(|_| ())
            }
            setup => cheat(&mut session, store(CONSTRUCTOR), setup).await,
        };
    };
    let evaluator = async {
        let mut session = session(theirs, EVALUATOR, seed).await;
        let met = Evaluator::meet(&mut session, Config::default(), store(EVALUATOR), "test").await;
        if met.is_err() {
            session.abort().await;
        }
        met.map(|_| ())
    };
    block_on(async { tokio::join!(constructor, evaluator).1 })
}

#[test]
fn a_constructor_that_cheats_in_a_setup_is_not_met_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = meet(folder.path(), Setup::Cheats, 1).expect_err("it is caught");
    assert!(matches!(error, ProtocolError::Commit(_)), "{error}");
    let error = meet(folder.path(), Setup::Honest, 2).expect_err("it has had its chance").to_string();
    assert!(error.contains("found to cheat"), "{error}");
}

#[test]
fn setups_that_are_left_count_and_are_refused_in_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let evaluators = || open(&folder.path().join(EVALUATOR.to_string()), 99);
    meet(folder.path(), Setup::Honest, 1).expect("both are honest");
    assert_eq!(unfinished(&evaluators()), 0);
    std::fs::remove_dir_all(folder.path()).expect("both begin anew");
    std::fs::create_dir(folder.path()).expect("both begin anew");
    for left in 1..=3 {
        let error = meet(folder.path(), Setup::Leaves, 1 + u64::from(left)).expect_err("it is gone");
        assert!(error.net().is_some(), "{error}");
        assert_eq!(unfinished(&evaluators()), left);
    }
    let error = meet(folder.path(), Setup::Honest, 5).expect_err("no fourth");
    assert!(matches!(error, ProtocolError::Unfinished(_)), "{error}");
    allow_unfinished(&mut evaluators()).expect("allowed");
    meet(folder.path(), Setup::Honest, 6).expect("both are honest");
    assert_eq!(unfinished(&evaluators()), 0);
}
