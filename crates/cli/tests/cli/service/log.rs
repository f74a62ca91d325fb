//! Standard error in every state: no trouble with it ends a service or a command.

use std::{
    fs::{File, OpenOptions},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{Company, Running, get, is_sum, rule, word};
use crate::{
    identities::keygen,
    invocation::{Folder, command, finish},
};

/// A service whose log cannot be written; its address and that of its page are known beforehand.
struct Mute {
    company: Company,
    child: Child,
    address: String,
    page: String,
}

impl Mute {
    fn start(name: &str, log: Stdio) -> Self {
        let company = Company::new(name);
        company.trust("bob");
        let [address, page] = &crate::many_parties::free_addresses(2)[..] else { panic!("two addresses") };
        let file = company.configure(&format!("metrics = \"{page}\"\n"), &rule("bob", ""));
        let text = std::fs::read_to_string(&file).expect("written");
        company.folder.file("serve.toml", &text.replace("127.0.0.1:0", address));
        let child = company.serve("serve.toml").stdout(Stdio::null()).stderr(log).spawn().expect("starts");
        let begin = Instant::now();
        while std::net::TcpStream::connect(page).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        Mute { address: address.clone(), page: page.clone(), company, child }
    }

    /// Serves a caller, a stranger, and the caller again.
    fn serves(mut self) -> String {
        let service = Running::at(&self.address);
        is_sum(&finish(self.company.call("bob", 4, &service, &[])), 4);
        for _ in 0..4 {
            let mut stranger = std::net::TcpStream::connect(&self.address).expect("listens");
            std::io::Write::write_all(&mut stranger, &[0x55]).expect("sent");
        }
        let (_, _) = keygen(&self.company.folder, "mallory.pem");
        let unknown = finish(self.company.call_under("no job", ("mallory", 5), &service, &[]));
        assert_eq!(unknown.status, Some(1), "{}", unknown.stderr);
        is_sum(&finish(self.company.call("bob", 6, &service, &[])), 6);
        let mut metrics = get(&self.page, "/metrics");
        // The second is counted once its receipt is written.
        while !metrics.contains("garblet_sessions_total{job=\"sum-bob\",outcome=\"done\",work=\"run\"} 2") {
            metrics = get(&self.page, "/metrics");
        }
        assert!(get(&self.page, "/readyz").starts_with("HTTP/1.1 200"), "{metrics}");
        assert_eq!(self.child.try_wait().expect("known"), None, "it has ended");
        self.child.kill().expect("it runs");
        self.child.wait().expect("ends");
        metrics
    }
}

/// The number of lost lines.
fn lost(metrics: &str) -> u64 {
    word(metrics, "\ngarblet_log_lines_lost_total ").parse().expect("a number")
}

#[test]
fn a_full_log_only_loses_lines() {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let metrics = Mute::start("service-full-log", full.into()).serves();
    assert!(lost(&metrics) >= 4, "{metrics}");
}

#[test]
fn a_log_whose_reader_is_gone_only_loses_lines() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let metrics = Mute::start("service-gone-log", writer.into()).serves();
    assert!(lost(&metrics) >= 4, "{metrics}");
}

#[test]
fn an_unread_log_does_not_block_the_service() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    // Another writer has filled the pipe and blocks until it is read.
    let mut other = writer.try_clone().expect("a copy");
    std::thread::spawn(move || std::io::Write::write_all(&mut other, &[b'\n'; 1 << 20]));
    std::thread::sleep(Duration::from_millis(300));
    let metrics = Mute::start("service-blocked-log", writer.into()).serves();
    assert!(metrics.contains("garblet_sessions_total{job=\"sum-bob\",outcome=\"done\",work=\"run\"} 2"), "{metrics}");
    drop(reader);
}

#[test]
fn a_closed_log_only_loses_lines() {
    Mute::start("service-null-log", Stdio::null()).serves();
}

#[test]
fn a_full_standard_error_ends_no_command() {
    let folder = Folder::new("full-stderr");
    let circuit = folder.path("sum.txt");
    let (_, print) = keygen(&folder, "bob.pem");
    let [trust, alice] = ["trust.toml", "alice.pem"].map(|name| folder.path(name));
    let inputs = ["--input", "0=examples/aes/key.json", "--input", "1=examples/aes/block.json"];
    let calls: [Vec<&str>; 5] = [
        vec!["keygen", &alice],
        vec!["trust", "list", "--trust", &trust],
        vec!["trust", "add", "bob", &print, "--trust", &trust],
        vec!["convert", "lib:add(8)", &circuit],
        [&["local", "lib:aes128", "--protocol", "yao"][..], &inputs].concat(),
    ];
    for call in calls {
        let full = || OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let ran = command(&call).stdout(Stdio::null()).stderr(full()).status().expect("starts");
        assert_eq!(ran.code(), Some(0), "{call:?}");
        // Nor does a full standard output; that failure is reported.
        if call[0] == "local" {
            let ran = command(&call).stdout(full()).stderr(File::create(folder.path("err")).expect("a file")).status();
            assert_eq!(ran.expect("starts").code(), Some(1), "{call:?}");
            let told = std::fs::read_to_string(folder.path("err")).expect("told");
            assert!(told.contains("standard output: cannot be written"), "{told}");
        }
    }
}
