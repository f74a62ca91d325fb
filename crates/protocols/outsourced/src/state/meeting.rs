//! The servers compare their states when they meet.
//!
//! | this server has | the other one has | result for both |
//! |---|---|---|
//! | version `t` | version `t`, of the same history | go on |
//! | `t`, and `t + 1` pending | `t + 1` | have `t + 1` |
//! | `t`, and `t + 1` pending | `t` | have `t` |
//! | `t`, and `t + 1` pending | the same | have `t + 1` |
//! | anything else | | close it: one of them was restored to an earlier time, or lies |

use garblet_net::NetError;
use garblet_protocol::{
    error::{ProtocolError, StateProblem},
    session::Session,
};
use garblet_store::Store;

use super::{Record, close, has_wires, problem};

/// Bytes that a server sends about a state: closed or pending, the version, its chain, and the chain of the pending version.
pub(crate) const TOLD_BYTES: usize = 1 + 8 + 32 + 32;

const CLOSED: u8 = 1;
const PENDING: u8 = 2;
/// The record cannot be read. Nothing else is said about the state, and neither server changes anything.
const UNREADABLE: u8 = 4;

/// Compares states with the other server, and repairs interrupted runs; also returns both servers' nonces.
///
/// *Errors*: [`ProtocolError::State`], and the state is closed from now on; the connection's and the store's.
pub(crate) async fn meet<const N: usize>(
    session: &mut Session,
    mut store: Option<&mut Store>,
    names: &[String],
    word: [u8; N],
) -> Result<[u8; N], ProtocolError> {
    let mut message = word.to_vec();
    let mut own = Vec::with_capacity(names.len());
    if let Some(store) = &mut store {
        for name in names {
            // A state whose record cannot be read is refused, and the others go on.
            own.push(Record::of(store, name).ok().map(|record| {
                let closed = record.closed || !has_wires(store, name, record.version);
                Record { closed, ..record }
            }));
        }
    }
    own.iter().for_each(|record| message.extend_from_slice(&told(record.as_ref())));
    let channel = session.channel();
    channel.send_bytes(&message).await?;
    channel.flush().await?;
    let mut theirs = vec![0; message.len()];
    channel.receive_bytes(&mut theirs).await?;
    let (their_word, rest) = theirs.split_at(N);
    let mut wrong = None;
    if let Some(store) = store {
        for ((name, own), bytes) in names.iter().zip(own).zip(rest.chunks_exact(TOLD_BYTES)) {
            let compared = match (own, heard(bytes)?) {
                (Some(own), Some(theirs)) => compare(store, name, own, &theirs)?,
                _ => Err(StateProblem::Unreadable),
            };
            // All states are compared and repaired, even if one fails.
            if let Err(found) = compared {
                wrong.get_or_insert(problem(name, found));
            }
        }
    }
    wrong.map_or(Ok(*their_word.first_chunk().unwrap_or(&[0; N])), Err)
}

/// Repairs a state, or closes it.
fn compare(
    store: &mut Store,
    name: &str,
    mut own: Record,
    theirs: &Record,
) -> Result<Result<(), StateProblem>, ProtocolError> {
    match verdict(&own, theirs) {
        // An interrupted server may have wires of another version.
        Ok(Next::Stay) if own.pending.is_none() => own.forget_others(store, name).map(Ok),
        Ok(next) => {
            match next {
                Next::Stay => own.pending = None,
                Next::Advance(chain) => own.advance(chain),
            }
            own.settle(store, name).map(Ok)
        }
        Err(problem) => close(store, name).map(|()| Err(problem)),
    }
}

/// The version with which a server goes on.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Its current version.
    Stay,
    /// The pending version.
    Advance([u8; 32]),
}

fn verdict(own: &Record, theirs: &Record) -> Result<Next, StateProblem> {
    if own.closed || theirs.closed {
        return Err(StateProblem::Closed);
    }
    let apart = StateProblem::Apart { own: own.version, theirs: theirs.version };
    let (ahead, behind) = (theirs.version.checked_sub(own.version), own.version.checked_sub(theirs.version));
    match (ahead, behind) {
        (Some(0), _) if own.chain != theirs.chain => Err(StateProblem::Forked { version: own.version }),
        (Some(0), _) => Ok(match own.pending {
            Some(chain) if theirs.pending == own.pending => Next::Advance(chain),
            _ => Next::Stay,
        }),
        (Some(1), _) => match own.pending {
            Some(chain) if chain == theirs.chain => Ok(Next::Advance(chain)),
            _ => Err(apart),
        },
        (_, Some(1)) if theirs.pending == Some(own.chain) => Ok(Next::Stay),
        _ => Err(apart),
    }
}

