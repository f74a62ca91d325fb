//! The library face: programs, parties, protocols, run.
