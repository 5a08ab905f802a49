//! Parses the flags of Contour's programs (Contour `cmd/contour/serve.go`, `registerServe`) like kingpin.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::schema::duration;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The type of a flag's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlagType {
    Text,
    Int,
    Uint,
    Float,
    Bool,
    Duration,
    /// A file, which must exist.
    File,
    /// One of these words; may be repeated.
    OneOf(&'static [&'static str]),
}

/// Resources that may be left unwatched.
const FEATURES: &[&str] = &["extensionservices", "tlsroutes", "grpcroutes", "tcproutes", "backendtlspolicies"];

const OF_SERVE: &[(&str, FlagType)] = &[
    ("accesslog-format", FlagType::Text),
    ("config-path", FlagType::File),
    ("contour-cafile", FlagType::Text),
    ("contour-cert-file", FlagType::Text),
    ("contour-config-name", FlagType::Text),
    ("contour-key-file", FlagType::Text),
    ("debug", FlagType::Bool),
    ("debug-http-address", FlagType::Text),
    ("debug-http-port", FlagType::Int),
    ("disable-feature", FlagType::OneOf(FEATURES)),
    ("disable-leader-election", FlagType::Bool),
    ("envoy-http-access-log", FlagType::Text),
    ("envoy-https-access-log", FlagType::Text),
    ("envoy-service-http-address", FlagType::Text),
    ("envoy-service-http-port", FlagType::Int),
    ("envoy-service-https-address", FlagType::Text),
    ("envoy-service-https-port", FlagType::Int),
    ("envoy-service-name", FlagType::Text),
    ("envoy-service-namespace", FlagType::Text),
    ("health-address", FlagType::Text),
    ("health-port", FlagType::Int),
    ("http-address", FlagType::Text),
    ("http-port", FlagType::Int),
    ("incluster", FlagType::Bool),
    ("ingress-class-name", FlagType::Text),
    ("ingress-status-address", FlagType::Text),
    ("insecure", FlagType::Bool),
    ("kubeconfig", FlagType::Text),
    ("kubernetes-client-burst", FlagType::Int),
    ("kubernetes-client-qps", FlagType::Float),
    ("kubernetes-debug", FlagType::Uint),
    ("leader-election-lease-duration", FlagType::Duration),
    ("leader-election-renew-deadline", FlagType::Duration),
    ("leader-election-resource-name", FlagType::Text),
    ("leader-election-resource-namespace", FlagType::Text),
    ("leader-election-retry-period", FlagType::Duration),
    ("log-format", LOG_FORMAT),
    ("root-namespaces", FlagType::Text),
    ("stats-address", FlagType::Text),
    ("stats-port", FlagType::Int),
    ("use-proxy-protocol", FlagType::Bool),
    ("watch-namespaces", FlagType::Text),
    ("xds-address", FlagType::Text),
    ("xds-port", FlagType::Int),
];

/// The flags of `contour gateway-provisioner` (Contour `cmd/contour/gatewayprovisioner.go`).
const OF_PROVISIONER: &[(&str, FlagType)] = &[
    ("contour-image", FlagType::Text),
    ("enable-leader-election", FlagType::Bool),
    ("envoy-image", FlagType::Text),
    ("gateway-controller-name", FlagType::Text),
    ("incluster", FlagType::Bool),
    ("kubeconfig", FlagType::Text),
    ("leader-election-namespace", FlagType::Text),
    ("log-format", LOG_FORMAT),
    ("metrics-addr", FlagType::Text),
];

const LOG_FORMAT: FlagType = FlagType::OneOf(&["text", "json"]);

#[derive(Clone, Debug, Default)]
pub struct Flags {
    values: BTreeMap<&'static str, Vec<Str>>,
    /// Flag names in the order of their first use.
    pub order: Vec<&'static str>,
}

impl Flags {
    /// Parses a command line of `contour serve`, or returns kingpin's error.
    pub fn of_serve(arguments: &[Str]) -> Result<Self, Reason> {
        Self::parse(OF_SERVE, "serve", arguments)
    }

