//! A party's role in a protocol: what differs between protocols behind [`Peer`](crate::Peer).

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_protocols::{ProtocolError, Security, Session, components, covert, cut_and_choose, lego, yao};
use garblet_store::Store;

use crate::supply::{Stocked, Values};

/// A role of a protocol that is set up.
pub(crate) enum Role {
    YaoGarbler(yao::Garbler, Arc<yao::Plan>),
    YaoEvaluator(yao::Evaluator, Arc<yao::Plan>),
    ComponentsGarbler(Box<components::Garbler>, Componentwise),
    ComponentsEvaluator(Box<components::Evaluator>, Componentwise),
    CovertGarbler(Box<covert::Garbler>, Arc<covert::Plan>),
    CovertEvaluator(Box<covert::Evaluator>, Arc<covert::Plan>),
    CutAndChooseGarbler(Box<cut_and_choose::Garbler>, Arc<cut_and_choose::Plan>),
    CutAndChooseEvaluator(Box<cut_and_choose::Evaluator>, Arc<cut_and_choose::Plan>),
    LegoConstructor(Box<lego::Constructor>, Gatewise),
    LegoEvaluator(Box<lego::Evaluator>, Gatewise),
}

/// What a role of `components` needs besides.
pub(crate) struct Componentwise {
    program: Arc<Program>,
    material: Arc<components::Material>,
    /// Whether the stores are filled before a run.
    fill_first: bool,
}

/// What a role of `lego` needs besides.
pub(crate) struct Gatewise {
    pub(crate) plan: Arc<lego::Plan>,
    /// What is read from the store and kept there.
    pub(crate) values: Values,
    /// The numbers of the inputs that are read.
    pub(crate) inputs: Vec<usize>,
}

/// What a role has prepared for one run.
pub(crate) enum Material {
    YaoGarbler(yao::GarblerPrepared),
    YaoEvaluator(yao::EvaluatorPrepared),
    ComponentsGarbler(Box<components::GarblerPrepared>),
    ComponentsEvaluator(Box<components::EvaluatorPrepared>),
    CovertGarbler(Box<covert::GarblerPrepared>),
    CovertEvaluator(Box<covert::EvaluatorPrepared>),
    CutAndChooseGarbler(Box<cut_and_choose::GarblerPrepared>),
    CutAndChooseEvaluator(Box<cut_and_choose::EvaluatorPrepared>),
    LegoConstructor(Box<lego::ConstructorPrepared>),
    LegoEvaluator(Box<lego::EvaluatorPrepared>),
}

impl Gatewise {
    /// A run without a store.
    fn in_memory(plan: Arc<lego::Plan>) -> Self {
        Gatewise { plan, values: Values::default(), inputs: Vec::new() }
    }
}

impl Role {
    pub(crate) async fn yao(session: &mut Session, party: Party, plan: Arc<yao::Plan>) -> Result<Self, ProtocolError> {
        match party == yao::GARBLER {
            true => Ok(Role::YaoGarbler(yao::Garbler::setup(session, plan.clone()).await?, plan)),
            false => Ok(Role::YaoEvaluator(yao::Evaluator::setup(session, plan.clone()).await?, plan)),
        }
    }

    pub(crate) async fn components(
        session: &mut Session,
        party: Party,
        program: Arc<Program>,
        config: components::Config,
        stocked: Stocked,
    ) -> Result<Self, ProtocolError> {
        let Stocked { material, store, peer, fill_first } = stocked;
        let with = Componentwise { program, material: material.clone(), fill_first };
        match party == components::GARBLER {
            true => {
                let role = components::Garbler::setup(session, material, config, store, &peer).await?;
                Ok(Role::ComponentsGarbler(Box::new(role), with))
            }
            false => {
                let role = components::Evaluator::setup(session, material, config, store, &peer).await?;
                Ok(Role::ComponentsEvaluator(Box::new(role), with))
            }
        }
    }

    pub(crate) async fn covert(
        session: &mut Session,
        party: Party,
        plan: Arc<covert::Plan>,
    ) -> Result<Self, ProtocolError> {
        match party == covert::GARBLER {
            true => {
                let role = covert::Garbler::setup(session, plan.clone()).await?;
                Ok(Role::CovertGarbler(Box::new(role), plan))
            }
            false => {
                let role = covert::Evaluator::setup(session, plan.clone()).await?;
                Ok(Role::CovertEvaluator(Box::new(role), plan))
            }
        }
    }

