//! Stores of prepared material, as the command line names them.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use garblet::{
    Contents, Party, Program, Protocol, ReadInput, Supply, Values,
    components::Library,
    lego,
    store::{State, Store, StoreError, StoreKey},
};

use garblet_circuit::InputId;

use crate::{
    failure::Failure,
    session::Settings,
    store::{check_record, load_or_create_key, store_failure},
};

/// Who gives the inputs that are read.
const NOBODY: Party = Party(u16::MAX);

/// How long to wait for another process that has the store open: `garblet serve` does so for short times.
const PATIENCE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(50);

/// Where prepared material is.
#[derive(clap::Args)]
pub(crate) struct SupplyArgs {
    /// With components, lego and the protocols of several parties: the folder of this party's store, filled by `garblet prepare`
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The key that the store is encrypted under [default: store.key in the configuration folder]
    #[arg(long, value_name = "FILE", requires = "store")]
    store_key: Option<PathBuf>,
    /// With components: the library file to prepare from; a store knows from which one it was filled
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// With components, lego and the protocols of several parties: make what the store lacks during the run; all must wish it
    #[arg(long, requires = "store")]
    top_up: bool,
    /// With lego and a store: keep the outputs' wires under this name, for programs that come later
    #[arg(long, value_name = "NAME", requires = "store")]
    keep: Option<String>,
    /// With lego and a store: read an input, which nobody gives then, from an output that was kept
    #[arg(long, value_name = "PORT=NAME[.OUTPUT]", requires = "store", value_parser = read_input)]
    read: Vec<ReadInput>,
}

/// Parses `PORT=NAME` or `PORT=NAME.OUTPUT`.
fn read_input(text: &str) -> Result<ReadInput, String> {
    let (port, kept) = text.split_once('=').ok_or("expected PORT=NAME or PORT=NAME.OUTPUT")?;
    let (name, output) = match kept.split_once('.') {
        Some((name, output)) => (name, Some(output.to_string())),
        None => (kept, None),
    };
    Ok(ReadInput { port: port.into(), name: name.into(), output })
}

/// Where prepared material comes from.
pub(crate) enum Source {
    /// A store on disk, filled before.
    Store { folder: Folder, top_up: bool, values: Values },
    /// A store in memory, filled now with what a library says.
    InMemory(PathBuf),
}

/// A store on disk and what it is for.
#[derive(Clone)]
pub(crate) struct Folder {
    pub(crate) holds: Holds,
    pub(crate) path: PathBuf,
    pub(crate) key: Option<PathBuf>,
    pub(crate) peer: String,
    /// Whether it is held against what this machine has recorded of it.
    pub(crate) recorded: bool,
}

/// What a store on disk is for.
#[derive(Clone)]
pub(crate) enum Holds {
    /// What a library file says; none is the one that the store was filled from.
    Components(Option<PathBuf>),
    /// Gates of any function.
    Gates(lego::Amounts),
    /// Runs of one program.
    Runs {
        /// The command that prepares them.
        again: String,
    },
}

impl SupplyArgs {
    /// Where prepared material comes from, if it is not made for the run.
    ///
    /// *Errors*: options that the protocol has no use for; no peer to which a store belongs.
    pub(crate) fn source(
        &self,
        settings: &Settings,
        peer: &Result<String, Failure>,
        again: impl FnOnce(&[(&str, String)]) -> String,
    ) -> Result<Option<Source>, Failure> {
        settings.check_library(self.library.is_some())?;
        let Some(path) = &self.store else { return Ok(self.library.clone().map(Source::InMemory)) };
        let holds = match settings.config()?.protocol {
            Protocol::Components => Holds::Components(self.library.clone()),
            Protocol::Lego => Holds::Gates(lego::Amounts::default()),
            several if several.is_mesh() => {
                Holds::Runs { again: again(&store_options(path, self.store_key.as_deref())) }
            }
            other => {
                return Err(Failure::call(format!("--store: {other} takes nothing from a store"))
                    .hint("components, lego and the protocols of several parties do"));
            }
        };
        let values = Values { keep: self.keep.clone(), read: self.read.clone() };
        if !matches!(holds, Holds::Gates(_)) && values != Values::default() {
            return Err(Failure::call("--keep, --read: with --protocol lego only"));
        }
        let folder =
            Folder { holds, path: path.clone(), key: self.store_key.clone(), peer: peer.clone()?, recorded: true };
        Ok(Some(Source::Store { folder, top_up: self.top_up, values }))
    }

    /// The program as this party is asked for inputs: none for what is read.
    ///
    /// *Errors*: an input to read that the program does not have.
    pub(crate) fn asked(&self, program: &Program) -> Result<Program, Failure> {
        let names: Vec<&str> = program.inputs().iter().map(|input| &input.port.name[..]).collect();
        if let Some(ReadInput { port, .. }) = self.read.iter().find(|read| !names.contains(&&read.port[..])) {
            return Err(Failure::call(format!("--read: the program has no input `{port}`"))
                .hint(format!("it has {}", names.join(", "))));
        }
        let mut asked = program.clone();
        for (number, input) in program.inputs().iter().enumerate() {
            if self.read.iter().any(|read| read.port == input.port.name) {
                asked.set_owner(InputId(number as u32), NOBODY);
            }
        }
        Ok(asked)
    }
}

