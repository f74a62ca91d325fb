//! The commit that is built, for the foot of pages, and a setting of the curve that pages tell.

use std::process::Command;

/// The answer of git, if this is a clone and git is there.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    println!("cargo::rustc-env=GARBLET_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-check-cfg=cfg(curve25519_dalek_backend, values(\"avx512\"))");
    println!("cargo::rerun-if-changed=build.rs");
    // The log of HEAD grows with every commit; what is not there would have this run each time.
    for path in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]).filter(|path| std::path::Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
