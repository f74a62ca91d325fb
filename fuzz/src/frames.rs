//! Any bytes from a peer, received as bulk data and as messages, one after another as the first byte says.

use std::time::Duration;

use garblet_net::{Channel, Hello};

pub fn run(bytes: &[u8]) {
    let Some((script, stream)) = bytes.split_first() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = std::io::Cursor::new(stream.to_vec());
    runtime.block_on(async {
        let mut channel = Channel::new(stream, tokio::io::sink());
        channel.set_timeout(Duration::from_millis(100));
        for step in 0..8 {
            let done = match script >> step & 1 {
                0 => channel.receive_bytes(&mut [0; 37]).await,
                _ => channel.receive::<Hello>().await.map(drop),
            };
            if done.is_err() {
                return channel.abort().await;
            }
        }
        let _ = channel.close().await;
    });
}
