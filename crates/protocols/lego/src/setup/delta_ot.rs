//! Correlated OTs whose difference stays hard to guess, although the other party may guess bits from which it is made.
//!
//! *Source*: Nielsen, Schneider and Trifiletti 2017, section III-B. OT extension lets a cheating receiver learn some bits of the
//! difference, and it is caught with probability one half for each. So the difference is made from `128 + 40` bits: a public random
//! matrix maps them to 128.
//!
//! *Deviation*: if the matrix were drawn after all guesses, the 128 bits would be within `2^-40` of uniform for any guesses (theorem 1
//! there). Here it is public from the setup on, before any guess. The lightest words of such a matrix's code weigh 7 or 8, so a receiver that guesses
//! that many bits correctly, with probability `2^-7` or `2^-8`, knows one bit of the difference for certain. A failed guess ends everything, and
//! no use of the difference needs more than 127 of its bits.
//!
//! | step | who | what |
//! |---|---|---|
//! | 1 | evaluator | has both seeds of 168 OTs, stretches them to rows `t_j` and `t'_j`; sends `u_j = t_j + t'_j + b` for uniform bits `b` |
//! | 2 | constructor | has the seeds of its choices `d`, so `q_j = t_j + d_j b` |
//! | 3 | both | the constructor sends `alpha`; the evaluator sends the same combination of every `t_j` and of `b`; they must match the `q_j` |
//! | 4 | both | the rows times the matrix, transposed: `r_i`, and `r_i + b_i delta` with `delta = d M`, whose lowest bit is then set |

use crate::checks;
use garblet_net::Channel;
use garblet_ot::BitVec;
use garblet_primitives::{Aes128, BLOCK_BITS as SQUARE, Block, Delta, Prg, gf128, secrets, transpose};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::Step;
use garblet_protocol::{checks::Cheating, conduct::Conduct, error::ProtocolError};

/// OTs from which the difference is made.
pub(crate) const SEEDS: usize = 128 + 40;

/// Payload bytes of the evaluator for an extension by `n`.
pub(crate) const fn extension_bytes(n: u64) -> u64 {
    let squares = n.div_ceil(SQUARE as u64) + 1;
    16 * (squares * SEEDS as u64 + SEEDS as u64 + 1)
}

/// Squares of an extension by `n`; the first one hides the others in step 3 and serves nothing else.
fn squares(n: usize) -> usize {
    n.div_ceil(SQUARE) + 1
}

/// The public matrix of step 4: bit `j` of the difference adds row `j`.
struct Matrix(Vec<Block>);

impl Matrix {
    fn of(seed: Block) -> Self {
        let mut rows = vec![Block::ZERO; SEEDS];
        Prg::new(seed).fill_blocks(&mut rows);
        Matrix(rows)
    }

    /// The product of many vectors, which lie across: row `j` of `rows` has bit `j` of each.
    fn times(&self, squares: usize, rows: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut product = Zeroizing::new(vec![Block::ZERO; SQUARE * squares]);
        for (bits, row) in self.0.iter().zip(rows.chunks_exact(squares)) {
            let bits = bits.to_u128();
            let taking = product.chunks_exact_mut(squares).enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
            for (_, sum) in taking {
                sum.iter_mut().zip(row).for_each(|(sum, &block)| *sum ^= block);
            }
        }
        let mut columns = Zeroizing::new(vec![Block::ZERO; SQUARE * squares]);
        transpose(bytemuck::cast_slice(&product), &mut columns);
        columns
    }
}

/// The constructor's end: has the difference, and `r_i`.
pub(crate) struct Constructor {
    streams: Vec<Aes128>,
    position: u64,
    /// Bits `d`.
    bits: BitVec,
    matrix: Matrix,
    delta: Delta,
}

/// Rows `q_j` for which the evaluator's choices are the same.
struct OneChoice(Zeroizing<Vec<Block>>);

/// The evaluator's end: has bits `b_i`, and `r_i + b_i delta`.
pub(crate) struct Evaluator {
    streams: [Vec<Aes128>; 2],
    position: u64,
    matrix: Matrix,
    /// One if the lowest bit of the product was flipped so that delta's is one.
    flip: Block,
}

