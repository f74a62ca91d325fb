//! Meeting the other parties, with messages on progress.

pub(crate) use garblet::meet::Meeting;
use garblet::{Ends, meet::Way, meeting_to_fill, net::Options};
use garblet_console::{
    failure::Failure,
    hints::{mesh_failure, net_failure},
    settings::Settings,
    way::announce,
};

/// Meets all others, and prints the address where this party listens.
///
/// *Errors*: an unusable address; parties that do not come or are not the expected ones.
pub(crate) async fn meet(settings: &Settings, way: &Way) -> Result<Ends, Failure> {
    meet_with(settings.options(None)?, way).await
}

/// The same for several parties that fill their stores below this percentage.
///
/// *Errors*: as [`meet`].
pub(crate) async fn meet_to_fill(settings: &Settings, way: &Way, below: u8) -> Result<Ends, Failure> {
    meet_with(meeting_to_fill(settings.options(None)?, below), way).await
}

async fn meet_with(options: Options, way: &Way) -> Result<Ends, Failure> {
    let listening = way.listen().await.map_err(|e| net_failure(&e))?;
    listening.address().into_iter().for_each(announce);
    listening.meet(way, options).await.map_err(|e| mesh_failure(&e))
}
