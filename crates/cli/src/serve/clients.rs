//! One of two servers that answer clients (`garblet serve --agreement`).

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use garblet::{
    Bits, Error, OrderRequest, Party,
    meet::mark_of_peer,
    net::{Entrance, Fingerprint, Identity, Listener, ServerTls, Tls, Visitors, WebCertificate},
    outsourced::service::{Agreement, Event, Place, Service},
    store::{Past, Store, StoreKey},
};
use garblet_client::{Secret, Server};
use garblet_console::{
    agreement,
    args::pair,
    configuration::{check_unwritable_with_folders, in_configuration, make_folder},
    failure::Failure,
    hex::to_hex,
    hints::{explain, net_failure},
    identity::client_secret,
    inputs::{self, InputArgs, InputFile},
    mark::Mark,
    output::{count, print, seconds, tell},
    report::outputs_text,
    session::block_on,
    stock::load_or_create_key,
    way::announce,
    whole_file::{self, Readers},
};
use garblet_primitives::Prg;

use super::Options;
use crate::meeting::Meeting;

/// The interval at which certificate files are checked.
const CERTIFICATE_PAUSE: Duration = Duration::from_secs(60);

/// The clients, and what is agreed with the other server.
#[derive(Clone, clap::Args)]
pub(crate) struct ClientArgs {
    /// With outsourced: answer clients by this agreement (TOML), which the other server has too; --party 0 is the generator, 1 the cloud
    #[arg(long, value_name = "FILE", conflicts_with_all = ["answer", "low_water", "every", "rounds", "peer", "trust", "insecure_plain_tcp", "session"])]
    agreement: Option<PathBuf>,
    /// Accept clients at this address
    #[arg(long, value_name = "HOST:PORT", requires = "agreement")]
    visitors: Option<String>,
    /// Accept clients without TLS too: on this machine, or behind a proxy that terminates TLS; inputs and outputs stay sealed, jobs and digests of names do not
    #[arg(long, requires = "visitors")]
    plain_visitors: bool,
    /// The certificate chain for browsers, this server's certificate first (PEM)
    #[arg(long, value_name = "FILE", requires = "web_key")]
    web_certificate: Option<PathBuf>,
    /// The key of this server's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "web_certificate")]
    web_key: Option<PathBuf>,
    /// Accept scripts of this page only, for instance https://friends.example; can be repeated [default: all pages]
    #[arg(long = "origin", value_name = "ORIGIN", requires = "visitors")]
    origins: Vec<String>,
    /// Read this server's inputs of a program from this file
    #[arg(long = "own-input", value_name = "PROGRAM=FILE", requires = "agreement")]
    own_inputs: Vec<String>,
}

impl ClientArgs {
    /// The agreement file, if this server answers clients.
    pub(super) fn agreement(&self) -> Option<&Path> {
        self.agreement.as_deref()
    }

    fn entrance(&self, identity: &Identity, agreement: &Agreement) -> Result<Entrance, Failure> {
        let read = |(chain, key): (&PathBuf, &PathBuf)| {
            WebCertificate::read(chain, key).map_err(|error| Failure::call(&error).hint(error.hint()))
        };
        let web = self.web_files().map(read).transpose()?;
        let tls = ServerTls::new(identity, web).map_err(|error| net_failure(&error))?;
        let origins = (!self.origins.is_empty()).then(|| self.origins.clone());
        Ok(Entrance { plain: self.plain_visitors, origins, ..Entrance::new(tls, agreement.frame_bytes_max()) })
    }

    fn web_files(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.web_certificate.as_ref().zip(self.web_key.as_ref())
    }

    /// Reloads the certificate whenever its files change. Never returns if there are any.
    fn follow_certificate(&self, tls: &ServerTls) {
        let Some((chain, key)) = self.web_files() else { return };
        let read = || WebCertificate::read(chain, key).map_err(|error| error.to_string());
        let mut followed = Followed { shown: marks(chain, key), refused: None };
        loop {
            thread::sleep(CERTIFICATE_PAUSE);
            match followed.look(marks(chain, key), read) {
                Some(Ok(web)) => {
                    tls.renew(web);
                    tell("the new certificate is in use");
                }
                Some(Err(error)) => tell(&format!("the old certificate stays in use: {error}")),
                None => {}
            }
        }
    }

