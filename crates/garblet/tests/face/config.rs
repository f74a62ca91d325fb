//! Parameters are set and shown by the names and values that both parties compare.

use garblet::{Adversary, Config, Protocol, SchemeKind, yao::Yao};

fn of(protocol: &str) -> Config {
    Config::of(protocol.parse().unwrap())
}

#[test]
fn the_protocol_against_an_adversary_is_for_the_number_of_parties() {
    for (adversary, parties, name) in [
        (Adversary::SemiHonest, 2, "yao"),
        (Adversary::SemiHonest, 3, "gmw"),
        (Adversary::Covert, 2, "covert"),
        (Adversary::Covert, 3, "authenticated-bmr"),
        (Adversary::Malicious, 2, "authenticated"),
        (Adversary::Malicious, 3, "authenticated-bmr"),
        (Adversary::Malicious, 16, "authenticated-bmr"),
        // None is for so many: the one for most of them.
        (Adversary::Malicious, 17, "authenticated-bmr"),
    ] {
        assert_eq!(Protocol::against(adversary, parties).name(), name, "{adversary}, {parties} parties");
    }
}

#[test]
fn parameters_survive_set() {
    let mut config = Config::default();
    for (name, value) in [("scheme", "three-halves"), ("hash", "tmmo"), ("build", "ahead"), ("ot-k", "8")] {
        config.set(name, value).unwrap();
        assert!(config.parameters().contains(&(name.into(), value.into())));
    }
    let mut config = of("gmw");
    for (name, value) in [("form", "2012"), ("ot-k", "2")] {
        config.set(name, value).unwrap();
        assert!(config.parameters().contains(&(name.into(), value.into())));
    }
    let mut config = of("bmr");
    for (name, value) in [("form", "published"), ("hash", "aes-256"), ("ot-k", "8")] {
        config.set(name, value).unwrap();
        assert!(config.parameters().contains(&(name.into(), value.into())));
    }
    let mut config = of("lego");
    for (name, value) in [("code", "bch312"), ("buckets", "4/2/2"), ("buckets", "least"), ("ot-k", "8")] {
        config.set(name, value).unwrap();
        assert!(config.parameters().contains(&(name.into(), value.into())));
    }
    for odd in ["1/2/2", "4/2", "4/0/2", "4/2/2/2", "many"] {
        let error = config.set("buckets", odd).unwrap_err().to_string();
        assert_eq!(error, format!("unknown buckets `{odd}`, expected least, or gates/checks/checks as 7/4/3"));
    }
    let mut config = of("components");
    for (name, value) in [("scheme", "grr3"), ("hash", "tmmo"), ("links", "keyed"), ("ot-k", "8")] {
        config.set(name, value).unwrap();
        assert!(config.parameters().contains(&(name.into(), value.into())));
    }
}

#[test]
fn parameters_of_cut_and_choose() {
    let mut config = of("cut-and-choose");
    assert!(config.parameters().contains(&("circuits".into(), "128".into())));
    config.set("statistical", "80").unwrap();
    assert!(config.parameters().contains(&("circuits".into(), "256".into())));
    for (name, value) in [
        ("form", "lp07"),
        ("supersets", "12"),
        ("circuits", "9"),
        ("encoding", "independent"),
        ("scheme", "prf-ss"),
        ("scheme", "three-halves"),
        ("ot-k", "2"),
    ] {
        config.set(name, value).unwrap();
        assert!(config.parameters().contains(&(name.into(), value.into())));
    }
    for (name, value, error) in [
        ("circuits", "1", "unknown circuits `1`, expected a number from 2 to 4096"),
        ("circuits", "4097", "unknown circuits `4097`, expected a number from 2 to 4096"),
        ("statistical", "60", "unknown statistical `60`, expected 40 or 80"),
        ("encoding", "none", "unknown encoding `none`, expected systematic, random or independent"),
        (
            "scheme",
            "privacy-free",
            "unknown scheme `privacy-free`, expected half-gates, three-halves, grr3 or four-row; with form=lp07 also base, prf-ss, cor-grr, \
             rom-grr or glnp",
        ),
    ] {
        assert_eq!(config.set(name, value).unwrap_err().to_string(), error);
    }
}

#[test]
fn errors_name_every_scheme_that_a_protocol_takes() {
    let mut protocols = 0;
    for name in Protocol::ALL.iter().map(|protocol| protocol.name()) {
        if !of(name).parameters().iter().any(|(parameter, _)| parameter == "scheme") {
            continue;
        }
        let error = of(name).set("scheme", "another").unwrap_err().to_string();
        let known: Vec<&str> = error.split([' ', ',', ';']).collect();
        for scheme in SchemeKind::ALL {
            let taken = of(name).set("scheme", scheme.name()).is_ok();
            assert_eq!(known.contains(&scheme.name()), taken, "{name}: {error}");
        }
        protocols += 1;
    }
    assert!(protocols >= 4, "{protocols} protocols");
}

#[test]
fn unknown_names_and_values_say_what_is_known() {
    let mut config = Config::default();
    let error = config.set("sheme", "grr3").unwrap_err().to_string();
    assert_eq!(error, "unknown parameter `sheme`, expected scheme, hash, build, ot-k");
    let error = of("components").set("build", "ahead").unwrap_err().to_string();
    assert_eq!(error, "unknown parameter `build`, expected scheme, hash, links, ot-k");
    let error = of("gmw").set("form", "2013").unwrap_err().to_string();
    assert_eq!(error, "unknown form `2013`, expected triples or 2012");
    let error = of("bmr-bgw4").set("form", "linear").unwrap_err().to_string();
    assert_eq!(error, "unknown parameter `form`, expected hash");
    let error = of("bmr-bgw3").set("form", "triples").unwrap_err().to_string();
    assert_eq!(error, "unknown form `triples`, expected linear or published");
    let error = config.set("ot-k", "3").unwrap_err().to_string();
    assert_eq!(error, "unknown ot-k `3`, expected 2, 4 or 8");
    assert_eq!(config, Config::default());
    assert!("bgw".parse::<Protocol>().is_err());
}

#[test]
fn parameters_of_one_protocol_are_not_those_of_another() {
    let mut config = of("lego");
    assert!(config.get::<Yao>().is_none() && config.get_mut::<Yao>().is_none());
    assert!(Config::default().get::<Yao>().is_some());
    assert_eq!(Config::new::<Yao>(Default::default()), Config::default());
    assert_ne!(config, Config::default());
}
