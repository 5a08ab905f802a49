//! Caches the results of earlier compiles, stage by stage: admission, reading, building, checks, and the ledger.
//!
//! Results are found by the addresses of their inputs, which they keep valid.

use super::{accounts, build, checks, cluster, source};
use chancery_base::ir::appgw::Gateway;
use chancery_text::Str;

/// The results of earlier compiles.
#[derive(Default)]
pub struct Memory {
    pub(super) cluster: cluster::Memory,
    pub(super) source: source::Memory,
    pub(super) build: build::Memory,
    pub(super) checks: checks::Memory,
    pub(super) accounts: accounts::Memory,
    /// The current gateway, and the text that it was read from without a finding.
    pub(super) gateway: Option<(Str, Gateway)>,
}
