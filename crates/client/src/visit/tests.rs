use serde_json::Value;

use super::*;
use crate::answer::{Reason, Refusal};
use crate::malformed::Malformed;
use crate::seal::SEAL_BYTES;
use crate::testing::{CLIENT, answer, hex, random_bits, rng, terms, with_state};
use crate::{JOB_BYTES_MAX, SealError, Statistical, Submission};

const VECTORS: &str = include_str!("../../../../vectors/outsourced_client.json");
const NAME: &str = "Zoë";

fn job() -> Job {
    let mut terms = with_state(terms(13, 21, Statistical::Forty));
    terms.clients[0] = Identity::of_client(NAME);
    Job::new(terms).unwrap()
}

fn invitations(job: &Job) -> [Invitation; 2] {
    let of = |server, name, seed| Invitation::new(server, name, NAME, &mut rng(seed)).ok().unwrap();
    [of(job.terms().generator, "the generator", 1), of(job.terms().cloud, "the cloud", 2)]
}

/// A visit with counter 7 and these draws, of a client that has seen nothing of the state.
fn drawn(seed: u128) -> Begun {
    let (job, receipt) = (job(), Receipt::first("ledger").with_counter(6));
    let [generator, cloud] = &invitations(&job);
    Visit::begin(&job, [generator, cloud], &receipt, &random_bits(13, 5), &mut rng(seed)).ok().unwrap()
}

fn begun() -> Begun {
    drawn(3)
}

/// The submission that a server reads in a frame.
fn read(frame: &[u8], server: Server) -> Submission {
    let submit = Submit::decode(frame).unwrap();
    assert_eq!(submit.encode(), frame);
    let job = Job::decode(&submit.job).unwrap();
    let client = job.client(&submit.client).unwrap();
    let secret = &invitations(&job)[usize::from(server.byte())].secret;
    secret.open_submission(&submit.sealed, &job, client, server, Some(6)).ok().unwrap()
}

/// The frame of a server that says this under its seal.
fn sealed(visit: &Visit, server: Server, text: &[u8]) -> Vec<u8> {
    let at = usize::from(server.byte());
    let secret = &invitations(&job())[at].secret;
    let sealed = secret.seal_answer(&visit.pending.place(server), &visit.nonces[at], text, &mut rng(7));
    FromServer::Sealed(sealed).encode()
}

/// The output of honest servers and their answer, of version 5 and history 9.
fn honest(begun: &Begun) -> (Bits, Vec<u8>) {
    let of = [read(&begun.to_generator, Server::Generator), read(&begun.to_cloud, Server::Cloud)];
    let output = random_bits(21, 8);
    let bytes = answer(&begun.visit.pending.place(Server::Cloud), &of, &output, 5, 9).encode();
    (output, bytes)
}

/// A visit, its output, and the answer of honest servers.
fn answered() -> (Visit, Bits, Vec<u8>) {
    let begun = begun();
    let (output, bytes) = honest(&begun);
    (begun.visit, output, bytes)
}

#[test]
fn a_visit_ends_in_its_output() {
    for first in Server::BOTH {
        let (mut visit, output, answer) = answered();
        for server in [first, first.other()] {
            assert!(!visit.has_heard(server));
            assert_eq!(visit.hear(server, &FromServer::Waiting.encode()), Heard::Waiting);
            let frame = sealed(&visit, server, &answer);
            assert!(frame.len() <= visit.frame_bytes_max());
            assert_eq!(visit.hear(server, &frame), Heard::Answer);
            // Too late to say anything else.
            assert_eq!(visit.hear(server, &FromServer::Refused(Reason::Policy).encode()), Heard::Answer);
            assert!(visit.has_heard(server));
        }
        let opened = visit.open().ok().unwrap();
        assert!(opened.output == output);
        assert_eq!((opened.receipt().version(), opened.receipt().counter()), (5, 7));
    }
}

