//! Reports the parts of a configuration that a set of requests reaches: rules, both results of each condition, shares, redirects, own answers and
//! policies.
//!
//! A part is a place in the input, not in a gateway's configuration: a rule of several hosts is one part. Parts that only the controller adds are
//! left out.
//!
//! Does not simulate requests or read test files; see `route` and `request_test`. Does not invent requests; see [`propose`].

mod envoy;
mod locations;
mod propose;
mod reports;

pub use envoy::EnvoyParts;
pub use locations::{AppGatewayParts, NginxParts};
pub use propose::{ProposedTests, propose};
pub use reports::{cobertura, lcov};

use crate::{Positions, ResourceRef, Span};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::resource::Origin;
use hashbrown::HashMap;

/// The sort of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A route that forwards requests.
    Rule,
    /// One result of a condition of a route.
    Condition,
    /// One target of a traffic split.
    Split,
    /// A redirect.
    Redirect,
    /// An answer that the gateway gives itself.
    Answer,
    /// A setting of routes or a filter, such as a timeout or a required token.
    Policy,
}

impl PartKind {
    pub const ALL: [PartKind; 6] = [Self::Rule, Self::Condition, Self::Split, Self::Redirect, Self::Answer, Self::Policy];

    /// Returns the word for one part.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Condition => "condition",
            Self::Split => "split",
            Self::Redirect => "redirect",
            Self::Answer => "answer",
            Self::Policy => "policy",
        }
    }
}

/// A part of the input that a request can reach.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CoveredPart {
    pub kind: PartKind,
    /// A phrase: `prefix /cart/`, `header x-beta exact 1 holds`, `retry_policy`.
    pub what: String,
    /// For a condition: whether this part is the case in which it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    pub resource: Option<ResourceRef>,
    #[serde(flatten)]
    pub span: Option<Span>,
    /// How many requests reach it.
    pub hits: u32,
    /// Why no request can reach it, if an earlier rule matches everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// All lines that the part was made from, as file and line.
    #[serde(skip)]
    pub lines: BTreeSet<(String, u32)>,
}

/// The parts of one or more inputs, with the number of requests that reach each.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    parts: Vec<CoveredPart>,
    by_key: HashMap<String, usize>,
}

/// A part's number in a [`Coverage`].
pub type PartId = usize;

/// Which parts are reached, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Reached {
    pub reached: usize,
    pub total: usize,
}

impl Reached {
    /// Returns the share in percent; 100 if there are no parts.
    #[must_use]
    pub fn percent(self) -> f64 {
        if self.total == 0 { 100.0 } else { self.reached as f64 * 100.0 / self.total as f64 }
    }
}

/// A part before it has a number.
struct FoundPart<'o> {
    kind: PartKind,
    what: String,
    holds: Option<bool>,
    origins: &'o [Origin],
    unreachable: Option<String>,
}

impl Coverage {
    /// Adds a part, or returns the known part with the same lines.
    fn add(&mut self, found: FoundPart<'_>, side: SideRef<'_>, positions: &Positions<'_>) -> Option<PartId> {
        let mut spans: Vec<(Span, Origin)> = found.origins.iter().filter_map(|origin| Some((positions.origin(*origin)?, *origin))).collect();
        // A field says more than the whole resource.
        spans.sort_by_key(|(span, origin)| (origin.is_whole(), span.source, span.offset));
        spans.dedup_by(|one, other| (one.0.source, one.0.offset) == (other.0.source, other.0.offset));
        let (first, origin) = spans.first()?;
        let places: Vec<String> = spans.iter().map(|(span, _)| format!("{}:{}:{}", span.file, span.line, span.column)).collect();
        let key = format!("{} {:?} {} {}", found.kind.name(), found.holds, found.what, places.join(" "));
        if let Some(known) = self.by_key.get(&key).copied() {
            if let Some(part) = self.parts.get_mut(known)
                && found.unreachable.is_none()
            {
                // One of its routes can be reached.
                part.unreachable = None;
            }
            return Some(known);
        }
        let id = self.parts.len();
        self.by_key.insert(key, id);
        self.parts.push(CoveredPart {
            kind: found.kind,
            what: found.what,
            holds: found.holds,
            resource: side.objects().get(origin.object()).map(|object| ResourceRef::from(&object.key)),
            span: Some(first.clone()),
            hits: 0,
            unreachable: found.unreachable,
            lines: spans.iter().map(|(span, _)| (span.file.to_string(), span.line)).collect(),
        });
        Some(id)
    }

    /// Counts a request that reaches these parts.
    pub fn count(&mut self, reached: &BTreeSet<PartId>) {
        for id in reached {
            if let Some(part) = self.parts.get_mut(*id) {
                part.hits = part.hits.saturating_add(1);
            }
        }
    }

    /// Returns the part of a number.
    #[must_use]
    pub fn part(&self, id: PartId) -> Option<&CoveredPart> {
        self.parts.get(id)
    }

    /// Returns the numbers of the parts that no request has reached and some request could.
    pub fn unreached(&self) -> impl Iterator<Item = PartId> {
        self.parts.iter().enumerate().filter(|(_, part)| part.hits == 0 && part.unreachable.is_none()).map(|(id, _)| id)
    }

    /// Returns all parts by file and line.
    #[must_use]
    pub fn sorted(&self) -> Vec<&CoveredPart> {
        let mut all: Vec<&CoveredPart> = self.parts.iter().collect();
        let place = |part: &CoveredPart| part.span.as_ref().map(|span| (span.file.clone(), span.line, span.column));
        // The sort is stable: both results of a condition stay together.
        all.sort_by_cached_key(|part| (place(part), part.kind));
        all
    }

    /// Counts the parts of a kind, or of all kinds. Parts that no request can reach do not count.
    #[must_use]
    pub fn counts(&self, kind: Option<PartKind>) -> Reached {
        let of_kind = self.parts.iter().filter(|part| part.unreachable.is_none() && kind.is_none_or(|kind| part.kind == kind));
        of_kind.fold(Reached::default(), |sum, part| Reached { reached: sum.reached + usize::from(part.hits > 0), total: sum.total + 1 })
    }
}

/// Returns the origins that a user wrote.
fn written(origins: impl IntoIterator<Item = Origin>, positions: &Positions<'_>) -> Vec<Origin> {
    let mut all: Vec<Origin> = origins.into_iter().filter(|origin| positions.origin(*origin).is_some()).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
