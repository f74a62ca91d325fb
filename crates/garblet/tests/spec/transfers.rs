//! Files 7 and 8: base OT, its trees, extensions and checks.

use garblet::{
    Width,
    net::{
        Channel,
        testing::{Direction, FrameKind, Transcript, intercepted_pair},
    },
};
use garblet_ot::{
    BitVec, CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, MaliciousCotReceiver, MaliciousCotSender,
    PadHash, StatisticalSecurity, base,
};
use garblet_primitives::{Block, Delta, Prg};
use serde_json::{Value, json};

use super::{blake3, block, blocks, hex, hold, joined};

/// OTs of which all values are given.
const SHOWN: [usize; 4] = [0, 1, 2, 127];
/// OTs of an extension: three squares, the last one in part.
const OTS: usize = 300;

/// The generator of the receiver of base OTs, which is the sender of correlated ones, and that of its peer.
fn generators() -> [Prg; 2] {
    [1, 2].map(|seed| Prg::new(Block::from_u128(seed)))
}

fn delta() -> Delta {
    Delta::new(Prg::new(Block::from_u128(3)).next_block())
}

/// Runs two parties, and returns their results and the bulk data that each sent.
fn run<A, B>(
    first: impl AsyncFnOnce(&mut Channel, Prg) -> A,
    second: impl AsyncFnOnce(&mut Channel, Prg) -> B,
) -> ((A, B), [Vec<u8>; 2]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (mut ours, mut theirs, transcript) = intercepted_pair(None);
        let [one, two] = generators();
        let results = tokio::join!(first(&mut ours, one), second(&mut theirs, two));
        ours.flush().await.expect("sent");
        theirs.flush().await.expect("sent");
        (results, [Direction::Forth, Direction::Back].map(|way| bulk(&transcript, way)))
    })
}

fn bulk(transcript: &Transcript, way: Direction) -> Vec<u8> {
    let frames = transcript.frames();
    let own = frames.iter().filter(|frame| frame.direction == way && frame.kind == FrameKind::Bulk);
    own.flat_map(|frame| frame.payload.clone()).collect()
}

/// The 64 bytes that become a scalar modulo the order of the group; the scalars of the text are twice that.
fn wide(stream: &mut Prg) -> [u8; 64] {
    let mut bytes = [0; 64];
    stream.fill_bytes(&mut bytes);
    bytes
}

type Pads = (Vec<[Block; 2]>, Block);

/// The base OTs of all tests here: pads of the sender and the name of the session, and what both sent.
fn base_ots() -> (Pads, Vec<Block>, [Vec<u8>; 2]) {
    let choices = BitVec::of_delta(&delta());
    let receive = async |channel: &mut Channel, mut rng: Prg| {
        let chosen = base::receive(channel, &choices, &mut rng).await.expect("honest");
        channel.flush().await.expect("sent");
        chosen.pads().to_vec()
    };
    let send = async |channel: &mut Channel, mut rng: Prg| {
        let challenged = base::send(channel, &mut rng).await.expect("honest");
        let pads = (challenged.pads().to_vec(), challenged.session());
        channel.flush().await.expect("sent");
        challenged.check_answer(channel).await.expect("honest");
        pads
    };
    let ((chosen, pads), sent) = run(receive, send);
    (pads, chosen, sent)
}

#[test]
fn base_ots_are_held() {
    let ((pads, session), chosen, [offer, answers]) = base_ots();
    let choices: Vec<u8> = (0..128).map(|at| BitVec::of_delta(&delta()).get(at).number()).collect();
    assert!((0..128).all(|at| chosen[at] == pads[at][usize::from(choices[at])]));
    let [mut receiver, mut sender] = generators();
    let mut seed = [0; 32];
    receiver.fill_bytes(&mut seed);
    let scalars: Vec<[u8; 64]> = (0..128).map(|_| wide(&mut receiver)).collect();
    assert_eq!(offer[..32], seed);
    let (points, last) = (&offer[32..32 + 4096], &offer[32 + 4096..]);
    let key = [&offer[..32 + 4096], &answers[..32]].concat();
    let key = blake3::derive_key("garblet base OT: Canetti-Sarkar-Wang over ristretto255, v1", &key);
    let shown = SHOWN.map(|at| {
        json!({
            "ot": at, "choice": choices[at], "half_a_wide": hex(scalars[at]), "point": hex(&points[32 * at..][..32]),
            "pads": blocks(&pads[at]), "challenge": hex(&answers[32 + 16 * at..][..16]),
        })
    });
    hold(
        "base-ot.json",
        &json!({
            "choices": hex(BitVec::of_delta(&delta()).as_bytes()), "seed": hex(seed), "half_r_wide": hex(wide(&mut sender)),
            "z": hex(&answers[..32]), "points_blake3": blake3(points), "key": hex(key), "ots": shown,
            "challenges_blake3": blake3(&answers[32..32 + 2048]), "proof": hex(&answers[32 + 2048..]), "answer": hex(last),
            "session": block(session), "all_pads": pads.iter().map(|pair| blocks(pair)).collect::<Vec<_>>(),
            "all_pads_blake3": blake3(joined(pads.as_flattened())),
        }),
    );
}

