//! Misuse: wrong numbers of parties, wrong inputs, damaged circuits, owners who know too little.

use garblet_circuit::{InputId, Recipients};
use garblet_primitives::Backend;
use garblet_synthesis::library;

use super::{
    super::{
        evaluate::{evaluate as evaluate_circuit, public_values},
        half_gates,
    },
    *,
};

fn millionaires() -> Program {
    library::find("lib:millionaires(16)").unwrap()
}

fn refusal(program: &Program, parties: u16, garbling: Garbling) -> String {
    plan(program, parties, Config::of(garbling)).err().expect("refused").to_string()
}

#[test]
fn wrong_numbers_of_parties_are_refused() {
    for (garbling, least) in [(Garbling::Ot, 2), (Garbling::Bgw4, 3), (Garbling::Bgw3, 3), (Garbling::Bgw2, 4)] {
        let name = garbling.name();
        for parties in [0, 1, least - 1, 65, u16::MAX] {
            let error = refusal(&millionaires(), parties, garbling);
            assert!(error.starts_with(&format!("{name} cannot run program")), "{error}");
            assert!(error.ends_with(&format!("{parties} parties, expected {least} to 64")), "{error}");
        }
        assert!(plan(&millionaires(), least, Config::of(garbling)).is_ok());
    }
}

#[test]
fn owners_and_recipients_that_are_not_parties_are_refused() {
    let mut program = millionaires();
    program.set_owner(InputId(1), Party(5));
    assert!(refusal(&program, 3, Garbling::Ot).contains("belongs to party 5, expected 0 to 2"));
    let mut program = millionaires();
    program.set_recipients(0, Recipients::Only(vec![Party(3)]));
    assert!(refusal(&program, 3, Garbling::Ot).contains("is for party 3, expected 0 to 2"));
}

#[test]
fn inputs_of_another_width_are_refused() {
    let plan = plan(&millionaires(), 2, Config::default()).unwrap();
    let mut garbled = garble(&plan, 3).remove(0);
    let error = block_on(BmrParty::online(garbled.prepared, &plan, &mut garbled.session, &[Bits::from_u128(1, 17)]));
    assert!(error.unwrap_err().to_string().contains("expected 16 bits, got 17 bits"));
}

/// Everybody's active labels of inputs with these public values, wire by wire.
fn labels(plan: &Plan, garbled: &[Garbled], value: impl Fn(usize, usize) -> bool) -> Vec<Block> {
    let label = |at: usize| {
        let of = |(party, garbled): (usize, &Garbled)| garbled.prepared.secrets.label(at, value(at, party));
        garbled.iter().enumerate().map(of).collect::<Vec<Block>>()
    };
    (0..plan.input_count()).flat_map(label).collect()
}

/// The public values of party 0's outputs, or the first output on which labels disagree.
fn values(plan: &Plan, garbled: &Garbled, labels: &[Block], circuit: &[Block]) -> Result<Vec<bool>, usize> {
    let slots = evaluate_circuit(plan, garbled.prepared.numbered, labels, circuit, Backend::detect());
    public_values(plan, &slots, plan.outputs_of(Party(0))).map(|values| values.0)
}

#[test]
fn an_owner_cannot_evaluate_for_another_input_of_its_own() {
    // FairplayMP lets the owner of an input choose all of its labels, so it can evaluate the circuit with any input of
    // its own; the paper points that out. Here every party contributes to a wire's label.
    let program = library::find("lib:aes128").unwrap();
    for garbling in Garbling::ALL {
        let form = if garbling == Garbling::Ot { Form::Linear } else { Config::of(garbling).form };
        let plan = plan(&program, 4, config((garbling, form), Hash::Rekeyed)).unwrap();
        let garbled = garble(&plan, 4);
        let circuit = &garbled[0].prepared.circuit;
        let secrets: Vec<_> = garbled.iter().map(|party| party.prepared.secrets.clone()).collect();
        let honest = values(&plan, &garbled[0], &labels(&plan, &garbled, |_, _| false), circuit).unwrap();
        let at = plan.inputs_of(Party(0)).next().unwrap();
        // With only its own part of the other label, the owner gets no output on which the labels agree.
        let known = labels(&plan, &garbled, |wire, party| wire == at && party == 0);
        assert!(values(&plan, &garbled[0], &known, circuit).is_err(), "{}", garbling.name());
        // With everybody's part, as in FairplayMP, it gets the output for the other input.
        let all = labels(&plan, &garbled, |wire, _| wire == at);
        let other = values(&plan, &garbled[0], &all, circuit).unwrap();
        assert_ne!(honest, other);
        assert_eq!(ideal::output_permutation(&plan, &secrets, Party(0)).len(), other.len());
    }
}

#[test]
fn a_damaged_circuit_is_noticed() {
    let program = library::find("lib:aes128").unwrap();
    let plan = plan(&program, 3, config(LINEAR, Hash::Rekeyed)).unwrap();
    let mut garbled = garble(&plan, 5);
    let labels = labels(&plan, &garbled, |_, _| false);
    let numbered = garbled[0].prepared.numbered;
    // One slot of every row of the first gate.
    for row in 0..4 {
        garbled[1].prepared.circuit[row * 3 + 2] ^= Block::from_u128(1 << 77);
    }
    for (party, damaged) in garbled.iter().map(|garbled| &garbled.prepared.circuit).enumerate() {
        let slots = evaluate_circuit(&plan, numbered, &labels, damaged, Backend::detect());
        assert_eq!(public_values(&plan, &slots, plan.outputs_of(Party(0))).is_err(), party == 1);
    }
}

