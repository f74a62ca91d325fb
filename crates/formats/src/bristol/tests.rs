use garblet_circuit::{Bits, Circuit, CircuitError, Component, Gate, Party, Port, Type, Wire, evaluate, random};
use garblet_synthesis::optimise::{Effort, optimise_program};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{Format, WriteError, front_end::FrontEnds};

fn read(text: &str) -> Result<Program, String> {
    FrontEnds::standard().read("c.txt", &mut text.as_bytes()).map_err(|e| e.to_string())
}

fn fails(text: &str) -> String {
    read(text).expect_err(text)
}

/// A full adder in the Bristol format.
const OLD: &str = "5 8\n2 1 2\n\n2 1 0 1 3 XOR\n2 1 3 2 6 XOR\n2 1 0 1 4 AND\n2 1 3 2 5 AND\n2 1 4 5 7 XOR\n";

/// Every kind of gate in Bristol Fashion.
const FASHION: &str =
    "5 9\n2 2 1\n3 2 1 2\n\n4 2 0 1 2 0 3 4 MAND\n2 1 0 0 5 AND\n1 1 5 6 EQW\n1 1 0 7 INV\n1 1 1 8 EQ\n";

#[test]
fn the_old_format_is_read() {
    let program = read(OLD).unwrap();
    assert_eq!(program.name(), "c");
    let ports: Vec<_> = program.inputs().iter().map(|i| (i.port.name.as_str(), i.port.width(), i.owner)).collect();
    assert_eq!(ports, [("in0", 2, Party(0)), ("in1", 1, Party(1))]);
    for value in 0..8u128 {
        let inputs = [Bits::from_u128(value, 2), Bits::from_u128(value >> 2, 1)];
        assert_eq!(evaluate(&program, &inputs)[0].to_u128(), Some(value.count_ones().into()));
    }
}

#[test]
fn the_older_format_is_read_with_a_warning_about_the_order_of_bits() {
    let warnings = |text: &str| read(text).unwrap().notes().warnings.iter().map(|w| w.render()).collect::<String>();
    let said = warnings(OLD);
    assert!(said.contains("wire 0 is taken as the least significant") && said.contains("--reverse"), "{said}");
    // Nothing can be the wrong way round in ports of one bit, and newer files begin with the least significant bit.
    assert_eq!(warnings("1 3\n1 1 1\n\n2 1 0 1 2 AND\n"), "");
    assert_eq!(warnings(FASHION), "");
}

#[test]
fn bristol_fashion_is_read_with_every_gate() {
    let program = read(FASHION).unwrap();
    let widths: Vec<u32> = program.outputs().iter().map(|o| o.port.width()).collect();
    assert_eq!(widths, [2, 1, 2]);
    for value in 0..8u128 {
        let (a, b, c) = (value & 1, value >> 1 & 1, value >> 2);
        let outputs = evaluate(&program, &[Bits::from_u128(value, 2), Bits::from_u128(c, 1)]);
        let outputs: Vec<u128> = outputs.iter().map(|o| o.to_u128().unwrap()).collect();
        // Wires 4 = b AND a, 5 = a, then 6 = a, then 7 = NOT a, 8 = 1.
        assert_eq!(outputs, [(a & b) | a << 1, a, (1 - a) | 2], "{value}");
        assert_eq!(program.stats().and, 3);
    }
}

#[test]
fn a_second_input_of_no_wires_is_no_input() {
    let program = read("1 3\n2 0 1\n2 1 0 1 2 AND").unwrap();
    assert_eq!(program.inputs().len(), 1);
}

#[test]
fn line_ends_and_blank_lines_do_not_matter() {
    let program = read(&OLD.replace('\n', " \r\n\r\n\t")).unwrap();
    assert_eq!(program.digest(), read(OLD).unwrap().digest());
}

#[test]
fn wires_may_come_in_any_order() {
    let text = "3 100000\n1 2\n1 1\n2 1 0 1 70000 XOR\n1 1 70000 2 INV\n2 1 2 0 99999 AND\n";
    assert_eq!(evaluate(&read(text).unwrap(), &[Bits::from_u128(3, 2)])[0].to_u128(), Some(1));
}

