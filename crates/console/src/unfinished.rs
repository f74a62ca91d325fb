//! Orders of gates that a peer has abandoned, and the pause before it is met again.

use std::time::Duration;

use garblet::{Adversary, Notice, store::Store};

use crate::{failure::Failure, settings::Settings, stock::Folder};

/// The number of gate orders that the peer of the store of one of so many parties abandoned.
///
/// *Errors*: the store cannot be opened.
pub fn unfinished(settings: &Settings, parties: u16, folder: &Folder) -> Result<u32, Failure> {
    let config = settings.config()?;
    // Without gate checks, a peer gains nothing by leaving.
    if config.adversary() == Adversary::SemiHonest || Store::find(&folder.path).is_err() {
        return Ok(0);
    }
    let stock = folder.open(folder.order(&config, parties)?, (&config, parties), Store::open)?;
    let orders = |notice| if let Notice::UnfinishedOrders(orders) = notice { orders } else { 0 };
    Ok(garblet::notices(&stock.store).into_iter().map(orders).sum())
}

/// The pause before the next meeting, given the number of abandoned orders.
pub fn pause(unfinished: u32) -> Duration {
    let minutes = unfinished.checked_sub(1).map_or(0, |more| 10u64.saturating_pow(more).min(60));
    Duration::from_secs(60 * minutes)
}
