//! A party in a thread of its own. It connects to the others when it is first needed, and executes one task after another.

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc::Sender},
    time::Duration,
};

use garblet::{
    Bits, Config, Ends, Error, Filled, Order, OrderRequest, Party, Peer, Plan, Prepared, StockKinds,
    meet::{Listening, Way},
    meeting_to_fill,
    net::{JobTerms, Options},
    run_report::PeerPart,
};
use tokio::sync::mpsc;

use crate::{
    fault::{Class, Fault},
    receipt::Recorder,
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
    /// The result, and why its receipt could not be written.
    Ran(Box<Ran>, Option<Fault>),
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
    /// The receipt of the session's one run, if it has one.
    pub(crate) recorder: Option<Recorder>,
    /// The job of the session.
    pub(crate) job: Option<JobTerms>,
}

/// A party that executes tasks.
struct Active {
    seat: Seat,
    listening: Option<Listening>,
    peer: Option<Peer>,
    /// The other parties, once connected.
    others: Vec<PeerPart>,
    prepared: VecDeque<Prepared>,
    /// The reason why no more tasks are done, once that is so.
    over: Option<Fault>,
    /// The reason why the session was not closed in order, where the run has closed it.
    closing: Option<Fault>,
    events: Sender<Event<Answer>>,
}

