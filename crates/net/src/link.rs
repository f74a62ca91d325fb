//! Simulated links: a latency and a rate, in process, without privileges.
//!
//! A link delays the data that this side sends. If both sides are wrapped, each direction is simulated once. As on a real
//! wire, a byte leaves after those before it, at the link's rate, and arrives one latency later.
//!
//! The delay runs on its own thread, because a computing party does not run its asynchronous tasks, and
//! because their timers are only accurate to a millisecond.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::str::FromStr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Bytes that wait to leave, in addition to those in flight, like a socket's buffer.
const WAITING_BYTES: u64 = 256 << 10;

/// The most bytes in flight and waiting, which limits links that are both long and unlimited.
const QUEUE_BYTES_MAX: u64 = 64 << 20;

/// The most bytes that leave together; also at most a millisecond's worth, but always `PACKET_BYTES_MIN`.
const PACKET_BYTES_MAX: u64 = 64 << 10;
const PACKET_BYTES_MIN: u64 = 1500;

/// One-way latency and rate of each direction of a connection. Written `33ms,50mbit`.
///
/// Units of latency: `us`, `ms`, `s`; units of rate: `kbit`, `mbit`, `gbit` (powers of 1000, per second), or `inf` for
/// no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimulatedLink {
    /// Time from leaving to arriving.
    pub latency: Duration,
    /// Bits per second; `None` for unlimited.
    pub bits_per_second: Option<f64>,
}

/// The error for a text that is not a link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("link `{text}`: {what}, expected one-way latency and rate, for instance `33ms,50mbit` or `0ms,inf`")]
pub struct LinkError {
    text: String,
    what: String,
}

impl FromStr for SimulatedLink {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let error = |what: String| LinkError { text: text.into(), what };
        let (latency, rate) = text.split_once(',').ok_or_else(|| error("no comma".into()))?;
        let seconds = quantity(latency.trim(), &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0)])
            .map_err(|what| error(format!("latency `{}` {what}", latency.trim())))?;
        if seconds > 60.0 {
            return Err(error(format!("latency `{}` is over a minute", latency.trim())));
        }
        let bits_per_second = match rate.trim() {
            "inf" => None,
            rate => match quantity(rate, &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)]) {
                Ok(bits) if bits >= 1e3 => Some(bits),
                Ok(_) => return Err(error(format!("rate `{rate}` is under 1 kbit"))),
                Err(what) => return Err(error(format!("rate `{rate}` {what}"))),
            },
        };
        Ok(SimulatedLink { latency: Duration::from_secs_f64(seconds), bits_per_second })
    }
}

/// A number and its unit, in the base unit.
fn quantity(text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit.trim().to_ascii_lowercase()) else {
        return Err(format!("has no unit of {}", names.join(", ")));
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value * scale),
        _ => Err("has no number".into()),
    }
}

impl fmt::Display for SimulatedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms,", self.latency.as_secs_f64() * 1e3)?;
        match self.bits_per_second {
            None => write!(f, "inf"),
            Some(bits) => write!(f, "{}mbit", bits / 1e6),
        }
    }
}

impl SimulatedLink {
    /// Returns whether the link has no effect.
    pub(crate) fn is_free(&self) -> bool {
        self.latency.is_zero() && self.bits_per_second.is_none()
    }

    /// The writer behind the link.
    pub(crate) fn wrap<W: AsyncWrite + Send + Unpin + 'static>(self, writer: W) -> LinkWriter {
        let queue = Arc::new(Queue::default());
        let pump = queue.clone();
        let thread = thread::Builder::new().name("simulated link".into());
        if let Err(error) = thread.spawn(move || block_on(pump.deliver(self.latency, writer))) {
            queue.update(|state| {
                state.done = true;
                state.failed = Some(error.kind());
            });
        }
        LinkWriter { queue, link: self, line_free: Instant::now() }
    }

    fn seconds_per_byte(&self) -> f64 {
        self.bits_per_second.map_or(0.0, |bits| 8.0 / bits)
    }

    fn packet_bytes(&self) -> usize {
        let per_millisecond = self.bits_per_second.map_or(f64::INFINITY, |bits| bits / 8e3);
        (per_millisecond as u64).clamp(PACKET_BYTES_MIN, PACKET_BYTES_MAX) as usize
    }

    /// The number of bytes that may be in flight and waiting: the bandwidth-delay product and a buffer.
    fn queue_bytes(&self) -> usize {
        let in_flight = self.bits_per_second.map_or(f64::INFINITY, |bits| bits / 8.0 * self.latency.as_secs_f64());
        (in_flight as u64).saturating_add(WAITING_BYTES).min(QUEUE_BYTES_MAX) as usize
    }
}

