use garblet_circuit::{
    Bits, Circuit, Component, Gate, Link, Party, Port, Recipients, Source, Type, Wire,
    diagnostic::Diagnostic,
    evaluate,
    notes::{Limit, Notes, Ordered, Panics},
    random,
};
use garblet_synthesis::library;
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{Format, WriteError, front_end::FrontEnds};

fn written(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    Format::Binary.write(program, &mut bytes).expect("memory holds it");
    bytes
}

fn read(bytes: &[u8]) -> Result<Program, Diagnostic> {
    let read = FrontEnds::standard().read("p.gbc", &mut &*bytes);
    read.map_err(|errors| errors.iter().next().expect("one at least").clone())
}

fn fails(bytes: &[u8]) -> String {
    let error = read(bytes).expect_err("it is wrong");
    assert!(error.hint.is_some(), "{error}");
    error.to_string().strip_prefix("p.gbc: ").expect("the file's name").into()
}

/// The program of the book: two bits of parties 0 and 1, and whether both are set.
fn both() -> Program {
    let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).unwrap();
    let ports = |names: &[&str]| names.iter().map(|name| Port::new(*name, Type::Bool)).collect();
    let component = Component::new("both", ports(&["a", "b"]), ports(&["y"]), circuit).unwrap();
    Program::from_component(component, &[]).unwrap()
}

/// The file of [`both`] without digest and checksum.
const BOTH: &str = "\
    89 47 42 43 0d 0a 1a 01 \
    04 62 6f 74 68 \
    01 04 62 6f 74 68 \
    02 01 61 04 62 6f 6f 6c 01 62 04 62 6f 6f 6c \
    01 01 79 04 62 6f 6f 6c \
    01 09 01 04 \
    02 01 61 04 62 6f 6f 6c 00 00 00 01 62 04 62 6f 6f 6c 01 00 00 \
    01 00 02 06 00 00 06 01 00 \
    01 01 79 04 62 6f 6f 6c 00 01 07 01 00 \
    00";

/// The bytes of [`BOTH`].
fn body() -> Vec<u8> {
    BOTH.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal")).collect()
}

/// A file with these bytes before a digest and the checksum.
fn sealed(body: &[u8], digest: [u8; 32]) -> Vec<u8> {
    let bytes = [body, &digest].concat();
    let checksum: [u8; 32] = blake3::hash(&bytes).into();
    [&bytes[..], &checksum].concat()
}

#[test]
fn the_documented_bytes_are_those_that_are_written() {
    let file = sealed(&body(), both().digest());
    assert_eq!(written(&both()), file);
    assert_eq!(read(&file).unwrap().digest(), both().digest());
    let book = include_str!("../../../../docs/src/program-files.md");
    let lines = book.lines().filter_map(|line| line.split_once("  ")).map(|(bytes, _)| bytes);
    let bytes =
        lines.flat_map(str::split_whitespace).filter(|word| word.len() == 2 && u8::from_str_radix(word, 16).is_ok());
    assert_eq!(bytes.collect::<Vec<_>>().join(" "), BOTH, "the table of the book");
}

/// A program with all that the form can express.
fn everything(rng: &mut StdRng) -> Program {
    let mut program = random::program(rng, 40, 3);
    let list = |key: Type| Type::List(Box::new(Type::Record(vec![("key".into(), key), ("v".into(), Type::Bool)])), 3);
    program.add_input(Port::new("sorted", list(Type::Unsigned(7))), Party(65534)).unwrap();
    program.add_input(Port::new("small", Type::Array(Box::new(Type::Unsigned(64)), 2)), Party(1)).unwrap();
    let none = Recipients::Only(Vec::new());
    program.add_output(Port::new("a name\n", Type::Array(Box::new(Type::Bool), 0)), none, Vec::new()).unwrap();
    let told = Some(program.outputs().len());
    let links = vec![Link { source: Source::Constant(true), start: 0, len: 2 }];
    program.add_output(Port::new(Panics::OUTPUT, Type::Unsigned(2)), Recipients::All, links).unwrap();
    program.set_notes(Notes {
        panics: Some(Panics::On { output: told, places: vec!["a.rs:1:2: ü".into(), String::new()] }),
        ordered: vec![Ordered { input: "sorted".into(), key_bits: 7, order: Order::Descending }],
        limits: vec![Limit { input: "small".into(), field: "group".into(), bits: 64, below: u64::MAX }],
        ..Notes::default()
    });
    program
}

