//! Encodings of the evaluator's input that make selective failure useless.
//!
//! A garbler that spoils one of the two labels of an evaluator's wire learns the evaluator's choice there from whether it
//! stops. So the evaluator does not choose by its input `y` but by a random `y'` with `A y' = y` for a public matrix `A`, and
//! the sums `A y'` are computed on labels, which costs nothing with free XOR.
//!
//! *Source*: Lindell and Pinkas (EUROCRYPT 2007), section 4: independent inputs and random combinations; shelat and Shen (CCS
//! 2013), section 3: matrices in which every sum of rows has many ones. Here `A = [I | B]`, so the wires after the first
//! `n` can keep the choices of random OTs, and only the first `n` are corrected.
//!
//! If every non-zero sum of rows of `A` has `k` ones or more, then fewer than `k` spoiled wires are noticed with a probability
//! that does not depend on `y`, and `k` or more are noticed except with probability `2^(1 - k)`.

use std::collections::HashMap;

use garblet_circuit::Bits;
use garblet_ot::BitVec;
use garblet_primitives::{Bit, Block, Prg, subset_sums};
use zeroize::Zeroizing;

/// The number of bits encoded together if there are more than twice as many: keeps the sums short.
const BLOCK_BITS: usize = 256;

/// A public matrix `A = [I | B]`, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    rows: Vec<Row>,
    wires: usize,
}

/// Row `i` of `B`: ones among the wires from `start` on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    start: usize,
    ones: Vec<u64>,
}

impl Encoding {
    /// The bits unchanged: for garblers that do not cheat, or where selective failure is prevented otherwise.
    pub fn plain(bits: usize) -> Self {
        Encoding { rows: vec![Row { start: bits, ones: Vec::new() }; bits], wires: bits }
    }

    /// Each bit as the sum of `shares` separate wires.
    ///
    /// *Source*: Lindell and Pinkas 2007, section 4.1. *Shape*: `shares` is 1 or more.
    pub fn independent(bits: usize, shares: usize) -> Self {
        let extra = shares.saturating_sub(1);
        let ones = |words: usize| (0..words).map(|w| low_bits(extra - 64 * w)).collect::<Vec<u64>>();
        let rows = (0..bits).map(|i| Row { start: bits + i * extra, ones: ones(extra.div_ceil(64)) });
        Encoding { rows: rows.collect(), wires: bits * shares.max(1) }
    }

    /// The number of wires for [`Encoding::random_combinations`].
    pub fn random_combinations_wires(bits: usize, distance: usize) -> usize {
        (4 * bits).max(8 * distance)
    }

    /// Random combinations over `max(4 n, 8 k)` wires, as published.
    ///
    /// *Source*: Lindell and Pinkas 2007, section 4.2, with the sizes of Pinkas, Schneider, Smart and Williams 2009. The matrix
    /// is the reduced form of a random one, which has the same sums of rows.
    pub fn random_combinations(bits: usize, distance: usize, seed: Block) -> Self {
        let extra = Encoding::random_combinations_wires(bits, distance).saturating_sub(bits);
        Encoding::random(&[(bits, extra)], seed)
    }

    /// Random combinations over the fewest wires that give every sum of rows at least `distance` ones, except with probability
    /// `2^-distance` over the seed. More than 512 bits are encoded in parts.
    ///
    /// *Unique*: the evaluator, which the encoding protects, samples the seed.
    pub fn systematic(bits: usize, distance: usize, seed: Block) -> Self {
        Encoding::random(&systematic_parts(bits, distance), seed)
    }

    /// The same followed by `wires` more wires, random bits that are in no sum.
    pub fn followed_by(self, wires: usize) -> Self {
        Encoding { wires: self.wires + wires, ..self }
    }

    /// The number of wires for [`Encoding::systematic`].
    pub fn systematic_wires(bits: usize, distance: usize) -> usize {
        systematic_parts(bits, distance).iter().map(|(bits, extra)| bits + extra).sum()
    }

