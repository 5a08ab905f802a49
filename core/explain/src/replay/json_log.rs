//! Reads log entries in JSON: of Envoy, nginx and Azure's Application Gateway, whose keys differ, and of HAR files.
//!
//! Does not read text; see `log`.

use super::logged_request::{LoggedRequest, is_absent, take_target};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reads one entry; `None` if it is not a JSON object with a path.
pub(super) fn read(line: &str) -> Option<LoggedRequest<'_>> {
    let mut out = LoggedRequest::default();
    let mut json = serde_json::Deserializer::from_str(line);
    Entry { out: &mut out }.deserialize(&mut json).ok()?;
    // Azure writes the query apart.
    if let (Some(path), Some(query)) = (&out.path, out.query.take())
        && !path.contains('?')
        && !query.is_empty()
    {
        out.path = Some(format!("{path}?{}", query.trim_start_matches('?')).into());
    }
    out.path.is_some().then_some(out)
}

/// A JSON object whose known keys are taken.
struct Entry<'o, 'l> {
    out: &'o mut LoggedRequest<'l>,
}

impl<'l> DeserializeSeed<'l> for Entry<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Entry<'_, 'l> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key::<Text<'l>>()? {
            if key == "properties" {
                map.next_value_seed(Entry { out: &mut *self.out })?;
                continue;
            }
            let Some(field) = field(&key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let Text(value) = map.next_value::<Text<'l>>()?;
            take(self.out, field, &key, value);
        }
        Ok(())
    }
}

/// A key, or a value as text; other values than strings, numbers and flags are empty.
struct Text<'l>(Cow<'l, str>);

impl<'l> serde::Deserialize<'l> for Text<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'l> Visitor<'l> for Any {
            type Value = Text<'l>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_borrowed_str<E>(self, text: &'l str) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(text.to_string())))
            }

            fn visit_string<E>(self, text: String) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(text)))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Borrowed(if flag { "on" } else { "" })))
            }

            fn visit_unit<E>(self) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Borrowed("")))
            }

            fn visit_seq<A: SeqAccess<'l>>(self, mut items: A) -> Result<Text<'l>, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Text(Cow::Borrowed("")))
            }

            fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Text<'l>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Text(Cow::Borrowed("")))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Time,
    Method,
    Authority,
    /// The host before a rewrite: it wins.
    OriginalAuthority,
    Path,
    Query,
    Scheme,
    Tls,
    Status,
    Upstream,
    Flags,
    Header,
}

/// Returns the meaning of a key. Envoy's keys are free, so common names are known.
fn field(key: &str) -> Option<Known> {
    Some(match key {
        "start_time" | "time" | "timestamp" | "@timestamp" | "time_local" | "time_iso8601" | "timeStamp" | "ts" => Known::Time,
        "method" | "request_method" | "httpMethod" | ":method" => Known::Method,
        "authority" | "host" | "request_host" | "http_host" | "server_name" | ":authority" => Known::Authority,
        "originalHost" => Known::OriginalAuthority,
        "path" | "request_path" | "request_uri" | "uri" | "requestUri" | ":path" | "x_envoy_origin_path" | "url" => Known::Path,
        "originalRequestUriWithArgs" => Known::Path,
        "requestQuery" | "query" | "args" => Known::Query,
        "scheme" | "x_forwarded_proto" | "forwarded_proto" => Known::Scheme,
        "sslEnabled" | "downstream_tls_version" | "ssl_protocol" | "tls_version" => Known::Tls,
        "response_code" | "status" | "httpStatus" | "status_code" | "code" => Known::Status,
        "upstream_host" | "upstream_cluster" | "upstream_addr" | "serverRouted" | "proxy_upstream_name" => Known::Upstream,
        "response_flags" | "flags" => Known::Flags,
        "user_agent" | "http_user_agent" | "userAgent" | "referer" | "http_referer" => Known::Header,
        _ if key.starts_with("req_header_") || key.starts_with("request_header_") || key.starts_with("http_") => Known::Header,
        _ => return None,
    })
}

/// Returns the header's name of a key.
fn header_name(key: &str) -> String {
    let name = ["req_header_", "request_header_", "http_"].iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key);
    if name == "userAgent" { "user-agent".into() } else { name.to_ascii_lowercase().replace('_', "-") }
}

