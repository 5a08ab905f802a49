//! Differences as human-readable text.
//!
//! Does not compare; see `compared`.

use super::compared::{Differences, GatewayDifference, GatewayState};
use crate::dump;
use crate::style::{Style, count, plain, some};
use chancery_core::compare::{Change, ChangeKind, KeptPart, RequestChange, Requests, SettingView};
use chancery_core::compilation::Restart;
use chancery_core::envoy_config::Running;
use chancery_core::explain::OriginView;
use std::collections::HashMap;
use std::fmt::Write;

/// At most this many fields of one thing are shown.
const MOST_FIELDS: usize = 12;

/// At most this many ways in which requests change are shown, the most important first.
const MOST_WAYS: usize = 40;

/// At most this many resources with the same change are shown in full. If there are more, one is shown in full and this many by name.
const ALIKE: usize = 4;

pub fn report(differences: &Differences, running: Option<&Running>, style: &Style) -> String {
    compared(differences, running, "Envoy has what the source says.", style)
}

/// The same, with this sentence if nothing differs.
pub fn compared(differences: &Differences, running: Option<&Running>, same: &'static str, style: &Style) -> String {
    let mut out = String::new();
    if running.is_some() && !differences.is_empty() {
        let _ = writeln!(out, "{}", style.dim("- is what Envoy should have, + is what it has\n"));
    }
    changes(&mut out, "Resources", &differences.resources, style);
    if let Some(only) = differences.only() {
        changes(&mut out, only.make.title(), &only.envoy, style);
        kept(&mut out, &only.kept, style);
    }
    of_settings(&mut out, &differences.settings, style);
    if let Some(running) = running {
        out.push_str(&dump::updates(running, style));
        if differences.is_empty() {
            let _ = writeln!(out, "{}", differences.nothing(same));
        }
    } else if differences.is_empty() {
        let _ = writeln!(out, "{}", differences.nothing("Nothing differs."));
    } else if differences.is_same_for_envoy() {
        let _ = writeln!(out, "{}", differences.same());
    } else if let Some(only) = differences.only() {
        only.requests.iter().for_each(|requests| out.push_str(&of_requests(requests, style)));
    } else {
        gateways(&mut out, &differences.gateways, style);
    }
    differences.limits().into_iter().for_each(|limit| _ = writeln!(out, "{limit}"));
    out
}

/// Shows request changes, and at most this many changed parts of each gateway.
pub fn effects(differences: &Differences, most: usize, style: &Style) -> String {
    let mut out = String::new();
    for of in differences.gateways.iter().filter(|of| !of.is_empty()) {
        if let Some(name) = &of.gateway {
            let _ = writeln!(out, "{}", style.heading(plain(name)));
        }
        match of.state {
            GatewayState::Added => drop(writeln!(out, "{} this gateway is new", style.green("+"))),
            GatewayState::Removed => drop(writeln!(out, "{} this gateway is gone", style.red("-"))),
            GatewayState::Compared => {
                of.requests.iter().for_each(|requests| out.push_str(&of_requests(requests, style)));
                out.push('\n');
                some_changes(&mut out, of.make.title(), &of.envoy, most, style);
            }
        }
    }
    differences.limits().into_iter().for_each(|limit| _ = writeln!(out, "{limit}"));
    out
}

/// Shows each changed gateway under its name, and the others in one line.
fn gateways(out: &mut String, all: &[GatewayDifference], style: &Style) {
    for of in all.iter().filter(|of| !of.is_empty()) {
        let _ = writeln!(out, "{}", style.heading(plain(of.gateway.as_deref().unwrap_or_default())));
        match of.state {
            GatewayState::Added => drop(writeln!(out, "{} this gateway is new\n", style.green("+"))),
            GatewayState::Removed => drop(writeln!(out, "{} this gateway is gone\n", style.red("-"))),
            GatewayState::Compared => {
                out.push('\n');
                changes(out, of.make.title(), &of.envoy, style);
                kept(out, &of.kept, style);
                of.requests.iter().for_each(|requests| out.push_str(&of_requests(requests, style)));
                out.push('\n');
            }
        }
    }
    let same: Vec<&str> = all.iter().filter(|of| of.is_empty()).filter_map(|of| of.gateway.as_deref()).collect();
    if !same.is_empty() {
        let _ = writeln!(out, "{}", style.dim(plain(&format!("Nothing changes for {}: {}", count(same.len(), "gateway"), some(&same)))));
    }
}

