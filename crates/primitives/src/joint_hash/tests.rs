use super::*;
use crate::{
    aes::Aes128,
    mmo::{FixedKey, Rekeyed},
    prg::Prg,
};

const SEED: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);

struct Call<'a, H> {
    row: u64,
    period: u64,
    count: usize,
    u: &'a [[Block; QUAD_LANES]],
    v: &'a [[Block; QUAD_LANES]],
    out: Vec<[Block; QUAD_LANES]>,
    hash: std::marker::PhantomData<H>,
}

impl<H: JointHash> Kernel for Call<'_, H> {
    type Output = Vec<[Block; QUAD_LANES]>;

    #[inline(always)]
    fn run<E: Engine>(mut self, e: E) -> Self::Output {
        let key = H::key(e, SEED, self.period);
        H::add_masks(e, &key, self.row, self.count, self.u, self.v, &mut self.out);
        self.out
    }
}

fn twelve_times(v: Block) -> Block {
    let twice = crate::gf128::double;
    twice(twice(v ^ twice(v)))
}

/// `pi(x) ^ x` from its definition.
fn formula(key: Block, u: Block, v: Block, row: u64, j: usize) -> Block {
    let [low, high] = (u ^ twelve_times(v)).halves();
    let x = Block::from_halves(high ^ row, high ^ low ^ j as u64);
    Aes128::with_backend(Backend::PORTABLE, key).encrypt(x) ^ x
}

fn check<H: JointHash>(period: u64, formula: impl Fn(Block, Block, u64, usize) -> Block) {
    let mut rng = Prg::new(SEED);
    for parties in [1, 2, 3, 4, 5, 7, 8, 9, 13, 33, MAX_PARTIES] {
        let quads = parties.div_ceil(QUAD_LANES);
        let mut random = || (0..quads).map(|_| std::array::from_fn(|_| rng.next_block())).collect::<Vec<_>>();
        let (u, v, out) = (random(), random(), random());
        for count in [1, parties] {
            let row = 4 * 1021 + count as u64 % 4;
            let expected: Vec<Block> = (0..parties)
                .map(|j| {
                    let keys = u.as_flattened().iter().zip(v.as_flattened()).take(count);
                    keys.fold(out.as_flattened()[j], |sum, (u, v)| sum ^ formula(*u, *v, row, j))
                })
                .collect();
            for backend in Backend::available() {
                let out = out.clone();
                let hash = std::marker::PhantomData;
                let got = backend.run(Call::<H> { row, period, count, u: &u, v: &v, out, hash });
                assert!(got.as_flattened()[..parties] == expected, "{count} of {parties} on {backend}");
            }
        }
    }
}

#[test]
fn every_hash_is_its_formula_on_every_backend() {
    for period in [0, 1, 1 << 50] {
        let key = SEED ^ Block::from_halves(period, 0);
        check::<Rekeyed>(period, |u, v, row, j| formula(key, u, v, row, j));
    }
    let fixed = Block::from_bytes(*b"garblet fixedkey");
    check::<FixedKey>(0, |u, v, row, j| formula(fixed, u, v, row, j));
    check::<JointAes256>(0, |u, v, row, j| {
        let mut key = [0; 32];
        key[..16].copy_from_slice(&u.to_bytes());
        key[16..].copy_from_slice(&v.to_bytes());
        let mut block = Block::from_halves(row, j as u64).to_bytes().into();
        Aes256::new(&key.into()).encrypt_block(&mut block);
        Block::from_bytes(block.into())
    });
}

struct Four<'a, H> {
    four: JointRows<'a>,
    count: usize,
    hash: std::marker::PhantomData<H>,
}

impl<H: JointHash> Kernel for Four<'_, H> {
    type Output = [Vec<[Block; QUAD_LANES]>; 2];

    /// Side by side, and one after another.
    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> Self::Output {
        let key = H::key(e, SEED, 5);
        let mut side_by_side = vec![[Block::ONES; QUAD_LANES]; self.count];
        H::quad_masks(e, &key, &self.four, &mut side_by_side);
        let mut singly = side_by_side.clone();
        for gate in 0..QUAD_LANES {
            let mut keys = [[[Block::ZERO; QUAD_LANES]; MAX_QUADS]; 2];
            for (keys, from) in keys.iter_mut().zip([self.four.u, self.four.v]) {
                keys.as_flattened_mut()[..self.count].copy_from_slice(&self.four.labels[from[gate]..][..self.count]);
            }
            let quads = self.count.div_ceil(QUAD_LANES);
            let mut out = vec![[Block::ZERO; QUAD_LANES]; quads];
            let [u, v] = keys.each_ref().map(|keys| &keys[..quads]);
            H::add_masks(e, &key, self.four.rows[gate], self.count, u, v, &mut out);
            singly.iter_mut().zip(out.as_flattened()).for_each(|(singly, out)| singly[gate] = *out);
        }
        [side_by_side, singly]
    }
}

fn check_four<H: JointHash>() {
    let mut rng = Prg::new(SEED);
    for count in 1..=MAX_QUAD_PARTIES {
        let mut labels = vec![Block::ZERO; 5 * MAX_PARTIES];
        rng.fill_blocks(&mut labels);
        let [u, v] = [[7, 0, 90, 256], [256, 70, 7, 11]];
        for backend in Backend::available() {
            let four = JointRows { rows: [9, 1 << 40, 0, 3], labels: &labels, u, v };
            let [got, expected] = backend.run(Four::<H> { four, count, hash: std::marker::PhantomData });
            assert!(got == expected, "{count} on {backend}");
        }
    }
}

#[test]
fn four_rows_side_by_side_have_the_masks_of_each() {
    check_four::<Rekeyed>();
    check_four::<FixedKey>();
    check_four::<JointAes256>();
}

#[test]
fn known_answer_of_aes_256() {
    // FIPS 197, appendix C.3: the first block of the plain text is row and slot here.
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let [u, v] = [0, 16].map(|at| Block::from_bytes(key[at..at + 16].try_into().unwrap()));
    let mut out = [Block::ZERO];
    add_aes256(0, u, v, &mut out);
    // AES-256 of sixteen zeros under that key, from `openssl enc -aes-256-ecb`.
    assert_eq!(out[0].to_bytes(), 0xf290_00b6_2a49_9fd0_a9f3_9a6a_dd2e_7780_u128.to_be_bytes());
}

#[test]
fn a_key_serves_at_most_4096_calls_or_one_gate() {
    for parties in 2..=MAX_PARTIES {
        let gates = Rekeyed::key_period(parties).gates();
        assert!(gates == 1 || gates as usize * 4 * parties * parties <= 4096);
    }
    assert_eq!(Rekeyed::key_period(3).gates(), 64);
}

#[test]
fn every_backend_does_the_same_bare_work() {
    let run = |backend| {
        let mut blocks = [Block::ONES; RAW_BLOCKS];
        raw_joint_hashes(backend, &mut blocks, 3);
        blocks
    };
    let expected = run(Backend::PORTABLE);
    assert!(expected != [Block::ONES; RAW_BLOCKS]);
    assert!(Backend::available().into_iter().all(|backend| run(backend) == expected));
}
