//! Faults of earlier versions, put back one at a time: a simulation that does not find them is none.

use clap::ValueEnum;

/// A fault that a version had, or that a slip would make. The parties of a history behave as that version did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bug {
    /// A run that panics keeps its outputs, and nobody is told.
    PanicKeeps,
    /// Stores have no records, so a copy that is put back goes on.
    NoRecord,
    /// The count of runs that have not ended begins anew at each meeting.
    ForgetsCounts,
    /// The count of runs that have not ended begins anew with each version of a state.
    CountsByVersion,
    /// A party keeps its part of a value before it knows that the other one has its part.
    KeepsAtOnce,
    /// The last writes of a process that dies or leaves are lost, with those of the record.
    LosesWrites,
    /// A store whose peer was caught cheating is used again.
    GivesNothingUp,
}

impl Bug {
    /// Those of parties with stores.
    pub const OF_PARTIES: [Bug; 6] =
        [Bug::PanicKeeps, Bug::NoRecord, Bug::ForgetsCounts, Bug::KeepsAtOnce, Bug::LosesWrites, Bug::GivesNothingUp];

    /// Those of two servers with clients.
    pub const OF_SERVERS: [Bug; 5] =
        [Bug::PanicKeeps, Bug::NoRecord, Bug::ForgetsCounts, Bug::CountsByVersion, Bug::LosesWrites];
}
