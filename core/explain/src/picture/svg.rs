//! Writes the picture as SVG: one file without scripts or fonts, in light or dark as the viewer prefers.
//!
//! Icon and caption show the kind, supported by a muted hue. Missing objects have a dashed box, and objects with problems have a badge.
//!
//! Does not place boxes; see `layout`.

use super::labels::{CAPTION, TEXT_AT, TITLE};
use super::{EdgePath, Frame, Picture, ShareLabel, effects_at, share_labels};
use crate::layout::curve;
use crate::{NodeKind, Relation};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::markup;
use core::fmt::Write as _;

/// Margin around the picture.
const MARGIN: i32 = 28;
/// Height of the legend.
const LEGEND: i32 = 44;

const STYLE: &str = "\
text{font-family:Inter,'Helvetica Neue',Helvetica,Arial,'Liberation Sans',Roboto,'Segoe UI',system-ui,sans-serif;fill:#1b2430}\
.bg{fill:#fafbfc}.t{font-weight:600}.c{fill:#697586;letter-spacing:.2px}.r{fill:#b3372f;font-style:italic}.band{fill:#697586;letter-spacing:.6px;font-weight:600}\
.rule{stroke:#dfe4ea}\
.b{fill:#fff;stroke:#cbd3dc}.i{fill:none;stroke:#697586;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}.d{fill:#697586;stroke:none}\
.l{fill:none;stroke:#7b8899;stroke-width:1.3}.a{fill:#7b8899}.s{fill:#1b2430;paint-order:stroke;stroke:#fafbfc;stroke-width:3px}\
.selects{stroke-dasharray:5 4}.owns{stroke-dasharray:2 3}.makes{stroke-dasharray:1 4;stroke-linecap:round;stroke-width:1.7}.uses{stroke-dasharray:8 3 2 3}\
.lost{stroke:#cf5b52}.cycle{stroke:#cf5b52;stroke-width:2}\
.allows{stroke:#2f8f4e}.decides{stroke:#a86f10}.denies{stroke:#cf5b52;stroke-dasharray:6 4}\
.listener .b{stroke:#7fa3cc}.listener .i{stroke:#35689f}.listener .d{fill:#35689f}\
.filter_chain .b{stroke:#9aa7d6}.filter_chain .i{stroke:#4e5fa8}.filter_chain .d{fill:#4e5fa8}\
.virtual_host .b{stroke:#7fb5ad}.virtual_host .i{stroke:#2d7d71}.virtual_host .d{fill:#2d7d71}\
.route .b{stroke:#cdb075}.route .i{stroke:#8f6a14}.route .d{fill:#8f6a14}\
.cluster .b{stroke:#b79bc9}.cluster .i{stroke:#7a4b96}.cluster .d{fill:#7a4b96}\
.endpoint .b{stroke:#8fb88c}.endpoint .i{stroke:#3f7d3a}.endpoint .d{fill:#3f7d3a}\
.secret .b{stroke:#c79aa4}.secret .i{stroke:#95485a}.secret .d{fill:#95485a}\
.created .b{stroke:#a9b4c0;stroke-dasharray:2 3}\
.missing .b{fill:none;stroke:#cf5b52;stroke-dasharray:5 4}.missing .i{stroke:#cf5b52}.missing .d{fill:#cf5b52}\
.assumed .b{stroke:#a9b4c0}.assumed .r{fill:#697586}.faint{opacity:.5}.bad .b{stroke:#cf5b52}\
.error{fill:#c93b31}.warning{fill:#b7791f}.n{fill:#fff;font-weight:700}\
.g:hover .b{stroke-width:2}.l:hover{stroke-width:2.6}\
@media (prefers-color-scheme:dark){\
text{fill:#e4e9ef}.bg{fill:#12161c}.c,.band{fill:#93a0b0}.r{fill:#f0857c}.rule{stroke:#2a323d}\
.b{fill:#1b212a;stroke:#3c4755}.i{stroke:#93a0b0}.d{fill:#93a0b0}.l{stroke:#7b8899}.a{fill:#7b8899}.s{stroke:#12161c}\
.lost,.cycle{stroke:#e0685e}\
.listener .b{stroke:#3f618a}.listener .i{stroke:#86b4e6}.listener .d{fill:#86b4e6}\
.filter_chain .b{stroke:#4c5a94}.filter_chain .i{stroke:#a3b0ee}.filter_chain .d{fill:#a3b0ee}\
.virtual_host .b{stroke:#33675f}.virtual_host .i{stroke:#78c8bc}.virtual_host .d{fill:#78c8bc}\
.route .b{stroke:#73592a}.route .i{stroke:#dcb765}.route .d{fill:#dcb765}\
.cluster .b{stroke:#664a7a}.cluster .i{stroke:#c9a1e0}.cluster .d{fill:#c9a1e0}\
.endpoint .b{stroke:#466944}.endpoint .i{stroke:#97cf92}.endpoint .d{fill:#97cf92}\
.secret .b{stroke:#77444f}.secret .i{stroke:#e0a0ae}.secret .d{fill:#e0a0ae}\
.missing .b{fill:none;stroke:#e0685e}.missing .i{stroke:#e0685e}.missing .d{fill:#e0685e}.assumed .b{stroke:#566373}.assumed .r{fill:#93a0b0}.bad .b{stroke:#e0685e}\
.error{fill:#d9534a}.warning{fill:#c98a2b}}";

