//! `garblet demo friends`: two servers that keep an encrypted map, and a page that shows which friends are near.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use garblet::{
    Bits,
    net::{Call, Fingerprint, Identity, NetError},
    outsourced::service::{Agreement, WayTo, call},
};
use garblet_client::{Begun, Invitation, Receipt, Server, Visit};
use garblet_console::{
    agreement,
    failure::{Failure, reason},
    hex::to_hex,
    hints::{explain, net_failure},
    output::{print, tell},
    session::block_on,
};
use hyper::body::Bytes;
use serde_json::json;
use tokio::net::TcpListener;
use toml::{Table, Value};

use super::site::{File, Site};
use crate::serve::{
    both::{Both, invitations},
    clients::event_text,
};

/// The agreement's template; keys, friends and map come from the command line.
const AGREEMENT: &str = include_str!("../../../../examples/friends/friends.toml");

const PROGRAMS: [(&str, &str); 3] = [
    ("start.garble.rs", include_str!("../../../../examples/friends/start.garble.rs")),
    ("place.garble.rs", include_str!("../../../../examples/friends/place.garble.rs")),
    ("look.garble.rs", include_str!("../../../../examples/friends/look.garble.rs")),
];

/// The page.
const PAGE: [(&str, &str); 6] = [
    ("index.html", include_str!("../../../../examples/friends/page/index.html")),
    ("friends.css", include_str!("../../../../examples/friends/page/friends.css")),
    ("friends.js", include_str!("../../../../examples/friends/page/friends.js")),
    ("map.js", include_str!("../../../../examples/friends/page/map.js")),
    ("troubles.js", include_str!("../../../../examples/friends/page/troubles.js")),
    ("visits.js", include_str!("../../../../examples/friends/page/visits.js")),
];

/// The client for pages, built by `cargo xtask web`.
const CLIENT: [&str; 4] = ["garblet-client.js", "garblet-talk.js", "garblet.js", "garblet_bg.wasm"];

/// The folder where it is built.
const CLIENT_FOLDER: &str = "target/web";

// `EMBEDDED`, the client in commands of packages: each file with its name.
include!(concat!(env!("OUT_DIR"), "/client.rs"));

/// Triples and masks prepared in advance, so that most visits need not wait for them.
const STOCK: [(&str, u64); 1] = [("triples", 100_000)];

/// The options of `garblet demo friends`.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The name of a friend; can be repeated
    #[arg(long = "friend", value_name = "NAME", default_values = ["Anna", "Bert", "Cleo", "Dora"])]
    friends: Vec<String>,
    /// Columns and rows of the map
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "16x16")]
    map: Size,
    /// Friends at most this many columns and rows apart are near
    #[arg(long, value_name = "CELLS", default_value_t = 2)]
    radius: u8,
    /// Serve the page at this address; one that phones can reach lets them in, too
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8047")]
    listen: String,
    /// Take the client for pages from this folder [default: the one in the command, or target/web, where `cargo xtask web` makes it]
    #[arg(long, value_name = "DIR")]
    client: Option<PathBuf>,
    /// Print the links as one JSON object in the first line of standard output
    #[arg(long)]
    json: bool,
}

/// The size of a map.
#[derive(Clone, Copy)]
struct Size {
    width: u8,
    height: u8,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text.split_once('x').map(|(width, height)| (width.parse(), height.parse()));
        match sides {
            Some((Ok(width), Ok(height))) if width > 0 && height > 0 => Ok(Size { width, height }),
            _ => Err("expected columns and rows, each from 1 to 255, for instance 16x16".into()),
        }
    }
}

/// Runs the command, until it is interrupted.
pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let client = match (&options.client, EMBEDDED) {
        (Some(folder), _) => read_client(folder)?,
        (None, []) => read_client(Path::new(CLIENT_FOLDER))?,
        (None, all) => all.iter().map(|(name, bytes)| File { name, bytes: Bytes::from_static(bytes) }).collect(),
    };
    let folder = tempfile::tempdir().map_err(|error| Failure::no_result(format!("no folder: {}", reason(&error))))?;
    let identities = [(); 2].map(|()| Identity::generate(&mut rand::rng()));
    let agreement = Arc::new(write_agreement(options, &identities, folder.path())?);
    block_on(async {
        let listener = TcpListener::bind(&options.listen).await.map_err(|error| unbound(&options.listen, error))?;
        let address = listener.local_addr().map_err(|error| unbound(&options.listen, error))?;
        let origin = format!("http://{address}");
        let invited = options.friends.iter().map(|friend| invitations(&identities, friend));
        let invitations = invited.collect::<Result<Vec<_>, Failure>>()?;
        let both = Both {
            agreement: &agreement,
            folder: folder.path(),
            host: address.ip(),
            origins: Some(vec![origin.clone()]),
            generator_inputs: Vec::new(),
            stock: STOCK.map(|(kind, count)| (kind.into(), count)).to_vec(),
        };
        let servers = both.start(identities, |server, event| tell(&format!("{server}: {}", event_text(event))))?;
        begin_map(&agreement, &servers, &invitations[0]).await?;
        let described = describe(options, &agreement, &servers)?;
        let of_page = PAGE.map(|(name, text)| File { name, bytes: text.into() });
        let files = of_page.into_iter().chain(client).chain([File { name: "friends.json", bytes: described.into() }]);
        let site = Site::new(listener, files.collect());
        let links = invitations.iter().map(|both| {
            let [generator, cloud] = both.each_ref().map(|invitation| encoded(&invitation.to_text()));
            (&both[0].client_name[..], format!("{origin}/#generator={generator}&cloud={cloud}"))
        });
        announce(options, &links.collect::<Vec<_>>())?;
        tokio::select! {
            never = site.answer() => match never {},
            over = interrupted() => over,
        }
    })
}

