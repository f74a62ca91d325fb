//! Runs: with a peer, and of both parties here.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use garblet::{
    Bits, Class, Config, Ends, Error, Outcome, Party, Peer, Phase, Plan, Progress, Report, check_panics,
    circuit::diagnostic::Diagnostics,
    formats::value::{Arrange, KeyHash, arrange, read_inputs, to_json},
    net::{Fingerprint, Mesh, Options, SessionName, Tls, Traffic, connect_over, memory_pair},
    results,
};
use garblet_console::{
    args::Param,
    failure::Failure,
    hints::{explain, panic_failure},
    job::Job,
    met::{self, Watched},
    output::heard,
    receipts::text::LogText,
};
use js_sys::Function;
use send_wrapper::SendWrapper;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_time::Instant;
use zeroize::Zeroizing;

use crate::{
    code::{Code, Coded},
    error::{Thrown, coded, ended, failed, refused, set, thrown, thrown_coded},
    identity::Identity,
    job::{check_calls, check_two, fingerprints, party_of, texts, without},
    numbers::unmarked,
    program::Program,
    receipt::{Recorded, Recorder},
    wire::Wire,
};

/// The time between two progress reports.
const PACE: Duration = Duration::from_millis(100);

/// The settings of a run, besides its program, inputs and identity. Those that a job says are missing under one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    party: Option<u16>,
    protocol: String,
    params: BTreeMap<String, String>,
    trust: BTreeMap<String, String>,
    session: Option<String>,
    timeout_ms: u32,
    /// The log to which the receipt is added; none if there is none.
    receipts: Option<String>,
}

/// The agreement of a run, and the peers that may take part.
struct Agreed {
    party: Party,
    config: Config,
    settings: garblet_console::settings::Settings,
    /// The only peers to accept.
    trusted: Vec<(String, Fingerprint)>,
    /// Names of peers, for messages and receipts.
    names: Vec<(String, Fingerprint)>,
    keys: Option<KeyHash>,
}

impl Settings {
    fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }

    /// The agreement of options, one by one.
    fn alone(&self) -> Result<Agreed, Thrown> {
        let missing = || failed(&"party: expected a number, got nothing", "give 0 or 1, or a job with identities");
        let party = Party(self.party.ok_or_else(missing)?);
        let config = config(&self.protocol, &self.params)?;
        check_calls(&config, Some(party)).map_err(|failure| thrown(&failure))?;
        let param = |(name, value): (&String, &String)| Param { name: name.clone(), value: value.clone() };
        let params = self.params.iter().map(param).collect();
        let settings = garblet_console::settings::Settings::of(config.protocol(), params, self.timeout());
        let trusted = self.trusted()?;
        Ok(Agreed { party, config, settings, names: trusted.clone(), trusted, keys: None })
    }

    /// The agreement of a job. Its other party is the only peer, if it names identities.
    fn under(&self, job: &Job, program: &garblet::Program, own: Fingerprint) -> Result<Agreed, Thrown> {
        let mut names = fingerprints(&self.trust)?;
        let agreed = || {
            job.check_names(&names)?;
            job.check_program(program)?;
            check_two(job)?;
            job.check_parties(program)?;
            let party = job.party_of_own(|| Ok(Some(own)), self.party)?;
            Ok((party, party_of(job, Some(party))?, job.settings(self.timeout())))
        };
        let (party, config, settings) = agreed().map_err(|failure: Failure| thrown(&failure))?;
        let trusted = match job.peer_of(party) {
            Some(peer) => vec![peer],
            None => self.trusted()?,
        };
        names.extend(job.names());
        Ok(Agreed { party, config, settings, trusted, names, keys: job.key_hash() })
    }

    fn trusted(&self) -> Result<Vec<(String, Fingerprint)>, Thrown> {
        if self.trust.is_empty() {
            let hint = "give the peer's fingerprint, as `garblet id` prints it";
            return Err(coded(failed(&"trust: nobody is trusted", hint), Code::Trust));
        }
        fingerprints(&self.trust)
    }

    fn session(&self) -> Result<Option<SessionName>, Thrown> {
        let session = self.session.as_ref().map(|name| name.parse()).transpose();
        session.map_err(|error| failed(&format!("session: {error}"), "for instance join-0041"))
    }
}

