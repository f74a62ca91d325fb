//! Receipt logs that are torn, changed, and written by several processes that are killed.

#[cfg(target_os = "linux")]
mod room;
mod sample;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use garblet::{Class, Protocol, circuit::diagnostic::controls_terminal, run_report::PeerPart};

use super::{
    Ended, Receipt, Transcript,
    chain::{self, Head, Link},
    log::Log,
    room::RECEIPT_BYTES,
    text::LogText,
};
use crate::failure::Failure;

use sample::receipt;

/// The environment variable that names the log for a child process of the test.
const CHILD: &str = "GARBLET_TEST_RECEIPTS";

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("receipts.jsonl");
    (folder, path)
}

/// A log with three receipts, and its text.
fn three() -> (tempfile::TempDir, PathBuf, String) {
    let (folder, path) = scratch();
    let log = Log::open(&path).expect("made");
    for number in 1..=3 {
        assert_eq!(log.append(&receipt(number)), Ok(number));
    }
    let text = fs::read_to_string(&path).expect("a log");
    (folder, path, text)
}

fn read(text: &str) -> Result<(Vec<Link>, Head, u64), chain::Broken> {
    let mut links = Vec::new();
    let (head, torn) = chain::read(text.as_bytes(), |link, _| links.push(link))?;
    Ok((links, head, torn))
}

#[test]
fn receipts_read_back_as_written_and_only_their_owner_can_read_them() {
    let (_folder, path, text) = three();
    let (links, head, torn) = read(&text).expect("a chain");
    let receipts: Vec<Receipt> = links.into_iter().map(|link| link.receipt).collect();
    assert_eq!((receipts, head.number, torn), ((1..=3).map(receipt).collect(), 3, 0));
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).expect("there").permissions()) & 0o777,
        0o600
    );
}

#[test]
fn a_log_that_is_kept_as_a_text_has_the_lines_of_the_file() {
    let (_folder, path, text) = three();
    let mut kept = LogText::read("log", "").expect("a new log");
    for number in 1..=3 {
        let (link, digest) = kept.add(&receipt(number)).expect("added");
        assert_eq!((link.number, link.receipt), (number, receipt(number)));
        assert!(kept.text().ends_with(&format!("\"{}\"}}\n", crate::hex::to_hex(&digest))));
    }
    assert_eq!(kept.text(), text);
    assert_eq!(Log::open(&path).expect("it can be added to").append(&receipt(4)), Ok(4));
    let four = fs::read_to_string(&path).expect("a log");
    let two = text.trim_end().rfind('\n').expect("three lines") + 1;
    // Its end may be lost, and its last line torn.
    for cut in [text.len(), text.len() - 1, two] {
        let mut kept = LogText::read("log", &text[..cut]).expect("a log");
        if cut == two {
            kept.add(&receipt(3)).expect("added");
        }
        kept.add(&receipt(4)).expect("added");
        assert_eq!(kept.text(), four, "{cut}");
    }
    let torn = LogText::read("log", &text[..text.len() - 9]).expect("a log");
    assert_eq!(torn.text(), &text[..two]);
    let changed = LogText::read("log", &text.replacen("\"party\":0", "\"party\":1", 1)).err().expect("refused");
    assert!(changed.message.starts_with("log:1: it was changed: its digest is "), "{}", changed.message);
}

#[test]
fn a_torn_last_line_is_cut_off_and_the_chain_continues() {
    let (_folder, path, text) = three();
    let two = text.trim_end().rfind('\n').expect("three lines") + 1;
    for cut in two..text.len() - 1 {
        fs::write(&path, &text[..cut]).expect("written");
        assert_eq!(read(&text[..cut]).map(|(_, head, torn)| (head.number, torn)), Ok((2, (cut - two) as u64)));
        let log = Log::open(&path).expect("it can be added to");
        assert_eq!(log.append(&receipt(4)), Ok(3), "cut at {cut}");
        let (links, head, torn) = read(&fs::read_to_string(&path).expect("a log")).expect("a chain");
        assert_eq!((links[2].receipt.bytes_sent, head.number, torn), (4, 3, 0));
    }
    // Also if it is the first line.
    let first = text.find('\n').expect("a line");
    fs::write(&path, &text[..first - 1]).expect("written");
    assert_eq!(Log::open(&path).expect("it can be added to").append(&receipt(5)), Ok(1));
    assert!(read(&fs::read_to_string(&path).expect("a log")).is_ok_and(|(_, head, _)| head.number == 1));
}