    pub(crate) async fn cut_and_choose(
        session: &mut Session,
        party: Party,
        plan: Arc<cut_and_choose::Plan>,
    ) -> Result<Self, ProtocolError> {
        match party == cut_and_choose::GARBLER {
            true => {
                let role = cut_and_choose::Garbler::setup(session, plan.clone()).await?;
                Ok(Role::CutAndChooseGarbler(Box::new(role), plan))
            }
            false => {
                let role = cut_and_choose::Evaluator::setup(session, plan.clone()).await?;
                Ok(Role::CutAndChooseEvaluator(Box::new(role), plan))
            }
        }
    }

    pub(crate) async fn lego(
        session: &mut Session,
        party: Party,
        plan: Arc<lego::Plan>,
    ) -> Result<Self, ProtocolError> {
        match party == lego::CONSTRUCTOR {
            true => {
                let role = lego::Constructor::setup(session, plan.config()).await?;
                Ok(Role::LegoConstructor(Box::new(role), Gatewise::in_memory(plan)))
            }
            false => {
                let role = lego::Evaluator::setup(session, plan.config()).await?;
                Ok(Role::LegoEvaluator(Box::new(role), Gatewise::in_memory(plan)))
            }
        }
    }

    pub(crate) async fn lego_with_store(
        session: &mut Session,
        party: Party,
        with: Gatewise,
        store: Store,
        peer: &str,
    ) -> Result<Self, ProtocolError> {
        match party == lego::CONSTRUCTOR {
            true => {
                let role = lego::Constructor::meet(session, with.plan.config(), store, peer).await?;
                Ok(Role::LegoConstructor(Box::new(role), with))
            }
            false => {
                let role = lego::Evaluator::meet(session, with.plan.config(), store, peer).await?;
                Ok(Role::LegoEvaluator(Box::new(role), with))
            }
        }
    }

    pub(crate) fn party(&self) -> Party {
        match self {
            Role::YaoGarbler(..)
            | Role::ComponentsGarbler(..)
            | Role::CovertGarbler(..)
            | Role::CutAndChooseGarbler(..)
            | Role::LegoConstructor(..) => Party(0),
            Role::YaoEvaluator(..)
            | Role::ComponentsEvaluator(..)
            | Role::CovertEvaluator(..)
            | Role::CutAndChooseEvaluator(..)
            | Role::LegoEvaluator(..) => Party(1),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Role::YaoGarbler(..)
            | Role::ComponentsGarbler(..)
            | Role::CovertGarbler(..)
            | Role::CutAndChooseGarbler(..) => "garbler",
            Role::LegoConstructor(..) => "constructor",
            Role::YaoEvaluator(..)
            | Role::ComponentsEvaluator(..)
            | Role::CovertEvaluator(..)
            | Role::CutAndChooseEvaluator(..)
            | Role::LegoEvaluator(..) => "evaluator",
        }
    }

    pub(crate) fn security(&self) -> Security {
        match self {
            Role::YaoGarbler(_, plan) | Role::YaoEvaluator(_, plan) => plan.security(),
            Role::ComponentsGarbler(_, with) | Role::ComponentsEvaluator(_, with) => with.material.security(),
            Role::CovertGarbler(_, plan) | Role::CovertEvaluator(_, plan) => plan.security(),
            Role::CutAndChooseGarbler(_, plan) | Role::CutAndChooseEvaluator(_, plan) => plan.security(),
            Role::LegoConstructor(role, _) => role.security(),
            Role::LegoEvaluator(role, _) => role.security(),
        }
    }

