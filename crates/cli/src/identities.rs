//! `garblet keygen`, `garblet id` and `garblet trust`: who we are and whom we trust.

use std::path::PathBuf;

use garblet::net::{Fingerprint, Identity, IdentityError};
use garblet_console::{
    configuration::{in_configuration, make_folder},
    failure::{Failure, Status},
    hints::identity_failure,
    identity::{TrustArgs, invitation, load_identity},
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

/// The options of `garblet id`.
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

/// Runs `garblet trust`.
pub(crate) fn trust(command: &TrustCommand) -> Result<(), Failure> {
    match command {
        TrustCommand::Add { name, fingerprint, store } => {
            let mut peers = store.open()?;
            peers.add(name, *fingerprint).map_err(|e| store.failure(&e))
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
            let mut peers = store.open()?;
            peers.remove(name).map(|_| ()).map_err(|e| store.failure(&e))
        }
    }
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
