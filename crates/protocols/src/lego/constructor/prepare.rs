//! Steps 2 to 12: makes what an order says, has it checked and joined to buckets.

use garblet_circuit::Bits;
use garblet_commit::Committed;
use garblet_primitives::{Block, Prg};
use rand_core::Rng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::Constructor;
use crate::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check},
    conduct::Conduct,
    error::ProtocolError,
    lego::{
        Step,
        layout::{Challenge, Heads, Layout, Soldering},
        leak,
        pieces::Wires,
        plan::{Order, STATISTICAL, select_bit},
        too_few_left,
    },
    session::Session,
};

impl<C: Conduct<Step>> Constructor<C> {
    /// Makes gates and authenticators, has them checked, and joins them to buckets; nothing here depends on a function but
    /// the order's size.
    pub(super) async fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
    ) -> Result<Wires<Committed>, ProtocolError> {
        let (channel, rng) = session.parts();
        let inputs = order.inputs();
        let blocks = self.delta_ot.extend(channel, rng, inputs + STATISTICAL as usize).await?;
        let (gates, authenticators) = (order.gates_made(), order.authenticators_made());
        let random = 3 * gates + authenticators + order.outputs() + STATISTICAL as usize;
        let mut committed = self.commitments.commit(channel, random).await?;
        let mut committed_blocks = blocks.clone();
        self.conduct.touch(Step::Strings, 0, bytemuck::cast_slice_mut(&mut committed_blocks[..inputs]));
        let mut strings = self.commitments.commit_to(channel, &committed_blocks).await?;
        let mut masks = committed.split_off(3 * gates + authenticators);
        let authenticated = committed.split_off(3 * gates);
        let gates: Vec<Soldering<Committed>> = committed.as_chunks::<3>().0.to_vec();
        self.send_components(session, &gates, &authenticated).await?;
        let checked = strings.split_off(inputs);
        self.leak(session, &strings, &masks).await?;
        let tail = (&blocks[inputs..], &checked[..]);
        let challenge = self.open_checked(session, order, &gates, &authenticated, tail).await?;
        let unchecked = challenge.unchecked(gates.len(), authenticated.len());
        let Heads { gates, input_gates, inputs } =
            self.solder_buckets(session, order, unchecked, &gates, &authenticated).await?;
        masks.truncate(order.outputs());
        Ok(Wires { gates, inputs, strings, input_gates, masks })
    }

    /// Sends gates with the shifts to their committed outputs, and authenticators.
    async fn send_components(
        &mut self,
        session: &mut Session,
        gates: &[Soldering<Committed>],
        authenticated: &[Committed],
    ) -> Result<(), ProtocolError> {
        let rng = session.rng();
        let secret = Zeroizing::new(Block::random(rng));
        let mut order = Prg::random(rng);
        let [first_gate, first_authenticator] = self.next_numbers;
        self.next_numbers = [first_gate + gates.len() as u64, first_authenticator + authenticated.len() as u64];
        let inputs: Zeroizing<Vec<Block>> =
            Zeroizing::new(gates.iter().flat_map(|[left, right, _]| [left.message(), right.message()]).collect());
        let delta = self.delta_ot.delta();
        let (mut tables, outputs) = self.components.garble(delta, *secret, first_gate, &inputs);
        let mut shifts: Vec<Block> =
            outputs.iter().zip(gates).map(|(&given, gate)| given ^ gate[2].message()).collect();
        let zeros: Zeroizing<Vec<Block>> = Zeroizing::new(authenticated.iter().map(Committed::message).collect());
        let swaps = std::iter::repeat_with(|| order.next_u32() & 1 == 1);
        let mut pairs = self.components.authenticate(delta, first_authenticator, &zeros, swaps);
        self.conduct.touch(Step::Tables, 0, &mut tables);
        self.conduct.touch(Step::Shifts, 0, bytemuck::cast_slice_mut(&mut shifts));
        self.conduct.touch(Step::Authenticators, 0, bytemuck::cast_slice_mut(&mut pairs));
        session.channel().send_bytes(&tables).await?;
        send_blocks(session, &shifts).await?;
        send_blocks(session, pairs.as_flattened()).await
    }

    /// Tells the select bits of the OTs' blocks and of the output masks, and opens blinded combinations of them.
    async fn leak(
        &mut self,
        session: &mut Session,
        strings: &[Committed],
        masks: &[Committed],
    ) -> Result<(), ProtocolError> {
        let told: Bits = strings.iter().chain(masks).map(|committed| select_bit(committed.message())).collect();
        let mut told = told.to_bytes();
        self.conduct.touch(Step::Told, 0, &mut told);
        session.channel().send_bytes(&told).await?;
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let mut combinations = leak::combinations(seed[0], self.delta, strings, masks);
        self.conduct.touch(Step::Combined, 0, bytemuck::cast_slice_mut(&mut combinations));
        Ok(self.commitments.open(session.channel(), &combinations).await?)
    }

    /// Opens what the evaluator checks: keys of gates and authenticators, and the OTs of which it shows to know its block.
    async fn open_checked(
        &mut self,
        session: &mut Session,
        order: &Order,
        gates: &[Soldering<Committed>],
        authenticated: &[Committed],
        (blocks, strings): (&[Block], &[Committed]),
    ) -> Result<Challenge, ProtocolError> {
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let challenge = Challenge::of(seed[0], &order.parameters(), gates.len(), authenticated.len());
        let bits = receive_bits(session, strings.len()).await?;
        let mut claimed = vec![Block::ZERO; strings.len()];
        receive_blocks(session, &mut claimed).await?;
        let delta = self.delta_ot.delta().block();
        let right = blocks.iter().zip(bits.iter()).map(|(&block, bit)| block ^ (Block::mask(bit) & delta));
        if let Some(index) = right.zip(claimed).position(|(right, claimed)| !bool::from(right.ct_eq(&claimed))) {
            return Err(Cheating::new(Check::DeltaClaim, format!("OT {index}")).into());
        }
        let mut opened = challenge.keys(self.delta, gates, authenticated);
        let strings = strings.iter().zip(bits.iter());
        opened.extend(strings.map(|(&string, bit)| string ^ if bit { self.delta } else { Committed::default() }));
        self.conduct.touch(Step::Checked, 0, bytemuck::cast_slice_mut(&mut opened));
        self.commitments.open_batch(session.channel(), &opened).await?;
        Ok(challenge)
    }

    /// Opens what joins the components of every bucket, as the evaluator's permutation says.
    async fn solder_buckets(
        &mut self,
        session: &mut Session,
        order: &Order,
        unchecked: [Vec<u64>; 2],
        gates: &[Soldering<Committed>],
        authenticated: &[Committed],
    ) -> Result<Heads<Committed>, ProtocolError> {
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let layout = Layout::new(order.parameters(), unchecked, seed[0]).ok_or_else(too_few_left)?;
        let mut solderings = layout.solderings(gates, authenticated);
        self.conduct.touch(Step::Solderings, 0, bytemuck::cast_slice_mut(&mut solderings));
        self.commitments.open_batch(session.channel(), &solderings).await?;
        Ok(layout.heads(gates, authenticated))
    }
}
