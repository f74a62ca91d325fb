//! One party's end of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_primitives::Prg;
use garblet_protocol::{
    Progress,
    protocol::{BoxedMaterial, foreign_material},
};
use rand::CryptoRng;

use crate::{
    erased::{Ends, Seat},
    plan::Plan,
    report::{Error, Outcome, Report},
    stock::Stock,
};

/// A party that has agreed with all others on program and parameters, and is set up.
///
/// [`Peer::prepare`] may be called any number of times, ahead of inputs; each [`Prepared`] serves one
/// [`Peer::online`]. After an error of either or of [`Peer::run`], or if its future was dropped, the parties may be out of step: all that is
/// left is [`Peer::abort`].
pub struct Peer {
    seat: Box<dyn Seat>,
    /// Set if a step has begun and has not succeeded.
    over: bool,
    /// The same value in everything that was prepared here.
    origin: Arc<()>,
}

/// The material that a party has prepared for one run of its session.
///
/// All parties must consume prepared runs in the same order and skip the same ones. Several parties check this before anything depends on it; two do not
/// tell each other which run they are at. If their orders differ, `yao` and `components` silently give wrong outputs, and the others accuse
/// an honest peer of cheating.
pub struct Prepared {
    material: BoxedMaterial,
    origin: Arc<()>,
}

impl Peer {
    /// Agrees with all others over `ends` and sets up (phase `setup`). What `components` needs is prepared for this run alone, in memory; see
    /// [`Peer::open_with`].
    ///
    /// The generator seeds the session's own before this returns; nothing else is random, and the future does not hold it, so it can be
    /// spawned with `rand::rng()` too. `cut-and-choose` in the form `lp07` must keep all circuits; beyond 128 MiB they lie in the system's
    /// folder for temporary files, encrypted, until the run ends.
    ///
    /// *Errors*: ends that are not those of the plan's protocol and parties; a peer that disagrees, misbehaves or is gone, by its number if there
    /// are several.
    pub fn open<E: Into<Ends>, R: CryptoRng>(
        plan: &Plan,
        party: Party,
        ends: E,
        mut rng: R,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Self, Error>> + Send + use<E, R> {
        let own = plan.plan.own_stock(&mut rng);
        let seed = Prg::random(&mut rng);
        let opening = own.map(|own| plan.plan.open(party, ends.into(), own, seed, progress));
        async { Ok(Peer::seated(opening?.await?)) }
    }

    /// The same, drawing on a store that was filled by [`fill`](crate::fill()).
    ///
    /// *Errors*: also a stock for another protocol; stores that were not filled together.
    pub fn open_with<E: Into<Ends>, R: CryptoRng>(
        plan: &Plan,
        party: Party,
        ends: E,
        stock: Stock,
        mut rng: R,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Self, Error>> + Send + use<E, R> {
        let opening = plan.plan.open(party, ends.into(), Some(stock), Prg::random(&mut rng), progress);
        async { Ok(Peer::seated(opening.await?)) }
    }

    fn seated(seat: Box<dyn Seat>) -> Self {
        Peer { seat, over: false, origin: Arc::default() }
    }

    /// Prepares one run (phases `prepare` and `build`).
    ///
    /// *Errors*: a peer that misbehaves or is gone; stores that lack what the program needs.
    pub fn prepare(&mut self) -> impl Future<Output = Result<Prepared, Error>> + Send + '_ {
        let begun = self.begin();
        async {
            begun?;
            let material = self.seat.prepare().await?;
            self.over = false;
            Ok(Prepared { material, origin: self.origin.clone() })
        }
    }

    /// Runs once (phase `online`) and reports.
    ///
    /// *Shape*: `inputs` are the values of the program inputs that this party owns, in program order.
    ///
    /// *Errors*: inputs of the wrong shape, material of another session; a peer that misbehaves, is gone or, of several, is at another run.
    pub fn online<'a>(
        &'a mut self,
        prepared: Prepared,
        inputs: &'a [Bits],
    ) -> impl Future<Output = Result<Report, Error>> + Send + 'a {
        let begun = self.begin();
        async {
            begun?;
            let Prepared { material, origin } = prepared;
            if !Arc::ptr_eq(&origin, &self.origin) {
                return Err(foreign_material());
            }
            let outputs = self.seat.online(material, inputs).await?;
            self.over = false;
            Ok(self.seat.report(outputs))
        }
    }

    /// Prepares and runs once, with inputs known from the beginning, and reports. The evaluator of `components`
    /// then first sends what depends on its inputs, and chooses components while that is in transit; otherwise it is
    /// [`Peer::prepare`] and [`Peer::online`], whose shape and errors these are.
    pub fn run<'a>(&'a mut self, inputs: &'a [Bits]) -> impl Future<Output = Result<Report, Error>> + Send + 'a {
        let begun = self.begin();
        async {
            begun?;
            let outputs = self.seat.run(inputs).await?;
            self.over = false;
            Ok(self.seat.report(outputs))
        }
    }

    /// Prepares and runs once, as [`Peer::run`], and ends the session: in order if there is a result, else by giving up.
    ///
    /// *Errors*: those of [`Peer::run`]. An error after the result is in [`Outcome::closing`].
    pub async fn finish(mut self, inputs: &[Bits]) -> Result<Outcome, Error> {
        match self.run(inputs).await {
            Ok(report) => Ok(Outcome { report, closing: self.close().await.err() }),
            Err(error) => {
                self.abort(&error).await;
                Err(error)
            }
        }
    }

    /// Begins a step: the session is over unless it succeeds, even if its future is dropped before it is first polled.
    fn begin(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.over, true) { Err(Error::Over) } else { Ok(()) }
    }

    /// Ends the session in order, as all parties do. A result that was reported before is final, whatever the outcome here;
    /// [`Peer::finish`] keeps the two together.
    ///
    /// *Errors*: a peer that is gone or has more to say; values that could not be saved; a session that is over, which is aborted.
    pub async fn close(self) -> Result<(), Error> {
        if self.over {
            self.abort(&Error::Over).await;
            return Err(Error::Over);
        }
        self.seat.close().await
    }

    /// Ends the session without a result. The others learn only that, and with several parties which one `over` blames.
    pub async fn abort(self, over: &Error) {
        self.seat.abort(over).await;
    }
}
