//! Channels for tests, with a recorder between the ends that can inject one fault.
//!
//! A protocol's fault test takes the transcript of an honest run, and runs the protocol again for each of
//! [`every_fault`] of it: every kind of fault at every frame in both directions. Each run has to end, on both sides,
//! within the time-outs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex, split};

use crate::channel::Channel;
use crate::frame::{HEADER_BYTES, Header};
use crate::mesh::Mesh;

/// Bytes in flight between each party and the recorder.
const PIPE_BYTES: usize = 1 << 18;

/// The direction of a frame, between the two channels of [`intercepted_pair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first channel to the second.
    Forth,
    /// From the second channel to the first.
    Back,
}

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A control message of this kind.
    Message(u8),
    /// Bulk data.
    Bulk,
    /// The sender gave up.
    Abort,
    /// The sender ended.
    Close,
}

/// A frame that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The direction of the frame.
    pub direction: Direction,
    /// The kind of its content.
    pub kind: FrameKind,
    /// The bytes of the message, or of this piece of the bulk stream.
    pub payload: Vec<u8>,
}

/// A single fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The direction of the frame.
    pub direction: Direction,
    /// The number of the frame in that direction, from 0.
    pub frame: usize,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// A kind of fault of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The connection ends, in both directions, before it.
    Cut,
    /// The connection ends in the middle of it.
    Truncate,
    /// Neither it nor anything after it arrives, but the connection stays open.
    Stall,
    /// This bit of it (header and payload, modulo its length) is flipped.
    Flip(usize),
    /// Its header announces the largest possible number of bytes.
    Oversize,
    /// Endless random bytes replace it.
    Garbage,
    /// It is repeated endlessly.
    Repeat,
}

/// The recorded frames, in order within each direction.
#[derive(Clone, Default)]
pub struct Transcript(Arc<Mutex<Vec<Frame>>>);

impl Transcript {
    /// The frames so far, as they were sent.
    pub fn frames(&self) -> Vec<Frame> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push(&self, frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(frame);
    }
}

/// Every kind of fault at every frame of a transcript, with two flips per frame: one in its header, one in its
/// payload.
pub fn every_fault(transcript: &[Frame]) -> Vec<Fault> {
    use FaultKind::{Cut, Flip, Garbage, Oversize, Repeat, Stall, Truncate};
    let mut counts = [0, 0];
    let mut faults = Vec::new();
    for Frame { direction, payload, .. } in transcript {
        let count = &mut counts[*direction as usize];
        // A different bit in each frame, in the middle of the payload.
        let (header, middle) = (*count * 5 % (HEADER_BYTES * 8), (HEADER_BYTES + payload.len() / 2) * 8 + *count % 8);
        let kinds = [Cut, Truncate, Stall, Flip(header), Flip(middle), Oversize, Garbage, Repeat];
        faults.extend(kinds.map(|kind| Fault { direction: *direction, frame: *count, kind }));
        *count += 1;
    }
    faults
}

/// A flip of the lowest bit of byte `at` of all bulk data in a direction; `None` if there is no such byte.
pub fn flip_of_bulk(transcript: &[Frame], direction: Direction, at: usize) -> Option<Fault> {
    let mut before = 0;
    let frames = transcript.iter().filter(|frame| frame.direction == direction).enumerate();
    for (frame, Frame { payload, .. }) in frames.filter(|(_, frame)| frame.kind == FrameKind::Bulk) {
        if at - before < payload.len() {
            let kind = FaultKind::Flip((HEADER_BYTES + at - before) * 8);
            return Some(Fault { direction, frame, kind });
        }
        before += payload.len();
    }
    None
}

/// Flips of the highest bit of the byte that `before_end` others follow, in every frame of bulk data in a direction that is long enough.
pub fn flips_before_ends(transcript: &[Frame], direction: Direction, before_end: usize) -> Vec<Fault> {
    let frames = transcript.iter().filter(|frame| frame.direction == direction).enumerate();
    let long = frames.filter(|(_, frame)| frame.kind == FrameKind::Bulk && frame.payload.len() > before_end);
    let flip = |(frame, Frame { payload, .. }): (usize, &Frame)| {
        let kind = FaultKind::Flip((HEADER_BYTES + payload.len() - before_end) * 8 - 1);
        Fault { direction, frame, kind }
    };
    long.map(flip).collect()
}

