//! `chancery envoys` and `chancery events`: query a running server.
//!
//! Does not compute the answers; see the server.

use super::human;
use crate::args::{AskArgs, Format};
use crate::output::{print, print_json, reason};
use crate::style::{Style, count, plain};
use crate::{Outcome, Unusable};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const LARGEST: u64 = 64 << 20;

/// Runs `envoys`.
pub fn envoys(args: &AskArgs, style: &Style) -> Outcome {
    let answer = get(&args.server, "/api/v1/envoys")?;
    match args.format {
        Format::Json => print_json(&answer)?,
        Format::Human => {
            let all = list(&answer, "envoys");
            let mut out = String::new();
            for envoy in all {
                let gateway = envoy["gateway"].as_str().unwrap_or("(no gateway)");
                let agent = envoy["agent"].as_str().unwrap_or_default();
                let streams =
                    envoy["streams"].as_u64().filter(|streams| *streams > 1).map(|streams| format!(", {streams} streams")).unwrap_or_default();
                let id = style.bold(plain(envoy["id"].as_str().unwrap_or_default()));
                let _ = writeln!(out, "{id} {} {}{streams}", plain(gateway), plain(agent));
                for (kind, of) in envoy["types"].as_object().into_iter().flatten() {
                    let (state, detail) = sync_state(of);
                    let state = match state {
                        "SYNCED" => style.green(format!("{state:<8}")),
                        "REJECTED" => style.red(format!("{state:<8}")),
                        _ => style.yellow(format!("{state:<8}")),
                    };
                    let age = of["age_s"].as_u64().map(age).unwrap_or_default();
                    let _ = writeln!(out, "    {:<24} {state} {age:>4}  {}", short(kind), plain(detail));
                    let mut add = |line: &str| writeln!(out, "{:30}{}", "", style.red(plain(line)));
                    if let Some(place) = blamed_place(of) {
                        let _ = add(&place);
                    }
                    let held: Vec<&str> = list(of, "held").iter().filter_map(Value::as_str).collect();
                    if !held.is_empty() && of["rejected"].is_null() {
                        let _ = add(&format!("an earlier version, because Envoy rejected the newest: {}", listed(&held)));
                    }
                    let withheld: Vec<&str> = list(of, "withheld").iter().filter_map(Value::as_str).collect();
                    if !withheld.is_empty() {
                        let _ = add(&format!("not sent, see /api/v1/findings for the reason: {}", listed(&withheld)));
                    }
                }
                let has = |kind: &str| envoy["types"].as_object().is_some_and(|types| types.keys().any(|known| short(known) == kind));
                for kind in USUAL.into_iter().filter(|kind| !has(kind)) {
                    let _ = writeln!(out, "    {kind:<24} {}", style.dim("NOT SENT"));
                }
            }
            let _ = writeln!(out, "{}", count(all.len(), "Envoy"));
            print(&out)?;
        }
    }
    Ok(0)
}

/// Runs `events`.
pub fn events(args: &AskArgs, style: &Style) -> Outcome {
    let answer = get(&args.server, "/api/v1/events")?;
    match args.format {
        Format::Json => print_json(&answer)?,
        Format::Human => {
            let mut out = String::new();
            for event in list(&answer, "events") {
                // A newer server may report events that this program does not know.
                let line =
                    serde_json::from_value(event.clone()).map_or_else(|_| plain(&event.to_string()).into_owned(), |of| human::event(&of, style));
                let _ = writeln!(out, "{line}");
            }
            print(&out)?;
        }
    }
    Ok(0)
}

/// The types that Envoys usually request.
const USUAL: [&str; 4] = ["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration"];

/// The last word of a type's URL.
fn short(type_url: &str) -> &str {
    type_url.rsplit('.').next().unwrap_or(type_url)
}

/// Whether an Envoy has the last version of a type, as `istioctl proxy-status` says it, and the version or the message of the rejection.
fn sync_state(of: &Value) -> (&'static str, &str) {
    let sent = of["sent"].as_str().unwrap_or_default();
    match (&of["rejected"], of["accepted"].as_str()) {
        (Value::Object(rejected), _) => ("REJECTED", rejected.get("message").and_then(Value::as_str).unwrap_or_default()),
        (_, Some(accepted)) if accepted == sent => ("SYNCED", if sent == EMPTY { "no resources" } else { sent }),
        _ if sent.is_empty() => ("NOT SENT", ""),
        _ => ("STALE", sent),
    }
}

/// The most names of resources in one line.
const MOST_NAMES: usize = 5;

/// The first names, and the number of the others.
fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// The place that caused the rejection of a type, as `FILE:LINE:COLUMN FIELD`.
fn blamed_place(of: &Value) -> Option<String> {
    let place = of["rejected"]["resources"].as_array()?.iter().find_map(|blamed| blamed["places"].get(0))?;
    let field = place["field"].as_str().unwrap_or_default();
    Some(format!("{}:{}:{} {field}", place["file"].as_str()?, place["line"], place["column"]).trim_end().to_owned())
}

/// The version of an empty set of resources.
const EMPTY: &str = "0000000000000000";

/// A number of seconds in its largest unit.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Queries a server for JSON.
pub fn get(server: &str, path: &str) -> Result<Value, Unusable> {
    serde_json::from_str(&text(server, path)?).map_err(|_| format!("{server} does not answer as `chancery serve` does").into())
}

/// Queries a server without TLS. The server is on this machine, or behind a tunnel that ends here.
pub fn text(server: &str, path: &str) -> Result<String, Unusable> {
    let rest = server.strip_prefix("http://").ok_or_else(|| format!("{server} is no address of a server: say http://HOST:PORT"))?;
    let host = rest.trim_end_matches('/');
    let address = if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) { host.to_owned() } else { format!("{host}:80") };
    let cannot = |error: std::io::Error| Unusable(format!("cannot ask {server}: {}; is `chancery serve` running there?", reason(&error)));
    let mut stream = TcpStream::connect(&address).map_err(cannot)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(cannot)?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(cannot)?;
    let mut answer = Vec::new();
    stream.take(LARGEST).read_to_end(&mut answer).map_err(cannot)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| format!("{server} does not answer as a server of HTTP"))?;
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status != "200" {
        let why = serde_json::from_str::<Value>(body).ok().and_then(|body| body["error"].as_str().map(str::to_owned));
        return Err(format!("{server} answers {status}: {}", why.as_deref().unwrap_or(body.trim())).into());
    }
    Ok(body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sync_state_follows_last_answer() {
        let state = |of: Value| sync_state(&of).0;
        assert_eq!(state(json!({"sent": "2", "accepted": "2"})), "SYNCED");
        assert_eq!(state(json!({"sent": "2", "accepted": "1"})), "STALE");
        assert_eq!(state(json!({"sent": "2"})), "STALE");
        assert_eq!(state(json!({"sent": ""})), "NOT SENT");
        assert_eq!(sync_state(&json!({"sent": "2", "accepted": "1", "rejected": {"message": "bad"}})), ("REJECTED", "bad"));
        assert_eq!([59, 60, 7200, 200_000].map(age), ["59s", "1m", "2h", "2d"]);
    }
}