#[test]
fn gates_of_other_tools_are_read_in_any_case_for_one_and_each() {
    type Rule = fn(bool, bool) -> bool;
    let gates: [(&str, Rule, u64); 9] = [
        ("AND", |a, b| a & b, 1),
        ("and", |a, b| a & b, 1),
        ("OR", |a, b| a | b, 1),
        ("Lor", |a, b| a | b, 1),
        ("NOR", |a, b| !(a | b), 1),
        ("NAND", |a, b| !(a & b), 1),
        ("nand", |a, b| !(a & b), 1),
        ("XNOR", |a, b| a == b, 0),
        ("xor", |a, b| a != b, 0),
    ];
    for (name, expected, ands) in gates {
        let program = read(&format!("1 3\n1 1 1\n\n2 1 0 1 2 {name}\n")).unwrap();
        assert_eq!(program.counts().and, ands, "{name}");
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let inputs = [a, b].map(|bit| Bits::from_u128(bit.into(), 1));
            assert_eq!(evaluate(&program, &inputs)[0].get(0), expected(a, b), "{name} {a} {b}");
        }
        assert!(read(&format!("1 3\n1 1 1\n\n1 1 0 2 {name}\n")).is_err(), "{name}");
    }
}

#[test]
fn comments_and_a_byte_order_mark_do_not_matter() {
    let digest = read(OLD).unwrap().digest();
    let commented = OLD.replace('\n', " # why\n// and how: 1 2 XOR\n");
    for text in [commented.clone(), format!("\u{feff}{OLD}"), format!("\u{feff}// first\n\n#\n{commented}")] {
        assert_eq!(read(&text).unwrap().digest(), digest, "{text}");
    }
    assert_eq!(
        fails("# one\n5 8 // two\n2 1 2\n2 1 0 1 3 AND # 4\n2 1 0 1 9 AND\n"),
        "c.txt:5:9: a wire is 9, expected less than 8"
    );
}

#[test]
fn gates_in_any_order_wait_for_what_they_read() {
    let head = "5 8\n2 1 2\n\n";
    let sorted = read(OLD).unwrap();
    let gates: Vec<&str> = OLD[head.len()..].lines().collect();
    let mut orders: Vec<Vec<&str>> = vec![gates.clone(), gates.iter().rev().copied().collect()];
    (1..5).for_each(|k| orders.push(gates.iter().cycle().skip(k).take(5).copied().collect()));
    for order in orders {
        let program = read(&format!("{head}{}\n", order.join("\n"))).unwrap();
        for value in 0..8u128 {
            let inputs = [Bits::from_u128(value, 2), Bits::from_u128(value >> 2, 1)];
            assert_eq!(evaluate(&program, &inputs), evaluate(&sorted, &inputs), "{order:?}");
        }
        assert_eq!(program.counts(), sorted.counts());
    }
    // Both operands and many of one line come later; one is read twice.
    let text = "3 6\n1 2\n1 2\n4 2 2 2 3 3 4 5 MAND\n1 1 2 3 INV\n2 1 0 1 2 XOR\n";
    for value in 0..4u128 {
        let outputs = evaluate(&read(text).unwrap(), &[Bits::from_u128(value, 2)]);
        assert_eq!(outputs[0].to_u128(), Some(0), "{value}");
    }
    assert_eq!(
        fails("2 4\n1 1 1\n\n2 1 3 0 2 AND\n2 1 2 1 3 XOR\n"),
        "c.txt:4:5: wire 3 depends on itself: gates feed one another in a cycle"
    );
    assert_eq!(fails("2 5\n1 1 1\n\n2 1 3 0 4 AND\n2 1 2 1 3 XOR\n"), "c.txt:5:5: wire 2 is read, but no gate sets it");
    assert_eq!(fails("2 4\n1 1 1\n\n2 1 3 0 2 AND\n2 1 1 0 9 AND\n"), "c.txt:5:9: a wire is 9, expected less than 4");
}

