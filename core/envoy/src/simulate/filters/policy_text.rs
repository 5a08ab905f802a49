//! Describes rbac policies as text that preserves "and", "or" and "not". Does not evaluate them; see `access`.

use super::metadata::{claim, path};
use crate::emit::pb;
use crate::simulate::matcher::{header_words, string_words};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::hcm::HttpFilter;
use pb::matcher::{MetadataMatcher, ValueMatcher, list_matcher, value_matcher};
use pb::rbac::{Permission, Policy, Principal, SourcedMetadata, permission::Rule, principal::Identifier};

/// A condition on a request or its client.
#[derive(Clone, PartialEq)]
enum PolicyCondition {
    Anything,
    /// A single condition: the phrase for its kind, and its value.
    Is(&'static str, String),
    /// A token of a provider, with claims.
    Token(String, Vec<String>),
    Not(Box<PolicyCondition>),
    All(Vec<PolicyCondition>),
    /// At least one of several.
    Any(Vec<PolicyCondition>),
}

const RANGE: &str = "from";
const NAME: &str = "with a certificate for";
const METHOD: &str = "";

impl PolicyCondition {
    fn all(each: impl Iterator<Item = Self>) -> Self {
        let mut out: Vec<Self> = Vec::new();
        for one in each {
            match one {
                Self::Anything => {}
                Self::All(more) => out.extend(more),
                one => out.push(one),
            }
        }
        // Claims of one token belong together.
        let mut joined: Vec<Self> = Vec::new();
        for one in out {
            if let Self::Token(of, claims) = &one
                && let Some(Self::Token(_, known)) = joined.iter_mut().find(|known| matches!(known, Self::Token(other, _) if other == of))
            {
                known.extend(claims.iter().cloned());
            } else {
                joined.push(one);
            }
        }
        match joined.len() {
            0 => Self::Anything,
            1 => joined.remove(0),
            _ => Self::All(joined),
        }
    }

    fn any(each: impl Iterator<Item = Self>) -> Self {
        let mut out: Vec<Self> = Vec::new();
        for one in each {
            match one {
                Self::Anything => return Self::Anything,
                Self::Any(more) => out.extend(more),
                one if out.contains(&one) => {}
                one => out.push(one),
            }
        }
        if out.len() == 1 { out.remove(0) } else { Self::Any(out) }
    }

    fn not(self) -> Self {
        match self {
            Self::Not(of) => *of,
            of => Self::Not(Box::new(of)),
        }
    }

    /// Returns the alternatives, grouped by kind, and shortened to the first few.
    fn alternatives(&self) -> Vec<String> {
        let Self::Any(all) = self else { return Vec::from([self.words()]) };
        let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
        let mut others = Vec::new();
        for one in all {
            let Self::Is(kind, value) = one else {
                others.push(one.words());
                continue;
            };
            match kinds.iter_mut().find(|(known, _)| known == kind) {
                Some((_, values)) => values.push(value.clone()),
                None => kinds.push((kind, Vec::from([value.clone()]))),
            }
        }
        kinds.sort_by_key(|(kind, _)| *kind);
        let joined = kinds.into_iter().map(|(kind, values)| phrase(kind, &few(values, if kind == RANGE { "range" } else { "name" })));
        let mut out: Vec<String> = joined.collect();
        out.extend(others);
        out
    }

    /// Returns a phrase that follows a noun: `from 10.0.0.0/8`.
    fn words(&self) -> String {
        match self {
            Self::Anything => "of any kind".into(),
            Self::Is(kind, value) => phrase(kind, value),
            Self::Token(of, claims) if claims.is_empty() => format!("with a token of {of}"),
            Self::Token(of, claims) => format!("with a token of {of} whose {}", claims.join(" and whose ")),
            Self::Not(of) => format!("but not {}", of.inner()),
            Self::All(all) => {
                let (not, are): (Vec<&Self>, Vec<&Self>) = all.iter().partition(|one| matches!(one, Self::Not(_)));
                let are: Vec<String> = are.into_iter().map(Self::inner).collect();
                let not: Vec<String> = not.into_iter().map(Self::words).collect();
                let parts = [are.join(" and "), not.join(" and ")];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
            }
            Self::Any(all) if all.is_empty() => "of no kind".into(),
            Self::Any(_) => self.alternatives().join(", or "),
        }
    }