/// The protocol of that name with these parameters.
fn config(protocol: &str, params: &BTreeMap<String, String>) -> Result<Config, Thrown> {
    let mut config = Config::of(protocol.parse().map_err(|_| thrown(&without("protocol", protocol)))?);
    for (name, value) in params {
        config.set(name, value).map_err(|error| failed(&format!("params: {error}"), "give what is expected"))?;
    }
    Ok(config)
}

/// One run with a peer that is not connected yet.
#[wasm_bindgen]
pub struct Run {
    program: Arc<garblet::Program>,
    config: Config,
    party: Party,
    inputs: Vec<Bits>,
    plan: Plan,
    options: Options,
    recorder: Option<Recorder>,
}

/// The largest WebSocket message that is accepted. Each message of a peer has one TLS record, and a relay may join several.
const MESSAGE_BYTES_MAX: u32 = 16 << 20;

/// The most bytes that may wait if no formula gives the peer's traffic, as with `components`.
const UNKNOWN_BYTES_MAX: u64 = 1 << 30;

#[wasm_bindgen]
impl Run {
    /// Prepares everything, so that mistakes show before the peer is connected. `inputs` and `settings` are JSON objects; `program` is that of the job,
    /// if there is one.
    pub fn begin(
        program: &Program,
        job: Option<crate::Job>,
        inputs: String,
        identity: Identity,
        settings: &str,
    ) -> Result<Run, Thrown> {
        let inputs = Zeroizing::new(inputs);
        let said: Settings = serde_json::from_str(settings).map_err(|_| other_options())?;
        let (program, own) = (program.0.clone(), identity.0.fingerprint());
        let agreed = match &job {
            Some(job) => said.under(&job.job, &program, own)?,
            None => said.alone()?,
        };
        let Agreed { party, config, settings, trusted, names, keys } = agreed;
        if party.0 > 1 {
            return Err(failed(&format!("party: expected 0 or 1, got {party}"), "a page computes with one peer"));
        }
        let inputs = values(&program, party, &inputs, keys.as_ref())?;
        let plan = Plan::new(program.clone(), 2, &config).map_err(|error| ended(&error))?;
        let plan = settings.job.iter().cloned().fold(plan, Plan::under);
        let options = settings.options(Some(Tls::new(identity.0, trusted))).map_err(|failure| thrown(&failure))?;
        let options = Options { session: said.session()?, ..options };
        let recorder = said.receipts.as_ref().map(|log| {
            let (log, notes) = heard(|| LogText::read("receipts", log));
            log.map(|log| Recorder { log, notes, settings, identity: own, names })
        });
        let wrong = |failure| thrown_coded(&Coded::given(failure, Code::Receipts));
        let recorder = recorder.transpose().map_err(wrong)?;
        Ok(Run { config, party, inputs, plan, options, program, recorder })
    }

    /// The most bytes that may wait to be read: all that the peer sends in this run, with what TLS adds, and the largest message on top. A WebSocket
    /// cannot tell the peer to wait.
    #[wasm_bindgen(getter, js_name = waitingMax)]
    pub fn waiting_max(&self) -> f64 {
        let all: Option<u64> = Phase::ALL.into_iter().map(|phase| self.plan.most_received(self.party, phase)).sum();
        1.25 * all.unwrap_or(UNKNOWN_BYTES_MAX) as f64 + 2.0 * f64::from(MESSAGE_BYTES_MAX)
    }

    /// The most bytes of one message.
    #[wasm_bindgen(getter, js_name = messageMax)]
    pub fn message_max(&self) -> u32 {
        MESSAGE_BYTES_MAX
    }

    /// Computes with the peer at the other end of `wire`, and returns the report as a JSON object. `progress` is called with phase, gates done and
    /// gates in all. If there is a log, report and error have the receipt.
    pub async fn meet(self, wire: &Wire, progress: Function) -> Result<String, Thrown> {
        let mut watched = Watched::default();
        let outcome = self.compute(wire, progress, &mut watched).await;
        let outcome = outcome.map_err(|failure| wire.wrong().map_or(failure, Coded::from));
        self.end(outcome, &watched)
    }

    /// The error of a run whose peer could not be reached, for this reason.
    pub fn unmet(self, reason: &str, hint: &str) -> Thrown {
        let failure = Failure::no_result(reason).hint(hint).of_class(Class::Network);
        match self.record(Err(&failure), &Watched::default()) {
            Ok(recorded) => unsuccessful(&failure.into(), recorded),
            Err(thrown) => thrown,
        }
    }
}

