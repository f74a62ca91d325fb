//! Large circuits in a binary file; in the full form so large that their gates stay there.

use std::fs;

use garblet::{
    Party, Program,
    circuit::{Circuit, Component, Gate, Port, Type, Wire},
    formats::Format,
};

use crate::invocation::{Folder, garblet};

/// In the full form just too many gates to be in memory.
fn gate_count() -> u32 {
    if std::env::var_os("GARBLET_TEST_FULL").is_some() { (1 << 24) + 5 } else { (1 << 16) + 5 }
}

/// A circuit of two inputs of eight bits.
fn large() -> Vec<u8> {
    let gate = |g| match g % 7 {
        0 => Gate::And(Wire(g), Wire(g + 5)),
        1 => Gate::Not(Wire(g + 9)),
        _ => Gate::Xor(Wire(g + 3), Wire(g + 15)),
    };
    let gates = gate_count();
    let outputs = (0..7).map(|k| Wire(gates + 15 - k)).chain([Wire(3)]).collect();
    let circuit = Circuit::new(16, (0..gates).map(gate).collect(), outputs).expect("in order");
    let ports = |names: &[&str]| names.iter().map(|name| Port::new(*name, Type::Unsigned(8))).collect();
    let component = Component::new("large", ports(&["a", "b"]), ports(&["y"]), circuit).expect("it fits");
    let program = Program::from_component(component, &[Party(0), Party(1)]).expect("it fits");
    let mut bytes = Vec::new();
    Format::Binary.write(&program, &mut bytes).expect("memory holds it");
    bytes
}

#[test]
fn a_large_circuit_is_inspected_planned_and_run_from_its_file() {
    let folder = Folder::new("in-place");
    let (file, bytes) = (folder.path("large.gbc"), large());
    fs::write(&file, &bytes).unwrap();
    let inspected = garblet(&["inspect", &file, "--json"]).json();
    let plan = garblet(&["plan", &file, "--protocol", "yao"]);
    let ands = inspected["program"]["garbled_and"].as_u64().expect("a number");
    let in_file = inspected["program"]["and"].as_u64().expect("a number");
    assert!(ands > u64::from(gate_count()) / 10 && ands <= in_file);
    let planned = plan.stdout.strip_prefix("large: ").and_then(|text| text.split_once(" AND gates"));
    let planned = planned.map(|(count, _)| count.replace(',', ""));
    assert_eq!(planned, Some(in_file.to_string()), "{} {}", plan.stdout, plan.stderr);
    let inputs = [folder.file("a.json", "{\"a\": 201}"), folder.file("b.json", "{\"b\": 77}")];
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let ran = garblet(&["local", &file, "--input", &inputs[0], "--input", &inputs[1], "--json"]).json();
    // The plain evaluator has all gates in memory.
    let plain = garblet(&["eval", &file, "--input", &inputs[0], "--input", &inputs[1], "--json"]).json();
    assert_eq!(ran["outputs"]["y"], plain["outputs"]["y"], "{ran}");
    assert_eq!(ran["program_digest"], inspected["program_digest"]);
    if gate_count() > 1 << 24 {
        let memory = ran["per_party"].as_array().expect("two parties").iter();
        let memory: Vec<u64> = memory.filter_map(|party| party["peak_rss_bytes"].as_u64()).collect();
        // Gates in memory have twelve bytes each.
        assert!(memory.iter().all(|bytes| *bytes < 12 * u64::from(gate_count())), "{memory:?}");
    }
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let short = garblet(&["local", &file, "--input", &inputs[0], "--input", &inputs[1]]);
    let message = format!("error: byte {}: the file ends, expected ", bytes.len() / 2 + 1);
    assert!(short.status == Some(2) && short.stderr.contains(&message), "{}", short.stderr);
}
