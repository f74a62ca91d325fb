//! A visit of one of several parties.

use std::{num::NonZeroUsize, sync::Arc};

use garblet_authenticated::many::{Drawing, Member, NAME, Plan};
use garblet_circuit::Party;
use garblet_net::{Hello, Mesh};
use garblet_protocol::{MeshSession, ProtocolError, Role, Session};
use garblet_store::Store;

use crate::{
    conduct::{Manner, of_several},
    seat::Seat,
    task::{Runs, Task},
};

/// Meets the other parties, does the work, and ends as a caller would.
///
/// *Errors*: whatever ends it.
pub(crate) async fn visit(seat: &Seat<'_>, plan: Arc<Plan>, mesh: Mesh) -> Result<(), ProtocolError> {
    let store = seat.open()?;
    let hello = Hello::new(NAME, seat.party, seat.options.parties, seat.job.program.digest());
    let mut session = Session::join(mesh, seat.rng(), &hello, Box::new(())).await?;
    session.set_workers(NonZeroUsize::MIN);
    match work(&mut session, seat, plan, store).await {
        Ok(()) => session.close().await,
        Err(error) => {
            seat.gives_up();
            session.abort(&error).await;
            Err(error)
        }
    }
}

async fn work(session: &mut MeshSession, seat: &Seat<'_>, plan: Arc<Plan>, store: Store) -> Result<(), ProtocolError> {
    let lie = seat.deed.lie.map(|number| of_several(number, seat.party, seat.options.parties).conduct);
    let manner = Manner::new(lie, seat.deed.panics_at, seat.has_lied.clone());
    let (top_up, retries) = (seat.options.top_up, seat.options.retries);
    let drawing = Drawing { store, peers: "all others", top_up, saved: seat.job.saved.clone(), retries };
    let mut member = Member::meet(session, plan, Party(seat.party), drawing, manner).await?;
    let Task::Run(Runs { times, .. }) = seat.job.task else {
        if let Some(short) = seat.options.order.short_of(member.stock(), 100) {
            member.fill(session, short).await?;
        }
        seat.filled(member.stock());
        return Ok(());
    };
    let own = seat.job.own(seat.party);
    for _ in 0..times {
        let drawn = member.draw(session).await?;
        seat.drew(drawn.pieces());
        let prepared = member.build(session, drawn).await?;
        seat.begins();
        seat.learns(member.online(session, prepared, &own).await?);
    }
    seat.ended(member.late_error());
    Ok(())
}
