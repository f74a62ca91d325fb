//! `garblet store`.

use std::path::Path;

use garblet::store::{Binding, Kind, Past, State, Store, StoreKey};
use rand::{SeedableRng, rngs::StdRng};

use crate::invocation::{Folder, command, finish, garblet};

/// A store with 20 components, 3 of them used, and its key file.
fn filled(folder: &Folder) -> (String, String) {
    filled_with(folder, &Kind::new("component aes", b""))
}

/// A store with 20 pieces of a kind, 3 of them used, and its key file.
fn filled_with(folder: &Folder, kind: &Kind) -> (String, String) {
    let (store, key) = (folder.path("store"), folder.path("store.key"));
    let ran = garblet(&["store", "init", &store, "--store-key", &key]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let mut opened = recorded(&store, &key);
    let binding =
        Binding { peer: "bob".into(), role: "garbler".into(), protocol: "components 1".into(), library: String::new() };
    opened.bind(&binding).expect("the first time");
    let mut batch = opened.batch();
    for _ in 0..20 {
        batch.push(kind, batch.next_id(kind), &[7; 1000]).expect("fits");
    }
    batch.commit().expect("durable");
    drop(opened.take_next(kind, 3).expect("there"));
    (store, key)
}

fn open(store: &str, key: &str) -> Store {
    let key = StoreKey::load(Path::new(key)).expect("a key");
    Store::open(Path::new(store), &key, &mut StdRng::seed_from_u64(1)).expect("opens")
}

/// Opens a store like the command does.
fn recorded(store: &str, key: &str) -> Store {
    let mut opened = open(store, key);
    let records = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/config/garblet/stores"));
    assert_eq!(opened.record_in(records).expect("the command has made it"), Past::Known);
    opened
}

fn damage(store: &str, at: usize) {
    let path = Path::new(store).join("segments/00000000.seg");
    let mut bytes = std::fs::read(&path).expect("a segment");
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).expect("changed");
}

#[test]
fn the_contents_are_listed() {
    let folder = Folder::new("store-list");
    let (store, key) = filled(&folder);
    let ran = garblet(&["store", "list", &store, "--store-key", &key]);
    let expected = "peer bob\nrole garbler\nprotocol components 1\n\
        kind                      available  used  lost     size\n\
        component aes (3a0f6b0c)         17     3     0  17.3 KB\n\
        20.4 KB in 1 segment\n";
    let rest = ran.stdout.split_once('\n').map(|(first, rest)| {
        assert!(first.starts_with("store ") && first.len() == 38, "{first}");
        let (before, after) = rest.split_once("aes (").expect("a kind");
        format!("{before}aes (3a0f6b0c{}", &after[8..])
    });
    assert_eq!(rest.as_deref(), Some(expected), "{}", ran.stderr);
    let listed = garblet(&["store", "list", &store, "--store-key", &key, "--json"]).json();
    assert_eq!(listed["binding"]["role"], "garbler");
    assert_eq!((&listed["kinds"][0]["available"], &listed["kinds"][0]["next"]), (&17.into(), &20.into()));
}

#[test]
fn grouped_material_is_counted_in_units_and_an_unsettled_check_is_reported() {
    let folder = Folder::new("store-groups");
    let (store, key) = filled_with(&folder, &Kind::in_groups("triples", 16, b""));
    let list = |more: &[&str]| garblet(&[&["store", "list", &store, "--store-key", &key], more].concat());
    let (text, unsettled) = (list(&[]).stdout, "the last check of the peer is not settled");
    assert!(text.contains(")        272    48     0  17.3 KB\n"), "{text}");
    assert!(text.contains("\ntriples (") && !text.contains(unsettled), "{text}");
    let listed = list(&["--json"]).json();
    let kind = &listed["kinds"][0];
    let amounts = ["name", "per_piece", "available", "consumed", "dropped", "next"].map(|field| kind[field].clone());
    assert_eq!(serde_json::json!(amounts), serde_json::json!(["triples", 16, 272, 48, 0, 20]));
    assert_eq!(listed["unsettled_check"], false);
    // The form that an evaluator leaves: the name of a batch, the digest, the commitment.
    let state = State { version: 1, bytes: [&[1][..], &[7; 96]].concat() };
    recorded(&store, &key).set_state("authenticated check", state).expect("written");
    assert!(list(&[]).stdout.contains(unsettled), "{}", list(&[]).stdout);
    assert_eq!(list(&["--json"]).json()["unsettled_check"], true);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    std::fs::set_permissions(to, std::fs::metadata(from).expect("there").permissions()).expect("ours");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { std::fs::copy(&from, &to).map(drop).expect("a copy") }
    }
}

