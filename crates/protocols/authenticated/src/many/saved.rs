//! Values that stay on wires after a run, for later programs.
//!
//! Every party keeps the shares of a wire's mask; a garbler its zero label, and the evaluator the active labels of all garblers, whose bit 0 is the masked
//! value: at most `32 n - 16` bytes a bit. A wire can be read any number of times, since no two garblings share a key of their hash.
//!
//! [`among`] explains how all parties end up with the same value. A cheat can only make a value unreadable.

use garblet_protocol::{
    MeshSession,
    conduct::Conduct,
    error::ProtocolError,
    kept::{self, among},
    stock::{SavedNames, SavedValues},
};
use garblet_store::{State, Store};

use super::{
    NAME, Step,
    ground::{Ground, check_echo},
    place::Place,
    plan::Plan,
    secrets::VERSION,
    wires::KeptWires,
};
use crate::stock::saved::Stored;

/// Kept outputs as they are stored.
type Outputs = Stored<KeptWires>;

/// The wires of all inputs that are read, in the order of the program, and the marks of their outputs.
#[derive(Default)]
pub(super) struct Read {
    pub(super) wires: KeptWires,
    pub(super) marks: Vec<u8>,
}

/// The names under which a store keeps values, in alphabetical order.
pub(super) fn names(store: &Store) -> Vec<SavedNames> {
    kept::names(store, NAME, Outputs::names)
}

impl<K: Conduct<Step>> Ground<K> {
    /// Compares the values that all parties keep under names, and settles pending ones.
    ///
    /// *Errors*: [`ECHO`](super::checks::ECHO); outputs of different runs under a name that is read; the connections' and the store's.
    pub(super) async fn meet_kept(
        &mut self,
        session: &mut MeshSession,
        saved: &SavedValues,
    ) -> Result<(), ProtocolError> {
        let Ground { stock, conduct, .. } = self;
        let stock = stock.as_mut().ok_or_else(kept::no_store)?;
        let touch = |peer: u16, marks: &mut [u8]| conduct.touch(Step::KeptMarks, peer.into(), marks);
        let marks = among::Marks::exchange(session, (&mut stock.store, saved), (VERSION, Outputs::mark), touch).await?;
        let heard = self.common(Place::KeptEcho, 0).digest(marks.told());
        let echoed = self.broadcast(session, Step::KeptEcho, &heard).await?;
        // A lie about these tells nobody anything of the secrets: the store stays.
        check_echo(&heard, echoed.iter().map(|(_, digest)| &digest[..]), "the marks of kept values")?;
        let stock = self.stock.as_mut().ok_or_else(kept::no_store)?;
        marks.settle(&mut stock.store, saved)
    }

    /// The wires of all inputs that are read.
    ///
    /// *Errors*: nothing of a name, or of earlier secrets; no such output, or one of another width.
    pub(super) fn read_kept(&self, plan: &Plan, saved: &SavedValues) -> Result<Read, ProtocolError> {
        // In the order of the program, regardless of the order in which this party was given the names.
        let mut names: Vec<_> = saved.inputs(plan.program())?.into_iter().zip(&saved.read).collect();
        names.sort_by_key(|(number, _)| *number);
        let mut read = Read::default();
        for (number, input) in names {
            let stock = self.stock.as_ref().ok_or_else(kept::no_store)?;
            let (wires, mark) = Outputs::read(&stock.store, stock.name(), (&input.name, input.output.as_deref()))?;
            let width = plan.program().inputs()[number].port.width() as usize;
            if !wires.is_of(width, plan, self.party) {
                let what = format!("`{}`, which is read", input.port);
                let [expected, got] = [width, wires.len()].map(|bits| format!("{bits} bits"));
                return Err(ProtocolError::Input { what, expected, got });
            }
            read.wires.append(wires);
            read.marks.extend((number as u64).to_le_bytes());
            read.marks.extend(mark);
        }
        Ok(read)
    }

    /// The outputs of a run to keep, as a state of the store.
    pub(super) fn kept_state(&self, plan: &Plan, run: u64, mut wires: KeptWires) -> Result<State, ProtocolError> {
        let stock = self.stock.as_ref().ok_or_else(kept::no_store)?;
        let mark = self.common(Place::KeptMark, run).digest(b"");
        let outputs = plan.kept().map(|(name, width)| (name.into(), wires.split_front(width))).collect();
        let secrets = stock.name().unwrap_or_default();
        let stored = Outputs { secrets, mark: *mark.first_chunk().unwrap_or(&[0; 8]), outputs };
        Ok(State::encoded(VERSION, &stored))
    }
}
