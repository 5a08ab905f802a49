//! Models IRAmbassador: the `ambassador` Module, its defaults, and its filters.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irambassador.py`, `ir/irgzip.py`, `ir/irbuffer.py`, `ir/iripallowdeny.py`.

use super::breakers::{Breakers, named_breakers};
use super::filter::{Filter, FilterKind};
use super::mapping::{self, LbSettings};
use super::notices::{ControllerNotice, Identity, Notices, REFUSED_HELP};
use super::service::python_repr;
use super::tls::is_truthy;
use super::{HttpMapping, Model};
use crate::config::Config;
use crate::spec::{self, AmbassadorModule, Decode, Decoder, MappingDefaults};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::ir::{ClientCertDetails, Compressor, GrpcStats, GrpcStatsMethods, IpRange, IpSource, Rbac, RbacAction};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::{Node, Str, Value};
use core::net::IpAddr;

/// The port of the controller's diagnostics service, which answers probes.
const DIAGNOSTICS_SERVICE: &str = "127.0.0.1:8877";

/// IRAmbassador.
#[derive(Clone, Debug, Default)]
pub struct Ambassador {
    /// The Module, or `ir.ambassador` without one.
    pub identity: Identity,
    /// The written settings that are usable.
    pub settings: AmbassadorModule,
    /// `defaults` for Mappings.
    pub mapping_defaults: MappingDefaults,
    /// Load balancer of Mappings without one.
    pub load_balancer: Option<Sourced<LbSettings>>,
    /// Circuit breakers of Mappings without any.
    pub circuit_breakers: Option<Breakers>,
    /// CORS of Mappings without any.
    pub cors: Option<Sourced<Box<spec::Cors>>>,
    /// Retry policy of Mappings without one.
    pub retry_policy: Option<Sourced<Box<spec::RetryPolicy>>>,
    /// `forward_client_cert_details`, if valid.
    pub client_cert_details: Option<Sourced<ClientCertDetails>>,
    /// Largest RE2 program.
    pub regex_max_size: Sourced<u32>,
    /// Whether an error was posted on it: some defaults are then not applied.
    pub errored: bool,
    tls_secret_namespacing: Option<bool>,
}

impl Ambassador {
    /// Reads the Module, without checking it: [`Model::finish_ambassador`] does.
    pub(super) fn new(config: &Config, notices: &mut Notices) -> Self {
        let mut this =
            Self { identity: Identity::internal("ir.ambassador", "Module", "ambassador"), regex_max_size: Sourced::built_in(200), ..Self::default() };
        let Some(module) = config.get_module("ambassador") else { return this };
        this.identity = Identity::of(module);
        let mut wrong = Vec::new();
        let mut decoder = Decoder::noting(module.object, Rule::Module, &mut wrong);
        this.settings = AmbassadorModule::decode(&module.spec, &mut decoder).unwrap_or_default();
        if let Some(defaults) = this.settings.defaults.clone() {
            this.read_defaults(&defaults.value, &mut decoder);
        }
        for mistake in wrong {
            let message =
                format!("the Module needs {} {} here, not {} {}", article(mistake.expected), mistake.expected, article(mistake.found), mistake.found);
            notices.error(&this.identity, ControllerNotice::new(&codes::WRONG_MODULE_VALUE, message, mistake.origin));
        }
        this
    }

    /// `defaults` may set a thing for all, or under `httpmapping` for Mappings; the latter wins.
    fn read_defaults(&mut self, defaults: &Node, decoder: &mut Decoder<'_>) {
        let general = MappingDefaults::decode(defaults, decoder).unwrap_or_default();
        let special = defaults.get("httpmapping").and_then(|node| MappingDefaults::decode(node, decoder)).unwrap_or_default();
        self.mapping_defaults = MappingDefaults {
            add_request_headers: special.add_request_headers.or(general.add_request_headers),
            add_response_headers: special.add_response_headers.or(general.add_response_headers),
            remove_request_headers: special.remove_request_headers.or(general.remove_request_headers),
            remove_response_headers: special.remove_response_headers.or(general.remove_response_headers),
            stats_name: special.stats_name.or(general.stats_name),
        };
        self.tls_secret_namespacing = defaults.get("tls_secret_namespacing").map(|node| is_truthy(&node.value));
    }

