//! Three halves: one and a half blocks and five bits per AND gate.

use garblet_primitives::{Engine, GateHash, GateNumber};

use super::{EvaluatorKeys, GarblerKeys, Scheme, Table, TableMut};

/// Three halves.
///
/// *Source*: Rosulek and Roy 2021, figures 4 to 6, with the matrices multiplied out.
///
/// *Symbols*: labels are cut into a left (high) and a right (low) half. `A_i, B_j` are the labels with select bits `i, j`;
/// `h` is the lower half of a hash value, and its bit 64 is the further bit that hides the control bits. For each
/// `(i, j)`, with the control bits `c, d`, the halves of the result's label are
///
/// ```text
/// left:  h(A_i) + h(A_i + B_j) + c (A_L + A_R + B_L) + d (A_L + B_R)       + (1 - i) B_L + table
/// right: h(B_j) + h(A_i + B_j) + c (A_L + B_R)       + d (A_R + B_L + B_R) + (1 - j) A_R + table
/// ```
///
/// The code works on whole vectors: with `s(L, R) = (L + R, L)`, `c` multiplies `U = s(A) + B` and `d` multiplies
/// `W = U + s(U)`. The tests have the lines above, half by half.
pub(crate) struct ThreeHalves;

/// Bit 0 of each byte.
const LOWEST: u32 = 0x0101_0101;

/// The sum of `sum` and of each vector where its mask is set.
#[inline(always)]
fn add_if<E: Engine, const N: usize>(e: E, mut sum: E::Quad, terms: [(E::Mask, E::Quad); N]) -> E::Quad {
    for (mask, term) in terms {
        sum = e.xor_if(mask, sum, term);
    }
    sum
}

/// The vectors that the control bits multiply: `U` and `W`.
#[inline(always)]
fn slices<E: Engine>(e: E, a: E::Quad, b: E::Quad) -> [E::Quad; 2] {
    let u = e.xor(e.sigma(a), b);
    [u, e.xor(u, e.sigma(u))]
}

/// The lowest bits of the halves, a byte per gate: the low half's in bit 0, the high half's in bit 1.
#[inline(always)]
fn lowest_bits<E: Engine>(e: E, quad: E::Quad) -> u32 {
    let bits = u32::from(e.half_bits(quad));
    (bits | bits << 6 | bits << 12 | bits << 18) & (3 * LOWEST)
}

impl Scheme for ThreeHalves {
    const TABLE_BYTES: usize = 24;
    const CONTROL_BITS: u32 = 5;
    const CALLS: u64 = 6;
    const RANDOM: bool = true;

    #[inline(always)]
    fn garble<E: Engine, H: GateHash>(
        keys: &GarblerKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: TableMut<'_>,
    ) -> E::Quad {
        let (e, delta) = (keys.e, keys.delta);
        // `A_0` and `B_0` stand for the values `p` and `q`.
        let [p, q] = [e.lsb(a), e.lsb(b)];
        let values = lowest_bits(e, e.lows(a, b));
        let [a, b] = [e.xor_if(p, a, delta), e.xor_if(q, b, delta)];
        // Hashes with select bit 0, and sums with those with select bit 1.
        let [[ha, da], [hb, db], [hab, dab]] = keys.hash_pairs(gate, [a, b, e.xor(a, b)]);

        let random = keys.random::<Self>(gate);
        let [c, d] = [e.lsb(random), e.lsb(e.highs(random, random))];
        let ones = e.mask(true);
        let [not_p, not_q, differ] = [e.mask_xor(p, ones), e.mask_xor(q, ones), e.mask_xor(p, q)];
        let [u, w] = slices(e, a, b);
        let s = e.sigma(delta);
        let s_delta = e.xor(s, delta);

        let label = e.xor3(e.lows(hb, ha), e.lows(hab, hab), e.join_halves(a, b));
        let label = add_if(e, label, [(c, u), (d, w), (e.mask_and(p, q), delta)]);

        // The sums of two rows each, without the hash values.
        let x = e.join_halves(delta, b);
        let x = add_if(e, x, [(not_q, u), (e.mask_xor(c, not_q), s), (differ, w), (e.mask_xor(d, p), delta)]);
        let y = e.join_halves(a, delta);
        let y = add_if(e, y, [(differ, u), (not_p, w), (e.mask_xor(d, not_p), s_delta), (e.mask_xor(c, q), delta)]);
        let z = e.lows(dab, dab);
        let z = add_if(e, z, [(differ, e.xor(u, s)), (not_p, e.xor(w, delta)), (c, delta)]);
        let z = e.xor_if(e.mask_xor(d, not_q), z, s_delta);

        let first = e.xor3(e.lows(x, y), e.highs(x, y), e.lows(da, db));
        table.bytes.copy_from_slice(bytemuck::bytes_of(&e.store_three_halves(first, z)));

        let of_label = lowest_bits(e, e.xor3(e.highs(ha, hb), e.highs(hab, hab), random));
        let of_first = lowest_bits(e, e.highs(da, db)) ^ values ^ (3 * LOWEST);
        let of_last = (lowest_bits(e, e.highs(dab, dab)) ^ values ^ values >> 1) & LOWEST;
        *table.controls = (of_label | of_first << 2 | of_last << 4).to_le_bytes();
        label
    }

