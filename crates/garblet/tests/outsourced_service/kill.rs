//! Servers that are killed at a write: each visit counts once or not at all, and both servers have one version.
//!
//! Each server is a process of this program, in the test [`child`]; of one of them the store's hook ends it, as nothing but SIGKILL does, before a
//! write of a chosen number, counted from its start.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use garblet::outsourced::Limits;
use garblet_client::{Begun, Server};
use tokio::sync::watch;

use crate::world::{Client, Running, World, free_address};

/// More runs that do not end than there are kills in a life.
const LIMITS: Limits = Limits { retries: 50, reads: None };

/// Lives at the same time.
const AT_ONCE: usize = 4;

/// Visits of a life, each of which adds one.
const VISITS: usize = 3;

fn variable(name: &str) -> Option<String> {
    std::env::var(format!("GARBLET_SERVICE_{name}")).ok()
}

/// The entry of a server's process; in a normal run there is nothing to do.
#[test]
fn child() {
    let Some(folder) = variable("FOLDER").map(PathBuf::from) else { return };
    let server = Server::BOTH[usize::from(variable("SERVER").as_deref() == Some("1"))];
    let last: usize = variable("WRITES").and_then(|writes| writes.parse().ok()).unwrap_or(usize::MAX);
    let writes = AtomicUsize::new(0);
    let hook = move || {
        if writes.fetch_add(1, Ordering::Relaxed) == last {
            kill_self();
        }
    };
    let world = World::at(folder, LIMITS, Arc::new(hook));
    let (_stop, stopped) = watch::channel(false);
    let (_threads, address) = world.serve(server, variable("MEETING").expect("it is set"), &stopped);
    println!("visitors {address}");
    // Until the parent kills this process, or is gone.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}

fn kill_self() {
    let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
    // Nothing more happens here, if the signal takes its time.
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// A server's process, and where it lets clients in unless it was killed before.
struct Process {
    child: Child,
    address: Option<String>,
}

impl Process {
    fn start(folder: &Path, server: Server, meeting: &str, writes: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "kill::child", "--nocapture", "--test-threads", "1"]);
        command.env("GARBLET_SERVICE_FOLDER", folder).env("GARBLET_SERVICE_MEETING", meeting);
        command.env("GARBLET_SERVICE_SERVER", (server as usize).to_string());
        command.env("GARBLET_SERVICE_WRITES", writes.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let mut told = lines.filter_map(|line| line.split_once("visitors ").map(|(_, address)| address.to_string()));
        let address = told.next();
        Process { child, address }
    }

    /// Tells whether it was killed.
    fn is_gone(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both servers, of which one is killed at a write.
struct Life {
    world: World,
    meeting: String,
    processes: [Process; 2],
    kills: usize,
}

impl Life {
    fn begin(folder: &Path, server: Server, writes: usize) -> Self {
        let (world, meeting) = (World::at(folder.into(), LIMITS, Arc::new(|| ())), free_address());
        let processes = Server::BOTH.map(|each| {
            let writes = if each == server { writes } else { usize::MAX };
            Process::start(folder, each, &meeting, writes)
        });
        Life { world, meeting, processes, kills: 0 }
    }

    /// Starts again who was killed.
    fn mend(&mut self) {
        for server in Server::BOTH {
            let process = &mut self.processes[server as usize];
            if process.address.is_none() || process.is_gone() {
                self.kills += 1;
                *process = Process::start(&self.world.folder, server, &self.meeting, usize::MAX);
            }
        }
    }

    fn running(&self) -> Running {
        let addresses = self.processes.each_ref().map(|process| process.address.clone().expect("it has come again"));
        Running { stop: watch::channel(false).0, threads: Vec::new(), addresses }
    }

    /// A visit, asked for again by the same frames if a server was killed; tells whether it was answered.
    fn visit(&mut self, client: &mut Client<'_>, offer: &str, values: &[u128]) -> bool {
        self.mend();
        let job = client.job(offer);
        let Begun { visit, to_generator, to_cloud, .. } = client.begin(&job, values);
        let (pending, frames) = (visit.pending().encode(), [&to_generator[..], &to_cloud]);
        if client.hear(&self.running(), visit, frames).is_ok() {
            return true;
        }
        self.mend();
        client.resume(&self.running(), &pending, frames).is_ok()
    }

    /// The sum, as both servers have it; none if there is no state. Asked for again if a server was killed.
    fn show(&mut self, bo: &mut Client<'_>) -> Option<u128> {
        let mut version = bo.receipt.version();
        // Longer than a process that was killed can take to be gone on a machine that is busy.
        for _ in 0..600 {
            self.mend();
            match bo.visit_as(&self.running(), &bo.job_at("show", &["bo"], version), &[0]) {
                Ok(shown) => return shown,
                Err(unanswered) => match unanswered.rejected.state_now() {
                    Some((0, _)) => return None,
                    Some((now, _)) => version = now,
                    // Who was killed is gone in a moment.
                    None => thread::sleep(Duration::from_millis(100)),
                },
            }
        }
        panic!("nobody is killed twice, and nobody else makes versions");
    }
}

/// A life of two servers, of which one is killed at that write. Returns how many were killed: none if there are fewer writes.
fn live(server: Server, writes: usize) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let elsewhere = World::at(folder.path().into(), LIMITS, Arc::new(|| ()));
    let mut life = Life::begin(folder.path(), server, writes);
    let (mut anna, mut bo) = (elsewhere.client("anna"), elsewhere.client("bo"));
    let mut sum = None;
    for number in 0..=VISITS {
        let (offer, values) = if number == 0 { ("start", &[0, 0][..]) } else { ("add", &[1][..]) };
        let answered = life.visit(&mut anna, offer, values);
        life.mend();
        // Who comes next has the sum, and both servers say the same, or there is no state yet.
        let shown = life.show(&mut bo);
        let expected = sum.map_or(Some(0), |sum: u128| Some(sum + 1));
        assert!(shown == expected || shown == sum && !answered, "{sum:?}, then {shown:?}, {server} at write {writes}");
        sum = shown;
        anna.receipt = bo.receipt.clone().with_counter(anna.receipt.counter());
        if sum.is_none() {
            assert!(life.visit(&mut anna, "start", &[0, 0]), "nobody is killed twice");
            sum = Some(0);
        }
    }
    life.kills
}

/// The lives that are to come, and what came of those before.
struct Lives {
    begun: usize,
    kills: usize,
    /// The next write of each server.
    writes: [usize; 2],
}

/// Kills at every write of both servers, the first as the last, again and again; in the short form at some. Clients mostly wait, so several lives go on at once.
#[test]
fn each_visit_counts_once_or_not_at_all_at_whichever_write_a_server_is_killed() {
    let (most, step) = if std::env::var_os("GARBLET_TEST_FULL").is_some() { (1000, 1) } else { (6, 13) };
    let lives = Mutex::new(Lives { begun: 0, kills: 0, writes: [0; 2] });
    let lock = || lives.lock().unwrap_or_else(PoisonError::into_inner);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let (at, write) = {
                        let mut lives = lock();
                        if lives.kills >= most {
                            break;
                        }
                        let at = lives.begun % 2;
                        let write = lives.writes[at];
                        lives.begun += 1;
                        lives.writes[at] += step;
                        (at, write)
                    };
                    let killed = live(Server::BOTH[at], write);
                    let mut lives = lock();
                    lives.kills += killed;
                    // Behind the last write, it begins anew.
                    if killed == 0 {
                        println!("the {} has fewer than {} writes in a life", Server::BOTH[at], write + 1);
                        lives.writes[at] = 0;
                    }
                }
            });
        }
    });
    let Lives { begun, kills, .. } = *lock();
    println!("{kills} kills in {begun} lives");
}
