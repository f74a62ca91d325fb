//! Hellos that agree, differ, are malformed or are never answered.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::memory_pair;
use crate::parts::TEXT_BYTES_MAX;

fn hello(party: u16) -> Hello {
    Hello::new("yao", party, 2, [7; 32]).with("scheme", "half-gates").with("batch", 1024)
}

fn fields(differences: &[Difference]) -> Vec<&str> {
    differences.iter().map(|difference| &difference.field[..]).collect()
}

async fn talk(left: &Hello, right: &Hello) -> [Result<Hello, NetError>; 2] {
    let (mut one, mut two) = memory_pair();
    tokio::join!(left.exchange(&mut one), right.exchange(&mut two)).into()
}

#[tokio::test]
async fn parties_that_agree_learn_each_others_number() {
    let [left, right] = talk(&hello(0), &hello(1)).await;
    assert_eq!(left.expect("agrees").party, 1);
    assert_eq!(right.expect("agrees").party, 0);
}

#[tokio::test]
async fn a_hello_received_ahead_is_still_judged_by_both() {
    for (answer, agreed) in [(hello(0), true), (hello(0).with("hash", "tmmo"), false)] {
        let (mut one, mut two) = memory_pair();
        let answering = async {
            let theirs = Hello::ahead(&mut one).await.expect("a hello");
            assert_eq!((theirs.parameter("scheme"), theirs.parameter("hash")), (Some("half-gates"), None));
            answer.exchange(&mut one).await
        };
        let theirs = hello(1);
        let (answered, asked) = tokio::join!(answering, theirs.exchange(&mut two));
        assert_eq!([answered.is_ok(), asked.is_ok()], [agreed; 2]);
    }
}

#[test]
fn another_package_version_is_fine() {
    let theirs = Hello { package_version: "9.9.9".into(), ..hello(1) };
    assert_eq!(agree(&hello(0), &theirs), []);
}

