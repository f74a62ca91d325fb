//! Steps with all parties at once: exchange, broadcast, reduce-scatter, all-gather.
//!
//! *Source:* the collectives of parallel computing (Thakur, Rabenseifner, Gropp, *Optimization of Collective Communication
//! Operations in MPICH*, 2005), in their direct form: every pair has its own link, so each takes one round.
//!
//! All parties call the same one with the same sizes. Everything is sent and received at once, in bounded pieces.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::mesh::{Line, Mesh, PartyError, PerPeer};

/// The share of party `party` when `count` parties divide `bytes` bytes in whole grains of `grain` bytes.
///
/// The shares of all parties are contiguous, and their sizes differ by at most a grain; the last one has the rest
/// if `bytes` is not a multiple of a grain.
pub fn share_of(bytes: usize, grain: usize, count: u16, party: u16) -> Range<usize> {
    let (grains, count, party) = (bytes / grain, usize::from(count), usize::from(party));
    let begin = |party: usize| {
        if party == count { bytes } else { (party * (grains / count) + party.min(grains % count)) * grain }
    };
    begin(party)..begin(party + 1)
}

impl Mesh {
    /// Sends every peer its bytes, and fills the buffer of every peer.
    ///
    /// *Cost:* one round.
    pub async fn exchange(
        &mut self,
        outgoing: &PerPeer<impl AsRef<[u8]> + Sync>,
        incoming: &mut PerPeer<impl AsMut<[u8]> + Send>,
    ) -> Result<(), PartyError> {
        let both = outgoing.as_ref().zip(incoming.as_mut());
        let step = async |_, mut line: Line, (outgoing, incoming): (&_, &mut _)| {
            line.exchange_bytes(AsRef::as_ref(outgoing), AsMut::as_mut(incoming)).await
        };
        self.each(both, step).await.map(|_| ())
    }

    /// Sends every peer the same bytes, and fills the buffer of every peer.
    ///
    /// *Cost:* one round.
    pub async fn broadcast(
        &mut self,
        own: &[u8],
        incoming: &mut PerPeer<impl AsMut<[u8]> + Send>,
    ) -> Result<(), PartyError> {
        let own = self.per_peer(|_| own);
        self.exchange(&own, incoming).await
    }

    /// Adds up (XOR) the parties' `data`, each party its own share of it: [`share_of`] says which.
    ///
    /// Afterwards, this party's share of `data` holds the sum; the rest is unchanged.
    ///
    /// *Cost:* one round; each party sends the others' shares and receives its own from everybody.
    pub async fn reduce_scatter(&mut self, data: &mut [u8], grain: usize) -> Result<(), PartyError> {
        let (bytes, party, count) = (data.len(), self.party(), self.party_count());
        let share = |party| share_of(bytes, grain, count, party);
        let own = share(party);
        let (below, rest) = data.split_at_mut(own.start);
        let (sum, above) = rest.split_at_mut(own.len());
        let part = |peer| {
            let Range { start, end } = share(peer);
            if peer < party { &below[start..end] } else { &above[start - own.end..end - own.end] }
        };
        let outgoing = self.per_peer(part);
        let sum = Mutex::new(sum);
        let step = async |_, mut line: Line, outgoing: &[u8]| {
            let add = |at: usize, piece: &[u8]| {
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                sum[at..].iter_mut().zip(piece).for_each(|(sum, byte)| *sum ^= byte);
            };
            line.exchange_pieces(outgoing, own.len(), add).await
        };
        self.each(outgoing, step).await.map(|_| ())
    }

