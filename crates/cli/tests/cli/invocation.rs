//! Runs the tested program, [`crate::PROGRAM`].

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The result of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output as the JSON object of a successful run.
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, Some(0), "{}", self.stderr);
        serde_json::from_str(&self.stdout).expect("one JSON object")
    }

    /// Asserts a failure with this status and exactly this text on standard error, and nothing on standard output.
    pub(crate) fn fails(&self, status: i32, stderr: &str) {
        assert_eq!(self.stderr, stderr);
        assert_eq!(self.status, Some(status), "{}", self.stderr);
        assert_eq!(self.stdout, "");
    }
}

/// The root of the workspace, where the command runs.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The command with arguments, standard streams piped.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::PROGRAM);
    command.args(arguments).current_dir(root());
    // Keep records of stores out of the configuration of the user who runs the tests.
    command.env("XDG_CONFIG_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/config"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the command to its end.
pub(crate) fn garblet(arguments: &[&str]) -> Ran {
    finish(start(arguments))
}

/// Starts the command.
pub(crate) fn start(arguments: &[&str]) -> Child {
    command(arguments).spawn().expect("the command starts")
}

/// Waits for a started command.
pub(crate) fn finish(child: Child) -> Ran {
    let output = child.wait_with_output().expect("the command ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A temporary folder for one test, removed on drop.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("garblet-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    /// The path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file for the test");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
