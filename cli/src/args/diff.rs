//! The arguments of `diff` and `drift`.
//!
//! Does not run them; see `diff`.

use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// `diff`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery diff gateway-old/ gateway/
  chancery diff main                                     compare a git revision with the current folder
  chancery diff main:./gateway                           the same for one folder
  chancery diff --format markdown main:gateway/ gateway/ write a table for a pull request
  chancery diff --exit-code old.json new.json            compare dumps, bootstraps, snapshots
  chancery diff gateway.json ingresses/                  show how AGIC would change an existing Application Gateway
  chancery diff --from ingress-nginx before/ --to envoy-gateway after/
                                                         show requests that another controller answers differently
  chancery diff --from-version 1.8 --to-version 1.9 gateway/
                                                         show what an upgrade of the controller changes

If there are several gateways, gateways with the same id are compared.

To find requests with different results, `diff` splits all requests at the values that the matchers of both sides distinguish. It compares \
the final result, Envoy's own answers, the host, path and headers for the upstream, the endpoints of clusters and their shares, timeouts, \
and every other setting that applies to the request. It ignores names, statistics, logs and tracing. It does not know the answers of \
external services and the content of Secrets. It compares rewrites for the requests that it tried, and reports everything else that it could not decide.

Exit codes: 0 success, 1 with --exit-code if a request has a different result or the comparison is incomplete (for example because a file cannot be read), 2 the input cannot be used.")]
pub struct DiffArgs {
    /// The first side: file, folder, git revision, REVISION:PATH, snapshot, link with a snapshot, dump or bootstrap
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath, required_unless_present_any = ["from", "from_version"])]
    pub before: Option<PathBuf>,
    /// The second side [default: the current folder, or the revision's path in it]
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    pub after: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub format: DiffFormat,
    /// Exit with 1 if a request has a different result, or if Envoy's configuration or a resource differs
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "requests")]
    pub exit_code: Option<Counts>,
    /// Compare two dialects by their answers to requests: the dialect of the first side, then its files. Needs --to
    #[arg(long, value_names = ["DIALECT", "BEFORE"], num_args = 1.., requires = "to", value_hint = ValueHint::AnyPath)]
    pub from: Vec<String>,
    /// The dialect of the second side, then its files
    #[arg(long, value_names = ["DIALECT", "AFTER"], num_args = 1.., requires = "from", value_hint = ValueHint::AnyPath)]
    pub to: Vec<String>,
    /// Compare two versions of the controller with the same input: the version before the upgrade. Needs --to-version
    #[arg(long, value_name = "VERSION", requires = "to_version", conflicts_with_all = ["from", "to", "after"])]
    pub from_version: Option<String>,
    /// The version after the upgrade
    #[arg(long, value_name = "VERSION", requires = "from_version")]
    pub to_version: Option<String>,
    /// With --from: a file of known and wanted changes, each with its rule and reason. Any other change exits with 1
    #[arg(long, value_name = "FILE", requires = "from", value_hint = ValueHint::FilePath)]
    pub accept: Option<PathBuf>,
    /// Do not compare requests. --exit-code then compares Envoy's configuration
    #[arg(long)]
    pub no_requests: bool,
}

/// `--exit-code`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Counts {
    /// Requests with different results.
    Requests,
    /// Envoy's configuration.
    Envoy,
    /// Resources.
    Resources,
}

/// `drift`
#[derive(Args)]
#[command(after_help = "\
Example:
  curl -s localhost:9901/config_dump?include_eds > dump.json && chancery drift gateway/ dump.json
  chancery drift gateway/ --pod ambassador/emissary-7d9f-x2x   an Envoy in a cluster, through a port-forward
  chancery drift gateway/ --live --envoy 127.0.0.1:8001        the source, `chancery serve`, and an Envoy that it serves

Exit codes: 0 success, 1 with --exit-code if they differ or the source cannot be read completely, 2 the input cannot be used.")]
pub struct DriftArgs {
    /// The source: file, folder, git revision or snapshot
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    pub source: PathBuf,
    /// Envoy's /config_dump, preferably with include_eds
    #[arg(value_name = "DUMP", value_hint = ValueHint::FilePath, required_unless_present_any = ["live", "envoy", "pod"], conflicts_with_all = ["live", "envoy", "pod"])]
    pub dump: Option<PathBuf>,
    /// Compare the source with a running `chancery serve`, and the server with its Envoys
    #[arg(long)]
    pub live: bool,
    /// With `--live`: address of the diagnostics server of `chancery serve`
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8877")]
    pub server: String,
    /// With `--live`: compare this Envoy; required if there are several gateways
    #[arg(long, value_name = "ID", requires = "live")]
    pub node: Option<String>,
    /// Admin address of an Envoy on this machine, instead of DUMP. With `--live` and no Envoy, the server reports the accepted resources
    #[arg(long, value_name = "ADDR", conflicts_with = "pod")]
    pub envoy: Option<String>,
    /// Read the admin interface of an Envoy in this pod through a port-forward: NAMESPACE/NAME, or NAMESPACE/NAME:PORT if the port is not detected
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// With `--pod`: context of the kubeconfig [default: the current context]
    #[arg(long, value_name = "NAME", requires = "pod")]
    pub context: Option<String>,
    /// With `--pod`: path to the kubeconfig [default: $KUBECONFIG, then ~/.kube/config]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "pod")]
    pub kubeconfig: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub format: DiffFormat,
    /// Exit with 1 if they differ
    #[arg(long)]
    pub exit_code: bool,
}

/// `--format` of differences.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Human-readable text.
    Human,
    /// JSON.
    Json,
    /// Markdown, for a pull request.
    Markdown,
    /// SARIF 2.1.0.
    Sarif,
    /// Commands of GitHub's workflows.
    Github,
    /// One self-contained HTML file.
    Html,
    /// JUnit's XML.
    Junit,
}
