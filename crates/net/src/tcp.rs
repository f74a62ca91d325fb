//! TCP: listening, connecting, and what can go wrong with addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::PoisonError;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::NetError;
use crate::reception::SharedLog;

/// The first and longest pause between attempts to connect; short at first, so that parties started together meet at once.
const RETRY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(250));

/// The pause when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Describes who else can reach an address besides programs on this machine, as a predicate; `None` if nobody can, so that plain TCP is allowed.
pub fn exposure(address: &str) -> Option<&'static str> {
    if address.starts_with("ws://") {
        return Some("is open to every web page in a browser on this machine");
    }
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let is_loopback = |ip: IpAddr| ip.is_loopback();
    let is_here = host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(is_loopback);
    (!is_here).then_some("is not on this machine")
}

/// A listening socket on an address `HOST:PORT`; port 0 lets the system choose.
pub(crate) async fn listen(address: &str) -> Result<TcpListener, NetError> {
    let candidates = resolve(address).await?;
    TcpListener::bind(&candidates[..]).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => NetError::AddressInUse { address: address.into() },
        _ => NetError::Io { doing: format!("cannot listen on {address}"), source },
    })
}

/// The next connection, tuned, and its origin. Skips connections that are already gone or for which the system has no room.
pub(crate) async fn accept(listener: &TcpListener, log: &SharedLog) -> Result<(TcpStream, SocketAddr), NetError> {
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                if let Ok(stream) = tune(stream, &from.to_string()) {
                    return Ok((stream, from));
                }
            }
            Err(source) if is_passing(&source) => {
                log.lock().unwrap_or_else(PoisonError::into_inner).note_failure(&source);
                sleep(PAUSE).await;
            }
            Err(source) => return Err(NetError::Io { doing: "cannot accept a connection".into(), source }),
        }
    }
}

/// Returns whether another connection may succeed.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionReset, HostUnreachable, Interrupted, NetworkDown, NetworkUnreachable, OutOfMemory,
    };
    /// Too many open files, in the system and in this process; no buffers, errors of the protocol, of the network and of a firewall, on Linux.
    const OTHERS: [i32; 9] = [23, 24, 105, 71, 64, 112, 92, 95, 1];
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | OutOfMemory
    ) || error.raw_os_error().is_some_and(|code| OTHERS.contains(&code))
}

/// A tuned connection to `HOST:PORT`. Tries again until `patience` is over while nobody listens there.
pub(crate) async fn connect(address: &str, patience: Duration) -> Result<TcpStream, NetError> {
    let deadline = Instant::now() + patience;
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let failed = |source| NetError::CannotConnect { address: address.into(), after: patience, source };
    // The system may look a name up for longer than this party waits.
    let candidates = timeout_at(deadline, resolve(address)).await.map_err(|_| failed(late()))??;
    let mut pause = RETRY.0;
    loop {
        let source = match timeout_at(deadline, TcpStream::connect(&candidates[..])).await {
            Ok(Ok(stream)) => return tune(stream, address),
            Ok(Err(source)) => source,
            Err(_) => late(),
        };
        if Instant::now() + pause >= deadline {
            return Err(failed(source));
        }
        sleep(pause).await;
        pause = (pause * 2).min(RETRY.1);
    }
}

async fn resolve(address: &str) -> Result<Vec<SocketAddr>, NetError> {
    let found = lookup_host(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::InvalidInput => NetError::NotAnAddress { address: address.into() },
        _ => NetError::UnknownHost { address: address.into(), source },
    })?;
    Ok(found.collect())
}

/// Sends small messages at once. Buffer sizes are left to the system, which can grow them beyond what a program may
/// request.
fn tune(stream: TcpStream, address: &str) -> Result<TcpStream, NetError> {
    match stream.set_nodelay(true) {
        Ok(()) => Ok(stream),
        Err(source) => Err(NetError::Io { doing: format!("cannot set up the connection with {address}"), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(150);

    #[tokio::test]
    async fn a_port_in_use_is_named() {
        let first = listen("127.0.0.1:0").await.expect("a free port");
        let address = first.local_addr().expect("bound").to_string();
        let error = listen(&address).await.expect_err("in use");
        assert_eq!(error.to_string(), format!("cannot listen on {address}: the port is in use"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn errors_of_one_connection_or_of_a_moment_do_not_end_the_listening() {
        // ENFILE, EMFILE, ENOBUFS, ENOMEM, EPROTO, ENETDOWN, ECONNABORTED, ENONET, EHOSTDOWN, ENOPROTOOPT, EOPNOTSUPP, EPERM.
        for code in [23, 24, 105, 12, 71, 100, 103, 64, 112, 92, 95, 1] {
            assert!(is_passing(&io::Error::from_raw_os_error(code)), "{code}");
        }
        // EBADF, EINVAL.
        assert!([9, 22].into_iter().all(|code| !is_passing(&io::Error::from_raw_os_error(code))));
    }

    #[tokio::test]
    async fn malformed_addresses_are_refused_at_once() {
        for address in ["", "localhost", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:http"] {
            let error = connect(address, Duration::from_secs(60)).await.expect_err("not an address");
            assert!(matches!(error, NetError::NotAnAddress { .. }), "{address}: {error}");
        }
        let error = connect("no-such-host.invalid:1", Duration::from_secs(60)).await.expect_err("no such host");
        assert!(matches!(error, NetError::UnknownHost { .. }), "{error}");
    }

    #[test]
    fn plain_tcp_is_for_this_machine() {
        for address in ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.8.8.8:0"] {
            assert_eq!(exposure(address), None, "{address}");
        }
        for address in ["0.0.0.0:1", "[::]:1", "192.168.0.1:1", "example.org:1", "1", ":1", ""] {
            assert_eq!(exposure(address), Some("is not on this machine"), "{address}");
        }
        assert_eq!(exposure("ws://127.0.0.1:1"), Some("is open to every web page in a browser on this machine"));
    }

    #[tokio::test]
    async fn nobody_listening_ends_in_time() {
        let listener = listen("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        drop(listener);
        let error = connect(&address, SHORT).await.expect_err("nobody listens");
        assert!(error.to_string().starts_with(&format!("cannot connect to {address} within 0.15 s: ")), "{error}");
    }

    #[tokio::test]
    async fn the_connecting_side_may_start_first() {
        let free = listen("127.0.0.1:0").await.expect("a free port");
        let address = free.local_addr().expect("bound").to_string();
        drop(free);
        let late = async {
            sleep(SHORT).await;
            let listener = listen(&address).await?;
            accept(&listener, &SharedLog::default()).await
        };
        let (connected, accepted) = tokio::join!(connect(&address, Duration::from_secs(10)), late);
        assert!(connected.expect("connects").nodelay().expect("set"));
        assert!(accepted.expect("accepts").0.nodelay().expect("set"));
    }
}
