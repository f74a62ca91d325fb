//! A party's role, whatever the protocol, behind [`Peer`](crate::Peer).

use std::{any::Any, pin::Pin, sync::Arc};

use garblet_circuit::{Bits, Party, Program};
use garblet_protocols::{ProtocolError, Role, Security, Session, components, covert, cut_and_choose, lego, yao};
use garblet_store::Store;

use crate::supply::{Stocked, Values};

/// A role of any protocol, set up for a program.
pub(crate) trait AnyRole: Send {
    fn party(&self) -> Party;

    fn name(&self) -> &'static str;

    /// What its runs promise.
    fn security(&self) -> Security;

    /// As [`Role::prepare`].
    fn prepare<'a>(&'a mut self, session: &'a mut Session) -> Step<'a, Material>;

    /// As [`Role::online`], also for what another role has prepared, which is an error.
    fn online<'a>(
        &'a mut self,
        session: &'a mut Session,
        material: Material,
        inputs: &'a [Bits],
    ) -> Step<'a, Vec<Option<Bits>>>;

    /// As [`Role::run`].
    fn run<'a>(&'a mut self, session: &'a mut Session, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>>;
}

/// What a role does in a phase.
pub(crate) type Step<'a, T> = Pin<Box<dyn Future<Output = Result<T, ProtocolError>> + Send + 'a>>;

/// What a role has prepared for one run.
pub(crate) type Material = Box<dyn Any + Send>;

impl<R: Role> AnyRole for R {
    fn party(&self) -> Party {
        R::PARTY
    }

    fn name(&self) -> &'static str {
        R::NAME
    }

    fn security(&self) -> Security {
        Role::security(self)
    }

    fn prepare<'a>(&'a mut self, session: &'a mut Session) -> Step<'a, Material> {
        Box::pin(async { Ok(Box::new(Role::prepare(self, session).await?) as Material) })
    }

    fn online<'a>(
        &'a mut self,
        session: &'a mut Session,
        material: Material,
        inputs: &'a [Bits],
    ) -> Step<'a, Vec<Option<Bits>>> {
        Box::pin(async {
            let prepared = material.downcast().map_err(|_| foreign_material())?;
            Role::online(self, session, *prepared, inputs).await
        })
    }

    fn run<'a>(&'a mut self, session: &'a mut Session, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>> {
        Box::pin(Role::run(self, session, inputs))
    }
}

pub(crate) async fn yao(
    session: &mut Session,
    party: Party,
    plan: Arc<yao::Plan>,
) -> Result<Box<dyn AnyRole>, ProtocolError> {
    match party == yao::GARBLER {
        true => Ok(Box::new(yao::Garbler::setup(session, plan).await?)),
        false => Ok(Box::new(yao::Evaluator::setup(session, plan).await?)),
    }
}

pub(crate) async fn covert(
    session: &mut Session,
    party: Party,
    plan: Arc<covert::Plan>,
) -> Result<Box<dyn AnyRole>, ProtocolError> {
    match party == covert::GARBLER {
        true => Ok(Box::new(covert::Garbler::setup(session, plan).await?)),
        false => Ok(Box::new(covert::Evaluator::setup(session, plan).await?)),
    }
}

pub(crate) async fn cut_and_choose(
    session: &mut Session,
    party: Party,
    plan: Arc<cut_and_choose::Plan>,
) -> Result<Box<dyn AnyRole>, ProtocolError> {
    match party == cut_and_choose::GARBLER {
        true => Ok(Box::new(cut_and_choose::Garbler::setup(session, plan).await?)),
        false => Ok(Box::new(cut_and_choose::Evaluator::setup(session, plan).await?)),
    }
}

pub(crate) async fn components(
    session: &mut Session,
    party: Party,
    program: Arc<Program>,
    config: components::Config,
    stocked: Stocked,
) -> Result<Box<dyn AnyRole>, ProtocolError> {
    let Stocked { material, store, peer, fill_first } = stocked;
    match party == components::GARBLER {
        true => {
            let role = components::Garbler::setup(session, material, config, store, &peer).await?;
            Ok(Box::new(Componentwise { role, program, fill_first }))
        }
        false => {
            let role = components::Evaluator::setup(session, material, config, store, &peer).await?;
            Ok(Box::new(Componentwise { role, program, fill_first }))
        }
    }
}

