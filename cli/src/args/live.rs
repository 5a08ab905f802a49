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

/// The sources of inputs.
#[derive(Args)]
#[command(next_help_heading = "Sources")]
pub struct LiveArgs {
    /// Files and folders to follow; `-` for watch events on standard input (`kubectl get -w --output-watch-events -o json`)
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Follow the cluster of the kubeconfig's context, or the cluster of this pod
    #[arg(long)]
    pub kube: bool,
    /// Path to the kubeconfig [default: $KUBECONFIG, then ~/.kube/config]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "kube")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: the current context]
    #[arg(long, value_name = "NAME", requires = "kube")]
    pub context: Option<String>,
    /// Follow this namespace only.
    #[arg(short = 'n', long, value_name = "NAMESPACE", requires = "kube", conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// Follow all namespaces [default without --namespace]
    #[arg(short = 'A', long, requires = "kube")]
    pub all_namespaces: bool,
    /// Follow custom resources with these labels only
    #[arg(long, value_name = "LABELS", requires = "kube")]
    pub selector: Option<String>,
    /// Follow the Consul agent at HOST:PORT or an address with http://, https:// or unix:// [ADDR's default: $CONSUL_HTTP_ADDR, then 127.0.0.1:8500]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "", help_heading = "Consul")]
    pub consul: Option<String>,
    /// File with the token for Consul, read for every request [default: $CONSUL_HTTP_TOKEN_FILE, then the token in $CONSUL_HTTP_TOKEN]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_token_file: Option<PathBuf>,
    /// CA certificate of the agent [default: $CONSUL_CACERT, then the system's CAs]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_ca_file: Option<PathBuf>,
    /// Client certificate for the agent [default: $CONSUL_CLIENT_CERT]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_client_cert: Option<PathBuf>,
    /// Key of the client certificate [default: $CONSUL_CLIENT_KEY]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "consul", help_heading = "Consul")]
    pub consul_client_key: Option<PathBuf>,
    /// Name in the agent's certificate [default: $CONSUL_TLS_SERVER_NAME, then the host of its address]
    #[arg(long, value_name = "NAME", requires = "consul", help_heading = "Consul")]
    pub consul_tls_server_name: Option<String>,
    /// Serve the proxies of this datacenter [default: the agent's datacenter]
    #[arg(long, value_name = "NAME", requires = "consul", help_heading = "Consul")]
    pub consul_datacenter: Option<String>,
    /// Replay a recording of `--record`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub replay: Option<PathBuf>,
    /// With `--replay`: replay this many times faster than recorded; 0 replays without pauses
    #[arg(long, value_name = "TIMES", default_value_t = 0.0, requires = "replay")]
    pub speed: f64,
    #[command(flatten)]
    pub azure: AzureArgs,
    /// Record every change of the sources, without key material
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,
    /// TOML file with options of this command, such as `spacing = "5s"`. Flags and environment variables override it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config_file: Option<PathBuf>,
    /// The shortest time between two builds. Changes during this time are built together
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub spacing: Duration,
    /// Log this level to standard error: `error`, `warn`, `info`, `debug`, `trace` or `off`; or levels by module, such as `info,chancery_live::xds=debug`
    #[arg(long, value_name = "LEVELS", default_value = "info", help_heading = "Logs")]
    pub log_level: Levels,
    /// Format of the log
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
    /// Read this Application Gateway from Azure and compare it: SUBSCRIPTION/GROUP/NAME, or its resource id
    #[arg(long, value_name = "ID", help_heading = "Azure")]
    pub gateway_id: Option<GatewayId>,
    /// Address of Azure Resource Manager
    #[arg(long, value_name = "URL", default_value = "https://management.azure.com", requires = "gateway_id", help_heading = "Azure")]
    pub arm_endpoint: String,
    /// Login address of Azure [default: $AZURE_AUTHORITY_HOST, then https://login.microsoftonline.com]
    #[arg(long, value_name = "URL", requires = "gateway_id", help_heading = "Azure")]
    pub login_endpoint: Option<String>,
}

/// `--log-format`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
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
pub enum EventFormat {
    /// Human-readable text.
    Human,
    /// One JSON object per line.
    Json,
}

