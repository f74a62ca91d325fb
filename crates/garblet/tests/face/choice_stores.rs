//! Parameters of stores are decided by the link when the stores are filled first, and read from them afterwards.

use std::{collections::BTreeMap, sync::Arc};

use garblet::{
    Bits, Config, Error, Order, OrderRequest, Party, Peer, Plan, Program, Report, Stock, StockKinds,
    components::{Components, Library},
    fill, library,
    net::{
        NetError,
        testing::{Direction, Fault, FaultKind, PairFault, intercepted_mesh, intercepted_pair},
    },
    store::{Store, StoreKey},
};
use rand::{SeedableRng, rngs::StdRng};

use super::choice::config;

const SLOW: (&str, &str) = ("link", "1ms,10mbit");
const FAST: (&str, &str) = ("link", "0ms,100gbit");

/// The parameters that the link decides, left to it, and those that it decides on a slow link.
struct Case {
    protocol: &'static str,
    open: &'static [(&'static str, &'static str)],
    taken: &'static [(&'static str, &'static str)],
    /// Other values by hand.
    other: (&'static str, &'static str),
}

const CASES: [Case; 3] = [
    Case {
        protocol: "authenticated",
        open: &[("ot", "auto"), ("ot-k", "auto")],
        taken: &[("ot", "extension"), ("ot-k", "8")],
        other: ("ot-k", "2"),
    },
    Case {
        protocol: "components",
        open: &[("scheme", "auto")],
        taken: &[("scheme", "three-halves")],
        other: ("scheme", "half-gates"),
    },
    Case {
        protocol: "gmw",
        open: &[("ot", "auto"), ("ot-k", "auto")],
        taken: &[("ot", "extension"), ("ot-k", "8")],
        other: ("ot-k", "2"),
    },
];

impl Case {
    fn auto(&self, link: (&str, &str)) -> Config {
        config(self.protocol, &[self.open, &[link]].concat())
    }

    fn by_hand(&self, more: &[(&str, &str)]) -> Config {
        config(self.protocol, &[self.taken, more].concat())
    }

    fn decided(&self) -> BTreeMap<String, String> {
        self.taken.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }
}

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(8)").expect("it is there"))
}

/// An order of so many runs.
fn runs(program: &Arc<Program>, count: u64, config: &Config) -> Order {
    let amounts = vec![("runs".into(), count)];
    let request = OrderRequest { program: Some(program.clone()), amounts, ..OrderRequest::default() };
    Order::new(&request, 2, config).expect("an order")
}

fn stock(config: &Config, store: Store, top_up: bool) -> Stock {
    let order = match config.stock() {
        Some(StockKinds::Library) => Order::of::<Components>(Library::of_program(&program())),
        // So many that fewer bytes for each pay for a larger set-up.
        Some(StockKinds::Runs) => runs(&program(), 9, config),
        _ => {
            let amounts = vec![("triples".into(), 32), ("masks".into(), 96)];
            Order::new(&OrderRequest { amounts, ..OrderRequest::default() }, 2, config).expect("an order")
        }
    };
    let mut stock = Stock::new(order, store, "peer");
    stock.top_up = top_up;
    stock
}

fn stores() -> [Store; 2] {
    [0, 1].map(|seed| Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("a store"))
}

/// The ends of two parties, with a fault between them if there is one.
fn ends(config: &Config, fault: Option<Fault>) -> [garblet::Ends; 2] {
    if !config.protocol().is_mesh() {
        let (left, right, _) = intercepted_pair(fault);
        return [left.into(), right.into()];
    }
    let fault = fault.map(|fault| PairFault { low: 0, high: 1, fault });
    let mut meshes = intercepted_mesh(2, fault).0.into_iter();
    [0, 1].map(|_| meshes.next().expect("two").into())
}

fn both<T>(config: &Config, fault: Option<Fault>, party: impl AsyncFn(Party, garblet::Ends) -> T) -> [T; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (first, second) = runtime.block_on(async {
        let [left, right] = ends(config, fault);
        tokio::join!(party(Party(0), left), party(Party(1), right))
    });
    [first, second]
}

type Filled = (Store, BTreeMap<String, String>);

