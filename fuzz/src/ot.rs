//! Any bytes from a peer in the set-up and extension of oblivious transfer, for either side.

use std::time::Duration;

use garblet_net::Channel;
use garblet_ot::{CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, Width};
use garblet_primitives::{Block, Delta, Prg};

pub fn run(bytes: &[u8]) {
    let Some((first, stream)) = bytes.split_first() else { return };
    let width = Width::ALL[usize::from(first >> 1) % 3];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = std::io::Cursor::new(stream.to_vec());
    runtime.block_on(async {
        let mut channel = Channel::new(stream, tokio::io::sink());
        channel.set_timeout(Duration::from_millis(100));
        let mut rng = Prg::new(Block::ZERO);
        if first & 1 == 0 {
            let delta = Delta::random(&mut rng);
            let Ok(mut sender) = CotSender::setup(&mut channel, &mut rng, &delta, width).await else { return };
            let _ = sender.extend(&mut channel, 300).await;
        } else {
            let Ok(mut receiver) = CotReceiver::setup(&mut channel, &mut rng, width).await else { return };
            let _ = receiver.extend_random(&mut channel, 300).await;
        }
    });
}
