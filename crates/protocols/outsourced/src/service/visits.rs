//! Visits, from both ends: a server that lets visitors in, and a client that calls both servers.

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

/// The time between two signs of life to a visitor that waits.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// The time that a visitor has for a small reply.
const REPLY: Duration = Duration::from_secs(30);
/// The rate at which it has to read a large one.
const REPLY_BYTES_PER_SECOND: u64 = 64 << 10;
/// The time after which a client gives up a server that only says that it is there.
const ANSWER: Duration = Duration::from_secs(15 * 60);
/// The time for which a server is heard when the other one has no answer.
const GRACE: Duration = Duration::from_secs(5);
/// The most clients at once that wait for a reply.
const CLIENTS_MAX: usize = 512;
/// The most clients at once that have it and are not gone yet, and the most strangers that are told so.
const LEAVING_MAX: usize = 64;

impl Service {
    /// Lets visitors in, for ever.
    ///
    /// *Errors*: an address at which nobody can be waited for any more.
    pub async fn welcome(self: Arc<Self>, mut visitors: Visitors, mut rng: Prg) -> Result<Infallible, NetError> {
        let [clients, leaving, strangers] = [CLIENTS_MAX, LEAVING_MAX, LEAVING_MAX].map(Places::new);
        loop {
            let Visitor { from, messages, said } = visitors.next().await?;
            // What was said is not kept while a visitor waits; one that is gone or put out comes again for its answer.
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
}
/// Waits for the reply to a submission, with signs of life to the visitor.
async fn wait(messages: &mut Messages, ticket: &mut watch::Receiver<Option<Arc<[u8]>>>) -> Result<Arc<[u8]>, NetError> {
    loop {
        let answered = async { ticket.wait_for(Option::is_some).await.ok().and_then(|reply| reply.clone()) };
        tokio::select! {
            // Without one, another submission of the client has come in its place.
            reply = answered => return Ok(reply.unwrap_or_else(|| FromServer::Refused(Reason::Interrupted).encode().into())),
            () = tokio::time::sleep(SIGN_OF_LIFE) => messages.send(&FromServer::Waiting.encode()).await?,
        }
    }
}

/// Answers a client, unless another of its connections takes this one's place.
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

/// Sends a visitor the last word. Who reads slowly does not keep its place for long.
async fn send(mut messages: Messages, reply: Arc<[u8]>) -> Result<Messages, NetError> {
    let patience = REPLY + Duration::from_secs(reply.len() as u64 / REPLY_BYTES_PER_SECOND);
    let late = |_| NetError::Timeout { doing: "for a visitor to read its reply".into(), after: patience };
    tokio::time::timeout(patience, messages.send(&reply)).await.map_err(late)??;
    Ok(messages)
}

/// Lets a visitor go that has its last word, in a place for those: the other one is free when this begins.
async fn leave(answered: impl Future<Output = Option<Result<Messages, NetError>>>, leaving: Places, from: SocketAddr) {
    if let Some(Ok(messages)) = answered.await {
        leaving.take(from).keep(messages.close()).await;
    }
}

/// The way to a server.
pub struct WayTo<'a> {
    /// The manner of calling it.
    pub call: &'a Call,
    /// `HOST:PORT`.
    pub address: &'a str,
    /// The frame that it is to have.
    pub frame: &'a [u8],
}

/// A visit without an output.
#[derive(Debug, thiserror::Error)]
#[error("{rejected}")]
pub struct Unanswered {
    /// The words of both servers.
    pub rejected: Rejected,
    /// The reasons why a server was not heard to the end.
    pub ways: Vec<(Server, NetError)>,
}

/// Calls generator and cloud, and opens what they answer. A visit that was interrupted can be resumed with the same frames.
///
/// *Errors*: no output, with the words of both.
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
    // Without the answer of one nothing comes out: the other may still say why, but is not waited for long.
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

/// Hears a server until it has spoken.
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