/// A record in the one encoding that it has; `None` is one that cannot be read.
fn told(record: Option<&Record>) -> [u8; TOLD_BYTES] {
    let mut bytes = [0; TOLD_BYTES];
    let Some(record) = record else {
        bytes[0] = UNREADABLE;
        return bytes;
    };
    bytes[0] = if record.closed { CLOSED } else { 0 } | if record.pending.is_some() { PENDING } else { 0 };
    bytes[1..9].copy_from_slice(&record.version.to_le_bytes());
    bytes[9..41].copy_from_slice(&record.chain);
    bytes[41..].copy_from_slice(&record.pending.unwrap_or_default());
    bytes
}

/// The record that the other server [`told`]; `None` if it cannot be read there.
///
/// *Errors*: bytes that no record is told in.
fn heard(bytes: &[u8]) -> Result<Option<Record>, ProtocolError> {
    let (flags, rest) = bytes.split_first().unwrap_or((&0, &[]));
    if bytes == told(None) {
        return Ok(None);
    }
    if flags & !(CLOSED | PENDING) != 0 {
        let (expected, got) = ("what is known of a state".into(), format!("flags {flags}"));
        return Err(NetError::Unexpected { expected, got }.into());
    }
    let (version, rest) = rest.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let (chain, pending) = rest.split_first_chunk().unwrap_or((&[0; 32], &[]));
    let pending = (flags & PENDING != 0).then(|| *pending.first_chunk().unwrap_or(&[0; 32]));
    let (version, closed) = (u64::from_le_bytes(*version), flags & CLOSED != 0);
    let record = Record { version, chain: *chain, pending, closed, ..Record::default() };
    // Every record has one encoding.
    if bytes != told(Some(&record)) {
        let (expected, got) = ("zeros where nothing is pending".into(), "other bytes".into());
        return Err(NetError::Unexpected { expected, got }.into());
    }
    Ok(Some(record))
}

#[cfg(test)]
mod tests {
    use garblet_net::{Channel, Hello, memory_pair};
    use garblet_primitives::{Block, Prg};
    use garblet_store::State;

    use super::*;

    /// Version `t` has chain `t`.
    fn at(version: u64) -> Record {
        Record { version, chain: [version as u8; 32], ..Record::default() }
    }

    fn pending(version: u64) -> Record {
        Record { pending: Some([version as u8 + 1; 32]), ..at(version) }
    }

    /// The verdicts of both servers, which must leave them at the same version.
    fn both(one: &Record, other: &Record) -> Result<u64, StateProblem> {
        let after = |own: &Record, theirs: &Record| {
            let mut own = own.clone();
            match verdict(&own, theirs)? {
                Next::Stay => own.pending = None,
                Next::Advance(chain) => own.advance(chain),
            }
            Ok(own)
        };
        match (after(one, other), after(other, one)) {
            (Ok(one), Ok(other)) => {
                assert_eq!(one, other);
                Ok(one.version)
            }
            (one, other) => Err(one.and(other).expect_err("both refuse it")),
        }
    }

    #[test]
    fn servers_are_at_one_version_after_any_interruption() {
        assert_eq!(both(&at(0), &at(0)), Ok(0));
        assert_eq!(both(&at(4), &at(4)), Ok(4));
        assert_eq!(both(&pending(4), &at(4)), Ok(4));
        assert_eq!(both(&pending(4), &at(5)), Ok(5));
        assert_eq!(both(&at(5), &pending(4)), Ok(5));
        assert_eq!(both(&pending(4), &pending(4)), Ok(5));
    }

    #[test]
    fn differences_that_no_crash_explains_close_the_state_at_both() {
        let apart = |own, theirs| Err(StateProblem::Apart { own, theirs });
        assert_eq!(both(&at(4), &at(5)), apart(4, 5));
        assert_eq!(both(&pending(3), &at(5)), apart(3, 5));
        assert_eq!(both(&at(7), &at(5)), apart(7, 5));
        let fork = Record { chain: [9; 32], ..at(4) };
        assert_eq!(both(&fork, &at(4)), Err(StateProblem::Forked { version: 4 }));
        assert_eq!(both(&pending(4), &Record { chain: [9; 32], ..at(5) }), apart(4, 5));
        let closed = Record { closed: true, ..at(4) };
        assert_eq!(both(&closed, &at(4)), Err(StateProblem::Closed));
    }

