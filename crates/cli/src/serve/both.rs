//! Runs both servers for clients on this machine, each on its own threads.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use garblet::{
    Bits, OrderRequest,
    net::{Entrance, Fingerprint, Identity, ServerTls, Tls},
    outsourced::service::{Agreement, Event},
    store::StoreKey,
};
use garblet_client::{Invitation, Server};
use garblet_console::{
    failure::Failure,
    hints::net_failure,
    identity::{client_secret, invitation},
    output::tell,
    settings::Settings,
};

use super::clients::{Door, Setup};

/// Both servers, before they start.
pub struct Both<'a> {
    /// The agreement with clients.
    pub agreement: &'a Arc<Agreement>,
    /// The folder of both stores.
    pub folder: &'a Path,
    /// The local address where clients connect.
    pub host: IpAddr,
    /// The pages whose scripts may connect; `None` for every page.
    pub origins: Option<Vec<String>>,
    /// The generator's inputs, by program.
    pub generator_inputs: Vec<(String, Vec<Bits>)>,
    /// The amounts to prepare while idle, by kind.
    pub stock: Vec<(String, u64)>,
}

/// A client's invitations from the generator and the cloud.
///
/// *Errors*: an invalid name.
pub fn invitations(identities: &[Identity; 2], client: &str) -> Result<[Invitation; 2], Failure> {
    let [generator, cloud] = identities;
    let of = |identity: &Identity, server: Server| invitation(identity, &server.to_string(), client);
    Ok([of(generator, Server::Generator)?, of(cloud, Server::Cloud)?])
}

impl Both<'_> {
    /// Starts the generator and the cloud with these identities and returns the addresses where they accept clients.
    /// Both run until the process ends and report events to `hear`.
    ///
    /// *Errors*: a server cannot start. A server that fails later says so on standard error.
    pub fn start(
        &self,
        identities: [Identity; 2],
        hear: impl Fn(Server, &Event<'_>) + Send + Sync + 'static,
    ) -> Result<[SocketAddr; 2], Failure> {
        let hear = Arc::new(hear);
        let mut meeting = "127.0.0.1:0".to_string();
        let mut addresses = Vec::new();
        let [generator, cloud] = identities.each_ref().map(Identity::fingerprint);
        for ((server, identity), other) in Server::BOTH.into_iter().zip(identities).zip([cloud, generator]) {
            let (setup, hear) = (self.setup(server, identity, other, meeting.clone())?, hear.clone());
            let opened = begin(setup, move |event| hear(server, &event));
            // The cloud connects to the address where the generator listens.
            while addresses.len() <= server as usize || (server == Server::Generator && meeting.ends_with(":0")) {
                match opened.recv() {
                    Ok(Ok(Door::Meeting(address))) => meeting = address.to_string(),
                    Ok(Ok(Door::Visitors(address))) => addresses.push(address),
                    Ok(Err(failure)) => return Err(failure),
                    Err(_) => return Err(Failure::no_result(format!("the {server} has ended: this is a bug"))),
                }
            }
            thread::spawn(move || {
                opened
                    .into_iter()
                    .filter_map(Result::err)
                    .for_each(|failure| tell(&format!("{server}: {}", failure.message)))
            });
        }
        <[SocketAddr; 2]>::try_from(addresses).map_err(|_| Failure::no_result("a server has ended: this is a bug"))
    }

    fn setup(&self, server: Server, identity: Identity, other: Fingerprint, meeting: String) -> Result<Setup, Failure> {
        let tls = ServerTls::new(&identity, None).map_err(|error| net_failure(&error))?;
        let entrance = Entrance {
            plain: true,
            origins: self.origins.clone(),
            ..Entrance::new(tls, self.agreement.frame_bytes_max())
        };
        let peer = (server.other().to_string(), other);
        Ok(Setup {
            agreement: self.agreement.clone(),
            server,
            secrets: self.agreement.clients().map(|client| client_secret(&identity, client)).collect(),
            own_inputs: if server == Server::Generator { self.generator_inputs.clone() } else { Vec::new() },
            stock: OrderRequest { amounts: self.stock.clone(), ..OrderRequest::default() },
            store: self.folder.join(server.to_string()),
            key: StoreKey::generate(&mut rand::rng()),
            recorded: false,
            listens: server == Server::Generator,
            meeting,
            options: Settings::standard(None).options(Some(Tls::new(identity, [peer])))?,
            visitors: Some((SocketAddr::new(self.host, 0).to_string(), entrance)),
        })
    }
}

/// Starts a server. The channel receives its address, and at the end the reason why it stopped.
fn begin(setup: Setup, hear: impl Fn(Event<'_>) + Send + Sync + 'static) -> Receiver<Result<Door, Failure>> {
    let (told, opened): (Sender<Result<Door, Failure>>, _) = channel();
    thread::spawn(move || {
        let doors = Mutex::new(told.clone());
        let heard = move |door| {
            // Ignore a receiver that is gone.
            let _ = doors.lock().unwrap_or_else(PoisonError::into_inner).send(Ok(door));
        };
        if let Err(failure) = setup.answer(hear, heard) {
            let _ = told.send(Err(failure));
        }
    });
    opened
}