    /// Whether dots in names of secrets separate a namespace.
    pub fn tls_secret_namespacing(&self) -> bool {
        self.tls_secret_namespacing.unwrap_or(true)
    }

    /// The resolver of Mappings without one.
    pub fn resolver(&self) -> Sourced<Str> {
        self.settings.resolver.clone().filter(|name| !name.value.is_empty()).unwrap_or_else(|| Sourced::built_in("kubernetes-service".into()))
    }

    /// Domain of rate limit labels.
    pub fn default_label_domain(&self) -> Sourced<Str> {
        let domain = self.settings.default_label_domain.clone();
        domain.filter(|domain| !domain.value.is_empty()).unwrap_or_else(|| Sourced::built_in("ambassador".into()))
    }

    /// Labels that precede every label of a domain.
    pub fn default_labels(&self, domain: &str) -> Option<&Sourced<Vec<Sourced<spec::LabelSpecifier>>>> {
        self.settings.default_labels.as_ref()?.value.get(domain)?.value.defaults.as_ref().filter(|labels| !labels.value.is_empty())
    }

    /// A boolean by Python's `parse_bool`.
    pub fn flag(value: Option<&Sourced<Node>>) -> Option<Sourced<bool>> {
        let value = value?;
        let on = match &value.value.value {
            Value::Bool(on) => *on,
            Value::String(text) => matches!(text.to_ascii_lowercase().as_str(), "y" | "yes" | "on" | "1" | "true" | "t"),
            _ => false,
        };
        on.then(|| Sourced::new(true, value.origin))
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

impl Model<'_> {
    /// IRAmbassador.finalize: certificates first, then the settings; it stops at the first broken one, as the reference does.
    pub(super) fn finish_ambassador(&mut self) {
        self.resolve_contexts();
        let identity = self.ambassador.identity.clone();
        self.ambassador.errored = self.notices.has_error(&identity.rkey);
        if let Some(timeout) = self.ambassador.settings.envoy_validation_timeout.clone() {
            let whole = match &timeout.value.value {
                Value::Int(_) | Value::Bool(_) | Value::Float(_) => true,
                Value::String(text) => text.trim().parse::<i64>().is_ok(),
                _ => false,
            };
            if !whole {
                self.report_on_module("envoy_validation_timeout must be an integer number of seconds", timeout.origin);
            }
        }
        self.regex_size();
        if self.module_filters().is_ok() {
            self.check_module();
        }
    }

    fn regex_size(&mut self) {
        let Some(size) = self.ambassador.settings.regex_max_size.clone() else { return };
        let number = match &size.value.value {
            Value::Int(number) => u32::try_from(*number).ok(),
            Value::String(text) => text.trim().parse().ok(),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Python's int() truncates, and the range is checked")]
            Value::Float(number) if (0.0..4e9).contains(number) => Some(*number as u32),
            _ => None,
        };
        match number {
            Some(number) => self.ambassador.regex_max_size = Sourced::new(number, size.origin),
            None => self.report_on_module("regex_max_size must be a whole number", size.origin),
        }
    }

    fn report_on_module(&mut self, message: impl Into<String>, origin: Option<Origin>) {
        self.ambassador.errored = true;
        let identity = self.ambassador.identity.clone();
        self.notices.error(&identity, ControllerNotice::new(&codes::WRONG_MODULE_VALUE, message, origin));
    }

    fn save_module_filter(&mut self, name: &str, kind: FilterKind, origin: Option<Origin>) {
        self.filters.push(Filter { name: name.into(), kind, origin: origin.or(self.ambassador.identity.origin) });
    }

    /// The Module's filters in the reference's order. An invalid one stops all later ones.
    fn module_filters(&mut self) -> Result<(), Reported> {
        let settings = self.ambassador.settings.clone();
        if let Some(bridge) = &settings.enable_grpc_http11_bridge {
            self.save_module_filter("envoy.filters.http.grpc_http1_bridge", FilterKind::GrpcHttp1Bridge, bridge.origin);
        }
        if let Some(web) = &settings.enable_grpc_web {
            self.save_module_filter("envoy.filters.http.grpc_web", FilterKind::GrpcWeb, web.origin);
        }
        if let Some(stats) = &settings.grpc_stats {
            self.save_module_filter("envoy.filters.http.grpc_stats", FilterKind::GrpcStats(grpc_stats(stats)), stats.origin);
        }
        if let Some(script) = &settings.lua_scripts {
            self.save_module_filter("envoy.filters.http.lua", FilterKind::Lua(script.clone()), script.origin);
        }
        if let Some(gzip) = &settings.gzip {
            let compressor = self.compressor(&gzip.value);
            self.save_module_filter("envoy.filters.http.gzip", FilterKind::Gzip(compressor), gzip.origin);
        }
        if let Some(buffer) = &settings.buffer {
            match &buffer.value.max_request_bytes {
                Some(bytes) => match u32::try_from(bytes.value) {
                    Ok(limit) if limit > 0 => {
                        let limit = Sourced::new(limit, bytes.origin);
                        self.save_module_filter("envoy.filters.http.buffer", FilterKind::Buffer(limit), buffer.origin);
                    }
                    _ => self.refuse_module_value("buffer.max_request_bytes must be from 1 to 4294967295", bytes.origin),
                },
                None => {
                    // A value of the wrong type has been reported already; an absent one stops the reference.
                    let written = self.module_node(&["buffer", "max_request_bytes"]).is_some();
                    if !written {
                        let part = Identity { origin: self.ambassador.identity.origin, ..Identity::internal("ir.buffer", "IRBuffer", "ir.buffer") };
                        let post = ControllerNotice::new(&codes::MISSING_FIELD, "missing required field: max_request_bytes", buffer.origin);
                        return Err(self.notices.error(&part, post));
                    }
                }
            }
        }
        self.ambassador.cors = settings.cors.clone();
        if let Some(policy) = &settings.retry_policy {
            // The reference keeps and applies even a policy that it reports.
            self.ambassador.retry_policy = Some(policy.clone());
            if !mapping::valid_retry_policy(&policy.value) {
                let part =
                    Identity { origin: self.ambassador.identity.origin, ..Identity::internal("ir.retrypolicy", "IRRetryPolicy", "ir.retrypolicy") };
                let message = "Invalid retry policy specified: <IRRetryPolicy ir.retrypolicy>";
                return Err(self.notices.error(&part, ControllerNotice::new(&codes::INVALID_RETRY_POLICY, message, policy.origin)));
            }
        }
        self.ip_filter(&settings);
        Ok(())
    }

    fn module_node(&self, path: &[&str]) -> Option<&Node> {
        self.config.get_module("ambassador")?.spec.at(path)
    }

    /// Reports and omits a value that the reference passes on but Envoy rejects.
    pub(super) fn refuse_module_value(&mut self, message: impl Into<String>, origin: Option<Origin>) {
        let identity = self.ambassador.identity.clone();
        self.notices.error(&identity, ControllerNotice::new(&codes::REFUSED_BY_ENVOY, message, origin).help(REFUSED_HELP));
    }

    fn compressor(&mut self, gzip: &spec::Gzip) -> Compressor {
        let mut number = |value: &Option<Sourced<i64>>, range: core::ops::RangeInclusive<i64>, name: &str| {
            let value = value.as_ref()?;
            if !range.contains(&value.value) {
                self.refuse_module_value(format!("gzip.{name} must be from {} to {}", range.start(), range.end()), value.origin);
                return None;
            }
            Some(Sourced::new(u32::try_from(value.value).ok()?, value.origin))
        };
        let memory_level = number(&gzip.memory_level, 1..=9, "memory_level");
        let window_bits = number(&gzip.window_bits, 9..=15, "window_bits");
        let min_content_length = number(&gzip.min_content_length, 0..=i64::from(u32::MAX), "min_content_length");
        const LEVELS: &[&str] = &[
            "DEFAULT_COMPRESSION",
            "BEST_SPEED",
            "COMPRESSION_LEVEL_1",
            "COMPRESSION_LEVEL_2",
            "COMPRESSION_LEVEL_3",
            "COMPRESSION_LEVEL_4",
            "COMPRESSION_LEVEL_5",
            "COMPRESSION_LEVEL_6",
            "COMPRESSION_LEVEL_7",
            "COMPRESSION_LEVEL_8",
            "COMPRESSION_LEVEL_9",
            "BEST_COMPRESSION",
        ];
        const STRATEGIES: &[&str] = &["DEFAULT_STRATEGY", "FILTERED", "HUFFMAN_ONLY", "RLE", "FIXED"];
        let mut name = |value: &Option<Sourced<Str>>, allowed: &[&str], field: &str| {
            let value = value.clone()?;
            if !allowed.contains(&value.value.as_str()) {
                self.refuse_module_value(format!("gzip.{field} `{}` is not one of {}", value.value, allowed.join(", ")), value.origin);
                return None;
            }
            Some(value)
        };
        Compressor {
            memory_level,
            compression_level: name(&gzip.compression_level, LEVELS, "compression_level"),
            compression_strategy: name(&gzip.compression_strategy, STRATEGIES, "compression_strategy"),
            window_bits,
            min_content_length,
            content_types: gzip.content_type.clone().map(|types| types.value).unwrap_or_default(),
            disable_on_etag: gzip.disable_on_etag_header,
            remove_accept_encoding: gzip.remove_accept_encoding_header,
            compression: Sourced::default(),
            library: "envoy.compression.gzip.compressor".into(),
        }
    }

    fn ip_filter(&mut self, settings: &AmbassadorModule) {
        let mut chosen: Option<(Rbac, Option<Origin>)> = None;
        for (list, action) in [(&settings.ip_allow, RbacAction::Allow), (&settings.ip_deny, RbacAction::Deny)] {
            let Some(list) = list else { continue };
            if chosen.is_some() {
                self.report_on_module("ip_allow and ip_deny may not both be set", list.origin);
                continue;
            }
            let principals = self.principals(&list.value, action);
            if !principals.is_empty() {
                let policy = if action == RbacAction::Allow { "ambassador-ip-allow" } else { "ambassador-ip-deny" };
                chosen = Some((Rbac { action, policy: policy.into(), principals }, list.origin));
            }
        }
        if let Some((rbac, origin)) = chosen {
            self.save_module_filter("envoy.filters.http.rbac", FilterKind::Rbac(rbac), origin);
        }
    }

    fn principals(&mut self, list: &[Sourced<spec::Map<Str>>], action: RbacAction) -> Vec<Sourced<IpRange>> {
        let word = if action == RbacAction::Allow { "allow" } else { "deny" };
        let mut principals = Vec::new();
        for item in list {
            for (index, (kind, range)) in item.value.iter().enumerate() {
                if index > 0 {
                    self.report_on_module(format!("ip{word} principals must be separate list elements"), range.origin);
                    break;
                }
                let source = match kind.as_str() {
                    "remote" => IpSource::Remote,
                    "peer" => IpSource::Peer,
                    _ => {
                        self.report_on_module(format!("ip{word} principal type {kind} unknown: must be peer or remote"), range.origin);
                        continue;
                    }
                };
                match parse_range(&range.value) {
                    Ok((address, prefix_length)) => principals.push(Sourced::new(IpRange { source, address, prefix_length }, range.origin)),
                    Err(problem) => {
                        self.report_on_module(format!("ip_{word} principal {} is not valid: {problem}", range.value), range.origin);
                    }
                }
            }
        }
        principals
    }

    /// The checks that come last; the first that fails ends them.
    fn check_module(&mut self) {
        let settings = self.ambassador.settings.clone();
        if let Some(balancer) = &settings.load_balancer {
            match LbSettings::read(&balancer.value) {
                Some(lb) => self.ambassador.load_balancer = Some(Sourced::new(lb, balancer.origin)),
                None => {
                    let message = format!("Invalid load_balancer specified: {}", mapping::python_load_balancer(&balancer.value));
                    return self.report_on_module(message, balancer.origin);
                }
            }
        }
        if let Some(breakers) = &settings.circuit_breakers {
            match named_breakers(&breakers.value) {
                Some(named) => self.ambassador.circuit_breakers = Some(Sourced::new(named, breakers.origin)),
                None => return self.report_on_module("Invalid circuit_breakers specified", breakers.origin),
            }
        }
        self.check_log_format(&settings);
        if self.ambassador.errored && settings.envoy_log_format.is_none() && settings.envoy_log_type.is_some() && self.log_type().is_none() {
            return;
        }
        if let Some(details) = &settings.forward_client_cert_details {
            const VALID: [&str; 5] = ["SANITIZE", "FORWARD_ONLY", "APPEND_FORWARD", "SANITIZE_SET", "ALWAYS_FORWARD_ONLY"];
            if !VALID.contains(&details.value.as_str()) {
                let message = format!(
                    "'forward_client_cert_details' may not be set to '{}'; it may only be set to one of: {}",
                    details.value,
                    VALID.join(", ")
                );
                self.ambassador.settings.forward_client_cert_details = None;
                return self.report_on_module(message, details.origin);
            }
        }
        if let Some(details) = &settings.set_current_client_cert_details {
            self.client_cert_details(details);
        }
    }

    /// `text`, `json` or `typed_json`; `None` for anything else.
    pub fn log_type(&self) -> Option<&'static str> {
        match self.ambassador.settings.envoy_log_type.as_ref().map_or("text", |name| name.value.as_str()) {
            "text" => Some("text"),
            "json" => Some("json"),
            "typed_json" => Some("typed_json"),
            _ => None,
        }
    }

