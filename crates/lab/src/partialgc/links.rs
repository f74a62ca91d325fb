//! Bytes of each link and phase, from what each of the three parties has counted over all its links.
//!
//! What two parties exchange with each other is what both count less what the third one does, halved. Which part of it goes which way follows
//! from one thing more: by the formulas it is known how much more the client hears from the generator than from the cloud. With shares that is nothing (hellos,
//! numbers of the run, answers).

use garblet::{Communication, Phase, run_report::PartyPart};
use garblet_console::failure::Failure;
use serde::Serialize;

use super::programs::{CLIENT, CLOUD, GENERATOR};

/// The bytes that go over one link in one direction, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Bytes {
    pub(super) setup: u64,
    pub(super) prepare: u64,
    pub(super) build: u64,
    pub(super) online: u64,
}

/// All links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Links {
    pub(super) generator_to_cloud: Bytes,
    pub(super) cloud_to_generator: Bytes,
    pub(super) client_to_generator: Bytes,
    pub(super) generator_to_client: Bytes,
    pub(super) client_to_cloud: Bytes,
    pub(super) cloud_to_client: Bytes,
}

impl Bytes {
    fn of_mut(&mut self, phase: Phase) -> &mut u64 {
        match phase {
            Phase::Setup => &mut self.setup,
            Phase::Prepare => &mut self.prepare,
            Phase::Build => &mut self.build,
            Phase::Online => &mut self.online,
        }
    }

    /// All phases, in order.
    pub(super) fn phases(&self) -> [u64; 4] {
        [self.setup, self.prepare, self.build, self.online]
    }

    pub(super) fn in_all(&self) -> u64 {
        self.phases().iter().sum()
    }
}

impl Links {
    /// From the counters of generator, client and cloud, and what the client hears more from the generator.
    ///
    /// *Errors*: counters that cannot be of the same run.
    pub(super) fn of(parts: &[PartyPart], more: impl Fn(Phase) -> i64) -> Result<Self, Failure> {
        let mut links = Links::default();
        for phase in Phase::ALL {
            let counted = [GENERATOR, CLIENT, CLOUD].map(|party| {
                parts.get(usize::from(party.0)).map(|part| part.phases.of(phase).communication).unwrap_or_default()
            });
            links.fill(phase, more(phase), counted).ok_or_else(|| {
                Failure::no_result(format!(
                    "phase {}: what the parties have counted does not fit together: this is a bug",
                    phase.name()
                ))
            })?;
        }
        Ok(links)
    }

    fn fill(&mut self, phase: Phase, more: i64, [generator, client, cloud]: [Communication; 3]) -> Option<()> {
        let from_generator = client.bytes_received.checked_add_signed(more)? / 2;
        let from_cloud = client.bytes_received.checked_sub(from_generator)?;
        let to_cloud = generator.bytes_sent.checked_sub(from_generator)?;
        let to_generator = cloud.bytes_sent.checked_sub(from_cloud)?;
        let client_to_generator = generator.bytes_received.checked_sub(to_generator)?;
        let client_to_cloud = cloud.bytes_received.checked_sub(to_cloud)?;
        let fits = from_cloud.checked_add_signed(more) == Some(from_generator)
            && client_to_generator + client_to_cloud == client.bytes_sent;
        *self.generator_to_cloud.of_mut(phase) = to_cloud;
        *self.cloud_to_generator.of_mut(phase) = to_generator;
        *self.client_to_generator.of_mut(phase) = client_to_generator;
        *self.generator_to_client.of_mut(phase) = from_generator;
        *self.client_to_cloud.of_mut(phase) = client_to_cloud;
        *self.cloud_to_client.of_mut(phase) = from_cloud;
        fits.then_some(())
    }

    /// All directions, each with its name.
    pub(super) fn named(&self) -> [(&'static str, Bytes); 6] {
        [
            ("generator to cloud", self.generator_to_cloud),
            ("cloud to generator", self.cloud_to_generator),
            ("client to generator", self.client_to_generator),
            ("generator to client", self.generator_to_client),
            ("client to cloud", self.client_to_cloud),
            ("cloud to client", self.cloud_to_client),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(bytes: [[u64; 2]; 3]) -> [Communication; 3] {
        bytes.map(|[bytes_sent, bytes_received]| Communication { bytes_sent, bytes_received, rounds: 1 })
    }

    #[test]
    fn what_goes_over_each_link_follows_from_what_all_count() {
        let mut links = Links::default();
        // To the cloud 1,000 and back 200; the client sends 110 and 118, and hears 80 twice.
        let fits = links.fill(Phase::Online, 0, counted([[1_080, 310], [228, 160], [280, 1_118]]));
        assert_eq!(fits, Some(()));
        assert_eq!(links.named().map(|(_, bytes)| bytes.online), [1_000, 200, 110, 80, 118, 80]);
        assert_eq!(links.client_to_cloud.in_all(), 118);
        // It hears 90 and 70.
        let fits = links.fill(Phase::Online, 20, counted([[1_090, 310], [228, 160], [270, 1_118]]));
        assert_eq!(fits, Some(()));
        assert_eq!(links.named().map(|(_, bytes)| bytes.online), [1_000, 200, 110, 90, 118, 70]);
    }

    #[test]
    fn counters_that_do_not_fit_together_are_told() {
        for wrong in [
            [[1_080, 310], [229, 160], [280, 1_118]],
            [[1_080, 310], [228, 161], [280, 1_118]],
            [[0, 0], [0, 2], [0, 0]],
        ] {
            assert_eq!(Links::default().fill(Phase::Online, 0, counted(wrong)), None, "{wrong:?}");
        }
    }
}
