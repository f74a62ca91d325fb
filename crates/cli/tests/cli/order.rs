//! Lists whose order a program relies on.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{
    invocation::{Folder, Ran, garblet},
    records::differing,
};

const SUM: &str = "lib:intersection-sum(8,8,16,16)";

const SALES: &str = "key,value\n40,5\n9,100\n\n40,7\n300,1\n";

/// Party 0 asks for these keys; party 1 has these rows.
fn sum(command: &str, rows: &str, more: &[&str]) -> Ran {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let folder = Folder::new(&format!("order-{}", CALLS.fetch_add(1, Ordering::Relaxed)));
    let asked = format!("0={}", folder.file("asked.json", "{\"a\": [9, 40]}"));
    let rows = format!("1={}", folder.file("sales.csv", rows));
    garblet(&[&[command, SUM, "--input", &asked, "--input", &rows], more].concat())
}

fn refused(ran: &Ran, message: &str, hint: &str) {
    assert_eq!((ran.status, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].ends_with(message), "{}", ran.stderr);
    assert!(lines[1].starts_with(&format!("hint: {hint}")) && lines.len() == 2, "{}", ran.stderr);
    // Before the file's name stands a folder's, with the number of a process.
    let said = ran.stderr.rsplit_once(".csv").map_or(&ran.stderr[..], |(_, said)| said);
    assert!(!said.contains("300") && !said.contains("40"), "{}", ran.stderr);
}

#[test]
fn an_unordered_list_is_refused_with_its_line() {
    for command in ["eval", "local"] {
        let unsorted = sum(command, SALES, &[]);
        let message = "sales.csv:3: input `b`, row 2: expected ascending order, each key once, got a lesser key than in the previous row";
        refused(&unsorted, message, "--sort sorts the rows by key; --as-empty ");
    }
    let sorted = "key,value\n9,100\n\n40,5\n40,7\n";
    let message =
        "sales.csv:5: input `b`, row 3: expected ascending order, each key once, got the key of the previous row again";
    refused(&sum("eval", sorted, &[]), message, "--sum-by-key merges rows with the same key");
    let json = "{\n\"a\": [3,\n2]\n}";
    let folder = Folder::new("order-json");
    let a = format!("0={}", folder.file("a.json", json));
    let b = format!("1={}", folder.file("b.json", "{\"b\": []}"));
    let ran = garblet(&["eval", SUM, "--input", &a, "--input", &b]);
    assert!(ran.stderr.contains("a.json:3: input `a`, row 2: "), "{}", ran.stderr);
    assert_eq!(ran.status, Some(2));
}

#[test]
fn an_unordered_list_is_refused_before_the_peer_is_met() {
    let folder = Folder::new("order-run");
    let rows = format!("1={}", folder.file("sales.csv", SALES));
    let call = ["run", SUM, "--party", "1", "--insecure-plain-tcp", "--input", &rows, "--timeout", "300ms"];
    let alone = |more: &[&str]| garblet(&[&call[..], &["--connect", "127.0.0.1:1"], more].concat());
    refused(&alone(&[]), "a lesser key than in the previous row", "--sort sorts");
    // In order, it looks for the peer.
    let fit = alone(&["--sum-by-key"]);
    assert_eq!(fit.status, Some(1), "{}", fit.stderr);
    assert!(fit.stderr.contains("has 4 rows with 3 keys") && fit.stderr.contains("127.0.0.1:1"), "{}", fit.stderr);
}

#[test]
fn rows_are_sorted_or_added_up_on_request() {
    let plain = "size = 2\nsum = 112\nin_order = true\n";
    for command in ["eval", "local"] {
        let ran = sum(command, SALES, &["--sum-by-key"]);
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), plain), "{}", ran.stderr);
        assert!(ran.stderr.contains("note: ") && ran.stderr.contains("4 rows with 3 keys"), "{}", ran.stderr);
    }
    let once = SALES.replace("40,7\n", "41,7\n");
    assert_eq!(sum("eval", &once, &["--sort"]).stdout, "size = 2\nsum = 105\nin_order = true\n");
    refused(
        &sum("eval", SALES, &["--sort"]),
        "sales.csv:5: input `b`, row 3: expected each key once, got the key of row 1 again",
        "--sum-by-key",
    );
    let large = "key,value\n40,65535\n40,1\n";
    let message =
        "sales.csv:3: input `b`, row 2: the sum of `value` over the rows up to this one with its key does not fit u16";
    let ran = sum("eval", large, &["--sum-by-key"]);
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(ran.status, Some(2));
}

