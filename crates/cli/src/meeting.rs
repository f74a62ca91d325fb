//! The meeting of the parties, told as it goes.

pub(crate) use garblet::meet::Meeting;
use garblet::{Ends, meet::Way};
use garblet_console::{
    failure::Failure,
    hints::{mesh_failure, net_failure},
    settings::Settings,
    way::announce,
};

/// Meets all others, and says where this party listens.
///
/// *Errors*: an address that cannot be used; others that do not come, or are not as they should be.
pub(crate) async fn meet(settings: &Settings, way: &Way) -> Result<Ends, Failure> {
    let listening = way.listen().await.map_err(|e| net_failure(&e))?;
    listening.address().map_or(Ok(()), announce)?;
    listening.meet(way, settings.options(None)?).await.map_err(|e| mesh_failure(&e))
}
