//! The refusal of a service, which it says instead of its hello.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::channel::Channel;
use crate::error::NetError;
use crate::message::Message;

/// The reason for which a service does not begin what a caller's hello asks for. Nothing was computed, and nothing counts as a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The service has as many sessions as it may have, and as many that wait.
    Busy,
    /// The caller has as many sessions there as it may have.
    TooManyOfCaller,
    /// The service stops.
    Stopping,
    /// The service has no job that the caller's hello fits.
    UnknownJob,
    /// The caller may not run this job.
    NotAllowed,
    /// The job was run as often as it may be.
    UsedUp {
        /// The seconds until it may be run again; none if never.
        again_after: Option<u32>,
    },
    /// The service has no inputs for this run.
    NoData,
    /// A session of this name is running.
    SessionInUse,
    /// The session has no name, and a service tells sessions of several parties apart by their names.
    Nameless,
    /// The service refuses everybody: something of its own is wrong.
    Closed,
}

impl Refusal {
    /// A word for it in logs and counters.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Busy => "busy",
            Refusal::TooManyOfCaller => "too-many-of-caller",
            Refusal::Stopping => "stopping",
            Refusal::UnknownJob => "unknown-job",
            Refusal::NotAllowed => "not-allowed",
            Refusal::UsedUp { .. } => "used-up",
            Refusal::NoData => "no-data",
            Refusal::SessionInUse => "session-in-use",
            Refusal::Nameless => "nameless",
            Refusal::Closed => "closed",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Busy => "it has as many sessions as it may have at once",
            Refusal::TooManyOfCaller => "we have as many sessions there as we may have at once",
            Refusal::Stopping => "it is being stopped",
            Refusal::UnknownJob => "it has no job with this program, protocol, parameters and parties",
            Refusal::NotAllowed => "we may not run this job there",
            Refusal::UsedUp { again_after: None } => "the job was run as often as it ever may be",
            Refusal::UsedUp { again_after: Some(seconds) } => {
                return write!(f, "the job was run as often as it may be, until {seconds} s from now");
            }
            Refusal::NoData => "it has no inputs for this run",
            Refusal::SessionInUse => "a session of this name is running there",
            Refusal::Nameless => "it knows sessions of several parties by their names, and ours has none",
            Refusal::Closed => "it refuses everybody until its operator has mended something",
        })
    }
}

impl Message for Refusal {
    const NAME: &'static str = "refusal";
    const KIND: u8 = 2;
    const MAX_BYTES: usize = 16;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Channel {
    /// Says why nothing begins, instead of a hello, and ends the connection.
    pub async fn refuse(mut self, refusal: Refusal) {
        if self.send(&refusal).await.is_ok() && self.flush().await.is_ok() {
            self.abort().await;
        }
    }

    /// Receives a message, the first, unless the peer refuses.
    ///
    /// *Errors:* as [`Channel::receive`]; [`NetError::Refused`].
    pub(crate) async fn receive_unless_refused<M: Message>(&mut self) -> Result<M, NetError> {
        match self.receive_one_of::<M, Refusal>().await? {
            Ok(message) => Ok(message),
            Err(refusal) => Err(NetError::Refused { refusal }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hello, memory_pair};

    const ALL: [Refusal; 11] = [
        Refusal::Busy,
        Refusal::TooManyOfCaller,
        Refusal::Stopping,
        Refusal::UnknownJob,
        Refusal::NotAllowed,
        Refusal::UsedUp { again_after: None },
        Refusal::UsedUp { again_after: Some(u32::MAX) },
        Refusal::NoData,
        Refusal::SessionInUse,
        Refusal::Nameless,
        Refusal::Closed,
    ];

    #[tokio::test]
    async fn a_caller_hears_each_refusal_instead_of_a_hello() {
        for refusal in ALL {
            let (mut ours, mut theirs) = memory_pair();
            let service = async {
                Hello::ahead(&mut ours).await.expect("a hello");
                ours.refuse(refusal).await;
            };
            let hello = Hello::new("yao", 1, 2, [7; 32]);
            let ((), heard) = tokio::join!(service, hello.exchange(&mut theirs));
            let heard = heard.expect_err("refused");
            assert!(matches!(heard, NetError::Refused { refusal: told } if told == refusal), "{heard}");
            assert_eq!(heard.to_string(), format!("the peer refuses: {refusal}"));
        }
    }

    #[tokio::test]
    async fn after_the_hello_a_refusal_has_no_place() {
        let (mut ours, mut theirs) = memory_pair();
        ours.send(&Refusal::Busy).await.expect("sent");
        let ((), heard) = tokio::join!(async { ours.flush().await.expect("sent") }, theirs.receive::<Hello>());
        assert!(matches!(heard, Err(NetError::Unexpected { .. })));
    }
}
