//! What several calls of `prepare` gave can be used in any order, or not at all.

use std::sync::Arc;

use garblet::{
    Bits, Build, Config, Error, Party, Peer, Prepared, Program, Protocol, Report,
    circuit::{evaluate, random},
    covert, cut_and_choose, library,
    net::{Channel, memory_pair},
};
use rand::{SeedableRng, rngs::StdRng};

/// Every protocol of two parties, where it has several forms each of them.
fn configs() -> Vec<Config> {
    let of = |protocol, change: fn(&mut Config)| {
        let mut config = Config::of(protocol);
        change(&mut config);
        config
    };
    vec![
        of(Protocol::Yao, |config| config.yao.build = Build::Stream),
        of(Protocol::Yao, |config| config.yao.build = Build::Ahead),
        of(Protocol::Components, |_| {}),
        of(Protocol::Covert, |_| {}),
        of(Protocol::Covert, |config| config.covert.form = covert::Form::Al07),
        of(Protocol::CutAndChoose, |config| config.cut_and_choose.circuits = Some(5)),
        of(Protocol::CutAndChoose, |config| {
            config.cut_and_choose.form = cut_and_choose::Form::Lp07;
            config.cut_and_choose.circuits = Some(4);
        }),
        of(Protocol::Lego, |_| {}),
    ]
}

/// Prepares three runs, uses the last, then the first, and never the second.
async fn party(
    program: Arc<Program>,
    party: Party,
    channel: Channel,
    inputs: [Vec<Bits>; 2],
    config: Config,
) -> Result<[Report; 2], Error> {
    let mut rng = StdRng::seed_from_u64(party.0.into());
    let mut peer = Peer::open(program, party, channel, config, &mut rng, Box::new(())).await?;
    let first: Prepared = peer.prepare().await?;
    drop(peer.prepare().await?);
    let last = peer.prepare().await?;
    let [one, other] = inputs;
    let reports = [peer.online(last, &one).await?, peer.online(first, &other).await?];
    peer.close().await?;
    Ok(reports)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prepared_runs_serve_in_any_order() {
    let program = Arc::new(library::find("lib:add(16)").expect("in the library"));
    let inputs = [1, 2].map(|seed| random::inputs(&mut StdRng::seed_from_u64(seed), &program));
    let own = |owner: Party| {
        inputs.each_ref().map(|inputs| {
            let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == owner);
            own.map(|(_, value)| value.clone()).collect::<Vec<Bits>>()
        })
    };
    for config in configs() {
        let (left, right) = memory_pair();
        let [first, second] = [(Party(0), left), (Party(1), right)]
            .map(|(number, channel)| tokio::spawn(party(program.clone(), number, channel, own(number), config)));
        let (first, second) = tokio::join!(first, second);
        for reports in [first, second].map(|reports| reports.expect("no panic")) {
            let reports = reports.unwrap_or_else(|error| panic!("{error} under {config:?}"));
            for (report, inputs) in reports.iter().zip(&inputs) {
                for (got, expected) in report.outputs.iter().zip(evaluate(&program, inputs)) {
                    assert!(got.as_ref().is_none_or(|got| *got == expected), "{} under {config:?}", report.role);
                }
            }
        }
    }
}
