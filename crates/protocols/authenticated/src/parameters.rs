//! Batches: how many triples are made at once, of how many leaky ones each.
//!
//! A peer that cheats makes leaky triples of which it knows the first factor; each that it tries passes the equality check with probability
//! one half, and all must pass. A triple is insecure if all of its bucket are known. *Bound*: with rows of `l` leaky triples that are rotated by
//! random shifts, the best cheat has one of each row, which pass with `2^-B` and meet with `l^-(B - 1)`; over the life of a store, in which one
//! failure ends everything, tries sum to at most `l^-(B - 1) / (2^B - 1)`, whatever the number of batches. It was compared with an enumeration of
//! all sets for small `l` and `B`. The published bound is `(2 B + 1) / l^(B - 1)` (Katz, Ranellucci, Rosulek and Wang 2018 with rotations).

use garblet_protocol::error::ProtocolError;

use crate::{NAME, config::Statistical};

/// Sizes of buckets.
const BUCKETS: std::ops::RangeInclusive<u32> = 3..=8;

/// The most triples of a batch, whose leaky triples stay in memory together: some 200 MB.
const BATCH_MAX: u64 = 1 << 19;

/// The most bytes of a batch of several parties, with all shares of its leaky triples.
const BATCH_BYTES: u64 = 544 << 20;

/// The triples of a batch where there are too many parties for a larger one.
const BATCH_OF_MANY: u64 = 1 << 15;

/// The most bytes of the blocks of a batch that goes to the store of one of many parties.
const STORED_BYTES: u64 = 192_000_000;

/// The fewest parties that fill stores in such batches. Their transfers for the fewest triples in buckets of three take more than 400 MB.
const MANY: u16 = 5;

/// Bits of tags beyond the bound: each party's tags take that share of the sum.
const TAG_BITS: u32 = 8;

/// The most triples of a batch of this number of parties.
fn batch_max(parties: u16, statistical: Statistical) -> u64 {
    let fit = BATCH_BYTES / (u64::from(parties) * 64 * u64::from(*BUCKETS.start()));
    let least = Batch::least(*BUCKETS.start(), statistical, parties);
    if parties == 2 || fit >= BATCH_MAX.max(least) {
        BATCH_MAX
    } else if fit >= least {
        fit
    } else {
        BATCH_OF_MANY
    }
}

/// The most triples of a batch that goes to the store of one of this number of parties.
fn stored_max(parties: u16, statistical: Statistical) -> u64 {
    if parties < MANY {
        return batch_max(parties, statistical);
    }
    // Three bits of a leaky triple, each with a key and a MAC for every other party; a block `u` for every other party; a sum.
    let leaky = 16 * (7 * u64::from(parties - 1) + 1);
    let fit = |bucket: u32| STORED_BYTES / (leaky * u64::from(bucket));
    let mut sizes = BUCKETS.filter(|&bucket| fit(bucket) >= Batch::least(bucket, statistical, parties)).map(fit);
    sizes.next().unwrap_or(BATCH_OF_MANY)
}

/// Triples that are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of triples.
    pub triples: u64,
    /// Leaky triples of each.
    pub bucket: u32,
}

impl Batch {
    /// Leaky triples.
    pub fn leaky(&self) -> u64 {
        self.triples * u64::from(self.bucket)
    }

    /// The probability that a peer that cheats has an insecure triple, in the life of a store.
    pub fn insecure(&self) -> f64 {
        let bucket = f64::from(self.bucket);
        (self.triples as f64).powf(1.0 - bucket) / (bucket.exp2() - 1.0)
    }

    /// The bound as it was published.
    pub fn published(&self) -> f64 {
        let bucket = f64::from(self.bucket);
        (2.0 * bucket + 1.0) * (self.triples as f64).powf(1.0 - bucket)
    }

