//! Reads access logs line by line: a format string of Envoy or nginx, the fixed format of an AWS load balancer, or one JSON object per line.
//!
//! Does not open or decompress files; see the CLI. Does not read JSON; see `json_log`.

use super::json_log;
use super::logged_request::{LoggedRequest, is_absent, take_target};
use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How the lines of a log are read.
#[derive(Clone, Debug, PartialEq)]
pub enum LogFormat {
    /// A format string.
    Text(Vec<Token>),
    /// One JSON object per line.
    Json,
}

/// A part of a format string.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// Text between fields.
    Literal(String),
    Field(Field),
}

/// The meaning of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Time,
    Method,
    Authority,
    Path,
    Query,
    Scheme,
    /// A version of TLS, or `on`: anything but an empty value means https.
    Tls,
    Status,
    Upstream,
    Flags,
    /// `METHOD TARGET PROTOCOL`.
    RequestLine,
    Header(String),
    Other,
}

/// Envoy's default format.
pub const ENVOY: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% %RESPONSE_FLAGS% \
    %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \
    \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\"";

/// nginx's predefined format `combined`; logs may continue after it, as those of ingress-nginx do.
pub const NGINX: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\"";

/// The default format of ingress-nginx.
pub const INGRESS_NGINX: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \
    \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr \
    $upstream_response_length $upstream_response_time $upstream_status $req_id";

/// The entries of an AWS Application Load Balancer.
pub const AWS: &str = "$type $time $elb $client $target $request_processing_time $target_processing_time $response_processing_time $status \
    $target_status $received $sent \"$request\" \"$http_user_agent\" $cipher $tls $target_group \"$trace\" \"$domain\"";

/// The known formats with their names on the command line, the most specific first.
pub const FORMATS: [(&str, &str); 4] = [("envoy", ENVOY), ("aws-alb", AWS), ("ingress-nginx", INGRESS_NGINX), ("nginx", NGINX)];

impl LogFormat {
    /// Parses a format string of Envoy (`%REQ(:METHOD)%`) or nginx (`$request_method`), or the name of a known format.
    ///
    /// # Errors
    ///
    /// Why requests cannot be read with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "json" {
            return Ok(Self::Json);
        }
        let known = FORMATS.iter().find(|(name, _)| *name == text).map_or(text, |(_, format)| format);
        let tokens = tokens(known.trim_end_matches(['\n', '\r']))?;
        let has = |wanted: &[Field]| tokens.iter().any(|token| matches!(token, Token::Field(field) if wanted.contains(field)));
        if !has(&[Field::Path, Field::RequestLine]) {
            return Err(format!("`{text}` has no path of the request: is it a format of Envoy or nginx, or one of json, {}?", names()));
        }
        Ok(Self::Text(tokens))
    }

    /// Finds the format of a log by its first lines.
    #[must_use]
    pub fn detect(lines: &[&str]) -> Option<Self> {
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let first = lines.first()?;
        if first.starts_with('{') && json_log::read(first).is_some() {
            return Some(Self::Json);
        }
        let known = FORMATS.iter().filter_map(|(_, format)| Self::parse(format).ok());
        let reads = |format: &Self| lines.iter().filter(|line| format.read(line).is_some()).count();
        known.map(|format| (reads(&format), format)).filter(|(count, _)| count * 2 > lines.len()).rev_max()
    }

    /// Reads a line; `None` if it does not fit the format.
    #[must_use]
    pub fn read<'l>(&self, line: &'l str) -> Option<LoggedRequest<'l>> {
        match self {
            Self::Json => json_log::read(line),
            Self::Text(tokens) => read_text(tokens, line),
        }
    }

    /// Whether the log contains a request header.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        match self {
            // The keys of a JSON log differ from line to line.
            Self::Json => false,
            Self::Text(tokens) => tokens.iter().any(|token| matches!(token, Token::Field(Field::Header(known)) if known == name)),
        }
    }
}

/// Returns the first of the best.
trait RevMax {
    fn rev_max(self) -> Option<LogFormat>;
}

impl<I: Iterator<Item = (usize, LogFormat)>> RevMax for I {
    fn rev_max(self) -> Option<LogFormat> {
        let mut best: Option<(usize, LogFormat)> = None;
        for (count, format) in self {
            if best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, format));
            }
        }
        best.map(|(_, format)| format)
    }
}

/// Returns the names of known formats.
#[must_use]
pub fn names() -> String {
    FORMATS.map(|(name, _)| name).join(", ")
}

