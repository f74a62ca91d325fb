//! Sessions that end in unusual ways, and what they hold in the hall.

use std::{
    fs,
    path::Path,
    sync::{Mutex, mpsc::channel},
    thread::spawn,
};

use garblet::{
    Party,
    net::{Caller, Hello, JOB, MESH, NetError, memory_pair},
    run_report::digest_text,
};
use garblet_console::{args::ProgramArgs, hex::to_hex, program, receipts::Receipts, session::Watched};
use tokio::time::timeout;

use super::{
    super::{
        config,
        counters::{Counters, SharedCounters},
        counting::Counting,
        farewells::Farewells,
        metrics::Metrics,
        outbox::Outbox,
        session::Stores,
    },
    *,
};

/// The hall of a service with one job for two parties.
fn hall(folder: &Path, limits: &str) -> Hall {
    let rule = "party = 0\ninputs = { file = \"own.json\", beat = \"1ms\" }\n";
    hall_with(folder, ("yao", 2), limits, rule)
}

/// The hall of a service with one job under this protocol for so many parties, and fields of its rule.
fn hall_with(folder: &Path, (protocol, parties): (&str, usize), limits: &str, rule: &str) -> Hall {
    let program = program::load(&ProgramArgs::plain("lib:add(8)")).expect("a program");
    let names = (0..parties).map(|party| format!("[[party]]\nname = \"party-{party}\"\n")).collect::<String>();
    let job = format!(
        "name = \"sum\"\nprogram = \"lib:add(8)\"\ndigest = \"{}\"\nprotocol = \"{protocol}\"\n{names}",
        digest_text(&program)
    );
    let file = folder.join("serve.toml");
    let configuration = format!(
        "listen = \"127.0.0.1:0\"\ninsecure_plain_tcp = true\njobs = \"jobs\"\nstate = \"state\"\nkey = \"key\"\n[limits]\n{limits}\n\
         [[rule]]\njob = \"sum\"\noften = {{ total = 9 }}\n{rule}"
    );
    fs::create_dir(folder.join("jobs")).expect("a folder");
    for (name, text) in [("jobs/sum.toml", &job[..]), ("serve.toml", &configuration), ("own.json", "{\"a\": 1}")] {
        fs::write(folder.join(name), text).expect("written");
    }
    let config = Arc::new(config::load(&file).expect("a configuration"));
    let counters = Counters::open(&config.state, Some(&folder.join("key")), &folder.join("records")).expect("opens");
    let receipts = Arc::new(Receipts::at(&config.receipts).expect("a log"));
    let (metrics, in_force) = (Metrics::new(), watch::Sender::new(config));
    let shared = Shared {
        counters: SharedCounters::new(counters),
        metrics: metrics.clone(),
        stores: Stores::default(),
        receipts: receipts.clone(),
        farewells: Farewells::new(metrics, receipts),
        ahead: ReadAhead::default(),
        outbox: Outbox::new(in_force.subscribe()),
    };
    Hall::new(in_force, shared)
}

/// The rule of a store that is refilled, with these fields.
fn refilled(fields: &str, refill: &str) -> String {
    format!(
        "{fields}\nstore = \"store\"\nstock = {{ triples = 16, masks = 16 }}\nrefill = {{ {refill} every = \"250ms\" }}\n\
         inputs = {{ file = \"own.json\" }}\n"
    )
}

/// A port that takes connections and says nothing, and its address.
fn silent() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    (listener, address)
}

/// Waits until a refill has ended.
async fn refill_ends(hall: &mut Hall) {
    while !matches!(hall.refills.values().next(), Some(Some(_))) {
        let event = next(hall).await;
        hall.note(event);
    }
}

/// A caller that asks for the job, and its own end.
fn caller(hall: &Hall) -> (Caller, garblet::net::Channel) {
    let (mut channel, theirs) = memory_pair();
    let (watch, from) = (channel.watch(), ([127, 0, 0, 1], 1).into());
    let hello = Hello::new("yao", 1, 2, [7; 32]).with(JOB, &hall.config().offers[0].digest);
    (Caller { channel, hello, watch, from }, theirs)
}

