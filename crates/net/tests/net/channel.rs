//! The channel's contract, in memory.

use std::time::Duration;

use garblet_net::{Channel, Message, NetError, memory_pair};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

/// A message type for every kind of malformed message.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
struct Bits {
    bits: Vec<u8>,
}

impl Message for Bits {
    const NAME: &'static str = "bits";
    const KIND: u8 = 7;
    const MAX_BYTES: usize = 1000;

    fn check(&self) -> Result<(), String> {
        match self.bits.iter().position(|&bit| bit > 1) {
            Some(at) => Err(format!("bit {at} is {}, expected 0 or 1", self.bits[at])),
            None => Ok(()),
        }
    }
}

/// The same kind without check and limit, as a misbehaving peer sends it.
#[derive(Serialize, Deserialize, Debug)]
struct Forged(Vec<u8>, Option<u8>);

impl Message for Forged {
    const NAME: &'static str = "forged bits";
    const KIND: u8 = Bits::KIND;
    const MAX_BYTES: usize = usize::MAX;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Serialize, Deserialize, Debug)]
struct Other(u8);

impl Message for Other {
    const NAME: &'static str = "other";
    const KIND: u8 = 8;
    const MAX_BYTES: usize = 1;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A message with a field of each form.
#[derive(Serialize, Deserialize, Debug)]
struct Fields(u16, String, Option<bool>);

impl Message for Fields {
    const NAME: &'static str = "fields";
    const KIND: u8 = 9;
    const MAX_BYTES: usize = 100;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// A channel, and its peer's raw byte stream.
fn raw_pair() -> (Channel, tokio::io::DuplexStream) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let mut channel = Channel::new(reader, writer);
    channel.set_timeout(Duration::from_millis(100));
    (channel, far)
}

/// The errors of a channel that receives these bytes instead of a message, and instead of bulk data.
async fn errors_for(bytes: &[u8]) -> (NetError, NetError) {
    let (mut channel, mut peer) = raw_pair();
    peer.write_all(bytes).await.expect("the pipe is large enough");
    let message = channel.receive::<Bits>().await.expect_err("not a message");
    let (mut channel, mut peer) = raw_pair();
    peer.write_all(bytes).await.expect("the pipe is large enough");
    let bulk = channel.receive_bytes(&mut [0; 100]).await.expect_err("not bulk data");
    (message, bulk)
}

#[tokio::test]
async fn messages_and_bulk_data_arrive_in_order() {
    let (mut left, mut right) = memory_pair();
    let (sent, small, large) = (Bits { bits: vec![0, 1, 1] }, pattern(100), pattern(300_000));
    let talk = async {
        left.send_bytes(&small).await?;
        left.send(&sent).await?;
        left.send_bytes(&small).await?;
        left.send_bytes(&large).await?;
        left.send(&sent).await?;
        left.close().await
    };
    let listen = async {
        let mut got = vec![0; 100];
        right.receive_bytes(&mut got).await?;
        assert_eq!(got, small);
        assert_eq!(right.receive::<Bits>().await?, sent);
        let mut got = vec![0; 300_100];
        let (first, second) = got.split_at_mut(70_001);
        right.receive_bytes(first).await?;
        right.receive_bytes(second).await?;
        assert_eq!(got, [small.clone(), large.clone()].concat());
        assert_eq!(right.receive::<Bits>().await?, sent);
        right.close().await
    };
    let (sent, received) = tokio::try_join!(talk, listen).expect("an honest conversation");
    assert_eq!(sent.bytes_sent, 300_200 + 2 * 4);
    assert_eq!(sent.bytes_sent, received.bytes_received);
    assert_eq!(sent.framing_bytes, received.framing_bytes);
}

#[tokio::test]
async fn rounds_count_waits_after_sending() {
    let (mut left, mut right) = memory_pair();
    let ping = async {
        left.send(&Other(1)).await?;
        left.send_bytes(&[1, 2]).await?;
        left.receive::<Other>().await?;
        left.receive_bytes(&mut [0; 2]).await?;
        left.send(&Other(2)).await?;
        left.receive::<Other>().await?;
        left.send(&Other(3)).await?;
        left.close().await
    };
    let pong = async {
        right.receive::<Other>().await?;
        right.receive_bytes(&mut [0; 2]).await?;
        right.send(&Other(1)).await?;
        right.send_bytes(&[1, 2]).await?;
        right.receive::<Other>().await?;
        right.send(&Other(2)).await?;
        right.receive::<Other>().await?;
        right.close().await
    };
    let (left, right) = tokio::try_join!(ping, pong).expect("an honest conversation");
    assert_eq!((left.rounds, left.bytes_sent, left.bytes_received), (2, 5, 4));
    assert_eq!((right.rounds, right.bytes_sent, right.bytes_received), (2, 4, 5));
}

#[tokio::test]
async fn empty_messages_and_empty_bulk_data_work() {
    let (mut left, mut right) = memory_pair();
    left.send_bytes(&[]).await.expect("nothing to do");
    left.send(&Bits { bits: vec![] }).await.expect("sent");
    left.flush().await.expect("sent");
    right.receive_bytes(&mut []).await.expect("nothing to do");
    assert_eq!(right.receive::<Bits>().await.expect("arrives").bits, []);
    assert_eq!(right.traffic().rounds, 0);
}

#[tokio::test]
async fn the_wrong_thing_is_unexpected() {
    let (mut left, mut right) = memory_pair();
    left.send(&Other(1)).await.expect("sent");
    left.flush().await.expect("sent");
    let error = right.receive::<Bits>().await.expect_err("another message");
    assert_eq!(
        error.to_string(),
        "unexpected data from the peer: expected message `bits` (kind 7), got a message of kind 8 with 1 bytes"
    );

    let (mut left, mut right) = memory_pair();
    left.send_bytes(&[1; 20]).await.expect("sent");
    left.flush().await.expect("sent");
    right.receive_bytes(&mut [0; 8]).await.expect("arrives");
    let error = right.receive::<Bits>().await.expect_err("bulk data is left");
    assert!(error.to_string().contains("got bulk data (12 bytes or more)"), "{error}");

    let (mut left, mut right) = memory_pair();
    left.send(&Other(1)).await.expect("sent");
    left.flush().await.expect("sent");
    let error = right.receive_bytes(&mut [0; 8]).await.expect_err("a message");
    assert!(error.to_string().contains("expected 8 more bytes of bulk data"), "{error}");
}

#[tokio::test]
async fn forged_messages_are_refused() {
    for (forged, text) in [
        (Forged(vec![1, 0, 2], None), "malformed message `bits`: expected its fields, got 1 bytes after them"),
        (Forged(vec![1; 2000], None), "bits too large: expected at most 1000 bytes, got 2003"),
    ] {
        let (mut left, mut right) = memory_pair();
        left.send(&forged).await.expect("sent");
        left.flush().await.expect("sent");
        assert_eq!(right.receive::<Bits>().await.expect_err("forged").to_string(), text);
    }
    let (mut right, mut peer) = raw_pair();
    peer.write_all(&[0xC0, 7, 4, 0, 0, 0, 3, 1, 0, 2]).await.expect("sent");
    let error = right.receive::<Bits>().await.expect_err("2 is no bit");
    assert_eq!(
        error.to_string(),
        "malformed message `bits`: expected consistent fields, got bit 2 is 2, expected 0 or 1"
    );
    // The number 3, encoded in two bytes.
    let (mut right, mut peer) = raw_pair();
    peer.write_all(&[0xC0, 7, 5, 0, 0, 0, 0x83, 0, 1, 0, 1]).await.expect("sent");
    let error = right.receive::<Bits>().await.expect_err("its length has another encoding");
    assert_eq!(
        error.to_string(),
        "malformed message `bits`: expected the shortest encoding of its fields, got another one, of 5 bytes"
    );
    let (mut right, mut peer) = raw_pair();
    peer.write_all(&[0xC0, 7, 2, 0, 0, 0, 200, 1]).await.expect("sent");
    let error = right.receive::<Bits>().await.expect_err("200 bits in no byte");
    assert_eq!(
        error.to_string(),
        "malformed message `bits`: expected its fields, got 2 bytes, which end within a field"
    );
}

#[tokio::test]
async fn messages_that_do_not_decode_are_refused_in_words_of_the_wire() {
    let said = async |payload: &[u8]| {
        let (mut right, mut peer) = raw_pair();
        peer.write_all(&[0xC0, 9, payload.len() as u8, 0, 0, 0]).await.expect("sent");
        peer.write_all(payload).await.expect("sent");
        let error = right.receive::<Fields>().await.expect_err("malformed").to_string();
        error.strip_prefix("malformed message `fields`: expected its fields, got ").map(String::from).expect("its name")
    };
    assert_eq!(said(&[0xFF, 0xFF, 4, 0, 0]).await, "5 bytes, with a number too large for its field", "65536 + 15 bits");
    assert_eq!(said(&[0xFF; 12]).await, "12 bytes, with a number too large for its field", "a number without an end");
    assert_eq!(said(&[1, 1, 0xFF, 0]).await, "4 bytes, with a text that is not UTF-8");
    assert_eq!(said(&[1, 0, 2]).await, "3 bytes, with an option that begins with neither 0 nor 1");
    assert_eq!(said(&[1, 0, 1, 2]).await, "4 bytes, with a field whose value is not allowed", "a bool of 2");
    assert_eq!(said(&[1]).await, "1 bytes, which end within a field");
}

#[tokio::test]
async fn an_abort_that_a_failed_write_reveals_is_told_as_of_that_write() {
    let (left, mut right) = memory_pair();
    left.abort().await;
    let mut written = Ok(());
    for _ in 0..64 {
        written = right.send_bytes(&[0; 1 << 16]).await;
        if written.is_err() {
            break;
        }
    }
    let error = written.expect_err("the peer is gone").to_string();
    assert!(error.starts_with("the peer aborted while we waited for"), "{error}");
    assert!(!error.contains("an abort"), "{error}");
}

#[tokio::test]
async fn malformed_messages_are_not_sent() {
    let (mut left, _right) = memory_pair();
    let error = left.send(&Bits { bits: vec![2] }).await.expect_err("fails its check");
    assert!(matches!(error, NetError::Unsendable { .. }), "{error}");
    let error = left.send(&Bits { bits: vec![1; 2000] }).await.expect_err("too long");
    assert!(error.to_string().contains("2002 bytes, at most 1000 are allowed"), "{error}");
}

#[tokio::test]
async fn a_peer_that_is_gone_differs_from_one_that_gives_up() {
    let (left, mut right) = memory_pair();
    drop(left);
    let error = right.receive::<Bits>().await.expect_err("gone");
    assert_eq!(error.to_string(), "the peer closed the connection while we waited for bits");

    let (mut left, mut right) = memory_pair();
    left.send(&Bits { bits: vec![1] }).await.expect("staged, and lost by the abort");
    let (_, received) = tokio::join!(left.abort(), async {
        let error = right.receive::<Bits>().await;
        drop(right);
        error
    });
    assert!(matches!(received, Err(NetError::PeerAborted { .. })));

    let (left, right) = memory_pair();
    let (_, closed) = tokio::join!(left.abort(), right.close());
    assert!(matches!(closed, Err(NetError::PeerAborted { .. })));
}

#[tokio::test]
async fn a_sender_learns_that_the_peer_gave_up() {
    let (mut left, right) = memory_pair();
    let send = async {
        loop {
            left.send_bytes(&pattern(100_000)).await?;
            tokio::task::yield_now().await;
        }
    };
    let (sent, _): (Result<(), NetError>, _) = tokio::join!(send, right.abort());
    let error = sent.expect_err("the peer gave up");
    assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
}

#[tokio::test]
async fn a_silent_or_unreading_peer_times_out() {
    let (mut left, mut right) = memory_pair();
    for channel in [&mut left, &mut right] {
        channel.set_timeout(Duration::from_millis(50));
    }
    let error = right.receive::<Bits>().await.expect_err("silence");
    assert_eq!(error.to_string(), "no byte moved for 0.05 s while we waited for bits");
    let error = loop {
        if let Err(error) = left.send_bytes(&pattern(100_000)).await {
            break error;
        }
    };
    assert!(error.to_string().contains("for the peer to read what we send"), "{error}");
}

#[tokio::test]
async fn closing_early_is_detected() {
    let (mut left, right) = memory_pair();
    left.send(&Other(1)).await.expect("sent");
    let (left, right) = tokio::join!(left.close(), right.close());
    assert!(left.is_ok());
    assert!(right.expect_err("a message is left").to_string().contains("a message of kind 8"));

    let (left, mut right) = memory_pair();
    let (_, received) = tokio::join!(left.close(), async {
        let received = right.receive::<Other>().await;
        drop(right);
        received
    });
    assert!(received.expect_err("closed").to_string().contains("got the end of the conversation"));
}

#[tokio::test]
async fn other_programs_are_recognised() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], &[0; 64], &[0xC1, 0, 0, 0, 0, 0xFF]] {
        let (message, bulk) = errors_for(bytes).await;
        assert!(matches!(message, NetError::Malformed { .. }), "{message}");
        assert!(matches!(bulk, NetError::Malformed { .. }), "{bulk}");
    }
    let (message, bulk) = errors_for(&[0x16, 3, 1, 2, 0, 1]).await;
    assert!(matches!(message, NetError::TlsMismatch { .. }), "{message}");
    assert!(matches!(bulk, NetError::TlsMismatch { .. }), "{bulk}");
}

