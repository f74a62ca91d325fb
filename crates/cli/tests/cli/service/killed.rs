//! A service killed at any moment: every counted run has exactly one receipt.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{sleep, spawn},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;

use super::{Company, Running, is_sum, rule};
use crate::invocation::{finish, garblet};

/// The points of a session at which the service is killed.
const POINTS: usize = 10;

/// A proxy between a caller and a service that reports when this number of bytes has passed in both directions, and then passes no more.
struct Relay {
    address: String,
    reached: Receiver<()>,
    bytes: Arc<AtomicU64>,
}

impl Relay {
    fn to(service: &Running, most: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, target) = (listener.local_addr().expect("known").to_string(), service.address.clone());
        let (say, reached) = channel();
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = bytes.clone();
        spawn(move || {
            let Ok((caller, _)) = listener.accept() else { return };
            let service = TcpStream::connect(target).expect("it listens");
            if most == 0 {
                let _ = say.send(());
            }
            let pairs = [(&caller, &service), (&service, &caller)];
            let copies = pairs.map(|(from, to)| [from, to].map(|end| end.try_clone().expect("a copy")));
            let copies = copies.map(|[from, to]| {
                let (say, counted) = (say.clone(), counted.clone());
                spawn(move || pass(from, to, (&counted, most), &say))
            });
            copies.into_iter().for_each(|copy| copy.join().expect("it ends"));
        });
        Relay { address, reached, bytes }
    }
}

