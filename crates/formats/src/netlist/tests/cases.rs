//! Files of other tools: small ones of one gate, and the parts of each format.

use garblet_circuit::{Bits, evaluate};

use super::{hint, ports, read};

/// The outputs of a program for inputs that are numbers.
fn outputs(file: &str, text: impl AsRef<[u8]>, inputs: &[u128]) -> Vec<u128> {
    let program = read(file, text).unwrap();
    let inputs: Vec<Bits> = program
        .inputs()
        .iter()
        .zip(inputs)
        .map(|(input, value)| Bits::from_u128(*value, input.port.width() as usize))
        .collect();
    evaluate(&program, &inputs).iter().map(|output| output.to_u128().unwrap()).collect()
}

macro_rules! vector {
    ($name:literal) => {
        ($name, &include_bytes!(concat!("../../../../../vectors/circuits/foreign/", $name))[..])
    };
}

type Table = [u128; 4];
const AND: Table = [0, 0, 0, 1];

#[test]
fn small_files_of_other_tools_are_read() {
    let bristol = [["in0: bits1", "in1: bits1"].map(String::from).to_vec(), vec!["out0: bits1".to_string()]];
    let named = [["a: bits1", "b: bits1"].map(String::from).to_vec(), vec!["y: bits1".to_string()]];
    for ((file, text), expected, ands, expected_ports) in [
        (vector!("or-gate.txt"), [0, 1, 1, 1], 1, &bristol),
        (vector!("lor-gate.txt"), [0, 1, 1, 1], 1, &bristol),
        (vector!("nor-gate.txt"), [1, 0, 0, 0], 1, &bristol),
        (vector!("nand-gate.txt"), [1, 1, 1, 0], 1, &bristol),
        (vector!("xnor-gate.txt"), [1, 0, 0, 1], 0, &bristol),
        (vector!("lower-case-gate.txt"), AND, 1, &bristol),
        (vector!("comment-hash.txt"), AND, 1, &bristol),
        (vector!("comment-slash.txt"), AND, 1, &bristol),
        (vector!("bom.txt"), AND, 1, &bristol),
        (vector!("unsorted.txt"), [0, 1, 0, 0], 1, &bristol),
        (vector!("and.blif"), AND, 1, &named),
        (vector!("and.bench"), AND, 1, &named),
        (vector!("yosys.json"), AND, 1, &named),
    ] {
        let program = read(file, text).unwrap();
        assert_eq!((&ports(&program), program.counts().and), (expected_ports, ands), "{file}");
        let owners: Vec<u16> = program.inputs().iter().map(|input| input.owner.0).collect();
        assert_eq!(owners, [0, 1], "{file}");
        let got = [0u128, 1, 2, 3].map(|bits| outputs(file, text, &[bits & 1, bits >> 1])[0]);
        assert_eq!(got, expected, "{file}");
    }
    let (file, text) = vector!("and.aby");
    assert_eq!(ports(&read(file, text).unwrap()), [vec!["server: bits1", "client: bits1"], vec!["out0: bits1"]]);
    assert_eq!([0, 1, 2, 3].map(|bits| outputs(file, text, &[bits & 1, bits >> 1])[0]), AND);
    // Without names all bits are one port.
    for (file, text) in [vector!("and.aag"), vector!("and.aig")] {
        assert_eq!(ports(&read(file, text).unwrap()), [vec!["in0: bits2"], vec!["out0: bits1"]], "{file}");
        assert_eq!([0, 1, 2, 3].map(|bits| outputs(file, text, &[bits])[0]), AND);
    }
}

#[test]
fn kinds_are_told_by_the_text_where_the_name_says_nothing() {
    for (file, text) in [
        vector!("and.aag"),
        vector!("and.aig"),
        vector!("and.blif"),
        vector!("and.bench"),
        vector!("yosys.json"),
        vector!("and.aby"),
    ] {
        assert!(read("circuit", text).is_ok(), "{file}");
    }
    // A byte order mark and comments before the first line of text.
    for (file, text) in [vector!("and.blif"), vector!("and.bench"), vector!("and.aby")] {
        let text = format!("\u{feff}# why\n\n{}", std::str::from_utf8(text).unwrap());
        assert!(read("circuit", &text).is_ok(), "{file}: {:?}", read("circuit", &text));
    }
}

