//! Silent OT gives the same shares as the extension, at the stated cost, in sessions with and without stores.

use garblet_ot::OtError;
use garblet_protocol::{Phase, conduct::Honest, parameters::OtKind};

use super::{triples::values, *};
use crate::{
    config::SILENT_FROM,
    many::{NAME, cost, plan::Setting},
    tests::put_back::open,
};

fn config(parties: u16) -> Config {
    Config { ot: OtKind::Silent, evaluator: parties - 1, ..Config::default() }
}

fn setting(parties: u16) -> Setting {
    Setting::new(parties, config(parties)).expect("a party evaluates")
}

/// All batches, made by silent OT in one session, into one supply, and the costs.
fn make_silently<K: Conduct<Step>>(
    parties: u16,
    seed: u64,
    sizes: &[(Option<Batch>, usize)],
    conduct: impl Fn(Party) -> K,
) -> Vec<Result<(Made, PhaseCosts), ProtocolError>> {
    all(parties, seed, async |session, party| {
        let plan = Plan::new(product(), parties, config(parties))?;
        let mut ground = Ground::set_up(session, &plan, party, Any::new(conduct(party))).await?;
        ground.begin_ots(session, setting(parties), SILENT_FROM).await?;
        let mut supply = Supply::with_room(parties, 0, 0);
        session.enter(Phase::Prepare);
        for &(batch, masks) in sizes {
            // Once silent, always silent.
            ground.begin_ots(session, setting(parties), 1).await?;
            let triples = batch.map_or(0, |batch: Batch| batch.triples as usize);
            ground.make(session, (batch, triples, masks), &mut supply).await?;
        }
        Ok((Made { ground, supply }, session.costs()))
    })
}

#[test]
fn shares_fit_and_triples_are_products_at_the_stated_cost() {
    for (parties, sizes) in [
        (3, vec![(Some(Batch { triples: 700, bucket: 3 }), 7), (None, 300)]),
        (4, vec![(Some(Batch { triples: 9, bucket: 2 }), 130)]),
    ] {
        let made = make_silently(parties, 1, &sizes, |_| Honest);
        let (made, costs): (Vec<Made>, Vec<PhaseCosts>) =
            made.into_iter().map(|made| made.expect("all are honest")).unzip();
        let [a, b, c] = [0, 1, 2].map(|factor| {
            values(&made, |made| {
                let Triples { a, b, c } = &made.supply.triples;
                [a, b, c][factor]
            })
        });
        assert!((0..a.len()).all(|at| c[at] == (a[at] & b[at])), "{parties} parties");
        assert!(a.len() < 100 || [&a, &b].iter().all(|bits| bits.contains(&true) && bits.contains(&false)));
        assert_eq!(values(&made, |made| &made.supply.masks).len(), sizes.iter().map(|(_, masks)| masks).sum::<usize>());
        for (party, costs) in (0..).map(Party).zip(costs) {
            let stated: u64 =
                sizes.iter().map(|&(batch, masks)| cost::batch_bytes(config(parties), batch, masks as u64, true)).sum();
            let prepared = costs.of(Phase::Prepare).communication;
            let peers = u64::from(parties) - 1;
            assert_eq!([prepared.bytes_sent, prepared.bytes_received], [peers * stated; 2], "party {party}");
            let rounds: u64 = sizes
                .iter()
                .map(|&(batch, masks)| cost::batch_rounds((party, parties), batch, masks as u64, true))
                .sum();
            assert_eq!(prepared.rounds, rounds, "party {party} of {parties}");
        }
    }
}

#[test]
fn programs_of_many_gates_take_silent_ots_at_the_stated_cost() {
    let program = garblet_synthesis::library::find("lib:layered(2, 17000)").expect("known");
    let plan = Arc::new(Plan::new(Arc::new(program), 3, config(3)).expect("it can be run"));
    let inputs: Vec<Bits> =
        plan.program().inputs().iter().map(|input| Bits::zeros(input.port.width() as usize)).collect();
    let hellos = mesh_run::hellos(3);
    for (party, ran) in (0..).map(Party).zip(run(&plan, 5, &inputs, |_| Honest)) {
        let (outputs, costs) = ran.expect("all are honest");
        assert!(outputs == learned(&plan, party, &inputs), "{party}");
        for phase in Phase::ALL {
            let stated = cost::communication(&plan, party, phase, &hellos);
            assert_eq!(costs.of(phase).communication, stated, "{party}, {phase:?}");
        }
    }
}