/// Two connected channels with a recorder between them, and optionally a fault. Call it inside a runtime.
pub fn intercepted_pair(fault: Option<Fault>) -> (Channel, Channel, Transcript) {
    let (left, left_middle) = duplex(PIPE_BYTES);
    let (right, right_middle) = duplex(PIPE_BYTES);
    let transcript = Transcript::default();
    let (left_reader, left_writer) = split(left_middle);
    let (right_reader, right_writer) = split(right_middle);
    let between = |direction, reader, writer| Between {
        direction,
        reader,
        writer,
        transcript: transcript.clone(),
        fault: fault.filter(|fault| fault.direction == direction),
    };
    let forth = between(Direction::Forth, left_reader, right_writer);
    let back = between(Direction::Back, right_reader, left_writer);
    // The first error, including a cut, ends both directions.
    tokio::spawn(async move { tokio::try_join!(forth.run(), back.run()) });
    let channel = |(reader, writer)| Channel::new(reader, writer);
    (channel(split(left)), channel(split(right)), transcript)
}

/// One fault in a mesh: between the lower and the higher of two parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairFault {
    /// The lower party; forth is from it.
    pub low: u16,
    /// The higher party.
    pub high: u16,
    /// The fault between them.
    pub fault: Fault,
}

/// The transcript between two parties of a mesh, the lower one first.
pub type PairTranscript = ((u16, u16), Transcript);

/// The meshes of `count` parties with a recorder in every pair, and optionally a fault in one. The transcripts belong to
/// the pairs (0, 1), (0, 2), (1, 2), (0, 3) and so on. Call it inside a runtime.
pub fn intercepted_mesh(count: u16, fault: Option<PairFault>) -> (Vec<Mesh>, Vec<PairTranscript>) {
    let mut transcripts = Vec::new();
    let meshes = Mesh::of_pairs(count, |low, high| {
        let here = fault.filter(|fault| (fault.low, fault.high) == (low, high));
        let (one, two, transcript) = intercepted_pair(here.map(|here| here.fault));
        transcripts.push(((low, high), transcript));
        (one, two)
    });
    (meshes, transcripts)
}

/// The recorder for one direction.
struct Between<R, W> {
    direction: Direction,
    reader: R,
    writer: W,
    transcript: Transcript,
    fault: Option<Fault>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Between<R, W> {
    /// Passes frames on until the sender ends.
    async fn run(mut self) -> io::Result<()> {
        for index in 0.. {
            let mut raw = [0; HEADER_BYTES];
            if self.reader.read(&mut raw[..1]).await? == 0 {
                break;
            }
            self.reader.read_exact(&mut raw[1..]).await?;
            let (kind, bytes) = match Header::decode(raw).map_err(io::Error::other)? {
                Header::Control { kind, bytes } => (FrameKind::Message(kind), bytes),
                Header::Bulk { bytes } => (FrameKind::Bulk, bytes),
                Header::Abort { bytes } => (FrameKind::Abort, bytes),
                Header::Close => (FrameKind::Close, 0),
            };
            let mut payload = vec![0; bytes as usize];
            self.reader.read_exact(&mut payload).await?;
            let wire = [&raw[..], &payload].concat();
            self.transcript.push(Frame { direction: self.direction, kind, payload });
            match self.fault.filter(|fault| fault.frame == index) {
                Some(fault) => self.spoil(fault.kind, wire).await?,
                None => self.writer.write_all(&wire).await?,
            }
        }
        self.writer.shutdown().await
    }

    /// Passes a frame on with a fault.
    async fn spoil(&mut self, fault: FaultKind, mut wire: Vec<u8>) -> io::Result<()> {
        match fault {
            FaultKind::Cut => Err(io::ErrorKind::ConnectionReset.into()),
            FaultKind::Truncate => {
                self.writer.write_all(&wire[..wire.len() / 2]).await?;
                Err(io::ErrorKind::ConnectionReset.into())
            }
            FaultKind::Stall => std::future::pending().await,
            FaultKind::Flip(bit) => {
                let bit = bit % (wire.len() * 8);
                wire[bit / 8] ^= 1 << (bit % 8);
                self.writer.write_all(&wire).await
            }
            FaultKind::Oversize => {
                wire[HEADER_BYTES - 4..HEADER_BYTES].fill(0xFF);
                self.writer.write_all(&wire).await
            }
            FaultKind::Garbage => {
                let mut garbage = blake3::Hasher::new().finalize_xof();
                let mut bytes = [0; 4096];
                loop {
                    garbage.fill(&mut bytes);
                    self.writer.write_all(&bytes).await?;
                }
            }
            FaultKind::Repeat => loop {
                self.writer.write_all(&wire).await?;
            },
        }
    }
}