/// Fills stores of parties with these parameters; returns each with what the link decided for it.
fn filled(configs: [Config; 2], stores: [Store; 2]) -> [Result<Filled, Error>; 2] {
    filled_with(|config, store| stock(config, store, false), None, configs, stores)
}

/// The same with these stocks, and with a fault between the parties if there is one.
fn filled_with(
    stock: impl Fn(&Config, Store) -> Stock,
    fault: Option<Fault>,
    configs: [Config; 2],
    stores: [Store; 2],
) -> [Result<Filled, Error>; 2] {
    let stores = stores.map(|store| std::sync::Mutex::new(Some(store)));
    both(&configs[0], fault, async |party, ends| {
        let (config, at) = (&configs[usize::from(party.0)], usize::from(party.0));
        let store = stores[at].lock().unwrap().take().expect("each takes its own");
        let rng = StdRng::seed_from_u64(2 + u64::from(party.0));
        let filled = fill(stock(config, store), party, ends, config, 100, rng, Box::new(())).await?;
        Ok((filled.store, filled.decided))
    })
}

fn ran(configs: [Config; 2], stores: [Store; 2], top_up: bool) -> [Result<Report, Error>; 2] {
    let stores = stores.map(|store| std::sync::Mutex::new(Some(store)));
    both(&configs[0], None, async |party, ends| {
        let (config, at) = (&configs[usize::from(party.0)], usize::from(party.0));
        let plan = Plan::new(program(), 2, config)?;
        let stock = stock(config, stores[at].lock().unwrap().take().expect("each takes its own"), top_up);
        if !top_up {
            plan.check_stock(&stock)?;
        }
        let rng = StdRng::seed_from_u64(4 + u64::from(party.0));
        let peer = Peer::open_with(&plan, party, ends, stock, rng, Box::new(())).await?;
        Ok(peer.finish(&[Bits::from_u128(77, 8)]).await?.report)
    })
}

fn sound(reports: [Result<Report, Error>; 2]) -> [BTreeMap<String, String>; 2] {
    reports.map(|report| {
        let report = report.expect("a result");
        assert_eq!(report.outputs, [Some(Bits::from_u128(154, 8))]);
        report.decided
    })
}

/// The error of the connection to the one peer.
fn net(error: &Error) -> Option<&NetError> {
    if let Error::Peer { source, .. } = error { source.net() } else { error.net() }
}

/// Filled stores, and what the link decided for each.
fn slowly_filled(case: &Case) -> [Filled; 2] {
    filled([case.auto(SLOW), case.auto(SLOW)], stores()).map(|filled| filled.expect("filled"))
}

#[test]
fn the_link_decides_when_stores_are_filled_first_and_not_again() {
    for case in &CASES {
        let filled_first = slowly_filled(case);
        assert!(filled_first.iter().all(|(_, decided)| *decided == case.decided()), "{}", case.protocol);
        // On a link on which new stores would have got other values.
        let fast = [case.auto(FAST), case.auto(FAST)];
        let anew = filled(fast.clone(), stores()).map(|filled| filled.expect("filled").1);
        assert!(anew.iter().all(|decided| *decided != case.decided()), "{}: {anew:?}", case.protocol);
        let refilled = filled(fast.clone(), filled_first.map(|(store, _)| store)).map(|filled| filled.expect("filled"));
        assert!(refilled.iter().all(|(_, decided)| *decided == case.decided()), "{}", case.protocol);
        let reports = ran(fast, refilled.map(|(store, _)| store), false);
        assert!(sound(reports).iter().all(|decided| *decided == case.decided()), "{}", case.protocol);
    }
}

#[test]
fn values_by_hand_agree_with_stores_that_have_them_and_with_no_others() {
    for case in &CASES {
        let stores = slowly_filled(case).map(|(store, _)| store);
        sound(ran([case.by_hand(&[]), case.auto(FAST)], stores, false));
        let stores = slowly_filled(case).map(|(store, _)| store);
        let other = [case.by_hand(&[case.other]), case.auto(FAST)];
        for error in filled(other, stores).map(|filled| filled.map(drop).expect_err("refused")) {
            let Some(NetError::Incompatible { differences }) = net(&error) else {
                panic!("{}: {error}", case.protocol)
            };
            assert_eq!(
                differences.iter().map(|d| &d.field[..]).collect::<Vec<_>>(),
                [case.other.0],
                "{}",
                case.protocol
            );
        }
    }
}