    /// This server's input values, by program.
    fn inputs(&self, agreement: &Agreement, party: Server) -> Result<Vec<(String, Vec<Bits>)>, Failure> {
        let read = |text: &String| {
            let (name, file) = pair(text, "PROGRAM=FILE").map_err(Failure::call)?;
            let Some(program) = agreement.program(&name) else {
                let known: Vec<&str> = agreement.offers().collect();
                return Err(Failure::call(format!("--own-input: the agreement has no program `{name}`"))
                    .hint(format!("it has {}", known.join(", "))));
            };
            let party = number(agreement, &name, party);
            let args = InputArgs { inputs: vec![InputFile { party, path: file.into() }], ..InputArgs::default() };
            let values = inputs::of_party(program, &args, party)?;
            Ok((name, values.into_iter().map(|(_, value)| value).collect()))
        };
        self.own_inputs.iter().map(read).collect()
    }
}

/// The state of the files of a certificate.
type Marks = [Option<Mark>; 2];

fn marks(chain: &Path, key: &Path) -> Marks {
    [Mark::of(chain), Mark::of(key)]
}

/// Watches the files of a certificate.
struct Followed {
    /// Their state when the certificate in use was read.
    shown: Marks,
    /// Their state at the last failed read, and the error; `None` after a successful read.
    refused: Option<(Marks, String)>,
}

impl Followed {
    /// Reads the files if they have changed. Returns a new certificate, or an error once per change.
    fn look<T>(&mut self, now: Marks, read: impl FnOnce() -> Result<T, String>) -> Option<Result<T, String>> {
        if now == self.shown && self.refused.is_none() {
            return None;
        }
        // The file may be half written: try again even if it seems unchanged.
        match read() {
            Ok(certificate) => {
                *self = Followed { shown: now, refused: None };
                Some(Ok(certificate))
            }
            Err(fault) => {
                let refused = Some((now, fault.clone()));
                let is_known = self.refused == refused;
                self.refused = refused;
                (!is_known).then_some(Err(fault))
            }
        }
    }
}

/// The party that a server plays in a program.
fn number(agreement: &Agreement, offer: &str, server: Server) -> Party {
    match server {
        Server::Generator => Party(0),
        Server::Cloud => Party(agreement.clients_of(offer).unwrap_or_default() as u16 + 1),
    }
}

/// Compares this machine's identity with the one in the agreement. *Errors*: both identities.
fn check_identity(here: &Identity, agreed: garblet_client::Identity) -> Result<(), String> {
    let here = garblet_client::Identity(here.public_key());
    if here == agreed { Ok(()) } else { Err(format!("{agreed:?}, but the identity here is {here:?}")) }
}

/// Checks that this machine has not run the agreement's service with another store, and records the store that it uses now.
/// A new store does not know which submissions were used, so old ones could be run again.
fn check_service(path: &Path, agreement: &Agreement, server: Server, store: &Store) -> Result<(), Failure> {
    // Clients share other secrets with another identity.
    let name = format!("services/{}-{}", to_hex(&agreement.service().0), &to_hex(&agreement.server(server).0)[..16]);
    let record = in_configuration(None, &name)?;
    let own = store.id().to_string();
    match std::fs::read_to_string(&record) {
        Ok(kept) if kept.trim() == own => Ok(()),
        Ok(kept) => {
            let place = path.display();
            let message = format!(
                "{place}: service: expected a value that no other store has used, got one that store {} has used",
                kept.trim()
            );
            Err(Failure::call(message).hint(
                "draw a new value and give it to both servers and all clients: with this one, old submissions of clients could be run again",
            ))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            make_folder(&record)?;
            let written = whole_file::write(&record, Readers::Owner, |out| writeln!(out, "{own}"));
            written.map_err(|error| Failure::unwritable(&record, &error))
        }
        Err(error) => Err(Failure::unreadable(&record, &error)),
    }
}