fn assert_reads_back(program: &Program) -> usize {
    let bytes = written(program);
    let back = read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", program.name()));
    assert_eq!(back.digest(), program.digest(), "{}", program.name());
    assert_eq!(
        (back.name(), back.inputs(), back.outputs().len()),
        (program.name(), program.inputs(), program.outputs().len())
    );
    assert_eq!(written(&back), bytes, "{}", program.name());
    let names = |program: &Program| program.components().iter().map(|c| c.name().to_string()).collect::<Vec<_>>();
    assert_eq!(names(&back), names(program));
    let (own, other) = (back.notes(), program.notes());
    assert_eq!((&own.panics, &own.ordered, &own.limits), (&other.panics, &other.ordered, &other.limits));
    bytes.len()
}

#[test]
fn all_of_the_library_reads_back_in_few_bytes() {
    let (mut bytes, mut gates) = (0, 0);
    let is_full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    // Inverses in fields take seconds to build.
    for member in library::list().filter(|member| is_full || !member.name.ends_with("-field-inv")) {
        let program = library::find(member.name).expect("the library lists it");
        bytes += assert_reads_back(&program);
        gates += program.components().iter().map(|component| component.circuit().gates().len()).sum::<usize>();
    }
    assert!(bytes < 4 * gates, "{bytes} bytes for {gates} gates");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_written_reads_back(seed: u64) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = random::program(rng, 300, 3);
        assert_reads_back(&program);
        let inputs = random::inputs(rng, &program);
        let back = read(&written(&program)).expect("it reads back");
        prop_assert_eq!(evaluate(&back, &inputs), evaluate(&program, &inputs));
        assert_reads_back(&everything(rng));
    }

    #[test]
    fn any_bytes_are_read_or_refused(seed: u64, cut: prop::sample::Index, rest: Vec<u8>) {
        let bytes = written(&everything(&mut StdRng::seed_from_u64(seed)));
        let bytes = [&bytes[..cut.index(bytes.len())], &rest].concat();
        prop_assert!(read(&bytes).is_err());
    }
}

#[test]
fn every_changed_byte_and_every_beginning_is_refused() {
    let bytes = written(&everything(&mut StdRng::seed_from_u64(1)));
    for at in 0..bytes.len() {
        for change in [1, 2, 0x40, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let error = fails(&changed);
            let place = error.strip_prefix("byte ").and_then(|rest| rest.split(':').next()).expect("its place");
            assert!(place.parse::<usize>().unwrap() <= bytes.len() + 1, "{at}: {error}");
        }
        let error = fails(&bytes[..at]);
        assert!(error.starts_with(&format!("byte {}: the file ends, expected ", at + 1)), "{at}: {error}");
    }
    let error = fails(&[&bytes[..], &[0]].concat());
    assert_eq!(error, format!("byte {}: the file goes on, expected its end after the checksum", bytes.len() + 1));
}

#[test]
fn a_changed_byte_under_a_new_checksum_is_refused_or_changes_nothing_that_parties_agree_on() {
    let bytes = written(&everything(&mut StdRng::seed_from_u64(2)));
    let (body, digest) = (&bytes[..bytes.len() - 64], read(&bytes).unwrap().digest());
    for at in 0..body.len() {
        for change in [1, 2, 4, 0x40, 0x80, 0xff] {
            let mut changed = body.to_vec();
            changed[at] ^= change;
            if let Ok(program) = read(&sealed(&changed, digest)) {
                assert_eq!(program.digest(), digest);
            }
        }
    }
}

#[test]
fn the_checksum_and_the_digest_are_both_checked() {
    let file = sealed(&body(), both().digest());
    // Names of the program and its components are in the checksum alone.
    let renamed = [&file[..9], b"B", &file[10..]].concat();
    let error = fails(&renamed);
    assert!(error.starts_with("byte 123: the checksum is ") && error.contains(".., expected "), "{error}");
    let mut body = body();
    let owner = body.len() - 26;
    assert_eq!(std::mem::replace(&mut body[owner], 2), 1);
    let error = fails(&sealed(&body, both().digest()));
    assert!(error.starts_with("byte 91: the program's digest is ") && error.contains(".., expected "), "{error}");
}

