//! Meetings of servers, and the names of runs.

use garblet_primitives::Block;
use garblet_protocol::{
    domain::SessionId,
    error::{ProtocolError, StateProblem},
    session::Session,
};

use super::{
    circuits::Ids,
    kept::{NONCE_BYTES, State},
    plan::Plan,
};
use crate::NAME;

/// Bytes that announce a run to clients: the state's name and the run's number.
pub(crate) const TOLD_BYTES: usize = 40;
/// Bytes of a server's greeting: whether it has a state that has served, which one, a nonce for a new one, and the number of runs it has counted.
pub(crate) const MEETING_BYTES: usize = 1 + 32 + NONCE_BYTES + 8;

/// Descriptions of a server's state.
const STATES: [&str; 3] = ["none", "one", "one that has served no run"];

/// Exchanges greetings about the state; returns both nonces, its own first. Of two run numbers the higher one counts: a run that only one server
/// began used nothing of the state, and skipped numbers do no harm. A state that has served no run is dropped if the other server has none:
/// the connection was lost while the state was made.
///
/// *Errors*: another state at the other server; the connection's.
pub(crate) async fn exchange<K>(
    pair: &mut Session,
    state: &mut Option<State<K>>,
) -> Result<([u8; NONCE_BYTES], [u8; NONCE_BYTES]), ProtocolError> {
    let (mut own, mut theirs) = ([0; MEETING_BYTES], [0; MEETING_BYTES]);
    let nonces = 33..33 + NONCE_BYTES;
    pair.rng().fill_bytes(&mut own[nonces.clone()]);
    if let Some(state) = &*state {
        state.check()?;
        own[0] = if state.has_served() { 1 } else { 2 };
        own[1..33].copy_from_slice(&state.standing());
        own[nonces.end..].copy_from_slice(&state.runs().to_le_bytes());
    }
    pair.channel().send_bytes(&own).await?;
    pair.channel().receive_bytes(&mut theirs).await?;
    let words = |word: u8| STATES.get(usize::from(word)).copied().unwrap_or("an unknown state");
    match (own[0], theirs[0]) {
        (0 | 2, 0) | (0, 2) => *state = None,
        (own @ 0, theirs) | (own, theirs @ (0 | 3..)) => {
            let problem = StateProblem::Unlike { own: words(own), theirs: words(theirs) };
            return Err(ProtocolError::State { name: "partialgc".into(), problem });
        }
        _ if own[1..33] != theirs[1..33] => {
            let problem = StateProblem::Unlike { own: words(1), theirs: "another" };
            return Err(ProtocolError::State { name: "partialgc".into(), problem });
        }
        _ => {}
    }
    if let Some(state) = state {
        state.leave_out(theirs.last_chunk().map_or(0, |runs| u64::from_le_bytes(*runs)));
    }
    let nonce = |word: &[u8; MEETING_BYTES]| word[33..].first_chunk().copied().unwrap_or_default();
    Ok((nonce(&own), nonce(&theirs)))
}

/// The state that both servers have agreed on.
///
/// *Errors*: no such state.
pub(crate) fn taken<K>(state: &mut Option<State<K>>) -> Result<State<K>, ProtocolError> {
    let missing = || ProtocolError::State { name: "partialgc".into(), problem: StateProblem::Missing };
    state.take().ok_or_else(missing)
}

/// *Errors*: a state of other parameters.
pub(crate) fn check<K>(state: &State<K>, plan: &Plan) -> Result<(), ProtocolError> {
    match state.config() == plan.config() {
        true => Ok(()),
        false => {
            let [expected, got] = [state.config(), plan.config()].map(|config| format!("{config:?}"));
            Err(ProtocolError::Stored { what: "parameters of the state", expected, got })
        }
    }
}

/// The name of a run, as sent to clients.
pub(crate) fn told<K>(state: &State<K>, number: u64) -> [u8; TOLD_BYTES] {
    let mut told = [0; TOLD_BYTES];
    told[..32].copy_from_slice(state.name());
    told[32..].copy_from_slice(&number.to_le_bytes());
    told
}

/// The identifier of a run, which all parties derive from the announcement and their own copy of the program.
pub(crate) fn run(told: &[u8; TOLD_BYTES], plan: &Plan) -> SessionId {
    let (name, number) = told.split_first_chunk().unwrap_or((&[0; 32], &[]));
    let mut padded = [0; 32];
    padded[..number.len()].copy_from_slice(number);
    SessionId::new(NAME, *name, [plan.program().digest(), padded])
}

/// Both identifiers of a server.
pub(crate) fn ids<K>(state: &State<K>, plan: &Plan, number: u64) -> Ids {
    Ids { run: run(&told(state, number), plan), life: state.life() }
}

/// Two seeds of a giver: for its encoding, and for its orders and blinds.
pub(crate) fn seeds(pair: &mut Session) -> [Block; 2] {
    [pair.rng().next_block(), pair.rng().next_block()]
}
