//! The arguments of `replay`.
//!
//! Does not run it; see `replay`.

use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// `replay`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery replay access.log.gz --before main --after gateway/   requests that a change answers differently
  chancery replay access.log gateway/access-2.log.zst --after gateway/   logged answers that the configuration does not explain
  chancery replay session.har --after gateway/
  kubectl logs deploy/envoy | chancery replay - --after gateway/ --log-format envoy
  chancery replay log --after . --log-format '%START_TIME% %REQ(:METHOD)% %REQ(:AUTHORITY)% %REQ(:PATH)% %RESPONSE_CODE%'

Exit codes: 0 fine, 1 with --exit-code if a request is answered differently, 2 the input cannot be used.")]
pub struct ReplayArgs {
    /// Access logs and HAR files; .gz and .zst files are decompressed. `-` is standard input.
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath, required = true)]
    pub logs: Vec<PathBuf>,
    /// The configuration that wrote the logs: a file, a folder, a snapshot, or a git revision. Without it, the logged answers are compared.
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath, requires = "after")]
    pub before: Option<PathBuf>,
    /// The configuration to try; required with --before [default: the current folder].
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub after: Option<PathBuf>,
    /// The format of text logs: envoy, ingress-nginx, nginx, aws-alb, json, or a format string of Envoy or nginx [default: found from the lines].
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// The host of requests whose log has none.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// The scheme of requests whose log has none [default: https if the gateway has TLS].
    #[arg(long, value_enum, value_name = "SCHEME")]
    pub scheme: Option<Scheme>,
    /// Show query values and identifiers in examples.
    #[arg(long)]
    pub show_personal_data: bool,
    /// The output format.
    #[arg(long, value_enum, default_value_t = ReplayFormat::Human)]
    pub format: ReplayFormat,
    /// Exit with 1 if a request is answered differently.
    #[arg(long)]
    pub exit_code: bool,
}

/// `--scheme`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

/// `--format` of replays.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayFormat {
    /// Human-readable text.
    Human,
    /// JSON.
    Json,
    /// Markdown, for a pull request.
    Markdown,
    /// One self-contained HTML file.
    Html,
}
