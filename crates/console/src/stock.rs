//! Stores of prepared material, from the command line's options.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use garblet::{
    Config, LibraryFile, Order, OrderRequest, Program, ReadInput, SavedValues, Stock, StockKinds, check_kept_name,
    formats::front_end::FrontEnds,
    is_low,
    meet::Way,
    store::{Past, State, Store, StoreError, StoreKey},
};

use crate::{
    args::pair,
    configuration::{in_configuration, make_folder},
    failure::Failure,
    hints::{explain, meet_failure, store_failure},
    output::tell,
    settings::Settings,
    written::read_input,
};

/// The wait while another process has the store open, as `garblet serve` does briefly.
const PATIENCE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(50);

/// The location of prepared material.
#[derive(clap::Args)]
pub struct StockArgs {
    /// Use this party's store in this folder, filled by `garblet prepare`; for protocols that have stores
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The key that encrypts the store [default: store.key in the configuration folder]
    #[arg(long, value_name = "FILE", requires = "store")]
    store_key: Option<PathBuf>,
    /// The library file to prepare from, for protocols that have one; a store remembers its library file
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Prepare during the run what the store lacks; all parties must give this option
    #[arg(long, requires = "store")]
    top_up: bool,
    /// Keep nothing more under a name after more than N runs that were to keep values under it and did not end [default: 16]
    #[arg(long, value_name = "N", requires = "store")]
    retries: Option<u32>,
    #[command(flatten)]
    saved: SavedArgs,
}

/// The values that stay in stores between runs. They cannot be combined with a job, whose digest does not cover them.
#[derive(clap::Args)]
pub struct SavedArgs {
    /// Keep the wires of the outputs in the store under this name, for later programs; with outsourced, the wires of outputs that nobody learns
    #[arg(long, value_name = "NAME", requires = "store", conflicts_with = "job", value_parser = kept_name)]
    keep: Option<String>,
    /// Read an input from an output that the store keeps, instead of from a party
    #[arg(long, value_name = "PORT=NAME[.OUTPUT]", requires = "store", conflicts_with = "job", value_parser = read_input)]
    read: Vec<ReadInput>,
}

/// Parses a name that `--read` can refer to.
fn kept_name(text: &str) -> Result<String, String> {
    check_kept_name(text).map(|()| text.into()).map_err(|error| error.to_string())
}

/// An amount to prepare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The kind of what is prepared.
    pub kind: String,
    /// The number of its pieces.
    pub count: u64,
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, count) = pair(text, "WHAT=N, for instance gates=1000000")?;
        let count = count.parse().map_err(|_| format!("expected a number of {kind}, got `{count}`"))?;
        Ok(Amount { kind, count })
    }
}

/// The source of prepared material.
pub enum Source {
    /// A store on disk, filled in advance.
    Store {
        /// The store.
        folder: Folder,
        /// Set if what it lacks is prepared during the run.
        top_up: bool,
        /// Creates a missing store.
        make: bool,
        /// The most runs that should have saved a value but did not end, if given.
        retries: Option<u32>,
    },
    /// A store in memory, filled now from a library.
    InMemory(PathBuf),
}

/// A store on disk and its purpose.
#[derive(Clone)]
pub struct Folder {
    /// The target amounts, by kind.
    pub order: OrderRequest,
    /// The folder.
    pub path: PathBuf,
    /// The file with the store's key, where it is named.
    pub key: Option<PathBuf>,
    /// The mark of the peer, to whom the store is bound.
    pub peer: String,
    /// Set if it is compared with this machine's record of it, which is created if missing.
    pub recorded: bool,
    /// The command that prepares more, if known.
    pub again: Option<String>,
}

impl StockArgs {
    /// The values that stay in stores.
    pub fn saved(&self) -> &SavedArgs {
        &self.saved
    }

