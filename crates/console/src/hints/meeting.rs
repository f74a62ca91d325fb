//! Parties that cannot meet.

use garblet::{
    meet::MeetError,
    net::{MeshError, PartyError, PeersFileError},
};

use super::{failure, is_secondary};
use crate::failure::Failure;

/// Parties that fail to meet.
pub fn mesh_failure(error: &MeshError) -> Failure {
    let secondary = match error {
        MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => is_secondary(error),
        MeshError::Missing { .. } => false,
    };
    Failure { secondary, ..failure(error) }
}

/// Unusable connection settings, with the option at fault.
pub fn meet_failure(error: &MeetError) -> Failure {
    let option = match error {
        MeetError::Exposed { .. } => "--insecure-plain-tcp: ",
        MeetError::NoSuchParty { .. } => "--",
        MeetError::SeveralAwaited { .. } => "--listen: ",
        MeetError::Address(_)
        | MeetError::OtherIdentity { .. }
        | MeetError::NoFingerprints
        | MeetError::NobodyTrusted
        | MeetError::SeveralTrusted => "",
    };
    let failure = failure(error);
    Failure { message: format!("{option}{}", failure.message), ..failure }
}

/// A wrong peers file.
pub(crate) fn peers_file_failure(error: &PeersFileError) -> Failure {
    failure(error)
}
