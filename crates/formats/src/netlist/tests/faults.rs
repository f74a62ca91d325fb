//! Files that are wrong: each is refused with its place, and costs no more than its text.

use garblet_circuit::{Bits, evaluate};

use super::{hint, read};

fn fails(file: &str, text: impl AsRef<[u8]>) -> String {
    match read(file, text) {
        Err(message) => message,
        Ok(program) => panic!("{file} is read as {program:?}"),
    }
}

/// Asserts that each text is refused with its message.
fn assert_refused(file: &str, cases: impl IntoIterator<Item = (String, String)>) {
    let got = cases.into_iter().map(|(text, expected)| (fails(file, &text), expected, text));
    let wrong: Vec<String> = got
        .filter(|(got, expected, _)| *got != format!("{file}:{expected}"))
        .map(|(got, expected, text)| format!("{text}\n{got}\nexpected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn faults_of_blif_have_their_place() {
    let cases = [
        (".names a y\n11 1\n", "5:1: expected 1 of `0`, `1` and `-`, got `11`"),
        (".names a b y\n1x 1\n", "5:1: expected 2 of `0`, `1` and `-`, got `1x`"),
        (".names a b y\n11\n", "5:1: 1 words, expected a row for 2 inputs: a pattern and its value"),
        (".names y\n1 1\n", "5:1: 2 words, expected a row for 0 inputs: a pattern and its value"),
        (".names a y\n1 2\n", "5:3: expected 0 or 1, got `2`"),
        (".names a y\n1 1\n0 0\n", "6:3: the value 0, expected 1 as in the rows before"),
        (".names\n", "4:1: `.names` has no output, expected its inputs and its output"),
        ("1 1\n", "4:1: expected a directive such as .names, got `1`"),
        (".names a y\n1 1\n.names b y\n1 1\n", "6:10: `y` is set twice"),
        (".names a a\n1 1\n", "4:10: `a` is set twice"),
        (".inputs b\n", "4:9: `b` is set twice"),
        (".names a c y\n11 1\n", "4:10: `c` is read, but nothing sets it"),
        ("", "3:10: `y` is read, but nothing sets it"),
        (".names a y y\n11 1\n", "4:12: `y` depends on itself: gates feed one another in a cycle"),
        (".names c y\n1 1\n.names y c\n1 1\n", "4:10: `y` depends on itself: gates feed one another in a cycle"),
        (".latch a y re clk 0\n.latch a z 3\n", "4:1: has 2 latches, but a circuit has no memory"),
        (".subckt add A=a Y=y\n", "4:1: `.subckt` refers to another model, expected .names"),
        (".gate and2 A=a B=b O=y\n", "4:1: `.gate` is a cell of a library, expected .names"),
        (".clock clk\n", "4:1: `.clock` declares a clock, but a circuit computes its outputs at once"),
        (
            ".blackbox\n",
            "4:1: `.blackbox` is no directive of BLIF that makes a circuit, expected .inputs, .outputs or .names",
        ),
        (".end\n.names a y\n1 1\n", "5:1: `.names` after .end"),
        (".end\n.model n\n", "5:1: a second model, expected one"),
    ];
    assert_refused(
        "m.blif",
        cases.map(|(text, expected)| (format!(".model m\n.inputs a b\n.outputs y\n{text}"), expected.to_string())),
    );
    assert!(
        hint("m.blif", ".latch a b\n")
            .contains("yosys-abc -c 'read FILE.blif; strash; frames -i -F 8; write_blif OUT.blif'")
    );
    assert!(hint("m.blif", ".subckt a b\n").contains("synth -flatten -top NAME"));
    assert!(hint("m.blif", ".gate a b\n").contains("abc -g AND,XOR"));
    let no_outputs = "m.blif: has no outputs, expected a line such as `.outputs y`";
    assert_eq!(fails("m.blif", ".inputs a\n.names a y\n1 1\n"), no_outputs);
    assert_eq!(fails("m.blif", "# cut off"), no_outputs);
    assert_eq!(fails("m.blif", b".inputs \xff\n"), "m.blif: is not UTF-8 from byte 8 on");
    assert_eq!(fails("m.blif", ".inputs a\n.outputs a a\n"), "m.blif: component `m`: output port `a` appears twice");
}

#[test]
fn faults_of_bench_have_their_place() {
    let cases = [
        ("y = AND(a, c)", "4:12: `c` is read, but nothing sets it"),
        ("y = NAN(a, b)", "4:5: unknown gate `NAN`, expected one of AND, NAND, OR, NOR, XOR, XNOR, NOT, BUF, LUT"),
        ("y = NOT(a, b)", "4:5: NOT of 2 signals, expected 1"),
        ("y = AND()", "4:5: AND of no signals, expected 1 or more"),
        ("y = AND(a b)", "4:11: expected a comma, got `b`"),
        ("y = AND(a,, b)", "4:11: expected a name, got `,`"),
        ("y = AND(a, )", "4:10: expected a name after the comma"),
        ("y = AND(a, b", "4:1: expected INPUT(NAME), OUTPUT(NAME) or NAME = GATE(NAME, ..)"),
        ("y = LUT 0x10 (a, b)", "4:9: expected a table of 4 bits such as 0x8, got `0x10`"),
        ("y = LUT 8 (a, b)", "4:9: expected a table of 4 bits such as 0x8, got `8`"),
        ("y = LUT 0x+8 (a, b)", "4:9: expected a table of 4 bits such as 0x8, got `0x+8`"),
        ("y = LUT 0x8 (a, b, a, b, a, b, a)", "4:9: a table of 7 signals, expected 6 at most"),
        ("a = BUF(b)", "4:1: `a` is set twice"),
        ("INPUT(b)", "4:7: `b` is set twice"),
        ("y = AND(a, y)", "4:1: `y` depends on itself: gates feed one another in a cycle"),
        ("y = DFF(a)", "4:5: has 1 flip-flop, but a circuit has no memory"),
        ("INPUT c", "4:1: expected INPUT(NAME), OUTPUT(NAME) or NAME = GATE(NAME, ..)"),
        ("INPUT(()", "4:1: expected INPUT(NAME), OUTPUT(NAME) or NAME = GATE(NAME, ..)"),
        ("OUTPUT(,)", "4:1: expected INPUT(NAME), OUTPUT(NAME) or NAME = GATE(NAME, ..)"),
        (", = gnd", "4:1: expected INPUT(NAME), OUTPUT(NAME) or NAME = GATE(NAME, ..)"),
    ];
    assert_refused(
        "m.bench",
        cases.map(|(line, expected)| (format!("INPUT(a)\nINPUT(b)\nOUTPUT(y)\n{line}\n"), expected.to_string())),
    );
    assert!(hint("m.bench", "y = DFF(a)\n").contains("frames -i -F 8"));
    assert_eq!(fails("m.bench", "INPUT(a)\n"), "m.bench: has no outputs, expected a line such as `OUTPUT(y)`");
}

#[test]
fn faults_of_aby_have_their_place() {
    let cases = [
        ("A 0 1", "2:1: A with 2 wires, expected 3"),
        ("M 0 1 2", "2:1: M with 3 wires, expected 4"),
        ("0 -2 3", "2:1: 0 with 2 wires, expected 1"),
        ("A 0 x 2", "2:5: expected the number of a wire, got `x`"),
        ("S 0", "2:3: `0` is set twice"),
        ("A 0 1 1", "2:7: `1` is set twice"),
        ("A 0 7 2", "2:5: `7` is read, but nothing sets it"),
        ("A 0 2 2", "2:7: `2` depends on itself: gates feed one another in a cycle"),
        ("D 0 1 2", "2:1: has 1 flip-flop, but a circuit has no memory"),
        ("U 0 1 2", "2:1: U belongs to a universal circuit, whose function is in another file"),
    ];
    assert_refused("m.aby", cases.map(|(line, expected)| (format!("S 0 1\n{line}\nO 2\n"), expected.to_string())));
    assert_eq!(fails("m.aby", "S 0 1\nA 0 1 2\n"), "m.aby: has no outputs, expected a line such as `O 2`");
}

#[test]
fn faults_of_aiger_have_their_place() {
    let cases = [
        ("aag 3 2 0 1\n", "1:12: the line ends before the number of AND gates"),
        ("aag 3 2", "1:8: the file ends before the number of latches"),
        ("abc 3 2 0 1 1\n", "1:1: expected `aag` or `aig` and the numbers of a head, as in `aag 3 2 0 1 1`"),
        ("aag x 2 0 1 1\n", "1:5: the greatest variable: expected a number, got `x`"),
        ("aag 3 -2 0 1 1\n", "1:7: the number of inputs: expected a number, got `-2`"),
        ("aag 99999999999 2 0 1 1\n", "1:5: the greatest variable is 99999999999, expected 2147483646 at most"),
        ("aag 3 2 3 1 1\n", "1:9: has 3 latches, but a circuit has no memory"),
        ("aag 3 2 0 1 1 1\n", "1:15: declares a bad state, which is no output of a circuit"),
        ("aag 3 2 0 1 1 0 2\n", "1:17: declares a constraint, which is no output of a circuit"),
        ("aag 3 2 0 1 1 0 0 0 0 0\n", "1:23: expected the end of the line, got `0`"),
        ("aag 2 2 0 1 1\n", "1:13: the greatest variable is 2, expected at least 3, for 2 inputs and 1 gates"),
        ("aig 4 2 0 1 1\n", "1:13: the greatest variable is 4, expected 3, for 2 inputs and 1 gates"),
        ("aag 99999999 99999999 0 1 0\n", "1:14: the file has 99999999 input wires, expected 67108864 at most"),
        (
            "aag 3 2 0 1 1\n2\n5\n6\n6 2 4\n",
            "3:1: an input is a constant or a negation, expected an even number from 2 on",
        ),
        (
            "aag 3 2 0 1 1\n2\n4\n6\n7 2 4\n",
            "5:1: the result of a gate is a constant or a negation, expected an even number from 2 on",
        ),
        ("aag 3 2 0 1 1\n2\n4\n6\n6 2 8\n", "5:5: an operand is 8, expected 7 at most"),
        ("aag 3 2 0 1 1\n2\n4\n6\n6 2\n", "5:4: the line ends before an operand"),
        ("aag 3 2 0 1 1\n2\n4\n6\n6 2 4 5\n", "5:7: expected the end of the line, got `5`"),
        ("aag 3 2 0 1 1\n2\n4\n6\n4 2 2\n", "5:1: literal 4 is set twice"),
        ("aag 3 2 0 1 1\n2\n2\n6\n6 2 4\n", "3:1: literal 2 is set twice"),
        ("aag 5 2 0 1 1\n2\n4\n6\n6 2 9\n", "5:5: literal 9 is read, but nothing sets it"),
        ("aag 3 2 0 1 1\n2\n4\n6\n6 7 4\n", "5:1: literal 6 depends on itself: gates feed one another in a cycle"),
        ("aag 3 2 0 1 1\n2\n4\n6\n", "5:1: the file ends before the result of a gate"),
        (
            "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\nz0 a\n",
            "6:1: expected a name such as `i0 a` or `o0 y`, or `c` and a comment",
        ),
        ("aag 3 2 0 1 1\n2\n4\n6\n6 2 4\ni2 a\n", "6:1: a name of number 2, expected one below 2"),
        ("aag 3 2 0 1 1\n2\n4\n6\n6 2 4\ni0 a\ni0 b\n", "7:1: number 0 has a name already"),
    ];
    assert_refused("m.aag", cases.map(|(text, expected)| (text.to_string(), expected.to_string())));
    for (bytes, expected) in [
        (&b"\x02"[..], "byte 18: the file ends in a gate"),
        (b"\x02\x82", "byte 19: the file ends in a gate"),
        (b"\x00\x02", "byte 17: gate 6 reads itself, expected a lesser literal"),
        (b"\x07\x02", "byte 17: a gate is 7 or more, expected 6 at most"),
        (b"\x02\x05", "byte 18: a gate is 5 or more, expected 4 at most"),
        (b"\xff\xff\xff\xff\xff\xff\xff\x01", "byte 17: a gate is 127 or more, expected 6 at most"),
    ] {
        let text = [b"aig 3 2 0 1 1\n6\n", bytes].concat();
        assert_eq!(fails("m.aig", &text), format!("m.aig: {expected}"));
    }
    assert!(hint("m.aag", "aag 3 2 3 1 1\n").contains("frames -i -F 8"));
}

/// A netlist of Yosys with these cells between the bits 2 and 3 and the output 4.
fn yosys(cells: &str) -> String {
    format!(
        "{{\"modules\": {{\"m\": {{\"ports\": {{\n\"a\": {{\"direction\": \"input\", \"bits\": [2, 3]}},\n\
         \"y\": {{\"direction\": \"output\", \"bits\": [4]}}}}, \"cells\": {{\n{cells}}}}}}}}}"
    )
}

#[test]
fn faults_of_yosys_have_their_place() {
    let cell = |name: &str, kind: &str, pins: &str| {
        format!("\"{name}\": {{\"type\": \"{kind}\", \"connections\": {{{pins}}}}}")
    };
    let and = cell("g", "$_AND_", "\"A\": [2], \"B\": [3], \"Y\": [4]");
    let cases = [
        (String::new(), "3:2: bit 4 is read, but nothing sets it"),
        (cell("g", "$_AND_", "\"A\": [2], \"B\": [9], \"Y\": [4]"), "4:2: bit 9 is read, but nothing sets it"),
        (
            cell("g", "$_AND_", "\"A\": [2], \"B\": [4], \"Y\": [4]"),
            "4:2: bit 4 depends on itself: gates feed one another in a cycle",
        ),
        (cell("g", "$_AND_", "\"A\": [2], \"B\": [3], \"Y\": [3]"), "4:2: bit 3 is set twice"),
        (format!("{and},\n{}", cell("h", "$_NOT_", "\"A\": [2], \"Y\": [4]")), "5:2: bit 4 is set twice"),
        (cell("g", "$_AND_", "\"A\": [2], \"Y\": [4]"), "4:61: cell `g`: `B` is missing"),
        (cell("g", "$_AND_", "\"A\": [2], \"B\": [2, 3], \"Y\": [4]"), "4:74: cell `g`: `B` has 2 bits, expected 1"),
        (cell("g", "$_NOT_", "\"A\": [2], \"Y\": [\"1\"]"), "4:2: cell `g` sets the constant 1"),
        (
            cell("g", "$_NOT_", "\"A\": [\"x\"], \"Y\": [4]"),
            "4:2: a bit is x, which is undefined, expected a number, 0 or 1",
        ),
        (
            cell("g", "$_NOT_", "\"A\": [\"w\"], \"Y\": [4]"),
            "4:49: invalid value: string \"w\", expected the number of a bit, \"0\" or \"1\"",
        ),
        (cell("g", "$_NOT_", "\"A\": [4294967296], \"Y\": [4]"), "4:56: bit 4294967296, expected 4294967295 at most"),
        (cell("sum", "$add", "\"A\": [2, 3], \"Y\": [4]"), "4:2: cell `sum` is `$add`, which is not a gate"),
        (cell("u1", "adder", ""), "4:2: cell `u1` is the module `adder`, expected a gate"),
        (
            format!("{},\n{}", cell("r", "$_DFF_P_", ""), cell("s", "$_SDFFE_PP0P_", "")),
            "4:2: has 2 flip-flops, but a circuit has no memory",
        ),
        (cell("l", "$_DLATCH_P_", ""), "4:2: has 1 latch, but a circuit has no memory"),
        ("\"g\": 3".into(), "4:6: invalid type: integer `3`, expected an object"),
        (
            "\"g\": {\"type\": \"$_NOT_\", \"connections\": [2]}".into(),
            "4:39: invalid type: sequence, expected an object",
        ),
        ("\"g\": {}".into(), "4:7: missing field `type`"),
    ];
    assert_refused("m.json", cases.map(|(cells, expected)| (yosys(&cells), expected.to_string())));
    let text = yosys(&and);
    assert!(read("m.json", &text).is_ok());
    // Yosys takes the last of two.
    for twice in [text.replace("\"Y\":", "\"A\": [3], \"Y\":"), text.replace("\"y\":", "\"a\":")] {
        assert!(fails("m.json", &twice).to_lowercase().ends_with("`a` appears twice in one object, expected it once"));
    }
    let changed = [
        ("\"input\"", "\"inout\"", "2:2: port `a` is inout, expected input or output"),
        ("[2, 3]", "[2, \"0\"]", "2:2: input `a` has the constant 0, expected the number of a bit"),
        ("[2, 3]", "[2, 2]", "2:2: bit 2 is set twice"),
        ("\"cells\"", "\"cells\": {}, \"cells\"", "3:64: duplicate field `cells`"),
        ("{\"m\":", "[", "1:12: invalid type: sequence, expected an object"),
    ];
    assert_refused("m.json", changed.map(|(from, to, expected)| (text.replace(from, to), expected.to_string())));
    assert_eq!(fails("m.json", &text[..text.len() - 3]), "m.json:4:71: not JSON: eof while parsing an object");
    assert!(fails("m.json", "{\"creator\": \"Yosys\"}").starts_with("m.json:1:20: missing field `modules`"));
    assert!(fails("m.json", "{\"modules\": {\"m\": ".to_owned() + &"[".repeat(1_000_000)).starts_with("m.json:1:"));
    assert!(fails("m.json", "{\"x\": ".to_owned() + &"[".repeat(1_000_000)).starts_with("m.json:1:"));
    assert!(hint("m.json", yosys(&cell("g", "$_NOT_", "\"A\": [\"x\"], \"Y\": [4]"))).contains("setundef -zero"));
    assert!(hint("m.json", yosys(&cell("g", "$add", ""))).contains("abc -g AND,XOR"));
    assert!(hint("m.json", yosys(&cell("g", "adder", ""))).contains("synth -flatten -top NAME"));
    assert!(hint("m.json", yosys(&cell("g", "$dff", ""))).contains("frames -i -F 8"));
}

#[test]
fn claims_cost_no_memory() {
    // Each of these would need gigabytes if its numbers were believed.
    assert!(
        fails("m.aag", "aag 2147483646 60000000 0 2000000000 2000000000\n2\n")
            .contains("the file ends before an input")
    );
    assert!(fails("m.aig", "aig 2147483646 67108864 0 1 2080374782\n2\n").contains("the file ends in a gate"));
    let program = read("m.aig", "aig 67108864 67108864 0 1 0\n134217728\n").unwrap();
    assert_eq!(program.inputs()[0].port.width(), 67_108_864);
    assert!(fails("m.aby", "S 9223372036854775807 -9223372036854775808\nO 1\n").contains("`1` is read"));
    let program = read("m.json", yosys("").replace(['3', '4'], "4294967295")).unwrap();
    assert_eq!(program.outputs()[0].port.width(), 1);
    assert!(fails("m.bench", "INPUT(a[4294967295])\nINPUT(a[4294967296])\nOUTPUT(y)\n").contains("`y` is read"));
}

#[test]
fn gates_may_be_as_deep_as_they_like_and_in_the_worst_order() {
    const DEPTH: usize = 100_000;
    // The last gate comes first; each gate negates the one before it.
    let lines: Vec<String> = (0..DEPTH).rev().map(|k| format!("n{} = NOT(n{k})", k + 1)).collect();
    let text = format!("OUTPUT(n{DEPTH})\n{}\nINPUT(n0)\n", lines.join("\n"));
    let program = read("deep.bench", &text).unwrap();
    assert_eq!(evaluate(&program, &[Bits::from_u128(1, 1)])[0].to_u128(), Some(1));
    let circle = text.replace("INPUT(n0)", &format!("n0 = AND(n{DEPTH}, n{DEPTH})"));
    assert!(fails("deep.bench", &circle).ends_with("depends on itself: gates feed one another in a cycle"));
}