    /// The encodings of several givers as one encoding of all `bits` bits: each encodes the bits at its places, and other bits are
    /// unchanged. The wires are those of all bits, then the additional ones of each giver in turn.
    ///
    /// *Shape*: each giver has as many places as its encoding has bits.
    ///
    /// # Panics
    /// If places are not below `bits`.
    pub fn joined<'e>(bits: usize, givers: impl IntoIterator<Item = (&'e [usize], &'e Encoding)>) -> Self {
        // Rows with the same start share their wires; these have none.
        let mut rows = vec![Row { start: 0, ones: Vec::new() }; bits];
        let mut wires = bits;
        for (places, encoding) in givers {
            for (&place, row) in places.iter().zip(&encoding.rows) {
                rows[place] = Row { start: wires + row.start - encoding.bits(), ones: row.ones.clone() };
            }
            wires += encoding.wires() - encoding.bits();
        }
        Encoding { rows, wires }
    }

    /// Random rows for parts of this many bits with this many additional wires.
    fn random(parts: &[(usize, usize)], seed: Block) -> Self {
        let mut rng = Prg::new(seed);
        let bits: usize = parts.iter().map(|(bits, _)| bits).sum();
        let mut rows = Vec::with_capacity(bits);
        let mut start = bits;
        for &(part, extra) in parts {
            for _ in 0..part {
                let mut ones = vec![0u64; extra.div_ceil(64)];
                rng.fill_bytes(bytemuck::cast_slice_mut(&mut ones));
                ones.iter_mut().enumerate().for_each(|(w, word)| *word &= low_bits(extra - 64 * w));
                rows.push(Row { start, ones });
            }
            start += extra;
        }
        Encoding { rows, wires: start }
    }

    /// The number of bits of an input.
    pub fn bits(&self) -> usize {
        self.rows.len()
    }

    /// The number of wires of an encoded input: those of the bits, then those of `B`.
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// The choices of all wires for `input`, where those after the bits are random, and the corrections that turn `random` into them.
    ///
    /// *Shape*: [`Encoding::bits`] bits in, as many corrections out; [`Encoding::wires`] choices.
    pub fn choose(&self, input: &Bits, random: &BitVec) -> (BitVec, BitVec) {
        let first = self.first_wires(input.iter().map(Bit::from), |wire| random.get(wire));
        let others = (self.bits()..self.wires()).map(|wire| random.get(wire));
        let corrections = first.iter().zip(random.iter()).map(|(&wanted, had)| wanted ^ had).collect();
        (first.iter().copied().chain(others).collect(), corrections)
    }

    /// The first wires that make the sums equal `input`, given the other wires `others`.
    ///
    /// *Shape*: `input` has [`Encoding::bits`] bits; `others` is asked for wires from there on.
    fn first_wires(&self, input: impl Iterator<Item = Bit>, others: impl Fn(usize) -> Bit) -> Zeroizing<Vec<Bit>> {
        let first = self.rows.iter().zip(input);
        Zeroizing::new(first.map(|(row, bit)| row.wires().fold(bit, |sum, wire| sum ^ others(wire))).collect())
    }

    /// The labels of the sums, from the labels of the wires.
    ///
    /// *Shape*: [`Encoding::wires`] labels in, [`Encoding::bits`] out. *Cost*: for rows that share their wires, one XOR for every four
    /// entries of `B`; for others, one for every one in `B`.
    ///
    /// # Panics
    /// If there are fewer labels.
    pub fn sums(&self, labels: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut sums = Zeroizing::new(labels[..self.rows.len()].to_vec());
        let mut rest = &mut sums[..];
        for rows in self.rows.chunk_by(|a, b| a.start == b.start) {
            let (sums, later) = rest.split_at_mut(rows.len());
            rest = later;
            match rows {
                [row] => sums[0] = row.wires().fold(sums[0], |sum, wire| sum ^ labels[wire]),
                _ => add_combinations(rows, &labels[..self.wires], sums),
            }
        }
        sums
    }

    /// The sums as gates: `add` makes the exclusive or of two wires.
    ///
    /// *Shape*: as [`Encoding::sums`]. *Cost*: rows that share their wires share sums of a few wires.
    pub fn gates<T: Copy>(&self, wires: &[T], mut add: impl FnMut(T, T) -> T) -> Vec<T> {
        let mut sums = wires[..self.rows.len()].to_vec();
        let mut rest = &mut sums[..];
        for rows in self.rows.chunk_by(|a, b| a.start == b.start) {
            let (sums, later) = rest.split_at_mut(rows.len());
            rest = later;
            let together = wires_together(rows.len());
            let places: Vec<Vec<usize>> = rows.iter().map(|row| row.wires().collect()).collect();
            for first in (rows[0].start..wires.len()).step_by(together) {
                let group = first..(first + together).min(wires.len());
                let mut known: HashMap<Vec<usize>, T> = HashMap::new();
                for (of_row, sum) in places.iter().zip(&mut *sums) {
                    let begin = of_row.partition_point(|&wire| wire < group.start);
                    let end = of_row.partition_point(|&wire| wire < group.end);
                    if let Some(part) = sum_of(&of_row[begin..end], wires, &mut known, &mut add) {
                        *sum = add(*sum, part);
                    }
                }
            }
        }
        sums
    }

    /// The number of exclusive ors that the sums take per circuit.
    #[cfg(test)]
    pub(crate) fn xor_count(&self) -> u64 {
        self.rows.iter().flat_map(|row| &row.ones).map(|word| u64::from(word.count_ones())).sum()
    }
}

