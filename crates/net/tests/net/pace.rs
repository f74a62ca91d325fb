//! The slowest allowed pace of a peer, with a clock that only advances when nothing else can happen.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use garblet_net::{Channel, LEAST_BYTES_PER_SECOND, Message, NetError};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::time::{Instant, sleep};

const TIMEOUT: Duration = Duration::from_secs(60);

const RATE: usize = LEAST_BYTES_PER_SECOND as usize;

#[derive(Serialize, Deserialize, Debug)]
struct Text(Vec<u8>);

impl Message for Text {
    const NAME: &'static str = "text";
    const KIND: u8 = 7;
    const MAX_BYTES: usize = 10_000;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A channel over a pipe with this capacity in bytes, and the peer's end of the pipe.
fn piped(bytes: usize) -> (Channel, DuplexStream) {
    let (ours, theirs) = duplex(bytes);
    let (reader, writer) = split(ours);
    let mut channel = Channel::new(reader, writer);
    channel.set_timeout(TIMEOUT);
    (channel, theirs)
}

/// The frames that a channel sends.
async fn frames(send: impl AsyncFnOnce(&mut Channel)) -> Vec<u8> {
    let (mut channel, mut theirs) = piped(1 << 22);
    send(&mut channel).await;
    channel.flush().await.expect("room for all");
    drop(channel);
    let mut frames = Vec::new();
    theirs.read_to_end(&mut frames).await.expect("in memory");
    frames
}

/// Writes pieces of this number of bytes, each after a pause, until nobody reads any more.
async fn drip(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8], piece: usize, pause: Duration) {
    for piece in bytes.chunks(piece) {
        sleep(pause).await;
        if to.write_all(piece).await.is_err() {
            return;
        }
    }
    sleep(TIMEOUT * 1000).await;
}

