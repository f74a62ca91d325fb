//! The servers' joint work, over one connection: jobs, one after another, and filling their stores while nobody waits.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use garblet_authenticated::{Amounts, EvaluatorSide, GarblerSide, Participant, Run, Side};
use garblet_circuit::{Bits, Party};
use garblet_client::{Job, Reason, Server, Submission};
use garblet_net::{Channel, NetError, Options};
use garblet_primitives::Prg;
use garblet_protocol::{Phase, ProtocolError, Role, Session, checks, conduct::Honest, error::StateProblem};
use garblet_store::Store;
use tokio::time::Instant;

use crate::{
    plan::Plan,
    server::{NONCE_BYTES, compute},
    settle::{Begun, Submissions, WRONG_CHALLENGE},
    state::{self, Standing},
};

use super::{
    Event, LOOK, Service,
    clients::UNENDED_MAX,
    desk::{Gathered, Refused},
    words::{CLIENTS_MAX, Id, Word, unexpected},
};

/// The most jobs reported by the cloud that are remembered.
const TOLD_MAX: usize = 1 << 12;

/// The most material that stores are filled with at once, so that no client waits for long.
const FILL: Amounts = Amounts { triples: 500_000, masks: 600_000 };

/// The time after which both servers must have the same submissions, if both have a complete job.
const DIFFERENT: Duration = Duration::from_secs(2);

/// The number that stands for filling instead of a job.
const FILLING: Id = [0; 32];

/// The percentage of the stock below which it is filled.
const LOW_WATER: u8 = 50;

/// A server's end of the connection.
struct Pair<'a, S: Side> {
    service: &'a Service,
    session: Session,
    /// `None` only while a role has it.
    participant: Option<Participant<S, Honest>>,
    /// The jobs that are complete here, oldest first.
    own: VecDeque<Id>,
    /// The jobs that the cloud has reported.
    told: BTreeMap<Id, Told>,
    timeout: Duration,
    /// The time of the other server's last message.
    heard: Instant,
    /// The time of this server's last message.
    said: Instant,
    /// Set until the other server reports that it has enough.
    is_to_fill: bool,
}

/// A complete job at the cloud.
struct Told {
    job: [u8; 32],
    /// The counters of its submissions.
    counters: [u64; CLIENTS_MAX],
    since: Instant,
}

/// The reason why a job is refused before anything is revealed.
struct Refusal {
    reason: Reason,
    standing: Standing,
}

/// An event to react to.
enum Turn {
    Complete(Id),
    Heard,
    Look,
}

impl Service {
    /// Works with the other server until one of them leaves.
    ///
    /// *Errors*: the reason for that.
    pub(super) async fn pair(
        &self,
        channel: Channel,
        store: Store,
        options: &Options,
        rng: Prg,
    ) -> Result<Infallible, ProtocolError> {
        match self.desk.server() {
            Server::Generator => self.pair_as::<GarblerSide>(channel, store, options.timeout, rng).await,
            Server::Cloud => self.pair_as::<EvaluatorSide>(channel, store, options.timeout, rng).await,
        }
    }

    async fn pair_as<S: Side>(
        &self,
        channel: Channel,
        store: Store,
        timeout: Duration,
        rng: Prg,
    ) -> Result<Infallible, ProtocolError> {
        let peer = channel.peer().map_or("a peer without identity".into(), |identity| identity.to_string());
        let agreement = self.desk.agreement();
        let hello = agreement.hello(self.desk.server());
        let mut session = Session::open(channel, rng, &hello, Box::new(())).await?;
        session.set_scratch(std::env::temp_dir());
        let participant = match meet::<S>(&mut session, self, (store, &peer)).await {
            Ok(participant) => participant,
            Err(error) => {
                session.abort().await;
                return Err(error);
            }
        };
        let mut pair = Pair {
            service: self,
            session,
            participant: Some(participant),
            own: VecDeque::new(),
            told: BTreeMap::new(),
            timeout,
            heard: Instant::now(),
            said: Instant::now(),
            is_to_fill: true,
        };
        let Err(error) = pair.work().await;
        pair.session.abort().await;
        Err(error)
    }
}

