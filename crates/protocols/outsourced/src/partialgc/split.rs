//! The split: which circuits are checked. Only the cloud knows it, for the life of a state.
//!
//! *Source*: shelat and Shen (CCS 2013); Mood et al. 2014, phase 1. One OT for each circuit gives the cloud one of two keys, for the
//! evaluation branch or the checking branch, and the generator does not learn which. In every run the generator encrypts something
//! under each. The circuit is also derived from the key of the checking branch, so there is no seed that could mismatch.
//!
//! The keys of a run are hashes of these by run, circuit and branch, and no message contains a hash that would reveal the next
//! run's keys.

use garblet_ot::{BitVec, MaliciousCotReceiver, MaliciousCotSender, RotReceiver, RotSender};
use garblet_primitives::{Block, Delta};
use garblet_protocol::{domain::SessionId, error::ProtocolError, session::Session};
use garblet_seeded::{Split, wires};
use zeroize::Zeroizing;

use super::Step;
use crate::GENERATOR;

/// One of the two purposes of a circuit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branch {
    Evaluation,
    Checking,
}

/// Both keys of every circuit. *Secret*.
pub struct GeneratorKeys(Zeroizing<Vec<[Block; 2]>>);

/// The split, and one key of every circuit. *Secret*.
pub struct CloudKeys {
    pub(crate) split: Split,
    keys: Zeroizing<Vec<Block>>,
}

impl GeneratorKeys {
    /// Transfers one key of each circuit.
    ///
    /// *Errors*: an OT receiver caught cheating; the connection's.
    pub(crate) async fn transfer(
        session: &mut Session,
        ot: &mut RotSender<MaliciousCotSender>,
        circuits: usize,
    ) -> Result<Self, ProtocolError> {
        let mut keys = ot.extend(session.channel(), circuits).await?;
        let corrections = BitVec::receive(session.channel(), circuits, "choices of circuits").await?;
        wires::exchange(&mut keys, &corrections);
        Ok(GeneratorKeys(keys))
    }

    /// Keys that did not come from OTs.
    pub(crate) fn of(keys: Vec<[Block; 2]>) -> Self {
        GeneratorKeys(Zeroizing::new(keys))
    }

    /// The key of the checking branch, from which the circuit follows.
    pub(crate) fn root(&self, circuit: usize) -> Block {
        self.0[circuit][1]
    }

    /// Encrypts the content of a circuit's branch in a run.
    ///
    /// *Unique*: once for each run, circuit and branch.
    pub(crate) fn encrypt(&self, run: &SessionId, circuit: usize, branch: Branch, blocks: &mut [Block]) {
        add_stream(run, circuit, branch, self.0[circuit][branch as usize], blocks);
    }
}

impl CloudKeys {
    /// The keys of a split that did not come from OTs.
    #[cfg(test)]
    pub(crate) fn of(split: Split, keys: &[[Block; 2]]) -> Self {
        let chosen = keys.iter().zip(split.choices().iter()).map(|(keys, checked)| keys[usize::from(checked.number())]);
        CloudKeys { keys: Zeroizing::new(chosen.collect()), split }
    }

    /// Samples a split and gets the keys.
    ///
    /// *Errors*: an OT sender caught cheating; the connection's.
    pub(crate) async fn transfer(
        session: &mut Session,
        ot: &mut RotReceiver<MaliciousCotReceiver>,
        circuits: usize,
        evaluated: usize,
    ) -> Result<Self, ProtocolError> {
        let (choices, keys) = ot.extend(session.channel(), circuits).await?;
        let split = Split::random(circuits, evaluated, session.rng());
        split.choices().xor(&choices)?.send(session.channel()).await?;
        session.channel().flush().await?;
        Ok(CloudKeys { split, keys })
    }

    /// The key of a circuit; a checked circuit is derived from it.
    pub(crate) fn root(&self, circuit: usize) -> Block {
        self.keys[circuit]
    }

    /// Decrypts the content of a circuit's branch; the other branch becomes noise.
    pub(crate) fn decrypt(&self, run: &SessionId, circuit: usize, branch: Branch, blocks: &mut [Block]) {
        add_stream(run, circuit, branch, self.keys[circuit], blocks);
    }
}

fn add_stream(run: &SessionId, circuit: usize, branch: Branch, key: Block, blocks: &mut [Block]) {
    let domain = run.domain(GENERATOR, Step::Branches as u8).at(circuit as u64).branch(branch as u8);
    let mut stream = Zeroizing::new(vec![Block::ZERO; blocks.len()]);
    domain.stream(key).fill_blocks(&mut stream);
    blocks.iter_mut().zip(stream.iter()).for_each(|(block, mask)| *block ^= *mask);
}

/// The seed of a circuit in a run.
pub(crate) fn seed(run: &SessionId, circuit: usize, root: Block) -> Block {
    run.domain(GENERATOR, Step::Seed as u8).at(circuit as u64).key(root)
}

/// The delta of a circuit in all runs of a life.
pub(crate) fn delta(life: &SessionId, circuit: usize, root: Block) -> Delta {
    Delta::new(life.domain(GENERATOR, Step::Delta as u8).at(circuit as u64).key(root))
}
