use std::{fs, path::Path};

use garblet_circuit::{Component, Party, Port, Program, Type, random};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    Format,
    front_end::{FrontEnds, Storing},
};

fn written(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    Format::Binary.write(program, &mut bytes).expect("memory holds it");
    bytes
}

/// Loads a file with all gates left in it, in blocks of `block`.
fn load(path: &Path, block: u32) -> Result<Program, String> {
    let front_ends = FrontEnds::standard().storing(Storing { least: 1, block });
    front_ends.load(path.to_str().expect("a path in Unicode")).map_err(|errors| errors.to_string())
}

fn is_stored(program: &Program) -> bool {
    program.components().iter().any(|component| component.circuit().stored_gates().is_some())
}

/// A program of one component with that many gates, none of which has to be simplified.
fn chain(gates: u32) -> Program {
    let gate = |g| if g % 3 == 0 { Gate::And(Wire(g), Wire(g + 3)) } else { Gate::Xor(Wire(g), Wire(g + 2)) };
    let circuit = Circuit::new(4, (0..gates).map(gate).collect(), vec![Wire(gates + 3), Wire(0)]).expect("in order");
    let port = |name: &str, bits| Port::new(name, Type::Bits(bits));
    let component = Component::new("chain", vec![port("a", 1), port("b", 3)], vec![port("y", 2)], circuit);
    Program::from_component(component.expect("it fits"), &[Party(0), Party(1)]).expect("it fits")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn programs_do_not_depend_on_the_place_of_their_gates(seed: u64, gates in 12usize..300, block in 1u32..100) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.gbc");
        for program in [random::single(rng, gates, 2), random::program(rng, gates, 3), chain(gates as u32)] {
            let bytes = written(&program);
            fs::write(&path, &bytes).unwrap();
            let loaded = Arc::new(load(&path, block).expect("it is right"));
            prop_assert!(!is_stored(&loaded) || loaded.instance_count() == 1);
            prop_assert_eq!(loaded.digest(), program.digest());
            prop_assert_eq!(loaded.stats(), program.stats());
            prop_assert_eq!(written(&loaded.whole().expect("it is there")), bytes);
        }
        prop_assert!(is_stored(&load(&path, block).expect("it is right")));
    }
}

#[test]
fn files_are_wrong_in_the_same_way_wherever_gates_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.gbc");
    let bytes = written(&chain(40));
    for at in 0..bytes.len() {
        for change in [1, 4, 0x40, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            fs::write(&path, &changed).unwrap();
            let expected = FrontEnds::standard().load(path.to_str().unwrap()).map_err(|errors| errors.to_string());
            assert_eq!(load(&path, 7).unwrap_err(), expected.unwrap_err(), "byte {at}");
        }
        fs::write(&path, &bytes[..at]).unwrap();
        assert!(load(&path, 7).unwrap_err().contains("the file ends, expected "), "byte {at}");
    }
}

/// Every byte of the gates, and every shorter file.
#[test]
fn a_file_that_is_changed_after_it_was_loaded_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.gbc");
    let bytes = written(&chain(40));
    fs::write(&path, &bytes).unwrap();
    let program = Arc::new(load(&path, 7).unwrap());
    let read = || program.whole().map(|whole| whole.digest()).map_err(|error| error.to_string());
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        fs::write(&path, &changed).unwrap();
        match read() {
            Ok(digest) => assert_eq!(digest, program.digest(), "byte {at} is not of a gate"),
            Err(error) => {
                refused += 1;
                assert!(error.contains("p.gbc: bytes ") && error.contains(" are not those that were there"), "{error}");
            }
        }
    }
    assert_eq!(refused, 40 * 2, "two bytes for each gate");
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(read().unwrap_err().contains(" are not those that were there when the program was loaded"));
    fs::write(&path, &bytes).unwrap();
    assert_eq!(read().unwrap(), program.digest());
}

/// Whoever writes a file anew beside the old one and renames it does not disturb a run.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_as_a_whole_is_read_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["p.gbc", "q.gbc"].map(|name| folder.path().join(name));
    fs::write(&path, written(&chain(40))).unwrap();
    fs::write(&other, written(&chain(41))).unwrap();
    let program = Arc::new(load(&path, 7).unwrap());
    fs::rename(&other, &path).unwrap();
    assert_eq!(program.whole().unwrap().digest(), program.digest());
}

#[test]
fn gates_of_what_is_no_file_or_no_large_circuit_are_in_memory() {
    let program = chain(40);
    let bytes = written(&program);
    let front_ends = FrontEnds::standard().storing(Storing { least: 1, block: 7 });
    assert!(!is_stored(&front_ends.read("p.gbc", &mut &bytes[..]).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.gbc");
    fs::write(&path, &bytes).unwrap();
    let load = |front_ends: FrontEnds| front_ends.load(path.to_str().unwrap()).unwrap();
    assert!(!is_stored(&load(FrontEnds::standard().storing(Storing { least: 41, block: 7 }))));
    assert!(is_stored(&load(FrontEnds::standard().storing(Storing { least: 40, block: 7 }))));
    assert!(!is_stored(&load(FrontEnds::standard().leaving_gates())));
    assert!(!is_stored(&load(FrontEnds::standard())));
    // Two instances, one after another.
    let mut twice = program.clone();
    let inputs = [program.input_link(garblet_circuit::InputId(1)), program.input_link(garblet_circuit::InputId(0))];
    twice.add_instance(garblet_circuit::ComponentId(0), &inputs).unwrap();
    fs::write(&path, written(&twice)).unwrap();
    assert!(!is_stored(&load(FrontEnds::standard().storing(Storing { least: 1, block: 7 }))));
}
