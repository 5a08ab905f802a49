//! Finds the differences between two answers to a request. Does not group them; see `mod`.

use super::causes::{Cause, FORGED_HEADERS, GRPC_WITHOUT_HTTP2, HOST_MATCH, LOST_PROTECTION, NOT_EVALUATED, of_aspect, of_ending};
use super::requests::{Asked, FORGED, Variant};
use crate::answers::{AnswerEnding, Aspect, Fact, GatewayAnswer, PartPlace};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// A difference between two answers.
pub(super) struct Found {
    pub(super) cause: &'static Cause,
    /// The different aspect; `None` for the ending.
    pub(super) aspect: Option<Aspect>,
    pub(super) before: String,
    pub(super) after: String,
    /// What distinguishes rows of one cause: the values, without parts that depend on the request.
    pub(super) key: String,
    pub(super) places: [Option<PartPlace>; 2],
}

/// Returns the differences. `plain` are the answers to the plain request that this one is a variant of.
pub(super) fn differences(
    asked: &Asked,
    before: &GatewayAnswer,
    after: &GatewayAnswer,
    plain: Option<&[GatewayAnswer; 2]>,
    knows: &dyn Fn(&Aspect) -> bool,
) -> Vec<Found> {
    let mut out = Vec::new();
    if let Some(main) = ending(asked, before, after, plain) {
        out.push(main);
    }
    let gaps: BTreeSet<&String> = before.gaps.iter().chain(&after.gaps).collect();
    out.extend(gaps.into_iter().map(|note| gap(note, before, after)));
    let are_forwarded = before.ending == AnswerEnding::Forwarded && after.ending == AnswerEnding::Forwarded;
    let are_answered = before.ending != AnswerEnding::NotAnswered && after.ending != AnswerEnding::NotAnswered;
    let names: BTreeSet<&Aspect> = before.facts.keys().chain(after.facts.keys()).collect();
    for aspect in names {
        let of_connection = matches!(aspect, Aspect::Certificate | Aspect::TlsVersions | Aspect::HttpVersions);
        if !knows(aspect) || !(are_forwarded || of_connection && are_answered) {
            continue;
        }
        let [old, new] = [before, after].map(|answer| answer.facts.get(aspect));
        if is_same(aspect, old, new) || is_same_by_default(aspect, old, new) {
            continue;
        }
        // Different Services have different settings.
        if !out.is_empty() && !of_connection && !before.has_same_targets(after) {
            continue;
        }
        let words = |fact: Option<&Fact>| fact.map_or_else(|| missing(aspect).to_string(), |fact| fact.value.clone());
        let key = match aspect {
            Aspect::UpstreamPath => rewrite_kind(asked, old, new),
            Aspect::UpstreamHost if [old, new].iter().flatten().any(|fact| fact.value == asked.request.authority) => "host".into(),
            Aspect::RequestHeader(_) | Aspect::ResponseHeader(_) => String::new(),
            _ => format!("{}\u{1}{}", words(old), words(new)),
        };
        let is_lost = matches!(aspect, Aspect::Authentication | Aspect::ClientName) && new.is_none();
        let is_forged = |fact: Option<&Fact>| fact.is_some_and(|fact| fact.value.split(", ").any(|value| value == FORGED));
        let (key, cause) = match aspect {
            Aspect::RequestHeader(_) if asked.variant == Variant::ForgedHeaders && is_forged(new) && !is_forged(old) => {
                (FORGED.into(), FORGED_HEADERS)
            }
            _ if is_lost => (key, LOST_PROTECTION),
            Aspect::HttpVersions if is_grpc(before) && !words(new).contains('2') => (key, GRPC_WITHOUT_HTTP2),
            _ => (key, of_aspect(aspect, asked.variant)),
        };
        out.push(Found {
            cause,
            aspect: Some(aspect.clone()),
            before: words(old),
            after: words(new),
            key,
            places: [(before, old), (after, new)].map(|(answer, fact)| fact.and_then(|fact| fact.place.clone()).or_else(|| answer.place.clone())),
        });
    }
    out
}