#[test]
fn a_last_receipt_without_line_end_is_kept() {
    let (_folder, path, text) = three();
    for lines in [1, 3] {
        let whole: Vec<&str> = text.lines().take(lines).collect();
        let whole = whole.join("\n");
        fs::write(&path, &whole).expect("written");
        assert_eq!(
            read(&whole).map(|(links, head, torn)| (links.len(), head.number, torn)),
            Ok((lines, lines as u64, 0))
        );
        let log = Log::open(&path).expect("it can be added to");
        assert_eq!(log.append(&receipt(7)), Ok(lines as u64 + 1));
        let added = fs::read_to_string(&path).expect("a log");
        assert!(added.starts_with(&format!("{whole}\n{{\"format\":1,\"number\":")) && added.ends_with('\n'), "{added}");
        assert!(read(&added).is_ok_and(|(links, ..)| links[lines].receipt == receipt(7)));
    }
}

#[test]
fn text_that_begins_no_receipt_is_left_unchanged() {
    let (_folder, path, text) = three();
    let lines: Vec<&str> = text.lines().collect();
    let behind = |tail: &str| [text.as_bytes(), tail.as_bytes()].concat();
    for (content, says) in [
        (vec![7; 32], "not a receipt after receipt 0, nor the beginning of one"),
        (b"{\"peers\":{}}".to_vec(), "not a receipt after receipt 0"),
        (vec![b'x'; chain::LINE_BYTES_MAX + 1], "longer than"),
        (behind("hello"), "not a receipt after receipt 3"),
        // Receipts from other positions, whole and in part.
        (behind(lines[0]), "not a receipt after receipt 3"),
        (behind(&lines[2][..100]), "not a receipt after receipt 3"),
        (behind("\0"), "not a receipt after receipt 3"),
        // The last one, changed and without line end.
        (text.trim_end().replace("\"bytes_sent\":3", "\"bytes_sent\":4").into(), "it was changed"),
    ] {
        fs::write(&path, &content).expect("written");
        let failure = Log::open(&path).err().expect("refused");
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(fs::read(&path).expect("a log") == content, "it stays as it is");
        let broken = chain::read(&content[..], |_, _| ()).expect_err("found");
        assert!(broken.to_string().contains(says), "{broken}");
    }
}

#[test]
fn a_receipt_that_is_too_long_is_written_without_outputs() {
    let (_folder, path, _) = three();
    let log = Log::open(&path).expect("it can be added to");
    let outputs = |chars: usize| {
        let value = serde_json::Value::from("7".repeat(chars));
        Receipt { outputs: Some([("out".to_string(), value)].into_iter().collect()), ..receipt(4) }
    };
    assert_eq!(log.append(&outputs(chain::LINE_BYTES_MAX - 2_000)), Ok(4));
    assert_eq!(log.append(&outputs(chain::LINE_BYTES_MAX)), Ok(5));
    let (links, ..) = read(&fs::read_to_string(&path).expect("a log")).expect("a chain");
    assert_eq!([3, 4].map(|at: usize| links[at].receipt.outputs.is_some()), [true, false]);
    assert_eq!(links[4].receipt, receipt(4));
}

#[test]
fn a_receipt_without_outputs_has_room_whatever_is_in_it() {
    let digest = "ab".repeat(32);
    let most = Protocol::ALL.iter().map(|protocol| *protocol.parties().end()).max().expect("there are protocols");
    let peers =
        (1..most).map(|party| PeerPart { party, name: Some("\\".repeat(100)), fingerprint: Some(digest.clone()) });
    let message = Failure::no_result("\u{1f600}".repeat(10_000));
    let receipt = Receipt {
        parties: most,
        peers: peers.collect(),
        ended: Ended::of(Err(&message)),
        keep: Some("k".repeat(64)),
        read: (0..64).map(|port| format!("{port:064}={}", "v".repeat(129))).collect(),
        transcripts: (1..most)
            .map(|party| Transcript { party, sent: digest.clone(), received: digest.clone() })
            .collect(),
        ..receipt(1)
    };
    let line = chain::line_behind(Head::NONE, &receipt).expect("written").0;
    assert!(line.len() as u64 <= RECEIPT_BYTES, "{} bytes for {most} parties", line.len());
}