/// Parts that have other owners and stay.
fn kept(out: &mut String, all: &[KeptPart], style: &Style) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}  {}", style.bold("Unchanged"), style.dim(format!("{} of others", count(all.len(), "part"))));
    for part in all {
        let _ = writeln!(out, "  = {} {}", part.kind, style.bold(plain(&part.name)));
    }
    out.push('\n');
}

fn changes(out: &mut String, title: &str, changes: &[Change], style: &Style) {
    some_changes(out, title, changes, usize::MAX, style);
}

/// Shows at most this many changes, and the number of further changes.
fn some_changes(out: &mut String, title: &str, changes: &[Change], most: usize, style: &Style) {
    if changes.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}  {}", style.bold(title), style.dim(summary(changes)));
    let alike = alike(changes);
    for (change, others) in alike.iter().take(most) {
        one(out, change, style);
        write_same_changes(out, others, style);
    }
    if alike.len() > most {
        let _ = writeln!(out, "  {}", style.dim(format!("... and {} more", alike.len() - most)));
    }
    out.push('\n');
}

fn of_settings(out: &mut String, all: &[SettingView], style: &Style) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}  {}", style.bold("What the controller does with its own configuration"), style.dim(settings(all)));
    for setting in all {
        let _ = writeln!(out, "  {} {} {}", style.yellow("~"), style.bold(plain(&setting.path)), style.dim(setting.restart.words()));
        for (sign, value) in [("-", &setting.before), ("+", &setting.after)] {
            if let Some(value) = value {
                let value = plain(value);
                let _ = writeln!(out, "        {sign} {}", if sign == "-" { style.red(value) } else { style.green(value) });
            }
        }
    }
    out.push('\n');
}

/// Requests that are treated differently.
pub fn of_requests(requests: &Requests, style: &Style) -> String {
    let mut out = String::new();
    if requests.is_empty() {
        let tried = match requests.compared {
            0 if !requests.limits.is_empty() => String::new(),
            0 => "Nothing that decides about requests differs, so none was tried.".into(),
            1 => "1 request was tried.".into(),
            tried => format!("{tried} requests were tried."),
        };
        let _ = writeln!(out, "{} {}", style.bold(unchanged(requests)), style.dim(tried));
    } else {
        let tried = match requests.compared {
            0 => "found by comparing settings; none was tried".into(),
            tried => format!("{} tried", count(tried, "request")),
        };
        let _ = writeln!(out, "{}  {}, {}", style.bold("Requests that change"), style.dim(kinds(requests)), style.dim(tried));
        requests.changes.iter().take(MOST_WAYS).for_each(|change| of_request(&mut out, change, style));
        if requests.changes.len() > MOST_WAYS {
            let more = format!("... and {}; --format json has them all", count(requests.changes.len() - MOST_WAYS, "more way"));
            let _ = writeln!(out, "  {}", style.dim(more));
        }
    }
    for limit in &requests.limits {
        let _ = writeln!(out, "  {}", style.dim(plain(limit)));
    }
    out
}

/// Returns the message if no changed request was found. Claims no more than was checked.
pub fn unchanged(requests: &Requests) -> &'static str {
    match (requests.complete, requests.limits.is_empty()) {
        (_, false) if requests.compared == 0 => "No request was tried.",
        (true, true) => "No request changes.",
        (true, false) => "No request was found that changes, within limits.",
        (false, _) => "No request that was tried changes, and not all were tried.",
    }
}

/// `2 ways`.
pub fn kinds(requests: &Requests) -> String {
    format!("in {}", count(requests.changes.len(), "way"))
}

/// Returns how many requests were tried, or why none was needed.
pub fn tried(requests: &Requests) -> Option<String> {
    match requests.compared {
        0 if requests.limits.is_empty() => Some("nothing that decides about them differs".into()),
        0 => None,
        compared => Some(format!("{} tried", count(compared, "request"))),
    }
}

fn of_request(out: &mut String, change: &RequestChange, style: &Style) {
    let _ = writeln!(out, "  {} {}", style.yellow("~"), style.bold(plain(&change.requests)));
    for difference in change.differences.iter().take(MOST_FIELDS) {
        let _ = writeln!(out, "      {}", plain(&difference.what));
        let before = difference.before_from.as_ref().or(change.before.origins.first());
        let after = difference.after_from.as_ref().or(change.after.origins.first());
        for (sign, value, from) in [("-", &difference.before, before), ("+", &difference.after, after)] {
            if let Some(value) = value {
                let value = plain(value);
                let shown = if sign == "-" { style.red(value) } else { style.green(value) };
                let _ = writeln!(out, "        {sign} {shown}{}", style.dim(place_of(from)));
            }
        }
    }
    if change.differences.len() > MOST_FIELDS {
        let _ = writeln!(out, "      {}", style.dim(format!("... and {}", count(change.differences.len() - MOST_FIELDS, "more difference"))));
    }
    let _ = writeln!(out, "      {}", style.dim(plain(&change.witness.curl)));
}

