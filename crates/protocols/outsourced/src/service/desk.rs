//! The desk of a server, where submissions wait until all clients of a job have submitted, and where answers wait for clients.

mod manners;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use garblet_circuit::Party;
use garblet_client::{FromServer, Header, Job, Place, Reason, Refusal, Secret, Server, Submission, Submit};
use garblet_protocol::ProtocolError;
use garblet_store::Store;
use rand_core::CryptoRng;
use tokio::{
    sync::{Notify, oneshot, watch},
    time::Instant,
};
use zeroize::Zeroizing;

use crate::{
    agreement::{Agreement, Offered},
    state::Standing,
};

use manners::Manners;

use super::{
    clients::{self, Record},
    words::{CLIENTS_MAX, Id},
};

/// Separates numbers of jobs with their submissions from all other uses of BLAKE3.
const ID_CONTEXT: &str = "garblet 2026 outsourced gathering v1";

/// The time that a submission waits for those of other clients, and the time that a complete job waits.
pub(super) const PATIENCE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(600)];

/// A server's desk.
pub(super) struct Desk {
    agreement: Arc<Agreement>,
    server: Server,
    /// The secrets of all clients, in the agreement's order.
    secrets: Vec<Secret>,
    /// Tried on messages under unknown names. Nobody knows it: a stranger who could seal with it would stand out by the time that this takes.
    of_nobody: Secret,
    state: Mutex<State>,
    /// Notified when all clients of a job have submitted.
    bell: Notify,
}

#[derive(Default)]
struct State {
    /// The records of all clients, in the agreement's order.
    records: Vec<Record>,
    /// The unanswered submission of each client.
    left: Vec<Option<Left>>,
    /// Incomplete jobs, by digest.
    gatherings: BTreeMap<[u8; 32], Gathering>,
    /// Jobs that have become complete.
    complete: VecDeque<Id>,
    /// The limits of all clients, in the agreement's order.
    manners: Vec<Manners>,
    /// The clients whose records have changed since they were last written.
    unwritten: BTreeSet<usize>,
    /// Replies, by client, that prove something a crash would undo: they wait until it is written.
    held: BTreeMap<usize, Vec<u8>>,
    /// The number of unfinished runs whose labels have left.
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
    /// One submission per client, in the order of the job.
    submissions: Vec<Option<(Sent, Submission)>>,
    /// The time of the first submission.
    since: Instant,
    /// The number of the job with its submissions, once complete, and the time of the last submission.
    id: Option<Id>,
    completed: Instant,
}

/// A submission, as sent.
#[derive(Clone)]
struct Sent {
    /// The number of the client in the agreement.
    client: usize,
    place: Place,
    /// The nonce of its seal, to which the answer is bound.
    nonce: [u8; 12],
    /// The digest of the sent bytes.
    frame: [u8; 32],
}

/// A job with the submissions of all its clients. *Unique*: the desk gives it out once.
pub(super) struct Gathered {
    pub(super) job: Job,
    pub(super) offer: usize,
    /// The versions of all states before the job, as it names them.
    pub(super) versions: Vec<u64>,
    sent: Vec<Sent>,
    /// The submissions, in the order of the job.
    submissions: Vec<Submission>,
}

/// The reply to the clients of a job that ends without a result.
pub(super) struct Refused<'a> {
    pub(super) reason: Reason,
    /// The parties of the job, one of which is to blame.
    pub(super) accused: &'a [Party],
    /// The current standing of the job's state.
    pub(super) standing: Standing,
}

/// The outcome of a visitor's frame.
pub(super) enum Ticket {
    /// The visitor is not a client, and is told so.
    Stranger(Vec<u8>),
    /// The visitor is a client, and is answered at once.
    Reply(Vec<u8>),
    /// The visitor waits for the reply to its submission, until another connection takes its place.
    Wait(watch::Receiver<Option<Arc<[u8]>>>, oneshot::Receiver<()>),
}

impl Gathered {
    /// Takes the submissions, in the order of the job, and leaves none.
    pub(super) fn submissions(&mut self) -> Vec<Submission> {
        std::mem::take(&mut self.submissions)
    }

