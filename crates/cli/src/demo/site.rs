//! A web server for a few files in memory.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

/// The longest wait for a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file of a site, with its name.
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) bytes: Bytes,
}

/// A site at an address.
pub(super) struct Site {
    listener: TcpListener,
    files: Arc<Vec<File>>,
}

impl Site {
    /// A site with these files, where a socket already listens; [`Site::answer`] answers its requests.
    pub(super) fn new(listener: TcpListener, files: Vec<File>) -> Self {
        Site { listener, files: Arc::new(files) }
    }

    /// Answers requests forever.
    pub(super) async fn answer(self) -> Infallible {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(converse(stream, self.files.clone()))),
                // For instance too many open files, which may pass.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}

async fn converse(stream: TcpStream, files: Arc<Vec<File>>) {
    let service = service_fn(|request| {
        let response = respond(&request, &files);
        async { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // Ignore a browser that left.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

fn respond(request: &Request<Incoming>, files: &[File]) -> Response<Full<Bytes>> {
    let (status, kind, body) = match (request.method(), request.uri().path().trim_start_matches('/')) {
        (&Method::GET | &Method::HEAD, path) => {
            let name = if path.is_empty() { "index.html" } else { path };
            match files.iter().find(|file| file.name == name) {
                Some(file) => (StatusCode::OK, media_type(name), file.bytes.clone()),
                None => (StatusCode::NOT_FOUND, "text/plain", Bytes::from_static(b"no such page\n")),
            }
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", Bytes::from_static(b"these pages are read-only\n")),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = [
        (CONTENT_TYPE, kind),
        // Do not cache: each run's page has other keys.
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Forbid frames, in which another page could capture clicks.
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (ALLOW, "GET, HEAD"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
    }
    response
}

/// The MIME type of a file.
fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
