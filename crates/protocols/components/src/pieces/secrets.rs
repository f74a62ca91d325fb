//! The garbler's secrets: everything but output labels follows from one seed and delta.

use garblet_garble::Seeds;
use garblet_primitives::{Block, Delta, Prg};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::library::TypeId;
use crate::pieces::keys::{TemplateSecrets, derive, secret_blocks};
use crate::pieces::material::{Material, Place};
use crate::pieces::stock::Kind;

/// Bytes of an encoding.
const BYTES: usize = 48;

/// The garbler's secrets of one store.
///
/// A component's input labels, the keys of links and the randomness of gates are functions of the seed and the piece's
/// identifier. So a piece that is garbled again after a crash is identical.
/// *Unique*: one per pair of stores.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secrets {
    seed: Block,
    pub(crate) delta: Delta,
    /// Public: the seed of the garbling hash.
    pub(crate) hash: Block,
}

impl Secrets {
    pub(crate) fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Secrets { seed: Block::random(rng), delta: Delta::random(rng), hash: Block::random(rng) }
    }

    /// The bytes to keep in the store.
    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let blocks = [self.seed, self.delta.block(), self.hash];
        Zeroizing::new(blocks.iter().flat_map(|block| block.to_bytes()).collect())
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let (blocks, _) = bytes.as_chunks::<16>();
        let [seed, delta, hash] = [0, 1, 2].map(|i| Block::from_bytes(blocks[i]));
        Some(Secrets { seed, delta: Delta::new(delta), hash })
    }

    /// The seeds of the garbling.
    pub(crate) fn seeds(&self) -> Seeds {
        Seeds::new(self.hash, derive(self.seed, "gates", 0))
    }

    /// The streams of labels and keys, ready for repeated use.
    pub(crate) fn streams(&self, material: &Material) -> Streams {
        let stream = |purpose, number: usize| Prg::new(derive(self.seed, purpose, number as u32));
        let library = material.library();
        Streams {
            singles: (0..library.types().len()).map(|t| stream("single inputs", t)).collect(),
            cells: (0..library.templates().len()).map(|t| stream("cell inputs", t)).collect(),
            keyed: (0..library.keyed().len()).map(|k| stream("keyed links", k)).collect(),
            templates: (0..library.templates().len()).map(|t| stream("templates", t)).collect(),
        }
    }
}

/// Streams of labels and keys.
pub(crate) struct Streams {
    singles: Vec<Prg>,
    cells: Vec<Prg>,
    keyed: Vec<Prg>,
    templates: Vec<Prg>,
}

impl Streams {
    /// Zero labels of inputs of the component at a place, from wire `start` on, followed by those of the next components.
    pub(crate) fn inputs(&mut self, material: &Material, place: Place, start: u32, labels: &mut [Block]) {
        let stream = match place.kind {
            Kind::Single(TypeId(ty)) => &mut self.singles[ty as usize],
            Kind::Cell(t) => &mut self.cells[t as usize],
            Kind::Transfers | Kind::Template(_) => unreachable!("a place is a component's"),
        };
        stream.seek(material.input_stream(place) + u64::from(start));
        stream.fill_blocks(labels);
    }

    /// The key of a keyed link to a candidate.
    pub(crate) fn keyed_key(&mut self, material: &Material, link: usize, source: u64, candidate: u32) -> Block {
        let window = u64::from(material.library().keyed()[link].window);
        self.keyed[link].seek(source * window + u64::from(candidate));
        self.keyed[link].next_block()
    }

    /// The secrets from which the keys of a template are made.
    pub(crate) fn template<R>(
        &mut self,
        material: &Material,
        template: u32,
        id: u64,
        with: impl FnOnce(TemplateSecrets<'_>) -> R,
    ) -> R {
        let count = secret_blocks(&material.library().templates()[template as usize]);
        let mut blocks = Zeroizing::new(vec![Block::ZERO; count]);
        let stream = &mut self.templates[template as usize];
        stream.seek(id * count as u64);
        stream.fill_blocks(&mut blocks);
        with(TemplateSecrets(&blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_kept_and_nothing_else_is_read() {
        let secrets = Secrets::random(&mut Prg::new(Block::ONES));
        let bytes = secrets.to_bytes();
        let again = Secrets::from_bytes(&bytes).unwrap();
        assert!(again.seed == secrets.seed && again.delta.block() == secrets.delta.block());
        assert!(again.hash == secrets.hash);
        assert!(Secrets::from_bytes(&bytes[1..]).is_none() && Secrets::from_bytes(&[]).is_none());
    }
}
