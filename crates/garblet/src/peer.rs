//! One party's end of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Channel, Hello};
use garblet_primitives::Prg;
use garblet_protocols::{PhaseCosts, Progress, ProtocolError, Security, Session, covert, cut_and_choose, lego, yao};
use garblet_store::{Store, StoreError};
use rand::CryptoRng;

use crate::{
    config::{Config, Protocol},
    role::{self, AnyRole, GatesJob, Material},
    supply::{Contents, Stocked, Supply, Values},
};

/// A run that ended without a result.
pub type Error = ProtocolError;

/// One of two parties that has agreed with its peer on program and parameters, and is set up. Several are
/// [`MeshPeer`](crate::MeshPeer)s.
///
/// [`Peer::prepare`] may be called any number of times, ahead of inputs; each [`Prepared`] serves one
/// [`Peer::online`]. After an error of either or of [`Peer::run`], or where its future was dropped, the parties may be out of step: all that is
/// left is [`Peer::abort`].
pub struct Peer {
    session: Session,
    role: Box<dyn AnyRole>,
    /// Whether a step has begun and has not succeeded.
    over: bool,
}

/// What a party has prepared for one run.
///
/// Both parties must use theirs in the same order, and leave out the same; two parties do not tell each other which one they are at. If the
/// orders differ, `yao` and `components` give wrong outputs without a word, and the others accuse an honest peer of cheating.
pub struct Prepared(Material);

/// What a party has learned, and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The party.
    pub party: Party,
    /// What it did.
    pub role: &'static str,
    /// The value of each program output, none where this party is no recipient.
    pub outputs: Vec<Option<Bits>>,
    /// What each phase cost.
    pub phases: PhaseCosts,
    /// What the run promises.
    pub security: Security,
}

/// The end of a run after which the parties have parted.
#[derive(Debug)]
pub struct Outcome {
    /// The report of what this party has learned and of the costs. It is final, whatever the peer did then: every check has passed, and what was taken
    /// from a store is spent.
    pub report: Report,
    /// Why the parties did not part in order, if they did not. A peer that has its own outputs and then breaks off costs this party
    /// nothing but the certainty that the peer has them.
    pub closing: Option<Error>,
}