impl Run {
    async fn compute(&self, wire: &Wire, progress: Function, watched: &mut Watched) -> Result<Outcome, Coded> {
        let channel = connect_over(wire.stream(), &self.options).await.map_err(|error| Coded::from(&error))?;
        let mut ends: Ends = match self.config.protocol().is_mesh() {
            true => Mesh::pair(self.party.0, channel).await.map_err(|error| Coded::from(&error))?.into(),
            false => channel.into(),
        };
        watched.begin(&mut ends, self.party);
        let progress = Box::new(Told::new(progress));
        let outcome = one_party(&self.plan, self.party, ends, &self.inputs, progress).await;
        outcome.map_err(|error| Coded::from(&error))
    }

    /// The report or the error of a run, with its receipt if there is a log.
    fn end(self, outcome: Result<Outcome, Coded>, watched: &Watched) -> Result<String, Thrown> {
        let said = match &outcome {
            Ok(outcome) => said(&self.program, &self.config, outcome).map_err(Coded::from),
            Err(failure) => Err(failure.clone()),
        };
        let outcome = outcome.map(|outcome| met::Outcome::of(outcome, watched.met.clone()));
        let recorded = self.record(outcome.as_ref().map_err(|ended| &ended.failure), watched)?;
        match said {
            Ok(mut report) => {
                if let (Some(recorded), Some(report)) = (recorded, report.as_object_mut()) {
                    report.extend(recorded.members());
                }
                Ok(report.to_string())
            }
            Err(failure) => Err(unsuccessful(&failure, recorded)),
        }
    }

    /// The receipt of a run that has ended, if there is a log.
    fn record(self, ended: Result<&met::Outcome, &Failure>, watched: &Watched) -> Result<Option<Recorded>, Thrown> {
        let recorded = self.recorder.map(|recorder| recorder.end((&self.program, self.party), watched, ended));
        let unrecorded =
            |failure: Failure| thrown(&failure.hint("the run did end, and its peer may have a receipt of it"));
        recorded.transpose().map_err(unrecorded)
    }
}

/// The error of a run without a result, with its receipt if there is a log.
fn unsuccessful(failure: &Coded, recorded: Option<Recorded>) -> Thrown {
    let thrown = thrown_coded(failure);
    if let Some(recorded) = recorded {
        set(&thrown, "recorded", &Value::from_iter(recorded.members()).to_string().into());
    }
    thrown
}

/// Computes as both parties, in memory, and returns both reports as a JSON array, for experiments. `inputs` is a JSON object of the inputs of both.
#[wasm_bindgen(js_name = runTogether)]
pub async fn run_together(
    program: &Program,
    inputs: String,
    protocol: String,
    params: String,
) -> Result<String, Thrown> {
    let inputs = Zeroizing::new(inputs);
    let params = serde_json::from_str(&params).map_err(|_| other_options())?;
    let config = config(&protocol, &params)?;
    let all: Map<String, Value> = serde_json::from_str(&inputs)
        .map_err(|_| failed(&"inputs: expected an object", "give each input by its name"))?;
    let plan = Plan::new(program.0.clone(), 2, &config).map_err(|error| ended(&error))?;
    let mut own = Vec::new();
    for party in [Party(0), Party(1)] {
        let names: Vec<&String> =
            program.0.inputs().iter().filter(|input| input.owner == party).map(|input| &input.port.name).collect();
        let part: Map<String, Value> = all
            .iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        own.push(values(&program.0, party, &Value::Object(part).to_string(), None)?);
    }
    let [left, right] = ends(&config);
    let (left, right) = tokio::join!(
        one_party(&plan, Party(0), left, &own[0], Box::new(())),
        one_party(&plan, Party(1), right, &own[1], Box::new(()))
    );
    let said = |outcome: Result<Outcome, Error>| said(&program.0, &config, &outcome.map_err(|error| explain(&error))?);
    let reports = [left, right].map(|outcome| said(outcome).map_err(|failure| thrown(&failure)));
    let [left, right] = reports;
    Ok(format!("[{},{}]", left?, right?))
}

