//! The desk of a server: where visitors leave what they dealt, until all clients of a job have, and where answers wait for them.

mod manners;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use garblet_circuit::Party;
use garblet_client::{FromServer, Header, Job, Place, Reason, Refusal, Secret, Server, Submission, Submit};
use garblet_protocol::ProtocolError;
use garblet_store::Store;
use rand_core::CryptoRng;
use tokio::sync::{Notify, oneshot, watch};
use zeroize::Zeroizing;

use crate::state::Standing;

use manners::Manners;

use super::{
    agreement::{Agreement, Offered},
    clients::{self, Record},
    words::{CLIENTS_MAX, Id},
};

/// Separates numbers of jobs with their submissions from all other uses of BLAKE3.
const ID_CONTEXT: &str = "garblet 2026 outsourced gathering v1";

/// The time for which a submission waits for those of other clients, and for which one waits that has them all.
pub(super) const PATIENCE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(600)];

/// A server's desk.
pub(super) struct Desk {
    agreement: Arc<Agreement>,
    server: Server,
    /// Of all clients, in the agreement's order.
    secrets: Vec<Secret>,
    /// Tried on messages in the name of nobody. Nobody knows it: who could seal with it would be told apart by the time that this takes.
    of_nobody: Secret,
    state: Mutex<State>,
    /// Rings when all clients of a job have been there.
    bell: Notify,
}

#[derive(Default)]
struct State {
    /// Of all clients, in the agreement's order.
    records: Vec<Record>,
    /// The submission that each has left here and that is not answered.
    left: Vec<Option<Left>>,
    /// By the digests of jobs.
    gatherings: HashMap<[u8; 32], Gathering>,
    /// Those that have become complete.
    complete: VecDeque<Id>,
    /// Of all clients, in the agreement's order.
    manners: Vec<Manners>,
    /// The clients whose records have changed since they were written.
    unwritten: BTreeSet<usize>,
    /// By clients, replies that prove what a crash would undo: they wait until it is written.
    held: BTreeMap<usize, Vec<u8>>,
    /// Runs of which labels left, and which did not end.
    unended: u32,
}

/// A submission that is not answered yet.
struct Left {
    job: [u8; 32],
    counter: u64,
    frame: [u8; 32],
    is_running: bool,
    reply: watch::Sender<Option<Arc<[u8]>>>,
}

/// The submissions of a job.
struct Gathering {
    job: Job,
    offer: usize,
    versions: Vec<u64>,
    /// One of each client, in the order of the job.
    submissions: Vec<Option<(Sent, Submission)>>,
    /// The time of the first one.
    since: Instant,
    /// The number of the job with its submissions, once all are there, and the time of the last one.
    id: Option<Id>,
    completed: Instant,
}

/// A submission as it was sent.
#[derive(Clone)]
struct Sent {
    /// The number of the client in the agreement.
    client: usize,
    place: Place,
    /// The nonce of its seal, to which the answer is bound.
    nonce: [u8; 12],
    /// The digest of what was sent.
    frame: [u8; 32],
}

/// A job with the submissions of all its clients. *Unique*: it is taken from the desk once.
pub(super) struct Gathered {
    pub(super) job: Job,
    pub(super) offer: usize,
    /// The versions of all states before the job, as it names them.
    pub(super) versions: Vec<u64>,
    sent: Vec<Sent>,
    /// In the order of the job.
    submissions: Vec<Submission>,
}

/// The word to the clients of a job of which nothing comes out.
pub(super) struct Refused<'a> {
    pub(super) reason: Reason,
    /// Parties of the job of whom one is to blame.
    pub(super) accused: &'a [Party],
    /// The state that the job speaks of, as it stands.
    pub(super) standing: Standing,
}

/// The place of a visitor.
pub(super) enum Ticket {
    /// It is no client, and told so.
    Stranger(Vec<u8>),
    /// It is a client, and answered at once.
    Reply(Vec<u8>),
    /// It waits for the reply to its submission, until another connection has its place.
    Wait(watch::Receiver<Option<Arc<[u8]>>>, oneshot::Receiver<()>),
}

impl Gathered {
    /// The submissions in the order of the job; there are none after that.
    pub(super) fn submissions(&mut self) -> Vec<Submission> {
        std::mem::take(&mut self.submissions)
    }

    /// The client that is a party of the job, as the agreement numbers it.
    pub(super) fn client(&self, party: Party) -> Option<usize> {
        usize::from(party.0).checked_sub(1).and_then(|at| self.sent.get(at)).map(|sent| sent.client)
    }

