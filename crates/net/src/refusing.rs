//! The refusal that a service sends instead of its hello.

use crate::channel::Channel;
use crate::error::NetError;
use crate::message::Message;
use crate::refusal::Refusal;

impl Message for Refusal {
    const NAME: &'static str = "refusal";
    const KIND: u8 = 2;
    const MAX_BYTES: usize = 16;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Channel {
    /// Sends a refusal instead of a hello, and ends the connection.
    pub async fn refuse(mut self, refusal: Refusal) {
        if self.send(&refusal).await.is_ok() && self.flush().await.is_ok() {
            self.abort().await;
        }
    }

    /// Receives the first message, unless the peer refuses.
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

    const ALL: [Refusal; 10] = [
        Refusal::Busy,
        Refusal::TooManyOfCaller,
        Refusal::Stopping,
        Refusal::UnknownJob,
        Refusal::UsedUp { again_after: None },
        Refusal::UsedUp { again_after: Some(u32::MAX) },
        Refusal::NoData,
        Refusal::SessionInUse,
        Refusal::Nameless,
        Refusal::Closed,
    ];

    #[tokio::test]
    async fn a_caller_receives_each_refusal_instead_of_a_hello() {
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

    /// A message of another kind with the bytes of a refusal.
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Other(Refusal);

    impl Message for Other {
        const NAME: &'static str = "other";
        const KIND: u8 = 200;
        const MAX_BYTES: usize = 16;

        fn check(&self) -> Result<(), String> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn another_message_is_no_refusal() {
        let (mut ours, mut theirs) = memory_pair();
        ours.send(&Other(Refusal::Busy)).await.expect("sent");
        let heard = theirs.receive_unless_refused::<Hello>();
        let ((), heard) = tokio::join!(async { ours.flush().await.expect("sent") }, heard);
        assert!(matches!(heard, Err(NetError::Unexpected { .. })));
    }

    #[tokio::test]
    async fn a_refusal_after_the_hello_is_unexpected() {
        let (mut ours, mut theirs) = memory_pair();
        ours.send(&Refusal::Busy).await.expect("sent");
        let ((), heard) = tokio::join!(async { ours.flush().await.expect("sent") }, theirs.receive::<Hello>());
        assert!(matches!(heard, Err(NetError::Unexpected { .. })));
    }
}
