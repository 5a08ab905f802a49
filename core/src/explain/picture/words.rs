//! What is written in a box, and how much room it takes.
//!
//! What must not be here: where boxes go.

use super::Frame;
use crate::explain::{GraphNode, NodeKind};
use alloc::format;
use alloc::string::{String, ToString};

/// Room before the text, for the icon.
pub(super) const TEXT_AT: i32 = 34;
/// Room after the text.
const PAD: i32 = 12;
/// The widest box.
const WIDEST: i32 = 236;
/// Size of letters: of titles, of captions, of reasons.
pub(super) const TITLE: i32 = 13;
pub(super) const CAPTION: i32 = 10;

pub(super) fn frame(node: &GraphNode, supporting: bool, compact: bool) -> Frame {
    let (mut caption, mut title) = texts(node);
    let mut reason = node.reason.clone().unwrap_or_default();
    let height = match (compact, reason.is_empty()) {
        (true, _) => 24,
        (false, true) => 42,
        (false, false) => 56,
    };
    if compact {
        // One line: the icon tells Envoy's kinds, a word those of resources.
        if let Some(resource) = &node.resource {
            title = format!("{} {title}", resource.kind);
        }
    }
    let room = WIDEST - TEXT_AT - PAD;
    title = cut(&title, TITLE, room);
    caption = cut(&caption, CAPTION, room);
    if !compact {
        reason = cut(&reason, CAPTION, room);
    }
    let text = if compact { measure(&title, TITLE) } else { measure(&title, TITLE).max(measure(&caption, CAPTION)).max(measure(&reason, CAPTION)) };
    Frame {
        id: node.id.clone(),
        kind: node.kind,
        caption,
        title,
        reason,
        x: 0,
        y: 0,
        width: (TEXT_AT + text + PAD).clamp(if compact { 90 } else { 120 }, WIDEST),
        height,
        assumed: node.is_assumed(),
        faint: matches!(node.state, Some("ignored" | "shadowed")),
        supporting,
        errors: node.errors,
        warnings: node.warnings,
    }
}

/// Caption and title.
fn texts(node: &GraphNode) -> (String, String) {
    if let Some(resource) = &node.resource {
        let mut caption = resource.kind.to_string();
        if let Some(namespace) = resource.namespace.as_deref().filter(|namespace| !namespace.is_empty() && *namespace != "default") {
            caption = format!("{caption} \u{b7} {namespace}");
        }
        match (node.kind, node.state) {
            (NodeKind::Missing, Some(_)) => {}
            (NodeKind::Missing, _) => caption.push_str(" \u{b7} not there"),
            (NodeKind::Created, _) => caption.push_str(" \u{b7} created"),
            (_, Some(state @ ("invalid" | "ignored" | "shadowed"))) => caption = format!("{caption} \u{b7} {state}"),
            _ => {}
        }
        let title = if resource.name.is_empty() { "(no name)".into() } else { resource.name.to_string() };
        return (caption, title);
    }
    let kind = match node.kind {
        NodeKind::Listener => "listener",
        NodeKind::FilterChain => "filter chain",
        NodeKind::VirtualHost => "virtual host",
        NodeKind::Route => "route",
        NodeKind::Cluster => "cluster",
        NodeKind::Endpoint => "endpoint",
        NodeKind::Secret => "secret",
        NodeKind::Missing => "not there",
        NodeKind::Resource | NodeKind::Created => "",
    };
    let kind = &node.gateway.as_ref().map_or_else(|| kind.to_string(), |gateway| format!("{gateway} \u{b7} {kind}"));
    let mut lines = node.label.lines();
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    if node.folded.is_some() {
        return (second.map_or_else(|| "folded".into(), |more| format!("folded \u{b7} {more}")), first.into());
    }
    match (node.kind, second) {
        (NodeKind::FilterChain, Some(names)) => (format!("{kind} \u{b7} {first}"), names.into()),
        (_, Some(more)) => (format!("{kind} \u{b7} {more}"), first.into()),
        (_, None) => (kind.clone(), first.into()),
    }
}

/// Text that fits into a width, cut at its end if need be.
fn cut(text: &str, size: i32, width: i32) -> String {
    // What no XML may hold, and line ends.
    let clean = || text.chars().map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c });
    if clean().map(thousandths).sum::<i64>() * i64::from(size) <= i64::from(width) * 1000 {
        return clean().collect();
    }
    let mut room = (i64::from(width) * 1000 / i64::from(size)) - thousandths('\u{2026}');
    let mut out: String = clean()
        .take_while(|c| {
            room -= thousandths(*c);
            room >= 0
        })
        .collect();
    out.push('\u{2026}');
    out
}

/// About how wide a text is in a sans-serif face.
fn measure(text: &str, size: i32) -> i32 {
    let width = text.chars().map(thousandths).sum::<i64>() * i64::from(size) / 1000;
    i32::try_from(width).unwrap_or(WIDEST) + 1
}

/// About how wide a character is, in thousandths of its size.
fn thousandths(c: char) -> i64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 260,
        'f' | 't' | 'I' | '.' | ',' | ':' | ';' | '!' | '/' | '\\' | ' ' | '[' | ']' | '\u{b7}' => 320,
        'r' | '(' | ')' | '-' | '*' | '"' | '`' => 400,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 920,
        'A'..='Z' | '~' | '+' | '=' | '<' | '>' => 690,
        '\u{1100}'.. => 1050,
        _ => 580,
    }
}
