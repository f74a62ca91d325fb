//! What several calls of `prepare` gave can be used in any order, if all parties take the same; or not at all. Several parties notice if
//! they do not, and no session goes on after an error.

use std::sync::Arc;

use garblet::{
    Bits, Build, Config, Error, MeshPeer, Party, Peer, Prepared, Program, Protocol, Report,
    circuit::{
        Type,
        builder::{BitString, CircuitBuilder},
        evaluate, random,
    },
    covert, cut_and_choose, library,
    net::{Channel, Mesh, memory_pair},
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

/// Every protocol of several parties, with each of its forms.
fn mesh_configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.is_mesh()) {
        let standard = Config::of(protocol);
        configs.push(standard);
        for form in ["published", "2012"] {
            let mut config = standard;
            // Not every protocol has every form.
            configs.extend((config.set("form", form).is_ok() && config != standard).then_some(config));
        }
    }
    configs
}

/// A program in which nothing comes before the shares of the output.
fn without_and_gates() -> Program {
    let mut c = CircuitBuilder::new("xor");
    let [a, b]: [BitString; 2] = ["a", "b"].map(|name| c.input(name, Type::Bits(8)));
    let sum = c.xor_words(&a, &b);
    c.output("sum", &sum);
    Program::from_component(c.finish().expect("whole"), &[Party(0), Party(1)]).expect("owners of both")
}

/// The inputs of a party.
fn own(program: &Program, inputs: &[Bits], owner: Party) -> Vec<Bits> {
    let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == owner);
    own.map(|(_, value)| value.clone()).collect()
}

/// Prepares two runs and uses them, the later one first if `swapped`.
async fn mesh_party(
    program: Arc<Program>,
    mesh: Mesh,
    inputs: Vec<Bits>,
    config: Config,
    swapped: bool,
) -> Result<[Report; 2], Error> {
    let mut rng = StdRng::seed_from_u64(mesh.party().into());
    let mut peer = MeshPeer::join(program, mesh, config, &mut rng, Box::new(())).await?;
    let ran = async {
        let (first, second) = (peer.prepare().await?, peer.prepare().await?);
        let [one, other] = if swapped { [second, first] } else { [first, second] };
        Ok([peer.online(one, &inputs).await?, peer.online(other, &inputs).await?])
    };
    match ran.await {
        Ok(reports) => {
            peer.close().await?;
            Ok(reports)
        }
        Err(error) => {
            peer.abort(&error).await;
            Err(error)
        }
    }
}

