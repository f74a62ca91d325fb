//! A peer's bytes that are cut, changed or random: the receiver ends with a value or an error.

use std::{io::Cursor, time::Duration};

use garblet_net::{
    Blame, Cause, Channel, Hello, Mesh, PerPeer, Refusal,
    testing::{Direction, Frame, FrameKind, intercepted_mesh, intercepted_pair},
};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

/// Bytes of bulk data expected after a hello.
const BULK: usize = 16;

fn hello(party: u16, program: u8) -> Hello {
    let parts = ["source", "ports"].map(|name| (name.to_string(), format!("{name} of {program}")));
    Hello::new("test", party, 2, [program; 32]).describing(move || parts.clone().into())
}

/// The encoded frames of the first channel.
fn wire(frames: &[Frame]) -> Vec<u8> {
    let mut wire = Vec::new();
    for Frame { kind, payload, .. } in frames.iter().filter(|frame| frame.direction == Direction::Forth) {
        let (number, kind) = match kind {
            FrameKind::Message(kind) => (0xc0, *kind),
            FrameKind::Bulk => (0xc1, 0),
            FrameKind::Abort => (0xc2, 0),
            FrameKind::Close => (0xc3, 0),
        };
        wire.extend([number, kind]);
        wire.extend((payload.len() as u32).to_le_bytes());
        wire.extend(payload);
    }
    wire
}

/// The bytes of honest peers: one that continues, one with another program that sends its parts, one that refuses, and one that gives up with blame.
async fn said() -> [Vec<u8>; 4] {
    let of_pair = async |theirs: Hello, refusal: Option<Refusal>| {
        let (mut peer, mut own, transcript) = intercepted_pair(None);
        let says = async {
            match refusal {
                Some(refusal) => peer.refuse(refusal).await,
                None => {
                    if theirs.exchange(&mut peer).await.is_ok() {
                        peer.send_bytes(&[7; BULK]).await.expect("the peer is connected");
                        peer.flush().await.expect("the peer is connected");
                    }
                }
            }
        };
        let hears = async {
            let _ = hello(1, 1).exchange(&mut own).await;
            let _ = own.receive_bytes(&mut [0; BULK]).await;
        };
        tokio::join!(says, hears);
        wire(&transcript.frames())
    };
    let (meshes, transcripts) = intercepted_mesh(2, None);
    let mut meshes = meshes.into_iter();
    let (first, mut second) = (meshes.next().expect("two"), meshes.next().expect("two"));
    let blames = first.abort(Some(Blame { party: 1, cause: Cause::Silent, heard_from: None }));
    let mut nothing = second.per_peer(|_| vec![0; BULK]);
    let sent = second.per_peer(|_| [0u8; BULK]);
    let (_, heard) = tokio::join!(blames, second.exchange(&sent, &mut nothing));
    assert!(heard.is_err(), "the other one gives up");
    let of_pair_in_mesh = wire(&transcripts[0].1.frames());
    [
        of_pair(hello(0, 1), None).await,
        of_pair(hello(0, 2), None).await,
        of_pair(hello(0, 1), Some(Refusal::UsedUp { again_after: Some(7) })).await,
        of_pair_in_mesh,
    ]
}

/// Receives these bytes from a peer and no more; returns whether everything expected arrived.
async fn hears(bytes: &[u8], is_mesh: bool) -> bool {
    let mut channel = Channel::new(Cursor::new(bytes.to_vec()), tokio::io::sink());
    channel.set_timeout(Duration::from_secs(5));
    if !is_mesh {
        let met = hello(1, 1).exchange(&mut channel).await;
        return met.is_ok() && channel.receive_bytes(&mut [0; BULK]).await.is_ok();
    }
    let mut channel = Some(channel);
    let mut mesh = Mesh::new(PerPeer::new(1, 2, |_| channel.take().expect("one peer")));
    let (sent, mut heard) = (mesh.per_peer(|_| [0u8; 0]), mesh.per_peer(|_| vec![0; BULK]));
    mesh.exchange(&sent, &mut heard).await.is_ok()
}

#[tokio::test]
async fn any_bytes_from_a_peer_are_accepted_or_refused() {
    let said = said().await;
    let mut rng = StdRng::seed_from_u64(1);
    for (number, honest) in said.iter().enumerate() {
        let is_mesh = number == 3;
        assert_eq!(hears(honest, is_mesh).await, number == 0, "conversation {number}");
        for end in 0..honest.len() {
            assert!(!hears(&honest[..end], is_mesh).await, "conversation {number}, {end} of {} bytes", honest.len());
        }
        for _ in 0..400 {
            let mut changed = honest.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..changed.len());
                changed[at] ^= rng.random_range(1..=255u8);
            }
            hears(&changed, is_mesh).await;
            // Correct frames with wrong contents.
            let mut random = honest.clone();
            let from = 6.min(random.len());
            rng.fill_bytes(&mut random[from..]);
            hears(&random, is_mesh).await;
        }
    }
    assert!(said[1].len() > said[0].len() - BULK - 6, "the program's parts were sent");
}
