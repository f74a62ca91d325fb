//! A plain TCP relay over a simulated link, so that other programs can be measured over the same link as ours.

use std::convert::Infallible;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy_buf};
use tokio::net::TcpStream;

use crate::connect::Listener;
use crate::error::NetError;
use crate::link::SimulatedLink;
use crate::tcp;

/// The time for the target to start listening.
const PATIENCE: Duration = Duration::from_secs(10);

/// Relays every connection at `listener` to `target` (`HOST:PORT`), with the link in both directions, until the
/// future is dropped.
///
/// *Errors:* if `listener` fails. An error of one connection ends that connection and is logged.
pub async fn relay(listener: &Listener, target: &str, link: SimulatedLink) -> Result<Infallible, NetError> {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept_stream() => {
                let ((stream, _), target) = (accepted?, target.to_string());
                connections.spawn(async move { join(stream, &target, link).await });
            }
            Some(ended) = connections.join_next() => {
                if let Ok(Err(error)) = ended {
                    tracing::warn!("{error}");
                }
            }
        }
    }
}

/// Joins a connection to the target until both directions have ended or one has failed.
async fn join(near: TcpStream, target: &str, link: SimulatedLink) -> Result<(), NetError> {
    let far = tcp::connect(target, PATIENCE).await?;
    let (near_reader, near_writer) = near.into_split();
    let (far_reader, far_writer) = far.into_split();
    let there = copy(near_reader, link.wrap(far_writer));
    let back = copy(far_reader, link.wrap(near_writer));
    match tokio::try_join!(there, back) {
        Ok(_) => Ok(()),
        Err(source) => Err(NetError::Io { doing: format!("a connection to {target} broke"), source }),
    }
}

async fn copy(reader: impl AsyncRead + Unpin, mut writer: impl AsyncWrite + Unpin) -> std::io::Result<()> {
    copy_buf(&mut tokio::io::BufReader::with_capacity(64 << 10, reader), &mut writer).await?;
    writer.shutdown().await
}
