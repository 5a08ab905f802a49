//! The arguments of `watch`, `serve`, `bootstrap`, `envoys` and `events`.
//!
//! Does not run them; see `live`.

use super::Format;
use chancery_live::address::Address;
use chancery_live::arm::id::GatewayId;
use chancery_live::log::Levels;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// Where the inputs come from.
#[derive(Args)]
#[command(next_help_heading = "Sources")]
pub struct LiveArgs {
    /// Files and folders to follow; `-` for watch events on standard input (`kubectl get -w --output-watch-events -o json`).
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Follow a cluster: the one of the kubeconfig's current context, or the one that this pod runs in.
    #[arg(long)]
    pub kube: bool,
    /// The kubeconfig; `$KUBECONFIG` or ~/.kube/config when not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "kube")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; the current one when not given.
    #[arg(long, value_name = "NAME", requires = "kube")]
    pub context: Option<String>,
    /// Follow this namespace only.
    #[arg(short = 'n', long, value_name = "NAMESPACE", requires = "kube", conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// Follow all namespaces; the default when none is given.
    #[arg(short = 'A', long, requires = "kube")]
    pub all_namespaces: bool,
    /// Follow custom resources with these labels only.
    #[arg(long, value_name = "LABELS", requires = "kube")]
    pub selector: Option<String>,
    /// Follow the Consul agent at this address: HOST:PORT, http://, https:// or unix://. Without ADDR it is `$CONSUL_HTTP_ADDR` or 127.0.0.1:8500.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "", help_heading = "Consul")]
    pub consul: Option<String>,
    /// A file with the token for Consul; `$CONSUL_HTTP_TOKEN_FILE` or `$CONSUL_HTTP_TOKEN` when not given. It is read again for every request.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_token_file: Option<PathBuf>,
    /// The authority that signed the agent's certificate; `$CONSUL_CACERT` or the system's authorities when not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_ca_file: Option<PathBuf>,
    /// The certificate that is shown to the agent; `$CONSUL_CLIENT_CERT` when not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_client_cert: Option<PathBuf>,
    /// Its key; `$CONSUL_CLIENT_KEY` when not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_client_key: Option<PathBuf>,
    /// The name in the agent's certificate, where it is not the host of its address; `$CONSUL_TLS_SERVER_NAME` when not given.
    #[arg(long, value_name = "NAME", requires = "consul", help_heading = "Consul")]
    pub consul_tls_server_name: Option<String>,
    /// The datacenter whose proxies are served; the agent's own when not given.
    #[arg(long, value_name = "NAME", requires = "consul", help_heading = "Consul")]
    pub consul_datacenter: Option<String>,
    /// Replay what `--record` wrote.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub replay: Option<PathBuf>,
    /// With `--replay`: how many times faster than it happened; 0 to replay without waiting.
    #[arg(long, value_name = "TIMES", default_value_t = 0.0, requires = "replay")]
    pub speed: f64,
    #[command(flatten)]
    pub azure: AzureArgs,
    /// Record every change of the sources, without key material.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,
    /// A file in TOML with options of this command: `spacing = "5s"`. Flags and the environment come before it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config_file: Option<PathBuf>,
    /// The least time between two builds. Changes that come meanwhile are built together.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub spacing: Duration,
    /// What is logged to standard error: `error`, `warn`, `info`, `debug`, `trace` or `off`; or levels by part, `info,chancery_live::xds=debug`.
    #[arg(long, value_name = "LEVELS", default_value = "info", help_heading = "Logs")]
    pub log_level: Levels,
    /// The format of logs.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT", help_heading = "Logs")]
    pub log_format: LogFormat,
}

/// `collect`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery collect -o cluster.json               everything that the gateway's controller reads, without keys
  chancery collect --context prod -n shop | gzip > shop.json.gz
  chancery check cluster.json                    anywhere else")]
pub struct CollectArgs {
    /// The file to write; `-` is standard output [default: -].
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Path to the kubeconfig [default: $KUBECONFIG, then ~/.kube/config].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Collect this namespace only.
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Wait at most this long for the cluster.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub wait: Duration,
}

/// The Application Gateway in Azure.
#[derive(Args)]
pub struct AzureArgs {
    /// Read this Application Gateway from Azure, and compare: SUBSCRIPTION/GROUP/NAME, or its resource id.
    #[arg(long, value_name = "ID", help_heading = "Azure")]
    pub gateway_id: Option<GatewayId>,
    /// The address of Azure Resource Manager.
    #[arg(long, value_name = "URL", default_value = "https://management.azure.com", requires = "gateway_id", help_heading = "Azure")]
    pub arm_endpoint: String,
    /// Where to log in to Azure; `$AZURE_AUTHORITY_HOST` or https://login.microsoftonline.com when not given.
    #[arg(long, value_name = "URL", requires = "gateway_id", help_heading = "Azure")]
    pub login_endpoint: Option<String>,
}

