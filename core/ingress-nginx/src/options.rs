//! Parses the controller's flags, which affect responses and are not in the YAML.
//!
//! Does not read arguments or variables of the process; the host program passes all flags.

use super::annotations::PREFIX;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, OptionKind, OptionSpec};
use chancery_base::ir::nginx::Ports;
use chancery_kubernetes::go;
use chancery_text::Str;

/// The name of the option with the controller's flags.
pub const CONTROLLER_ARG: &str = "controller-arg";

/// The options that users set.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: CONTROLLER_ARG,
        kind: OptionKind::List { placeholder: "FLAG" },
        doc: "Flag of the controller, such as --ingress-class=internal; repeatable",
        common: true,
    },
];

/// The controller's flags.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `--annotations-prefix`
    pub annotations_prefix: Str,
    /// `--configmap`
    pub config_map: Str,
    /// `--controller-class`
    pub controller_class: Str,
    /// `--ingress-class`
    pub ingress_class: Str,
    /// `--ingress-class-by-name`
    pub class_by_name: bool,
    /// `--watch-ingress-without-class`
    pub watches_without_class: bool,
    /// `--watch-namespace`
    pub watch_namespace: Str,
    /// `--watch-namespace-selector`
    pub watch_selector: Str,
    /// `--default-backend-service`
    pub default_backend: Str,
    /// `--default-ssl-certificate`
    pub default_certificate: Str,
    /// `--tcp-services-configmap`
    pub tcp_services: Str,
    /// `--udp-services-configmap`
    pub udp_services: Str,
    /// `--disable-catch-all`
    pub disables_catch_all: bool,
    /// `--disable-svc-external-name`
    pub disables_external_names: bool,
    /// `--deep-inspect`
    pub inspects: bool,
    /// `--enable-annotation-validation`
    pub validates: bool,
    pub ports: Ports,
    /// `--health-check-path`
    pub health_path: Str,
    /// Flags that the controller does not have.
    pub unknown: Vec<Str>,
    /// Flags with a value that the controller does not accept, each with the value.
    pub invalid: Vec<(Str, Str)>,
    /// Whether to assume the controller's own objects if the input lacks them.
    pub assumes_start: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            annotations_prefix: Str::new_static(PREFIX),
            config_map: Str::new_static("ingress-nginx/ingress-nginx-controller"),
            controller_class: Str::new_static("k8s.io/ingress-nginx"),
            ingress_class: Str::new_static("nginx"),
            class_by_name: false,
            watches_without_class: false,
            watch_namespace: Str::default(),
            watch_selector: Str::default(),
            default_backend: Str::default(),
            default_certificate: Str::default(),
            tcp_services: Str::default(),
            udp_services: Str::default(),
            disables_catch_all: false,
            disables_external_names: false,
            inspects: true,
            validates: true,
            ports: Ports::default(),
            health_path: Str::new_static("/healthz"),
            unknown: Vec::new(),
            invalid: Vec::new(),
            assumes_start: false,
        }
    }
}

/// Flags that do not affect responses, including the logging flags that Go programs share.
const WITHOUT_EFFECT: &[&str] = &[
    "apiserver-host",
    "certificate-authority",
    "kubeconfig",
    "publish-service",
    "sync-period",
    "profiling",
    "health-check-timeout",
    "update-status",
    "election-id",
    "election-ttl",
    "update-status-on-shutdown",
    "report-node-internal-ip-address",
    "version",
    "disable-leader-election",
    "enable-ssl-chain-completion",
    "sync-rate-limit",
    "publish-status-address",
    "enable-metrics",
    "metrics-per-host",
    "metrics-per-undefined-host",
    "report-status-classes",
    "time-buckets",
    "length-buckets",
    "size-buckets",
    "bucket-factor",
    "max-buckets",
    "exclude-socket-metrics",
    "monitor-max-batch-size",
    "healthz-port",
    "healthz-host",
    "validating-webhook",
    "validating-webhook-certificate",
    "validating-webhook-key",
    "disable-full-test",
    "status-port",
    "stream-port",
    "internal-logger-address",
    "profiler-port",
    "profiler-address",
    "status-update-interval",
    "shutdown-grace-period",
    "post-shutdown-grace-period",
    "dynamic-configuration-retries",
    "disable-sync-events",
    "enable-topology-aware-routing",
    "maxmind-mirror",
    "maxmind-license-key",
    "maxmind-edition-ids",
    "maxmind-retries-count",
    "maxmind-retries-timeout",
    "v",
    "vmodule",
    "logtostderr",
    "alsologtostderr",
    "log_dir",
    "log_file",
    "log_file_max_size",
    "stderrthreshold",
    "skip_headers",
    "skip_log_headers",
    "add_dir_header",
    "log_backtrace_at",
    "one_output",
];

