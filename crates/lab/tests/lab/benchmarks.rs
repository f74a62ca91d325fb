//! Benchmarks of protocols, in sizes that take seconds.

use serde_json::Value;

use crate::invocation::garblet as lab;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

/// The bytes of a link in all phases.
fn over(links: &Value, way: &str) -> f64 {
    ["setup", "prepare", "build", "online"].iter().map(|phase| number(&links[way][phase])).sum()
}

#[test]
fn outsourcing_stands_beside_the_published_figures() {
    let bench = ["partialgc", "--table", "2", "--function", "KeyedDB 64", "--json"];
    let report = lab(&[&bench[..], &["--repeat", "2", "--client-link", "200ms,25mbit"]].concat()).json();
    assert_eq!((&report["table"], &report["figure"], &report["repeat"]), (&2.into(), &Value::Null, &2.into()));
    assert_eq!(report["client_link"], "200ms,25mbit");
    let rows = report["rows"].as_array().expect("one program");
    assert_eq!((rows.len(), &rows[0]["program"]), (1, &"KeyedDB 64".into()), "{report}");
    let row = &rows[0];
    // 14,811 gates of a MAC more, as the paper's circuits have.
    assert_eq!((&row["and"], &row["and_with_published_mac"]), (&6_143.into(), &20_954.into()));
    let times = row["published"]["times"].as_array().expect("for 16, 64 and 256 circuits");
    assert_eq!((times.len(), &times[2]["partialgc"]["seconds"]), (3, &26.0.into()));
    assert!(number(&times[1]["cheating_log2"]) > -21.4, "{row}");

    let measured = row["measured"].as_array().expect("two bounds");
    for (measured, (statistical, hash)) in measured.iter().zip([("40", 6.0), ("80", 11.0)]) {
        assert_eq!(measured["statistical"], statistical);
        assert!(number(&measured["cheating_log2"]) <= -statistical.parse::<f64>().expect("a number"), "{measured}");
        let links = &measured["links"];
        let online = |way: &str| number(&links[way]["online"]);
        // 64 input bits and 33 output bits, the numbers of the run, and nothing but the hello before.
        assert_eq!(online("client_to_generator"), 8.0 + 104.0 + hash);
        assert_eq!(online("client_to_cloud"), 8.0 + 104.0 + hash + 8.0);
        assert_eq!([online("generator_to_client"), online("cloud_to_client")], [8.0 + 73.0 + 5.0; 2]);
        let of_client: f64 = ["client_to_generator", "client_to_cloud", "generator_to_client", "cloud_to_client"]
            .iter()
            .map(|way| over(links, way))
            .sum();
        assert_eq!(of_client, number(&measured["client_bytes"]));
        assert!(number(&links["generator_to_cloud"]["build"]) > 40.0 * 6_143.0, "{links}");
        // Its hello and the answers are under way for 200 ms each.
        let in_all = &measured["seconds"]["in_all"];
        assert!(number(&in_all["mean"]) > 0.4 && number(&in_all["interval_95"]) > 0.0, "{in_all}");
        assert!(number(&measured["seconds"]["prepare"]["mean"]) > 0.0);
        assert_eq!(measured["peak_rss_bytes"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn the_published_construction_stands_beside_its_figures() {
    let bench = ["partialgc", "--table", "4", "--function", "KeyedDB 64", "--repeat", "1", "--json"];
    let report = lab(&[&bench[..], &["--form", "partialgc", "--circuits", "16"]].concat()).json();
    let measured = &report["rows"][0]["measured"][0];
    assert_eq!((&measured["circuits"], &measured["and_with_mac"]), (&"16".into(), &12_543.into()), "{measured}");
    assert!((number(&measured["cheating_log2"]) + 5.8).abs() < 0.06, "{measured}");
    let links = &measured["links"];
    // All 16 circuits, of 32 bytes for each gate.
    assert!(number(&links["generator_to_cloud"]["online"]) > 16.0 * 32.0 * 12_543.0, "{links}");
    // The number of the run, a word, 33 bits and a tag.
    assert_eq!(number(&links["cloud_to_client"]["online"]), 8.0 + 1.0 + 21.0);
    assert_eq!(number(&links["generator_to_client"]["online"]), 8.0);
}

#[test]
fn the_tables_of_outsourcing_say_at_which_bound_they_stand() {
    let bench = |more: &[&str]| {
        let ran = lab(&[&["partialgc", "--repeat", "1", "--statistical", "40"], more].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    let gates = bench(&["--table", "1"]);
    assert_eq!(gates.lines().filter(|line| line.starts_with("LCS ")).count(), 5, "{gates}");
    assert!(gates.contains("MatrixMult8x8") && gates.contains("508,864"), "{gates}");
    let moved = bench(&["--table", "3", "--function", "keyed-database(64"]);
    let bounds: Vec<&str> =
        moved.lines().filter_map(|line| line.split_whitespace().find(|w| w.starts_with("2^"))).collect();
    assert_eq!(bounds.len(), 3, "{moved}");
    assert_eq!(bounds[..2], ["2^-83.1"; 2], "{moved}");
    assert!(bounds[2].starts_with("2^-41."), "{moved}");
    let step = bench(&["--figure", "4", "--function", "incremental 128"]);
    assert!(step.contains("LCS Incremental 128: lib:lcs-incremental(128), "), "{step}");
    assert!(step.contains("87,236 in PartialGC\n") && step.contains("\ncloud to generator "), "{step}");
    assert!(step.contains("must not collude"), "{step}");
}

/// A figure with one kind of program, at the weakest bounds.
fn figure(number: &str, function: &str, more: &[&str]) -> Vec<Value> {
    let bench = ["partialgc", "--figure", number, "--function", function, "--json"];
    let report = lab(&[&bench[..], more].concat()).json();
    assert_eq!((&report["figure"].to_string()[..], &report["table"]), (number, &Value::Null));
    report["rows"].as_array().expect("rows").clone()
}

#[test]
fn a_database_that_stays_is_read_without_being_sent_again() {
    let both = ["--form", "shares,partialgc", "--statistical", "40", "--circuits", "16", "--repeat", "2"];
    let rows = figure("5", "KeyedDB 64", &both);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["program"].as_str()).collect();
    assert_eq!(names, ["saved", "read", "sent anew"].map(|does| format!("KeyedDB 64, {does}")));
    let bits: Vec<_> = rows.iter().map(|row| (row["kept_bits"].as_u64(), row["read_bits"].as_u64())).collect();
    assert_eq!(bits, [(Some(6_144), None), (None, Some(6_144)), (None, None)]);
    for (row, at) in rows.iter().zip(0..) {
        let [shares, partialgc] = [0, 1].map(|form| &row["measured"][form]);
        assert_eq!((&shares["statistical"], &partialgc["circuits"]), (&"40".into(), &"16".into()));
        assert_eq!(shares["seconds_per_state_bit"].is_null(), at == 2, "{row}");
        let [least, median] = ["seconds_least", "seconds_median"].map(|what| number(&shares["answered"][what]));
        assert!(0.0 < least && least <= median && median < 60.0, "{row}");
        assert!(partialgc["answered"].is_null(), "its states are in memory");
    }
    let online =
        |row: usize, form: usize| number(&rows[row]["measured"][form]["links"]["generator_to_cloud"]["online"]);
    // A label of 16 bytes for each bit of the database, which are not sent for what is read.
    assert!(online(2, 0) - online(1, 0) > 16.0 * 6_144.0 - 4096.0, "{} and {}", online(2, 0), online(1, 0));
    // By partial gates, of 33 bytes for each bit and circuit.
    assert!(
        online(1, 1) - online(2, 1) > 16.0 * 6_144.0 * (33.0 - 16.0) - 65_536.0,
        "{} and {}",
        online(1, 1),
        online(2, 1)
    );
}

#[test]
fn friends_move_on_the_published_map_and_on_ours() {
    let both = ["--form", "shares,partialgc", "--statistical", "40", "--circuits", "16", "--repeat", "1"];
    let rows = figure("7", " 256", &both);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["program"].as_str()).collect();
    assert_eq!(names, ["MapStart", "MapSet", "MapGet", "start", "place", "look"].map(|name| format!("{name} 256")));
    let gates: Vec<u64> = rows.iter().filter_map(|row| row["and"].as_u64()).collect();
    assert_eq!(gates, [0, 2_558, 2_040, 0, 255, 1_792]);
    assert_eq!(rows[1]["published"]["about"]["seconds"], 30.0);
    assert!(rows[4]["published"]["about"].is_null(), "our map is not the paper's");
    for row in &rows {
        assert_eq!(row["measured"].as_array().map(Vec::len), Some(2), "{row}");
        let bounds = [0, 1].map(|form| number(&row["measured"][form]["cheating_log2"]));
        assert!(bounds[0] <= -40.0 && (bounds[1] + 5.8).abs() < 0.06, "{row}");
    }
}

#[test]
fn what_was_published_falls_to_two_attacks_and_ours_does_not() {
    let report = lab(&["partialgc", "--insecure-as-published", "--json"]).json();
    let [chain, split] = ["key_chain", "split"].map(|attack| &report[attack]);
    assert_eq!(chain["as_published"], serde_json::json!({ "seeds_read": 64, "inputs_read": 64 }));
    assert_eq!(chain["ours"], serde_json::json!({ "seeds_read": 0, "inputs_read": 0 }));
    assert_eq!(split["as_published"], serde_json::json!({ "circuits_known": 25, "right": 42, "accepted": 43 }));
    assert!(split["ours"]["found_out"].as_str().is_some_and(|said| said.contains("party 0")), "{split}");
}
