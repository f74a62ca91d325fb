//! Comparison of messages with those that follow from seeds.

use garblet_ot::BitVec;
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    checks::{Check, Corrupted, Disclosure, Evidence},
    domain::{Domain, SessionId},
};
use garblet_seeded::{Blueprint, Secrets};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{GARBLER, Step, checks, plan::Plan};

/// The digest of a message, to compare with the digest from the seed of a checked circuit.
pub(super) struct Comparison {
    pub(super) check: Check,
    pub(super) said: [u8; 32],
    pub(super) due: [u8; 32],
}

impl Comparison {
    /// Compares. *Errors*: the two differ.
    pub(super) fn verify(self, run: SessionId, circuit: usize, seed: Block) -> Result<(), Box<Corrupted>> {
        let Comparison { check, said, due } = self;
        match said == due {
            true => Ok(()),
            false => Err(Box::new(Corrupted {
                check,
                evidence: Evidence { run, circuit, seed: seed.to_bytes(), said, due },
                disclosure: None,
            })),
        }
    }
}

/// The labels that the evaluator got for its choices in a checked circuit, by OTs of both labels.
pub(super) struct ChosenLabels<'a> {
    pub(super) run: SessionId,
    pub(super) circuit: usize,
    pub(super) seed: Block,
    pub(super) choices: &'a BitVec,
    pub(super) got: &'a [Block],
}

impl ChosenLabels<'_> {
    /// Compares them with the labels from the seed. The evidence has commitments to both: the seed gives both labels of each wire, so anyone could find the
    /// choices behind a plain digest by trying all of them.
    ///
    /// *Errors*: the two differ.
    pub(super) fn verify(self, secrets: &Secrets, rng: &mut Prg) -> Result<(), Box<Corrupted>> {
        let ChosenLabels { run, circuit, seed, choices, got } = self;
        let due = secrets.chosen(choices);
        let pairs = got.iter().zip(due.iter());
        let fit = pairs.fold(Choice::from(u8::from(got.len() == due.len())), |fit, (got, due)| fit & got.ct_eq(due));
        if fit.into() {
            return Ok(());
        }
        let [(said, opens_said), (due, opens_due)] =
            [got, &due].map(|labels| domain(&run, circuit).commit(bytemuck::cast_slice(labels), rng));
        let (said, due) = (said.to_bytes(), due.to_bytes());
        Err(Box::new(Corrupted {
            check: checks::LABEL_OF_SEED,
            evidence: Evidence { run, circuit, seed: seed.to_bytes(), said, due },
            disclosure: Some(Disclosure {
                choices: choices.clone(),
                labels: Zeroizing::new(got.to_vec()),
                openings: [opens_said, opens_due],
            }),
        }))
    }
}

fn domain(run: &SessionId, circuit: usize) -> Domain {
    run.domain(GARBLER, Step::EvaluatorLabels as u8).at(circuit as u64)
}

