//! Deviations from `outsourced`.

use std::sync::Arc;

use garblet_authenticated::{Amounts, EvaluatorSide, GarblerSide};
use garblet_circuit::{Bits, Party, Program};
use garblet_client::Server;
use garblet_cut_and_choose as cut_and_choose;
use garblet_net::Mesh;
use garblet_outsourced::{
    ChangedServer, Client, Config, FormPlan, NAME, Outsourced, Plan, Receipts, Seat, ServerRole, Step,
};
use garblet_protocol::{
    MeshSession, Protocol, ProtocolError,
    conduct::Conduct,
    protocol::{BoxedRole, Request},
    stock::{SavedValues, Stock},
};
use garblet_store::Store;
use garblet_yao as yao;

use crate::{Outputs, run::run_all};

/// A deviation of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerDeviation {
    /// It flips a dealt bit, at this place among shares, pads and the masks of hashes.
    OtherBit(usize),
    /// It sends another challenge than the client chose.
    OtherChallenge,
    /// It proves other bits, or sends the hash of other bits instead of a proof.
    OtherProof,
    /// It sends the first client's proof, or hash, for the last client too.
    RepeatedProof,
    /// It flips the mask of bit `bit` of all hashes, at this place, and sends the dealt hash.
    HiddenMask {
        /// The place among shares, pads and the masks of hashes.
        place: usize,
        /// The bit among all hashes.
        bit: usize,
    },
    /// It sends these bytes instead of each verdict.
    OtherVerdict([u8; 2]),
    /// It sends the first client other versions of the states, or another session.
    OtherStandings,
    /// It answers with another output.
    OtherAnswer,
    /// It answers with another history of the state.
    OtherHistory,
}

/// A deviation of a client, in one byte of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientDeviation {
    /// The message is for another job.
    OtherJob(Server),
    /// The counter was used.
    OldCounter(Server),
    /// The seed does not belong to the hash that the other server has.
    OtherSeed(Server),
    /// It commits to another challenge than it chooses.
    OtherCommitment(Server),
    /// It sends the other server another challenge than it commits to.
    OtherChallenge(Server),
    /// The hash does not match the bits that it deals.
    OtherHash(Server),
    /// The cloud's share does not match the hash.
    OtherShare,
}

impl ClientDeviation {
    /// The server whose message is changed, and the byte, counted from the end if negative.
    fn place(self) -> (Server, isize) {
        match self {
            Self::OtherJob(server) => (server, 0),
            Self::OldCounter(server) => (server, 32),
            Self::OtherSeed(server) => (server, 40),
            Self::OtherCommitment(server) => (server, 56),
            Self::OtherChallenge(server) => (server, 88),
            Self::OtherHash(server) => (server, 104),
            Self::OtherShare => (Server::Cloud, -1),
        }
    }
}

/// The conduct of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cheat {
    /// It follows the protocol.
    None,
    /// A server's.
    Server(ServerDeviation),
    /// A client's.
    Client(ClientDeviation),
}

impl Conduct<Step> for Cheat {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        match (*self, step) {
            (Cheat::Server(ServerDeviation::OtherChallenge), Step::Challenges)
            | (Cheat::Server(ServerDeviation::OtherProof), Step::Proofs) => bytes[0] ^= 1,
            (Cheat::Server(ServerDeviation::RepeatedProof), Step::Proofs) => {
                let half = bytes.len() / 2;
                bytes.copy_within(..half, half);
            }
            (Cheat::Server(ServerDeviation::HiddenMask { bit, .. }), Step::Proofs) => bytes[bit / 8] ^= 1 << (bit % 8),
            (Cheat::Server(ServerDeviation::OtherVerdict(verdict)), Step::Verdict) => bytes.copy_from_slice(&verdict),
            (Cheat::Server(ServerDeviation::OtherStandings), Step::Standings) if index == 0 => {
                bytes.last_mut().into_iter().for_each(|byte| *byte ^= 1);
            }
            (Cheat::Server(ServerDeviation::OtherAnswer), Step::Answer) if index == 0 => bytes[73] ^= 1,
            (Cheat::Server(ServerDeviation::OtherHistory), Step::Answer) if index == 0 => bytes[41] ^= 1,
            (Cheat::Client(deviation), Step::Submission) => {
                let (server, place) = deviation.place();
                if index == usize::from(server == Server::Cloud) {
                    let place = if place < 0 { bytes.len() - place.unsigned_abs() } else { place.unsigned_abs() };
                    bytes[place] ^= 1;
                }
            }
            _ => {}
        }
    }

    fn input(&mut self, _: usize, bits: &mut Bits) {
        if let Cheat::Server(ServerDeviation::OtherBit(place) | ServerDeviation::HiddenMask { place, .. }) = *self {
            bits.set(place, !bits.get(place));
        }
    }
}

