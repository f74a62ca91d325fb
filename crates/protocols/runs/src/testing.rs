//! Support of tests: protocols of several parties in one process, and statistics of what coalitions see.

pub mod coalition;
pub mod hull;
pub mod mesh_run;
pub mod uniformity;

/// Tells whether to run slow tests in full.
pub fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}
