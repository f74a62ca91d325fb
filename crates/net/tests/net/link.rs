//! The timing of a simulated link.

use std::ops::Range;
use std::time::{Duration, Instant};

use garblet_net::{Channel, Hello, Listener, NetError, Options, SimulatedLink, connect, relay};
use tokio::sync::Mutex;

/// Serialises the timing tests.
static QUIET: Mutex<()> = Mutex::const_new(());

/// Says hello as this party, so that it does not count as a stranger.
async fn greeted(channel: impl Future<Output = Result<Channel, NetError>>, party: u16) -> Result<Channel, NetError> {
    let mut channel = channel.await?;
    Hello::new("test", party, 2, [0; 32]).exchange(&mut channel).await?;
    Ok(channel)
}

/// Two channels over loopback TCP, each with the link.
async fn tcp_pair(link: SimulatedLink) -> (Channel, Channel) {
    let options = Options { link, ..Options::default() };
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address().to_string();
    tokio::try_join!(greeted(listener.accept(&options), 0), greeted(connect(&address, &options), 1)).expect("connects")
}

async fn ping(left: &mut Channel, right: &mut Channel) -> Duration {
    let start = Instant::now();
    let there = async {
        left.send_bytes(&[1; 8]).await?;
        left.receive_bytes(&mut [0; 8]).await
    };
    let back = async {
        right.receive_bytes(&mut [0; 8]).await?;
        right.send_bytes(&[2; 8]).await?;
        right.flush().await
    };
    tokio::try_join!(there, back).expect("an honest conversation");
    start.elapsed()
}

async fn transfer(left: &mut Channel, right: &mut Channel, bytes: usize) -> Duration {
    let data = vec![5; 100_000];
    let mut got = vec![0; 100_000];
    let start = Instant::now();
    let send = async {
        for _ in 0..bytes / data.len() {
            left.send_bytes(&data).await?;
        }
        left.flush().await
    };
    let receive = async {
        for _ in 0..bytes / data.len() {
            right.receive_bytes(&mut got).await?;
        }
        Ok::<_, NetError>(())
    };
    tokio::try_join!(send, receive).expect("an honest conversation");
    start.elapsed()
}

/// Checks that an attempt's time is within a range in milliseconds. The link may never be early; it may be late when the
/// machine is busy, but not thirty times.
async fn assert_takes(range: Range<f64>, mut attempt: impl AsyncFnMut() -> Duration) {
    let mut times = Vec::new();
    for _ in 0..30 {
        let millis = attempt().await.as_secs_f64() * 1e3;
        assert!(millis >= range.start, "{millis} ms is early, expected {range:?}");
        times.push(millis);
        if range.contains(&millis) {
            return;
        }
    }
    panic!("late: {times:?} ms, expected {range:?}");
}

#[tokio::test]
async fn a_ping_takes_two_latencies() {
    let _quiet = QUIET.lock().await;
    let (mut left, mut right) = tcp_pair("33ms,50mbit".parse().expect("a link")).await;
    assert_takes(66.0..68.0, async || ping(&mut left, &mut right).await).await;
}

#[tokio::test]
async fn a_transfer_takes_its_bytes_at_the_rate() {
    let _quiet = QUIET.lock().await;
    let (mut left, mut right) = tcp_pair("33ms,50mbit".parse().expect("a link")).await;
    let expected = 1633.0;
    assert_takes(0.98 * expected..1.02 * expected, async || transfer(&mut left, &mut right, 10_000_000).await).await;
}

#[tokio::test]
async fn fast_links_are_fast() {
    let _quiet = QUIET.lock().await;
    let (mut left, mut right) = tcp_pair("0ms,1gbit".parse().expect("a link")).await;
    assert_takes(79.9..90.0, async || transfer(&mut left, &mut right, 10_000_000).await).await;
}

#[tokio::test]
async fn a_relay_delays_both_directions_and_passes_ends_on() {
    let _quiet = QUIET.lock().await;
    let target = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let (from, to) = (listener.address().to_string(), target.address().to_string());
    let link = "10ms,100mbit".parse().expect("a link");
    let test = async {
        let options = Options::default();
        let pair = async || tokio::try_join!(greeted(connect(&from, &options), 0), greeted(target.accept(&options), 1));
        for _ in 0..2 {
            let (mut left, mut right) = pair().await?;
            assert_takes(20.0..22.0, async || ping(&mut left, &mut right).await).await;
            assert_takes(89.9..100.0, async || transfer(&mut right, &mut left, 1_000_000).await).await;
            tokio::try_join!(left.close(), right.close())?;
        }
        // A disappearing peer is noticed through the relay.
        let (left, mut right) = pair().await?;
        drop(left);
        let error = right.receive_bytes(&mut [0]).await.expect_err("gone");
        assert!(matches!(error, NetError::PeerClosed { .. }), "{error}");
        Ok::<_, NetError>(())
    };
    tokio::select! {
        ended = relay(&listener, &to, link) => panic!("the relay ended: {ended:?}"),
        result = test => result.expect("an honest conversation"),
    }
}