/// Runs all parties, each with its conduct, and returns their results.
///
/// # Panics
/// If the protocol cannot run the program.
pub fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    cheats: &[Cheat],
    seed: u64,
) -> Vec<Result<Outputs, ProtocolError>> {
    let stores = cheats.iter().map(|_| None).collect();
    run_saving(program, inputs, (config, SavedValues::default()), cheats, stores, seed)
}

/// The same for runs that read and keep states. Each party may have a store.
///
/// # Panics
/// If the protocol cannot run the program.
pub fn run_saving(
    program: &Arc<Program>,
    inputs: &[Bits],
    (config, saved): (Config, SavedValues),
    cheats: &[Cheat],
    stores: Vec<Option<Store>>,
    seed: u64,
) -> Vec<Result<Outputs, ProtocolError>> {
    let parties = cheats.len() as u16;
    let request = Request { program: program.clone(), parties, config, saved };
    let plan = Arc::new(Outsourced::plan(&request).expect("it can be run"));
    let is_read = |port: &str| request.saved.read.iter().any(|read| read.port == port);
    let own = |party| {
        let own = program.inputs().iter().zip(inputs);
        let own = own.filter(|(input, _)| input.owner == Party(party) && !is_read(&input.port.name));
        own.map(|(_, value)| value.clone()).collect()
    };
    let conducts = cheats.iter().copied().zip(stores);
    let all = (0..).zip(conducts).map(|(party, conduct)| (own(party), conduct)).collect();
    let part =
        async |session: &mut MeshSession, party, (cheat, store)| set_up(session, &plan, party, store, cheat).await;
    run_all(NAME, (program, seed), all, part)
}

/// A party of any base.
async fn set_up(
    session: &mut MeshSession,
    plan: &FormPlan,
    party: Party,
    store: Option<Store>,
    cheat: Cheat,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    match plan {
        FormPlan::Shares(plan) => {
            let (plan, server) = (plan.clone(), plan.server(party));
            let stock = |store| Stock {
                store,
                peer: "all".into(),
                order: Amounts::default(),
                top_up: true,
                fill_first: false,
                retries: None,
            };
            Ok(match server {
                Some(server @ Server::Generator) => Box::new(
                    ServerRole::<GarblerSide, _>::set_up(session, plan, server, store.map(stock), cheat).await?,
                ),
                Some(server @ Server::Cloud) => Box::new(
                    ServerRole::<EvaluatorSide, _>::set_up(session, plan, server, store.map(stock), cheat).await?,
                ),
                None => {
                    let receipts = store.map(|store| Receipts::new(store, "all")).transpose()?;
                    Box::new(Client::new(plan, party, receipts, cheat))
                }
            })
        }
        FormPlan::OverCircuits(plan) => {
            changed::<cut_and_choose::Garbler, cut_and_choose::Evaluator>(session, plan, party, cheat).await
        }
        FormPlan::OverYao(plan) => changed::<yao::Garbler, yao::Evaluator>(session, plan, party, cheat).await,
        FormPlan::PartialGc(_) => panic!("its own tests deviate from it"),
    }
}

/// A party whose servers run a changed program as `G` and `C`.
async fn changed<G: Seat, C: Seat<Plan = G::Plan>>(
    session: &mut MeshSession,
    plan: &Arc<Plan<G::Plan>>,
    party: Party,
    cheat: Cheat,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    let plan = plan.clone();
    Ok(match plan.server(party) {
        Some(Server::Generator) => Box::new(ChangedServer::<G, _>::set_up(session, plan, cheat).await?),
        Some(Server::Cloud) => Box::new(ChangedServer::<C, _>::set_up(session, plan, cheat).await?),
        None => Box::new(Client::new(plan, party, None, cheat)),
    })
}
