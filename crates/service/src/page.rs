//! A service's HTTP page for its operator: metrics, health and readiness.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HOST, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::Semaphore};

use super::metrics::Metrics;

/// The longest wait for a request.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most clients answered at once.
const READERS: usize = 64;

/// Answers requests forever.
pub(super) async fn answer(listener: TcpListener, metrics: Metrics) -> Infallible {
    let readers = std::sync::Arc::new(Semaphore::new(READERS));
    loop {
        let (Ok((stream, _)), Ok(place)) = (listener.accept().await, readers.clone().acquire_owned().await) else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let metrics = metrics.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let response = respond(&request, &metrics);
                async { Ok::<_, Infallible>(response) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
            // Ignore clients that left.
            let _ = tokio::time::timeout(PATIENCE, http.serve_connection(TokioIo::new(stream), service)).await;
            drop(place);
        });
    }
}

/// Returns whether a request names this machine by an address or `localhost`. A web page whose own domain points here would name that domain.
fn is_for_us(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (first, more) = (hosts.next(), hosts.next());
    match (first.map(|host| host.to_str()), more) {
        (None, _) => true,
        (Some(Ok(host)), None) => {
            let is_address = host.parse::<SocketAddr>().is_ok()
                || host.parse::<IpAddr>().is_ok()
                || host
                    .strip_prefix('[')
                    .and_then(|host| host.strip_suffix(']'))
                    .is_some_and(|host| host.parse::<Ipv6Addr>().is_ok());
            is_address || host.split(':').next().is_some_and(|name| name.eq_ignore_ascii_case("localhost"))
        }
        _ => false,
    }
}

fn respond(request: &Request<Incoming>, metrics: &Metrics) -> Response<Full<Bytes>> {
    let (status, kind, text) = match (request.method(), request.uri().path()) {
        _ if !is_for_us(request) => (
            StatusCode::MISDIRECTED_REQUEST,
            "text/plain",
            "open this page by an address such as 127.0.0.1, or as localhost\n".into(),
        ),
        (&Method::GET, "/metrics") => {
            (StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", metrics.text())
        }
        (&Method::GET, "/healthz") => (StatusCode::OK, "text/plain", "alive\n".into()),
        (&Method::GET, "/readyz") if metrics.is_ready() => (StatusCode::OK, "text/plain", "ready\n".into()),
        (&Method::GET, "/readyz") => (StatusCode::SERVICE_UNAVAILABLE, "text/plain", "not ready\n".into()),
        (&Method::GET, _) => (StatusCode::NOT_FOUND, "text/plain", "try /metrics, /healthz or /readyz\n".into()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "these pages are read-only\n".into()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
