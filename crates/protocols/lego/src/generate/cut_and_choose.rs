//! Steps 8 and 9: the evaluator checks gates and authenticators by coins.

use garblet_homcommit::{ClaimedOpenings, Code, CommitReceiver, ReceiverShare};
use garblet_primitives::Block;
use garblet_store::Scratch;

use super::{
    challenge::Challenge,
    gates::Components,
    layout::{gate_keys, key},
    made::{Checked, MadeAuthenticator, MadeGate},
    unchecked::Unchecked,
};
use crate::{
    Checks,
    order::Order,
    pipeline::Pipeline,
    stock::pieces::{Storable, Workshop},
};
use garblet_protocol::{error::ProtocolError, session::Session};

/// The received components of a part.
pub(crate) struct Received {
    /// Numbers of the first gate and the first authenticator.
    pub(crate) first: [u64; 2],
    pub(crate) tables: Vec<[Block; 2]>,
    /// The shifts from each gate's key to the committed one.
    pub(crate) shifts: Vec<Block>,
    pub(crate) authenticators: Vec<[Block; 2]>,
}

/// All components, where the challenge has put them.
pub(crate) struct Sorted {
    code: Code,
    challenge: Challenge,
    unchecked: Unchecked<MadeGate, MadeAuthenticator>,
    /// The checked components, part by part: their number and kind.
    counts: Vec<[usize; 2]>,
    checked: Scratch,
}

/// The components that were not checked, of a constructor that has passed all checks.
pub(crate) struct CutAndChoosePassed {
    pub(crate) unchecked: Unchecked<MadeGate, MadeAuthenticator>,
    pub(crate) checks: Checks,
}

/// Checked components of a part, the keys of which are being opened.
type Opening = (Vec<Checked<MadeGate, 2>>, Vec<Checked<MadeAuthenticator, 1>>);

impl Sorted {
    /// None yet, with room for all of an order.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn new(
        code: Code,
        order: &Order,
        seed: Block,
        workshop: &mut impl Workshop,
    ) -> Result<Self, ProtocolError> {
        let challenge = Challenge::of(seed, &order.parameters());
        let unchecked = Unchecked::new(code, order, challenge.permutations, workshop)?;
        let checked = workshop.room(order.parts().count())?;
        Ok(Sorted { code, challenge, unchecked, counts: Vec::new(), checked })
    }

    /// Puts a part's components, whose commitments were verified, where they belong.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn put(&mut self, received: &Received, watched: &[ReceiverShare]) -> Result<(), ProtocolError> {
        let (part, [first_gate, first_authenticator]) = (self.counts.len(), received.first);
        let (of_gates, of_authenticators) = watched.split_at(3 * received.tables.len());
        let mut counts = [0; 2];
        let gates = received.tables.iter().zip(&received.shifts).zip(of_gates.as_chunks().0);
        for (number, ((&table, &shift), &wires)) in (first_gate..).zip(gates) {
            let component = MadeGate { number, table, shift, wires };
            match self.challenge.gates.toss() {
                Some(bits) => {
                    self.put_checked(part, &Checked { component, bits })?;
                    counts[0] += 1;
                }
                None => self.unchecked.gates.put(&component)?,
            }
        }
        let authenticators = received.authenticators.iter().zip(of_authenticators);
        for (number, (&pair, &wire)) in (first_authenticator..).zip(authenticators) {
            let component = MadeAuthenticator { number, pair, wire };
            match self.challenge.authenticators.toss() {
                Some(bits) => {
                    self.put_checked(part, &Checked { component, bits })?;
                    counts[1] += 1;
                }
                None => self.unchecked.authenticators.put(&component)?,
            }
        }
        self.counts.push(counts);
        Ok(())
    }

    /// Adds a component to the checked ones of its part.
    fn put_checked<T: Storable>(&mut self, part: usize, checked: &T) -> Result<(), ProtocolError> {
        Ok(self.checked.append_with(part, T::bytes(self.code), |into| checked.write(into))?)
    }

    /// Takes the components of a part that are checked.
    fn checked_of(&mut self, part: usize) -> Result<Opening, ProtocolError> {
        let bytes = self.checked.take(part)?;
        let [gates, _] = self.counts[part];
        let [of_gate, of_authenticator] =
            [Checked::<MadeGate, 2>::bytes, Checked::<MadeAuthenticator, 1>::bytes].map(|bytes| bytes(self.code));
        let (gates, authenticators) = bytes.split_at(gates * of_gate);
        Ok((
            gates.chunks_exact(of_gate).map(Storable::read).collect(),
            authenticators.chunks_exact(of_authenticator).map(Storable::read).collect(),
        ))
    }

    /// Has the keys of the checked components opened, and checks these part by part.
    ///
    /// *Errors*: [`checks::GATE`](crate::checks::GATE), [`checks::AUTHENTICATOR`](crate::checks::AUTHENTICATOR); false openings; the
    /// connection's and the disk's.
    pub(crate) async fn check(
        mut self,
        session: &mut Session,
        order: &Order,
        commitments: &mut CommitReceiver,
        delta: ReceiverShare,
        components: &Components,
    ) -> Result<CutAndChoosePassed, ProtocolError> {
        let (mut checks, parts) = (Checks::default(), order.parts().count());
        let mut pipeline: Pipeline<(Opening, ClaimedOpenings)> = Pipeline::new();
        for part in 0..parts {
            let opening = self.checked_of(part)?;
            checks.gates += opening.0.len() as u64;
            checks.authenticators += opening.1.len() as u64;
            let of_gates = opening.0.iter().flat_map(|gate| gate_keys(delta, gate.component.wires, gate.bits));
            let of_authenticators = opening.1.iter().map(|c| key(delta, c.component.wire, c.bits[0]));
            let watched: Vec<ReceiverShare> = of_gates.chain(of_authenticators).collect();
            let (channel, rng) = session.parts();
            let shown = commitments.receive_openings(channel, rng, &watched).await?;
            if let Some((opening, shown)) = pipeline.push((opening, shown)) {
                check_opened(components, &opening, &commitments.verify_openings(channel, shown).await?)?;
            }
            order.tell(session, parts + part + 1);
        }
        while let Some((opening, shown)) = pipeline.pop() {
            check_opened(components, &opening, &commitments.verify_openings(session.channel(), shown).await?)?;
        }
        Ok(CutAndChoosePassed { unchecked: self.unchecked, checks })
    }
}

fn check_opened(
    components: &Components,
    (gates, authenticators): &Opening,
    opened: &[Block],
) -> Result<(), ProtocolError> {
    let (of_gates, of_authenticators) = opened.split_at(3 * gates.len());
    MadeGate::check(components, gates, of_gates)?;
    MadeAuthenticator::check(components, authenticators, of_authenticators)
}