#[tokio::test]
async fn what_a_caller_asks_for_is_told_in_a_few_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let hall = hall(folder.path(), "");
    let (config, hello) = (hall.config(), Hello::new(&"y".repeat(5_000), 1, 2, [7; 32]));
    let (digest, protocol) = (config.offers[0].digest.clone(), format!("{}...", "y".repeat(37)));
    for (job, says) in [
        (String::new(), format!("program {} under {protocol}, without a job", "07".repeat(32))),
        (digest.clone(), format!("job {digest} under {protocol}, here sum")),
        ("0".repeat(64), format!("job {} under {protocol}", "0".repeat(64))),
        ("j".repeat(5_000), format!("job {}... under {protocol}", "j".repeat(37))),
    ] {
        assert_eq!(config.asked_for(&hello.clone().with(JOB, job)), says);
    }
}

/// Runs `meanwhile` while the counters cannot be used, as if the disk did not answer.
async fn without_disk(hall: &mut Hall, meanwhile: impl AsyncFnOnce(&mut Hall)) {
    let counters = hall.shared.counters.clone();
    let (say, held) = channel();
    let (release, released) = channel::<()>();
    let disk = spawn(move || {
        let _disk = counters.lock();
        say.send(()).expect("the test waits");
        // Until the sender is dropped.
        let _ = released.recv();
    });
    held.recv().expect("it is held");
    meanwhile(hall).await;
    drop(release);
    disk.join().expect("it ends");
}

/// The next event.
async fn next(hall: &mut Hall) -> Event {
    timeout(Duration::from_secs(60), hall.next()).await.expect("something happens")
}

#[tokio::test]
async fn an_aborted_session_keeps_its_place_until_its_thread_has_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "session = \"2s\"\nmemory_mb = 1");
    without_disk(&mut hall, async |hall: &mut Hall| {
        let (caller, _theirs) = caller(hall);
        hall.receive(caller);
        let ended = next(hall).await;
        assert!(matches!(ended, Event::Ended(_)));
        hall.note(ended);
        assert!(timeout(Duration::from_millis(300), hall.next()).await.is_err(), "its thread has ended");
        assert_eq!((hall.running(), hall.of_peer.len()), (1, 1));
        assert!(hall.is_empty(), "it does not keep the service from stopping");
        assert!(!hall.has_memory(), "waiting for it may help");
        let hangs = next(hall).await;
        assert!(matches!(hangs, Event::Hangs));
        hall.note(hangs);
        assert!(hall.has_memory(), "nobody waits for it");
        assert_eq!((hall.running(), hall.hanging), (1, 1), "it keeps its place");
    })
    .await;
    let left = next(&mut hall).await;
    assert!(matches!(left, Event::Left(_)));
    hall.note(left);
    assert_eq!((hall.running(), hall.hanging, hall.of_peer.len()), (0, 0, 0));
    let receipts = fs::read_to_string(&hall.config().receipts).expect("a log");
    assert!(receipts.lines().count() == 1 && receipts.contains("it took too long"), "{receipts}");
}

/// Its thread computes while it is given up, and then sends without waiting.
#[tokio::test]
async fn the_receipt_of_a_session_that_was_given_up_has_all_that_was_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "");
    let (mut ours, mut theirs) = memory_pair();
    let passed = theirs.watch();
    let (config, offer) = (hall.config(), hall.config().offers[0].clone());
    let ticket = hall.ticket(&offer, None, None);
    let admitted = Admitted {
        request: hall.request(&ticket, &offer, 0, (None, None)),
        others: offer.others(0, None),
        offer,
        rule: 0,
        options: config.options(),
        config,
        work: Work::Compute(Box::new(memory_pair().0)),
        alone: None,
        counting: Counting::default(),
        watched: Arc::new(Mutex::new(Watched::of_channel(&mut ours, Party(0)))),
    };
    let ending = Ending::of(&admitted, hall.let_in(ticket), hall.shared.clone());
    let (say, is_sent) = channel();
    let (go_on, goes_on) = channel::<()>();
    let session = on_own_thread(move || async move {
        ours.send_bytes(b"before").await.expect("the peer is there");
        ours.flush().await.expect("the peer is there");
        say.send(()).expect("the test waits");
        // Until the sender is dropped.
        let _ = goes_on.recv();
        while ours.send_bytes(b"after").await.is_ok() && ours.flush().await.is_ok() {}
        ours.abort().await;
        Err(Stopped::Died)
    });
    is_sent.recv().expect("it is sent");
    hall.over.send_replace(true);
    let result = result_in_time(session, (Duration::from_secs(3600), hall.over.subscribe()), &ending).await;
    ending.conclude(result, Duration::ZERO).await;
    let receipt = fs::read_to_string(&hall.config().receipts).expect("a log");
    drop(go_on);
    theirs.receive_bytes(&mut [0; 6]).await.expect("it was sent");
    let got = to_hex(&passed.received().digest);
    assert!(receipt.contains(&format!("\"sent\":\"{got}\"")), "{got}: {receipt}");
    let error = theirs.receive_bytes(&mut [0]).await.expect_err("nothing left after it was given up");
    assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
}

