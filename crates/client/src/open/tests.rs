use garblet_circuit::{evaluate, random};

use super::*;
use crate::answer::{ACCUSED_MAX, Reason};
use crate::testing::{answer, dealt, job, random_bits, rng, submissions, terms, with_state};
use crate::{Identity, Job, Statistical, Submission, Terms, deal};

/// A run with honest servers, to its answer.
fn run(job: &Job, version: u64) -> (Pending, Answer, Bits) {
    let (to_g, to_c, pending) = dealt(job, &random_bits(20, 3), 4);
    let of = submissions(job, [&to_g, &to_c]);
    let output = random_bits(30, 5);
    let answer = answer(&pending.place(Server::Generator), &of, &output, version, 6);
    (pending, answer, output)
}

fn stateful() -> Job {
    Job::new(with_state(terms(20, 30, Statistical::Forty))).unwrap()
}

fn rejected(open: Result<Opened, Rejected>) -> Rejected {
    open.err().expect("no output")
}

/// Any program, any clients: servers that add shares, compute in the clear and pad what they answer.
#[test]
fn clients_get_what_the_program_computes() {
    for seed in 0..30 {
        let program = random::program(&mut rng(seed), 30, 4);
        let clients = vec![Identity([1; 32]), Identity([2; 32])];
        let job = Job::new(Terms::of(&program, Identity([0; 32]), clients, Identity([3; 32]))).unwrap();
        let values = random::inputs(&mut rng(seed + 100), &program);
        let computed = evaluate(&program, &values);
        for client in [1, 2].map(Party) {
            let own: Vec<Bits> = program
                .inputs()
                .iter()
                .zip(&values)
                .filter(|(i, _)| i.owner == client)
                .map(|(_, v)| v.clone())
                .collect();
            let input = job.join_inputs(client, &own).unwrap();
            let (to_g, to_c, pending) = deal(&job, client, 1, &input, &mut rng(seed + 200)).unwrap();
            let read =
                |to: &crate::ToServer| Submission::decode(to.payload(), &job, client, to.place().server).unwrap();
            let of = [read(&to_g), read(&to_c)];
            let [own_g, own_c] = [of[0].expand(), of[1].expand()];
            assert!(sum(&own_g.share, &own_c.share) == input);
            let learned: Vec<Bits> = program
                .outputs()
                .iter()
                .zip(&computed)
                .filter(|(o, _)| o.recipients.contains(client))
                .map(|(_, v)| v.clone())
                .collect();
            let mut output = Bits::default();
            learned.iter().for_each(|value| output.append(value));
            let answer = answer(&pending.place(Server::Cloud), &of, &output, 0, 0).encode();
            let opened = pending.open(&answer, &answer).ok().unwrap();
            let split = job.split_outputs(client, &opened.output).unwrap();
            assert!(split.into_iter().map(|(_, value)| value).eq(learned));
        }
    }
}

#[test]
fn equal_answers_open_and_give_a_receipt() {
    let (pending, answer, output) = run(&stateful(), 5);
    let opened = pending.open(&answer.encode(), &answer.encode()).ok().unwrap();
    assert!(opened.output == output && !opened.has_panicked());
    let receipt = opened.receipt();
    assert_eq!((receipt.state(), receipt.version(), receipt.chain(), receipt.counter()), ("ledger", 5, &[6; 32], 4));
}

#[test]
fn answers_that_differ_are_rejected() {
    type Change = (&'static str, fn(&mut Answer));
    let changes: [Change; 3] = [
        ("version of the state", |answer| answer.version += 1),
        ("history of the state", |answer| answer.chain[31] ^= 1),
        ("output", |answer| answer.masked.set(29, !answer.masked.get(29))),
    ];
    for (what, change) in changes {
        for changed in 0..2 {
            let (pending, honest, _) = run(&stateful(), 5);
            let mut answers = [honest.clone(), honest];
            change(&mut answers[changed]);
            let why = rejected(pending.open(&answers[0].encode(), &answers[1].encode()));
            assert_eq!(why, Rejected::Differ { what });
        }
    }
}

/// No bit of an answer is without a meaning.
#[test]
fn every_flipped_bit_of_an_answer_is_rejected() {
    let (_, honest, _) = run(&stateful(), 5);
    let bytes = honest.encode();
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let [first, second] = [run(&stateful(), 5).0, run(&stateful(), 5).0];
        rejected(first.open(&changed, &bytes));
        rejected(second.open(&bytes, &changed));
    }
}