    /// Returns a phrase for use within another.
    fn inner(&self) -> String {
        match self {
            Self::Any(all) if all.len() > 1 => format!("({})", self.words()),
            Self::All(_) | Self::Not(_) => format!("({})", self.words()),
            _ => self.words(),
        }
    }

    /// Whether the condition only excludes.
    fn is_only_not(&self) -> bool {
        match self {
            Self::Not(_) => true,
            Self::All(all) => all.iter().all(Self::is_only_not),
            _ => false,
        }
    }

    /// Returns the exclusions of a condition that only excludes.
    fn exceptions(&self) -> String {
        match self {
            Self::Not(of) => of.words(),
            Self::All(all) => all.iter().map(Self::exceptions).collect::<Vec<_>>().join(", or "),
            _ => self.words(),
        }
    }

    /// As a noun phrase for clients.
    fn clients(&self) -> String {
        match self {
            Self::Anything => "any client".into(),
            Self::Any(all) if all.is_empty() => "no client".into(),
            Self::Any(_) => self.alternatives().into_iter().map(|words| format!("clients {words}")).collect::<Vec<_>>().join(", or "),
            _ if self.is_only_not() => format!("any client but those {}", self.exceptions()),
            _ => format!("clients {}", self.words()),
        }
    }

    /// As a noun phrase for requests.
    fn requests(&self) -> String {
        match self {
            _ if self.is_only_not() => format!("all but {}", self.exceptions()),
            Self::All(all) if all.iter().any(|one| matches!(one, Self::Not(_))) => self.inner(),
            Self::Any(_) if self.alternatives().len() > 1 => self.inner(),
            _ => self.words(),
        }
    }
}

fn phrase(kind: &str, value: &str) -> String {
    if kind.is_empty() { value.to_owned() } else { format!("{kind} {value}") }
}

/// Names the first few of a list, and counts the rest.
fn few(mut all: Vec<String>, what: &str) -> String {
    all.sort();
    all.dedup();
    match all.len() {
        0..=4 => all.join(", "),
        more => format!("{} and {} more {what}s", all.iter().take(3).cloned().collect::<Vec<_>>().join(", "), more - 3),
    }
}

/// A policy with its name.
pub(super) struct Named<'p> {
    pub(super) policy: &'p Policy,
    /// Whether its permission certainly matches, so that only the client matters.
    pub(super) is_permitted: bool,
}

/// Describes the clients and requests that policies apply to. `before` are the filters that the request has passed, which define the claims.
pub(super) fn words<'p>(all: impl Iterator<Item = Named<'p>>, before: &[HttpFilter]) -> String {
    let mut of_all = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for Named { policy, is_permitted } in all {
        let clients = PolicyCondition::any(policy.principals.iter().map(|of| principal(of, before)));
        let requests = PolicyCondition::any(policy.permissions.iter().map(|of| permission(of, before)));
        let condition = policy.condition.is_some() || policy.checked_condition.is_some();
        let where_holds = if condition { ", where its condition holds, which is not simulated" } else { "" };
        match requests {
            _ if is_permitted && condition => others.push(format!("{}{where_holds}", clients.clients())),
            _ if is_permitted => of_all.push(clients),
            PolicyCondition::Anything if !condition => of_all.push(clients),
            PolicyCondition::Anything => others.push(format!("{}{where_holds}", clients.clients())),
            requests => others.push(format!("{} by {}{where_holds}", requests.requests(), clients.clients())),
        }
    }
    let mut out = Vec::new();
    if !of_all.is_empty() {
        out.push(PolicyCondition::any(of_all.into_iter()).clients());
    }
    let more = others.len().saturating_sub(4);
    out.extend(others.into_iter().take(4));
    match out.len() {
        0 => "the client".into(),
        _ if more > 0 => format!("{}, and what {more} more policies mean", out.join(", or ")),
        _ => out.join(", or "),
    }
}

