//! Values that two parties keep for later programs: where their stores have them, how both parties end up with the same ones, and how often a run that keeps
//! values may fail.
//!
//! A value that only one party has kept is of no use to either. So the *second* party writes its part as *pending*, and says so. The *first* party then keeps
//! its own part ([`keep`]) and says so, and the second party keeps what was pending. If that is cut off, the next meeting that uses the name settles it: both
//! parties continue with what the first has, see [`meet`].
//!
//! A party can learn an output and then let the run fail before the other party has kept its part: it has had a guess that changed nothing. So a party counts
//! each run that is to keep values, durably, from before its first message until its end ([`begin`]). Only the end of a run takes one off the count, in the
//! same write that keeps the party's part. Above the limit, runs that are to keep values under the name are refused until the user resets the count
//! ([`allow`]).

pub mod among;

use std::collections::BTreeMap;

use garblet_circuit::Program;
use garblet_net::NetError;
use garblet_store::{STATE_BYTES_MAX, State, Store, StoreError};

use crate::{
    error::{ProtocolError, StateProblem},
    session::Session,
    stock::{Notice, SavedNames, SavedValues},
};

/// The default limit of runs that did not end.
pub const RETRIES: u32 = 16;

/// Bytes of the message that says whether a party has its part of a run's outputs.
pub const WORD_BYTES: usize = 1;

/// Prefix of the places where a store has kept values.
const PLACE: &str = "kept ";
/// Prefix of the places where the second party's store has pending values, which it keeps once the first party has its own.
const PENDING: &str = "pending ";
/// Prefix of the places where a store counts runs that were to keep values and have not ended.
const UNENDED: &str = "unended ";
/// The version of these counts.
const VERSION: u32 = 1;

/// The place of the value kept under a name.
pub fn place(name: &str) -> String {
    format!("{PLACE}{name}")
}

/// The place of the value pending under a name.
pub fn pending_place(name: &str) -> String {
    format!("{PENDING}{name}")
}

fn unended_place(name: &str) -> String {
    format!("{UNENDED}{name}")
}

/// The names under which a protocol's store keeps values or counts runs that have not ended, in alphabetical order; empty if the store is another protocol's.
/// `outputs` reads the names of kept outputs; those of another version have none.
pub fn names(store: &Store, protocol: &str, outputs: impl Fn(&State) -> Option<Vec<String>>) -> Vec<SavedNames> {
    if !is_of(store, protocol) {
        return Vec::new();
    }
    let mut all: BTreeMap<&str, SavedNames> = BTreeMap::new();
    let empty = |name: &str| SavedNames { name: name.into(), outputs: Vec::new(), unended: 0, state: None };
    for (place, state) in store.states() {
        if let Some(name) = place.strip_prefix(PLACE) {
            all.entry(name).or_insert_with(|| empty(name)).outputs = outputs(state).unwrap_or_default();
        }
        if let Some(name) = place.strip_prefix(UNENDED)
            && let Ok(runs @ 1..) = unended(store, name)
        {
            all.entry(name).or_insert_with(|| empty(name)).unended = runs;
        }
    }
    all.into_values().collect()
}

/// Tells whether a store is a protocol's, or nobody's yet.
fn is_of(store: &Store, protocol: &str) -> bool {
    store.binding().is_none_or(|binding| binding.protocol.split(' ').next() == Some(protocol))
}

/// The notices of values that a protocol's store keeps for its own party: `names`, and the runs under all names that have not ended.
pub fn notices(store: &Store, protocol: &str, names: Vec<SavedNames>) -> Vec<Notice> {
    let counted = store.states().filter_map(|(place, _)| place.strip_prefix(UNENDED));
    // A count that cannot be read is one that a run left there.
    let runs = counted.map(|name| unended(store, name).unwrap_or(1)).fold(0, u32::saturating_add);
    let unended = (runs > 0 && is_of(store, protocol)).then_some(Notice::UnendedRuns(runs));
    names.into_iter().map(Notice::Kept).chain(unended).collect()
}

