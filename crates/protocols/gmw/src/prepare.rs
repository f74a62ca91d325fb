//! Steps 2 and 3: random OTs, and triples made of them.

use garblet_net::{Line, PerPeer};
use garblet_primitives::Prg;

use super::bits::Packed;
use super::pair::{Pair, Received, Sent};
use super::plan::{Form, Plan};
use garblet_protocol::error::ProtocolError;
use garblet_protocol::session::MeshSession;

/// This party's shares of triples: the sum of all parties' `c` is the product of the sums of their `a` and `b`.
pub(super) struct Triples {
    pub(super) a: Packed,
    pub(super) b: Packed,
    pub(super) c: Packed,
}

/// Random bit OTs with one peer, in both directions.
pub(super) struct BitOts {
    pub(super) sent: Sent,
    pub(super) received: Received,
}

/// Prepared randomness for the AND gates of a run.
pub(super) enum Material {
    Triples(Triples),
    BitOts(PerPeer<BitOts>),
}

impl Material {
    /// Steps 2 and 3 for all gates of a plan.
    pub(super) async fn prepare(
        session: &mut MeshSession,
        pairs: &mut PerPeer<Pair>,
        plan: &Plan,
    ) -> Result<Self, ProtocolError> {
        let count = plan.and_count();
        Ok(match plan.config().form {
            Form::Triples => Material::Triples(triples(session, pairs, count).await?),
            Form::Choi2012 => Material::BitOts(bit_ots(session, pairs, count).await?),
        })
    }

    /// All vectors of bits, in the order in which they are stored.
    pub(super) fn vectors(&self) -> Vec<&Packed> {
        match self {
            Material::Triples(Triples { a, b, c }) => vec![a, b, c],
            Material::BitOts(ots) => ots
                .iter()
                .flat_map(|(_, BitOts { sent, received })| [&sent.zero, &sent.one, &received.choices, &received.chosen])
                .collect(),
        }
    }
}

/// Step 2 alone, for [`Form::Choi2012`](super::Form): `count` OTs in both directions with every peer.
async fn bit_ots(
    session: &mut MeshSession,
    pairs: &mut PerPeer<Pair>,
    count: usize,
) -> Result<PerPeer<BitOts>, ProtocolError> {
    let (mesh, _, watch) = session.watched(count, both_ways(pairs, count));
    let step = async |_, mut line: Line, pair: &mut Pair| {
        let (sent, received, _) = pair.random_ots(&mut line, count, None, &watch).await?;
        Ok::<_, ProtocolError>(BitOts { sent, received })
    };
    Ok(mesh.each(pairs.as_mut(), step).await?)
}

/// Steps 2 and 3: `count` triples.
///
/// With `a_i`, `b_i` of each party, `c` is the sum of all `a_i b_j`. For `i = j` it is known; for others it is shared by one OT, of
/// which party `i` is receiver: the pads `p_0`, `p_1` and the choice `s` are random, so it sends `f = a_i + s` and party `j`
/// sends `e = p_0 + p_1 + b_j`. Then `p_f` and `p_s + a_i e` are shares of `a_i b_j`.
async fn triples(session: &mut MeshSession, pairs: &mut PerPeer<Pair>, count: usize) -> Result<Triples, ProtocolError> {
    let (a, b) = (random(session.rng(), count), random(session.rng(), count));
    let mut c = product(&a, &b);
    let (mesh, _, watch) = session.watched(count, both_ways(pairs, count));
    let step = async |_, mut line: Line, pair: &mut Pair| pair.random_ots(&mut line, count, Some(&a), &watch).await;
    let ots = mesh.each(pairs.as_mut(), step).await?;
    let corrections = ots.map_ref(|_, (sent, ..)| sum(&[&sent.zero, &sent.one, &b]));
    let mut incoming = session.mesh().per_peer(|_| vec![0; Packed::byte_len(count)]);
    if count > 0 {
        session.mesh().exchange(&corrections, &mut incoming).await?;
    }
    for ((peer, (sent, received, choices)), (_, bytes)) in ots.iter().zip(incoming.iter()) {
        let differences = sum(&[&sent.zero, &sent.one]);
        // As sender: p_f. As receiver: p_s + a e.
        let ours = sum(&[&sent.zero, &product(&differences, choices)]);
        let theirs = sum(&[&received.chosen, &product(&a, &Packed::received(peer, bytes, count)?)]);
        c.add(&ours);
        c.add(&theirs);
    }
    Ok(Triples { a, b, c })
}

/// The OTs in which a party is sender or receiver, for this many in each direction with every peer.
fn both_ways(pairs: &PerPeer<Pair>, count: usize) -> usize {
    2 * count * usize::from(pairs.party_count() - 1)
}

fn random(rng: &mut Prg, count: usize) -> Packed {
    let mut bytes = zeroize::Zeroizing::new(vec![0; Packed::byte_len(count)]);
    rng.fill_bytes(&mut bytes);
    Packed::from_bytes(&bytes, count)
}

fn product(a: &Packed, b: &Packed) -> Packed {
    let mut product = a.clone();
    product.words_mut().iter_mut().zip(b.words()).for_each(|(word, b)| *word &= b);
    product
}

fn sum(terms: &[&Packed]) -> Packed {
    let mut sum = terms[0].clone();
    terms[1..].iter().for_each(|term| sum.add(term));
    sum
}