#[test]
fn an_old_copy_is_refused_and_a_store_without_a_record_gets_a_warning() {
    let folder = Folder::new("store-put-back");
    let (store, key) = filled(&folder);
    let (old, moved) = (folder.path("old"), folder.path("moved"));
    copy(Path::new(&store), Path::new(&old));
    let call = |what: &str, store: &str| garblet(&["store", what, store, "--store-key", &key]);
    assert_eq!(call("clear", &store).stdout, "discarded 17 pieces\n");
    let ran = call("list", &old);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    let begin = format!("error: the store in {old} is older than its record in ");
    assert!(
        ran.stderr.starts_with(&begin) && ran.stderr.contains(" says: expected at least change "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: never restore a store from a backup"), "{}", ran.stderr);
    copy(Path::new(&store), Path::new(&moved));
    let elsewhere = folder.path("elsewhere");
    let mut warned = [false; 2].map(|_| {
        let mut list = command(&["store", "list", &moved, "--store-key", &key]);
        let ran = finish(list.env("XDG_CONFIG_HOME", &elsewhere).spawn().expect("it starts"));
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        ran.stderr
    });
    assert_eq!(std::mem::take(&mut warned[1]), "", "there is a record now");
    let expected =
        format!("warning: this machine has no record of the store in {moved}; if it was restored from a backup, ");
    assert!(warned[0].starts_with(&expected), "{}", warned[0]);
    assert_eq!(call("allow", &store).stdout, "allowed 0 unfinished orders and runs\n");
}

#[test]
fn damage_is_reported_and_discarded_and_space_is_freed() {
    let folder = Folder::new("store-damage");
    let (store, key) = filled(&folder);
    let call = |arguments: &[&str]| garblet(&[&["store"], arguments, &[&store, "--store-key", &key]].concat());
    let sound = call(&["verify"]);
    assert_eq!((sound.status, sound.stdout.as_str()), (Some(0), "sound: 17 pieces\n"), "{}", sound.stderr);
    // In piece 5: after the segment's head and five pieces with their tags.
    damage(&store, 32 + 5 * 1016 + 9);
    let ran = call(&["verify"]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.starts_with("sound: 16 pieces\ndamaged: 5 of component aes ("), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("segments/00000000.seg from byte 5112\n"), "{}", ran.stdout);
    let expected = format!(
        "error: 1 piece of the store in {store} are damaged\n\
         hint: discard them with `garblet store verify --drop`; the rest can be used\n"
    );
    assert_eq!(ran.stderr, expected.replace("are damaged", "is damaged"));
    let dropped = call(&["verify", "--drop", "--json"]).json();
    assert_eq!((&dropped["damaged"], &dropped["dropped"]), (&1.into(), &1.into()));
    assert_eq!(call(&["verify"]).status, Some(0));
    let compacted = call(&["compact", "--json"]).json();
    assert_eq!(compacted["bytes_before"], 32 + 20 * 1016);
    assert_eq!(compacted["bytes_after"], 32 + 16 * 1016);
    assert_eq!(call(&["clear"]).stdout, "discarded 16 pieces\n");
    assert_eq!(call(&["compact"]).stdout, "freed 0 B: 0 B left\n");
    let listed = call(&["list", "--json"]).json();
    assert_eq!((&listed["kinds"][0]["dropped"], &listed["kinds"][0]["next"]), (&17.into(), &20.into()));
}

#[test]
fn a_failure_to_open_a_store_is_explained() {
    let folder = Folder::new("store-bad");
    let (store, key) = filled(&folder);
    let list = |store: &str, key: &str| garblet(&["store", "list", store, "--store-key", key]);
    let none = folder.path("none");
    list(&none, &key)
        .fails(2, &format!("error: no store in {none}\nhint: make one with `garblet store init {none}`\n"));
    list(&store, &none).fails(
        2,
        &format!(
            "error: no store key in {none}: the file does not exist\n\
             hint: a store can be opened only with the key that it was made with\n"
        ),
    );
    let other = folder.path("other.key");
    StoreKey::generate(&mut StdRng::seed_from_u64(9)).save(Path::new(&other)).expect("saved");
    list(&store, &other).fails(
        2,
        &format!(
            "error: the key does not open the store in {store}\nhint: give the key file that the store was made with\n"
        ),
    );
    garblet(&["store", "init", &store, "--store-key", &key]).fails(
        2,
        &format!(
            "error: {store} is not empty, so no store can be created there\nhint: name a new folder, or an empty one\n"
        ),
    );
    let held = open(&store, &key);
    list(&store, &key).fails(
        1,
        &format!(
            "error: the store in {store} is in use by process {}\n\
             hint: wait until it is done, or give each process a store of its own\n",
            std::process::id()
        ),
    );
    drop(held);
    let index = Path::new(&store).join("index.sqlite");
    let mut bytes = std::fs::read(&index).expect("an index");
    bytes.truncate(5000);
    std::fs::write(&index, bytes).expect("cut off");
    let ran = list(&store, &key);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: the store is damaged: index.sqlite: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("\nhint: "), "{}", ran.stderr);
    let removed = garblet(&["store", "clear", "--all", &store]);
    assert_eq!(removed.stdout, format!("removed the store in {store}\n"), "{}", removed.stderr);
    assert!(!Path::new(&store).exists());
}