/// Forgets all that is kept and pending under names that are `gone`. The counts of runs that did not end stay.
///
/// *Errors*: the store's.
pub fn forget(store: &mut Store, gone: impl Fn(&str) -> bool) -> Result<(), StoreError> {
    store.remove_states(|place| name_of(place).is_some_and(&gone))
}

/// Tells whether a place of a store holds a kept or pending value, or a count of runs that did not end.
pub fn is_place(place: &str) -> bool {
    name_of(place).is_some() || place.starts_with(UNENDED)
}

fn name_of(place: &str) -> Option<&str> {
    place.strip_prefix(PLACE).or_else(|| place.strip_prefix(PENDING))
}

/// The number of runs that were to keep values under a name, were begun, and have not ended.
///
/// *Errors*: a count that cannot be read.
pub fn unended(store: &Store, name: &str) -> Result<u32, ProtocolError> {
    let Some(bytes) = store.state_of(&unended_place(name), VERSION)? else { return Ok(0) };
    bytes.try_into().map(u32::from_le_bytes).map_err(|_| problem(name, StateProblem::Unreadable))
}

/// Checks that another run may keep values under a name: at most `most` runs have not ended.
///
/// *Errors*: [`StateProblem::Failures`]; a count that cannot be read.
pub fn check(store: &Store, name: &str, most: u32) -> Result<(), ProtocolError> {
    match unended(store, name)? > most {
        true => Err(problem(name, StateProblem::Failures { most })),
        false => Ok(()),
    }
}

/// Checks that no run of the session has replaced the value that a run reads since that run was prepared: it would read the old value, which gives the peer
/// one more guess that nobody counts. `prepared` and `begun` are the numbers of runs of the session that were to keep values and had begun when it was
/// prepared, and now.
///
/// *Errors*: [`StateProblem::Stale`].
pub fn check_fresh(saved: &SavedValues, prepared: u64, begun: u64) -> Result<(), ProtocolError> {
    match &saved.keep {
        Some(name) if prepared != begun && saved.read.iter().any(|read| read.name == *name) => {
            Err(problem(name, StateProblem::Stale))
        }
        _ => Ok(()),
    }
}

/// Counts a run that is to keep values under a name. Call it before the run's first message; the count is durable.
///
/// *Errors*: as [`check`]; the store's.
pub fn begin(store: &mut Store, name: &str, most: u32) -> Result<(), ProtocolError> {
    check(store, name, most)?;
    let runs = unended(store, name)?.saturating_add(1);
    Ok(store.set_state(&unended_place(name), count(runs))?)
}

/// An upper bound of the bytes of a kept state besides bits and names: marks, and lengths of lists.
const FRAME_BYTES: usize = 256;
/// The same for each output.
const OUTPUT_FRAME_BYTES: usize = 64;

/// Checks, before a run begins, that a store can hold the outputs that the run is to keep, given by their numbers. `bit_bytes` are the bytes for each bit at
/// the party that writes more, so both parties refuse the same programs.
///
/// *Errors*: [`ProtocolError::KeepsTooMuch`].
pub fn check_room(
    protocol: &'static str,
    program: &Program,
    kept: &[usize],
    bit_bytes: usize,
) -> Result<(), ProtocolError> {
    let ports = || kept.iter().map(|&output| &program.outputs()[output].port);
    let frame: usize = ports().map(|port| port.name.len() + OUTPUT_FRAME_BYTES).sum();
    let most = (STATE_BYTES_MAX.saturating_sub(FRAME_BYTES + frame) / bit_bytes) as u64;
    let got: u64 = ports().map(|port| u64::from(port.width())).sum();
    match got <= most {
        true => Ok(()),
        false => Err(ProtocolError::KeepsTooMuch { protocol, program: program.name().into(), most, got }),
    }
}

/// Keeps a state under a name in place of the earlier one, and takes the run that made it off the count. Both are one write, so the run has either ended or
/// not, wherever the process is killed.
///
/// *Errors*: a count that cannot be read; the store's.
pub fn keep(store: &mut Store, name: &str, kept: State) -> Result<(), ProtocolError> {
    let runs = unended(store, name)?.saturating_sub(1);
    let counted = (runs > 0).then(|| (unended_place(name), count(runs)));
    let gone = |place: &str| place == pending_place(name) || (runs == 0 && place == unended_place(name));
    Ok(store.replace_states([(place(name), kept)].into_iter().chain(counted), gone)?)
}

