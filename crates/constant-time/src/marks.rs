//! Generators with secret output, secret inputs, and channels that make everything public that they send.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
};

use garblet::{Bits, Program};
use garblet_net::Channel;
use garblet_primitives::{Backend, Block, Prg, secrets};
use rand_core::{Rng, TryCryptoRng, TryRng};
use tokio::io::{AsyncWrite, DuplexStream, WriteHalf};

/// A generator whose output is all secret.
pub(crate) struct SecretRng(Prg);

impl SecretRng {
    /// A generator whose output differs from that of all others.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        SecretRng(Prg::new(Block::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into())))
    }

    /// `count` secret blocks.
    pub(crate) fn blocks(&mut self, count: usize) -> Vec<Block> {
        let mut blocks: Vec<Block> = (0..count).map(|_| self.0.next_block()).collect();
        secrets::secret(&mut blocks);
        blocks
    }

    /// `count` secret bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.fill_bytes(&mut bytes);
        bytes
    }

    /// `count` secret bits.
    pub(crate) fn bits(&mut self, count: usize) -> Bits {
        Bits::from_bytes(&self.bytes(count.div_ceil(8))).slice(0, count)
    }
}

impl TryRng for SecretRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut word = [self.0.next_u32()];
        secrets::secret(&mut word);
        Ok(word[0])
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut word = [self.0.next_u64()];
        secrets::secret(&mut word);
        Ok(word[0])
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        secrets::secret(bytes);
        Ok(())
    }
}

impl TryCryptoRng for SecretRng {}

/// Secret inputs of all parties of a program.
pub(crate) fn inputs(program: &Program) -> Vec<Bits> {
    let mut rng = SecretRng::new();
    program.inputs().iter().map(|input| rng.bits(input.port.width() as usize)).collect()
}

/// A writer that sends bytes: they become public when they are written.
struct Leaving(WriteHalf<DuplexStream>);

impl AsyncWrite for Leaving {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        secrets::leaves(bytes);
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// The two ends of a channel in memory.
pub(crate) fn channels() -> (Channel, Channel) {
    let (left, right) = tokio::io::duplex(1 << 20);
    let [left, right] = [left, right].map(|end| {
        let (reader, writer) = tokio::io::split(end);
        Channel::new(reader, Leaving(writer))
    });
    (left, right)
}

/// Runs a future to its end on one thread.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime without threads needs nothing that could be missing").block_on(work)
}

/// Runs without vector instructions.
pub(crate) fn portably(run: impl FnOnce()) {
    Backend::PORTABLE.select();
    run();
    Backend::fastest().select();
}

/// Tells whether a byte is odd, in a way that the compiler cannot see through.
#[inline(never)]
pub(crate) fn is_odd(byte: u8) -> bool {
    byte & 1 == 1
}