/// Passes bytes on one by one until the limit.
fn pass(mut from: TcpStream, mut to: TcpStream, (counted, most): (&AtomicU64, u64), say: &Sender<()>) {
    let mut byte = [0; 64];
    while let Ok(read @ 1..) = from.read(&mut byte) {
        if counted.fetch_add(read as u64, Ordering::Relaxed) + read as u64 >= most {
            let _ = say.send(());
            // Until the caller or the service ends.
            let _ = from.read_to_end(&mut Vec::new());
            break;
        }
        if to.write_all(&byte[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// A proxy that passes on all that a caller sends, and what the service sends up to this byte; the rest once the service has closed the connection. Returns
/// its address and the number of bytes that the service has sent.
fn holding(service: &Running, most: u64) -> (Running, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, target) = (listener.local_addr().expect("known").to_string(), service.address.clone());
    let bytes = Arc::new(AtomicU64::new(0));
    let counted = bytes.clone();
    spawn(move || {
        let (caller, _) = listener.accept().expect("a caller");
        let service = TcpStream::connect(target).expect("it listens");
        let [mut asks, mut asked] = [&caller, &service].map(|end| end.try_clone().expect("a copy"));
        spawn(move || {
            // Until one of them is gone.
            let _ = std::io::copy(&mut asks, &mut asked);
            let _ = asked.shutdown(Shutdown::Write);
        });
        let (mut from, mut to, mut kept) = (service, caller, Vec::new());
        let mut byte = [0; 64];
        while let Ok(read @ 1..) = from.read(&mut byte) {
            match counted.fetch_add(read as u64, Ordering::Relaxed) + read as u64 <= most {
                true => to.write_all(&byte[..read]).expect("it listens"),
                false => kept.extend_from_slice(&byte[..read]),
            }
        }
        let _ = to.write_all(&kept);
        let _ = to.shutdown(Shutdown::Both);
    });
    (Running::at(&address), bytes)
}

/// A service whose results go to a program that can be paused.
fn company(name: &str, total: usize, limits: &str) -> Company {
    let company = Company::new(name);
    company.trust("bob");
    let [hold, held] = ["hold", "held"].map(|name| company.folder.path(name));
    let program = format!("cat > /dev/null; if [ -e {hold} ]; then touch {held}; sleep 5; fi");
    let fields = format!(
        "often = {{ total = {total} }}\ninputs = {{ file = \"own.json\" }}\nresults = {{ exec = [\"sh\", \"-c\", \"{program}\"] }}\n"
    );
    company.configure(limits, &rule("bob", &fields));
    company
}

fn wait_for(file: &str) {
    let begin = Instant::now();
    while !Path::new(file).exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{file} does not come");
        sleep(Duration::from_millis(5));
    }
}

fn receipts(company: &Company) -> Vec<Value> {
    let text = std::fs::read_to_string(company.folder.path("state/receipts.jsonl")).expect("a log");
    text.lines().map(|line| serde_json::from_str(line).expect("a receipt")).collect()
}

/// Kills the service at one of the points of a session.
fn kill_at(point: usize, company: &Company, service: Running, (bytes, jitter): (u64, u64)) {
    let [hold, held] = ["hold", "held"].map(|name| company.folder.path(name));
    match point {
        // While the results program is running.
        8 => {
            std::fs::write(&hold, "").expect("written");
            let caller = company.call("bob", 5, &service, &[]);
            wait_for(&held);
            service.kill();
            finish(caller);
            std::fs::remove_file(&hold).expect("there");
            std::fs::remove_file(&held).expect("there");
        }
        // When the caller has its result.
        9 => {
            is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
            sleep(Duration::from_micros(jitter % 20_000));
            service.kill();
        }
        // After a part of all bytes.
        part => {
            let relay = Relay::to(&service, bytes * part as u64 / 8);
            let caller = company.call("bob", 5, &Running::at(&relay.address), &[]);
            relay.reached.recv_timeout(Duration::from_secs(60)).expect("this number of bytes passes");
            sleep(Duration::from_micros(jitter % 4_000));
            service.kill();
            finish(caller);
        }
    }
}

#[test]
fn a_counted_run_has_one_receipt_whenever_the_service_is_killed() {
    let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 200 } else { POINTS };
    let total = kills + 3;
    let company = company("service-killed", total, "");
    let (mut begun, mut logs) = (BTreeSet::new(), String::new());
    let service = company.start();
    let relay = Relay::to(&service, u64::MAX);
    is_sum(&finish(company.call("bob", 5, &Running::at(&relay.address), &[])), 5);
    let bytes = relay.bytes.load(Ordering::Relaxed);
    service.wait_for_all(" done session=", 1);
    let mut note = |log: String| {
        let sessions = log.lines().filter_map(|line| line.split_once(" begins session=\""));
        begun.extend(sessions.filter_map(|(_, rest)| Some(rest.split_once('"')?.0.to_string())));
        logs += &log;
    };
    note(service.log());
    service.kill();
    for round in 0..kills {
        let service = company.start();
        let log = company.folder.path("log");
        kill_at(round % POINTS, &company, service, (bytes, 7_919 * (round / POINTS) as u64));
        note(std::fs::read_to_string(log).expect("a log"));
    }
    // All remaining runs that the limit allows.
    let service = company.start();
    let mut more = 0;
    while finish(company.call("bob", 6, &service, &[])).status == Some(0) {
        more += 1;
    }
    assert!(more >= 2, "at least this number is left: {more}");
    service.wait_for_all(" done session=", more);
    note(service.log());
    service.signal(Signal::TERM);
    service.ended();
    let counted: Vec<Value> = receipts(&company)
        .into_iter()
        .filter(|receipt| {
            let message = receipt["ended"]["failed"]["message"].as_str().unwrap_or_default();
            receipt["ended"]["ok"].is_object() || message.contains("outcome, which is unknown")
        })
        .collect();
    let sessions: BTreeSet<String> =
        counted.iter().map(|receipt| receipt["session"].as_str().expect("its number").to_string()).collect();
    assert_eq!((counted.len(), sessions.len()), (total, total), "{logs}");
    assert!(begun.is_subset(&sessions), "{begun:?} {sessions:?}");
    let all = receipts(&company).len();
    let verified = garblet(&["receipts", "verify", &company.folder.path("state/receipts.jsonl")]);
    assert!(verified.stdout.starts_with(&format!("{all} receipts")), "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn a_service_that_ends_kills_the_program_that_takes_a_result() {
    let company = Company::new("service-ends-delivery");
    company.trust("bob");
    let held = company.folder.path("held");
    let program = format!("cat > /dev/null; echo $$ > {held}.new; mv {held}.new {held}; sleep 300");
    let fields = format!(
        "often = {{ total = 9 }}\ninputs = {{ file = \"own.json\" }}\nresults = {{ exec = [\"sh\", \"-c\", \"{program}\"], time = \"300s\" }}\n"
    );
    company.configure("[limits]\nstop = \"300ms\"\n", &rule("bob", &fields));
    let service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    wait_for(&held);
    let program = std::fs::read_to_string(&held).expect("its number");
    let runs = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", program.trim()));
        state.is_ok_and(|state| !state.contains(") Z "))
    };
    assert!(runs(), "{program}");
    service.signal(Signal::TERM);
    let (status, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains("it killed the program to which it was handing this result"), "{log}");
    assert!(log.contains("THE RESULT OF THIS SESSION MAY BE LOST"), "{log}");
    let kept = receipts(&company);
    assert!(kept.len() == 1 && kept[0]["ended"]["ok"].is_object(), "{kept:?}");
    assert!(!runs(), "it is still running: {log}");
}

#[test]
fn a_service_removes_the_drafts_of_one_that_was_killed() {
    let company = Company::new("service-drafts");
    company.trust("bob");
    let file = company.configure("", &rule("bob", ""));
    std::fs::create_dir(company.folder.path("results")).expect("a folder");
    let [left, fresh, own] =
        ["results/.garblet-left", "results/.garblet-fresh", "results/own"].map(|name| company.folder.file(name, "{"));
    let old = std::time::SystemTime::now() - Duration::from_secs(3_600);
    for path in [&left, &own, &file] {
        std::fs::File::options().append(true).open(path).and_then(|file| file.set_modified(old)).expect("ours");
    }
    let mut service = company.start();
    assert!(service.wait_for("removed unfinished files").contains("files=1"), "{}", service.log());
    assert_eq!([&left, &fresh, &own].map(|path| Path::new(path).exists()), [false, true, true]);
}

#[test]
fn a_service_stopped_while_delivering_a_result_has_its_receipt() {
    let company = company("service-stopped-late", 3, "[limits]\nstop = \"300ms\"\n");
    std::fs::write(company.folder.path("hold"), "").expect("written");
    let service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    wait_for(&company.folder.path("held"));
    assert_eq!(receipts(&company).len(), 1, "it is written before the result is delivered");
    assert!(service.log().contains(" done session="), "{}", service.log());
    service.signal(Signal::TERM);
    let (status, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
    let kept = receipts(&company);
    assert!(kept.len() == 1 && kept[0]["ended"]["ok"].is_object(), "{kept:?}");
}

/// The caller has sent all that it sends, and the rest of what the service has sent is still on its way when the service gives up: both have seen the same.
#[test]
fn both_receipts_of_a_session_that_a_stopped_service_gave_up_have_the_same_data() {
    let company = Company::new("service-given-up");
    company.trust("bob");
    let (job, bob) = (company.job("bob"), garblet(&["id", &company.folder.path("bob.pem")]).stdout);
    std::fs::remove_file(&job).expect("there");
    let parties = [format!("service={}", company.fingerprint), format!("bob={}", bob.trim())];
    // The caller alone learns the sum, so it sends nothing after it.
    let new = ["job", "new", &company.program, "--to", "out0=1", "--out", &job];
    let made = garblet(&[&new[..], &["--party", &parties[0], "--party", &parties[1]]].concat());
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    company.configure("[limits]\nstop = \"1s\"\n", &rule("bob", ""));
    let service = company.start();
    let (relay, bytes) = holding(&service, u64::MAX);
    is_sum(&finish(company.call("bob", 5, &relay, &[])), 5);
    service.wait_for_all(" done session=", 1);
    let (relay, _) = holding(&service, bytes.load(Ordering::Relaxed) - 300);
    let caller = company.call("bob", 6, &relay, &[]);
    service.wait_for_all(" begins session=", 2);
    service.signal(Signal::TERM);
    let (status, log) = service.ended();
    assert!(status == Some(0) && log.contains("out of time to stop: aborting sessions sessions=1"), "{log}");
    is_sum(&finish(caller), 6);
    let kept = receipts(&company);
    let told = kept[1]["ended"]["failed"]["message"].as_str().unwrap_or_default();
    assert_eq!((kept.len(), told), (2, "the service was stopped, so the session was aborted"), "{log}");
    let [ours, theirs] = ["state/receipts.jsonl", "bob.receipts"].map(|log| company.folder.path(log));
    let compared = garblet(&["receipts", "compare", &ours, &theirs]);
    let same = "ours 2 and theirs 2: the same run; each received what the other sent; ours ended without a result, theirs with a result\n";
    assert!(compared.stdout.ends_with(same) && compared.status == Some(0), "{}{}", compared.stdout, compared.stderr);
}
