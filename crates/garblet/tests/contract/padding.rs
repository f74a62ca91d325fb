//! Bits beyond the last of a message are refused by whoever hears it, with one error, wherever a protocol sends bits.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use garblet::{
    Config, Ends, Error, Party, Program, Report, library,
    net::{
        NetError,
        testing::{Direction, Fault, PairFault, Transcript, flips_before_ends, intercepted_mesh, intercepted_pair},
    },
};
use tokio::sync::Semaphore;

use super::{faults::party, party_count};
use Direction::{Back, Forth};

/// Runs at the same time.
const AT_ONCE: usize = 4;

/// Messages of bits: how far before the end of their frames the last byte is, and the refusals, of all frames in that direction, if its highest bit is one.
struct Case {
    protocol: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    /// The width of both numbers that are added.
    width: u32,
    direction: Direction,
    before_end: usize,
    refusals: &'static [&'static str],
}

const fn case(
    protocol: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    (direction, before_end): (Direction, usize),
    refusals: &'static [&'static str],
) -> Case {
    Case { protocol, parameters, width: 11, direction, before_end, refusals }
}

/// With so many gates that bits for triples do not fill whole bytes.
const fn wide(
    protocol: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    place: (Direction, usize),
    refusals: &'static [&'static str],
) -> Case {
    Case { width: 43, ..case(protocol, parameters, place, refusals) }
}

/// All messages of bits of all protocols, of those that both parties send alike one. Those of `ideal` and `outsourced` are in tests of their crates.
const CASES: &[Case] = &[
    case("yao", &[], (Forth, 0), &["11 bits"]),
    case("yao", &[], (Back, 0), &["11 bits", "choice corrections: 11 bits"]),
    case("yao", &[("build", "ahead")], (Forth, 0), &["11 bits"]),
    case("components", &[], (Forth, 0), &["11 bits"]),
    case("components", &[], (Back, 0), &["11 bits", "choice corrections: 11 bits"]),
    case("covert", &[], (Back, 0), &["choices of circuits: 2 bits", "input corrections: 22 bits"]),
    // A digest follows.
    case("covert", &[], (Back, 32), &["11 bits"]),
    case("covert", &[("form", "al07")], (Back, 0), &["input corrections: 11 bits"]),
    case("covert", &[("form", "al07")], (Back, 32), &["11 bits"]),
    case(
        "cut-and-choose",
        &[("circuits", "9")],
        (Back, 0),
        &["59 bits", "checked circuits: 9 bits", "choices of circuits: 9 bits", "input corrections: 11 bits"],
    ),
    case("lego", &[], (Forth, 0), &["91 bits"]),
    case("lego", &[], (Back, 0), &["11 bits"]),
    // Select bits of gates.
    wide("authenticated", &[], (Forth, 0), &["42 bits"]),
    // Bits that are opened, with their proof: of buckets, gates and inputs, outputs.
    wide("authenticated", &[], (Forth, 16), &["127 bits", "276 bits", "43 bits"]),
    // Bits that correct products, with their opening.
    wide("authenticated", &[], (Forth, 32), &["322 bits"]),
    // Masked inputs.
    wide("authenticated", &[], (Back, 0), &["43 bits"]),
    // The garbler's outputs: masked, with masks that are opened, and a digest.
    wide("authenticated", &[], (Back, 48), &["43 bits"]),
    wide("authenticated", &[], (Back, 54), &["43 bits"]),
    // Masked values of gates, and a point.
    wide("authenticated", &[("check", "reveal")], (Back, 16), &["127 bits", "276 bits", "42 bits"]),
    case("gmw", &[], (Forth, 0), &["1 bits", "10 bits", "11 bits", "corrections of choices: 10 bits"]),
    case("gmw", &[], (Forth, 1), &["1 bits"]),
    case("gmw", &[("form", "2012")], (Forth, 0), &["1 bits", "11 bits"]),
    case("gmw", &[("form", "2012")], (Forth, 1), &["1 bits"]),
    case("bmr", &[], (Forth, 0), &["11 bits", "choice corrections: 10 bits", "choice corrections: 21 bits"]),
    case("bmr", &[], (Back, 0), &["10 bits", "11 bits"]),
    case("bmr", &[("form", "linear")], (Forth, 0), &["10 bits", "11 bits", "choice corrections: 21 bits"]),
    case("bmr", &[("form", "published")], (Forth, 0), &["10 bits", "11 bits", "30 bits"]),
    case("bmr-bgw3", &[], (Forth, 0), &["11 bits"]),
    // Bits of buckets, and masked inputs; bits of gates, before the masks of inputs; these, and those of outputs. Bits that correct products are committed to.
    wide("authenticated-bmr", &[], (Forth, 0), &["276 bits", "43 bits"]),
    wide("authenticated-bmr", &[], (Forth, 264), &["84 bits"]),
    wide("authenticated-bmr", &[], (Forth, 258), &["43 bits"]),
    // Outputs of a garbler, with a digest and their masks.
    wide("authenticated-bmr", &[], (Back, 296), &["43 bits"]),
    wide("authenticated-bmr", &[], (Back, 258), &["43 bits"]),
    // Masked values of gates, before a digest and a point.
    wide("authenticated-bmr", &[("check", "reveal")], (Back, 48), &["42 bits"]),
    // Shares of the evaluator's input; outputs of a garbler, before a digest; decoding bits.
    case("two-garblers", &[], (Forth, 0), &["11 bits"]),
    case("two-garblers", &[], (Forth, 32), &["11 bits"]),
    case("two-garblers", &[], (Back, 0), &["11 bits"]),
];

