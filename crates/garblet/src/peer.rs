//! One party's end of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Channel, Hello};
use garblet_primitives::Prg;
use garblet_protocols::{PhaseCosts, Progress, ProtocolError, Security, Session, yao};
use rand::CryptoRng;

use crate::config::Config;

/// A run that ended without a result.
pub type Error = ProtocolError;

/// One party that has agreed with its peer on program and parameters, and is set up.
///
/// [`Peer::prepare`] may be called any number of times, ahead of inputs; each [`Prepared`] serves one
/// [`Peer::online`].
pub struct Peer {
    session: Session,
    plan: Arc<yao::Plan>,
    role: Role,
}

enum Role {
    Garbler(yao::Garbler),
    Evaluator(yao::Evaluator),
}

/// What a party has prepared for one run.
pub struct Prepared(Material);

enum Material {
    Garbler(yao::GarblerPrepared),
    Evaluator(yao::EvaluatorPrepared),
}

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

impl Peer {
    /// Agrees with the peer at the other end of `channel` and sets up (phase `setup`).
    ///
    /// The generator seeds the session's own; nothing else is random.
    ///
    /// *Errors*: a program that the protocol cannot run, a peer that disagrees, misbehaves or is gone.
    pub async fn open(
        program: Arc<Program>,
        party: Party,
        channel: Channel,
        config: Config,
        rng: &mut impl CryptoRng,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        let plan = Arc::new(yao::Plan::new(program, config.yao)?);
        if party != yao::GARBLER && party != yao::EVALUATOR {
            let reason = format!("{} has parties 0 and 1", config.protocol);
            return Err(Error::NoSuchParty { party, reason });
        }
        let hello = hello(&plan, party, &config);
        let prg = Prg::random(rng);
        let mut session = Session::open(channel, prg, &hello, progress).await?;
        let role = match party == yao::GARBLER {
            true => yao::Garbler::setup(&mut session, plan.clone()).await.map(Role::Garbler),
            false => yao::Evaluator::setup(&mut session, plan.clone()).await.map(Role::Evaluator),
        };
        match role {
            Ok(role) => Ok(Peer { session, plan, role }),
            Err(error) => {
                session.abort().await;
                Err(error)
            }
        }
    }

    /// Prepares one run (phases `prepare` and `build`).
    ///
    /// *Errors*: a peer that misbehaves or is gone.
    pub async fn prepare(&mut self) -> Result<Prepared, Error> {
        match &mut self.role {
            Role::Garbler(role) => Ok(Prepared(Material::Garbler(role.prepare(&mut self.session).await?))),
            Role::Evaluator(role) => Ok(Prepared(Material::Evaluator(role.prepare(&mut self.session).await?))),
        }
    }

    /// Runs once (phase `online`) and reports.
    ///
    /// *Shape*: `inputs` are the values of the program inputs that this party owns, in program order.
    ///
    /// *Errors*: inputs that do not fit, a peer that misbehaves or is gone.
    pub async fn online(&mut self, prepared: Prepared, inputs: &[Bits]) -> Result<Report, Error> {
        let session = &mut self.session;
        let (party, role, outputs) = match (&mut self.role, prepared.0) {
            (Role::Garbler(role), Material::Garbler(prepared)) => {
                (yao::GARBLER, "garbler", role.online(session, prepared, inputs).await?)
            }
            (Role::Evaluator(role), Material::Evaluator(prepared)) => {
                (yao::EVALUATOR, "evaluator", role.online(session, prepared, inputs).await?)
            }
            (Role::Garbler(_), _) | (Role::Evaluator(_), _) => {
                let [what, expected, got] = ["prepared material", "this role's", "the other role's"].map(Into::into);
                return Err(Error::Input { what, expected, got });
            }
        };
        Ok(Report { party, role, outputs, phases: session.costs(), security: self.plan.security() })
    }

    /// Ends the session in order; both parties do.
    ///
    /// *Errors*: a peer that is gone or has more to say.
    pub async fn close(self) -> Result<(), Error> {
        self.session.close().await
    }

    /// Ends the session without a result; the peer learns only that.
    pub async fn abort(self) {
        self.session.abort().await;
    }
}

/// What `party` says first.
pub(crate) fn hello(plan: &yao::Plan, party: Party, config: &Config) -> Hello {
    let hello = Hello::new(config.protocol.name(), party.0, 2, plan.program().digest());
    config.parameters().iter().fold(hello, |hello, (name, value)| hello.with(name, value))
}