#[test]
fn verilog_and_other_json_are_refused_with_the_way_to_a_netlist() {
    let (file, text) = vector!("and.v");
    assert_eq!(read(file, text).unwrap_err(), "and.v: is Verilog: make a netlist of it first");
    assert!(hint(file, text).contains("yosys -p 'read_verilog FILE.v; synth -flatten; abc -g AND,XOR; write_json"));
    let (file, text) = vector!("gates.json");
    assert_eq!(
        read(file, text).unwrap_err(),
        "gates.json: is JSON, but not a program file: it has the keys name, wires, gates, alice, bob, out"
    );
    let hint = hint(file, text);
    assert!(hint.contains("components, inputs, instances and outputs") && hint.contains("Yosys"), "{hint}");
}

#[test]
fn every_gate_of_yosys_computes_its_function() {
    type Rule = fn(bool, bool, bool, bool) -> bool;
    let gates: [(&str, &str, Rule, u64); 16] = [
        ("BUF", "A", |a, _, _, _| a, 0),
        ("NOT", "A", |a, _, _, _| !a, 0),
        ("AND", "AB", |a, b, _, _| a & b, 1),
        ("NAND", "AB", |a, b, _, _| !(a & b), 1),
        ("OR", "AB", |a, b, _, _| a | b, 1),
        ("NOR", "AB", |a, b, _, _| !(a | b), 1),
        ("XOR", "AB", |a, b, _, _| a ^ b, 0),
        ("XNOR", "AB", |a, b, _, _| a == b, 0),
        ("ANDNOT", "AB", |a, b, _, _| a & !b, 1),
        ("ORNOT", "AB", |a, b, _, _| a | !b, 1),
        ("MUX", "ABS", |a, b, s, _| if s { b } else { a }, 1),
        ("NMUX", "ABS", |a, b, s, _| !if s { b } else { a }, 1),
        ("AOI3", "ABC", |a, b, c, _| !(a & b | c), 2),
        ("OAI3", "ABC", |a, b, c, _| !((a | b) & c), 2),
        ("AOI4", "ABCD", |a, b, c, d| !(a & b | c & d), 3),
        ("OAI4", "ABCD", |a, b, c, d| !((a | b) & (c | d)), 3),
    ];
    for (gate, pins, rule, ands) in gates {
        let connections: Vec<String> = pins.chars().zip(2..).map(|(pin, bit)| format!("\"{pin}\": [{bit}]")).collect();
        let bits: Vec<String> = (2..2 + pins.len()).map(|bit| bit.to_string()).collect();
        let text = format!(
            r#"{{"modules": {{"top": {{"ports": {{"x": {{"direction": "input", "bits": [{}]}},
            "y": {{"direction": "output", "bits": [9]}}}},
            "cells": {{"g": {{"connections": {{{}, "Y": [9]}}, "type": "$_{gate}_"}}}}}}}}}}"#,
            bits.join(", "),
            connections.join(", ")
        );
        assert_eq!(read("g.json", &text).unwrap().counts().and, ands, "{gate}");
        for x in 0..1u128 << pins.len() {
            let [a, b, c, d] = [0, 1, 2, 3].map(|bit| x >> bit & 1 == 1);
            assert_eq!(outputs("g.json", &text, &[x]), [u128::from(rule(a, b, c, d))], "{gate} {x}");
        }
    }
}

#[test]
fn modules_of_yosys_are_chosen_by_the_mark_of_the_top() {
    let module = |top: &str, y: &str| {
        format!(
            r#"{{"attributes": {{{top}}}, "ports": {{"a": {{"direction": "input", "bits": [2]}},
            "y": {{"direction": "output", "bits": [{y}]}}}}, "cells": {{"s": {{"type": "$scopeinfo"}}}}}}"#
        )
    };
    let all = |modules: &[(&str, &str)]| {
        let modules: Vec<String> =
            modules.iter().zip(1..).map(|((top, y), k)| format!("\"m{k}\": {}", module(top, y))).collect();
        format!("{{\"creator\": \"Yosys\", \"modules\": {{{}}}}}", modules.join(", "))
    };
    let top = r#""top": "00000000000000000000000000000001""#;
    assert_eq!(outputs("t.json", all(&[("", "2"), (top, "\"1\""), ("", "2")]), &[0]), [1]);
    assert_eq!(outputs("t.json", all(&[("\"top\": 0", "2"), ("\"top\": 1", "2, \"1\"")]), &[1]), [3]);
    assert_eq!(outputs("t.json", all(&[("\"blackbox\": 1", "2"), ("", "\"0\"")]), &[1]), [0]);
    let none = all(&[("", "2"), ("", "2")]);
    assert_eq!(read("t.json", &none).unwrap_err(), "t.json: has 2 modules, none of them marked as the top: m1, m2");
    assert!(hint("t.json", &none).contains("-top NAME"));
    assert_eq!(read("t.json", all(&[])).unwrap_err(), "t.json: is a netlist of Yosys without modules, expected one");
}