/// The leaves of tree `j` and its corrections, as the text defines them.
fn tree(k: usize, pads: &[[Block; 2]]) -> (Vec<Block>, Vec<Block>) {
    let (mut nodes, mut corrections) = (vec![pads[k - 1][1], pads[k - 1][0]], Vec::new());
    for level in (0..k - 1).rev() {
        nodes = nodes.iter().flat_map(|&node| blocks_of(node, 0, 2)).collect();
        for side in [0, 1] {
            let sum = nodes.iter().skip(side).step_by(2).fold(Block::ZERO, |sum, &node| sum ^ node);
            corrections.push(sum ^ pads[level][1 - side]);
        }
    }
    (nodes, corrections)
}

/// Blocks of the stream of a seed.
fn blocks_of(seed: Block, first: u64, count: usize) -> Vec<Block> {
    let mut stream = Prg::new(seed);
    stream.seek(first);
    (0..count).map(|_| stream.next_block()).collect()
}

fn add(sum: &mut [Block], row: &[Block]) {
    sum.iter_mut().zip(row).for_each(|(sum, &row)| *sum ^= row);
}

/// The sums `u_j` and columns `v` of the first squares, as the text defines them.
fn columns(k: usize, trees: &[Vec<Block>], squares: usize) -> (Vec<Vec<Block>>, Vec<Vec<Block>>) {
    let zeros = vec![Block::ZERO; squares];
    let (mut sums, mut columns) = (vec![zeros.clone(); trees.len()], vec![zeros; 128]);
    for (j, leaves) in trees.iter().enumerate() {
        for (x, &leaf) in leaves.iter().enumerate() {
            let row = blocks_of(leaf, 0, squares);
            add(&mut sums[j], &row);
            (0..k).filter(|bit| x >> bit & 1 == 1).for_each(|bit| add(&mut columns[k * j + bit], &row));
        }
    }
    (sums, columns)
}

/// Row `i` of columns.
fn row(columns: &[Vec<Block>], i: usize) -> Block {
    let bit = |column: &Vec<Block>| column[i / 128].to_u128() >> (i % 128) & 1;
    Block::from_u128(columns.iter().enumerate().fold(0, |row, (m, column)| row | bit(column) << m))
}

