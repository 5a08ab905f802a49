//! The arguments of commands that list something: `ledger`, `watches`, `kinds`, `codes`, `man`.
//!
//! Does not run them; see the module of each command.

use super::{Format, Inputs};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `ledger`
#[derive(Args)]
#[command(after_help = "Example:\n  chancery ledger gateway/")]
pub struct LedgerArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `watches`
#[derive(Args)]
#[command(after_help = "Examples:\n  chancery watches mesh/\n  chancery watches mesh/ --proxy web-sidecar-proxy")]
pub struct WatchesArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `kinds`
#[derive(Args)]
pub struct ListArgs {
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `codes`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  chancery codes\n  chancery codes unknown-field\n  chancery codes lost-protection   A rule of `chancery diff --from A --to B`"
)]
pub struct CodesArgs {
    /// The code of a finding, or the rule of a comparison of controllers, to show.
    pub code: Option<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `man`
#[derive(Args)]
pub struct ManArgs {
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
}