/// Joins the other server, and agrees with it on all states. Reports states that have become unusable, and goes on with the others.
async fn meet<S: Side>(
    session: &mut Session,
    service: &Service,
    stock: (Store, &str),
) -> Result<Participant<S, Honest>, ProtocolError> {
    let agreement = service.desk.agreement().clone();
    let mut participant = Participant::meet(session, agreement.config(), stock, Honest).await?;
    let mut own = [0; NONCE_BYTES];
    session.rng().fill_bytes(&mut own);
    match state::meet(session, participant.store(), &agreement.states(), own).await {
        Ok(_) => {}
        Err(error @ ProtocolError::State { .. }) => (service.hear)(Event::Closed(&error)),
        Err(error) => return Err(error),
    }
    (service.hear)(Event::Met);
    Ok(participant)
}

impl<S: Side> Pair<'_, S> {
    fn is_generator(&self) -> bool {
        self.service.desk.server() == Server::Generator
    }

    /// Handles events forever.
    async fn work(&mut self) -> Result<Infallible, ProtocolError> {
        let desk = &self.service.desk;
        for id in desk.all_complete() {
            self.complete(id).await?;
        }
        let pause = LOOK.min(self.timeout / 3);
        let mut looked = Instant::now();
        loop {
            // Its own jobs first: they are few, since each client's rate is limited, and one order makes a history repeatable.
            let turn = tokio::select! {
                biased;
                id = desk.next_complete() => Turn::Complete(id),
                heard = self.session.channel().heard() => heard.map(|()| Turn::Heard)?,
                () = tokio::time::sleep(pause.saturating_sub(looked.elapsed())) => Turn::Look,
            };
            match turn {
                Turn::Complete(id) => self.complete(id).await?,
                Turn::Heard => self.hear().await?,
                Turn::Look => {}
            }
            // Even if many clients come.
            if looked.elapsed() >= pause {
                looked = Instant::now();
                self.look().await?;
            }
            if self.is_generator() {
                self.call_all().await?;
                self.fill().await?;
            }
        }
    }

    /// Does the work that is due by time.
    async fn look(&mut self) -> Result<(), ProtocolError> {
        if let Some(store) = self.participant.as_mut().and_then(Participant::store) {
            self.service.desk.expire(store, self.session.rng())?;
        }
        if self.is_generator() {
            self.refuse_different().await?;
        }
        self.check_heard(self.heard, "for a message from the other server")?;
        if self.said.elapsed() >= self.timeout / 3 {
            self.say(Word::Here).await?;
        }
        Ok(())
    }

    fn check_heard(&self, since: Instant, doing: &str) -> Result<(), NetError> {
        match since.elapsed() > self.timeout {
            true => Err(NetError::Timeout { doing: doing.into(), after: self.timeout }),
            false => Ok(()),
        }
    }

    async fn say(&mut self, word: Word) -> Result<(), ProtocolError> {
        self.said = Instant::now();
        let channel = self.session.channel();
        channel.send(&word).await?;
        Ok(channel.flush().await?)
    }

    async fn next_word(&mut self) -> Result<Word, ProtocolError> {
        let word = self.session.channel().receive().await?;
        self.heard = Instant::now();
        Ok(word)
    }

    /// Records a job that is complete here; the cloud also reports it.
    async fn complete(&mut self, id: Id) -> Result<(), ProtocolError> {
        match self.is_generator() {
            true => self.own.push_back(id),
            false => {
                if let Some((job, counters)) = self.service.desk.job(&id) {
                    self.say(Word::Have(id, job, counters)).await?;
                }
            }
        }
        Ok(())
    }

    /// Handles a message outside of a job.
    async fn hear(&mut self) -> Result<(), ProtocolError> {
        match (self.next_word().await?, self.is_generator()) {
            (Word::Here, _) => Ok(()),
            (Word::Have(id, job, counters), true) => {
                self.note(id, job, counters);
                Ok(())
            }
            (Word::Refuse(id), false) => {
                if let Some(gathered) = self.service.desk.take(&id) {
                    let refusal = self.ready(&gathered).err().unwrap_or_else(Refusal::interrupted);
                    self.refuse(&gathered, refusal)?;
                }
                Ok(())
            }
            // An honest generator has waited as long itself, and got the job later. Before that, clients may be about to submit again.
            (Word::Differ(id, theirs), false) if !self.service.desk.may_differ(&id, DIFFERENT) => {
                Err(unexpected("no such message about a recently completed job", Word::Differ(id, theirs)))
            }
            (Word::Differ(id, theirs), false) => match self.service.desk.take(&id) {
                Some(gathered) => self.refuse_over_counters(&gathered, theirs),
                None => Ok(()),
            },
            (Word::Call(id), false) => self.called(id).await,
            (Word::Fill([triples, masks]), false) => {
                self.called_to_fill(Amounts { triples: triples.min(FILL.triples), masks: masks.min(FILL.masks) }).await
            }
            (word, _) => Err(unexpected("a message that this server waits for", word)),
        }
    }

    /// Remembers a job that the cloud has reported, replacing the same one with other submissions; forgets the oldest if there are too many.
    fn note(&mut self, id: Id, job: [u8; 32], counters: [u64; CLIENTS_MAX]) {
        self.told.retain(|_, told| told.job != job);
        if self.told.len() >= TOLD_MAX
            && let Some(oldest) = self.told.iter().min_by_key(|(_, told)| told.since).map(|(id, _)| *id)
        {
            self.told.remove(&oldest);
        }
        self.told.insert(id, Told { job, counters, since: Instant::now() });
    }

    /// Refuses jobs that both servers have long had with differing counters: some client has dealt that way, and the others would wait in vain. Both accuse
    /// the clients whose counters differ, and each other: a server could report another counter than it has.
    async fn refuse_different(&mut self) -> Result<(), ProtocolError> {
        let desk = &self.service.desk;
        let different = |(theirs, told): (&Id, &Told)| {
            let own = desk.complete_for(&told.job, DIFFERENT).filter(|own| own != theirs)?;
            (told.since.elapsed() >= DIFFERENT).then_some((*theirs, own, told.counters))
        };
        let different: Vec<(Id, Id, [u64; CLIENTS_MAX])> = self.told.iter().filter_map(different).collect();
        for (theirs, own, counters) in different {
            self.told.remove(&theirs);
            match desk.take(&own) {
                Some(gathered) => {
                    let own = gathered.counters();
                    self.refuse_over_counters(&gathered, counters)?;
                    self.say(Word::Differ(theirs, own)).await?;
                }
                None => self.say(Word::Refuse(theirs)).await?,
            }
        }
        Ok(())
    }

    /// Refuses a job for which the other server has submissions with these counters, and accuses the clients whose counters differ, and that server.
    ///
    /// *Errors*: the store's.
    fn refuse_over_counters(&mut self, gathered: &Gathered, theirs: [u64; CLIENTS_MAX]) -> Result<(), ProtocolError> {
        let other = self.service.desk.offer(gathered).plan.party(self.service.desk.server().other());
        // Counters of clients that the job does not have accuse only the server that reports them.
        let differ = (1..).map(Party).zip(gathered.counters().into_iter().zip(theirs)).take(gathered.clients().count());
        let differ = differ.filter(|(_, (own, theirs))| own != theirs).map(|(client, _)| client);
        let accused: Vec<Party> = differ.chain([other]).collect();
        let refused = Refused { reason: Reason::Interrupted, accused: &accused, standing: Standing::default() };
        let store = self.participant.as_mut().and_then(Participant::store);
        let written = self.service.desk.refuse(gathered, refused, store, self.session.rng());
        self.tell_refused(gathered, Reason::Interrupted, &accused);
        written
    }

    /// Calls all jobs that are complete at both servers, in the order of completion here.
    async fn call_all(&mut self) -> Result<(), ProtocolError> {
        while let Some(at) = self.own.iter().position(|id| self.told.contains_key(id)) {
            let Some(id) = self.own.remove(at) else { break };
            self.told.remove(&id);
            self.call(id).await?;
        }
        // A job that the cloud never reported has been refused here meanwhile.
        let desk = &self.service.desk;
        self.own.retain(|id| desk.job(id).is_some());
        Ok(())
    }

    async fn call(&mut self, id: Id) -> Result<(), ProtocolError> {
        let Some(gathered) = self.service.desk.take(&id) else { return self.say(Word::Refuse(id)).await };
        let standings = match self.ready(&gathered) {
            Ok(standings) => standings,
            Err(refusal) => {
                self.refuse(&gathered, refusal)?;
                return self.say(Word::Refuse(id)).await;
            }
        };
        let answered = self.say(Word::Call(id)).await;
        let answered = match answered {
            Ok(()) => self.is_ready(id).await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(true) => self.run(gathered, standings).await,
            Ok(false) => self.refuse(&gathered, Refusal::interrupted()),
            Err(error) => {
                let _ = self.refuse(&gathered, Refusal::interrupted());
                Err(error)
            }
        }
    }

    /// Waits until the cloud is ready for the call: until then, messages that it sent before the call may arrive.
    async fn is_ready(&mut self, id: Id) -> Result<bool, ProtocolError> {
        let called = Instant::now();
        loop {
            self.check_heard(called, "for the other server to be ready")?;
            match self.next_word().await? {
                Word::Here => {}
                Word::Have(other, job, counters) => self.note(other, job, counters),
                Word::Ready => return Ok(true),
                Word::Refuse(refused) if refused == id => return Ok(false),
                word => return Err(unexpected("whether it is ready", word)),
            }
        }
    }

    /// Runs or refuses the job that the generator has called.
    async fn called(&mut self, id: Id) -> Result<(), ProtocolError> {
        let Some(gathered) = self.service.desk.take(&id) else { return self.say(Word::Refuse(id)).await };
        match self.ready(&gathered) {
            Ok(standings) => match self.say(Word::Ready).await {
                Ok(()) => self.run(gathered, standings).await,
                Err(error) => {
                    let _ = self.refuse(&gathered, Refusal::interrupted());
                    Err(error)
                }
            },
            Err(refusal) => {
                self.refuse(&gathered, refusal)?;
                self.say(Word::Refuse(id)).await
            }
        }
    }

    /// Checks whether a job can be run now; returns the current states.
    fn ready(&mut self, gathered: &Gathered) -> Result<Vec<Standing>, Refusal> {
        let service = self.service;
        let refused = |reason, standing| Refusal { reason, standing };
        let store = self.participant.as_mut().and_then(Participant::store);
        let store = store.ok_or(refused(Reason::Stopped, Standing::default()))?;
        let (agreement, offer) = (service.desk.agreement(), service.desk.offer(gathered));
        let mut standings = Vec::with_capacity(gathered.versions.len());
        for name in offer.plan.states() {
            let standing = state::standing(store, name, agreement.limits(name));
            standings.push(standing.map_err(|error| refused(reason_of_state(&error), Standing::default()))?);
        }
        let answered = offer.answered(&gathered.job, &standings);
        if offer.first && offer.plan.kept(&standings).is_some_and(|(_, before)| before.version > 0) {
            return Err(refused(Reason::Policy, answered));
        }
        let is_there = offer.plan.reads(&standings).is_ok();
        if !is_there || standings.iter().map(|standing| standing.version).ne(gathered.versions.iter().copied()) {
            return Err(refused(Reason::StateVersion, answered));
        }
        for name in offer.plan.states() {
            let keeps = offer.plan.kept(&standings).is_some_and(|(kept, _)| kept == name);
            let Some(most) = agreement.limits(name).reads.filter(|_| !keeps) else { continue };
            if state::reads(store, name).map_or(true, |reads| reads >= most) {
                return Err(refused(Reason::Policy, answered));
            }
        }
        match service.desk.is_shut_out(gathered) {
            true => Err(refused(Reason::Policy, answered)),
            false => Ok(standings),
        }
    }

    /// Refuses a job before anything was revealed.
    ///
    /// *Errors*: the store's.
    fn refuse(&mut self, gathered: &Gathered, Refusal { reason, standing }: Refusal) -> Result<(), ProtocolError> {
        let store = self.participant.as_mut().and_then(Participant::store);
        let refused = Refused { reason, accused: &[], standing };
        let written = self.service.desk.refuse(gathered, refused, store, self.session.rng());
        self.tell_refused(gathered, reason, &[]);
        written
    }

    fn tell_refused(&self, gathered: &Gathered, reason: Reason, accused: &[Party]) {
        let desk = &self.service.desk;
        let (offer, clients) = (&desk.offer(gathered).name[..], &desk.names(gathered)[..]);
        (self.service.hear)(Event::Refused { offer, clients, reason, accused });
    }

    /// Runs a job, and answers its clients whatever the outcome.
    async fn run(&mut self, mut gathered: Gathered, standings: Vec<Standing>) -> Result<(), ProtocolError> {
        let (service, began) = (self.service, Instant::now());
        let desk = &service.desk;
        let offer = desk.offer(&gathered);
        let inputs = service.inputs.iter().find(|(name, _)| *name == offer.name).map_or(&[][..], |(_, values)| values);
        let Some(participant) = self.participant.take() else { return Err(ProtocolError::Over) };
        let mut run = Run::new(participant, offer.plan.base().clone(), true);
        let submissions = gathered.submissions();
        let job = Called { plan: offer.plan.clone(), server: desk.server(), job: gathered.job.clone(), standings };
        let has_begun = AtomicBool::new(false);
        let begun = |store: &mut Store| {
            has_begun.store(true, Ordering::Relaxed);
            desk.begin(store)
        };
        let burn = |store: &mut Store| desk.burn(&gathered, store);
        let noted = (burn, Box::new(begun) as Begun<'_>);
        let computed = run_job(&mut run, &mut self.session, job, (submissions, inputs), noted).await;
        let mut participant = run.into_participant();
        let (store, rng) = (participant.store(), self.session.rng());
        let ended = match computed {
            Ok((outputs, answers)) => {
                let written = desk.answer(&gathered, answers, store, rng);
                let has_panicked = offer.plan.has_panicked(&outputs);
                let (offer, clients, outputs) = (&offer.name[..], &desk.names(&gathered)[..], &outputs[..]);
                (service.hear)(Event::Ran { offer, clients, outputs, has_panicked, took: began.elapsed() });
                written
            }
            Err(error) => {
                let (reason, accused) = told_of(&error, has_begun.load(Ordering::Relaxed));
                let refused = Refused { reason, accused, standing: Standing::default() };
                let written = desk.refuse(&gathered, refused, store, rng);
                self.tell_refused(&gathered, reason, accused);
                if reason == Reason::Used {
                    (service.hear)(Event::Unended(desk.unended(), UNENDED_MAX));
                }
                match error {
                    // Both servers agree on this, and go on with each other.
                    ProtocolError::Refused(_) => written,
                    // The error that ended the run takes precedence over the store's.
                    error => Err(error),
                }
            }
        };
        self.participant = Some(participant);
        self.heard = Instant::now();
        ended
    }

    /// Fills the stores a little, if nobody waits and they are low.
    async fn fill(&mut self) -> Result<(), ProtocolError> {
        let Some(participant) = self.participant.as_ref().filter(|_| self.is_to_fill) else { return Ok(()) };
        let Some(short) = self.service.stock.short_of(participant.stock(), LOW_WATER) else { return Ok(()) };
        let part = Amounts { triples: short.triples.min(FILL.triples), masks: short.masks.min(FILL.masks) };
        self.say(Word::Fill([part.triples, part.masks])).await?;
        self.is_to_fill = self.is_ready(FILLING).await?;
        if self.is_to_fill { self.make(part).await } else { Ok(()) }
    }

    /// Fills the store as the generator wants, unless this server has as much as it was told to keep.
    async fn called_to_fill(&mut self, wanted: Amounts) -> Result<(), ProtocolError> {
        let short = self.participant.as_ref().and_then(|own| self.service.stock.short_of(own.stock(), 100));
        if short.is_none() {
            return self.say(Word::Refuse(FILLING)).await;
        }
        self.say(Word::Ready).await?;
        self.make(wanted).await
    }

    async fn make(&mut self, amounts: Amounts) -> Result<(), ProtocolError> {
        (self.service.hear)(Event::Filling(amounts));
        if let Some(participant) = &mut self.participant {
            participant.fill(&mut self.session, amounts).await?;
        }
        self.heard = Instant::now();
        Ok(())
    }
}