#[test]
fn texts_from_a_peer_cannot_control_the_terminal() {
    let forged = "\u{1b}[2K\u{1b}[1A\nours 7 and theirs 7: the same run\u{9b}1A\u{202e}";
    let mut receipt = receipt(1);
    receipt.time = forged.into();
    receipt.ended = Ended::Failed { class: Class::Other, message: forged.into() };
    receipt.peers = vec![PeerPart { party: 1, name: Some(forged.into()), fingerprint: None }];
    receipt.parameters.insert(forged.into(), forged.into());
    let line = chain::line_behind(Head::NONE, &receipt).expect("written").0;
    let link = chain::read_line(line.as_bytes()).expect("a receipt").0;
    let shown = serde_json::to_string(&link).expect("text");
    assert!(shown.contains("ours 7 and theirs 7"), "{shown}");
    assert_eq!(shown.find(controls_terminal), None, "{shown:?}");
    // The same holds for the error about a wrong line.
    let text = serde_json::to_string(forged).expect("text");
    let object = serde_json::to_string(&link).expect("text").replacen("\"other\"", &text, 1);
    let wrong = chain::read_line(chain::with_digest(&object).0.as_bytes()).expect_err("no class").to_string();
    assert!(wrong.contains("unknown variant") && !wrong.contains(controls_terminal), "{wrong:?}");
}

#[test]
fn a_change_of_any_byte_is_detected() {
    let (_folder, _, text) = three();
    let second = text.find('\n').expect("a line") + 1;
    let third = text.trim_end().rfind('\n').expect("a line") + 1;
    // The lowest bit, and the one that changes the case of letters.
    for (at, bit) in (0..third).flat_map(|at| [(at, 1), (at, 0x20)]) {
        let mut changed = text.clone().into_bytes();
        changed[at] ^= bit;
        let Ok(changed) = String::from_utf8(changed) else { continue };
        let line = read(&changed).expect_err("found").line;
        assert_eq!(line, if at < second { 1 } else { 2 }, "byte {at}");
    }
}

#[test]
fn dropped_moved_repeated_and_rewritten_lines_are_detected() {
    let (_folder, _, text) = three();
    let lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    let of = |numbers: &[usize]| numbers.iter().map(|number| lines[number - 1].clone()).collect::<String>();
    for (log, line, what) in [
        (of(&[2, 3]), 1, "it is receipt 2, expected 1"),
        (of(&[1, 3]), 2, "it is receipt 3, expected 2"),
        (of(&[2, 1, 3]), 1, "it is receipt 2, expected 1"),
        (of(&[1, 2, 2, 3]), 3, "it is receipt 2, expected 3"),
    ] {
        let broken = read(&log).expect_err("found");
        assert_eq!(broken.line, line);
        assert!(broken.fault.to_string().starts_with(what), "{broken}");
    }
    // Another second receipt, with a correct digest.
    let head = Head { number: 1, digest: chain::read_line(lines[0].trim_end().as_bytes()).expect("a receipt").1 };
    let forged = chain::line_behind(head, &receipt(7)).expect("written").0;
    let broken = read(&format!("{}{forged}\n{}", lines[0], lines[2])).expect_err("found");
    assert_eq!(broken.line, 3);
    assert!(broken.to_string().contains("the log before it was changed"), "{broken}");
}

/// A later version computes another digest, so this one must not say that somebody changed the line.
#[test]
fn receipts_of_a_later_format_are_named_and_left_unchanged() {
    let (_folder, path, text) = three();
    let third = text.trim_end().rfind('\n').expect("three lines") + 1;
    let later = text[third..].replacen("{\"format\":1,", "{\"format\":2,\"place\":\"here\",", 1);
    for content in [
        format!("{}{later}", &text[..third]),
        format!("{}{}", &text[..third], later.trim_end()),
        format!("{}{}", &text[..third], &later[..20]),
        format!("{text}{later}"),
    ] {
        fs::write(&path, &content).expect("written");
        let failure = Log::open(&path).err().expect("refused");
        let said = "is of format 2, this Garblet reads format 1";
        assert!(failure.message.ends_with(&format!("receipts.jsonl: the last line: {said}")), "{}", failure.message);
        assert_eq!(failure.hint.as_deref(), Some("a later version wrote it: update Garblet"));
        assert_eq!(fs::read_to_string(&path).expect("a log"), content, "it stays as it is");
        let failure = super::log::read_all(&path, &[]).expect_err("refused");
        assert!(failure.message.ends_with(said), "{}", failure.message);
        assert_eq!(failure.hint.as_deref(), Some("a later version wrote it: update Garblet"));
    }
    // A line that says so in its middle is of the format that it begins with.
    let broken = read(&text.replacen("\"party\":0", "\"format\":2,\"party\":0", 1)).expect_err("found");
    assert!(broken.to_string().contains("it was changed"), "{broken}");
}

