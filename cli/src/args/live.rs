//! What may be typed after `watch`, `serve`, `bootstrap`, `envoys` and `events`.
//!
//! What must not be here: what is done.

use super::Format;
use chancery_live::address::Address;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// Whence inputs come.
#[derive(Args)]
#[command(next_help_heading = "Sources")]
pub struct LiveArgs {
    /// Files and folders, followed as they change; `-` for watch events on standard input (`kubectl get -w --output-watch-events -o json`).
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Follow a cluster: that of the kubeconfig's current context, or the one that this pod runs in.
    #[arg(long)]
    pub kube: bool,
    /// The kubeconfig; `$KUBECONFIG` or ~/.kube/config unless given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "kube")]
    pub kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context; the current one unless given.
    #[arg(long, value_name = "NAME", requires = "kube")]
    pub context: Option<String>,
    /// Follow this namespace only.
    #[arg(short = 'n', long, value_name = "NAMESPACE", requires = "kube", conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// Follow all namespaces, as it is unless one is given.
    #[arg(short = 'A', long, requires = "kube")]
    pub all_namespaces: bool,
    /// Follow custom resources with these labels only.
    #[arg(long, value_name = "LABELS", requires = "kube")]
    pub selector: Option<String>,
    /// Play what `--record` wrote.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub replay: Option<PathBuf>,
    /// With `--replay`: how many times faster than it was; 0 for without waiting.
    #[arg(long, value_name = "TIMES", default_value_t = 0.0, requires = "replay")]
    pub speed: f64,
    /// Write down all that sources tell, without key material.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,
    /// The least time between two builds: what comes meanwhile is taken into one.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub spacing: Duration,
}

/// How events are told.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Telling {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

impl Telling {
    /// Whether programs read it.
    pub fn is_json(self) -> bool {
        self == Telling::Json
    }
}

/// `watch`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery watch gateway/
  kubectl get mapping,host -A -w --output-watch-events -o json | chancery watch -
  chancery watch gateway/ --format json --record session.jsonl")]
pub struct WatchArgs {
    #[command(flatten)]
    pub live: LiveArgs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Telling::Human)]
    pub format: Telling,
    /// Do not tell which requests are treated otherwise after a change.
    #[arg(long)]
    pub no_requests: bool,
}

/// `serve`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery serve gateway/
  chancery bootstrap --xds 127.0.0.1:8003 > envoy.json && envoy -c envoy.json

An ADDR is HOST:PORT, or `off`; port 0 is a free one. Exit codes: 0 told to end, 2 it cannot serve, or a part of it died.")]
pub struct ServeArgs {
    #[command(flatten)]
    pub live: LiveArgs,
    /// Where Envoys ask.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8003", help_heading = "Servers")]
    pub xds: Address,
    /// Where people and programs ask: the page, the API, metrics.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8877", help_heading = "Servers")]
    pub diagnostics: Address,
    /// Where the inputs can be had as a snapshot.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8002", help_heading = "Servers")]
    pub snapshots: Address,
    /// The same for other tools: always without key material.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8005", help_heading = "Servers")]
    pub public_snapshots: Address,
    /// Where it can be asked whether all is ready.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8006", help_heading = "Servers")]
    pub ready: Address,
    /// The token that whoever asks from another machine must bring.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Servers")]
    pub admin_token_file: Option<PathBuf>,
    /// The certificate of the xDS server; read again when it changes.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_key", help_heading = "Servers")]
    pub xds_cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_cert", help_heading = "Servers")]
    pub xds_key: Option<PathBuf>,
    /// Who signs the certificates of Envoys; without it they need none.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_cert", help_heading = "Servers")]
    pub xds_client_ca: Option<PathBuf>,
    /// Whether a change goes to one Envoy of a gateway first: what that rejects is held from the others.
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "WHETHER", help_heading = "Servers")]
    pub canary: Switch,
    /// Write the statuses of objects into the cluster. Without it nothing is written.
    #[arg(long, requires = "kube", help_heading = "Writing")]
    pub write_status: bool,
    /// Write statuses even where another controller writes them.
    #[arg(long, requires = "write_status", help_heading = "Writing")]
    pub take_over: bool,
    /// Of several that serve, the one that holds this Lease writes.
    #[arg(long, value_name = "NAME", requires = "write_status", help_heading = "Writing")]
    pub lease: Option<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Telling::Human)]
    pub format: Telling,
}

/// `bootstrap`
#[derive(Args)]
#[command(after_help = "Example:\n  chancery bootstrap --xds 127.0.0.1:8003 > envoy.json && envoy -c envoy.json")]
pub struct BootstrapArgs {
    /// Where `chancery serve` is.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8003")]
    pub xds: String,
    /// What this Envoy is called. Of several gateways it gets the one of this name.
    #[arg(long, value_name = "ID", default_value = "envoy")]
    pub node_id: String,
    /// The gateway that it belongs to, where its own name is another.
    #[arg(long, value_name = "CLUSTER", default_value = "chancery")]
    pub node_cluster: String,
    /// Where Envoy's own admin interface listens; `off` for none.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8001")]
    pub admin: String,
    /// Whether only changes are sent, or everything each time.
    #[arg(long, value_enum, default_value_t = ProtocolArg::Delta)]
    pub protocol: ProtocolArg,
    /// Who signed the certificate of the server.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tls_ca: Option<PathBuf>,
    /// The certificate that Envoy shows.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

/// `--protocol`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolArg {
    /// Only changes.
    Delta,
    /// Everything each time.
    Sotw,
}

impl ProtocolArg {
    /// Whether only changes are sent.
    pub fn is_delta(self) -> bool {
        self == ProtocolArg::Delta
    }
}

/// `--canary`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// It does.
    On,
    /// It goes to all at once.
    Off,
}

impl Switch {
    /// Whether it is on.
    pub fn is_on(self) -> bool {
        self == Switch::On
    }
}

/// `envoys` and `events`
#[derive(Args)]
pub struct AskArgs {
    /// Where `chancery serve` answers people and programs.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8877")]
    pub server: String,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `500ms`, `1s`, `2m`, `0`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time: write it as 500ms, 1s or 2m");
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "" if number.chars().all(|c| c == '0') => 1.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}
