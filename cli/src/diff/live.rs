//! `chancery drift --live`: the source, what a server sends of it, and what an Envoy has.
//!
//! What must not be here: the comparison; the answers of the server and of Envoy.

use super::compared::{Differences, compare};
use super::loaded::{Loaded, running};
use super::{data, human, warn_of_gaps};
use crate::args::{DiffFormat, DriftArgs};
use crate::live::ask;
use crate::output::{print, print_json};
use crate::style::{Style, plain};
use crate::{Outcome, Unusable};
use chancery_core::backend::envoy::{self, v3::resources};
use chancery_core::compare::ChangeKind;
use chancery_core::compilation::Compilation;
use chancery_core::envoy_config::{EnvoyConfig, Running};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Runs it.
pub fn drift(args: &DriftArgs, source: &Loaded, style: &Style) -> Outcome {
    if !matches!(args.format, DiffFormat::Human | DiffFormat::Json) {
        return Err("`drift --live` has the formats human and json".into());
    }
    warn_of_gaps(&[source]);
    let node = args.node.as_deref().map(|node| format!("?node={}", escaped(node))).unwrap_or_default();
    let served = running(&format!("what {} sends", args.server), &ask::text(&args.server, &format!("/api/v1/served{node}"))?)?;
    let mut sent = compare(source, &served, false)?;
    forget(&mut sent, ChangeKind::Removed, &of_bootstrap(source));
    let mut differs = !sent.is_empty();
    let mut out = format!("{}\n{}", style.bold("The source, and what the server sends:"), human::report(&sent, None, style));
    let mut all = json!({ "sent": data(&sent, None)? });
    if let Some(address) = &args.envoy {
        let dump = chancery_live::host::wait(chancery_live::admin::config_dump(address)).map_err(|failure| Unusable(failure.0))?;
        let envoy = running(&format!("the Envoy at {address}"), &dump)?;
        let Loaded::Running(of_envoy) = &envoy else { return Ok(2) };
        let mut has = compare(&served, &envoy, false)?;
        forget(&mut has, ChangeKind::Added, &started_with(of_envoy));
        differs |= !has.is_empty() || !of_envoy.refused.is_empty();
        let title = format!("What the server sends, and what the Envoy at {address} has:");
        let _ = write!(out, "\n{}\n{}", style.bold(plain(&title)), human::report(&has, Some(of_envoy), style));
        all["envoy"] = data(&has, Some(of_envoy))?;
    } else {
        let answer = ask::get(&args.server, "/api/v1/envoys")?;
        let connected: Vec<&Value> = connected(&answer, args.node.as_deref()).collect();
        let behind: Vec<Behind> = connected.iter().flat_map(|envoy| behind(envoy)).collect();
        differs |= !behind.is_empty();
        let _ = writeln!(out, "\n{}", style.bold("What the server sends, and what Envoys accepted:"));
        behind.iter().for_each(|line| _ = writeln!(out, "{}", plain(&line.sentence())));
        match connected.len() {
            0 => _ = writeln!(out, "no Envoy is connected: nothing was compared"),
            _ if !behind.is_empty() => {}
            count => _ = writeln!(out, "{} connected, and each has accepted all that it was sent last", are(count)),
        }
        all["connected"] = connected.len().into();
        all["behind"] = behind.iter().map(Behind::data).collect();
    }
    match args.format {
        DiffFormat::Json => print_json(&all)?,
        _ => print(&out)?,
    }
    Ok(u8::from(args.exit_code && differs))
}

/// Listeners that only a bootstrap of the controller has: no server sends them.
fn of_bootstrap(source: &Loaded) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for gateway in source.compilation().into_iter().flat_map(Compilation::gateways) {
        let sent = resources(gateway.ir, &envoy::Options::default());
        let is_sent = |name: &str| sent.listeners.iter().any(|listener| listener.name == name);
        let all = EnvoyConfig::of(gateway.ir).listeners;
        out.extend(all.into_iter().map(|placed| placed.message.name).filter(|name| !is_sent(name)));
    }
    out
}

