mod recipients;
mod silent;

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program, Recipients, random};
use garblet_net::{Mesh, testing::FaultKind};
use garblet_ot::{LpnSet, Width};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::{bits::Packed, prepare::Material, *};
use garblet_protocol::{MeshSession, Phase, PhaseCosts};
use garblet_runs::{
    joint::JointParty,
    ots::Source,
    testing::{
        is_full,
        mesh_run::{self, Outputs, TIMEOUT, block_on, own_inputs, run, run_recorded, sent_online},
        uniformity::View,
    },
};

const FORMS: [Form; 2] = [Form::Triples, Form::Choi2012];

fn plan(program: Program, parties: u16, config: Config) -> Arc<Plan> {
    Arc::new(Plan::new(Arc::new(program), parties, config).expect("can be run"))
}

/// A plan with silent OTs, however few: they have no security.
fn silent_plan(program: Program, parties: u16, form: Form) -> Arc<Plan> {
    let config = Config { form, ot: OtKind::Silent, ..Config::default() };
    let mut plan = Plan::new(Arc::new(program), parties, config).expect("can be run");
    plan.source = Source::Silent(LpnSet::TOY);
    Arc::new(plan)
}

type Outcome = (Outputs, PhaseCosts);

fn run_all(plan: &Arc<Plan>, inputs: &[Bits], seed: u64) -> Vec<Outcome> {
    let meshes = Mesh::memory(plan.parties());
    let part = async |session: &mut MeshSession| {
        let outputs = mesh_run::whole_run::<GmwParty>(session, plan.clone(), inputs).await?;
        Ok((outputs, session.costs()))
    };
    let done = block_on(run(meshes, seed, TIMEOUT, part));
    done.into_iter().map(|outcome| outcome.expect("an honest run")).collect()
}

/// Every recipient has the plain evaluator's value, nobody else has any, and costs are as stated.
fn check(plan: &Arc<Plan>, inputs: &[Bits], seed: u64) {
    let program = plan.program();
    let expected = garblet_circuit::evaluate(program, inputs);
    let done = run_all(plan, inputs, seed);
    mesh_run::assert_costs::<GmwParty>(plan, done.iter().map(|(_, costs)| costs));
    for (party, (outputs, _)) in done.into_iter().enumerate() {
        for ((output, expected), got) in program.outputs().iter().zip(&expected).zip(outputs) {
            let learns = output.recipients.contains(Party(party as u16));
            assert_eq!(got.as_ref(), learns.then_some(expected), "{}", program.name());
        }
    }
}

#[test]
fn any_number_of_parties_computes_what_the_plain_evaluator_does_at_the_stated_cost() {
    let mut rng = StdRng::seed_from_u64(5);
    for (name, parties) in [("lib:add(7)", 2), ("lib:millionaires(40)", 3), ("lib:aes-round", 4), ("lib:sort(4, 5)", 9)]
    {
        for form in FORMS {
            let program = library::find(name).expect("known");
            let inputs = random::inputs(&mut rng, &program);
            check(&plan(program, parties, Config { form, ot_width: Width::Four, ..Config::default() }), &inputs, 1);
        }
    }
}

/// Every member of the library of up to 10,000 gates, in the full form, with its usual parameters, among two to nine parties.
#[test]
fn library_circuits() {
    let mut rng = StdRng::seed_from_u64(6);
    // Inverses in fields have more, and take seconds to build.
    let quick = library::list().filter(|member| !member.name.ends_with("-field-inv"));
    let all = quick.map(|member| library::find(member.name).expect("known"));
    let most = if is_full() { 10_000 } else { 100 };
    let small = all.filter(|program| program.stats().and <= most);
    for ((program, parties), form) in small.zip((2..=9).cycle()).zip(FORMS.into_iter().cycle()) {
        let inputs = random::inputs(&mut rng, &program);
        let parties = program.party_count().max(parties);
        check(&plan(program, parties, Config { form, ot_width: Width::Four, ..Config::default() }), &inputs, 1);
    }
}

#[test]
fn random_programs_of_all_owners_and_recipients() {
    let cases = if is_full() { 100 } else { 12 };
    for seed in 0..cases {
        let mut rng = StdRng::seed_from_u64(seed);
        let parties = 2 + (seed % 5) as u16;
        let program = random::program(&mut rng, 60, parties);
        let inputs = random::inputs(&mut rng, &program);
        let ot_width = Width::ALL[seed as usize % 3];
        check(
            &plan(program, parties, Config { form: FORMS[seed as usize % 2], ot_width, ..Config::default() }),
            &inputs,
            seed,
        );
    }
}

