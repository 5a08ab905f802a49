//! Parses the flags of Contour's programs (Contour `cmd/contour/serve.go`, `registerServe`) like kingpin.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::schema::duration;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The type of a flag's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
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

const OF_SERVE: &[(&str, Takes)] = &[
    ("accesslog-format", Takes::Text),
    ("config-path", Takes::File),
    ("contour-cafile", Takes::Text),
    ("contour-cert-file", Takes::Text),
    ("contour-config-name", Takes::Text),
    ("contour-key-file", Takes::Text),
    ("debug", Takes::Bool),
    ("debug-http-address", Takes::Text),
    ("debug-http-port", Takes::Int),
    ("disable-feature", Takes::OneOf(FEATURES)),
    ("disable-leader-election", Takes::Bool),
    ("envoy-http-access-log", Takes::Text),
    ("envoy-https-access-log", Takes::Text),
    ("envoy-service-http-address", Takes::Text),
    ("envoy-service-http-port", Takes::Int),
    ("envoy-service-https-address", Takes::Text),
    ("envoy-service-https-port", Takes::Int),
    ("envoy-service-name", Takes::Text),
    ("envoy-service-namespace", Takes::Text),
    ("health-address", Takes::Text),
    ("health-port", Takes::Int),
    ("http-address", Takes::Text),
    ("http-port", Takes::Int),
    ("incluster", Takes::Bool),
    ("ingress-class-name", Takes::Text),
    ("ingress-status-address", Takes::Text),
    ("insecure", Takes::Bool),
    ("kubeconfig", Takes::Text),
    ("kubernetes-client-burst", Takes::Int),
    ("kubernetes-client-qps", Takes::Float),
    ("kubernetes-debug", Takes::Uint),
    ("leader-election-lease-duration", Takes::Duration),
    ("leader-election-renew-deadline", Takes::Duration),
    ("leader-election-resource-name", Takes::Text),
    ("leader-election-resource-namespace", Takes::Text),
    ("leader-election-retry-period", Takes::Duration),
    ("log-format", LOG_FORMAT),
    ("root-namespaces", Takes::Text),
    ("stats-address", Takes::Text),
    ("stats-port", Takes::Int),
    ("use-proxy-protocol", Takes::Bool),
    ("watch-namespaces", Takes::Text),
    ("xds-address", Takes::Text),
    ("xds-port", Takes::Int),
];

/// The flags of `contour gateway-provisioner` (Contour `cmd/contour/gatewayprovisioner.go`).
const OF_PROVISIONER: &[(&str, Takes)] = &[
    ("contour-image", Takes::Text),
    ("enable-leader-election", Takes::Bool),
    ("envoy-image", Takes::Text),
    ("gateway-controller-name", Takes::Text),
    ("incluster", Takes::Bool),
    ("kubeconfig", Takes::Text),
    ("leader-election-namespace", Takes::Text),
    ("log-format", LOG_FORMAT),
    ("metrics-addr", Takes::Text),
];

const LOG_FORMAT: Takes = Takes::OneOf(&["text", "json"]);

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
    fn parse(known: &'static [(&'static str, Takes)], command: &str, arguments: &[Str]) -> Result<Self, Reason> {
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
                (Some((flag, Takes::Bool)), _) => (flag, Takes::Bool, Str::new(written.as_deref().unwrap_or("true"))),
                (Some((flag, takes)), _) => match written.or_else(|| rest.next().cloned()) {
                    Some(value) => (flag, *takes, value),
                    None => return Err(format!("expected argument for flag '--{flag}'").into()),
                },
                (None, Some((flag, Takes::Bool))) => (flag, Takes::Bool, Str::new_static("false")),
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

fn check(takes: Takes, value: &str) -> Result<(), Reason> {
    let quoted = chancery_base::schema::go_quoted;
    match takes {
        Takes::Text | Takes::File => Ok(()),
        Takes::Int if value.parse::<f64>().is_ok() => Ok(()),
        Takes::Float if value.parse::<f32>().is_ok() => Ok(()),
        Takes::Int | Takes::Float => Err(format!("strconv.ParseFloat: parsing {}: invalid syntax", quoted(value)).into()),
        Takes::Uint if value.parse::<u64>().is_ok() => Ok(()),
        Takes::Uint => Err(format!("strconv.ParseUint: parsing {}: invalid syntax", quoted(value)).into()),
        Takes::Bool if matches!(value, "1" | "t" | "T" | "TRUE" | "true" | "True" | "0" | "f" | "F" | "FALSE" | "false" | "False") => Ok(()),
        Takes::Bool => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", quoted(value)).into()),
        Takes::Duration => duration::read(value).map(|_| ()).map_err(|error| format!("{error}").into()),
        Takes::OneOf(values) if values.contains(&value) => Ok(()),
        Takes::OneOf(values) => Err(format!("enum value must be one of {}, got '{value}'", values.join(",")).into()),
    }
}

/// Whether a flag's value is true.
pub fn is_true(value: &str) -> bool {
    matches!(value, "1" | "t" | "T" | "TRUE" | "true" | "True")
}
