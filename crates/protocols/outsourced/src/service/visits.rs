//! Visits, from both ends: a server that lets visitors in, and a client that calls both servers.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::{join_all, select_all};
use garblet_client::{FromServer, Heard, Opened, Reason, Rejected, Server, Visit};
use garblet_net::{Call, Messages, NetError, Visitor, Visitors};
use garblet_primitives::Prg;
use tokio::sync::{Semaphore, watch};

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
/// The most visitors at once that have sent something.
const VISITORS_MAX: usize = 512;

impl Service {
    /// Lets visitors in, for ever.
    ///
    /// *Errors*: an address at which nobody can be waited for any more.
    pub async fn welcome(self: Arc<Self>, mut visitors: Visitors, mut rng: Prg) -> Result<Infallible, NetError> {
        let places = Arc::new(Semaphore::new(VISITORS_MAX));
        loop {
            let visitor = visitors.next().await?;
            // Whoever finds no place comes again; those who have one are not kept waiting.
            let Ok(place) = places.clone().try_acquire_owned() else { continue };
            let (service, mut rng) = (self.clone(), Prg::random(&mut rng));
            tokio::spawn(async move {
                // A visitor that is gone comes again for its answer.
                let _ = service.receive(visitor, &mut rng).await;
                drop(place);
            });
        }
    }

    /// Answers a visitor.
    async fn receive(&self, Visitor { mut messages, said, .. }: Visitor, rng: &mut Prg) -> Result<(), NetError> {
        match self.desk.submit(&said, rng) {
            Ticket::Reply(reply) => send(messages, &reply).await,
            Ticket::Wait(mut ticket, replaced) => tokio::select! {
                sent = async move {
                    let reply = wait(&mut messages, &mut ticket).await?;
                    send(messages, &reply).await
                } => sent,
                _ = replaced => Ok(()),
            },
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

/// Sends a visitor the last word. Who reads slowly does not keep its place for long.
async fn send(mut messages: Messages, reply: &[u8]) -> Result<(), NetError> {
    let patience = REPLY + Duration::from_secs(reply.len() as u64 / REPLY_BYTES_PER_SECOND);
    let sent = async move {
        messages.send(reply).await?;
        messages.close().await
    };
    let late = || NetError::Timeout { doing: "for a visitor to read its reply".into(), after: patience };
    tokio::time::timeout(patience, sent).await.unwrap_or_else(|_| Err(late()))
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
