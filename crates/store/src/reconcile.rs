//! Meetings of stores: pieces that not all of them have are discarded, and an old copy of a store is detected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::edit::Edit;
use crate::error::StoreError;
use crate::ids::{IDS_MAX, IdSet, PieceId};
use crate::kind::{KIND_NAME_BYTES_MAX, Kind, KindDigest};
use crate::rows::{KindRow, PeerSeen};
use crate::store::{KINDS_MAX, Store, hex};

/// The most ranges of a summary, over all kinds.
pub(crate) const SUMMARY_RANGES_MAX: usize = 1 << 15;

/// The most peers that a store has.
pub(crate) const PEERS_MAX: usize = 255;

/// A bound for [`Store::reconcile`] where a protocol has none of its own: that number of pieces takes at least 16 GiB on the peer's disk.
pub const AHEAD_MAX: u64 = 1 << 30;

/// A store's summary for its peers' stores when they meet: no secrets, and at most [`Summary::BYTES_MAX`] encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Summary {
    pub(crate) store: [u8; 16],
    /// The number of times that the store was changed.
    changes: u64,
    /// The last change that it knows of each store that it has met, including the recipient's.
    seen: Vec<([u8; 16], u64)>,
    kinds: Vec<KindSummary>,
}

/// The part of a summary about one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KindSummary {
    kind: Kind,
    next: u64,
    available: IdSet,
}

/// A received summary, not yet checked.
#[derive(Deserialize)]
struct Unchecked {
    store: [u8; 16],
    changes: u64,
    seen: Vec<([u8; 16], u64)>,
    kinds: Vec<KindSummary>,
}

/// The result of a meeting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Discarded pieces, by kind. Kinds without any are left out.
    pub dropped: Vec<(Kind, u64)>,
}

impl Summary {
    /// The longest encoding (postcard).
    pub const BYTES_MAX: usize =
        64 + PEERS_MAX * 26 + KINDS_MAX * (KIND_NAME_BYTES_MAX + 1 + 32 + 10 + 3) + SUMMARY_RANGES_MAX * 20;
}

impl TryFrom<Unchecked> for Summary {
    type Error = String;

    fn try_from(summary: Unchecked) -> Result<Self, String> {
        let Unchecked { store, changes, seen, kinds } = summary;
        if kinds.len() > KINDS_MAX {
            return Err(format!("{} kinds of pieces, expected at most {KINDS_MAX}", kinds.len()));
        }
        if seen.len() > PEERS_MAX {
            return Err(format!("{} stores that it has met, expected at most {PEERS_MAX}", seen.len()));
        }
        let ranges: usize = kinds.iter().map(|kind| kind.available.range_count()).sum();
        if ranges > SUMMARY_RANGES_MAX {
            return Err(format!("{ranges} ranges of pieces, expected at most {SUMMARY_RANGES_MAX}"));
        }
        if !kinds.windows(2).all(|pair| pair[0].kind.digest() < pair[1].kind.digest()) {
            return Err("kinds of pieces are not in ascending order".into());
        }
        if let Some(kind) = kinds.iter().find(|kind| kind.next > IDS_MAX) {
            return Err(format!("next identifier {} of kind {}, expected at most {IDS_MAX}", kind.next, kind.kind));
        }
        let beyond = |kind: &&KindSummary| kind.available.ranges().last().is_some_and(|range| range.end > kind.next);
        match kinds.iter().find(beyond) {
            Some(kind) => Err(format!("pieces of kind {} beyond the next identifier {}", kind.kind, kind.next)),
            None => Ok(Summary { store, changes, seen, kinds }),
        }
    }
}

impl Store {
    /// The summary for the peers' stores, the same for all.
    ///
    /// It is a function of the store, so it stays the same as long as the store does. If a store has more ranges than a summary may
    /// have, the summary has only the longest of each kind, and [`reconcile`](Store::reconcile) discards the rest.
    pub fn summary(&self) -> Summary {
        let share = SUMMARY_RANGES_MAX / self.kinds.len().max(1);
        let summarise = |row: &KindRow| KindSummary {
            kind: row.kind.clone(),
            next: row.next,
            available: row.available.longest_ranges(share),
        };
        Summary {
            store: self.id,
            changes: self.head.changes,
            seen: self.head.peers.iter().map(|peer| (peer.store, peer.changes)).collect(),
            kinds: self.kinds.values().map(summarise).collect(),
        }
    }

