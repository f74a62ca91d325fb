//! Records of clients, which a server keeps so that no submission is used twice, even after crashes.

use std::time::{Duration, SystemTime};

use garblet_client::Identity;
use garblet_protocol::{ProtocolError, secrets::unreadable};
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The prefix of the places where a store keeps records.
const PLACE: &str = "outsourced client ";
/// The place where a store keeps the number of unfinished runs.
const UNENDED: &str = "outsourced runs that did not end";
/// The place where a store keeps the names of all clients, in the order of their numbers.
const NUMBERED: &str = "outsourced clients by number";
/// The version of records.
const VERSION: u32 = 1;

/// The time for which a reply is kept.
const REPLY: Duration = Duration::from_secs(24 * 3600);
/// The period over which refusals are limited.
const WINDOW: Duration = Duration::from_secs(3600);
/// The most refusals in that period over messages of a client or the other server, and the most ever: each may be a guess at a hash.
const REFUSALS: (usize, u32) = (16, 256);
/// The most unfinished runs whose labels have left: each may be a guess of the other server at inputs.
pub(super) const UNENDED_MAX: u32 = 256;

/// A server's record of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The highest counter used.
    pub(super) counter: u64,
    /// The digest of the submission that used it.
    pub(super) frame: [u8; 32],
    /// The sealed reply to it; empty if there is none, or it has expired.
    reply: Vec<u8>,
    /// The time of the reply, in seconds.
    replied: u64,
    /// The total number of refusals that accused it.
    refused: u32,
    /// The times of the latest refusals.
    recent: Vec<u64>,
}

impl Record {
    /// The record of a client in a store; empty if there is none.
    ///
    /// *Errors*: a record that cannot be read.
    pub(super) fn of(store: &Store, client: &Identity) -> Result<Self, ProtocolError> {
        let record: Option<Record> = read(store, &place(client), "record of a client")?;
        Ok(record.unwrap_or_default().without_old())
    }

    /// The same after a submission was used.
    pub(super) fn used(&self, counter: u64, frame: [u8; 32]) -> Self {
        Record { counter, frame, reply: Vec::new(), replied: 0, ..self.clone() }
    }

    /// The same with a reply, from now on.
    pub(super) fn replied(self, reply: Vec<u8>) -> Self {
        Record { reply, replied: seconds(), ..self }
    }

    /// The same without an expired reply.
    pub(super) fn without_old(self) -> Self {
        match self.reply() {
            Some(_) => self,
            None => Record { reply: Vec::new(), ..self },
        }
    }

    /// The same after a refusal that accuses the client.
    pub(super) fn accused(self) -> Self {
        let mut recent = self.recent;
        recent.push(seconds());
        recent.drain(..recent.len().saturating_sub(REFUSALS.0));
        Record { refused: self.refused.saturating_add(1), recent, ..self }
    }

    /// The reply, if it is still kept.
    pub(super) fn reply(&self) -> Option<&[u8]> {
        // Clocks can also be set back.
        let fresh = seconds().abs_diff(self.replied) < REPLY.as_secs();
        (fresh && !self.reply.is_empty()).then_some(&self.reply)
    }

    /// The total number of refusals that accused it.
    #[cfg(test)]
    pub(super) fn refusals(&self) -> u32 {
        self.refused
    }

    /// Tells whether the client was accused too often, recently or in total.
    pub(super) fn is_shut_out(&self) -> bool {
        let now = seconds();
        let since = now.saturating_sub(WINDOW.as_secs());
        let recent = self.recent.iter().filter(|time| (since + 1..=now).contains(*time)).count();
        recent >= REFUSALS.0 || self.refused >= REFUSALS.1
    }
}

/// The number of unfinished runs in a store.
///
/// *Errors*: a record that cannot be read.
pub(super) fn unended(store: &Store) -> Result<u32, ProtocolError> {
    Ok(read(store, UNENDED, "number of runs that did not end")?.unwrap_or_default())
}

/// Writes records of clients and the number of unfinished runs atomically. A store restored to an earlier time is detected.
///
/// *Errors*: the store's.
pub(super) fn write<'a>(
    store: &mut Store,
    records: impl IntoIterator<Item = (&'a Identity, &'a Record)>,
    unended: u32,
) -> Result<(), ProtocolError> {
    let records = records.into_iter().map(|(client, record)| (place(client), State::encoded(VERSION, record)));
    let count = (UNENDED.to_string(), State::encoded(VERSION, &unended));
    Ok(store.set_states(records.chain([count]))?)
}

