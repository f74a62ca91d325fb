//! The link decides parameters: both parties take the same, whatever they tell, and a value by hand wins.

use std::sync::Arc;

use garblet::{
    Bits, Config, Error, Party, Peer, Plan, Protocol, Report, library,
    net::{Mesh, NetError, memory_pair},
};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

const GIGABIT: &str = "200us,1gbit";

pub(crate) fn config(protocol: &str, params: &[(&str, &str)]) -> Config {
    let mut config = Config::of(protocol.parse().expect("registered"));
    for (name, value) in params {
        config.set(name, value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
    }
    config
}

/// Runs a program between two parties whose parameters need not be the same.
fn run(configs: [Config; 2]) -> [Result<Report, Error>; 2] {
    // Malicious parties take long for more.
    let (name, bits) =
        if configs[0].protocol().name() == "authenticated" { ("lib:add(8)", 8) } else { ("lib:aes128", 128) };
    let program = Arc::new(library::find(name).expect("it is there"));
    let (left, right) = memory_pair();
    let mesh = configs[0].protocol().is_mesh();
    let ends: Vec<garblet::Ends> = match mesh {
        true => Mesh::memory(2).into_iter().map(Into::into).collect(),
        false => vec![left.into(), right.into()],
    };
    let party = async |party: u16, ends: garblet::Ends| {
        let plan = Plan::new(program.clone(), 2, &configs[usize::from(party)])?;
        let rng = StdRng::seed_from_u64(party.into());
        let peer = Peer::open(&plan, Party(party), ends, rng, Box::new(())).await?;
        Ok(peer.finish(&[Bits::zeros(bits)]).await?.report)
    };
    let mut ends = ends.into_iter();
    let (first, second) = (ends.next().expect("two"), ends.next().expect("two"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (first, second) = runtime.block_on(async { tokio::join!(party(0, first), party(1, second)) });
    [first, second]
}

/// The value of a parameter that both took, with the same result.
fn taken(configs: [Config; 2], name: &str) -> String {
    let [left, right] = run(configs).map(|report| report.expect("a result"));
    let values = [&left, &right].map(|report| report.decided.get(name).cloned());
    match &values {
        [Some(left), Some(right)] => assert_eq!(left, right),
        [None, None] => panic!("nobody let the link decide {name}"),
        _ => {}
    }
    values.into_iter().flatten().next().expect("one of them")
}

#[test]
fn the_link_decides_the_scheme() {
    let auto = [("scheme", "auto")];
    let on = |link| config("yao", &[("scheme", "auto"), ("link", link)]);
    assert_eq!(taken([on(GIGABIT), on(GIGABIT)], "scheme"), "three-halves");
    assert_eq!(taken([on("0ms,100gbit"), on("0ms,100gbit")], "scheme"), "half-gates");
    assert_eq!(taken([config("yao", &auto), config("yao", &auto)], "scheme"), "half-gates", "nobody knows the link");
    assert_eq!(taken([config("yao", &auto), on(GIGABIT)], "scheme"), "three-halves", "one tells the other");
    assert_eq!(taken([on("0ms,100gbit"), on("1ms,10mbit")], "scheme"), "three-halves", "the slower link counts");
}

#[test]
fn rates_decide_too() {
    let of = |rates| config("yao", &[("scheme", "auto"), ("link", GIGABIT), ("rates", rates)]);
    // Party 0 garbles three halves at about a million gates a second.
    let (fast, slow) = (of("6060606060606060"), of("6060406060606060"));
    assert_eq!(taken([fast.clone(), slow.clone()], "scheme"), "three-halves");
    assert_eq!(taken([slow, fast], "scheme"), "half-gates");
}

#[test]
fn a_value_by_hand_wins() {
    let auto = config("yao", &[("scheme", "auto"), ("link", GIGABIT)]);
    let by_hand = config("yao", &[]);
    assert_eq!(taken([auto.clone(), by_hand.clone()], "scheme"), "half-gates");
    assert_eq!(taken([by_hand, auto.clone()], "scheme"), "half-gates");
    // One that is not among the alternatives is refused on both sides.
    for error in run([auto.clone(), config("yao", &[("scheme", "grr3")])]).map(Result::unwrap_err) {
        let Some(NetError::Incompatible { differences }) = error.net() else { panic!("{error}") };
        assert_eq!(differences[0].field, "scheme");
    }
    let mut changed = auto;
    changed.set("scheme", "grr3").expect("a scheme");
    assert!(changed.parameters().contains(&("scheme".into(), "grr3".into())));
}

#[test]
fn ot_of_gmw_is_decided_by_value_and_link() {
    let on = |link| config("gmw", &[("ot", "auto"), ("ot-k", "auto"), ("link", link)]);
    assert_eq!(taken([on("1ms,10mbit"), on("1ms,10mbit")], "ot-k"), "8");
    let fixed = config("gmw", &[("ot", "auto"), ("ot-k", "2"), ("link", "1ms,10mbit")]);
    assert_eq!(taken([on("1ms,10mbit"), fixed], "ot-k"), "2");
}

#[test]
fn the_link_decides_the_ot_of_authenticated() {
    let on = |more: &[(&str, &str)]| config("authenticated", &[&[("ot", "auto"), ("ot-k", "auto")], more].concat());
    let slow = on(&[("link", "1ms,10mbit")]);
    assert_eq!(taken([slow.clone(), on(&[])], "ot-k"), "8");
    assert_eq!(taken([on(&[]), on(&[])], "ot-k"), "4", "nobody knows the link");
    // The kind that hellos do not name.
    assert_eq!(taken([slow.clone(), config("authenticated", &[])], "ot"), "extension");
    assert_eq!(taken([config("authenticated", &[("ot", "silent")]), slow.clone()], "ot"), "silent");
    assert_eq!(taken([slow.clone(), config("authenticated", &[("ot-k", "2")])], "ot-k"), "2");
}

#[test]
fn the_link_decides_the_ot_of_bmr() {
    let on = |program: &str, link| {
        let plan = Plan::new(library::find(program).expect("it is there"), 2, &config("bmr", &[("ot", "auto"), link]));
        let alternatives = plan.expect("it runs").alternatives();
        assert_eq!(alternatives.len(), 2);
        alternatives.into_iter().find(|alternative| alternative.chosen).expect("one").parameters
    };
    assert_eq!(on("lib:layered(2, 100002)", ("link", "1ms,10mbit")), [("ot", "silent")]);
    assert_eq!(on("lib:layered(2, 100002)", ("link", "0ms,100gbit")), [("ot", "extension")]);
    assert_eq!(on("lib:aes128", ("link", "1ms,10mbit")), [("ot", "extension")], "equal, so the first");
}

#[test]
fn the_link_decides_the_scheme_of_components() {
    let on = |link| config("components", &[("scheme", "auto"), ("link", link)]);
    assert_eq!(taken([on("1ms,10mbit"), on("1ms,10mbit")], "scheme"), "three-halves");
    assert_eq!(taken([on("0ms,100gbit"), config("components", &[("scheme", "auto")])], "scheme"), "half-gates");
    assert_eq!(taken([on("1ms,10mbit"), config("components", &[])], "scheme"), "half-gates");
}

#[test]
fn among_three_parties_standard_values_stand() {
    let auto = config("gmw", &[("ot", "auto"), ("ot-k", "auto"), ("link", "1ms,10mbit")]);
    let program = library::find("lib:aes128").expect("it is there");
    let plan = Plan::new(program, 3, &auto).expect("it runs");
    assert!(plan.alternatives().is_empty());
}

#[test]
fn a_page_has_room_for_whatever_the_link_decides() {
    let program = Arc::new(library::find("lib:aes128").expect("it is there"));
    let most = |params: &[(&str, &str)]| {
        let plan = Plan::new(program.clone(), 2, &config("yao", params)).expect("it runs");
        plan.most_received(Party(1), garblet::Phase::Online).expect("known")
    };
    let by_hand = [most(&[]), most(&[("scheme", "three-halves")])];
    assert!(by_hand[1] < by_hand[0]);
    assert_eq!(most(&[("scheme", "auto"), ("link", GIGABIT)]), by_hand[0]);
}

#[test]
fn a_value_that_is_refused_changes_nothing() {
    let mut auto = config("yao", &[("scheme", "auto")]);
    let before = auto.clone();
    assert!(auto.set("scheme", "best").is_err() && auto.set("link", "far").is_err());
    assert_eq!(auto, before);
}

#[test]
fn there_are_alternatives_only_with_auto() {
    let plan = |config: &Config| {
        let program = library::find("lib:aes128").expect("it is there");
        Plan::new(program, 2, config).expect("it runs")
    };
    assert!(plan(&Config::default()).alternatives().is_empty());
    let alternatives = plan(&config("yao", &[("scheme", "auto"), ("link", GIGABIT)])).alternatives();
    assert_eq!(alternatives.len(), 2);
    assert_eq!(alternatives.iter().filter(|alternative| alternative.chosen).count(), 1);
    assert!(alternatives[0].parameters == [("scheme", "half-gates")] && alternatives[1].chosen);
    assert!(alternatives[1].seconds < alternatives[0].seconds);
}

#[test]
fn protocols_without_a_choice_have_no_auto() {
    for protocol in Protocol::ALL.iter().filter(|protocol| protocol.link_decides().is_empty()) {
        for (name, value) in [("link", GIGABIT), ("scheme", "auto")] {
            assert!(Config::of(*protocol).set(name, value).is_err(), "{protocol}");
        }
    }
    for protocol in Protocol::ALL {
        for (name, values) in protocol.link_decides() {
            let standard = Config::of(*protocol).parameters();
            assert!(standard.contains(&((*name).into(), values[0].into())), "{protocol}: the standard is the first");
            assert!(values.iter().all(|value| Config::of(*protocol).set(name, value).is_ok()), "{protocol}: {name}");
        }
    }
    let error = config("yao", &[]).set("scheme", "best").expect_err("no such value");
    assert!(error.to_string().contains("expected auto, half-gates"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_parties_take_the_same_whatever_they_tell(
        links in prop::array::uniform2(prop::option::of((0u32..60_000_000, 1u64..1_000_000_000))),
        rates in prop::array::uniform2(prop::option::of(prop::array::uniform8(prop_oneof![Just(0u8), Just(99), 0u8..=99]))),
    ) {
        let config = |at: usize| {
            let mut config = config("yao", &[("scheme", "auto")]);
            if let Some((micros, kbit)) = links[at] {
                config.set("link", &format!("{micros}us,{kbit}kbit")).expect("a link");
            }
            if let Some(rates) = rates[at] {
                let text: String = rates.iter().map(|rate| format!("{rate:02}")).collect();
                config.set("rates", &text).expect("rates");
            }
            config
        };
        prop_assert!(["half-gates", "three-halves"].contains(&&taken([config(0), config(1)], "scheme")[..]));
    }
}
