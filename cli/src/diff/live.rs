//! `chancery drift --live`: compares the source, the server's resources, and an Envoy's configuration.
//!
//! Does not compare; see `compared`. Does not answer queries; see the server and Envoy.

use super::compared::{Differences, unread};
use super::loaded::{GatewaySide, Loaded, running};
use super::{data, envoy, human, warn_of_gaps};
use crate::args::{DiffFormat, DriftArgs};
use crate::live::ask;
use crate::output::{print, print_json};
use crate::style::{Style, plain};
use crate::{Outcome, Unusable};
use chancery_core::compare::{envoy_of_served, served_of_source};
use chancery_core::envoy_config::Running;
use serde_json::{Value, json};
use std::fmt::Write;

/// Runs it.
pub fn drift(args: &DriftArgs, source: &Loaded, style: &Style) -> Outcome {
    if !matches!(args.format, DiffFormat::Human | DiffFormat::Json) {
        return Err("`drift --live` has the formats human and json".into());
    }
    warn_of_gaps(&[source]);
    let node = args.node.as_deref().map(|node| format!("?node={}", escaped(node))).unwrap_or_default();
    let served = running(&format!("what {} sends", args.server), &ask::text(&args.server, &format!("/api/v1/served{node}"))?)?;
    let Loaded::Running(of_server) = &served else { return Ok(2) };
    let sent = sent(source, of_server)?;
    let mut differs = !sent.is_empty();
    let mut out = format!("{}\n{}", style.bold("The source and the server:"), human::report(&sent, None, style));
    let mut all = json!({ "sent": data(&sent, None)? });
    if let Some(asked) = envoy::asked(args) {
        let envoy = running(&asked.name(), &asked.dump()?)?;
        let Loaded::Running(of_envoy) = &envoy else { return Ok(2) };
        let has = Differences { misfits: of_envoy.misfits.clone(), ..Differences::of_envoy(envoy_of_served(of_server, of_envoy)) };
        differs |= !has.is_empty() || !of_envoy.refused.is_empty();
        let title = format!("The server and {}:", asked.name());
        let _ =
            write!(out, "\n{}\n{}", style.bold(plain(&title)), human::compared(&has, Some(of_envoy), "Envoy has the server's configuration.", style));
        all["envoy"] = data(&has, Some(of_envoy))?;
    } else {
        let answer = ask::get(&args.server, "/api/v1/envoys")?;
        let connected: Vec<&Value> = connected(&answer, args.node.as_deref()).collect();
        let stale: Vec<StaleType> = connected.iter().flat_map(|envoy| stale_types(envoy)).collect();
        differs |= !stale.is_empty();
        let _ = writeln!(out, "\n{}", style.bold("The server and its Envoys:"));
        stale.iter().for_each(|line| _ = writeln!(out, "{}", plain(&line.sentence())));
        match connected.len() {
            0 => _ = writeln!(out, "no Envoy is connected: nothing was compared"),
            _ if !stale.is_empty() => {}
            count => _ = writeln!(out, "{} connected and accepted the last update", are(count)),
        }
        all["connected"] = connected.len().into();
        all["behind"] = stale.iter().map(StaleType::data).collect();
    }
    let verdict = if differs { "The source, the server and the Envoys differ." } else { "Nothing that was compared differs." };
    let _ = writeln!(out, "\n{}", style.bold(verdict));
    match args.format {
        DiffFormat::Json => print_json(&all)?,
        _ => print(&out)?,
    }
    Ok(u8::from(args.exit_code && (differs || !sent.unread.is_empty())))
}

/// Compares the source with the server's resources.
fn sent(source: &Loaded, served: &Running) -> Result<Differences, Unusable> {
    let positions = source.positions();
    match source {
        Loaded::Compiled(of) if of.proxies.len() > 1 => Err(of.several("which of them the running Envoy is")),
        _ => match source.side(0, positions.as_ref()) {
            GatewaySide::Envoy(side) => Ok(Differences { unread: unread(&[source]), ..Differences::of_envoy(served_of_source(&side, served)) }),
            GatewaySide::AppGateway(_) => Err("an Application Gateway is served to no Envoy".into()),
        },
    }
}

/// A resource type whose last update an Envoy has not accepted.
struct StaleType {
    id: String,
    kind: String,
    sent: String,
    accepted: Option<String>,
    rejected: Option<String>,
}

impl StaleType {
    fn sentence(&self) -> String {
        let Self { id, kind, sent, accepted, rejected } = self;
        let has = accepted.as_ref().map_or_else(|| "has none yet".into(), |version| format!("has {version}"));
        match rejected {
            Some(why) => format!("{id} rejected {kind} {sent}, and {has}: {why}"),
            None => format!("{id} has not answered {kind} {sent}, and {has}"),
        }
    }

    fn data(&self) -> Value {
        json!({"id": self.id, "type": self.kind, "sent": self.sent, "accepted": self.accepted, "rejected": self.rejected})
    }
}

/// Returns the connected Envoys, or only the requested Envoy.
fn connected<'a>(answer: &'a Value, node: Option<&'a str>) -> impl Iterator<Item = &'a Value> {
    let all = answer["envoys"].as_array().into_iter().flatten();
    all.filter(move |envoy| node.is_none_or(|node| envoy["id"] == node))
}

fn are(count: usize) -> String {
    if count == 1 { "1 Envoy is".into() } else { format!("{count} Envoys are") }
}

/// Returns the types whose last update an Envoy has not accepted.
fn stale_types(envoy: &Value) -> Vec<StaleType> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let id = text(&envoy["id"]).unwrap_or_default();
    let mut out = Vec::new();
    for (kind, of) in envoy["types"].as_object().into_iter().flatten() {
        let (sent, accepted) = (text(&of["sent"]).unwrap_or_default(), text(&of["accepted"]));
        let rejected = text(&of["rejected"]["message"]);
        if rejected.is_some() || accepted.as_deref() != Some(&sent) {
            let kind = kind.rsplit('.').next().unwrap_or(kind).to_owned();
            out.push(StaleType { id: id.clone(), kind, sent, accepted, rejected });
        }
    }
    out
}

/// Encodes a value for a query.
fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}
