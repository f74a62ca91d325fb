//! The frames of a visit.
//!
//! ```text
//! to a server   1 | 1 | identity of the client 32 | length 4 | job | sealed submission
//! from it       1 | 2                              it works, or waits for others
//!               1 | 3 | sealed answer or refusal
//!               1 | 4 | reason 1                   a refusal where nothing can be sealed
//! ```
//!
//! The first byte is the version, the second the kind; the length is little-endian. The transport says where frames end.

use crate::answer::{ACCUSED_MAX, Reason, reason};
use crate::cursor::{Reader, Writer};
use crate::job::{Identity, JOB_BYTES_MAX};
use crate::malformed::Malformed;
use crate::seal::{MESSAGE_BYTES_MAX, SEAL_BYTES};

/// The version of the frames.
const VERSION: u8 = 1;

const SUBMIT: u8 = 1;
const WAITING: u8 = 2;
const SEALED: u8 = 3;
const REFUSED: u8 = 4;

/// Bytes of a submission's frame besides job and sealed submission.
const SUBMIT_BYTES: usize = 38;
/// The most bytes of a sealed message.
const SEALED_BYTES_MAX: usize = MESSAGE_BYTES_MAX + SEAL_BYTES;
/// The most bytes of a client's frame. A server that knows its jobs needs less.
pub const SUBMIT_BYTES_MAX: usize = SUBMIT_BYTES + JOB_BYTES_MAX + SEALED_BYTES_MAX;

/// The one frame of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submit {
    /// The job as bytes, which [`Job::decode`](crate::Job::decode) reads.
    pub job: Vec<u8>,
    /// The identity of the client, by which the server finds its secret. Not authenticated until the submission opens.
    pub client: Identity,
    /// The sealed submission.
    pub sealed: Vec<u8>,
}

/// A frame of a server: any number of [`FromServer::Waiting`], then one of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromServer {
    /// It works, or waits for others. This means nothing else, and anybody in between can send it.
    Waiting,
    /// A sealed answer or refusal.
    Sealed(Vec<u8>),
    /// A refusal where nothing can be sealed, since the server does not know the client, or its message does not open. It proves
    /// nothing: anybody in between can send it.
    Refused(Reason),
}

impl Submit {
    /// The bytes of the frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::with_capacity(SUBMIT_BYTES + self.job.len() + self.sealed.len());
        to.u8(VERSION).u8(SUBMIT).bytes(&self.client.0).u32(self.job.len() as u32);
        to.bytes(&self.job).bytes(&self.sealed);
        to.finish().to_vec()
    }

    /// Reads a frame, but not its content.
    ///
    /// *Errors*: anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new("frame of a client", bytes);
        from.constant("version", VERSION)?;
        from.constant("kind", SUBMIT)?;
        let client = from.array("client").map(Identity)?;
        let len = from.u32("length of the job")? as usize;
        if len > JOB_BYTES_MAX {
            return Err(from.fault("length of the job", 4, format!("at most {JOB_BYTES_MAX}"), len.to_string()));
        }
        let job = from.bytes("job", len)?.to_vec();
        Ok(Submit { job, client, sealed: sealed(&mut from)? })
    }
}

impl FromServer {
    /// The bytes of the frame.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, rest): (u8, &[u8]) = match self {
            FromServer::Waiting => (WAITING, &[]),
            FromServer::Sealed(sealed) => (SEALED, sealed),
            FromServer::Refused(reason) => (REFUSED, &[reason.code()]),
        };
        [&[VERSION, kind], rest].concat()
    }

    /// Reads a frame, but does not open what is sealed.
    ///
    /// *Errors*: anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new("frame of a server", bytes);
        from.constant("version", VERSION)?;
        let frame = match from.u8("kind")? {
            WAITING => FromServer::Waiting,
            SEALED => FromServer::Sealed(sealed(&mut from)?),
            REFUSED => FromServer::Refused(reason(&mut from)?),
            other => return Err(from.fault("kind", 1, "2, 3 or 4", other.to_string())),
        };
        from.end()?;
        Ok(frame)
    }

    /// The most bytes of a frame to a client with this many output bits.
    pub fn bytes_max(outputs: usize) -> usize {
        let (answer, refusal) = (73 + outputs.div_ceil(8), 75 + 2 * ACCUSED_MAX);
        2 + SEAL_BYTES + answer.max(refusal)
    }
}

/// A sealed message up to the end of a frame.
fn sealed(from: &mut Reader<'_>) -> Result<Vec<u8>, Malformed> {
    match from.rest() {
        sealed if (SEAL_BYTES..=SEALED_BYTES_MAX).contains(&sealed.len()) => Ok(sealed.to_vec()),
        sealed => {
            let expected = format!("{SEAL_BYTES} to {SEALED_BYTES_MAX} bytes");
            Err(from.fault("sealed message", sealed.len(), expected, sealed.len().to_string()))
        }
    }
}
