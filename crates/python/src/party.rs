//! A party in a thread of its own: it meets the others when it is first needed, and does one thing after another.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use garblet::{
    Bits, Config, Ends, Error, Filled, Order, OrderRequest, Party, Peer, Plan, Prepared, StockKinds,
    net::{Fingerprint, Listener, Mesh, Options, PeersFile, connect},
    run_report::PeerPart,
};
use tokio::sync::mpsc;

use crate::{
    fault::{Class, Fault},
    report::Ran,
    store::Place,
    waiting::{Event, Telling, Working},
};

/// The time in which the others are told that this party gives up.
const PARTING: Duration = Duration::from_secs(2);

/// A task for a party.
pub(crate) enum Command {
    /// Takes its place, and says where it listens.
    Bind,
    /// Prepares so many runs.
    Prepare(u32),
    /// Runs once.
    Run(Vec<Bits>),
    /// Fills its store together with the others' up to these amounts.
    Fill(Vec<(String, u64)>),
    /// Parts in order.
    Close,
    /// Gives up.
    Abort,
}

/// Its answer.
pub(crate) enum Answer {
    Bound(Option<String>),
    Prepared,
    Ran(Box<Ran>),
    /// Pieces that were given up because not all stores had them.
    Filled(u64),
    /// The reason why the parties did not part in order, if they did not.
    Closed(Option<Fault>),
}

/// The place where the parties meet.
pub(crate) enum Meeting {
    Listen(String),
    Connect(String),
    /// Several: this one listens there, unless it is the last.
    Mesh(Option<String>, PeersFile),
}

/// All that a party needs.
pub(crate) struct Seat {
    pub(crate) plan: Plan,
    pub(crate) program: Arc<garblet::Program>,
    pub(crate) party: Party,
    pub(crate) config: Config,
    pub(crate) meeting: Meeting,
    pub(crate) options: Options,
    /// The names that this party gives to others.
    pub(crate) names: Vec<(String, Fingerprint)>,
    /// The store, and the peer to which it belongs.
    pub(crate) store: Option<(Place, String)>,
}

/// A party that does what it is told.
struct Active {
    seat: Seat,
    listener: Option<Listener>,
    peer: Option<Peer>,
    /// All others, once they were met.
    others: Vec<PeerPart>,
    prepared: VecDeque<Prepared>,
    over: bool,
}

/// Lives until the session is closed or nobody asks for anything any more.
pub(crate) async fn live(mut seat: Seat, mut commands: mpsc::UnboundedReceiver<Command>, mut working: Working<Answer>) {
    let events = working.events.clone();
    seat.options.on_refused = Some(Arc::new(move |words: &str| {
        let _ = events.send(Event::Refused(words.into()));
    }));
    let mut party =
        Active { seat, listener: None, peer: None, others: Vec::new(), prepared: VecDeque::new(), over: false };
    while let Some(command) = commands.recv().await {
        match command {
            Command::Close => {
                let closing = working.unless_cancelled(party.part()).await.err();
                party.give_up().await;
                working.done(Ok(Answer::Closed(closing)));
                break;
            }
            Command::Abort => break,
            other => {
                let telling = Telling::new(&working);
                let result = working.unless_cancelled(party.work(other, telling)).await;
                if result.is_err() {
                    party.give_up().await;
                }
                working.done(result);
            }
        }
    }
    commands.close();
    party.give_up().await;
    // Whoever asked meanwhile still waits.
    while commands.recv().await.is_some() {
        working.done(Err(closed()));
    }
}

/// The session has ended before it was asked for more.
pub(crate) fn closed() -> Fault {
    Fault::usage("the session is closed").hint("begin another, all parties together")
}

impl Active {
    async fn work(&mut self, command: Command, telling: Telling<Answer>) -> Result<Answer, Fault> {
        if self.over {
            return Err(Fault::from(&Error::Over));
        }
        match command {
            Command::Bind => self.bind().await.map(Answer::Bound),
            Command::Prepare(runs) => {
                for _ in 0..runs {
                    let prepared = self.met(&telling).await?.prepare().await;
                    self.prepared.push_back(prepared.map_err(|error| Fault::from(&error))?);
                }
                Ok(Answer::Prepared)
            }
            Command::Run(inputs) => {
                let prepared = self.prepared.pop_front();
                let peer = self.met(&telling).await?;
                let report = match prepared {
                    Some(prepared) => peer.online(prepared, &inputs).await,
                    None => peer.run(&inputs).await,
                };
                let report = report.map_err(|error| Fault::from(&error))?;
                let Seat { plan, program, config, .. } = &self.seat;
                let ran = Ran::new(program, config, plan.parties(), report, self.others.clone());
                Ok(Answer::Ran(Box::new(ran)))
            }
            Command::Fill(amounts) => self.fill(amounts, telling).await.map(|filled| Answer::Filled(filled.lost)),
            Command::Close | Command::Abort => Err(lost()),
        }
    }