    /// The source of prepared material; `None` if the run makes it.
    ///
    /// *Errors*: options that the protocol does not use; no peer for a store.
    pub fn source(
        &self,
        settings: &Settings,
        way: &Way,
        again: impl FnOnce(&[(&str, String)]) -> String,
    ) -> Result<Option<Source>, Failure> {
        settings.check_library(self.library.is_some())?;
        let Some(path) = &self.store else { return Ok(self.library.clone().map(Source::InMemory)) };
        let config = settings.config()?;
        let Some(kinds) = config.stock() else { return Err(no_store(&config)) };
        let again = (kinds == StockKinds::Runs).then(|| again(&store_options(path, self.store_key.as_deref())));
        let order = OrderRequest { library: self.library.clone().map(library_file), ..OrderRequest::default() };
        let peer = way.mark().map_err(|e| meet_failure(&e))?.to_string();
        let (path, key) = (path.clone(), self.store_key.clone());
        let folder = Folder { order, path, key, peer, recorded: true, again };
        Ok(Some(Source::Store { folder, top_up: self.top_up, make: false, retries: self.retries }))
    }
}

impl SavedArgs {
    /// The values that a run takes from the stores and leaves there.
    pub fn values(&self) -> SavedValues {
        SavedValues { keep: self.keep.clone(), read: self.read.clone() }
    }

    /// The program without the inputs that are read, for asking parties for inputs.
    ///
    /// *Errors*: the program lacks an input that is to be read.
    pub fn asked(&self, program: &Program) -> Result<Program, Failure> {
        let names: Vec<&str> = program.inputs().iter().map(|input| &input.port.name[..]).collect();
        if let Some(ReadInput { port, .. }) = self.read.iter().find(|read| !names.contains(&&read.port[..])) {
            return Err(Failure::call(format!("--read: the program has no input `{port}`"))
                .hint(format!("it has {}", names.join(", "))));
        }
        self.values().asked(program).map_err(|error| explain(&error))
    }
}

/// The options that name a store on the command line.
pub fn store_options(store: &Path, key: Option<&Path>) -> Vec<(&'static str, String)> {
    let key = key.map(|key| ("--store-key", key.display().to_string()));
    std::iter::once(("--store", store.display().to_string())).chain(key).collect()
}

/// The keys that this process has read from pipes, by their paths.
static PIPED: Mutex<Vec<(PathBuf, StoreKey)>> = Mutex::new(Vec::new());

/// Loads the key from a file, or from its default place, where it is created if missing. A key may come through a pipe, for instance from a password manager:
/// it is read once and serves the whole process.
pub fn load_or_create_key(file: Option<&Path>) -> Result<StoreKey, Failure> {
    let path = in_configuration(file, "store.key")?;
    make_folder(&path)?;
    if !comes_once(&path) {
        return load_key(&path);
    }
    let mut piped = PIPED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, key)) = piped.iter().find(|(from, _)| *from == path) {
        return Ok(key.clone());
    }
    let key = load_key(&path)?;
    piped.push((path, key.clone()));
    Ok(key)
}

fn load_key(path: &Path) -> Result<StoreKey, Failure> {
    StoreKey::load_or_create(path, &mut rand::rng()).map_err(|e| store_failure(&e))
}

