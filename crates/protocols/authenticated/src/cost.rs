//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;
use garblet_ot::Width;
use garblet_protocol::{
    choice::Operation,
    kept::WORD_BYTES,
    phase::{Communication, Phase},
};

use crate::{
    EVALUATOR, GARBLER,
    amounts::Amounts,
    coins::{COMMITMENT_BYTES, OPENING_BYTES},
    config::{Build, Config, LPN, ResultCheck},
    online::{CHALLENGE_BYTES, DIGEST_BYTES, RUN_BYTES},
    opening::opened_bytes,
    parameters::Batch,
    plan::{Plan, ordered_batches, ots},
    secrets::OT_CHECK,
};

/// The cost of a phase of one run of `plan` for `party`, both hellos given.
///
/// With `n` AND gates in batches of `l` triples in buckets of `B`, `k` masks of a batch, `N = 3 B l + k`, input bits `i0`, `i1` and output bits `m0`, `m1` of
/// the two parties, `t` bytes of a tag, and all bits packed:
///
/// | phase | garbler to evaluator | evaluator to garbler |
/// |---|---|---|
/// | setup | hello, OT set-ups, 32 | hello, OT set-ups, 32 |
/// | setup, silent OTs | also 16, corrections of 149,292 OTs, 2,064 | the same |
/// | prepare, for each batch | corrections of `N` OTs, 16, 2,064; `16 B l`, 64; 32; `B l / 8`, 32; 64; 32; 128; `(B - 1) l / 8`, 16 | the same, with 32 and 64 in place of 32 and 128 |
/// | the same, silent OTs | in place of corrections and 2,064: 192, `176 (73 [N / 1,693,696] + [N / 2,048])` | the same |
/// | build | `(2 n + i1) / 8`, 16; 16, `(32 + 2 t) n`, `n / 8` in pieces | `(2 n + i0) / 8`, 16 |
/// | online, tags | 8, `16 (i0 + i1)`, 16, `m1 / 8`, 16 | 8, `i1 / 8`; `2 (m0 / 8)`, 48 |
/// | online, reveal | 8, `16 (i0 + i1)`; 16, `m1 / 8`, 16 | 8, `i1 / 8`; `n / 8`, 16, 32; `2 (m0 / 8)`, 48 |
///
/// Empty messages are not sent. If the circuit is streamed, gates come online, lot by lot, each with its own openings and, if values are revealed, its own 16
/// bytes. The revealed values of inputs that are read come with those of the first lot. If outputs are kept, the evaluator sends one more byte at the end, and
/// then the garbler.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hello: &[Hello]) -> Communication {
    let mut cost = communication_for_others(plan, party, phase, hello, &[]);
    if phase == Phase::Online && plan.confirms() {
        let word = WORD_BYTES as u64;
        cost += match party == GARBLER {
            true => Communication { bytes_sent: word, ..Communication::default() },
            false => Communication { bytes_received: word, rounds: 1, ..Communication::default() },
        };
    }
    cost
}

/// The same for a run for others, whose parties settle with these messages in turn, see [`crate::others`].
///
/// Each party sends `d / 8` bytes for `d` dealt bits, the garbler after `i0 / 8` of its input. For each of the `M` output bits of others, each party opens a
/// sum with a pad, and the evaluator sends the masked value.
pub fn communication_for_others(
    plan: &Plan,
    party: Party,
    phase: Phase,
    hello: &[Hello],
    settling: &[(Party, usize)],
) -> Communication {
    let hellos = [party.0, 1 - party.0].map(|party| hello[usize::from(party)].encoded_bytes());
    let mut tally = Tally::of_batches(plan.config(), &plan.batches(), (party, phase), hellos);
    if phase == Phase::Setup {
        return tally.cost;
    }
    tally.phase = Phase::Build;
    let streamed = plan.config().build == Build::Stream;
    let all = 0..plan.and_count() as usize;
    match streamed {
        true => tally.masks(plan, 0, true),
        false => tally.lot(plan, all.clone(), true),
    }
    tally.phase = Phase::Online;
    let dealt = plan.dealt_bits();
    // All messages from dealers arrive after everything sent before.
    tally.unanswered &= dealt == 0;
    tally.one_way(EVALUATOR, RUN_BYTES + plan.input_bits(EVALUATOR).div_ceil(8) + dealt.div_ceil(8));
    tally.one_way(GARBLER, RUN_BYTES);
    if dealt > 0 {
        tally.one_way(GARBLER, plan.input_bits(GARBLER).div_ceil(8) + dealt.div_ceil(8));
        settling.iter().for_each(|&(from, bytes)| tally.one_way(from, bytes));
    }
    tally.one_way(GARBLER, 16 * plan.given_bits());
    for lot in if streamed { plan.lots() } else { vec![all] } {
        if streamed {
            tally.lot(plan, lot.clone(), false);
        }
        tally.told(plan, lot);
    }
    tally.end(plan);
    tally.cost
}