/// The number of wires whose sums are shared by `rows` rows, chosen for the fewest exclusive ors in total.
fn wires_together(rows: usize) -> usize {
    let per_wire = |wires: &usize| ((1usize << wires) + rows).div_ceil(*wires);
    (1..=8).min_by_key(per_wire).unwrap_or(1)
}

/// The sum of some wires, from known sums of fewer wires; `None` for no wires.
fn sum_of<T: Copy>(
    of: &[usize],
    wires: &[T],
    known: &mut HashMap<Vec<usize>, T>,
    add: &mut impl FnMut(T, T) -> T,
) -> Option<T> {
    let (&last, others) = of.split_last()?;
    if let Some(&sum) = known.get(of) {
        return Some(sum);
    }
    let sum = match sum_of(others, wires, known, add) {
        Some(sum) => add(sum, wires[last]),
        None => wires[last],
    };
    known.insert(of.to_vec(), sum);
    Some(sum)
}

/// Adds each row's selection of the shared wires: one byte of a row at a time, with two combinations of four wires each.
fn add_combinations(rows: &[Row], labels: &[Block], sums: &mut [Block]) {
    let [first, ..] = rows else { return };
    let mut tables = Zeroizing::new([[[Block::ZERO; 16]; 2]; 8]);
    for (word, labels) in labels[first.start..].chunks(64).enumerate().take(first.ones.len()) {
        let bytes = labels.len().div_ceil(8);
        let tables = &mut tables[..bytes];
        for (labels, [low, high]) in labels.chunks(8).zip(&mut *tables) {
            let (first, rest) = labels.split_at(labels.len().min(4));
            subset_sums(first, low);
            subset_sums(rest, high);
        }
        for (row, sum) in rows.iter().zip(&mut *sums) {
            let parts = row.ones[word].to_le_bytes().into_iter().zip(&*tables);
            *sum = parts.fold(*sum, |sum, (ones, [low, high])| {
                sum ^ low[usize::from(ones & 15)] ^ high[usize::from(ones >> 4)]
            });
        }
    }
}

impl Row {
    /// The wires of `B` in the sum.
    fn wires(&self) -> impl Iterator<Item = usize> + '_ {
        self.ones.iter().enumerate().flat_map(move |(w, &word)| {
            let next = |&rest: &u64| Some(rest & rest.wrapping_sub(1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), next)
                .map(move |rest| self.start + 64 * w + rest.trailing_zeros() as usize)
        })
    }
}

/// A word with `count` ones, at most 64.
fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The parts of a systematic encoding, each with its additional wires.
fn systematic_parts(bits: usize, distance: usize) -> Vec<(usize, usize)> {
    let size = if bits <= 2 * BLOCK_BITS { bits.max(1) } else { BLOCK_BITS };
    let count = bits.div_ceil(size);
    let margin = distance as i32 + count.next_power_of_two().ilog2() as i32;
    let part = |i: usize| size.min(bits - i * size);
    let extras: Vec<(usize, usize)> = (0..count).map(|i| (part(i), extra_wires(part(i), distance, margin))).collect();
    extras
}

