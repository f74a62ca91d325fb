//! Visits, from both ends: a server that accepts visitors, and a client that calls both servers.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::{join_all, select_all};
use garblet_client::{FromServer, Heard, Opened, Reason, Rejected, Server, Visit};
use garblet_net::{Call, Messages, NetError, Places, Visitor, Visitors};
use garblet_primitives::Prg;
use tokio::sync::{oneshot, watch};

use super::{Service, desk::Ticket};

/// The time between two signs of life to a waiting visitor.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// The time that a visitor has to read a small reply.
const REPLY: Duration = Duration::from_secs(30);
/// The rate at which a visitor has to read a large reply.
const REPLY_BYTES_PER_SECOND: u64 = 64 << 10;
/// The time after which a client gives up on a server that only sends signs of life.
const ANSWER: Duration = Duration::from_secs(15 * 60);
/// The time to listen to a server when the other one has no answer.
const GRACE: Duration = Duration::from_secs(5);
/// The most clients that may wait for a reply at once.
const CLIENTS_MAX: usize = 512;
/// The most clients at once that are reading their reply, and the most strangers that are being refused.
const LEAVING_MAX: usize = 64;

impl Service {
    /// Accepts visitors forever.
    ///
    /// *Errors*: an address on which listening has become impossible.
    pub async fn welcome(self: Arc<Self>, mut visitors: Visitors, mut rng: Prg) -> Result<Infallible, NetError> {
        let [clients, leaving, strangers] = [CLIENTS_MAX, LEAVING_MAX, LEAVING_MAX].map(Places::new);
        loop {
            let Visitor { from, messages, said } = visitors.next().await?;
            // The frame is not kept while a visitor waits; a visitor that leaves or is evicted comes again for its answer.
            match self.desk.submit(&said, &mut rng) {
                Ticket::Stranger(reply) => {
                    let place = strangers.take(from);
                    tokio::spawn(place.keep(async move { send(messages, reply.into()).await?.close().await }));
                }
                Ticket::Reply(reply) => {
                    let place = clients.take(from);
                    tokio::spawn(leave(place.keep(send(messages, reply.into())), leaving.clone(), from));
                }
                Ticket::Wait(ticket, replaced) => {
                    let place = clients.take(from);
                    tokio::spawn(leave(place.keep(answer(messages, ticket, replaced)), leaving.clone(), from));
                }
            }
        }
    }

    /// Takes a visitor's frame, which came over any connection, and returns the final reply to it. If this is dropped, the visitor may send the same frame again.
    pub async fn reply_to(&self, frame: &[u8], rng: &mut Prg) -> Arc<[u8]> {
        match self.desk.submit(frame, rng) {
            Ticket::Stranger(reply) | Ticket::Reply(reply) => reply.into(),
            Ticket::Wait(mut ticket, replaced) => tokio::select! {
                biased;
                reply = answered(&mut ticket) => reply,
                _ = replaced => interrupted(),
            },
        }
    }
}

/// Waits for the reply to a submission. Without one, another submission of the client has replaced it.
async fn answered(ticket: &mut watch::Receiver<Option<Arc<[u8]>>>) -> Arc<[u8]> {
    ticket.wait_for(Option::is_some).await.ok().and_then(|reply| reply.clone()).unwrap_or_else(interrupted)
}

/// The reply to a visitor that waits no longer.
fn interrupted() -> Arc<[u8]> {
    FromServer::Refused(Reason::Interrupted).encode().into()
}

/// Waits for the reply to a submission, sending signs of life to the visitor.
async fn wait(messages: &mut Messages, ticket: &mut watch::Receiver<Option<Arc<[u8]>>>) -> Result<Arc<[u8]>, NetError> {
    loop {
        tokio::select! {
            reply = answered(ticket) => return Ok(reply),
            () = tokio::time::sleep(SIGN_OF_LIFE) => messages.send(&FromServer::Waiting.encode()).await?,
        }
    }
}