#[test]
fn functions_of_blif_have_rows_for_one_or_for_zero() {
    let with = |names: &str| format!(".model m\n.inputs a b c\n.outputs y\n{names}\n.end\n");
    let table = |names: &str| -> Vec<u128> {
        (0..8).map(|x| outputs("m.blif", with(names), &[x & 1, x >> 1 & 1, x >> 2])[0]).collect()
    };
    assert_eq!(table(".names a b c y\n1-0 1\n-11 1"), [0, 1, 0, 1, 0, 0, 1, 1]);
    assert_eq!(table(".names a b c y\n1-0 0\n-11 0"), [1, 0, 1, 0, 1, 1, 0, 0]);
    assert_eq!(table(".names y"), [0; 8]);
    assert_eq!(table(".names y\n1"), [1; 8]);
    assert_eq!(table(".names y\n0"), [0; 8]);
    assert_eq!(table(".names a b y\n-- 1"), [1; 8]);
    assert_eq!(table(".names a b y"), [0; 8]);
    assert_eq!(table(".conn b y"), [0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(table(".names \\\n a \\\n y # copied\n1 \\\n1"), [0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(table(".area 3\n.names a y\n0 1\n.end\n.exdc\n.names a y\n1 1"), [1, 0, 1, 0, 1, 0, 1, 0]);
    // Functions of two inputs take one AND gate at most, an XOR none.
    let ands = |names: &str| read("m.blif", with(names)).unwrap().counts().and;
    assert_eq!(["11 1", "11 0", "1- 1\n-1 1", "01 1"].map(|rows| ands(&format!(".names a b y\n{rows}"))), [1; 4]);
    assert_eq!(ands(".names a b y\n10 1\n01 1"), 0);
    assert_eq!(ands(".names a b c y\n100 1\n010 1\n001 1\n111 1"), 0);
}

#[test]
fn functions_of_many_inputs_are_read_row_by_row() {
    let names: Vec<String> = (0..9).map(|k| format!("x[{k}]")).collect();
    let text =
        format!(".inputs {0}\n.outputs y\n.names {0} y\n1111----- 1\n----0000- 1\n--------1 1\n", names.join(" "));
    for x in 0..512u128 {
        let expected = x & 15 == 15 || x >> 4 & 15 == 0 || x >> 8 == 1;
        assert_eq!(outputs("many.blif", &text, &[x]), [u128::from(expected)], "{x}");
    }
    let all = text.replace("--------1 1", "--------- 1");
    assert_eq!(outputs("all.blif", &all, &[0b1_0101_0101]), [1]);
}

#[test]
fn gates_of_bench_have_any_number_of_inputs_and_any_case() {
    let with = |gate: &str| format!("# c\nINPUT(a)\ninput ( b )\nINPUT(c)\nOUTPUT(y)\ny = {gate}\n");
    let table = |gate: &str| -> Vec<u128> {
        (0..8).map(|x| outputs("m.bench", with(gate), &[x & 1, x >> 1 & 1, x >> 2])[0]).collect()
    };
    assert_eq!(table("AND(a, b, c)"), [0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(table("nand(a,b,c)"), [1, 1, 1, 1, 1, 1, 1, 0]);
    assert_eq!(table("OR (a, b)"), [0, 1, 1, 1, 0, 1, 1, 1]);
    assert_eq!(table("NOR(a, b)"), [1, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(table("XOR(a, b, c)"), [0, 1, 1, 0, 1, 0, 0, 1]);
    assert_eq!(table("XNOR(a, b)"), [1, 0, 0, 1, 1, 0, 0, 1]);
    assert_eq!(table("NOT(a)"), [1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(table("BUFF(a)"), [0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(table("LUT 0xca ( a, b, c )"), [0, 1, 0, 1, 0, 0, 1, 1]);
    assert_eq!(table("vdd"), [1; 8]);
    assert_eq!(table("gnd"), [0; 8]);
    assert_eq!(table("LUT 0x1 ()"), [1; 8]);
}

#[test]
fn circuits_of_aby_have_every_gate_and_ignore_other_lines() {
    let text = "#Statistics:\nS 0 1 2\n\n#Inputs Bob\nC \n0 -2\n1 -3\nX\t0\t-3\t3\nA 0 1 4\nV 0 1 5\nI 2 6\nM 0 1 2 7\nX 4 -2 8\n\nDFFs:\n\nO 3 4 5 \nO 6 7 8\n";
    let program = read("g.aby", text).unwrap();
    assert_eq!(ports(&program), [vec!["server: bits3"], vec!["out0: bits6"]]);
    for x in 0..8u128 {
        let (a, b, c) = (x & 1, x >> 1 & 1, x >> 2);
        let chosen = if c == 1 { b } else { a };
        let expected = (1 - a) | (a & b) << 1 | (a | b) << 2 | (1 - c) << 3 | chosen << 4 | (a & b) << 5;
        assert_eq!(outputs("g.aby", text, &[x]), [expected], "{x}");
    }
    // Inputs of one party alone belong to it, and those of both may be mixed.
    let client = read("c.aby", "C 0 1\nA 0 1 2\nO 2\n").unwrap();
    assert_eq!(client.inputs()[0].owner.0, 1);
    assert_eq!(outputs("m.aby", "S 0\nC 1\nS 2\nO 0 1 2\n", &[0b01, 1]), [0b011]);
}

#[test]
fn names_of_aiger_make_ports() {
    let text =
        "aag 5 3 0 2 2\n2\n4\n6\n8\n11\n8 2 5\n10 8 6\ni0 x[1]\ni1 b\ni2 x[0]\no1 y[0]\no0 y[1]\nc\nanything \u{7}\n";
    assert_eq!(ports(&read("n.aag", text).unwrap()), [vec!["x: bits2", "b: bits1"], vec!["y: bits2"]]);
    for x in 0..8u128 {
        let (x0, x1, b) = (x & 1, x >> 1 & 1, x >> 2);
        let and = x1 & (1 - b);
        assert_eq!(outputs("n.aag", text, &[x0 | x1 << 1, b]), [(1 - (and & x0)) | and << 1], "{x}");
    }
    // Names of some bits alone are not used.
    assert_eq!(ports(&read("n.aag", text.replace("i1 b\n", "")).unwrap())[0], ["in0: bits3"]);
    // Numbers of states and constraints may be there, if they are 0.
    assert_eq!(outputs("z.aag", "aag 1 1 0 2 0 0 0 0 0\n2\n0\n3\n", &[0]), [2]);
}

/// The values of `mix.v` as Yosys evaluates the Verilog itself: `a`, `b`, `sel`, then `fixed`, `parity`, `y`.
const VALUES: &str = include_str!("../../../../../vectors/circuits/yosys/mix.txt");

macro_rules! mix {
    ($name:literal) => {
        ($name, &include_bytes!(concat!("../../../../../vectors/circuits/yosys/", $name))[..])
    };
}

#[test]
fn netlists_of_yosys_and_abc_have_the_values_of_the_verilog() {
    let rows: Vec<Vec<u128>> = VALUES
        .lines()
        .skip(1)
        .map(|line| line.split(' ').map(|bits| u128::from_str_radix(bits, 2).unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 128);
    for (file, text) in [
        mix!("mix.json"),
        mix!("mix.blif"),
        mix!("mix.aag"),
        mix!("mix.aig"),
        mix!("mix.bench"),
        mix!("mix-lut.bench"),
        mix!("mix-lut.blif"),
    ] {
        let mut ports = ports(&read(file, text).unwrap());
        assert_eq!(ports[0], ["a: bits3", "b: bits3", "sel: bits1"], "{file}");
        ports[1].sort_unstable();
        assert_eq!(ports[1], ["fixed: bits2", "parity: bits1", "y: bits4"], "{file}");
        let names: Vec<String> =
            read(file, text).unwrap().outputs().iter().map(|output| output.port.name.clone()).collect();
        for row in &rows {
            let got = outputs(file, text, &row[..3]);
            for (name, got) in names.iter().zip(got) {
                let expected = ["fixed", "parity", "y"].iter().position(|known| known == name).unwrap();
                assert_eq!(got, row[3 + expected], "{file} {name} {row:?}");
            }
        }
    }
}

#[test]
fn an_input_of_64_wires_takes_a_double() {
    let program = read("d.txt", "1 65\n1 64\n1 1\n\n2 1 0 63 64 XOR\n").unwrap();
    let text = include_str!("../../../../../vectors/circuits/foreign/float-input.json");
    let inputs = crate::value::read_inputs(&program, garblet_circuit::Party(0), "float-input.json", text).unwrap();
    assert_eq!(inputs[0].1.to_u128(), Some((-3.0f64).to_bits().into()));
}