/// Whether the service speaks gRPC.
fn is_grpc(answer: &GatewayAnswer) -> bool {
    answer.facts.get(&Aspect::Protocol).is_some_and(|fact| fact.value.starts_with("h2"))
}

/// Returns the difference in how the request ends.
fn ending(asked: &Asked, before: &GatewayAnswer, after: &GatewayAnswer, plain: Option<&[GatewayAnswer; 2]>) -> Option<Found> {
    let is_same = before.ending == after.ending
        && match before.ending {
            AnswerEnding::Forwarded => before.has_same_targets(after),
            AnswerEnding::Redirected => before.status == after.status && before.location == after.location,
            AnswerEnding::Answered => before.status == after.status,
            AnswerEnding::NotAnswered => true,
        };
    if is_same {
        return None;
    }
    let is_like_plain = plain.filter(|[old, new]| kind(old) == kind(before) && kind(new) == kind(after));
    let variant = if is_like_plain.is_some() { Variant::Plain } else { asked.variant };
    let cause = of_ending(before, after, variant, asked.request.tls);
    // The service of the host does not matter for how hosts match.
    let kind =
        |answer: &GatewayAnswer| if cause == HOST_MATCH && answer.ending == AnswerEnding::Forwarded { "forwarded".into() } else { kind(answer) };
    Some(Found {
        cause,
        aspect: None,
        before: before.words(),
        after: after.words(),
        key: format!("{}\u{1}{}", kind(before), kind(after)),
        places: [before.place.clone(), after.place.clone()],
    })
}

/// The difference that a part may make.
fn gap(note: &str, before: &GatewayAnswer, after: &GatewayAnswer) -> Found {
    Found {
        cause: NOT_EVALUATED,
        aspect: None,
        before: note.into(),
        after: after.words(),
        key: note.into(),
        places: [before.place.clone(), after.place.clone()],
    }
}

/// Describes an ending without the parts that depend on the request.
pub(super) fn kind(answer: &GatewayAnswer) -> String {
    match answer.ending {
        AnswerEnding::Redirected => format!("redirect {}", answer.status.unwrap_or_default()),
        _ => answer.words(),
    }
}

/// Distinguishes how paths differ, without the paths themselves.
fn rewrite_kind(asked: &Asked, old: Option<&Fact>, new: Option<&Fact>) -> String {
    let kind = |fact: Option<&Fact>| if fact.is_some_and(|fact| fact.value == asked.request.path) { "same" } else { "new" };
    format!("{}\u{1}{}\u{1}{:?}", kind(old), kind(new), asked.variant)
}

/// Whether two values mean the same.
fn is_same(aspect: &Aspect, old: Option<&Fact>, new: Option<&Fact>) -> bool {
    let values = [old, new].map(|fact| fact.map(|fact| fact.value.as_str()));
    match (aspect, values) {
        // Spaces between the items of a list mean nothing.
        (Aspect::RequestHeader(_) | Aspect::ResponseHeader(_), [Some(old), Some(new)]) => {
            old == new || old.split(',').map(str::trim).eq(new.split(',').map(str::trim))
        }
        (_, [old, new]) => old == new,
    }
}

/// The word for a missing fact.
fn missing(aspect: &Aspect) -> &'static str {
    match aspect {
        Aspect::RequestHeader(_) | Aspect::ResponseHeader(_) => "not sent",
        Aspect::BodySize => "no limit",
        Aspect::SignIn => "that of the authentication service",
        _ => "none",
    }
}

/// Whether a missing fact means the same as the other value.
fn is_same_by_default(aspect: &Aspect, old: Option<&Fact>, new: Option<&Fact>) -> bool {
    match (old, new) {
        // Only some kinds of authentication have them.
        (Some(_), None) | (None, Some(_)) if matches!(aspect, Aspect::AuthenticationPath | Aspect::AuthenticationFailure) => true,
        (Some(only), None) | (None, Some(only)) => only.value == missing(aspect),
        _ => false,
    }
}
