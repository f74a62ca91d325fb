//! Several parties that are killed at any point of preparing and computing: no run that was prepared before its inputs is
//! used twice, and the next succeeds.

use std::sync::Arc;

use garblet::{
    Bits, Error, MeshSession, Party,
    bmr::{BmrParty, Config, Plan, Prepared},
    circuit::evaluate,
    library,
    runs::{Purpose, RunStore, joint::JointParty},
    store::Store,
};

use crate::killing::{Ended, Log, child as process, kill_whenever};

const PARTIES: u16 = 3;

/// Runs that the stores are filled up to.
const WANTED: u64 = 3;

/// One party's whole life: fills its store up, and computes.
async fn live(party: u16, store: Store, mut session: MeshSession, log: Log) -> Ended {
    let program = Arc::new(library::find("lib:add(8)")?);
    let plan = Arc::new(Plan::new(program.clone(), PARTIES, Config::default())?);
    let values = [Bits::from_u128(37, 8), Bits::from_u128(210, 8)];
    let own = values.get(usize::from(party)..).and_then(|values| values.get(..1)).unwrap_or_default();
    let result = compute(party, store, &mut session, &plan, own, &log).await;
    let outputs = match result {
        Ok(outputs) => outputs,
        Err(error) => {
            session.abort(&error).await;
            return Err(error.into());
        }
    };
    session.close().await?;
    let expected: Vec<Option<Bits>> = evaluate(&program, &values).into_iter().map(Some).collect();
    if outputs == expected { Ok(()) } else { Err("a wrong sum".into()) }
}

async fn compute(
    party: u16,
    store: Store,
    session: &mut MeshSession,
    plan: &Arc<Plan>,
    own: &[Bits],
    log: &Log,
) -> Result<Vec<Option<Bits>>, Error> {
    let purpose =
        Purpose { program: plan.program(), schedule: plan.schedule().digest(), protocol: "bmr".into(), peers: "test" };
    let mut runs = RunStore::meet(session, store, &purpose).await?;
    if runs.ready() < 2 {
        let mut bmr = BmrParty::setup(session, plan.clone()).await?;
        while runs.ready() < WANTED {
            let run = bmr.prepare(session).await?;
            runs.keep::<Prepared>(plan, Party(party), &run)?;
        }
    }
    let (id, run) = runs.take::<Prepared>(plan, Party(party))?;
    log.write(&[("run".into(), id.0)]).expect("a log that can be written");
    BmrParty::online(run, plan, session, own).await
}

/// The entry of a party's process.
#[test]
fn child() {
    process(live);
}

#[test]
fn no_run_is_used_twice_whoever_is_killed_whenever() {
    let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 240 } else { 12 };
    kill_whenever("runs::child", PARTIES, kills, 2 * usize::from(PARTIES));
}
