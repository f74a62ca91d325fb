//! Two steps of the paper as a literal reading has them, to show what is wrong with these. No role uses them.
//!
//! *Source*: Mood et al. 2014, phase 1: the generator tells the client the hashes of both keys of every circuit, in order; the cloud tells it the hash of
//! the one that it has, and the split; the client compares. The keys of the next run are *the hashes of the saved keys*.
//!
//! - **Key chain.** If both hashes are the same function, the client of a run was told both keys of every circuit of the next: [`LiteralKeys::of_told`].
//!   With what the generator sends then it has all seeds and the generator's input.
//! - **Split.** The client knows the split, since it passes on the blinds of evaluated circuits only: [`forwarded_blinds`]. A generator that
//!   is such a client once, under whatever name, knows in all later runs which circuits nobody checks, and makes these as it likes.

use garblet_primitives::{Block, Prg};
use garblet_seeded::Split;
use zeroize::Zeroizing;

use super::split::CloudKeys;

/// Both keys of every circuit in a run: of the evaluation branch, of the checking branch.
pub struct LiteralKeys(Zeroizing<Vec<[Block; 2]>>);

/// The hashes of both keys of a circuit, as a client is told.
pub type Told = [[u8; 32]; 2];

impl LiteralKeys {
    /// The keys of a first run.
    pub fn random(circuits: usize, rng: &mut Prg) -> Self {
        LiteralKeys(Zeroizing::new((0..circuits).map(|_| [rng.next_block(), rng.next_block()]).collect()))
    }

    /// The hashes that the client of this run is told.
    pub fn told(&self) -> Vec<Told> {
        self.0.iter().map(|keys| keys.map(hash)).collect()
    }

    /// The keys of the next run.
    pub fn next(&self) -> Self {
        LiteralKeys::of_hashes(self.0.iter().map(|keys| keys.map(hash)))
    }

    /// The attack: the keys of the next run, from what the client of this run was told.
    pub fn of_told(told: &[Told]) -> Self {
        LiteralKeys::of_hashes(told.iter().copied())
    }

    fn of_hashes(hashes: impl Iterator<Item = Told>) -> Self {
        LiteralKeys(Zeroizing::new(hashes.map(|both| both.map(|hash| Block::from_digest(&hash))).collect()))
    }

    /// Encrypts what the evaluation branch (0) or the checking branch (1) of a circuit has, or decrypts it.
    pub fn add_stream(&self, circuit: usize, branch: usize, blocks: &mut [Block]) {
        let mut stream = Zeroizing::new(vec![Block::ZERO; blocks.len()]);
        Prg::new(self.0[circuit][branch]).fill_blocks(&mut stream);
        blocks.iter_mut().zip(stream.iter()).for_each(|(block, mask)| *block ^= *mask);
    }
}

fn hash(key: Block) -> [u8; 32] {
    blake3::hash(&key.to_bytes()).into()
}

/// The cloud's words to the client, so that it passes on the right blinds: the split.
///
/// It undoes what [`split`](super::split) is for, of a cloud's state that is otherwise ours.
pub fn forwarded_blinds(keys: &CloudKeys) -> Split {
    Split::told(keys.split.choices().clone())
}