    /// The counters of the submissions, in the order of the job.
    pub(super) fn counters(&self) -> [u64; CLIENTS_MAX] {
        counters(self.sent.iter())
    }

    /// All clients, as the agreement numbers them.
    pub(super) fn clients(&self) -> impl Iterator<Item = usize> {
        self.sent.iter().map(|sent| sent.client)
    }
}

impl Gathering {
    /// Computes the number of the job with its submissions, if all are there.
    fn number(&self) -> Option<Id> {
        let mut hash = blake3::Hasher::new_derive_key(ID_CONTEXT);
        hash.update(self.job.digest());
        for left in &self.submissions {
            hash.update(&left.as_ref()?.0.place.counter.to_le_bytes());
        }
        Some(hash.finalize().into())
    }

    fn is_late(&self) -> bool {
        let [for_others, in_all] = PATIENCE;
        self.since.elapsed() >= if self.id.is_some() { in_all } else { for_others }
    }
}

impl Desk {
    /// The desk of a server, with the records of clients that are in its store.
    ///
    /// *Errors*: another number of secrets than of clients; a record that cannot be read.
    pub(super) fn new(
        agreement: Arc<Agreement>,
        server: Server,
        secrets: Vec<Secret>,
        store: &Store,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Self, ProtocolError> {
        let count = agreement.clients().len();
        if secrets.len() != count {
            let (expected, got) = (format!("{count}, one for each client"), secrets.len().to_string());
            return Err(ProtocolError::Input { what: "secrets of clients".into(), expected, got });
        }
        let records =
            (0..count).map(|client| Record::of(store, agreement.identity(client))).collect::<Result<_, _>>()?;
        let (left, manners) = (0..count).map(|_| (None, Manners::new())).unzip();
        let unended = clients::unended(store)?;
        let state = Mutex::new(State { records, left, manners, unended, ..State::default() });
        let mut of_nobody = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *of_nobody);
        let of_nobody = Secret::from_bytes(*of_nobody);
        Ok(Desk { agreement, server, secrets, of_nobody, state, bell: Notify::new() })
    }

    pub(super) fn agreement(&self) -> &Arc<Agreement> {
        &self.agreement
    }

    pub(super) fn server(&self) -> Server {
        self.server
    }

