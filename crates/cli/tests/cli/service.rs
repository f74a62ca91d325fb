//! A service and its callers, as processes.

mod data;
mod examples;
mod foreign;
mod killed;
mod log;
mod meshes;
mod operator;
mod policy;
mod written;

use std::{
    fs::File,
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    identities::keygen,
    invocation::{Folder, Ran, command, finish, garblet},
};

const SUM: &str = "pub fn main(a: u32, b: u32) -> u32 {\n    a + b\n}\n";

/// A number that appears only in inputs and results.
pub(crate) const PLANTED: u32 = 271_828_182;

/// The folder and identity of a service, and its callers' identities: each caller has a job to add two numbers.
pub(crate) struct Company {
    pub(crate) folder: Folder,
    pub(crate) fingerprint: String,
    program: String,
}

/// A running service, killed on drop.
pub(crate) struct Running {
    child: Option<Child>,
    pub(crate) address: String,
    log: String,
}

impl Company {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let (_, fingerprint) = keygen(&folder, "service.pem");
        std::fs::create_dir_all(folder.path("jobs")).expect("a folder");
        let program = folder.file("sum.garble.rs", SUM);
        folder.file("own.json", &format!("{{\"a\": {PLANTED}}}"));
        Company { folder, fingerprint, program }
    }

    /// Admits a caller with this name, with a job `sum-NAME`.
    pub(crate) fn trust(&self, name: &str) {
        let (_, fingerprint) = keygen(&self.folder, &format!("{name}.pem"));
        let trust = self.folder.path("trust.toml");
        assert_eq!(garblet(&["trust", "add", name, &fingerprint, "--trust", &trust]).status, Some(0));
        let parties = [format!("service={}", self.fingerprint), format!("{name}={fingerprint}")];
        let out = self.job(name);
        let ran =
            garblet(&["job", "new", &self.program, "--party", &parties[0], "--party", &parties[1], "--out", &out]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    }

    /// A caller's job.
    pub(crate) fn job(&self, name: &str) -> String {
        self.folder.path(&format!("jobs/sum-{name}.toml"))
    }

    /// Writes the configuration: these fields before the first table, and all rules.
    pub(crate) fn configure(&self, fields: &str, rules: &str) -> String {
        let text = format!(
            "listen = \"127.0.0.1:0\"\nidentity = \"service.pem\"\ntrust = \"trust.toml\"\njobs = \"jobs\"\nstate = \"state\"\nkey = \"state.key\"\n\
             {fields}\n{rules}"
        );
        self.folder.file("serve.toml", &text)
    }

    pub(crate) fn start(&self) -> Running {
        self.start_as("serve.toml", "log")
    }

    /// A command with its own configuration folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command.env("XDG_CONFIG_HOME", self.folder.path("config"));
        command
    }

    /// Starts the command.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        child.expect("the command starts")
    }

    /// The serving command.
    pub(crate) fn serve(&self, configuration: &str) -> Command {
        self.command(&["serve", "--config", &self.folder.path(configuration)])
    }

    /// Runs a service that fails to start.
    pub(crate) fn does_not_begin(&self) -> Ran {
        finish(self.begin(&["serve", "--config", &self.folder.path("serve.toml")]))
    }

    /// Starts a service with the configuration of this name.
    pub(crate) fn start_as(&self, configuration: &str, log: &str) -> Running {
        let log = self.folder.path(log);
        let file = File::create(&log).expect("a log");
        let mut child = self.serve(configuration);
        let child = child.stdout(Stdio::null()).stderr(file).spawn().expect("the command starts");
        let mut running = Running { child: Some(child), address: String::new(), log };
        let line = running.wait_for("listening address=");
        running.address = word(&line, "address=");
        running
    }

    /// Starts a call by `name` with the number `b`.
    pub(crate) fn call(&self, name: &str, b: u32, service: &Running, more: &[&str]) -> Child {
        self.call_under(&self.job(name), (name, b), service, more)
    }

    /// The same under the job in a file, or without a job if there is none.
    pub(crate) fn call_under(&self, job: &str, (name, b): (&str, u32), service: &Running, more: &[&str]) -> Child {
        let input = format!("1={}", self.folder.file(&format!("{name}-{b}.json"), &format!("{{\"b\": {b}}}")));
        let identity = self.folder.path(&format!("{name}.pem"));
        let agreed = match std::fs::exists(job).expect("a folder") {
            true => vec!["--job", job],
            false => vec![&self.program, "--party", "1", "--peer", &self.fingerprint],
        };
        let run = ["run", "--input", &input, "--connect", &service.address, "--identity", &identity];
        let receipts = self.folder.path(&format!("{name}.receipts"));
        let kept = ["--timeout", "20s", "--receipts", &receipts];
        self.begin(&[&run[..], &agreed, &kept, more].concat())
    }

    /// Calls and asserts that the service refuses for this reason, with this advice.
    pub(crate) fn is_refused(&self, name: &str, service: &Running, reason: &str, hint: &str) {
        let ran = finish(self.call(name, 1, service, &[]));
        ran.fails(1, &format!("error: the peer refuses: {reason}\nhint: {hint}\n"));
    }
}

