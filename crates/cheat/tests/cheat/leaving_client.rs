//! A client of `outsourced` that leaves before it has its answer costs nobody else an output.

use std::sync::{Arc, OnceLock};

use garblet_authenticated::{EvaluatorSide, GarblerSide};
use garblet_circuit::{Bits, Party, evaluate};
use garblet_client::Server;
use garblet_net::{Hello, Mesh};
use garblet_outsourced::{Client, Config, FormPlan, NAME, Outsourced, ServerRole, Step};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    MeshSession, Protocol, ProtocolError, Role,
    conduct::{Conduct, Honest},
    protocol::Request,
    stock::SavedValues,
};
use tokio::task::AbortHandle;

use crate::outsourced::{inputs, program};

const CLIENT: usize = 1;

/// Ends the client's task when the server sends its challenges, which is after all submissions and before all answers.
struct EndsClient(Arc<OnceLock<AbortHandle>>);

impl Conduct<Step> for EndsClient {
    fn touch(&mut self, step: Step, _: usize, _: &mut [u8]) {
        if step == Step::Challenges {
            self.0.get().expect("the client has begun").abort();
        }
    }
}

/// A party's outputs, and the error that came after them.
async fn ran<R: Role<Mesh>>(
    mut role: R,
    session: &mut MeshSession,
    own: Bits,
) -> Result<(Vec<Option<Bits>>, Option<ProtocolError>), ProtocolError> {
    let outputs = role.run(session, &[own]).await?;
    Ok((outputs, role.late_error()))
}

#[tokio::test]
async fn a_client_that_leaves_before_its_answer_costs_nobody_else_an_output() {
    let program = program();
    let request =
        Request { program: program.clone(), parties: 4, config: Config::default(), saved: SavedValues::default() };
    let FormPlan::Shares(plan) = Outsourced::plan(&request).expect("it can be run") else { panic!("the default form") };
    let sum = evaluate(&program, &inputs())[0].clone();
    let ends = Arc::new(OnceLock::new());
    let mut lives = Vec::new();
    for (mesh, own) in Mesh::memory(4).into_iter().zip(inputs()) {
        let party = Party(mesh.party());
        let hello = Hello::new(NAME, party.0, 4, program.digest());
        let (plan, ends) = (plan.clone(), ends.clone());
        lives.push(tokio::spawn(async move {
            let mut session =
                MeshSession::join(mesh, Prg::new(Block::from_u128(party.0.into())), &hello, Box::new(())).await?;
            let session = &mut session;
            match plan.server(party) {
                Some(server @ Server::Generator) => {
                    let role =
                        ServerRole::<GarblerSide, _>::set_up(session, plan, server, None, EndsClient(ends)).await?;
                    ran(role, session, own).await
                }
                Some(server @ Server::Cloud) => {
                    let role = ServerRole::<EvaluatorSide, _>::set_up(session, plan, server, None, Honest).await?;
                    ran(role, session, own).await
                }
                None => ran(Client::new(plan, party, None, Honest), session, own).await,
            }
        }));
    }
    ends.set(lives[CLIENT].abort_handle()).expect("one client");
    for (party, life) in lives.into_iter().enumerate() {
        let ended = life.await;
        if party == CLIENT {
            assert!(ended.is_err_and(|error| error.is_cancelled()), "it left");
            continue;
        }
        let (outputs, late) = ended.expect("no panic").unwrap_or_else(|error| panic!("party {party}: {error}"));
        assert!(outputs[0] == Some(sum.clone()), "party {party}");
        assert_eq!(late.is_some(), party != 2, "party {party}: servers say that an answer did not arrive");
    }
}
