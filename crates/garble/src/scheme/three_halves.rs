//! Three halves: one and a half blocks and five bits per AND gate.

use garblet_primitives::{Block, Engine, GateHash, GateNumber, QUAD_LANES};

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
pub(crate) struct ThreeHalves;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
fn bit(hash: Block) -> bool {
    hash.halves()[1] & 1 == 1
}

fn only_if(condition: bool, value: u64) -> u64 {
    u64::from(condition).wrapping_neg() & value
}

/// The part of a result's halves that comes from the labels, for control bits `[c, d]` and select bits `i, j`.
#[inline(always)]
fn slice([c, d]: [bool; 2], i: bool, j: bool, a: Block, b: Block) -> [u64; 2] {
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
#[inline(always)]
fn garble_gate(
    hashes: &[Block; 6],
    a: Block,
    b: Block,
    delta: Block,
    [pa, pb]: [bool; 2],
    random: [bool; 2],
) -> (Block, Row) {
    let mut halves = [[0u64; 2]; 4];
    let mut bits = [[false; 2]; 4];
    for row in 0..4 {
        let (i, j) = (row >> 1 == 1, row & 1 == 1);
        let hash_a = hashes[usize::from(i)];
        let hash_b = hashes[2 + usize::from(j)];
        let hash_ab = hashes[4 + usize::from(i ^ j)];
        let control = [0, 1].map(|k| random[k] ^ (!pa & CONTROL_A[row][k]) ^ (!pb & CONTROL_B[row][k]));
        let labels = [a ^ Block::mask(i) & delta, b ^ Block::mask(j) & delta];
        let [l, r] = slice(control, i, j, labels[0], labels[1]);
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
    let controls = controls.iter().rev().fold(0, |sum, &bit| sum << 1 | u8::from(bit));
    (Block::from_halves(r0, l0), Row { halves: table, controls })
}

/// Evaluates one gate. *Shape*: `hashes` of the active labels `a`, `b` and `a + b`.
#[inline(always)]
fn evaluate_gate(hashes: [Block; 3], a: Block, b: Block, row: &Row) -> Block {
    let [hash_a, hash_b, hash_ab] = hashes;
    let (i, j) = (a.lsb(), b.lsb());
    let [mut l, mut r] = [right(hash_a) ^ right(hash_ab), right(hash_b) ^ right(hash_ab)];
    let control = |k: u8| row.controls >> k & 1 == 1;
    let [mut c, mut d] = [control(0) ^ bit(hash_a) ^ bit(hash_ab), control(1) ^ bit(hash_b) ^ bit(hash_ab)];
    // Which row this is must not show in the memory accesses: all four are looked at.
    for (at, [to_left, to_right]) in TABLE.iter().enumerate() {
        let here = (at >> 1 == 1) == i && (at & 1 == 1) == j;
        for k in 0..3 {
            l ^= only_if(here & to_left[k], row.halves[k]);
            r ^= only_if(here & to_right[k], row.halves[k]);
            c ^= here & to_left[k] & control(2 + k as u8);
            d ^= here & to_right[k] & control(2 + k as u8);
        }
    }
    let [sl, sr] = slice([c, d], i, j, a, b);
    Block::from_halves(r ^ sr, l ^ sl)
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
        let random = e.store(keys.random::<Self>(gate));
        let values = [e.store(a), e.store(b)].map(|labels| labels.map(Block::lsb));
        let (a, b) = (e.xor_if(e.lsb(a), a, delta), e.xor_if(e.lsb(b), b, delta));
        let ab = e.xor(a, b);
        let hashes = keys.hash(gate, [a, b, ab].map(|x| [x, e.xor(x, delta)]));
        let hashes = hashes.map(|pair| pair.map(|quad| e.store(quad)));
        let (a, b, [delta, ..]) = (e.store(a), e.store(b), e.store(delta));
        let mut labels = [Block::ZERO; QUAD_LANES];
        for (lane, bytes) in table.bytes.as_chunks_mut::<24>().0.iter_mut().enumerate().take(QUAD_LANES) {
            let hashes = [0, 1, 2, 3, 4, 5].map(|i| hashes[i / 2][i % 2][lane]);
            let random = [0, 1].map(|k| random[lane].halves()[k] & 1 == 1);
            let (label, row) =
                garble_gate(&hashes, a[lane], b[lane], delta, [values[0][lane], values[1][lane]], random);
            labels[lane] = label;
            *bytes = bytemuck::cast(row.halves);
            table.controls[lane] = row.controls;
        }
        e.load(&labels)
    }

    #[inline(always)]
    fn evaluate<E: Engine, H: GateHash>(
        keys: &EvaluatorKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: Table<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let hashes = keys.hash(gate, [[a], [b], [e.xor(a, b)]]).map(|[quad]| e.store(quad));
        let (a, b) = (e.store(a), e.store(b));
        let mut labels = [Block::ZERO; QUAD_LANES];
        for (lane, bytes) in table.bytes.as_chunks::<24>().0.iter().enumerate().take(QUAD_LANES) {
            let row = Row { halves: bytemuck::cast(*bytes), controls: table.controls[lane] };
            labels[lane] = evaluate_gate(hashes.map(|quad| quad[lane]), a[lane], b[lane], &row);
        }
        e.load(&labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn gates_are_those_of_the_papers_matrices() {
        for v in &VECTORS {
            let [a, b, delta] = [v.a, v.b, v.delta].map(Block::from_u128);
            let (result, row) = garble_gate(&v.hashes.map(Block::from_u128), a, b, delta, v.values, v.random);
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
}