    /// The fewest triples for which buckets of a size keep the bound among this number of parties.
    pub fn least(bucket: u32, statistical: Statistical, parties: u16) -> u64 {
        let tags = f64::from(parties) * (-f64::from(TAG_BITS)).exp2();
        let allowed = (-f64::from(statistical.bits())).exp2() * (1.0 - tags);
        let exact = (allowed * (f64::from(bucket).exp2() - 1.0)).powf(-1.0 / (f64::from(bucket) - 1.0));
        // Where the formula lands within the rounding of a whole number, that is tried.
        let near = exact.floor() as u64;
        (near.max(1)..).find(|&triples| Batch { triples, bucket }.insecure() <= allowed).unwrap_or(u64::MAX)
    }
}

/// The batches in which this number of parties make at least this number of triples from the fewest leaky ones; none for no triples.
///
/// More triples than memory can hold are made in several batches.
pub fn batches(triples: u64, statistical: Statistical, parties: u16) -> Vec<Batch> {
    batches_within(triples, statistical, parties, batch_max(parties, statistical))
}

/// The same for stores, which many parties fill in so little memory that a triple takes more leaky ones.
pub(crate) fn stored_batches(triples: u64, statistical: Statistical, parties: u16) -> Vec<Batch> {
    batches_within(triples, statistical, parties, stored_max(parties, statistical))
}

fn batches_within(triples: u64, statistical: Statistical, parties: u16, most: u64) -> Vec<Batch> {
    let cheapest = |triples: u64| {
        let of = |bucket| Batch { triples: triples.max(Batch::least(bucket, statistical, parties)), bucket };
        BUCKETS.map(of).min_by_key(Batch::leaky).unwrap_or(Batch { triples, bucket: *BUCKETS.end() })
    };
    if triples == 0 {
        return Vec::new();
    }
    let count = triples.div_ceil(most);
    let share = move |batch: u64| {
        (u128::from(triples) * u128::from(batch + 1) / u128::from(count)
            - u128::from(triples) * u128::from(batch) / u128::from(count)) as u64
    };
    let whole = |share: u64| if count > 1 { share.next_multiple_of(16) } else { share };
    (0..count).map(|batch| cheapest(whole(share(batch)))).collect()
}

/// The largest amount that can be ordered.
pub(crate) const AMOUNT_MAX: u64 = 1 << 32;

