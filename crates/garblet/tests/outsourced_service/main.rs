//! The service of `outsourced`: clients that come and go, and two servers that answer them.
#![cfg(feature = "outsourced")]

mod kill;
mod world;

use std::{
    thread,
    time::{Duration, Instant},
};

use garblet::{
    Party,
    outsourced::{Limits, service::Unanswered},
};
use garblet_client::{self as client, Begun, Job, Reason, Rejected, Said, Server, Submit};

use world::{CLIENTS, Client, Running, World, strangers};

/// The reason that both servers give.
fn reason(ended: Result<Option<u128>, Unanswered>) -> [Option<Reason>; 2] {
    let unanswered = ended.expect_err("there is no output");
    let Rejected::Unanswered { generator, cloud } = unanswered.rejected else { panic!("{unanswered}") };
    [generator, cloud].map(|said| match *said {
        Said::Refusal(refusal) => Some(refusal.reason),
        Said::Unproven(reason) => Some(reason),
        _ => None,
    })
}

#[test]
fn clients_come_one_after_another_and_have_what_the_plain_sums_are() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    assert_eq!(anna.visit(&running, "start", &[5, 1]).expect("answered"), None);
    assert_eq!(bo.visit(&running, "show", &[0]).expect("answered"), Some(6));
    for value in 1..5 {
        // Bo does not know what anna has made meanwhile: the servers tell both of them.
        assert_eq!(anna.visit(&running, "add", &[value]).expect("answered"), None);
        assert_eq!(bo.visit(&running, "add", &[10 * value]).expect("answered"), None);
    }
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(6 + 11 * 10));
    assert_eq!((anna.receipt.version(), bo.receipt.version()), (9, 9));
    // The servers stop, and go on where they were.
    drop(running);
    let running = world.start();
    assert_eq!(anna.visit(&running, "add", &[1]).expect("answered"), None);
    assert_eq!(bo.visit(&running, "show", &[100]).expect("answered"), Some(217));
}

#[test]
fn several_clients_have_one_run_and_servers_have_inputs_and_outputs() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    let job = anna.job_at("both", &["anna", "bo"], 1);
    let begun = [anna.begin(&job, &[70]), bo.begin(&job, &[7])];
    let sums: Vec<Option<u128>> = thread::scope(|scope| {
        let visits = [&mut anna, &mut bo].into_iter().zip(begun).map(|(client, begun)| {
            let running = &running;
            scope.spawn(move || {
                client.hear(running, begun.visit, [&begun.to_generator, &begun.to_cloud]).expect("answered")
            })
        });
        let visits: Vec<_> = visits.collect();
        visits.into_iter().map(|visit| visit.join().expect("no panic")).collect()
    });
    assert_eq!(sums, [Some(77), Some(77)]);
    assert_eq!(anna.visit(&running, "ours", &[2]).expect("answered"), Some(42));
    drop(running);
    assert_eq!((world.told("ran ours for anna: [42]"), world.told("ran both for anna, bo: []")), (2, 2));
}

/// Both servers keep the answers, so that a client which was cut off, or died, has them later.
#[test]
fn an_answer_is_given_again_also_by_servers_that_were_started_again() {
    let world = World::new(Limits::default());
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    let job = anna.job("show");
    let Begun { visit, to_generator, to_cloud, .. } = anna.begin(&job, &[3]);
    let (pending, frames) = (visit.pending().encode(), [&to_generator[..], &to_cloud]);
    assert_eq!(anna.hear(&running, visit, frames).expect("answered"), Some(9));
    let again = |anna: &mut Client<'_>, running: &Running| anna.resume(running, &pending, frames);
    assert_eq!(again(&mut anna, &running).expect("answered"), Some(9));
    drop(running);
    let running = world.start();
    assert_eq!(again(&mut anna, &running).expect("answered"), Some(9));
    // It was not run again.
    assert_eq!(world.told("ran show for anna"), 2);
    anna.visit(&running, "add", &[1]).expect("answered");
    assert_eq!(reason(again(&mut anna, &running)), [Some(Reason::OldCounter); 2]);
}

#[test]
fn what_is_not_agreed_is_refused() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    // A state is begun once.
    let again = bo.job_at("start", &["bo"], 0);
    assert_eq!(reason(bo.visit_as(&running, &again, &[0, 0])), [Some(Reason::Policy); 2]);
    let later = bo.job_at("start", &["bo"], 1);
    assert_eq!(reason(bo.visit_as(&running, &later, &[0, 0])), [Some(Reason::Policy); 2]);
    // Another client in the place of one.
    let swapped = bo.job_at("both", &["bo", "anna"], 1);
    assert_eq!(reason(bo.visit_as(&running, &swapped, &[1])), [Some(Reason::Policy); 2]);
    // Another program, and another output of the same.
    for terms in [
        client::Terms { program: [7; 32], ..anna.job("show").terms().clone() },
        client::Terms { statistical: client::Statistical::Eighty, ..anna.job("show").terms().clone() },
    ] {
        let job = Job::new(terms).expect("a job");
        assert_eq!(reason(anna.visit_as(&running, &job, &[1])), [Some(Reason::OtherJob); 2]);
    }
    // A counter that was used, with other bytes.
    let before = anna.receipt.clone();
    anna.visit(&running, "show", &[1]).expect("answered");
    anna.receipt = before;
    let job = anna.job("show");
    assert_eq!(reason(anna.visit_as(&running, &job, &[1])), [Some(Reason::OldCounter); 2]);
    // Nobody the servers know, and what cannot be read.
    let begun = anna.begin(&job, &[1]);
    let strange = [&begun.to_generator, &begun.to_cloud].map(|frame| {
        let submit = Submit::decode(frame).expect("a frame");
        Submit { client: client::Identity::of_client("nobody"), ..submit }.encode()
    });
    let [generator, cloud] = &strange;
    assert_eq!(reason(anna.hear(&running, begun.visit, [generator, cloud])), [Some(Reason::Unreadable); 2]);
    let begun = anna.begin(&job, &[1]);
    let swapped = [&begun.to_cloud[..], &begun.to_generator];
    assert_eq!(reason(anna.hear(&running, begun.visit, swapped)), [Some(Reason::Unreadable); 2]);
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(6));
}

