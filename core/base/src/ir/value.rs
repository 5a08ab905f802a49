//! Defines restricted values of HTTP and networks: addresses, header names, status codes.
//!
//! The limits are those of Envoy's messages and of HTTP. Envoy would reject a value beyond them, so a lowering reports and omits it. A port is a
//! `u16`. A method has no own type: every controller matches the header `:method` as a string, and Envoy accepts any string.

use chancery_text::Str;
use core::fmt;
use core::net::IpAddr;

/// Where a proxy connects to, or where its admin interface listens.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum EndpointAddress {
    Socket {
        /// IP address or host name.
        address: Str,
        port: u16,
    },
    /// A Unix socket.
    Pipe {
        /// The socket's file.
        path: Str,
    },
}

impl EndpointAddress {
    #[must_use]
    pub fn socket(address: impl Into<Str>, port: u16) -> Self {
        Self::Socket { address: address.into(), port }
    }

    /// IP address or host name; `None` for a Unix socket.
    #[must_use]
    pub fn host(&self) -> Option<&Str> {
        match self {
            Self::Socket { address, .. } => Some(address),
            Self::Pipe { .. } => None,
        }
    }

    /// Whether the address needs no DNS lookup.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.host().is_none_or(|host| host.parse::<IpAddr>().is_ok())
    }

    /// The port; `None` for a Unix socket.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Socket { port, .. } => Some(*port),
            Self::Pipe { .. } => None,
        }
    }
}

impl fmt::Display for EndpointAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { address, port } if address.contains(':') => write!(f, "[{address}]:{port}"),
            Self::Socket { address, port } => write!(f, "{address}:{port}"),
            Self::Pipe { path } => f.write_str(path),
        }
    }
}

/// The name of a header, or of a pseudo-header such as `:authority`.
///
/// ```
/// use chancery_base::ir::{HeaderName, InvalidHeaderName};
///
/// assert_eq!(&*HeaderName::new("x-user")?, "x-user");
/// assert_eq!(HeaderName::new(""), Err(InvalidHeaderName::Empty));
/// assert_eq!(HeaderName::new("x\r\ny"), Err(InvalidHeaderName::LineEnd));
/// # Ok::<(), InvalidHeaderName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct HeaderName(Str);

impl HeaderName {
    /// The host of a request.
    pub const AUTHORITY: HeaderName = HeaderName(Str::new_static(":authority"));
    /// The path of a request, with its query.
    pub const PATH: HeaderName = HeaderName(Str::new_static(":path"));
    /// The method of a request.
    pub const METHOD: HeaderName = HeaderName(Str::new_static(":method"));

    /// The longest name that Envoy accepts, in bytes.
    pub const MAX_BYTES: usize = 16_384;

    /// The name, if Envoy accepts it.
    ///
    /// # Errors
    /// By the rules of `HTTP_HEADER_NAME`, not strict, in Envoy's messages (`envoy/config/core/v3/base.proto`).
    pub fn new(name: impl Into<Str>) -> Result<Self, InvalidHeaderName> {
        let name = name.into();
        if name.is_empty() {
            Err(InvalidHeaderName::Empty)
        } else if name.len() > Self::MAX_BYTES {
            Err(InvalidHeaderName::TooLong)
        } else if name.contains(['\0', '\r', '\n']) {
            Err(InvalidHeaderName::LineEnd)
        } else {
            Ok(Self(name))
        }
    }

    /// A name in our own code.
    ///
    /// # Panics
    /// If it is empty; in a `const` the build fails.
    #[must_use]
    pub const fn fixed(name: &'static str) -> Self {
        assert!(!name.is_empty(), "a header has a name");
        Self(Str::new_static(name))
    }

    #[must_use]
    pub fn as_text(&self) -> &Str {
        &self.0
    }
}

impl core::ops::Deref for HeaderName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HeaderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a string cannot be the name of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidHeaderName {
    Empty,
    /// It has more than [`HeaderName::MAX_BYTES`] bytes.
    TooLong,
    /// It contains a NUL, a carriage return or a line feed.
    LineEnd,
}

impl fmt::Display for InvalidHeaderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a header must have a name"),
            Self::TooLong => write!(f, "the name of a header has at most {} bytes", HeaderName::MAX_BYTES),
            Self::LineEnd => f.write_str("the name of a header must not have a line end or a NUL"),
        }
    }
}

impl core::error::Error for InvalidHeaderName {}

/// The status of a response.
///
/// ```
/// use chancery_base::ir::StatusCode;
///
/// assert_eq!(StatusCode::new(404).map(StatusCode::get), Some(404));
/// assert_eq!(StatusCode::new(1404), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct StatusCode(u16);

impl StatusCode {
    /// The request is not allowed.
    pub const FORBIDDEN: StatusCode = StatusCode(403);
    /// The resource does not exist.
    pub const NOT_FOUND: StatusCode = StatusCode(404);

    /// The status, if it has three digits and starts with 1 to 5.
    #[must_use]
    pub fn new(status: impl TryInto<u16>) -> Option<Self> {
        status.try_into().ok().filter(|status| (100..600).contains(status)).map(Self)
    }

    /// A status in our own code.
    ///
    /// # Panics
    /// If the status is invalid.
    #[must_use]
    pub const fn fixed(status: u16) -> Self {
        assert!(status >= 100 && status < 600, "a status has three digits");
        Self(status)
    }

    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
