//! The parts of a Gateway's configuration that a policy can be for.
//!
//! Does not say which scopes lie in which; see `policy`.

use super::super::cluster::Name;
use super::route_kind::RouteKind;
use alloc::format;
use alloc::string::String;
use chancery_text::Str;

/// What kind of scope it is. The order is that of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Gateway,
    GatewayListener,
    ListenerSet,
    ListenerSetListener,
    Route(RouteKind),
    RouteRule(RouteKind),
}

/// A part of a Gateway's configuration that a policy can be for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scope {
    pub(crate) level: Level,
    pub(crate) name: Name,
    /// The listener or rule; empty for a whole object.
    pub(crate) section: Str,
}

impl Scope {
    fn new(level: Level, name: &Name, section: &str) -> Self {
        Self { level, name: name.clone(), section: Str::new(section) }
    }

    /// Returns the scope of a Gateway, or of one of its listeners.
    pub(crate) fn gateway(name: &Name, listener: Option<&str>) -> Self {
        let level = if listener.is_some() { Level::GatewayListener } else { Level::Gateway };
        Self::new(level, name, listener.unwrap_or_default())
    }

    /// Returns the scope of a ListenerSet or one of its listeners.
    pub(crate) fn listener_set(name: &Name, listener: Option<&str>) -> Self {
        let level = if listener.is_some() { Level::ListenerSetListener } else { Level::ListenerSet };
        Self::new(level, name, listener.unwrap_or_default())
    }

    /// Returns the scope of a route or one of its rules.
    pub(crate) fn route(kind: RouteKind, name: &Name, rule: Option<&str>) -> Self {
        let level = if rule.is_some() { Level::RouteRule(kind) } else { Level::Route(kind) };
        Self::new(level, name, rule.unwrap_or_default())
    }

    /// Returns the scope of an object of this kind, or of one of its sections; `None` if policies cannot be for this kind.
    pub(crate) fn named(kind: &str, name: &Name, section: Option<&str>) -> Option<Self> {
        const ROUTES: [RouteKind; 5] = [RouteKind::Http, RouteKind::Grpc, RouteKind::Tls, RouteKind::Tcp, RouteKind::Udp];
        match kind {
            "Gateway" => Some(Self::gateway(name, section)),
            "ListenerSet" => Some(Self::listener_set(name, section)),
            _ => ROUTES.into_iter().find(|route| route.name() == kind).map(|route| Self::route(route, name, section)),
        }
    }

    /// Returns the scope of the whole object.
    pub(crate) fn object(&self) -> Self {
        let level = match self.level {
            Level::GatewayListener => Level::Gateway,
            Level::ListenerSetListener => Level::ListenerSet,
            Level::RouteRule(kind) => Level::Route(kind),
            whole => whole,
        };
        Self::new(level, &self.name, "")
    }

    /// Describes it, as in ``rule `pay` of HTTPRoute shop/cart``.
    pub(crate) fn describe(&self) -> String {
        let (part, kind) = match self.level {
            Level::Gateway => ("", "Gateway"),
            Level::GatewayListener => ("listener", "Gateway"),
            Level::ListenerSet => ("", "ListenerSet"),
            Level::ListenerSetListener => ("listener", "ListenerSet"),
            Level::Route(kind) => ("", kind.name()),
            Level::RouteRule(kind) => ("rule", kind.name()),
        };
        let whole = format!("{kind} {}/{}", self.name.0, self.name.1);
        if part.is_empty() { whole } else { format!("{part} `{}` of {whole}", self.section) }
    }
}
