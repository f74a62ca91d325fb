//! Set-up: the name of the session, OTs of all pairs, and the proof that every party has one difference.
//!
//! | flow | to every other party | bytes |
//! |---|---|---|
//! | S0 | a nonce; a digest of all nonces | 32; 32 |
//! | S1 | checked set-ups of OTs both ways; a share of the pair's secret | see [`garblet_ot`]; 16 |
//! | S2, 1 to 3 | 128 correlated OTs both ways: corrections, the point of the check, the answer | |
//! | S2, 4 | to party `k` the sum `y` of the choices towards it, under a share of zero | 16 |
//! | S2, 5, 6 | commitment to the proofs; the proofs, with the opening | 32; 16 n + 32 |
//!
//! *Symbols* of S2: `x_ik` are the bits of party `i` in its OTs with party `k`, as an element of GF(2^128). Party `i` proves nothing of its own; every `D_k` is
//! proved by all. A share of `x_ik D_k` has party `i` as the MAC of its bits, and party `k` as a key. With `y_ik`, whose sum over `i` is that of `x_ik`, party `k`
//! makes the shares of column `k` add up to zero. Whoever has several differences would have to guess another's `x`: the probability is `2^-128`.
//!
//! A false `y` tells its sender this party's difference from the proofs. That is harmless: nothing has been made with it, and it is never used.

use garblet_circuit::Party;
use garblet_net::{Channel, Line, PerPeer};
use garblet_ot::{OtError, ReceiverSeeds, SenderSeeds};
use garblet_primitives::{Block, Delta, Prg, gf128, secrets};
use garblet_protocol::{MeshSession, Phase, conduct::Conduct, domain::SessionId, error::ProtocolError};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    NAME, Step,
    checks::{DIFFERENCES, DIFFERENCES_OPENING, FailedCheck, somebody_cheats},
    ground::{DIGEST_BYTES, Ground, Opened, Pair, check_echo},
    messages::broadcast,
    ots::packed,
    place::Place,
    plan::{Plan, Setting},
    secrets::{PairSecrets, Secrets},
    shares::block_of,
};
use crate::{
    coins::COMMITMENT_BYTES,
    ots::{Extension, Ots},
    secrets::{OT_CHECK, in_ots},
};

/// Bytes of a nonce.
const NONCE_BYTES: usize = 32;

/// OTs of each ordered pair for the proof: the bits of a block.
pub(super) const PROOF_OTS: usize = 128;

/// Bytes that a party sends each other one, besides hellos and the set-ups of OTs.
pub(super) fn sent_bytes(parties: u16) -> u64 {
    let proofs = 16 * u64::from(parties) + 32;
    (NONCE_BYTES + DIGEST_BYTES + 16 + 16 + COMMITMENT_BYTES) as u64 + proofs
}

impl<K: Conduct<Step>> Ground<K> {
    /// Sets a party up for one session.
    ///
    /// *Errors*: a party that misbehaves; the connections'.
    pub(super) async fn set_up(
        session: &mut MeshSession,
        plan: &Plan,
        party: Party,
        mut conduct: K,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let id = meet(session, plan.digest(), &mut conduct).await?;
        let (ground, _) = Ground::with_new_secrets(session, plan.setting(), (party, id), conduct).await?;
        Ok(ground)
    }

    /// Steps S1 and S2: new secrets. Nothing is made with those of a step S2 that failed, so that a false sum, which tells its sender a difference, is harmless.
    ///
    /// *Errors*: a party that misbehaves; the connections'.
    pub(super) async fn with_new_secrets(
        session: &mut MeshSession,
        setting: Setting,
        (party, id): (Party, SessionId),
        mut conduct: K,
    ) -> Result<(Self, Secrets), ProtocolError> {
        let lsb = party != setting.evaluator() || setting.parties % 2 == 1;
        let mut bytes = Zeroizing::new(Block::random(session.rng()).with_lsb(lsb).to_bytes());
        conduct.touch(Step::Difference, party.0.into(), &mut *bytes);
        let block = Zeroizing::new(Block::from_bytes(*bytes));
        let deltas = session.mesh().per_peer(|peer| {
            let mut bytes = Zeroizing::new(block.to_bytes());
            conduct.touch(Step::Difference, peer.into(), &mut *bytes);
            in_ots(Block::from_bytes(*bytes))
        });
        let pairs = set_up_pairs(session, setting, &deltas).await?;
        let secrets = Secrets { delta: *block, pairs: pairs.into_iter().map(|(_, pair)| pair).collect() };
        let mut ground = Ground::begin(session, &secrets, deltas, setting, (party, id), conduct)?;
        ground.prove_differences(session).await?;
        Ok((ground, secrets))
    }

