//! Stores that do not belong together, libraries that were edited, messages of no meaning; and that `prepare` knows no function.

use garblet_circuit::random;
use garblet_store::StoreError;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::pieces::meeting::id_set;
use crate::tests::invariant::rounds_library;

/// Meets with these stores, and says how each party failed.
async fn meeting_fails(
    libraries: [&Library; 2],
    config: Config,
    stores: [Store; 2],
    peers: [&str; 2],
) -> [Option<ProtocolError>; 2] {
    let (left, right) = memory_pair();
    let [mine, theirs] = stores;
    let [one, two] = libraries.map(|library| Arc::new(Material::new(library.clone(), config.garbling)));
    let open = |channel, party: u16| async move {
        let rng = Prg::new(Block::from_u128(party.into()));
        Session::open(channel, rng, &Hello::new(NAME, party, 2, [0; 32]), Box::new(())).await.unwrap()
    };
    // A party that fails lets go of its end, so that the other does not wait.
    tokio::join!(
        async {
            let mut session = open(left, 0).await;
            Garbler::setup(&mut session, one, config, mine, peers[0]).await.err()
        },
        async {
            let mut session = open(right, 1).await;
            Evaluator::setup(&mut session, two, config, theirs, peers[1]).await.err()
        }
    )
    .into()
}

async fn filled() -> [Store; 2] {
    let pair = Pair::prepared(&rounds_library().0, Config::default()).await;
    [pair.garbler.1.into_store(), pair.evaluator.1.into_store()]
}

#[test]
fn a_store_of_another_peer_is_refused() {
    block_on(async {
        let (library, _) = rounds_library();
        let [mine, _] = filled().await;
        let errors = meeting_fails([&library; 2], Config::default(), [mine, store(9)], ["test"; 2]).await;
        assert!(matches!(errors[0], Some(ProtocolError::Store(StoreError::OtherPeerStore { .. }))), "{errors:?}");
        let errors = meeting_fails([&library; 2], Config::default(), filled().await, ["somebody else", "test"]).await;
        let Some(ProtocolError::Store(StoreError::OtherBinding { what, .. })) = &errors[0] else {
            panic!("{errors:?}")
        };
        assert_eq!(*what, "peer");
    });
}

#[test]
fn a_library_that_was_edited_is_refused_unless_only_counts_changed() {
    block_on(async {
        let (library, round) = rounds_library();
        let mut more = library.clone();
        more.add_keyed(KeyedLink { window: 1, ..library.keyed()[0] });
        let errors = meeting_fails([&more; 2], Config::default(), filled().await, ["test"; 2]).await;
        for error in errors {
            let Some(ProtocolError::Store(StoreError::OtherBinding { what, .. })) = error else { panic!("{error:?}") };
            assert_eq!(what, "library");
        }
        let mut larger = Library::new();
        larger.add_type("round", component("aes-round"), 8);
        library.keyed().iter().for_each(|keyed| larger.add_keyed(*keyed));
        library.templates().iter().for_each(|template| larger.add_template(template.clone()));
        larger.set_input_bits(2048);
        let mut pair = Pair::meet(&larger, Config::default(), filled().await).await;
        pair.prepare().await;
        let material = pair.garbler.1.material();
        assert_eq!(pair.evaluator.1.store().count(&material.stored(Kind::Single(round))), 8);
    });
}

#[test]
fn another_scheme_and_the_privacy_free_one_are_refused() {
    block_on(async {
        let (library, _) = rounds_library();
        let mut config = Config::default();
        config.garbling.scheme = garblet_garble::SchemeKind::Grr3;
        let errors = meeting_fails([&library; 2], config, filled().await, ["test"; 2]).await;
        for error in errors {
            assert!(matches!(error, Some(ProtocolError::Store(StoreError::OtherBinding { what: "protocol", .. }))));
        }
        config.garbling.scheme = garblet_garble::SchemeKind::PrivacyFree;
        let errors = meeting_fails([&library; 2], config, [store(1), store(2)], ["test"; 2]).await;
        for error in errors {
            let text = error.map(|e| e.to_string()).unwrap_or_default();
            assert!(text.contains("the privacy-free scheme shows the evaluator"), "{text}");
        }
    });
}

#[test]
fn pieces_that_only_one_store_has_are_discarded_and_made_again() {
    block_on(async {
        let (library, round) = rounds_library();
        let [mine, mut theirs] = filled().await;
        let material = Material::new(library.clone(), Config::default().garbling);
        theirs.drop_pieces(&material.stored(Kind::Single(round)), &id_set([1, 2, 5])).unwrap();
        theirs.drop_pieces(&material.stored(Kind::Template(0)), &id_set([1])).unwrap();
        let mut pair = Pair::meet(&library, Config::default(), [mine, theirs]).await;
        assert_eq!((pair.garbler.1.lost(), pair.evaluator.1.lost()), (4, 0));
        pair.prepare().await;
        let program = crate::tests::linking::rounds(5);
        let inputs = random::inputs(&mut StdRng::seed_from_u64(7), &program);
        for _ in 0..3 {
            pair.run(&program, &inputs).await;
        }
    });
}

/// Everything that the evaluator's store has.
fn contents(store: &mut Store) -> Vec<(String, u64, Vec<u8>)> {
    let stock = store.stock();
    let pieces = stock.iter().flat_map(|stock| {
        let taken = store.take(&stock.kind, &stock.available).unwrap().read_all().unwrap();
        taken.into_iter().map(|piece| (stock.kind.to_string(), piece.id.0, piece.bytes.to_vec())).collect::<Vec<_>>()
    });
    pieces.collect()
}

#[test]
fn nothing_that_is_prepared_depends_on_the_function() {
    block_on(async {
        let (library, _) = rounds_library();
        let mut views = Vec::new();
        for count in [1, 5] {
            // The function is known from the beginning, to anyone who would use it.
            let program = crate::tests::linking::rounds(count);
            let pair = Pair::prepared(&library, Config::default()).await;
            let (session, evaluator) = pair.evaluator;
            let mut copy = evaluator.into_store();
            views.push((contents(&mut copy), program));
            drop(session);
        }
        assert!(!views[0].0.is_empty() && views[0].0 == views[1].0);
        assert_ne!(views[0].1.digest(), views[1].1.digest());
    });
}

#[test]
fn a_meaningless_message_causes_no_panic() {
    block_on(async {
        let (library, _) = rounds_library();
        for linking in [Linking::Standard, Linking::Keyed, Linking::Cheapest] {
            let program = crate::tests::linking::rounds(4);
            let mut pair = Pair::prepared(&library, Config { linking, ..Config::default() }).await;
            let (_, theirs) = pair.build(&program).await;
            let EvaluatorPrepared { plan, mut work, .. } = theirs.unwrap();
            let bytes = crate::cost::online(&plan, EVALUATOR).bytes_received as usize;
            let mut message = vec![0; bytes];
            Prg::new(Block::ONES).fill_bytes(&mut message);
            let material = pair.evaluator.1.material();
            work.open(material, &plan, &message).unwrap();
            work.evaluate(material);
        }
    });
}