/// One aborted session hangs after its end was recorded, and the end of another, which never had a place, is not recorded yet.
#[tokio::test]
async fn a_session_that_never_began_hides_none_that_hangs_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "session = \"2s\"");
    without_disk(&mut hall, async |hall: &mut Hall| {
        let (caller, _theirs) = caller(hall);
        hall.receive(caller);
        let ended = next(hall).await;
        hall.note(ended);
        hall.unbegun.spawn(std::future::pending());
        assert_eq!((hall.unended(), hall.outlasting()), (1, 1));
    })
    .await;
    let left = next(&mut hall).await;
    hall.note(left);
    assert_eq!((hall.unended(), hall.outlasting()), (1, 0));
}

#[tokio::test]
async fn a_task_that_panics_keeps_no_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "");
    let ticket = hall.ticket(&hall.config().offers[0], None, None);
    let stay = hall.let_in(ticket);
    stay.take_place();
    hall.running += 1;
    hall.sessions.spawn(async move {
        let _stay = stay;
        std::panic::resume_unwind(Box::new(()))
    });
    for _ in 0..2 {
        let event = next(&mut hall).await;
        assert!(matches!(event, Event::Left(_) | Event::Panicked(SESSION_PANICKED)));
        hall.note(event);
    }
    assert_eq!((hall.running(), hall.of_peer.len()), (0, 0));
    assert!(hall.is_empty());
}

/// The next session must not start in the place of one whose receipt could not be written.
#[tokio::test]
async fn a_place_is_free_only_after_a_failed_receipt_has_closed_the_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "session = \"2s\"");
    let (caller, mut theirs) = caller(&hall);
    hall.receive(caller);
    Hello::ahead(&mut theirs).await.expect("a session that had room for its receipt");
    fs::write(&hall.config().receipts, "no receipt\n").expect("ours");
    // Whatever else has happened, in any order, is not noted.
    while !matches!(next(&mut hall).await, Event::Left(_)) {}
    assert!(hall.shared.farewells.is_closed());
}