/// A job that both servers are ready for.
struct Called {
    plan: Arc<Plan>,
    server: Server,
    job: Job,
    standings: Vec<Standing>,
}

/// Runs a job; returns this server's outputs and the answers to the clients. The submissions are recorded as used before anything of them is revealed, and the
/// run as begun before a label leaves.
async fn run_job<S: Side>(
    run: &mut Run<S, Honest>,
    session: &mut Session,
    Called { plan, server, job, standings }: Called,
    (submissions, inputs): (Vec<Submission>, &[Bits]),
    (burn, begun): (impl FnOnce(&mut Store) -> Result<(), ProtocolError>, Begun<'_>),
) -> Result<(Vec<Option<Bits>>, Vec<Vec<u8>>), ProtocolError> {
    run.read_for_others(plan.reads(&standings)?)?;
    let prepared = Role::<Channel>::prepare(run, session).await?;
    if let Some(store) = run.store() {
        burn(store)?;
    }
    session.enter(Phase::Online);
    let mut conduct = Honest;
    let submissions = Submissions::new((plan, &job), server, standings, submissions, &mut conduct);
    let mut submissions = submissions.heard_by(begun);
    let (outputs, for_clients) = compute(run, session, prepared, inputs, &mut submissions).await?;
    Ok((outputs, submissions.answers(&for_clients)))
}

impl Refusal {
    /// Handles that the other server does not go on with a job that this one is ready for.
    fn interrupted() -> Self {
        Refusal { reason: Reason::Interrupted, standing: Standing::default() }
    }
}

/// The reason given to clients for an error in a job, which may have begun: before that, no label has left here, and none was evaluated.
fn told_of(error: &ProtocolError, has_begun: bool) -> (Reason, &[Party]) {
    match error {
        ProtocolError::Refused(checks::Refused { what, parties, .. }) if *what == WRONG_CHALLENGE => {
            (Reason::WrongChallenge, parties)
        }
        ProtocolError::Refused(checks::Refused { parties, .. }) => (Reason::WrongHash, parties),
        ProtocolError::Peer { source, .. } => told_of(source, has_begun),
        _ if has_begun => (Reason::Used, &[]),
        error if error.net().is_some() => (Reason::Interrupted, &[]),
        _ => (Reason::Stopped, &[]),
    }
}

fn reason_of_state(error: &ProtocolError) -> Reason {
    match error {
        ProtocolError::State { problem: StateProblem::Closed, .. } => Reason::StateClosed,
        ProtocolError::State { problem: StateProblem::Failures { .. }, .. } => Reason::Unended,
        _ => Reason::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_with_too_many_unfinished_runs_is_not_reported_as_closed() {
        let told = |problem| reason_of_state(&ProtocolError::State { name: "map".into(), problem });
        assert_eq!(told(StateProblem::Closed), Reason::StateClosed);
        assert_eq!(told(StateProblem::Failures { most: 16 }), Reason::Unended);
        assert!(Reason::Unended.is_never_run() && Reason::Unended.hint().contains("`garblet store allow DIR`"));
    }
}
