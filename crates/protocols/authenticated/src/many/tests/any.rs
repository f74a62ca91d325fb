//! Parties that say anything: honest ones have the outputs of some inputs of theirs, or none, and accuse nobody honest.

use garblet_circuit::random;
use garblet_net::Cause;
use garblet_runs::testing::is_full;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;

/// Bits of every party's input.
const WIDTH: u32 = 2;

/// A party that changes messages of one step.
struct Liar {
    step: Step,
    /// The probability that it changes one; zero for an honest party.
    rate: f64,
    rng: StdRng,
    /// All messages as they should have been.
    meant: Vec<Vec<u8>>,
}

impl Conduct<Step> for Liar {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        self.meant.push(bytes.to_vec());
        if step != self.step || !self.rng.random_bool(self.rate) {
            return;
        }
        let at = self.rng.random_range(0..bytes.len());
        match self.rng.random_range(0..4) {
            0 => bytes[at] ^= 1 << self.rng.random_range(0..8),
            1 => self.rng.fill(bytes),
            2 => bytes.fill(0),
            _ => {
                let same: Vec<&Vec<u8>> = self.meant.iter().filter(|meant| meant.len() == bytes.len()).collect();
                bytes.copy_from_slice(same[self.rng.random_range(0..same.len())]);
            }
        }
    }
}

/// A run in which some parties lie at a step.
struct Case {
    plan: Arc<Plan>,
    lies: Vec<bool>,
    step: Step,
    inputs: Vec<Bits>,
    seed: u64,
}

impl Case {
    /// A random program, coalition and evaluator.
    fn draw(step: Step, seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let parties = rng.random_range(3..6u16);
        let body = random::circuit(&mut rng, WIDTH * u32::from(parties), 12, 4);
        let owners: Vec<u16> = (0..parties).collect();
        let mut program = circuit(&owners, WIDTH, body.gates().to_vec(), body.outputs().to_vec());
        let learn = (0..parties).filter(|_| rng.random()).map(Party).collect();
        program.set_recipients(0, Recipients::Only(learn));
        let check = if rng.random() { ResultCheck::Tags } else { ResultCheck::Reveal };
        let config = Config { check, evaluator: rng.random_range(0..parties), ..Config::default() };
        let inputs = random::inputs(&mut rng, &program);
        let mut lies: Vec<bool> = (0..parties).map(|_| rng.random()).collect();
        // At least one lies, and at least one is honest.
        let two = rng.random_range(0..usize::from(parties));
        (lies[two], lies[(two + 1) % usize::from(parties)]) = (true, false);
        Case {
            plan: Arc::new(Plan::new(program.into(), parties, config).expect("it can be run")),
            lies,
            step,
            inputs,
            seed,
        }
    }

    fn run(&self) -> Vec<Result<Vec<Option<Bits>>, ProtocolError>> {
        all(self.plan.parties(), self.seed, async |session, party| {
            let rate = if self.lies[usize::from(party.0)] { 0.5 } else { 0.0 };
            let rng = StdRng::seed_from_u64(self.seed ^ u64::from(party.0) << 32);
            let liar = Liar { step: self.step, rate, rng, meant: Vec::new() };
            let mut ground = Ground::set_up(session, &self.plan, party, Any::new(liar)).await?;
            let (built, _) = build(&mut ground, session, &self.plan).await?;
            ground.compute(session, &self.plan, built, &own_inputs(&self.plan, party, &self.inputs)).await
        })
    }

    /// All inputs that the liars may have chosen, with those of honest parties.
    fn possible(&self) -> impl Iterator<Item = Vec<Bits>> {
        let liars = self.lies.iter().filter(|lies| **lies).count();
        (0..1u64 << (WIDTH as usize * liars)).map(|mut chosen| {
            let input = |(lies, input): (&bool, &Bits)| {
                if !lies {
                    return input.clone();
                }
                let own = Bits::from_u128((chosen % (1 << WIDTH)).into(), WIDTH as usize);
                chosen >>= WIDTH;
                own
            };
            self.lies.iter().zip(&self.inputs).map(input).collect()
        })
    }

    /// Judges the honest parties; returns how many have outputs.
    fn judge(&self, results: &[Result<Vec<Option<Bits>>, ProtocolError>]) -> usize {
        let what = format!("{:?}, seed {}, {:?}, {:?}", self.step, self.seed, self.lies, self.plan.config());
        let honest = || (0..).map(Party).zip(results).filter(|(party, _)| !self.lies[usize::from(party.0)]);
        let done: Vec<_> = honest().filter_map(|(party, result)| Some((party, result.as_ref().ok()?))).collect();
        let fits = |inputs: Vec<Bits>| done.iter().all(|(party, got)| **got == learned(&self.plan, *party, &inputs));
        assert!(self.possible().any(fits), "{what}: a wrong output");
        for blame in honest().filter_map(|(_, result)| result.as_ref().err()?.blame()) {
            let teller = blame.heard_from.unwrap_or(blame.party);
            let is_of_liar = [blame.party, teller].iter().any(|party| self.lies[usize::from(*party)]);
            assert!(blame.cause != Cause::Misbehaved || is_of_liar, "{what}: blames {blame:?}");
        }
        done.len()
    }
}

#[test]
fn whatever_some_say_honest_parties_have_right_outputs_or_none_and_accuse_no_honest_party() {
    // Those that a run without stores has.
    let steps = [
        Step::Nonce,
        Step::Name,
        Step::Difference,
        Step::DifferenceSums,
        Step::DifferenceCommitment,
        Step::DifferenceProofs,
        Step::CoinCommitments,
        Step::Coins,
        Step::Bits,
        Step::Answers,
        Step::BitsEcho,
        Step::LeakyBlocks,
        Step::ProductBitsCommitment,
        Step::ProductBits,
        Step::ZeroBlocks,
        Step::ProductCommitment,
        Step::Product,
        Step::BucketBits,
        Step::BucketProof,
        Step::GateBits,
        Step::GateProof,
        Step::TableParts,
        Step::Tables,
        Step::MaskedInputs,
        Step::InputLabels,
        Step::RevealedGates,
        Step::RevealedSums,
        Step::HandedOver,
    ];
    let (mut done, mut ended) = (0, 0);
    for (number, step) in (0..).zip(steps) {
        for seed in 0..if is_full() { 40 } else { 2 } {
            let case = Case::draw(step, 100 * number + seed);
            let honest = case.lies.iter().filter(|lies| !**lies).count();
            let have = case.judge(&case.run());
            (done, ended) = (done + have, ended + honest - have);
        }
    }
    assert!(done > 0 && ended > 0, "{done} have outputs, {ended} have none");
}