fn extension(width: Width) -> Value {
    let (k, ((pads, session), _, _)) = (width.bits(), base_ots());
    let trees: Vec<_> = pads.chunks_exact(k).map(|pads| tree(k, pads)).collect();
    let corrections: Vec<Block> = trees.iter().flat_map(|(_, corrections)| corrections.clone()).collect();
    let leaves: Vec<Vec<Block>> = trees.into_iter().map(|(leaves, _)| leaves).collect();
    let sender = async |channel: &mut Channel, mut rng: Prg| {
        let mut sender = CotSender::setup(channel, &mut rng, &delta(), width).await.expect("honest");
        channel.flush().await.expect("sent");
        sender.extend(channel, OTS).await.expect("honest").to_vec()
    };
    let receiver = async |channel: &mut Channel, mut rng: Prg| {
        let mut receiver = CotReceiver::setup(channel, &mut rng, width).await.expect("honest");
        let (choices, t) = receiver.extend_random(channel, OTS).await.expect("honest");
        (choices.as_bytes().to_vec(), t.to_vec(), receiver.session_key())
    };
    let ((q, (choices, t, key)), [_, told]) = run(sender, receiver);
    assert!(key == session);
    let told = &told[32 + 2048 + 32..];
    let (of_trees, of_columns) = told.split_at(16 * corrections.len());
    assert_eq!(of_trees, joined(&corrections));
    let (sums, columns) = columns(k, &leaves, 3);
    let differences: Vec<Block> =
        sums[1..].iter().flat_map(|sum| sum.iter().zip(&sums[0]).map(|(&a, &b)| a ^ b)).collect();
    assert_eq!(of_columns, joined(&differences));
    assert!((0..OTS).all(|i| t[i] == row(&columns, i)));
    let choice = |i: usize| choices[i / 8] >> (i % 8) & 1 == 1;
    assert!((0..OTS).all(|i| t[i] == q[i] ^ (Block::mask(choice(i)) & delta().block())));
    let hash = PadHash::new(key);
    let pad = |tweak: u64, block: Block| {
        let mut one = [block];
        hash.hash_batch(tweak, &mut one);
        one[0]
    };
    let random: Vec<Value> =
        [0, 2047, 2048].map(|i| json!({ "ot": i, "y": block(t[0]), "pad": block(pad(i, t[0])) })).into();
    json!({
        "k": k, "corrections_of_tree_0": blocks(&corrections[..2 * (k - 1)]), "all_corrections_blake3": blake3(joined(&corrections)),
        "leaves_of_tree_0": blocks(&leaves[0]), "all_leaves_blake3": blake3(joined(&leaves.concat())),
        "extension": {
            "ots": OTS, "u_0": blocks(&sums[0]), "v_0": blocks(&columns[0]), "d_1": blocks(&differences[..3]), "sent_blake3": blake3(of_columns),
            "choices": hex(&choices), "t_0": block(t[0]), "t_299": block(t[299]), "q_0": block(q[0]), "q_299": block(q[299]),
            "all_t_blake3": blake3(joined(&t)), "all_q_blake3": blake3(joined(&q)),
        },
        "random_ots": random, "checked": checked(width, &leaves, session),
    })
}

/// The same with checks of 40 bits.
fn checked(width: Width, leaves: &[Vec<Block>], session: Block) -> Value {
    let sigma = StatisticalSecurity::Forty;
    let sender = async |channel: &mut Channel, mut rng: Prg| {
        let mut sender = MaliciousCotSender::setup(channel, &mut rng, &delta(), width, sigma).await.expect("honest");
        channel.flush().await.expect("sent");
        let _ = sender.extend(channel, OTS).await.expect("honest");
        channel.flush().await.expect("sent");
    };
    let receiver = async |channel: &mut Channel, mut rng: Prg| {
        let mut receiver = MaliciousCotReceiver::setup(channel, &mut rng, width, sigma).await.expect("honest");
        let _ = receiver.extend_random(channel, OTS).await.expect("honest");
    };
    let (_, [asked, told]) = run(sender, receiver);
    let corrections = 16 * width.trees() * 2 * (width.bits() - 1);
    let tags = &told[32 + 2048 + 32 + corrections..][..32 * (width.trees() + 1)];
    let mut all = blake3::Hasher::new_derive_key("garblet OT extension: all tags, v1");
    all.update(&session.to_bytes());
    for (j, leaves) in leaves.iter().enumerate() {
        let mut sum = [0; 32];
        for (x, leaf) in leaves.iter().enumerate() {
            let places = [(j as u32).to_le_bytes(), (x as u32).to_le_bytes()].concat();
            let input = [&session.to_bytes()[..], &places, &leaf.to_bytes()].concat();
            let tag = blake3::derive_key("garblet OT extension: tag of a leaf, v1", &input);
            sum.iter_mut().zip(tag).for_each(|(sum, tag)| *sum ^= tag);
            all.update(&tag);
        }
        assert_eq!(tags[32 * j..][..32], sum);
    }
    assert_eq!(tags[32 * leaves.len()..], *all.finalize().as_bytes());
    json!({
        "tags_of_tree_0": hex(&tags[..32]), "hash_of_all_tags": hex(&tags[32 * leaves.len()..]),
        "chi": hex(&asked[asked.len() - 16..]), "answer_of_40_bits": hex(&told[told.len() - 8 * 129..]),
    })
}

#[test]
fn extensions_are_held() {
    let widths: Vec<Value> = Width::ALL.into_iter().map(extension).collect();
    let ((_, session), _, _) = base_ots();
    hold("ot-extension.json", &json!({ "delta": block(delta().block()), "session": block(session), "widths": widths }));
}