/// Writes a picture as SVG.
#[must_use]
pub fn svg(picture: &Picture) -> String {
    let legend = legend(picture);
    let legend_width = legend.last().map_or(0, |entry| entry.x + entry.width);
    let width = picture.width.max(legend_width).max(160) + 2 * MARGIN;
    let height = picture.height + 2 * MARGIN + LEGEND;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{} nodes and {} relations\">\n<style>{STYLE}</style>\n",
        picture.frames.len(),
        picture.threads.len()
    );
    out.push_str("<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"a\" d=\"M0 .8L8 4 0 7.2z\"/></marker>\n");
    for kind in NodeKind::ALL.into_iter().filter(|kind| picture.frames.iter().any(|frame| frame.kind == *kind)) {
        let _ = writeln!(out, "<g id=\"{0}\" class=\"{0}\">{1}</g>", kind.name(), icon(kind));
    }
    if picture.frames.iter().any(|frame| frame.assumed) {
        let _ = writeln!(out, "<g id=\"assumed\" class=\"resource\">{}</g>", icon(NodeKind::Missing));
    }
    let _ = write!(out, "</defs>\n<rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>\n<g transform=\"translate({MARGIN} {MARGIN})\">\n");
    if let Some(top) = picture.supporting {
        let y = top - 26;
        let _ = writeln!(
            out,
            "<path class=\"rule\" d=\"M0 {y}H{}\"/><text class=\"band\" x=\"0\" y=\"{}\" font-size=\"11\">SUPPORTING</text>",
            picture.width,
            y + 16
        );
    }
    for ((thread, effect_at), share) in picture.threads.iter().zip(effects_at(picture)).zip(share_labels(picture)) {
        line(&mut out, picture, thread, share.as_ref());
        if let (Some(effect), Some(at)) = (thread.relation.call_effect(), effect_at) {
            let _ = writeln!(out, "<text class=\"s\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{CAPTION}\">{effect}</text>", at.x, at.y);
        }
    }
    for frame in &picture.frames {
        boxed(&mut out, frame, picture.compact);
    }
    let y = picture.height + MARGIN;
    let _ = writeln!(out, "<g transform=\"translate(0 {y})\">");
    for entry in &legend {
        let _ = writeln!(
            out,
            "<g class=\"g {}\" transform=\"translate({} 0)\">{}<text class=\"c\" x=\"{}\" y=\"12\" font-size=\"11\">{}</text></g>",
            entry.class, entry.x, entry.sign, entry.text_at, entry.text
        );
    }
    out.push_str("</g>\n</g>\n</svg>\n");
    out
}

/// Returns the width of a line, by the share of the requests that follow it.
#[must_use]
pub fn line_width(share: Option<u32>) -> f64 {
    share.map_or(1.3, |share| 1.2 + 2.8 * f64::from(share.min(100)) / 100.0)
}