/// The constructor's message about the difference.
#[derive(Clone, Copy)]
pub(crate) struct Public {
    /// The seed of the matrix.
    pub(crate) matrix: Block,
    /// Set if the lowest bit of the product is flipped so that the difference's is one.
    pub(crate) flip: bool,
}

impl Public {
    /// Draws a matrix for the constructor's chosen bits, and sends it to the evaluator.
    ///
    /// *Cost*: 17 bytes. *Errors*: the connection's.
    pub(crate) async fn send(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        bits: &BitVec,
    ) -> Result<Self, ProtocolError> {
        let matrix = secrets::public(Block::random(rng), "lego: the matrix of OTs, which is sent");
        let flip = !lowest(product(&Matrix::of(matrix), bits));
        let flip = secrets::public(flip, "lego: whether the lowest bit of delta is flipped, which is sent");
        channel.send_bytes(&matrix.to_bytes()).await?;
        channel.send_bytes(&[u8::from(flip)]).await?;
        Ok(Public { matrix, flip })
    }

    /// Receives the constructor's message.
    ///
    /// *Errors*: the connection's.
    pub(crate) async fn receive(channel: &mut Channel) -> Result<Self, ProtocolError> {
        let mut message = [0; 17];
        channel.receive_bytes(&mut message).await?;
        let (matrix, flip) = message.split_first_chunk().unwrap_or((&[0; 16], &[]));
        Ok(Public { matrix: Block::from_bytes(*matrix), flip: flip.first().is_some_and(|flip| flip & 1 == 1) })
    }

    /// The flip as a block.
    fn flip(self) -> Block {
        Block::from_u128(self.flip.into())
    }
}

/// The sum of the matrix's rows that bits choose.
fn product(matrix: &Matrix, bits: &BitVec) -> Block {
    matrix.0.iter().zip(bits.iter()).fold(Block::ZERO, |sum, (&row, bit)| sum ^ (Block::mask(bit) & row))
}

fn lowest(block: Block) -> bool {
    block.to_u128() & 1 == 1
}

impl Constructor {
    /// The constructor, which has chosen among the seeds of 168 OTs by `bits`.
    pub(crate) fn new(bits: BitVec, seeds: &[Block], public: Public) -> Self {
        let matrix = Matrix::of(public.matrix);
        let delta = Delta::new(product(&matrix, &bits) ^ public.flip());
        Constructor { streams: Aes128::many(seeds), position: 0, bits, matrix, delta }
    }

    /// The difference.
    pub(crate) fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Makes `n` OTs: the blocks `r_i`.
    ///
    /// *Errors*: [`checks::DELTA_CHOICES`]; the connection's.
    pub(crate) async fn extend(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        n: usize,
    ) -> Result<Zeroizing<Vec<Block>>, ProtocolError> {
        let squares = squares(n);
        let mut rows = Zeroizing::new(vec![Block::ZERO; SEEDS * squares]);
        let mut theirs = vec![Block::ZERO; squares];
        // Used once, also by a call that is dropped in between.
        let position = self.position;
        self.position += squares as u64;
        for ((stream, row), bit) in self.streams.iter().zip(rows.chunks_exact_mut(squares)).zip(self.bits.iter()) {
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut theirs)).await?;
            stream.keystream(position, row);
            row.iter_mut().zip(&theirs).for_each(|(q, &u)| *q ^= Block::mask(bit) & u);
        }
        let rows = self.check(channel, rng, squares, rows).await?;
        let mut strings = self.matrix.times(squares, &rows.0);
        strings.drain(..SQUARE);
        strings.truncate(n);
        Ok(strings)
    }

    /// Step 3.
    async fn check(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        squares: usize,
        rows: Zeroizing<Vec<Block>>,
    ) -> Result<OneChoice, ProtocolError> {
        let alpha = Block::random(rng);
        channel.send_bytes(&alpha.to_bytes()).await?;
        let powers = gf128::powers(alpha, squares);
        let mut sums = vec![Block::ZERO; SEEDS + 1];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut sums)).await?;
        let (of_bits, of_rows) = (sums[SEEDS], &sums[..SEEDS]);
        let mut mismatch = 0;
        for ((row, &sum), bit) in rows.chunks_exact(squares).zip(of_rows).zip(self.bits.iter()) {
            let expected = sum ^ (Block::mask(bit) & of_bits);
            mismatch |= (gf128::inner_product(row, &powers) ^ expected).to_u128();
        }
        let fits = Block::from_u128(mismatch).ct_eq(&Block::ZERO);
        match secrets::verdict(fits, "lego: whether choices are the same in every row") {
            true => Ok(OneChoice(rows)),
            false => Err(Cheating::new(checks::DELTA_CHOICES, "its choices are not the same in every row").into()),
        }
    }
}