#[tokio::test]
async fn a_caller_is_refused_while_the_log_of_receipts_is_damaged_and_the_next_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "");
    fs::write(&hall.config().receipts, "no receipt\n").expect("ours");
    let (first, mut theirs) = caller(&hall);
    hall.receive(first);
    let told = Hello::new("yao", 1, 2, [7; 32]).exchange(&mut theirs).await.expect_err("no room");
    assert!(matches!(told, NetError::Refused { refusal: Refusal::Closed }), "only its operator can mend it: {told}");
    while !hall.of_peer.is_empty() {
        let event = next(&mut hall).await;
        hall.note(event);
    }
    assert!(!hall.shared.farewells.is_closed(), "no receipt was lost");
    hall.look(0);
    assert!(hall.shared.metrics.lacks_room());
    fs::write(&hall.config().receipts, "").expect("ours");
    hall.seeking = None;
    hall.look(0);
    timeout(Duration::from_secs(30), async {
        while hall.shared.metrics.lacks_room() {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("ready without a caller");
    let (second, mut theirs) = caller(&hall);
    hall.receive(second);
    Hello::ahead(&mut theirs).await.expect("it begins");
}

/// Parties that are called and say nothing hold up neither the store nor the next try, and nobody calls the party that calls all others.
#[tokio::test]
async fn a_refill_with_silent_parties_ends_in_time_and_the_next_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let [(_anna, anna), (_bob, bob)] = [silent(), silent()];
    let peers = [&anna[..], &bob, "127.0.0.1:1"].map(|address| format!("[[party]]\naddress = \"{address}\"\n"));
    fs::write(folder.path().join("peers.toml"), peers.concat()).expect("written");
    let rule = refilled("party = 2\naddresses = \"peers.toml\"", "");
    let mut hall = hall_with(folder.path(), ("authenticated-bmr", 3), "wait = \"1s\"", &rule);
    for _ in 0..2 {
        hall.look(0);
        assert_eq!((hall.gathering.len(), hall.running), (1, 0), "it waits for all without a place");
        sleep(Duration::from_millis(200)).await;
        assert!(hall.shared.stores.alone(&hall.config().offers[0].rules[0]).is_ok(), "the store is free");
        hall.look(0);
        assert_eq!(hall.gathering.len(), 1, "one try at a time");
        refill_ends(&mut hall).await;
        assert!(hall.gathering.is_empty() && hall.of_peer.is_empty());
        sleep(Duration::from_millis(300)).await;
    }
    let config = hall.config();
    let hello = Hello::new(MESH, 0, 3, [0; 32]).with(JOB, &config.offers[0].digest);
    for decided in [config.decide(&hello, None), config.decide_filling(&hello, None)] {
        assert_eq!(decided, Err("calls-all-others"));
    }
}

/// It ends by the time-out of a peer that says nothing, and by the longest time of a session otherwise.
#[tokio::test]
async fn a_refill_with_a_silent_peer_ends_in_time_and_the_next_begins() {
    for limits in ["timeout = \"1s\"", "session = \"1s\""] {
        let folder = tempfile::tempdir().expect("a folder");
        let (_peer, address) = silent();
        let rule = refilled("party = 0", &format!("at = \"{address}\","));
        let mut hall = hall_with(folder.path(), ("authenticated", 2), limits, &rule);
        for _ in 0..2 {
            hall.look(0);
            assert_eq!(hall.running, 1, "{limits}");
            assert!(hall.shared.stores.alone(&hall.config().offers[0].rules[0]).is_err(), "{limits}");
            refill_ends(&mut hall).await;
            assert_eq!((hall.running, hall.of_peer.len()), (0, 0), "{limits}");
            assert!(hall.shared.stores.alone(&hall.config().offers[0].rules[0]).is_ok(), "{limits}");
            sleep(Duration::from_millis(300)).await;
        }
    }
}

#[tokio::test]
async fn over_plain_tcp_pauses_tell_callers_apart_by_their_addresses() {
    let folder = tempfile::tempdir().expect("a folder");
    let hall = hall(folder.path(), "");
    let offer = hall.config().offers[0].clone();
    let ticket = hall.ticket(&offer, None, None);
    let from = |address: &str| hall.request(&ticket, &offer, 0, (None, Some(address.parse().expect("an address"))));
    let [one, again, other] = ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"].map(from);
    assert!(one.paused == again.paused && one.paused != other.paused);
    let [six, near, far] = ["fd00:0:0:1::1", "fd00:0:0:1:8::2", "fd00:0:0:2::1"].map(from);
    assert!(six.paused == near.paused && six.paused != far.paused, "a caller may have all addresses of a network");
    assert_eq!((&one.peers, &one.counted), (&other.peers, &other.counted));
}

#[tokio::test]
async fn a_caller_that_leaves_the_queue_frees_its_place_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hall = hall(folder.path(), "sessions = 1\nwaiting = 1\nwait = \"1h\"");
    without_disk(&mut hall, async |hall: &mut Hall| {
        let ((first, _first), (second, gone), (third, _third)) = (caller(hall), caller(hall), caller(hall));
        hall.receive(first);
        hall.receive(second);
        hall.look(0);
        assert_eq!((hall.running(), hall.waiting.len()), (1, 1), "it is still there");
        drop(gone);
        hall.look(0);
        assert_eq!((hall.running(), hall.waiting.len()), (1, 0));
        let mut has_ended = false;
        while !has_ended || hall.of_peer.values().any(|sessions| *sessions > 1) {
            let event = next(hall).await;
            has_ended |= matches!(event, Event::Ended(_));
            hall.note(event);
        }
        hall.receive(third);
        assert_eq!((hall.running(), hall.waiting.len()), (1, 1));
    })
    .await;
    let receipts = fs::read_to_string(&hall.config().receipts).expect("a log");
    assert!(receipts.contains("the caller left while it waited for a place"), "{receipts}");
}
