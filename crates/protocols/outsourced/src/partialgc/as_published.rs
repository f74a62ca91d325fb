//! A literal reading of two steps of the paper, to show what is wrong with them. No role uses it.
//!
//! *Source*: Mood et al. 2014, phase 1: the generator sends the client the hashes of both keys of every circuit, in order; the cloud sends it the hash of
//! its own key, and the split; the client compares. The keys of the next run are *the hashes of the saved keys*.
//!
//! - **Key chain.** If both hashes are the same function, the client of a run has received both keys of every circuit of the next: [`LiteralKeys::of_told`].
//!   Together with the generator's next messages, it has all seeds and the generator's input: [`Secrets::read`]. Against our keys: [`read_of_ours`].
//! - **Split.** The client knows the split, since it passes on only the blinds of evaluated circuits: [`forwarded_blinds`]. A generator that
//!   acts as such a client once, under any name, knows in all later runs which circuits nobody checks, and garbles these as it likes: [`Spoiler`].

use garblet_primitives::{Block, Delta, Prg};
use garblet_protocol::{conduct::Conduct, domain::SessionId};
use garblet_seeded::Split;
use zeroize::Zeroizing;

use super::{
    Step,
    kept::CloudState,
    split::{Branch, GeneratorKeys, seed},
};
use crate::NAME;

/// Both keys of every circuit in a run: for the evaluation branch and the checking branch.
pub struct LiteralKeys(Zeroizing<Vec<[Block; 2]>>);

/// The hashes of both keys of a circuit, as sent to a client.
pub type Told = [[u8; 32]; 2];

impl LiteralKeys {
    /// The keys of a first run.
    pub fn random(circuits: usize, rng: &mut Prg) -> Self {
        LiteralKeys(Zeroizing::new((0..circuits).map(|_| [rng.next_block(), rng.next_block()]).collect()))
    }

    /// The hashes that the client of this run receives.
    pub fn told(&self) -> Vec<Told> {
        self.0.iter().map(|keys| keys.map(hash)).collect()
    }

    /// The keys of the next run.
    pub fn next(&self) -> Self {
        LiteralKeys::of_hashes(self.0.iter().map(|keys| keys.map(hash)))
    }

    /// The attack: the keys of the next run, from the hashes sent to the client of this run.
    pub fn of_told(told: &[Told]) -> Self {
        LiteralKeys::of_hashes(told.iter().copied())
    }

    fn of_hashes(hashes: impl Iterator<Item = Told>) -> Self {
        LiteralKeys(Zeroizing::new(hashes.map(|both| both.map(|hash| Block::from_digest(&hash))).collect()))
    }

    /// Encrypts or decrypts the content of a circuit's evaluation branch (0) or checking branch (1).
    pub fn add_stream(&self, circuit: usize, branch: usize, blocks: &mut [Block]) {
        let mut stream = Zeroizing::new(vec![Block::ZERO; blocks.len()]);
        Prg::new(self.0[circuit][branch]).fill_blocks(&mut stream);
        blocks.iter_mut().zip(stream.iter()).for_each(|(block, mask)| *block ^= *mask);
    }
}

fn hash(key: Block) -> [u8; 32] {
    blake3::hash(&key.to_bytes()).into()
}

/// The generator's messages in a run that only the cloud may read: for each circuit the seed, for checking, and the generator's labels,
/// for evaluating. *Secret*.
pub struct Secrets {
    seeds: Vec<Block>,
    input: Vec<bool>,
}

/// The same, as sent: the content of each circuit's evaluation branch and checking branch.
pub struct Sent(Vec<[Vec<Block>; 2]>);

/// The circuits of which an attacker has read something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Circuits whose seeds were read; a seed gives all labels.
    pub seeds: usize,
    /// Circuits in which the generator's input was read.
    pub inputs: usize,
}

impl Secrets {
    /// Random secrets for this many circuits and input bits.
    pub fn random(circuits: usize, bits: usize, rng: &mut Prg) -> Self {
        let seeds = (0..circuits).map(|_| rng.next_block()).collect();
        Secrets { seeds, input: (0..bits).map(|_| rng.next_block().lsb()).collect() }
    }

    /// Encrypts them for sending, by circuit and branch: evaluation (0) or checking (1).
    pub fn send(&self, encrypt: impl Fn(usize, usize, &mut [Block])) -> Sent {
        let of_circuit = |(circuit, &seed): (usize, &Block)| {
            let (delta, zero) = labels(seed, self.input.len());
            let active = zero.iter().zip(&self.input).map(|(&zero, &bit)| zero ^ (Block::mask(bit) & delta.block()));
            let mut branches = [active.collect(), vec![seed]];
            branches.iter_mut().enumerate().for_each(|(branch, blocks)| encrypt(circuit, branch, blocks));
            branches
        };
        Sent(self.seeds.iter().enumerate().map(of_circuit).collect())
    }

