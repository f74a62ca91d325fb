//! `garblet keygen` and `garblet trust`: our identity and the peers we trust.

use std::path::{Path, PathBuf};

use garblet_client::{Invitation, Secret};
use garblet_net::{Fingerprint, FingerprintError, Identity, IdentityError, TrustError, TrustStore};

use crate::{
    configuration::{check_unwritable_in_folder, in_configuration, make_folder},
    failure::{Failure, Status},
    hints::identity_failure,
    output::{print, print_json, table, tell},
};

/// The options of `garblet keygen`.
#[derive(clap::Args)]
pub(crate) struct KeygenOptions {
    /// The file to create, or with --client to read [default: identity.pem in the configuration folder]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print this server's invitation for the client NAME, which is always the same; keep it secret
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The name of this server that the client sees [default: its fingerprint]
    #[arg(long, value_name = "NAME", requires = "client")]
    server_name: Option<String>,
}

/// Options of `garblet id`.
#[derive(clap::Args)]
pub(crate) struct IdOptions {
    /// The identity, made by `garblet keygen` [default: identity.pem in the configuration folder]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The subcommands of `garblet trust`.
#[derive(clap::Subcommand)]
pub(crate) enum TrustCommand {
    /// Trust a peer by a name of your choice
    Add {
        /// The name
        name: String,
        /// The fingerprint that the peer's `garblet keygen` printed, received over a channel that you trust
        fingerprint: Fingerprint,
        #[command(flatten)]
        store: TrustArgs,
    },
    /// List the trusted peers
    List {
        #[command(flatten)]
        store: TrustArgs,
    },
    /// Remove a peer from the trusted ones
    Remove {
        /// The name
        name: String,
        #[command(flatten)]
        store: TrustArgs,
    },
}

/// The place where the trusted peers are kept.
#[derive(clap::Args)]
pub(crate) struct TrustArgs {
    /// The file with the trusted peers [default: trust.toml in the configuration folder]
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
}

/// Our identity and the peer's.
#[derive(clap::Args)]
pub(crate) struct PeerArgs {
    /// This party's identity, made by `garblet keygen` [default: identity.pem in the configuration folder]
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// The peer: a name from `garblet trust list`, or a fingerprint [default: every trusted peer; with --listen, the only one]
    #[arg(long, value_name = "NAME|FINGERPRINT")]
    peer: Option<String>,
    #[command(flatten)]
    store: TrustArgs,
}

/// Creates an identity and prints its fingerprint, or prints an invitation.
pub(crate) fn keygen(options: &KeygenOptions) -> Result<(), Failure> {
    let path = in_configuration(options.file.as_deref(), "identity.pem")?;
    if let Some(client) = &options.client {
        let identity = Identity::load(&path).map_err(|e| identity_failure(&e))?;
        keep_to_owner(std::io::stdout())
            .map_err(|error| Failure::call(format!("cannot make the invitation private: {error}")))?;
        let name = options.server_name.clone().unwrap_or_else(|| identity.fingerprint().to_string());
        return print(&format!("{}\n", &*invitation(&identity, &name, client)?.to_text()));
    }
    make_folder(&path)?;
    let identity = Identity::generate(&mut rand::rng());
    identity.save(&path).map_err(|error| match error {
        IdentityError::Io { .. } => Failure { status: Status::NoResult, ..identity_failure(&error) },
        _ => identity_failure(&error),
    })?;
    tell(&format!("wrote {}; give peers this fingerprint:", path.display()));
    print(&format!("{}\n", identity.fingerprint()))
}

/// Shows the fingerprint of an identity. It has no name of its own; others name it.
pub(crate) fn show(options: &IdOptions) -> Result<(), Failure> {
    let path = in_configuration(options.file.as_deref(), "identity.pem")?;
    let identity = load_identity(Some(&path))?;
    let fingerprint = identity.fingerprint();
    match options.json {
        true => print_json(&serde_json::json!({
            "fingerprint": fingerprint.to_string(),
            "public_key": format!("{:?}", garblet_client::Identity(identity.public_key())),
            "file": path
        })),
        false => print(&format!("{fingerprint}\n")),
    }
}

/// Loads the identity from a file, or from its default place.
///
/// *Errors*: one that cannot be loaded.
pub(crate) fn load_identity(file: Option<&Path>) -> Result<Identity, Failure> {
    let path = in_configuration(file, "identity.pem")?;
    Identity::load(&path).map_err(|e| identity_failure(&e))
}

/// Makes an output file readable by its owner only, since a shell creates it readable by all.
#[cfg(unix)]
fn keep_to_owner(written: impl std::os::fd::AsFd) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let file = std::fs::File::from(written.as_fd().try_clone_to_owned()?);
    match file.metadata()?.is_file() {
        true => file.set_permissions(std::fs::Permissions::from_mode(0o600)),
        false => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_to_owner(_: impl Sized) -> std::io::Result<()> {
    Ok(())
}

/// A client's invitation from the server with this identity, from which the client's secret is derived.
///
/// *Errors*: an invalid name.
pub(crate) fn invitation(identity: &Identity, server_name: &str, client: &str) -> Result<Invitation, Failure> {
    let server = garblet_client::Identity(identity.public_key());
    let secret = client_secret(identity, client);
    Invitation::with_secret(server, server_name, client, secret)
        .map_err(|error| Failure::call(&error).hint(error.hint()))
}

/// The secret that a server shares with the client of this name.
pub(crate) fn client_secret(identity: &Identity, client: &str) -> Secret {
    Secret::from_bytes(*identity.secret_for(CLIENT_CONTEXT, client.as_bytes()))
}

/// Separates secrets of clients from all other uses of BLAKE3.
const CLIENT_CONTEXT: &str = "garblet 2026 outsourced client secret v1";

/// Runs `garblet trust`.
pub(crate) fn trust(command: &TrustCommand) -> Result<(), Failure> {
    match command {
        TrustCommand::Add { name, fingerprint, store } => {
            let mut store = store.open()?;
            store.add(name, *fingerprint).map_err(|e| trust_failure(&e))
        }
        TrustCommand::List { store } => {
            let store = store.open()?;
            if store.peers().is_empty() {
                tell(&format!("{} has no peers", store.path().display()));
            }
            let rows: Vec<_> = store.peers().iter().map(|(name, f)| vec![name.clone(), f.to_string()]).collect();
            print(&table(&rows))
        }
        TrustCommand::Remove { name, store } => {
            let mut store = store.open()?;
            store.remove(name).map(|_| ()).map_err(|e| trust_failure(&e))
        }
    }
}

impl TrustArgs {
    /// The identity with this fingerprint or trusted name; `option` is for messages.
    ///
    /// *Errors*: neither.
    pub(crate) fn find(&self, option: &str, identity: &str) -> Result<Fingerprint, Failure> {
        if let Ok(fingerprint) = identity.parse() {
            return Ok(fingerprint);
        }
        self.open_checked()?.get(identity).map_err(|error| match identity.parse::<Fingerprint>() {
            Err(mistyped @ FingerprintError::Check) => {
                Failure::call(format!("{option}: {mistyped}")).hint("have the peer read it again")
            }
            _ => trust_failure(&error),
        })
    }

    /// All trusted peers, with their names.
    ///
    /// *Errors*: a file that cannot be read.
    pub(crate) fn peers(&self) -> Result<Vec<(String, Fingerprint)>, Failure> {
        // Only read, so the folder need not exist.
        let path = in_configuration(self.trust.as_deref(), "trust.toml")?;
        let store = checked_trust(&path)?;
        Ok(store.peers().iter().map(|(name, fingerprint)| (name.clone(), *fingerprint)).collect())
    }

    /// The store, for decisions on trust.
    fn open_checked(&self) -> Result<TrustStore, Failure> {
        let path = in_configuration(self.trust.as_deref(), "trust.toml")?;
        make_folder(&path)?;
        checked_trust(&path)
    }

    /// The store, for display or changes.
    fn open(&self) -> Result<TrustStore, Failure> {
        let path = in_configuration(self.trust.as_deref(), "trust.toml")?;
        make_folder(&path)?;
        TrustStore::open(&path).map_err(|e| trust_failure(&e))
    }
}

/// The trusted peers in a file, for decisions on trust: each identity has one name, and nobody else can write or replace the file.
///
/// *Errors*: these conditions do not hold; as [`TrustStore::open`].
pub(crate) fn checked_trust(path: &Path) -> Result<TrustStore, Failure> {
    let store = TrustStore::open(path).map_err(|error| trust_failure(&error))?;
    if path.exists() {
        check_unwritable_in_folder(path)?;
    }
    store.check_names().map_err(|error| trust_failure(&error))?;
    Ok(store)
}

impl PeerArgs {
    /// Our identity.
    ///
    /// *Errors*: one that cannot be loaded.
    pub(crate) fn identity(&self) -> Result<Identity, Failure> {
        load_identity(self.identity.as_deref())
    }

    /// Checks that the named peer, if any, is this one.
    ///
    /// *Errors*: another peer, or an unknown one.
    pub(crate) fn check_only(&self, name: &str, fingerprint: Fingerprint) -> Result<(), Failure> {
        let Some(peer) = &self.peer else { return Ok(()) };
        match self.store.find(&format!("--peer {peer}"), peer)? {
            got if got == fingerprint => Ok(()),
            got => Err(Failure::call(format!("--peer {peer}: it is {got}, but the job has {name} {fingerprint}"))
                .hint("leave --peer out: the job names the peer")),
        }
    }

    /// Names for peers; empty if the file cannot be read.
    pub(crate) fn names(&self) -> Vec<(String, Fingerprint)> {
        // Names are only for display: errors in the file are reported where trust depends on it.
        self.store.peers().unwrap_or_default()
    }

    /// The peers to accept, with their names.
    ///
    /// *Errors*: nobody to trust.
    pub(crate) fn trusted(&self) -> Result<Vec<(String, Fingerprint)>, Failure> {
        if let Some(peer) = &self.peer {
            let fingerprint = self.store.find(&format!("--peer {peer}"), peer)?;
            let name = if peer.parse::<Fingerprint>().is_ok() { "the peer" } else { peer };
            return Ok(vec![(name.into(), fingerprint)]);
        }
        let store = self.store.open_checked()?;
        match store.peers().is_empty() {
            true => Err(Failure::call(format!(
                "no peer could be accepted: {} has no trusted peers",
                store.path().display()
            ))
            .hint("give --peer FINGERPRINT, or name peers with `garblet trust add NAME FINGERPRINT`")),
            false => Ok(store.peers().iter().map(|(name, fingerprint)| (name.clone(), *fingerprint)).collect()),
        }
    }
}

/// An unusable or unwritable file of trusted peers.
pub(crate) fn trust_failure(error: &TrustError) -> Failure {
    let failure = Failure::call(error);
    match error {
        TrustError::IdentityTaken { known, .. } => {
            failure.hint(format!("call it {known}; to rename it, first `garblet trust remove {known}`"))
        }
        TrustError::NameTaken { name, .. } => {
            failure.hint(format!("if the peer has a new identity, first `garblet trust remove {name}`"))
        }
        TrustError::UnknownName { .. } => failure.hint("add one with `garblet trust add NAME FINGERPRINT`"),
        TrustError::Io { .. } => Failure { status: Status::NoResult, ..failure },
        _ => failure,
    }
}
