//! Limits the cost of reading one document.

/// Limits for one document. Exceeding one gives a problem quickly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum depth of objects and lists.
    pub max_depth: u32,
    /// The maximum number of values.
    pub max_nodes: u32,
    /// The maximum number of bytes.
    pub max_bytes: u32,
    /// The maximum number of values that anchors and aliases expand to.
    pub max_alias_nodes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 256, max_nodes: 4_000_000, max_bytes: 64 << 20, max_alias_nodes: 400_000 }
    }
}
