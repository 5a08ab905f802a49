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
  chancery diff main                                     a git revision with the current folder
  chancery diff main:./gateway                           the same of one folder
  chancery diff --format markdown main:gateway/ gateway/ for a pull request
  chancery diff --exit-code old.json new.json            dumps, bootstraps, snapshots
  chancery diff gateway.json ingresses/                  what AGIC would do to an Application Gateway that there is
  chancery diff --from ingress-nginx before/ --to envoy-gateway after/
                                                         which requests another controller answers differently

Where there are several gateways, each is compared with the one of the same id.

Requests that the two sides treat differently are found by dividing all requests by what the matchers of both sides distinguish. These \
count: how a request ends, Envoy's own answers, the host, path and headers that the upstream gets, what clusters reach and in which \
shares, timeouts, every other setting on the way. Names, statistics, logs and tracing do not count. What others decide (services that \
filters ask) and the content of Secrets are unknown. Rewrites are compared for the requests that were tried. Anything else that was not decided is reported.

Exit codes: 0 fine, 1 with --exit-code if a request is treated differently or not all that could be were looked at (as where a text cannot be read), 2 the input cannot be used.")]
pub struct DiffArgs {
    /// The first side: a file, a folder, a revision of git or REVISION:PATH in it, a snapshot or a link that holds one, a dump or a bootstrap.
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath, required_unless_present = "from")]
    pub before: Option<PathBuf>,
    /// The second side; the current folder, or the path of the revision in it, when not given.
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    pub after: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub format: DiffFormat,
    /// Exit with 1 if a request is treated differently, or if anything that Envoy gets, or any resource, differs.
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "requests")]
    pub exit_code: Option<Counts>,
    /// Compare two dialects by what they do with requests: the dialect of the first side, then its files. Needs --to.
    #[arg(long, value_names = ["DIALECT", "BEFORE"], num_args = 1.., requires = "to", value_hint = ValueHint::AnyPath)]
    pub from: Vec<String>,
    /// The dialect of the second side, then its files.
    #[arg(long, value_names = ["DIALECT", "AFTER"], num_args = 1.., requires = "from", value_hint = ValueHint::AnyPath)]
    pub to: Vec<String>,
    /// With --from: a file of known and wanted changes, each with its rule and reason. Then other changes exit with 1.
    #[arg(long, value_name = "FILE", requires = "from", value_hint = ValueHint::FilePath)]
    pub accept: Option<PathBuf>,
    /// Do not look for requests that are treated differently. Then --exit-code counts what Envoy gets.
    #[arg(long)]
    pub no_requests: bool,
}

/// `--exit-code`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Counts {
    /// Requests that are treated differently.
    Requests,
    /// Whatever Envoy gets.
    Envoy,
    /// Resources.
    Resources,
}

/// `drift`
#[derive(Args)]
#[command(after_help = "\
Example:
  curl -s localhost:9901/config_dump?include_eds > dump.json && chancery drift gateway/ dump.json
  chancery drift gateway/ --pod ambassador/emissary-7d9f-x2x   an Envoy in a cluster, by a port-forward
  chancery drift gateway/ --live --envoy 127.0.0.1:8001        source, `chancery serve`, and the Envoy that it serves

Exit codes: 0 fine, 1 with --exit-code if they differ or not all of the source could be read, 2 the input cannot be used.")]
pub struct DriftArgs {
    /// The source: a file, a folder, a revision of git or a snapshot.
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    pub source: PathBuf,
    /// Envoy's /config_dump, preferably with include_eds.
    #[arg(value_name = "DUMP", value_hint = ValueHint::FilePath, required_unless_present_any = ["live", "envoy", "pod"], conflicts_with_all = ["live", "envoy", "pod"])]
    pub dump: Option<PathBuf>,
    /// Compare the source with what a running `chancery serve` sends, and that with what Envoys have.
    #[arg(long)]
    pub live: bool,
    /// With `--live`: the address of the diagnostics server of `chancery serve`.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8877")]
    pub server: String,
    /// With `--live`: the id of the Envoy that is looked at; needed where there are several gateways.
    #[arg(long, value_name = "ID", requires = "live")]
    pub node: Option<String>,
    /// The admin address of an Envoy on this machine, instead of DUMP. With `--live` and no Envoy, what Envoys accepted is taken from the server.
    #[arg(long, value_name = "ADDR", conflicts_with = "pod")]
    pub envoy: Option<String>,
    /// A pod with an Envoy, whose admin interface is read over a port-forward: NAMESPACE/NAME, with :PORT where it is not found.
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// With `--pod`: the context of the kubeconfig; the current one when not given.
    #[arg(long, value_name = "NAME", requires = "pod")]
    pub context: Option<String>,
    /// With `--pod`: the kubeconfig; `$KUBECONFIG` or ~/.kube/config when not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "pod")]
    pub kubeconfig: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = DiffFormat::Human)]
    pub format: DiffFormat,
    /// Exit with 1 if they differ.
    #[arg(long)]
    pub exit_code: bool,
}

/// `--format` of differences.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    Human,
    /// JSON.
    Json,
    /// Markdown, for a pull request.
    Markdown,
    /// SARIF 2.1.0.
    Sarif,
    /// Commands of GitHub's workflows.
    Github,
    /// One HTML file, for people who do not use the command line.
    Html,
    /// JUnit's XML.
    Junit,
}