/// A rule for the caller's job, with the planted number as input and a folder for results.
pub(crate) fn rule(name: &str, fields: &str) -> String {
    let fields = match fields {
        "" => "often = { total = 1000 }\ninputs = { file = \"own.json\" }\nresults = { folder = \"results\" }\n",
        fields => fields,
    };
    format!("[[rule]]\njob = \"sum-{name}\"\npeers = [\"{name}\"]\n{fields}\n")
}

pub(crate) fn sum(b: u32) -> String {
    format!("out0 = {}\n", PLANTED + b)
}

pub(crate) fn is_sum(ran: &Ran, b: u32) {
    assert_eq!((ran.status, &ran.stdout), (Some(0), &sum(b)), "{}", ran.stderr);
}

/// The word after a mark in a line.
pub(crate) fn word(line: &str, mark: &str) -> String {
    let (_, rest) = line.split_once(mark).unwrap_or_else(|| panic!("{mark} is not in {line}"));
    rest.split_whitespace().next().unwrap_or_default().into()
}

impl Running {
    /// A service started elsewhere, or a proxy before it.
    pub(crate) fn at(address: &str) -> Self {
        Running { child: None, address: address.into(), log: String::new() }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log")
    }

    /// Waits for a log line with this text.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            if let Some(line) = self.log().lines().find(|line| line.contains(text)) {
                return line.into();
            }
            let ended = self.child.as_mut().and_then(|child| child.try_wait().expect("a child"));
            assert!(ended.is_none() && begin.elapsed() < Duration::from_secs(60), "no `{text}`: {}", self.log());
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the log has this number of lines with this text, and returns the log.
    pub(crate) fn wait_for_all(&self, text: &str, count: usize) -> String {
        let begin = Instant::now();
        while self.log().matches(text).count() < count {
            assert!(begin.elapsed() < Duration::from_secs(60), "fewer than {count} `{text}`: {}", self.log());
            sleep(Duration::from_millis(20));
        }
        self.log()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = self.child.as_ref().expect("runs").id();
        let id = rustix::process::Pid::from_raw(id.cast_signed()).expect("a number");
        rustix::process::kill_process(id, signal).expect("it runs");
    }

    /// Waits until it ends by itself; returns the exit status and the log.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let status = self.child.take().expect("runs").wait().expect("ends");
        (status.code(), self.log())
    }

    pub(crate) fn kill(mut self) {
        let mut child = self.child.take().expect("runs");
        child.kill().expect("it runs");
        child.wait().expect("ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The response to a request for a page.
pub(crate) fn get(address: &str, path: &str) -> String {
    get_as(address, address, path)
}

/// The same, requested under another host name.
pub(crate) fn get_as(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("listens");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}
