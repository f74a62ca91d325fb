//! What a run will cost in bytes and rounds, by formula.

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_net::{Hello, SimulatedLink};
use garblet_protocols::{Communication, Phase, bmr, components, covert, cut_and_choose, gmw, lego, yao};

use crate::{
    config::{Config, Protocol},
    mesh_role::MeshPlan,
    peer::{Error, hello},
};

/// What a run will cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// For each party what each phase costs, by [`Phase`] as a number. None where that depends on what stores have, which is
    /// all but the last phase of [`Protocol::Components`].
    pub parties: Vec<[Option<Communication>; 4]>,
    /// Whether every run costs that. In [`Protocol::Lego`] it is the mean, as coins say how many components are checked. In
    /// [`Protocol::Components`] it is what linking single components costs: templates that the stores have save bytes, and the
    /// garbler's first wait is a round if it has sent something just before.
    pub exact: bool,
    /// Whether parties wait for one another at the same time, not in turn.
    together: bool,
}

/// Bytes and rounds of each phase of one run by so many parties.
///
/// *Errors*: a program or a number of parties that the protocol cannot run.
pub fn predict(program: &Program, parties: u16, config: Config) -> Result<Prediction, Error> {
    if !config.protocol.parties().contains(&parties) {
        let (protocol, program) = (config.protocol.name(), program.name().into());
        return Err(Error::Unsupported { protocol, program, reason: format!("there are {parties} parties") });
    }
    let shared = Arc::new(program.clone());
    let digest = program.digest();
    let hellos: Vec<Hello> = (0..parties).map(|party| hello(digest, Party(party), parties, &config)).collect();
    let all = |cost: &dyn Fn(Party, Phase) -> Option<Communication>| {
        (0..parties).map(|party| Phase::ALL.map(|phase| cost(Party(party), phase))).collect()
    };
    let two = || [hellos[0].clone(), hellos[1].clone()];
    let costs = match config.protocol {
        Protocol::Yao => {
            let (plan, hellos) = (yao::Plan::new(shared, config.yao)?, two());
            all(&|party, phase| Some(yao::communication(&plan, party, phase, &hellos)))
        }
        Protocol::Components => {
            let library = components::Library::of_program(program);
            let material = components::Material::new(library, config.components.garbling);
            let online = |party| components::communication(&material, config.components, &shared, party);
            let online = [online(Party(0))?, online(Party(1))?];
            all(&|party, phase| (phase == Phase::Online).then(|| online[usize::from(party.0)]))
        }
        Protocol::Covert => {
            let (plan, hellos) = (covert::Plan::new(shared, config.covert)?, two());
            all(&|party, phase| Some(covert::communication(&plan, party, phase, &hellos)))
        }
        Protocol::CutAndChoose => {
            let (plan, hellos) = (cut_and_choose::Plan::new(shared, config.cut_and_choose)?, two());
            all(&|party, phase| Some(cut_and_choose::communication(&plan, party, phase, &hellos)))
        }
        Protocol::Lego => {
            let (plan, hellos) = (lego::Plan::new(shared, config.lego)?, two());
            let order = plan.order()?;
            let checks = lego::Checks::expected(&order);
            all(&|party, phase| Some(lego::communication(&plan, &order, party, phase, &hellos, checks)))
        }
        Protocol::Gmw | Protocol::Bmr(_) => match MeshPlan::new(shared, parties, &config)? {
            MeshPlan::Gmw(plan) => all(&|party, phase| Some(gmw::communication(&plan, party, phase, &hellos))),
            MeshPlan::Bmr(plan) => all(&|party, phase| Some(bmr::communication(&plan, party, phase, &hellos))),
        },
    };
    let exact = !matches!(config.protocol, Protocol::Lego | Protocol::Components);
    Ok(Prediction { parties: costs, exact, together: config.protocol.is_mesh() })
}

impl Prediction {
    /// What a phase costs a party; as [`Prediction::parties`].
    pub fn cost(&self, party: Party, phase: Phase) -> Option<Communication> {
        self.parties.get(usize::from(party.0)).and_then(|phases| phases[phase as usize])
    }

    /// What all parties send in all phases that are known.
    pub fn bytes(&self) -> u64 {
        self.parties.iter().flatten().flatten().map(|cost| cost.bytes_sent).sum()
    }

    /// How long a phase's messages are under way if every two parties have such a link, in seconds: one latency for each round
    /// (of both parties if there are two, who wait in turn; otherwise all wait together), and the time of the bytes of the
    /// direction with most. Whatever the parties compute, and a wait that is no round, come on top.
    pub fn link_seconds(&self, phase: Phase, link: SimulatedLink) -> Option<f64> {
        let costs: Option<Vec<Communication>> = self.parties.iter().map(|party| party[phase as usize]).collect();
        let costs = costs?;
        let peers = costs.len().saturating_sub(1).max(1) as u64;
        let rounds = costs.iter().map(|cost| cost.rounds);
        let moves = if self.together { rounds.max().unwrap_or_default() } else { rounds.sum() };
        let bytes = costs.iter().map(|cost| cost.bytes_sent.max(cost.bytes_received) / peers).max().unwrap_or_default();
        let carried = link.bits_per_second.map_or(0.0, |rate| 8.0 * bytes as f64 / rate);
        Some(moves as f64 * link.latency.as_secs_f64() + carried)
    }
}
