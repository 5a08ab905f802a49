//! What differs for one request, how grave that is, and how much the request tells of it.
//!
//! What must not be here: finding it out.

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

/// Something that differs for a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FieldDifference {
    pub(super) what: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// What requests that change in the same way have in common, where that is not both values.
    pub(super) alike: Option<String>,
    /// Where both stand.
    pub(super) pointers: [Option<String>; 2],
}

/// The virtual hosts that a request comes to, with their places.
#[derive(Clone, Default)]
pub(super) struct Scene<'a> {
    pub(super) hosts: [Option<(&'a VirtualHost, String)>; 2],
    /// Their routes by what they want of paths.
    pub(super) by_path: [BTreeMap<Pattern<'a>, Vec<usize>>; 2],
    /// What made both sides, where that is known.
    pub(super) sources: [Option<SideSource<'a>>; 2],
    /// Whether some listener of either side speaks TLS, so that the scheme of a request says where it comes in.
    pub(super) has_tls: bool,
}

impl<'a> Scene<'a> {
    /// Whether somebody wrote a route of a side, as far as that is known.
    pub(super) fn is_written(&self, side: usize, index: usize) -> bool {
        let host = self.hosts.get(side).and_then(Option::as_ref);
        let (Some((_, pointer)), Some(Some(source))) = (host, self.sources.get(side)) else { return true };
        source.owner(&format!("{pointer}/routes/{index}")).is_some()
    }

    /// The route that took a request, where it is one of these virtual hosts'.
    pub(super) fn route(&self, side: usize, simulation: &Simulation) -> Option<(&'a Route, String)> {
        let (host, pointer) = self.hosts.get(side)?.as_ref()?;
        let index = simulation.route.as_ref()?.index;
        let pointer = format!("{pointer}/routes/{index}");
        simulation.places.iter().any(|place| place.of == "route" && place.pointer == pointer).then_some(())?;
        Some((host.routes.get(index)?, pointer))
    }
}

/// The most exact place that is known of a request.
pub(super) fn pointer(simulation: &Simulation) -> Option<String> {
    const FROM: [&str; 5] = ["route", "virtual_host", "http_connection_manager", "filter_chain", "listener"];
    FROM.iter().find_map(|of| simulation.places.iter().find(|place| place.of == *of)).map(|place| place.pointer.clone())
}

/// How much a request tells of a change: one that goes somewhere by what somebody wrote the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relevance {
    is_written: bool,
    goes: u8,
}

impl Relevance {
    /// Of a request, which takes a route that somebody wrote or not.
    pub(super) fn of(is_written: bool, simulations: &[Simulation; 2]) -> Self {
        let goes = |of: &Simulation| match end(of) {
            End::Forwarded => 3,
            End::Redirected => 2,
            End::Answered if of.route.is_some() => 1,
            _ => 0,
        };
        Self { is_written, goes: simulations.iter().map(goes).max().unwrap_or_default() }
    }

    /// Whether somebody wrote it, and no controller added it.
    pub(super) fn is_written(self) -> bool {
        self.is_written
    }
}

/// How grave a difference is: the lower, the earlier it is reported.
pub(in crate::compare) fn gravity(what: &str) -> u8 {
    match what {
        "outcome" => 0,
        "status" | "location" | "clusters" | "addresses" | "backend" | "protocol" => 1,
        "body" | "timeout" | "upstream host" | "upstream path" => 2,
        _ if what.contains(" header") => 3,
        _ if what.starts_with("cluster.") => 4,
        _ => 5,
    }
}

/// What a group of changes has in common.
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
    /// There is no listener.
    NoListener,
    /// No filter chain takes the connection.
    NoChain,
    /// The connection is taken, and closed.
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
