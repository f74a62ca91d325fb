//! The time that a client waits: visits of two servers that have prepared all that does not depend on the program.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use garblet::{
    Bits,
    outsourced::{
        Outsourced,
        service::{Agreement, Event, Offer, ServiceId, WayTo, call},
    },
};
use garblet_client::{Begun, Invitation, Receipt, Server, Visit};
use garblet_console::{
    failure::{Failure, reason},
    hints::explain,
    session::block_on,
};
use garblet_net::{Call, Fingerprint, Identity};

use super::{
    chains::{Chain, Example, Kept, Step},
    measure::{Answered, Way},
    programs::{CLIENT, CLOUD, GENERATOR},
};
use garblet_cli::{
    serve::both::{Both, invitations},
    slow::Relays,
};

/// The client.
const NAME: &str = "client";
/// Stores hold this many times what all visits take, as servers refill them when less than half is left.
const SPARE: u64 = 2;

/// Visits two servers that each have ready what all visits take: each step of each chain in turn, repeatedly. Returns the times of each
/// step, chain by chain.
///
/// *Errors*: servers that cannot be started; a visit without an answer, or with another than the plain evaluator's.
pub(super) fn measure(chains: &[Chain], way: &Way) -> Result<Vec<Answered>, Failure> {
    let mut visitor = Visitor::start(chains, way)?;
    let mut relays = Relays::of(way.slow);
    for (address, server) in visitor.addresses.iter_mut().zip([GENERATOR, CLOUD]) {
        *address = relays.way(CLIENT.0.into(), server.0.into(), address)?;
    }
    let steps = chains.iter().flat_map(|chain| chain.steps.iter().map(move |step| (chain, step)));
    let (mut kept, mut rounds) = (Kept::new(), Vec::new());
    while rounds.len() < way.repeat {
        let made = visitor.made.load(Ordering::Relaxed);
        let visit = |(chain, step): (&Chain, &Step)| visitor.visit(step, &chain.example(step, &mut kept));
        let round: Vec<f64> = steps.clone().map(visit).collect::<Result<_, _>>()?;
        // While servers prepare, a client waits: that time is not part of a visit.
        if made >= visitor.wanted && made == visitor.made.load(Ordering::Relaxed) {
            rounds.push(round);
        }
    }
    let of_step = |at: usize| {
        let mut times: Vec<f64> = rounds.iter().map(|round| round[at]).collect();
        times.sort_by(f64::total_cmp);
        Answered { seconds_least: times[0], seconds_median: times[times.len() / 2] }
    };
    Ok((0..steps.count()).map(of_step).collect())
}

/// A client, and all that it needs to come.
struct Visitor {
    agreement: Arc<Agreement>,
    invitations: [Invitation; 2],
    /// Of generator and cloud.
    addresses: [String; 2],
    /// By name of the state; of visits without one, by no name.
    receipts: BTreeMap<String, Receipt>,
    counter: u64,
    /// Triples that the servers have begun to make while nobody waited.
    made: Arc<AtomicU64>,
    /// The least of them that are there before a visit is timed.
    wanted: u64,
    /// The place of the servers' stores.
    _folder: tempfile::TempDir,
}