fn line(out: &mut String, picture: &Picture, thread: &EdgePath, share: Option<&ShareLabel>) {
    let is_lost = |at: usize| picture.frames.get(at).is_some_and(|frame| frame.kind == NodeKind::Missing && !frame.assumed);
    let mut class = String::from(match thread.relation {
        Relation::Refers | Relation::Holds => "l refers",
        Relation::Owns => "l owns",
        Relation::Selects => "l selects",
        Relation::Makes => "l makes",
        Relation::Forwards => "l forwards",
        Relation::Uses => "l uses",
        Relation::Allows => "l allows",
        Relation::Denies => "l denies",
        Relation::Decides => "l decides",
    });
    if thread.cycle {
        class.push_str(" cycle");
    } else if is_lost(thread.to) {
        class.push_str(" lost");
    }
    let name = |at: usize| picture.frames.get(at).map_or("", |frame| frame.title.as_str());
    let by = if thread.label.is_empty() { String::new() } else { format!(" ({})", thread.label) };
    let said = format!("{} {} {}{by}", name(thread.from), thread.relation.verb(), name(thread.to));
    let width = thread.share.map(|share| format!(" stroke-width=\"{:.1}\"", line_width(Some(share)))).unwrap_or_default();
    let _ = writeln!(
        out,
        "<path class=\"{class}\"{width} marker-end=\"url(#a)\" d=\"{}\"><title>{}</title></path>",
        curve(&thread.points),
        escaped(&said)
    );
    if let Some(ShareLabel { text, at }) = share {
        let _ = writeln!(out, "<text class=\"s\" x=\"{}\" y=\"{}\" font-size=\"{CAPTION}\" text-anchor=\"end\">{}</text>", at.x, at.y, escaped(text));
    }
}

fn boxed(out: &mut String, frame: &Frame, compact: bool) {
    let mut class = format!("g {}", frame.kind.name());
    if frame.assumed {
        class.push_str(" assumed");
    }
    if frame.faint {
        class.push_str(" faint");
    }
    if frame.errors > 0 {
        class.push_str(" bad");
    }
    let Frame { x, y, width, height, .. } = frame;
    let tip = if frame.reason.is_empty() { frame.id.clone() } else { format!("{}: {}", frame.id, frame.reason) };
    let _ = write!(
        out,
        "<g class=\"{class}\" transform=\"translate({x} {y})\"><title>{}</title><rect class=\"b\" width=\"{width}\" height=\"{height}\" rx=\"{}\"/>",
        escaped(&tip),
        if compact { 5 } else { 8 }
    );
    let sign = if frame.assumed { "assumed" } else { frame.kind.name() };
    let _ = write!(out, "<use href=\"#{sign}\" x=\"9\" y=\"{}\"/>", if compact { 4 } else { 13 });
    if compact {
        let _ = write!(out, "<text class=\"t\" x=\"{}\" y=\"16.5\" font-size=\"12\">{}</text>", TEXT_AT - 2, escaped(&frame.title));
    } else {
        let _ = write!(
            out,
            "<text class=\"c\" x=\"{TEXT_AT}\" y=\"16\" font-size=\"{CAPTION}\">{}</text><text class=\"t\" x=\"{TEXT_AT}\" y=\"32\" font-size=\"{TITLE}\">{}</text>",
            escaped(&frame.caption),
            escaped(&frame.title)
        );
        if !frame.note.is_empty() {
            let _ = write!(out, "<text class=\"c\" x=\"{TEXT_AT}\" y=\"48\" font-size=\"{CAPTION}\">{}</text>", escaped(&frame.note));
        }
        if !frame.reason.is_empty() {
            let _ = write!(out, "<text class=\"r\" x=\"{TEXT_AT}\" y=\"47\" font-size=\"{CAPTION}\">{}</text>", escaped(&frame.reason));
        }
    }
    let (count, class) = if frame.errors > 0 { (frame.errors, "error") } else { (frame.warnings, "warning") };
    if count > 0 {
        let (text, half) = badge(count);
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{}\" y=\"-8\" width=\"{}\" height=\"16\" rx=\"8\"/><text class=\"n\" x=\"{width}\" y=\"3.4\" font-size=\"11\" text-anchor=\"middle\">{text}</text>",
            width - half,
            2 * half
        );
    }
    out.push_str("</g>\n");
}

/// Returns the number of findings as a box's badge shows it, and half of the badge's width.
#[must_use]
pub fn badge(count: u32) -> (String, i32) {
    let text = if count > 999 { "999+".into() } else { count.to_string() };
    let half = (4 * text.len() as i32).max(8);
    (text, half)
}