/// `--log-format`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl From<LogFormat> for chancery_live::log::Format {
    fn from(format: LogFormat) -> Self {
        match format {
            LogFormat::Text => Self::Text,
            LogFormat::Json => Self::Json,
        }
    }
}

/// The format of events.
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
    /// Do not report which requests are treated differently after a change.
    #[arg(long)]
    pub no_requests: bool,
}

/// `serve`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery serve gateway/
  chancery bootstrap --xds 127.0.0.1:8003 > envoy.json && envoy -c envoy.json
  chancery serve --consul 127.0.0.1:8500 --consul-token-file token

An ADDR is HOST:PORT, or `off`; port 0 is a free one. Exit codes: 0 told to end, 2 it cannot serve, or a part of it died.")]
pub struct ServeArgs {
    #[command(flatten)]
    pub live: LiveArgs,
    /// The address of the xDS server.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8003", help_heading = "Servers")]
    pub xds: Address,
    /// The address of the diagnostics server: a page, the API, metrics.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8877", help_heading = "Servers")]
    pub diagnostics: Address,
    /// The address of the server that hands out the inputs as a snapshot.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8002", help_heading = "Servers")]
    pub snapshots: Address,
    /// The address of the same for other tools, always without key material.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8005", help_heading = "Servers")]
    pub public_snapshots: Address,
    /// The address of the server of readiness checks.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8006", help_heading = "Servers")]
    pub ready: Address,
    /// Put key material into the snapshots of --snapshots. Those of --public-snapshots never have any.
    #[arg(long, help_heading = "Servers")]
    pub with_secrets: bool,
    /// A file with the token that requests from other machines must carry.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Servers")]
    pub admin_token_file: Option<PathBuf>,
    /// The certificate of the xDS server. It is read again when it changes.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_key", help_heading = "Servers")]
    pub xds_cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_cert", help_heading = "Servers")]
    pub xds_key: Option<PathBuf>,
    /// The authority that signs the certificates of Envoys. Without it they need none.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_cert", help_heading = "Servers")]
    pub xds_client_ca: Option<PathBuf>,
    /// Serve a validating webhook at this address: `kubectl apply` shows the findings of each object as warnings. Needs --admission-cert.
    #[arg(long, value_name = "ADDR", default_value = "off", help_heading = "Servers")]
    pub admission: Address,
    /// The certificate of the webhook. It is read again when it changes.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "admission_key", help_heading = "Servers")]
    pub admission_cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "admission_cert", help_heading = "Servers")]
    pub admission_key: Option<PathBuf>,
    /// Deny objects with findings of this code; may be given several times. Without it, the webhook only warns.
    #[arg(long, value_name = "CODE", help_heading = "Servers")]
    pub admission_deny: Vec<String>,
    /// How long a folder that becomes empty keeps its last content. `--allow-empty` accepts empty folders at once.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, help_heading = "Sources")]
    pub empty_grace: Duration,
    /// The folder that keeps the last good version of each file for a restart, readable by its owner only; `off` for none [default: $XDG_STATE_HOME/chancery, then ~/.local/state/chancery]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub state_dir: Option<PathBuf>,
    /// How long Envoys keep what they got when they hear nothing more from the server; for ever when not given.
    #[arg(long, value_name = "TIME", value_parser = ttl, help_heading = "Servers")]
    pub xds_ttl: Option<Duration>,
    /// A file in YAML that names proxies with their gateways, and what the certificates of Envoys may ask for. It is read again when it changes.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Servers")]
    pub proxies: Option<PathBuf>,
    /// Whether one Envoy of a gateway gets a change first. What it rejects is not sent to the others.
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "WHETHER", help_heading = "Servers")]
    pub canary: Switch,
    /// Write the statuses of objects into the cluster. Without it nothing is written.
    #[arg(long, requires = "kube", help_heading = "Writing")]
    pub write_status: bool,
    /// Create, change and delete the objects that each Gateway needs, as Contour's provisioner does (`compile --output provisioned`). Implies --write-status.
    #[arg(long, requires = "kube", help_heading = "Writing")]
    pub write_objects: bool,
    /// Write statuses even where another controller writes them, and change a gateway that is tagged for another cluster.
    #[arg(long, help_heading = "Writing")]
    pub take_over: bool,
    /// Change the Application Gateway in Azure as the inputs want it. Without it nothing is sent.
    #[arg(long, requires = "gateway_id", help_heading = "Writing")]
    pub apply: bool,
    /// Change it even if more than half of its listeners go.
    #[arg(long, requires = "apply", help_heading = "Writing")]
    pub confirm_removals: bool,
    /// The Lease that decides which of several servers writes.
    #[arg(long, value_name = "NAME", requires = "kube", help_heading = "Writing")]
    pub lease: Option<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Telling::Human)]
    pub format: Telling,
}