fn principal(of: &Principal, before: &[HttpFilter]) -> PolicyCondition {
    let not_simulated = |what: &str| PolicyCondition::Is("with", format!("{what}, which is not simulated"));
    match &of.identifier {
        Some(Identifier::AndIds(set)) => PolicyCondition::all(set.ids.iter().map(|of| principal(of, before))),
        Some(Identifier::OrIds(set)) => PolicyCondition::any(set.ids.iter().map(|of| principal(of, before))),
        Some(Identifier::NotId(of)) => principal(of, before).not(),
        Some(Identifier::Any(true)) => PolicyCondition::Anything,
        Some(Identifier::Any(false)) => PolicyCondition::Any(Vec::new()),
        Some(Identifier::SourceIp(range) | Identifier::DirectRemoteIp(range) | Identifier::RemoteIp(range)) => {
            PolicyCondition::Is(RANGE, range_words(range))
        }
        Some(Identifier::Authenticated(of)) => match &of.principal_name {
            Some(name) => PolicyCondition::Is(NAME, string_words(name)),
            None => PolicyCondition::Is("with", "a certificate".into()),
        },
        Some(Identifier::Header(of)) => PolicyCondition::Is("with header", header_words(of)),
        Some(Identifier::UrlPath(of)) => PolicyCondition::Is("that ask for path", path_words(of)),
        Some(Identifier::Metadata(of)) => metadata(of, before),
        Some(Identifier::SourcedMetadata(of)) => sourced(of, before),
        Some(Identifier::FilterState(of)) => not_simulated(&format!("filter state {}", of.key)),
        Some(Identifier::Custom(of)) => not_simulated(&format!("what {} looks for", of.name)),
        None => not_simulated("something"),
    }
}

fn permission(of: &Permission, before: &[HttpFilter]) -> PolicyCondition {
    let not_simulated = |what: &str| PolicyCondition::Is("requests with", format!("{what}, which is not simulated"));
    match &of.rule {
        Some(Rule::AndRules(set)) => PolicyCondition::all(set.rules.iter().map(|of| permission(of, before))),
        Some(Rule::OrRules(set)) => PolicyCondition::any(set.rules.iter().map(|of| permission(of, before))),
        Some(Rule::NotRule(of)) => permission(of, before).not(),
        Some(Rule::Any(true)) => PolicyCondition::Anything,
        Some(Rule::Any(false)) => PolicyCondition::Any(Vec::new()),
        Some(Rule::Header(of)) => match methods(of) {
            Some(methods) => PolicyCondition::any(methods.into_iter().map(|method| PolicyCondition::Is(METHOD, method))),
            None => PolicyCondition::Is("header", header_words(of)),
        },
        // Every path begins with a slash.
        Some(Rule::UrlPath(of)) => match path_words(of).as_str() {
            "prefix /" => PolicyCondition::Anything,
            words => PolicyCondition::Is("path", words.to_owned()),
        },
        Some(Rule::DestinationIp(range)) => PolicyCondition::Is("to", range_words(range)),
        Some(Rule::DestinationPort(port)) => PolicyCondition::Is("port", port.to_string()),
        Some(Rule::DestinationPortRange(range)) => PolicyCondition::Is("port", format!("{} to {}", range.start, range.end.saturating_sub(1))),
        Some(Rule::RequestedServerName(of)) => PolicyCondition::Is("server name", string_words(of)),
        Some(Rule::Metadata(of)) => metadata(of, before),
        Some(Rule::SourcedMetadata(of)) => sourced(of, before),
        Some(Rule::Matcher(of)) => not_simulated(&format!("what {} looks for", of.name)),
        Some(Rule::UriTemplate(of)) => not_simulated(&format!("what {} looks for", of.name)),
        None => not_simulated("something"),
    }
}