    fn check_log_format(&mut self, settings: &AmbassadorModule) {
        let Some(kind) = self.log_type() else {
            let written = settings.envoy_log_type.clone().unwrap_or_default();
            let message = format!("Invalid log_type specified: {}. Supported: json, text, typed_json", written.value);
            return self.report_on_module(message, written.origin);
        };
        let Some(format) = &settings.envoy_log_format else { return };
        let fits = matches!((&format.value.value, kind), (Value::String(_), "text") | (Value::Object(_), "json" | "typed_json"));
        if !fits {
            let needed = if kind == "text" { "string" } else { "dictionary" };
            let shown = python_value(&format.value);
            let message = format!("envoy_log_type '{kind}' requires a {needed} in envoy_log_format: {shown}, invalidating...");
            self.report_on_module(message, format.origin);
            self.ambassador.settings.envoy_log_format = None;
        }
    }

    fn client_cert_details(&mut self, details: &Sourced<spec::Map<Node>>) {
        let mut out = ClientCertDetails::default();
        const KEYS: [&str; 5] = ["subject", "cert", "chain", "dns", "uri"];
        for (key, value) in details.value.iter() {
            if !KEYS.contains(&key.as_str()) {
                let message = format!("'set_current_client_cert_details' may not contain key '{key}'; it may only contain keys: {}", KEYS.join(", "));
                return self.report_on_module(message, value.origin);
            }
            let Value::Bool(on) = value.value.value else {
                let shown = value.value.as_str().map_or_else(|| python_value(&value.value), ToString::to_string);
                let message = format!("'set_current_client_cert_details' value for key '{key}' may only be 'true' or 'false', not '{shown}'");
                return self.report_on_module(message, value.origin);
            };
            *match key.as_str() {
                "subject" => &mut out.subject,
                "cert" => &mut out.cert,
                "chain" => &mut out.chain,
                "dns" => &mut out.dns,
                _ => &mut out.uri,
            } = Some(on);
        }
        self.ambassador.client_cert_details = Some(Sourced::new(out, details.origin));
    }

