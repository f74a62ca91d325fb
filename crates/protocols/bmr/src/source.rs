//! The step in which the protocols differ: shares of the rows.

use garblet_net::Mesh;
use garblet_primitives::{Block, Prg};

use super::{plan::Plan, rows::Numbered, secrets::Secrets};
use garblet_protocol::{MeshSession, error::ProtocolError, session::Watch};

/// A circuit that is being garbled, as one party knows it.
#[derive(Clone, Copy)]
pub(super) struct Circuit<'a> {
    pub(super) plan: &'a Plan,
    pub(super) secrets: &'a Secrets,
    pub(super) numbered: Numbered,
}

/// A source of one party's shares of the rows of every gate.
pub(super) trait RowSource {
    /// Material prepared for one circuit.
    type Material;

    /// Step 2: the part that needs only the sizes of the circuit.
    async fn prepare(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        secrets: &Secrets,
    ) -> Result<Self::Material, ProtocolError>;

    /// Steps 3 and 4: shares of the rows, with this party's masks and labels added. With half gates the evaluator's circuit; nothing for others.
    ///
    /// *Shape*: as [`super::rows`]. *Unique*: gates by their numbers.
    async fn rows(
        &mut self,
        mesh: &mut Mesh,
        circuit: Circuit<'_>,
        material: Self::Material,
        rng: &mut Prg,
        watch: &Watch<'_>,
    ) -> Result<Vec<Block>, ProtocolError>;
}
