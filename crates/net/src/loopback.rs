//! What one thread alone can move over loopback TCP: the bound that a channel's rate is measured against.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

/// Bytes per second that one thread sends to another over loopback TCP in writes of `chunk` bytes, with nothing else to
/// do: blocking sockets, no framing, one buffer that stays in cache.
///
/// At least `bytes` are sent. The time is the receiver's, from before the first byte to after the last.
pub fn loopback_rate(bytes: u64, chunk: usize) -> io::Result<f64> {
    let chunk = chunk.max(1);
    let count = bytes.div_ceil(chunk as u64).max(1);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let sender = thread::spawn(move || send(TcpStream::connect(address)?, count, chunk));
    let (stream, _) = listener.accept()?;
    let rate = receive(stream, count, chunk);
    let sent = sender.join().map_err(|_| io::Error::other("the sending thread panicked"))?;
    sent.and(rate)
}

fn send(mut stream: TcpStream, count: u64, chunk: usize) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let buffer = vec![0x5A; chunk];
    (0..count).try_for_each(|_| stream.write_all(&buffer))
}

fn receive(mut stream: TcpStream, count: u64, chunk: usize) -> io::Result<f64> {
    let mut buffer = vec![0; chunk];
    let start = Instant::now();
    (0..count).try_for_each(|_| stream.read_exact(&mut buffer))?;
    Ok(count as f64 * chunk as f64 / start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_measured() {
        for (bytes, chunk) in [(1 << 22, 1 << 16), (1, 1 << 16), (1000, 7), (0, 0)] {
            let rate = loopback_rate(bytes, chunk).expect("loopback works");
            assert!(rate.is_finite() && rate > 0.0, "{rate}");
        }
    }
}
