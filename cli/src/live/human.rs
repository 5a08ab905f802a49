//! Events as human-readable text, one or a few lines each.
//!
//! Does not detect events; see `chancery_live`.

use crate::style::{Style, count, plain};
use chancery_live::event::{Dated, EnvoyState, Event, FindingLine, Place, PlannedPart, SourceState};
use std::fmt::Write;

/// At most this many findings are shown with one build.
const MOST: usize = 12;

/// Formats an event. Returns an empty string for an event that users need not see.
pub fn event(dated: &Dated, style: &Style) -> String {
    let mut out = style.dim(time(dated.at_ms));
    out.push(' ');
    match &dated.event {
        Event::Listening { server, address } => _ = write!(out, "{} listens on {address}", server.name()),
        Event::Source { kind, state, detail, .. } => {
            let state = match state {
                SourceState::Synced => style.green(state.name()),
                SourceState::Missing | SourceState::Empty | SourceState::Forbidden => style.yellow(state.name()),
                SourceState::Error => style.red(state.name()),
            };
            let detail = detail.as_ref().map(|detail| format!(": {}", plain(detail))).unwrap_or_default();
            let _ = write!(out, "{} {state}{detail}", plain(kind));
        }
        Event::Build { version, took_ms, inputs, changed, errors, found, fixed, found_count, fixed_count, resources, requests, edited, .. } => {
            let changes: Vec<String> = changed.iter().map(|(list, number)| count(*number, singular(list))).collect();
            let changes = if changes.is_empty() { "nothing changes".into() } else { format!("{} changed", changes.join(", ")) };
            let errors = if *errors == 0 { "no errors".into() } else { style.red(count(*errors, "error")) };
            let _ = write!(out, "{} {} in {took_ms} ms, {changes}, {errors}", style.bold(version), count(*inputs, "input"));
            let one_by_one = resources.values().map(Vec::len).sum::<usize>() <= MOST;
            for (list, names) in resources.iter().filter(|_| one_by_one) {
                names.iter().for_each(|name| _ = write!(out, "\n    {list} {}", plain(name)));
            }
            edited.iter().take(MOST).for_each(|name| _ = write!(out, "\n    changed: {}", plain(name)));
            if edited.len() > MOST {
                let _ = write!(out, "\n    and {}", count(edited.len() - MOST, "more input"));
            }
            findings(&mut out, found, *found_count, style, |line, style| style.red(line));
            findings(&mut out, fixed, *fixed_count, style, |line, style| style.green(format!("no longer: {line}")));
            requests.iter().for_each(|line| _ = write!(out, "\n    {}", plain(line)));
        }
        Event::Envoy { id, state, gateway } => {
            let state = match state {
                EnvoyState::Connected => style.green("connected"),
                EnvoyState::Gone => style.yellow("gone"),
            };
            let gateway = gateway.as_ref().map(|gateway| format!(" for {gateway}")).unwrap_or_default();
            let _ = write!(out, "Envoy {} {state}{gateway}", plain(id));
        }
        Event::UnknownNode { id, detail, .. } => _ = write!(out, "{} Envoy {}: {}", style.yellow("unknown"), plain(id), plain(detail)),
        Event::Accepted { id, r#type, version, after_ms, .. } => {
            let _ = write!(out, "Envoy {} accepted {} {version} after {after_ms} ms", plain(id), short(r#type));
        }
        Event::Rejected { id, r#type, resource, message, basis, places, .. } => {
            let _ = write!(out, "Envoy {} {} {} {}: {}", plain(id), style.red("rejected"), short(r#type), plain(resource), plain(message));
            if !places.is_empty() {
                let _ = write!(out, "\n  {}:", basis.reason());
            }
            self::places(&mut out, places, style);
        }
        Event::Held { gateway, version } => {
            let _ = write!(
                out,
                "{} {version} of {}: an Envoy rejects a part of it, so Envoys keep the last accepted version of that part",
                style.red("held:"),
                plain(gateway)
            );
        }
        Event::Emptied { gateway, listeners } => {
            let lost = count(*listeners, "listener");
            let _ =
                write!(out, "{} the Envoys of {} lose their listeners ({lost}) and accept no more requests", style.red("emptied:"), plain(gateway));
        }
        Event::Planned { gateway, compared, added, changed, removed, kept, parts, .. } => {
            let (gateway, differ) = (plain(gateway), count(added + changed + removed, "part"));
            let _ = write!(out, "Application Gateway {gateway} is to change in {differ}: {added} added, {changed} changed, {removed} removed");
            let _ = write!(out, ", {kept} of others kept");
            if !compared {
                out.push_str(" (how it is now is not known: give --gateway-id or --existing-gateway)");
            }
            planned(&mut out, parts, style);
        }
        Event::Unplanned { gateway, message } => _ = write!(out, "Application Gateway {}: {}", plain(gateway), plain(message)),
        Event::Applied { gateway, version, took_ms, parts } => {
            let what = style.green("applied:");
            let _ = write!(out, "{what} {version} to {}, {} in {took_ms} ms", plain(gateway), count(*parts, "part"));
        }
        Event::ApplyFailed { gateway, message, retry_ms } => {
            let what = style.red("not applied:");
            let _ = write!(out, "{what} {}: {}; tried again in {retry_ms} ms", plain(gateway), plain(message));
        }
        Event::ApplyHeld { gateway, message } => {
            let _ = write!(out, "{} {}: {}", style.red("held:"), plain(gateway), plain(message));
        }
        Event::Withheld { r#type, resource, message, places, .. } => {
            let _ = write!(out, "{} {} {}: {}", style.red("not sent:"), short(r#type), plain(resource), plain(message));
            self::places(&mut out, places, style);
        }
    }
    out
}

fn findings(out: &mut String, all: &[FindingLine], total: usize, style: &Style, paint: impl Fn(String, &Style) -> String) {
    for finding in all.iter().take(MOST) {
        let place = if finding.file.is_empty() { String::new() } else { format!("{}:{}: ", finding.file, finding.line) };
        let _ = write!(out, "\n    {}", paint(plain(&format!("{place}{}: {} ({})", finding.severity, finding.message, finding.code)).into(), style));
    }
    // A server of an older version does not count them.
    let total = total.max(all.len());
    if total > MOST {
        let _ = write!(out, "\n    and {}", count(total - MOST, "more finding"));
    }
}

fn planned(out: &mut String, parts: &[PlannedPart], style: &Style) {
    for part in parts.iter().take(MOST) {
        let line = plain(&format!("{} {} {}, {}", part.change, part.kind, part.name, part.owner)).into_owned();
        let line = match &*part.change {
            "added" => style.green(line),
            "removed" => style.red(line),
            _ => style.yellow(line),
        };
        let _ = write!(out, "\n    {line}");
        part.fields.iter().for_each(|field| _ = write!(out, "\n        {}", plain(field)));
    }
    if parts.len() > MOST {
        let _ = write!(out, "\n    and {}", count(parts.len() - MOST, "more part"));
    }
}

fn places(out: &mut String, places: &[Place], style: &Style) {
    for place in places {
        let field = if place.field.is_empty() { String::new() } else { format!(", {}", place.field) };
        let text = format!("{}:{}:{} {}{field}", place.file, place.line, place.column, place.object);
        let _ = write!(out, "\n    {}", style.cyan(plain(&text)));
    }
}

/// The word for one of a list.
fn singular(list: &str) -> &str {
    list.strip_suffix('s').filter(|word| !word.ends_with('s')).unwrap_or(list)
}

/// The last word of a type's URL.
fn short(type_url: &str) -> &str {
    type_url.rsplit('.').next().unwrap_or(type_url)
}

/// The time of day, in UTC.
fn time(at_ms: u64) -> String {
    let seconds = at_ms / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
