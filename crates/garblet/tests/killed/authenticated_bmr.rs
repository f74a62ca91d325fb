//! Several malicious parties that are killed at any point of preparing, computing and keeping: no triple or mask is used twice, a test that was left open is
//! settled when they meet again, what is kept is that of one run at all parties, and the next run succeeds.

use std::sync::Arc;

use garblet::{
    Bits, Error, MeshSession, Party, ReadInput, Role, SavedValues,
    authenticated::{
        Amounts,
        many::{Config, Drawing, Member, Plan},
    },
    library,
    store::Store,
};
use garblet_protocol::{conduct::Honest, kept};

use crate::killing::{Ended, Log, child as process, kill_whenever};

const PARTIES: u16 = 3;

/// The amounts that the stores are filled up to: some runs of the function below.
const WANTED: Amounts = Amounts { triples: 48, masks: 96 };

/// One party's whole life: fills its store up, keeps a sum, and reads it.
async fn live(party: u16, store: Store, mut session: MeshSession, log: Log) -> Ended {
    match compute(party, store, &mut session, &log).await {
        Ok(()) => {
            session.close().await?;
            Ok(())
        }
        Err(error) => {
            session.abort(&error).await;
            Err(error.into())
        }
    }
}

async fn compute(party: u16, store: Store, session: &mut MeshSession, log: &Log) -> Result<(), Error> {
    let program = Arc::new(library::find("lib:add(8)").expect("in the library"));
    let config = Config { evaluator: 2, ..Config::default() };
    let saved = SavedValues { keep: Some("sum".into()), read: Vec::new() };
    let plan = Arc::new(Plan::saving(program.clone(), PARTIES, config, (&[], true))?);
    let drawing = Drawing { store, peers: "test", top_up: false, saved, retries: u32::MAX - 1 };
    let mut member = Member::meet(session, plan, Party(party), drawing, Honest).await?;
    if let Some(short) = WANTED.short_of(member.stock(), 50) {
        member.fill(session, short).await?;
    }
    let drawn = member.draw(session).await?;
    let pieces = drawn.pieces();
    let each = pieces.iter().flat_map(|(kind, ids)| ids.iter().map(|id| (kind.to_string(), id.0)));
    log.write(&each.collect::<Vec<_>>()).expect("a log that can be written");
    let prepared = member.build(session, drawn).await?;
    let values = [Bits::from_u128(37, 8), Bits::from_u128(210, 8)];
    let own = values.get(usize::from(party)..).and_then(|values| values.get(..1)).unwrap_or_default();
    let outputs = member.online(session, prepared, own).await?;
    assert_eq!(outputs, [Some(Bits::from_u128(247, 8))]);
    match member.late_error() {
        Some(error) => return Err(error),
        None => read(session, member, party).await?,
    }
    Ok(())
}

/// Reads what was kept: all have the same.
async fn read(session: &mut MeshSession, member: Member, party: u16) -> Result<(), Error> {
    let program = Arc::new(library::find("lib:add(8)").expect("in the library"));
    let port = program.inputs()[0].port.name.clone();
    let saved = SavedValues { keep: None, read: vec![ReadInput { port, name: "sum".into(), output: None }] };
    let config = Config { evaluator: 2, ..Config::default() };
    let plan = Arc::new(Plan::saving(program, PARTIES, config, (&[0], false))?);
    let store = member.into_store().ok_or_else(kept::no_store)?;
    let drawing = Drawing { store, peers: "test", top_up: true, saved, retries: kept::RETRIES };
    let mut member = Member::meet(session, plan, Party(party), drawing, Honest).await?;
    let own: &[Bits] = if party == 1 { &[Bits::from_u128(5, 8)] } else { &[] };
    let outputs = member.run(session, own).await?;
    assert_eq!(outputs, [Some(Bits::from_u128(252, 8))], "what all kept");
    Ok(())
}

/// The entry of a party's process.
#[test]
fn child() {
    process(live);
}

#[test]
fn no_triple_is_used_twice_whoever_is_killed_whenever() {
    let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 240 } else { 12 };
    kill_whenever("authenticated_bmr::child", PARTIES, kills, 2 * 3 * usize::from(PARTIES));
}
