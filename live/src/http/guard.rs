//! Allows requests of programs on this machine, and requests with the token. Refuses requests of foreign pages that are open in a browser here.
//!
//! A foreign page can make a browser send requests to this machine, and can give its own name our address. Such a request has a foreign name in
//! `Host`, or an `Origin` that differs from `Host`.

use crate::log_limit::LogLimit;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The most bytes of a request's body: no path needs one.
const LARGEST_BODY: u64 = 64 << 10;

/// Limits the log lines about refused requests.
static REFUSED: LogLimit = LogLimit::new();

/// The rules for requests.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Whether only this machine can connect.
    pub is_local: bool,
    /// The token that requests from other machines need.
    pub token: Option<String>,
}

/// Passes a request on, or refuses it.
pub async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match refused(&guard, request.headers()) {
        Some(refusal) => {
            if refusal.0 == StatusCode::PAYLOAD_TOO_LARGE
                && let Some(suppressed) = REFUSED.allow()
            {
                tracing::warn!(path = request.uri().path(), suppressed, "a request is refused: {}", refusal.1.trim_end());
            }
            refusal.into_response()
        }
        None => next.run(request).await,
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn refused(guard: &Guard, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let length = text(headers, header::CONTENT_LENGTH).map(str::parse::<u64>);
    if length.is_some_and(|length| length.is_ok_and(|length| length > LARGEST_BODY)) || headers.contains_key(header::TRANSFER_ENCODING) {
        return Some((StatusCode::PAYLOAD_TOO_LARGE, "send no body with a request to this server\n"));
    }
    let host = text(headers, header::HOST).unwrap_or_default();
    if guard.is_local && !is_loopback(host) {
        return Some((StatusCode::MISDIRECTED_REQUEST, "this is answered to this machine only\n"));
    }
    if let Some(origin) = text(headers, header::ORIGIN)
        && origin.split_once("://").map(|(_, name)| name) != Some(host)
    {
        return Some((StatusCode::FORBIDDEN, "pages of others may not ask\n"));
    }
    let token = guard.token.as_ref()?;
    let brought = text(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let same = brought.is_some_and(|brought| is_same(brought.as_bytes(), token.as_bytes()));
    (!same).then_some((StatusCode::UNAUTHORIZED, "bring the token: Authorization: Bearer TOKEN\n"))
}

/// Compares in a time that does not depend on the number of equal bytes.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Whether a `Host` names this machine.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())).map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(guard: &Guard, all: &[(header::HeaderName, &str)]) -> Option<u16> {
        let headers = all.iter().filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?))).collect();
        refused(guard, &headers).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn guard_refuses_foreign_pages() {
        let local = Guard { is_local: true, token: None };
        assert_eq!(status(&local, &[(header::HOST, "127.0.0.1:8877")]), None);
        assert_eq!(status(&local, &[(header::HOST, "evil.example")]), Some(421), "a name that leads here");
        assert_eq!(status(&local, &[(header::HOST, "localhost:1"), (header::ORIGIN, "http://localhost:1")]), None);
        assert_eq!(status(&local, &[(header::HOST, "localhost:1"), (header::ORIGIN, "http://evil.example")]), Some(403));
        let body = |length| status(&local, &[(header::HOST, "localhost:1"), (header::CONTENT_LENGTH, length)]);
        assert_eq!((body("10"), body("100000")), (None, Some(413)));
        let open = Guard { is_local: false, token: Some("abc".into()) };
        assert_eq!(status(&open, &[(header::HOST, "gateway:8877")]), Some(401));
        assert_eq!(status(&open, &[(header::HOST, "gateway:8877"), (header::AUTHORIZATION, "Bearer abd")]), Some(401));
        assert_eq!(status(&open, &[(header::HOST, "gateway:8877"), (header::AUTHORIZATION, "Bearer abc")]), None);
    }
}