/// Whole visits of an implementation that shares no code with this one.
#[test]
fn visits_are_those_of_the_known_answers() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    for case in vectors["visits"].as_array().unwrap() {
        let hex = |name: &str| hex(&case[name]);
        let bits =
            |name: &str, count: &str| Bits::from_bytes(&hex(name)).slice(0, case[count].as_u64().unwrap() as usize);
        let invited = |name: &str| Invitation::from_text(case[name].as_str().unwrap()).ok().unwrap();
        let (generator, cloud) = (invited("invitation_generator"), invited("invitation_cloud"));
        let (job, receipt) = (Job::decode(&hex("job")).unwrap(), Receipt::decode(&hex("receipt")).unwrap());
        let seed = hex("seed").try_into().unwrap();
        let begin = || {
            let begun = Visit::begin_from_seed(&job, [&generator, &cloud], &receipt, &bits("input", "inputs"), &seed);
            begun.ok().unwrap()
        };
        let Begun { mut visit, receipt, to_generator, to_cloud } = begin();
        assert_eq!((to_generator, to_cloud), (hex("to_generator"), hex("to_cloud")));
        assert_eq!(receipt.encode(), hex("kept_receipt"));
        assert_eq!(*visit.pending().encode(), hex("pending"));
        assert_eq!(visit.hear(Server::Cloud, &hex("from_cloud")), Heard::Answer);
        assert_eq!(visit.hear(Server::Generator, &hex("from_generator")), Heard::Answer);
        let opened = visit.open().ok().unwrap();
        assert!(opened.output == bits("output", "outputs"));
        assert_eq!(opened.receipt().encode(), hex("next_receipt"));

        let mut visit = begin().visit;
        assert_eq!(visit.hear(Server::Cloud, &hex("refused_cloud")), Heard::NoAnswer);
        assert_eq!(visit.hear(Server::Generator, &hex("refused_generator")), Heard::NoAnswer);
        assert_eq!(visit.open().err().unwrap().state_now(), Some((7, [8; 32])));
    }
}

/// A seed that is used twice by mistake gives nothing away.
#[test]
fn a_seed_gives_other_bytes_for_other_inputs_and_counters() {
    let (job, first) = (job(), Receipt::first("ledger"));
    let [generator, cloud] = &invitations(&job);
    let submission = |receipt: &Receipt, input: u128| {
        let inputs = Bits::from_u128(input, 13);
        let begun = Visit::begin_from_seed(&job, [generator, cloud], receipt, &inputs, &[9; 32]).ok().unwrap();
        let opened = Submit::decode(&begun.to_generator).unwrap().sealed;
        generator.secret.open_submission(&opened, &job, CLIENT, Server::Generator, None).unwrap().expand().share.clone()
    };
    assert!(submission(&first, 1) == submission(&first, 1));
    assert!(submission(&first, 1) != submission(&first, 2));
    assert!(submission(&first, 1) != submission(&first.clone().with_counter(1), 1));
}

#[test]
fn the_counter_is_used_before_anything_is_sent() {
    let begun = begun();
    assert_eq!((begun.receipt.counter(), begun.receipt.version()), (7, 0));
    assert_eq!(begun.visit.pending().place(Server::Cloud).counter, 7);
    let (job, last) = (job(), Receipt::first("ledger").with_counter(u64::MAX));
    let [generator, cloud] = &invitations(&job);
    let over = Visit::begin(&job, [generator, cloud], &last, &random_bits(13, 5), &mut rng(3));
    assert_eq!(over.err(), Some(VisitError::Stale(Stale::Counter { last: u64::MAX, got: u64::MAX })));
}

/// A client that has lost its receipt deals with the same counter again: what was answered before is not for it.
#[test]
fn old_answers_do_not_open_for_another_submission() {
    let (first, mut second) = (drawn(3), drawn(4).visit);
    let (_, answer) = honest(&first);
    assert_eq!(first.visit.pending.place(Server::Cloud), second.pending.place(Server::Cloud));
    for server in Server::BOTH {
        assert_eq!(second.hear(server, &sealed(&first.visit, server, &answer)), Heard::NoAnswer);
    }
    let said = Box::new(Said::Unopened(SealError::Broken { client: CLIENT }));
    assert_eq!(second.open().err().unwrap(), Rejected::Unanswered { generator: said.clone(), cloud: said });
}

/// The visit of a page that is loaded again, after both answers were heard.
fn resumed(begun: &Begun, receipt: Receipt) -> Result<Result<Opened, Rejected>, VisitError> {
    let (_, answer) = honest(begun);
    let pending = Pending::decode(&begun.visit.pending().encode()).unwrap();
    let [generator, cloud] = &invitations(&job());
    let frames = [&begun.to_generator[..], &begun.to_cloud];
    let mut visit = Visit::resume(pending, receipt, frames, [&generator.secret, &cloud.secret])?;
    for server in Server::BOTH {
        assert_eq!(visit.hear(server, &sealed(&begun.visit, server, &answer)), Heard::Answer);
    }
    Ok(visit.open())
}