#[tokio::test]
async fn wrong_lengths_are_refused_or_time_out() {
    let (message, bulk) = errors_for(&[0xC0, 7, 0xFF, 0xFF, 0xFF, 0xFF]).await;
    assert!(matches!(message, NetError::TooLarge { got: 0xFFFF_FFFF, .. }), "{message}");
    assert!(matches!(bulk, NetError::Unexpected { .. }), "{bulk}");
    let (message, bulk) = errors_for(&[0xC0, 7, 200, 0, 0, 0, 1, 2, 3]).await;
    assert!(matches!(message, NetError::Timeout { .. }), "{message}");
    assert!(matches!(bulk, NetError::Unexpected { .. }), "{bulk}");
    let (message, bulk) = errors_for(&[0xC1, 0, 50, 0, 0, 0, 1, 2, 3]).await;
    assert!(matches!(message, NetError::Unexpected { .. }), "{message}");
    assert!(matches!(bulk, NetError::Timeout { .. }), "{bulk}");
}

/// Bytes that often look like frames.
fn wire_bytes() -> impl Strategy<Value = Vec<u8>> {
    let frame = prop_oneof![
        (
            0xC0u8..=0xC4,
            prop_oneof![Just(0u8), Just(7), any::<u8>()],
            0u8..40,
            prop::collection::vec(any::<u8>(), 0..40)
        )
            .prop_map(|(number, kind, len, body)| [&[number, kind, len, 0, 0, 0][..], &body].concat()),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(frame, 0..6).prop_map(|frames| frames.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_a_receiver_panic_or_hang(bytes in wire_bytes(), order in prop::collection::vec(any::<bool>(), 20)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let (mut channel, mut peer) = raw_pair();
            peer.write_all(&bytes).await.expect("the pipe is large enough");
            drop(peer);
            for is_bulk in order {
                let result =
                    if is_bulk { channel.receive_bytes(&mut [0; 10]).await } else { channel.receive::<Bits>().await.map(drop) };
                if result.is_err() {
                    return;
                }
            }
        });
    }

    #[test]
    fn bulk_data_may_be_split_anywhere(
        sent in prop::collection::vec(prop_oneof![0usize..40, 16_380usize..16_390, 65_530usize..65_540, 0usize..200_000], 1..8),
        cuts in prop::collection::vec(1usize..100_000, 0..8),
        flushes: u8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let data = pattern(sent.iter().sum());
        runtime.block_on(async {
            let (mut left, mut right) = memory_pair();
            let send = async {
                let mut rest = &data[..];
                for (i, len) in sent.iter().enumerate() {
                    let (piece, behind) = rest.split_at(*len);
                    left.send_bytes(piece).await?;
                    if flushes >> i & 1 == 1 {
                        left.flush().await?;
                    }
                    rest = behind;
                }
                left.close().await
            };
            let receive = async {
                let mut got = vec![0; data.len()];
                let mut rest = &mut got[..];
                for cut in cuts {
                    let (piece, behind) = rest.split_at_mut(cut.min(rest.len()));
                    right.receive_bytes(piece).await?;
                    rest = behind;
                }
                right.receive_bytes(rest).await?;
                right.close().await?;
                Ok(got)
            };
            let (_, got) = tokio::try_join!(send, receive).expect("an honest conversation");
            assert!(got == data);
        });
    }
}