    /// Begins a session with secrets that all parties have.
    ///
    /// *Shape*: `deltas` are the differences in the OTs with every other party: that of the secrets. *Errors*: secrets of another width of OTs.
    pub(super) fn begin(
        session: &mut MeshSession,
        secrets: &Secrets,
        deltas: PerPeer<Delta>,
        setting: Setting,
        (party, id): (Party, SessionId),
        conduct: K,
    ) -> Result<Self, ProtocolError> {
        let name = Block::from_digest(&id.domain(Party(0), Place::Streams as u8).digest(b""));
        let width = setting.config.width();
        let mut pairs = Vec::with_capacity(secrets.pairs.len());
        for ((peer, delta), pair) in deltas.into_iter().zip(&secrets.pairs) {
            let sender = pair.sender.session(name, session.rng(), &delta, width, OT_CHECK)?;
            let receiver = pair.receiver.session(name, width, OT_CHECK)?;
            let ots = Ots::new(sender, receiver, [party, Party(peer)]);
            pairs.push(Pair { ots, seed: Zeroizing::new(pair.seed) });
        }
        Ok(Ground {
            party,
            delta: Delta::new(secrets.delta),
            in_ots: in_ots(secrets.delta),
            pairs: PerPeer::from_ends(party.0, pairs),
            id,
            rooms: Vec::new(),
            batches: 0,
            runs: 0,
            stock: None,
            over: false,
            conduct,
        })
    }

    /// Step S2.
    async fn prove_differences(&mut self, session: &mut MeshSession) -> Result<(), ProtocolError> {
        let own = usize::from(self.party.0);
        let ots = correlate(session, &mut self.pairs).await?;
        let mut zeros = self.zeros(Place::DifferenceZeros, 0);
        let zeros = Zeroizing::new(self.everybody().map(|_| zeros.next()).collect::<Vec<Block>>());
        let sums = ots.map_ref(|peer, ots| (ots.choices ^ zeros[usize::from(peer)]).to_bytes().to_vec());
        let theirs = self.exchange(session, Step::DifferenceSums, sums, |_| 16).await?;

        let mut proofs = Zeroizing::new(vec![Block::ZERO; zeros.len()]);
        let mut sum = zeros[own];
        for ((peer, ots), (_, theirs)) in ots.iter().zip(theirs.iter()) {
            proofs[usize::from(peer)] = ots.mac;
            proofs[own] ^= ots.key;
            sum ^= block_of(theirs);
        }
        proofs[own] ^= gf128::mul(sum, self.in_ots.block());
        let steps = [Step::OwnDifferenceProofs, Step::DifferenceCommitment, Step::DifferenceProofs];
        let opened = Opened { place: Place::Differences, number: 0, steps, check: DIFFERENCES_OPENING };
        let mut bytes: Vec<u8> = proofs.iter().flat_map(|proof| proof.to_bytes()).collect();
        let all = self.commit_and_open(session, opened, &mut bytes).await?;
        for (_, theirs) in all.iter() {
            proofs.iter_mut().zip(theirs.as_chunks().0).for_each(|(sum, proof)| *sum ^= Block::from_bytes(*proof));
        }
        let fits = proofs.iter().fold(Choice::from(1), |fits, sum| fits & sum.ct_eq(&Block::ZERO));
        match secrets::verdict(fits, "authenticated-bmr: whether every party has one difference") {
            true => Ok(()),
            false => Err(somebody_cheats(DIFFERENCES, "the proofs of a difference do not add up to zero")),
        }
    }
}

/// Step S0: the name of the session is a hash of nonces of all, and all have the same.
async fn meet(
    session: &mut MeshSession,
    agreed: [u8; 32],
    conduct: &mut impl Conduct<Step>,
) -> Result<SessionId, ProtocolError> {
    let mut nonce = vec![0; NONCE_BYTES];
    session.rng().fill_bytes(&mut nonce);
    let theirs = broadcast(session, (Step::Nonce, conduct), &nonce).await?;
    secrets::publish(&mut nonce, "authenticated-bmr: the nonce, which was sent");
    let all = (0..theirs.party_count()).map(|party| theirs.get(party).unwrap_or(&nonce));
    let all: Vec<u8> = all.flatten().copied().collect();
    confirm(session, (agreed, &all), conduct).await
}