/// How a store is named on the command line.
pub(crate) fn store_options(store: &Path, key: Option<&Path>) -> Vec<(&'static str, String)> {
    let key = key.map(|key| ("--store-key", key.display().to_string()));
    std::iter::once(("--store", store.display().to_string())).chain(key).collect()
}

/// Looks whether there is a store, before a key is looked for or made.
///
/// *Errors*: none there.
pub(crate) fn find_store(folder: &Path) -> Result<(), Failure> {
    Store::find(folder).map_err(|error| match error {
        StoreError::Missing { .. } => store_failure(&error).hint("`garblet prepare` makes one and fills it"),
        error => store_failure(&error),
    })
}

impl Source {
    /// Opens it.
    ///
    /// *Errors*: a library file that is wrong, a store that cannot be used.
    pub(crate) fn open(&self) -> Result<Supply, Failure> {
        match self {
            Source::Store { folder, values, top_up } => {
                find_store(&folder.path)?;
                let fill_first = *top_up && matches!(folder.holds, Holds::Runs { .. });
                Ok(Supply { values: values.clone(), fill_first, ..folder.open(Store::open)? })
            }
            Source::InMemory(library) => Ok(Supply {
                contents: Contents::Components(load(library)?),
                store: Store::in_memory(&mut rand::rng()).map_err(|e| store_failure(&e))?,
                peer: "in memory".into(),
                fill_first: true,
                values: Values::default(),
            }),
        }
    }

    /// The command that prepares what was lacking, where it is known.
    pub(crate) fn again(&self) -> Option<&str> {
        match self {
            Source::Store { folder: Folder { holds: Holds::Runs { again }, .. }, .. } => Some(again),
            _ => None,
        }
    }

    /// Whether what is lacking is made during the run.
    pub(crate) fn top_up(&self) -> bool {
        matches!(self, Source::Store { top_up: true, .. })
    }
}

impl Folder {
    /// Looks at the library file, so that a mistake in it is told before a peer is waited for.
    ///
    /// *Errors*: as [`Folder::open`], of the library file.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.holds {
            Holds::Components(Some(library)) => load(library).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Opens the store, waiting for a short while if another process has it open.
    pub(crate) fn open(
        &self,
        open: fn(&Path, &StoreKey, &mut rand::rngs::ThreadRng) -> Result<Store, StoreError>,
    ) -> Result<Supply, Failure> {
        let library = match &self.holds {
            Holds::Components(library) => library.as_deref().map(load).transpose()?,
            Holds::Gates(_) | Holds::Runs { .. } => None,
        };
        let key = load_or_create_key(self.key.as_deref())?;
        let begin = Instant::now();
        let mut store = loop {
            match open(&self.path, &key, &mut rand::rng()) {
                Err(StoreError::InUse { .. }) if begin.elapsed() < PATIENCE => std::thread::sleep(RETRY),
                other => break other.map_err(|e| store_failure(&e))?,
            }
        };
        if self.recorded {
            check_record(&mut store)?;
        }
        let contents = match (&self.holds, library) {
            (Holds::Gates(amounts), _) => Contents::Gates(*amounts),
            (Holds::Runs { .. }, _) => Contents::Runs,
            (_, Some(library)) => Contents::Components(library),
            (_, None) => Contents::Components(load(&remembered_library(&store)?)?),
        };
        Ok(Supply { contents, store, peer: self.peer.clone(), fill_first: false, values: Values::default() })
    }
}

/// The state of a store that says where the library file is.
const LIBRARY_STATE: &str = "library file";
const LIBRARY_STATE_VERSION: u32 = 1;

/// Notes in a store from which library file it was filled.
pub(crate) fn remember_library(store: &mut Store, library: &Path) -> Result<(), Failure> {
    let path = std::path::absolute(library).map_err(|e| Failure::unreadable(library, &e))?;
    let bytes = path.into_os_string().into_encoded_bytes();
    if store.state(LIBRARY_STATE).is_some_and(|state| state.bytes == bytes) {
        return Ok(());
    }
    let state = State { version: LIBRARY_STATE_VERSION, bytes };
    store.set_state(LIBRARY_STATE, state).map_err(|e| store_failure(&e))
}

/// The library file that a store was filled from. Whether it is still the same is told by its digest.
fn remembered_library(store: &Store) -> Result<PathBuf, Failure> {
    let state = store.state(LIBRARY_STATE).filter(|state| state.version == LIBRARY_STATE_VERSION);
    match state.and_then(|state| String::from_utf8(state.bytes.clone()).ok()) {
        Some(path) => Ok(path.into()),
        None => Err(Failure::call(format!("{}: the store was never filled from a library", store.folder().display()))
            .hint("give --library FILE, or fill it with `garblet prepare`")),
    }
}

fn load(path: &Path) -> Result<Library, Failure> {
    Library::load(path).map_err(Failure::diagnosed)
}
