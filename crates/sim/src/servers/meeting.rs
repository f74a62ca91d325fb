//! A meeting of both servers, while clients come and go.

use std::{cell::RefCell, pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, join, join_all, select};
use garblet::outsourced::service::Service;
use garblet_net::{Channel, Options};
use garblet_primitives::{Block, Prg};

use crate::{
    line::{Cut, Presence, line},
    seat::{End, until_gone},
};

/// The time for which a client waits for answers, mostly; and the time within which each submission that waits is answered.
pub(crate) const PATIENCE: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(700)];
/// The time for which the servers go on once the last client has left.
const AFTER: Duration = Duration::from_secs(3);
/// The timeout between the servers.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client that comes.
#[derive(Clone)]
pub(crate) struct Comer {
    pub(crate) client: usize,
    /// The frame for each server; none for one that it does not reach.
    pub(crate) frames: [Option<Vec<u8>>; 2],
    /// The time for which it waits; none if it leaves again at once.
    pub(crate) patience: Option<Duration>,
    /// The time after which it comes, in milliseconds.
    pub(crate) after: u64,
}

/// A server in a meeting.
pub(crate) struct Present {
    /// None if it could not be started.
    pub(crate) service: Option<Arc<Service>>,
    pub(crate) presence: Arc<Presence>,
}

/// The outcome of a meeting.
pub(crate) struct Met {
    /// The end of each server's work; none if it still worked when the meeting was over.
    pub(crate) ends: [Option<End>; 2],
    /// The replies of both servers to each client that came.
    pub(crate) replies: Vec<[Option<Vec<u8>>; 2]>,
}

/// Lets both servers meet, if both are there, and clients come. Everything random follows from the seed.
pub(crate) async fn meet(both: &[Present; 2], cut: Option<Cut>, comers: &[Comer], seed: Block) -> Met {
    let mut rng = Prg::new(seed);
    let mut seeds = || Prg::random(&mut rng);
    let ends = RefCell::new([None, None]);
    let channels = line([&both[0].presence, &both[1].presence], cut);
    let are_there = both.iter().all(|server| server.service.is_some());
    let mut work = Vec::new();
    for (at, (server, channel)) in both.iter().zip(channels).enumerate() {
        let (ends, rng) = (&ends, seeds());
        work.push(async move {
            if let Some(service) = server.service.as_ref().filter(|_| are_there) {
                let end = until_gone(&server.presence, jobs(service, channel, rng)).await;
                ends.borrow_mut()[at] = Some(end);
            }
        });
    }
    let visits = comers.iter().map(|comer| {
        let [one, other] = [0, 1].map(|at| visit(&both[at], comer, at, seeds()));
        async { <[_; 2]>::from(join(one, other).await) }
    });
    let visits = async {
        let replies = join_all(visits.collect::<Vec<_>>()).await;
        tokio::time::sleep(AFTER).await;
        replies
    };
    let replies = match select(pin!(join_all(work)), pin!(visits)).await {
        Either::Left((_, visits)) => visits.await,
        Either::Right((replies, _)) => replies,
    };
    Met { ends: ends.into_inner(), replies }
}

/// A server's work with the other one, until one of them leaves.
async fn jobs(service: &Service, channel: Channel, rng: Prg) -> Result<(), garblet_protocol::ProtocolError> {
    let options = Options { timeout: TIMEOUT, ..Options::default() };
    match service.run_jobs_over(channel, &options, rng).await {
        Ok(never) => match never {},
        Err(error) => Err(error),
    }
}

/// A visit of a client at one server: its reply, if there is one in time.
async fn visit(server: &Present, comer: &Comer, at: usize, mut rng: Prg) -> Option<Vec<u8>> {
    tokio::time::sleep(Duration::from_millis(comer.after)).await;
    let (service, frame) = (server.service.as_ref()?, comer.frames[at].as_ref()?);
    if server.presence.is_gone() {
        return None;
    }
    let reply =
        tokio::time::timeout(comer.patience.unwrap_or_default(), service.reply_to(frame, &mut rng)).await.ok()?;
    // Who has left hears nothing.
    (comer.patience.is_some() && !server.presence.is_gone()).then(|| reply.to_vec())
}
