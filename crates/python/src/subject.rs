//! A session under a job: its place in the job, the way to the others, and its plan.

use std::sync::Arc;

use garblet::{
    Party, SavedValues,
    formats::value::KeyHash,
    meet::{Meeting, Way},
};
use garblet_console::{inputs::tell_price, job::Job, program};
use pyo3::prelude::*;

use crate::{
    fault::Fault,
    job::trusted,
    party::Seat,
    receipt::Recorder,
    session::{Arguments, own_protocol},
    waiting::told_beside,
};

/// The seat of a party under a job, and the hash of text keys, if the parties hash them.
///
/// *Errors*: all for which the command refuses to run under the job.
pub(crate) fn seat(
    py: Python<'_>,
    job: &Arc<Job>,
    program: &Arc<garblet::Program>,
    arguments: &Arguments<'_>,
) -> PyResult<(Seat, Option<KeyHash>)> {
    let raise = |fault: Fault| fault.raise(py);
    let options = arguments.options().map_err(raise)?;
    let settings = job.settings(options.timeout);
    let config = settings.config().map_err(|failure| raise(failure.into()))?;
    own_protocol(&config).map_err(raise)?;
    let (party, way) = place(job, program, arguments, &config).map_err(raise)?;
    let store = arguments.place(&config, &way).map_err(raise)?;
    let (agreed, how, of, rows) = (job.clone(), settings.clone(), program.clone(), arguments.rows);
    let (plan, keys) = told_beside(py, move || {
        agreed.check_rows(rows)?;
        let program = program::batch((*of).clone(), rows)?;
        let parties = how.parties(&program, Some(agreed.counted_parties()))?;
        let keys = agreed.key_hash();
        if let Some(keys) = &keys {
            keys.texts(&program).map_err(|error| Fault::usage(format!("hash_keys: {error}")))?;
            tell_price(keys, &program);
        }
        Ok((how.plan(program, parties, SavedValues::default())?, keys))
    })?;
    let receipts = arguments.receipt_log(settings.job.as_ref()).map_err(raise)?;
    let identity = way.tls.as_ref().map(garblet::net::Tls::fingerprint);
    let terms = settings.job.clone();
    let recorder = receipts.map(|receipts| Recorder::new(receipts, settings, identity, SavedValues::default()));
    let job = terms.as_ref().map(|job| job.digest.clone());
    let options = garblet::net::Options { job, ..options };
    Ok((Seat { plan, party, config, way, options, store, recorder, job: terms }, keys))
}

/// The party's number, and the way to the others.
fn place(
    job: &Job,
    program: &garblet::Program,
    arguments: &Arguments<'_>,
    config: &garblet::Config,
) -> Result<(Party, Way), Fault> {
    job.check_unwritable()?;
    if program.digest() != job.program_digest {
        return Err(Fault::usage("job: the program is not the job's").hint("take the program of Job.check()"));
    }
    let own = match arguments.insecure_plain_tcp {
        true => None,
        false => Some(arguments.own_identity()?),
    };
    let fingerprint = own.as_ref().map(garblet::net::Identity::fingerprint);
    let party = job.party_of_own(|| Ok(fingerprint), arguments.party)?;
    let (meeting, _) = arguments.meeting(config, party, Some(job))?;
    let session = arguments.session_name()?;
    let mut way = match own {
        None => Way::plain(meeting, session),
        Some(identity) => {
            let trusted = match (&meeting, job.peer_of(party)) {
                (Meeting::Peers(_), _) => Vec::new(),
                (_, Some(peer)) => vec![peer],
                (_, None) => arguments.trusted()?,
            };
            Way::pinned(meeting, identity, trusted, session)
        }
    }
    .map_err(|error| Fault::from(&error))?;
    // Plain TCP checks no identities.
    if way.tls.is_some() {
        way.names = trusted(job, &arguments.trust)?;
    }
    way.names.extend(job.names());
    Ok((party, way))
}