/// The result of receiving from a dripping peer, and the time that it took.
async fn receiving(
    frames: &[u8],
    (piece, pause): (usize, Duration),
    receive: impl AsyncFnOnce(&mut Channel) -> Result<(), NetError>,
) -> (Result<(), NetError>, Duration) {
    let (mut channel, mut theirs) = piped(1 << 22);
    let start = Instant::now();
    let result = tokio::select! {
        result = receive(&mut channel) => result,
        () = drip(&mut theirs, frames, piece, pause) => panic!("the channel waits forever"),
    };
    (result, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_byte_a_minute_does_not_block_bulk_data_forever() {
    let data = frames(async |channel| channel.send_bytes(&[7; 4096]).await.expect("sent")).await;
    let receive = async |channel: &mut Channel| channel.receive_bytes(&mut [0; 4096]).await;
    let (result, time) = receiving(&data, (1, Duration::from_secs(59)), receive).await;
    let error = result.expect_err("too slow");
    assert!(matches!(error, NetError::TooSlow { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "too slow: 2 bytes in 119 s while we waited for bulk data (4096 bytes), expected 1024 bytes a second or more"
    );
    // The first byte within a time-out, and the rest at most a time-out behind the rate.
    assert!(time <= 2 * TIMEOUT + Duration::from_secs(4), "{time:?}");
}

#[tokio::test(start_paused = true)]
async fn a_byte_a_minute_does_not_block_a_message_forever() {
    let data = frames(async |channel| channel.send(&Text(vec![7; 1000])).await.expect("sent")).await;
    for skip in [0, 6] {
        // Slow from the first byte on, or after the header.
        let receive = async |channel: &mut Channel| channel.receive::<Text>().await.map(drop);
        let (result, time) = receiving(&data, (1.max(skip), Duration::from_secs(59)), receive).await;
        let error = result.expect_err("too slow").to_string();
        assert!(error.starts_with("too slow: ") && error.contains("for text"), "{error}");
        assert!(time <= 2 * TIMEOUT + Duration::from_secs(1), "{time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn fast_bytes_buy_no_later_waits() {
    let data = frames(async |channel| channel.send_bytes(&vec![7; 1 << 20]).await.expect("sent")).await;
    let receive = async |channel: &mut Channel| channel.receive_bytes(&mut vec![0; 1 << 20]).await;
    // Everything except the last kilobyte at once.
    let (mut channel, mut theirs) = piped(1 << 22);
    let (most, rest) = data.split_at((1 << 20) - 1024);
    let start = Instant::now();
    let slow = async {
        theirs.write_all(most).await.expect("in memory");
        drip(&mut theirs, rest, 1, Duration::from_secs(30)).await;
    };
    let result = tokio::select! { result = receive(&mut channel) => result, () = slow => panic!("it blocks forever") };
    assert!(matches!(result, Err(NetError::TooSlow { .. })), "{result:?}");
    assert!(start.elapsed() <= 2 * TIMEOUT, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_slow_link_carries_large_streams() {
    // Twice the least rate, in packets; and 1 Mbit/s.
    for (piece, rate) in [(1460, 2 * RATE), (1460, 125_000), (4, 2 * RATE)] {
        let bytes = if piece == 4 { 1 << 18 } else { 4 << 20 };
        let data = frames_of_stream(bytes).await;
        let receive = async |channel: &mut Channel| {
            let mut room = vec![0; bytes / 4];
            for _ in 0..4 {
                channel.receive_bytes(&mut room).await?;
            }
            Ok(())
        };
        let pause = Duration::from_secs_f64(piece as f64 / rate as f64);
        let (result, time) = receiving(&data, (piece, pause), receive).await;
        result.expect("slow, but not too slow");
        assert!(time.as_secs() as usize >= bytes / rate, "{time:?}");
    }
}

/// A whole stream in frames.
async fn frames_of_stream(bytes: usize) -> Vec<u8> {
    let (mut channel, mut theirs) = piped(1 << 16);
    let send = async {
        channel.send_bytes(&vec![7; bytes]).await.expect("sent");
        channel.flush().await.expect("sent");
        drop(channel);
    };
    let mut frames = Vec::new();
    let (read, ()) = tokio::join!(theirs.read_to_end(&mut frames), send);
    read.expect("in memory");
    frames
}

#[tokio::test(start_paused = true)]
async fn a_peer_may_compute_between_small_messages() {
    let data = frames(async |channel| {
        for _ in 0..20 {
            channel.send(&Text(vec![])).await.expect("sent");
        }
    })
    .await;
    let receive = async |channel: &mut Channel| {
        for _ in 0..20 {
            channel.receive::<Text>().await?;
        }
        Ok(())
    };
    // Each message in one piece, 55 s after the one before: 20 bytes in 18 minutes.
    let (result, time) = receiving(&data, (data.len() / 20, Duration::from_secs(55)), receive).await;
    result.expect("within the time-out each");
    assert_eq!(time, Duration::from_secs(55 * 20));
}

#[tokio::test(start_paused = true)]
async fn own_work_does_not_count() {
    let (mut channel, mut theirs) = piped(1 << 22);
    let data = frames(async |channel| channel.send_bytes(&[7; 100]).await.expect("sent")).await;
    theirs.write_all(&data[..50]).await.expect("in memory");
    // Between polls of a started receive, this party does something else.
    let mut room = [0; 100];
    {
        let receive = channel.receive_bytes(&mut room);
        tokio::pin!(receive);
        let first = poll_fn(|context| Poll::Ready(receive.as_mut().poll(context))).await;
        assert!(first.is_pending());
        theirs.write_all(&data[50..]).await.expect("in memory");
        tokio::time::advance(TIMEOUT * 10).await;
        receive.await.expect("all was there");
    }
    assert_eq!(room, [7; 100]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_a_byte_a_minute_does_not_block_a_sender_forever() {
    let (mut channel, mut theirs) = piped(16);
    let start = Instant::now();
    let read = async {
        loop {
            sleep(Duration::from_secs(59)).await;
            let _ = theirs.read_u8().await;
        }
    };
    let send = async {
        channel.send_bytes(&[7; 5000]).await?;
        channel.flush().await
    };
    let result: Result<(), NetError> = tokio::select! { result = send => result, () = read => unreachable!() };
    let error = result.expect_err("too slow");
    assert!(matches!(error, NetError::TooSlow { .. }), "{error}");
    assert!(error.to_string().contains("for the peer to read what we send"), "{error}");
    assert!(start.elapsed() <= 2 * TIMEOUT + Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_slowly_but_steadily_gets_everything() {
    let (mut channel, mut theirs) = piped(1000);
    let read = async {
        let mut got = 0;
        let mut room = [0; 500];
        loop {
            sleep(Duration::from_secs_f64(500.0 / (2 * RATE) as f64)).await;
            match theirs.read(&mut room).await.expect("in memory") {
                0 => return got,
                count => got += count,
            }
        }
    };
    let send = async {
        for _ in 0..10 {
            channel.send_bytes(&[7; 100_000]).await.expect("slow, but not too slow");
        }
        channel.flush().await.expect("slow, but not too slow");
        drop(channel);
    };
    let (got, ()) = tokio::join!(read, send);
    assert!(got > 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn data_of_all_lanes_is_one_step() {
    const LANES: usize = 10;
    let (mut channel, mut theirs) = piped(1 << 22);
    let data = frames(async |channel| {
        channel.send_bytes(&[1u8, 0, 0, 0].repeat(LANES)).await.expect("sent");
        channel.send_bytes(&[7; LANES]).await.expect("sent");
    })
    .await;
    let (lengths, parts) = data.split_at(data.len() - LANES);
    theirs.write_all(lengths).await.expect("in memory");
    let start = Instant::now();
    let hear = async |mut lane: Channel, _| lane.receive_bytes(&mut [0]).await.map(|()| (lane, ()));
    let result = tokio::select! {
        result = channel.multiplex(LANES, hear) => result,
        () = drip(&mut theirs, parts, 1, Duration::from_secs(59)) => panic!("it blocks forever"),
    };
    assert!(matches!(result, Err(NetError::TooSlow { .. })), "{result:?}");
    assert!(start.elapsed() <= 2 * TIMEOUT, "{:?}", start.elapsed());
}
