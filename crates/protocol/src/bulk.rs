//! Bulk data on the wire: packed bits and blocks of lengths that both sides know.

use garblet_circuit::Bits;
use garblet_primitives::Block;

use crate::{error::ProtocolError, session::Session};

/// Sends bits packed, the first in the lowest place of the first byte.
pub async fn send_bits(session: &mut Session, bits: &Bits) -> Result<(), ProtocolError> {
    Ok(session.channel().send_bytes(&bits.to_bytes()).await?)
}

/// Receives as many bits as [`send_bits`] sent; bits that fill the last byte are ignored.
pub async fn receive_bits(session: &mut Session, count: usize) -> Result<Bits, ProtocolError> {
    let mut bytes = vec![0; count.div_ceil(8)];
    receive_bytes(session, &mut bytes).await?;
    Ok(Bits::from_bytes(&bytes).slice(0, count))
}

/// Sends blocks, each 16 bytes.
pub async fn send_blocks(session: &mut Session, blocks: &[Block]) -> Result<(), ProtocolError> {
    Ok(session.channel().send_bytes(bytemuck::cast_slice(blocks)).await?)
}

/// Receives as many blocks as `blocks` holds.
pub async fn receive_blocks(session: &mut Session, blocks: &mut [Block]) -> Result<(), ProtocolError> {
    receive_bytes(session, bytemuck::cast_slice_mut(blocks)).await
}

/// Receives bytes; for none it does not wait, so that it costs no round.
async fn receive_bytes(session: &mut Session, into: &mut [u8]) -> Result<(), ProtocolError> {
    match into.is_empty() {
        true => Ok(()),
        false => Ok(session.channel().receive_bytes(into).await?),
    }
}