#[test]
fn half_gates_refuse_what_they_do_not_have() {
    let refused = |config| plan(&millionaires(), 4, config).err().expect("refused").to_string();
    let error = refused(config(HALF_GATES, Hash::Aes256));
    assert!(error.contains("form half-gates takes hash rekeyed"), "{error}");
    let error = refused(config((Garbling::Bgw3, Form::HalfGates), Hash::Rekeyed));
    assert!(error.contains("form half-gates is for bmr"), "{error}");
}

#[test]
fn the_first_party_that_learns_a_bit_evaluates_half_gates() {
    let evaluator = |recipients: &[u16]| {
        let mut program = millionaires();
        let recipients = recipients.iter().copied().map(Party).collect();
        program.set_recipients(0, Recipients::Only(recipients));
        plan(&program, 5, config(HALF_GATES, Hash::Rekeyed)).unwrap().evaluator()
    };
    assert_eq!([&[0, 1, 2, 3, 4][..], &[3], &[4, 2], &[]].map(evaluator), [Party(0), Party(3), Party(2), Party(0)]);
}

#[test]
fn damage_of_half_gates_is_noticed_by_all() {
    let plan = plan(&library::find("lib:aes128").unwrap(), 3, config(HALF_GATES, Hash::Rekeyed)).unwrap();
    let mut garbled = garble(&plan, 5);
    let evaluator = &mut garbled[usize::from(plan.evaluator().0)].prepared;
    // All blocks of the first gates for one delta, behind the seeds.
    (0..30).for_each(|k| evaluator.circuit[2 + 2 * k] ^= Block::from_u128(1 << 77));
    let inputs = [Bits::zeros(128), Bits::zeros(128)];
    let one = async |Garbled { mut session, prepared }: Garbled| {
        let own = own_inputs(plan.program(), session.mesh().party(), &inputs);
        match BmrParty::online(prepared, &plan, &mut session, &own).await {
            Ok(_) => panic!("a result"),
            Err(error) => {
                session.abort(&error).await;
                error.to_string()
            }
        }
    };
    let errors = block_on(futures_util::future::join_all(garbled.into_iter().map(one)));
    assert!(errors[0].contains("labels of all parties that agree about bit"), "{}", errors[0]);
    assert!(errors[1..].iter().all(|error| error.contains("party 0")), "{errors:?}");
}

#[test]
fn every_backend_evaluates_half_gates_alike() {
    let program = library::find("lib:aes128").unwrap();
    for parties in [2, 3, 6] {
        let plan = plan(&program, parties, config(HALF_GATES, Hash::Rekeyed)).unwrap();
        let garbled = garble(&plan, 6);
        let evaluator = usize::from(plan.evaluator().0);
        let garblers = || garbled.iter().enumerate().filter(move |(party, _)| *party != evaluator);
        let label = |at: usize| garblers().map(move |(_, garbled)| garbled.prepared.secrets.label(at, at & 2 == 0));
        let labels: Vec<Block> = (0..plan.input_count()).flat_map(label).collect();
        let values = |backend| {
            let slots = half_gates::evaluate(&plan, &labels, &garbled[evaluator].prepared.circuit, backend);
            public_values(&plan, &slots, plan.outputs_of(Party(0))).map(|values| values.0)
        };
        let expected = values(Backend::PORTABLE);
        assert!(expected.is_ok());
        assert!(Backend::available().into_iter().all(|backend| values(backend) == expected));
    }
}

#[test]
fn all_backends_evaluate_alike() {
    let program = library::find("lib:aes128").unwrap();
    for parties in [3, 5] {
        for hash in [Hash::Rekeyed, Hash::FixedKey, Hash::Aes256] {
            let plan = plan(&program, parties, config((Garbling::Bgw3, Form::Linear), hash)).unwrap();
            let garbled = garble(&plan, 6);
            let labels = labels(&plan, &garbled, |at, _| at % 3 == 0);
            let (numbered, circuit) = (garbled[0].prepared.numbered, &garbled[0].prepared.circuit);
            let values = |backend| {
                let slots = evaluate_circuit(&plan, numbered, &labels, circuit, backend);
                public_values(&plan, &slots, plan.outputs_of(Party(0))).map(|values| values.0)
            };
            let expected = values(Backend::PORTABLE);
            assert!(expected.is_ok());
            assert!(Backend::available().into_iter().all(|backend| values(backend) == expected));
        }
    }
}

#[test]
fn a_fixed_key_lowers_the_stated_security() {
    let program = library::find("lib:aes128").unwrap();
    let bits = |hash| plan(&program, 3, config(KINDS[0], hash)).unwrap().security().computational_bits;
    // 6,400 gates of 36 calls under one key; at most 4,096 calls under one when rekeyed, and as many for OT pads.
    assert_eq!([Hash::FixedKey, Hash::Rekeyed, Hash::Aes256].map(bits), [109, 115, 116]);
    for form in [Form::Linear, Form::Published(Optimisations::default())] {
        for garbling in [Garbling::Ot, Garbling::Bgw3] {
            let config = config((garbling, form), Hash::Aes256);
            let bits = plan(&program, 3, config).unwrap().security().computational_bits;
            // Without OTs there are no calls for an attack to share.
            assert_eq!(bits, if garbling == Garbling::Ot { 116 } else { 127 }, "{config:?}");
        }
    }
}
