//! The log of a service, on standard error: text or JSON, and never a value of an input or a result.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;

use super::written::{Level, Log, LogFormat};
use crate::output;

/// Begins to log. Whoever has begun in this process already goes on.
pub(super) fn begin(log: Log) {
    let level = match log.level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    };
    output::tell_to_log();
    let lines = fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    let _ = match log.format {
        LogFormat::Text => lines.with_ansi(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
    };
}
