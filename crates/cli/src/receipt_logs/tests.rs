//! Logs of receipts side by side, and as they are shown.

use std::fs;

use garblet::{Class, circuit::diagnostic::controls_terminal, run_report::PeerPart};
use garblet_console::receipts::{Ended, Receipt, Transcript, chain, chain::Link, comparison::Comparison, log::Log};

use super::{text, told};

use sample::{receipt, transcript};

#[path = "../../../console/src/receipts/tests/sample.rs"]
mod sample;

#[test]
fn texts_from_a_peer_cannot_control_the_terminal() {
    let forged = "\u{1b}[2K\u{1b}[1A\nours 7 and theirs 7: the same run\u{9b}1A\u{202e}";
    let mut receipt = receipt(1);
    receipt.time = forged.into();
    receipt.ended = Ended::Failed { class: Class::Other, message: forged.into() };
    receipt.peers = vec![PeerPart { party: 1, name: Some(forged.into()), fingerprint: None }];
    receipt.parameters.insert(forged.into(), forged.into());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("receipts.jsonl");
    assert_eq!(Log::open(&path).and_then(|log| log.append(&receipt)), Ok(1));
    let mut shown = String::new();
    chain::read(&fs::read(path).expect("a log")[..], |link, _| shown += &text(&link)).expect("a chain");
    assert!(shown.contains("ours 7 and theirs 7"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("ours 7")).count(), 0, "{shown}");
    assert_eq!(shown.replace('\n', "").find(controls_terminal), None, "{shown:?}");
}

/// A receipt of one of two parties with identities.
fn link(number: u64, party: u16, sent: u64, received: u64, ended: &Ended) -> Link {
    let transcripts = vec![transcript(1 - party, sent, received)];
    let identity = |party: u16| Some(format!("identity {party}"));
    let peers = vec![PeerPart { party: 1 - party, name: None, fingerprint: identity(1 - party) }];
    let receipt = Receipt { party, identity: identity(party), peers, transcripts, ended: ended.clone(), ..receipt(0) };
    Link { format: 1, number, previous: String::new(), receipt }
}

/// Compares logs. Returns the numbers of matching receipts, the counts that are in only one log, and whether that matters.
fn compare(ours: &[&Link], theirs: &[&Link]) -> (Vec<(u64, u64)>, [usize; 2], bool) {
    let links = |links: &[&Link]| links.iter().map(|link| (*link).clone()).collect();
    let comparison = Comparison::of(links(ours), links(theirs));
    let differs = comparison.differs();
    let alike = comparison.alike.iter().map(|(own, other)| (own.number, other.number)).collect();
    (alike, comparison.only.map(|links| links.len()), differs)
}

#[test]
fn common_runs_are_found_at_any_position() {
    let (ok, failed) = (Ended::Ok { closing: None }, receipt(0).ended);
    let [one, two, three] = [link(1, 0, 1, 2, &ok), link(2, 0, 3, 4, &ok), link(3, 0, 5, 6, &failed)];
    let [first, second] = [link(1, 1, 4, 3, &ok), link(2, 1, 2, 1, &ok)];
    let ours = [&one, &two, &three];
    let expected = (vec![(1, 2), (2, 1)], [1, 0], false);
    assert_eq!(
        compare(&ours, &[&first, &second]),
        expected,
        "without a result it may have been cut short at either end"
    );
    // One receipt matches only one run.
    assert_eq!(compare(&[&two, &two], &[&first]), (vec![(2, 1)], [1, 0], true));
    for change in [
        |receipt: &mut Receipt| receipt.transcripts[0].received.push('9'),
        |receipt: &mut Receipt| receipt.transcripts[0].sent.push('9'),
        |receipt: &mut Receipt| receipt.party = 0,
        |receipt: &mut Receipt| receipt.identity = Some("identity 2".into()),
        |receipt: &mut Receipt| receipt.identity = None,
        |receipt: &mut Receipt| receipt.peers[0].fingerprint = Some("identity 2".into()),
        |receipt: &mut Receipt| receipt.peers[0].party = 2,
        |receipt: &mut Receipt| receipt.peers.clear(),
        |receipt: &mut Receipt| receipt.parties = 3,
        |receipt: &mut Receipt| receipt.job = Some("x".into()),
        |receipt: &mut Receipt| receipt.program.push('x'),
        |receipt: &mut Receipt| receipt.wire_version = 4,
        |receipt: &mut Receipt| receipt.protocol.push('x'),
        |receipt: &mut Receipt| receipt.adversary.push('x'),
        |receipt: &mut Receipt| drop(receipt.parameters.insert("scheme".into(), "grr3".into())),
        |receipt: &mut Receipt| receipt.keep = Some("x".into()),
        |receipt: &mut Receipt| receipt.read.push("x=y".into()),
    ] {
        let mut other = second.clone();
        change(&mut other.receipt);
        assert_eq!(compare(&ours, &[&first, &other]), (vec![(2, 1)], [2, 1], true), "{other:?}");
    }
}

#[test]
fn what_the_link_decided_fits_what_was_left_to_it() {
    let ended = Ended::Ok { closing: None };
    let with = |number, party, [sent, received]: [u64; 2], scheme: &str| {
        let mut link = link(number, party, sent, received, &ended);
        link.receipt.parameters.insert("scheme".into(), scheme.into());
        link
    };
    let [ours, theirs] = [with(1, 0, [1, 2], "three-halves"), with(1, 1, [2, 1], "auto")];
    assert_eq!(compare(&[&ours], &[&theirs]), (vec![(1, 1)], [0, 0], false));
    let other = with(1, 1, [2, 1], "half-gates");
    assert_eq!(compare(&[&ours], &[&other]).0, vec![]);
}

#[test]
fn a_run_with_a_lost_end_accuses_nobody() {
    let cut = Ended::Ok { closing: Some("the peer closed the connection".into()) };
    let (ok, failed) = (Ended::Ok { closing: None }, receipt(0).ended);
    // The last message was lost.
    assert_eq!(compare(&[&link(1, 0, 1, 2, &cut)], &[&link(1, 1, 2, 9, &failed)]), (vec![], [1, 1], false));
    assert_eq!(compare(&[&link(1, 0, 1, 2, &ok)], &[&link(1, 1, 2, 9, &failed)]), (vec![], [1, 1], true));
    assert_eq!(compare(&[&link(1, 0, 1, 2, &cut)], &[&link(1, 1, 2, 1, &ok)]), (vec![(1, 1)], [0, 0], false));
    let told = |ours: &Ended, received: u64, theirs: &Ended| {
        told(&Comparison::of(vec![link(1, 0, 1, 2, ours)], vec![link(1, 1, 2, received, theirs)]))
    };
    let alike = "ours 1 and theirs 1: the same run; each received what the other sent";
    assert_eq!(told(&ok, 1, &cut), format!("{alike}\n"));
    assert_eq!(told(&ok, 1, &failed), format!("{alike}; ours ended with a result, theirs without a result\n"));
    let cut = told(&cut, 9, &failed);
    let own = "ours 1, 2026-11-23T06:30:00Z, with a result, though the peer did not close the session properly: not in the other log, or \
        its last message was lost\n";
    assert!(cut.starts_with(own), "{cut}");
}