#[test]
fn a_receipt_that_says_something_twice_is_refused() {
    let (_folder, path, text) = three();
    let first = text.lines().next().expect("a receipt");
    let (content, _) = first.rsplit_once(",\"digest\"").expect("a digest");
    for (more, twice) in [
        (",\"bytes_sent\":7", "bytes_sent"),
        (",\"party\":0", "party"),
        (",\"digest\":\"0\"", "digest"),
        (",\"outputs\":{\"a\":1,\"b\":2,\"a\":3}", "a"),
    ] {
        let (line, _) = chain::with_digest(&format!("{content}{more}}}"));
        let broken = chain::read(format!("{line}\n").as_bytes(), |_, _| ()).expect_err("refused");
        let says = format!("1: not a receipt: the field `{twice}` is there twice");
        assert!(broken.to_string().starts_with(&says), "{broken}");
        fs::write(&path, format!("{line}\n")).expect("written");
        let failure = Log::open(&path).err().expect("refused");
        assert!(failure.message.contains(&says[3..]), "{}", failure.message);
    }
}

#[test]
fn a_receipt_states_its_format_once_and_first() {
    let (_folder, path, text) = three();
    let first = text.lines().next().expect("a receipt");
    let (content, _) = first.rsplit_once(",\"digest\"").expect("a digest");
    let behind = content.strip_prefix("{\"format\":1,").expect("its format");
    let (_, fields) = behind.split_once(',').expect("fields");
    for (begins, says) in [
        (format!("{{\"number\":1,\"format\":7,{fields}"), "begin with its format"),
        (format!("{{ \"format\":9,{behind}"), "begin with its format"),
        (format!("{{\"format\":1,\"format\":2,{behind}"), "the field `format` is there twice"),
        (format!("{{\"format\": 0,{behind}"), "begin with its format"),
        (format!("{{\"format\":99999999999999999999,{behind}"), "its format is no number"),
        (format!("{{\"format\":,{behind}"), "its format is no number"),
    ] {
        let (line, _) = chain::with_digest(&format!("{begins}}}"));
        fs::write(&path, format!("{line}\n")).expect("written");
        let failure = Log::open(&path).err().expect("refused");
        assert!(failure.message.contains(says), "{begins}: {}", failure.message);
    }
}

#[test]
fn a_log_with_a_damaged_last_line_is_not_extended() {
    let (_folder, path, text) = three();
    for damaged in [text.replace("\"bytes_sent\":3", "\"bytes_sent\":4"), format!("{text}hello\n"), format!("{text}\n")]
    {
        fs::write(&path, &damaged).expect("written");
        let failure = Log::open(&path).err().expect("refused");
        assert!(failure.message.contains("receipts.jsonl: the last line: "), "{}", failure.message);
        assert_eq!(fs::read_to_string(&path).expect("a log"), damaged, "it stays as it is");
    }
}

#[test]
fn the_greatest_number_has_no_next_one() {
    let (_folder, path, text) = three();
    let line = text.lines().next().expect("a receipt");
    let (object, _) = line.rsplit_once(",\"digest\"").expect("it ends with its digest");
    let numbered = |number: u64| {
        let numbered = format!("{object}}}").replace("\"number\":1,", &format!("\"number\":{number},"));
        format!("{}\n", chain::with_digest(&numbered).0)
    };
    let log = Log::open(&path).expect("three receipts");
    let is_refused = |says: &str| {
        let before = fs::read(&path).expect("a log");
        for failure in [Log::open(&path).map(drop), log.append(&receipt(4)).map(drop)] {
            let failure = failure.expect_err("refused");
            assert!(failure.message.contains(&format!("the last line: {says}")), "{}", failure.message);
        }
        assert!(fs::read(&path).expect("a log") == before, "nothing is written");
    };
    fs::write(&path, numbered(u64::MAX)).expect("written");
    is_refused("not a receipt: its number has no next one");
    fs::write(&path, numbered(u64::MAX - 2)).expect("written");
    assert_eq!(log.append(&receipt(4)), Ok(u64::MAX - 1));
    let text = fs::read_to_string(&path).expect("a log");
    for whole in [&text, text.trim_end()] {
        fs::write(&path, whole).expect("written");
        is_refused("no receipt can follow it: it has the greatest number");
    }
}

