//! Oblivious transfer, with both parties.

use std::hint::black_box;

use garblet_ot::{
    BitVec, CotReceiver, CotSender, Direction, LpnSet, MaliciousCotReceiver, MaliciousCotSender,
    PrecomputedCotReceiver, PrecomputedCotSender, RotReceiver, RotSender, SilentCotReceiver, SilentCotSender,
    StatisticalSecurity, Width, base,
};
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use crate::marks::{SecretRng, block_on, channels};

/// More than one square of transfers, and not a multiple of squares.
const COUNT: usize = 300;

pub(crate) fn base() {
    let (mut left, mut right) = channels();
    block_on(async {
        let sends = async {
            let challenged = base::send(&mut left, &mut SecretRng::new()).await.expect("honest");
            challenged.check_answer(&mut left).await.expect("honest");
        };
        let receives = async {
            let mut rng = SecretRng::new();
            let choices = BitVec::random(base::BASE_OTS, &mut rng);
            let chosen = base::receive(&mut right, &choices, &mut rng).await.expect("honest");
            right.flush().await.expect("memory");
            black_box(chosen.pads().len());
        };
        tokio::join!(sends, receives)
    });
}

pub(crate) fn semi_honest() {
    for width in Width::ALL {
        let (mut left, mut right) = channels();
        block_on(async {
            let sends = async {
                let mut rng = SecretRng::new();
                let delta = Delta::random(&mut rng);
                let cot = CotSender::setup(&mut left, &mut rng, &delta, width).await.expect("honest");
                let mut rot = RotSender::new(cot);
                black_box(rot.extend(&mut left, COUNT).await.expect("honest"));
            };
            let receives = async {
                let cot = CotReceiver::setup(&mut right, &mut SecretRng::new(), width).await.expect("honest");
                black_box(RotReceiver::new(cot).extend(&mut right, COUNT).await.expect("honest"));
            };
            tokio::join!(sends, receives)
        });
    }
}

pub(crate) fn malicious() {
    let (width, sigma) = (Width::default(), StatisticalSecurity::default());
    let (mut left, mut right) = channels();
    block_on(async {
        let sends = async {
            let mut rng = SecretRng::new();
            let delta = Delta::random(&mut rng);
            let cot = MaliciousCotSender::setup(&mut left, &mut rng, &delta, width, sigma).await.expect("honest");
            black_box(RotSender::new(cot).extend(&mut left, COUNT).await.expect("honest"));
        };
        let receives = async {
            let cot = MaliciousCotReceiver::setup(&mut right, &mut SecretRng::new(), width, sigma).await;
            black_box(RotReceiver::new(cot.expect("honest")).extend(&mut right, COUNT).await.expect("honest"));
        };
        tokio::join!(sends, receives)
    });
}

/// Silent transfers against malicious parties.
pub(crate) fn silent() {
    let (width, sigma, set) = (Width::Two, StatisticalSecurity::Eighty, LpnSet::DEFAULT);
    let direction = Direction { sender: 0, receiver: 1 };
    let (mut left, mut right) = channels();
    block_on(async {
        let sends = async {
            let mut rng = SecretRng::new();
            let delta = Delta::random(&mut rng);
            let base = MaliciousCotSender::setup(&mut left, &mut rng, &delta, width, sigma).await.expect("honest");
            let silent = SilentCotSender::setup(&mut left, &mut rng, base, set, direction).await.expect("honest");
            black_box(RotSender::new(silent).extend(&mut left, COUNT).await.expect("honest"));
        };
        let receives = async {
            let mut rng = SecretRng::new();
            let base = MaliciousCotReceiver::setup(&mut right, &mut rng, width, sigma).await.expect("honest");
            let silent = SilentCotReceiver::setup(&mut right, &mut rng, base, set, direction).await.expect("honest");
            black_box(RotReceiver::new(silent).extend(&mut right, COUNT).await.expect("honest"));
        };
        tokio::join!(sends, receives)
    });
}

/// Transfers made in advance, and corrected to later choices.
pub(crate) fn corrected() {
    let mut rng = SecretRng::new();
    let delta = Delta::random(&mut rng);
    let q = rng.blocks(COUNT);
    let [random, own] = [0, 1].map(|_| BitVec::random(COUNT, &mut rng));
    let t = q.iter().zip(random.iter()).map(|(&q, bit)| q ^ Block::select(bit, delta.block(), Block::ZERO)).collect();
    let (mut left, mut right) = channels();
    let sender = PrecomputedCotSender::new(&delta, q.into());
    let receiver = PrecomputedCotReceiver::new(random, Zeroizing::new(t)).expect("as many");
    block_on(async {
        let sends = sender.correct(&mut left);
        let receives = receiver.correct(&mut right, &own);
        let (sent, received) = tokio::join!(sends, receives);
        black_box((sent.expect("honest"), received.expect("honest")));
    });
}
