//! Stores are filled together and drawn on; a run that they lack is refused, or prepared where all wish it.

use std::{sync::Arc, time::Duration};

use garblet::{
    Config, Ends, Error, Order, OrderRequest, Party, Peer, Plan, Program, Report, Stock, StockKinds,
    circuit::evaluate,
    fill, library,
    store::{Store, StoreKey},
};

use super::{all, ends, inputs, name, own, samples, stock};

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(8)").expect("in the library"))
}

async fn filled(party: Party, ends: Ends, parties: u16, config: Config) -> Result<Store, Error> {
    let stock = stock(&config, parties, &program(), Store::in_memory(&mut rand::rng())?)?;
    Ok(fill(stock, party, ends, &config, 100, rand::rng(), Box::new(())).await?.store)
}

async fn computed(
    store: Store,
    (party, ends): (Party, Ends),
    parties: u16,
    config: Config,
    top_up: bool,
) -> Result<Report, Error> {
    let program = program();
    let mut stock = stock(&config, parties, &program, store)?;
    stock.top_up = top_up;
    let plan = Plan::new(program.clone(), parties, &config)?;
    // Two parties know ahead whether their own store holds enough.
    let known = (!top_up && !config.protocol().is_mesh()).then(|| plan.check_stock(&stock));
    let peer = Peer::open_with(&plan, party, ends, stock, rand::rng(), Box::new(())).await?;
    let report = peer.finish(&own(&program, &inputs(&program), party)).await.map(|outcome| outcome.report);
    match (known, &report) {
        (Some(Err(Error::NotPrepared(ahead))), Err(Error::NotPrepared(then))) => assert_eq!(&ahead, then),
        (Some(known), _) => assert_eq!(known.is_ok(), report.is_ok(), "{}: {known:?}", name(&config)),
        (None, _) => {}
    }
    report
}

/// Samples of protocols that have stores.
fn stored() -> impl Iterator<Item = Config> {
    samples().into_iter().filter(|config| config.stock().is_some())
}

async fn run_all(config: &Config, stores: Vec<Store>, top_up: bool) -> Vec<Result<Report, Error>> {
    let stores: Vec<_> = stores.into_iter().map(|store| std::sync::Mutex::new(Some(store))).collect();
    all(config, |party, ends, parties| {
        let store = stores[usize::from(party.0)].lock().unwrap().take().expect("each takes its own");
        computed(store, (party, ends), parties, config.clone(), top_up)
    })
    .await
}

