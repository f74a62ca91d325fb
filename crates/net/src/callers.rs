//! The callers of a service, one after another without end, each with its hello received.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::channel::Channel;
use crate::connect::{Carrier, Listener, channel, greeted};
use crate::error::NetError;
use crate::hello::{Hello, SESSION};
use crate::over::{HANDSHAKE, Options};
use crate::reception::Reception;
use crate::tls::{Meant, Side};
use crate::watch::ChannelWatch;

/// A caller of a service that has proved its identity, if required, and has sent its hello.
pub struct Caller {
    /// The channel to it, with its hello received ahead and its session's name.
    pub channel: Channel,
    /// The hello.
    pub hello: Hello,
    /// Watches the channel's traffic, including the hello.
    pub watch: ChannelWatch,
    /// The address from which it came.
    pub from: SocketAddr,
}

/// The callers of a service, for any session.
///
/// Receives all connections concurrently, up to the number of places. Each has the time of [`Listener::accept`] to prove its identity, and the time-out to
/// send its hello. Unlike there, one caller's hello does not end the others' turn.
pub struct Callers {
    listener: Listener,
    reception: Reception<'static, (Channel, Hello, ChannelWatch)>,
    options: Options,
}

impl Callers {
    /// The callers at `listener`, at most `places` at once.
    pub fn new(listener: Listener, places: usize, options: Options) -> Self {
        let log = listener.log.clone();
        let reception = Reception::new(options.on_refused.clone(), options.advice, log).with_places(places);
        Callers { listener, reception, options }
    }

    /// The address where they connect.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Changes the options for new callers.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// The number of connections that were refused.
    pub fn strangers(&self) -> u64 {
        self.reception.refused_count()
    }

    /// The next caller. Nothing is lost if the future is dropped.
    ///
    /// *Errors:* a socket that fails.
    pub async fn next(&mut self) -> Result<Caller, NetError> {
        loop {
            let Callers { listener, reception, options } = self;
            tokio::select! {
                stream = listener.accept_stream() => {
                    let (stream, from) = stream?;
                    reception.admit(from, hear(stream, listener.carrier.clone(), options.clone()));
                }
                next = reception.next(), if !reception.is_empty() => if let Some((from, (channel, hello, watch))) = next {
                    return Ok(Caller { channel, hello, watch, from });
                },
            }
        }
    }
}

/// Receives the hello of a new connection.
async fn hear(
    stream: TcpStream,
    carrier: Carrier,
    options: Options,
) -> Result<(Channel, Hello, ChannelWatch), NetError> {
    let mut channel = channel((stream, &carrier), (Side::Accepting, Meant::Any), &options).await?;
    let patience: Duration = match options.tls {
        Some(_) => options.timeout,
        // The caller has not proved anything yet.
        None => HANDSHAKE.min(options.timeout),
    };
    let watch = channel.watch();
    let (mut channel, hello) = greeted(channel, patience).await?;
    if options.tls.is_none() {
        channel.session = hello.parameter(SESSION).and_then(|name| name.parse().ok());
    }
    Ok((channel, hello, watch))
}
