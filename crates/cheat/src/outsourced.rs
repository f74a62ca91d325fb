//! Deviations from `outsourced`.

use std::{sync::Arc, time::Duration};

use garblet_authenticated::{Amounts, Config, EvaluatorSide, GarblerSide};
use garblet_circuit::{Bits, Party, Program};
use garblet_client::Server;
use garblet_net::{Hello, Mesh};
use garblet_outsourced::{Client, NAME, Plan, Receipts, ServerRole, Step};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    MeshSession, ProtocolError, Role, Session,
    conduct::Conduct,
    stock::{SavedValues, Stock},
};
use garblet_store::Store;

use crate::Outputs;

/// A deviation of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerDeviation {
    /// It takes another bit than it was dealt, at that place among shares, pads and what hides hashes.
    OtherBit(usize),
    /// It tells another challenge than the client chose.
    OtherChallenge,
    /// Its proof is of other bits.
    OtherProof,
    /// It tells the first client that states stand otherwise, or that the session is another one.
    OtherStandings,
    /// It answers another output.
    OtherAnswer,
    /// It answers with another history of the state.
    OtherHistory,
}

/// A deviation of a client: a byte of a message that is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientDeviation {
    /// The message is for another job.
    OtherJob(Server),
    /// The counter was used.
    OldCounter(Server),
    /// The seed is not that of the hash which the other server has.
    OtherSeed(Server),
    /// It commits to another challenge than it chooses.
    OtherCommitment(Server),
    /// It tells the other server another challenge than it commits to.
    OtherChallenge(Server),
    /// The hash is not that of what it deals.
    OtherHash(Server),
    /// The cloud's share is not that of the hash.
    OtherShare,
}

impl ClientDeviation {
    /// The server whose message is changed, and the byte; from the end if negative.
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
    /// As the protocol says.
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
        if let Cheat::Server(ServerDeviation::OtherBit(place)) = *self {
            bits.set(place, !bits.get(place));
        }
    }
}

/// Runs all parties, each with its conduct; what each came to.
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

/// The same for runs that read and keep states, with a store for each party.
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
    let plan = Arc::new(Plan::new(program.clone(), parties, config, saved).expect("it can be run"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime without threads needs nothing that could be missing");
    runtime.block_on(async {
        let mut lives = Vec::new();
        for ((mut mesh, &cheat), store) in Mesh::memory(parties).into_iter().zip(cheats).zip(stores) {
            mesh.set_timeout(Duration::from_secs(20));
            let party = Party(mesh.party());
            let own = plan.program().inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
            let own: Vec<Bits> = own.map(|(_, value)| value.clone()).collect();
            let hello = Hello::new(NAME, party.0, parties, program.digest());
            let plan = plan.clone();
            let stock =
                |store| Stock { store, peer: "all".into(), order: Amounts::default(), top_up: true, fill_first: false };
            lives.push(tokio::spawn(async move {
                let rng = Prg::new(Block::from_halves(seed, party.0.into()));
                let mut session = Session::join(mesh, rng, &hello, Box::new(())).await?;
                let last = Party(parties - 1);
                let ran = match party {
                    Party(0) => {
                        let role = ServerRole::<GarblerSide, _>::set_up(
                            &mut session,
                            plan,
                            Server::Generator,
                            store.map(stock),
                            cheat,
                        );
                        live(role.await, &mut session, &own).await
                    }
                    party if party == last => {
                        let role = ServerRole::<EvaluatorSide, _>::set_up(
                            &mut session,
                            plan,
                            Server::Cloud,
                            store.map(stock),
                            cheat,
                        );
                        live(role.await, &mut session, &own).await
                    }
                    party => {
                        let receipts = store.map(|store| Receipts::new(store, "all")).transpose();
                        let client = receipts.map(|receipts| Client::new(plan, party, receipts, cheat));
                        live(client, &mut session, &own).await
                    }
                };
                match ran {
                    Ok(outputs) => session.close().await.map(|()| outputs),
                    Err(error) => {
                        session.abort(&error).await;
                        Err(error)
                    }
                }
            }));
        }
        let mut results = Vec::new();
        for life in lives {
            results.push(life.await.unwrap_or(Err(ProtocolError::WorkerLost)));
        }
        results
    })
}

async fn live<R: Role<Mesh>>(
    role: Result<R, ProtocolError>,
    session: &mut MeshSession,
    own: &[Bits],
) -> Result<Outputs, ProtocolError> {
    role?.run(session, own).await
}
