//! Dealing: the input of a client in two shares, each with a hash that the other server holds.
//!
//! ```text
//! share_G (n), pad_G (m), mask_G (h) = Prg(s_G)      pad_C (m), mask_C (h) = Prg(s_C)      share_C = x + share_G
//! z_S = share_S | pad_S      v_S = T(mu_S) z_S + mask_S      d_S = H(run, S, mu_S)
//! to G: job 32 | counter 8 | s_G 16 | d_G 32 | mu_C 16 | v_C h/8
//! to C: job 32 | counter 8 | s_C 16 | d_C 32 | mu_G 16 | v_G h/8 | share_C ceil(n/8)
//! ```
//!
//! Each part of a stream of `Prg` begins with a byte; the spare bits of the part before are not used. Spare bits in messages
//! are zero. The counter is little-endian.

use garblet_circuit::{Bits, Party};
use garblet_primitives::{Block, Prg, UniversalHash};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::cursor::{Writer, cut, sum};
use crate::job::{Job, JobError, Shape};
use crate::open::Pending;
use crate::place::{Place, Server};

/// Separates commitments to challenges from all other uses of BLAKE3.
const CHALLENGE_CONTEXT: &str = "garblet 2026 outsourced challenge v1";

/// The message to a server. *Secret*: before it is sealed; wiped on drop.
pub struct ToServer {
    place: Place,
    payload: Zeroizing<Vec<u8>>,
}

impl ToServer {
    /// The place of the message.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The bytes, to be sealed for the server.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }
}

/// The bits that a server holds for a client's input and output. *Secret*: wiped on drop, without `Debug`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Dealt {
    /// The share of the input.
    pub share: Bits,
    /// The pad of the output.
    pub pad: Bits,
    /// The bits that hide the hash.
    pub mask: Bits,
}

impl Dealt {
    /// Expands a seed into bits; into the share too, unless that comes separately.
    pub(crate) fn expand(seed: Block, shape: Shape, share: Option<&Bits>) -> Self {
        let mut stream = Prg::new(seed);
        let mut next = |len: usize| {
            let mut bytes = Zeroizing::new(vec![0; len.div_ceil(8)]);
            stream.fill_bytes(&mut bytes);
            cut(&bytes, len)
        };
        let share = share.cloned().unwrap_or_else(|| next(shape.inputs));
        Dealt { share, pad: next(shape.outputs), mask: next(shape.hash) }
    }

    /// The hash of share and pad under a challenge, with the mask.
    pub(crate) fn hash(&self, challenge: Block) -> Bits {
        let columns = self.share.len() + self.pad.len();
        let mut input = Bits::with_capacity(columns + self.mask.len());
        [&self.share, &self.pad, &self.mask].into_iter().for_each(|part| input.append(part));
        let packed = Zeroizing::new(input.to_bytes());
        cut(&UniversalHash::new(self.mask.len(), columns, challenge).of(&packed), self.mask.len())
    }
}

/// The commitment to the challenge for a server's bits, in a run ([`Place::run`]).
pub(crate) fn commitment(run: &[u8; 32], server: Server, challenge: Block) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key(CHALLENGE_CONTEXT);
    hash.update(run).update(&[server.byte()]).update(&challenge.to_bytes());
    let commitment = hash.finalize().into();
    hash.zeroize();
    commitment
}

/// Deals a client's input to both servers: the message to the generator, the message to the cloud, and the secret that opens their answers.
///
/// *Source*: section 2 of the design of outsourced runs. *Shape*: `inputs` are the bits of all input ports of the client
/// ([`Job::join_inputs`]). *Unique*: the counter is higher than any that this client has used, including in runs that failed.
/// *Errors*: [`JobError::NoSuchClient`], [`JobError::Values`].
pub fn deal(
    job: &Job,
    client: Party,
    counter: u64,
    inputs: &Bits,
    random: &mut (impl CryptoRng + ?Sized),
) -> Result<(ToServer, ToServer, Pending), JobError> {
    let shape = job.shape(client)?;
    if inputs.len() != shape.inputs {
        let what = format!("input bits of client {client}");
        return Err(JobError::Values { what, expected: shape.inputs, got: inputs.len() });
    }
    let secrets = Zeroizing::new([(); 4].map(|()| Block::random(random)));
    let [seed_g, seed_c, challenge_g, challenge_c] = *secrets;
    let of_g = Dealt::expand(seed_g, shape, None);
    let of_c = Dealt::expand(seed_c, shape, Some(&sum(inputs, &of_g.share)));
    let place = |server| Place { job: *job.digest(), server, client, counter };
    let message = |server, seed: Block, own: Block, other: Block, hash: Bits, share: &Bits| {
        let mut to = Writer::with_capacity(104 + shape.hash / 8 + share.len().div_ceil(8));
        to.bytes(job.digest()).u64(counter).bytes(&*Zeroizing::new(seed.to_bytes()));
        to.bytes(&commitment(&place(server).run(), server, own)).bytes(&other.to_bytes()).bits(&hash).bits(share);
        ToServer { place: place(server), payload: to.finish() }
    };
    let none = Bits::default();
    let to_g = message(Server::Generator, seed_g, challenge_g, challenge_c, of_c.hash(challenge_c), &none);
    let to_c = message(Server::Cloud, seed_c, challenge_c, challenge_g, of_g.hash(challenge_g), &of_c.share);
    let pending = Pending::new(job, place(Server::Generator), sum(&of_g.pad, &of_c.pad));
    Ok((to_g, to_c, pending))
}

#[cfg(test)]
mod tests;