/// Takes a run off the count that has nothing to keep because the computation has panicked.
///
/// *Errors*: a count that cannot be read; the store's.
fn ended(store: &mut Store, name: &str) -> Result<(), ProtocolError> {
    match unended(store, name)? {
        0 => Ok(()),
        1 => Ok(store.remove_states(|place| place == unended_place(name))?),
        runs => Ok(store.set_state(&unended_place(name), count(runs - 1))?),
    }
}

/// Resets the counts of runs that have not ended, under all names.
///
/// *Errors*: the store's.
pub fn allow(store: &mut Store) -> Result<(), ProtocolError> {
    Ok(store.remove_states(|place| place.starts_with(UNENDED))?)
}

/// Keeps the pending value under a name, once the first party has kept its own: the run has ended. See [`keep`].
///
/// *Errors*: a count that cannot be read; the store's.
pub fn advance(store: &mut Store, name: &str) -> Result<(), ProtocolError> {
    let Some(state) = store.state(&pending_place(name)) else { return Ok(()) };
    let kept = State { version: state.version, bytes: state.bytes.clone() };
    keep(store, name, kept)
}

/// Forgets the pending value. The kept value stays.
///
/// *Errors*: the store's.
fn drop_pending(store: &mut Store, name: &str) -> Result<(), StoreError> {
    store.remove_states(|place| place == pending_place(name))
}

/// The first party's end of a run that is to keep values: it has kept its part ([`keep`]), or has nothing to keep, and says so. If the peer does not receive
/// that, the next meeting settles what is pending; a run that has panicked has nothing pending, and then stays on the peer's count.
///
/// *Errors*: a count that cannot be read; the store's.
pub async fn conclude(session: &mut Session, store: &mut Store, name: &str, has: Part) -> Result<(), ProtocolError> {
    let ended = if has == Part::Nothing { ended(store, name) } else { Ok(()) };
    tell(session, has != Part::Failed).await;
    ended
}

/// A party's word on whether it has its part.
pub async fn tell(session: &mut Session, has: bool) {
    let channel = session.channel();
    if channel.send_bytes(&[u8::from(has); WORD_BYTES]).await.is_ok() {
        let _ = channel.flush().await;
    }
}

/// Receives the first party's word, and settles what this party `has` pending. If both had nothing to keep because the computation has panicked, the run has
/// ended too.
///
/// *Errors*: [`ProtocolError::NotKept`]; the connection's, after which the next meeting settles it; the store's.
pub async fn hear(session: &mut Session, store: &mut Store, name: &str, has: Part) -> Result<(), ProtocolError> {
    let mut word = [0; WORD_BYTES];
    session.channel().receive_bytes(&mut word).await?;
    match (has_kept(word)?, has) {
        (true, Part::Written) => advance(store, name),
        (true, Part::Nothing) => ended(store, name),
        // A write that failed may have been made nevertheless: the next meeting shows it.
        (false, Part::Written | Part::Nothing) => Err(not_kept(name)),
        (_, Part::Failed) => Ok(()),
    }
}

/// A party's part of a run that is to keep values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is in the store: the first party's is kept, the second party's is pending.
    Written,
    /// There is none: the computation has panicked.
    Nothing,
    /// It could not be written, or the other party's could not.
    Failed,
}

/// The peer's word on whether it has kept outputs.
///
/// *Errors*: another word.
pub fn has_kept([word]: [u8; WORD_BYTES]) -> Result<bool, NetError> {
    match word {
        0 => Ok(false),
        1 => Ok(true),
        other => {
            Err(NetError::Unexpected { expected: "0 or 1, whether outputs are kept".into(), got: other.to_string() })
        }
    }
}

/// The error of a role that is to read or keep values and has no store.
pub fn no_store() -> ProtocolError {
    let [what, expected, got] = ["values to keep", "a store for them", "none"].map(Into::into);
    ProtocolError::Input { what, expected, got }
}