    /// Counts the circuits of which an attacker with this decryption reads something.
    pub fn read(&self, sent: &Sent, decrypt: impl Fn(usize, usize, &mut [Block])) -> Found {
        let mut found = Found::default();
        for (circuit, branches) in sent.0.iter().enumerate() {
            let mut branches = branches.clone();
            branches.iter_mut().enumerate().for_each(|(branch, blocks)| decrypt(circuit, branch, blocks));
            let [active, checking] = branches;
            found.seeds += usize::from(checking[0] == self.seeds[circuit]);
            found.inputs += usize::from(input_of(checking[0], &active).as_ref() == Some(&self.input));
        }
        found
    }
}

/// A circuit's seed gives delta and the zero labels of the generator's wires.
fn labels(seed: Block, wires: usize) -> (Delta, Vec<Block>) {
    let mut rng = Prg::new(seed);
    (Delta::random(&mut rng), (0..wires).map(|_| rng.next_block()).collect())
}

/// The generator's input, read from its labels and the seed; `None` if they do not match.
fn input_of(seed: Block, active: &[Block]) -> Option<Vec<bool>> {
    let (delta, zero) = labels(seed, active.len());
    let bit = |(&zero, &active): (&Block, &Block)| match active {
        active if active == zero => Some(false),
        active if active == zero ^ delta.block() => Some(true),
        _ => None,
    };
    zero.iter().zip(active).map(bit).collect()
}

/// The literal chain: counts what the client of a run reads of the next one with the hashes it received.
pub fn read_of_literal(circuits: usize, bits: usize, rng: &mut Prg) -> Found {
    let keys = LiteralKeys::random(circuits, rng);
    let (told, next, secrets) = (keys.told(), keys.next(), Secrets::random(circuits, bits, rng));
    let sent = secrets.send(|circuit, branch, blocks| next.add_stream(circuit, branch, blocks));
    let stolen = LiteralKeys::of_told(&told);
    secrets.read(&sent, |circuit, branch, blocks| stolen.add_stream(circuit, branch, blocks))
}

/// Our keys: counts the most that one key from the previous run reads of a run. This tries more than anybody has: the streams of both branches
/// of that run, its seed, and hashes of the keys that stay. Also counts what those keys themselves read, which only the generator has.
pub fn read_of_ours(circuits: usize, bits: usize, rng: &mut Prg) -> [Found; 2] {
    const BRANCHES: [Branch; 2] = [Branch::Evaluation, Branch::Checking];
    let roots: Vec<[Block; 2]> = (0..circuits).map(|_| [rng.next_block(), rng.next_block()]).collect();
    let (keys, secrets) = (GeneratorKeys::of(roots.clone()), Secrets::random(circuits, bits, rng));
    let runs = [0, 1].map(|run| SessionId::new(NAME, [run; 32], [[0; 32]; 2]));
    let stream = |keys: &GeneratorKeys, run: usize, circuit: usize, branch: usize, blocks: &mut [Block]| {
        keys.encrypt(&runs[run], circuit, BRANCHES[branch], blocks);
    };
    let sent = secrets.send(|circuit, branch, blocks| stream(&keys, 1, circuit, branch, blocks));
    let candidates = |circuit: usize| {
        let mut candidates = vec![seed(&runs[0], circuit, roots[circuit][1])];
        for (branch, &root) in roots[circuit].iter().enumerate() {
            let mut before = [Block::ZERO; 2];
            stream(&keys, 0, circuit, branch, &mut before);
            candidates.extend(before);
            candidates.push(Block::from_digest(&hash(root)));
        }
        candidates
    };
    let of_circuits: Vec<Vec<Block>> = (0..circuits).map(candidates).collect();
    let mut most = Found::default();
    for number in 0..of_circuits.first().map_or(0, Vec::len) {
        let guess = GeneratorKeys::of(of_circuits.iter().map(|candidates| [candidates[number]; 2]).collect());
        let found = secrets.read(&sent, |circuit, branch, blocks| stream(&guess, 1, circuit, branch, blocks));
        most = Found { seeds: most.seeds.max(found.seeds), inputs: most.inputs.max(found.inputs) };
    }
    [most, secrets.read(&sent, |circuit, branch, blocks| stream(&keys, 1, circuit, branch, blocks))]
}

/// The cloud's message to the client, so that it passes on the right blinds: the split.
///
/// It defeats the purpose of [`split`](super::split), with a cloud's state that is otherwise ours.
pub fn forwarded_blinds(cloud: &CloudState) -> Split {
    Split::told(cloud.keys.split.choices().clone())
}

/// A generator that flips the first output that the cloud decodes, in these circuits.
pub struct Spoiler(pub Vec<usize>);

impl Conduct<Step> for Spoiler {
    fn touch(&mut self, step: Step, circuit: usize, bytes: &mut [u8]) {
        if let (Step::Tail, true, Some(first)) = (step, self.0.contains(&circuit), bytes.first_mut()) {
            *first ^= 1;
        }
    }
}