fn check(config: &Config, reports: Vec<Result<Report, Error>>) {
    let program = program();
    let expected = evaluate(&program, &inputs(&program));
    for report in reports {
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", name(config)));
        assert_eq!(report.outputs, [Some(expected[0].clone())], "{}", name(config));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_filled_serves_a_program_that_is_named_then() {
    for config in stored() {
        let stores = all(&config, |party, ends, parties| filled(party, ends, parties, config.clone())).await;
        let stores = stores.into_iter().map(|store| store.unwrap_or_else(|error| panic!("{}: {error}", name(&config))));
        let reports = run_all(&config, stores.collect(), false).await;
        check(&config, reports);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_empty_stores_lack_is_refused_or_made_on_request_of_all() {
    for config in stored() {
        let empty = || all(&config, async |_, _, _| Store::in_memory(&mut rand::rng()).expect("a store"));
        for report in run_all(&config, empty().await, false).await {
            assert!(report.is_err(), "{} had nothing to draw on", name(&config));
        }
        check(&config, run_all(&config, empty().await, true).await);
    }
}

/// Parties that order different amounts have made a mistake: nobody is accused, and what stores have stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_of_different_amounts_are_refused_and_cost_nothing() {
    let of_pieces = |config: &Config| matches!(config.stock(), Some(StockKinds::Pieces(_)));
    for config in stored().filter(of_pieces) {
        let Some(StockKinds::Pieces(kinds)) = config.stock() else { continue };
        let folder = tempfile::tempdir().expect("a folder for the test");
        let place = |party: Party| folder.path().join(party.to_string());
        let key = StoreKey::generate(&mut rand::rng());
        let order = |parties, amount| {
            let amounts = kinds.iter().map(|kind| (kind.to_string(), amount)).collect();
            Order::new(&OrderRequest { amounts, ..OrderRequest::default() }, parties, &config)
        };
        let pieces = |store: &Store| store.stock().iter().map(|stock| stock.available.len()).sum::<u64>();
        for (amounts, is_filled) in [([64, 64], true), ([128, 192], false)] {
            let party = |party: Party, ends, parties: u16| {
                let (config, key, place) = (config.clone(), key.clone(), place(party));
                // The first and the last party have stores in every protocol.
                let stock = order(parties, amounts[usize::from(party == Party(parties - 1))]);
                async move {
                    let open = if is_filled { Store::create } else { Store::open };
                    let stock = Stock::new(stock?, open(&place, &key, &mut rand::rng())?, "peer");
                    fill(stock, party, ends, &config, 100, rand::rng(), Box::new(())).await.map(drop)
                }
            };
            for ended in all(&config, party).await {
                assert_eq!(ended.is_ok(), is_filled, "{}: {ended:?}", name(&config));
                assert!(ended.err().is_none_or(|error| !error.is_evidence()), "{}", name(&config));
            }
        }
        let store = Store::open(&place(Party(0)), &key, &mut rand::rng()).expect("nobody holds it");
        assert!(pieces(&store) > 0, "{}", name(&config));
    }
}

/// Runs for others, or of other parameters, would lie in the store under a name that is not theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_of_runs_for_other_parties_or_parameters_is_refused() {
    let of_runs = |config: &Config| matches!(config.stock(), Some(StockKinds::Runs));
    for config in stored().filter(of_runs) {
        let mut other = config.clone();
        other.set("ot-k", "8").or_else(|_| other.set("hash", "fixed-key")).expect("without OT there is a hash");
        for (ordered, more) in [(&other, 0), (&config, 1)] {
            let party = |party, ends, parties| {
                let (config, ordered) = (config.clone(), ordered.clone());
                async move {
                    let stock = stock(&ordered, parties + more, &program(), Store::in_memory(&mut rand::rng())?)?;
                    fill(stock, party, ends, &config, 100, rand::rng(), Box::new(())).await.map(drop)
                }
            };
            let ended = all(&config, party).await;
            let is_refused = |ended: &Result<(), Error>| matches!(ended, Err(Error::Order { .. }));
            assert!(ended.iter().any(is_refused), "{}, {more} parties more: {ended:?}", name(&config));
            assert!(ended.iter().all(Result::is_err), "{}, {more} parties more: {ended:?}", name(&config));
        }
    }
}

#[tokio::test]
async fn a_protocol_without_stores_refuses_one() {
    for config in samples().into_iter().filter(|config| config.stock().is_none()) {
        let request = garblet::OrderRequest::default();
        let error = garblet::Order::new(&request, 2, &config).map(|_| ()).expect_err("no stores").to_string();
        assert!(error.contains("protocol of a store"), "{error}");
    }
}

/// Dropping a run is how it is cancelled; nobody else has to do anything for the store.
#[tokio::test]
async fn a_store_is_free_and_whole_after_a_run_that_was_given_up() {
    let config = Config::of("components".parse().unwrap());
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (key, store) = (StoreKey::generate(&mut rand::rng()), folder.path().join("store"));
    let pieces = |store: &Store| store.stock().iter().map(|stock| stock.available.len()).sum::<u64>();

    let ours = stock(&config, 2, &program(), Store::create(&store, &key, &mut rand::rng()).unwrap()).unwrap();
    let [(_, left), (party, right)] = ends(&config, 2).try_into().ok().expect("two");
    let filling = fill(ours, Party(0), left, &config, 100, rand::rng(), Box::new(()));
    let (filling, theirs) = tokio::join!(filling, filled(party, right, 2, config.clone()));
    let before = pieces(&filling.unwrap().store);
    drop(theirs.unwrap());
    assert!(before > 0);

    let ours = Store::open(&store, &key, &mut rand::rng()).unwrap();
    let [left, _silent] = ends(&config, 2).try_into().ok().expect("two");
    let run = tokio::time::timeout(Duration::from_millis(50), computed(ours, left, 2, config, false));
    assert!(run.await.is_err(), "the peer never says a word");
    let ours = Store::open(&store, &key, &mut rand::rng()).expect("nobody holds it");
    assert_eq!(pieces(&ours), before);
}
