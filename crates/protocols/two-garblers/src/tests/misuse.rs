//! Programs and inputs that do not fit are refused.

use super::*;

#[test]
fn other_numbers_of_parties_and_foreign_owners_are_refused() {
    let program = circuit([1, 1, 1], Vec::new(), vec![Wire(0)]);
    let refused = |program: &Program, parties| {
        Plan::new(Arc::new(program.clone()), parties, Config::default()).map(|_| ()).expect_err("refused").to_string()
    };
    for parties in [2, 4] {
        assert!(refused(&program, parties).contains(&format!("{parties} parties, expected 3 to 3")));
    }
    let mut foreign = program.clone();
    foreign.set_recipients(0, Recipients::Only(vec![Party(3)]));
    assert!(refused(&foreign, 3).contains("output `y` is for party 3"));
}

#[test]
fn the_evaluator_is_the_first_party_that_learns_anything() {
    let mut program = circuit([1, 1, 1], Vec::new(), vec![Wire(0)]);
    for (mask, evaluator, garblers) in [(0, 0, [1, 2]), (7, 0, [1, 2]), (6, 1, [0, 2]), (4, 2, [0, 1]), (5, 0, [1, 2])]
    {
        program.set_recipients(0, members(mask));
        let plan = plan(&program, Build::Stream);
        assert_eq!((plan.evaluator(), plan.garblers()), (Party(evaluator), garblers.map(Party)));
        assert!((0..3).all(|party| !plan.others(Party(party)).contains(&Party(party))));
    }
}

#[test]
fn a_party_that_evaluates_cannot_garble() {
    let plan = plan(&circuit([1, 1, 1], Vec::new(), vec![Wire(0)]), Build::Stream);
    let part =
        async |session: &mut MeshSession| Garbler::set_up(session, plan.clone(), Party(0), Honest).await.map(|_| ());
    let done = block_on(mesh_run::run(Mesh::memory(3), 1, TIMEOUT, part));
    assert!(done.iter().all(|done| matches!(done, Err(ProtocolError::NoSuchParty { party: Party(0), .. }))));
}

#[test]
fn every_result_says_that_no_two_parties_may_collude() {
    let plan = plan(&large(), Build::Stream);
    let security = plan.security();
    assert_eq!((security.computational_bits, security.cheating_log2), (116, Some(-127.0)));
    assert_eq!(security.collusion, Some(garblet_protocol::Collusion::AnyTwo));
}