impl Case {
    fn config(&self) -> Config {
        let mut config = Config::of(self.protocol.parse().expect("it is registered"));
        for (name, value) in self.parameters {
            config.set(name, value).expect("it has the parameter");
        }
        config
    }

    fn program(&self) -> Arc<Program> {
        Arc::new(library::find(&format!("lib:add({})", self.width)).expect("in the library"))
    }

    fn name(&self) -> String {
        let Case { protocol, parameters, direction, before_end, .. } = self;
        format!("{protocol} {parameters:?} {direction:?}, {before_end} bytes before the end")
    }

    /// The results of all parties with a fault between the first two, and what went between these.
    async fn run(&self, fault: Option<Fault>) -> (Vec<Result<Report, Error>>, Transcript) {
        let (config, program) = (self.config(), self.program());
        let parties = party_count(&config);
        let (ends, transcript): (Vec<Ends>, Transcript) = match config.protocol().is_mesh() {
            true => {
                let fault = fault.map(|fault| PairFault { low: 0, high: 1, fault });
                let (meshes, transcripts) = intercepted_mesh(parties, fault);
                (meshes.into_iter().map(Ends::from).collect(), transcripts.into_iter().next().expect("a first pair").1)
            }
            false => {
                let (left, right, transcript) = intercepted_pair(fault);
                (vec![left.into(), right.into()], transcript)
            }
        };
        let lives = (0..parties).zip(ends).map(|(number, ends)| {
            let life = party(Party(number), ends, parties, config.clone(), program.clone());
            tokio::spawn(tokio::time::timeout(Duration::from_secs(60), life))
        });
        let lives: Vec<_> = lives.collect();
        let mut results = Vec::new();
        for life in lives {
            results.push(life.await.expect("no panic").expect("nobody hangs"));
        }
        (results, transcript)
    }

    /// The refusals in all frames.
    async fn refusals(&'static self) -> BTreeSet<String> {
        let (honest, transcript) = self.run(None).await;
        assert!(honest.iter().all(Result::is_ok), "{}: all are honest", self.name());
        let mut refusals = BTreeSet::new();
        for fault in flips_before_ends(&transcript.frames(), self.direction, self.before_end) {
            let (results, _) = self.run(Some(fault)).await;
            let (from, to) = if self.direction == Forth { (0, 1) } else { (1, 0) };
            if let Err(error) = &results[to]
                && let Some(what) = refused(error, from)
            {
                refusals.insert(what);
            }
        }
        refusals
    }
}

/// The message of party `from` that was refused for bits beyond the last one, if that is the reason.
fn refused(error: &Error, from: u16) -> Option<String> {
    match error {
        Error::Peer { party, source } if *party == Party(from) => refused(source, from),
        Error::Net(NetError::Malformed { what, expected, got }) => {
            (expected == "zeros where the last byte is filled up" && got == "other bits").then(|| what.clone())
        }
        Error::Ot(garblet_ot::OtError::NonZeroPadding { what, bits }) => Some(format!("{what}: {bits} bits")),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bits_beyond_the_last_of_any_message_are_refused() {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let chosen = std::env::var("GARBLET_TEST_PROTOCOL").ok();
    let cases = CASES.iter().filter(|case| chosen.as_deref().is_none_or(|chosen| chosen == case.protocol));
    let runs = cases.map(|case| {
        let places = places.clone();
        let refusals = tokio::spawn(async move {
            let _place = places.acquire().await.expect("it stays open");
            case.refusals().await
        });
        (case, refusals)
    });
    let runs: Vec<_> = runs.collect();
    for (case, refusals) in runs {
        let refusals = refusals.await.expect("no panic");
        assert!(refusals.iter().eq(case.refusals), "{}: {refusals:?}", case.name());
    }
}