/// A client whose shares do not have the hashes that it dealt is found out; it is named and others go on.
#[test]
fn who_deals_what_does_not_fit_is_refused_and_shut_out_in_the_end() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    // Halves of two dealings with one counter.
    let lie = |anna: &mut Client<'_>, job: &Job| {
        let before = anna.receipt.clone();
        let one = anna.begin(job, &[1]);
        anna.receipt = before;
        let other = anna.begin(job, &[2]);
        let frames = [&one.to_generator[..], &other.to_cloud];
        // What the generator says is of its own half, which this visit does not have.
        assert_eq!(reason(anna.hear(&running, other.visit, frames)), [None, Some(Reason::WrongChallenge)]);
    };
    // The others of a run with a liar, in which there is no state, may deal again.
    let both = bo.job_at("both", &["anna", "bo"], 1);
    thread::scope(|scope| {
        scope.spawn(|| lie(&mut anna, &both));
        let ended = bo.visit_as(&running, &both, &[1]);
        assert!(ended.as_ref().is_err_and(|unanswered| unanswered.rejected.is_never_run()));
        assert_eq!(reason(ended), [Some(Reason::WrongChallenge); 2]);
    });
    for _ in 1..16 {
        let job = anna.job("show");
        lie(&mut anna, &job);
        assert_eq!(bo.visit(&running, "show", &[0]).expect("answered"), Some(6));
    }
    assert_eq!(reason(anna.visit(&running, "show", &[0])), [Some(Reason::Policy); 2]);
    for server in Server::BOTH {
        assert_eq!(world.told(&format!("{server}: refused show for anna: {}", Reason::WrongChallenge)), 15);
    }
    assert_eq!((world.told("unended"), world.told("parted"), world.told("met")), (0, 0, 2));
}

/// Both servers have all of the job, and would wait for each other.
#[test]
fn who_deals_to_each_server_with_another_counter_does_not_hold_up_the_others() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    let job = anna.job_at("both", &["anna", "bo"], 1);
    let [one, other] = [70, 71].map(|value| anna.begin(&job, &[value]));
    let began = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let frames = [&one.to_generator[..], &other.to_cloud];
            anna.hear(&running, other.visit, frames).map(drop).expect_err("it is refused")
        });
        let ended = bo.visit_as(&running, &job, &[7]);
        assert!(ended.as_ref().is_err_and(|unanswered| unanswered.rejected.is_never_run()));
        assert_eq!(reason(ended), [Some(Reason::Interrupted); 2]);
    });
    assert!(began.elapsed() < Duration::from_secs(30), "they are not kept for minutes");
    // Either the client has dealt so, or the other server says what is not so.
    drop(running);
    for (server, accused) in [(Server::Generator, [1, 3]), (Server::Cloud, [1, 0])] {
        let accused = accused.map(Party);
        let told = world.told(&format!("{server}: refused both for anna, bo: {} {accused:?}", Reason::Interrupted));
        assert_eq!(told, 1, "{server}");
    }
}

/// Strangers from one address, all of whom stay when they have been told that they are none.
#[test]
fn however_many_strangers_are_there_a_client_is_answered() {
    let world = World::new(Limits::default());
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    let _strangers = strangers(&running.addresses[0], 1000);
    let began = Instant::now();
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(6));
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "they are told so within two, or more where the machine is busy"
    );
}

#[test]
fn a_version_is_read_as_often_as_is_agreed() {
    let world = World::new(Limits { reads: Some(2), ..Limits::default() });
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    for _ in 0..2 {
        for _ in 0..2 {
            anna.visit(&running, "show", &[0]).expect("answered");
        }
        assert_eq!(reason(anna.visit(&running, "show", &[0])), [Some(Reason::Policy); 2]);
        anna.visit(&running, "add", &[0]).expect("answered");
    }
}

/// Many clients in turn, whose records and replies do not make the stores grow.
#[test]
fn many_visits_leave_stores_as_large_as_few() {
    let world = World::new(Limits::default());
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[0, 0]).expect("answered");
    let rounds = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 1000 } else { 40 };
    let size = |server: Server| {
        let files = std::fs::read_dir(world.folder.join(server.to_string())).expect("a store");
        files.map(|file| file.and_then(|file| file.metadata()).map_or(0, |meta| meta.len())).sum::<u64>()
    };
    let mut after_some = [0; 2];
    for round in 0..rounds {
        // A server takes 64 submissions of a client at once, and then 8 each second.
        if round > 100 {
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut client = world.client(CLIENTS[round % CLIENTS.len()]);
        client.receipt = anna.receipt.clone();
        client.visit(&running, "add", &[1]).expect("answered");
        anna.receipt = client.receipt.clone();
        if round == rounds / 2 {
            after_some = Server::BOTH.map(size);
        }
    }
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(rounds as u128 % 256));
    for (before, after) in after_some.into_iter().zip(Server::BOTH.map(size)) {
        assert!(after < before + (1 << 20), "{before} bytes, then {after}");
    }
}
