//! The arguments of `lsp` and `mcp`.
//!
//! Does not run them; see `chancery_lsp` and `chancery_mcp`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `lsp`
#[derive(Args)]
#[command(after_help = "\
Editors start this program. The guide `docs/guides/editor.md` has their settings.

Exit codes: 0 the client ended it, 1 the client went away, 2 the client does not speak the protocol.")]
pub struct LspArgs {
    /// Use standard input and output; there is no other way.
    #[arg(long)]
    pub stdio: bool,
}

/// `mcp`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery mcp                 the current folder
  chancery mcp gateway/ infra/

Agents start this program. It reads no file outside of these folders. The guide `docs/guides/agents.md` has their settings.")]
pub struct McpArgs {
    /// Folders that may be read [default: the current folder].
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
}
