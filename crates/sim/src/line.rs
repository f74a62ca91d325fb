//! Lines between parties in memory, which can be cut at a write, and the presence of a party, which can end at one.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use garblet_net::Channel;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, ReadHalf, WriteHalf, duplex, split};

/// Bytes in flight in each direction.
const PIPE_BYTES: usize = 1 << 18;

/// A party's presence in a meeting: from the moment it is gone, nothing of it leaves.
pub(crate) struct Presence {
    gone: AtomicBool,
    writes: AtomicU64,
    leaves_at: Option<u64>,
}

impl Presence {
    /// A party that is gone at this write to any line, if it does not end before.
    pub(crate) fn new(leaves_at: Option<u64>) -> Arc<Self> {
        Arc::new(Presence { gone: AtomicBool::new(false), writes: AtomicU64::new(0), leaves_at })
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// The writes to all lines so far.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Comes to a write; tells whether the party is still there.
    fn reaches_write(&self) -> bool {
        if self.leaves_at == Some(self.writes()) {
            self.end();
        }
        !self.is_gone()
    }
}

/// The cut of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The end of the line, 0 or 1, whose write is the last.
    pub(crate) end: usize,
    /// The number of that write, of which half arrives.
    pub(crate) write: u64,
    /// Set if everything in flight is lost, too.
    pub(crate) loses: bool,
}

/// A line that both of its ends share.
struct Wire {
    broken: AtomicBool,
    cut: Option<Cut>,
    writes: [AtomicU64; 2],
}

impl Wire {
    fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Tells whether an end no longer hears what is in flight.
    fn is_deaf(&self, end: usize) -> bool {
        self.is_broken() && self.cut.is_some_and(|cut| cut.loses || cut.end == end)
    }

    fn is_last(&self, end: usize) -> bool {
        self.cut.is_some_and(|cut| cut.end == end && cut.write == self.writes[end].load(Ordering::Relaxed))
    }
}

/// Two connected channels, for parties with these presences.
pub(crate) fn line(parties: [&Arc<Presence>; 2], cut: Option<Cut>) -> [Channel; 2] {
    let (left, right) = duplex(PIPE_BYTES);
    let wire = Arc::new(Wire { broken: AtomicBool::new(false), cut, writes: Default::default() });
    let channel = |(end, stream): (usize, DuplexStream)| {
        let (reader, writer) = split(stream);
        let receiving = Receiving { half: reader, wire: wire.clone(), end };
        Channel::new(receiving, Sending { half: writer, wire: wire.clone(), end, party: parties[end].clone() })
    };
    [(0, left), (1, right)].map(channel)
}

struct Sending {
    half: WriteHalf<DuplexStream>,
    wire: Arc<Wire>,
    end: usize,
    party: Arc<Presence>,
}

impl AsyncWrite for Sending {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.wire.is_broken() || !this.party.reaches_write() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if this.wire.is_last(this.end) {
            let _ = Pin::new(&mut this.half).poll_write(context, &bytes[..bytes.len() / 2]);
            this.wire.broken.store(true, Ordering::Relaxed);
            let _ = Pin::new(&mut this.half).poll_shutdown(context);
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let written = ready!(Pin::new(&mut this.half).poll_write(context, bytes));
        this.wire.writes[this.end].fetch_add(1, Ordering::Relaxed);
        this.party.writes.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.half).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.half).poll_shutdown(context)
    }
}

struct Receiving {
    half: ReadHalf<DuplexStream>,
    wire: Arc<Wire>,
    end: usize,
}

impl AsyncRead for Receiving {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.wire.is_deaf(self.end) {
            true => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            false => Pin::new(&mut self.half).poll_read(context, buffer),
        }
    }
}
