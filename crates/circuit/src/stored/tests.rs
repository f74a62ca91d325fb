use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{Circuit, Component, Party, Port, Program, StoredSchedule, Type, random};

/// A program of one component, and the same with its gates outside, unless these have to be in memory.
fn both(seed: u64, gates: usize, block_gates: u32) -> Option<(Program, Program)> {
    let component = random::component(&mut StdRng::seed_from_u64(seed), "random", gates);
    let owners = [Party(0), Party(1)].repeat(8);
    let program = |component: Component| Program::from_component(component, &owners).expect("it fits");
    let stored = random::stored(&component, block_gates)?;
    Some((program(component), program(stored)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_said_of_a_circuit_does_not_depend_on_its_place(seed: u64, gates in 1usize..400, block in 1u32..90) {
        let Some((here, stored)) = both(seed, gates, block) else { return Ok(()) };
        prop_assert_eq!(here.digest(), stored.digest());
        prop_assert_eq!(here.parts(), stored.parts());
        prop_assert_eq!(here.stats(), stored.stats());
        prop_assert_eq!(here.components()[0].stats(), stored.components()[0].stats());
        prop_assert_eq!(here.counts(), stored.counts());
        prop_assert_eq!(here.reach(), stored.reach());
        let stored = Arc::new(stored);
        let whole = stored.whole().expect("memory can be read");
        prop_assert_eq!(&whole.components()[0], &here.components()[0]);
        prop_assert!(Arc::ptr_eq(&whole.whole().expect("it is"), &whole));
    }
}

#[test]
fn a_circuit_that_has_to_be_simplified_is_refused() {
    let (x, y) = (Wire(0), Wire(1));
    let circuit = |gates: &[Gate], outputs: &[u32]| {
        Circuit::new(2, gates.to_vec(), outputs.iter().map(|wire| Wire(*wire)).collect()).expect("in order")
    };
    let port = |name: &str, bits: usize| vec![Port::new(name, Type::Bits(bits as u32))];
    let is_stored = |gates: &[Gate], outputs: &[u32]| {
        let component = Component::new("c", port("x", 2), port("y", outputs.len()), circuit(gates, outputs));
        random::stored(&component.expect("it fits"), 2).is_some()
    };
    let and = Gate::And(x, y);
    assert!(is_stored(&[and], &[2]));
    assert!(is_stored(&[and, Gate::Constant(true), Gate::And(Wire(2), Wire(3))], &[4]));
    assert!(is_stored(&[and, Gate::Xor(x, x)], &[2]), "no output depends on what is simplified");
    assert!(!is_stored(&[and, Gate::Xor(x, x)], &[2, 3]));
    assert!(!is_stored(&[and, Gate::Not(x), Gate::And(x, Wire(3))], &[2, 4]));
    assert!(!is_stored(&[and, Gate::Constant(false), Gate::And(Wire(2), Wire(3))], &[4]));
    assert!(!is_stored(&[Gate::Xor(x, y)], &[2]), "nothing to garble");
}

#[test]
fn gates_that_are_gone_are_an_error_whenever_they_are_read() {
    let gate = |g| if g % 2 == 0 { Gate::And(Wire(g), Wire(g + 3)) } else { Gate::Xor(Wire(g), Wire(g + 3)) };
    let circuit = Circuit::new(4, (0..9).map(gate).collect(), vec![Wire(12)]).expect("in order");
    let port = |name: &str, bits| vec![Port::new(name, Type::Bits(bits))];
    let component = Component::new("c", port("x", 4), port("y", 1), circuit.clone()).expect("it fits");
    let left = Arc::new(AtomicUsize::new(usize::MAX));
    let stored = random::losing(&component, 2, left.clone()).expect("nothing is to simplify");
    let gates = stored.circuit().stored_gates().expect("they are outside");
    let gone = |error: Diagnostic| error.to_string() == "gates: are gone";
    for reads in 0..15 {
        left.store(reads, Ordering::Relaxed);
        assert_eq!(stored.whole().is_err_and(gone), reads < 5);
        left.store(reads, Ordering::Relaxed);
        assert_eq!(StoredSchedule::new(gates.clone()).err().is_some_and(gone), reads < 5);
        left.store(reads, Ordering::Relaxed);
        let again = || {
            let encoded = OneComponent::new(&[], &[], 4, 9);
            StoredGates::new(gates.shape, vec![Wire(12)], gates.blocks.clone(), encoded)
        };
        assert_eq!(again().is_err_and(gone), reads < 10);
    }
}