#[test]
fn truncated_files_say_where_they_end() {
    assert_eq!(fails("5 8\n"), "c.txt:2:1: the file ends before the widths of the inputs");
    assert_eq!(fails("5 8\n2 1 2\n"), "c.txt:3:1: the file ends after 0 of 5 gates");
    let cut = &OLD[..OLD.len() - "2 1 4 5 7 XOR\n".len()];
    assert_eq!(fails(cut), "c.txt:8:1: the file ends after 4 of 5 gates");
    assert_eq!(fails("5\n"), "c.txt:1:2: the number of wires is missing");
    // A cut within a line is noticed as well.
    for end in 1..OLD.len() - 1 {
        assert!(read(&OLD[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn lying_gate_lines_are_refused_with_their_place() {
    let with = |line: &str| fails(&format!("1 5\n1 3\n1 1\n\n{line}\n"));
    assert_eq!(with("2 1 0 3 4 AND"), "c.txt:5:7: wire 3 is read, but no gate sets it");
    assert_eq!(with("2 1 4 0 4 AND"), "c.txt:5:5: wire 4 depends on itself: gates feed one another in a cycle");
    assert_eq!(with("2 1 0 1 2 AND"), "c.txt:5:9: wire 2 is an input, a gate cannot set it");
    assert_eq!(with("2 1 0 1 5 AND"), "c.txt:5:9: a wire is 5, expected less than 5");
    assert_eq!(
        with("2 1 0 1 99999999999999999999999 AND").split(": ").nth(1),
        Some("a wire is 99999999999999999999999, expected less than 5")
    );
    assert_eq!(with("2 1 0 -1 4 AND"), "c.txt:5:7: a wire: expected a number, got `-1`");
    assert_eq!(with("1 1 0 4 AND"), "c.txt:5:1: AND with 1 operands, expected 2");
    assert_eq!(with("2 2 0 1 4 AND"), "c.txt:5:3: AND with 2 results, expected 1");
    assert_eq!(with("2 1 0 4 AND"), "c.txt:5:9: 2 wires before AND, expected 3");
    assert_eq!(with("2 1 0 1 2 4 XOR"), "c.txt:5:13: 4 wires before XOR, expected 3");
    let names = "XOR, AND, INV, NOT, EQ, EQW, MAND, OR, LOR, NOR, NAND, XNOR";
    assert_eq!(with("2 1 0 1 4 NANO"), format!("c.txt:5:11: unknown gate `NANO`, expected one of {names}"));
    assert_eq!(with("1 1 2 4 EQ"), "c.txt:5:5: the constant is 2, expected less than 2");
    assert_eq!(with("4 2 0 1 2 0 4 4 MAND"), "c.txt:5:15: wire 4 is set twice");
    assert_eq!(with("2 2 0 1 3 4 MAND"), "c.txt:5:1: MAND with 2 operands, expected 4");
    assert!(with("4294967294 2147483647 MAND").contains("0 wires before MAND"));
    for short in ["AND", "2 AND", "2 1 AND", "MAND", "0 0 0 MAND", "INV", "EQW", "EQ"] {
        assert!(with(short).starts_with("c.txt:5:"), "{short}");
    }
}

#[test]
fn a_wire_that_is_set_twice_is_refused() {
    let text = "2 4\n1 2\n1 1\n2 1 0 1 3 AND\n1 1 0 3 EQW\n";
    assert_eq!(fails(text), "c.txt:5:7: wire 3 is set twice");
}

#[test]
fn lying_heads_are_refused() {
    for (text, expected) in [
        ("1 5\n1 3\n1 1\n2 1 0 1 3 AND\n", "c.txt: output wire 4 is set by no gate"),
        (
            "1 5\n2 3\n1 1\n",
            "c.txt:3:1: the line before, of the inputs, begins with 2, expected the number of its widths, 1",
        ),
        ("1 5\n1 3\n2 1\n", "c.txt:3:1: 2 outputs, but 1 widths"),
        ("1 5\n1 6\n1 1\n", "c.txt:3:1: the inputs have 6 wires, but the whole circuit only 5"),
        ("1 5\n1 3\n1 6\n", "c.txt:3:1: the outputs have 6 wires, but the whole circuit only 5"),
        ("1 5 9\n1 3\n1 6\n", "c.txt:1:5: `9` after the head `GATES WIRES`"),
        (
            "99999999999999999999 5\n",
            "c.txt:1:1: the number of gates is 99999999999999999999, expected less than 2147483648",
        ),
        ("1 2147483648\n", "c.txt:1:3: the number of wires is 2147483648, expected less than 2147483648"),
        ("0 2147483647\n1 2147483647\n1 1\n", "c.txt:3:1: the inputs have 2147483647 wires, the limit is 67108864"),
        (
            "1 5\n3\n2 1 0 1 4 AND\n",
            "c.txt:3:1: expected three widths (Bristol) or a line of output widths next (Bristol Fashion), got 1",
        ),
        ("1 5\n1 3\n1 1\n2 1 0 1 4 AND\nmore", "c.txt:5:1: expected the end of the file after 1 gates, got `more`"),
    ] {
        assert_eq!(fails(text), expected, "{text}");
    }
}

#[test]
fn claims_cost_no_memory() {
    // Each of these would need gigabytes if its numbers were believed.
    assert!(fails("2147483647 2147483647\n1 3\n1 2147483644\n2 1 0 1 2147483646 AND").contains("ends after 1 of"));
    let outputs = "1 2147483647\n1 3\n1 2147483644\n2 1 0 1 2147483646 AND";
    assert_eq!(fails(outputs), "c.txt: output wire 3 is set by no gate");
    let ports = format!("1 9\n5000 {}\n1 1\n", "1 ".repeat(5000));
    assert_eq!(fails(&ports), "c.txt:2:1: 5000 ports, the limit is 4096");
}

#[test]
fn text_that_is_not_ascii_is_shown_safely() {
    let text = b"1 5\n1 3\n1 1\n2 1 0 \xff\xfe 4 AND\n";
    let error = FrontEnds::standard().read("c.txt", &mut &text[..]).unwrap_err();
    assert!(error.to_string().starts_with("c.txt:4:7: a wire: expected a number"), "{error}");
    assert!(error.render().contains("??"));
}

fn written(program: &Program, format: Format) -> Result<Program, WriteError> {
    let mut text = Vec::new();
    format.write(program, &mut text)?;
    Ok(read(std::str::from_utf8(&text).unwrap()).unwrap())
}

proptest! {
    #[test]
    fn what_is_written_reads_back(seed: u64, gates in 1usize..400) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = random::single(rng, gates, 2);
        let fashion = written(&program, Format::BristolFashion).unwrap();
        let inputs = random::inputs(rng, &program);
        let expected = evaluate(&program, &inputs);
        prop_assert_eq!(&evaluate(&fashion, &inputs), &expected);
        prop_assert_eq!(fashion.stats().and, program.stats().and);
        match written(&program, Format::Bristol) {
            Ok(old) => {
                let joined: Bits = expected.iter().flat_map(Bits::iter).collect();
                // Inputs without wires are none there.
                let mut values = inputs.iter().flat_map(Bits::iter).collect::<Vec<bool>>().into_iter();
                let widths = old.inputs().iter().map(|input| input.port.width() as usize);
                let inputs: Vec<Bits> = widths.map(|width| values.by_ref().take(width).collect()).collect();
                prop_assert_eq!(values.len(), 0);
                prop_assert_eq!(&evaluate(&old, &inputs)[0], &joined);
                prop_assert_eq!(old.stats().and, program.stats().and);
            }
            Err(error) => {
                let too_many = matches!(error, WriteError::TooManyInputs { inputs } if inputs > 2);
                let is_constant = program.inputs().iter().all(|input| input.port.width() == 0);
                prop_assert!(too_many || is_constant, "{}", error);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9 \n]{0,60}(AND|or|XNOR|INV|EQ|EQW|MAND)?[0-9 \n#/]{0,20}") {
        let _ = read(&text);
    }

    #[test]
    fn gates_in_any_order_compute_the_same(seed: u64, gates in 1usize..200) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = random::single(rng, gates, 2);
        let mut text = Vec::new();
        Format::BristolFashion.write(&program, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let (head, gates) = lines.split_at(3);
        let mut gates = gates.to_vec();
        rand::seq::SliceRandom::shuffle(&mut gates[..], rng);
        let mixed = read(&format!("{}\n{}\n", head.join("\n"), gates.join("\n"))).unwrap();
        let inputs = random::inputs(rng, &program);
        prop_assert_eq!(evaluate(&mixed, &inputs), evaluate(&program, &inputs));
        prop_assert_eq!(mixed.counts().and, program.counts().and);
    }

    #[test]
    fn any_damage_is_read_or_refused(at in 0usize..FASHION.len(), byte: u8) {
        let mut text = FASHION.as_bytes().to_vec();
        text[at] = byte;
        let _ = FrontEnds::standard().read("c.txt", &mut &text[..]);
    }
}

#[test]
fn the_old_format_cannot_say_everything() -> Result<(), CircuitError> {
    let constant = Circuit::new(0, vec![Gate::Constant(true)], vec![Wire(0)])?;
    let component = Component::new("one", vec![], vec![Port::new("out", Type::Bool)], constant)?;
    let program = Program::from_component(component, &[])?;
    assert!(matches!(written(&program, Format::Bristol), Err(WriteError::ConstantWithoutInput)));
    assert_eq!(evaluate(&written(&program, Format::BristolFashion).unwrap(), &[])[0].to_string(), "1");
    Ok(())
}

#[test]
fn a_full_disk_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in [Format::Bristol, Format::BristolFashion, Format::Program] {
        assert!(matches!(format.write(&read(OLD).unwrap(), &mut Full), Err(WriteError::Io(_))), "{format:?}");
    }
}

#[test]
fn files_full_of_mand_and_eq_are_optimised() {
    // 1 ^ (a & 0) by EQ, EQW and MAND: all constant but one product.
    let text = "6 10\n1 3\n1 2\n1 1 0 3 EQ\n1 1 1 4 EQ\n6 3 0 1 0 3 4 1 5 6 7 MAND\n1 1 7 8 EQW\n2 1 5 4 9 XOR\n1 1 6 99 INV\n";
    let text =
        text.replace("6 10", "6 11").replace("8 EQW", "9 EQW").replace("4 9 XOR", "4 10 XOR").replace(" 99 ", " 8 ");
    let program = FrontEnds::standard().read("m.txt", &mut text.as_bytes()).unwrap();
    let better = optimise_program(&program, Effort::Quick).unwrap();
    assert_eq!((program.stats().and, better.stats().and), (3, 1));
    for x in 0..8 {
        let input = [Bits::from_u128(x, 3)];
        assert_eq!(evaluate(&better, &input), evaluate(&program, &input));
    }
}