    /// The number in the agreement of the client that is this party of the job.
    pub(super) fn client(&self, party: Party) -> Option<usize> {
        usize::from(party.0).checked_sub(1).and_then(|at| self.sent.get(at)).map(|sent| sent.client)
    }

    /// The counters of the submissions, in the order of the job.
    pub(super) fn counters(&self) -> [u64; CLIENTS_MAX] {
        counters(self.sent.iter())
    }

    /// The numbers of all clients in the agreement.
    pub(super) fn clients(&self) -> impl Iterator<Item = usize> {
        self.sent.iter().map(|sent| sent.client)
    }
}

impl Gathering {
    /// Computes the number of the job with its submissions, if all have arrived.
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
    /// The desk of a server, with the records of clients from its store.
    ///
    /// *Errors*: a number of secrets other than that of clients; a record that cannot be read.
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
        // A visitor that cannot prove to be a client learns nothing about who is one.
        let Some((sent, job, party, submission)) = self.open(frame) else {
            return Ticket::Stranger(FromServer::Refused(Reason::Unreadable).encode());
        };
        self.leave(job, party, (sent, submission), random)
    }

    /// Opens a frame; `None` if it is not a client's.
    fn open(&self, frame: &[u8]) -> Option<(Sent, Job, Party, Submission)> {
        let submit = Submit::decode(frame).ok()?;
        let client = self.agreement.client(&submit.client);
        // An unknown name takes as long as a known one, and no job is read for a visitor without the secret.
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

    /// Leaves an opened submission, or finds its outcome. A refused submission is used, and never run after that: its client is told so once this is
    /// written. Only a busy server says so without a seal, and accepts the submission later.
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

    /// Waits for the next job to become complete. Dropping the future loses nothing.
    pub(super) async fn next_complete(&self) -> Id {
        loop {
            let rung = self.bell.notified();
            if let Some(id) = self.lock().complete.pop_front() {
                return id;
            }
            rung.await;
        }
    }

    /// All complete jobs, oldest first, for a newly connected server; [`Desk::next_complete`] does not return them again.
    pub(super) fn all_complete(&self) -> Vec<Id> {
        let mut state = self.lock();
        state.complete.clear();
        let complete = state.gatherings.values().filter_map(|gathering| Some((gathering.completed, gathering.id?)));
        let mut complete: Vec<(Instant, Id)> = complete.collect();
        complete.sort_unstable();
        complete.into_iter().map(|(_, id)| id).collect()
    }

    /// The digest of a complete job, without its submissions, and the counters of its submissions.
    pub(super) fn job(&self, id: &Id) -> Option<([u8; 32], [u64; CLIENTS_MAX])> {
        let state = self.lock();
        let (digest, gathering) = state.gatherings.iter().find(|(_, gathering)| gathering.id.as_ref() == Some(id))?;
        Some((*digest, counters(gathering.submissions.iter().flatten().map(|(sent, _)| sent))))
    }

    /// The number of a job that has been complete here for at least this long.
    pub(super) fn complete_for(&self, job: &[u8; 32], long: Duration) -> Option<Id> {
        self.lock().gatherings.get(job).filter(|gathering| gathering.completed.elapsed() >= long)?.id
    }

    /// Tells whether a job is gone, or has been complete here for at least this long.
    pub(super) fn may_differ(&self, id: &Id, long: Duration) -> bool {
        let state = self.lock();
        let gathering = state.gatherings.values().find(|gathering| gathering.id.as_ref() == Some(id));
        gathering.is_none_or(|gathering| gathering.completed.elapsed() >= long)
    }

    /// Takes a complete job, if it is still here.
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

    /// Records durably that the submissions of a job are used.
    ///
    /// *Errors*: the store's.
    pub(super) fn burn(&self, gathered: &Gathered, store: &mut Store) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        gathered.sent.iter().for_each(|sent| state.use_up(sent));
        self.write(&mut state, store)
    }

    /// Records durably that labels of a run are about to leave: if the run does not finish, the other server may have guessed.
    ///
    /// *Errors*: the store's.
    pub(super) fn begin(&self, store: &mut Store) -> Result<(), ProtocolError> {
        let mut state = self.lock();
        state.unended += 1;
        self.write(&mut state, store)
    }

    /// Gives each client its answer, durably: the run has ended.
    ///
    /// *Errors*: the store's; clients get their answers all the same.
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

    /// Ends a job without a result. Its submissions are used; this and the accused parties are recorded before anyone is told.
    ///
    /// *Errors*: the store's; clients learn that a job is never run once this is written.
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

    /// Refuses submissions that have waited too long, and writes pending records.
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

    /// Tells clients the outcome of their submissions, once their use is recorded: a reply that proves this waits for the record.
    ///
    /// *Errors*: the store's; clients get answers all the same.
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

    /// The number of unfinished runs whose labels have left.
    pub(super) fn unended(&self) -> u32 {
        self.lock().unended
    }

    /// The names of a job's clients.
    pub(super) fn names(&self, gathered: &Gathered) -> Vec<&str> {
        let all: Vec<&str> = self.agreement.clients().collect();
        gathered.clients().map(|client| all[client]).collect()
    }

    /// Writes all changed records, and hands over the replies that wait for this.
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