/// What an Envoy has of its own bootstrap: how it reaches the server, among others.
fn started_with(running: &Running) -> BTreeSet<String> {
    let is_static = |pointer: &str| pointer.contains("/static_");
    let clusters = running.config.clusters.iter().filter(|placed| is_static(&placed.pointer)).map(|placed| &placed.message.name);
    let listeners = running.config.listeners.iter().filter(|placed| is_static(&placed.pointer)).map(|placed| &placed.message.name);
    clusters.chain(listeners).cloned().collect()
}

/// Leaves out what became so of these, and of what stands in them.
fn forget(differences: &mut Differences, change: ChangeKind, names: &BTreeSet<String>) {
    for gateway in &mut differences.gateways {
        gateway.envoy.retain(|of| of.change != change || !names.iter().any(|name| is_of(&of.name, name)));
    }
}

/// Whether a part is the one of this name, or stands in it. A part is called `NAME in WHAT HOLDS IT, ...`; another name may begin like this one.
fn is_of(part: &str, name: &str) -> bool {
    let inside = part.split_once(" in ").map_or(part, |(_, inside)| inside);
    part == name || part.starts_with(&format!("{name}, ")) || inside.split(", ").any(|one| one == name)
}

/// A type of which an Envoy has not accepted what it was sent last.
struct Behind {
    id: String,
    kind: String,
    sent: String,
    accepted: Option<String>,
    rejected: Option<String>,
}

impl Behind {
    fn sentence(&self) -> String {
        let Self { id, kind, sent, accepted, rejected } = self;
        let has = accepted.as_ref().map_or_else(|| "has none yet".into(), |version| format!("has {version}"));
        match rejected {
            Some(why) => format!("{id} rejected {kind} {sent}, and {has}: {why}"),
            None => format!("{id} has not answered to {kind} {sent}, and {has}"),
        }
    }

    fn data(&self) -> Value {
        json!({"id": self.id, "type": self.kind, "sent": self.sent, "accepted": self.accepted, "rejected": self.rejected})
    }
}

/// The Envoys that are connected; of those, only the one that is asked for, if one is.
fn connected<'a>(answer: &'a Value, node: Option<&'a str>) -> impl Iterator<Item = &'a Value> {
    let all = answer["envoys"].as_array().into_iter().flatten();
    all.filter(move |envoy| node.is_none_or(|node| envoy["id"] == node))
}

fn are(count: usize) -> String {
    if count == 1 { "1 Envoy is".into() } else { format!("{count} Envoys are") }
}

/// The types of which an Envoy has not accepted what it was sent last.
fn behind(envoy: &Value) -> Vec<Behind> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let id = text(&envoy["id"]).unwrap_or_default();
    let mut out = Vec::new();
    for (kind, of) in envoy["types"].as_object().into_iter().flatten() {
        let (sent, accepted) = (text(&of["sent"]).unwrap_or_default(), text(&of["accepted"]));
        let rejected = text(&of["rejected"]["message"]);
        if rejected.is_some() || accepted.as_deref() != Some(&sent) {
            let kind = kind.rsplit('.').next().unwrap_or(kind).to_owned();
            out.push(Behind { id: id.clone(), kind, sent, accepted, rejected });
        }
    }
    out
}

/// A value as it stands in a query.
fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn a_part_belongs_to_what_has_its_name_and_to_nothing_that_begins_like_it() {
        for part in ["listener-ready", "listener-ready, filter chain 0", "route /ready in listener-ready", "/x in virtual host v, listener-ready"] {
            assert!(is_of(part, "listener-ready"), "{part}");
        }
        for part in ["listener-ready-for-shop", "listener-ready-2, filter chain 0", "route / in listener-ready-2", "not-listener-ready"] {
            assert!(!is_of(part, "listener-ready"), "{part}");
        }
    }
}