    #[inline(always)]
    fn evaluate<E: Engine, H: GateHash>(
        keys: &EvaluatorKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: Table<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let [[ha], [hb], [hab]] = keys.hash(gate, [[a], [b], [e.xor(a, b)]]);
        let [first, last] = e.load_three_halves(&bytemuck::pod_read_unaligned(table.bytes));

        // The rows are not looked up, since their number must not show in addresses.
        let table = u32::from_le_bytes(table.controls);
        let selects = lowest_bits(e, e.lows(a, b));
        let of_last = table >> 4 & (selects ^ selects >> 1) & LOWEST;
        let of_hashes = lowest_bits(e, e.xor(e.highs(ha, hb), e.highs(hab, hab)));
        let controls = of_hashes ^ table ^ (table >> 2 & selects) ^ (3 * of_last);
        let controls = controls.to_le_bytes().map(u64::from);
        let [c, d] = [e.bit::<0>(&controls), e.bit::<1>(&controls)];

        let [i, j] = [e.lsb(a), e.lsb(b)];
        let [u, w] = slices(e, a, b);
        let own = e.join_halves(e.xor_if(j, a, e.xor(a, first)), e.xor_if(i, b, e.xor(b, first)));
        let label = e.xor3(e.lows(hb, ha), e.lows(hab, hab), own);
        add_if(e, label, [(e.mask_xor(i, j), last), (c, u), (d, w)])
    }
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use garblet_primitives::{Backend, Bit, Block, FixedKey, Kernel, Prg, QUAD_LANES, Rekeyed};

    use super::*;

    /// The control bits `(c, d)` of each `(i, j)` beyond the random ones: for the value of `a` and of `b` at select bit 1.
    const CONTROL_A: [[bool; 2]; 4] = [[false, false], [true, true], [false, true], [true, false]];
    const CONTROL_B: [[bool; 2]; 4] = [[false, false], [true, false], [true, true], [false, true]];

    /// The halves of the table, of three, that go into the left and the right half of each `(i, j)`.
    const TABLE: [[[bool; 3]; 2]; 4] = [
        [[false, false, false], [false, false, false]],
        [[false, false, true], [false, true, true]],
        [[true, false, true], [false, false, true]],
        [[true, false, false], [false, true, false]],
    ];