/// Works until the session is closed or no more tasks can come.
pub(crate) async fn live(mut seat: Seat, mut commands: mpsc::UnboundedReceiver<Command>, mut working: Working<Answer>) {
    let (events, said) = (working.events.clone(), working.events.clone());
    seat.options.on_refused = Some(Arc::new(move |words: &str| {
        let _ = events.send(Event::Refused(words.into()));
    }));
    let mut party = Active {
        seat,
        listening: None,
        peer: None,
        others: Vec::new(),
        prepared: VecDeque::new(),
        over: None,
        closing: None,
        events: said,
    };
    while let Some(command) = commands.recv().await {
        match command {
            Command::Close => {
                let closing = working.unless_cancelled(party.part()).await.err().or(party.closing.take());
                party.give_up().await;
                let recorded = party.record_failure(&unfinished());
                working.done(recorded.map(|_| Answer::Closed(closing)));
                break;
            }
            Command::Abort => break,
            other => {
                let telling = Telling::new(&working);
                let result = match working.unless_cancelled(party.work(other, telling)).await {
                    Ok(Answer::Ran(ran, _)) => Ok(Answer::Ran(ran, party.close_recorded(&mut working).await)),
                    Ok(answer) => Ok(answer),
                    Err(fault) => Err(party.fail(fault).await),
                };
                working.done(result);
            }
        }
    }
    commands.close();
    party.give_up().await;
    if let Err(unrecorded) = party.record_failure(&unfinished()) {
        let _ = working.events.send(Event::Told(format!("warning: {}", unrecorded.message())));
    }
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
        if let Some(reason) = &self.over {
            return Err(reason.clone());
        }
        match command {
            Command::Bind => self.bind().await.map(Answer::Bound),
            Command::Prepare(runs) if self.seat.recorder.is_some() && self.prepared.len() + runs as usize > 1 => {
                Err(one_run())
            }
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
                let ran = Ran::new(plan.program(), config, plan.parties(), report.clone(), self.others.clone());
                if let Some(recorder) = &mut self.seat.recorder {
                    recorder.result = Some(report);
                }
                Ok(Answer::Ran(Box::new(ran), None))
            }
            Command::Fill(amounts) => self.fill(amounts, telling).await.map(|filled| Answer::Filled(filled.lost)),
            Command::Close | Command::Abort => Err(lost()),
        }
    }

    async fn bind(&mut self) -> Result<Option<String>, Fault> {
        let listening = self.seat.way.listen().await.map_err(|error| {
            self.seat.recorder.iter_mut().for_each(|recorder| recorder.begun = true);
            Fault::from(&error)
        })?;
        let bound = listening.address().map(|address| address.to_string());
        self.listening = Some(listening);
        Ok(bound)
    }

    /// The peer, once connected.
    async fn met(&mut self, telling: &Telling<Answer>) -> Result<&mut Peer, Fault> {
        if self.peer.is_none() {
            self.seat.recorder.iter_mut().for_each(|recorder| recorder.begun = true);
            let Seat { plan, party, config, store, .. } = &self.seat;
            let stock = match store {
                Some((place, peer)) => Some(place.stock(order(&OrderRequest::default(), plan, config)?, peer)?),
                None => None,
            };
            let (plan, party) = (plan.clone(), *party);
            let mut ends = self.meet(self.seat.options.clone()).await?;
            self.seat.recorder.iter_mut().for_each(|recorder| recorder.watch(&mut ends, party));
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
        let mut stock = place.stock(order(&request, plan, config)?, peer)?;
        stock.job.clone_from(&self.seat.job);
        let (config, party, options) = (config.clone(), *party, meeting_to_fill(options.clone(), ALL));
        let ends = self.meet(options).await?;
        // The others have gone when it is done: there is nobody to run with.
        self.over = Some(filled_stores());
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

    /// With a receipt, closes the session after its one run, and writes the receipt before anybody sees the result. If this is aborted, it waits for no
    /// goodbye, and the run keeps its result. Returns the reason why the receipt could not be written.
    async fn close_recorded(&mut self, working: &mut Working<Answer>) -> Option<Fault> {
        self.seat.recorder.as_ref()?;
        self.closing = working.unless_cancelled(self.part()).await.err();
        self.over = Some(one_run());
        let closing = self.closing.clone();
        self.record(closing.as_ref().map_or(Ok(()), Err)).err()
    }

    /// Ends the session after a failure, which then names its receipt. If the receipt cannot be written, that is the error, and the failure its cause.
    async fn fail(&mut self, fault: Fault) -> Fault {
        self.give_up().await;
        match self.record_failure(&fault) {
            Err(unrecorded) => unrecorded.because(fault),
            Ok(Some(number)) => fault.recorded(number),
            Ok(None) => fault,
        }
    }

    /// Writes the receipt, once. Returns its number if this did so.
    ///
    /// *Errors*: it cannot be written.
    fn record(&mut self, ended: Result<(), &Fault>) -> Result<Option<u64>, Fault> {
        let Some(recorder) = self.seat.recorder.take() else { return Ok(None) };
        let _ = self.events.send(Event::Records);
        let Seat { plan, party, way, .. } = &self.seat;
        let (added, told) = recorder.add((plan.program(), *party, plan.parties()), &way.names, ended);
        told.into_iter().for_each(|words| drop(self.events.send(Event::Told(words))));
        added.map(Some)
    }

    /// Writes the receipt of a run that was begun and has failed.
    ///
    /// *Errors*: as [`Active::record`].
    fn record_failure(&mut self, fault: &Fault) -> Result<Option<u64>, Fault> {
        let is_begun = self.seat.recorder.as_ref().is_some_and(|recorder| recorder.begun);
        if is_begun { self.record(Err(fault)) } else { Ok(None) }
    }

    /// Tells the others that this party aborts, if anything is under way.
    async fn give_up(&mut self) {
        self.over.get_or_insert_with(|| Fault::from(&Error::Over));
        self.prepared.clear();
        if let Some(peer) = self.peer.take() {
            let _ = tokio::time::timeout(PARTING, peer.abort(&Error::Over)).await;
        }
    }
}

fn order(request: &OrderRequest, plan: &Plan, config: &Config) -> Result<Order, Fault> {
    Order::new(request, plan.parties(), config).map_err(|error| Fault::from(&error))
}

/// The end of a session with a receipt that was closed after it had met the others and before its run.
fn unfinished() -> Fault {
    Fault::new(Class::GarbletError, "the session ended before its run")
}

fn filled_stores() -> Fault {
    Fault::usage("a session that has filled stores does nothing more").hint("run in a session of its own")
}

fn one_run() -> Fault {
    Fault::usage("a session with a receipt has one run").hint("begin a session for each run")
}

fn lost() -> Fault {
    Fault::new(Class::GarbletError, "a party has lost its place: this is a bug")
}