/// Answers a client, unless another of its connections replaces this one.
async fn answer(
    mut messages: Messages,
    mut ticket: watch::Receiver<Option<Arc<[u8]>>>,
    replaced: oneshot::Receiver<()>,
) -> Result<Messages, NetError> {
    let answered = async {
        let reply = wait(&mut messages, &mut ticket).await?;
        send(messages, reply).await
    };
    tokio::select! {
        sent = answered => sent,
        _ = replaced => Err(NetError::PeerClosed { doing: "for another connection of the same client".into() }),
    }
}

/// Sends a visitor the final reply. A slow reader does not keep its place for long.
async fn send(mut messages: Messages, reply: Arc<[u8]>) -> Result<Messages, NetError> {
    let patience = REPLY + Duration::from_secs(reply.len() as u64 / REPLY_BYTES_PER_SECOND);
    let late = |_| NetError::Timeout { doing: "for a visitor to read its reply".into(), after: patience };
    tokio::time::timeout(patience, messages.send(&reply)).await.map_err(late)??;
    Ok(messages)
}

/// Waits for a visitor with its final reply to leave, in a separate place, so that its former place is free at once.
async fn leave(answered: impl Future<Output = Option<Result<Messages, NetError>>>, leaving: Places, from: SocketAddr) {
    if let Some(Ok(messages)) = answered.await {
        leaving.take(from).keep(messages.close()).await;
    }
}

/// The address of a server and how to call it.
pub struct WayTo<'a> {
    /// The way to call it.
    pub call: &'a Call,
    /// `HOST:PORT`.
    pub address: &'a str,
    /// The frame to send it.
    pub frame: &'a [u8],
}

/// A visit without an output.
#[derive(Debug, thiserror::Error)]
#[error("{rejected}")]
pub struct Unanswered {
    /// The replies of both servers.
    pub rejected: Rejected,
    /// The reasons why a server was not heard out.
    pub ways: Vec<(Server, NetError)>,
}

/// Calls generator and cloud, and opens their answers. An interrupted visit can be resumed with the same frames.
///
/// *Errors*: no output, with the replies of both.
pub async fn call(visit: Visit, ways: [WayTo<'_>; 2]) -> Result<Opened, Unanswered> {
    let visit = Mutex::new(visit);
    let [to_generator, to_cloud] = &ways;
    let hearings = Server::BOTH.into_iter().zip([to_generator, to_cloud]).map(|(server, way)| {
        let visit = &visit;
        Box::pin(async move {
            let heard = tokio::time::timeout(ANSWER, converse(visit, server, way)).await;
            let late = || NetError::Timeout { doing: format!("for the {server}'s answer"), after: ANSWER };
            (server, heard.unwrap_or_else(|_| Err(late())))
        })
    });
    // Without the answer of one there is no output: the other may still say why, but the client does not wait long.
    let mut failed = Vec::new();
    let ((server, heard), _, rest) = select_all(hearings).await;
    let spoke = matches!(heard, Ok(Heard::Answer));
    failed.extend(heard.err().map(|error| (server, error)));
    let other = join_all(rest);
    let others = match spoke {
        true => other.await,
        false => tokio::time::timeout(GRACE, other).await.unwrap_or_default(),
    };
    failed.extend(others.into_iter().filter_map(|(server, heard)| Some((server, heard.err()?))));
    let visit = visit.into_inner().unwrap_or_else(PoisonError::into_inner);
    visit.open().map_err(|rejected| Unanswered { rejected, ways: failed })
}

/// Listens to a server until its final reply.
async fn converse(visit: &Mutex<Visit>, server: Server, way: &WayTo<'_>) -> Result<Heard, NetError> {
    let lock = || visit.lock().unwrap_or_else(PoisonError::into_inner);
    let mut messages = way.call.connect(way.address).await?;
    messages.send(way.frame).await?;
    let most = lock().frame_bytes_max();
    loop {
        let frame = messages.receive(most).await?;
        match lock().hear(server, &frame) {
            Heard::Waiting => {}
            heard => return Ok(heard),
        }
    }
}
