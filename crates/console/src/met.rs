//! The others that were met, and the end of a run with them.

use garblet::{
    Bits, Ends, Party, Report, Security,
    net::{Channel, ChannelWatch, Fingerprint},
    run_report::PartyPart,
};

use crate::{failure::Failure, hints::explain, output::tell};

/// The result of a party's part in a run.
pub struct Outcome {
    /// `None` where this party is not a recipient.
    pub outputs: Vec<Option<Bits>>,
    /// The security that the run promises.
    pub security: Security,
    /// This party's part of the report.
    pub part: PartyPart,
    /// The error when the session closed, if any; the result is final all the same.
    pub closing: Option<Failure>,
    /// All others, with their authenticated identities.
    pub met: Vec<(u16, Option<Fingerprint>)>,
}

impl Outcome {
    /// The result of a run with these parties, of which nothing but the phases was measured.
    pub fn of(outcome: garblet::Outcome, met: Vec<(u16, Option<Fingerprint>)>) -> Self {
        let part = PartyPart::from(&outcome.report);
        let garblet::Outcome { report: Report { outputs, security, .. }, closing } = outcome;
        Outcome { outputs, security, part, closing: closing.map(|e| explain(&e)), met }
    }

    /// Warns of a peer that did not close the session properly.
    pub fn warn_of_closing(&self) {
        if let Some(failure) = &self.closing {
            let what = &failure.message;
            tell(&format!("warning: the result is final, but the peer did not close the session properly: {what}"));
        }
    }
}

/// The others that were met, and the channels to them.
#[derive(Default)]
pub struct Watched {
    /// All others, with their authenticated identities.
    pub met: Vec<(u16, Option<Fingerprint>)>,
    pub(crate) channels: Vec<(u16, ChannelWatch)>,
    /// Set if the run was given up.
    is_cut: bool,
}

impl Watched {
    /// Watches ends that carry no data yet.
    pub fn begin(&mut self, ends: &mut Ends, party: Party) {
        self.met = ends.others(party);
        self.channels = match ends {
            Ends::Channel(channel) => vec![(other(party), channel.watch())],
            Ends::Mesh(mesh) => mesh.watch().iter().map(|(party, channel)| (party, channel.clone())).collect(),
        };
        if self.is_cut {
            self.cut();
        }
    }

    /// From now on nothing leaves to anybody whose channel is watched, now or later, and what was sent is known: the run was given up.
    pub fn cut(&mut self) {
        self.is_cut = true;
        self.channels.iter().for_each(|(_, channel)| channel.cut());
    }

    /// Watches the channel to the only peer.
    pub fn of_channel(channel: &mut Channel, party: Party) -> Self {
        Watched::of_watch(channel.watch(), party)
    }

    /// The channel to the one peer that was met, which is being watched.
    pub fn of_watch(watch: ChannelWatch, party: Party) -> Self {
        Watched { met: vec![(other(party), watch.peer())], channels: vec![(other(party), watch)], is_cut: false }
    }
}

/// The other of two parties.
fn other(party: Party) -> u16 {
    1 - party.0.min(1)
}

#[cfg(test)]
mod tests {
    use garblet::net::{Mesh, NetError, memory_pair};

    use super::*;

    /// A run may be given up before its parties have met.
    #[test]
    fn nothing_leaves_to_parties_that_are_met_before_or_after_a_cut() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        for (is_cut_first, count) in [(true, 2), (false, 2), (true, 3), (false, 3)] {
            let (mut meshes, (channel, _theirs)) = (Mesh::memory(count).into_iter(), memory_pair());
            let mut ends = match count {
                2 => Ends::from(channel),
                _ => Ends::from(meshes.next().expect("a party")),
            };
            let mut watched = Watched::default();
            if is_cut_first {
                watched.cut();
                watched.begin(&mut ends, Party(0));
            } else {
                watched.begin(&mut ends, Party(0));
                watched.cut();
            }
            let mut channels = match ends {
                Ends::Channel(channel) => vec![*channel],
                Ends::Mesh(mut mesh) => (1..count).map(|peer| mesh.lend(peer).expect("a peer").0).collect(),
            };
            assert_eq!((channels.len(), watched.channels.len()), (usize::from(count) - 1, usize::from(count) - 1));
            for (channel, (_, watch)) in channels.iter_mut().zip(&watched.channels) {
                let sent = runtime.block_on(channel.send_bytes(b"more"));
                assert!(matches!(sent, Err(NetError::GivenUp)), "{sent:?}");
                assert_eq!(watch.sent().bytes, 0);
            }
        }
    }
}