    /// Three halves of a block and five control bits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Row {
        halves: [u64; 3],
        controls: u8,
    }

    fn left(block: Block) -> u64 {
        block.halves()[1]
    }

    fn right(block: Block) -> u64 {
        block.halves()[0]
    }

    /// The further bit of a hash value.
    fn bit(hash: Block) -> Bit {
        Bit::lowest_of(hash.halves()[1])
    }

    fn only_if(condition: Bit, value: u64) -> u64 {
        condition.word() & value
    }

    /// The part of a result's halves that comes from the labels, for control bits `[c, d]` and select bits `i, j`.
    fn slice([c, d]: [Bit; 2], i: Bit, j: Bit, a: Block, b: Block) -> [u64; 2] {
        let [al, ar, bl, br] = [left(a), right(a), left(b), right(b)];
        [
            only_if(c, al ^ ar ^ bl) ^ only_if(d, al ^ br) ^ only_if(!i, bl),
            only_if(c, al ^ br) ^ only_if(d, ar ^ bl ^ br) ^ only_if(!j, ar),
        ]
    }

    /// Garbles one gate: the zero label of the result and the table.
    ///
    /// *Shape*: `hashes` of `A_0, A_1, B_0, B_1, A_0 + B_0, A_0 + B_1`; `pa, pb` are the values that `a = A_0` and `b = B_0` stand
    /// for; `random` has two secret bits.
    fn garble_gate(
        hashes: &[Block; 6],
        a: Block,
        b: Block,
        delta: Block,
        [pa, pb]: [Bit; 2],
        random: [Bit; 2],
    ) -> (Block, Row) {
        let mut halves = [[0u64; 2]; 4];
        let mut bits = [[Bit::ZERO; 2]; 4];
        for row in 0..4 {
            let (i, j) = (row >> 1 == 1, row & 1 == 1);
            let hash_a = hashes[usize::from(i)];
            let hash_b = hashes[2 + usize::from(j)];
            let hash_ab = hashes[4 + usize::from(i ^ j)];
            let control = [0, 1].map(|k| random[k] ^ (!pa & CONTROL_A[row][k]) ^ (!pb & CONTROL_B[row][k]));
            let labels = [if i { a ^ delta } else { a }, if j { b ^ delta } else { b }];
            let [l, r] = slice(control, i.into(), j.into(), labels[0], labels[1]);
            let value = (pa ^ i) & (pb ^ j);
            halves[row] = [
                l ^ right(hash_a) ^ right(hash_ab) ^ only_if(value, left(delta)),
                r ^ right(hash_b) ^ right(hash_ab) ^ only_if(value, right(delta)),
            ];
            bits[row] = [control[0] ^ bit(hash_a) ^ bit(hash_ab), control[1] ^ bit(hash_b) ^ bit(hash_ab)];
        }
        // The inverse of the matrix that the evaluator applies: result, then table.
        let [[l0, r0], [l1, r1], [l2, r2], [l3, _]] = halves;
        let table = [l0 ^ r0 ^ l2 ^ r2, l0 ^ r0 ^ l1 ^ r1, l2 ^ l3];
        let [[p0, q0], [p1, q1], [p2, q2], [p3, _]] = bits;
        let controls = [p0, q0, p0 ^ q0 ^ p2 ^ q2, p0 ^ q0 ^ p1 ^ q1, p2 ^ p3];
        let controls = controls.iter().rev().fold(0, |sum, bit| sum << 1 | bit.number());
        (Block::from_halves(r0, l0), Row { halves: table, controls })
    }

    /// Evaluates one gate. *Shape*: `hashes` of the active labels `a`, `b` and `a + b`.
    fn evaluate_gate(hashes: [Block; 3], a: Block, b: Block, row: &Row) -> Block {
        let [hash_a, hash_b, hash_ab] = hashes;
        let [i, j] = [a, b].map(|label| Bit::lowest_of(label.halves()[0]));
        let [mut l, mut r] = [right(hash_a) ^ right(hash_ab), right(hash_b) ^ right(hash_ab)];
        let control = |k: u8| row.controls >> k & 1 == 1;
        let [mut c, mut d] = [bit(hash_a) ^ bit(hash_ab) ^ control(0), bit(hash_b) ^ bit(hash_ab) ^ control(1)];
        for (at, [to_left, to_right]) in TABLE.iter().enumerate() {
            let here = (i ^ (at >> 1 == 0)) & (j ^ (at & 1 == 0));
            for k in 0..3 {
                let (half, bit) = (only_if(here, row.halves[k]), here & control(2 + k as u8));
                if to_left[k] {
                    l ^= half;
                    c ^= bit;
                }
                if to_right[k] {
                    r ^= half;
                    d ^= bit;
                }
            }
        }
        let [sl, sr] = slice([c, d], i, j, a, b);
        Block::from_halves(r ^ sr, l ^ sl)
    }

    /// A garbled gate made by a plain transcription of the paper's matrices in Python; hash values have 65 bits.
    struct Vector {
        hashes: [u128; 6],
        a: u128,
        b: u128,
        delta: u128,
        values: [bool; 2],
        random: [bool; 2],
        result: u128,
        halves: [u64; 3],
        controls: u8,
    }

    const VECTORS: [Vector; 4] = [
        Vector {
            hashes: [
                0xc9e9c616612e7696,
                0x7ce42c8218072e8c,
                0xd5f4b3b2e4b06ce6,
                0x19b810e766ec9d286,
                0x1008a05a6c4647159,
                0x1442e3d437204e52d,
            ],
            a: 0x1e2feb89414c343c1027c4d1c386bbc4,
            b: 0x78e510617311d8a3c2ce6f447ed4d57a,
            delta: 0xcd613e30d8f16adf91b7584a2265b1f5,
            values: [false, false],
            random: [true, false],
            result: 0xc76bece82780883719b8f608dcca473d,
            halves: [0xf653194be61e8751, 0x7469205642b089d5, 0x9f2e462ab9dc4c7],
            controls: 0x6,
        },
        Vector {
            hashes: [
                0xe1988ad9f06c144a,
                0x137730edfafbd67f9,
                0xb9d179e06c0fd4f5,
                0x138c0c8fd8712b8bc,
                0xf06d3fef701966a0,
                0x3bab6c398d88348a,
            ],
            a: 0x7d4bedc51431193e6c3f3391a2b8f1e,
            b: 0x8a9a021ea648a7dd06839eb905b6e6e2,
            delta: 0xf1fd42a29755d4c13a902931cd447e35,
            values: [false, true],
            random: [false, false],
            result: 0x9b6fb728263dd537af7fb536063d3d4b,
            halves: [0xd6ce0d2d9fd930b, 0xade809d2ffd2bed2, 0x9b8c15798900e23e],
            controls: 0x18,
        },
        Vector {
            hashes: [
                0xa46d6753ec148cb4,
                0x1a11d459a2f978d87,
                0xdc2574bdb94067ed,
                0xbe3edc0a1ef2a4f0,
                0x1b8b333a8e5446dd4,
                0x1803468b6b610a9f7,
            ],
            a: 0xed2f89d94a2f20aaf3c64af775a89294,
            b: 0xea90a8f0d66b829e6a8ac4ba05805974,
            delta: 0xc2cd789a380208a9ad45f23d3b1a11df,
            values: [true, false],
            random: [true, false],
            result: 0x23797d536d7535e10f540816603e173,
            halves: [0xaa88bfc06245f2da, 0x4f4436c04f430928, 0xccfe30c0bab8f483],
            controls: 0x1e,
        },
        Vector {
            hashes: [
                0x1f0dfb4a5d8a064df,
                0x196c8da1964b2d2bc,
                0x7af027bc08d6af57,
                0xcc22af58be6521cc,
                0xaa2ca1af6a107b75,
                0x18c7e134f5dfbd3d1,
            ],
            a: 0x4da98f1d3099fdf5ab99254ae901e35c,
            b: 0xe1ea24c4f9341c68966baea148beab12,
            delta: 0xd47d380d81f9c1f66c0f3459f79b17af,
            values: [true, true],
            random: [false, true],
            result: 0xb4a6287fb25a94d3cb52382f24d774f7,
            halves: [0xebf27e21b2bdbda4, 0xa539a1fa29d0bb9e, 0x4a5d86b9c070bf0b],
            controls: 0x13,
        },
    ];

    #[test]
    fn gates_agree_with_the_papers_matrices() {
        for v in &VECTORS {
            let [a, b, delta] = [v.a, v.b, v.delta].map(Block::from_u128);
            let [values, random] = [v.values, v.random].map(|bits| bits.map(Bit::from));
            let (result, row) = garble_gate(&v.hashes.map(Block::from_u128), a, b, delta, values, random);
            assert_eq!(result.to_u128(), v.result);
            assert_eq!(row, Row { halves: v.halves, controls: v.controls });
        }
    }

    #[test]
    fn every_row_evaluates_to_the_label_of_its_value() {
        for v in &VECTORS {
            let hash = |at: usize| Block::from_u128(v.hashes[at]);
            let row = Row { halves: v.halves, controls: v.controls };
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let a = Block::from_u128(v.a ^ (v.delta * i as u128));
                let b = Block::from_u128(v.b ^ (v.delta * j as u128));
                let label = evaluate_gate([hash(i), hash(2 + j), hash(4 + (i ^ j))], a, b, &row);
                let value = (v.values[0] ^ (i == 1)) & (v.values[1] ^ (j == 1));
                assert_eq!(label.to_u128(), v.result ^ (v.delta * u128::from(value)), "row {i}{j}");
            }
        }
    }

    /// Four gates and their four rows, garbled and evaluated with vectors.
    struct Gates<H> {
        labels: [[Block; QUAD_LANES]; 2],
        delta: Block,
        secret: Block,
        gate: GateNumber,
        hash: PhantomData<H>,
    }

    /// Hashes as [`garble_gate`] takes them, random blocks, labels, tables, and the labels of rows (0, 0) to (1, 1).
    struct Garbled {
        hashes: [[Block; 6]; QUAD_LANES],
        random: [Block; QUAD_LANES],
        labels: [Block; QUAD_LANES],
        rows: [Row; QUAD_LANES],
        evaluated: [[Block; QUAD_LANES]; 4],
    }

    impl<H: GateHash> Kernel for Gates<H> {
        type Output = Garbled;

        #[inline(always)]
        fn run<E: Engine>(self, e: E) -> Garbled {
            let delta = e.splat(self.delta);
            let key = || H::key(e, self.secret, self.gate.period);
            let keys = GarblerKeys::<E, H> { e, hash: key(), delta, secret: Some(e.key(self.secret)) };
            let [a, b] = self.labels.map(|labels| e.load(&labels));
            let [a0, b0] = [a, b].map(|x| e.xor_if(e.lsb(x), x, delta));
            let hashes = keys.hash(self.gate, [a0, b0, e.xor(a0, b0)].map(|x| [x, e.xor(x, delta)]));
            let hashes = hashes.map(|pair| pair.map(|quad| e.store(quad)));
            let (mut bytes, mut controls) = ([0; 24 * QUAD_LANES], [0; QUAD_LANES]);
            let table = TableMut { bytes: &mut bytes, controls: &mut controls };
            let labels = ThreeHalves::garble(&keys, self.gate, [a, b], table);
            let evaluated = [0, 1, 2, 3].map(|row| {
                let [i, j] = [row >> 1 == 1, row & 1 == 1].map(|bit| e.mask(bit));
                let active = [e.xor_if(i, a0, delta), e.xor_if(j, b0, delta)];
                let keys = EvaluatorKeys::<E, H> { e, hash: key() };
                e.store(ThreeHalves::evaluate(&keys, self.gate, active, Table { bytes: &bytes, controls }))
            });
            Garbled {
                hashes: std::array::from_fn(|lane| [0, 1, 2, 3, 4, 5].map(|i| hashes[i / 2][i % 2][lane])),
                random: e.store(keys.random::<ThreeHalves>(self.gate)),
                labels: e.store(labels),
                rows: std::array::from_fn(|lane| Row {
                    halves: bytemuck::cast(bytes.as_chunks::<24>().0[lane]),
                    controls: controls[lane],
                }),
                evaluated,
            }
        }
    }

    fn vectors_are_single_gates<H: GateHash>(seed: u8) {
        let mut rng = Prg::new(Block::from_u128(seed.into()));
        let labels = [(); 2].map(|()| std::array::from_fn(|_| rng.next_block()));
        let [delta, secret] = [Block::from_u128(rng.next_block().to_u128() | 1), rng.next_block()];
        let gate = H::key_period(ThreeHalves::CALLS).split(3 * u64::from(seed));
        for backend in Backend::available() {
            let garbled = backend.run(Gates::<H> { labels, delta, secret, gate, hash: PhantomData });
            for lane in 0..QUAD_LANES {
                let [a, b] = labels.map(|labels: [Block; QUAD_LANES]| labels[lane]);
                let [p, q] = [a, b].map(|label| Bit::lowest_of(label.halves()[0]));
                let [a, b] = [(a, p), (b, q)].map(|(label, bit)| label ^ (Block::mask(bit) & delta));
                let random = garbled.random[lane].halves().map(Bit::lowest_of);
                let (label, row) = garble_gate(&garbled.hashes[lane], a, b, delta, [p, q], random);
                let got = (garbled.labels[lane].to_u128(), garbled.rows[lane]);
                assert_eq!(got, (label.to_u128(), row), "{backend}, lane {lane}");
                for (at, evaluated) in garbled.evaluated.iter().enumerate() {
                    let value = (p ^ (at >> 1 == 1)) & (q ^ (at & 1 == 1));
                    let expected = label ^ (Block::mask(value) & delta);
                    assert_eq!(evaluated[lane].to_u128(), expected.to_u128(), "{backend}, row {at:02b}");
                }
            }
        }
    }

    #[test]
    fn vectors_are_four_single_gates_on_every_engine() {
        for seed in 0..50 {
            vectors_are_single_gates::<Rekeyed>(seed);
            vectors_are_single_gates::<FixedKey>(seed);
        }
    }
}
