//! `garblet-lab link-relay`: a plain TCP relay with the behaviour of a simulated link, so that any other program can
//! be measured over the same link.

use garblet_console::{failure::Failure, hints::net_failure};
use garblet_net::{Listener, SimulatedLink, relay};

/// The options of `garblet-lab link-relay`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Address to listen on
    #[arg(value_name = "LISTEN")]
    listen: String,
    /// Address to relay every connection to
    #[arg(value_name = "TARGET")]
    target: String,
    /// One-way latency and rate, as 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: SimulatedLink,
}

/// Relays until it is stopped.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("the runtime cannot be started: {e}")))?;
    runtime.block_on(async {
        let listener = Listener::bind(&options.listen).await.map_err(|e| net_failure(&e))?;
        garblet_console::output::tell(&format!(
            "relaying {} to {} over {}",
            listener.address(),
            options.target,
            options.link
        ));
        match relay(&listener, &options.target, options.link).await {
            Ok(never) => match never {},
            Err(error) => Err(net_failure(&error)),
        }
    })
}