    async fn bind(&mut self) -> Result<Option<String>, Fault> {
        let (Meeting::Listen(address) | Meeting::Mesh(Some(address), _)) = &self.seat.meeting else { return Ok(None) };
        let listener = Listener::bind(address).await.map_err(|error| Fault::from(&error))?;
        let bound = listener.address().to_string();
        self.listener = Some(listener);
        Ok(Some(bound))
    }

    /// The peer, once it was met.
    async fn met(&mut self, telling: &Telling<Answer>) -> Result<&mut Peer, Fault> {
        if self.peer.is_none() {
            let Seat { plan, party, config, store, .. } = &self.seat;
            let stock = match store {
                Some((place, peer)) => Some(place.stock(order(&OrderRequest::default(), plan, config)?, peer)?),
                None => None,
            };
            let (plan, party) = (plan.clone(), *party);
            let ends = self.meet().await?;
            let met = |(other, identity)| PeerPart::met(other, identity, &self.seat.names);
            self.others = ends.others(party).into_iter().map(met).collect();
            let (rng, progress) = (rand::rng(), Box::new(telling.clone()));
            let peer = match stock {
                Some(stock) => Peer::open_with(&plan, party, ends, stock, rng, progress).await,
                None => Peer::open(&plan, party, ends, rng, progress).await,
            };
            self.peer = Some(peer.map_err(|error| Fault::from(&error))?);
        }
        self.peer.as_mut().ok_or_else(lost)
    }

    async fn meet(&mut self) -> Result<Ends, Fault> {
        let Seat { meeting, options, party, .. } = &self.seat;
        match (meeting, self.listener.take()) {
            (Meeting::Mesh(_, peers), listener) => {
                let mesh = Mesh::join(party.0, peers, listener, options).await;
                mesh.map(Ends::from).map_err(|error| Fault::from(&error))
            }
            (Meeting::Listen(_), Some(listener)) => {
                listener.accept(options).await.map(Ends::from).map_err(|error| Fault::from(&error))
            }
            (Meeting::Connect(address), _) => {
                connect(address, options).await.map(Ends::from).map_err(|error| Fault::from(&error))
            }
            (Meeting::Listen(_), None) => Err(lost()),
        }
    }

    async fn fill(&mut self, amounts: Vec<(String, u64)>, telling: Telling<Answer>) -> Result<Filled, Fault> {
        let Some((place, peer)) = &self.seat.store else {
            return Err(Fault::usage("there is no store to fill").hint("give store= to the session"));
        };
        if self.peer.is_some() {
            return Err(Fault::usage("a session that has run fills no store").hint("fill it in a session of its own"));
        }
        let Seat { plan, program, config, party, .. } = &self.seat;
        let runs = config.stock() == Some(StockKinds::Runs);
        let request = OrderRequest { program: runs.then(|| program.clone()), amounts, library: None };
        let stock = place.stock(order(&request, plan, config)?, peer)?;
        let (config, party) = (config.clone(), *party);
        let ends = self.meet().await?;
        // The others have gone when it is done: there is nobody to run with.
        self.over = true;
        let filled = garblet::fill(stock, party, ends, &config, 100, rand::rng(), Box::new(telling)).await;
        filled.map_err(|error| Fault::from(&error))
    }

    /// Parts in order from the others, if they were met.
    async fn part(&mut self) -> Result<(), Fault> {
        match self.peer.take() {
            Some(peer) => peer.close().await.map_err(|error| Fault::from(&error)),
            None => Ok(()),
        }
    }

    /// Tells the others that this party is gone, if there is anything under way.
    async fn give_up(&mut self) {
        self.over = true;
        self.prepared.clear();
        if let Some(peer) = self.peer.take() {
            let _ = tokio::time::timeout(PARTING, peer.abort(&Error::Over)).await;
        }
    }
}

fn order(request: &OrderRequest, plan: &Plan, config: &Config) -> Result<Order, Fault> {
    Order::new(request, plan.parties(), config).map_err(|error| Fault::from(&error))
}

fn lost() -> Fault {
    Fault::new(Class::GarbletError, "a party has lost its place: this is a bug")
}