impl Visitor {
    /// Starts both servers.
    fn start(chains: &[Chain], way: &Way) -> Result<Self, Failure> {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::no_result(format!("no folder: {}", reason(&error))))?;
        let identities = [(); 2].map(|()| Identity::generate(&mut rand::rng()));
        let servers = identities.each_ref().map(|identity| garblet_client::Identity(identity.public_key()));
        let steps: Vec<(&Chain, &Step)> =
            chains.iter().flat_map(|chain| chain.steps.iter().map(move |step| (chain, step))).collect();
        let offers = steps.iter().map(|(_, step)| Offer {
            name: step.name.clone(),
            program: Arc::new(step.program.clone()),
            clients: vec![vec![NAME.into()]],
            saved: step.saved.clone(),
            first: false,
        });
        let config = way.setting.settings().config()?;
        let shares = config.get::<Outsourced>().map(|config| config.shares).unwrap_or_default();
        let (service, clients) = (ServiceId(rand::random()), vec![NAME.to_string()]);
        let agreement = Agreement::new(service, servers, clients, offers.collect(), BTreeMap::new(), shares);
        let agreement = Arc::new(agreement.map_err(|error| explain(&error))?);
        let rounds = SPARE * (way.repeat as u64 + 1);
        let [triples, masks] = steps.iter().fold([0, 0], |[triples, masks], (_, step)| {
            let [of_triples, of_masks] = step.takes();
            [triples + rounds * of_triples, masks + rounds * of_masks]
        });
        let generator = |(chain, step): &(&Chain, &Step)| {
            let inputs: Vec<Bits> = step.program.inputs().iter().filter_map(|input| chain.gives(step, input)).collect();
            (!inputs.is_empty()).then(|| (step.name.clone(), inputs))
        };
        let both = Both {
            agreement: &agreement,
            folder: folder.path(),
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            origins: None,
            generator_inputs: steps.iter().filter_map(generator).collect(),
            stock: vec![("triples".into(), triples), ("masks".into(), masks)],
        };
        let invitations = invitations(&identities, NAME)?;
        let made = Arc::new(AtomicU64::new(0));
        let count = made.clone();
        let addresses = both.start(identities, move |server, event| {
            if let (Server::Generator, Event::Filling(amounts)) = (server, event) {
                count.fetch_add(amounts.triples, Ordering::Relaxed);
            }
        })?;
        let (addresses, wanted) = (addresses.map(|address: SocketAddr| address.to_string()), triples / SPARE);
        let (receipts, counter) = (BTreeMap::new(), 0);
        Ok(Visitor { agreement, invitations, addresses, receipts, counter, made, wanted, _folder: folder })
    }

    /// Visits both servers; the seconds from dealing to the opened answer.
    fn visit(&mut self, step: &Step, example: &Example) -> Result<f64, Failure> {
        let state = step.state().unwrap_or_default();
        let receipt = self.receipts.remove(state).unwrap_or_else(|| Receipt::first(state)).with_counter(self.counter);
        let job = self.agreement.job(&step.name, &[NAME.into()], "", receipt.version());
        let job = job.map_err(|error| explain(&error))?;
        let values: Vec<Bits> = step.of_party(&example.inputs, CLIENT).into_iter().map(|(_, bits)| bits).collect();
        let input = job.join_inputs(CLIENT, &values).map_err(Failure::no_result)?;
        let calls = Server::BOTH.map(|server| Call::new(Fingerprint::of_ed25519(&self.agreement.server(server).0)));
        let [generator, cloud] = &self.invitations;
        let began = Instant::now();
        let begun = Visit::begin(&job, [generator, cloud], &receipt, &input, &mut rand::rng());
        let Begun { visit, to_generator, to_cloud, .. } = begun.map_err(Failure::no_result)?;
        let ways = [
            WayTo { call: &calls[0], address: &self.addresses[0], frame: &to_generator },
            WayTo { call: &calls[1], address: &self.addresses[1], frame: &to_cloud },
        ];
        let opened =
            block_on(async { call(visit, ways).await.map_err(|unanswered| Failure::no_result(unanswered.rejected)) })?;
        let seconds = began.elapsed().as_secs_f64();
        let learned = job.split_outputs(CLIENT, &opened.output).map_err(Failure::no_result)?;
        let outputs = step.program.outputs().iter().zip(&example.expected);
        let of_client = outputs.filter(|(output, _)| output.recipients.contains(CLIENT));
        if !of_client.map(|(_, bits)| bits.as_ref()).eq(learned.iter().map(|(_, bits)| Some(bits))) {
            return Err(Failure::no_result(format!("{}: wrong result: this is a bug", step.name)));
        }
        self.counter = opened.receipt().counter();
        self.receipts.insert(state.into(), opened.receipt().clone());
        Ok(seconds)
    }
}
