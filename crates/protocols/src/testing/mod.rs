//! Support of tests: protocols of several parties in one process, and statistics of what coalitions see.

pub(crate) mod coalition;
pub(crate) mod hull;
pub(crate) mod mesh_run;
pub(crate) mod uniformity;

/// Tells whether everything is tested that takes long.
pub(crate) fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}
