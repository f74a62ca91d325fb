//! Values that several parties keep: how all end up with the same ones.
//!
//! A value that not all have kept is of no use to anybody. So after a run every party writes its part as *pending*, and tells all others. A party that has
//! heard this of all keeps what was pending. If that is cut off, the next meeting that uses the name settles it: if one party has kept a value that all others
//! have kept or pending, all keep it. Otherwise all continue with what they had kept before.

use garblet_circuit::Party;
use garblet_store::Store;

use super::{
    Marked, Part, WORD_BYTES, advance, drop_pending, ended, has_kept, heard, marks, names_of, not_kept,
    of_different_runs, told,
};
use crate::{error::ProtocolError, session::MeshSession, stock::SavedValues};

/// The marks of the values that each party has kept, and has pending, under one name.
type OfAll<const N: usize> = Vec<[Marked<N>; 2]>;

/// The words of all parties on the values that they keep. All must have heard the same before they settle.
pub struct Marks<const N: usize> {
    own: u16,
    /// By name.
    names: Vec<(String, OfAll<N>)>,
    told: Vec<u8>,
}

impl<const N: usize> Marks<N> {
    /// Tells all others the marks of this party's values, and hears theirs. `mark` reads the mark of a stored value; `touch` sees every message before it leaves.
    ///
    /// *Cost*: `2 (1 + N)` bytes for each name to every other party, one round. *Errors*: the connections'.
    pub async fn exchange(
        session: &mut MeshSession,
        (store, saved): (&mut Store, &SavedValues),
        mark: (u32, impl Fn(&[u8]) -> Marked<N>),
        mut touch: impl FnMut(u16, &mut [u8]),
    ) -> Result<Self, ProtocolError> {
        let names = names_of(saved);
        let own: Vec<u8> = marks(store, &names, mark)?.as_flattened().iter().flat_map(told).collect();
        let mesh = session.mesh();
        let mut theirs = mesh.per_peer(|_| vec![0; own.len()]);
        let mut outgoing = mesh.per_peer(|_| own.clone());
        outgoing.iter_mut().for_each(|(peer, marks)| touch(peer, marks));
        mesh.exchange(&outgoing, &mut theirs).await?;
        let all: Vec<&Vec<u8>> = (0..mesh.party_count()).map(|party| theirs.get(party).unwrap_or(&own)).collect();
        let of_name = |at: usize| {
            let of_party = |told: &&Vec<u8>| {
                let mut marks = told[2 * at * (1 + N)..].chunks_exact(1 + N).map(heard);
                [marks.next(), marks.next()].map(Option::flatten)
            };
            all.iter().map(of_party).collect()
        };
        let names = names.iter().enumerate().map(|(at, name)| ((*name).clone(), of_name(at))).collect();
        Ok(Marks { own: mesh.party(), names, told: all.into_iter().flatten().copied().collect() })
    }

    /// The words of all parties, in their order.
    pub fn told(&self) -> &[u8] {
        &self.told
    }

    /// Settles values that are pending because a run was interrupted.
    ///
    /// *Errors*: outputs of different runs under a name that is read; the store's.
    pub fn settle(self, store: &mut Store, saved: &SavedValues) -> Result<(), ProtocolError> {
        for (name, all) in &self.names {
            let [own, _] = all[usize::from(self.own)];
            match decided(all) {
                Some(mark) if own == mark => drop_pending(store, name)?,
                Some(_) => advance(store, name)?,
                None if saved.read.iter().any(|read| read.name == *name) => return Err(of_different_runs(name)),
                None => {}
            }
        }
        Ok(())
    }
}

/// The value with which all continue, or none of it; `None` if they have nothing in common.
fn decided<const N: usize>(all: &OfAll<N>) -> Option<Marked<N>> {
    let kept = |mark: &Marked<N>| all.iter().all(|[kept, _]| kept == mark);
    let fits = |mark: &Marked<N>| all.iter().all(|[kept, pending]| kept == mark || mark.is_some() && pending == mark);
    let first = all.first().map(|[kept, _]| *kept)?;
    if kept(&first) {
        return Some(first);
    }
    all.iter().map(|[kept, _]| *kept).find(|mark| fits(mark))
}

/// The end of a run that is to keep values: tells all others whether this party has its part, and hears the same of them. If all have theirs, this party keeps
/// what was pending; if nobody has anything because the computation has panicked, the run has ended, too. `touch` sees every word before it leaves.
///
/// *Cost*: a byte to every other party, one round. *Errors*: [`ProtocolError::NotKept`]; the connections', after which the next meeting settles it; the store's.
pub async fn conclude(
    session: &mut MeshSession,
    store: &mut Store,
    (name, has): (&str, Part),
    mut touch: impl FnMut(u16, &mut [u8]),
) -> Result<(), ProtocolError> {
    let mesh = session.mesh();
    let mut words = mesh.per_peer(|_| [0; WORD_BYTES]);
    let mut outgoing = mesh.per_peer(|_| [u8::from(has != Part::Failed); WORD_BYTES]);
    outgoing.iter_mut().for_each(|(peer, word)| touch(peer, word));
    mesh.exchange(&outgoing, &mut words).await?;
    let read = |(peer, word): (u16, &[u8; WORD_BYTES])| {
        has_kept(*word).map_err(|error| ProtocolError::Peer { party: Party(peer), source: Box::new(error.into()) })
    };
    let all = words.iter().map(read).collect::<Result<Vec<bool>, ProtocolError>>()?;
    match (all.into_iter().all(|has| has), has) {
        (true, Part::Written) => advance(store, name),
        (true, Part::Nothing) => ended(store, name),
        // A write that failed may have been made nevertheless: the next meeting shows it.
        (false, Part::Written | Part::Nothing) => Err(not_kept(name)),
        (_, Part::Failed) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_continue_with_what_one_has_and_all_others_have_pending() {
        let (old, new, other) = (Some([1]), Some([2]), Some([3]));
        let cases: [(Vec<[Marked<1>; 2]>, Option<Marked<1>>); 9] = [
            (vec![[None, None]; 3], Some(None)),
            (vec![[None, new]; 3], Some(None)),
            (vec![[old, new]; 3], Some(old)),
            (vec![[old, new], [new, None], [old, new]], Some(new)),
            (vec![[None, new], [new, None], [new, None]], Some(new)),
            (vec![[old, new], [old, None], [old, new]], Some(old)),
            (vec![[old, new], [new, None], [old, None]], None),
            (vec![[old, None], [new, None], [other, None]], None),
            (vec![[None, None], [new, None], [new, None]], None),
        ];
        for (all, expected) in cases {
            assert_eq!(decided(&all), expected, "{all:?}");
        }
    }
}