/// The length of bulk data that arrives, and the error that ends it.
async fn all_that_comes(channel: &mut Channel, data: &[u8]) -> (usize, NetError) {
    let mut piece = [0; 1000];
    for (at, expected) in data.chunks(piece.len()).enumerate() {
        match channel.receive_bytes(&mut piece[..expected.len()]).await {
            Ok(()) => assert!(piece[..expected.len()] == *expected, "other bytes at {at}"),
            Err(error) => return (at * piece.len(), error),
        }
    }
    (data.len(), channel.receive_bytes(&mut [0]).await.expect_err("no more was sent"))
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_the_middle_of_a_frame_arrives_after_the_frame_or_not_at_all() {
    let data: Vec<u8> = (0..2 << 20).map(|i: u32| (i * 7 % 251) as u8).collect();
    for (late, is_heard) in
        [(Duration::ZERO, true), (Duration::from_millis(900), true), (Duration::from_secs(5), false)]
    {
        for is_dropped in [true, false] {
            let (mut left, mut right) = memory_pair();
            match is_dropped {
                true => tokio::select! {
                    biased;
                    _ = left.send_bytes(&data) => panic!("more than a pipe holds"),
                    () = async {} => {}
                },
                false => {
                    let error = left.send_bytes(&data).await.expect_err("nobody reads");
                    assert!(matches!(error, NetError::Timeout { .. }), "{error}");
                }
            }
            let hears = async {
                tokio::time::sleep(late).await;
                all_that_comes(&mut right, &data).await
            };
            let ((), (came, error)) = tokio::join!(left.abort(), hears);
            match is_heard {
                true => assert!(came == data.len() && matches!(error, NetError::PeerAborted { .. }), "{came}: {error}"),
                false => assert!(came < data.len() && matches!(error, NetError::PeerClosed { .. }), "{came}: {error}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_discards_staged_frames_after_a_torn_one() {
    let (mut left, mut right) = memory_pair();
    let data = vec![7; 2 << 20];
    tokio::select! {
        biased;
        _ = left.send_bytes(&data) => panic!("more than a pipe holds"),
        () = async {} => {}
    }
    left.send(&Bits { bits: vec![1] }).await.expect_err("nobody reads");
    let ((), (came, error)) = tokio::join!(left.abort(), all_that_comes(&mut right, &data));
    assert!(came == data.len() && matches!(error, NetError::PeerAborted { .. }), "{came}: {error}");
}