/// Returns an icon of 16 by 16.
fn icon(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Resource => "<path class=\"i\" d=\"M4 1.8h5.2L12.5 5v9.2H4zM9 2v3.3h3.3M6.3 8.3h3.9M6.3 11h3.9\"/>",
        NodeKind::Created => "<path class=\"i\" d=\"M4 1.8h5.2L12.5 5v9.2H4zM9 2v3.3h3.3M8.2 7.2v4.6M5.9 9.5h4.6\"/>",
        NodeKind::Missing => {
            "<path class=\"i\" d=\"M5.5 5.6a2.5 2.5 0 1 1 3.7 2.2c-.8.5-1.2 1-1.2 1.9\"/><circle class=\"d\" cx=\"8\" cy=\"12.6\" r=\"1\"/>"
        }
        NodeKind::Listener => "<path class=\"i\" d=\"M9.5 2.2h4v11.6h-4M1.8 8h7.4M6.3 5l3 3-3 3\"/>",
        NodeKind::FilterChain => {
            "<rect class=\"i\" x=\"1.5\" y=\"5.5\" width=\"7.5\" height=\"5\" rx=\"2.5\"/><rect class=\"i\" x=\"7\" y=\"5.5\" width=\"7.5\" height=\"5\" rx=\"2.5\"/>"
        }
        NodeKind::VirtualHost => {
            "<circle class=\"i\" cx=\"8\" cy=\"8\" r=\"6.2\"/><path class=\"i\" d=\"M1.8 8h12.4M8 1.8c-4 4-4 8.4 0 12.4M8 1.8c4 4 4 8.4 0 12.4\"/>"
        }
        NodeKind::Route => "<path class=\"i\" d=\"M1.8 8h4c3 0 2.8-4.5 6-4.5h1.8M5.8 8c3 0 2.8 4.5 6 4.5h1.8M11.8 1.5l2 2-2 2M11.8 10.5l2 2-2 2\"/>",
        NodeKind::Cluster => "<path class=\"i\" d=\"M8 1.8l6.2 3L8 7.8 1.8 4.8zM1.8 8L8 11l6.2-3M1.8 11.2l6.2 3 6.2-3\"/>",
        NodeKind::Endpoint => "<circle class=\"i\" cx=\"8\" cy=\"8\" r=\"6\"/><circle class=\"d\" cx=\"8\" cy=\"8\" r=\"2.3\"/>",
        NodeKind::Secret => "<circle class=\"i\" cx=\"4.8\" cy=\"8\" r=\"3\"/><path class=\"i\" d=\"M7.8 8h6.7v3M11.5 8v2.2\"/>",
    }
}

/// One entry of the legend.
struct Entry {
    class: &'static str,
    sign: String,
    text_at: i32,
    text: &'static str,
    x: i32,
    width: i32,
}

/// Explains the signs that the picture contains.
fn legend(picture: &Picture) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut x = 0;
    let mut add = |class, sign: String, text_at: i32, text: &'static str| {
        let width = text_at + text.len() as i32 * 7 + 20;
        entries.push(Entry { class, sign, text_at, text, x, width });
        x += width;
    };
    for kind in NodeKind::ALL.into_iter().filter(|kind| picture.frames.iter().any(|frame| frame.kind == *kind && !frame.assumed)) {
        let text = match kind {
            NodeKind::Resource => "what you wrote",
            NodeKind::FilterChain => "filter chain",
            NodeKind::VirtualHost => "virtual host",
            NodeKind::Missing => "not there",
            NodeKind::Created => "created objects",
            kind => kind.name(),
        };
        add(kind.name(), format!("<use href=\"#{}\"/>", kind.name()), 22, text);
    }
    if picture.frames.iter().any(|frame| frame.assumed) {
        add("", "<use href=\"#assumed\"/>".into(), 22, "not in the input");
    }
    let relations = [
        (&[Relation::Forwards][..], "forwards", "requests go"),
        (&[Relation::Makes][..], "makes", "makes"),
        (&[Relation::Owns][..], "owns", "owns"),
        (&[Relation::Selects][..], "selects", "selects"),
        (&[Relation::Refers, Relation::Holds][..], "refers", "refers to"),
        (&[Relation::Uses][..], "uses", "uses"),
        (&[Relation::Allows][..], "allows", "may call"),
        (&[Relation::Denies][..], "denies", "must not call"),
        (&[Relation::Decides][..], "decides", "may call under conditions"),
    ];
    for (all, class, text) in relations {
        // Signs that look the same have one entry.
        let solid = class == "refers" && picture.threads.iter().any(|thread| thread.relation == Relation::Forwards);
        if !solid && picture.threads.iter().any(|thread| all.contains(&thread.relation)) {
            add("", format!("<path class=\"l {class}\" marker-end=\"url(#a)\" d=\"M0 8H30\"/>"), 38, text);
        }
    }
    entries
}

/// Escapes a string for one line.
fn escaped(text: &str) -> String {
    markup::escaped(text).replace(['\n', '\t'], " ")
}