/// `bootstrap`
#[derive(Args)]
#[command(after_help = "Example:\n  chancery bootstrap --xds 127.0.0.1:8003 > envoy.json && envoy -c envoy.json")]
pub struct BootstrapArgs {
    /// The address of `chancery serve`.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8003")]
    pub xds: String,
    /// The id of this Envoy. Of several gateways it gets the one of this name.
    #[arg(long, value_name = "ID", default_value = "envoy")]
    pub node_id: String,
    /// The gateway that it belongs to, where its id is another.
    #[arg(long, value_name = "CLUSTER", default_value = "chancery")]
    pub node_cluster: String,
    /// The address of Envoy's admin interface; `off` for none.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8001")]
    pub admin: String,
    /// Whether only changes are sent, or everything each time.
    #[arg(long, value_enum, default_value_t = ProtocolArg::Delta)]
    pub protocol: ProtocolArg,
    /// The authority that signed the certificate of the server.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tls_ca: Option<PathBuf>,
    /// The certificate that Envoy shows.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

/// `manifests`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery manifests --dialect contour --write-status | kubectl apply -f -
  chancery manifests --dialect ingress --write-status --gateway-id SUBSCRIPTION/GROUP/NAME --apply --azure-client-id ID")]
pub struct ManifestsArgs {
    /// The namespace in which it runs.
    #[arg(long, value_name = "NAMESPACE", default_value = "chancery", value_parser = name)]
    pub into: String,
    /// Read this namespace only, with the permissions of a Role.
    #[arg(short = 'n', long, value_name = "NAMESPACE", value_parser = name)]
    pub namespace: Option<String>,
    /// The image with the program.
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    pub image: Option<String>,
    /// How many run. All of them serve Envoys; with `--write-status` one of them writes.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub replicas: u32,
    /// Permit it to write statuses, and have it do so.
    #[arg(long)]
    pub write_status: bool,
    /// Permit it to create what Gateways need, and have it do so: `--controller gateway-provisioner --write-objects`.
    #[arg(long, conflicts_with = "namespace")]
    pub write_objects: bool,
    /// The Secret with `tls.crt`, `tls.key` and `ca.crt`: what the xDS server shows to Envoys, and who signs theirs.
    #[arg(long, value_name = "NAME", default_value = "chancery-xds", value_parser = name)]
    pub tls_secret: String,
    /// Have it review objects before the API server stores them, with a certificate of cert-manager: `kubectl apply` shows findings as warnings.
    #[arg(long)]
    pub admission: bool,
    /// Have it read this Application Gateway from Azure: SUBSCRIPTION/GROUP/NAME, or its resource id.
    #[arg(long, value_name = "ID", help_heading = "Azure")]
    pub gateway_id: Option<GatewayId>,
    /// Have it change the Application Gateway as the inputs want it.
    #[arg(long, requires = "gateway_id", help_heading = "Azure")]
    pub apply: bool,
    /// The client id by which Azure knows the account, for workload identity.
    #[arg(long, value_name = "ID", requires = "gateway_id", value_parser = client, help_heading = "Azure")]
    pub azure_client_id: Option<String>,
}

/// A client id of Azure: it stands in the manifests as it is.
fn client(text: &str) -> Result<String, String> {
    let is_one = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_one { Ok(text.to_owned()) } else { Err("a client id has letters, digits and `-`".into()) }
}

/// A name of Kubernetes: it stands in the manifests as it is.
fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let is_name = !text.is_empty() && text.len() <= 253 && text.chars().all(fits) && !text.starts_with(['-', '.']) && !text.ends_with(['-', '.']);
    if is_name { Ok(text.to_owned()) } else { Err("a name has lower case letters, digits, and `-` and `.` inside".into()) }
}

/// A reference to an image.
fn image(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | ':' | '@');
    if !text.is_empty() && text.chars().all(fits) { Ok(text.to_owned()) } else { Err("this is no reference to an image, as HOST/NAME:TAG".into()) }
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
    /// The address of the diagnostics server of `chancery serve`.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8877")]
    pub server: String,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// A time that leaves room for two heartbeats.
fn ttl(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time < Duration::from_secs(1) { Err("it must be 1s or longer: Envoys drop everything where a heartbeat is late".into()) } else { Ok(time) }
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
