//! The protocols and the session that joins one to a channel and a generator.
