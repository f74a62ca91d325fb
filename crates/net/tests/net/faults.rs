//! Every fault at every frame of a conversation: both sides end in time, and the side that should notice does.

use std::time::{Duration, Instant};

use garblet_net::testing::{Direction, Fault, FaultKind, FrameKind, Transcript, every_fault, intercepted_pair};
use garblet_net::{Channel, Hello, Message, NetError};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

const TIMEOUT: Duration = Duration::from_millis(300);

/// Bits whose parity is even, so that a single flipped bit is malformed.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
struct Even(Vec<u8>);

impl Message for Even {
    const NAME: &'static str = "even";
    const KIND: u8 = 9;
    const MAX_BYTES: usize = 64;

    fn check(&self) -> Result<(), String> {
        match self.0.iter().map(|byte| byte.count_ones()).sum::<u32>() % 2 {
            0 => Ok(()),
            _ => Err("odd parity".into()),
        }
    }
}

/// A stream that replaces tables, which the receiver can check.
fn table() -> Vec<u8> {
    (0..200_000u32).map(|i| (i * 7 % 251) as u8).collect()
}

async fn left(channel: &mut Channel) -> Result<(), NetError> {
    Hello::new("test", 0, 2, [0; 32]).exchange(channel).await?;
    channel.send_bytes(&table()).await?;
    channel.send(&Even(vec![3; 20])).await?;
    channel.send_bytes(&[1; 100]).await?;
    let got: Even = channel.receive().await?;
    assert_eq!(got, Even(vec![5; 10]));
    channel.receive_bytes(&mut [0; 16]).await
}

/// The other side of `left`; returns whether the bulk data was correct.
async fn right(channel: &mut Channel) -> Result<bool, NetError> {
    Hello::new("test", 1, 2, [0; 32]).exchange(channel).await?;
    let mut tables = vec![0; 200_000];
    channel.receive_bytes(&mut tables).await?;
    let got: Even = channel.receive().await?;
    assert_eq!(got, Even(vec![3; 20]));
    let mut labels = [0; 100];
    channel.receive_bytes(&mut labels).await?;
    channel.send(&Even(vec![5; 10])).await?;
    channel.send_bytes(&[2; 16]).await?;
    Ok(tables == table() && labels == [1; 100])
}

/// Closes after success, aborts after failure.
async fn end<T>(channel: Channel, result: Result<T, NetError>) -> Result<T, NetError> {
    match result {
        Ok(value) => channel.close().await.map(|_| value),
        Err(error) => {
            channel.abort().await;
            Err(error)
        }
    }
}

async fn run(fault: Option<Fault>) -> (Result<(), NetError>, Result<bool, NetError>, Transcript) {
    let (mut one, mut two, transcript) = intercepted_pair(fault);
    one.set_timeout(TIMEOUT);
    two.set_timeout(TIMEOUT);
    let ours = async {
        let result = left(&mut one).await;
        end(one, result).await
    };
    let theirs = async {
        let result = right(&mut two).await;
        end(two, result).await
    };
    let (ours, theirs) = tokio::join!(ours, theirs);
    (ours, theirs, transcript)
}

#[tokio::test]
async fn an_honest_run_is_recorded() {
    let (ours, theirs, transcript) = run(None).await;
    assert!(ours.is_ok() && theirs.expect("honest"));
    let kinds = |direction| {
        let frames = transcript.frames().into_iter().filter(move |frame| frame.direction == direction);
        frames.map(|frame| (frame.kind, frame.payload.len())).collect::<Vec<_>>()
    };
    let hello = transcript.frames()[0].payload.len();
    let message = FrameKind::Message;
    let expected = [(message(0), hello), (FrameKind::Bulk, 200_000), (message(9), 21), (FrameKind::Bulk, 100)];
    assert_eq!(kinds(Direction::Forth), [&expected[..], &[(FrameKind::Close, 0)]].concat());
    let expected = [(message(0), hello), (message(9), 11), (FrameKind::Bulk, 16), (FrameKind::Close, 0)];
    assert_eq!(kinds(Direction::Back), expected);
}

/// Returns whether the receiver of a frame with this fault must end in an error. It cannot see a flip in bulk data or
/// a repeated close.
fn is_visible(fault: Fault, kind: FrameKind) -> bool {
    match fault.kind {
        FaultKind::Flip(bit) => kind != FrameKind::Bulk || bit < 48,
        FaultKind::Repeat => kind != FrameKind::Close,
        _ => true,
    }
}

#[tokio::test]
async fn every_fault_ends_both_sides_in_time() {
    let frames = run(None).await.2.frames();
    let mut runs = JoinSet::new();
    for fault in every_fault(&frames) {
        let frame = frames.iter().filter(|frame| frame.direction == fault.direction).nth(fault.frame);
        let kind = frame.expect("a frame of the transcript").kind;
        runs.spawn(async move {
            let start = Instant::now();
            let (ours, theirs, _) = run(Some(fault)).await;
            (fault, kind, ours, theirs, start.elapsed())
        });
    }
    let count = runs.len();
    assert_eq!(count, frames.len() * 8);
    for (fault, kind, ours, theirs, time) in runs.join_all().await {
        // A wait, at worst the other side's too, and the closings.
        assert!(time < 6 * TIMEOUT + Duration::from_secs(2), "{fault:?} took {time:?}");
        let receiver_failed = match fault.direction {
            Direction::Forth => !matches!(theirs, Ok(true)),
            Direction::Back => ours.is_err(),
        };
        if is_visible(fault, kind) {
            assert!(receiver_failed, "{fault:?} of {kind:?}: {ours:?}, {theirs:?}");
        }
    }
}

#[tokio::test]
async fn each_fault_causes_its_error() {
    let error_of = async |frame, kind| {
        let (_, theirs, _) = run(Some(Fault { direction: Direction::Forth, frame, kind })).await;
        theirs.expect_err("a fault").to_string()
    };
    for (frame, kind, text) in [
        (0, FaultKind::Cut, "the peer closed the connection while we waited for hello"),
        (1, FaultKind::Truncate, "the peer closed the connection while we waited for bulk data"),
        (2, FaultKind::Stall, "no byte moved for 0.3 s while we waited for even"),
        (2, FaultKind::Flip(8), "expected message `even` (kind 9), got a message of kind 8 with 21 bytes"),
        (2, FaultKind::Flip(100), "malformed message `even`: expected consistent fields, got odd parity"),
        (2, FaultKind::Oversize, "even too large: expected at most 64 bytes, got 4294967295"),
        (1, FaultKind::Oversize, "malformed frame header"),
        (0, FaultKind::Garbage, "malformed frame header"),
        (0, FaultKind::Repeat, "expected 200000 more bytes of bulk data, got a message of kind 0"),
        (1, FaultKind::Repeat, "expected message `even` (kind 9), got bulk data (200000 bytes or more)"),
    ] {
        let error = error_of(frame, kind).await;
        assert!(error.contains(text), "{kind:?} of frame {frame}: {error}");
    }
}
