//! The secrets of a party that last as long as its store.

use garblet_circuit::Party;
use garblet_ot::{ReceiverSeeds, SenderSeeds, StatisticalSecurity};
use garblet_primitives::{Block, Delta};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{GARBLER, Step, config::Config};

/// The checks of OTs have as many bits as the strongest setting.
pub(crate) const OT_CHECK: StatisticalSecurity = StatisticalSecurity::Eighty;

/// A party's secrets, which last as long as its store: its difference, and the leaves of the OTs in both directions.
///
/// The peer's difference is bound by the leaves: no others are ever made for the same triples.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secrets {
    pub(crate) delta: Block,
    pub(crate) sender: SenderSeeds,
    pub(crate) receiver: ReceiverSeeds,
}

impl Secrets {
    /// Sets OTs up in both directions.
    ///
    /// *Errors*: a peer that misbehaves; the connection's.
    pub(crate) async fn set_up(
        session: &mut Session,
        party: Party,
        config: Config,
        conduct: &mut impl Conduct<Step>,
    ) -> Result<Self, ProtocolError> {
        let (channel, rng) = session.parts();
        // The sum of both has bit 0 set.
        let mut block = Block::random(rng).with_lsb(party == GARBLER).to_bytes();
        conduct.touch(Step::Difference, 0, &mut block);
        let (width, delta) = (config.width(), in_ots(Block::from_bytes(block)));
        let (sender, receiver) = if party == GARBLER {
            let sender = SenderSeeds::setup(channel, rng, &delta, width, OT_CHECK).await?;
            (sender, ReceiverSeeds::setup(channel, rng, width, OT_CHECK).await?)
        } else {
            let receiver = ReceiverSeeds::setup(channel, rng, width, OT_CHECK).await?;
            (SenderSeeds::setup(channel, rng, &delta, width, OT_CHECK).await?, receiver)
        };
        channel.flush().await?;
        Ok(Secrets { delta: delta.block(), sender, receiver })
    }
}

/// A difference in OTs, as it is.
pub(crate) fn in_ots(block: Block) -> Delta {
    if block.lsb() { Delta::new(block) } else { Delta::even(block) }
}
