//! Several prepared runs serve in any order that is the same for all parties, or not at all; no session goes on after an error; nothing serves
//! in another session.

use std::sync::Arc;

use garblet::{
    Bits, Config, Ends, Error, Party, Peer, Plan, Program, Report,
    builder::{BitString, CircuitBuilder},
    circuit::{Type, evaluate},
    library,
    net::memory_pair,
};
use rand::{SeedableRng, rngs::StdRng};

use super::{all, inputs, name, own, party_count, samples};

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(8)").expect("in the library"))
}

/// A program in which nothing comes before the shares of the output.
fn without_and_gates() -> Arc<Program> {
    let mut c = CircuitBuilder::new("xor");
    let [a, b]: [BitString; 2] = ["a", "b"].map(|name| c.input(name, Type::Bits(8)));
    let sum = c.xor_words(&a, &b);
    c.output("sum", &sum);
    Arc::new(Program::from_component(c.finish().expect("whole"), &[Party(0), Party(1)]).expect("owners of both"))
}

async fn open(program: &Arc<Program>, party: Party, ends: Ends, parties: u16, config: &Config) -> Result<Peer, Error> {
    let plan = Plan::new(program.clone(), parties, config)?;
    Peer::open(&plan, party, ends, StdRng::seed_from_u64(party.0.into()), Box::new(())).await
}