#[test]
fn both_servers_words_are_told() {
    let (pending, answer, _) = run(&stateful(), 5);
    let refusal = Refusal::new(answer.run, Reason::WrongHash, &[Party(3), Party(1), Party(3)]);
    let why = rejected(pending.open(&answer.encode(), &refusal.encode()));
    let text = "no output: the generator has an answer; the cloud refuses: a hash does not fit a share \
                (to blame: one of the parties 1, 3)";
    assert_eq!(why.to_string(), text);
    assert!(why.hint().contains("do not deal again"));

    let (pending, answer, _) = run(&stateful(), 5);
    let (other, _, _) = run(&job(20, 30, Statistical::Forty), 0);
    let of_other = Answer { run: other.place(Server::Cloud).run(), ..answer };
    let why = rejected(pending.open(&of_other.encode(), &[1, 2]));
    let text = "no output: the generator answers another submission; the cloud sent no answer: \
                answer, byte 1, run: expected 32 bytes, got 1 until the end";
    assert_eq!(why.to_string(), text);
}

/// The same answer to another client or counter, and of another job.
#[test]
fn answers_of_other_places_are_rejected() {
    let (pending, answer, _) = run(&stateful(), 5);
    let place = pending.place(Server::Cloud);
    let others = [
        Place { counter: 5, ..place },
        Place { client: Party(2), ..place },
        Place { job: *job(20, 30, Statistical::Forty).digest(), ..place },
    ];
    for other in others {
        let (pending, ..) = run(&stateful(), 5);
        let bytes = Answer { run: other.run(), ..answer.clone() }.encode();
        let said = Box::new(Said::OtherRun);
        assert_eq!(
            rejected(pending.open(&bytes, &bytes)),
            Rejected::Unanswered { generator: said.clone(), cloud: said }
        );
    }
    // Both servers are of one run.
    assert_eq!(Place { server: Server::Generator, ..place }.run(), place.run());
}

/// The version before, as the client knows it.
#[test]
fn a_run_that_panics_leaves_the_state_where_it_was() {
    let before = || Receipt::first("ledger").next(4, [6; 32], 3);
    let (pending, answer, output) = run(&stateful(), 4);
    let opened = pending.after(before()).unwrap().open(&answer.encode(), &answer.encode()).ok().unwrap();
    assert!(opened.output == output && opened.has_panicked());
    assert_eq!(*opened.receipt(), before().with_counter(4));
    let (pending, answer, _) = run(&stateful(), 4);
    let forked = pending.after(Receipt::first("ledger").next(4, [7; 32], 3)).unwrap();
    let why = rejected(forked.open(&answer.encode(), &answer.encode()));
    assert_eq!(why, Rejected::Stale(Stale::Forked { state: "ledger".into(), version: 4 }));
}