fn range_words(of: &pb::base::CidrRange) -> String {
    format!("{}/{}", of.address_prefix, of.prefix_len.unwrap_or_default())
}

fn path_words(of: &pb::matcher::PathMatcher) -> String {
    match &of.rule {
        Some(pb::matcher::path_matcher::Rule::Path(matcher)) => string_words(matcher),
        None => "nothing".into(),
    }
}

/// Returns the methods that a matcher of `:method` accepts: one, or the alternatives of an expression.
fn methods(of: &pb::route::HeaderMatcher) -> Option<Vec<String>> {
    use pb::matcher::string_matcher::MatchPattern as Pattern;
    use pb::route::header_matcher::HeaderMatchSpecifier as Wants;
    let text = match of.header_match_specifier.as_ref().filter(|_| of.name == ":method" && !of.invert_match)? {
        Wants::ExactMatch(text) => text,
        Wants::SafeRegexMatch(regex) => &regex.regex,
        Wants::StringMatch(of) if !of.ignore_case => match of.match_pattern.as_ref()? {
            Pattern::Exact(text) => text,
            Pattern::SafeRegex(regex) => &regex.regex,
            _ => return None,
        },
        _ => return None,
    };
    let all: Vec<String> = text.split('|').map(ToOwned::to_owned).collect();
    let is_method = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase());
    all.iter().all(is_method).then_some(all)
}

fn sourced(of: &SourcedMetadata, before: &[HttpFilter]) -> PolicyCondition {
    of.metadata_matcher.as_ref().map_or(PolicyCondition::Anything, |of| metadata(of, before))
}

fn metadata(of: &MetadataMatcher, before: &[HttpFilter]) -> PolicyCondition {
    let value = of.value.as_ref().map_or_else(|| "is nothing".into(), value_words);
    let names: Vec<&str> = path(of).collect();
    let wanted = match (claim(of, before), names.get(1..).unwrap_or_default()) {
        (Some((provider, issuer)), ["iss"]) if !issuer.is_empty() && value == format!("is {issuer}") => {
            PolicyCondition::Token(provider.to_owned(), Vec::new())
        }
        (Some((provider, _)), way) if !way.is_empty() => {
            PolicyCondition::Token(provider.to_owned(), Vec::from([format!("claim {} {value}", way.join("/"))]))
        }
        _ => PolicyCondition::Is("whose", format!("metadata {}/{} {value}", of.filter, names.join("/"))),
    };
    if of.invert { wanted.not() } else { wanted }
}

/// Describes the required value, as the end of a sentence that begins with its name.
fn value_words(of: &ValueMatcher) -> String {
    use pb::matcher::double_matcher::MatchPattern as Number;
    use pb::matcher::string_matcher::MatchPattern as Pattern;
    use value_matcher::MatchPattern as Wants;
    match &of.match_pattern {
        Some(Wants::StringMatch(of)) => match &of.match_pattern {
            Some(Pattern::Exact(text)) if !of.ignore_case => format!("is {text}"),
            _ => format!("matches {}", string_words(of)),
        },
        Some(Wants::BoolMatch(value)) => format!("is {value}"),
        Some(Wants::PresentMatch(true)) => "is there".into(),
        Some(Wants::NullMatch(_)) => "is null".into(),
        Some(Wants::DoubleMatch(of)) => match &of.match_pattern {
            Some(Number::Exact(number)) => format!("is {number}"),
            Some(Number::Range(range)) => format!("is from {} to below {}", range.start, range.end),
            None => "is nothing".into(),
        },
        Some(Wants::ListMatch(of)) => match &of.match_pattern {
            Some(list_matcher::MatchPattern::OneOf(of)) => format!("has a part that {}", value_words(of)),
            None => "is nothing".into(),
        },
        Some(Wants::OrMatch(of)) => of.value_matchers.iter().map(value_words).collect::<Vec<_>>().join(" or "),
        Some(Wants::PresentMatch(false)) | None => "is nothing".into(),
    }
}
