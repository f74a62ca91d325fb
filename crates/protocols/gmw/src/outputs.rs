//! Step 6: outputs, only for their recipients.

use garblet_circuit::{Bits, Party};

use super::bits::Packed;
use super::plan::Plan;
use garblet_protocol::error::ProtocolError;
use garblet_protocol::party_io;
use garblet_protocol::run_id::RunExchanges;
use garblet_protocol::session::MeshSession;

/// Sends each recipient this party's shares of what it learns, and adds up the shares of what this party learns.
///
/// *Shape*: `shares` of all outputs, joined in program order. Returns one entry per program output.
pub(super) async fn reveal(
    session: &mut MeshSession,
    exchanges: &mut RunExchanges,
    plan: &Plan,
    shares: &Packed,
) -> Result<Vec<Option<Bits>>, ProtocolError> {
    let own = Party(session.mesh().party());
    let outgoing = session.mesh().per_peer(|peer| learned(plan, Party(peer), shares));
    let mut sum = learned(plan, own, shares);
    let mut incoming = session.mesh().per_peer(|_| vec![0; sum.as_bytes().len()]);
    exchanges.exchange(session.mesh(), &outgoing, &mut incoming).await?;
    let len = sum.len();
    for (peer, bytes) in incoming.iter() {
        sum.add(&Packed::received(peer, bytes, len)?);
    }
    let sum: Bits = (0..len).map(|at| sum.get(at)).collect();
    Ok(party_io::deal_outputs(plan.program(), own, &mut sum.iter()))
}

/// The shares of what `party` learns.
fn learned(plan: &Plan, party: Party, shares: &Packed) -> Packed {
    let mut at = 0;
    let mut places = Vec::with_capacity(plan.output_bits(party));
    for output in plan.program().outputs() {
        let width = output.port.width() as usize;
        if output.recipients.contains(party) {
            places.extend(at..at + width);
        }
        at += width;
    }
    Packed::collect(places.iter().map(|&at| shares.get(at)), places.len())
}