/// `2 added, 1 changed`.
pub fn summary(changes: &[Change]) -> String {
    let all = [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Renamed, ChangeKind::Moved];
    let counts = all.map(|kind| (changes.iter().filter(|change| change.change == kind).count(), kind.name()));
    counts.iter().filter(|(number, _)| *number > 0).map(|(number, name)| format!("{number} {name}")).collect::<Vec<_>>().join(", ")
}

/// Returns what must restart for these changes.
pub fn settings(changes: &[SettingView]) -> &'static str {
    match changes.iter().map(|change| change.restart).max() {
        Some(Restart::Process) => "the controller's process must restart",
        Some(Restart::Controllers) => "the controller's controllers must restart",
        _ => "nothing must restart",
    }
}

/// Groups changes that change the same fields from and to the same values. Groups of at most `ALIKE` changes stay separate.
fn alike(changes: &[Change]) -> Vec<(&Change, Vec<&Change>)> {
    let key = |change: &Change| -> Vec<String> {
        let fields = change.fields.iter().flat_map(|field| [Some(field.path.clone()), field.before.clone(), field.after.clone()]);
        [change.change.name().into(), change.kind.clone()].into_iter().chain(fields.map(Option::unwrap_or_default)).collect()
    };
    let mut groups: HashMap<Vec<String>, Vec<&Change>> = HashMap::new();
    for change in changes.iter().filter(|change| !change.fields.is_empty()) {
        groups.entry(key(change)).or_default().push(change);
    }
    let first_of_group = |change| {
        let Some((first, others)) = groups.get(&key(change)).filter(|all| all.len() > ALIKE).and_then(|all| all.split_first()) else {
            return Some((change, Vec::new()));
        };
        std::ptr::eq(*first, change).then(|| (change, others.to_vec()))
    };
    changes.iter().filter_map(first_of_group).collect()
}

fn write_same_changes(out: &mut String, others: &[&Change], style: &Style) {
    let Some(one) = others.first() else { return };
    let names: Vec<&str> = others.iter().take(ALIKE).map(|other| other.name.as_str()).collect();
    let more = if others.len() > ALIKE { ", ..." } else { "" };
    let others = format!("and so do {} more of kind {}: {}{more}", others.len(), one.kind, names.join(", "));
    let _ = writeln!(out, "      {}", style.dim(plain(&others)));
}

fn one(out: &mut String, change: &Change, style: &Style) {
    let sign = match change.change {
        ChangeKind::Added => style.green("+"),
        ChangeKind::Removed => style.red("-"),
        ChangeKind::Changed => style.yellow("~"),
        ChangeKind::Renamed | ChangeKind::Moved => style.cyan(">"),
    };
    let note = was(change).or_else(|| change.note.clone());
    let was = note.map(|note| format!("  {note}")).unwrap_or_default();
    let place = place(change.after.first().or(change.before.first()));
    let _ = writeln!(out, "  {sign} {} {}{}{}", change.kind, style.bold(plain(&change.name)), style.dim(plain(&was)), style.dim(place));
    for field in change.fields.iter().take(MOST_FIELDS) {
        let _ = writeln!(out, "      {}", plain(&field.path));
        for (sign, value, from) in [("-", &field.before, &field.before_from), ("+", &field.after, &field.after_from)] {
            if let Some(value) = value {
                let value = plain(value);
                let shown = if sign == "-" { style.red(value) } else { style.green(value) };
                let _ = writeln!(out, "        {sign} {shown}{}", style.dim(place_of(from.as_ref())));
            }
        }
    }
    if change.fields.len() > MOST_FIELDS {
        let _ = writeln!(out, "      {}", style.dim(format!("... and {}", count(change.fields.len() - MOST_FIELDS, "more field"))));
    }
}

/// Returns the former name or value, with the change's note.
pub fn was(change: &Change) -> Option<String> {
    let word = if change.change == ChangeKind::Renamed { "was" } else { "from" };
    let note = change.note.iter().flat_map(|note| ["; ", note]);
    change.was.as_ref().map(|was| [word, " ", was].into_iter().chain(note).collect())
}

fn place(origin: Option<&OriginView>) -> String {
    place_of(origin)
}

fn place_of(origin: Option<&OriginView>) -> String {
    origin.and_then(|origin| origin.span.as_ref()).map(|span| plain(&format!("  {}:{}", span.file, span.line)).into_owned()).unwrap_or_default()
}
