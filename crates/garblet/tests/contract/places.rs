//! Programs whose gates are read while they run.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use garblet::{Bits, Config, Ends, Error, Party, Peer, Plan, Program, circuit::random, library};
use rand::{SeedableRng, rngs::StdRng};

use super::{all, inputs, name, own, protocols};

/// The gates in a block.
const BLOCK: u32 = 20;

/// The program, with gates that are gone after so many reads of a block are left.
fn losing(program: &Program, left: &Arc<AtomicUsize>) -> Program {
    let component = random::losing(&program.components()[0], BLOCK, left.clone()).expect("nothing is to simplify");
    Program::from_component(component, &[Party(0), Party(1)]).expect("it fits")
}

async fn run(plan: &Plan, party: Party, ends: Ends, inputs: &[Bits]) -> Result<Vec<Option<Bits>>, Error> {
    let rng = &mut StdRng::seed_from_u64(party.0.into());
    let mut peer = Peer::open(plan, party, ends, rng, Box::new(())).await?;
    let prepared = peer.prepare().await?;
    let report = peer.online(prepared, inputs).await?;
    peer.close().await.map(|()| report.outputs)
}

/// Either party may have its gates elsewhere, and lose them at any reading.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gates_that_are_gone_end_a_run_without_a_result() {
    let program = library::find("lib:add(16)").expect("known");
    let (inputs, blocks) = (inputs(&program), program.components()[0].circuit().gates().len().div_ceil(BLOCK as usize));
    for config in protocols().into_iter().filter(|protocol| protocol.reads_gates()).flat_map(|p| p.samples()) {
        for loser in [0, 1] {
            let left = Arc::new(AtomicUsize::new(usize::MAX));
            let plan = |program: &Program| Plan::new(program.clone(), 2, &config).expect("it is there");
            let plans =
                [0, 1].map(|party| plan(&if party == loser { losing(&program, &left) } else { program.clone() }));
            for reads in 0..=blocks {
                left.store(reads, Ordering::Relaxed);
                let ended = all(&config, |party, ends, _| {
                    let (plan, own) = (plans[usize::from(party.0)].clone(), own(&program, &inputs, party));
                    async move { run(&plan, party, ends, &own).await }
                })
                .await;
                let place = format!("{reads} of {blocks} for party {loser}, {}", name(&config));
                match &ended[loser] {
                    Ok(_) => assert!(reads == blocks && ended[1 - loser].is_ok(), "{place}"),
                    Err(error) => {
                        assert!(reads < blocks && error.to_string().contains("gates: are gone"), "{place}: {error}");
                        assert!(ended[1 - loser].is_err(), "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn gates_that_are_gone_are_an_error_of_a_plan() {
    let program = library::find("lib:add(16)").expect("known");
    let left = Arc::new(AtomicUsize::new(usize::MAX));
    let losing = losing(&program, &left);
    for protocol in protocols().into_iter().filter(|protocol| protocol.parties().contains(&2)) {
        left.store(1, Ordering::Relaxed);
        let error = Plan::new(losing.clone(), 2, &Config::of(protocol)).err().expect("they are gone");
        assert!(error.to_string().contains("gates: are gone"), "{protocol}: {error}");
    }
}