#[test]
fn states_that_do_not_follow_are_rejected() {
    for got in [3, 6] {
        let (pending, answer, _) = run(&stateful(), got);
        let why = rejected(pending.open(&answer.encode(), &answer.encode()));
        assert_eq!(why, Rejected::OtherVersion { expected: 5, got });
    }
    // A job that only reads makes no version.
    let reads = Job::new(Terms {
        keeps: None,
        outputs: stateful().terms().outputs[..1].to_vec(),
        ..stateful().terms().clone()
    });
    let (pending, answer, _) = run(&reads.unwrap(), 3);
    let why = rejected(pending.open(&answer.encode(), &answer.encode()));
    assert_eq!(why, Rejected::OtherVersion { expected: 4, got: 3 });

    let (pending, answer, _) = run(&stateful(), 5);
    let forked = pending.after(Receipt::first("ledger").next(5, [7; 32], 3)).ok().unwrap();
    let why = rejected(forked.open(&answer.encode(), &answer.encode()));
    assert_eq!(why, Rejected::Stale(Stale::Forked { state: "ledger".into(), version: 5 }));

    let older = run(&stateful(), 5).0.after(Receipt::first("ledger").next(6, [7; 32], 3)).err();
    assert_eq!(older, Some(Stale::Older { state: "ledger".into(), known: 6, got: 5 }));
    let used = run(&stateful(), 5).0.after(Receipt::first("ledger").with_counter(4)).err();
    assert_eq!(used, Some(Stale::Counter { last: 4, got: 4 }));
    let other = run(&stateful(), 5).0.after(Receipt::first("")).err();
    assert!(matches!(other, Some(Stale::OtherState { .. })));

    let (pending, answer, _) = run(&stateful(), 5);
    let known = pending.after(Receipt::first("ledger").next(4, [7; 32], 3)).ok().unwrap();
    assert!(known.open(&answer.encode(), &answer.encode()).is_ok());
}

/// Whatever one server says, the other may have run the submission.
#[test]
fn an_input_is_dealt_again_only_where_both_servers_prove_that_it_had_no_effect() {
    let refused = |reason| {
        let (pending, answer, _) = run(&stateful(), 5);
        (pending, Refusal::new(answer.run, reason, &[]).encode())
    };
    for &reason in Reason::ALL {
        let (pending, refusal) = refused(reason);
        let why = rejected(pending.open(&refusal, &refused(Reason::Interrupted).1));
        assert_eq!((why.is_never_run(), why.hint()), (reason.is_never_run(), reason.hint()));
        for used in [Reason::Used, Reason::OldCounter] {
            let (pending, refusal) = refused(reason);
            let why = rejected(pending.open(&refusal, &refused(used).1));
            assert!(
                !why.is_never_run() && why.hint().contains("first find out") | why.hint().contains("do not deal again")
            );
        }
        let (pending, answer, _) = run(&stateful(), 5);
        let why = rejected(pending.open(&refused(reason).1, &answer.encode()));
        assert!(!why.is_never_run() && (!why.hint().starts_with("deal again")));
        let unheard = |said| Rejected::Unanswered {
            generator: Box::new(Said::Refusal(Refusal::new([0; 32], reason, &[]))),
            cloud: Box::new(said),
        };
        for said in [Said::Nothing, Said::Unproven(Reason::Interrupted), Said::OtherRun] {
            let why = unheard(said);
            assert!(!why.is_never_run() && !why.hint().starts_with("deal again"), "{why}");
        }
    }
}

#[test]
fn refusals_are_read_as_they_were_written() {
    for &reason in Reason::ALL {
        for accused in [&[][..], &[Party(0)], &[Party(2), Party(9)]] {
            let refusal = Refusal::new([3; 32], reason, accused);
            assert_eq!((refusal.version, refusal.chain), (0, [0; 32]));
            for refusal in [refusal.clone(), refusal.with_state(u64::MAX - 1, [4; 32])] {
                let bytes = refusal.encode();
                (0..bytes.len()).for_each(|cut| assert!(Reply::decode(&bytes[..cut], 99).is_err(), "{cut} bytes"));
                assert_eq!(Reply::decode(&bytes, 99), Ok(Reply::Refusal(refusal)));
            }
        }
        assert!(!reason.hint().is_empty());
    }
    let codes: std::collections::HashSet<u8> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    assert_eq!(codes.len(), Reason::ALL.len());
    let all: Vec<Party> = (0..100).map(Party).collect();
    assert_eq!(Refusal::new([0; 32], Reason::Policy, &all).accused.len(), ACCUSED_MAX);
    let mut twice = Refusal::new([0; 32], Reason::Policy, &all[..2]).encode();
    twice[77] = 0;
    let why = Reply::decode(&twice, 0).unwrap_err().to_string();
    assert_eq!(why, "answer, byte 75, accused: expected parties in ascending order, each once, got another order");
}