fn tokens(format: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut literal = String::new();
    let mut rest = format;
    while let Some(next) = rest.chars().next() {
        let (field, after) = match next {
            '%' => envoy_field(rest)?,
            '$' => nginx_field(rest),
            other => {
                literal.push(other);
                rest = rest.get(other.len_utf8()..).unwrap_or_default();
                continue;
            }
        };
        rest = after;
        let Some(field) = field else {
            literal.push(next);
            continue;
        };
        if !literal.is_empty() {
            out.push(Token::Literal(core::mem::take(&mut literal)));
        } else if matches!(out.last(), Some(Token::Field(_))) {
            return Err("two fields have no text between them, so a line cannot be divided".into());
        }
        out.push(Token::Field(field));
    }
    if !literal.is_empty() {
        out.push(Token::Literal(literal));
    }
    Ok(out)
}

/// Reads `%COMMAND(ARGUMENT):LENGTH%`. `%%` is a percent sign.
fn envoy_field(text: &str) -> Result<(Option<Field>, &str), String> {
    let inner = text.get(1..).unwrap_or_default();
    if let Some(after) = inner.strip_prefix('%') {
        return Ok((None, after));
    }
    let end = inner.find('%').ok_or_else(|| format!("`{text}` has no second %"))?;
    let (command, after) = (inner.get(..end).unwrap_or_default(), inner.get(end + 1..).unwrap_or_default());
    let (name, argument) = match command.split_once('(') {
        Some((name, rest)) => (name, rest.split(')').next().unwrap_or_default()),
        None => (command.split(':').next().unwrap_or_default(), ""),
    };
    let header = argument.to_ascii_lowercase();
    let field = match (name, header.as_str()) {
        ("START_TIME" | "START_TIME_LOCAL", _) => Field::Time,
        ("REQ", ":method") => Field::Method,
        ("REQ", ":authority" | "host") => Field::Authority,
        ("REQ", ":scheme" | "x-forwarded-proto") => Field::Scheme,
        ("REQ", path) if path.split('?').any(|part| part == ":path") => Field::Path,
        ("PATH", _) => Field::Path,
        ("REQ", name) => Field::Header(name.split('?').next().unwrap_or_default().to_owned()),
        ("RESPONSE_CODE", _) => Field::Status,
        ("RESPONSE_FLAGS", _) => Field::Flags,
        ("UPSTREAM_HOST" | "UPSTREAM_CLUSTER" | "UPSTREAM_CLUSTER_RAW", _) => Field::Upstream,
        ("DOWNSTREAM_TLS_VERSION", _) => Field::Tls,
        _ => Field::Other,
    };
    Ok((Some(field), after))
}

/// Reads `$name` or `${name}`.
fn nginx_field(text: &str) -> (Option<Field>, &str) {
    let inner = text.get(1..).unwrap_or_default();
    let braced = inner.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let (name, after) = braced.unwrap_or_else(|| {
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        inner.split_at(end)
    });
    let field = match name {
        "" => return (None, after),
        "time" | "time_local" | "time_iso8601" | "msec" => Field::Time,
        "request" => Field::RequestLine,
        "request_method" => Field::Method,
        "request_uri" | "uri" => Field::Path,
        "args" | "query_string" => Field::Query,
        "host" | "http_host" | "server_name" | "domain" => Field::Authority,
        "scheme" | "http_x_forwarded_proto" => Field::Scheme,
        "tls" | "ssl_protocol" | "https" => Field::Tls,
        "status" => Field::Status,
        "upstream_addr" | "proxy_upstream_name" | "target" => Field::Upstream,
        _ => match name.strip_prefix("http_") {
            Some(header) => Field::Header(header.replace('_', "-")),
            None => Field::Other,
        },
    };
    (Some(field), after)
}

/// Reads a line. Text after the last field is ignored if the format ends with a quote or a bracket: some gateways append fields.
fn read_text<'l>(tokens: &[Token], line: &'l str) -> Option<LoggedRequest<'l>> {
    let mut out = LoggedRequest::default();
    let mut rest = line.trim_end_matches(['\n', '\r']);
    let mut all = tokens.iter().peekable();
    // Emissary writes a word before Envoy's format.
    if let Some(Token::Literal(first)) = tokens.first()
        && !rest.starts_with(first.as_str())
    {
        rest = rest.get(rest.find(first.as_str()).filter(|at| *at <= 16)?..)?;
    }
    while let Some(token) = all.next() {
        match token {
            Token::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
            Token::Field(field) => {
                let end = match all.peek() {
                    Some(Token::Literal(text)) => find(rest, text)?,
                    _ => rest.len(),
                };
                let (value, after) = rest.split_at(end);
                take(&mut out, field, value)?;
                rest = after;
            }
        }
    }
    out.path.is_some().then_some(out)
}

/// Finds the end of a field. A quote that is escaped does not end it.
fn find(text: &str, literal: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memmem::find(text.as_bytes().get(from..)?, literal.as_bytes())?;
        let is_escaped = literal.starts_with('"') && at > 0 && text.as_bytes().get(at - 1) == Some(&b'\\');
        if !is_escaped {
            return Some(at);
        }
        from = at + 1;
    }
}

