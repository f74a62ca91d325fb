//! The measurements of `garblet bench`, in sizes that take seconds.

use garblet_primitives::Backend;
use serde_json::Value;

use crate::invocation::{Folder, command, finish, garblet};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

/// The bytes of a run in all are those of its phases, and each phase takes time.
fn assert_whole(costs: &Value, phases: &[&str]) {
    let bytes: f64 = ["setup", "prepare", "build", "online"].iter().map(|phase| number(&costs[phase]["bytes"])).sum();
    assert!((bytes - number(&costs["total"]["bytes"])).abs() < 1.0, "{costs}");
    for phase in phases {
        assert!(number(&costs[phase]["ms"]) > 0.0 && number(&costs[phase]["bytes"]) > 0.0, "{phase} of {costs}");
    }
}

#[test]
fn authenticated_garbling_reports_the_cost_of_each_phase() {
    let bench = ["bench", "authenticated", "--copies", "1,2", "--param", "ot-k=8", "--json"];
    let cold = garblet(&bench).json();
    let rows = cold["rows"].as_array().expect("a row for each number of copies");
    assert_eq!(rows.len(), 2, "{cold}");
    assert_eq!((&cold["parameters"]["ot-k"], &rows[1]["copies"]), (&"8".into(), &2.into()));
    for row in rows {
        assert_whole(&row["run"], &["setup", "prepare", "build", "online"]);
        assert_eq!((&row["and"], &row["filling"]), (&6_400.into(), &Value::Null));
        assert!(number(&row["triples_per_second"]) > 0.0, "{row}");
        assert!((number(&row["bytes_per_and"]) * 6_400.0 - number(&row["run"]["total"]["bytes"])).abs() < 1.0, "{row}");
    }

    let stored = garblet(&["bench", "authenticated", "--copies", "1", "--prepared", "--repeat", "2", "--json"]).json();
    let row = &stored["rows"][0];
    assert_whole(&row["filling"], &["setup", "prepare"]);
    assert_whole(&row["run"], &["setup", "build", "online"]);
    assert_eq!(row["run"]["prepare"]["bytes"], 0.0, "what a store has is not sent again: {row}");
}

#[test]
fn authenticated_garbling_of_several_parties_reports_each_phase_of_each_party() {
    let phases = ["setup", "prepare", "build", "online", "total"];
    let bench = ["bench", "authenticated", "--parties", "3", "--copies", "1", "--param", "evaluator=2", "--json"];
    for prepared in [false, true] {
        let more: &[&str] = if prepared { &["--prepared", "--repeat", "2"] } else { &[] };
        let report = garblet(&[&bench[..], more].concat()).json();
        assert_eq!((&report["protocol"], &report["parties"]), (&"authenticated-bmr".into(), &3.into()));
        let row = &report["rows"][0];
        let parties = |of: &str| row[of].as_array().map_or(0, Vec::len);
        assert_eq!((parties("run"), parties("filling"), &row["and"]), (3, if prepared { 3 } else { 0 }, &6_400.into()));
        let mut sent = 0.0;
        for (at, part) in row["run"].as_array().expect("a part for each party").iter().enumerate() {
            let role = if at == 2 { "evaluator" } else { "garbler" };
            assert_eq!((&part["party"], &part["role"]), (&at.into(), &role.into()));
            for phase in phases {
                assert!(number(&part[phase]["ms"]) >= 0.0 && number(&part[phase]["cpu_ms"]) >= 0.0, "{part}");
            }
            sent += number(&part["total"]["sent_per_and"]);
            assert_eq!(number(&part["prepare"]["bytes_sent"]) == 0.0, prepared, "stores have it all: {part}");
            assert_eq!(number(&part["build"]["bytes_sent"]) > 48.0 * 6_400.0, at != 2, "{part}");
        }
        assert!((sent - number(&row["bytes_per_and"])).abs() < 0.01, "{row}");
        assert!(number(&row["triples_per_second"]) > 0.0, "{row}");
    }
    let text = garblet(&["bench", "authenticated", "--parties", "3", "--copies", "1"]).stdout;
    assert!(text.contains("sent per AND") && text.contains("1 (evaluator)"), "{text}");
    let refused = garblet(&["bench", "authenticated", "--parties", "17"]);
    assert!(refused.stderr.contains("17 is not in 2..=16"), "{}", refused.stderr);
}

