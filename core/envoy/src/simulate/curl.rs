//! Reads a request from a `curl` command.

use super::request::Request;
use super::written::WrittenRequest;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Flags with a value that does not affect the request.
const WITH_VALUE: &[&str] = &[
    "-o",
    "--output",
    "-w",
    "--write-out",
    "-m",
    "--max-time",
    "--connect-timeout",
    "--cacert",
    "--capath",
    "--key",
    "--retry",
    "--retry-delay",
    "-x",
    "--proxy",
    "-c",
    "--cookie-jar",
    "--limit-rate",
    "--interface",
    "--dns-servers",
    "-D",
    "--dump-header",
    "--ciphers",
    "--tls-max",
    "-K",
    "--config",
    "--max-redirs",
    "--retry-max-time",
    "--stderr",
    "--trace",
    "--trace-ascii",
    "-y",
    "-Y",
    "-z",
    "-C",
    "-r",
];

/// Short flags with a value.
const SHORT_WITH_VALUE: &str = "XHdAbeuEoFTmwxcDKyYzCr";

impl Request {
    /// Reads a `curl` command, as pasted from documentation or a browser's tools.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, e.g. because it has no URL.
    pub fn from_curl(command: &str) -> Result<Self, String> {
        WrittenRequest::from_curl(command)?.read()
    }
}

impl WrittenRequest {
    /// Whether a text is a `curl` command.
    #[must_use]
    pub fn is_curl(text: &str) -> bool {
        text.split_whitespace().next().is_some_and(|word| word == "curl" || word.ends_with("/curl"))
    }

    /// Returns the request of a `curl` command.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, e.g. because it has no URL.
    pub fn from_curl(command: &str) -> Result<Self, String> {
        let command = command.replace("\\\r\n", " ").replace("\\\n", " ");
        let words = shlex::split(&command).ok_or("the quotes of the curl command do not match")?;
        let mut words = words.into_iter().peekable();
        words.next_if(|word| word == "curl" || word.ends_with("/curl"));
        let words: Vec<String> = words.flat_map(apart).collect();
        let mut words = words.into_iter();
        let (mut method, mut url, mut headers): (Option<String>, Option<String>, Vec<(String, String)>) = (None, None, Vec::new());
        let (mut data, mut query, mut head, mut upload, mut certificate) = (Vec::new(), false, false, false, false);
        let (mut http2, mut port) = (false, None);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} of the curl command has no value"));
            match word.as_str() {
                "-X" | "--request" => method = Some(value()?),
                "-H" | "--header" => {
                    let header = value()?;
                    if let Some((name, value)) = header.split_once(':') {
                        headers.push((name.trim().to_string(), value.trim().to_string()));
                    } else if let Some(name) = header.strip_suffix(';') {
                        headers.push((name.trim().to_string(), String::new()));
                    }
                }
                "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" | "--data-urlencode" | "--json" => {
                    data.push(value()?);
                    if word == "--json" {
                        headers.push(("content-type".into(), "application/json".into()));
                        headers.push(("accept".into(), "application/json".into()));
                    }
                }
                "-F" | "--form" | "--form-string" => {
                    data.push(value()?);
                    headers.push(("content-type".into(), "multipart/form-data".into()));
                }
                "-G" | "--get" => query = true,
                "-I" | "--head" => head = true,
                "-T" | "--upload-file" => {
                    value()?;
                    upload = true;
                }
                "-A" | "--user-agent" => headers.push(("user-agent".into(), value()?)),
                "-b" | "--cookie" => headers.push(("cookie".into(), value()?)),
                "-e" | "--referer" => headers.push(("referer".into(), value()?)),
                "-u" | "--user" => {
                    value()?;
                    headers.push(("authorization".into(), "Basic <credentials>".into()));
                }
                "-E" | "--cert" => {
                    value()?;
                    certificate = true;
                }
                "--http2" | "--http2-prior-knowledge" | "--http3" => http2 = true,
                "--url" => url = Some(value()?),
                // HOST1:PORT1:HOST2:PORT2: the last part is the actual target.
                "--connect-to" => port = value()?.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).map(u32::from),
                "--resolve" => drop(value()?),
                flag if WITH_VALUE.contains(&flag) => drop(value()?),
                flag if flag.starts_with('-') && flag.len() > 1 => {}
                plain => {
                    url.get_or_insert(plain.to_string());
                }
            }
        }
        let mut url = url.ok_or("the curl command has no URL")?;
        let has_data = !data.is_empty();
        if query && has_data {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&data.join("&"));
        }
        let usual = match (head, upload, has_data && !query) {
            (true, ..) => "HEAD",
            (_, true, _) => "PUT",
            (.., true) => "POST",
            _ => "GET",
        };
        let given = |name: &str| headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        let mut all: Vec<(String, String)> = Vec::new();
        for (name, value, sent) in
            [("user-agent", "curl", true), ("accept", "*/*", true), ("content-type", "application/x-www-form-urlencoded", has_data && !query)]
        {
            if sent && !given(name) {
                all.push((name.into(), value.into()));
            }
        }
        all.append(&mut headers);
        let method = method.unwrap_or_else(|| usual.to_string());
        Ok(Self { method, url, headers: all, port, client_certificate: certificate, http2, ..Self::default() })
    }
}

/// Splits `--flag=value` and `-Xvalue` into two words, and `-sSk` into several.
fn apart(word: String) -> Vec<String> {
    if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with("--") && !flag.contains([' ', '/', ':'])) {
        return Vec::from([flag.to_string(), value.to_string()]);
    }
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.chars().count() > 1) else { return Vec::from([word]) };
    let mut out = Vec::new();
    for (at, letter) in letters.char_indices() {
        out.push(format!("-{letter}"));
        let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
        if SHORT_WITH_VALUE.contains(letter) {
            if !rest.is_empty() {
                out.push(rest.to_string());
            }
            break;
        }
    }
    out
}
