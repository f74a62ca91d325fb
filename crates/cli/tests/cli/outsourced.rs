//! `outsourced`: statements about its servers in results, plans and parties' messages, and a client's traffic.

use serde_json::{Value, json};

use crate::{
    invocation::{Folder, finish, garblet, start},
    many_parties::peers_file,
};

/// An auction of two houses, the second one a client: a generator that bids, and a cloud that learns nothing.
const AUCTION: [&str; 7] =
    ["examples/auction/auction.json", "--protocol", "outsourced", "--to", "house1_wins=1", "--to", "price=0,1"];

const INPUTS: [&[&str]; 3] =
    [&["--input", "0=examples/auction/house0.json"], &["--input", "1=examples/auction/house1.json"], &[]];

const WARNING: &str = "the servers, parties 0 and 2, must not collude: together they see everything\n";

/// Checks the traffic of a client with 48 input bits and 17 output bits, without other clients.
fn assert_clients_bytes(part: &Value) {
    let online = &part["phases"]["online"];
    let (number_of_run, input, output) = (2 * 8, 6, 3);
    assert_eq!(online["bytes_sent"], number_of_run + 2 * 110 + input, "{online}");
    assert_eq!(online["bytes_received"], number_of_run + 2 * (73 + output), "{online}");
    assert_eq!(online["rounds"], 1);
    for phase in ["prepare", "build"] {
        assert_eq!(part["phases"][phase]["bytes_sent"], 0);
    }
}

#[test]
fn results_say_that_the_servers_must_not_collude() {
    let local = |more: &[&str]| garblet(&[&["local"], &AUCTION[..], INPUTS[0], INPUTS[1], more].concat());
    let report = local(&["--json"]).json();
    assert_eq!((&report["adversary"], &report["parties"]), (&json!("malicious"), &json!(3)));
    assert_eq!(report["outputs"]["price"]["value"], 455);
    assert_eq!(report["security"]["collusion"], "both-servers");
    assert!(report["security"]["cheating_log2"].as_f64().is_some_and(|log2| log2 <= -40.0), "{report}");
    let roles = report["per_party"].as_array().expect("a list").iter().map(|part| &part["role"]);
    assert!(roles.eq(["generator", "client", "cloud"]), "{report}");
    assert_clients_bytes(&report["per_party"][1]);
    let text = local(&[]).stderr;
    let before = text.split_once(WARNING).and_then(|(before, _)| before.lines().last());
    let caught = "a peer that cheats is not caught with probability at most 2^-";
    assert!(before.is_some_and(|line| line.starts_with(caught)), "{text}");
    // Other protocols do not depend on who colludes, or say so by their adversary.
    for protocol in ["authenticated", "gmw"] {
        let report = garblet(&[
            "local",
            AUCTION[0],
            "--protocol",
            protocol,
            INPUTS[0][0],
            INPUTS[0][1],
            INPUTS[1][0],
            INPUTS[1][1],
            "--json",
        ])
        .json();
        assert!(report["security"].get("collusion").is_none(), "{protocol}");
    }
}

#[test]
fn plans_say_so_too() {
    let plan = |more: &[&str]| garblet(&[&["plan", AUCTION[0]], more].concat());
    let planned = plan(&["--json"]).json();
    for planned in planned["protocols"].as_array().expect("a list") {
        let expected = match planned["protocol"].as_str() {
            Some("outsourced") => Some(json!("both-servers")),
            Some("two-garblers") => Some(json!("any-two")),
            _ => None,
        };
        assert_eq!(planned.get("collusion"), expected.as_ref(), "{planned}");
    }
    for more in [&["--protocol", "outsourced"][..], &["--adversary", "malicious", "--parties", "3"]] {
        let text = plan(more).stdout;
        assert!(text.contains(&format!("\noutsourced: {WARNING}")), "{text}");
    }
    let without = plan(&["--protocol", "authenticated"]).stdout;
    assert!(!without.contains("must not collude"), "{without}");
}

#[test]
fn every_party_sees_the_condition_and_a_client_sends_the_expected_bytes() {
    let folder = Folder::new("outsourced");
    let peers = peers_file(&folder, None);
    let party = |party: usize| {
        let number = party.to_string();
        let more = ["--party", &number, "--peers", &peers, "--insecure-plain-tcp"];
        let json: &[&str] = if party == 1 { &["--json"] } else { &[] };
        start(&[&["run"], &AUCTION[..], &more, INPUTS[party], json].concat())
    };
    let [cloud, client, generator] = [2, 1, 0].map(party).map(finish);
    for (server, learned) in [(&generator, "price = 455\n"), (&cloud, "")] {
        assert_eq!((server.status, &server.stdout[..]), (Some(0), learned), "{}", server.stderr);
        assert!(server.stderr.contains(WARNING), "{}", server.stderr);
    }
    let report = client.json();
    assert_eq!(report["outputs"]["house1_wins"]["value"], true);
    assert_eq!(report["security"]["collusion"], "both-servers");
    assert_clients_bytes(&report["per_party"][0]);
}

