//! Logs without room, and logs whose room others take.

use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{
    super::{
        Receipt,
        log::Log,
        room::{RECEIPT_BYTES, reserve},
    },
    read, receipt, scratch, three,
};

/// The environment variable that names the log for a child process of the test.
const LIMITED: &str = "GARBLET_TEST_RECEIPTS_LONGEST";

/// A receipt with this number of bytes of outputs.
fn with_outputs(number: u64, bytes: usize) -> Receipt {
    let outputs = [("out".to_string(), "7".repeat(bytes).into())].into_iter().collect();
    Receipt { outputs: Some(outputs), ..receipt(number) }
}

/// Returns whether there is room on the disk behind the last receipt of a log.
fn has_room(path: &Path) -> bool {
    let there = fs::metadata(path).expect("a log");
    there.blocks() * 512 >= there.len() + RECEIPT_BYTES
}

/// Returns whether room can be taken in this folder; says so if not.
fn can_take_room(folder: &Path) -> bool {
    let path = folder.join("probe");
    reserve(&File::create(&path).expect("made"), 0, RECEIPT_BYTES).expect("room");
    let can = has_room(&path);
    if !can {
        writeln!(std::io::stderr(), "SKIPPED: no room can be taken in this folder").expect("standard error");
    }
    can
}

#[test]
fn a_torn_line_is_cut_off_before_room_is_taken_and_does_not_give_it_away() {
    let (folder, path, text) = three();
    if !can_take_room(folder.path()) {
        return;
    }
    let two = text.trim_end().rfind('\n').expect("three lines") + 1;
    // Longer than the room, as a receipt with outputs can be.
    let begins = &text[two..text.len() - 100];
    let torn = format!("{begins}{}", "x".repeat(2 * RECEIPT_BYTES as usize));
    fs::write(&path, format!("{}{torn}", &text[..two])).expect("written");
    let log = Log::open(&path).expect("it can be added to");
    assert_eq!(fs::metadata(&path).expect("there").len(), two as u64, "nothing can be cut off any more");
    assert!(has_room(&path));
    // Another process is killed meanwhile.
    fs::write(&path, format!("{}{torn}", &text[..two])).expect("written");
    assert_eq!(log.append(&receipt(3)), Ok(3));
    assert!(has_room(&path) && fs::read_to_string(&path).expect("a log") == text);
}

#[test]
fn a_log_that_is_begun_again_has_room() {
    let (folder, path) = scratch();
    if !can_take_room(folder.path()) {
        return;
    }
    let log = Log::open(&path).expect("made");
    fs::rename(&path, folder.path().join("old")).expect("moved");
    assert_eq!(log.append(&receipt(1)), Ok(1));
    assert!(has_room(&path));
}

#[test]
fn a_log_that_is_moved_away_while_a_receipt_waits_is_begun_again() {
    let (folder, path) = scratch();
    let log = Log::open(&path).expect("made");
    let other = File::open(&path).expect("there");
    other.lock().expect("free");
    std::thread::scope(|scope| {
        let added = scope.spawn(|| log.append(&receipt(1)));
        // If it comes later than this, it meets the new file at once.
        std::thread::sleep(Duration::from_millis(100));
        fs::rename(&path, folder.path().join("old")).expect("moved");
        other.unlock().expect("ours");
        assert_eq!(added.join().expect("it ends"), Ok(1));
    });
    assert!(fs::read_to_string(&path).is_ok_and(|text| read(&text).is_ok_and(|(_, head, _)| head.number == 1)));
}

#[test]
fn a_limit_on_the_length_of_files_is_told_ahead_and_outputs_use_no_room_of_receipts() {
    const NAME: &str =
        "receipts::tests::room::a_limit_on_the_length_of_files_is_told_ahead_and_outputs_use_no_room_of_receipts";
    let Some(path) = std::env::var_os(LIMITED) else {
        // The limit holds for a whole process, so a process of its own does this.
        let (_folder, path) = scratch();
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        let ran = child.args(["--exact", NAME]).env(LIMITED, &path).output().expect("it starts");
        return assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    };
    let path = PathBuf::from(path);
    let limit = |bytes| {
        let limit = Rlimit { current: Some(bytes), ..getrlimit(Resource::Fsize) };
        setrlimit(Resource::Fsize, limit).expect("it may be lowered");
    };
    limit(RECEIPT_BYTES - 1);
    let failure = Log::open(&path).err().expect("refused");
    assert!(failure.message.ends_with("receipts.jsonl: cannot be written: file too large"), "{}", failure.message);
    assert!(failure.hint.is_some_and(|hint| hint.contains("`ulimit -f`")));
    limit(RECEIPT_BYTES + (100 << 10));
    let log = Log::open(&path).expect("room for one");
    // Both are shorter than the longest file.
    assert_eq!(log.append(&with_outputs(1, 200 << 10)), Ok(1));
    assert_eq!(log.append(&with_outputs(2, 50 << 10)), Ok(2));
    let (links, ..) = read(&fs::read_to_string(&path).expect("a log")).expect("a chain");
    assert_eq!(links.into_iter().map(|link| link.receipt).collect::<Vec<_>>(), [receipt(1), with_outputs(2, 50 << 10)]);
    log.take_room().expect("there is still room for one");
}

#[test]
fn a_link_to_a_missing_folder_is_told_ahead() {
    let (folder, path) = scratch();
    let target = folder.path().join("missing/dir/x.jsonl");
    symlink(&target, &path).expect("a link");
    let says = format!(
        "{}: cannot be written: it is a link to {}, but the folder {} does not exist",
        path.display(),
        target.display(),
        folder.path().join("missing/dir").display()
    );
    for failure in [Log::check(&path).err(), Log::open(&path).err()] {
        assert_eq!(failure.map(|failure| failure.message).as_deref(), Some(&says[..]));
    }
    fs::create_dir_all(folder.path().join("missing/dir")).expect("made");
    Log::check(&path).expect("it can be made");
    assert!(!target.exists(), "a check makes nothing");
    assert_eq!(Log::open(&path).and_then(|log| log.append(&receipt(1))), Ok(1));
    assert!(target.exists());
}

#[test]
fn a_log_in_a_folder_that_cannot_be_written_is_told_ahead() {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    let (folder, path) = scratch();
    fs::write(folder.path().join("file"), "text").expect("written");
    let below = folder.path().join("file/receipts.jsonl");
    let failure = Log::check(&below).expect_err("no folder");
    assert!(failure.message.ends_with("file: not a directory"), "{}", failure.message);
    let below = folder.path().join("new/below/receipts.jsonl");
    for path in [&path, &below] {
        Log::check(path).expect("it can be made");
    }
    // The superuser may write in any folder except such a one.
    let opened = File::open(folder.path()).expect("there");
    let set = |flag: bool| {
        let flags = ioctl_getflags(&opened)?;
        ioctl_setflags(&opened, if flag { flags | IFlags::IMMUTABLE } else { flags - IFlags::IMMUTABLE })
    };
    let mode = |mode| fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(mode));
    if set(true).is_err() {
        mode(0o500).expect("ours");
        if rustix::process::geteuid().is_root() {
            mode(0o700).expect("ours");
            return writeln!(std::io::stderr(), "SKIPPED: no folder can be made immutable").expect("standard error");
        }
    }
    let failures = [&path, &below].map(|path| Log::check(path).err());
    let _ = set(false);
    mode(0o700).expect("ours");
    for failure in failures {
        let message = failure.expect("it cannot be made").message;
        assert!(message.contains("receipts.jsonl: cannot be made in "), "{message}");
    }
}
