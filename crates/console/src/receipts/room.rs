//! Room for receipts: on the disk, and below the limit on the length of files.

use std::{
    fs::File,
    io::{self, ErrorKind},
};

use rustix::{
    io::Errno,
    process::{Resource, getrlimit},
};

use crate::surface::Setting;

/// The room for a receipt without outputs, of a run of many parties.
pub(super) const RECEIPT_BYTES: u64 = 256 << 10;

/// Takes room for bytes behind a place in a log, which changes no byte and not its length: a full disk is told before a run, not after it.
///
/// *Errors*: no room; what was taken before stays. File systems that cannot do this say nothing.
pub(super) fn reserve(file: &File, place: u64, bytes: u64) -> io::Result<()> {
    // The system does not compare room that adds no length.
    match getrlimit(Resource::Fsize).current {
        Some(most) if place + bytes > most => Err(Errno::FBIG.into()),
        _ => allocate(file, place, bytes),
    }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, place: u64, bytes: u64) -> io::Result<()> {
    loop {
        match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, place, bytes) {
            Err(Errno::INTR) => {}
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)) => return Err(error.into()),
            _ => return Ok(()),
        }
    }
}

/// The same where the system has no such call.
#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// The advice on a log without room.
pub(super) fn advice(error: &io::Error) -> String {
    let another = format!("give {}", Setting::Receipts.with("FILE"));
    let more = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some",
        ErrorKind::FileTooLarge => "raise the limit on the length of files (`ulimit -f`)",
        _ => return another,
    };
    format!("a receipt without outputs needs up to {} KiB: {more}, or {another}", RECEIPT_BYTES >> 10)
}
