//! Runs a proxy in front of an API server that forwards watch events twice, late again, and in another order.
//!
//! Does not serve objects; see `api`.

use super::config::kubeconfig;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use futures_util::{Stream, StreamExt};
use http_body_util::BodyExt;
use kube::Client;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The number of earlier events that may come once more.
const KEPT: usize = 4;

/// Starts a proxy in front of this client's server. Returns a kubeconfig in the folder.
pub async fn start(upstream: Client, folder: &Path) -> PathBuf {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let app = Router::new().fallback(move |request: Request| forward(upstream.clone(), request));
    tokio::spawn(async move { axum::serve(listener, app).await });
    kubeconfig(folder, "doubling", &format!("http://127.0.0.1:{port}"))
}

async fn forward(upstream: Client, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let is_watch = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
    let mut out = http::Request::builder().method(parts.method).uri(parts.uri.to_string());
    for name in ["content-type", "accept"] {
        if let Some(value) = parts.headers.get(name) {
            out = out.header(name, value);
        }
    }
    let asked = upstream.send(out.body(kube::client::Body::from(body.to_vec())).expect("a request")).await;
    let Ok(answer) = asked else {
        return Response::builder().status(502).body(Body::empty()).expect("an answer");
    };
    let (head, body) = answer.into_parts();
    let data = body.into_data_stream();
    let body = if is_watch && head.status.is_success() { Body::from_stream(doubled(data)) } else { Body::from_stream(data) };
    let mut response = Response::builder().status(head.status);
    if let Some(kind) = head.headers.get("content-type") {
        response = response.header("content-type", kind);
    }
    response.body(body).expect("an answer")
}

/// Returns the lines of a watch: each at least once, many twice, some with an earlier line again, some after the next
/// line.
fn doubled<E: Send + 'static>(data: impl Stream<Item = Result<Bytes, E>> + Send + 'static) -> impl Stream<Item = Result<Bytes, E>> + Send {
    let mut state = 1u64;
    let mut chance = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut rest, mut before) = (Vec::new(), VecDeque::new());
    data.map(move |piece| {
        rest.extend(piece?);
        let mut out: Vec<Vec<u8>> = Vec::new();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            (0..=chance(2)).for_each(|_| out.push(line.clone()));
            if let Some(late) = before.get(chance(KEPT as u64) as usize).filter(|_| chance(2) == 0) {
                out.push(Vec::clone(late));
            }
            before.push_back(line);
            if before.len() > KEPT {
                before.pop_front();
            }
            if out.len() > 1 && chance(2) == 0 {
                let last = out.len() - 1;
                out.swap(last, last - 1);
            }
        }
        Ok(out.concat().into())
    })
}
