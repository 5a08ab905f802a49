//! Defines the differences for one request and their severity, and rates how well the request shows them. Does not find them; see `behaviour`.

use super::SideSource;
use super::paths::Pattern;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Outcome, Simulation};
use pb::route::{Route, VirtualHost};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FieldDifference {
    pub(super) what: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// A key that groups requests with the same change, if the two values do not.
    pub(super) alike: Option<String>,
    /// The places of both values.
    pub(super) pointers: [Option<String>; 2],
}

/// The virtual hosts of a request, with their places.
#[derive(Clone, Default)]
pub(super) struct Scene<'a> {
    pub(super) hosts: [Option<(&'a VirtualHost, String)>; 2],
    /// Their routes by path pattern.
    pub(super) by_path: [BTreeMap<Pattern<'a>, Vec<usize>>; 2],
    /// The compilations of both sides, if known.
    pub(super) sources: [Option<SideSource<'a>>; 2],
    /// Whether any listener of either side uses TLS, so that the scheme of a request selects the listener.
    pub(super) has_tls: bool,
}

impl<'a> Scene<'a> {
    /// Whether a user wrote a route, as far as that is known.
    pub(super) fn is_written(&self, side: usize, index: usize) -> bool {
        let host = self.hosts.get(side).and_then(Option::as_ref);
        let (Some((_, pointer)), Some(Some(source))) = (host, self.sources.get(side)) else { return true };
        source.owner(&format!("{pointer}/routes/{index}")).is_some()
    }

    /// Returns the route that matched a request, if it belongs to these virtual hosts.
    pub(super) fn route(&self, side: usize, simulation: &Simulation) -> Option<(&'a Route, String)> {
        let (host, pointer) = self.hosts.get(side)?.as_ref()?;
        let index = simulation.route.as_ref()?.index;
        let pointer = format!("{pointer}/routes/{index}");
        simulation.places.iter().any(|place| place.of == "route" && place.pointer == pointer).then_some(())?;
        Some((host.routes.get(index)?, pointer))
    }
}

/// Returns the most specific known place of a request's handling.
pub(super) fn pointer(simulation: &Simulation) -> Option<String> {
    const FROM: [&str; 5] = ["route", "virtual_host", "http_connection_manager", "filter_chain", "listener"];
    FROM.iter().find_map(|of| simulation.places.iter().find(|place| place.of == *of)).map(|place| place.pointer.clone())
}

/// How well a request illustrates a change: best if it is forwarded by a route that a user wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relevance {
    is_written: bool,
    goes: u8,
}

impl Relevance {
    /// Rates a request by whether a user wrote its route.
    pub(super) fn of(is_written: bool, simulations: &[Simulation; 2]) -> Self {
        let goes = |of: &Simulation| match end(of) {
            End::Forwarded => 3,
            End::Redirected => 2,
            End::Answered if of.route.is_some() => 1,
            _ => 0,
        };
        Self { is_written, goes: simulations.iter().map(goes).max().unwrap_or_default() }
    }

    /// Whether a user wrote the route, rather than a controller.
    pub(super) fn is_written(self) -> bool {
        self.is_written
    }
}

/// Returns the severity of a difference: lower values are reported first.
pub(in crate::compare) fn gravity(what: &str) -> u8 {
    match what {
        "protection" => 0,
        "outcome" => 1,
        "status" | "location" | "clusters" | "addresses" | "backend" | "protocol" => 2,
        "body" | "timeout" | "upstream host" | "upstream path" => 3,
        _ if what.contains(" header") => 4,
        _ if what.starts_with("cluster.") => 5,
        _ => 6,
    }
}

/// Returns the key that groups equal changes.
pub(super) fn key(met: &[FieldDifference], is_of_all: bool) -> String {
    let mut out = if is_of_all { "all".to_owned() } else { String::new() };
    for met in met {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "\u{0}".to_owned());
        let value = met.alike.clone().unwrap_or_else(|| format!("{}\u{1}{}", text(&met.before), text(&met.after)));
        out.push_str(&format!("\u{2}{}\u{1}{value}", met.what));
    }
    out
}

/// How a client sees the end of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    NoListener,
    /// No filter chain matches the connection.
    NoChain,
    /// The connection is accepted and then closed.
    Reset,
    Answered,
    Redirected,
    Forwarded,
}

pub(super) fn end(of: &Simulation) -> End {
    match of.outcome {
        Outcome::NoListener => End::NoListener,
        Outcome::NoFilterChain => End::NoChain,
        Outcome::Reset => End::Reset,
        Outcome::DirectResponse | Outcome::NoVirtualHost | Outcome::NoRoute => End::Answered,
        Outcome::Redirect => End::Redirected,
        Outcome::Forward => End::Forwarded,
    }
}