/// The files of the client for pages.
fn read_client(folder: &Path) -> Result<Vec<File>, Failure> {
    let read = |name: &&'static str| {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|error| {
            Failure::unreadable(&path, &error)
                .hint("build the client for pages with `cargo xtask web`, or name its folder with --client")
        })?;
        Ok(File { name, bytes: bytes.into() })
    };
    CLIENT.iter().map(read).collect()
}

/// Writes the agreement of these friends and its programs into a folder, and loads it.
fn write_agreement(options: &Options, identities: &[Identity; 2], folder: &Path) -> Result<Agreement, Failure> {
    let mut agreement: Table = toml::from_str(AGREEMENT).map_err(|error| Failure::no_result(&error))?;
    for (server, identity) in Server::BOTH.into_iter().zip(identities) {
        let key = format!("{:?}", garblet_client::Identity(identity.public_key()));
        agreement.insert(server.to_string(), Value::Table(Table::from_iter([("key".into(), key.into())])));
    }
    agreement.insert("service".into(), to_hex(&rand::random::<[u8; 16]>()).into());
    agreement.insert("clients".into(), options.friends.clone().into());
    let constants = [
        ("PARTY_0::WIDTH", options.map.width.into()),
        ("PARTY_0::HEIGHT", options.map.height.into()),
        ("PARTY_0::FRIENDS", options.friends.len() as i64),
        ("PARTY_0::RADIUS", options.radius.into()),
    ];
    let programs = agreement.get_mut("program").and_then(Value::as_array_mut).into_iter().flatten();
    for written in programs.filter_map(|program| program.get_mut("const")?.as_table_mut()) {
        for (name, value) in constants {
            if let Some(constant) = written.get_mut(name) {
                *constant = Value::Integer(value);
            }
        }
    }
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map(|()| path.clone()).map_err(|error| Failure::unwritable(&path, &error))
    };
    for (name, text) in PROGRAMS {
        file(name, text)?;
    }
    agreement::load(&file("friends.toml", &agreement.to_string())?)
}

/// Creates the empty map as the first friend.
async fn begin_map(
    agreement: &Agreement,
    servers: &[SocketAddr; 2],
    [generator, cloud]: &[Invitation; 2],
) -> Result<(), Failure> {
    let friend = generator.client_name.clone();
    let job = agreement.job("start", &[friend], "", 0).map_err(|error| explain(&error))?;
    let (receipt, input) = (Receipt::first("map"), Bits::from_u128(0, 1));
    let begun = Visit::begin(&job, [generator, cloud], &receipt, &input, &mut rand::rng());
    let Begun { visit, to_generator, to_cloud, .. } =
        begun.map_err(|error| Failure::call(&error).hint(error.hint()))?;
    let calls = Server::BOTH.map(|server| Call::new(Fingerprint::of_ed25519(&agreement.server(server).0)));
    let [at_generator, at_cloud] = servers.map(|address| address.to_string());
    let ways = [
        WayTo { call: &calls[0], address: &at_generator, frame: &to_generator },
        WayTo { call: &calls[1], address: &at_cloud, frame: &to_cloud },
    ];
    match call(visit, ways).await {
        Ok(_) => Ok(()),
        Err(unanswered) => Err(Failure::no_result(format!("the map could not be created: {}", unanswered.rejected))),
    }
}

/// The page's configuration, which contains no secrets.
fn describe(options: &Options, agreement: &Agreement, servers: &[SocketAddr; 2]) -> Result<String, Failure> {
    let jobs = |program: &str| {
        let job = |friend: &String| {
            let job = agreement.job(&format!("{program}.{friend}"), std::slice::from_ref(friend), "", 1);
            Ok(STANDARD.encode(job.map_err(|error| explain(&error))?.encode()))
        };
        options.friends.iter().map(job).collect::<Result<Vec<_>, Failure>>()
    };
    let [generator, cloud] = servers.map(|address| format!("ws://{address}"));
    let Size { width, height } = options.map;
    let described = json!({
        "width": width, "height": height, "radius": options.radius, "friends": options.friends,
        "generator": generator, "cloud": cloud,
        "jobs": { "place": jobs("place")?, "look": jobs("look")? },
    });
    Ok(described.to_string())
}

fn announce(options: &Options, links: &[(&str, String)]) -> Result<(), Failure> {
    if options.json {
        let friends: Vec<_> = links.iter().map(|(name, link)| json!({ "name": name, "link": link })).collect();
        return print(&format!("{}\n", json!({ "friends": friends })));
    }
    let links: String = links.iter().map(|(name, link)| format!("\n{name}\n  {link}\n")).collect();
    print(&format!(
        "Two servers keep a map that neither of them can read. Each friend has a link, which is secret: open it in a browser,\n\
         two of them in two windows.\n{links}\n\
         The page is served without TLS, for a demonstration: anyone who can change it in transit can read what you type into it.\n\
         Interrupt to stop; the map is gone then.\n"
    ))
}

/// Waits for a signal to end the process.
async fn interrupted() -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| Failure::no_result(format!("cannot listen for signals: {}", reason(&error)));
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(failed),
        _ = terminated.recv() => Ok(()),
    }
}

/// A text encoded for a URL fragment.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn unbound(address: &str, error: std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => net_failure(&NetError::AddressInUse { address: address.into() }),
        _ => Failure::call(format!("--listen {address}: {}", reason(&error)))
            .hint("give --listen HOST:PORT; port 0 lets the system choose"),
    }
}
