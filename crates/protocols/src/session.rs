//! A session joins a protocol to a channel and a generator, and meters it.

use garblet_net::{Channel, Hello, Traffic};
use garblet_primitives::Prg;

use crate::{
    error::ProtocolError,
    phase::{Meter, Phase, PhaseCosts},
};

/// Hears of the progress of long work.
pub trait Progress: Send {
    /// `gates_done` of `gates_total` AND gates are garbled or evaluated; `traffic` is the session's so far.
    fn advance(&mut self, gates_done: u64, gates_total: u64, traffic: Traffic);
}

/// Silent progress.
impl Progress for () {
    fn advance(&mut self, _: u64, _: u64, _: Traffic) {}
}

/// One party's end of a two-party protocol: the only place below the caller that reads a clock.
pub struct Session {
    channel: Channel,
    rng: Prg,
    meter: Meter,
    progress: Box<dyn Progress>,
}

impl Session {
    /// Opens a session in [`Phase::Setup`]: both sides say who they are and what they want to run, and must agree.
    ///
    /// *Errors*: [`NetError::Incompatible`](garblet_net::NetError) on both sides where they do not, naming on what.
    pub async fn open(
        mut channel: Channel,
        rng: Prg,
        hello: &Hello,
        progress: Box<dyn Progress>,
    ) -> Result<Self, ProtocolError> {
        let meter = Meter::start(channel.traffic());
        hello.exchange(&mut channel).await?;
        Ok(Session { channel, rng, meter, progress })
    }

    /// Begins a phase; what follows is counted to it.
    pub fn enter(&mut self, phase: Phase) {
        self.meter.enter(phase, self.channel.traffic());
    }

    /// The channel and the generator, to run a step.
    pub fn parts(&mut self) -> (&mut Channel, &mut Prg) {
        (&mut self.channel, &mut self.rng)
    }

    /// The channel.
    pub fn channel(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// The generator.
    pub fn rng(&mut self) -> &mut Prg {
        &mut self.rng
    }

    /// Tells of progress.
    pub fn advance(&mut self, gates_done: u64, gates_total: u64) {
        self.progress.advance(gates_done, gates_total, self.channel.traffic());
    }

    /// What the phases cost so far, the current one included.
    pub fn costs(&mut self) -> PhaseCosts {
        self.enter(self.meter.phase());
        self.meter.costs()
    }

    /// Ends the session in order.
    pub async fn close(self) -> Result<(), ProtocolError> {
        self.channel.close().await?;
        Ok(())
    }

    /// Ends the session without a result; the peer learns only that.
    pub async fn abort(self) {
        self.channel.abort().await;
    }
}