impl Options {
    /// Reads the controller's flags from the options of a compile.
    pub fn of(options: &compilation::Options) -> Self {
        let mut found = Self { assumes_start: Assumptions::of(options).assumes_controller(), ..Self::default() };
        for flag in options.list(CONTROLLER_ARG) {
            found.apply_flag(flag);
        }
        found
    }

    /// Whether a flag changes responses: a known flag with a valid value that differs from the default.
    pub fn is_changed_by(flag: &str) -> bool {
        let mut found = Self::default();
        found.apply_flag(flag);
        found != Self::default() && found.unknown.is_empty() && found.invalid.is_empty()
    }

    fn apply_flag(&mut self, written: &str) {
        let flag = written.strip_prefix("--").or_else(|| written.strip_prefix('-')).unwrap_or(written);
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        let text = || Str::new(value.unwrap_or_default());
        let mut flag_value = || match value {
            None => true,
            Some(text) => go::parse_bool(text).unwrap_or_else(|| {
                self.invalid.push((Str::from(format!("--{name}")), Str::new(text)));
                false
            }),
        };
        match name {
            "annotations-prefix" => self.annotations_prefix = text(),
            "configmap" => self.config_map = text(),
            "controller-class" => self.controller_class = text(),
            "ingress-class" => self.ingress_class = text(),
            "ingress-class-by-name" => self.class_by_name = flag_value(),
            "watch-ingress-without-class" => self.watches_without_class = flag_value(),
            "watch-namespace" => self.watch_namespace = text(),
            "watch-namespace-selector" => self.watch_selector = text(),
            "default-backend-service" => self.default_backend = text(),
            "default-ssl-certificate" => self.default_certificate = text(),
            "tcp-services-configmap" => self.tcp_services = text(),
            "udp-services-configmap" => self.udp_services = text(),
            "disable-catch-all" => self.disables_catch_all = flag_value(),
            "disable-svc-external-name" => self.disables_external_names = flag_value(),
            "deep-inspect" => self.inspects = flag_value(),
            "enable-annotation-validation" => self.validates = flag_value(),
            "enable-ssl-passthrough" => self.ports.has_ssl_passthrough = flag_value(),
            "health-check-path" => self.health_path = text(),
            "http-port" | "https-port" | "ssl-passthrough-proxy-port" | "default-server-port" => self.apply_port(name, value.unwrap_or_default()),
            name if WITHOUT_EFFECT.contains(&name) => {}
            name => self.unknown.push(Str::from(format!("--{name}"))),
        }
    }

    fn apply_port(&mut self, name: &str, value: &str) {
        let Ok(port) = value.parse() else {
            self.invalid.push((Str::from(String::from("--") + name), Str::new(value)));
            return;
        };
        match name {
            "http-port" => self.ports.http = port,
            "https-port" => self.ports.https = port,
            "ssl-passthrough-proxy-port" => self.ports.ssl_proxy = port,
            _ => self.ports.default = port,
        }
    }

    /// Whether `--watch-namespace` includes a namespace.
    pub fn watches(&self, namespace: &str) -> bool {
        self.watch_namespace.is_empty() || self.watch_namespace == namespace
    }
}