/// A first meeting was cut off when one party had bound its store, and the other had not.
#[test]
fn a_new_store_takes_what_the_other_partys_is_bound_to() {
    for case in &CASES {
        for bound in [0, 1] {
            let mut stores = stores();
            let (filled, _) = &slowly_filled(case)[bound];
            stores[bound].bind(filled.binding().expect("it was filled")).expect("it is new");
            let decided = sound(ran([case.auto(FAST), case.auto(FAST)], stores, true));
            assert!(decided.iter().all(|decided| *decided == case.decided()), "{}, {bound}", case.protocol);
        }
    }
}

/// A hello alone binds nothing to the values that it names.
#[test]
fn a_peer_that_leaves_after_its_hello_leaves_a_new_store_as_it_was() {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(5));
    let mut rng = StdRng::seed_from_u64(6);
    for case in &CASES {
        for (liar, direction) in [(0, Direction::Forth), (1, Direction::Back)] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut with_one_on_disk = || {
                let mut stores = stores();
                stores[1 - liar] =
                    Store::open_or_create(&folder.path().join("store"), &key, &mut rng).expect("a store");
                stores
            };
            let mut configs = [case.auto(FAST), case.auto(FAST)];
            configs[liar] = case.by_hand(&[case.other]);
            let after_hello = Fault { direction, frame: 1, kind: FaultKind::Cut };
            let stock = |config: &Config, store| stock(config, store, false);
            for error in filled_with(stock, Some(after_hello), configs, with_one_on_disk()).map(|filled| filled.err()) {
                let error = error.expect("the connection was cut");
                assert!(error.to_string().contains("closed"), "{error}");
            }
            let stores = with_one_on_disk();
            assert_eq!(stores[1 - liar].binding(), None, "{}", case.protocol);
            let filled = filled([case.auto(SLOW), case.auto(SLOW)], stores).map(|filled| filled.expect("filled").1);
            assert!(filled.iter().all(|decided| *decided == case.decided()), "{}: {filled:?}", case.protocol);
        }
    }
}

#[test]
fn stores_for_something_else_are_refused_as_such() {
    let case = &CASES[0];
    let stores = slowly_filled(case).map(|(store, _)| store);
    let other = config(case.protocol, &[case.open, &[("statistical", "64"), SLOW]].concat());
    for error in filled([other.clone(), other], stores).map(|filled| filled.map(drop).expect_err("refused")) {
        assert!(error.net().is_none() || !error.is_evidence(), "{error}");
    }
}

/// `bmr` leaves the width of the extension to its form, so the link decides nothing of small programs.
#[test]
fn stores_of_bmr_take_silent_ots_for_large_programs_on_slow_links() {
    let program = Arc::new(library::find("lib:layered(2, 100002)").expect("it is there"));
    let stock = |config: &Config, store| Stock::new(runs(&program, 1, config), store, "peer");
    let on = |link| [(); 2].map(|()| config("bmr", &[("ot", "auto"), link]));
    let mut stores = stores();
    for link in [("link", "10ms,10mbit"), FAST] {
        let filled = filled_with(stock, None, on(link), stores).map(|filled| filled.expect("filled"));
        let silent = |(_, decided): &Filled| decided.iter().eq([(&"ot".to_string(), &"silent".to_string())]);
        assert!(filled.iter().all(silent), "{link:?}");
        stores = filled.map(|(store, _)| store);
    }
}

#[test]
fn silent_ots_are_chosen_for_large_orders_on_slow_links() {
    let program = library::find("lib:sha256").expect("it is there");
    let on = |link| {
        let plan = Plan::new(program.clone(), 2, &config("authenticated", &[("ot", "auto"), ("ot-k", "auto"), link]));
        let alternatives = plan.expect("it runs").alternatives();
        assert_eq!(alternatives.len(), 6);
        alternatives.into_iter().find(|alternative| alternative.chosen).expect("one").parameters
    };
    assert_eq!(on(("link", "10ms,10mbit")), [("ot", "silent"), ("ot-k", "4")]);
    assert_eq!(on(FAST)[0], ("ot", "extension"));
}
