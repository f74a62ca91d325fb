//! The bases in which every input belongs to one party, including dealt bits: they run a changed program.
//!
//! ```text
//! program    the changed program
//! server     a server, which runs its role of the base on the changed program
//! ```
//!
//! They keep nothing between runs.

mod program;
mod server;

use std::sync::Arc;

use garblet_circuit::{Bits, Program, ScheduleDigest};
use garblet_client::{Server, Statistical};
use garblet_cut_and_choose::{self as circuits, CutAndChoose};
use garblet_protocol::{
    Protocol, Role, Security,
    conduct::Conduct,
    error::ProtocolError,
    parameters::{self, Parameter},
    session::Session,
    stock::SavedValues,
};
use garblet_yao::{self as yao, Yao};

use crate::{
    NAME, Step,
    dealt::Outline,
    plan::{BasePlan, Plan},
    settle::Submissions,
};

pub use server::ChangedServer;

impl BasePlan for circuits::Plan {
    const BINDS: bool = true;
    const STORES: bool = false;

    fn security(&self) -> Security {
        circuits::Plan::security(self)
    }

    fn schedule(&self) -> ScheduleDigest {
        self.schedules().digest()
    }
}

impl BasePlan for yao::Plan {
    const BINDS: bool = false;
    const STORES: bool = false;

    fn security(&self) -> Security {
        yao::Plan::security(self)
    }

    fn schedule(&self) -> ScheduleDigest {
        self.schedules().digest()
    }
}

impl Plan<circuits::Plan> {
    /// Makes a program ready for servers that run [`garblet_cut_and_choose`].
    ///
    /// *Errors*: as [`Plan::new`]; the published form of the base, which does not bind dealt inputs.
    pub fn over_circuits(program: Arc<Program>, parties: u16, config: circuits::Config) -> Result<Self, ProtocolError> {
        if config.form != circuits::Form::Oblivious {
            let (what, expected) = ("form of cut-and-choose below outsourced".into(), "oblivious".into());
            return Err(ProtocolError::Input { what, expected, got: "another".into() });
        }
        let statistical = match config.statistical {
            circuits::Statistical::Forty => Statistical::Forty,
            circuits::Statistical::Eighty => Statistical::Eighty,
        };
        let parameters = of_base(circuits::NAME, CutAndChoose::PARAMETERS, &config);
        Plan::over(program, parties, (statistical, parameters), SavedValues::default(), |outline| {
            circuits::Plan::new(changed(&outline)?, config)
        })
    }
}

impl Plan<yao::Plan> {
    /// Makes a program ready for servers that run [`garblet_yao`] and are semi-honest.
    ///
    /// *Errors*: as [`Plan::new`].
    pub fn over_yao(program: Arc<Program>, parties: u16, config: yao::Config) -> Result<Self, ProtocolError> {
        let parameters = of_base(yao::NAME, Yao::PARAMETERS, &config);
        Plan::over(program, parties, (Statistical::Forty, parameters), SavedValues::default(), |outline| {
            yao::Plan::new(changed(&outline)?, config)
        })
    }
}

/// The parameters of a job over a base: the base, and its parameters.
fn of_base<C>(name: &str, known: &[Parameter<C>], config: &C) -> Vec<(String, String)> {
    let mut parameters = parameters::compared(known, config);
    parameters.push(("base".into(), name.into()));
    parameters
}

fn changed(outline: &Outline<'_>) -> Result<Arc<Program>, ProtocolError> {
    let program = program::changed(outline).map_err(|error| ProtocolError::Unsupported {
        protocol: NAME,
        program: outline.program.name().into(),
        reason: error.to_string(),
    })?;
    Ok(Arc::new(program))
}

/// A server's role in a base.
pub trait Seat: Role + Sized + 'static {
    /// The base's plan.
    type Plan: BasePlan;

    /// The server.
    const SERVER: Server;

    /// Sets up with the other server.
    ///
    /// *Errors*: those of the base.
    fn set_up(session: &mut Session, plan: Arc<Self::Plan>)
    -> impl Future<Output = Result<Self, ProtocolError>> + Send;

    /// Computes the changed program on the server's values.
    ///
    /// *Errors*: those of the base, and, where dealt bits are proved, of the proofs.
    fn compute<K: Conduct<Step>>(
        &mut self,
        session: &mut Session,
        prepared: Self::Prepared,
        values: &[Bits],
        submissions: &mut Submissions<'_, K, Self::Plan>,
    ) -> impl Future<Output = Result<Vec<Option<Bits>>, ProtocolError>> + Send;
}

/// Implements a server's role for a base, which computes with this method, and with the submissions if they are named.
macro_rules! seat {
    ($role:ty, $plan:ty, $server:expr, $compute:ident $(, $submissions:ident)?) => {
        impl Seat for $role {
            type Plan = $plan;
            const SERVER: Server = $server;

            async fn set_up(session: &mut Session, plan: Arc<$plan>) -> Result<Self, ProtocolError> {
                <$role>::setup(session, plan).await
            }

            async fn compute<K: Conduct<Step>>(
                &mut self,
                session: &mut Session,
                prepared: Self::Prepared,
                values: &[Bits],
                _submissions: &mut Submissions<'_, K, $plan>,
            ) -> Result<Vec<Option<Bits>>, ProtocolError> {
                $(let $submissions = _submissions;)?
                self.$compute(session, prepared, values $(, $submissions)?).await
            }
        }
    };
}

seat!(circuits::Garbler, circuits::Plan, Server::Generator, online_for_others, submissions);
seat!(circuits::Evaluator, circuits::Plan, Server::Cloud, online_for_others, submissions);
seat!(yao::Garbler, yao::Plan, Server::Generator, online);
seat!(yao::Evaluator, yao::Plan, Server::Cloud, online);
