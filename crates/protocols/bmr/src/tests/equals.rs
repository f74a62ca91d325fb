//! Joint garbling agrees with the plain evaluator, and makes the same circuit as the ideal functionality.

use garblet_circuit::{Recipients, evaluate as evaluate_plain, random};
use garblet_synthesis::library;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use garblet_runs::testing::is_full;

fn assert_equals(program: &Program, inputs: &[Bits], parties: u16, config: Config, seed: u64) {
    let plan = plan(program, parties, config).expect("a program for these parties");
    let garbled = garble(&plan, seed);
    let secrets: Vec<_> = garbled.iter().map(|party| party.prepared.secrets.clone()).collect();
    // Half gates are held to their secrets in `tables`.
    let rows = if config.form == Form::HalfGates { 0 } else { garbled.len() };
    let expected = ideal::garble(&plan, &secrets[..rows], garbled[0].prepared.numbered);
    for (party, garbled) in garbled[..rows].iter().enumerate() {
        for (gate, rows) in garbled.prepared.circuit.chunks(plan.gate_blocks()).enumerate() {
            assert!(rows == &expected[gate * rows.len()..][..rows.len()], "gate {gate} of party {party}, {config:?}");
        }
    }
    let learned = evaluate(&plan, garbled, inputs);
    let values = evaluate_plain(program, inputs);
    for (party, (outputs, _)) in learned.iter().enumerate() {
        for (k, (output, value)) in program.outputs().iter().zip(&values).enumerate() {
            let learns = output.recipients.contains(Party(party as u16));
            assert!(outputs[k].as_ref() == learns.then_some(value), "output {k} of party {party}, {config:?}");
        }
    }
}

#[test]
fn every_kind_and_hash_with_two_to_nine_parties() {
    let mut rng = StdRng::seed_from_u64(11);
    for parties in 2..=9 {
        for (at, kind) in KINDS.into_iter().enumerate() {
            if !kind.0.parties().contains(&parties) {
                continue;
            }
            let hash = match kind {
                HALF_GATES => Hash::Rekeyed,
                _ => [Hash::Rekeyed, Hash::FixedKey, Hash::Aes256][(at + usize::from(parties)) % 3],
            };
            let most_gates = rng.random_range(1..=1_500);
            let program = random::program(&mut rng, most_gates, parties);
            let inputs = random::inputs(&mut rng, &program);
            assert_equals(&program, &inputs, parties, config(kind, hash), at as u64);
        }
    }
}

/// Every member of the library of up to 10,000 gates, in the full form, with its usual parameters, among two to nine parties.
#[test]
fn library_circuits() {
    let mut rng = StdRng::seed_from_u64(12);
    let names: Vec<&str> = match is_full() {
        true => library::list().map(|member| member.name).collect(),
        false => vec!["lib:millionaires(32)", "lib:aes128", "lib:levenshtein(4,4,8)"],
    };
    let mut parties = (2..=9).cycle();
    for name in names {
        let Ok(program) = library::find(name) else { panic!("{name}") };
        if program.stats().and > 10_000 {
            continue;
        }
        let inputs = random::inputs(&mut rng, &program);
        for kind in KINDS {
            let fits = |parties: &u16| is_full() && kind.0.parties().contains(parties);
            let parties = parties.by_ref().take(8).find(fits).unwrap_or(4);
            assert_equals(&program, &inputs, parties.max(program.party_count()), config(kind, Hash::Rekeyed), 5);
        }
    }
}

#[test]
fn half_gates_with_every_set_of_recipients() {
    let mut rng = StdRng::seed_from_u64(13);
    for parties in [2u16, 3, 4] {
        for set in 0..1u32 << parties {
            let mut program = random::program(&mut rng, 200, parties);
            let members: Vec<Party> = (0..parties).filter(|k| set >> k & 1 == 1).map(Party).collect();
            for output in 0..program.outputs().len() {
                // The first output for the set, each other for one party of it.
                let recipients = match members.len() {
                    0 => Vec::new(),
                    _ if output == 0 => members.clone(),
                    count => vec![members[output % count]],
                };
                program.set_recipients(output, Recipients::Only(recipients));
            }
            let inputs = random::inputs(&mut rng, &program);
            assert_equals(&program, &inputs, parties, config(HALF_GATES, Hash::Rekeyed), set.into());
        }
    }
    for parties in [5, 7, 17] {
        let program = random::program(&mut rng, 200, parties);
        let inputs = random::inputs(&mut rng, &program);
        assert_equals(&program, &inputs, parties, config(HALF_GATES, Hash::Rekeyed), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_full() { 100 } else { 12 }))]

    #[test]
    fn random_programs(seed: u64, kind in 0..KINDS.len(), parties in 2u16..10) {
        let kind = KINDS[kind];
        prop_assume!(kind.0.parties().contains(&parties));
        let mut rng = StdRng::seed_from_u64(seed);
        let program = random::program(&mut rng, 500, parties);
        let inputs = random::inputs(&mut rng, &program);
        assert_equals(&program, &inputs, parties, config(kind, Hash::Rekeyed), seed);
    }
}