/// Refuses a program with more gates than batches can be made for.
pub(crate) fn check_amount(program: &str, ands: u64) -> Result<(), ProtocolError> {
    if ands <= AMOUNT_MAX {
        return Ok(());
    }
    let reason = format!("it has {ands} AND gates, of which at most {AMOUNT_MAX} can be prepared");
    Err(ProtocolError::Unsupported { protocol: NAME, program: program.into(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_batches_agree_with_the_analysis() {
        // The sum of all terms below 2^-40.
        assert_eq!([3, 4, 5].map(|bucket| Batch::least(bucket, Statistical::Forty, 2)), [397_882, 4_197, 435]);
        assert_eq!([3, 16].map(|parties| Batch::least(3, Statistical::Forty, parties)), [398_668, 409_323]);
        assert_eq!([3, 16].map(|parties| Batch::least(4, Statistical::Forty, parties)), [4_202, 4_277]);
        for statistical in [Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty] {
            let bound = (-f64::from(statistical.bits())).exp2();
            for bucket in BUCKETS {
                let triples = Batch::least(bucket, statistical, 2);
                assert!(Batch { triples, bucket }.insecure() < bound);
                assert!(Batch { triples: triples - 1, bucket }.insecure() > bound * 0.99, "{bucket} {triples}");
            }
        }
    }

    #[test]
    fn as_many_triples_as_asked_for_in_batches_that_keep_the_bound() {
        let statistical = [Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty];
        for (statistical, parties) in statistical.into_iter().flat_map(|s| [2, 3, 7, 8, 16].map(|parties| (s, parties)))
        {
            for triples in [1, 2, 100, 6_400, 100_000, 300_000, 819_200, 10_000_000] {
                let batches = batches(triples, statistical, parties);
                assert!(batches.iter().map(|batch| batch.triples).sum::<u64>() >= triples);
                // Tags have their share of the sum.
                let bound = (-f64::from(statistical.bits())).exp2() * (1.0 - f64::from(parties) / 256.0);
                assert!(batches.iter().all(|batch| batch.insecure() <= bound && batch.leaky() >= 128));
                let most = if parties == 2 { u64::MAX } else { BATCH_BYTES };
                assert!(batches.iter().all(|batch| batch.leaky() * 64 * u64::from(parties) <= most), "{parties}");
            }
        }
        assert!(batches(0, Statistical::Forty, 2).is_empty());
        assert_eq!(batches(6_400, Statistical::Forty, 2), [Batch { triples: 6_400, bucket: 4 }]);
        assert_eq!(batches(1_000_000, Statistical::Forty, 2), [Batch { triples: 500_000, bucket: 3 }; 2]);
        assert_eq!(batches(1_000_000, Statistical::Forty, 5), [Batch { triples: 500_000, bucket: 3 }; 2]);
    }

    #[test]
    fn stores_of_many_parties_are_filled_in_little_memory() {
        let statistical = [Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty];
        for (statistical, parties) in statistical.into_iter().flat_map(|s| (2..=16).map(move |parties| (s, parties))) {
            for triples in [1, 100, 6_400, 300_000, 1_000_000, 10_000_000] {
                let stored = stored_batches(triples, statistical, parties);
                assert!(stored.iter().map(|batch| batch.triples).sum::<u64>() >= triples);
                let bound = (-f64::from(statistical.bits())).exp2() * (1.0 - f64::from(parties) / 256.0);
                assert!(stored.iter().all(|batch| batch.insecure() <= bound && batch.leaky() >= 128));
                if parties < MANY {
                    assert_eq!(stored, batches(triples, statistical, parties));
                    continue;
                }
                // Amounts of batches are rounded up.
                let most = STORED_BYTES + 16 * 8 * 16 * 7 * u64::from(parties);
                let bytes = |batch: &Batch| batch.leaky() * 16 * (7 * u64::from(parties - 1) + 1);
                assert!(stored.iter().all(|batch| bytes(batch) <= most), "{parties} parties, {triples}: {stored:?}");
            }
        }
        assert_eq!(stored_batches(1_000_000, Statistical::Forty, 4), [Batch { triples: 500_000, bucket: 3 }; 2]);
        assert_eq!(stored_batches(1_000_000, Statistical::Forty, 5), [Batch { triples: 100_000, bucket: 4 }; 10]);
    }

    /// All sets of known triples and all shifts, for sizes that can be gone through.
    #[test]
    fn the_bound_covers_the_best_cheat() {
        for (triples, bucket) in [(4u32, 2u32), (5, 2), (4, 3)] {
            let sets: Vec<u32> = (1..1 << triples).filter(|set| set & 1 == 1).collect();
            let rotated = |set: u32, by: u32| (set >> by | set << (triples - by)) & ((1 << triples) - 1);
            let mut best = 0.0f64;
            let mut rows = vec![0; bucket as usize];
            loop {
                let chosen: Vec<u32> = rows.iter().map(|&row: &usize| sets[row]).collect();
                let shifts = triples.pow(bucket - 1);
                let hit = (0..shifts)
                    .filter(|&shifts| {
                        let mut shifts = shifts;
                        let others = chosen[1..].iter().map(|&set| {
                            let by = shifts % triples;
                            shifts /= triples;
                            rotated(set, by)
                        });
                        others.fold(chosen[0], |all, set| all & set) != 0
                    })
                    .count();
                let known: u32 = chosen.iter().map(|set| set.count_ones()).sum();
                best = best.max(hit as f64 / f64::from(shifts) * (-f64::from(known)).exp2());
                let Some(next) = rows.iter().position(|&row| row + 1 < sets.len()) else { break };
                rows[next] += 1;
                rows[..next].fill(0);
            }
            let formula = f64::from(triples).powi(1 - bucket as i32) * (-f64::from(bucket)).exp2();
            assert!((best / formula - 1.0).abs() < 1e-9, "{triples} {bucket}: {best} {formula}");
        }
    }
}
