//! Parties that are killed at any point of preparing and computing: no gate that was made before the function was known is
//! used twice, and the next run succeeds.

use std::sync::Arc;

use garblet::{
    Bits, Session,
    circuit::evaluate,
    lego::{Amounts, Config, Constructor, Evaluator, Order, Plan, allow_unfinished},
    library,
    store::{IdSet, PieceId, Store},
};

use crate::killing::{Ended, Log, child as process, kill_whenever};

/// The amounts that the stores are filled up to: some runs of the function below.
const WANTED: Amounts = Amounts { gates: 600, inputs: 64, input_pairs: 32, outputs: 40 };

fn each(pieces: &[(&'static str, IdSet)]) -> Vec<(String, u64)> {
    pieces.iter().flat_map(|(kind, ids)| ids.iter().map(|PieceId(id)| (kind.to_string(), id))).collect()
}

/// One party's whole life: fills its store up, and computes.
async fn live(party: u16, mut store: Store, mut session: Session, log: Log) -> Ended {
    let config = Config::default();
    let program = Arc::new(library::find("lib:add(8)")?);
    let plan = Arc::new(Plan::new(program.clone(), config)?);
    let values = [Bits::from_u128(37, 8), Bits::from_u128(210, 8)];
    let own = &values[usize::from(party)..][..1];
    // Nobody cheats here: orders are left unfinished because their makers are killed.
    allow_unfinished(&mut store)?;
    let outputs = if party == 0 {
        let mut role = Constructor::meet(&mut session, config, store, "test").await?;
        if let Some(short) = WANTED.short_of(&role.stock(), 50) {
            role.fill(&mut session, &Order::new(short, config)?).await?;
        }
        let mut prepared = role.prepare(&mut session, plan).await?;
        log.write(&each(prepared.pieces()))?;
        role.build(&mut session, &mut prepared).await?;
        role.online(&mut session, prepared, own).await?
    } else {
        let mut role = Evaluator::meet(&mut session, config, store, "test").await?;
        if let Some(short) = WANTED.short_of(&role.stock(), 50) {
            role.fill(&mut session, &Order::new(short, config)?).await?;
        }
        let mut prepared = role.prepare(&mut session, plan).await?;
        log.write(&each(prepared.pieces()))?;
        role.build(&mut session, &mut prepared).await?;
        role.online(&mut session, prepared, own).await?
    };
    session.close().await?;
    let expected: Vec<Option<Bits>> = evaluate(&program, &values).into_iter().map(Some).collect();
    if outputs == expected { Ok(()) } else { Err("a wrong sum".into()) }
}

/// The entry of a party's process.
#[test]
fn child() {
    process(live);
}

#[test]
fn no_gate_is_used_twice_whoever_is_killed_whenever() {
    let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 240 } else { 12 };
    kill_whenever("lego::child", 2, kills, 2 * 2 * 7);
}