/// The body of [`BOTH`] with other bytes from byte `at` on, counted from 1.
fn replaced(at: usize, old: &[u8], new: &[u8]) -> Vec<u8> {
    let body = body();
    assert_eq!(&body[at - 1..at - 1 + old.len()], old);
    sealed(&[&body[..at - 1], new, &body[at - 1 + old.len()..]].concat(), both().digest())
}

#[test]
fn faults_have_their_place() {
    let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let cases: [(usize, &[u8], &[u8], &str); 32] = [
        (1, &[0x89], &[0x09], "byte 1: is 09, expected 89, as every binary program begins"),
        (6, &[10], &[13, 10], "byte 6: is 0d, expected 0a, as every binary program begins"),
        (8, &[1], &[2], "byte 8: is of format 2, this Garblet reads format 1"),
        (9, &[4], &most, "byte 9: the program's name is 18446744073709551615, expected at most 1048576"),
        (9, &[4], &[0x84, 0], "byte 9: the program's name is 4 in 2 bytes, expected no zeros at its end"),
        (9, &[4], &[0xff; 12], "byte 9: the program's name has more than 64 bits, expected at most 1048576"),
        (10, b"b", b"\xff", "byte 10: the program's name is not UTF-8"),
        (
            24,
            b"b",
            b"c",
            "byte 23: the type of a port: expected a type such as u8, i16, bool, bits4, bytes16, [u8; 4] or {a: u8}, got `cool`",
        ),
        (23, b"\x04bool", b"\x05 bool", "byte 23: the type of a port is ` bool`, expected it as `bool`"),
        (29, b"b", b"a", "byte 15: component `both`: input port `a` appears twice"),
        (43, &[1], &most, "byte 43: the number of gates is 18446744073709551615, expected at most 2147483645"),
        (43, &[1], &[0], "byte 44: an output wire is -5, expected 0 or more, below 2"),
        (44, &[9], &[1], "byte 44: an operand of the gate of wire 2 is 0 wires before it, expected 1 to 2"),
        (44, &[9], &[13], "byte 44: an operand of the gate of wire 2 is 3 wires before it, expected 1 to 2"),
        (45, &[1], &[3], "byte 45: an operand of the gate of wire 2 is 3 wires before it, expected 1 to 2"),
        (44, &[9, 1], &[11], "byte 44: a constant is 2, expected 0 or 1"),
        (46, &[4], &[6], "byte 46: an output wire is 3, expected 0 or more, below 3"),
        (46, &[4], &[1], "byte 46: an output wire is -1, expected 0 or more, below 3"),
        (55, &[0], &[0xff, 0xff, 3], "byte 55: the owner of an input is 65535, expected at most 65534"),
        (56, &[0], &[4], "byte 56: the order of an input is 4, expected at most 3"),
        (56, &[0], &[1], "byte 56: input `a` has an order, expected a list, got the type bool"),
        (57, &[0], &[1], "byte 57: the limit of an input that has no elements is 1, expected at most 0"),
        (59, b"b", b"a", "byte 58: component `both`: input port `a` appears twice"),
        (69, &[0], &[1], "byte 69: instance 0 of `both`: component 1 does not exist here, there are 1"),
        (70, &[2], &[1], "byte 69: instance 0 of `both`: links bring 1 wires, expected 2"),
        (72, &[0], &[2], "byte 69: instance 0 of `both`: input 2 does not exist here, there are 2"),
        (73, &[0], &[1], "byte 69: instance 0 of `both`: link reads wires 1..2 of input `a`, which has 1"),
        (71, &[6], &[7], "byte 72: instance 0 is fed by itself, expected an instance before it"),
        (74, &[6], &[7], "byte 75: the instance of a link is 1, expected at most 0"),
        (85, &[0], &[3, 1, 1], "byte 87: recipient 1 after 1, expected them in ascending order"),
        (90, &[0], &[4], "byte 90: the output that tells of failed checks is 4, expected at most 3"),
        (
            90,
            &[0],
            &[3, 1, 0],
            "byte 90: the output that tells which of 1 checks has failed is `y`, of type bool, expected `panic`, an unsigned integer of 1 to 1 bits",
        ),
    ];
    let wrong: Vec<String> = cases
        .into_iter()
        .map(|(at, old, new, expected)| (fails(&replaced(at, old, new)), expected))
        .filter(|(got, expected)| got != expected)
        .map(|(got, expected)| format!("{got}\nexpected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn limits_and_keys_fit_the_elements() {
    let mut program = Program::new("limits");
    let ty = Type::List(Box::new(Type::Unsigned(3)), 2);
    program.add_input(Port::new("a", ty), Party(0)).unwrap();
    let fails = |ordered: Vec<Ordered>, limits: Vec<Limit>| {
        let mut program = program.clone();
        program.set_notes(Notes { ordered, limits, ..Notes::default() });
        fails(&written(&program))
    };
    let ordered = Ordered { input: "a".into(), key_bits: 4, order: Order::Strict };
    assert!(fails(vec![ordered], vec![]).ends_with("the bits of a key is 4, expected at most 3"));
    let limit = |bits, below| Limit { input: "a".into(), field: "a".into(), bits, below };
    assert!(fails(vec![], vec![limit(4, 1)]).ends_with("the bits of a limit is 4, expected at most 3"));
    assert!(fails(vec![], vec![limit(3, 0)]).ends_with("a limit is 0, expected 1 or more"));
}

/// A file may say that it has more of anything than memory holds; it is refused where it ends.
#[test]
fn numbers_in_a_file_set_no_memory_aside() {
    let most = |at| match at {
        // The most components, gates and instances of a program.
        14 | 43 | 68 => vec![0xf0, 0xff, 0xff, 0xff, 7],
        _ => [&[0xff; 9][..], &[1]].concat(),
    };
    for (at, old) in [(14, 1), (20, 2), (35, 1), (43, 1), (47, 2), (68, 1), (70, 2), (77, 1), (85, 0), (86, 1)] {
        let body = body();
        assert_eq!(body[at - 1], old, "byte {at}");
        let bytes = [&body[..at - 1], &most(at)].concat();
        assert!(fails(&bytes).contains("the file ends, expected "), "byte {at}: {}", fails(&bytes));
    }
}

#[test]
fn a_file_of_few_bytes_cannot_have_many_input_wires() {
    let wide = |name: &str| Port::new(name, Type::Bits(1 << 26));
    let mut program = Program::new("wide");
    program.add_input(wide("a"), Party(0)).unwrap();
    assert!(FrontEnds::standard().read("wide", &mut &written(&program)[..]).is_ok());
    program.add_input(wide("b"), Party(0)).unwrap();
    assert!(fails(&written(&program)).ends_with("the program has 134217728 input wires, expected 67108864 at most"));
}

#[test]
fn a_file_is_known_by_its_beginning() {
    let read = |file: &str| FrontEnds::standard().read(file, &mut &written(&both())[..]).unwrap();
    for file in ["p", "p.txt", "p.json", "p.aig"] {
        let and = |a, b| evaluate(&read(file), &[a, b].map(|bit| Bits::from_u128(bit, 1)))[0].get(0);
        assert!(and(1, 1) && !and(0, 1), "{file}");
    }
    assert_eq!(fails(b"2 2\n"), "byte 1: is 32, expected 89, as every binary program begins");
}

#[test]
fn what_the_form_cannot_express_is_not_written() {
    let fails = |program: &Program| Format::Binary.write(program, &mut Vec::new()).unwrap_err();
    let mut batch = both();
    batch.set_notes(Notes { rows: Some(3), ..Notes::default() });
    assert!(matches!(fails(&batch), WriteError::Batch { rows: 3 }));
    assert!(matches!(fails(&Program::new("x".repeat((1 << 20) + 1))), WriteError::Length { .. }));
    let mut odd = Program::new("odd");
    odd.add_input(Port::new("a", Type::Record(vec![("b c".into(), Type::Bool)])), Party(0)).unwrap();
    assert!(matches!(fails(&odd), WriteError::Type { .. }));
}