#[test]
fn over_yao_results_and_plans_say_that_parties_must_be_semi_honest() {
    let yao = ["--param", "base=yao"];
    let report = garblet(&[&["local"], &AUCTION[..], INPUTS[0], INPUTS[1], &yao, &["--json"]].concat()).json();
    assert_eq!((&report["adversary"], &report["outputs"]["price"]["value"]), (&json!("semi-honest"), &json!(455)));
    assert_eq!(report["security"]["collusion"], "both-servers");
    assert!(report["security"]["cheating_log2"].is_null(), "{report}");
    assert_clients_bytes(&report["per_party"][1]);
    let plan = garblet(&[&["plan", AUCTION[0], "--protocol", "outsourced"][..], &yao].concat());
    assert!(plan.stdout.contains("\noutsourced (semi-honest)\n"), "{}", plan.stdout);
    let asked = garblet(&[&["local"], &AUCTION[..], &yao, &["--adversary", "malicious"]].concat());
    asked.fails(
        2,
        "error: --adversary malicious: with these parameters outsourced is only secure against semi-honest parties\n\
         hint: without --param it is secure against malicious parties\n",
    );
}

#[test]
fn over_circuits_clients_send_the_same_and_the_circuits_set_the_bound() {
    let circuits = ["--param", "base=cut-and-choose", "--param", "statistical=80", "--json"];
    let report = garblet(&[&["local"], &AUCTION[..], INPUTS[0], INPUTS[1], &circuits].concat()).json();
    assert_eq!((&report["adversary"], &report["parameters"]["circuits"]), (&json!("malicious"), &json!("256")));
    assert!(report["security"]["cheating_log2"].as_f64().is_some_and(|log2| log2 <= -80.0), "{report}");
    assert_eq!(report["outputs"]["price"]["value"], 455);
}

#[test]
fn bases_without_states_refuse_stores() {
    let folder = Folder::new("no-stores");
    let store = folder.path("store");
    let expected = "error: --store, --keep, --read: outsourced saves nothing in a store with these parameters\n\
                    hint: without --param it does\n";
    for base in ["base=yao", "base=cut-and-choose"] {
        let stores = ["--param", base, "--store", &store, "--top-up", "--to", "price=nobody", "--keep", "total"];
        garblet(&[&["local"], &AUCTION[..5], &["--to", "house1_wins=1"], &stores].concat()).fails(2, expected);
    }
}

#[test]
fn a_number_of_parties_without_a_client_is_refused() {
    let local = |parties: &str| garblet(&[&["local"], &AUCTION[..], &["--parties", parties]].concat());
    for parties in ["2", "11"] {
        let expected = format!("error: --parties {parties}: expected 3 to 10, the number for outsourced\n");
        local(parties).fails(2, &expected);
    }
}

#[test]
fn states_stay_with_the_servers_until_one_closes_them() {
    let folder = Folder::new("states");
    let (two, one) = (folder.file("two.json", r#"{"a": 5, "b": 9}"#), folder.file("one.json", r#"{"b": 30}"#));
    let stores = folder.path("stores");
    let run = |more: &[&str]| {
        let add =
            ["local", "lib:add(8)", "--protocol", "outsourced", "--parties", "3", "--owner", "a=1", "--owner", "b=1"];
        let stock = ["--store", &stores, "--top-up", "--json"];
        garblet(&[&add[..], &stock, more].concat())
    };
    let keep = ["--to", "sum=nobody", "--keep", "total"];
    let first = run(&[&keep[..], &["--input", &format!("1={two}")]].concat()).json();
    assert_eq!(first["outputs"]["sum"]["value"], Value::Null, "{first}");
    run(&[&keep[..], &["--read", "a=total", "--input", &format!("1={one}")]].concat()).json();
    let show = ["--to", "sum=1", "--read", "a=total.sum", "--input", &format!("1={one}")];
    assert_eq!(run(&show).json()["outputs"]["sum"]["value"], 74);
    let kept =
        |party: u16| garblet(&["store", "list", &format!("{stores}/party-{party}"), "--json"]).json()["kept"].clone();
    let state = |closed: bool| {
        json!([{ "name": "total", "outputs": if closed { json!([]) } else { json!(["sum"]) },
        "unended": 0, "state": { "version": 2, "closed": closed } }])
    };
    assert_eq!((kept(0), kept(1), kept(2)), (state(false), json!([]), state(false)));

    let cloud = format!("{stores}/party-2");
    assert_eq!(garblet(&["store", "close", &cloud, "total", "--json"]).json(), json!({ "closed": "total" }));
    let failed = run(&show);
    assert_eq!(failed.status, Some(1), "{}", failed.stdout);
    assert!(
        failed.stdout.contains("state `total`: expected one that can be used, got one that is closed"),
        "{}",
        failed.stdout
    );
    assert_eq!((kept(0), kept(2)), (state(true), state(true)));
    let odd = garblet(&["store", "close", &cloud, "sum"]);
    assert!(odd.stderr.contains("has no state `sum`") && odd.stderr.contains("hint: it has total"), "{}", odd.stderr);
    let nothing = run(&["--to", "sum=1", "--keep", "new", "--input", &format!("1={two}")]);
    assert!(nothing.stdout.contains("an output that nobody learns (`--to OUTPUT=nobody`)"), "{}", nothing.stdout);
}