    /// Parses a command line of `contour gateway-provisioner`, or returns kingpin's error.
    pub fn of_provisioner(arguments: &[Str]) -> Result<Self, Reason> {
        Self::parse(OF_PROVISIONER, "gateway-provisioner", arguments)
    }

    /// Parses a command line, which may contain the command's own name.
    fn parse(known: &'static [(&'static str, FlagType)], command: &str, arguments: &[Str]) -> Result<Self, Reason> {
        let mut flags = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == command || argument.is_empty() {
                continue;
            }
            let (name, written) = match (argument.strip_prefix("--"), argument.strip_prefix('-')) {
                (Some(long), _) => match long.split_once('=') {
                    Some((name, value)) => (name, Some(Str::new(value))),
                    None => (long, None),
                },
                (None, Some(short)) => {
                    let mut characters = short.chars();
                    let name = match characters.next() {
                        Some('c') => "config-path",
                        Some('d') => "debug",
                        Some(unknown) => return Err(format!("unknown short flag '-{unknown}'").into()),
                        None => return Err("unexpected -".into()),
                    };
                    let value = characters.as_str();
                    (name, (!value.is_empty()).then(|| Str::new(value.trim_start_matches('='))))
                }
                (None, None) => return Err(format!("unexpected {argument}").into()),
            };
            let negated = name.strip_prefix("no-");
            let found = |name: &str| known.iter().find(|(flag, _)| *flag == name);
            let (flag, takes, value) = match (found(name), negated.and_then(found)) {
                (Some((flag, FlagType::Bool)), _) => (flag, FlagType::Bool, Str::new(written.as_deref().unwrap_or("true"))),
                (Some((flag, takes)), _) => match written.or_else(|| rest.next().cloned()) {
                    Some(value) => (flag, *takes, value),
                    None => return Err(format!("expected argument for flag '--{flag}'").into()),
                },
                (None, Some((flag, FlagType::Bool))) => (flag, FlagType::Bool, Str::new_static("false")),
                (None, _) => return Err(format!("unknown long flag '--{name}'").into()),
            };
            check(takes, &value)?;
            let values = flags.values.entry(flag).or_default();
            if values.is_empty() {
                flags.order.push(flag);
            }
            values.push(value);
        }
        Ok(flags)
    }

    /// The value of a flag: the last one wins.
    pub fn get(&self, name: &str) -> Option<&Str> {
        self.values.get(name)?.last()
    }

    /// All values of a flag.
    pub fn all(&self, name: &str) -> &[Str] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// A comma-separated list of namespaces.
    pub fn namespaces(&self, name: &str) -> Vec<Str> {
        let value = self.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        value.into_iter().flat_map(|value| value.split(',')).map(|namespace| Str::new(namespace.trim())).collect()
    }
}

fn check(takes: FlagType, value: &str) -> Result<(), Reason> {
    let quoted = chancery_base::schema::go_quoted;
    match takes {
        FlagType::Text | FlagType::File => Ok(()),
        FlagType::Int if value.parse::<f64>().is_ok() => Ok(()),
        FlagType::Float if value.parse::<f32>().is_ok() => Ok(()),
        FlagType::Int | FlagType::Float => Err(format!("strconv.ParseFloat: parsing {}: invalid syntax", quoted(value)).into()),
        FlagType::Uint if value.parse::<u64>().is_ok() => Ok(()),
        FlagType::Uint => Err(format!("strconv.ParseUint: parsing {}: invalid syntax", quoted(value)).into()),
        FlagType::Bool if matches!(value, "1" | "t" | "T" | "TRUE" | "true" | "True" | "0" | "f" | "F" | "FALSE" | "false" | "False") => Ok(()),
        FlagType::Bool => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", quoted(value)).into()),
        FlagType::Duration => duration::read(value).map(|_| ()).map_err(|error| format!("{error}").into()),
        FlagType::OneOf(values) if values.contains(&value) => Ok(()),
        FlagType::OneOf(values) => Err(format!("enum value must be one of {}, got '{value}'", values.join(",")).into()),
    }
}

/// Whether a flag's value is true.
pub fn is_true(value: &str) -> bool {
    matches!(value, "1" | "t" | "T" | "TRUE" | "true" | "True")
}
