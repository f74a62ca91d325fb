//! One value for every party but this one.

/// One value for every party but this one, by the party's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerPeer<T> {
    own: u16,
    values: Vec<T>,
}

impl<T> PerPeer<T> {
    /// Creates the values for the peers of party `own` of `count`, in order.
    pub fn new(own: u16, count: u16, value: impl FnMut(u16) -> T) -> Self {
        PerPeer { own, values: (0..count).filter(|&party| party != own).map(value).collect() }
    }

    /// The values of the peers of party `own` in order.
    pub fn from_ends(own: u16, values: Vec<T>) -> Self {
        PerPeer { own, values }
    }

    /// The party without a value: this one.
    pub fn own(&self) -> u16 {
        self.own
    }

    /// The number of parties, this one included.
    pub fn party_count(&self) -> u16 {
        self.values.len() as u16 + 1
    }

    /// A peer's value; `None` for this party and for unknown ones.
    pub fn get(&self, party: u16) -> Option<&T> {
        self.values.get(self.index(party)?)
    }

    /// A peer's value, for changes.
    pub fn get_mut(&mut self, party: u16) -> Option<&mut T> {
        let index = self.index(party)?;
        self.values.get_mut(index)
    }

    /// The peers and their values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u16, &T)> {
        let own = self.own;
        self.values.iter().enumerate().map(move |(index, value)| (party(own, index), value))
    }

    /// The peers and their values in order, for changes.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (u16, &mut T)> {
        let own = self.own;
        self.values.iter_mut().enumerate().map(move |(index, value)| (party(own, index), value))
    }

    /// Changes every value.
    pub fn map<U>(self, mut change: impl FnMut(u16, T) -> U) -> PerPeer<U> {
        let own = self.own;
        PerPeer { own, values: self.into_iter().map(|(party, value)| change(party, value)).collect() }
    }

    /// Maps every value.
    pub fn map_ref<U>(&self, mut make: impl FnMut(u16, &T) -> U) -> PerPeer<U> {
        PerPeer { own: self.own, values: self.iter().map(|(party, value)| make(party, value)).collect() }
    }

    /// Pairs every value with another for the same peer.
    pub fn zip<U>(self, other: PerPeer<U>) -> PerPeer<(T, U)> {
        PerPeer { own: self.own, values: self.values.into_iter().zip(other.values).collect() }
    }

    /// Mutable references to the values.
    pub fn as_mut(&mut self) -> PerPeer<&mut T> {
        PerPeer { own: self.own, values: self.values.iter_mut().collect() }
    }

    /// References to the values.
    pub fn as_ref(&self) -> PerPeer<&T> {
        PerPeer { own: self.own, values: self.values.iter().collect() }
    }

    fn index(&self, party: u16) -> Option<usize> {
        match party.cmp(&self.own) {
            std::cmp::Ordering::Less => Some(party.into()),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(usize::from(party) - 1),
        }
    }
}

impl<T> IntoIterator for PerPeer<T> {
    type Item = (u16, T);
    type IntoIter = std::vec::IntoIter<(u16, T)>;

    fn into_iter(self) -> Self::IntoIter {
        let own = self.own;
        let values = self.values.into_iter().enumerate().map(|(index, value)| (party(own, index), value));
        values.collect::<Vec<_>>().into_iter()
    }
}

/// The peer with the value at `index`.
fn party(own: u16, index: usize) -> u16 {
    let index = index as u16;
    if index < own { index } else { index + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_party_except_for_this_one() {
        for own in 0..4 {
            let mut values = PerPeer::new(own, 4, |party| party * 10);
            assert_eq!((values.own(), values.party_count()), (own, 4));
            for party in 0..6 {
                let expected = (party != own && party < 4).then_some(party * 10);
                assert_eq!(values.get(party).copied(), expected);
                assert_eq!(values.get_mut(party).copied(), expected);
            }
            assert!(values.iter().all(|(party, value)| *value == party * 10));
            let doubled = values.map(|party, value| u32::from(party + value));
            assert!(doubled.into_iter().all(|(party, value)| value == u32::from(party) * 11));
        }
    }
}
