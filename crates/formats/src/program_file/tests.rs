use std::path::PathBuf;

use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Recipients, Type, Wire, evaluate, random};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{Format, front_end::FrontEnds};

fn read(text: &str) -> Result<Program, Diagnostics> {
    FrontEnds::standard().read("p.json", &mut text.as_bytes())
}

fn fails(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

/// The example of the module's documentation, so that it stays true.
fn example() -> String {
    let source = include_str!("../program_file.rs");
    let begin = source.find("//! ```json\n").unwrap() + "//! ```json\n".len();
    let end = begin + source[begin..].find("//! ```\n").unwrap();
    source[begin..end].lines().map(|line| line.trim_start_matches("//!").to_string() + "\n").collect()
}

/// The example with one part of it replaced.
fn changed(from: &str, to: &str) -> String {
    let text = example();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

#[test]
fn the_documented_example_computes_what_it_says() {
    let program = read(&example()).unwrap();
    assert_eq!((program.name(), program.instance_count(), program.components().len()), ("increment", 8, 1));
    assert_eq!(program.outputs()[0].recipients, Recipients::Only(vec![Party(0), Party(1)]));
    for x in [0, 1, 127, 128, 255] {
        assert_eq!(evaluate(&program, &[Bits::from_u128(x, 8)])[0].to_u128(), Some(x + 1));
    }
}

#[test]
fn a_later_format_is_refused_whatever_else_the_file_has() {
    for text in [
        changed("\"format\": 1", "\"format\": 2"),
        r#"{"format": 2, "parts": []}"#.into(),
        r#"{"source": "a.garble.rs", "new": 1, "format": 2}"#.into(),
    ] {
        let errors = read(&text).expect_err("it is later");
        let error = errors.iter().next().expect("one");
        assert!(error.to_string().ends_with(": is of format 2, this Garblet reads format 1"), "{error}");
        assert_eq!(error.hint.as_deref(), Some("a later version wrote it: update Garblet"));
    }
    for (format, says) in [("\"one\"", "a whole number, got the string \"one\""), ("1.0", "a whole number, got 1.0")] {
        let error = fails(&changed("\"format\": 1", &format!("\"format\": {format}")));
        assert!(error.ends_with(&format!("format: expected {says}")), "{error}");
    }
    assert!(fails(r#"{"format": "other", "parts": []}"#).contains("is JSON, but not a program file"));
    assert_eq!(
        read(&changed("  \"format\": 1,\n", "")).expect("format 1").digest(),
        read(&example()).expect("the same").digest()
    );
}

#[test]
fn instances_may_stand_in_any_order() {
    let backwards = changed("\"x[i+1]\"", "\"x[7-i]\"")
        .replace("\"b\": \"high[i-1].carry\"}", "\"b\": \"high[i+1].carry\"}")
        .replace("\"first\": {\"b\": \"low.carry\"}", "\"first\": {}");
    // The last of them reads one that does not exist.
    assert!(read(&backwards).unwrap_err().to_string().contains("there are 7 of `high`, from 0, got `[7]`"));
    let program = read(&example().replace(
        "\"low\": {\"of\": \"half\", \"in\": {\"a\": \"x[0]\", \"b\": true}},",
        "\"last\": {\"of\": \"half\", \"in\": {\"a\": \"low.sum\", \"b\": \"low.carry\"}},
         \"low\": {\"of\": \"half\", \"in\": {\"a\": \"x[0]\", \"b\": true}},",
    ));
    assert_eq!(program.unwrap().instance_count(), 9);
}

#[test]
fn cycles_are_named() {
    let text = changed("\"a\": \"x[0]\", \"b\": true", "\"a\": \"high[6].sum\", \"b\": true");
    let error = fails(&text);
    assert!(error.starts_with("p.json: instances feed one another in a cycle: low <- high[6] <- high[5]"), "{error}");
}

#[test]
fn constants_and_whole_ports_feed_ports() {
    let text = r#"{
      "components": {"id": {"inputs": {"a": "bits3", "b": "u8"}, "outputs": {"x": "bits2", "y": "bool"},
                            "gates": ["x[0] = a[2]", "x[1] = b[7]", "y = a[0]"]}},
      "inputs": {},
      "instances": {"one": {"of": "id", "in": {"a": {"bits": "001"}, "b": {"type": "i8", "value": -128}}},
                    "two": {"of": "id", "in": {"a": "one", "b": ["one.y", false, {"bits": "010101"}]}}},
      "outputs": {"all": {"type": "[bits3; 2]", "from": ["one", "two"], "to": 1}}
    }"#;
    let program = read(text).unwrap();
    assert_eq!(program.name(), "p");
    assert_eq!(evaluate(&program, &[])[0].to_string(), "110011");
    assert_eq!(program.outputs()[0].recipients, Recipients::Only(vec![Party(1)]));
}

#[test]
fn wrong_files_are_refused_with_their_place() {
    for (from, to, expected) in [
        ("\"name\"", "\"nam\"", "program file: unknown key `nam`"),
        ("\"owner\": 0", "\"owner\": -1", "input `x`, owner: expected a number from 0 to 65534, got -1"),
        (", \"owner\": 0", "", "input `x`: `owner` is missing"),
        ("\"u8\"", "\"int\"", "input `x`: expected a type such as u8"),
        ("\"u8\"", "8", "input `x`: expected a string, got 8"),
        ("\"u8\"", "\"u4\"", "input `a` of `high[3]`: input `x` has 4 wires here, got wires 4..5"),
        ("\"x[0]\"", "\"y[0]\"", "input `a` of `low`: there is no input or instance `y`"),
        ("\"x[0]\"", "\"x[8]\"", "input `a` of `low`: input `x` has 8 wires here, got wires 8..9"),
        ("\"x[0]\"", "\"x[0..2]\"", "input `a` of `low` takes 1 wires, got 2"),
        ("\"x[0]\"", "\"x.y\"", "input `a` of `low`: `x` is an input of the program, it has no ports"),
        (
            "\"x[0]\"",
            "\"x[i]\"",
            "input `a` of `low`: `i` stands for the number of a repeated instance, and there is none here",
        ),
        ("\"x[0]\"", "7", "input `a` of `low`: expected a source such as \"x[0]\" or true, got 7"),
        ("\"x[0]\"", "{\"bits\": \"2\"}", "input `a` of `low`: character 1 of the bit string is neither `0` nor `1`"),
        (
            "\"x[0]\"",
            "{\"value\": 1}",
            "input `a` of `low`: expected {\"bits\": \"01..\"} or {\"type\": .., \"value\": ..}",
        ),
        (
            "\"x[0]\"",
            "{\"type\": \"bool\", \"value\": 2}",
            "input `a` of `low`: expected bool, got a number out of range",
        ),
        ("\"low.sum\"", "\"low[0].sum\"", "output `y`: `low` is one instance, not several"),
        ("\"low.sum\"", "\"low.sun\"", "output `y`: `low` has no output `sun`"),
        ("\"low.sum\"", "\"high.sum[0]\"", "output `y`: `high` are 7 instances: choose one, as in `high[0].port[..]`"),
        ("\"high[6].carry\"", "\"high[7].carry\"", "output `y`: there are 7 of `high`, from 0, got `[7]`"),
        ("\"u9\"", "\"u8\"", "output `y` takes 8 wires, got 9"),
        (
            "[0, 1]",
            "\"both\"",
            "output `y`, to: expected \"all\", a party or a list of parties, got the string \"both\"",
        ),
        ("[0, 1]", "[0, 65535]", "output `y`, to: expected a number from 0 to 65534, got 65535"),
        ("{\"of\": \"half\", \"in\"", "{\"of\": \"hlaf\", \"in\"", "instance `low`: there is no component `hlaf`"),
        ("\"b\": true", "\"c\": true", "instance `low`: it has no input `c`"),
        (", \"b\": true", "", "instance `low`: input `b` (bool) is not fed"),
        (
            "\"repeat\": 7",
            "\"repeat\": 9999999999",
            "instance `high`, repeat: expected a number from 0 to 1048576, got 9999999999",
        ),
        ("\"low\": {", "\"x\": {", "`x` is an input already"),
        ("\"low\": {", "\"l w\": {", "instances: \"l w\" is not a name, expected letters, digits, `_` or `-`"),
        ("\"sum = a ^ b\"", "\"sum = a ^ c\"", "component `half`: `c` is read before it is set"),
        (", \"sum = a ^ b\"", "", "component `half`: wire 0 of output `sum` is set by no gate"),
        ("\"sum = a ^ b\"", "7", "component `half`: expected a string, got 7"),
        ("\"gates\"", "\"file\": \"x\", \"gates\"", "component `half`: expected one of `file`, `library` and `gates`"),
        (
            "\"outputs\": {\"carry\": \"bool\", \"sum\": \"bool\"},",
            "",
            "component `half`: inline gates need `inputs` and `outputs`",
        ),
    ] {
        let error = fails(&changed(from, to));
        let (place, message) = error.split_once(": ").unwrap();
        assert!(message.starts_with(expected), "{from} -> {to}: {error}");
        assert!(place.starts_with("p.json:") && place.matches(':').count() == 2, "{from} -> {to}: {error}");
    }
}

#[test]
fn near_names_are_suggested() {
    let hint = |from, to| read(&changed(from, to)).unwrap_err().iter().next().unwrap().hint.clone();
    assert_eq!(hint("\"low.sum\"", "\"low.sums\"").as_deref(), Some("did you mean `sum`?"));
    assert_eq!(hint("\"low.sum\"", "\"lwo.sum\""), Some("available: x, low, high".into()));
    assert_eq!(hint("\"name\"", "\"nam\"").as_deref(), Some("did you mean `name`?"));
}

#[test]
fn short_files_cannot_ask_for_much_memory() {
    let wide = "\"inputs\": {\"z\": {\"type\": \"bits67108864\", \"owner\": 0}, \"x\"";
    let error = fails(&changed("\"inputs\": {\"x\"", wide));
    assert!(error.contains("the program has 67108872 input wires, expected 67108864 at most"), "{error}");
    let error = fails(&changed("\"a\": \"bool\"", "\"a\": \"bool\", \"c\": \"bits67108864\""));
    assert!(error.contains("component `half` has 67108866 input wires, expected 67108864 at most"), "{error}");
}

#[test]
fn short_files_cannot_ask_for_endless_work() {
    let text = changed("\"repeat\": 7", "\"repeat\": 1048575").replace("\"x[i+1]\"", "\"x[0]\"");
    assert!(fails(&text).contains("output `y` takes 9 wires"), "{}", fails(&text));
    let all = text.replace("\"low.sum\", \"high.sum\"", &["\"high.sum\""; 20].join(", "));
    assert!(fails(&all).contains("links"), "{}", fails(&all));
    let quadratic = changed("\"a\": \"x[i+1]\"", "\"a\": \"high.sum\"").replace("\"repeat\": 7", "\"repeat\": 1048575");
    assert!(fails(&quadratic).contains("takes 1 wires, got 1048575"));
}

#[test]
fn a_program_without_outputs_is_refused() {
    assert_eq!(fails("{}"), "p.json:1:1: the program has no outputs");
    assert_eq!(fails("[]"), "p.json:1:1: program file: expected an object, got an array");
    let error = FrontEnds::standard().read("p.json", &mut &b"{\"\xff\"}"[..]).unwrap_err();
    assert_eq!(error.to_string(), "p.json: is not UTF-8 from byte 2 on");
}

/// A folder of this test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("garblet-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("parts")).unwrap();
        files.iter().for_each(|(file, text)| std::fs::write(path.join(file), text).unwrap());
        Folder(path)
    }

    fn load(&self, file: &str) -> Result<Program, Diagnostics> {
        FrontEnds::standard().load(self.0.join(file).to_str().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn components_come_from_the_library() {
    let text = r#"{
      "components": {"richer": {"library": "millionaires(8)", "inputs": {"a": "u8", "b": "u8"}}},
      "inputs": {"x": {"type": "u8", "owner": 0}, "y": {"type": "u8", "owner": 1}},
      "instances": {"r": {"of": "richer", "in": {"a": "x", "b": "y"}}},
      "outputs": {"richer": {"type": "bool", "from": "r"}}
    }"#;
    let program = read(text).unwrap();
    let answers = [(3, 9), (9, 3)].map(|(x, y)| evaluate(&program, &[x, y].map(|v| Bits::from_u128(v, 8)))[0].get(0));
    assert_ne!(answers[0], answers[1]);
    let error = fails(&text.replace("millionaires(8)", "milionaires"));
    assert!(error.starts_with("p.json:2:44: component `richer`: lib:milionaires: "), "{error}");
}

const ADDER: &str = "5 8\n2 1 2\n\n2 1 0 1 3 XOR\n2 1 3 2 6 XOR\n2 1 0 1 4 AND\n2 1 3 2 5 AND\n2 1 4 5 7 XOR\n";

const USES_ADDER: &str = r#"{
  "components": {"add": {"file": "parts/adder.txt", "inputs": {"a": "bool", "b": "bool", "c": "bool"},
                         "outputs": {"sum": "bool", "carry": "bool"}}},
  "inputs": {"x": {"type": "u3", "owner": 1}},
  "instances": {"add": {"of": "add", "in": {"a": "x[0]", "b": "x[1]", "c": "x[2]"}}},
  "outputs": {"ones": {"type": "u2", "from": "add"}}
}"#;

#[test]
fn components_come_from_files_beside_the_program() {
    let outer = r#"{"components": {"ones": {"file": "inner.json"}}, "inputs": {"x": {"type": "u3", "owner": 0}},
        "instances": {"n": {"of": "ones", "in": {"x": "x"}}}, "outputs": {"n": {"type": "u2", "from": "n.ones"}}}"#;
    let folder = Folder::new("files", &[("parts/adder.txt", ADDER), ("inner.json", USES_ADDER), ("outer.json", outer)]);
    for file in ["inner.json", "outer.json"] {
        let program = folder.load(file).unwrap();
        assert_eq!(evaluate(&program, &[Bits::from_u128(5, 3)])[0].to_u128(), Some(2), "{file}");
    }
}

#[test]
fn faults_of_referenced_files_are_shown_where_they_are() {
    let narrow = USES_ADDER.replace(", \"c\": \"bool\"}", "}");
    let missing = USES_ADDER.replace("adder.txt", "ader.txt");
    let endless = USES_ADDER.replace("parts/adder.txt", "endless.json");
    let files = [
        ("parts/adder.txt", &ADDER.replace("3 2 6 XOR", "3 9 6 XOR")[..]),
        ("program.json", USES_ADDER),
        ("missing.json", &missing),
        ("endless.json", &endless),
    ];
    let folder = Folder::new("faults", &files);
    let error = folder.load("program.json").unwrap_err().to_string();
    assert!(error.ends_with("adder.txt:5:7: a wire is 9, expected less than 8"), "{error}");
    let error = folder.load("missing.json").unwrap_err().to_string();
    assert!(error.contains("missing.json:2:34: component `add`: ") && error.contains("cannot be read"), "{error}");
    let error = folder.load("endless.json").unwrap_err().to_string();
    assert!(error.contains("refer to one another"), "{error}");
    let folder = Folder::new("narrow", &[("parts/adder.txt", ADDER), ("narrow.json", &narrow)]);
    let error = folder.load("narrow.json").unwrap_err().to_string();
    assert!(error.contains("component `add`: input ports have 2 wires, its circuit has 3"), "{error}");
}

fn rewritten(program: &Program) -> Program {
    let mut text = Vec::new();
    Format::Program.write(program, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    read(&text).unwrap_or_else(|e| panic!("{}\n{text}", e.render()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_written_reads_back(seed: u64) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = random::program(rng, 60, 3);
        let back = rewritten(&program);
        prop_assert_eq!(back.inputs(), program.inputs());
        prop_assert_eq!(back.instance_count(), program.instance_count());
        prop_assert_eq!(back.stats(), program.stats());
        for (a, b) in back.outputs().iter().zip(program.outputs()) {
            prop_assert_eq!((&a.port, &a.recipients), (&b.port, &b.recipients));
        }
        let inputs = random::inputs(rng, &program);
        prop_assert_eq!(evaluate(&back, &inputs), evaluate(&program, &inputs));
        // A second time nothing changes any more.
        prop_assert_eq!(rewritten(&back).digest(), back.digest());
    }

    #[test]
    fn any_damage_is_read_or_refused(at in 0usize..700, byte in 0u8..128) {
        let mut text = example().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        let _ = FrontEnds::standard().read("p.json", &mut &text[..]);
    }
}

#[test]
fn awkward_names_are_kept_apart_or_refused() {
    let circuit = Circuit::new(1, vec![Gate::Not(Wire(0))], vec![Wire(1)]).unwrap();
    let build = |port: &str| {
        let mut program = Program::new("a \"quoted\" name");
        let body = |name: &str| {
            Component::new(name, vec![Port::new("w", Type::Bool)], vec![Port::new(port, Type::Bool)], circuit.clone())
        };
        let ids = ["x y", "x_y", "9"].map(|name| program.add_component(body(name).unwrap()));
        let input = program.add_input(Port::new("at0", Type::Bool), Party(0)).unwrap();
        let mut link = program.input_link(input);
        for id in ids {
            let instance = program.add_instance(id, &[link]).unwrap();
            link = program.instance_link(instance);
        }
        program.add_output(Port::new("out", Type::Bool), Recipients::All, vec![link]).unwrap();
        program
    };
    let program = rewritten(&build("w1"));
    assert_eq!(program.name(), "a \"quoted\" name");
    assert_eq!(evaluate(&program, &[Bits::from_u128(1, 1)])[0].to_string(), "0");
    let error = Format::Program.write(&build("w 1"), &mut Vec::new()).unwrap_err().to_string();
    assert!(error.starts_with("port \"w 1\" is not a name for a program file"), "{error}");
}

#[test]
fn a_list_that_goes_into_a_circuit_has_the_order_that_this_relies_on() {
    let notes = |a_type: &str, into_a: &str, more: &str| {
        let text = format!(
            r#"{{"components": {{"join": {{"library": "join(4,4,8,8)"}}, "not": {{"gates": ["y = !x"], "inputs": {{"x": "bool"}}, "outputs": {{"y": "bool"}}}}}},
            "inputs": {{"keys": {{"type": "{a_type}", "owner": 0 {more}}}, "rows": {{"type": "[{{key: u8, value: u8}}; ..4]", "owner": 1}}}},
            "instances": {{"no": {{"of": "not", "in": {{"x": "keys[0]"}}}}, "j": {{"of": "join", "in": {{"a": {into_a}, "b": "rows"}}}}}},
            "outputs": {{"in_order": {{"type": "bool", "from": "j.in_order"}}}}}}"#
        );
        let program = FrontEnds::standard().read("a.json", &mut text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        let order = |input: &str| program.notes().ordered(input).map(|own| (own.order, own.key_bits));
        [order("keys"), order("rows")]
    };
    let (ascending, once) = (Some((Order::Ascending, 8)), Some((Order::Strict, 8)));
    assert_eq!(notes("[u8; ..4]", "\"keys\"", ""), [ascending, once]);
    // In pieces it is still all of it.
    assert_eq!(notes("[u8; ..4]", r#"["keys[0..5]", "keys[5..35]"]"#, ""), [ascending, once]);
    // The file may say that more is needed.
    assert_eq!(notes("[u8; ..4]", "\"keys\"", r#", "order": "ascending once""#), [once, once]);
    // Not what is computed, put together in another way, or has other rows.
    assert_eq!(notes("[u8; ..4]", r#"["no.y", "keys[1..35]"]"#, ""), [None, once]);
    assert_eq!(notes("[u8; ..4]", r#"["keys[5..35]", "keys[0..5]"]"#, ""), [None, once]);
    assert_eq!(notes("u35", "\"keys\"", ""), [None, once]);
}

#[test]
fn an_input_that_cannot_have_the_orders_of_all_its_circuits_is_refused() {
    let read = |circuits: [&str; 2], [first, second]: [&str; 2]| {
        let text = format!(
            r#"{{"components": {{"n": {{"library": "{}"}}, "w": {{"library": "{}"}}}},
            "inputs": {{"rows": {{"type": "[{{key: u8, value: u8}}; ..4]", "owner": 0}}, "keys": {{"type": "[u16; ..4]", "owner": 1}}, "small": {{"type": "[u8; ..4]", "owner": 1}},
                "wide": {{"type": "[{{key: u16, value: u8}}; ..4]", "owner": 0}}}},
            "instances": {{{first}, {second}}},
            "outputs": {{"out": {{"type": "bool", "from": "w.in_order"}}}}}}"#,
            circuits[0], circuits[1]
        );
        FrontEnds::standard().read("a.json", &mut text.as_bytes()).map_err(|error| error.to_string())
    };
    // Rows of 16 bits are a key, or a key of 8 bits with a value.
    let n = r#""n": {"of": "n", "in": {"a": "small", "b": "keys"}}"#;
    let w = r#""w": {"of": "w", "in": {"a": "keys", "b": "wide"}}"#;
    for order in [[n, w], [w, n]] {
        let error = read(["join(4,4,8,8)", "join(4,4,16,8)"], order).expect_err("two keys");
        assert!(error.contains("input `keys`: expected one order for all circuits"), "{error}");
        assert!(error.contains("key of 8 bits") && error.contains("key of 16 bits"), "{error}");
    }
}

#[test]
fn what_a_program_relies_on_in_lists_is_kept() {
    use garblet_synthesis::library;
    for name in
        ["intersection-sum(4,4,8,8)", "join(4,4,8,8)", "quantile(4,4,8,500)", "top-k(4,8,8)", "group-sum(4,3,8)"]
    {
        let program = library::find(name).unwrap();
        let mut text = Vec::new();
        super::write(&program, &mut text).unwrap();
        let back = FrontEnds::standard().read("a.json", &mut &text[..]).unwrap();
        assert_eq!(back.notes().ordered, program.notes().ordered, "{name}");
        let limits = |program: &garblet_circuit::Program| {
            program.notes().limits.iter().map(|l| (l.input.clone(), l.bits, l.below)).collect::<Vec<_>>()
        };
        assert_eq!(limits(&back), limits(&program), "{name}");
        assert!(!program.notes().ordered.is_empty() || !program.notes().limits.is_empty());
    }
    let fails = |more: &str, ty: &str| {
        let text = format!(
            r#"{{"components": {{}}, "inputs": {{"a": {{"type": "{ty}", "owner": 0, {more}}}}}, "instances": {{}}, "outputs": {{}}}}"#
        );
        FrontEnds::standard().read("a.json", &mut text.as_bytes()).unwrap_err().iter().next().unwrap().message.clone()
    };
    assert_eq!(
        fails(r#""order": "up""#, "[u8; ..4]"),
        "input `a`, order: expected one of ascending once, ascending, descending, got the string \"up\""
    );
    assert_eq!(
        fails(r#""order": "ascending""#, "[u8; 4]"),
        "input `a`, order: it is for lists with keys that are unsigned numbers, and the type is [u8; 4]"
    );
    for key in ["i8", "fixed<4, 4>", "{key: i8, value: u8}", "[u8; 2]", "bool"] {
        let said = fails(r#""order": "ascending""#, &format!("[{key}; ..4]"));
        assert!(said.starts_with("input `a`, order: it is for lists with keys that are unsigned"), "{said}");
        let said = fails(r#""below": 3"#, &format!("[{key}; ..4]"));
        assert!(said.starts_with("input `a`, below: it is for arrays and lists of unsigned"), "{said}");
    }
    assert_eq!(fails(r#""below": 0"#, "[u8; 4]"), "input `a`, below: expected 1 or more, got 0");
    assert!(fails(r#""below": 3"#, "u8").contains("it is for arrays and lists of unsigned numbers"));
}
