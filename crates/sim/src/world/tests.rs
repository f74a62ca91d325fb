use garblet_authenticated::{Build, Config, ResultCheck};

use super::*;
use crate::conduct::{LIES, Price};

/// The first run of new stores, which makes everything that it needs, and keeps a balance if the function does.
fn first(function: Function) -> Task {
    Task::Run(Runs { function, amount: 1, first: Some(100), times: 1 })
}

/// Three parties without stores, of which the last evaluates.
fn three(seed: u64, check: ResultCheck, build: Build) -> World {
    let mut rng = Prg::new(Block::from_halves(seed, 0));
    let config = Config { check, build, ..Config::default() };
    let options =
        Options { parties: 3, config, evaluator: 2, top_up: true, learn: vec![0, 2], ..Options::drawn(&mut rng) };
    World::with(options, (seed, rng), None, None).expect("a folder for the stores")
}

/// Tells whether a lie comes out in the first run of three parties: it is told, and if it must cost a store, somebody catches it. Afterwards the stores are as
/// they must be, and the parties find back to work.
fn comes_out(mut world: World, function: Function, lie: Trouble) -> bool {
    let mut live = || {
        let visits = match world.meet(first(function), &[lie])? {
            Ok(visits) => visits,
            Err(finding) => return Ok(Err(finding)),
        };
        let price = visits.iter().find_map(|visit| visit.lie);
        let is_caught = visits.iter().any(|visit| visit.lie.is_none() && visit.has_caught());
        match (world.check_stores(false)?, price) {
            (Ok(()), Some(price)) => {
                let comes_out = price == Price::Nothing || is_caught;
                world.heal().map(|healed| healed.map(|()| comes_out))
            }
            (checked, _) => Ok(checked.map(|()| false)),
        }
    };
    let lived: Step<bool> = live();
    lived.expect("the disk").unwrap_or_else(|finding| panic!("{finding:?}\n{}", world.log.join("\n")))
}

/// The short form lies to all, the full form also to one: in byte 0, since the last one may be padding. A wrong row of a gate comes out only if it is read.
#[test]
fn every_lie_of_several_comes_out_in_some_run_and_costs_what_it_must() {
    let is_full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    let functions = [Function::Deposit, Function::Show];
    let forms = [(ResultCheck::Reveal, Build::Stream), (ResultCheck::Tags, Build::Stream)];
    let runs = |seed: u64| functions.map(|function| forms.map(|form| (seed, function, form)));
    let runs: Vec<_> = (0..8).flat_map(runs).flatten().collect();
    for number in 0..if is_full { LIES / 2 } else { LIES / 4 } {
        let mut cases = runs.iter().flat_map(|run| (0..3).map(move |party| (run, party)));
        let comes_out = cases.any(|(&(seed, function, (check, build)), party)| {
            comes_out(three(seed, check, build), function, Trouble::Lies { party, number })
        });
        assert!(comes_out, "lie {number} comes out in no run");
    }
}
