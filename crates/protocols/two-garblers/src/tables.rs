//! The tables on their way: the garblers take turns in sending pieces, and each hashes the pieces that it does not send.
//!
//! So each sends half of the tables, and waits while the evaluator is behind.

use garblet_circuit::Party;
use garblet_garble as garble;
use garblet_net::Mesh;
use garblet_primitives::secrets;
use garblet_protocol::{
    MeshSession, ProtocolError,
    checks::Digests,
    conduct::Conduct,
    domain::{PartsHasher, SessionId},
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    NAME, Step,
    checks::{TABLES, refused},
    meeting::WORD_BYTES,
    plan::{Place, Plan},
    secrets::{OutputLabels, Secrets},
};

/// The hash of the pieces that one garbler does not send.
fn hasher(plan: &Plan, run: &SessionId, seat: usize) -> PartsHasher {
    run.domain(plan.garblers()[seat], Place::Tables as u8).parts_hasher()
}

/// Sends bytes to one other party.
pub(super) async fn send_to(mesh: &mut Mesh, to: Party, bytes: &[u8]) -> Result<(), ProtocolError> {
    let outgoing = mesh.per_peer(|peer| if Party(peer) == to { bytes } else { &[] });
    Ok(mesh.exchange(&outgoing, &mut mesh.per_peer(|_| [])).await?)
}

/// Step 4, at a garbler: makes all tables, and sends its pieces. Returns the zero labels of the outputs, and the digest of the pieces that the other
/// garbler sends.
pub(super) async fn send(
    session: &mut MeshSession,
    plan: &Plan,
    (run, secrets): (&SessionId, &Secrets),
    seat: usize,
    conduct: &mut impl Conduct<Step>,
) -> Result<(OutputLabels, [u8; WORD_BYTES]), ProtocolError> {
    let mut garbling = secrets.garbler(plan);
    let mut others = hasher(plan, run, seat);
    let mut tables = Vec::new();
    for (index, piece) in plan.pieces().enumerate() {
        tables.resize(piece.bytes, 0);
        garbling.garble_piece_into(&mut tables);
        match index % 2 == seat {
            true => {
                conduct.touch(Step::Tables, index, &mut tables);
                send_to(session.mesh(), plan.evaluator(), &tables).await?;
            }
            false => others.add(&tables),
        }
        session.advance(piece.end, plan.and_count());
    }
    Ok((OutputLabels(Zeroizing::new(garbling.into_outputs())), others.finish()))
}

/// The digests of the tables that have arrived: for each garbler, of the pieces that the other one has sent.
pub(super) struct Arrived {
    hashers: [PartsHasher; 2],
}

impl Arrived {
    /// Nothing has arrived.
    pub(super) fn new(plan: &Plan, run: &SessionId) -> Self {
        Arrived { hashers: [0, 1].map(|seat| hasher(plan, run, seat)) }
    }

    /// Receives a piece of each garbler at once; the last piece of the second one may be empty.
    async fn receive_two(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        pieces: [&mut [u8]; 2],
    ) -> Result<(), ProtocolError> {
        let [first, second] = pieces;
        let mesh = session.mesh();
        let mut places = [Some(&mut *first), Some(&mut *second)];
        let place = |peer| plan.seat(Party(peer)).and_then(|seat| places[seat].take()).unwrap_or_default();
        let mut incoming = mesh.per_peer(place);
        mesh.exchange(&mesh.per_peer(|_| []), &mut incoming).await?;
        self.hashers[1].add(first);
        if !second.is_empty() {
            self.hashers[0].add(second);
        }
        Ok(())
    }

    /// Receives all tables, and keeps them.
    ///
    /// *Errors*: tables that this machine cannot hold.
    pub(super) async fn receive(&mut self, session: &mut MeshSession, plan: &Plan) -> Result<Vec<u8>, ProtocolError> {
        let bytes: u64 = [0, 1].map(|seat| plan.table_bytes(seat)).iter().sum();
        let mut tables = Vec::new();
        if !usize::try_from(bytes).is_ok_and(|bytes| tables.try_reserve_exact(bytes).is_ok()) {
            let reason = format!("{bytes} bytes of tables garbled ahead do not fit in memory; stream them instead");
            return Err(ProtocolError::Unsupported { protocol: NAME, program: plan.program().name().into(), reason });
        }
        let mut pieces = plan.pieces();
        while let Some(first) = pieces.next() {
            let last = pieces.next();
            let begin = tables.len();
            tables.resize(begin + first.bytes + last.map_or(0, |piece| piece.bytes), 0);
            let (one, other) = tables[begin..].split_at_mut(first.bytes);
            self.receive_two(session, plan, [one, other]).await?;
            session.advance(last.unwrap_or(first).end, plan.and_count());
        }
        Ok(tables)
    }

    /// Receives all tables, and evaluates them meanwhile.
    pub(super) async fn evaluate(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        mut evaluation: garble::Evaluator<'_>,
    ) -> Result<OutputLabels, ProtocolError> {
        let mut tables = Vec::new();
        let mut pieces = plan.pieces();
        while let Some(first) = pieces.next() {
            let last = pieces.next();
            tables.resize(first.bytes + last.map_or(0, |piece| piece.bytes), 0);
            let (one, other) = tables.split_at_mut(first.bytes);
            self.receive_two(session, plan, [one, other]).await?;
            evaluation.evaluate_piece(one)?;
            evaluation.evaluate_piece(other)?;
            session.advance(last.unwrap_or(first).end, plan.and_count());
        }
        Ok(OutputLabels(Zeroizing::new(evaluation.into_outputs())))
    }

    /// Compares the digests of what has arrived with those that the garblers have sent.
    ///
    /// *Errors*: [`Refused`](garblet_protocol::checks::Refused), which names both garblers, if one of them differs.
    pub(super) fn check(self, plan: &Plan, sent: [&[u8]; 2]) -> Result<(), ProtocolError> {
        let arrived = self.hashers.map(PartsHasher::finish);
        let same = arrived[0].ct_eq(sent[0]) & arrived[1].ct_eq(sent[1]);
        match secrets::verdict(same, "two-garblers: whether the garblers agree about the tables") {
            true => Ok(()),
            false => {
                let differing = sent.iter().zip(&arrived).find_map(|(sent, arrived)| Digests::of(sent, arrived));
                Err(refused(TABLES, plan.garblers(), differing))
            }
        }
    }
}

/// Evaluates tables that were received ahead.
pub(super) fn evaluate_ahead(
    session: &mut MeshSession,
    plan: &Plan,
    mut evaluation: garble::Evaluator<'_>,
    tables: &[u8],
) -> Result<OutputLabels, ProtocolError> {
    let mut rest = tables;
    for piece in plan.pieces() {
        let (now, later) = rest.split_at(piece.bytes);
        evaluation.evaluate_piece(now)?;
        rest = later;
        session.advance(piece.end, plan.and_count());
    }
    Ok(OutputLabels(Zeroizing::new(evaluation.into_outputs())))
}