impl Peer {
    /// Agrees with the peer at the other end of `channel` and sets up (phase `setup`). What `components` needs is
    /// prepared for this run alone, in memory; see [`Peer::open_supplied`].
    ///
    /// The generator seeds the session's own before this returns; nothing else is random, and the future does not hold it, so that it can be
    /// spawned with `rand::rng()` too. `cut-and-choose` in the form `lp07` must keep all circuits; what is beyond 128 MiB lies in the system's
    /// folder for temporary files, encrypted, until the run ends.
    ///
    /// *Errors*: a program that the protocol cannot run, a peer that disagrees, misbehaves or is gone.
    pub fn open(
        program: Arc<Program>,
        party: Party,
        channel: Channel,
        config: Config,
        mut rng: impl CryptoRng,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Self, Error>> + Send {
        let store = (config.protocol == Protocol::Components).then(|| Store::in_memory(&mut rng));
        Peer::open_seeded(program, party, channel, config, store, Prg::random(&mut rng), progress)
    }

    async fn open_seeded(
        program: Arc<Program>,
        party: Party,
        channel: Channel,
        config: Config,
        store: Option<Result<Store, StoreError>>,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        check_party(party, &config)?;
        let described = program.clone();
        match config.protocol {
            Protocol::Gmw | Protocol::Bmr(_) => Err(not_for_two(&config)),
            Protocol::Yao => {
                let plan = Arc::new(yao::Plan::new(program, config.yao)?);
                let hello = describing(hello(plan.program().digest(), party, 2, &config), described);
                let session = Session::open(channel, rng, &hello, progress).await?;
                Peer::set_up(session, async |session| role::yao(session, party, plan).await).await
            }
            Protocol::Covert => {
                let plan = Arc::new(covert::Plan::new(program, config.covert)?);
                let hello = describing(hello(plan.program().digest(), party, 2, &config), described);
                let session = Session::open(channel, rng, &hello, progress).await?;
                Peer::set_up(session, async |session| role::covert(session, party, plan).await).await
            }
            Protocol::CutAndChoose => {
                let plan = Arc::new(cut_and_choose::Plan::new(program, config.cut_and_choose)?);
                let hello = describing(hello(plan.original().digest(), party, 2, &config), described);
                let mut session = Session::open(channel, rng, &hello, progress).await?;
                session.set_scratch(std::env::temp_dir());
                Peer::set_up(session, async |session| role::cut_and_choose(session, party, plan).await).await
            }
            Protocol::Lego => {
                let plan = Arc::new(lego::Plan::new(program, config.lego)?);
                let hello = describing(hello(plan.program().digest(), party, 2, &config), described);
                let session = Session::open(channel, rng, &hello, progress).await?;
                let job = GatesJob { plan, values: Values::default(), inputs: Vec::new() };
                Peer::set_up(session, async |session| role::lego(session, party, job, None).await).await
            }
            Protocol::Components => {
                let store = store.expect("components come with a store")?;
                let stocked = Stocked::for_run(&program, &config, store);
                Peer::open_stocked(program, party, channel, config, stocked, rng, progress).await
            }
        }
    }

    /// The same for `components` and `lego`, drawing on a store that was filled before the program was known.
    ///
    /// *Errors*: also stores that were not filled together, or for something else.
    pub fn open_supplied(
        program: Arc<Program>,
        party: Party,
        channel: Channel,
        config: Config,
        supply: Supply,
        mut rng: impl CryptoRng,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Self, Error>> + Send {
        Peer::open_supplied_seeded(program, party, channel, config, supply, Prg::random(&mut rng), progress)
    }

    async fn open_supplied_seeded(
        program: Arc<Program>,
        party: Party,
        channel: Channel,
        config: Config,
        supply: Supply,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        check_party(party, &config)?;
        supply.contents.check(&config)?;
        let Supply { contents, store, peer, fill_first, values } = supply;
        match contents {
            Contents::Components(library) => {
                let stocked = Stocked::new(library, store, peer, fill_first, &config);
                Peer::open_stocked(program, party, channel, config, stocked, rng, progress).await
            }
            Contents::Runs => Err(not_for_two(&config)),
            Contents::Gates(_) => {
                let (inputs, described) = (values.inputs(&program)?, program.clone());
                let plan = Arc::new(lego::Plan::reading(program, config.lego, &inputs)?);
                let hello = hello(plan.program().digest(), party, 2, &config).with("gates", "from a store");
                let hello = describing(hello, described);
                let hello = hello.with("top-up", yes_or_no(config.lego.top_up));
                let hello = values.greet(hello, &store);
                let session = Session::open(channel, rng, &hello, progress).await?;
                let (job, store) = (GatesJob { plan, values, inputs }, Some((store, peer)));
                Peer::set_up(session, async |session| role::lego(session, party, job, store).await).await
            }
        }
    }

    async fn open_stocked(
        program: Arc<Program>,
        party: Party,
        channel: Channel,
        config: Config,
        stocked: Stocked,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        let hello = hello(program.digest(), party, 2, &config).with("library", stocked.digest());
        let hello = hello.with("top-up", yes_or_no(config.components.top_up));
        let hello = describing(hello, program.clone());
        let session = Session::open(channel, rng, &hello, progress).await?;
        let config = config.components;
        Peer::set_up(session, async |session| role::components(session, party, program, config, stocked).await).await
    }

    async fn set_up(
        mut session: Session,
        role: impl AsyncFnOnce(&mut Session) -> Result<Box<dyn AnyRole>, Error>,
    ) -> Result<Self, Error> {
        match role(&mut session).await {
            Ok(role) => Ok(Peer { session, role, over: false }),
            Err(error) => {
                session.abort().await;
                Err(error)
            }
        }
    }

    /// Prepares one run (phases `prepare` and `build`).
    ///
    /// *Errors*: a peer that misbehaves or is gone; stores that lack what the program needs.
    pub async fn prepare(&mut self) -> Result<Prepared, Error> {
        self.begin()?;
        let material = self.role.prepare(&mut self.session).await?;
        self.over = false;
        Ok(Prepared(material))
    }

    /// Runs once (phase `online`) and reports.
    ///
    /// *Shape*: `inputs` are the values of the program inputs that this party owns, in program order.
    ///
    /// *Errors*: inputs that do not fit, a peer that misbehaves or is gone.
    pub async fn online(&mut self, prepared: Prepared, inputs: &[Bits]) -> Result<Report, Error> {
        self.begin()?;
        let outputs = self.role.online(&mut self.session, prepared.0, inputs).await?;
        self.over = false;
        Ok(self.report(outputs))
    }

    /// Prepares and runs once, where the inputs are there from the beginning, and reports. The evaluator of `components`
    /// sends what depends on its inputs first then, and chooses components while that is on its way; otherwise it is
    /// [`Peer::prepare`] and [`Peer::online`], whose shape and errors these are.
    pub async fn run(&mut self, inputs: &[Bits]) -> Result<Report, Error> {
        self.begin()?;
        let outputs = self.role.run(&mut self.session, inputs).await?;
        self.over = false;
        Ok(self.report(outputs))
    }

    /// Prepares and runs once, as [`Peer::run`], and ends the session: in order if there is a result, else by giving up.
    ///
    /// *Errors*: those of [`Peer::run`]; what goes wrong after the result is in [`Outcome::closing`].
    pub async fn finish(mut self, inputs: &[Bits]) -> Result<Outcome, Error> {
        match self.run(inputs).await {
            Ok(report) => Ok(Outcome { report, closing: self.close().await.err() }),
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    /// Begins a step: the session is over unless it succeeds.
    fn begin(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.over, true) { Err(Error::Over) } else { Ok(()) }
    }

    fn report(&mut self, outputs: Vec<Option<Bits>>) -> Report {
        let (party, role, security) = (self.role.party(), self.role.name(), self.role.security());
        Report { party, role, outputs, phases: self.session.costs(), security }
    }

    /// Ends the session in order; both parties do. A result that was reported before is final, whatever this comes to;
    /// [`Peer::finish`] keeps the two together.
    ///
    /// *Errors*: a peer that is gone or has more to say; a session that is over, which is aborted.
    pub async fn close(self) -> Result<(), Error> {
        if self.over {
            self.abort().await;
            return Err(Error::Over);
        }
        self.session.close().await
    }

    /// Ends the session without a result; the peer learns only that.
    pub async fn abort(self) {
        self.session.abort().await;
    }
}

fn check_party(party: Party, config: &Config) -> Result<(), Error> {
    match party == yao::GARBLER || party == yao::EVALUATOR {
        true => Ok(()),
        false => {
            let reason = format!("{} has parties 0 and 1", config.protocol);
            Err(Error::NoSuchParty { party, reason })
        }
    }
}

/// What those are told who give a protocol of several parties a channel.
pub(crate) fn not_for_two(config: &Config) -> Error {
    let (what, expected) = ("peers".into(), format!("a mesh, which {} runs over", config.protocol));
    Error::Input { what, expected, got: "a channel to one".into() }
}

/// What a hello says of a choice.
fn yes_or_no(choice: bool) -> &'static str {
    if choice { "yes" } else { "no" }
}

/// What `party` of `count` says first, of a program with this digest.
pub(crate) fn hello(program: [u8; 32], party: Party, count: u16, config: &Config) -> Hello {
    let hello = Hello::new(config.protocol.name(), party.0, count, program);
    config.parameters().iter().fold(hello, |hello, (name, value)| hello.with(name, value))
}

/// Adds of what parts the program consists, for a peer that has another.
pub(crate) fn describing(hello: Hello, program: Arc<Program>) -> Hello {
    hello.describing(move || program.parts())
}