fn take<'l>(out: &mut LoggedRequest<'l>, field: Known, key: &str, value: Cow<'l, str>) {
    if field == Known::Upstream {
        let value = if is_absent(&value) { "".into() } else { value };
        out.upstream = out.upstream.take().filter(|known| !known.is_empty()).or(Some(value));
        return;
    }
    if field == Known::Tls {
        out.scheme = Some(if is_absent(&value) || value == "off" { "http" } else { "https" }.into());
        return;
    }
    if is_absent(&value) {
        return;
    }
    match field {
        Known::Time => out.time = out.time.take().or(Some(value)),
        Known::Method => out.method = Some(value),
        Known::Authority => out.authority = out.authority.take().or(Some(value)),
        Known::OriginalAuthority => out.authority = Some(value),
        Known::Path => {
            // The original path wins over the rewritten one.
            if out.path.is_none() || matches!(key, "originalRequestUriWithArgs" | "x_envoy_origin_path") {
                match value {
                    Cow::Borrowed(text) => take_target(out, text),
                    owned => out.path = Some(owned),
                }
            }
        }
        Known::Query => out.query = Some(value),
        Known::Scheme => out.scheme = Some(value),
        Known::Status => out.status = value.parse().ok().or(out.status),
        Known::Flags => out.flags = Some(value),
        Known::Header => out.headers.push((header_name(key).into(), value)),
        Known::Upstream | Known::Tls => {}
    }
}

/// Whether a text is a HAR file: a JSON object with `log.entries`.
#[must_use]
pub fn is_har(start: &str) -> bool {
    start.trim_start().starts_with('{') && start.contains("\"log\"") && (start.contains("\"entries\"") || start.contains("\"creator\""))
}

#[derive(serde::Deserialize)]
struct Har<'h> {
    #[serde(borrow)]
    log: HarLog<'h>,
}

#[derive(serde::Deserialize)]
struct HarLog<'h> {
    #[serde(borrow)]
    entries: Vec<HarEntry<'h>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarEntry<'h> {
    #[serde(borrow, default)]
    started_date_time: Cow<'h, str>,
    request: HarRequest,
    response: HarResponse,
}

#[derive(serde::Deserialize)]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<HarHeader>,
}

#[derive(serde::Deserialize)]
struct HarHeader {
    name: String,
    value: String,
}

#[derive(serde::Deserialize)]
struct HarResponse {
    #[serde(default)]
    status: i64,
}

/// Reads the requests of a HAR file.
///
/// # Errors
///
/// Why it is not a HAR file.
pub fn read_har(text: &str) -> Result<Vec<LoggedRequest<'static>>, String> {
    let har: Har<'_> = serde_json::from_str(text).map_err(|error| format!("not a HAR file: {error}"))?;
    let request = |entry: HarEntry<'_>| {
        let mut url = LoggedRequest::default();
        take_target(&mut url, &entry.request.url);
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        LoggedRequest {
            time: Some(Cow::Owned(entry.started_date_time.into_owned())),
            method: Some(entry.request.method.into()),
            authority: owned(url.authority),
            path: owned(url.path),
            scheme: owned(url.scheme),
            status: u16::try_from(entry.response.status).ok().filter(|status| *status > 0),
            headers: entry.request.headers.into_iter().map(|of| (of.name.to_ascii_lowercase().into(), of.value.into())).collect(),
            ..LoggedRequest::default()
        }
    };
    Ok(har.log.entries.into_iter().map(request).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envoy_json_is_read() {
        let line = r#"{"start_time":"2026-11-28T10:00:00Z","method":"GET","path":"/a?b","authority":"a.example.com","response_code":404,"response_flags":"NR","upstream_cluster":null,"bytes_sent":5,"x":{"y":[1]}}"#;
        let read = read(line).expect("a request");
        assert_eq!((read.method.as_deref(), read.path.as_deref(), read.status), (Some("GET"), Some("/a?b"), Some(404)));
        assert_eq!((read.upstream.as_deref(), read.flags.as_deref()), (Some(""), Some("NR")));
    }

    #[test]
    fn azure_entry_is_read() {
        let line = r#"{"category":"ApplicationGatewayAccessLog","time":"2026-11-28T10:00:00Z","properties":{"httpMethod":"GET","requestUri":"/a","requestQuery":"x=1","host":"10.0.0.1","originalHost":"a.example.com","httpStatus":200,"sslEnabled":"on","userAgent":"curl"}}"#;
        let read = read(line).expect("a request");
        assert_eq!((read.authority.as_deref(), read.path.as_deref()), (Some("a.example.com"), Some("/a?x=1")));
        assert_eq!((read.scheme.as_deref(), read.status), (Some("https"), Some(200)));
    }

    #[test]
    fn har_entries_are_read() {
        let text = r#"{"log":{"version":"1.2","creator":{},"entries":[{"startedDateTime":"t","request":{"method":"GET","url":"https://a.example.com/x?y","headers":[{"name":"X-Beta","value":"1"}]},"response":{"status":200}}]}}"#;
        assert!(is_har(text));
        let read = read_har(text).expect("a HAR file");
        let first = read.first().expect("a request");
        assert_eq!(
            (first.scheme.as_deref(), first.authority.as_deref(), first.path.as_deref()),
            (Some("https"), Some("a.example.com"), Some("/x?y"))
        );
        assert_eq!(first.headers, [("x-beta".into(), "1".into())]);
        assert!(read_har("{}").is_err());
    }
}