/// The error of a party that keeps nothing because its peer could not.
pub fn not_kept(name: &str) -> ProtocolError {
    ProtocolError::NotKept { name: name.into() }
}

fn problem(name: &str, problem: StateProblem) -> ProtocolError {
    ProtocolError::State { name: name.into(), problem }
}

fn count(runs: u32) -> State {
    State { version: VERSION, bytes: runs.to_le_bytes().to_vec() }
}

/// A mark that tells a kept value from earlier ones under the same name; `None` if there is no value.
type Marked<const N: usize> = Option<[u8; N]>;

/// Compares the values that both parties keep under names, and settles values that are pending because a run was interrupted: both continue with what the first
/// party has. `mark` reads the mark of a stored value, which is of this version.
///
/// *Errors*: a value of another version; outputs of different runs under a name that is read; the connection's and the store's.
pub async fn meet<const N: usize>(
    session: &mut Session,
    store: &mut Store,
    (is_first, saved): (bool, &SavedValues),
    mark: (u32, impl Fn(&[u8]) -> Marked<N>),
) -> Result<(), ProtocolError> {
    let names = names_of(saved);
    let own = marks(store, &names, mark)?;
    let message: Vec<u8> = own.as_flattened().iter().flat_map(told).collect();
    let channel = session.channel();
    channel.send_bytes(&message).await?;
    channel.flush().await?;
    let mut theirs = vec![0; message.len()];
    channel.receive_bytes(&mut theirs).await?;
    let mut theirs = theirs.chunks_exact(1 + N).map(heard);
    for (name, [kept, pending]) in names.into_iter().zip(own) {
        let [their_kept, their_pending] = [theirs.next(), theirs.next()].map(Option::flatten);
        let fits = match is_first {
            true => kept == their_kept || (their_pending.is_some() && kept == their_pending),
            false if kept == their_kept => drop_pending(store, name).map(|()| true)?,
            false if pending.is_some() && pending == their_kept => advance(store, name).map(|()| true)?,
            false => false,
        };
        if !fits && saved.read.iter().any(|read| read.name == *name) {
            return Err(of_different_runs(name));
        }
    }
    Ok(())
}

