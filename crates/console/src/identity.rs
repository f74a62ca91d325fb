//! Identities and trusted peers: who we are and whom we trust.

use std::path::{Path, PathBuf};

use garblet::net::{Fingerprint, FingerprintError, Identity, TrustError, TrustStore};
use garblet_client::{Invitation, Secret};

use crate::{
    configuration::{check_unwritable_with_folders, in_configuration, make_folder},
    failure::{Failure, Status},
    hints::identity_failure,
    trusting::{self, Decides, with_file},
};

/// The place where the trusted peers are kept.
#[derive(clap::Args)]
pub struct TrustArgs {
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

/// Loads the identity from a file, or from its default place.
///
/// *Errors*: it cannot be loaded.
pub fn load_identity(file: Option<&Path>) -> Result<Identity, Failure> {
    let path = in_configuration(file, "identity.pem")?;
    Identity::load(&path).map_err(|e| identity_failure(&e))
}

/// A client's invitation from the server with this identity, from which the client's secret is derived.
///
/// *Errors*: an invalid name.
pub fn invitation(identity: &Identity, server_name: &str, client: &str) -> Result<Invitation, Failure> {
    let server = garblet_client::Identity(identity.public_key());
    let secret = client_secret(identity, client);
    Invitation::with_secret(server, server_name, client, secret)
        .map_err(|error| Failure::call(&error).hint(error.hint()))
}

/// The secret that a server shares with the client of this name.
pub fn client_secret(identity: &Identity, client: &str) -> Secret {
    Secret::from_bytes(*identity.secret_for(CLIENT_CONTEXT, client.as_bytes()))
}

/// Separates secrets of clients from all other uses of BLAKE3.
const CLIENT_CONTEXT: &str = "garblet 2026 outsourced client secret v1";

impl TrustArgs {
    /// The file in the configuration folder.
    pub fn usual() -> Self {
        TrustArgs { trust: None }
    }

    /// The identity with this fingerprint or trusted name; `option` is for messages.
    ///
    /// *Errors*: neither.
    pub fn find(&self, option: &str, identity: &str) -> Result<Fingerprint, Failure> {
        if let Ok(fingerprint) = identity.parse() {
            return Ok(fingerprint);
        }
        self.open_checked()?.get(identity).map_err(|error| match identity.parse::<Fingerprint>() {
            Err(mistyped @ FingerprintError::Check) => {
                Failure::call(format!("{option}: {mistyped}")).hint("have the peer read it again")
            }
            _ => self.failure(&error),
        })
    }

    /// All trusted peers, with their names; none if there is no file in the configuration folder.
    ///
    /// *Errors*: a file that was named and is missing, that cannot be read, or that others may write.
    pub fn peers(&self) -> Result<Vec<(String, Fingerprint)>, Failure> {
        // Only read, so the folder need not exist.
        let path = self.path()?;
        // A link that leads nowhere is no missing file.
        if self.trust.is_some() || path.symlink_metadata().is_ok() {
            path.metadata().map_err(|error| Failure::unreadable(&path, &error))?;
        }
        let store = checked_trust(&path, self.trust.as_deref())?;
        Ok(store.peers().iter().map(|(name, fingerprint)| (name.clone(), *fingerprint)).collect())
    }

    /// The store, for decisions on trust.
    fn open_checked(&self) -> Result<TrustStore, Failure> {
        let path = self.path()?;
        make_folder(&path)?;
        checked_trust(&path, self.trust.as_deref())
    }

    /// The file, which hints name from now on.
    fn path(&self) -> Result<PathBuf, Failure> {
        trusting::read_file(self.trust.as_deref());
        in_configuration(self.trust.as_deref(), "trust.toml")
    }

    /// The failure of the store, with hints that name it.
    pub fn failure(&self, error: &TrustError) -> Failure {
        trust_failure(error, self.trust.as_deref())
    }

    /// The store, for display or changes.
    pub fn open(&self) -> Result<TrustStore, Failure> {
        let path = self.path()?;
        make_folder(&path)?;
        TrustStore::open(&path).map_err(|e| self.failure(&e))
    }
}

/// The trusted peers in a file, for decisions on trust: each identity has one name, and nobody else can write or replace the file. It is `named`, unless it is the one in the
/// configuration folder.
///
/// *Errors*: these conditions do not hold; as [`TrustStore::open`].
pub fn checked_trust(path: &Path, named: Option<&Path>) -> Result<TrustStore, Failure> {
    let store = TrustStore::open(path).map_err(|error| trust_failure(&error, named))?;
    if path.exists() {
        check_unwritable_with_folders(path)?;
    }
    store.check_names().map_err(|error| trust_failure(&error, named))?;
    Ok(store)
}

impl PeerArgs {
    /// Our identity.
    ///
    /// *Errors*: it cannot be loaded.
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

    /// Names for peers, only for display; empty if the file cannot be read.
    pub(crate) fn names(&self) -> Vec<(String, Fingerprint)> {
        self.checked_names().unwrap_or_default()
    }

    /// Names for peers, for decisions.
    ///
    /// *Errors*: as [`TrustArgs::peers`].
    pub(crate) fn checked_names(&self) -> Result<Vec<(String, Fingerprint)>, Failure> {
        self.store.peers()
    }

    /// The peers to accept, with their names.
    ///
    /// *Errors*: nobody to trust.
    pub(crate) fn trusted(&self) -> Result<Vec<(String, Fingerprint)>, Failure> {
        if let Some(peer) = &self.peer {
            let fingerprint = self.store.find(&format!("--peer {peer}"), peer)?;
            let name = if peer.parse::<Fingerprint>().is_ok() { "the peer" } else { peer };
            trusting::decided_by(if name == peer { Decides::File } else { Decides::Call });
            return Ok(vec![(name.into(), fingerprint)]);
        }
        let store = self.store.open_checked()?;
        match store.peers().is_empty() {
            true => Err(Failure::call(format!(
                "no peer could be accepted: {} has no trusted peers",
                store.path().display()
            ))
            .hint(format!("give --peer FINGERPRINT, or name peers with `{}`", trusting::command(ADD)))),
            false => Ok(store.peers().iter().map(|(name, fingerprint)| (name.clone(), *fingerprint)).collect()),
        }
    }
}

/// The command that trusts a peer.
const ADD: &str = "add NAME FINGERPRINT";

/// An unusable or unwritable file of trusted peers, which is `named`, unless it is the one in the configuration folder.
fn trust_failure(error: &TrustError, named: Option<&Path>) -> Failure {
    let failure = Failure::call(error);
    let remove = |name: &str| with_file(&format!("remove {name}"), named);
    match error {
        TrustError::IdentityTaken { known, .. } => {
            failure.hint(format!("call it {known}; to rename it, first `{}`", remove(known)))
        }
        TrustError::NameTaken { name, .. } => {
            failure.hint(format!("if the peer has a new identity, first `{}`", remove(name)))
        }
        TrustError::OtherFormat { other, .. } => failure.hint(other.hint()),
        TrustError::UnknownName { .. } => failure.hint(format!("add one with `{}`", with_file(ADD, named))),
        TrustError::Io { .. } => Failure { status: Status::NoResult, ..failure },
        _ => failure,
    }
}
