//! Pages of the examples and of the benchmarks in a browser: headless Chromium, driven from Node.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{party, programs, steps::cargo, web};

/// The browser and its driver, and the Debian packages that have them.
const COMMANDS: [&str; 2] = ["chromium", "chromedriver"];
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// The pages: of the examples, and of the benchmarks; and what a page does without a browser, beside commands.
const TESTS: [&str; 7] = [
    "web/browser/friends.test.mjs",
    "web/browser/page.test.mjs",
    "web/browser/papers.test.mjs",
    "web/browser/party.test.mjs",
    "web/browser/receipts.test.mjs",
    "web/test/job.test.mjs",
    "web/test/visit.test.mjs",
];

/// Findings, one line each. A missing browser is reported loudly and is not a finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let left_out = |reason: String| {
        eprintln!("{reason}\nPAGES WERE NOT TRIED IN A BROWSER");
        Vec::new()
    };
    if !web::package(root).join("garblet_bg.wasm").exists() {
        return left_out("the client for pages is missing".into());
    }
    if let Err(reason) = needed() {
        return left_out(reason);
    }
    match made(root).and_then(|made| try_pages(root, &made)) {
        Ok(()) => Vec::new(),
        Err(finding) => vec![finding],
    }
}

/// Checks that the browser is installed, or installs it on Debian if we have the rights.
fn needed() -> Result<(), String> {
    if !programs::is_there("node") {
        return Err("node is not installed".into());
    }
    programs::with_debian(&COMMANDS, &PACKAGES)
}

/// The command, whose servers the pages visit, and the laboratory, which makes one of the pages, built as for all tests together.
fn made(root: &Path) -> Result<[PathBuf; 2], String> {
    let build = ["test", "--workspace", "--test", "soak", "--test", "lab", "--no-run", "--quiet"];
    programs::run(cargo().args(build).current_dir(root))?;
    Ok(["garblet", "garblet-lab"].map(|name| programs::target(root).join("debug").join(name)))
}

fn try_pages(root: &Path, [command, laboratory]: &[PathBuf; 2]) -> Result<(), String> {
    let pictures = programs::target(root).join("web-pictures");
    let mut node = Command::new("node");
    // A test that failed leaves its browser and servers, which would keep Node waiting.
    node.args(["--test", "--test-concurrency", "1", "--test-reporter", "spec", "--test-force-exit"]);
    node.args(TESTS).current_dir(root);
    node.env("REPORT", root.join("docs/measured/report.json"));
    node.env("PARTY", party::package(root))
        .env("PACKAGE", web::package(root))
        .env("GARBLET", command)
        .env("LAB", laboratory)
        .env("PICTURES", &pictures);
    let said = programs::run(node.env("TOOLS", programs::target(root).join("web-tools")))?;
    for line in said.lines().filter(|line| line.contains("NOT TRIED") || line.contains("MEASURED")) {
        eprintln!("{}", line.trim());
    }
    eprintln!("{}", pictures.display());
    Ok(())
}