    pub(super) fn offer(&self, gathered: &Gathered) -> &Offered {
        self.agreement.offered(gathered.offer)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a visitor's frame.
    pub(super) fn submit(&self, frame: &[u8], random: &mut (impl CryptoRng + ?Sized)) -> Ticket {
        // Whoever cannot show to be a client learns nothing of who is one.
        let Some((sent, job, party, submission)) = self.open(frame) else {
            return Ticket::Stranger(FromServer::Refused(Reason::Unreadable).encode());
        };
        self.leave(job, party, (sent, submission), random)
    }

    /// Opens a frame; none if it is not a client's.
    fn open(&self, frame: &[u8]) -> Option<(Sent, Job, Party, Submission)> {
        let submit = Submit::decode(frame).ok()?;
        let client = self.agreement.client(&submit.client);
        // A name that nobody has takes as long as one that somebody has, and no job is read for whoever does not have the secret.
        let secret = client.map_or(&self.of_nobody, |client| &self.secrets[client]);
        #[cfg(test)]
        tests::TRIED.with(|tried| tried.set(tried.get() + 1));
        let is_sealed = secret.has_sealed(&submit.sealed, &submit.job, self.server);
        let client = client.filter(|_| is_sealed)?;
        let job = read(&submit.job)?;
        let party = job.client(&submit.client)?;
        let Header { nonce, .. } = Header::of(&submit.sealed).ok()?;
        let submission = self.secrets[client].open_submission(&submit.sealed, &job, party, self.server, None).ok()?;
        let frame = *blake3::hash(&submit.sealed).as_bytes();
        Some((Sent { client, place: *submission.place(), nonce, frame }, job, party, submission))
    }

    /// Leaves a submission that was opened, or finds what became of it. What is refused is used, and never run after that: its client hears so once it is
    /// written. Only who has no time for it says so without a seal, and takes it later.
    fn leave(
        &self,
        job: Job,
        party: Party,
        (sent, submission): (Sent, Submission),
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Ticket {
        let Sent { client, place: Place { counter, .. }, frame, .. } = sent;
        let mut state = self.lock();
        if let Some(reply) = state.reply_to(&sent) {
            return Ticket::Wait(reply, state.manners[client].connection());
        }
        if let Some(reason) = state.past(&sent) {
            let refusal = refusal(&sent, reason, &[], Standing::default());
            return Ticket::Reply(FromServer::Sealed(self.sealed(&sent, &refusal, random)).encode());
        }
        if !state.has_time_for(client) {
            return Ticket::Reply(FromServer::Refused(Reason::StateBusy).encode());
        }
        let found = match state.records[client].is_shut_out() {
            true => Err(Reason::Policy),
            false => self.agreement.find(&job),
        };
        state.forget(client);
        let (reply, ticket) = watch::channel(None);
        let digest = *job.digest();
        state.left[client] = Some(Left { job: digest, counter, frame, is_running: false, reply });
        let (offer, versions) = match found {
            Ok(found) => found,
            Err(reason) => {
                let refusal = refusal(&sent, reason, &[], Standing::default());
                let reply = self.sealed(&sent, &refusal, random);
                state.use_up(&sent);
                state.keep_reply(&sent, reply.clone());
                state.held.insert(client, reply);
                return Ticket::Wait(ticket, state.manners[client].connection());
            }
        };
        let clients = self.agreement.offered(offer).client_count();
        let gathering = state.gatherings.entry(digest).or_insert_with(|| Gathering {
            job,
            offer,
            versions,
            submissions: (0..clients).map(|_| None).collect(),
            since: Instant::now(),
            id: None,
            completed: Instant::now(),
        });
        if let Some(place) = gathering.submissions.get_mut(usize::from(party.0) - 1) {
            *place = Some((sent, submission));
        }
        gathering.id = gathering.number();
        gathering.completed = Instant::now();
        if let Some(id) = gathering.id {
            state.complete.push_back(id);
            self.bell.notify_one();
        }
        Ticket::Wait(ticket, state.manners[client].connection())
    }

    /// The next job that has become complete; it waits for one. A future that is dropped loses nothing.
    pub(super) async fn next_complete(&self) -> Id {
        loop {
            let rung = self.bell.notified();
            if let Some(id) = self.lock().complete.pop_front() {
                return id;
            }
            rung.await;
        }
    }

    /// All jobs that are complete now, the first one first, for another server that has heard of none; they are not told again by [`Desk::next_complete`].
    pub(super) fn all_complete(&self) -> Vec<Id> {
        let mut state = self.lock();
        state.complete.clear();
        let complete = state.gatherings.values().filter_map(|gathering| Some((gathering.completed, gathering.id?)));
        let mut complete: Vec<(Instant, Id)> = complete.collect();
        complete.sort_unstable();
        complete.into_iter().map(|(_, id)| id).collect()
    }

    /// The digest of a job that is complete here, without its submissions, and the counters of these.
    pub(super) fn job(&self, id: &Id) -> Option<([u8; 32], [u64; CLIENTS_MAX])> {
        let state = self.lock();
        let (digest, gathering) = state.gatherings.iter().find(|(_, gathering)| gathering.id.as_ref() == Some(id))?;
        Some((*digest, counters(gathering.submissions.iter().flatten().map(|(sent, _)| sent))))
    }

    /// The number of a job that has been complete here for so long.
    pub(super) fn complete_for(&self, job: &[u8; 32], long: Duration) -> Option<Id> {
        self.lock().gatherings.get(job).filter(|gathering| gathering.completed.elapsed() >= long)?.id
    }

    /// Tells whether a job is not here any more, or has been complete here for so long.
    pub(super) fn may_differ(&self, id: &Id, long: Duration) -> bool {
        let state = self.lock();
        let gathering = state.gatherings.values().find(|gathering| gathering.id.as_ref() == Some(id));
        gathering.is_none_or(|gathering| gathering.completed.elapsed() >= long)
    }

    /// Takes a job that is complete, if it is still here.
    pub(super) fn take(&self, id: &Id) -> Option<Gathered> {
        let mut state = self.lock();
        let digest = *state.gatherings.iter().find(|(_, gathering)| gathering.id.as_ref() == Some(id))?.0;
        let Gathering { job, offer, versions, submissions, .. } = state.remove(&digest)?;
        let (sent, submissions): (Vec<Sent>, Vec<Submission>) = submissions.into_iter().flatten().unzip();
        for sent in &sent {
            if let Some(left) = &mut state.left[sent.client] {
                left.is_running = true;
            }
        }
        Some(Gathered { job, offer, versions, sent, submissions })
    }

    /// Tells whether one of the clients may not run a job now.
    pub(super) fn is_shut_out(&self, gathered: &Gathered) -> bool {
        let state = self.lock();
        gathered.clients().any(|client| state.records[client].is_shut_out())
    }

    /// Notes durably that the submissions of a job are used.
    ///
    /// *Errors*: the store's.
    pub(super) fn burn(&self, gathered: &Gathered, store: &mut Store) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        gathered.sent.iter().for_each(|sent| state.use_up(sent));
        self.write(&mut state, store)
    }

    /// Notes durably that labels of a run are about to leave: if it does not end, the other server may have guessed.
    ///
    /// *Errors*: the store's.
    pub(super) fn begin(&self, store: &mut Store) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        state.unended += 1;
        self.write(&mut state, store)
    }