#[test]
fn rounds_are_the_depth_and_a_constant() {
    for (depth, ands) in [(1, 200), (10, 200), (40, 130)] {
        let program = library::find(&format!("layered({depth}, {ands})")).expect("known");
        let inputs = random::inputs(&mut StdRng::seed_from_u64(1), &program);
        for (form, per_layer) in [(Form::Triples, 1), (Form::Choi2012, 2)] {
            let plan = plan(program.clone(), 3, Config { form, ot_width: Width::Four, ..Config::default() });
            let costs = run_all(&plan, &inputs, 3).remove(0).1;
            assert_eq!(costs.online.communication.rounds, depth * per_layer + 1);
            assert!(costs.prepare.communication.rounds <= 2);
        }
    }
}

#[test]
fn several_runs_of_a_session_share_nothing() {
    let program = library::find("lib:millionaires(16)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    let expected = garblet_circuit::evaluate(&program, &inputs);
    let plan = plan(program, 3, Config::default());
    let part = async |session: &mut MeshSession| {
        let own = own_inputs(plan.program(), session.mesh().party(), &inputs);
        let mut party = GmwParty::setup(session, plan.clone()).await?;
        let ahead = [party.prepare(session).await?, party.prepare(session).await?];
        for prepared in ahead {
            let outputs = GmwParty::online(prepared, &plan, session, &own).await?;
            assert_eq!(outputs, [Some(expected[0].clone())]);
        }
        Ok(())
    };
    block_on(run(Mesh::memory(3), 7, TIMEOUT, part)).into_iter().for_each(|done| done.expect("an honest run"));
}

#[test]
fn parties_that_there_are_not_are_refused() {
    let program = Arc::new(library::find("lib:add(4)").expect("known"));
    let refused = |program: Program, parties| {
        let error = Plan::new(Arc::new(program), parties, Config::default()).err().expect("refused");
        error.to_string()
    };
    let text = refused((*program).clone(), 1);
    assert!(text.ends_with("1 parties, expected 2 to 255"), "{text}");
    assert!(refused((*program).clone(), 256).ends_with("256 parties, expected 2 to 255"));
    let mut foreign = (*program).clone();
    foreign.set_owner(garblet_circuit::InputId(1), Party(3));
    assert!(refused(foreign, 3).ends_with("input `b` belongs to party 3, expected 0 to 2"));
    let mut foreign = (*program).clone();
    foreign.set_recipients(0, Recipients::Only(vec![Party(0), Party(7)]));
    assert!(refused(foreign, 3).ends_with("output `sum` is for party 7, expected 0 to 2"));
}

#[test]
fn inputs_that_do_not_fit_end_the_run_for_all() {
    let plan = plan(library::find("lib:add(4)").expect("known"), 3, Config::default());
    mesh_run::assert_inputs_must_fit::<GmwParty>(&plan);
}

#[test]
fn a_peer_that_fails_at_any_message_ends_the_run_for_all_with_a_named_cause() {
    let program = library::find("lib:millionaires(8)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    let plan = plan(program, 3, Config::default());
    let part = async |session: &mut MeshSession| {
        mesh_run::whole_run::<GmwParty>(session, plan.clone(), &inputs).await.map(drop)
    };
    let kinds = [FaultKind::Cut, FaultKind::Truncate, FaultKind::Stall, FaultKind::Oversize, FaultKind::Garbage];
    mesh_run::assert_faults_end_the_run(4, &kinds, part);
}

/// Runs of [`views`]: five bytes for each value of a byte, and some.
const RUNS: usize = 1300;

/// AND gates of each layer in [`views`].
const LAYER: usize = 24;
const LAYERS: usize = 3;

/// The masks of this party's shares in the first messages of every layer to peer `to`, as bytes.
fn masks(material: &Material, to: u16) -> Vec<u8> {
    let masks: Vec<&Packed> = match material {
        Material::Triples(triples) => vec![&triples.a, &triples.b],
        Material::BitOts(ots) => vec![&ots.get(to).expect("a peer").received.choices],
    };
    let layer = |at| masks.iter().flat_map(move |mask| mask.slice(at, LAYER).as_bytes().to_vec());
    (0..LAYERS).flat_map(|k| layer(k * LAYER)).collect()
}

/// Runs with the same inputs. Returns what party 0 sends to party 1 online; and its first messages of every layer without the
/// shares in them, which parties 1 and 2 know but for the values themselves. `spoil` may change what party 0 has prepared.
fn views(form: Form, spoil: impl Fn(&mut Material)) -> [View; 2] {
    views_of(&plan(layers(), 3, Config { form, ot_width: Width::Four, ..Config::default() }), spoil)
}

/// The program of [`views`].
fn layers() -> Program {
    library::find(&format!("lib:layered({LAYERS}, {})", LAYERS * LAYER)).expect("known")
}

/// The same of a plan of three parties for [`layers`].
fn views_of(plan: &Arc<Plan>, spoil: impl Fn(&mut Material)) -> [View; 2] {
    let form = plan.config().form;
    let inputs = random::inputs(&mut StdRng::seed_from_u64(4), plan.program());
    let part = async |session: &mut MeshSession| {
        let number = session.mesh().party();
        let own = own_inputs(plan.program(), number, &inputs);
        let mut party = GmwParty::setup(session, plan.clone()).await?;
        // All is prepared first, so that the online messages are the last.
        let mut ahead = Vec::new();
        for _ in 0..RUNS {
            let mut prepared = party.prepare(session).await?;
            if number == 0 {
                spoil(&mut prepared.material);
            }
            ahead.push(prepared);
        }
        let masks: Vec<u8> =
            ahead.iter().flat_map(|prepared| masks(&prepared.material, u16::from(number == 0))).collect();
        for prepared in ahead {
            GmwParty::online(prepared, plan, session, &own).await?;
        }
        Ok(masks)
    };
    let (masks, transcripts) = run_recorded(3, 9, part);
    // Bytes of the first message of a layer, of all its messages, and of the outputs.
    let (first, layer) = if form == Form::Triples { (6, 6) } else { (3, 9) };
    let places = LAYERS * layer + 16;
    let sent = |from, to| sent_online(&transcripts, from, to, RUNS, places);
    let firsts = |sent: &[u8]| -> Vec<u8> {
        let runs = sent.chunks(places).map(|run| &run[..LAYERS * layer]);
        runs.flat_map(|run| run.chunks(layer)).flat_map(|message| message[..first].to_vec()).collect()
    };
    let all = sent(0, 1);
    let mut shared = firsts(&all);
    for (peer, masks) in [1, 2].into_iter().zip(&masks[1..]) {
        let known = firsts(&sent(peer, 0)).into_iter().zip(masks).map(|(byte, mask)| byte ^ mask);
        shared.iter_mut().zip(known).for_each(|(byte, known)| *byte ^= known);
    }
    [View { all, places }, View { all: shared, places: LAYERS * first }]
}

#[test]
fn what_two_parties_see_of_the_third_is_uniform() {
    for form in FORMS {
        let [sent, shared] = views(form, |_| ());
        assert_eq!((sent.biased(), shared.biased()), (vec![], vec![]), "{form:?}");
    }
}

#[test]
fn with_silent_ots_it_is_uniform_too() {
    for form in FORMS {
        let [sent, shared] = views_of(&silent_plan(layers(), 3, form), |_| ());
        assert_eq!((sent.biased(), shared.biased()), (vec![], vec![]), "{form:?}");
    }
}

#[test]
fn a_planted_bias_is_found() {
    // The first layer is the first 24 gates: three bytes of d and three of e, or three of choices.
    let [_, shared] = views(Form::Triples, |material| {
        if let Material::Triples(triples) = material {
            triples.b.words_mut()[0] &= !8;
        }
    });
    assert_eq!(shared.biased()[..1], [3], "the byte with the bit that nothing hides");
    let [_, shared] = views(Form::Choi2012, |material| {
        if let Material::BitOts(ots) = material {
            ots.get_mut(1).expect("a peer").received.choices.words_mut()[0] &= !(8 << 8);
        }
    });
    assert_eq!(shared.biased()[..1], [1], "the byte with the bit that nothing hides");
}

/// A session or a store makes OTs for any number of runs with one set-up.
#[test]
fn what_is_stated_holds_however_many_runs_are_made_at_once() {
    let hashed_per_ot = 2;
    let calls_under_a_key = |runs: u64, plan: &Plan| {
        let calls = hashed_per_ot * runs * plan.and_count() as u64;
        // The number of the key is that of the OT in periods of so many.
        calls.min(hashed_per_ot * garblet_ot::OTS_PER_KEY)
    };
    for form in FORMS {
        let plan = plan(library::find("lib:aes128").expect("known"), 2, Config { form, ..Config::default() });
        let stated = f64::from(plan.security().computational_bits);
        for runs in [1, 1000, 1_000_000] {
            let true_bits = 128.0 - (calls_under_a_key(runs, &plan) as f64).log2();
            assert!(stated <= true_bits, "{form:?}, {runs} runs: {stated} stated, {true_bits} true");
        }
    }
}
