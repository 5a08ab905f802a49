//! What earlier compiles found out, stage by stage: what the API server took, what was read, what was built, what had no finding, and what
//! became of objects.
//!
//! Values are known by the addresses of what they were made from, which they hold. What must not be here: what a stage does.

use super::{accounts, build, checks, cluster, source};
use chancery_base::ir::appgw::Gateway;
use chancery_text::Str;

/// What earlier compiles found out.
#[derive(Default)]
pub struct Memory {
    pub(super) cluster: cluster::Memory,
    pub(super) source: source::Memory,
    pub(super) build: build::Memory,
    pub(super) checks: checks::Memory,
    pub(super) accounts: accounts::Memory,
    /// The present gateway with the text that it was read from without a finding.
    pub(super) gateway: Option<(Str, Gateway)>,
}