    /// Sends everybody this party's share of `data`, and fills in the others' shares: [`share_of`] says which.
    ///
    /// *Cost:* one round; each party sends its share to everybody and receives the others'.
    pub async fn all_gather(&mut self, data: &mut [u8], grain: usize) -> Result<(), PartyError> {
        let (bytes, party, count) = (data.len(), self.party(), self.party_count());
        let mut own: &[u8] = &[];
        let mut incoming = Vec::with_capacity(count.into());
        let mut rest = data;
        for peer in 0..count {
            let (share, more) = rest.split_at_mut(share_of(bytes, grain, count, peer).len());
            rest = more;
            if peer == party {
                own = share;
            } else {
                incoming.push(share);
            }
        }
        self.broadcast(own, &mut PerPeer::from_ends(party, incoming)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs every party's part.
    pub(crate) async fn run<T>(count: u16, part: impl AsyncFn(&mut Mesh) -> T) -> Vec<(T, Mesh)> {
        let one = async |mut mesh: Mesh| (part(&mut mesh).await, mesh);
        futures_util::future::join_all(Mesh::memory(count).into_iter().map(one)).await
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
    }

    fn data(party: u16, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|i| (i * 7 + usize::from(party) * 31 + i / 251) as u8).collect()
    }

    #[test]
    fn everybody_sends_large_amounts_to_everybody_at_once() {
        const BYTES: usize = 2 << 20;
        let done = block_on(run(4, async |mesh| {
            let outgoing = mesh.per_peer(|peer| data(mesh.party() * 16 + peer, BYTES));
            let mut incoming = mesh.per_peer(|_| vec![0; BYTES]);
            mesh.exchange(&outgoing, &mut incoming).await.expect("no deadlock");
            incoming
        }));
        for (incoming, mesh) in done {
            assert!(incoming.iter().all(|(peer, got)| *got == data(peer * 16 + mesh.party(), BYTES)));
            let traffic = mesh.traffic();
            let bytes = 3 * BYTES as u64;
            assert_eq!((traffic.bytes_sent, traffic.bytes_received, traffic.rounds), (bytes, bytes, 1));
        }
    }

    proptest! {
        #[test]
        fn shares_follow_one_another_and_are_even(bytes in 0usize..10_000, grain in 1usize..40, count in 1u16..12) {
            let shares: Vec<_> = (0..count).map(|party| share_of(bytes, grain, count, party)).collect();
            prop_assert_eq!(shares[0].start, 0);
            prop_assert_eq!(shares[shares.len() - 1].end, bytes);
            prop_assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            let [most, least] = [shares.iter().map(Range::len).max(), shares.iter().map(Range::len).min()];
            prop_assert!(most.unwrap_or(0) - least.unwrap_or(0) < 2 * grain);
        }

        #[test]
        fn reduce_scatter_and_all_gather_make_the_sum_known(count in 2u16..6, bytes in 0usize..200_000, grain in 1usize..33) {
            let done = block_on(run(count, async |mesh| {
                let mut data = data(mesh.party(), bytes);
                mesh.reduce_scatter(&mut data, grain).await.expect("works");
                mesh.all_gather(&mut data, grain).await.expect("works");
                data
            }));
            let mut sum = vec![0; bytes];
            for party in 0..count {
                sum.iter_mut().zip(data(party, bytes)).for_each(|(sum, byte)| *sum ^= byte);
            }
            for (got, mesh) in done {
                prop_assert!(got == sum);
                let own = share_of(bytes, grain, count, mesh.party()).len() as u64;
                let sent = bytes as u64 - own + own * u64::from(count - 1);
                prop_assert_eq!(mesh.traffic().bytes_sent, sent);
            }
        }
    }

    #[test]
    fn rounds_count_for_the_whole_mesh() {
        let done = block_on(run(3, async |mesh| {
            // Twice around the ring: to the next, from the one before.
            for _ in 0..2 {
                let (own, count) = (mesh.party(), mesh.party_count());
                let to =
                    |peer, from: u16, to: u16| if peer == (own + count + to - from) % count { vec![1] } else { vec![] };
                let outgoing = mesh.per_peer(|peer| to(peer, 0, 1));
                mesh.exchange(&outgoing, &mut mesh.per_peer(|_| [])).await.expect("sent");
                mesh.exchange(&mesh.per_peer(|_| []), &mut mesh.per_peer(|peer| to(peer, 1, 0)))
                    .await
                    .expect("received");
            }
        }));
        // Each pair has only sent or only waited; the mesh has done both, twice.
        assert!(done.iter().all(|(_, mesh)| mesh.traffic().rounds == 2));
    }
}
