//! Every command knows the toy protocol of the book's chapter on adding one, without a change in the commands.
#![cfg(feature = "toy")]

use std::process::Command;

fn garblet(arguments: &[&str]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_garblet")).args(arguments).output().expect("it starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn the_toy_protocol_is_in_the_plan_and_runs() {
    let plan = garblet(&["plan", "lib:add(8)"]);
    assert!(plan.lines().any(|line| line.starts_with("ideal ")), "{plan}");
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = |name: &str, value: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!(r#"{{"{name}": {value}}}"#)).expect("a file");
        path.display().to_string()
    };
    let [a, b] = [format!("0={}", file("a", "40")), format!("1={}", file("b", "2"))];
    let inputs = ["--input", &a, "--input", &b];
    let ran = garblet(&[&["local", "lib:add(8)", "--protocol", "ideal", "--parties", "3"], &inputs[..]].concat());
    assert_eq!(ran, "sum = 42\n");
}