/// The cost to `party` of filling new stores up to these amounts, without hellos and what the stores themselves compare.
pub(crate) fn communication_of_order(config: Config, amounts: Amounts, party: Party, phase: Phase) -> Communication {
    Tally::of_batches(config, &ordered_batches(config, amounts), (party, phase), [0; 2]).cost
}

/// The work on OTs of either party in a phase, with as many OTs in each direction: each is sender and receiver.
pub(crate) fn work(config: Config, ots: u64, phase: Phase) -> Vec<(Operation, u64)> {
    let extension = match config.width() {
        Width::Two => Operation::Ot2,
        Width::Four => Operation::Ot4,
        Width::Eight => Operation::Ot8,
    };
    match (phase, config.is_silent(ots)) {
        (Phase::Setup, true) => vec![(extension, 2 * LPN.stock() as u64)],
        (Phase::Prepare, true) => vec![(Operation::SilentOt, 2 * ots)],
        (Phase::Prepare, false) => vec![(extension, 2 * ots)],
        _ => Vec::new(),
    }
}

/// Counts the bytes sent and received in one phase, step by step.
struct Tally {
    party: Party,
    /// The counted phase, and the phase of the current step.
    at: Phase,
    phase: Phase,
    /// Set if the party has sent something since it last waited.
    unanswered: bool,
    cost: Communication,
}

impl Tally {
    /// Counts until these batches are made, with hellos of so many bytes, this party's first.
    fn of_batches(
        config: Config,
        batches: &[(Option<Batch>, u64)],
        (party, at): (Party, Phase),
        [sent, received]: [u64; 2],
    ) -> Self {
        let mut tally = Tally { party, at, phase: Phase::Setup, unanswered: false, cost: Communication::default() };
        let (width, silent) = (config.width(), config.is_silent(ots(batches)));
        if at == Phase::Setup {
            let ots = width.sender_setup_bytes() + width.receiver_setup_bytes() + width.malicious_setup_bytes() + 32;
            if silent {
                tally.first_silent(width);
            }
            // The hello, OTs in both directions, the name of the session.
            tally.cost += Communication { bytes_sent: sent + ots, bytes_received: received + ots, rounds: 5 };
            return tally;
        }
        tally.phase = Phase::Prepare;
        for (batch, masks) in batches {
            tally.batch(width, *batch, *masks, silent);
        }
        tally
    }

    /// Both parties send bytes, by their numbers, and then wait for each other.
    fn exchange(&mut self, bytes: [usize; 2]) {
        let [sent, received] = if self.party == GARBLER { bytes } else { [bytes[1], bytes[0]] };
        self.unanswered |= sent > 0;
        let waits = received > 0 && self.unanswered;
        self.unanswered &= received == 0;
        if self.at == self.phase {
            self.cost +=
                Communication { bytes_sent: sent as u64, bytes_received: received as u64, rounds: waits.into() };
        }
    }

    /// One party sends bytes.
    fn one_way(&mut self, from: Party, bytes: usize) {
        self.exchange(if from == GARBLER { [bytes, 0] } else { [0, bytes] });
    }