    pub(crate) async fn prepare(&mut self, session: &mut Session) -> Result<Material, ProtocolError> {
        match self {
            Role::YaoGarbler(role, _) => Ok(Material::YaoGarbler(role.prepare(session).await?)),
            Role::YaoEvaluator(role, _) => Ok(Material::YaoEvaluator(role.prepare(session).await?)),
            Role::ComponentsGarbler(role, with) => {
                if with.fill_first {
                    role.prepare(session, 100).await?;
                }
                Ok(Material::ComponentsGarbler(Box::new(role.build(session, &with.program).await?)))
            }
            Role::ComponentsEvaluator(role, with) => {
                if with.fill_first {
                    role.prepare(session, 100).await?;
                }
                Ok(Material::ComponentsEvaluator(Box::new(role.build(session, &with.program).await?)))
            }
            Role::CovertGarbler(role, _) => {
                let mut prepared = role.prepare(session).await?;
                role.build(session, &mut prepared).await?;
                Ok(Material::CovertGarbler(Box::new(prepared)))
            }
            Role::CovertEvaluator(role, _) => {
                let mut prepared = role.prepare(session).await?;
                role.build(session, &mut prepared).await?;
                Ok(Material::CovertEvaluator(Box::new(prepared)))
            }
            Role::CutAndChooseGarbler(role, _) => {
                Ok(Material::CutAndChooseGarbler(Box::new(role.prepare(session).await?)))
            }
            Role::CutAndChooseEvaluator(role, _) => {
                Ok(Material::CutAndChooseEvaluator(Box::new(role.prepare(session).await?)))
            }
            Role::LegoConstructor(role, with) => {
                let mut prepared = role.prepare(session, with.plan.clone()).await?;
                for (&input, read) in with.inputs.iter().zip(&with.values.read) {
                    prepared.read(input, &role.kept(&read.name)?, read.output.as_deref())?;
                }
                role.build(session, &mut prepared).await?;
                Ok(Material::LegoConstructor(Box::new(prepared)))
            }
            Role::LegoEvaluator(role, with) => {
                let mut prepared = role.prepare(session, with.plan.clone()).await?;
                for (&input, read) in with.inputs.iter().zip(&with.values.read) {
                    prepared.read(input, &role.kept(&read.name)?, read.output.as_deref())?;
                }
                role.build(session, &mut prepared).await?;
                Ok(Material::LegoEvaluator(Box::new(prepared)))
            }
        }
    }

    pub(crate) async fn online(
        &mut self,
        session: &mut Session,
        material: Material,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        match (self, material) {
            (Role::YaoGarbler(role, _), Material::YaoGarbler(prepared)) => role.online(session, prepared, inputs).await,
            (Role::YaoEvaluator(role, _), Material::YaoEvaluator(prepared)) => {
                role.online(session, prepared, inputs).await
            }
            (Role::ComponentsGarbler(role, _), Material::ComponentsGarbler(prepared)) => {
                role.online(session, *prepared, inputs).await
            }
            (Role::ComponentsEvaluator(role, _), Material::ComponentsEvaluator(prepared)) => {
                role.online(session, *prepared, inputs).await
            }
            (Role::CovertGarbler(role, _), Material::CovertGarbler(prepared)) => {
                role.online(session, *prepared, inputs).await
            }
            (Role::CovertEvaluator(role, _), Material::CovertEvaluator(prepared)) => {
                role.online(session, *prepared, inputs).await
            }
            (Role::CutAndChooseGarbler(role, _), Material::CutAndChooseGarbler(prepared)) => {
                role.online(session, *prepared, inputs).await
            }
            (Role::CutAndChooseEvaluator(role, _), Material::CutAndChooseEvaluator(prepared)) => {
                role.online(session, *prepared, inputs).await
            }
            (Role::LegoConstructor(role, with), Material::LegoConstructor(prepared)) => {
                let (outputs, kept) = role.online_keeping(session, *prepared, inputs).await?;
                with.values.keep.as_ref().map_or(Ok(()), |name| role.keep(name, &kept))?;
                Ok(outputs)
            }
            (Role::LegoEvaluator(role, with), Material::LegoEvaluator(prepared)) => {
                let (outputs, kept) = role.online_keeping(session, *prepared, inputs).await?;
                with.values.keep.as_ref().map_or(Ok(()), |name| role.keep(name, &kept))?;
                Ok(outputs)
            }
            _ => Err(foreign_material()),
        }
    }
}

/// What was prepared by another role or protocol cannot be used.
pub(crate) fn foreign_material() -> ProtocolError {
    let [what, expected, got] = ["prepared material", "this role's", "another role's"].map(Into::into);
    ProtocolError::Input { what, expected, got }
}
