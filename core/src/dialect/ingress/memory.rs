//! What earlier compiles found out, stage by stage: what the API server took, what was read, what was built, and what had no finding.
//!
//! Values are known by the addresses of what they were made from, which they hold. What must not be here: what a stage does.

use super::{build, checks, cluster, source};
use crate::ir::appgw::Gateway;
use crate::text::Str;

/// What earlier compiles found out.
#[derive(Default)]
pub struct Memory {
    pub(super) cluster: cluster::Memory,
    pub(super) source: source::Memory,
    pub(super) build: build::Memory,
    pub(super) checks: checks::Memory,
    /// The present gateway with the text that it was read from without a finding.
    pub(super) gateway: Option<(Str, Gateway)>,
}
