//! All computation on blocks.

use std::hint::black_box;

use garblet_primitives::{
    Aes128, Block, Commitment, Delta, OtHash, Prg, UniversalHash, add_keystreams, encrypt_each, gf128, gf256, secrets,
    subset_sums, transpose,
};
use rand_core::Rng;

use crate::marks::SecretRng;

pub(crate) fn run() {
    let mut rng = SecretRng::new();
    hashes(&mut rng);
    ciphers(&mut rng);
    fields(&mut rng);
    bits(&mut rng);
    commitments(&mut rng);
}

fn hashes(rng: &mut SecretRng) {
    let mut blocks = rng.blocks(70);
    let hash = OtHash::new(Block::from_u128(7));
    hash.hash_batch(3, &mut blocks);
    hash.hash_each(&(0..70).collect::<Vec<u64>>(), &mut blocks);
    black_box(hash.hash(9, blocks[0]));
}

fn ciphers(rng: &mut SecretRng) {
    let keys = rng.blocks(9);
    let mut blocks = rng.blocks(9);
    encrypt_each(&keys, &mut blocks);
    let mut stream = vec![Block::ZERO; 100];
    add_keystreams(&keys[..4], &[25; 4], &mut stream);
    Aes128::many(&keys).iter().for_each(|cipher| cipher.encrypt_batch(&mut blocks));
    let mut prg = Prg::new(keys[0]);
    black_box((prg.next_block(), prg.next_u64()));
}

fn fields(rng: &mut SecretRng) {
    let [a, b] = [rng.blocks(33), rng.blocks(33)];
    black_box((gf128::mul(a[0], b[0]), gf128::inner_product(&a, &b), gf128::powers(a[0], 9), gf128::invert(b[1])));
    let mut products = vec![gf128::Product::default(); 33];
    gf128::add_products(&mut products, a[3], &b);
    black_box(products.into_iter().map(gf128::Product::reduce).collect::<Vec<_>>());
    let [mut sum, factors] = [rng.bytes(300), rng.bytes(300)];
    let scaled = rng.bytes(300);
    gf256::add_products(&mut sum, &factors, &scaled);
}

fn bits(rng: &mut SecretRng) {
    let rows = rng.bytes(128 * 32);
    let mut columns = vec![Block::ZERO; 256];
    transpose(&rows, &mut columns);
    let hash = UniversalHash::new(40, 216, Block::from_u128(5));
    black_box((hash.of(&rng.bytes(32)), hash.sums(&columns)));
    subset_sums(&columns[..4], &mut [Block::ZERO; 16]);
    let delta = Delta::random(rng);
    let choices = rng.bits(256);
    let sums = choices.iter().zip(&columns).map(|(bit, &column)| Block::select(bit, column, column ^ delta.block()));
    black_box(sums.collect::<Vec<Block>>());
}

fn commitments(rng: &mut SecretRng) {
    let message = rng.bytes(100);
    let (commitment, opening) = Commitment::new(b"constant time", &message, rng);
    // Both are sent, so the verdict concerns only what the peer knows.
    let [commitment, opening] = [commitment.to_bytes(), opening.to_bytes()].map(|bytes| {
        secrets::leaves(&bytes);
        bytes
    });
    black_box((commitment, opening));
}