/// A party that lets the link decide tells its rates, so a plan under it is the one under the same rates by hand.
#[test]
fn rates_are_measured_and_kept_for_runs_that_let_the_link_decide() {
    let folder = Folder::new("rates");
    let call = |arguments: &[&str]| {
        let mut command = command(arguments);
        finish(command.env("XDG_CONFIG_HOME", folder.path("")).spawn().expect("the command starts"))
    };
    let measured = call(&["bench", "rates", "--repeat", "1", "--json"]).json();
    assert_eq!(measured["operations"].as_array().map(Vec::len), Some(8), "{measured}");
    for operation in measured["operations"].as_array().into_iter().flatten() {
        assert!(number(&operation["per_second"]) > 0.0, "{measured}");
    }
    assert_eq!(measured["kept"], Value::Null);
    let plan = |more: &[&str]| {
        let plan = ["plan", "lib:aes128", "--protocol", "yao", "--link", "0.2ms,1gbit", "--json"];
        call(&[&plan[..], more].concat()).json()["protocols"].take()
    };
    let assumed = plan(&[]);
    let kept = call(&["bench", "rates", "--repeat", "1", "--keep", "--json"]).json();
    let rates = kept["rates"].as_str().expect("rates");
    assert_eq!(kept["kept"], folder.path("garblet/rates.json"));
    let by_hand = |rates: &str| plan(&["--param", &format!("rates={rates}")]);
    assert_eq!(plan(&[]), by_hand(rates));
    // A machine that does one operation a second.
    let file = folder.path("garblet/rates.json");
    let text = std::fs::read_to_string(&file).expect("kept");
    std::fs::write(&file, text.replace(rates, "0000000000000000")).expect("written");
    assert_eq!(plan(&[]), by_hand("0000000000000000"));
    assert_ne!(plan(&[]), assumed);
    std::fs::write(&file, "fast").expect("written");
    let refused = call(&["plan", "lib:aes128", "--protocol", "yao", "--link", "0.2ms,1gbit"]);
    assert!(
        refused.stderr.contains("rates.json: no rates: ") && refused.stderr.contains("bench rates --keep"),
        "{}",
        refused.stderr
    );
    assert_eq!(call(&["bench", "rates", "--keep", "--engine", "portable"]).status, Some(2));
}

#[test]
fn a_benchmark_of_the_laboratory_is_refused_with_its_command() {
    for call in [&["bench", "lego", "--copies", "1"][..], &["bench", "lego", "--help"]] {
        garblet(call).fails(
            2,
            "error: bench lego: expected garbling, ot, rates, yao, authenticated\n\
             hint: the laboratory has all other benchmarks; in a clone of the project: \
             cargo run --release -p garblet-lab -- lego\n",
        );
    }
    let help = garblet(&["bench", "--help"]).stdout;
    assert!(help.contains("cargo run --release -p garblet-lab -- --help"), "{help}");
}

#[test]
fn results_name_the_engine_which_can_be_chosen() {
    let measured: [&[&str]; 3] = [
        &["bench", "ot", "--ots", "128", "--repeat", "1"],
        &["bench", "authenticated", "--copies", "1"],
        &["bench", "yao", "--blocks", "1", "--chains", "1", "--repeat", "1", "--cold-starts", "1"],
    ];
    for call in measured {
        assert_eq!(garblet(&[call, &["--json"]].concat()).json()["engine"], Backend::fastest().name(), "{call:?}");
    }
    let text = garblet(&[measured[0], &["--engine", "portable"]].concat()).stdout;
    assert!(text.starts_with("engine: portable\n"), "{text}");

    let garbling = ["bench", "garbling", "--blocks", "1", "--chains", "1", "--repeat", "1", "--scheme", "half-gates"];
    for engine in Backend::available() {
        let result = garblet(&[&garbling[..], &["--hash", "rekeyed", "--engine", engine.name(), "--json"]].concat());
        assert_eq!(result.json()["results"][0]["engine"], engine.name());
    }
}

#[test]
fn an_engine_that_the_processor_lacks_is_refused_with_those_that_it_has() {
    let engines = Backend::available().iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
    garblet(&["bench", "garbling", "--engine", "sse"]).fails(
        2,
        &format!(
            "error: invalid value 'sse' for '--engine <NAME>': expected an engine of this processor: {engines}\n\n\
             For more information, try '--help'.\n"
        ),
    );
}