    /// Mappings for liveness, readiness and diagnostics.
    pub(super) fn add_probe_mappings(&mut self) {
        let before = self.notices.reports();
        let probes = self.groups.probes.clone().unwrap_or_else(|| self.probe_mappings());
        self.groups.probes = Some(probes.clone()).filter(|_| self.notices.reports() == before);
        probes.into_iter().for_each(|mapping| self.add_mapping(mapping));
    }

    fn probe_mappings(&mut self) -> Vec<alloc::sync::Arc<HttpMapping>> {
        let mut made = Vec::new();
        let settings = &self.ambassador.settings;
        let probes = [
            ("liveness", settings.liveness_probe.clone(), "/ambassador/v0/check_alive"),
            ("readiness", settings.readiness_probe.clone(), "/ambassador/v0/check_ready"),
            ("diagnostics", settings.diagnostics.clone(), "/ambassador/v0/"),
        ];
        for (name, probe, path) in probes {
            let probe_origin = probe.as_ref().and_then(|probe| probe.origin);
            let probe = match probe {
                // Written without `enabled`: off.
                Some(probe) if !probe.value.enabled.as_ref().is_some_and(|on| on.value) => continue,
                Some(probe) => probe.value,
                None => spec::Probe::default(),
            };
            let or = |value: Option<Sourced<Str>>, default: &str| {
                value
                    .filter(|value| !value.value.is_empty())
                    .unwrap_or_else(|| Sourced::new(default.into(), probe_origin.unwrap_or_else(Origin::built_in).by(Rule::Default)))
            };
            let built_in = Origin::built_in();
            let mapping = spec::Mapping {
                prefix: Some(or(probe.prefix, path)),
                rewrite: Some(or(probe.rewrite, path)),
                service: Some(or(probe.service, DIAGNOSTICS_SERVICE)),
                timeout_ms: Some(Sourced::new(10_000, built_in)),
                hostname: Some(Sourced::new("*".into(), built_in)),
                ..spec::Mapping::default()
            };
            let identity = self.ambassador.identity.part(mapping::INTERNAL_MAPPING, format!("internal_{name}_probe_mapping"));
            let namespace = self.options.ambassador_namespace.clone();
            if let Ok(mapping) = HttpMapping::new(self, identity, namespace, alloc::sync::Arc::default(), mapping) {
                made.push(alloc::sync::Arc::new(mapping));
            }
        }
        made
    }
}

