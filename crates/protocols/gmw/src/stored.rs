//! The preparation of a run, as bytes for a store.
//!
//! ```text
//! two seeds for every peer, in order: 32 bytes each
//! form=triples: a, b, c                                     packed bits of all AND gates, each in whole bytes
//! form=2012:    for every peer, both messages of the OTs that this party sends, choices and messages of the others
//! ```

use garblet_circuit::Party;
use garblet_net::PerPeer;

use super::{
    bits::Packed,
    pair::{InputSeeds, Received, Sent},
    party::Prepared,
    plan::{Form, Plan},
    prepare::{BitOts, Material, Triples},
};
use garblet_protocol::run_id::RunId;
use garblet_runs::{Reader, StoredRun};

impl StoredRun for Prepared {
    type Plan = Plan;

    fn byte_len(plan: &Plan, _: Party) -> usize {
        let (peers, packed) = (usize::from(plan.parties()) - 1, Packed::byte_len(plan.and_count()));
        let vectors = match plan.config().form {
            Form::Triples => 3,
            Form::Choi2012 => 4 * peers,
        };
        32 * peers + vectors * packed
    }

    fn write(&self, _: &Plan, bytes: &mut Vec<u8>) {
        for (_, seeds) in self.inputs.iter() {
            bytes.extend_from_slice(&seeds.ours.to_bytes());
            bytes.extend_from_slice(&seeds.theirs.to_bytes());
        }
        self.material.vectors().into_iter().for_each(|bits| bytes.extend_from_slice(bits.as_bytes()));
    }

    fn read(plan: &Plan, party: Party, run: RunId, mut bytes: Reader<'_>) -> Option<Self> {
        let seeds = (1..plan.parties()).map(|_| {
            let [ours, theirs] = [bytes.block()?, bytes.block()?];
            Some(InputSeeds { ours, theirs })
        });
        let inputs = per_peer(plan, party, seeds.collect::<Option<_>>()?);
        let count = plan.and_count();
        let mut packed = || Some(Packed::from_bytes(bytes.take(Packed::byte_len(count))?, count));
        let material = match plan.config().form {
            Form::Triples => Material::Triples(Triples { a: packed()?, b: packed()?, c: packed()? }),
            Form::Choi2012 => {
                let ots = (1..plan.parties()).map(|_| {
                    let sent = Sent { zero: packed()?, one: packed()? };
                    Some(BitOts { sent, received: Received { choices: packed()?, chosen: packed()? } })
                });
                Material::BitOts(per_peer(plan, party, ots.collect::<Option<_>>()?))
            }
        };
        Some(Prepared { run, material, inputs })
    }
}

/// The values of the peers in order.
fn per_peer<T>(plan: &Plan, party: Party, values: Vec<T>) -> PerPeer<T> {
    let mut values = values.into_iter();
    PerPeer::new(party.0, plan.parties(), |_| values.next().expect("a value for every peer"))
}