    /// Gives each client its answer, durably: the run has ended.
    ///
    /// *Errors*: the store's; clients have their answers all the same.
    pub(super) fn answer(
        &self,
        gathered: &Gathered,
        answers: Vec<Vec<u8>>,
        store: Option<&mut Store>,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        state.unended = state.unended.saturating_sub(1);
        self.end(state, gathered.sent.iter().zip(answers), false, store, random)
    }

    /// Ends a job of which nothing comes out. Its submissions are used; that is noted before it is told, as is who is accused.
    ///
    /// *Errors*: the store's; what is never run is told when it is written.
    pub(super) fn refuse(
        &self,
        gathered: &Gathered,
        Refused { reason, accused, standing }: Refused<'_>,
        store: Option<&mut Store>,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        for client in accused.iter().filter_map(|party| gathered.client(*party)) {
            let record = &mut state.records[client];
            *record = std::mem::take(record).accused();
        }
        let refusals = gathered.sent.iter().map(|sent| (sent, refusal(sent, reason, accused, standing)));
        self.end(state, refusals, reason.is_never_run(), store, random)
    }

    /// Refuses whatever has waited for too long, and writes what is not written yet.
    ///
    /// *Errors*: the store's.
    pub(super) fn expire(
        &self,
        store: &mut Store,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        let late = state.gatherings.iter().filter(|(_, gathering)| gathering.is_late());
        let digests: Vec<[u8; 32]> = late.map(|(digest, _)| *digest).collect();
        let gone: Vec<Gathering> = digests.iter().filter_map(|digest| state.remove(digest)).collect();
        if gone.is_empty() && state.unwritten.is_empty() {
            return Ok(());
        }
        let sent = gone.iter().flat_map(|gathering| gathering.submissions.iter().flatten()).map(|(sent, _)| sent);
        let refusals = sent.map(|sent| (sent, refusal(sent, Reason::Interrupted, &[], Standing::default())));
        self.end(state, refusals, true, Some(store), random)
    }

    /// Tells clients what became of their submissions, once it is noted that these are used: a reply that proves this waits for that.
    ///
    /// *Errors*: the store's; clients hear of answers all the same.
    fn end<'a>(
        &self,
        mut state: MutexGuard<'_, State>,
        ended: impl Iterator<Item = (&'a Sent, Vec<u8>)>,
        proves: bool,
        store: Option<&mut Store>,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<(), ProtocolError> {
        for (sent, message) in ended {
            let reply = self.sealed(sent, &message, random);
            state.use_up(sent);
            state.keep_reply(sent, reply.clone());
            if proves {
                state.held.insert(sent.client, reply);
            } else {
                state.hand_over(sent.client, reply);
            }
        }
        store.map_or(Ok(()), |store| self.write(&mut state, store))
    }

    /// The number of runs of which labels left, and which did not end.
    pub(super) fn unended(&self) -> u32 {
        self.lock().unended
    }

    /// The names of a job's clients.
    pub(super) fn names(&self, gathered: &Gathered) -> Vec<&str> {
        let all: Vec<&str> = self.agreement.clients().collect();
        gathered.clients().map(|client| all[client]).collect()
    }

    /// Writes all records that have changed, and hands over the replies that wait for that.
    fn write(&self, state: &mut State, store: &mut Store) -> Result<(), ProtocolError> {
        for client in &state.unwritten {
            let record = &mut state.records[*client];
            *record = std::mem::take(record).without_old();
        }
        let records = state.unwritten.iter().map(|client| (self.agreement.identity(*client), &state.records[*client]));
        clients::write(store, records, state.unended)?;
        state.unwritten.clear();
        for (client, reply) in std::mem::take(&mut state.held) {
            state.hand_over(client, reply);
        }
        Ok(())
    }

    fn sealed(&self, sent: &Sent, message: &[u8], random: &mut (impl CryptoRng + ?Sized)) -> Vec<u8> {
        self.secrets[sent.client].seal_answer(&sent.place, &sent.nonce, message, random)
    }
}

/// The counters of submissions, and zeros for clients that there are not.
fn counters<'a>(sent: impl Iterator<Item = &'a Sent>) -> [u64; CLIENTS_MAX] {
    let mut all = [0; CLIENTS_MAX];
    all.iter_mut().zip(sent).for_each(|(counter, sent)| *counter = sent.place.counter);
    all
}

