//! Describes rows of the ledger in words. Does not decide what happened to an object; see `ledger`.

use super::LedgerRow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::Str;

impl LedgerRow {
    /// Returns what happened to the object after its state, as the rest of a sentence: `: route /cart/, cluster cart` or ` by Mapping everything`.
    #[must_use]
    pub fn outcome(&self) -> String {
        // A fourth alone is named, which needs no more space than its number.
        let list = |names: &[String], more: usize| match names {
            [first, second, third, rest @ ..] if rest.len() + more > 1 => format!("{first}, {second}, {third} and {} more", rest.len() + more),
            names => names.join(", "),
        };
        let mut out = String::new();
        let into: Vec<String> = self.into.iter().filter(|thing| !thing.is_empty()).map(ToString::to_string).collect();
        if self.state != "read" && !self.with.is_empty() {
            let with: Vec<String> = self.with.iter().map(ToString::to_string).collect();
            out.push_str(&format!(" with {}", list(&with, self.with_more)));
        }
        if self.state == Self::UNREACHED {
            let by = self.by.as_ref().map(|by| format!("{by} gets its requests")).unwrap_or_default();
            let reasons: Vec<&str> = [by.as_str(), self.detail.as_deref().unwrap_or_default()].into_iter().filter(|why| !why.is_empty()).collect();
            let parts = if into.is_empty() { String::new() } else { format!("; it generates {}", list(&into, 0)) };
            out.push_str(&format!(": {}{parts}", reasons.join(", because ")));
            return out;
        }
        if !into.is_empty() {
            out.push_str(&format!(": {}", list(&into, 0)));
        }
        if let Some(by) = &self.by {
            let by: Vec<String> = core::iter::once(by).chain(self.with.iter().filter(|_| self.state == "read")).map(ToString::to_string).collect();
            out.push_str(&format!(" by {}", list(&by, if self.state == "read" { self.with_more } else { 0 })));
        }
        if let Some(detail) = &self.detail {
            // Errors of a controller may have several lines.
            let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
            out.push_str(&format!("{} {detail}", if into.is_empty() { ":" } else { ";" }));
        } else if let Some(why) = self.why {
            out.push_str(&format!(": {}", why.replace('-', " ")));
        }
        out
    }

    /// Counts the parts made from it, by type: `2 routes, 1 cluster`. Empty if it made none.
    #[must_use]
    pub fn counted_parts(&self) -> String {
        const TYPES: [&str; 6] = ["listener", "filter chain", "virtual host", "route", "cluster", "HTTP filter"];
        let counted = TYPES.iter().filter_map(|name| {
            let is_one = |part: &&Str| part.strip_prefix(*name).is_some_and(|rest| rest.starts_with(' '));
            // A route table is not a route.
            let count = self.into.iter().filter(is_one).filter(|part| !part.starts_with("route table ")).count();
            (count > 0).then(|| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        });
        counted.collect::<Vec<_>>().join(", ")
    }
}
