//! The start line of a request. Does not contain its headers; see `request`.

/// The start line of a request: in HTTP/2, pseudo-headers.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) method: &'a str,
    pub(super) authority: &'a str,
    pub(super) scheme: &'a str,
    /// Including the query.
    pub(super) path: &'a str,
}

impl<'a> Start<'a> {
    /// Returns a part by its header name, in lower case. `host` is another name for `:authority`.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        match name {
            ":method" => Some(self.method),
            ":authority" | "host" => Some(self.authority),
            ":path" => Some(self.path),
            ":scheme" => Some(self.scheme),
            _ => None,
        }
    }
}
