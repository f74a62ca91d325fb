//! A visit of one of two parties.

use std::{num::NonZeroUsize, sync::Arc};

use garblet_authenticated::{EVALUATOR, EvaluatorSide, GARBLER, GarblerSide, NAME, Participant, Plan, Run, Side};
use garblet_circuit::Party;
use garblet_net::{Channel, Hello};
use garblet_protocol::{ProtocolError, Role, Session};
use garblet_store::Store;

use crate::{
    conduct::{Manner, of_two},
    seat::Seat,
    task::{Runs, Task},
};

/// Meets the other party, does the work, and ends as a caller would.
///
/// *Errors*: whatever ends it.
pub(crate) async fn visit(seat: &Seat<'_>, plan: Arc<Plan>, channel: Channel) -> Result<(), ProtocolError> {
    let store = seat.open()?;
    let hello = Hello::new(NAME, seat.party, 2, seat.job.program.digest());
    let mut session = Session::open(channel, seat.rng(), &hello, Box::new(())).await?;
    session.set_workers(NonZeroUsize::MIN);
    let worked = match Party(seat.party) {
        GARBLER => work::<GarblerSide>(&mut session, seat, plan, store).await,
        _ => work::<EvaluatorSide>(&mut session, seat, plan, store).await,
    };
    match worked {
        Ok(()) => session.close().await,
        Err(error) => {
            seat.gives_up();
            session.abort().await;
            Err(error)
        }
    }
}

async fn work<S: Side>(
    session: &mut Session,
    seat: &Seat<'_>,
    plan: Arc<Plan>,
    store: Store,
) -> Result<(), ProtocolError> {
    let lie = seat.deed.lie.map(|number| of_two(number, S::PARTY, &seat.job.program).conduct);
    let manner = Manner::new(lie, seat.deed.panics_at, seat.has_lied.clone());
    let peer = if S::PARTY == GARBLER { EVALUATOR } else { GARBLER };
    let store = (store, &peer.to_string()[..]);
    let mut participant = Participant::<S, _>::meet(session, seat.options.config, store, manner).await?;
    let Task::Run(Runs { times, .. }) = seat.job.task else {
        if let Some(short) = seat.options.order.short_of(participant.stock(), 100) {
            participant.fill(session, short).await?;
        }
        seat.filled(participant.stock());
        return Ok(());
    };
    let (saved, own) = (&seat.job.saved, seat.job.own(seat.party));
    let run = Run::saving(session, participant, plan, saved.clone(), seat.options.top_up).await?;
    let mut run = run.with_retries(seat.options.retries);
    for _ in 0..times {
        let drawn = run.draw(session).await?;
        seat.drew(drawn.pieces());
        let prepared = run.build(session, drawn).await?;
        seat.begins();
        seat.learns(run.online(session, prepared, &own).await?);
    }
    seat.ended(run.late_error());
    Ok(())
}
