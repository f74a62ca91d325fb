//! The online phase once all public values of inputs are known.
//!
//! | message | content |
//! |---|---|
//! | garbler to evaluator | active labels of all inputs |
//! | party to recipient | its shares of the masks of what the recipient learns, with shares of zero; the evaluator adds the public values |
//!
//! So the evaluator's message comes last, and a recipient adds up what it has. Shares of zero hide all but the sum: see [`zeros`](super::super::zeros).

use garblet_circuit::Bits;
use garblet_ot::BitVec;
use garblet_primitives::{Backend, Block};

use super::evaluate;
use crate::{
    evaluate::public_values,
    pairs::bits_of_peer,
    party::{Prepared, decoding_share, disagreement, inversions},
    plan::Plan,
};
use garblet_circuit::Party;
use garblet_protocol::{MeshSession, error::ProtocolError};

/// The bits that this party learns, from the public values of all inputs, in the order of [`Plan::outputs_of`].
///
/// *Errors*: [`ProtocolError::Material`] if the garblers' labels do not agree about an output.
pub(crate) async fn finish(
    session: &mut MeshSession,
    plan: &Plan,
    prepared: &Prepared,
    public: &[bool],
) -> Result<Bits, ProtocolError> {
    let (party, outputs) = (prepared.secrets.party, plan.output_bits(prepared.secrets.party));
    let carried = prepared.secrets.carried_bits(plan, |_, _| ());
    let share = |recipient| decoding_share(plan, &carried, &prepared.zeros, recipient);
    let mesh = session.mesh();
    if party == plan.evaluator() {
        return evaluator(session, plan, prepared, public, share).await;
    }
    let mut outgoing = mesh.per_peer(|_| Vec::new());
    for (peer, message) in outgoing.iter_mut().filter(|(peer, _)| plan.evaluates(Party(*peer))) {
        if Party(peer) == plan.evaluator() {
            let labels = public.iter().enumerate().map(|(at, value)| prepared.secrets.label(at, *value));
            message.extend(labels.flat_map(Block::to_bytes));
        }
        message.extend_from_slice(share(Party(peer))?.as_bytes());
    }
    let mut incoming = mesh.per_peer(|_| vec![0; outputs.div_ceil(8)]);
    mesh.exchange(&outgoing, &mut incoming).await?;
    let mut values = inversions(plan, party).xor(&share(party)?)?;
    for (peer, bytes) in incoming {
        values = values.xor(&bits_of_peer(peer, bytes, outputs)?)?;
    }
    Ok(Bits::from_bytes(values.as_bytes()).slice(0, outputs))
}

/// The part of the evaluator.
async fn evaluator(
    session: &mut MeshSession,
    plan: &Plan,
    prepared: &Prepared,
    public: &[bool],
    share: impl Fn(Party) -> Result<BitVec, ProtocolError>,
) -> Result<Bits, ProtocolError> {
    let (party, slots) = (prepared.secrets.party, plan.slots());
    if !plan.evaluates(party) {
        // Nobody learns a bit.
        return Ok(Bits::default());
    }
    let (label_bytes, outputs) = (16 * public.len(), plan.output_bits(party));
    let mesh = session.mesh();
    let mut incoming = mesh.per_peer(|_| vec![0; label_bytes + outputs.div_ceil(8)]);
    mesh.exchange(&mesh.per_peer(|_| []), &mut incoming).await?;
    let mut labels = vec![Block::ZERO; slots * public.len()];
    let mut decoding = inversions(plan, party).xor(&share(party)?)?;
    for (peer, bytes) in incoming {
        let (theirs, share) = bytes.split_at(label_bytes);
        let places = labels.iter_mut().skip(plan.slot(Party(peer)).unwrap_or_default()).step_by(slots);
        places.zip(theirs.as_chunks().0).for_each(|(to, label)| *to = Block::from_bytes(*label));
        decoding = decoding.xor(&bits_of_peer(peer, share.to_vec(), outputs)?)?;
    }
    let wires = evaluate(plan, &labels, &prepared.circuit, Backend::detect());
    let values = |recipient| -> Result<BitVec, ProtocolError> {
        let values = public_values(plan, &wires, plan.outputs_of(recipient)).map_err(disagreement)?;
        Ok(values.0.into_iter().collect())
    };
    let mut outgoing = mesh.per_peer(|_| Vec::new());
    for (peer, message) in outgoing.iter_mut().filter(|(peer, _)| plan.evaluates(Party(*peer))) {
        *message = values(Party(peer))?.xor(&share(Party(peer))?)?.as_bytes().to_vec();
    }
    let decoding = decoding.xor(&values(party)?)?;
    mesh.exchange(&outgoing, &mut mesh.per_peer(|_| [])).await?;
    let gates = plan.and_count() as u64;
    session.advance(gates, gates);
    Ok(Bits::from_bytes(decoding.as_bytes()).slice(0, outputs))
}