    #[test]
    fn records_are_read_as_they_were_sent() {
        for record in [at(0), at(7), pending(3), Record { closed: true, ..at(2) }] {
            assert_eq!(heard(&told(Some(&record))).expect("it can be read"), Some(record));
        }
        assert_eq!(heard(&told(None)).expect("it can be read"), None);
        assert!(heard(&[8; TOLD_BYTES]).is_err());
        // Other bytes than zeros where nothing is pending, or where nothing could be read.
        for flags in [0, CLOSED, UNREADABLE] {
            let mut bytes = [0; TOLD_BYTES];
            (bytes[0], bytes[TOLD_BYTES - 1]) = (flags, 1);
            assert!(heard(&bytes).is_err(), "flags {flags}");
        }
    }

    /// A lying server can only reach the version that is pending here.
    #[test]
    fn any_bytes_are_a_record_or_refused_and_reach_only_the_pending_version() {
        let mut rng = Prg::new(Block::ONES);
        let (mut records, mut advanced) = (0, 0);
        for number in 0..20_000u32 {
            let mut bytes = [0; TOLD_BYTES];
            rng.fill_bytes(&mut bytes);
            // Versions near those here, and chains that are right as often as not.
            bytes[0] %= 8;
            if number % 4 > 0 {
                bytes[1..9].copy_from_slice(&u64::from(number % 6).to_le_bytes());
                let chain = [(number / 4 % 6) as u8; 32];
                bytes[9..41].copy_from_slice(&chain);
                let is_pending = bytes[0] & PENDING != 0;
                bytes[41..].copy_from_slice(&chain.map(|byte| if is_pending { byte + 1 } else { 0 }));
            }
            let Ok(Some(theirs)) = heard(&bytes) else { continue };
            assert_eq!(told(Some(&theirs)), bytes);
            records += 1;
            for own in [at(0), at(3), pending(3), at(u64::MAX), Record { pending: Some([1; 32]), ..at(u64::MAX - 1) }] {
                if let Ok(Next::Advance(chain)) = verdict(&own, &theirs) {
                    assert_eq!(Some(chain), own.pending, "{theirs:?}");
                    advanced += 1;
                }
            }
        }
        assert!((5_000..20_000).contains(&records) && advanced > 10, "{records} records, {advanced} times");
    }

    /// One server's record of one state cannot be read: only that state is refused, at both servers, and neither closes it.
    #[test]
    fn an_unreadable_record_only_affects_its_own_state() {
        let names = ["map", "sum"].map(String::from);
        let mut stores = [1, 2].map(|seed| Store::in_memory(&mut Prg::new(Block::from_u128(seed))).expect("memory"));
        for store in &mut stores {
            for name in &names {
                Record { keeping: 1, ..Record::default() }.write(store, name).expect("memory");
            }
        }
        let odd = State { version: 99, bytes: vec![1] };
        stores[0].set_state(&format!("{}map", super::super::PLACE), odd).expect("memory");
        let (ours, theirs) = memory_pair();
        let [first, second] = &mut stores;
        let names = &names;
        let one = async |channel: Channel, party: u16, store: &mut Store| {
            let hello = Hello::new("states", party, 2, [0; 32]);
            let mut session = Session::open(channel, Prg::new(Block::ZERO), &hello, Box::new(())).await.expect("met");
            meet(&mut session, Some(store), names, [party as u8]).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let met = runtime.block_on(async { tokio::join!(one(ours, 0, first), one(theirs, 1, second)) });
        for met in [met.0, met.1] {
            let error = met.expect_err("one cannot be read");
            let is_map =
                matches!(&error, ProtocolError::State { name, problem: StateProblem::Unreadable } if name == "map");
            assert!(is_map, "{error}");
        }
        assert!(!Record::of(&stores[1], "map").expect("it is there").closed);
        assert!(stores.iter().all(|store| !Record::of(store, "sum").expect("it is there").closed));
    }
}