    /// Messages of the sender and the receiver of OTs in turn, first in the garbler's direction and then in the evaluator's.
    fn both_directions(&mut self, messages: &[u64]) {
        for [sender, receiver] in [[GARBLER, EVALUATOR], [EVALUATOR, GARBLER]] {
            for (at, &bytes) in messages.iter().enumerate() {
                self.one_way(if at % 2 == 0 { sender } else { receiver }, bytes as usize);
            }
        }
    }

    /// The OTs with which silent ones begin.
    fn first_silent(&mut self, width: Width) {
        let answer = OT_CHECK.digest_bytes() as u64;
        let [point, answered] = width.malicious_extension_bytes(LPN.stock() as u64, OT_CHECK);
        self.both_directions(&[0, answered - answer, point, answer]);
    }

    /// Steps P1 to P6.
    fn batch(&mut self, width: Width, batch: Option<Batch>, masks: u64, silent: bool) {
        let leaky = batch.map_or(0, |batch| batch.leaky() as usize);
        let count = 3 * leaky as u64 + masks;
        if silent {
            self.both_directions(&LPN.batch_messages(count));
            self.exchange([16; 2]);
        } else {
            let [_, answered] = width.malicious_extension_bytes(count, OT_CHECK);
            let answer = OT_CHECK.digest_bytes();
            [answered as usize - answer, 16, answer].into_iter().for_each(|bytes| self.exchange([bytes; 2]));
        }
        let mut both = |bytes: usize| self.exchange([bytes; 2]);
        let Some(batch) = batch else { return };
        both(16 * leaky + 2 * COMMITMENT_BYTES);
        both(COMMITMENT_BYTES);
        both(leaky.div_ceil(8) + 32);
        both(OPENING_BYTES);
        let opened = opened_bytes((batch.bucket as usize - 1) * batch.triples as usize);
        self.one_way(GARBLER, COMMITMENT_BYTES);
        self.one_way(EVALUATOR, 32);
        self.one_way(GARBLER, 2 * OPENING_BYTES);
        self.one_way(EVALUATOR, OPENING_BYTES + opened);
        self.one_way(GARBLER, opened);
    }

    /// Openings of masks of gates, and perhaps of inputs.
    fn masks(&mut self, plan: &Plan, ands: usize, inputs: bool) {
        let bits = [EVALUATOR, GARBLER].map(|of| 2 * ands + if inputs { plan.input_bits(of) } else { 0 });
        if bits != [0, 0] {
            self.exchange(bits.map(opened_bytes));
        }
    }

    /// A lot: its openings, the seed of the hash before the first one, and its gates.
    fn lot(&mut self, plan: &Plan, lot: std::ops::Range<usize>, inputs: bool) {
        self.masks(plan, lot.len(), inputs);
        if lot.start == 0 && !lot.is_empty() {
            self.one_way(GARBLER, 16);
        }
        self.one_way(GARBLER, Plan::pieces(&lot).map(|piece| plan.piece_bytes(piece.len())).sum());
    }

    /// The masked values of a lot, if they are revealed.
    fn told(&mut self, plan: &Plan, lot: std::ops::Range<usize>) {
        if plan.config().check == ResultCheck::Reveal && !lot.is_empty() {
            let bits = lot.len() + if lot.start == 0 { plan.read_bits() } else { 0 };
            self.one_way(EVALUATOR, bits.div_ceil(8) + CHALLENGE_BYTES);
        }
    }

    /// All messages from the sum on.
    fn end(&mut self, plan: &Plan) {
        let opened = |bits: usize| if bits > 0 { opened_bytes(bits) } else { 0 };
        if plan.and_count() > 0 {
            let reveals = plan.config().check == ResultCheck::Reveal;
            self.one_way(EVALUATOR, if reveals { DIGEST_BYTES } else { 0 });
            self.one_way(GARBLER, 16);
        }
        self.one_way(GARBLER, opened(plan.output_bits(EVALUATOR) + plan.pads()));
        let outputs = plan.output_bits(GARBLER) + plan.pads();
        self.one_way(EVALUATOR, if outputs > 0 { outputs.div_ceil(8) + opened(outputs) + DIGEST_BYTES } else { 0 });
        self.one_way(EVALUATOR, if plan.confirms() { WORD_BYTES } else { 0 });
    }
}