    /// Keeps the pieces that both stores have, and discards the rest. Afterwards both have the same available pieces and the
    /// same next identifiers. Kinds of which this store has never had a piece are remembered until it is closed, so a peer cannot fill it with names. The first meeting binds the two stores to each other.
    ///
    /// *Shape*: the pieces of the store must not change between the [`summary`](Store::summary) that the peer got and this call. `ahead` is the most identifiers
    /// of a kind that an honest peer may have used and this store does not know: those of pieces that only the peer wrote before the last session failed. A peer that
    /// lies uses up as many at each meeting, so a protocol whose batches are small gives few.
    ///
    /// *Errors*: as [`check_peer`](Store::check_peer); [`StoreError::PeerAhead`] and [`StoreError::PeerKinds`] for claims that no honest peer makes. Then nothing
    /// has changed, and nothing may be taken.
    pub fn reconcile(&mut self, peer: &Summary, ahead: u64) -> Result<Reconciled, StoreError> {
        self.reconcile_all(std::slice::from_ref(peer), ahead)
    }

    /// Remembers kinds durably, before any piece of them is made. Stores of several parties must: one that remembers what a peer claimed of a kind, and another
    /// that forgets it when it is closed, would be [apart](StoreError::Apart) for ever.
    pub fn know(&mut self, kinds: &[&Kind]) -> Result<(), StoreError> {
        let new = kinds.iter().filter(|kind| !self.kinds.contains_key(&kind.digest()));
        let new: Vec<KindRow> = new.map(|kind| KindRow::new((*kind).clone())).collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut edit = Edit::new(self);
        edit.kinds.extend(new.into_iter().map(|row| (row.kind.digest(), row)));
        self.apply(edit)
    }