/// Bytes that have left together and arrive together.
struct Packet {
    left: Instant,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct QueueState {
    packets: VecDeque<Packet>,
    /// Bytes in `packets` and in the packet being delivered.
    bytes: usize,
    /// The sender has ended.
    ended: bool,
    /// Everything is delivered and the stream is shut down, or it failed.
    done: bool,
    failed: Option<io::ErrorKind>,
    /// The sender, when it waits for room or for the end.
    waker: Option<Waker>,
}

/// The packets on their way, between the sender and the thread that delivers.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers every packet at its time, until the sender ends or the stream fails.
    async fn deliver<W: AsyncWrite + Unpin>(self: Arc<Self>, latency: Duration, mut writer: W) {
        let mut result = Ok(());
        while result.is_ok()
            && let Some(packet) = self.next()
        {
            sleep_until(packet.left + latency);
            result = match writer.write_all(&packet.bytes).await {
                Ok(()) => writer.flush().await,
                Err(error) => Err(error),
            };
            self.update(|state| state.bytes -= packet.bytes.len());
        }
        if result.is_ok() {
            result = writer.shutdown().await;
        }
        self.update(|state| {
            state.done = true;
            state.failed = result.err().map(|error| error.kind());
        });
    }

    /// The next packet, once there is one; `None` after the end.
    fn next(&self) -> Option<Packet> {
        let mut state = self.lock();
        loop {
            if let Some(packet) = state.packets.pop_front() {
                return Some(packet);
            }
            if state.ended {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn update(&self, change: impl FnOnce(&mut QueueState)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_one();
    }
}

/// The sending half of a connection over a simulated link.
///
/// Written data is delivered even if this is dropped, as on a wire; `shutdown` waits for that.
pub(crate) struct LinkWriter {
    queue: Arc<Queue>,
    link: SimulatedLink,
    /// The time at which the line will have sent all written data.
    line_free: Instant,
}

impl AsyncWrite for LinkWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let mut state = this.queue.lock();
        if state.done {
            return Poll::Ready(Err(state.failed.unwrap_or(io::ErrorKind::BrokenPipe).into()));
        }
        let room = this.link.queue_bytes().saturating_sub(state.bytes);
        if room == 0 {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let bytes = &bytes[..bytes.len().min(room)];
        this.line_free = this.line_free.max(Instant::now());
        for packet in bytes.chunks(this.link.packet_bytes()) {
            this.line_free += Duration::from_secs_f64(this.link.seconds_per_byte() * packet.len() as f64);
            state.packets.push_back(Packet { left: this.line_free, bytes: packet.to_vec() });
        }
        state.bytes += bytes.len();
        drop(state);
        this.queue.changed.notify_one();
        Poll::Ready(Ok(bytes.len()))
    }

    /// Does nothing: all written data is already on its way.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.queue.end();
        let mut state = self.queue.lock();
        if state.done {
            return Poll::Ready(state.failed.map_or(Ok(()), |kind| Err(kind.into())));
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for LinkWriter {
    fn drop(&mut self) {
        self.queue.end();
    }
}

fn sleep_until(moment: Instant) {
    let left = moment.saturating_duration_since(Instant::now());
    if !left.is_zero() {
        thread::sleep(left);
    }
}

/// Wakes a thread that waits in `block_on`.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread, outside any runtime.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, duplex};

    fn link(text: &str) -> SimulatedLink {
        text.parse().expect("a link")
    }

    #[test]
    fn links_are_read() {
        let home = SimulatedLink { latency: Duration::from_millis(33), bits_per_second: Some(50e6) };
        for text in ["33ms,50mbit", " 33 ms , 50 Mbit ", "0.033s,50000kbit", "33000us,0.05gbit"] {
            assert_eq!(link(text), home, "{text}");
        }
        assert!(link("0ms,inf").is_free());
        assert!(!link("1us,inf").is_free() && !link("0s,1gbit").is_free());
    }

    #[test]
    fn malformed_links_are_explained() {
        for (text, what) in [
            ("", "no comma"),
            ("33ms", "no comma"),
            ("33,50mbit", "latency `33` has no unit of us, ms, s"),
            ("33min,50mbit", "latency `33min` has no unit of us, ms, s"),
            ("-1ms,50mbit", "latency `-1ms` has no number"),
            ("ms,50mbit", "latency `ms` has no number"),
            ("2000s,1mbit", "latency `2000s` is over a minute"),
            ("33ms,50", "rate `50` has no unit of kbit, mbit, gbit"),
            ("33ms,50mb", "rate `50mb` has no unit of kbit, mbit, gbit"),
            ("33ms,0mbit", "rate `0mbit` is under 1 kbit"),
            ("33ms,", "rate `` has no unit of kbit, mbit, gbit"),
        ] {
            let error = text.parse::<SimulatedLink>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("link `{text}`: {what}, expected")), "{error}");
        }
        let endless = "9".repeat(400);
        let error = format!("1ms,{endless}gbit").parse::<SimulatedLink>().expect_err("no number").to_string();
        assert!(error.contains("gbit` has no number"), "{error}");
    }

    proptest! {
        #[test]
        fn links_print_as_they_are_read(micros in 0u32..60_000_000, kbit in prop::option::of(1u32..100_000_000)) {
            let bits_per_second = kbit.map(|kbit| f64::from(kbit) * 1e3);
            let ours = SimulatedLink { latency: Duration::from_micros(micros.into()), bits_per_second };
            let read = link(&ours.to_string());
            prop_assert!(read.latency.abs_diff(ours.latency) <= Duration::from_nanos(1));
            let (a, b) = (read.bits_per_second.unwrap_or(0.0), bits_per_second.unwrap_or(0.0));
            prop_assert!((a - b).abs() <= b * 1e-9);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12},?\\PC{0,12}") {
            let _ = text.parse::<SimulatedLink>();
        }
    }

