//! Sources that can panic and whose outputs stay in stores.

use serde_json::json;

use crate::invocation::{Folder, Ran, garblet};

const ADD: &str = "pub fn main(a: u8, b: u8) -> u8 {\n    a + b\n}\n";

/// Runs a protocol with every party on this machine, with stores that are topped up.
struct World {
    folder: Folder,
    program: String,
    protocol: Vec<&'static str>,
}

impl World {
    fn new(name: &str, protocol: &[&'static str]) -> Self {
        let folder = Folder::new(name);
        let program = folder.file("add.garble.rs", ADD);
        World { folder, program, protocol: protocol.to_vec() }
    }

    fn run(&self, more: &[&str], [one, other]: [&str; 2]) -> Ran {
        let (stores, key) = (self.folder.path("stores"), self.folder.path("key"));
        let kind = if one.starts_with('{') { "json" } else { "csv" };
        let [one, other] =
            [("one", one), ("other", other)].map(|(name, text)| self.folder.file(&format!("{name}.{kind}"), text));
        let all = self.protocol.contains(&"outsourced");
        let inputs = [format!("{}={one}", u8::from(all)), format!("1={other}")];
        let both = ["--input", &inputs[0], "--input", &inputs[1]];
        let stock = ["--panics", "on", "--store", &stores, "--store-key", &key, "--top-up"];
        let inputs = if all { &both[..2] } else { &both[..] };
        garblet(&[&["local", &self.program], &self.protocol[..], &stock, more, inputs].concat())
    }
}

#[test]
fn two_parties_save_the_output_of_a_source_that_can_panic() {
    for protocol in ["authenticated", "lego"] {
        let world = World::new(&format!("kept-{protocol}"), &["--protocol", protocol]);
        let ran = world.run(&["--keep", "total", "--json"], [r#"{"a": 30}"#, r#"{"b": 12}"#]);
        assert_eq!(ran.status, Some(0), "{protocol}: {}", ran.stderr);
        let report = ran.json();
        assert_eq!(report["outputs"]["out0"]["value"], json!(42), "{protocol}: {report}");
        // A run that panics has no result, and the saved value stays.
        let ran = world.run(&["--keep", "total"], [r#"{"a": 200}"#, r#"{"b": 100}"#]);
        assert_eq!((ran.status, &ran.stdout[..]), (Some(1), ""), "{protocol}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("panic") && ran.stderr.contains("what was kept before is unchanged"),
            "{protocol}: {}",
            ran.stderr
        );
        let ran = world.run(&["--read", "a=total"], ["{}", r#"{"b": 7}"#]);
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "out0 = 49\n"), "{protocol}: {}", ran.stderr);
    }
}

#[test]
fn two_parties_save_the_outputs_of_the_rows_of_such_a_source() {
    let world = World::new("kept-rows", &["--protocol", "lego", "--batch", "rows"]);
    let ran = world.run(&["--keep", "totals", "--json"], ["a\n30\n1\n", "b\n12\n2\n"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(ran.json()["outputs"]["out0"]["value"], json!([42, 3]));
}

#[test]
fn servers_save_the_output_of_a_source_that_can_panic() {
    let owners = ["--protocol", "outsourced", "--parties", "3", "--owner", "a=1", "--owner", "b=1"];
    let world = World::new("kept-outsourced", &owners);
    let ran = world.run(&["--to", "out0=nobody", "--keep", "total"], [r#"{"a": 30, "b": 12}"#, "{}"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let ran = world.run(&["--to", "out0=1", "--read", "a=total"], [r#"{"b": 7}"#, "{}"]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "out0 = 49\n"), "{}", ran.stderr);
}
