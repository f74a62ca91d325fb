//! Any bytes of a stranger at the door of a server that clients come to: TLS, a program's preamble, a browser's request, and messages of either.
//! The first byte says which way is open, and how much of what is right stands before the rest.

use std::{sync::LazyLock, time::Duration};

use garblet_net::{Entrance, Identity, ServerTls};
use garblet_primitives::{Block, Prg};

/// The most bytes of a message.
const BYTES_MAX: usize = 1 << 10;

const REQUEST: &[u8] =
    b"GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

static TLS: LazyLock<ServerTls> = LazyLock::new(|| {
    let identity = Identity::generate(&mut Prg::new(Block::ZERO));
    ServerTls::new(&identity, None).expect("it can be set up")
});

/// The first bytes of a visitor, before those that are drawn.
fn begun(script: u8) -> Vec<u8> {
    match script >> 2 & 3 {
        0 => Vec::new(),
        1 => b"\xC8gv\x01".to_vec(),
        2 => [REQUEST, b"\r\n"].concat(),
        _ => [REQUEST, b"Origin: https://friends.example\r\n\r\n"].concat(),
    }
}

pub fn run(bytes: &[u8]) {
    let Some((script, bytes)) = bytes.split_first() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let entrance = Entrance {
        tls: (script & 1 == 1).then(|| TLS.clone()),
        plain: true,
        origins: (script & 2 == 2).then(|| vec!["https://friends.example".into()]),
        message_bytes_max: BYTES_MAX,
        timeout: Duration::from_millis(100),
    };
    let stream = std::io::Cursor::new([&begun(*script)[..], bytes].concat());
    runtime.block_on(async {
        let Ok(mut visitor) = entrance.admit(tokio::io::join(stream, tokio::io::sink())).await else { return };
        while let Ok(message) = visitor.receive(BYTES_MAX).await {
            assert!(message.len() <= BYTES_MAX, "a message is as long as is allowed");
        }
        let _ = visitor.close().await;
    });
}