/// Serves clients until the process is stopped.
pub(super) fn serve(options: &Options, path: &Path) -> Result<(), Failure> {
    let server = if options.party == 0 { Server::Generator } else { Server::Cloud };
    check_unwritable_with_folders(path)?;
    let agreement = Arc::new(agreement::load(path)?);
    let identity = options.peer.identity()?;
    check_identity(&identity, agreement.server(server))
        .map_err(|what| Failure::call(format!("{}: the {server} is {what}", path.display())))
        .map_err(|failure| failure.hint("check --party and --identity, or correct the agreement on both servers"))?;
    let other = Fingerprint::of_ed25519(&agreement.server(server.other()).0);
    let settings = options.stock.settings();
    let config = settings.config()?;
    let folder = options.stock.folder_for_pieces(&mark_of_peer(other));
    // Report mistakes in the order and the store before waiting for anyone.
    let stock = folder.open(folder.order(&config, 3)?, (&config, 3), Store::open_or_create)?;
    if folder.recorded {
        check_service(path, &agreement, server, &stock.store)?;
    }
    drop(stock);
    let key = load_or_create_key(folder.key.as_deref())?;
    let secrets: Vec<Secret> = agreement.clients().map(|client| client_secret(&identity, client)).collect();
    let own_inputs = options.clients.inputs(&agreement, server)?;
    let entrance = options.clients.entrance(&identity, &agreement)?;
    let tls = entrance.tls.clone();
    let log = agreement.clone();
    let (listens, meeting) = match options.peer.meeting()? {
        Meeting::Listen(address) => (true, address),
        Meeting::Connect(address) => (false, address),
        Meeting::Peers(_) => return Err(Failure::call("--peers: two servers meet by --listen and --connect")),
    };
    let setup = Setup {
        agreement,
        server,
        secrets,
        own_inputs,
        stock: folder.order,
        store: folder.path,
        key,
        recorded: folder.recorded,
        listens,
        meeting,
        options: settings.options(Some(Tls::new(identity, [(server.other().to_string(), other)])))?,
        visitors: options.clients.visitors.clone().map(|address| (address, entrance)),
    };
    if let Some(tls) = tls {
        let files = options.clients.clone();
        thread::spawn(move || files.follow_certificate(&tls));
    }
    setup.answer(
        move |event| {
            tell(&event_text(&event));
            if let Some(outputs) = event_outputs(&log, &event) {
                // Continue if standard output is closed.
                let _ = print(&outputs);
            }
        },
        |door| match door {
            Door::Meeting(address) => announce(address),
            Door::Visitors(address) => tell(&format!("accepting clients at {address}")),
        },
    )
}

/// A server that is ready to answer clients.
pub(crate) struct Setup {
    pub(crate) agreement: Arc<Agreement>,
    pub(crate) server: Server,
    /// The secrets shared with the clients, in the agreement's order.
    pub(crate) secrets: Vec<Secret>,
    /// This server's inputs, by program.
    pub(crate) own_inputs: Vec<(String, Vec<Bits>)>,
    pub(crate) stock: OrderRequest,
    /// The folder of the store.
    pub(crate) store: PathBuf,
    pub(crate) key: StoreKey,
    /// Set if the store is compared with this machine's record of it.
    pub(crate) recorded: bool,
    /// Set if this server waits for the other one.
    pub(crate) listens: bool,
    /// The address where the servers meet.
    pub(crate) meeting: String,
    pub(crate) options: garblet::net::Options,
    /// The address where clients connect, and the transport.
    pub(crate) visitors: Option<(String, Entrance)>,
}

/// An address where a server is listening.
pub(crate) enum Door {
    /// For the other server.
    Meeting(SocketAddr),
    /// For clients.
    Visitors(SocketAddr),
}

