//! Writes the labels of boxes and measures their width. Does not place boxes; see `layout`.

use super::Frame;
use crate::{GraphNode, NodeKind};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Space before the text, for the icon.
pub(super) const TEXT_AT: i32 = 34;
/// Space after the text.
const PAD: i32 = 12;
/// The widest box, in a graph and in a story.
const WIDEST: i32 = 268;
const WIDEST_OF_STORY: i32 = 216;
/// The separator of a caption's parts.
const BETWEEN: &str = " \u{b7} ";
/// A part of a caption is cut only if at least this many letters remain.
const SHORTEST: usize = 6;
/// Font sizes of titles, captions and reasons.
pub(super) const TITLE: i32 = 13;
pub(super) const CAPTION: i32 = 11;

/// Builds the box of a node. `limit` is the maximum width that small text may cause, if it is less than the general maximum.
pub(super) fn frame(node: &GraphNode, supporting: bool, compact: bool, limit: Option<i32>) -> Frame {
    let (mut caption, mut title) = caption_and_title(node);
    // The first clause names the problem; details follow on request.
    let mut reason: String = node.reason.as_deref().and_then(|reason| reason.split("; ").next()).unwrap_or_default().into();
    let mut note = note(node);
    let height = match (compact, reason.is_empty() && note.is_empty()) {
        (true, _) => 24,
        (false, true) => 42,
        (false, false) => 56,
    };
    if compact {
        // With one line, the icon shows the kind of Envoy's parts, and a word shows the kind of resources.
        if let Some(resource) = node.resource.as_ref().filter(|_| !is_rule(node) && node.folded.is_none()) {
            title = format!("{} {title}", resource.kind);
        }
    }
    let widest = if node.lane.is_some() { WIDEST_OF_STORY } else { WIDEST };
    title = cut(&title, TITLE, widest - TEXT_AT - PAD);
    // A box that a title makes wide has room for longer small texts.
    let room = limit.map_or(widest - TEXT_AT - PAD, |limit| (widest.min(limit) - TEXT_AT - PAD).max(measure(&title, TITLE)));
    caption = fitting(&caption, room);
    if !compact {
        reason = cut(&reason, CAPTION, room);
        note = cut(&note, CAPTION, room);
    }
    let small = if compact { 0 } else { [&caption, &reason, &note].into_iter().map(|text| measure(text, CAPTION)).max().unwrap_or_default() };
    let text = measure(&title, TITLE).max(small);
    Frame {
        id: node.id.to_string(),
        kind: node.kind,
        caption,
        title,
        reason,
        note,
        x: 0,
        y: 0,
        width: (TEXT_AT + text + PAD).clamp(if compact { 90 } else { 120 }, widest),
        height,
        assumed: node.is_assumed(),
        faint: matches!(node.state, Some("ignored" | "shadowed")),
        supporting,
        errors: node.errors,
        warnings: node.warnings,
    }
}

/// Returns the conditions of a rule except its path, and its action instead of forwarding.
fn note(node: &GraphNode) -> String {
    match is_rule(node) {
        true => node.label.lines().nth(2).unwrap_or_default().into(),
        false => String::new(),
    }
}

/// Whether the node is a rule of a story: its label has the path, its maker and the conditions.
fn is_rule(node: &GraphNode) -> bool {
    node.kind == NodeKind::Route && node.lane.is_some() && node.folded.is_none()
}

/// Returns caption and title.
fn caption_and_title(node: &GraphNode) -> (String, String) {
    if is_rule(node) {
        let mut lines = node.label.lines();
        let path = lines.next().unwrap_or_default();
        return (lines.next().unwrap_or_default().into(), path.into());
    }
    if node.folded.is_some() && (node.lane.is_some() || node.resource.is_some()) {
        let mut lines = node.label.lines();
        let title = lines.next().unwrap_or_default().into();
        return (lines.next().unwrap_or("group").into(), title);
    }
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
        // A second line distinguishes it from others of its name.
        let caption = node.label.lines().nth(1).into_iter().fold(caption, |caption, apart| format!("{caption}{BETWEEN}{apart}"));
        let title = match resource.name.is_empty() {
            true => "(no name)".into(),
            // A story shows the port as well.
            false if node.lane.is_some() && node.label.starts_with(&format!("{}:", resource.name)) => node.label.clone(),
            false => resource.name.to_string(),
        };
        return (caption, title);
    }
    let kind = match node.kind {
        NodeKind::Listener => "listener",
        NodeKind::FilterChain => "filter chain",
        NodeKind::VirtualHost => "virtual host",
        NodeKind::Route => "route",
        NodeKind::Cluster if node.lane.is_some() => "upstream",
        NodeKind::Cluster => "cluster",
        NodeKind::Endpoint => "endpoint",
        NodeKind::Secret => "secret",
        NodeKind::Missing => "not there",
        NodeKind::Resource | NodeKind::Created => "",
    };
    if let (Some(gateway), Some(_), NodeKind::Cluster) = (&node.gateway, node.lane, node.kind) {
        return (format!("of {gateway}"), node.label.lines().next().unwrap_or_default().into());
    }
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

