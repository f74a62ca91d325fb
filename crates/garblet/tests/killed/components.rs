//! Parties that are killed at any point of preparing and computing: what a store of components offers is never used twice, and
//! the next run succeeds.

use std::sync::Arc;

use garblet::{
    Bits, Party, Session,
    circuit::{Link, Port, Program, Recipients, Source, Type, evaluate},
    components::{
        Chain, Config, Connection, Evaluator, Garbler, KeyedLink, Library, Material, Shape, Side, Template, Wires,
    },
    library,
    store::Store,
};

use crate::killing::{Ended, Log, child as process, kill_whenever};

const TERMS: usize = 6;

/// Sums: singles, keyed links and chains.
fn sums() -> Library {
    let mut all = Library::new();
    let add = all.add_type("add", Arc::new(library::find("add(8)").unwrap().components()[0].as_ref().clone()), 9);
    let wires = |start| Wires { start, len: 8 };
    let next = vec![Connection { from: (add, wires(0)), to: (add, wires(8)) }];
    all.add_keyed(KeyedLink {
        from: add,
        side: Side::Output,
        source: wires(0),
        to: add,
        target: wires(8),
        window: 1,
        every: [1, 1],
        offset: 1,
    });
    let chain = Chain { pattern: vec![add], length: 4, next, shared: Vec::new() };
    all.add_template(Template::new("sum", 2, Shape::Chain(chain)));
    all.set_input_bits(256);
    all
}

/// The sum of six numbers, of which each party gives three.
fn sum() -> Arc<Program> {
    let mut p = Program::new("sum");
    let add = p.add_component(library::find("add(8)").unwrap().components()[0].clone());
    let inputs: Vec<_> = (0..TERMS)
        .map(|k| p.add_input(Port::new(format!("x{k}"), Type::Unsigned(8)), Party(k as u16 % 2)).unwrap())
        .collect();
    let mut sum = p.input_link(inputs[0]);
    for input in &inputs[1..] {
        let instance = p.add_instance(add, &[p.input_link(*input), sum]).unwrap();
        sum = Link { source: Source::Instance(instance), start: 0, len: 8 };
    }
    p.add_output(Port::new("sum", Type::Unsigned(8)), Recipients::All, vec![sum]).unwrap();
    Arc::new(p)
}

/// One party's whole life: fills its store up, and computes.
async fn live(party: u16, store: Store, mut session: Session, log: Log) -> Ended {
    let (program, config) = (sum(), Config::default());
    let material = Arc::new(Material::new(sums(), config.garbling));
    let values: Vec<Bits> = (0..TERMS).map(|k| Bits::from_u128(37 * k as u128 + 11, 8)).collect();
    let own: Vec<Bits> = values.iter().skip(party.into()).step_by(2).cloned().collect();
    let outputs = if party == 0 {
        let mut role = Garbler::setup(&mut session, material, config, store, "test").await?;
        role.prepare(&mut session, 100).await?;
        let prepared = role.build(&mut session, &program).await?;
        log.write(&prepared.pieces(role.material()))?;
        role.online(&mut session, prepared, &own).await?
    } else {
        let mut role = Evaluator::setup(&mut session, material, config, store, "test").await?;
        role.prepare(&mut session, 100).await?;
        if std::process::id().is_multiple_of(2) {
            let prepared = role.build(&mut session, &program).await?;
            log.write(&prepared.pieces(role.material()))?;
            role.online(&mut session, prepared, &own).await?
        } else {
            // What it takes is in the garbler's log.
            role.run(&mut session, &program, &own).await?
        }
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
fn no_piece_is_used_twice_whoever_is_killed_whenever() {
    let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 240 } else { 12 };
    kill_whenever("components::child", 2, kills, 2 * 2 * 5);
}