fn grpc_stats(stats: &Sourced<spec::GrpcStats>) -> GrpcStats {
    let truthy = |value: &Option<Sourced<Node>>| {
        value.as_ref().map_or_else(|| Sourced::built_in(false), |value| Sourced::new(is_truthy(&value.value.value), value.origin))
    };
    let methods = match &stats.value.services {
        Some(services) => GrpcStatsMethods::These(
            services
                .value
                .iter()
                .map(|service| {
                    let name = service.value.name.clone().unwrap_or_default().value;
                    let methods = service.value.method_names.clone().unwrap_or_default().value.into_iter().map(|method| method.value).collect();
                    Sourced::new((name, methods), service.origin)
                })
                .collect(),
        ),
        None => GrpcStatsMethods::All(truthy(&stats.value.all_methods)),
    };
    GrpcStats { methods, upstream: truthy(&stats.value.upstream_stats), filter_state: false }
}

/// Why an address range is invalid. Prints the reference's message.
enum RangeError {
    BadLength(Str),
    BadAddress(Str),
    TooLong { address: IpAddr, length: u32 },
}

impl core::fmt::Display for RangeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::BadLength(range) => write!(f, "CIDR range {range} has an invalid length, ignoring"),
            Self::BadAddress(address) => write!(f, "Invalid IP address {address}"),
            Self::TooLong { address, length } => {
                let version = if address.is_ipv4() { 4 } else { 6 };
                write!(f, "Invalid prefix length for IPv{version} address {address}/{length}")
            }
        }
    }
}

/// An address with an optional prefix length.
fn parse_range(text: &str) -> Result<(Str, u32), RangeError> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => match length.trim().parse::<u32>() {
            Ok(length) => (address, Some(length)),
            Err(_) => return Err(RangeError::BadLength(text.into())),
        },
        None => (text, None),
    };
    let ip: IpAddr = address.parse().map_err(|_| RangeError::BadAddress(address.into()))?;
    let bits = if ip.is_ipv4() { 32 } else { 128 };
    let length = length.unwrap_or(bits);
    if length > bits {
        return Err(RangeError::TooLong { address: ip, length });
    }
    Ok((ip.to_string().into(), length))
}

/// A value as Python prints it in the reference's messages.
pub(super) fn python_value(node: &Node) -> String {
    match &node.value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => python_repr(text),
        Value::Array(items) => format!("[{}]", items.iter().map(python_value).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            format!("{{{}}}", object.iter().map(|e| format!("{}: {}", python_repr(&e.key), python_value(&e.value))).collect::<Vec<_>>().join(", "))
        }
    }
}
