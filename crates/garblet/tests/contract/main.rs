//! The contract that every registered protocol keeps, under each of its samples. A new protocol is held to it without a line here.
//!
//! `GARBLET_TEST_FULL=1` runs more programs, more parties and every fault; `GARBLET_TEST_PROTOCOL=NAME` holds one protocol to it alone.

mod borders;
mod faults;
mod order;
mod padding;
mod places;
mod results;
mod stores;
mod transcripts;

use std::{future::Future, sync::Arc};

use garblet::{
    Bits, Config, Ends, Error, Order, OrderRequest, Party, Program, Protocol, Stock, StockKinds,
    circuit::random,
    components::{Components, Library},
    net::{Mesh, memory_pair},
    store::Store,
};
use rand::{SeedableRng, rngs::StdRng};

/// Tells whether the slow form is asked for.
fn full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

/// The protocols that are tested: all, or the one that is asked for.
fn protocols() -> Vec<Protocol> {
    match std::env::var("GARBLET_TEST_PROTOCOL") {
        Ok(name) => vec![name.parse().expect("GARBLET_TEST_PROTOCOL names a registered protocol")],
        Err(_) => Protocol::ALL.to_vec(),
    }
}

/// Every tested protocol under each of its samples.
fn samples() -> Vec<Config> {
    protocols().iter().flat_map(|protocol| protocol.samples()).collect()
}

/// A protocol and the parameters of a sample that are not the standard ones, for messages and files.
fn name(config: &Config) -> String {
    let protocol = config.protocol();
    let standard = Config::of(protocol).parameters();
    let changed = config.parameters().into_iter().zip(standard).filter(|(own, standard)| own != standard);
    let changed = changed.map(|((name, value), _)| format!(" {name}={value}"));
    format!("{protocol}{}", changed.collect::<String>())
}

/// Three parties, or the nearest number that the protocol may have.
fn party_count(config: &Config) -> u16 {
    let parties = config.protocol().parties();
    3.clamp(*parties.start(), *parties.end())
}

/// The links of all parties.
fn ends(config: &Config, parties: u16) -> Vec<(Party, Ends)> {
    if config.protocol().is_mesh() {
        return Mesh::memory(parties).into_iter().map(|mesh| (Party(mesh.party()), mesh.into())).collect();
    }
    let (left, right) = memory_pair();
    vec![(Party(0), left.into()), (Party(1), right.into())]
}

/// The inputs of a program, the same at every call.
fn inputs(program: &Program) -> Vec<Bits> {
    random::inputs(&mut StdRng::seed_from_u64(5), program)
}

/// The inputs of a party among those of all.
fn own(program: &Program, inputs: &[Bits], owner: Party) -> Vec<Bits> {
    let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == owner);
    own.map(|(_, value)| value.clone()).collect()
}

/// A stock that serves a few runs of a program.
fn stock(config: &Config, parties: u16, program: &Arc<Program>, store: Store) -> Result<Stock, Error> {
    let amounts = |kinds: &[&str], count| kinds.iter().map(|kind| (kind.to_string(), count)).collect();
    let request = match config.stock() {
        Some(StockKinds::Library) => {
            return Ok(Stock::new(Order::of::<Components>(Library::of_program(program)), store, "peer"));
        }
        Some(StockKinds::Pieces(kinds)) => OrderRequest { amounts: amounts(kinds, 120), ..OrderRequest::default() },
        _ => OrderRequest { program: Some(program.clone()), amounts: amounts(&["runs"], 2), library: None },
    };
    Ok(Stock::new(Order::new(&request, parties, config)?, store, "peer"))
}

/// Spawns a task for each party, and waits for all.
async fn all<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    config: &Config,
    party: impl Fn(Party, Ends, u16) -> F,
) -> Vec<T> {
    let parties = party_count(config);
    let running: Vec<_> =
        ends(config, parties).into_iter().map(|(number, ends)| tokio::spawn(party(number, ends, parties))).collect();
    let mut ended = Vec::new();
    for party in running {
        ended.push(party.await.expect("no panic"));
    }
    ended
}

#[test]
fn every_check_has_an_accusation_of_its_own() {
    let mut checks: Vec<_> = Protocol::ALL.iter().flat_map(|protocol| protocol.checks()).collect();
    checks.sort_unstable();
    checks.dedup();
    let mut accusations: Vec<&str> = checks.iter().map(|check| check.accusation()).collect();
    accusations.sort_unstable();
    accusations.dedup();
    assert_eq!(accusations.len(), checks.len());
    assert!(!accusations.is_empty());
}