impl EventFormat {
    pub fn is_json(self) -> bool {
        self == EventFormat::Json
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
    #[arg(long, value_enum, default_value_t = EventFormat::Human)]
    pub format: EventFormat,
    /// Do not report requests with another result after a change
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

An ADDR is HOST:PORT, or `off`; port 0 chooses a free port. Exit codes: 0 stopped by a signal, 2 it cannot serve, or a part of it crashed.")]
pub struct ServeArgs {
    #[command(flatten)]
    pub live: LiveArgs,
    /// Address of the xDS server
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8003", help_heading = "Servers")]
    pub xds: Address,
    /// Address of the diagnostics server: page, API and metrics
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8877", help_heading = "Servers")]
    pub diagnostics: Address,
    /// Address of the server that returns the inputs as a snapshot
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8002", help_heading = "Servers")]
    pub snapshots: Address,
    /// Address of a second snapshot server for other tools, which never returns key material
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8005", help_heading = "Servers")]
    pub public_snapshots: Address,
    /// Address of the server for readiness checks
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8006", help_heading = "Servers")]
    pub ready: Address,
    /// Put key material into the snapshots of --snapshots. Snapshots of --public-snapshots never contain it
    #[arg(long, help_heading = "Servers")]
    pub with_secrets: bool,
    /// File with the token that requests from other machines must carry
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Servers")]
    pub admin_token_file: Option<PathBuf>,
    /// Certificate of the xDS server, read again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_key", help_heading = "Servers")]
    pub xds_cert: Option<PathBuf>,
    /// Key of the xDS server's certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_cert", help_heading = "Servers")]
    pub xds_key: Option<PathBuf>,
    /// CA certificate of the Envoys. Without it, Envoys need no certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "xds_cert", help_heading = "Servers")]
    pub xds_client_ca: Option<PathBuf>,
    /// Address of a validating webhook, which shows findings as warnings of `kubectl apply`. Needs --admission-cert
    #[arg(long, value_name = "ADDR", default_value = "off", help_heading = "Servers")]
    pub admission: Address,
    /// Certificate of the webhook, read again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "admission_key", help_heading = "Servers")]
    pub admission_cert: Option<PathBuf>,
    /// Key of the webhook's certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "admission_cert", help_heading = "Servers")]
    pub admission_key: Option<PathBuf>,
    /// Deny objects with findings of this code; repeatable [default: the webhook only warns]
    #[arg(long, value_name = "CODE", help_heading = "Servers")]
    pub admission_deny: Vec<String>,
    /// Use the last content of a folder that becomes empty for this time. `--allow-empty` accepts empty folders at once
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, help_heading = "Sources")]
    pub empty_grace: Duration,
    /// Keep the last good version of each file in this folder for a restart, readable by its owner only; `off` for none [default: $XDG_STATE_HOME/chancery, then ~/.local/state/chancery]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Sources")]
    pub state_dir: Option<PathBuf>,
    /// Envoys drop their resources if the server is silent for this time [default: they keep them]
    #[arg(long, value_name = "TIME", value_parser = ttl, help_heading = "Servers")]
    pub xds_ttl: Option<Duration>,
    /// YAML file that assigns proxies to gateways and lists the resources that each client certificate may request, read again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Servers")]
    pub proxies: Option<PathBuf>,
    /// Share the gateways with the servers at these xDS addresses: HOST:PORT of a headless Service, or a list with `,`. Each server builds its own gateways only. The others must reach --ready [default: this server serves all gateways]
    #[arg(long, value_name = "ADDRS", value_delimiter = ',', value_parser = chancery_live::replicas::membership::parse_host, help_heading = "Servers")]
    pub replicas: Vec<String>,
    /// Send each change to one Envoy per gateway first. If this Envoy rejects it, the others do not get it
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "WHETHER", help_heading = "Servers")]
    pub canary: Switch,
    /// Write the statuses of objects into the cluster. Without this flag, `serve` writes no statuses
    #[arg(long, requires = "kube", help_heading = "Writing")]
    pub write_status: bool,
    /// Create, change and delete the objects that each Gateway needs, as Contour's provisioner does (`compile --output provisioned`). Implies --write-status
    #[arg(long, requires = "kube", help_heading = "Writing")]
    pub write_objects: bool,
    /// Write statuses even if another controller writes them, and change a gateway with the tag of another cluster
    #[arg(long, help_heading = "Writing")]
    pub take_over: bool,
    /// Change the Application Gateway in Azure. Without this flag, `serve` only reads and compares it
    #[arg(long, requires = "gateway_id", help_heading = "Writing")]
    pub apply: bool,
    /// Apply changes even if they remove more than half of the listeners
    #[arg(long, requires = "apply", help_heading = "Writing")]
    pub confirm_removals: bool,
    /// The Lease that elects the server that writes
    #[arg(long, value_name = "NAME", requires = "kube", help_heading = "Writing")]
    pub lease: Option<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = EventFormat::Human)]
    pub format: EventFormat,
}