#[test]
fn threads_of_one_process_add_receipts_in_turn() {
    let (_folder, path) = scratch();
    let log = Log::open(&path).expect("made");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..5 {
                    log.append(&receipt(thread * 5 + number)).expect("added");
                }
            });
        }
    });
    let (links, head, torn) = read(&fs::read_to_string(&path).expect("a log")).expect("a chain");
    let mut added: Vec<u64> = links.iter().map(|link| link.receipt.bytes_sent).collect();
    added.sort_unstable();
    assert_eq!((added, head.number, torn), ((0..40).collect(), 40, 0));
}

/// The entry point of a child process that adds receipts until it is killed; does nothing in a normal test run.
#[test]
#[allow(clippy::print_stdout)]
fn child() -> Result<(), Failure> {
    let Some(path) = std::env::var_os(CHILD) else { return Ok(()) };
    let log = Log::open(Path::new(&path))?;
    for number in 0.. {
        println!("added {}", log.append(&receipt(number))?);
    }
    Ok(())
}

fn start(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "receipts::tests::child", "--nocapture"]).env(CHILD, path);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Kills a process and returns the number of the last receipt that it reported.
fn kill(mut child: Child) -> u64 {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let said = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    said.filter_map(|line| line.strip_prefix("added ")?.parse().ok()).last().unwrap_or(0)
}

#[test]
fn added_receipts_survive_killed_processes() {
    let (_folder, path) = scratch();
    let times = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 100 } else { 8 };
    let mut added = 0;
    for time in 0..times {
        // Two at once, so that one may be killed while the other waits for its lock.
        let children = [start(&path), start(&path)];
        std::thread::sleep(Duration::from_millis(150 + 7 * time % 50));
        let said = children.map(kill);
        let (links, head, _) = read(&fs::read_to_string(&path).expect("a log")).expect("a chain");
        assert!(head.number >= said[0].max(said[1]).max(added), "{said:?}, {head:?}");
        assert_eq!(links.len() as u64, head.number);
        added = head.number;
    }
    assert!(added > times, "{added} receipts");
    let log = Log::open(&path).expect("it can be added to");
    assert_eq!(log.append(&receipt(0)), Ok(added + 1));
    assert!(read(&fs::read_to_string(&path).expect("a log")).is_ok_and(|(.., torn)| torn == 0));
}

#[test]
fn a_receipt_is_written_when_no_file_can_be_opened() {
    const NAME: &str = "receipts::tests::a_receipt_is_written_when_no_file_can_be_opened";
    const LIMITED: &str = "GARBLET_TEST_RECEIPTS_LIMITED";
    let Some(path) = std::env::var_os(LIMITED) else {
        // The limit holds for a whole process, so a process of its own does this.
        let (_folder, path) = scratch();
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        let ran = child.args(["--exact", NAME]).env(LIMITED, &path).output().expect("it starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        let text = fs::read_to_string(path).expect("a log");
        return assert!(read(&text).is_ok_and(|(_, head, _)| head.number == 3), "{text}");
    };
    let path = PathBuf::from(path);
    let log = Log::open(&path).expect("made");
    assert_eq!(log.append(&receipt(1)), Ok(1));
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let none = rustix::process::Rlimit { current: Some(0), ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, none).expect("it may be lowered");
    assert!(fs::File::open(&path).is_err(), "no file can be opened");
    assert_eq!(log.append(&receipt(2)), Ok(2));
    assert_eq!(log.has(|receipt| receipt.bytes_sent == 2), Ok(true));
    assert_eq!(log.append(&receipt(3)), Ok(3));
}

#[test]
fn a_log_that_was_moved_away_is_begun_again() {
    let (folder, path) = scratch();
    let log = Log::open(&path).expect("made");
    assert_eq!(log.append(&receipt(1)), Ok(1));
    fs::rename(&path, folder.path().join("old")).expect("moved");
    assert_eq!(log.append(&receipt(2)), Ok(1));
    assert!(read(&fs::read_to_string(&path).expect("a log")).is_ok_and(|(_, head, _)| head.number == 1));
}