/// Tells whether a path is that of a pipe or a device, whose bytes only one reader gets.
fn comes_once(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Checks that several processes can read the key, if it is there.
///
/// *Errors*: a pipe or a device.
pub fn check_key_for_many(file: Option<&Path>) -> Result<(), Failure> {
    match file.filter(|path| comes_once(path)) {
        None => Ok(()),
        Some(path) => Err(Failure::call(format!(
            "--store-key {}: expected a file, since each party reads the key in a process of its own",
            path.display()
        ))
        .hint("write it to a file with mode 600; commands that run one party read it from a pipe, too")),
    }
}

/// Compares a store with its record in the configuration folder, which restoring a copy of the store's folder does not change.
pub fn check_record(store: &mut Store) -> Result<(), Failure> {
    let Ok(records) = in_configuration(None, "stores") else {
        tell(&format!(
            "warning: an old copy of the store in {} would go unnoticed: neither XDG_CONFIG_HOME nor HOME is set, so there is no place to record it",
            store.folder().display()
        ));
        return Ok(());
    };
    match store.record_in(&records).map_err(|e| store_failure(&e))? {
        Past::Known => {}
        Past::Unknown => tell(&format!(
            "warning: this machine has no record of the store in {}; if it was restored from a backup, its pieces could be used twice: \
             let both parties create new stores",
            store.folder().display()
        )),
    }
    Ok(())
}

/// The same if there is a record, and otherwise nothing: `garblet local` creates none for its stores.
fn check_record_if_any(store: &mut Store) -> Result<(), Failure> {
    match in_configuration(None, "stores") {
        // One that cannot be read is an error of the check.
        Ok(records) if records.join(store.id()).try_exists().unwrap_or(true) => check_record(store),
        _ => Ok(()),
    }
}

/// Checks that there is a store, before a key is read or created.
///
/// *Errors*: the store is missing.
pub fn find_store(folder: &Path) -> Result<(), Failure> {
    Store::find(folder).map_err(|error| match error {
        StoreError::Missing { .. } => store_failure(&error).hint("create and fill one with `garblet prepare`"),
        error => store_failure(&error),
    })
}

/// The error for options of a store where the protocol uses none.
pub fn no_store(config: &Config) -> Failure {
    let protocol = config.protocol();
    match protocol.stock() {
        Some(_) => {
            Failure::call(format!("--store, --keep, --read: {protocol} saves nothing in a store with these parameters"))
                .hint("without --param it does")
        }
        None => Failure::call(format!("--store: {protocol} uses no store")).hint(format!("{} do", with_stores())),
    }
}

/// The names of the protocols with stores.
pub fn with_stores() -> String {
    let names = garblet::Protocol::ALL.iter().filter(|protocol| protocol.stock().is_some());
    names.map(|protocol| protocol.name()).collect::<Vec<_>>().join(", ")
}

impl Source {
    /// Opens it for one of this number of parties.
    ///
    /// *Errors*: a wrong library file; an unusable store.
    pub(crate) fn open(&self, config: &Config, parties: u16) -> Result<Stock, Failure> {
        match self {
            Source::Store { folder, top_up, make, retries } => {
                if !make {
                    find_store(&folder.path)?;
                }
                let open = if *make { Store::open_or_create } else { Store::open };
                let mut stock = folder.open(folder.order(config, parties)?, (config, parties), open)?;
                (stock.top_up, stock.retries) = (*top_up, *retries);
                Ok(stock)
            }
            Source::InMemory(library) => {
                let order = library_order(library.clone(), config, parties)?;
                Stock::in_memory(order, &mut rand::rng()).map_err(|e| store_failure(&e))
            }
        }
    }

    /// The command that prepares the missing material, if known.
    pub(crate) fn again(&self) -> Option<&str> {
        match self {
            Source::Store { folder, .. } => folder.again.as_deref(),
            Source::InMemory(_) => None,
        }
    }
}

impl Folder {
    /// The order; `None` if the store remembers its library.
    ///
    /// *Errors*: a mistake in it, reported before waiting for a peer.
    pub fn order(&self, config: &Config, parties: u16) -> Result<Option<Order>, Failure> {
        let remembered = config.protocol().stock() == Some(StockKinds::Library) && self.order.library.is_none();
        let order = (!remembered).then(|| Order::new(&self.order, parties, config));
        order.transpose().map_err(|e| explain(&e))
    }

    /// Tells whether the store, which may not exist yet, has less than `below` percent of some kind of its order. It does not say so while another process uses the store.
    ///
    /// *Errors*: an unusable store; a wrong library file.
    pub fn is_low(&self, config: &Config, parties: u16, below: u8) -> Result<bool, Failure> {
        let Some(order) = self.order(config, parties)? else { return Ok(true) };
        if matches!(Store::find(&self.path), Err(StoreError::Missing { .. })) {
            return Ok(true);
        }
        let key = load_or_create_key(self.key.as_deref())?;
        match Store::open(&self.path, &key, &mut rand::rng()) {
            Ok(store) => Ok(is_low(&Stock::new(order, store, &self.peer[..]), config, below)),
            Err(StoreError::InUse { .. }) => Ok(false),
            Err(error) => Err(store_failure(&error)),
        }
    }

    /// Opens the store for an order, waiting briefly if another process has it open.
    ///
    /// *Errors*: an unusable store; a wrong library file.
    pub fn open(
        &self,
        order: Option<Order>,
        (config, parties): (&Config, u16),
        open: fn(&Path, &StoreKey, &mut rand::rngs::ThreadRng) -> Result<Store, StoreError>,
    ) -> Result<Stock, Failure> {
        let key = load_or_create_key(self.key.as_deref())?;
        let begin = Instant::now();
        let mut store = loop {
            match open(&self.path, &key, &mut rand::rng()) {
                Err(StoreError::InUse { .. }) if begin.elapsed() < PATIENCE => std::thread::sleep(RETRY),
                other => break other.map_err(|e| store_failure(&e))?,
            }
        };
        match self.recorded {
            true => check_record(&mut store)?,
            false => check_record_if_any(&mut store)?,
        }
        let order = match order {
            Some(order) => order,
            None => library_order(remembered_library(&store)?, config, parties)?,
        };
        Ok(Stock::new(order, store, &self.peer[..]))
    }
}

/// The name under which a store records its library file.
const LIBRARY_STATE: &str = "library file";
const LIBRARY_STATE_VERSION: u32 = 1;

/// Records in a store the library file from which it was filled.
pub fn remember_library(store: &mut Store, library: &Path) -> Result<(), Failure> {
    let path = std::path::absolute(library).map_err(|e| Failure::unreadable(library, &e))?;
    let bytes = path.into_os_string().into_encoded_bytes();
    if store.state(LIBRARY_STATE).is_some_and(|state| state.bytes == bytes) {
        return Ok(());
    }
    let state = State { version: LIBRARY_STATE_VERSION, bytes };
    store.set_state(LIBRARY_STATE, state).map_err(|e| store_failure(&e))
}

/// The library file from which a store was filled. Its digest tells whether it is still the same.
fn remembered_library(store: &Store) -> Result<PathBuf, Failure> {
    let path = store.state_of(LIBRARY_STATE, LIBRARY_STATE_VERSION).map_err(|e| store_failure(&e))?;
    match path.and_then(|path| String::from_utf8(path.to_vec()).ok()) {
        Some(path) => Ok(path.into()),
        None => Err(Failure::call(format!("{}: the store was never filled from a library", store.folder().display()))
            .hint("give --library FILE, or fill it with `garblet prepare`")),
    }
}

/// The order for everything that a library file lists.
fn library_order(library: PathBuf, config: &Config, parties: u16) -> Result<Order, Failure> {
    let request = OrderRequest { library: Some(library_file(library)), ..OrderRequest::default() };
    Order::new(&request, parties, config).map_err(|e| explain(&e))
}

/// Loads a library file, whose circuit files may have any known format.
pub fn library_file(path: PathBuf) -> LibraryFile {
    LibraryFile { path, load: |file| FrontEnds::standard().load(file) }
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn a_key_from_a_pipe_is_read_once_and_serves_the_whole_process() {
        use std::{io::Write, os::fd::AsRawFd};

        use super::*;

        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(&[7; 32]).expect("it has room");
        drop(writer);
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("store");
        let key = || load_or_create_key(Some(&path)).map_err(|failure| failure.message).expect("a key");
        drop(Store::create(&store, &key(), &mut rand::rng()).expect("a new folder"));
        drop(Store::open(&store, &key(), &mut rand::rng()).expect("the same key"));
        let failure = check_key_for_many(Some(&path)).expect_err("a pipe");
        assert!(failure.message.contains("expected a file"), "{}", failure.message);
        let file = folder.path().join("key");
        assert!(check_key_for_many(Some(&file)).is_ok(), "it will be made");
        assert!(load_or_create_key(Some(&file)).is_ok() && check_key_for_many(Some(&file)).is_ok());
    }
}
