//! Places for admitted connections that are still open: a limited number, such that one address cannot exclude others.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::reception::{most_of_one, origin};

/// Places. One connection more evicts the oldest one from the network address with the most.
#[derive(Clone)]
pub struct Places {
    most: usize,
    taken: Arc<Mutex<Vec<Taken>>>,
}

struct Taken {
    by: IpAddr,
    /// Ends with the place, at either end.
    place: oneshot::Sender<()>,
}

impl Places {
    /// Creates this number of places.
    pub fn new(most: usize) -> Self {
        Places { most, taken: Arc::default() }
    }

    /// Takes a place for a connection from this address.
    pub fn take(&self, from: SocketAddr) -> Place {
        let (place, lost) = oneshot::channel();
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|other| !other.place.is_closed());
        taken.push(Taken { by: origin(from.ip()), place });
        if taken.len() > self.most {
            let out = most_of_one(taken.iter().map(|one| one.by));
            taken.remove(out);
        }
        Place(lost)
    }
}

/// A place, freed on drop.
pub struct Place(oneshot::Receiver<()>);

impl Place {
    /// Runs a future to its end; drops it and returns `None` if the place is lost.
    pub async fn keep<T>(mut self, something: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = something => Some(done),
            _ = &mut self.0 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    fn address(host: u8, port: u16) -> SocketAddr {
        ([10, 0, 0, host], port).into()
    }

    #[tokio::test]
    async fn an_address_with_many_places_loses_its_own() {
        let places = Places::new(3);
        let alone = places.take(address(1, 1));
        let mut others: Vec<Place> = (0..1000).map(|port| places.take(address(2, port))).collect();
        let last = others.split_off(998);
        for other in others {
            assert_eq!(other.keep(pending::<()>()).await, None);
        }
        for kept in last.into_iter().chain([alone]) {
            assert_eq!(kept.keep(ready(7)).await, Some(7));
        }
    }

    #[tokio::test]
    async fn a_freed_place_can_be_taken_again() {
        let places = Places::new(1);
        for _ in 0..3 {
            assert_eq!(places.take(address(1, 1)).keep(ready(7)).await, Some(7));
        }
        let kept = places.take(address(1, 1));
        assert_eq!(kept.keep(ready(7)).await, Some(7));
    }
}
