//! The troubles of a meeting of two servers.

use garblet_primitives::Prg;
use rand::RngExt;

use crate::{disk::Failure, line::Cut};

/// The most writes to a line, or to a store, before a trouble.
const WRITES: u64 = 64;

/// The troubles of a meeting, at most one of each kind at each server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Troubles {
    pub(crate) cut: Option<Cut>,
    /// The write to its line at which a server is gone.
    pub(crate) leaves: [Option<u64>; 2],
    pub(crate) failures: [Option<Failure>; 2],
}

impl Troubles {
    /// Draws this many troubles.
    pub(crate) fn drawn(rng: &mut Prg, count: usize) -> Self {
        let mut all = Troubles::default();
        for _ in 0..count {
            let server = rng.random_range(0..2);
            match rng.random_range(0..10) {
                0..4 => all.cut = Some(Cut { end: server, write: rng.random_range(0..WRITES), loses: rng.random() }),
                4..6 => all.leaves[server] = Some(rng.random_range(0..WRITES)),
                6..9 => all.failures[server] = Some(Failure::Dies(rng.random_range(0..WRITES))),
                _ => all.failures[server] = Some(Failure::Fails(rng.random_range(0..WRITES))),
            }
        }
        all
    }

    /// The words for each.
    pub(crate) fn told(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(Cut { end, write, loses }) = self.cut {
            let lost = if loses { ", with all in flight" } else { "" };
            all.push(format!("their line is cut at write {write} of server {end}{lost}"));
        }
        for server in 0..2 {
            if let Some(write) = self.leaves[server] {
                all.push(format!("server {server} is gone at write {write}"));
            }
            all.extend(self.failures[server].map(|failure| match failure {
                Failure::Dies(write) => format!("server {server} dies at write {write} of its store"),
                Failure::Fails(write) => format!("the disk of server {server} fails from write {write} on"),
            }));
        }
        all
    }
}
