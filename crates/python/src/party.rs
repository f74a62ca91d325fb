//! A party in a thread of its own. It connects to the others when it is first needed, and executes one task after another.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use garblet::{
    Bits, Config, Ends, Error, Filled, Order, OrderRequest, Party, Peer, Plan, Prepared, StockKinds,
    meet::{Listening, Way},
    meeting_to_fill,
    net::Options,
    run_report::PeerPart,
};
use tokio::sync::mpsc;

use crate::{
    fault::{Class, Fault},
    report::Ran,
    store::Place,
    waiting::{Event, Telling, Working},
};

/// The time to tell the others that this party aborts.
const PARTING: Duration = Duration::from_secs(2);

/// Every kind below this percentage is filled.
const ALL: u8 = 100;

/// A task for a party.
pub(crate) enum Command {
    /// Binds its address, and returns it.
    Bind,
    /// Prepares this number of runs.
    Prepare(u32),
    /// Executes one run.
    Run(Vec<Bits>),
    /// Fills its store together with the others' stores up to these amounts.
    Fill(Vec<(String, u64)>),
    /// Closes the session in order.
    Close,
    /// Aborts.
    Abort,
}

/// The party's answer.
pub(crate) enum Answer {
    Bound(Option<String>),
    Prepared,
    Ran(Box<Ran>),
    /// Pieces that were discarded because not all stores had them.
    Filled(u64),
    /// The reason why the session did not close in order, if it did not.
    Closed(Option<Fault>),
}

/// All that a party needs.
pub(crate) struct Seat {
    pub(crate) plan: Plan,
    pub(crate) party: Party,
    pub(crate) config: Config,
    pub(crate) way: Way,
    pub(crate) options: Options,
    /// The store, and the peer to which it belongs.
    pub(crate) store: Option<(Place, String)>,
}

/// A party that executes tasks.
struct Active {
    seat: Seat,
    listening: Option<Listening>,
    peer: Option<Peer>,
    /// The other parties, once connected.
    others: Vec<PeerPart>,
    prepared: VecDeque<Prepared>,
    over: bool,
}

/// Works until the session is closed or no more tasks can come.
pub(crate) async fn live(mut seat: Seat, mut commands: mpsc::UnboundedReceiver<Command>, mut working: Working<Answer>) {
    let events = working.events.clone();
    seat.options.on_refused = Some(Arc::new(move |words: &str| {
        let _ = events.send(Event::Refused(words.into()));
    }));
    let mut party =
        Active { seat, listening: None, peer: None, others: Vec::new(), prepared: VecDeque::new(), over: false };
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

/// The error for a task after the session has ended.
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
                let Seat { plan, config, .. } = &self.seat;
                let ran = Ran::new(plan.program(), config, plan.parties(), report, self.others.clone());
                Ok(Answer::Ran(Box::new(ran)))
            }
            Command::Fill(amounts) => self.fill(amounts, telling).await.map(|filled| Answer::Filled(filled.lost)),
            Command::Close | Command::Abort => Err(lost()),
        }
    }

    async fn bind(&mut self) -> Result<Option<String>, Fault> {
        let listening = self.seat.way.listen().await.map_err(|error| Fault::from(&error))?;
        let bound = listening.address().map(|address| address.to_string());
        self.listening = Some(listening);
        Ok(bound)
    }

    /// The peer, once connected.
    async fn met(&mut self, telling: &Telling<Answer>) -> Result<&mut Peer, Fault> {
        if self.peer.is_none() {
            let Seat { plan, party, config, store, .. } = &self.seat;
            let stock = match store {
                Some((place, peer)) => Some(place.stock(order(&OrderRequest::default(), plan, config)?, peer)?),
                None => None,
            };
            let (plan, party) = (plan.clone(), *party);
            let ends = self.meet(self.seat.options.clone()).await?;
            let met = |(other, identity)| PeerPart::met(other, identity, &self.seat.way.names);
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

    async fn meet(&mut self, options: Options) -> Result<Ends, Fault> {
        let listening = self.listening.take().ok_or_else(lost)?;
        listening.meet(&self.seat.way, options).await.map_err(|error| Fault::from(&error))
    }

    async fn fill(&mut self, amounts: Vec<(String, u64)>, telling: Telling<Answer>) -> Result<Filled, Fault> {
        let Some((place, peer)) = &self.seat.store else {
            return Err(Fault::usage("there is no store to fill").hint("give store= to the session"));
        };
        if self.peer.is_some() {
            return Err(Fault::usage("a session that has run fills no store").hint("fill it in a session of its own"));
        }
        let Seat { plan, config, party, options, .. } = &self.seat;
        let runs = config.stock() == Some(StockKinds::Runs);
        let request = OrderRequest { program: runs.then(|| plan.program().clone()), amounts, library: None };
        let stock = place.stock(order(&request, plan, config)?, peer)?;
        let (config, party, options) = (config.clone(), *party, meeting_to_fill(options.clone(), ALL));
        let ends = self.meet(options).await?;
        // The others have gone when it is done: there is nobody to run with.
        self.over = true;
        let filled = garblet::fill(stock, party, ends, &config, ALL, rand::rng(), Box::new(telling)).await;
        filled.map_err(|error| Fault::from(&error))
    }

    /// Closes the session in order, if it is connected.
    async fn part(&mut self) -> Result<(), Fault> {
        match self.peer.take() {
            Some(peer) => peer.close().await.map_err(|error| Fault::from(&error)),
            None => Ok(()),
        }
    }

    /// Tells the others that this party aborts, if anything is under way.
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