#[test]
fn an_unordered_list_counts_as_empty_on_request() {
    let ran = sum("eval", SALES, &["--as-empty"]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "size = 0\nsum = 0\nin_order = false\n"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the program ignores this list, or this row of it: input `b`, row 2: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn options_for_order_are_refused_if_no_program_relies_on_it() {
    let folder = Folder::new("order-none");
    let [a, b] = [("a", 0), ("b", 1)].map(|(name, party)| {
        format!("{party}={}", folder.file(&format!("{name}.json"), &format!("{{\"{name}\": 3}}")))
    });
    let call = ["eval", "lib:add(8)", "--input", &a, "--input", &b];
    for option in ["--sort", "--sum-by-key", "--as-empty"] {
        let ran = garblet(&[&call[..], &[option]].concat());
        let message =
            format!("error: {option}: the program does not rely on the order of these inputs\nhint: leave it out\n");
        ran.fails(2, &message);
    }
}

#[test]
fn lists_in_batches_are_checked_row_by_row() {
    let folder = Folder::new("order-batch");
    let a = format!("0={}", folder.file("a.csv", "a\n\"[1, 2]\"\n\"[2, 1]\"\n"));
    let b = format!("1={}", folder.file("b.csv", "b\n\"[3]\"\n\"[4]\"\n"));
    let call = ["eval", "lib:quantile(2,2,8,0)", "--batch", "rows", "--input", &a, "--input", &b];
    let ran = garblet(&call);
    assert!(ran.stderr.contains("a.csv:3: input `a` of run 2, row 2: expected ascending order"), "{}", ran.stderr);
    assert_eq!(ran.status, Some(2));
    let sorted = garblet(&[&call[..], &["--sort"]].concat());
    assert_eq!(sorted.status, Some(0), "{}", sorted.stderr);
    assert_eq!(sorted.stdout.matches("\"value\":1").count(), 2, "{}", sorted.stdout);
}

#[test]
fn text_keys_are_hashed_alike_under_a_job() {
    let folder = Folder::new("order-hashed");
    let sum = "lib:intersection-sum(8,8,64,16)";
    let asked = format!("0={}", folder.file("asked.csv", "mail\nCleo@x.org\n anna@X.org \n"));
    let rows = "when,mail,paid\n1,anna@x.org,5\n2,bert@x.org,7\n3,ANNA@x.org,20\n";
    let rows = format!("1={}", folder.file("sales.csv", rows));
    let inputs = [
        "--input",
        &asked,
        "--column",
        "0:a=mail",
        "--input",
        &rows,
        "--column",
        "1:key=mail",
        "--column",
        "1:value=paid",
    ];
    let more = ["--hash-keys", "email", "--sum-by-key"];
    let plain = "size = 1\nsum = 25\nin_order = true\n";
    let ran = garblet(&[&["eval", sum], &inputs[..], &more].concat());
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), plain), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: keys are hashed to 64 bits: with at most 64 pairs of keys"), "{}", ran.stderr);
    assert!(ran.stderr.contains("at most 2^-58.0"), "{}", ran.stderr);
    let job = folder.path("sum.toml");
    let new =
        ["job", "new", sum, "--protocol", "yao", "--party", "a", "--party", "b", "--hash-keys", "email", "--out", &job];
    let made = garblet(&new);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    assert!(std::fs::read_to_string(&job).expect("written").contains("hash_keys = \"email\""));
    let ran = garblet(&[&["local", "--job", &job, "--sum-by-key"], &inputs[..]].concat());
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), plain), "{}", ran.stderr);
    let both = garblet(&[&["local", "--job", &job], &inputs[..], &more].concat());
    assert!(
        both.status == Some(2) && both.stderr.starts_with("error: --hash-keys email: the job decides"),
        "{}",
        both.stderr
    );
    // With a peer, nothing would ensure that both hash alike.
    let run = ["run", sum, "--party", "1", "--insecure-plain-tcp", "--connect", "127.0.0.1:1", "--input", &rows];
    let alone =
        garblet(&[&run[..], &["--column", "key=mail", "--column", "value=paid", "--hash-keys", "email"]].concat());
    assert!(alone.status == Some(2) && alone.stderr.contains("all parties must hash keys alike"), "{}", alone.stderr);
    let wrong = format!("1={}", folder.file("wrong.csv", "key,value\nanna@x.org,1\nnobody,2\n"));
    let call =
        ["eval", sum, "--input", &asked, "--column", "0:a=mail", "--input", &wrong, "--hash-keys", "email", "--sort"];
    let ran = garblet(&call);
    assert!(
        ran.stderr.contains("wrong.csv:3: input `b`, row 2: expected an e-mail address, got another text"),
        "{}",
        ran.stderr
    );
    assert!(ran.status == Some(2) && !ran.stderr.contains("nobody"), "{}", ran.stderr);
    let none = garblet(&[
        "job",
        "new",
        "lib:add(8)",
        "--party",
        "a",
        "--party",
        "b",
        "--hash-keys",
        "uuid",
        "--out",
        &folder.path("x.toml"),
    ]);
    assert!(none.stderr.contains("--hash-keys: the program matches no lists by a key"), "{}", none.stderr);
}