impl Setup {
    /// Answers clients until the process or the service ends. Reports events to `hear`, and addresses to `opened`.
    pub(crate) fn answer(
        self,
        hear: impl Fn(Event<'_>) + Send + Sync + 'static,
        opened: impl Fn(Door) + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let Setup {
            agreement,
            server,
            secrets,
            own_inputs,
            stock,
            store,
            key,
            recorded,
            listens,
            meeting,
            options,
            visitors,
        } = self;
        // Each meeting with the other server reopens the store.
        let open = Box::new(move || open(&store, &key, recorded));
        let service = Service::new((agreement, server), secrets, own_inputs, (&stock, open), hear, &mut rand::rng());
        let service = Arc::new(service.map_err(|error| explain(&error))?);
        let opened = Arc::new(opened);
        let jobs = thread::Builder::new().name("jobs".into()).spawn({
            let (service, opened) = (service.clone(), opened.clone());
            move || block_on(run_jobs(&service, (listens, meeting), &options, &*opened))
        });
        let jobs = jobs.map_err(|error| Failure::no_result(format!("a thread cannot be started: {error}")))?;
        if let Some((address, entrance)) = visitors {
            block_on(async {
                let visitors = Visitors::bind(&address, entrance, Some(Arc::new(tell))).await;
                let visitors = visitors.map_err(|error| net_failure(&error))?;
                opened(Door::Visitors(visitors.address()));
                let over = service.welcome(visitors, Prg::random(&mut rand::rng()));
                let ended = async {
                    while !jobs.is_finished() {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                };
                tokio::select! {
                    over = over => over.map(|_| ()).map_err(|error| net_failure(&error)),
                    () = ended => Ok(()),
                }
            })?;
        }
        jobs.join().unwrap_or_else(|_| Err(Failure::no_result("the thread of the jobs has ended: this is a bug")))
    }
}

/// Runs jobs with the other server.
async fn run_jobs(
    service: &Service,
    (listens, meeting): (bool, String),
    options: &garblet::net::Options,
    opened: &impl Fn(Door),
) -> Result<(), Failure> {
    let place = match listens {
        true => {
            let listener = Listener::bind(&meeting).await.map_err(|error| net_failure(&error))?;
            opened(Door::Meeting(listener.address()));
            Place::Listen(listener)
        }
        false => Place::Connect(meeting),
    };
    let Err(error) = service.run_jobs(&place, options, &mut Prg::random(&mut rand::rng())).await;
    Err(explain(&error))
}

/// Opens the store; compares it with this machine's record if `recorded` is set.
fn open(folder: &Path, key: &StoreKey, recorded: bool) -> Result<Store, Error> {
    let mut store = Store::open_or_create(folder, key, &mut rand::rng())?;
    if let Ok(records) = in_configuration(None, "stores")
        && recorded
    {
        // The service said at its start whether there was a record.
        let (Past::Known | Past::Unknown) = store.record_in(&records)?;
    }
    Ok(store)
}

/// An event as one line.
pub(crate) fn event_text(event: &Event<'_>) -> String {
    match event {
        Event::Met => "connected to the other server".into(),
        Event::Parted(error) => {
            let Failure { message, hint, .. } = explain(error);
            let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("lost the other server, reconnecting: {message}{hint}")
        }
        Event::Closed(error) => explain(error).message,
        Event::Ran { offer, clients, has_panicked, took, .. } => {
            let panicked = if *has_panicked { "; the program panicked, and no output was kept" } else { "" };
            format!("ran `{offer}` for {} in {}{panicked}", clients.join(", "), seconds(took.as_secs_f64()))
        }
        Event::Refused { offer, clients, reason, accused } => {
            let accused: Vec<String> = accused.iter().map(Party::to_string).collect();
            let accused = match &accused[..] {
                [] => String::new(),
                parties => format!(", caused by one of the parties {}", parties.join(", ")),
            };
            format!("refused `{offer}` for {}: {reason}{accused}", clients.join(", "))
        }
        Event::Unended(runs, most) => format!(
            "{runs} runs broke off after labels had been sent: the other server may be guessing inputs, so this server stops after {most}"
        ),
        Event::Filling(amounts) => {
            format!("making {} triples and {} masks", count(amounts.triples), count(amounts.masks))
        }
    }
}

/// The outputs that a server learns from an event.
fn event_outputs(agreement: &Agreement, event: &Event<'_>) -> Option<String> {
    let Event::Ran { offer, outputs, has_panicked: false, .. } = event else { return None };
    let program = agreement.program(offer).filter(|_| outputs.iter().any(Option::is_some))?;
    Some(outputs_text(program, outputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_certificate_is_reported_once_per_change_and_a_right_one_is_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let [chain, key] = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
        let write = |text: &str| std::fs::write(&chain, text).expect("written");
        write("right");
        std::fs::write(&key, "key").expect("written");
        let read = || {
            let text = std::fs::read_to_string(&chain).map_err(|error| error.kind().to_string())?;
            if text.starts_with("right") { Ok(text) } else { Err(format!("{text} is wrong")) }
        };
        let mut followed = Followed { shown: marks(&chain, &key), refused: None };
        let mut look = || followed.look(marks(&chain, &key), read);
        let wrong = |what: &str| Some(Err(format!("{what} is wrong")));
        assert_eq!(look(), None);
        write("half");
        assert_eq!((look(), look(), look()), (wrong("half"), None, None));
        write("another half");
        assert_eq!((look(), look()), (wrong("another half"), None));
        write("right again");
        assert_eq!((look(), look()), (Some(Ok("right again".into())), None));
        // Removed for a while, then restored unchanged.
        let away = folder.path().join("away");
        std::fs::rename(&chain, &away).expect("moved");
        assert!(matches!(look(), Some(Err(_))) && look().is_none());
        std::fs::rename(&away, &chain).expect("moved");
        assert_eq!((look(), look()), (Some(Ok("right again".into())), None));
    }
}