/// Prepares three runs and uses two: the last and the first, or the other way round if `swapped`.
async fn runs(
    program: Arc<Program>,
    (party, ends): (Party, Ends),
    parties: u16,
    config: Config,
    swapped: bool,
) -> Result<[Report; 2], Error> {
    let mut peer = open(&program, party, ends, parties, &config).await?;
    let inputs = own(&program, &inputs(&program), party);
    let ran = async {
        let first = peer.prepare().await?;
        drop(peer.prepare().await?);
        let last = peer.prepare().await?;
        let [one, other] = if swapped { [first, last] } else { [last, first] };
        Ok([peer.online(one, &inputs).await?, peer.online(other, &inputs).await?])
    };
    match ran.await {
        Ok(reports) => peer.close().await.map(|()| reports),
        Err(error) => {
            peer.abort(&error).await;
            Err(error)
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_serve_in_any_order_that_is_the_same_for_all() {
    let program = program();
    let expected = evaluate(&program, &inputs(&program));
    for config in samples() {
        let party = |party, ends, parties| runs(program.clone(), (party, ends), parties, config.clone(), false);
        for reports in all(&config, party).await {
            let reports = reports.unwrap_or_else(|error| panic!("{error}, {}", name(&config)));
            for report in reports {
                assert_eq!(report.outputs, [Some(expected[0].clone())], "{} of {}", report.role, name(&config));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_parties_that_are_not_at_the_same_run_all_hear_which_each_is_at() {
    for config in samples().into_iter().filter(|config| config.protocol().is_mesh()) {
        for program in [program(), without_and_gates()] {
            let party = |party: Party, ends, parties| {
                runs(program.clone(), (party, ends), parties, config.clone(), party == Party(1))
            };
            for (party, ended) in all(&config, party).await.into_iter().enumerate() {
                let error = ended.expect_err("runs differ");
                let (peer, ours, theirs) = if party == 1 { (0, 0, 2) } else { (1, 2, 0) };
                let expected = format!(
                    "party {peer}: the prepared run: expected {ours} of this session, got {theirs} of this session"
                );
                assert_eq!(error.to_string(), expected, "{} of {}", program.name(), name(&config));
                assert!(error.blame().is_none(), "nobody has cheated");
            }
        }
    }
}

/// All that is left of a session after an error is refused.
fn check_over(over: &[Error]) {
    assert!(over.iter().all(|error| matches!(error, Error::Over)), "{over:?}");
}

/// Prepares two runs; party `wrong` gives the first an input that does not fit, and goes on with the second.
async fn misuse((party, ends): (Party, Ends), parties: u16, config: Config, wrong: Party) -> Result<(), Error> {
    let program = program();
    let mut peer = open(&program, party, ends, parties, &config).await?;
    let (first, second) = (peer.prepare().await?, peer.prepare().await?);
    let right = own(&program, &inputs(&program), party);
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
    peer.abort(ran.as_ref().err().unwrap_or(&Error::Over)).await;
    ran
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_input_that_does_not_fit_a_session_is_over_for_all() {
    for (config, wrong) in samples().into_iter().flat_map(|config| [0, 1].map(|wrong| (config.clone(), Party(wrong)))) {
        let party = |party, ends, parties| misuse((party, ends), parties, config.clone(), wrong);
        for (party, ended) in (0..).map(Party).zip(all(&config, party).await) {
            assert_eq!(ended.is_ok(), party == wrong, "party {party} of {}", name(&config));
            if let (Err(error), true) = (&ended, config.protocol().is_mesh()) {
                assert!(error.blame().is_some_and(|blame| blame.party == wrong.0), "{error}, {}", name(&config));
            }
        }
    }
}

/// Labels of one session under the secrets of another would give the inputs away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn material_of_another_session_is_refused() {
    let program = program();
    for config in samples() {
        let prepared = async || {
            let party = |party, ends, parties| {
                let (program, config) = (program.clone(), config.clone());
                async move {
                    let mut peer = open(&program, party, ends, parties, &config).await?;
                    let prepared = peer.prepare().await?;
                    Ok::<_, Error>((peer, prepared))
                }
            };
            let ready = all(&config, party).await.into_iter().collect::<Result<Vec<_>, Error>>();
            ready.unwrap_or_else(|error| panic!("{error}, {}", name(&config)))
        };
        let (mut one, mut other) = (prepared().await, prepared().await);
        let ((mut peer, _), (_, foreign)) = (one.remove(0), other.remove(0));
        let own = own(&program, &inputs(&program), Party(0));
        let error = peer.online(foreign, &own).await.map(|_| ()).expect_err("another session's");
        assert!(error.to_string().contains("expected this session's, got another session's"), "{error}");
        check_over(&[peer.prepare().await.map(|_| ()).expect_err("over")]);
    }
}

/// Nobody waits for a party of several that has made a mistake and does not even begin.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_cannot_begin_is_over_for_all_others() {
    let program = program();
    for config in samples().into_iter().filter(|config| config.protocol().is_mesh()) {
        // It says that it is nobody, or another one.
        for said in [Party(9), Party(1)] {
            let party = |party, ends, parties| {
                let (program, config) = (program.clone(), config.clone());
                async move {
                    let party = if party == Party(0) { said } else { party };
                    open(&program, party, ends, parties, &config).await.map(|_| ())
                }
            };
            let mut ended = all(&config, party).await.into_iter().map(|opened| opened.expect_err("it cannot begin"));
            let own = ended.next().expect("party 0");
            assert!(matches!(own, Error::NoSuchParty { .. } | Error::Input { .. }), "{own}, {}", name(&config));
            for error in ended {
                assert!(error.to_string().starts_with("party 0: the peer aborted"), "{error}, {}", name(&config));
            }
        }
    }
}

#[tokio::test]
async fn a_step_that_is_dropped_before_it_begins_ends_the_session() {
    let (program, config) = (program(), Config::default());
    let (left, right) = memory_pair();
    let parties = party_count(&config);
    let (peer, other) = tokio::join!(
        open(&program, Party(0), left.into(), parties, &config),
        open(&program, Party(1), right.into(), parties, &config)
    );
    let (mut peer, mut other) = (peer.expect("set up"), other.expect("set up"));
    let (prepared, theirs) = tokio::join!(peer.prepare(), other.prepare());
    drop(theirs.expect("prepared"));
    drop(peer.online(prepared.expect("prepared"), &[Bits::zeros(8)]));
    check_over(&[peer.prepare().await.map(|_| ()).expect_err("out of step")]);
}
