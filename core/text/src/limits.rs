//! What reading one document may cost.
//!
//! What must not be here: reading.

/// What one document may cost. What is refused is refused with a problem, and quickly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep objects and lists may be nested.
    pub max_depth: u32,
    /// How many values may be written.
    pub max_nodes: u32,
    /// How many bytes of text.
    pub max_bytes: u32,
    /// For how many values anchors and aliases together may stand.
    pub max_alias_nodes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 256, max_nodes: 4_000_000, max_bytes: 64 << 20, max_alias_nodes: 400_000 }
    }
}