#[tokio::test]
async fn both_sides_name_each_difference() {
    let cases = [
        (WIRE, Hello { wire_version: WIRE_VERSION + 1, ..hello(1) }),
        ("protocol", Hello { protocol: "gmw".into(), ..hello(1) }),
        ("number of parties", Hello { party_count: 3, ..hello(1) }),
        ("program digest", Hello { program_digest: [8; 32], ..hello(1) }),
        ("batch", Hello { parameters: hello(1).parameters[..1].to_vec(), ..hello(1) }),
        ("hash", hello(1).with("hash", "tmmo")),
        ("batch", hello(1).with("batch", 2048)),
        ("party (must differ)", hello(0)),
    ];
    for (field, theirs) in cases {
        for result in talk(&hello(0), &theirs).await {
            match result {
                Err(NetError::Incompatible { differences }) => assert_eq!(fields(&differences), [field]),
                other => panic!("{field}: expected a difference, got {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn both_sides_name_the_parts_in_which_their_programs_differ() {
    let with = |party, digest, parts: &[(&str, &str)]| {
        let parts: Vec<_> = parts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        Hello { program_digest: [digest; 32], ..hello(party) }.describing(move || parts.clone())
    };
    let left = with(0, 7, &[("source", "a"), ("constants", "N=8"), ("owners", "x of 0"), ("circuit", "1")]);
    let right = with(1, 8, &[("source", "a"), ("constants", "N=9"), ("owners", "x of 1"), ("circuit", "2")]);
    let [left, right] = talk(&left, &right).await.map(|result| result.unwrap_err().to_string());
    assert!(left.ends_with("; constants: ours N=8, theirs N=9; owners: ours x of 0, theirs x of 1"), "{left}");
    assert!(right.ends_with("; constants: ours N=9, theirs N=8; owners: ours x of 1, theirs x of 0"), "{right}");
}

fn under(hello: Hello, fields: &[(&str, &str)]) -> Hello {
    let fields: Vec<_> = fields.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    hello.under(&JobTerms { digest: format!("{fields:?}").len().to_string(), fields })
}

#[tokio::test]
async fn both_sides_name_the_fields_in_which_their_jobs_differ() {
    let left = under(hello(0), &[("name", "a"), ("const N", "8"), ("party 0", "alice"), ("owner x", "0")]);
    let right = under(hello(1), &[("name", "abc"), ("const N", "8"), ("party 0", "alice"), ("to y", "all")]);
    let [left, right] = talk(&left, &right).await.map(|result| result.unwrap_err().to_string());
    let told = "job name: ours a, theirs abc; job owner x: ours 0, theirs nothing; job to y: ours nothing, theirs all";
    assert!(left.contains("job: ours 7") && left.ends_with(told), "{left}");
    assert!(right.contains("job name: ours abc, theirs a; "), "{right}");
}

#[test]
fn a_step_given_twice_is_another_step() {
    let honest = hello(0);
    for (first, second) in [("run", "prepare"), ("prepare", "run"), ("run", "run")] {
        let twice = hello(1).with(STEP, first).with(STEP, second);
        assert_eq!(fields(&agree(&honest, &twice)), [STEP]);
        assert_eq!(fields(&agree(&twice, &honest)), [STEP]);
    }
    assert!(agree(&honest, &hello(1).with(STEP, "run")).is_empty());
}

#[tokio::test]
async fn a_job_against_none_is_a_difference_and_the_only_one() {
    let with = under(hello(0), &[("name", "a")]);
    for [left, right] in
        [[with.clone(), hello(1)], [Hello { party: 0, ..hello(1) }, Hello { party: 1, ..with.clone() }]]
    {
        for result in talk(&left, &right).await {
            match result {
                Err(NetError::Incompatible { differences }) => assert_eq!(fields(&differences), [JOB]),
                other => panic!("expected a difference, got {other:?}"),
            }
        }
    }
    assert!(talk(&with, &Hello { party: 1, ..with.clone() }).await.iter().all(Result::is_ok));
}

#[tokio::test]
async fn fields_that_repeat_a_difference_are_left_out() {
    let with = |party, digest, constant: &str, name: &str| {
        let constants = vec![("constants".to_string(), format!("N={constant}"))];
        let hello = Hello { program_digest: [digest; 32], ..hello(party) }.describing(move || constants.clone());
        under(hello, &[("name", name), ("const N", constant), ("program", constant)])
    };
    let [left, _] = talk(&with(0, 7, "8", "a"), &with(1, 8, "9", "abc")).await;
    match left {
        Err(NetError::Incompatible { differences }) => {
            assert_eq!(fields(&differences), ["program digest", JOB, "constants", "job name"]);
        }
        other => panic!("expected differences, got {other:?}"),
    }
}

#[tokio::test]
async fn parts_are_sent_only_if_programs_differ() {
    let never = |party| hello(party).describing(|| panic!("nobody asked"));
    assert!(talk(&never(0), &never(1)).await.iter().all(Result::is_ok));
    let other = never(1).with("hash", "tmmo");
    assert!(talk(&never(0), &other).await.iter().all(Result::is_err));
}

#[tokio::test]
async fn parts_are_computed_once_for_all_peers() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let describe = || {
        MADE.fetch_add(1, Ordering::Relaxed);
        vec![("circuit".into(), "1".into())]
    };
    let ours = hello(0).describing(describe);
    for _ in 0..3 {
        let theirs = Hello { program_digest: [8; 32], ..hello(1) };
        assert!(talk(&ours.clone(), &theirs).await.iter().all(Result::is_err));
    }
    assert_eq!(MADE.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_peer_with_another_program_that_leaves_is_still_reported() {
    let (mut one, mut two) = memory_pair();
    let leaves = async {
        two.send(&Hello { program_digest: [8; 32], ..hello(1) }).await.expect("sent");
        two.receive::<Hello>().await.expect("a hello");
        drop(two);
    };
    let ours = hello(0);
    let (told, ()) = tokio::join!(ours.exchange(&mut one), leaves);
    match told {
        Err(NetError::Incompatible { differences }) => assert_eq!(fields(&differences), ["program digest"]),
        other => panic!("expected a difference, got {other:?}"),
    }
}

#[test]
fn all_differences_are_named_at_once_with_both_views() {
    let theirs = Hello { protocol: "gmw".into(), program_digest: [8; 32], ..hello(0) };
    let differences = agree(&hello(0), &theirs);
    assert_eq!(fields(&differences), ["protocol", "program digest", "party (must differ)"]);
    let text = NetError::Incompatible { differences }.to_string();
    assert!(text.contains("protocol: ours yao, theirs gmw; program digest: ours 0707"), "{text}");
}

#[test]
fn parameters_of_another_protocol_are_not_compared() {
    let theirs = Hello { protocol: "gmw".into(), ..hello(1).with("form", "2012") };
    assert_eq!(fields(&agree(&hello(0), &theirs)), ["protocol"]);
}

#[test]
fn preparing_and_running_is_the_only_reported_difference() {
    let theirs = Hello { program_digest: [0; 32], ..hello(1).with(STEP, "prepare").with("count", 3) };
    let differences = agree(&hello(0), &theirs);
    let [difference] = &differences[..] else { panic!("{differences:?}") };
    assert_eq!(difference.to_string(), "step: ours run, theirs prepare");
    assert_eq!(agree(&hello(0).with(STEP, "prepare"), &hello(1).with(STEP, "prepare")), []);
}

#[test]
fn amounts_are_shown_with_their_units() {
    let of = |party, amounts: [u64; 2]| hello(party).with_amounts((AMOUNTS, &["triples", "masks"]), &amounts);
    let text = |theirs| agree(&of(0, [16, 8]), &theirs)[0].to_string();
    assert_eq!(text(of(1, [32, 8])), "amounts: ours 16 triples, 8 masks, theirs 32 triples, 8 masks");
    assert_eq!(text(hello(1)), "amounts: ours 16 triples, 8 masks, theirs nothing");
    assert_eq!(text(hello(1).with("amounts", "1, 2, 3")), "amounts: ours 16 triples, 8 masks, theirs 1, 2, 3");
    assert_eq!(of(0, [16, 8]).encoded_bytes(), hello(0).with("amounts", "16, 8").encoded_bytes(), "not sent");
}

#[test]
fn an_empty_value_is_shown_as_nothing() {
    let differences = agree(&hello(0).with("keep", "first"), &hello(1).with("keep", ""));
    assert_eq!(differences[0].to_string(), "keep: ours first, theirs nothing");
}

#[test]
fn an_empty_value_is_no_value_wherever_it_is_read() {
    let value = |hello: &Hello| hello.parameter("form").map(str::to_string);
    assert_eq!(value(&hello(1).with("form", "")), None);
    let twice = hello(1).with("form", "").with("form", "short");
    assert_eq!(value(&twice).as_deref(), Some("short"));
    let open = |tacit| hello(0).open_to(vec![("form", tacit)]).with("form", open_value(&["long", "short"]));
    assert_eq!(agree(&open(Some("long")), &hello(1).with("form", "")), []);
    assert_eq!(agree(&open(None), &twice), []);
    assert_eq!(fields(&agree(&open(None), &hello(1).with("form", ""))), ["form"]);
    // A step without a value is a run, as one that is not named.
    assert_eq!(agree(&hello(0), &hello(1).with(STEP, "")), []);
}

#[test]
fn an_open_parameter_agrees_with_each_of_its_values_and_nothing_else_is_open() {
    let with = |name: &str, value: &str| hello(1).with(name, value);
    let text = open_value(&["half-gates", "three-halves"]);
    let closed = hello(0).with("form", &text).with(&told("link"), "1ms");
    assert_eq!(fields(&agree(&closed, &with("form", "three-halves"))), ["form"], "nobody said that it may be open");
    let open = closed.open_to(vec![("form", None)]);
    assert_eq!(agree(&open, &with("form", "three-halves")), []);
    assert_eq!(agree(&open, &with("form", &text)), []);
    for (first, second) in [(&text[..], &text[..]), (&text, "three-halves"), ("three-halves", &text)] {
        assert_eq!(fields(&agree(&open, &with("form", first).with("form", second))), ["form"], "given twice");
    }
    assert_eq!(fields(&agree(&open.clone().with("form", &text), &with("form", "three-halves"))), ["form"]);
    assert_eq!(fields(&agree(&open, &with("form", "grr3"))), ["form"]);
    assert_eq!(fields(&agree(&open, &with("form", &text.replace('1', "2")))), ["form"], "another rule");
    for name in ["batch", JOB, SCHEDULE, SESSION] {
        let ours = hello(0).open_to(vec![("form", None)]).with(name, "1");
        assert_eq!(fields(&agree(&ours, &with(name, &open_value(&["1"])))), [name]);
    }
    assert_eq!(fields(&agree(&hello(0), &Hello { protocol: "auto 1 (yao)".into(), ..hello(1) })), ["protocol"]);
}

#[test]
fn an_open_parameter_agrees_with_its_value_that_is_not_named() {
    let open = |tacit| hello(0).open_to(vec![("form", tacit)]).with("form", open_value(&["long", "short"]));
    assert_eq!(agree(&open(Some("long")), &hello(1)), []);
    let closed = Hello { party: 1, ..hello(0) }.open_to(vec![("form", Some("long"))]);
    assert_eq!(agree(&closed, &Hello { party: 0, ..open(None) }), []);
    for (tacit, shown) in [(None, "nothing"), (Some("middle"), "middle")] {
        assert_eq!(agree(&open(tacit), &hello(1))[0].theirs, shown, "{tacit:?}");
    }
    assert_eq!(fields(&agree(&open(Some("long")), &hello(1).with("form", "middle"))), ["form"]);
}

#[test]
fn a_party_beyond_the_count_is_refused() {
    assert_eq!(fields(&agree(&hello(0), &hello(2))), ["party"]);
}

#[tokio::test]
async fn malformed_hellos_are_refused() {
    for bad in [
        Hello { magic: *b"GARBLET\0", ..hello(1) },
        Hello { protocol: "yao\u{1b}[2J".into(), ..hello(1) },
        Hello { protocol: "y".repeat(TEXT_BYTES_MAX + 1), ..hello(1) },
        hello(1).with("a\u{202e}b", ""),
        hello(1).with("a", "\u{2066}b\u{2029}"),
        Hello { parameters: vec![(String::new(), String::new()); PARAMETERS_MAX + 1], ..hello(1) },
    ] {
        assert!(bad.check().is_err());
        let (mut channel, _peer) = memory_pair();
        assert!(channel.send(&bad).await.is_err());
    }
}