/// The two ends of a connection in memory.
fn ends(config: &Config) -> [Ends; 2] {
    let mesh = || {
        let mut all = Mesh::memory(2).into_iter().map(Ends::from);
        Some([all.next()?, all.next()?])
    };
    let channel = || {
        let (left, right) = memory_pair();
        [left, right].map(Ends::from)
    };
    config.protocol().is_mesh().then(mesh).flatten().unwrap_or_else(channel)
}

/// The values of a party's inputs, in program order. Text keys are hashed if the parties do that.
pub(crate) fn values(
    program: &garblet::Program,
    party: Party,
    inputs: &str,
    keys: Option<&KeyHash>,
) -> Result<Vec<Bits>, Thrown> {
    let texts = keys.map(|keys| texts(keys, program)).transpose()?;
    let given = texts.as_ref().unwrap_or(program);
    let unmarked = unmarked(given, inputs).map_err(|(name, ty)| {
        let hint =
            "give a text or the name of a variant as a string, and bytes as a Uint8Array or an array of integers";
        coded(failed(&format!("input `{name}`: expected {ty}, got a number in place of a text"), hint), Code::Inputs)
    })?;
    let read = read_inputs(given, party, "inputs", &unmarked);
    let mut values = read.map_err(|wrong: Diagnostics| refused(&wrong))?;
    let hashed = keys.map_or(Ok(()), |keys| keys.hash(program, &mut values));
    let arranged = hashed.and_then(|()| arrange(program, &mut values, Arrange::Check));
    arranged.map_err(|unfit| refused(&unfit.diagnose("inputs", None).into()))?;
    Ok(values.into_iter().map(|(_, bits)| bits).collect())
}

/// The error for options of other types. It does not repeat the value, which may be an identity in the wrong place.
fn other_options() -> Thrown {
    failed(&"options: expected the documented names and types, got others", "see garblet.d.ts")
}

async fn one_party(
    plan: &Plan,
    party: Party,
    ends: Ends,
    inputs: &[Bits],
    progress: Box<dyn Progress>,
) -> Result<Outcome, Error> {
    Peer::open(plan, party, ends, rand::rng(), progress).await?.finish(inputs).await
}

/// The report as JSON, as `Report.to_dict` of the Python package returns it.
fn said(program: &garblet::Program, config: &Config, outcome: &Outcome) -> Result<Value, Failure> {
    let Report { party, role, decided, outputs, phases, security } = &outcome.report;
    check_panics(program, outputs).map_err(|error| panic_failure(&error))?;
    let known = results(program).filter_map(|(at, output)| Some((output, outputs.get(at)?.as_ref()?)));
    let known: Map<String, Value> =
        known.map(|(output, bits)| (output.port.name.clone(), to_json(&output.port.ty, bits))).collect();
    let cost = |phase: Phase| {
        let cost = phases.of(phase);
        let communication = cost.communication;
        let said = json!({
            "seconds": cost.seconds,
            "bytesSent": communication.bytes_sent,
            "bytesReceived": communication.bytes_received,
            "rounds": communication.rounds,
        });
        (phase.name().to_string(), said)
    };
    Ok(json!({
        "outputs": known,
        "party": party.0,
        "role": role,
        "protocol": config.protocol().name(),
        "adversary": config.adversary().name(),
        "decided": decided,
        "costs": Phase::ALL.into_iter().map(cost).collect::<Map<_, _>>(),
        "security": security,
        "closing": outcome.closing.as_ref().map(Error::to_string),
    }))
}

/// Reports progress to JavaScript, but not too often.
struct Told {
    tell: SendWrapper<Function>,
    phase: Phase,
    last: Option<Instant>,
}

impl Told {
    fn new(tell: Function) -> Self {
        Told { tell: SendWrapper::new(tell), phase: Phase::Setup, last: None }
    }

    fn tell(&mut self, done: u64, all: u64) {
        // An error in the page's callback does not concern the run.
        let _ = self.tell.call3(
            &JsValue::UNDEFINED,
            &self.phase.name().into(),
            &(done as f64).into(),
            &(all as f64).into(),
        );
    }
}

impl Progress for Told {
    fn advance(&mut self, done: u64, all: u64, _: Traffic) {
        if self.last.is_none_or(|last| last.elapsed() >= PACE) || done == all {
            self.last = Some(Instant::now());
            self.tell(done, all);
        }
    }

    fn enter(&mut self, phase: Phase) {
        if phase != self.phase {
            self.phase = phase;
            self.tell(0, 0);
        }
    }
}