/// Runs parties of whom those of `swapped` use their runs in another order than they were prepared in.
async fn mesh_runs(program: &Arc<Program>, config: Config, swapped: &[u16]) -> Vec<Result<[Report; 2], Error>> {
    let inputs = random::inputs(&mut StdRng::seed_from_u64(5), program);
    let parties = (*config.protocol.parties().start()).max(3);
    let running: Vec<_> = Mesh::memory(parties)
        .into_iter()
        .map(|mesh| {
            let swapped = swapped.contains(&mesh.party());
            let own = own(program, &inputs, Party(mesh.party()));
            tokio::spawn(mesh_party(program.clone(), mesh, own, config, swapped))
        })
        .collect();
    let mut ended = Vec::new();
    for party in running {
        ended.push(party.await.expect("no panic"));
    }
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_parties_use_runs_in_any_order_that_is_the_same_for_all() {
    let program = Arc::new(library::find("lib:add(8)").expect("in the library"));
    for config in mesh_configs() {
        for reports in mesh_runs(&program, config, &[0, 1, 2, 3]).await {
            reports.unwrap_or_else(|error| panic!("{error} under {config:?}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_parties_that_are_not_at_the_same_run_all_hear_which_each_is_at() {
    let programs = [library::find("lib:add(8)").expect("in the library"), without_and_gates()].map(Arc::new);
    for (program, config) in mesh_configs().into_iter().flat_map(|config| programs.iter().map(move |p| (p, config))) {
        for (party, ended) in mesh_runs(program, config, &[1]).await.into_iter().enumerate() {
            let error = ended.expect_err("runs differ");
            let (peer, ours, theirs) = if party == 1 { (0, 1, 0) } else { (1, 0, 1) };
            let expected = format!(
                "party {peer}: the prepared run: expected {ours} of this session, got {theirs} of this session"
            );
            assert_eq!(error.to_string(), expected, "{} under {config:?}", program.name());
            assert!(error.blame().is_none(), "nobody has cheated");
        }
    }
}

/// What is left of a session after an error.
fn check_over(over: &[Error]) {
    assert!(over.iter().all(|error| matches!(error, Error::Over)), "{over:?}");
}

/// Prepares two runs; party 0 gives the first an input that does not fit, and goes on with the second.
async fn mesh_misuse(program: Arc<Program>, mesh: Mesh, config: Config) -> Result<(), Error> {
    let number = mesh.party();
    let mut rng = StdRng::seed_from_u64(number.into());
    let mut peer = MeshPeer::join(program, mesh, config, &mut rng, Box::new(())).await?;
    let (first, second) = (peer.prepare().await?, peer.prepare().await?);
    let right = vec![Bits::from_u128(3, 8); usize::from(number < 2)];
    if number == 0 {
        let error = peer.online(first, &[Bits::zeros(9)]).await.expect_err("9 bits");
        assert!(error.to_string().contains("expected 8 bits, got 9 bits"), "{error}");
        check_over(&[
            peer.online(second, &right).await.map(|_| ()).expect_err("out of step"),
            peer.prepare().await.map(|_| ()).expect_err("out of step"),
            peer.close().await.expect_err("aborted"),
        ]);
        return Ok(());
    }
    let ran = peer.online(first, &right).await.map(|_| ());
    if let Err(error) = &ran {
        peer.abort(error).await;
    }
    ran
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_input_that_does_not_fit_a_session_of_several_is_over() {
    let program = Arc::new(library::find("lib:add(8)").expect("in the library"));
    for config in mesh_configs() {
        let meshes = Mesh::memory((*config.protocol.parties().start()).max(3)).into_iter();
        let running: Vec<_> = meshes.map(|mesh| tokio::spawn(mesh_misuse(program.clone(), mesh, config))).collect();
        for (party, ended) in running.into_iter().enumerate() {
            match (party, ended.await.expect("no panic")) {
                (0, ended) => assert!(ended.is_ok()),
                (_, ended) => {
                    let error = ended.expect_err("party 0 has given up");
                    assert!(error.blame().is_some_and(|blame| blame.party == 0), "{error} under {config:?}");
                }
            }
        }
    }
}

/// Prepares two runs; party `wrong` gives the first an input that does not fit, and goes on with the second.
async fn misuse(
    program: Arc<Program>,
    party: Party,
    channel: Channel,
    config: Config,
    wrong: Party,
) -> Result<(), Error> {
    let mut rng = StdRng::seed_from_u64(party.0.into());
    let mut peer = Peer::open(program, party, channel, config, &mut rng, Box::new(())).await?;
    let (first, second) = (peer.prepare().await?, peer.prepare().await?);
    let right = [Bits::from_u128(3, 8)];
    if party == wrong {
        let error = peer.online(first, &[Bits::zeros(9)]).await.expect_err("9 bits");
        assert!(error.to_string().contains("expected 8 bits, got 9 bits"), "{error}");
        check_over(&[
            peer.online(second, &right).await.map(|_| ()).expect_err("out of step"),
            peer.run(&right).await.map(|_| ()).expect_err("out of step"),
            peer.prepare().await.map(|_| ()).expect_err("out of step"),
            peer.close().await.expect_err("aborted"),
        ]);
        return Ok(());
    }
    let ran = peer.online(first, &right).await.map(|_| ());
    peer.abort().await;
    ran
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_input_that_does_not_fit_a_session_of_two_is_over() {
    let program = Arc::new(library::find("lib:add(8)").expect("in the library"));
    for (config, wrong) in configs().into_iter().flat_map(|config| [0, 1].map(|wrong| (config, Party(wrong)))) {
        let (left, right) = memory_pair();
        let running = [(Party(0), left), (Party(1), right)].map(|(party, channel)| {
            (party == wrong, tokio::spawn(misuse(program.clone(), party, channel, config, wrong)))
        });
        for (is_wrong, ended) in running {
            assert_eq!(ended.await.expect("no panic").is_ok(), is_wrong, "{config:?}");
        }
    }
}