/// The second flow of step S0: all parties have heard the same of each other, and agree on everything else. The name of the session is the hash of that.
///
/// *Shape*: `heard` is what all parties told, in their order. *Errors*: [`ECHO`](super::checks::ECHO); the connections'.
pub(super) async fn confirm(
    session: &mut MeshSession,
    (agreed, heard): ([u8; 32], &[u8]),
    conduct: &mut impl Conduct<Step>,
) -> Result<SessionId, ProtocolError> {
    let all = SessionId::new(NAME, agreed, [[0; 32]; 2]).domain(Party(0), Place::Nonces as u8).digest(heard);
    let id = SessionId::new(NAME, all, [[0; 32]; 2]);
    let name = id.domain(Party(0), Place::Name as u8).digest(b"");
    let theirs = broadcast(session, (Step::Name, conduct), &name).await?;
    check_echo(&name, theirs.iter().map(|(_, name)| &name[..]), "the nonces, the program and the parameters")?;
    Ok(id)
}

/// Step S1. Of each pair the lower party is first the sender.
async fn set_up_pairs(
    session: &mut MeshSession,
    setting: Setting,
    deltas: &PerPeer<Delta>,
) -> Result<PerPeer<PairSecrets>, ProtocolError> {
    let width = setting.config.width();
    let rngs = session.rng_per_peer();
    let mesh = session.mesh();
    let own = mesh.party();
    let with = async |peer: u16, mut line: Line, (delta, mut rng): (&Delta, Prg)| {
        let channel: &mut Channel = &mut line;
        let (mut ours, mut theirs) = (Zeroizing::new([0; 16]), Zeroizing::new([0; 16]));
        rng.fill_bytes(&mut *ours);
        channel.exchange_bytes(&*ours, &mut *theirs).await?;
        let seed = Block::from_bytes(*ours) ^ Block::from_bytes(*theirs);
        let (sender, receiver) = if own < peer {
            let sender = SenderSeeds::setup(channel, &mut rng, delta, width, OT_CHECK).await?;
            (sender, ReceiverSeeds::setup(channel, &mut rng, width, OT_CHECK).await?)
        } else {
            let receiver = ReceiverSeeds::setup(channel, &mut rng, width, OT_CHECK).await?;
            (SenderSeeds::setup(channel, &mut rng, delta, width, OT_CHECK).await?, receiver)
        };
        channel.flush().await?;
        Ok::<_, OtError>(PairSecrets { sender, receiver, seed })
    };
    let failed = FailedCheck::default();
    let step = async |peer: u16, line: Line, values| failed.kept(peer, with(peer, line, values).await);
    let made = mesh.each(deltas.as_ref().zip(rngs), step).await;
    failed.judged(made)
}

/// A party's OTs with another, packed: its choices `x`, the MAC of `x`, and the key of the other's.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Packed {
    choices: Block,
    mac: Block,
    key: Block,
}

/// 128 checked OTs of all pairs, both ways.
async fn correlate(session: &mut MeshSession, pairs: &mut PerPeer<Pair>) -> Result<PerPeer<Packed>, ProtocolError> {
    let with = async |mut line: Line, pair: &mut Pair| {
        let channel: &mut Channel = &mut line;
        let Extension { sender, receiver } = pair.ots.extension()?;
        let correct = async |out: &mut _| receiver.correct(out, PROOF_OTS, Zeroizing::default()).await;
        let receive = async |into: &mut _| sender.receive(into, PROOF_OTS, Zeroizing::default()).await;
        let (corrected, unchecked) = channel.full_duplex(correct, receive).await?;
        let (point, mut theirs) = (sender.point(), [0; 16]);
        channel.exchange_bytes(&point.to_bytes(), &mut theirs).await?;
        let (answer, choices, macs) = receiver.answer(corrected, Block::from_bytes(theirs));
        let mut theirs = vec![0; sender.answer_bytes()];
        channel.exchange_bytes(&answer, &mut theirs).await?;
        let keys = sender.check(unchecked, point, &theirs)?;
        Ok::<_, OtError>(Packed { choices: block_of(choices.as_bytes()), mac: packed(&macs), key: packed(&keys) })
    };
    let failed = FailedCheck::default();
    let step = async |peer: u16, line: Line, pair: &mut Pair| failed.kept(peer, with(line, pair).await);
    let made = session.mesh().each(pairs.as_mut(), step).await;
    failed.judged(made)
}