/// A program as a file, once with another order of one input, and once unchanged.
fn reordered(folder: &Folder, program: &str, input: &str, orders: [&str; 2]) -> [String; 2] {
    let files = [folder.path("one.json"), folder.path("other.json")];
    let ran = garblet(&["convert", program, &files[0]]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(&files[0]).expect("written");
    let change = |line: &str| match line.trim_start().starts_with(&format!("\"{input}\": {{")) {
        true => line.replace(orders[0], orders[1]),
        false => line.into(),
    };
    let changed: Vec<String> = text.lines().map(change).collect();
    assert_ne!(changed.join("\n"), text.trim_end());
    folder.file("other.json", &changed.join("\n"));
    files
}

#[test]
fn a_different_order_of_inputs_makes_a_different_program() {
    for (name, program, input, orders) in [
        // One party would hash texts, the other would use numbers.
        ("keys", "lib:intersection-sum(4,4,32,32)", "b", ["\"order\":\"ascending once\",", ""]),
        ("ranks", "lib:quantile(4,4,8,500)", "b", ["ascending", "descending"]),
        ("limits", "lib:group-sum(4,4,8)", "groups", ["\"below\":4", "\"below\":3"]),
    ] {
        let folder = Folder::new(&format!("order-digest-{name}"));
        let files = reordered(&folder, program, input, orders);
        let digests = files.clone().map(|file| garblet(&["inspect", &file, "--json"]).json()["program_digest"].clone());
        assert!(digests[0].is_string() && digests[0] != digests[1], "{name}: {digests:?}");
        // A job names one of the two programs.
        let job = folder.path("job.toml");
        let made = garblet(&["job", "new", &files[0], "--party", "a", "--party", "b", "--out", &job]);
        assert_eq!(made.status, Some(0), "{}", made.stderr);
        assert_eq!(garblet(&["job", "check", &job]).status, Some(0));
        std::fs::copy(&files[1], &files[0]).expect("copied");
        let ran = garblet(&["job", "check", &job]);
        assert!(ran.status == Some(2) && ran.stderr.contains("digest"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn parties_that_rely_on_different_orders_refuse_each_other() {
    let folder = Folder::new("order-parties");
    let files = reordered(&folder, "lib:quantile(4,4,8,500)", "b", ["ascending", "descending"]);
    let a = format!("0={}", folder.file("a.json", "{\"a\": [1, 2]}"));
    let b = format!("1={}", folder.file("b.json", "{\"b\": [4, 3]}"));
    let [first, second] = differing(&[&files[0], "--input", &a], &[&files[1], "--input", &b]);
    for (ran, ours, theirs) in [(first, "ascending", "descending"), (second, "descending", "ascending")] {
        let said = format!(
            "lists: ours a in ascending order by 8 bits, b in {ours} order by 8 bits, theirs a in ascending order by 8 bits, b in {theirs} order by 8 bits"
        );
        assert!(ran.stderr.contains("the peer does not agree with us: program digest: ours "), "{}", ran.stderr);
        assert!(ran.status == Some(1) && ran.stderr.contains(&said) && ran.stdout.is_empty(), "{}", ran.stderr);
    }
}
