//! `garblet run`: one party, against a peer elsewhere.

use std::net::SocketAddr;

use garblet_circuit::Party;

use crate::{
    args::{InputArgs, ProgramArgs, ProtocolArgs},
    failure::Failure,
    identity, inputs,
    output::{print, print_json},
    program,
    report::{RunReport, check_panics, outputs_text},
    session::{self, Meeting, Settings, Task},
};

/// What `garblet run` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    protocol: ProtocolArgs,
    /// Which party this is, counted from 0
    #[arg(long, value_name = "K")]
    party: u16,
    #[command(flatten)]
    meeting: MeetingArgs,
    #[command(flatten)]
    peer: identity::PeerArgs,
    /// Speak plain TCP, without identities or encryption, to a peer on this machine
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    insecure_plain_tcp: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Where to meet the peer.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct MeetingArgs {
    /// Wait for the peer at this address
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Go to the peer at this address
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
}

impl MeetingArgs {
    fn meeting(&self) -> Option<Meeting> {
        let listen = self.listen.clone().map(Meeting::Listen);
        listen.or_else(|| self.connect.clone().map(Meeting::Connect))
    }
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = program::load(&options.program)?;
    let settings = Settings::new(&options.protocol)?;
    let parties = settings.parties(&program, None)?;
    let party = Party(options.party);
    if party.0 >= parties {
        return Err(Failure::call(format!("--party {party}: there are {parties} parties, 0 to {}", parties - 1)));
    }
    if let Some(other) = options.inputs.inputs.iter().find(|i| i.party != party) {
        return Err(Failure::call(format!("--input {}={}: this is party {party}", other.party, other.path.display()))
            .hint("give only this party's inputs; the other party gives its own"));
    }
    let inputs = inputs::of_party(&program, &options.inputs, party)?;
    let meeting = options.meeting.meeting().ok_or_else(|| Failure::call("--listen or --connect is missing"))?;
    let tls = if options.insecure_plain_tcp {
        require_loopback(&meeting)?;
        None
    } else {
        Some(options.peer.tls()?)
    };
    let task = Task {
        program: program.clone(),
        party,
        inputs,
        settings: &settings,
        meeting,
        tls,
        listening: &announce,
        progress: true,
    };
    let outcome = session::compute(task)?;
    check_panics(&program, &outcome.outputs)?;
    let report = RunReport::new(&program, &settings, outcome.security, &outcome.outputs, vec![outcome.part])?;
    if options.json {
        return print_json(&report);
    }
    print(&outputs_text(&program, &outcome.outputs))?;
    eprintln!("\n{}", report.text().trim_end());
    Ok(())
}

fn announce(address: SocketAddr) -> Result<(), Failure> {
    eprintln!("listening on {address}");
    Ok(())
}

fn require_loopback(meeting: &Meeting) -> Result<(), Failure> {
    let (Meeting::Listen(address) | Meeting::Connect(address)) = meeting;
    let host = address.rsplit_once(':').map_or(&address[..], |(host, _)| host);
    let loopback = host == "localhost"
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match loopback {
        true => Ok(()),
        false => Err(Failure::call(format!("--insecure-plain-tcp: {address} is not on this machine"))
            .hint("leave the option out and give --identity and --peer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_tcp_is_for_this_machine() {
        for address in ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.8.8.8:0"] {
            assert_eq!(require_loopback(&Meeting::Listen(address.into())), Ok(()), "{address}");
        }
        for address in ["0.0.0.0:1", "192.168.0.1:1", "example.org:1", ":1", ""] {
            assert!(require_loopback(&Meeting::Connect(address.into())).is_err(), "{address}");
        }
    }
}
