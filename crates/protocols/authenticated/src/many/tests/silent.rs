//! Silent OT gives the same shares as the extension, at the stated cost; whoever corrects otherwise by link is found.

use garblet_net::testing::{Direction, Fault, Frame, FrameKind, flip_of_bulk, intercepted_pair};
use garblet_ot::OtError;
use garblet_protocol::{Phase, checks::Unattributed, conduct::Honest, parameters::OtKind};

use super::{
    lies::{Change, Watched},
    triples::values,
    *,
};
use crate::{
    config::{LPN, SILENT_FROM},
    many::{NAME, checks::ECHO, cost, plan::Setting},
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

/// Party 0 corrects to another bit towards party 1.
#[derive(Default)]
struct Otherwise {
    is_cheat: bool,
    /// Set if it tells everybody the hash of what it has towards party 1; otherwise it tells each party what it has there.
    tells_the_same: bool,
    told: Option<[u8; 16]>,
}

impl Conduct<Step> for Otherwise {
    fn touch(&mut self, step: Step, peer: usize, bytes: &mut [u8]) {
        match step {
            Step::Bits if self.is_cheat && peer == 1 => bytes[2] ^= 4,
            Step::Answers if self.is_cheat && self.tells_the_same => {
                let (hash, _) = bytes.split_first_chunk_mut().expect("an answer begins with a hash");
                *hash = *self.told.get_or_insert(*hash);
            }
            _ => {}
        }
    }
}

/// The errors of all parties if party 0 corrects to another bit towards party 1.
fn with_other_bits(parties: u16, tells_the_same: bool) -> Vec<ProtocolError> {
    let conduct = |party| Otherwise { is_cheat: party == Party(0), tells_the_same, told: None };
    let ended = make_silently(parties, 3, &[(Some(Batch { triples: 8, bucket: 2 }), 0)], conduct);
    ended.into_iter().map(|ended| ended.err().expect("somebody cheats")).collect()
}

#[test]
fn whoever_corrects_otherwise_on_one_link_and_says_so_there_is_found_by_what_others_heard() {
    let errors = with_other_bits(3, false);
    let found = |error: &&ProtocolError| {
        matches!(error, ProtocolError::Unattributed(Unattributed { check, detail })
            if *check == ECHO && detail.starts_with("the digests of the hashes of all parties' bits"))
    };
    assert!(errors[1..].iter().any(|error| found(&error)), "{errors:?}");
    assert!(errors.iter().all(|error| !matches!(error, ProtocolError::Peer { source, .. } if source.is_evidence())));
}

#[test]
fn whoever_corrects_otherwise_on_one_link_and_denies_it_is_found_there() {
    let errors = with_other_bits(3, true);
    let found = |error: &ProtocolError| {
        matches!(error, ProtocolError::Peer { party: Party(0), source }
            if matches!(**source, ProtocolError::Ot(OtError::InconsistentChoices)))
    };
    // All heard the hash of the bits towards party 1, so those towards party 2 do not have it.
    assert!(found(&errors[2]), "{:?}", errors[2]);
    assert!(!found(&errors[1]), "{:?}", errors[1]);
}

#[test]
fn a_false_hash_of_macs_is_found_by_whom_it_is_told() {
    let lie = Change { step: Step::Answers, to: Some(2), at: 16, error: vec![1] };
    let conduct = |party| Watched {
        changes: if party == Party(0) { vec![lie.clone()] } else { Vec::new() },
        ..Watched::default()
    };
    let made = make_silently(3, 4, &[(None, 100)], conduct);
    let error = made[2].as_ref().err().expect("party 0 cheats");
    assert!(
        matches!(error, ProtocolError::Peer { party: Party(0), source }
        if matches!(**source, ProtocolError::Ot(OtError::InconsistentChoices))),
        "{error}"
    );
    assert!(made[0].is_err() && made[1].is_err());
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

/// Parties that make 100 masks by silent OT, where a message may be changed on its way between the first two, and all frames between them.
fn with_fault(fault: Option<Fault>) -> (Vec<Result<(), ProtocolError>>, Vec<Frame>) {
    let part = async |session: &mut MeshSession| {
        let party = Party(session.mesh().party());
        let plan = Plan::new(product(), 3, config(3))?;
        let mut ground = Ground::set_up(session, &plan, party, Any::new(Honest)).await?;
        ground.begin_ots(session, setting(3), SILENT_FROM).await?;
        ground.make(session, (None, 0, 100), &mut Supply::with_room(3, 0, 0)).await
    };
    block_on(async {
        let mut transcripts = Vec::new();
        let meshes = Mesh::of_pairs(3, |low, high| {
            let (one, two, transcript) = intercepted_pair(fault.filter(|_| (low, high) == (0, 1)));
            transcripts.push(transcript);
            (one, two)
        });
        (mesh_run::run(meshes, 1, TIMEOUT, part).await, transcripts[0].frames())
    })
}

/// The first bytes that party 0 sends to party 1: of the corrections of silent OT, of the answer, and of the query for the other direction.
fn places(frames: &[Frame]) -> [usize; 3] {
    let sent = frames.iter().filter(|frame| frame.direction == Direction::Forth && frame.kind == FrameKind::Bulk);
    let all: usize = sent.map(|frame| frame.payload.len()).sum();
    // After the query: a commitment, corrections to given bits, a share of the point, an answer, digests.
    let [_, share, opened, query, answer] = LPN.batch_messages(256).map(|bytes| bytes as usize);
    let queries = all - query - (32 + 32 + 64 + 2 * 16 + 32 + 32);
    let answers = queries - share - answer;
    [answers - (opened - 64), answers, queries]
}

/// The check of silent OT finds changed corrections half the time, and a changed answer always, and names the sender.
#[test]
fn corrections_and_answers_of_silent_ot_that_are_changed_on_their_way_are_found() {
    let (ended, frames) = with_fault(None);
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    let [corrections, answers, _] = places(&frames);
    let found = |at: usize| {
        let (ended, _) = with_fault(flip_of_bulk(&frames, Direction::Forth, at));
        match &ended[1] {
            Ok(()) => false,
            Err(ProtocolError::Peer { party: Party(0), source }) => {
                assert!(matches!(**source, ProtocolError::Ot(OtError::InconsistentLeaves)), "{source}");
                true
            }
            Err(other) => panic!("{at}: {other}"),
        }
    };
    assert!(found(answers), "the answer");
    assert!([corrections, corrections + 5_000, answers - 1].into_iter().any(found), "corrections");
}

/// A receiver that masks another sum of noise only loses its own check; the sender's answer is a hash, and the sender has nothing to judge.
#[test]
fn a_false_sum_of_noise_ends_the_check_of_whoever_told_it_and_nobody_else_has_evidence() {
    let (_, frames) = with_fault(None);
    let [_, _, queries] = places(&frames);
    let (ended, _) = with_fault(flip_of_bulk(&frames, Direction::Forth, queries + 16));
    let errors: Vec<ProtocolError> = ended.into_iter().map(|ended| ended.expect_err("it is over")).collect();
    let evidence = |error: &ProtocolError| match error {
        ProtocolError::Peer { party, source } if source.is_evidence() => Some((*party, source.to_string())),
        _ => None,
    };
    let leaves = ProtocolError::from(OtError::InconsistentLeaves).to_string();
    assert_eq!(evidence(&errors[0]), Some((Party(1), leaves)), "{errors:?}");
    assert_eq!(errors[1..].iter().map(evidence).collect::<Vec<_>>(), [None, None], "{errors:?}");
}