    #[tokio::test]
    async fn a_full_link_makes_the_sender_wait_and_holds_a_bounded_amount() {
        let slow = link("50ms,1mbit");
        let (near, _far) = duplex(1 << 20);
        let mut writer = slow.wrap(near);
        let mut taken = 0;
        let flood = async {
            loop {
                taken += writer.write(&[0; 4096]).await?;
            }
        };
        let result: Result<Result<(), io::Error>, _> = tokio::time::timeout(Duration::from_millis(100), flood).await;
        assert!(result.is_err(), "the sender waits");
        // 12,500 bytes pass in a tenth of a second.
        assert!((slow.queue_bytes()..=slow.queue_bytes() + 13_000).contains(&taken), "{taken}");
    }

    #[tokio::test]
    async fn a_receiver_that_is_gone_fails_the_sender() {
        let (near, far) = duplex(1 << 20);
        let mut writer = link("1ms,inf").wrap(near);
        drop(far);
        writer.write_all(&[1]).await.expect("on its way");
        assert_eq!(writer.shutdown().await.expect_err("nobody reads it").kind(), io::ErrorKind::BrokenPipe);
        assert!(writer.write_all(&[1]).await.is_err());
    }

    #[tokio::test]
    async fn written_data_arrives_on_time_even_if_the_writer_is_dropped() {
        let (near, mut far) = duplex(1 << 20);
        let start = Instant::now();
        let mut writer = link("20ms,1mbit").wrap(near);
        writer.write_all(&[7; 2500]).await.expect("on its way");
        drop(writer);
        let mut got = Vec::new();
        far.read_to_end(&mut got).await.expect("arrives");
        assert_eq!(got, [7; 2500]);
        // 2,500 bytes take 20 ms to leave, and 20 ms to arrive.
        assert!(start.elapsed() >= Duration::from_millis(40));
    }
}