/// Tells whether an error is of [`checks::LABEL_OF_SEED`] in the form `al07`, with a disclosure, and proves to anyone who believes that the evaluator got the
/// labels that it discloses: the seed gives other labels for its choices, and the evidence commits to both.
pub fn is_shown(plan: &Plan, corrupted: &Corrupted) -> bool {
    let Corrupted { check: checks::LABEL_OF_SEED, evidence, disclosure: Some(disclosure) } = corrupted else {
        return false;
    };
    let blueprint: &Blueprint = plan.blueprint();
    let Disclosure { choices, labels, openings: [opens_said, opens_due] } = disclosure;
    if choices.len() != blueprint.evaluator_wires() || labels.len() != choices.len() {
        return false;
    }
    let due = Secrets::of_seed(blueprint, Block::from_bytes(evidence.seed)).chosen(choices);
    let opens = |commitment, labels: &[Block], opening| {
        let commitment = garblet_primitives::Commitment::from_bytes(commitment);
        domain(&evidence.run, evidence.circuit).open(&commitment, bytemuck::cast_slice(labels), opening).is_ok()
    };
    let differ = labels.iter().zip(due.iter()).any(|(got, due)| got != due);
    differ && opens(evidence.said, labels, opens_said) && opens(evidence.due, &due, opens_due)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use garblet_protocol::domain::SessionId;
    use garblet_synthesis::library;

    use super::*;
    use crate::{Config, Form};

    /// Evidence against a garbler that spoiled one label of an evaluator with these choices.
    fn evidence(plan: &Plan, choices: &BitVec, seed: Block, rng: &mut Prg) -> Corrupted {
        let secrets = Secrets::of_seed(plan.blueprint(), seed);
        let mut got = secrets.chosen(choices);
        got[1] ^= Block::ONES;
        let run = SessionId::new(crate::NAME, [0; 32], [[0; 32]; 2]);
        let chosen = ChosenLabels { run, circuit: 1, seed, choices, got: &got };
        *chosen.verify(&secrets, rng).expect_err("a label is spoiled")
    }

    fn small_plan() -> Plan {
        let program = Arc::new(library::find("lib:millionaires(2)").expect("in the library"));
        let config = Config { form: Form::Al07, shares: Some(2), ..Config::default() };
        Plan::new(program, config).expect("can be run")
    }

    #[test]
    fn evidence_about_labels_does_not_reveal_the_choices_to_a_search() {
        let (plan, mut rng) = (small_plan(), Prg::new(Block::ONES));
        let wires = plan.blueprint().evaluator_wires();
        for _ in 0..4 {
            let (choices, seed) = (BitVec::random(wires, &mut rng), Block::random(&mut rng));
            let Corrupted { check, evidence, .. } = evidence(&plan, &choices, seed, &mut rng);
            assert_eq!(check, checks::LABEL_OF_SEED);
            let secrets = Secrets::of_seed(plan.blueprint(), seed);
            for tried in 0..1u32 << wires {
                let tried: BitVec = (0..wires).map(|wire| tried >> wire & 1 == 1).collect();
                let labels = secrets.chosen(&tried);
                let place = domain(&evidence.run, evidence.circuit);
                let digest = place.digest(bytemuck::cast_slice(&labels));
                let guess = place.commit(bytemuck::cast_slice(&labels), &mut rng).0.to_bytes();
                assert!(![evidence.said, evidence.due].iter().any(|shown| *shown == digest || *shown == guess));
            }
        }
    }

    #[test]
    fn the_disclosure_verifies_the_evidence_and_nothing_else_passes() {
        let (plan, mut rng) = (small_plan(), Prg::new(Block::ZERO));
        let wires = plan.blueprint().evaluator_wires();
        let (choices, seed) = (BitVec::random(wires, &mut rng), Block::random(&mut rng));
        let found = evidence(&plan, &choices, seed, &mut rng);
        let right = found.disclosure.clone().expect("it is about choices");
        assert!(is_shown(&plan, &found));
        // Another check says nothing about chosen labels, and without a disclosure there is nothing to verify.
        assert!(!is_shown(&plan, &Corrupted { check: checks::OUTPUT_LABELS, ..found.clone() }));
        assert!(!is_shown(&plan, &Corrupted { disclosure: None, ..found.clone() }));
        // An evaluator that tries to accuse an honest garbler.
        let honest = Disclosure { labels: Secrets::of_seed(plan.blueprint(), seed).chosen(&choices), ..right.clone() };
        let other_choices = Disclosure { choices: BitVec::zeros(wires), ..right.clone() };
        let short = Disclosure { choices: BitVec::zeros(wires - 1), ..right.clone() };
        let [said, due] = right.openings.clone();
        let exchanged = Disclosure { openings: [due, said], ..right.clone() };
        for wrong in [honest, other_choices, short, exchanged] {
            assert!(!is_shown(&plan, &Corrupted { disclosure: Some(wrong), ..found.clone() }));
        }
        let other_seed = Evidence { seed: [1; 16], ..found.evidence };
        assert!(!is_shown(&plan, &Corrupted { evidence: other_seed, ..found }));
        assert_eq!(format!("{right:?}"), "Disclosure", "it is never shown");
    }
}