#[test]
fn a_visit_goes_on_from_its_bytes_and_no_receipt_goes_back() {
    let ledger = || Receipt::first("ledger");
    let after = |version, chain, counter| ledger().next(version, [chain; 32], counter);
    for (current, next) in [
        // The same as the one that was saved, with the counter and without.
        (ledger().with_counter(7), after(5, 9, 7)),
        (ledger().with_counter(6), after(5, 9, 7)),
        // Older: the client has lost it.
        (ledger(), after(5, 9, 7)),
        // The version before, which another client made, and counters of other states.
        (after(4, 3, 5), after(5, 9, 7)),
        (after(4, 3, 20), after(5, 9, 20)),
        // The visit has ended already.
        (after(5, 9, 7), after(5, 9, 7)),
        // Newer: later visits have ended meanwhile.
        (after(6, 8, 9), after(6, 8, 9)),
        (after(6, 8, 3), after(6, 8, 7)),
    ] {
        let begun = begun();
        let opened = resumed(&begun, current.clone()).ok().unwrap().ok().unwrap();
        assert!(opened.output == honest(&begun).0);
        assert_eq!(*opened.receipt(), next, "{current:?}");
    }
}

#[test]
fn a_visit_that_goes_on_is_held_to_its_receipt() {
    let forked = Receipt::first("ledger").next(5, [8; 32], 9);
    let why = resumed(&begun(), forked).ok().unwrap().err();
    assert_eq!(why, Some(Rejected::Stale(Stale::Forked { state: "ledger".into(), version: 5 })));
    let other = resumed(&begun(), Receipt::first("another")).err();
    assert!(matches!(other, Some(VisitError::Stale(Stale::OtherState { .. }))));
}

#[test]
fn a_visit_goes_on_with_its_own_frames_alone() {
    let [generator, cloud] = &invitations(&job());
    let refused = |to_generator: &[u8], to_cloud: &[u8], secret: &Secret| {
        let (pending, receipt) = (begun().visit.pending, Receipt::first("ledger"));
        let error = Visit::resume(pending, receipt, [to_generator, to_cloud], [secret, &cloud.secret]).err();
        let error = error.expect("refused");
        assert!(!error.hint().is_empty());
        error.to_string()
    };
    let own = begun();
    let later = {
        let receipt = Receipt::first("ledger").with_counter(7);
        Visit::begin(&job(), [generator, cloud], &receipt, &random_bits(13, 5), &mut rng(3)).ok().unwrap()
    };
    let text = "the frame for the cloud does not belong to the submission: sealed message, counter: expected 7, got 8";
    assert_eq!(refused(&own.to_generator, &later.to_cloud, &generator.secret), text);
    let other = Job::new(job().terms().clone().at_version("ledger", 9)).unwrap();
    let other = {
        let receipt = Receipt::first("ledger").with_counter(6);
        Visit::begin(&other, [generator, cloud], &receipt, &random_bits(13, 5), &mut rng(3)).ok().unwrap()
    };
    let text = refused(&other.to_generator, &own.to_cloud, &generator.secret);
    assert!(text.starts_with("the frame for the generator does not belong to the submission: sealed message, job: "));
    let text = refused(&own.to_generator, &FromServer::Waiting.encode(), &generator.secret);
    assert!(text.ends_with("frame of a client, byte 1, kind: expected 1, got 2"), "{text}");
    // For the other server, or by another invitation.
    for text in [
        refused(&own.to_cloud, &own.to_generator, &generator.secret),
        refused(&own.to_generator, &own.to_cloud, &cloud.secret),
    ] {
        assert!(text.ends_with("changed in transit, or sealed with another secret"), "{text}");
    }
}

#[test]
fn bytes_of_a_visit_are_read_whole_or_not_at_all() {
    let stateless = crate::testing::dealt(&crate::testing::job(3, 70, Statistical::Forty), &random_bits(3, 1), 2).2;
    for pending in [begun().visit.pending, stateless] {
        let bytes = pending.encode();
        assert_eq!(bytes.len(), bytes.capacity(), "secret bytes do not move");
        assert_eq!(*Pending::decode(&bytes).ok().unwrap().encode(), *bytes);
        // What follows the state is a receipt or nothing.
        let whole = bytes.len() - pending_receipt_bytes(&bytes);
        for cut in (0..bytes.len()).filter(|cut| *cut != whole) {
            assert!(Pending::decode(&bytes[..cut]).is_err(), "{cut} bytes");
        }
        assert!(Pending::decode(&[&bytes[..], &[0]].concat()).is_err());
    }
    let mut long = begun().visit.pending.encode();
    long[43..47].copy_from_slice(&u32::MAX.to_le_bytes());
    let text = "saved submission, byte 43, output bits: expected at most 268435456, got 4294967295";
    assert_eq!(Pending::decode(&long).err().unwrap().to_string(), text);
}