/// Fills a party's store with masks; returns the costs, and the state that is left.
async fn fill(
    session: &mut MeshSession,
    (party, parties, config): (Party, u16, Config),
    store: garblet_store::Store,
    masks: u64,
) -> Result<(PhaseCosts, Vec<u8>), ProtocolError> {
    let setting = Setting::new(parties, config)?;
    let agreed = (setting, setting.digest(([0; 32], [0; 32])));
    let mut ground = Ground::meet(session, agreed, party, (store, "all others"), Any::new(Honest)).await?;
    ground.fill(session, setting, Amounts { triples: 0, masks }).await?;
    let store = ground.stock.expect("it has one").store;
    Ok((session.costs(), store.state(NAME).expect("they have met").bytes.to_vec()))
}

fn fill_all(
    folder: &std::path::Path,
    config: Config,
    masks: u64,
    seed: u64,
) -> Vec<Result<(PhaseCosts, Vec<u8>), ProtocolError>> {
    all(3, seed, async |session, party| {
        let store = open(&folder.join(party.to_string()), 10 * seed + u64::from(party.0));
        fill(session, (party, 3, config), store, masks).await
    })
}

/// Every meeting begins with first OTs of its own, from the same leaves: nothing of silent OT is on disk. Stores for silent OT are for no other.
#[test]
fn a_meeting_makes_its_own_first_ots_and_a_store_is_for_one_kind_of_ot() {
    let folder = tempfile::tempdir().expect("a folder");
    let of_all = |masks, seed| -> Vec<_> {
        let filled = fill_all(folder.path(), config(3), masks, seed);
        filled.into_iter().map(|filled| filled.expect("all are honest")).collect()
    };
    let few = of_all(32, 1);
    let many = of_all(SILENT_FROM, 2);
    for ((costs, state), (_, before)) in many.iter().zip(&few) {
        assert!(state == before, "the state is what the first meeting left");
        let sent = costs.of(Phase::Setup).communication.bytes_sent;
        let first = 2 * cost::first_silent_bytes();
        assert!((first..first + 5_000).contains(&sent), "{sent} bytes for the first OTs");
    }
    let extension = Config { ot: OtKind::Extension, ..config(3) };
    for refused in fill_all(folder.path(), extension, 32, 3) {
        let error = refused.expect_err("it is for silent OT").to_string();
        assert!(error.contains("silent OT"), "{error}");
    }
}

/// A check of silent OT that fails ends the store, as every check does, and names whom it is the check of.
#[test]
fn stores_are_given_up_after_a_false_share_of_a_coin() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = all(3, 6, async |session, party| {
        let store = open(&folder.path().join(party.to_string()), party.0.into());
        if party != Party(0) {
            return fill(session, (party, 3, config(3)), store, SILENT_FROM).await.map(drop);
        }
        let agreed = (setting(3), setting(3).digest(([0; 32], [0; 32])));
        let mut ground = Ground::meet(session, agreed, party, (store, "all others"), Any::new(Honest)).await?;
        ground.begin_ots(session, setting(3), SILENT_FROM).await?;
        let nothing = session.mesh().per_peer(|_| ());
        let lie = async |_: u16, mut line: garblet_net::Line, ()| {
            line.send_bytes(&[1; 32]).await?;
            line.receive_bytes(&mut [0; 32]).await?;
            line.send_bytes(&[1; 64]).await?;
            line.flush().await
        };
        session.mesh().each(nothing, lie).await?;
        Err(ProtocolError::Over)
    });
    let found = |error: &ProtocolError| {
        matches!(error, ProtocolError::Peer { party: Party(0), source }
            if matches!(**source, ProtocolError::Ot(OtError::CoinOpening)))
    };
    let finders: Vec<usize> = (1..3).filter(|&at| ended[at].as_ref().err().is_some_and(found)).collect();
    assert!(!finders.is_empty(), "{:?}", ended.iter().map(|ended| ended.as_ref().err()).collect::<Vec<_>>());
    for (at, refused) in
        fill_all(folder.path(), config(3), 32, 7).into_iter().enumerate().filter(|(at, _)| finders.contains(at))
    {
        let error = refused.expect_err("the store was given up").to_string();
        assert!(error.contains("given up"), "party {at}: {error}");
    }
}