impl Evaluator {
    /// The evaluator, which has both seeds of 168 OTs.
    pub(crate) fn new(seeds: &[[Block; 2]], public: Public) -> Self {
        let streams = [0, 1].map(|side| {
            let seeds: Zeroizing<Vec<Block>> = Zeroizing::new(seeds.iter().map(|pair| pair[side]).collect());
            Aes128::many(&seeds)
        });
        Evaluator { streams, position: 0, matrix: Matrix::of(public.matrix), flip: public.flip() }
    }

    /// Makes `n` OTs: uniform bits `b_i`, and the blocks `r_i + b_i delta`.
    ///
    /// *Errors*: the connection's.
    pub(crate) async fn extend(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        n: usize,
        conduct: &mut impl Conduct<Step>,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), ProtocolError> {
        let squares = squares(n);
        let mut bits = Zeroizing::new(vec![Block::ZERO; squares]);
        bits.iter_mut().for_each(|block| *block = Block::random(rng));
        let mut rows = Zeroizing::new(vec![Block::ZERO; SEEDS * squares]);
        let mut other = Zeroizing::new(vec![Block::ZERO; squares]);
        let position = self.position;
        self.position += squares as u64;
        let [first, second] = &self.streams;
        for (bit, ((first, second), row)) in first.iter().zip(second).zip(rows.chunks_exact_mut(squares)).enumerate() {
            first.keystream(position, row);
            second.keystream(position, &mut other);
            other.iter_mut().zip(&*row).zip(&*bits).for_each(|((u, &t), &b)| *u ^= t ^ b);
            conduct.touch(Step::Rows, bit, bytemuck::cast_slice_mut(&mut other));
            channel.send_bytes(bytemuck::cast_slice(&other)).await?;
        }
        answer(channel, squares, &rows, &bits, conduct).await?;
        let mut strings = self.matrix.times(squares, &rows);
        strings.drain(..SQUARE);
        strings.truncate(n);
        let choices =
            BitVec::from_bytes(bytemuck::cast_slice(&bits[1..]).iter().copied().take(n.div_ceil(8)).collect(), n)?;
        for (string, choice) in strings.iter_mut().zip(choices.iter()) {
            *string ^= Block::mask(choice) & self.flip;
        }
        Ok((choices, strings))
    }
}

/// Step 3, the evaluator's part.
async fn answer(
    channel: &mut Channel,
    squares: usize,
    rows: &[Block],
    bits: &[Block],
    conduct: &mut impl Conduct<Step>,
) -> Result<(), ProtocolError> {
    let mut alpha = [Block::ZERO];
    channel.receive_bytes(bytemuck::cast_slice_mut(&mut alpha)).await?;
    let powers = gf128::powers(alpha[0], squares);
    let rows = rows.chunks_exact(squares).chain([bits]);
    let mut sums: Vec<Block> = rows.map(|row| gf128::inner_product(row, &powers)).collect();
    conduct.touch(Step::Combinations, 0, bytemuck::cast_slice_mut(&mut sums));
    channel.send_bytes(bytemuck::cast_slice(&sums)).await?;
    Ok(channel.flush().await?)
}