/// Records the number of each client, on which states may depend: recorded clients keep their numbers, and new ones follow.
///
/// *Errors*: a recorded client that has moved or is missing; the store's.
pub(super) fn number<'a>(store: &mut Store, names: impl IntoIterator<Item = &'a str>) -> Result<(), ProtocolError> {
    let names: Vec<String> = names.into_iter().map(String::from).collect();
    let known: Vec<String> = read(store, NUMBERED, "numbers of clients")?.unwrap_or_default();
    let other = known.iter().enumerate().find(|(number, name)| names.get(*number) != Some(*name));
    if let Some((number, name)) = other {
        let expected = format!(
            "`{name}` at place {} of the list, as when the service began: states depend on that number, so keep the name there even if its client has left",
            number + 1
        );
        let got = names.get(number).map_or("the end of the list".into(), |name| format!("`{name}`"));
        return Err(ProtocolError::Input { what: "clients of the agreement".into(), expected, got });
    }
    match known.len() < names.len() {
        true => Ok(store.set_state(NUMBERED, State::encoded(VERSION, &names))?),
        false => Ok(()),
    }
}

fn read<T: DeserializeOwned>(store: &Store, name: &str, what: &'static str) -> Result<Option<T>, ProtocolError> {
    let Some(bytes) = store.state_of(name, VERSION)? else { return Ok(None) };
    postcard::from_bytes(bytes).map(Some).map_err(|_| unreadable(what))
}

fn place(client: &Identity) -> String {
    format!("{PLACE}{client:?}")
}

/// The time, in seconds.
fn seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_kept_for_a_day_and_until_the_next_submission() {
        let record = Record::default().used(4, [7; 32]);
        assert_eq!(record.reply(), None);
        let mut record = record.replied(vec![1, 2]);
        assert_eq!(record.reply(), Some(&[1, 2][..]));
        assert_eq!(record.used(5, [8; 32]).reply(), None);
        // A clock that was set back a little must not lose it.
        record.replied += 60;
        assert_eq!(record.clone().without_old(), record);
        record.replied += REPLY.as_secs();
        assert_eq!(record.reply(), None);
        record.replied -= 2 * REPLY.as_secs() + 60;
        assert_eq!(record.reply(), None);
        assert_eq!(record.without_old().reply.len(), 0);
    }

    #[test]
    fn a_client_accused_too_often_is_shut_out_for_an_hour_and_finally_for_good() {
        let mut record = Record::default();
        for _ in 0..REFUSALS.0 {
            assert!(!record.is_shut_out());
            record = record.accused();
        }
        assert!(record.is_shut_out());
        record.recent.iter_mut().for_each(|time| *time += 60);
        assert!(!record.is_shut_out(), "accusations in the future do not count");
        record.recent.iter_mut().for_each(|time| *time -= WINDOW.as_secs() + 60);
        assert!(!record.is_shut_out());
        for _ in 0..REFUSALS.1 {
            record = record.accused();
            record.recent.iter_mut().for_each(|time| *time = 0);
        }
        assert!(record.is_shut_out());
        assert_eq!(record.recent.len(), REFUSALS.0);
    }

    #[test]
    fn clients_keep_their_numbers_and_new_ones_follow() {
        let mut store = Store::in_memory(&mut garblet_primitives::Prg::new(garblet_primitives::Block::from_u128(2)))
            .expect("a store");
        for names in [&["anna", "bert"][..], &["anna", "bert"], &["anna", "bert", "zoe"]] {
            number(&mut store, names.iter().copied()).expect("each has its number");
        }
        for (names, place) in
            [(&["bert", "zoe"][..], 1), (&["anna", "zoe", "bert"], 2), (&["anna", "bert"], 3), (&[], 1)]
        {
            let error = number(&mut store, names.iter().copied()).expect_err("somebody has another one").to_string();
            assert!(error.contains(&format!("at place {place} of the list")), "{error}");
        }
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut store = Store::in_memory(&mut garblet_primitives::Prg::new(garblet_primitives::Block::from_u128(1)))
            .expect("a store");
        let clients = ["a", "b"].map(Identity::of_client);
        let records = [Record::default().used(4, [7; 32]).replied(vec![9]).accused(), Record::default()];
        assert_eq!(unended(&store).expect("none"), 0);
        write(&mut store, clients.iter().zip(&records), 7).expect("written");
        assert_eq!(unended(&store).expect("read"), 7);
        for (client, record) in clients.iter().zip(&records) {
            assert_eq!(Record::of(&store, client).expect("read"), *record);
        }
        assert_eq!(Record::of(&store, &Identity::of_client("c")).expect("none"), Record::default());
    }
}