fn take<'l>(out: &mut LoggedRequest<'l>, field: &Field, value: &'l str) -> Option<()> {
    let text = || (!is_absent(value)).then_some(Cow::Borrowed(value));
    match field {
        Field::Time => out.time = text(),
        Field::Method => out.method = text(),
        // A log may have several fields for it; the first one wins.
        Field::Authority => out.authority = out.authority.take().or_else(text),
        Field::Path => out.path = text(),
        Field::Query => out.query = text(),
        Field::Scheme => out.scheme = text(),
        Field::Tls => out.scheme = Some(if is_absent(value) { "http" } else { "https" }.into()),
        Field::Status => out.status = Some(value.parse().ok()?),
        Field::Upstream => out.upstream = out.upstream.take().filter(|known| !known.is_empty()).or_else(|| Some(text().unwrap_or_default())),
        Field::Flags => out.flags = text(),
        Field::Header(name) => out.headers.extend(text().map(|value| (Cow::Owned(name.clone()), value))),
        Field::RequestLine => request_line(out, value)?,
        Field::Other => {}
    }
    Some(())
}

/// Reads `METHOD TARGET PROTOCOL`. A target may be a whole URL.
fn request_line<'l>(out: &mut LoggedRequest<'l>, line: &'l str) -> Option<()> {
    let (method, rest) = line.split_once(' ')?;
    let target = rest.rsplit_once(' ').map_or(rest, |(target, _)| target);
    out.method = Some(method.into());
    take_target(out, target);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'l>(format: &str, line: &'l str) -> LoggedRequest<'l> {
        LogFormat::parse(format).expect("a format").read(line).expect("a request")
    }

    #[test]
    fn envoy_line_is_read() {
        let line = "ACCESS [2026-11-28T10:00:00.000Z] \"GET /cart/7?x=1 HTTP/1.1\" 404 NR 0 0 0 - \"10.0.0.1\" \"curl/8 \\\"x\\\"\" \"id\" \
            \"shop.example.com\" \"-\"";
        let read = read("envoy", line);
        assert_eq!(read.time.as_deref(), Some("2026-11-28T10:00:00.000Z"));
        assert_eq!((read.method.as_deref(), read.path.as_deref(), read.status), (Some("GET"), Some("/cart/7?x=1"), Some(404)));
        assert_eq!((read.authority.as_deref(), read.upstream.as_deref(), read.flags.as_deref()), (Some("shop.example.com"), Some(""), Some("NR")));
        assert_eq!(LogFormat::detect(&[line]), LogFormat::parse("envoy").ok());
    }

    #[test]
    fn nginx_lines_are_read() {
        let line = "10.0.0.1 - - [28/Nov/2026:10:00:00 +0000] \"POST /api HTTP/2.0\" 200 5 \"-\" \"curl/8\" 99 0.001 [shop-web-80] [] 10.1.0.1:80 5 \
            0.001 200 abc";
        let logged = read("ingress-nginx", line);
        assert_eq!((logged.method.as_deref(), logged.path.as_deref(), logged.upstream.as_deref()), (Some("POST"), Some("/api"), Some("shop-web-80")));
        assert_eq!(LogFormat::detect(&[line]), LogFormat::parse("ingress-nginx").ok());
        let custom = read("$host $request_method $request_uri ${status}", "a.example.com GET /x?y 301");
        assert_eq!((custom.authority.as_deref(), custom.path.as_deref(), custom.status), (Some("a.example.com"), Some("/x?y"), Some(301)));
    }

    #[test]
    fn aws_line_has_host_and_scheme() {
        let line = "https 2026-11-28T10:00:00.0Z app/lb/1 1.2.3.4:1 10.0.0.1:80 0.0 0.0 0.0 200 200 1 2 \"GET https://shop.example.com:443/a?b=1 \
            HTTP/2.0\" \"curl\" C TLSv1.3 arn \"Root=1\" \"shop.example.com\" \"arn\" 0";
        let logged = read("aws-alb", line);
        assert_eq!((logged.scheme.as_deref(), logged.authority.as_deref()), (Some("https"), Some("shop.example.com:443")));
        assert_eq!((logged.path.as_deref(), logged.status), (Some("/a?b=1"), Some(200)));
        assert_eq!(LogFormat::detect(&[line]), LogFormat::parse("aws-alb").ok());
    }

    #[test]
    fn wrong_formats_and_lines_are_refused() {
        assert!(LogFormat::parse("%RESPONSE_CODE%").is_err() && LogFormat::parse("%REQ(:PATH)%%PROTOCOL%").is_err());
        assert!(LogFormat::parse("%REQ(:PATH").is_err());
        assert_eq!(LogFormat::parse("envoy").expect("a format").read("hello"), None);
        assert_eq!(LogFormat::detect(&["hello", "world"]), None);
    }
}
