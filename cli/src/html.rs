//! Writes self-contained HTML reports: one file with its styles, without scripts.
//!
//! Escapes and redacts all text; text in backticks is shown as code. Does not decide what a report says.

use crate::output::scrub;
use crate::style::plain;
use chancery_core::text::markup::escaped;
use std::fmt::Write;

/// The colour of a number or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Neutral,
}

impl Tone {
    fn name(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Neutral => "neutral",
        }
    }
}

/// A report while it is written.
pub struct Report {
    out: String,
}

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#1d2330;--faint:#5d6677;--line:#d9dee7;--panel:#f5f7fa;--good:#17713b;--warning:#8a5a00;--bad:#b3261e;--neutral:#3b4a66}\
@media(prefers-color-scheme:dark){:root{--back:#14171d;--text:#e6e9ef;--faint:#9aa4b5;--line:#333a47;--panel:#1d222b;--good:#6fd198;--warning:#e6b450;--bad:#ff8a80;--neutral:#a9b8d6}}\
*{box-sizing:border-box}body{margin:0 auto;max-width:70rem;padding:2rem 1.25rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}\
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2rem 0 .5rem}p{margin:.4rem 0}.lead{color:var(--faint)}\
.cards{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.25rem 0}.card{flex:1 1 9rem;border:1px solid var(--line);border-radius:.5rem;padding:.6rem .9rem;background:var(--panel)}\
.card b{display:block;font-size:1.6rem;line-height:1.2}.good{color:var(--good)}.warning{color:var(--warning)}.bad{color:var(--bad)}.neutral{color:var(--neutral)}\
details{border:1px solid var(--line);border-radius:.5rem;margin:.6rem 0;background:var(--panel)}summary{cursor:pointer;padding:.6rem .9rem;font-weight:600}\
details>div{padding:.2rem .9rem .8rem;background:var(--back);border-radius:0 0 .5rem .5rem}.count{float:right;font-weight:400;color:var(--faint)}\
table{border-collapse:collapse;width:100%;margin:.5rem 0;font-size:.92rem}th,td{text-align:left;vertical-align:top;padding:.35rem .5rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}\
th{color:var(--faint);font-weight:600}code{font:0.92em/1.4 ui-monospace,monospace;background:var(--panel);border-radius:.2rem;padding:.05rem .25rem}\
li{margin:.2rem 0}.place{color:var(--faint);font-size:.85rem;display:block}@media print{details{break-inside:avoid}}";

impl Report {
    /// Starts a report. `lead` is the sentence below the title.
    pub fn new(title: &str, lead: &str) -> Self {
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
        let _ = writeln!(out, "<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>", text(title));
        let _ = writeln!(out, "<h1>{}</h1>\n<p class=\"lead\">{}</p>", words(title), words(lead));
        Self { out }
    }

    /// Adds a row of numbers, each with its label.
    pub fn numbers(&mut self, all: &[(&str, String, Tone)]) {
        self.out.push_str("<div class=\"cards\">\n");
        for (label, number, tone) in all {
            let _ = writeln!(self.out, "<div class=\"card\"><b class=\"{}\">{}</b>{}</div>", tone.name(), text(number), words(label));
        }
        self.out.push_str("</div>\n");
    }

    pub fn heading(&mut self, of: &str) {
        let _ = writeln!(self.out, "<h2>{}</h2>", words(of));
    }

    pub fn paragraph(&mut self, of: &str) {
        let _ = writeln!(self.out, "<p>{}</p>", words(of));
    }

    pub fn list(&mut self, items: impl IntoIterator<Item = impl AsRef<str>>) {
        self.out.push_str("<ul>\n");
        for item in items {
            let _ = writeln!(self.out, "<li>{}</li>", words(item.as_ref()));
        }
        self.out.push_str("</ul>\n");
    }

    /// Adds a group that readers can fold. `note` follows its title.
    pub fn group(&mut self, title: &str, note: &str, tone: Tone, is_open: bool, content: impl FnOnce(&mut Self)) {
        let open = if is_open { " open" } else { "" };
        let _ = writeln!(
            self.out,
            "<details{open}><summary class=\"{}\">{}<span class=\"count\">{}</span></summary>\n<div>",
            tone.name(),
            words(title),
            text(note)
        );
        content(self);
        self.out.push_str("</div></details>\n");
    }

    /// Adds a table. Each cell is a text, and the places below it.
    pub fn table(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<(String, Vec<String>)>>) {
        self.out.push_str("<table>\n<tr>");
        for title in head {
            let _ = write!(self.out, "<th>{}</th>", words(title));
        }
        self.out.push_str("</tr>\n");
        for row in rows {
            self.out.push_str("<tr>");
            for (cell, places) in row {
                let _ = write!(self.out, "<td>{}", words(&cell));
                for place in places {
                    let _ = write!(self.out, "<span class=\"place\">{}</span>", text(&place));
                }
                self.out.push_str("</td>");
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</table>\n");
    }

    /// Returns the whole document.
    pub fn finish(mut self) -> String {
        self.out.push_str("</body>\n</html>\n");
        self.out
    }
}

/// Escapes and redacts a text.
fn text(of: &str) -> String {
    escaped(&plain(&scrub(of)))
}

/// Escapes a text, and shows text in backticks as code.
fn words(of: &str) -> String {
    let escaped = text(of);
    let parts: Vec<&str> = escaped.split('`').collect();
    // An odd number of parts means that every backtick has a partner.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part = |(at, part): (usize, &&str)| if at % 2 == 1 { format!("<code>{part}</code>") } else { (*part).to_string() };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::{Report, Tone};

    #[test]
    fn report_escapes_text_and_shows_code() {
        let mut report = Report::new("a <b>", "lead");
        report.group("`GET /x`", "1", Tone::Bad, true, |report| report.paragraph("one ` tick & more"));
        let text = report.finish();
        assert!(text.contains("<h1>a &lt;b&gt;</h1>") && text.contains("<code>GET /x</code>"), "{text}");
        assert!(text.contains("one ` tick &amp; more"), "{text}");
    }

    #[test]
    fn report_needs_no_other_file() {
        let text = Report::new("a", "b").finish();
        assert!(!text.contains("<script") && !text.contains("src=") && !text.contains("href="), "{text}");
    }
}
