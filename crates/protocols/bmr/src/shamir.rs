//! Shamir's secret sharing with small evaluation points, over two fields.
//!
//! *Source*: Ben-Or, Goldwasser and Wigderson 1988; Ben-Efraim, Lindell and Omri 2016, sections 3.2 and 3.4. Party `i` has
//! the point `i + 1`, as a polynomial of small degree, so multiplying by it takes a few shifts.

use garblet_primitives::{Block, Prg, gf128, gf256};
use zeroize::Zeroizing;

/// The evaluation point of a party.
pub(super) fn point(party: usize) -> u8 {
    party as u8 + 1
}

/// Shares of every secret byte for each of `parties` parties: the values at each party's point of
/// polynomials of that degree over GF(2^8), whose other coefficients are uniform.
///
/// *Cost*: `degree` multiplications by a point per byte and party.
pub(super) fn share_bytes(secrets: &[u8], degree: usize, parties: usize, rng: &mut Prg) -> Vec<Zeroizing<Vec<u8>>> {
    let mut coefficients = Zeroizing::new(vec![0; degree * secrets.len()]);
    rng.fill_bytes(&mut coefficients);
    let share = |party: usize| {
        let mut value = Zeroizing::new(vec![0; secrets.len()]);
        if !secrets.is_empty() {
            let terms = coefficients.chunks_exact(secrets.len()).chain([secrets]);
            terms.for_each(|term| gf256::scale_add(&mut value, point(party), term));
        }
        value
    };
    (0..parties).map(share).collect()
}

/// A dealer of shares over GF(2^128), which makes shares as they are sent: the coefficients of its polynomials are streams that
/// can be replayed for every party.
pub(super) struct Dealer {
    coefficients: Vec<Prg>,
}

impl Dealer {
    /// A dealer with polynomials of this degree. *Unique*: it deals one vector.
    pub(super) fn new(degree: usize, rng: &mut Prg) -> Self {
        Dealer { coefficients: (0..degree).map(|_| Prg::random(rng)).collect() }
    }

    /// A party's shares of the secrets at position `at` and after in the vector.
    ///
    /// *Cost*: `degree` blocks of AES and multiplications by a point per secret.
    pub(super) fn share(&mut self, party: u16, at: usize, secrets: &[Block], shares: &mut [Block]) {
        let point = point(party.into());
        let mut term = Zeroizing::new(vec![Block::ZERO; secrets.len()]);
        shares.fill(Block::ZERO);
        for coefficients in &mut self.coefficients {
            coefficients.seek(at as u64);
            coefficients.fill_blocks(&mut term);
            shares.iter_mut().zip(term.iter()).for_each(|(a, b)| *a = gf128::mul_small(*a, point) ^ *b);
        }
        shares.iter_mut().zip(secrets).for_each(|(a, b)| *a = gf128::mul_small(*a, point) ^ *b);
    }
}

/// The Lagrange coefficients at 0 of all parties' points: a secret shared by a polynomial of degree below `parties` is
/// the sum of all shares times these weights. In GF(2^8).
pub(super) fn weights_256(parties: usize) -> Vec<u8> {
    let weight = |i: usize| {
        let others = (0..parties).filter(|&k| k != i).map(point);
        others.fold(1, |product, x| gf256::mul(product, gf256::mul(x, gf256::invert(x ^ point(i)))))
    };
    (0..parties).map(weight).collect()
}

/// The same in GF(2^128).
pub(super) fn weights_128(parties: usize) -> Vec<Block> {
    let element = |x: u8| Block::from_u128(x.into());
    let weight = |i: usize| {
        let others = (0..parties).filter(|&k| k != i).map(point);
        others.fold(gf128::ONE, |product, x| {
            gf128::mul(product, gf128::mul(element(x), gf128::invert(element(x ^ point(i)))))
        })
    };
    (0..parties).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use garblet_primitives::MAX_PARTIES;

    use super::*;

    #[test]
    fn enough_shares_determine_the_secret() {
        let mut rng = Prg::new(Block::ONES);
        for parties in [2, 3, 5, 8, 33, MAX_PARTIES] {
            for degree in [0, (parties - 1) / 2, parties - 1] {
                let bytes: Vec<u8> = (0..=40).collect();
                let shares = share_bytes(&bytes, degree, parties, &mut rng);
                let mut sum = vec![0; bytes.len()];
                for (weight, share) in weights_256(parties).into_iter().zip(&shares) {
                    gf256::add_products(&mut sum, share, &vec![weight; bytes.len()]);
                }
                assert_eq!(sum, bytes, "degree {degree} of {parties}");
                let secrets: Vec<Block> = (0..5).map(|i| Block::from_u128(i << 125 ^ 77)).collect();
                let mut dealer = Dealer::new(degree, &mut rng);
                let mut sums = vec![Block::ZERO; 5];
                for (party, weight) in weights_128(parties).into_iter().enumerate() {
                    let mut share = vec![Block::ZERO; 5];
                    // In pieces, in any order.
                    dealer.share(party as u16, 3, &secrets[3..], &mut share[3..]);
                    dealer.share(party as u16, 0, &secrets[..3], &mut share[..3]);
                    sums.iter_mut().zip(share).for_each(|(sum, share)| *sum ^= gf128::mul(weight, share));
                }
                assert!(sums == secrets, "degree {degree} of {parties}");
            }
        }
    }

    #[test]
    fn products_of_shares_share_the_product_at_twice_the_degree() {
        let mut rng = Prg::new(Block::ZERO);
        for parties in 3..=9 {
            let degree = (parties - 1) / 2;
            let [a, b] = [[0x57; 9], [0x83; 9]].map(|v| share_bytes(&v, degree, parties, &mut rng));
            let weights = weights_256(parties).into_iter().enumerate();
            let sum = weights.fold(0, |sum, (i, weight)| sum ^ gf256::mul(weight, gf256::mul(a[i][3], b[i][3])));
            assert_eq!(sum, 0xc1);
        }
    }

    #[test]
    fn a_share_takes_every_value_for_any_secret() {
        let mut rng = Prg::new(Block::ONES);
        for secret in [0, 1] {
            let shares = share_bytes(&[secret; 8192], 1, 3, &mut rng);
            assert!((0..=255).all(|value| shares[2].contains(&value)));
        }
    }

    #[test]
    fn an_empty_vector_has_empty_shares() {
        let shares = share_bytes(&[], 2, 3, &mut Prg::new(Block::ONES));
        assert!(shares.len() == 3 && shares.iter().all(|share| share.is_empty()));
    }
}