/// The bytes of the receipt at the end, which for the state `ledger` are always as many.
fn pending_receipt_bytes(bytes: &[u8]) -> usize {
    let receipt = Receipt::first("ledger").encode().len();
    if bytes.ends_with(b"ledger") { receipt } else { 0 }
}

#[test]
fn the_word_of_each_server_is_told() {
    type Case = (fn(&Visit) -> Vec<u8>, &'static str);
    let cases: [Case; 5] = [
        (
            |_| FromServer::Refused(Reason::OtherJob).encode(),
            "refuses, unless somebody in between sent this: the job is a different one",
        ),
        (|_| b"\x01\x09".to_vec(), "sent no answer: frame of a server, byte 1, kind: expected 2, 3 or 4, got 9"),
        (
            |visit| sealed(visit, Server::Generator, b"?"),
            "sent no answer: sealed message of client 1: it was changed in transit, or sealed with another secret",
        ),
        (
            |visit| {
                let refusal = Refusal::new(visit.pending.place(Server::Cloud).run(), Reason::StateVersion, &[]);
                sealed(visit, Server::Cloud, &refusal.with_state(41, [3; 32]).encode())
            },
            "refuses: the state has another version, 41",
        ),
        (|_| FromServer::Waiting.encode(), "has not answered"),
    ];
    for (frame, text) in cases {
        let (mut visit, _, answer) = answered();
        let of_generator = sealed(&visit, Server::Generator, &answer);
        assert_eq!(visit.hear(Server::Generator, &of_generator), Heard::Answer);
        let frame = frame(&visit);
        assert_ne!(visit.hear(Server::Cloud, &frame), Heard::Answer);
        let why = visit.open().err().unwrap();
        assert_eq!(why.to_string(), format!("no output: the generator has an answer; the cloud {text}"));
        assert!(!why.hint().is_empty());
    }
}

#[test]
fn the_version_that_servers_tell_is_found_if_both_say_the_same() {
    let told = |of_generator: Option<u64>, of_cloud: Option<u64>| {
        let (mut visit, ..) = answered();
        for (server, version) in [(Server::Generator, of_generator), (Server::Cloud, of_cloud)] {
            let reason = if version.is_some() { Reason::StateVersion } else { Reason::Interrupted };
            let refusal = Refusal::new(visit.pending.place(server).run(), reason, &[]);
            let refusal = refusal.with_state(version.unwrap_or(9), [1; 32]).encode();
            let frame = sealed(&visit, server, &refusal);
            visit.hear(server, &frame);
        }
        visit.open().err().unwrap().state_now()
    };
    assert_eq!(told(Some(8), Some(8)), Some((8, [1; 32])));
    // One server alone would have the input dealt again, after a run that has ended.
    assert_eq!(told(None, Some(8)), None);
    assert_eq!(told(Some(8), None), None);
    assert_eq!(told(Some(8), Some(7)), None);
    assert_eq!(told(None, None), None);
    let job = Job::new(job().terms().clone().at_version("ledger", 8)).unwrap();
    assert_eq!(job.state(), Some(("ledger", 9)));
    let other = job.terms().clone().at_version("another", 3);
    assert_eq!(other, *job.terms());
}

#[test]
fn what_does_not_go_together_is_not_dealt() {
    let job = job();
    let refused = |job: &Job, [generator, cloud]: [&Invitation; 2], state: &str, bits| {
        let receipt = Receipt::first(state);
        let begun = Visit::begin(job, [generator, cloud], &receipt, &random_bits(bits, 5), &mut rng(3));
        let error = begun.err().expect("refused");
        assert!(!error.hint().is_empty());
        error
    };
    let [generator, cloud] = &invitations(&job);
    let swapped = refused(&job, [cloud, generator], "ledger", 13);
    assert!(matches!(swapped, VisitError::OtherServer { server: Server::Generator, .. }), "{swapped}");
    let mut renamed = invitations(&job);
    renamed[1].client_name = "Zoe".into();
    let text = "the generator invites `Zoë`, the cloud `Zoe`: expected one name";
    assert_eq!(refused(&job, [&renamed[0], &renamed[1]], "ledger", 13).to_string(), text);
    let stranger = Job::new(with_state(terms(13, 21, Statistical::Forty))).unwrap();
    assert!(matches!(refused(&stranger, [generator, cloud], "ledger", 13), VisitError::NoClient { .. }));
    assert!(matches!(refused(&job, [generator, cloud], "ledger", 12), VisitError::Job(JobError::Values { .. })));
    assert!(matches!(refused(&job, [generator, cloud], "", 13), VisitError::Stale(Stale::OtherState { .. })));
}

#[test]
fn clients_are_known_by_their_names() {
    let [generator, cloud] = invitations(&job());
    assert_eq!(generator.identity(), cloud.identity());
    assert_eq!(generator.identity(), Identity::of_client("Zoë"));
    assert_ne!(generator.identity(), Identity::of_client("Zoe"));
    assert_eq!(job().client(&cloud.identity()), Some(CLIENT));
}

#[test]
fn frames_are_read_whole_or_not_at_all() {
    let submit = begun().to_cloud;
    let least = submit.len() - Submit::decode(&submit).unwrap().sealed.len() + SEAL_BYTES;
    for cut in 0..least {
        assert!(Submit::decode(&submit[..cut]).is_err(), "{cut} bytes");
    }
    // What is sealed ends where the frame ends: it does not open if that was cut.
    for cut in least..submit.len() {
        let cut = Submit::decode(&submit[..cut]).unwrap();
        let secret = &invitations(&job())[1].secret;
        let opened = secret.open_submission(&cut.sealed, &job(), CLIENT, Server::Cloud, None);
        assert_eq!(opened.err(), Some(SealError::Broken { client: CLIENT }));
    }
    for frame in [FromServer::Waiting, FromServer::Sealed(vec![7; SEAL_BYTES]), FromServer::Refused(Reason::Policy)] {
        let bytes = frame.encode();
        assert_eq!(FromServer::decode(&bytes), Ok(frame.clone()));
        (0..bytes.len()).for_each(|cut| assert!(FromServer::decode(&bytes[..cut]).is_err(), "{frame:?}, {cut} bytes"));
    }
    for &reason in Reason::ALL {
        assert_eq!(FromServer::decode(&FromServer::Refused(reason).encode()), Ok(FromServer::Refused(reason)));
    }
}

#[test]
fn frames_of_other_versions_kinds_and_sizes_are_refused() {
    let refused = |bytes: &[u8]| -> [Malformed; 2] {
        [Submit::decode(bytes).expect_err("no frame"), FromServer::decode(bytes).expect_err("no frame")]
    };
    refused(b"");
    refused(&[2, 2]);
    assert_eq!(refused(&[1, 0])[1].to_string(), "frame of a server, byte 1, kind: expected 2, 3 or 4, got 0");
    assert_eq!(refused(&[1, 2, 0])[1].to_string(), "frame of a server, byte 2, end: expected no more bytes, got 1");
    assert_eq!(refused(&[1, 4, 0])[1].field, "reason");
    assert_eq!(refused(&[1, 4, 1, 1])[1].field, "end");
    let short = &refused(&[&[1, 3][..], &[0; SEAL_BYTES - 1]].concat())[1];
    assert_eq!((short.field, short.at), ("sealed message", 2));
    let mut long = [&[1, 1][..], &[0; 32], &(JOB_BYTES_MAX as u32 + 1).to_le_bytes()].concat();
    let text = "frame of a client, byte 34, length of the job: expected at most 1048576, got 1048577";
    assert_eq!(refused(&long)[0].to_string(), text);
    long[34..].copy_from_slice(&100u32.to_le_bytes());
    assert_eq!(
        refused(&long)[0].to_string(),
        "frame of a client, byte 38, job: expected 100 bytes, got 0 until the end"
    );
}

#[test]
fn bounds_hold_the_longest_frames() {
    let refusal = Refusal::new([0; 32], Reason::Policy, &(0..99).map(Party).collect::<Vec<_>>()).encode();
    for outputs in [0, 1, 64, 10_000] {
        let answer = crate::Answer { run: [0; 32], version: 1, chain: [0; 32], masked: Bits::zeros(outputs) };
        let longest = answer.encode().len().max(refusal.len());
        assert_eq!(FromServer::Sealed(vec![0; longest + SEAL_BYTES]).encode().len(), FromServer::bytes_max(outputs));
    }
}
