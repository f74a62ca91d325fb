//! Places for connections that have been heard and are still open: a limited number, such that one address cannot exclude others.

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
    /// So many places.
    pub fn new(most: usize) -> Self {
        Places { most, taken: Arc::default() }
    }

    /// Takes a place for somebody from that address.
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

/// A place, which is given back when it is dropped.
pub struct Place(oneshot::Receiver<()>);

impl Place {
    /// Goes on with something until it is done, or dropped since the place was lost: then nothing.
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
    async fn a_place_that_was_given_back_is_free() {
        let places = Places::new(1);
        for _ in 0..3 {
            assert_eq!(places.take(address(1, 1)).keep(ready(7)).await, Some(7));
        }
        let kept = places.take(address(1, 1));
        assert_eq!(kept.keep(ready(7)).await, Some(7));
    }
}