/// The fewest columns of `B` for which some sum of rows of `[I | B]` has fewer than `distance` ones with probability at most
/// `2^-margin`.
///
/// *Source*: the union bound `sum_w C(n, w) Pr[Bin(r, 1/2) < distance - w]`. Both parties must find the same number, so this uses
/// only operations that IEEE 754 defines to the last bit; sums of 512 bits and distances to 104 are within range.
fn extra_wires(bits: usize, distance: usize, margin: i32) -> usize {
    let limit = (0..margin).fold(1.0, |limit: f64, _| limit * 0.5);
    let chosen: Vec<f64> = (1..=bits.min(distance.saturating_sub(1)))
        .scan(1.0, |c, w| {
            *c *= (bits - w + 1) as f64 / w as f64;
            Some(*c)
        })
        .collect();
    let failure = |r: usize| {
        // prefix[d] = Pr[Bin(r, 1/2) < d]
        let all_zero = (0..r).fold(1.0, |p: f64, _| p * 0.5);
        let mut term = all_zero;
        let mut prefix = vec![0.0];
        for i in 0..distance {
            prefix.push(prefix[i] + term);
            term *= (r as f64 - i as f64).max(0.0) / (i + 1) as f64;
        }
        chosen.iter().enumerate().map(|(i, c)| c * prefix[distance - (i + 1)]).sum::<f64>()
    };
    (0..).find(|&r| failure(r) <= limit).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bits: usize) -> Vec<Encoding> {
        let seed = Block::from_u128(bits as u128);
        vec![
            Encoding::plain(bits),
            Encoding::independent(bits, 1),
            Encoding::independent(bits, 5),
            Encoding::independent(bits, 66),
            Encoding::random_combinations(bits, 10, seed),
            Encoding::systematic(bits, 12, seed),
        ]
    }

    proptest! {
        #[test]
        fn sums_of_encoded_inputs_are_the_inputs(bits in 0usize..40, seed: u128) {
            let mut rng = Prg::new(Block::from_u128(seed));
            for encoding in all(bits) {
                prop_assert_eq!(encoding.bits(), bits);
                let mut bit = || rng.next_block().lsb();
                let input: Vec<bool> = (0..bits).map(|_| bit()).collect();
                let mut wires: Vec<bool> = (0..encoding.wires()).map(|_| bit()).collect();
                let first = encoding.first_wires(input.iter().map(|&bit| bit.into()), |wire| wires[wire].into());
                wires.iter_mut().zip(first.iter()).for_each(|(wire, bit)| *wire = bit.public("a test"));
                let labels: Vec<Block> = wires.iter().map(|&bit| Block::mask(bit)).collect();
                let sums: Vec<bool> = encoding.sums(&labels).iter().map(|sum| sum.lsb()).collect();
                prop_assert_eq!(&sums, &input);
                prop_assert_eq!(&encoding.gates(&wires, |a, b| a ^ b), &input);
            }
        }
    }

    /// The weight of every sum of rows, by trying all.
    fn least_weight(encoding: &Encoding) -> usize {
        let weight = |subset: u32| {
            let mut ones = vec![false; encoding.wires()];
            for (i, row) in encoding.rows.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1) {
                ones[i] ^= true;
                row.wires().for_each(|wire| ones[wire] ^= true);
            }
            ones.iter().filter(|&&one| one).count()
        };
        (1..1u32 << encoding.bits()).map(weight).min().unwrap_or(0)
    }

    #[test]
    fn every_sum_of_rows_has_many_ones() {
        for bits in [1, 2, 7, 12] {
            for seed in 0..4 {
                let seed = Block::from_u128(seed);
                assert!(least_weight(&Encoding::systematic(bits, 24, seed)) >= 24, "{bits} bits");
                assert!(least_weight(&Encoding::random_combinations(bits, 24, seed)) >= 24, "{bits} bits");
            }
            assert_eq!(least_weight(&Encoding::independent(bits, 24)), 24);
            assert_eq!(least_weight(&Encoding::plain(bits)), 1);
        }
    }

    /// Sizes by the union bound with exact binomials, computed independently of this code.
    #[test]
    fn sizes_follow_the_union_bound() {
        for (bits, distance, wires) in [
            (32, 40, 216),
            (64, 40, 259),
            (128, 40, 339),
            (256, 40, 489),
            (32, 80, 393),
            (128, 80, 525),
            (256, 80, 686),
        ] {
            assert_eq!(Encoding::systematic_wires(bits, distance), wires, "{bits} bits, distance {distance}");
        }
        assert_eq!(Encoding::random_combinations(128, 40, Block::ZERO).wires(), 512);
        assert_eq!(Encoding::random_combinations(32, 40, Block::ZERO).wires(), 320);
        assert_eq!(Encoding::independent(32, 40).wires(), 1280);
    }

    #[test]
    fn long_inputs_are_encoded_in_parts() {
        let encoding = Encoding::systematic(1000, 40, Block::ZERO);
        let parts = systematic_parts(1000, 40);
        assert_eq!(parts.iter().map(|part| part.0).collect::<Vec<_>>(), [256, 256, 256, 232]);
        assert_eq!(encoding.wires(), Encoding::systematic_wires(1000, 40));
        assert!(encoding.xor_count() < 1000 * 150, "sums stay short");
        assert_eq!(Encoding::systematic(0, 40, Block::ZERO).wires(), 0);
    }

    /// The number of gates is at most the paper's for the 128 bits of example 2 (12,001 to 12,080 in the runs of its Table 2).
    #[test]
    fn sums_as_gates_are_shared() {
        let gates = |encoding: &Encoding| {
            let mut count = 0;
            encoding.gates(&vec![(); encoding.wires()], |(), ()| count += 1);
            count
        };
        assert_eq!(gates(&Encoding::independent(32, 40)), 32 * 39);
        assert_eq!(gates(&Encoding::independent(128, 4)), 384);
        let combined = gates(&Encoding::random_combinations(128, 40, Block::ONES));
        assert!((10_000..12_001).contains(&combined), "{combined} gates");
    }

    #[test]
    fn wires_after_an_encoding_are_in_no_sum() {
        let (alone, followed) = [0, 70].map(|wires| Encoding::systematic(9, 24, Block::ONES).followed_by(wires)).into();
        assert_eq!((followed.bits(), followed.wires()), (9, alone.wires() + 70));
        let mut rng = Prg::new(Block::from_u128(5));
        let labels: Vec<Block> = (0..followed.wires()).map(|_| rng.next_block()).collect();
        assert!(followed.sums(&labels) == alone.sums(&labels[..alone.wires()]));
        let random: BitVec = labels.iter().map(|label| label.lsb()).collect();
        let (choices, corrections) = followed.choose(&Bits::from_u128(300, 9), &random);
        assert_eq!((choices.len(), corrections.len()), (followed.wires(), 9));
        assert!((9..followed.wires()).all(|wire| !(choices.get(wire) ^ random.get(wire)).public("a test")));
    }

    #[test]
    fn other_seeds_give_other_matrices() {
        let encoding = |seed| Encoding::systematic(20, 40, Block::from_u128(seed));
        assert_eq!(encoding(1), encoding(1));
        assert_ne!(encoding(1), encoding(2));
    }

    #[test]
    fn a_joined_encoding_has_the_givers_encodings_at_their_places() {
        let (first, second) = (Encoding::systematic(5, 12, Block::ONES), Encoding::independent(3, 4));
        let places = [vec![0, 2, 3, 6, 9], vec![1, 7, 8]];
        let joined = Encoding::joined(10, [(&places[0][..], &first), (&places[1][..], &second)]);
        assert_eq!(joined.wires(), 10 + (first.wires() - 5) + (second.wires() - 3));
        let mut rng = Prg::new(Block::from_u128(5));
        let labels: Vec<Block> = (0..joined.wires()).map(|_| rng.next_block()).collect();
        let sums = joined.sums(&labels);
        let mut extra = 10;
        for (places, encoding) in places.iter().zip([&first, &second]) {
            let further = encoding.wires() - encoding.bits();
            let own: Vec<Block> = places
                .iter()
                .map(|&place| labels[place])
                .chain(labels[extra..extra + further].iter().copied())
                .collect();
            extra += further;
            let of_giver = encoding.sums(&own);
            assert!(places.iter().zip(of_giver.iter()).all(|(&place, sum)| sums[place] == *sum));
        }
        assert!([4, 5].iter().all(|&bit| sums[bit] == labels[bit]));
    }
}