/// Shortens a caption to a width: keeps its kind, and drops whole detail parts; the last part is kept longest. The first detail part is cut if its
/// beginning fits, since boxes differ in the last part.
fn fitting(caption: &str, width: i32) -> String {
    let mut parts: Vec<&str> = caption.split(BETWEEN).collect();
    while parts.len() > 2 && measure(&parts.join(BETWEEN), CAPTION) > width {
        parts.remove(1);
    }
    if let [first, last] = parts[..]
        && measure(&parts.join(BETWEEN), CAPTION) > width
    {
        let room = width - measure(&format!("{BETWEEN}{last}"), CAPTION);
        let first = cut(first, CAPTION, room.max(0));
        if first.chars().count() > SHORTEST {
            return format!("{first}{BETWEEN}{last}");
        }
        parts.pop();
    }
    cut(&parts.join(BETWEEN), CAPTION, width)
}

/// Cuts a text at its end to fit into a width.
fn cut(text: &str, size: i32, width: i32) -> String {
    // Replaces line ends and characters that XML forbids.
    let clean = || text.chars().map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c });
    let bold = if size == TITLE { BOLD } else { 100 };
    let mut room = i64::from(width) * 100_000 / i64::from(size) / bold;
    if clean().map(thousandths).sum::<i64>() <= room {
        return clean().collect();
    }
    room -= thousandths('\u{2026}');
    let mut out: String = clean()
        .take_while(|c| {
            room -= thousandths(*c);
            room >= 0
        })
        .collect();
    out.push('\u{2026}');
    out
}

/// Returns the maximum width of a text. The viewer's sans-serif font is unknown; of the usual fonts DejaVu is the widest.
fn measure(text: &str, size: i32) -> i32 {
    let width = text.chars().map(thousandths).sum::<i64>() * i64::from(size) / 1000;
    let width = if size == TITLE { width * BOLD / 100 } else { width };
    i32::try_from(width).unwrap_or(WIDEST) + 1
}

/// How much wider bold letters are, in per cent: titles are bold if a font has no semi-bold weight.
const BOLD: i64 = 113;

/// Returns the width of a character in DejaVu Sans, in thousandths of its size, rounded up.
fn thousandths(c: char) -> i64 {
    match c {
        'i' | 'j' | 'l' | '\'' | 'I' => 300,
        'f' | 't' | '.' | ',' | ':' | ';' | '!' | '/' | '\\' | ' ' | '[' | ']' | '|' | '-' | '\u{b7}' => 430,
        'r' | '(' | ')' | '*' | '"' | '`' | '_' => 500,
        'm' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 1000,
        'w' | '~' | '+' | '=' | '<' | '>' => 840,
        'A'..='Z' => 790,
        '\u{1100}'.. => 1050,
        _ => 640,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths in DejaVu Sans, bold and regular, in thousandths of the size.
    const DEJAVU: [(char, i64, i64); 20] = [
        ('a', 613, 675),
        ('c', 550, 593),
        ('e', 615, 678),
        ('i', 278, 343),
        ('l', 278, 343),
        ('m', 974, 1042),
        ('o', 612, 687),
        ('r', 411, 493),
        ('s', 521, 595),
        ('t', 392, 478),
        ('u', 634, 712),
        ('w', 818, 924),
        ('A', 684, 774),
        ('H', 752, 837),
        ('M', 863, 995),
        ('0', 636, 696),
        ('-', 361, 415),
        ('_', 500, 500),
        ('/', 337, 365),
        ('.', 318, 380),
    ];

    #[test]
    fn caption_drops_whole_parts_before_letters() {
        let whole = "Service \u{b7} shop \u{b7} not there";
        assert_eq!(fitting(whole, WIDEST), whole);
        assert_eq!(fitting(whole, measure(whole, CAPTION) - 1), "Service \u{b7} not there");
        assert_eq!(fitting(whole, measure("Service", CAPTION)), "Service");
        let of_proxy = "orders-1-sidecar-proxy \u{b7} listener \u{b7} 0.0.0.0:21001";
        assert_eq!(fitting(of_proxy, 200), "orders-1-sidec\u{2026} \u{b7} 0.0.0.0:21001", "the part that differs stays whole");
        assert_eq!(fitting("HTTPProxy \u{b7} shop", measure("HTTPProx", CAPTION)), "HTTPPr\u{2026}");
    }

    #[test]
    fn box_width_fits_widest_common_font() {
        for (c, plain, bold) in DEJAVU {
            assert!(thousandths(c) >= plain, "{c}");
            assert!(thousandths(c) * BOLD / 100 + 10 >= bold, "{c}");
        }
        let text = "cluster_recommendations_shop_8080_default";
        let width = |of: fn(&(char, i64, i64)) -> i64| text.chars().filter_map(|c| DEJAVU.iter().find(|known| known.0 == c)).map(of).sum::<i64>();
        assert!(i64::from(measure(text, TITLE)) * 1000 >= width(|known| known.2) * i64::from(TITLE));
        assert!(i64::from(measure(text, CAPTION)) * 1000 >= width(|known| known.1) * i64::from(CAPTION));
    }
}
