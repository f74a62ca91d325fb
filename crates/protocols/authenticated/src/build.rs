//! Step B1, and the parties' data at gates: masks on all wires, joined to triples by opened bits.

pub(crate) mod evaluator;
pub(crate) mod garbler;

use garblet_circuit::Party;
use garblet_garble::masked::MaskWalk;
use garblet_primitives::Block;
use garblet_protocol::{conduct::Conduct, domain::Hasher, error::ProtocolError, session::Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    EVALUATOR, GARBLER, Step, checks,
    ground::Ground,
    opening::{Packed, Sums, open, opened, opened_bytes},
    place::Place,
    plan::Plan,
    shares::{Shares, Triples},
    wires::Shared,
};

/// Shares of the masks at AND gates: of both operands, and of the result and the product of the operands' masks together.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct GateShares {
    pub(crate) left: Shares,
    pub(crate) right: Shares,
    pub(crate) result: Shares,
}

/// Shares of the masks of the inputs of a program, bit by bit, and after them those of all wires on the way to its outputs.
pub(crate) struct Wiring<'p> {
    own: MaskWalk<'p>,
    peer: MaskWalk<'p>,
}

impl<'p> Wiring<'p> {
    /// Shares by input ports.
    pub(crate) fn new(plan: &'p Plan, inputs: Shared) -> Self {
        let walk = |inputs| MaskWalk::new(plan.program(), plan.schedules(), inputs, Block::ZERO);
        let Shared { own, peer } = &mut { inputs };
        Wiring { own: walk(std::mem::take(own)), peer: walk(std::mem::take(peer)) }
    }

    /// Shares at the next gates, whose results have these masks.
    fn advance(&mut self, masks: Shares) -> GateShares {
        let (mut left, mut right) = (Shares::zeros(masks.len()), Shares::zeros(masks.len()));
        self.own.advance(&masks.own, [&mut left.own, &mut right.own]);
        self.peer.advance(&masks.peer, [&mut left.peer, &mut right.peer]);
        GateShares { left, right, result: masks }
    }

    /// Shares of the masks of all outputs.
    pub(crate) fn into_outputs(self) -> Shared {
        Shared { own: self.own.into_outputs(), peer: self.peer.into_outputs() }
    }
}

/// Shares of the masks of inputs, and of all other dealt bits.
pub(crate) struct InputMasks {
    /// Of all bits that somebody gives, in program order.
    pub(crate) shares: Shares,
    /// Of each party's.
    by_party: [Shares; 2],
    /// The shares for dealt bits, see [`crate::others`].
    pub(crate) dealt: Shares,
}

impl InputMasks {
    pub(crate) fn new(plan: &Plan, shares: Shares) -> Self {
        let mut by_party = [GARBLER, EVALUATOR].map(|party| Shares::with_room(plan.input_bits(party)));
        let mut dealt = Shares::with_room(plan.dealt_bits());
        for (at, owner) in plan.owners().flatten().enumerate() {
            by_party.get_mut(usize::from(owner.0)).unwrap_or(&mut dealt).extend(&shares, at..at + 1);
        }
        dealt.extend(&shares, plan.given_bits()..shares.len());
        InputMasks { shares, by_party, dealt }
    }

    /// Those of a party's bits.
    fn of(&self, party: Party) -> &Shares {
        &self.by_party[usize::from(party.0)]
    }
}

impl<C: Conduct<Step>> Ground<C> {
    /// Steps B1 and B3: both parties open the sums of operands' masks and triples, and the masks of each other's inputs, if these are given. Returns
    /// the sums, first those of left operands and then those of right ones, and the masks of this party's own inputs.
    ///
    /// *Errors*: [`checks::MASK_BITS`]; the connection's.
    pub(crate) async fn open_masks(
        &mut self,
        session: &mut Session,
        gates: &GateShares,
        triples: &Triples,
        inputs: Option<&InputMasks>,
    ) -> Result<(Packed, Zeroizing<Vec<bool>>), ProtocolError> {
        let ands = triples.len();
        let none = Shares::default();
        let of = |party| inputs.map_or(&none, |inputs| inputs.of(party));
        let [ours, theirs] = [of(self.party), of(self.peer())];
        if 2 * ands + ours.len() + theirs.len() == 0 {
            return Ok((Packed::zeros(0), Zeroizing::default()));
        }
        let (left, right, [a, b]) = (&gates.left, &gates.right, [&triples.a, &triples.b]);
        let of_peer = || Sums::default().and(&left.peer, &a.peer).and(&right.peer, &b.peer);
        let of_own = Sums::default().and(&left.own, &a.own).and(&right.own, &b.own).and_alone(&ours.own);
        let number = self.openings;
        self.openings += 1;
        let domain = self.domain(self.party, Place::MaskBits, number);
        let to_open = of_peer().and_alone(&theirs.peer);
        let mut message = open(&domain, &to_open.bits(), &to_open);
        let mut told = vec![0; opened_bytes(of_own.len())];
        self.exchange(session, Step::MaskBits, &mut message, &mut told).await?;
        let (domain, delta) = (self.domain(self.peer(), Place::MaskBits, number), self.delta.block());
        let bits = of_peer().and_alone(&ours.peer).bits();
        let total = opened(&domain, &told, checks::MASK_BITS, (&bits, &of_own), delta)?;
        let masks = Zeroizing::new((2 * ands..of_own.len()).map(|at| total.get(at)).collect());
        Ok((total.first(2 * ands), masks))
    }

    /// Step B1 for a lot: opens the bits that join its triples to the function, and returns the shares at its gates.
    ///
    /// *Errors*: as [`Ground::open_masks`].
    pub(crate) async fn open_lot(
        &mut self,
        session: &mut Session,
        wiring: &mut Wiring<'_>,
        (triples, masks): (Triples, Shares),
        inputs: Option<&InputMasks>,
        transcript: &mut Hasher,
    ) -> Result<(GateShares, Zeroizing<Vec<bool>>), ProtocolError> {
        let mut gates = wiring.advance(masks);
        let (opened, own_masks) = self.open_masks(session, &gates, &triples, inputs).await?;
        transcript.add(&opened.0);
        self.join(&mut gates, &triples, &opened);
        Ok((gates, own_masks))
    }

    /// Adds to the masks of results the products of the operands' masks: `z + d y + e x + d e` for a triple `x, y, z`.
    fn join(&self, gates: &mut GateShares, triples: &Triples, opened: &Packed) {
        let ands = triples.len();
        let delta = self.delta.block();
        let one = Block::from_u128(1);
        let constants = if self.party == GARBLER { [delta, one] } else { [delta ^ one, Block::ZERO] };
        let add = |result: &mut [Block], [x, y, z]: [&[Block]; 3], constant: Block| {
            for (at, result) in result.iter_mut().enumerate() {
                let (d, e) = (Block::mask(opened.get(at)), Block::mask(opened.get(ands + at)));
                *result ^= z[at] ^ (d & y[at]) ^ (e & x[at]) ^ (d & e & constant);
            }
        };
        let Triples { a, b, c } = triples;
        add(&mut gates.result.own, [&a.own, &b.own, &c.own], constants[0]);
        add(&mut gates.result.peer, [&a.peer, &b.peer, &c.peer], constants[1]);
    }
}
