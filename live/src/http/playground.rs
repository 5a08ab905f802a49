//! Serves the playground, which shows the served configuration. The program that embeds the page hands in its files.

use super::Shared;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::borrow::Cow;

/// A file of the page by its name, if it has it.
pub type Files = fn(&str) -> Option<&'static [u8]>;

/// The permissions of the page, in addition to the policy in its own HTML: no page of another origin may embed it.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'nonce-editor'; img-src 'self' blob: data:; \
font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answers with a file of the page.
pub async fn file(State(shared): State<Shared>, uri: Uri) -> Response {
    let name = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(bytes) = shared.page.and_then(|files| files(name)) else {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    };
    let kind = match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let body = if name == "index.html" { live(bytes) } else { Cow::Borrowed(bytes) };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, body).into_response()
}

/// Marks the page as served, so that it requests the server's data.
fn live(page: &[u8]) -> Cow<'static, [u8]> {
    Cow::Owned(String::from_utf8_lossy(page).replacen("<html ", "<html data-host=\"live\" ", 1).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_marked_as_live() {
        assert_eq!(*live(b"<!doctype html><html lang=\"en\">"), *b"<!doctype html><html data-host=\"live\" lang=\"en\">");
    }
}
