//! `garblet plan`: the cost of a program under each protocol, without running it.

use garblet::{
    Adversary, Alternative, Communication, Config, Phase, Precision, Prediction, Program, Protocol, SavedValues,
    net::{DEFAULT_TIMEOUT, SimulatedLink},
    run_report::ProgramPart,
};
use garblet_console::{
    args::Param,
    failure::Failure,
    hints::explain,
    output::{bytes, count, print, print_json, seconds, table},
    program,
    reach::ReachPart,
    report::must_not_collude,
    settings::{PartyCount, Settings, party_range},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{inspect::garbled_text, jobs::options::SubjectArgs};

/// The largest program, in gates, that is tried with every protocol, since some need all gates in memory at once.
const GATES_MAX: u64 = 1 << 27;

/// The options of `garblet plan`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Show only this protocol, for each party and phase
    #[arg(long)]
    protocol: Option<String>,
    /// Show only protocols that are secure against such parties: semi-honest, covert or malicious
    #[arg(long, value_name = "ADVERSARY", conflicts_with = "protocol")]
    adversary: Option<Adversary>,
    /// A parameter of the protocol
    #[arg(long = "param", value_name = "NAME=VALUE", requires = "protocol")]
    params: Vec<Param>,
    /// The number of parties
    #[arg(long, value_name = "N", conflicts_with = "job")]
    parties: Option<u16>,
    /// Plan for N rows in one run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,
    /// Also show the time of messages on links with this one-way latency and rate, for instance 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: Option<SimulatedLink>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The cost of a run under a protocol.
pub(crate) struct Cost {
    config: Config,
    prediction: Prediction,
    /// The ways to run, if the link decides.
    alternatives: Vec<Alternative>,
}

/// A protocol that cannot run the program.
#[derive(Serialize)]
struct LeftOut {
    protocol: &'static str,
    reason: String,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let job = options.subject.job()?;
    let program = match &job {
        Some(job) => {
            job.check_rows(options.batch)?;
            program::batch(job.program()?, options.batch)?
        }
        None => {
            let args = options.subject.program_args().of_rows(options.batch);
            let named = options.protocol.as_deref().and_then(|name| name.parse::<Protocol>().ok());
            let reads_gates = named.is_some_and(Protocol::reads_gates);
            if reads_gates { program::load_in_place(&args)? } else { program::load(&args)? }
        }
    };
    let (costs, left_out) = match (&job, &options.protocol) {
        (Some(job), _) => {
            (vec![Cost::of(&program, &job.settings(DEFAULT_TIMEOUT), Some(job.counted_parties()))?], Vec::new())
        }
        (None, Some(name)) => (vec![options.asked(&program, name)?], Vec::new()),
        (None, None) => options.all(&program),
    };
    if options.json {
        return print_json(&options.object(&program, &costs, &left_out));
    }
    let counts = ProgramPart::of(&program);
    let mut text = format!(
        "{}: {} AND gates, AND depth {}\n{}{}\n",
        program.name(),
        count(counts.and),
        count(counts.and_depth),
        garbled_text(&counts),
        ReachPart::of(&program).text()
    );
    match (options.protocol.is_some() || job.is_some(), &costs[..]) {
        (true, [cost]) => text += &cost.by_phase(options.link),
        (false, []) => text.push_str("no protocol can run this\n"),
        _ => text += &overview(&costs, options.link),
    }
    for cost in &costs {
        text += &cost.choice();
        if let Some(collusion) = cost.config.protocol().collusion() {
            let parties = cost.prediction.parties.len() as u16;
            text += &format!("{}: {}\n", cost.config.protocol(), must_not_collude(collusion, parties));
        }
        if let Precision::Mean(how) = cost.config.protocol().precision() {
            text += &format!("{}: {how}\n", cost.config.protocol());
        }
    }
    if options.link.is_some() {
        text.push_str("on the link: without computation, which `garblet local --link` measures too\n");
    }
    for same in left_out.chunk_by(|a, b| a.reason == b.reason) {
        let names: Vec<&str> = same.iter().map(|left| left.protocol).collect();
        text += &format!("left out: {}: {}\n", names.join(", "), same[0].reason);
    }
    print(&text)
}

impl Options {
    /// The requested number of parties, if there is one.
    fn party_count(&self) -> Option<PartyCount> {
        self.parties.map(PartyCount::Option)
    }

    /// The requested protocol.
    fn asked(&self, program: &Program, name: &str) -> Result<Cost, Failure> {
        let protocol = name.parse().map_err(|e| Failure::call(format!("--protocol: {e}")))?;
        Cost::of(program, &self.settings(protocol)?, self.party_count())
    }

    /// The settings of a protocol. Parameters that are not given are those that the link decides.
    fn settings(&self, protocol: Protocol) -> Result<Settings, Failure> {
        let mut settings = Settings::of(protocol, self.params.clone(), DEFAULT_TIMEOUT);
        if let Some(link) = self.link {
            settings.let_link_decide(link)?;
        }
        Ok(settings)
    }

    /// All protocols that can run the program, and the reasons why others cannot.
    fn all(&self, program: &Program) -> (Vec<Cost>, Vec<LeftOut>) {
        let (mut costs, mut left_out) = (Vec::new(), Vec::new());
        let withstands = |protocol: &Protocol| self.adversary.is_none_or(|asked| protocol.adversary() >= asked);
        for protocol in Protocol::ALL.iter().copied().filter(withstands) {
            let cost = match self.obstacle(program, protocol) {
                Some(reason) => Err(reason),
                None => {
                    let settings = self.settings(protocol);
                    settings
                        .and_then(|settings| Cost::of(program, &settings, self.party_count()))
                        .map_err(|f| f.message)
                }
            };
            match cost {
                Ok(cost) => costs.push(cost),
                Err(reason) => left_out.push(LeftOut { protocol: protocol.name(), reason }),
            }
        }
        left_out.sort_by(|a, b| a.reason.cmp(&b.reason));
        (costs, left_out)
    }

    /// The reason that a protocol cannot run the program, or is not tried unless requested.
    fn obstacle(&self, program: &Program, protocol: Protocol) -> Option<String> {
        let (parties, counts) = (protocol.parties(), program.counts());
        let fits = match self.parties {
            Some(asked) => parties.contains(&asked),
            None => program.party_count() <= *parties.end(),
        };
        let large = protocol.is_mesh() && counts.and + counts.xor > GATES_MAX;
        match fits {
            false => Some(format!("{} parties only", party_range(protocol))),
            true => large.then(|| "needs all gates in memory; choose it with --protocol".into()),
        }
    }

    fn object(&self, program: &Program, costs: &[Cost], left_out: &[LeftOut]) -> Value {
        json!({
            "program": ProgramPart::of(program),
            "reach": ReachPart::of(program),
            "link": self.link.map(|link| link.to_string()),
            "protocols": costs.iter().map(|cost| cost.object(self.link)).collect::<Vec<_>>(),
            "left_out": left_out,
        })
    }
}

impl Cost {
    /// The cost of a program for this number of parties, or for as many as it needs.
    ///
    /// *Errors*: the protocol cannot run the program, or not with this number of parties.
    pub(crate) fn of(program: &Program, settings: &Settings, parties: Option<PartyCount>) -> Result<Self, Failure> {
        let parties = settings.parties(program, parties)?;
        let plan = settings.plan(program.clone(), parties, SavedValues::default())?;
        let prediction = plan.predict().map_err(|error| explain(&error))?;
        Ok(Cost { config: settings.config()?, prediction, alternatives: plan.alternatives() })
    }

    /// The total cost of several phases: the most bytes that a party sends, the most rounds that one waits.
    fn most(&self, phases: &[Phase]) -> Option<[u64; 2]> {
        let mut most = [0; 2];
        for party in &self.prediction.parties {
            let mut sum = Communication::default();
            for phase in phases {
                sum += party[*phase as usize]?;
            }
            most = [most[0].max(sum.bytes_sent), most[1].max(sum.rounds)];
        }
        Some(most)
    }

    fn link_seconds(&self, phases: &[Phase], link: SimulatedLink) -> Option<f64> {
        phases.iter().map(|phase| self.prediction.link_seconds(*phase, link)).sum()
    }

    /// A line for each phase and party.
    pub(crate) fn by_phase(&self, link: Option<SimulatedLink>) -> String {
        let mut heads: Vec<String> = ["phase", "party", "sends", "receives", "rounds"].map(Into::into).into();
        heads.extend(link.map(|_| "on the link".into()));
        let mut rows = vec![heads];
        for phase in Phase::ALL {
            for (party, costs) in self.prediction.parties.iter().enumerate() {
                let Some(cost) = costs[phase as usize] else { continue };
                let Communication { bytes_sent, bytes_received, rounds } = cost;
                let mut row = vec![phase.name().into(), party.to_string()];
                row.extend([bytes(bytes_sent), bytes(bytes_received), rounds.to_string()]);
                row.extend(link.and_then(|link| self.prediction.link_seconds(phase, link)).map(seconds));
                rows.push(row);
            }
        }
        format!("{} ({})\n{}", self.config.protocol(), self.config.adversary(), table(&rows))
    }

    /// A line for each way to run, if the link decides: with the computing, as far as it differs.
    fn choice(&self) -> String {
        if self.alternatives.is_empty() {
            return String::new();
        }
        let mut rows = vec![vec![format!("{} may take", self.config.protocol()), "expected".into(), String::new()]];
        for Alternative { parameters, seconds: time, chosen } in &self.alternatives {
            let values: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            rows.push(vec![values.join(" "), seconds(*time), if *chosen { "chosen" } else { "" }.into()]);
        }
        table(&rows) + "\n"
    }

    /// The object of `--json`.
    pub(crate) fn object(&self, link: Option<SimulatedLink>) -> Value {
        let phases = |of: &dyn Fn(Phase) -> Value| -> Value {
            Phase::ALL.iter().map(|phase| (phase.name().to_owned(), of(*phase))).collect::<Map<_, _>>().into()
        };
        let party = |(number, costs): (usize, &[Option<Communication>; 4])| json!({ "party": number, "phases": phases(&|phase| json!(costs[phase as usize])) });
        let mut object = json!({
            "protocol": self.config.protocol().name(),
            "adversary": self.config.adversary().name(),
            "parties": self.prediction.parties.len(),
            "exact": self.prediction.exact,
            "per_party": self.prediction.parties.iter().enumerate().map(party).collect::<Vec<_>>(),
            "link_seconds": link.map(|link| phases(&|phase| json!(self.prediction.link_seconds(phase, link)))),
        });
        if !self.alternatives.is_empty() {
            let alternative = |Alternative { parameters, seconds, chosen }: &Alternative| {
                let parameters: Map<String, Value> =
                    parameters.iter().map(|(name, value)| ((*name).into(), json!(value))).collect();
                json!({ "parameters": parameters, "seconds": seconds, "chosen": chosen })
            };
            object["alternatives"] = self.alternatives.iter().map(alternative).collect::<Vec<_>>().into();
        }
        if let Some(collusion) = self.config.protocol().collusion() {
            object["collusion"] = json!(collusion);
        }
        object
    }
}

/// A line for each protocol.
fn overview(costs: &[Cost], link: Option<SimulatedLink>) -> String {
    let mut heads: Vec<String> =
        ["protocol", "adversary", "parties", "ahead", "rounds", "online", "rounds"].map(Into::into).into();
    heads.extend(link.iter().flat_map(|_| ["ahead on the link", "online on the link"]).map(Into::into));
    let mut rows = vec![heads];
    for cost in costs {
        let mut row = vec![
            cost.config.protocol().to_string(),
            cost.config.adversary().to_string(),
            cost.prediction.parties.len().to_string(),
        ];
        let stages: [&[Phase]; 2] = [&[Phase::Setup, Phase::Prepare, Phase::Build], &[Phase::Online]];
        for phases in stages {
            match cost.most(phases) {
                Some([sent, rounds]) => row.extend([bytes(sent), rounds.to_string()]),
                None => row.extend(["-".into(), "-".into()]),
            }
        }
        if let Some(link) = link {
            row.extend(stages.map(|phases| cost.link_seconds(phases, link).map_or("-".into(), seconds)));
        }
        rows.push(row);
    }
    table(&rows) + "\nahead, online: sent before the inputs are known, and after, by the party that sends most\n"
}
