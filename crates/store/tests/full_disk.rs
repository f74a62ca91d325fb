//! A disk that is really full: a store whose peer was found to cheat is still given up, and its promises hold.
//!
//! The disk is a small file system in memory, which the test's own process mounts in its own name spaces. If the system does not allow that, the test
//! says so and does nothing; it has its own `main` so that the message is not captured.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use garblet_store::{Kind, Past, State, Store, StoreError, StoreKey};
use rand::{SeedableRng, rngs::StdRng};

const NAME: &str = "a_store_is_given_up_although_its_disk_is_full";

/// Mounts a disk of one mebibyte in the folder `$1`, and runs the program `$2` on it.
const MOUNT: &str = r#"mount -t tmpfs -o size=1m garblet-test "$1" && exec "$2" child "$1""#;

/// The exit status of a child that found a mistake. Others come from programs that are missing or may not mount.
const WRONG: u8 = 77;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("child") => {
            let checked = std::panic::catch_unwind(|| child(Path::new(&arguments[2])));
            checked.map_or(WRONG.into(), |()| ExitCode::SUCCESS)
        }
        Some("--list") => {
            println!("{NAME}: test");
            ExitCode::SUCCESS
        }
        _ => parent(),
    }
}

fn parent() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]);
    let ended = command.arg(folder.path()).arg(std::env::current_exe().expect("this program")).status();
    match ended.as_ref().map(std::process::ExitStatus::code) {
        Ok(Some(0)) => println!("test {NAME} ... ok"),
        Ok(Some(code)) if code == i32::from(WRONG) => {
            println!("test {NAME} ... FAILED");
            return ExitCode::FAILURE;
        }
        other => eprintln!("test {NAME} ... SKIPPED, NOTHING WAS TESTED: no disk can be mounted here: {other:?}"),
    }
    ExitCode::SUCCESS
}

fn rng(takes: bool) -> StdRng {
    StdRng::seed_from_u64(takes.into())
}

fn kind() -> Kind {
    Kind::new("pieces", b"")
}

fn given_up(store: &Store) -> bool {
    store.state("secrets").is_some_and(|state| state.bytes.is_empty())
}

/// Fills the disk up to the last byte.
fn fill(ballast: &Path) {
    let mut file = OpenOptions::new().create(true).append(true).open(ballast).expect("a name takes no room");
    for size in [4096, 1] {
        let full = loop {
            if let Err(error) = file.write_all(&vec![1; size]) {
                break error;
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::StorageFull, "{full}");
    }
}

fn is_full(error: &StoreError) -> bool {
    error.to_string().contains("full") || error.to_string().contains("No space")
}

/// Gives a store up on a full disk: once as the first write that fails, and once after a failed attempt to take a piece.
fn child(disk: &Path) {
    for takes in [false, true] {
        let (folder, records) = (disk.join(format!("store {takes}")), disk.join("records"));
        let ballast = disk.join("ballast");
        let key = StoreKey::generate(&mut rng(takes));
        let mut store = Store::create(&folder, &key, &mut rng(takes)).expect("there is room");
        assert_eq!(store.record_in(&records).expect("there is room"), Past::Known);
        store.set_state("secrets", State { version: 1, bytes: vec![7; 100] }).expect("there is room");
        let mut batch = store.batch();
        (0..4).for_each(|_| batch.push(&kind(), batch.next_id(&kind()), &[3; 50]).expect("there is room"));
        batch.commit().expect("there is room");
        fill(&ballast);
        if takes {
            let error = store.take_next(&kind(), 1).map(drop).expect_err("there is no room for what was taken");
            assert!(is_full(&error), "{error}");
        } else {
            let error =
                File::create(disk.join("more")).and_then(|mut file| file.write_all(b"x")).expect_err("it is full");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}");
        }
        store.give_up("secrets", State { version: 1, bytes: Vec::new() }, |_| false).expect("its mark has its room");
        assert!(!given_up(&store), "the disk was not full: the store itself was written");
        drop(store);
        let refuses = |when: &str| {
            // A store that cannot even be opened gives nothing out either.
            let opened = Store::open(&folder, &key, &mut rng(takes)).map(|mut store| store.record_in(&records));
            match opened {
                Ok(Err(StoreError::GivenUp { .. })) => {}
                Err(error) if when == "full" && is_full(&error) => {}
                other => {
                    panic!("{when}, after a piece was {takes} taken: {:?}", other.map(|past| past.map(drop)).map(drop))
                }
            }
        };
        refuses("full");
        std::fs::remove_file(&ballast).expect("it exists");
        refuses("with room again");
    }
}