    /// The same for several peers: keeps the pieces that all stores have.
    ///
    /// *Shape*: the summaries of all peers, always in the same order; otherwise as for [`reconcile`](Store::reconcile). *Errors*: also [`StoreError::Twice`];
    /// [`StoreError::Apart`] in place of [`StoreError::PeerAhead`]: a cheat could have led one store on and not another, so no claim is judged by this store alone.
    pub fn reconcile_all(&mut self, peers: &[Summary], ahead: u64) -> Result<Reconciled, StoreError> {
        let mut stores: Vec<_> = peers.iter().map(|peer| peer.store).chain([self.id]).collect();
        stores.sort_unstable();
        if let Some(pair) = stores.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(StoreError::Twice { store: hex(&pair[0]) });
        }
        for (at, peer) in peers.iter().enumerate() {
            self.check_peer(at, peer)?;
        }
        self.check_claims(peers, ahead)?;
        let mut told: BTreeMap<KindDigest, IdSet> =
            self.summary().kinds.into_iter().map(|ours| (ours.kind.digest(), ours.available)).collect();
        for peer in peers {
            let theirs: BTreeMap<KindDigest, &IdSet> =
                peer.kinds.iter().map(|theirs| (theirs.kind.digest(), &theirs.available)).collect();
            for (digest, all) in &mut told {
                *all = theirs.get(digest).map(|theirs| all.intersection(theirs)).unwrap_or_default();
            }
        }
        let mut lost = Vec::new();
        for (digest, row) in &self.kinds {
            let gone = row.available.difference(told.get(digest).unwrap_or(&IdSet::new()));
            if !gone.is_empty() {
                lost.push((row.kind.clone(), gone));
            }
        }
        let (known, new): (Vec<_>, Vec<_>) =
            self.rows_behind(peers)?.into_iter().partition(|row| self.kinds.contains_key(&row.kind.digest()));
        let seen = peers.iter().map(|peer| PeerSeen { store: peer.store, changes: peer.changes }).collect();
        self.drop_lost(&lost, |edit| {
            edit.head.peers = seen;
            for row in known {
                let next = row.next;
                edit.kinds.entry(row.kind.digest()).or_insert(row).next = next;
            }
        })?;
        self.kinds.extend(new.into_iter().map(|row| (row.kind.digest(), row)));
        Ok(Reconciled { dropped: lost.into_iter().map(|(kind, ids)| (kind, ids.len())).collect() })
    }

    /// Our updated rows for kinds of which a peer has used more identifiers than we know.
    fn rows_behind(&self, peers: &[Summary]) -> Result<Vec<KindRow>, StoreError> {
        let mut behind: BTreeMap<KindDigest, KindRow> = BTreeMap::new();
        let mut kinds = self.kinds.len();
        for theirs in peers.iter().flat_map(|peer| &peer.kinds) {
            let digest = theirs.kind.digest();
            let known = behind.get(&digest).or_else(|| self.kinds.get(&digest));
            kinds += usize::from(known.is_none());
            if known.is_none_or(|row| row.next < theirs.next) {
                let mut row = known.cloned().unwrap_or_else(|| KindRow::new(theirs.kind.clone()));
                row.next = theirs.next;
                behind.insert(digest, row);
            }
        }
        match kinds <= KINDS_MAX {
            true => Ok(behind.into_values().collect()),
            false => Err(StoreError::TooManyKinds { max: KINDS_MAX }),
        }
    }

    /// Checks that this store may meet a peer's, which has place `at` among all peers'.
    ///
    /// *Errors*: [`StoreError::OtherPeerStore`] and [`StoreError::OtherStore`] if the stores were not filled together; [`StoreError::RolledBack`] and
    /// [`StoreError::PeerRolledBack`] if one of them is older than when their last meeting began.
    pub fn check_peer(&self, at: usize, peer: &Summary) -> Result<(), StoreError> {
        match self.head.peers.get(at) {
            Some(known) if known.store != peer.store => {
                let (expected, got) = (hex(&known.store), hex(&peer.store));
                return Err(StoreError::OtherPeerStore { expected, got });
            }
            Some(known) if peer.changes < known.changes => {
                return Err(StoreError::PeerRolledBack { expected: known.changes, got: peer.changes });
            }
            None if !self.head.peers.is_empty() => {
                return Err(StoreError::OtherPeerStore { expected: "none".into(), got: hex(&peer.store) });
            }
            _ => {}
        }
        match peer.seen.iter().find(|(store, _)| *store == self.id) {
            None if !peer.seen.is_empty() => {
                let known: Vec<String> = peer.seen.iter().map(|(store, _)| hex(store)).collect();
                Err(StoreError::OtherStore { expected: known.join(" or "), got: hex(&self.id) })
            }
            Some((_, seen)) if *seen > self.head.changes => {
                Err(StoreError::RolledBack { expected: *seen, got: self.head.changes })
            }
            _ => Ok(()),
        }
    }

    /// Checks that peers can have used the numbers of identifiers and kinds that they claim.
    fn check_claims(&self, peers: &[Summary], ahead: u64) -> Result<(), StoreError> {
        let [peer] = peers else { return self.check_distances(peers, ahead) };
        let mut kinds = self.kinds.len();
        for KindSummary { kind, next, .. } in &peer.kinds {
            let known = self.kinds.get(&kind.digest());
            let max = known.map_or(0, |row| row.next) + ahead;
            if *next > max {
                let (max, got) = (PieceId(max), PieceId(*next));
                return Err(StoreError::PeerAhead { kind: kind.clone(), max, got });
            }
            kinds += usize::from(known.is_none());
        }
        match kinds <= KINDS_MAX {
            true => Ok(()),
            false => Err(StoreError::PeerKinds { max: KINDS_MAX, got: kinds }),
        }
    }

    /// Checks that the stores of all parties can have been filled together, by what all of them heard.
    fn check_distances(&self, peers: &[Summary], ahead: u64) -> Result<(), StoreError> {
        let own = self.kinds.values().map(|row| (&row.kind, row.next));
        let all = peers.iter().flat_map(|peer| &peer.kinds).map(|theirs| (&theirs.kind, theirs.next)).chain(own);
        let mut ends: BTreeMap<KindDigest, (&Kind, u64, u64, usize)> = BTreeMap::new();
        for (kind, next) in all {
            let (_, least, most, count) = ends.entry(kind.digest()).or_insert((kind, next, next, 0));
            (*least, *most, *count) = ((*least).min(next), (*most).max(next), *count + 1);
        }
        for (kind, least, most, count) in ends.into_values() {
            // A store that does not know the kind has made nothing of it.
            let least = if count > peers.len() { least } else { 0 };
            if most - least > ahead {
                let (least, most) = (PieceId(least), PieceId(most));
                return Err(StoreError::Apart { kind: kind.clone(), ahead, least, most });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    /// Kinds without pieces, in the order of a summary.
    fn kinds(count: usize) -> Vec<KindSummary> {
        let kind = |number: usize| Kind::new("kind", &number.to_le_bytes());
        let summary = |number| KindSummary { kind: kind(number), next: 0, available: IdSet::default() };
        let mut kinds: Vec<_> = (0..count).map(summary).collect();
        kinds.sort_by_key(|summary| summary.kind.digest());
        kinds
    }

    fn summary(kinds: Vec<KindSummary>, peers: usize) -> Result<Summary, String> {
        let seen = (0..peers).map(|peer| ([peer as u8; 16], 0)).collect();
        Summary::try_from(Unchecked { store: [1; 16], changes: 0, seen, kinds })
    }

    #[test]
    fn a_summary_has_bounded_numbers_of_kinds_stores_and_ranges() {
        assert!(summary(kinds(KINDS_MAX), PEERS_MAX).is_ok());
        let error = summary(kinds(KINDS_MAX + 1), 0).expect_err("too many kinds");
        assert!(error.ends_with("4097 kinds of pieces, expected at most 4096"), "{error}");
        let error = summary(Vec::new(), PEERS_MAX + 1).expect_err("too many stores");
        assert!(error.starts_with("256 stores that it has met"), "{error}");
        let ranges = |counts: [usize; 2]| {
            let mut kinds = kinds(2);
            for (kind, count) in kinds.iter_mut().zip(counts) {
                (kind.next, kind.available) = (IDS_MAX, (0..count as u64).map(|id| PieceId(2 * id)).collect());
            }
            summary(kinds, 0)
        };
        assert!(ranges([SUMMARY_RANGES_MAX - 1, 1]).is_ok());
        let error = ranges([SUMMARY_RANGES_MAX, 1]).expect_err("too many ranges");
        assert!(error.starts_with("32769 ranges of pieces"), "{error}");
    }

    #[test]
    fn a_summary_names_each_kind_once_and_in_order() {
        let in_order = kinds(2);
        for wrong in [[1, 0], [0, 0]] {
            let error = summary(wrong.map(|at: usize| in_order[at].clone()).into(), 0).expect_err("out of order");
            assert_eq!(error, "kinds of pieces are not in ascending order");
        }
        assert!(summary(in_order, 0).is_ok());
    }

    #[test]
    fn kinds_of_all_peers_together_are_bounded() {
        let store = Store::in_memory(&mut StdRng::seed_from_u64(1)).expect("made");
        let peer = |from: usize, to: usize| Summary {
            store: [1; 16],
            changes: 0,
            seen: Vec::new(),
            kinds: kinds(KINDS_MAX + 1).drain(from..to).map(|kind| KindSummary { next: 1, ..kind }).collect(),
        };
        assert_eq!(store.rows_behind(&[peer(0, KINDS_MAX), peer(1, KINDS_MAX)]).expect("as many").len(), KINDS_MAX);
        let refused = store.rows_behind(&[peer(0, KINDS_MAX), peer(KINDS_MAX, KINDS_MAX + 1)]).map(|rows| rows.len());
        assert!(matches!(refused, Err(StoreError::TooManyKinds { max: KINDS_MAX })), "{refused:?}");
    }
}