/// `bootstrap`
#[derive(Args)]
#[command(after_help = "Example:\n  chancery bootstrap --xds 127.0.0.1:8003 > envoy.json && envoy -c envoy.json")]
pub struct BootstrapArgs {
    /// Address of the xDS server of `chancery serve`. For several servers: their headless Service, or a list with `,`
    #[arg(long, value_name = "ADDRS", value_delimiter = ',', default_value = "127.0.0.1:8003")]
    pub xds: Vec<String>,
    /// The id of this Envoy. If there are several gateways, Envoy gets the gateway with this name
    #[arg(long, value_name = "ID", default_value = "envoy")]
    pub node_id: String,
    /// The gateway of this Envoy, if its id is not a gateway's name
    #[arg(long, value_name = "CLUSTER", default_value = "chancery")]
    pub node_cluster: String,
    /// Address of Envoy's admin interface; `off` for none
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8001")]
    pub admin: String,
    /// Send only changes (delta), or the whole state each time (sotw)
    #[arg(long, value_enum, default_value_t = ProtocolArg::Delta)]
    pub protocol: ProtocolArg,
    /// CA certificate of the server
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tls_ca: Option<PathBuf>,
    /// Client certificate of Envoy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Key of the client certificate
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
    /// The namespace of the server
    #[arg(long, value_name = "NAMESPACE", default_value = "chancery", value_parser = name)]
    pub into: String,
    /// Read this namespace only, with the permissions of a Role
    #[arg(short = 'n', long, value_name = "NAMESPACE", value_parser = name)]
    pub namespace: Option<String>,
    /// The image with the program
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    pub image: Option<String>,
    /// The number of servers. They share the gateways; with `--write-status`, one of them writes
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub replicas: u32,
    /// Write statuses: adds the permissions and the flag
    #[arg(long)]
    pub write_status: bool,
    /// Create the objects that Gateways need: adds the permissions and `--controller gateway-provisioner --write-objects`
    #[arg(long, conflicts_with = "namespace")]
    pub write_objects: bool,
    /// The Secret with the xDS server's certificate (`tls.crt`, `tls.key`) and the CA of the Envoys (`ca.crt`)
    #[arg(long, value_name = "NAME", default_value = "chancery-xds", value_parser = name)]
    pub tls_secret: String,
    /// Review objects before the API server stores them, with a certificate of cert-manager
    #[arg(long)]
    pub admission: bool,
    /// Read this Application Gateway from Azure: SUBSCRIPTION/GROUP/NAME, or its resource id
    #[arg(long, value_name = "ID", help_heading = "Azure")]
    pub gateway_id: Option<GatewayId>,
    /// Change the Application Gateway in Azure
    #[arg(long, requires = "gateway_id", help_heading = "Azure")]
    pub apply: bool,
    /// The account's client id in Azure, for workload identity
    #[arg(long, value_name = "ID", requires = "gateway_id", value_parser = client, help_heading = "Azure")]
    pub azure_client_id: Option<String>,
}

/// Validates a client id of Azure, which the manifests contain unchanged.
fn client(text: &str) -> Result<String, String> {
    let is_one = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_one { Ok(text.to_owned()) } else { Err("a client id has letters, digits and `-`".into()) }
}

/// Validates a Kubernetes name, which the manifests contain unchanged.
fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let is_name = !text.is_empty() && text.len() <= 253 && text.chars().all(fits) && !text.starts_with(['-', '.']) && !text.ends_with(['-', '.']);
    if is_name { Ok(text.to_owned()) } else { Err("a name has lower case letters, digits, and `-` and `.` inside".into()) }
}

/// Validates a reference to an image.
fn image(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | ':' | '@');
    if !text.is_empty() && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("this is not a reference to an image, such as HOST/NAME:TAG".into())
    }
}

/// `--protocol`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolArg {
    /// Send only changes.
    Delta,
    /// Send the whole state each time.
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
    /// One Envoy per gateway first.
    On,
    /// All Envoys at once.
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
    /// Address of the diagnostics server of `chancery serve`
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
