//! Runs: with a peer, and of both parties here.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use garblet::{
    Bits, Config, Ends, Error, Outcome, Party, Peer, Phase, Plan, Progress, Report, check_panics,
    circuit::diagnostic::Diagnostics,
    formats::value::{Arrange, arrange, read_inputs, to_json},
    net::{Fingerprint, Mesh, Options, Tls, Traffic, connect_over, memory_pair},
    results,
};
use js_sys::Function;
use send_wrapper::SendWrapper;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_time::Instant;
use zeroize::Zeroizing;

use crate::{
    error::{Thrown, ended, failed, panicked, refused, unconnected},
    identity::Identity,
    program::Program,
    wire::Wire,
};

/// The time between two progress reports.
const PACE: Duration = Duration::from_millis(100);

/// The settings of a run, besides its program, inputs and identity.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    party: u16,
    protocol: String,
    params: BTreeMap<String, String>,
    trust: BTreeMap<String, String>,
    session: Option<String>,
    timeout_ms: u32,
}

impl Settings {
    fn options(&self, identity: Identity) -> Result<Options, Thrown> {
        if self.trust.is_empty() {
            let hint = "give the peer's fingerprint, as `garblet id` prints it";
            return Err(failed(&"trust: nobody is trusted", hint));
        }
        let mut trusted: Vec<(String, Fingerprint)> = Vec::new();
        for (name, text) in &self.trust {
            let wrong = |error| failed(&format!("trust: {name}: {error}"), "give it as `garblet id` prints it");
            trusted.push((name.clone(), text.parse().map_err(wrong)?));
        }
        let timeout = Duration::from_millis(self.timeout_ms.into());
        let session = self.session.as_ref().map(|name| name.parse()).transpose();
        let session = session.map_err(|error| failed(&format!("session: {error}"), "for instance join-0041"))?;
        Ok(Options {
            patience: timeout,
            timeout,
            tls: Some(Tls::new(identity.0, trusted)),
            session,
            ..Options::default()
        })
    }
}

/// The protocol of that name with these parameters.
fn config(protocol: &str, params: &BTreeMap<String, String>) -> Result<Config, Thrown> {
    let wrong = |error: &dyn std::fmt::Display| {
        failed(&error.to_string(), "the other protocols need a machine with threads and a disk")
    };
    let mut config = Config::of(protocol.parse().map_err(|error| wrong(&error))?);
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
}

/// The largest WebSocket message that is accepted. Each message of a peer has one TLS record, and a relay may join several.
const MESSAGE_BYTES_MAX: u32 = 16 << 20;

/// The most bytes that may wait if no formula gives the peer's traffic, as with `components`.
const UNKNOWN_BYTES_MAX: u64 = 1 << 30;

#[wasm_bindgen]
impl Run {
    /// Prepares everything, so that mistakes show before the peer is connected. `inputs` and `settings` are JSON objects.
    pub fn begin(program: &Program, inputs: String, identity: Identity, settings: &str) -> Result<Run, Thrown> {
        let inputs = Zeroizing::new(inputs);
        let settings: Settings = serde_json::from_str(settings).map_err(|_| other_options())?;
        let (config, party) = (config(&settings.protocol, &settings.params)?, Party(settings.party));
        if party.0 > 1 {
            return Err(failed(&format!("party: expected 0 or 1, got {party}"), "a page computes with one peer"));
        }
        let program = program.0.clone();
        let inputs = values(&program, party, &inputs)?;
        let plan = Plan::new(program.clone(), 2, &config).map_err(|error| ended(&error))?;
        Ok(Run { config, party, inputs, plan, options: settings.options(identity)?, program })
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
    /// gates in all.
    pub async fn meet(self, wire: &Wire, progress: Function) -> Result<String, Thrown> {
        let channel = connect_over(wire.stream(), &self.options).await.map_err(|error| unconnected(&error))?;
        let ends: Ends = match self.config.protocol().is_mesh() {
            true => Mesh::pair(self.party.0, channel).await.map_err(|error| unconnected(&error))?.into(),
            false => channel.into(),
        };
        let progress = Box::new(Told::new(progress));
        let outcome = one_party(&self.plan, self.party, ends, &self.inputs, progress).await;
        said(&self.program, &self.config, &outcome.map_err(|error| ended(&error))?)
    }
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
        own.push(values(&program.0, party, &Value::Object(part).to_string())?);
    }
    let [left, right] = ends(&config);
    let (left, right) = tokio::join!(
        one_party(&plan, Party(0), left, &own[0], Box::new(())),
        one_party(&plan, Party(1), right, &own[1], Box::new(()))
    );
    let reports = [left, right].map(|outcome| said(&program.0, &config, &outcome.map_err(|error| ended(&error))?));
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

/// The values of a party's inputs, in program order.
fn values(program: &garblet::Program, party: Party, inputs: &str) -> Result<Vec<Bits>, Thrown> {
    let read = read_inputs(program, party, "inputs", inputs);
    let mut values = read.map_err(|wrong: Diagnostics| refused(&wrong))?;
    let arranged = arrange(program, &mut values, Arrange::Check);
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
fn said(program: &Arc<garblet::Program>, config: &Config, outcome: &Outcome) -> Result<String, Thrown> {
    let Report { party, role, decided, outputs, phases, security } = &outcome.report;
    check_panics(program, outputs).map_err(|error| panicked(&error))?;
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
    })
    .to_string())
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
