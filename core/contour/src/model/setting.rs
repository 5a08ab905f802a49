//! Models settings that routes, clusters and filters share: timeouts, and changes of headers and cookies.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::time::Duration;

/// A timeout as Contour parses it (`internal/timeout`): absent and `0` leave Envoy's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeout {
    /// Envoy's own.
    #[default]
    Default,
    /// None at all (`infinity`).
    Disabled,
    /// This long.
    After(Duration),
}

#[derive(Clone, Debug, Default)]
pub struct RouteTimeouts {
    /// For the whole response.
    pub response: Sourced<Timeout>,
    /// Without anything on the stream.
    pub idle_stream: Sourced<Timeout>,
}

/// Changes of headers; names are canonical, values escaped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadersPolicy {
    /// `Host` becomes this.
    pub host_rewrite: Option<Sourced<Str>>,
    /// `Host` becomes the value of this header.
    pub host_rewrite_header: Option<Sourced<Str>>,
    /// Values added to existing ones.
    pub add: BTreeMap<Str, Sourced<Str>>,
    /// Values that replace existing ones.
    pub set: BTreeMap<Str, Sourced<Str>>,
    /// Removed, in order.
    pub remove: Vec<Sourced<Str>>,
}

/// Changes of one cookie's attributes.
#[derive(Clone, Debug)]
pub struct CookieRewrite {
    /// The cookie.
    pub name: Str,
    /// `Path`.
    pub path: Option<Sourced<Str>>,
    /// `Domain`.
    pub domain: Option<Sourced<Str>>,
    /// `Secure`.
    pub secure: Option<Sourced<bool>>,
    /// `SameSite`.
    pub same_site: Option<Sourced<Str>>,
}
