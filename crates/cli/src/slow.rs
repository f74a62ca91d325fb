//! Gives one party slow links among parties with fast ones, by relays in the parent's process.
//!
//! A party that simulates a link delays all data that it sends. Relays delay only the data to and from one party, so the others need not
//! know about it.

use std::thread::JoinHandle;

use garblet::{
    Party,
    net::{Listener, SimulatedLink, relay},
};
use garblet_console::{failure::Failure, hints::net_failure, session::block_on};
use tokio::sync::oneshot;

/// A party all of whose links are slow.
#[derive(Clone, Copy, Debug)]
pub struct SlowParty {
    /// The party.
    pub party: Party,
    /// Its link to each of the others.
    pub link: SimulatedLink,
}

impl SlowParty {
    /// Returns whether the link between these two is slow.
    fn joins(&self, one: usize, other: usize) -> bool {
        [one, other].contains(&usize::from(self.party.0))
    }
}

/// The relays of one run.
#[derive(Default)]
pub struct Relays {
    slow: Option<SlowParty>,
    running: Vec<Relay>,
}

impl Relays {
    /// Creates the relays for this party, if there is one.
    pub fn of(slow: Option<SlowParty>) -> Self {
        Relays { slow, running: Vec::new() }
    }

    /// The address where a caller reaches the party that listens at `address`.
    ///
    /// *Errors*: a relay cannot be started.
    pub fn way(&mut self, caller: usize, listener: usize, address: &str) -> Result<String, Failure> {
        match self.slow.filter(|slow| slow.joins(caller, listener)) {
            None => Ok(address.into()),
            Some(slow) => {
                let relay = Relay::start(address.into(), slow.link)?;
                let way = relay.address.clone();
                self.running.push(relay);
                Ok(way)
            }
        }
    }
}

/// A relay to one address on its own thread, until it is dropped.
struct Relay {
    address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    fn start(target: String, link: SimulatedLink) -> Result<Self, Failure> {
        let (stop, stopped) = oneshot::channel();
        let (say, hear) = std::sync::mpsc::channel();
        let work = move || {
            let listen = async {
                let listener = Listener::bind("127.0.0.1:0").await.map_err(|e| net_failure(&e))?;
                let _ = say.send(Ok(listener.address().to_string()));
                tokio::select! {
                    // If a relay ends, its parties lose their connection and report that.
                    _ = relay(&listener, &target, link) => Ok(()),
                    _ = stopped => Ok(()),
                }
            };
            if let Err(failure) = block_on(listen) {
                let _ = say.send(Err(failure));
            }
        };
        let cannot = |e: &dyn std::fmt::Display| Failure::no_result(format!("cannot simulate a slow link: {e}"));
        let thread = std::thread::Builder::new().name("relay".into()).spawn(work).map_err(|e| cannot(&e))?;
        let address = hear.recv().map_err(|e| cannot(&e))??;
        Ok(Relay { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Ignore a thread that has already ended.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn only_the_links_of_the_slow_party_are_slow() {
        let link = "20ms,inf".parse().expect("a link");
        let mut relays = Relays::of(Some(SlowParty { party: Party(1), link }));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        assert_eq!(relays.way(2, 0, &address).expect("no relay"), address);
        for (caller, called) in [(1, 0), (2, 1)] {
            let way = relays.way(caller, called, &address).expect("a relay");
            assert_ne!(way, address);
            let echo = std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut stream, _) = listener.accept().expect("a caller");
                    let mut byte = [0];
                    stream.read_exact(&mut byte).and_then(|()| stream.write_all(&byte)).expect("an echo");
                });
                let mut stream = TcpStream::connect(&way).expect("a relay that listens");
                let begin = Instant::now();
                let mut byte = [7];
                stream.write_all(&byte).and_then(|()| stream.read_exact(&mut byte)).expect("an echo");
                (byte, begin.elapsed())
            });
            assert!(echo.0 == [7] && echo.1 >= Duration::from_millis(40), "{echo:?}");
        }
        assert_eq!(relays.running.len(), 2);
        drop(relays);
    }

    #[test]
    fn no_link_is_slow_unless_requested() {
        assert_eq!(Relays::default().way(1, 0, "there").expect("no relay"), "there");
    }
}