/// The names under which a run reads and keeps values, in alphabetical order.
fn names_of(saved: &SavedValues) -> Vec<&String> {
    let mut names: Vec<&String> = saved.read.iter().map(|read| &read.name).chain(&saved.keep).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The error for a name that is read, under which the parties have outputs of different runs.
fn of_different_runs(name: &str) -> ProtocolError {
    let what = format!("`{name}`, which is read");
    let (expected, got) =
        ("outputs that all parties have kept in the same run".into(), "those of different runs".into());
    ProtocolError::Input { what, expected, got }
}

/// The marks of kept and pending values under names.
///
/// *Errors*: a value of another version.
fn marks<const N: usize>(
    store: &Store,
    names: &[&String],
    (version, mark): (u32, impl Fn(&[u8]) -> Marked<N>),
) -> Result<Vec<[Marked<N>; 2]>, StoreError> {
    let of = |place: String| Ok(store.state_of(&place, version)?.and_then(&mark));
    names.iter().map(|name| Ok([of(place(name))?, of(pending_place(name))?])).collect()
}

fn told<const N: usize>(mark: &Marked<N>) -> Vec<u8> {
    let mut told = vec![u8::from(mark.is_some())];
    told.extend(mark.unwrap_or([0; N]));
    told
}

fn heard<const N: usize>(told: &[u8]) -> Marked<N> {
    let (&has, mark) = told.split_first()?;
    mark.try_into().ok().filter(|_| has == 1)
}

#[cfg(test)]
mod tests {
    use garblet_primitives::{Block, Prg};

    use super::*;

    fn store() -> Store {
        Store::in_memory(&mut Prg::new(Block::ZERO)).expect("memory")
    }

    fn state(byte: u8) -> State {
        State { version: 7, bytes: vec![byte; 3] }
    }

    #[test]
    fn a_run_is_counted_until_it_ends_and_more_than_the_limit_are_refused() {
        let mut store = store();
        for runs in 1..=3 {
            begin(&mut store, "x", 2).expect("so many may fail");
            assert_eq!(unended(&store, "x").expect("it is there"), runs);
        }
        for refused in [check(&store, "x", 2), begin(&mut store, "x", 2)] {
            let error = refused.expect_err("three have failed");
            let problem = StateProblem::Failures { most: 2 };
            assert!(matches!(&error, ProtocolError::State { name, problem: is } if name == "x" && *is == problem));
        }
        assert_eq!(unended(&store, "x").expect("it is there"), 3, "one that is refused does not count");
        check(&store, "y", 0).expect("other names have counts of their own");
        ended(&mut store, "x").expect("memory");
        begin(&mut store, "x", 2).expect("one has ended");
        keep(&mut store, "x", state(1)).expect("memory");
        begin(&mut store, "x", 2).expect("another one has ended");
        assert_eq!(notices(&store, "x", Vec::new()), [Notice::UnendedRuns(3)]);
        allow(&mut store).expect("memory");
        let kept = SavedNames { name: "x".into(), outputs: Vec::new(), unended: 0, state: None };
        assert_eq!((names(&store, "x", |_| None), notices(&store, "x", Vec::new())), (vec![kept], Vec::new()));
        begin(&mut store, "x", 0).expect("all were allowed");
    }

    #[test]
    fn only_its_end_takes_a_run_off_the_count() {
        let mut store = store();
        begin(&mut store, "x", 16).expect("memory");
        store.set_state(&place("x"), state(1)).expect("memory");
        drop_pending(&mut store, "x").expect("memory");
        forget(&mut store, |_| true).expect("memory");
        advance(&mut store, "x").expect("nothing is pending");
        let named = SavedNames { name: "x".into(), outputs: Vec::new(), unended: 1, state: None };
        assert_eq!(names(&store, "x", |_| None), [named]);
        begin(&mut store, "x", 16).expect("memory");
        store.set_state(&pending_place("x"), state(2)).expect("memory");
        advance(&mut store, "x").expect("memory");
        assert_eq!(unended(&store, "x").expect("it is there"), 1);
        assert_eq!(store.state(&place("x")).expect("it is kept").bytes, state(2).bytes);
        assert!(store.state(&pending_place("x")).is_none());
    }

    #[test]
    fn a_count_that_cannot_be_read_is_refused_until_more_is_allowed() {
        let mut store = store();
        store.set_state("unended x", state(0)).expect("memory");
        let refused = begin(&mut store, "x", 16).expect_err("it is of another version");
        assert!(matches!(refused, ProtocolError::Store(StoreError::OtherFormat { .. })), "{refused}");
        assert_eq!(notices(&store, "x", Vec::new()), [Notice::UnendedRuns(1)]);
        allow(&mut store).expect("memory");
        begin(&mut store, "x", 0).expect("all were allowed");
    }

    #[test]
    fn values_of_another_version_are_refused_and_stay() {
        let mut store = store();
        let mark = |bytes: &[u8]| bytes.first_chunk().copied();
        for of in [place, pending_place] {
            store.set_state(&of("x"), State { version: 2, bytes: vec![1; 8] }).expect("memory");
            let refused = marks::<4>(&store, &[&"x".into()], (1, mark)).expect_err("of a later version");
            assert!(matches!(refused, StoreError::OtherFormat { expected: 1, got: 2, .. }), "{refused}");
            assert!(store.state(&of("x")).is_some());
            store.remove_states(|other| other == of("x")).expect("memory");
        }
        store.set_state(&place("x"), State { version: 1, bytes: vec![1; 8] }).expect("memory");
        assert_eq!(marks::<4>(&store, &[&"x".into()], (1, mark)).expect("its version"), [[Some([1; 4]), None]]);
    }

    #[test]
    fn marks_are_read_as_they_were_sent() {
        for mark in [None, Some([0; 8]), Some([9; 8])] {
            assert_eq!(heard(&told(&mark)), mark);
        }
    }
}
