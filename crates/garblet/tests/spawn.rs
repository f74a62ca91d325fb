//! A party is a task like any other: every future of the library can be spawned, whatever the protocol, with the system's
//! generator.

use std::{sync::Arc, time::Duration};

use garblet::{
    Bits, Config, Contents, Error, Filled, MeshPeer, Party, Peer, Program, Protocol, Report, Supply, Values,
    components, fill, fill_runs, lego, library,
    net::{Channel, Mesh, memory_pair},
    store::{Store, StoreKey},
};
use tokio::task::JoinHandle;

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(8)").expect("in the library"))
}

/// Parties 0 and 1 give 100 and 28; others give nothing.
fn own(party: Party) -> Vec<Bits> {
    [100, 28].get(usize::from(party.0)).map(|&value| Bits::from_u128(value, 8)).into_iter().collect()
}

fn config(protocol: Protocol) -> Config {
    let mut config = Config::of(protocol);
    config.cut_and_choose.circuits = Some(4);
    config
}

fn supply(contents: Contents, store: Store) -> Supply {
    Supply { contents, store, peer: "peer".into(), fill_first: false, values: Values::default() }
}

fn contents(protocol: Protocol, program: &Program) -> Contents {
    match protocol {
        Protocol::Components => Contents::Components(components::Library::of_program(program)),
        Protocol::Lego => Contents::Gates(lego::Amounts { gates: 40, inputs: 32, input_pairs: 32, outputs: 17 }),
        _ => Contents::Runs,
    }
}

/// The book's.
async fn compute(party: Party, channel: Channel, protocol: Protocol) -> Result<Report, Error> {
    let mut peer = Peer::open(program(), party, channel, config(protocol), rand::rng(), Box::new(())).await?;
    let prepared = peer.prepare().await?;
    peer.online(prepared, &own(party)).await?;
    let report = peer.run(&own(party)).await?;
    peer.close().await?;
    Ok(report)
}

async fn compute_together(mesh: Mesh, protocol: Protocol) -> Result<Report, Error> {
    let party = Party(mesh.party());
    let mut peer = MeshPeer::join(program(), mesh, config(protocol), rand::rng(), Box::new(())).await?;
    let prepared = peer.prepare().await?;
    let report = peer.online(prepared, &own(party)).await?;
    peer.close().await?;
    Ok(report)
}

async fn fill_store(party: Party, channel: Channel, protocol: Protocol) -> Result<Store, Error> {
    let supply = supply(contents(protocol, &program()), Store::in_memory(&mut rand::rng())?);
    Ok(fill(supply, party, channel, config(protocol), 100, rand::rng(), Box::new(())).await?.store)
}

async fn compute_supplied(store: Store, party: Party, channel: Channel, protocol: Protocol) -> Result<Report, Error> {
    let supply = supply(contents(protocol, &program()), store);
    let peer = Peer::open_supplied(program(), party, channel, config(protocol), supply, rand::rng(), Box::new(()));
    let mut peer = peer.await?;
    let report = peer.run(&own(party)).await?;
    peer.close().await?;
    Ok(report)
}

async fn fill_store_together(mesh: Mesh, protocol: Protocol) -> Result<Store, Error> {
    let supply = supply(Contents::Runs, Store::in_memory(&mut rand::rng())?);
    let filled = fill_runs(program(), mesh, config(protocol), supply, 1, rand::rng(), Box::new(()));
    let Filled { store, .. } = filled.await?;
    Ok(store)
}

async fn compute_supplied_together(store: Store, mesh: Mesh, protocol: Protocol) -> Result<Report, Error> {
    let (party, supply) = (Party(mesh.party()), supply(Contents::Runs, store));
    let peer = MeshPeer::join_supplied(program(), mesh, config(protocol), supply, rand::rng(), Box::new(()));
    let mut peer = peer.await?;
    let prepared = peer.prepare().await?;
    let report = peer.online(prepared, &own(party)).await?;
    peer.close().await?;
    Ok(report)
}

async fn results<T>(tasks: Vec<JoinHandle<Result<T, Error>>>, protocol: Protocol) -> Vec<T> {
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.expect("no panic").unwrap_or_else(|error| panic!("{protocol}: {error}")));
    }
    results
}

fn check(reports: &[Report], protocol: Protocol) {
    for report in reports {
        let sum = report.outputs[0].as_ref().and_then(Bits::to_u128);
        assert_eq!(sum, Some(128), "{protocol}, {}", report.party);
    }
}

fn two() -> [(Party, Channel); 2] {
    let (left, right) = memory_pair();
    [(Party(0), left), (Party(1), right)]
}

fn several(protocol: Protocol) -> Vec<Mesh> {
    Mesh::memory((*protocol.parties().start()).max(3))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parties_of_every_protocol_can_be_spawned() {
    for protocol in Protocol::ALL {
        let tasks = match protocol.is_mesh() {
            true => several(protocol).into_iter().map(|mesh| tokio::spawn(compute_together(mesh, protocol))).collect(),
            false => two().map(|(party, channel)| tokio::spawn(compute(party, channel, protocol))).into(),
        };
        check(&results(tasks, protocol).await, protocol);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parties_with_stores_can_be_spawned() {
    for protocol in [Protocol::Components, Protocol::Lego] {
        let tasks = two().map(|(party, channel)| tokio::spawn(fill_store(party, channel, protocol))).into();
        let stores = results(tasks, protocol).await;
        let run = |(store, (party, channel))| tokio::spawn(compute_supplied(store, party, channel, protocol));
        let tasks = stores.into_iter().zip(two()).map(run).collect();
        check(&results(tasks, protocol).await, protocol);
    }
    for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.is_mesh()) {
        let tasks =
            several(protocol).into_iter().map(|mesh| tokio::spawn(fill_store_together(mesh, protocol))).collect();
        let stores = results(tasks, protocol).await;
        let run = |(store, mesh)| tokio::spawn(compute_supplied_together(store, mesh, protocol));
        let tasks = stores.into_iter().zip(several(protocol)).map(run).collect();
        check(&results(tasks, protocol).await, protocol);
    }
}

/// Dropping a run is how it is cancelled; nobody else has to do anything for the store.
#[tokio::test]
async fn a_store_is_free_and_whole_after_a_run_that_was_given_up() {
    let protocol = Protocol::Components;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (key, store) = (StoreKey::generate(&mut rand::rng()), folder.path().join("store"));
    let pieces = |store: &Store| store.stock().iter().map(|stock| stock.available.len()).sum::<u64>();

    let ours = supply(contents(protocol, &program()), Store::create(&store, &key, &mut rand::rng()).unwrap());
    let [(_, left), (_, right)] = two();
    let filled = fill(ours, Party(0), left, config(protocol), 100, rand::rng(), Box::new(()));
    let (filled, theirs) = tokio::join!(filled, fill_store(Party(1), right, protocol));
    let before = pieces(&filled.unwrap().store);
    drop(theirs.unwrap());
    assert!(before > 0);

    let ours = Store::open(&store, &key, &mut rand::rng()).unwrap();
    let [(_, left), _silent] = two();
    let run = tokio::time::timeout(Duration::from_millis(50), compute_supplied(ours, Party(0), left, protocol));
    assert!(run.await.is_err(), "nobody answers");
    let again = Store::open(&store, &key, &mut rand::rng()).expect("nobody has it open");
    assert_eq!(pieces(&again), before);
}
