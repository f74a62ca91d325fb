//! The steps at which a store may be cut off. Each write to disk passes here, so tests can fail it there.

use std::io;

/// Passes every step. In tests, fails at one of them.
#[derive(Clone, Default)]
pub(crate) struct FailPoints {
    #[cfg(any(test, feature = "testing"))]
    hook: Option<std::sync::Arc<std::sync::Mutex<Hook>>>,
}

/// The action of a test at a step.
#[cfg(any(test, feature = "testing"))]
type Hook = Box<dyn FnMut(&'static str) -> io::Result<()> + Send>;

impl FailPoints {
    /// Reaches a step.
    #[cfg_attr(not(any(test, feature = "testing")), expect(clippy::unused_self, reason = "only tests use `self`"))]
    pub(crate) fn pass(&self, step: &'static str) -> io::Result<()> {
        #[cfg(any(test, feature = "testing"))]
        if let Some(hook) = &self.hook {
            return (hook.lock().expect("no test panics in a hook"))(step);
        }
        let _ = step;
        Ok(())
    }

    /// FailPoints at which `hook` is called.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn with(hook: impl FnMut(&'static str) -> io::Result<()> + Send + 'static) -> Self {
        FailPoints { hook: Some(std::sync::Arc::new(std::sync::Mutex::new(Box::new(hook)))) }
    }
}
