//! Random circuits, written in every format by [`writers`](super::writers), compute what the plain evaluator says of the circuit itself.

use garblet_circuit::{Bits, Circuit, Program, evaluate, evaluate_circuit, random};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::writers::{Named, WRITERS};
use crate::{Format, front_end::FrontEnds};

/// The names of the bits of ports.
fn names(ports: &[(&str, usize)]) -> Vec<String> {
    let bits = |&(name, width): &(&str, usize)| match width {
        1 => vec![name.to_string()],
        width => (0..width).map(|bit| format!("{name}[{bit}]")).collect(),
    };
    ports.iter().flat_map(bits).collect()
}

/// The outputs of a program by name, for input bits by name.
fn run(program: &Program, value: &Bits, inputs: &[String], outputs: &[String], by_order: bool) -> Vec<bool> {
    let bits = |name: &str, width: usize| match width {
        1 => vec![name.to_string()],
        width => (0..width).map(|bit| format!("{name}[{bit}]")).collect(),
    };
    let given: Vec<Bits> = match by_order {
        true => {
            let mut rest = value.iter();
            program.inputs().iter().map(|input| rest.by_ref().take(input.port.width() as usize).collect()).collect()
        }
        false => program
            .inputs()
            .iter()
            .map(|input| {
                let names = bits(&input.port.name, input.port.width() as usize);
                names.iter().map(|name| value.get(inputs.iter().position(|known| known == name).unwrap())).collect()
            })
            .collect(),
    };
    let results = evaluate(program, &given);
    if by_order {
        return results.iter().flat_map(Bits::iter).collect();
    }
    let ports = program.outputs().iter().zip(&results);
    let named: Vec<(String, bool)> = ports
        .flat_map(|(output, bits_of)| {
            bits(&output.port.name, output.port.width() as usize).into_iter().zip(bits_of.iter())
        })
        .collect();
    outputs.iter().map(|name| named.iter().find(|(known, _)| known == name).unwrap().1).collect()
}

proptest! {
    #[test]
    fn random_circuits_in_every_format_compute_the_same(seed: u64, gates in 1usize..150) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let [a, b, y, z] = [0; 4].map(|_| rng.random_range(1..6usize));
        let circuit: Circuit = random::circuit(rng, (a + b) as u32, gates, y + z);
        let named = Named {
            circuit: &circuit,
            inputs: names(&[("a", a), ("b", b)]),
            outputs: names(&[("y", y), ("z", z)]),
        };
        for (extension, writer) in WRITERS {
            let text = writer(&named, rng);
            let program = FrontEnds::standard().read(&format!("r.{extension}"), &mut &text[..]);
            let program = program.map_err(|e| TestCaseError::fail(format!("{extension}: {e}\n{}", String::from_utf8_lossy(&text))))?;
            let mut bristol = Vec::new();
            Format::BristolFashion.write(&program, &mut bristol).unwrap();
            let again = FrontEnds::standard().read("again.txt", &mut &bristol[..]).unwrap();
            prop_assert_eq!(again.counts().and, program.counts().and);
            for _ in 0..4 {
                let value: Bits = (0..a + b).map(|_| rng.random()).collect();
                let words: Vec<u64> = value.iter().map(u64::from).collect();
                let expected: Vec<bool> = evaluate_circuit(&circuit, &words).iter().map(|word| word & 1 == 1).collect();
                let got = run(&program, &value, &named.inputs, &named.outputs, extension == "aby");
                prop_assert_eq!(&got, &expected, "{}", extension);
                // Bristol Fashion keeps order and widths of ports, but not their names.
                let given: Vec<Bits> = random::inputs(rng, &program);
                prop_assert_eq!(evaluate(&again, &given), evaluate(&program, &given), "{}", extension);
            }
            // XOR and negation cost nothing but in AIGER, which has no XOR.
            let ands = circuit.gates().iter().filter(|gate| matches!(gate, garblet_circuit::Gate::And(..))).count() as u64;
            prop_assert!(["aag", "aig"].contains(&extension) || program.counts().and == ands, "{}", extension);
        }
    }

    #[test]
    fn any_damage_is_read_or_refused(seed: u64, at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let circuit = random::circuit(rng, 3, 12, 2);
        let named = Named { circuit: &circuit, inputs: names(&[("a", 2), ("b", 1)]), outputs: names(&[("y", 2)]) };
        for (extension, writer) in WRITERS {
            let text = writer(&named, rng);
            let file = format!("r.{extension}");
            let mut damaged = text.clone();
            damaged[at.index(text.len())] = byte;
            let _ = FrontEnds::standard().read(&file, &mut &damaged[..]);
            let _ = FrontEnds::standard().read(&file, &mut &text[..cut.index(text.len())]);
        }
    }
}
