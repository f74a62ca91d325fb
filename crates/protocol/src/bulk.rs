//! Bulk data on the wire: packed bits and blocks whose lengths both sides know.

use garblet_circuit::{Bits, Party};
use garblet_net::NetError;
use garblet_primitives::Block;
use zeroize::Zeroizing;

use crate::{error::ProtocolError, session::Session};

/// Sends bits packed, the first in the lowest place of the first byte.
pub async fn send_bits(session: &mut Session, bits: &Bits) -> Result<(), ProtocolError> {
    Ok(session.channel().send_bytes(&bits.to_bytes()).await?)
}

/// Receives as many bits as [`send_bits`] sent.
///
/// *Errors*: as [`check_padding`]; the connection's.
pub async fn receive_bits(session: &mut Session, count: usize) -> Result<Bits, ProtocolError> {
    let mut bytes = Zeroizing::new(vec![0; count.div_ceil(8)]);
    receive_bytes(session, &mut bytes).await?;
    check_padding(&bytes, count)?;
    Ok(Bits::filled(count, |own| own.copy_from_slice(&bytes)))
}

/// Refuses a peer's packed bits unless the unused bits of the last byte are zero, so that each value has one encoding.
///
/// *Errors*: [`NetError::Malformed`].
pub fn check_padding(bytes: &[u8], count: usize) -> Result<(), NetError> {
    let used = count % 8;
    match bytes.get(count / 8) {
        Some(last) if used > 0 && last >> used != 0 => Err(NetError::Malformed {
            what: format!("{count} bits"),
            expected: "zeros where the last byte is filled up".into(),
            got: "other bits".into(),
        }),
        _ => Ok(()),
    }
}

/// As [`check_padding`], for one of several peers; the error names it.
///
/// *Errors*: as [`check_padding`], of that peer.
pub fn check_padding_of(peer: Party, bytes: &[u8], count: usize) -> Result<(), ProtocolError> {
    check_padding(bytes, count).map_err(|error| ProtocolError::Peer { party: peer, source: Box::new(error.into()) })
}

/// Sends blocks, each 16 bytes.
pub async fn send_blocks(session: &mut Session, blocks: &[Block]) -> Result<(), ProtocolError> {
    Ok(session.channel().send_bytes(bytemuck::cast_slice(blocks)).await?)
}

/// Receives as many blocks as `blocks` holds.
pub async fn receive_blocks(session: &mut Session, blocks: &mut [Block]) -> Result<(), ProtocolError> {
    receive_bytes(session, bytemuck::cast_slice_mut(blocks)).await
}

/// Receives bytes. If there are none to receive, it does not wait, so it costs no round.
async fn receive_bytes(session: &mut Session, into: &mut [u8]) -> Result<(), ProtocolError> {
    match into.is_empty() {
        true => Ok(()),
        false => Ok(session.channel().receive_bytes(into).await?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_bits_must_be_zero_and_a_peer_that_sets_one_is_named() {
        for count in [0usize, 1, 7, 8, 9, 15, 16, 17] {
            let bytes = count.div_ceil(8);
            let mut full = vec![0xff; bytes];
            if count % 8 != 0 {
                full[bytes - 1] = (1 << (count % 8)) - 1;
            }
            for right in [vec![0; bytes], full.clone()] {
                assert!(check_padding(&right, count).is_ok(), "{count} bits, {right:?}");
            }
            for spare in count..8 * bytes {
                let mut wrong = full.clone();
                wrong[spare / 8] |= 1 << (spare % 8);
                let error = check_padding(&wrong, count).expect_err("a spare bit is set");
                assert!(matches!(error, NetError::Malformed { .. }), "{error}");
                let error = check_padding_of(Party(3), &wrong, count).expect_err("a spare bit is set");
                let ProtocolError::Peer { party: Party(3), source } = &error else { panic!("{error}") };
                assert!(matches!(**source, ProtocolError::Net(NetError::Malformed { .. })));
            }
        }
    }
}