/// The counters of submissions, with zeros for clients that do not exist.
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
    /// The reply to a submission, now or later.
    fn reply_to(&self, sent: &Sent) -> Option<watch::Receiver<Option<Arc<[u8]>>>> {
        if let Some(left) = self.left[sent.client].as_ref().filter(|left| left.frame == sent.frame) {
            return Some(left.reply.subscribe());
        }
        let record = &self.records[sent.client];
        let is_written = !self.unwritten.contains(&sent.client);
        let kept = record.reply().filter(|_| is_written && record.frame == sent.frame)?;
        Some(watch::channel(Some(FromServer::Sealed(kept.to_vec()).encode().into())).1)
    }

    /// The reason why a submission can no longer be run, if there is no reply to it.
    fn past(&self, sent: &Sent) -> Option<Reason> {
        let (record, counter) = (&self.records[sent.client], sent.place.counter);
        let newer = self.left[sent.client].as_ref().is_some_and(|left| left.counter >= counter);
        match () {
            () if counter == record.counter && sent.frame == record.frame => Some(Reason::Used),
            () if newer || counter <= record.counter => Some(Reason::OldCounter),
            () => None,
        }
    }

    /// Tells whether a client may leave a new submission now: none of its submissions is running, and there were not too many.
    fn has_time_for(&mut self, client: usize) -> bool {
        let is_running = self.left[client].as_ref().is_some_and(|left| left.is_running);
        !is_running && self.manners[client].allow()
    }

    /// Records that a submission is used, and never run again.
    fn use_up(&mut self, sent: &Sent) {
        let record = &mut self.records[sent.client];
        if sent.place.counter > record.counter {
            *record = record.used(sent.place.counter, sent.frame);
        }
        self.unwritten.insert(sent.client);
    }

    /// Keeps the reply to a submission, if no later one was used.
    fn keep_reply(&mut self, sent: &Sent, reply: Vec<u8>) {
        let record = &mut self.records[sent.client];
        if record.frame == sent.frame {
            *record = std::mem::take(record).replied(reply);
        }
    }

    /// Forgets a client's submission that waits for others.
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

    /// Removes the submissions of a job.
    fn remove(&mut self, digest: &[u8; 32]) -> Option<Gathering> {
        let gathering = self.gatherings.remove(digest)?;
        self.complete.retain(|complete| Some(*complete) != gathering.id);
        Some(gathering)
    }

    /// Gives a client the sealed reply to its submission.
    fn hand_over(&mut self, client: usize, reply: Vec<u8>) {
        if let Some(left) = self.left[client].take() {
            left.reply.send_replace(Some(FromServer::Sealed(reply).encode().into()));
        }
    }
}

#[cfg(test)]
mod tests;