/// A role of `lego`, which has a store if it is named together with a peer.
pub(crate) async fn lego(
    session: &mut Session,
    party: Party,
    job: GatesJob,
    store: Option<(Store, String)>,
) -> Result<Box<dyn AnyRole>, ProtocolError> {
    let config = job.plan.config();
    match (party == lego::CONSTRUCTOR, store) {
        (true, None) => Ok(Box::new(Gatewise { role: lego::Constructor::setup(session, config).await?, job })),
        (false, None) => Ok(Box::new(Gatewise { role: lego::Evaluator::setup(session, config).await?, job })),
        (true, Some((store, peer))) => {
            let role = lego::Constructor::meet(session, config, store, &peer).await?;
            Ok(Box::new(Gatewise { role, job }))
        }
        (false, Some((store, peer))) => {
            let role = lego::Evaluator::meet(session, config, store, &peer).await?;
            Ok(Box::new(Gatewise { role, job }))
        }
    }
}

/// A role of `components`, which serves any program, with the one of this run.
struct Componentwise<R> {
    role: R,
    program: Arc<Program>,
    /// Whether the stores are filled before a run.
    fill_first: bool,
}

/// Both roles of `components` are used alike.
macro_rules! componentwise {
    ($role:ident, $prepared:ident, $party:ident, $name:literal) => {
        impl Role for Componentwise<components::$role> {
            type Prepared = components::$prepared;
            const PARTY: Party = components::$party;
            const NAME: &'static str = $name;

            fn security(&self) -> Security {
                self.role.material().security()
            }

            async fn prepare(&mut self, session: &mut Session) -> Result<Self::Prepared, ProtocolError> {
                if self.fill_first {
                    self.role.prepare(session, 100).await?;
                }
                self.role.build(session, &self.program).await
            }

            async fn online(
                &mut self,
                session: &mut Session,
                prepared: Self::Prepared,
                inputs: &[Bits],
            ) -> Result<Vec<Option<Bits>>, ProtocolError> {
                self.role.online(session, prepared, inputs).await
            }

            async fn run(
                &mut self,
                session: &mut Session,
                inputs: &[Bits],
            ) -> Result<Vec<Option<Bits>>, ProtocolError> {
                if self.fill_first {
                    self.role.prepare(session, 100).await?;
                }
                self.role.run(session, &self.program, inputs).await
            }
        }
    };
}

componentwise!(Garbler, GarblerPrepared, GARBLER, "garbler");
componentwise!(Evaluator, EvaluatorPrepared, EVALUATOR, "evaluator");

/// A role of `lego`, which serves any program, with the one of this run.
struct Gatewise<R> {
    role: R,
    job: GatesJob,
}

/// A program for `lego`.
pub(crate) struct GatesJob {
    pub(crate) plan: Arc<lego::Plan>,
    /// What is read from the store and kept there.
    pub(crate) values: Values,
    /// The numbers of the inputs that are read.
    pub(crate) inputs: Vec<usize>,
}

/// Both roles of `lego` are used alike.
macro_rules! gatewise {
    ($role:ident, $prepared:ident, $party:ident, $name:literal) => {
        impl Role for Gatewise<lego::$role> {
            type Prepared = lego::$prepared;
            const PARTY: Party = lego::$party;
            const NAME: &'static str = $name;

            fn security(&self) -> Security {
                self.role.security()
            }

            async fn prepare(&mut self, session: &mut Session) -> Result<Self::Prepared, ProtocolError> {
                let GatesJob { plan, values, inputs } = &self.job;
                let mut prepared = self.role.prepare(session, plan.clone()).await?;
                for (&input, read) in inputs.iter().zip(&values.read) {
                    prepared.read(input, &self.role.kept(&read.name)?, read.output.as_deref())?;
                }
                self.role.build(session, &mut prepared).await?;
                Ok(prepared)
            }

            async fn online(
                &mut self,
                session: &mut Session,
                prepared: Self::Prepared,
                inputs: &[Bits],
            ) -> Result<Vec<Option<Bits>>, ProtocolError> {
                let (outputs, kept) = self.role.online_keeping(session, prepared, inputs).await?;
                self.job.values.keep.as_ref().map_or(Ok(()), |name| self.role.keep(name, &kept))?;
                Ok(outputs)
            }
        }
    };
}

gatewise!(Constructor, ConstructorPrepared, CONSTRUCTOR, "constructor");
gatewise!(Evaluator, EvaluatorPrepared, EVALUATOR, "evaluator");

/// What was prepared by another role or protocol cannot be used.
pub(crate) fn foreign_material() -> ProtocolError {
    let [what, expected, got] = ["prepared material", "this role's", "another role's"].map(Into::into);
    ProtocolError::Input { what, expected, got }
}