/// Reads a job.
fn read(job: &[u8]) -> Option<Job> {
    #[cfg(test)]
    tests::READ.with(|read| read.set(read.get() + 1));
    Job::decode(job).ok()
}

/// A refusal of a submission.
fn refusal(sent: &Sent, reason: Reason, accused: &[Party], Standing { version, chain }: Standing) -> Vec<u8> {
    Refusal::new(sent.place.run(), reason, accused).with_state(version, chain).encode()
}

impl State {
    /// The reply to a submission that is here, or to come.
    fn reply_to(&self, sent: &Sent) -> Option<watch::Receiver<Option<Arc<[u8]>>>> {
        if let Some(left) = self.left[sent.client].as_ref().filter(|left| left.frame == sent.frame) {
            return Some(left.reply.subscribe());
        }
        let record = &self.records[sent.client];
        let is_written = !self.unwritten.contains(&sent.client);
        let kept = record.reply().filter(|_| is_written && record.frame == sent.frame)?;
        Some(watch::channel(Some(FromServer::Sealed(kept.to_vec()).encode().into())).1)
    }

    /// The reason why a submission cannot be run any more, if there is no reply to it.
    fn past(&self, sent: &Sent) -> Option<Reason> {
        let (record, counter) = (&self.records[sent.client], sent.place.counter);
        let newer = self.left[sent.client].as_ref().is_some_and(|left| left.counter >= counter);
        match () {
            () if counter == record.counter && sent.frame == record.frame => Some(Reason::Used),
            () if newer || counter <= record.counter => Some(Reason::OldCounter),
            () => None,
        }
    }

    /// Tells whether a client may leave a new submission now: none of its is run, and there were not too many.
    fn has_time_for(&mut self, client: usize) -> bool {
        let is_running = self.left[client].as_ref().is_some_and(|left| left.is_running);
        !is_running && self.manners[client].allow()
    }

    /// Notes that a submission is used, and never run again.
    fn use_up(&mut self, sent: &Sent) {
        let record = &mut self.records[sent.client];
        if sent.place.counter > record.counter {
            *record = record.used(sent.place.counter, sent.frame);
        }
        self.unwritten.insert(sent.client);
    }

    /// Keeps the reply to a submission, if none was used since.
    fn keep_reply(&mut self, sent: &Sent, reply: Vec<u8>) {
        let record = &mut self.records[sent.client];
        if record.frame == sent.frame {
            *record = std::mem::take(record).replied(reply);
        }
    }

    /// Forgets what a client has left here and waits for others.
    fn forget(&mut self, client: usize) {
        let Some(left) = self.left[client].take_if(|left| !left.is_running) else { return };
        self.held.remove(&client);
        let Some(gathering) = self.gatherings.get_mut(&left.job) else { return };
        for place in &mut gathering.submissions {
            place.take_if(|(sent, _)| sent.client == client);
        }
        let id = gathering.id.take();
        if gathering.submissions.iter().all(Option::is_none) {
            self.gatherings.remove(&left.job);
        }
        self.complete.retain(|complete| Some(*complete) != id);
    }

    /// Takes the submissions of a job out.
    fn remove(&mut self, digest: &[u8; 32]) -> Option<Gathering> {
        let gathering = self.gatherings.remove(digest)?;
        self.complete.retain(|complete| Some(*complete) != gathering.id);
        Some(gathering)
    }

    /// Gives a client the sealed reply to what it has left here.
    fn hand_over(&mut self, client: usize, reply: Vec<u8>) {
        if let Some(left) = self.left[client].take() {
            left.reply.send_replace(Some(FromServer::Sealed(reply).encode().into()));
        }
    }
}

#[cfg(test)]
mod tests;
