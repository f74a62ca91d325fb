//! Silent OT makes the same circuits, at the stated cost.

use garblet_circuit::{Recipients, random};
use garblet_ot::BitVec;
use garblet_protocol::{Phase, parameters::OtKind};
use garblet_runs::testing::mesh_run::hellos;
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    config::SILENT_FROM,
    linear::Linear,
    pairs::{Count, PairOts},
    party::Rows,
};

fn silent(form: Form) -> Config {
    Config { form, ot: OtKind::Silent, ..Config::default() }
}

fn layered(ands: usize) -> Program {
    library::find(&format!("lib:layered(2, {ands})")).expect("known")
}

#[test]
fn programs_of_many_gates_take_silent_ots_at_the_stated_cost() {
    let mut program = layered(SILENT_FROM + 1);
    let inputs = random::inputs(&mut StdRng::seed_from_u64(8), &program);
    let expected = garblet_circuit::evaluate(&program, &inputs);
    for (form, parties, learns) in
        [(Form::HalfGates, 2, 1), (Form::HalfGates, 4, 1), (Form::Linear, 3, 0), (PUBLISHED, 2, 0)]
    {
        let recipients: Vec<Party> = [learns, parties - 1].map(Party).into();
        program.set_recipients(0, Recipients::Only(recipients.clone()));
        let plan = plan(&program, parties, silent(form)).expect("a program for these parties");
        let learned = evaluate(&plan, garble(&plan, 1), &inputs);
        mesh_run::assert_costs::<BmrParty>(&plan, learned.iter().map(|(_, costs)| costs));
        for (party, (outputs, _)) in (0..).map(Party).zip(&learned) {
            let output = recipients.contains(&party).then(|| expected[0].clone());
            assert!(outputs[0] == output, "party {party} of {parties}, {form:?}");
        }
    }
}

#[test]
fn programs_of_fewer_gates_cost_the_same_as_with_the_extension() {
    let program = layered(SILENT_FROM - 1);
    for form in [Form::HalfGates, Form::Linear, PUBLISHED] {
        let extension = Config { form, ..Config::default() };
        let [silent, extension] = [silent(form), extension].map(|config| plan(&program, 3, config).expect("it fits"));
        for phase in [Phase::Setup, Phase::Prepare] {
            let [silent, extension] =
                [&silent, &extension].map(|plan| communication(plan, Party(0), phase, &hellos(3)));
            assert_eq!(silent, extension, "{form:?}");
        }
    }
}

/// The bytes that a garbler, the evaluator and a party of the linear form send for each gate.
#[test]
fn a_million_gates_cost_what_the_book_says() {
    let program = library::find("lib:layered(100, 1000000)").expect("known");
    for (form, party, stated) in [(Form::HalfGates, 1, 97.0), (Form::HalfGates, 0, 0.5), (Form::Linear, 0, 257.1)] {
        let plan = plan(&program, 3, silent(form)).expect("it fits");
        let sent = |phase| communication(&plan, Party(party), phase, &hellos(3)).bytes_sent;
        let sent = (sent(Phase::Prepare) + sent(Phase::Build)) as f64 / 1e6;
        assert!((sent - stated).abs() < 0.1, "{form:?}, party {party}: {sent} bytes per gate");
    }
}

/// Bit 0 of silent OTs is zero or the choice; others than the pair must not see that in sums.
#[test]
fn bit_0_of_an_ot_is_random_for_both_parties_of_a_pair() {
    const OTS: usize = 5_000;
    let plan = plan(&layered(SILENT_FROM), 2, silent(Form::Linear)).expect("it fits");
    let part = async |mesh: Mesh| {
        let (party, count) = (mesh.party(), mesh.party_count());
        let rng = Prg::new(Block::from_halves(9, party.into()));
        let mut session = MeshSession::join(mesh, rng, &hello(party, count), Box::new(())).await?;
        let BmrParty { rows: Rows::Linear(Linear(mut pairs)), .. } =
            BmrParty::setup(&mut session, plan.clone()).await?
        else {
            panic!("the form is linear");
        };
        let count = Count { chosen: 0, later: OTS };
        pairs.extend(&mut session, 1, &BitVec::default(), |_| count, true).await
    };
    let all = block_on(futures_util::future::join_all(Mesh::memory(2).into_iter().map(part)));
    for ots in all {
        let ots = ots.expect("honest parties");
        let (_, PairOts { q, t, later }) = ots.iter().next().expect("a peer");
        let is_half = |count: usize| count.abs_diff(OTS / 2) < 4 * 36;
        let ones = |blocks: &[Block]| blocks.iter().filter(|block| block.lsb()).count();
        assert!(is_half(ones(&q.0)) && is_half(ones(&t.0)));
        let same = (0..OTS).filter(|&at| u8::from(t.0[at].lsb()) == later.get(at).number()).count();
        assert!(is_half(same), "{same}");
    }
}
