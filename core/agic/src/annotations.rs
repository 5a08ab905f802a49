//! The annotations of Ingresses that the controller reads, in one table with type, default and effect; and the reading of each type.
//!
//! AGIC `pkg/annotations/ingress_annotations.go`.

use super::fault::{self, Fault};
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_base::compilation::{AnnotationDoc, KnownAnnotations};
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_text::{Node, Str};

/// How the value of an annotation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Unchanged.
    Text,
    /// As a truth value in any of Go's notations.
    Flag,
    /// As a whole number, truncated to 32 bits.
    Number,
    /// As several values, separated by commas.
    List,
    /// As `http` or `https`.
    Protocol,
}

#[derive(Debug)]
pub struct Annotation {
    pub name: &'static str,
    pub form: Form,
    /// The behaviour without it, for readers.
    pub default: &'static str,
    pub doc: &'static str,
}

macro_rules! annotations {
    ($($constant:ident $name:literal $form:ident $default:literal $doc:literal;)*) => {
        $(#[doc = concat!("`", $name, "`: ", $doc)] pub static $constant: Annotation = Annotation {
            name: $name,
            form: Form::$form,
            default: $default,
            doc: $doc,
        };)*

        /// All annotations, sorted by name.
        pub static ALL: &[&Annotation] = &[$(&$constant),*];

        /// All annotations, as editors and `chancery kinds` show them.
        pub const KNOWN: KnownAnnotations = KnownAnnotations {
            prefixes: &[PREFIX],
            names: &[$($name),*],
            docs: &[$(AnnotationDoc {
                name: $name,
                takes: Form::$form.takes(),
                values: Form::$form.values(),
                default: $default,
                doc: $doc,
            }),*],
        };
    };
}

impl Form {
    /// Describes the type of the value briefly.
    const fn takes(self) -> &'static str {
        match self {
            Form::Text => "string",
            Form::Flag => "\"true\" or \"false\"",
            Form::Number => "whole number, in quotes",
            Form::List => "list, by comma",
            Form::Protocol => "http or https",
        }
    }

    /// The valid values, if the type is an enumeration.
    const fn values(self) -> &'static [&'static str] {
        match self {
            Form::Flag => &["\"true\"", "\"false\""],
            Form::Protocol => &["http", "https"],
            Form::Text | Form::Number | Form::List => &[],
        }
    }
}

/// The prefix of the controller's own annotations.
pub const PREFIX: &str = "appgw.ingress.kubernetes.io/";

annotations! {
    SSL_CERTIFICATE "appgw.ingress.kubernetes.io/appgw-ssl-certificate" Text "none"
        "A certificate of the gateway, for hosts without one in `spec.tls`; if the gateway lacks it, AGIC ignores the Ingress";
    SSL_PROFILE "appgw.ingress.kubernetes.io/appgw-ssl-profile" Text "none"
        "A TLS profile of the gateway, for listeners with TLS; if the gateway lacks it, AGIC ignores the Ingress";
    TRUSTED_ROOTS "appgw.ingress.kubernetes.io/appgw-trusted-root-certificate" List "none"
        "Root certificates of the gateway that backends are checked by; one that the gateway does not have makes the Ingress ignored";
    BACKEND_HOSTNAME "appgw.ingress.kubernetes.io/backend-hostname" Text "the host of the request"
        "The host that requests to backends and probes are sent with";
    BACKEND_PATH_PREFIX "appgw.ingress.kubernetes.io/backend-path-prefix" Text "the path of the request"
        "The replacement of the matched path; probes use it too";
    BACKEND_PROTOCOL "appgw.ingress.kubernetes.io/backend-protocol" Protocol "http, or https where the backend's port is 443"
        "The protocol to backends, `http` or `https`";
    CONNECTION_DRAINING "appgw.ingress.kubernetes.io/connection-draining" Flag "false"
        "Whether requests under way may end when a pod goes away";
    CONNECTION_DRAINING_TIMEOUT "appgw.ingress.kubernetes.io/connection-draining-timeout" Number "30"
        "For how many seconds they may; only with connection-draining";
    COOKIE_AFFINITY "appgw.ingress.kubernetes.io/cookie-based-affinity" Flag "false"
        "Whether a cookie keeps clients at a pod";
    COOKIE_AFFINITY_DISTINCT "appgw.ingress.kubernetes.io/cookie-based-affinity-distinct-name" Flag "false"
        "Whether each Service has its own cookie name";
    PROBE_HOSTNAME "appgw.ingress.kubernetes.io/health-probe-hostname" Text "the first host of the rule without a wildcard, else localhost"
        "The host that probes are sent with";
    PROBE_INTERVAL "appgw.ingress.kubernetes.io/health-probe-interval" Number "30, or that of the pod's probe"
        "Seconds between two probes";
    PROBE_PATH "appgw.ingress.kubernetes.io/health-probe-path" Text "that of the pod's probe, else of the rule"
        "The path that probes ask for";
    PROBE_PORT "appgw.ingress.kubernetes.io/health-probe-port" Number "that of the pod's probe, else of the backend"
        "The port that probes go to";
    PROBE_STATUS_CODES "appgw.ingress.kubernetes.io/health-probe-status-codes" List "200-399"
        "Status codes, and ranges of them, of a healthy pod";
    PROBE_TIMEOUT "appgw.ingress.kubernetes.io/health-probe-timeout" Number "30, or that of the pod's probe"
        "How many seconds an answer to a probe may take";
    PROBE_UNHEALTHY_THRESHOLD "appgw.ingress.kubernetes.io/health-probe-unhealthy-threshold" Number "3, or that of the pod's probe"
        "After how many failed probes a pod is unhealthy";
    HOSTNAME_EXTENSION "appgw.ingress.kubernetes.io/hostname-extension" List "none"
        "More hosts for every rule, wildcards included; of all hosts of a rule only the first five count";
    OVERRIDE_FRONTEND_PORT "appgw.ingress.kubernetes.io/override-frontend-port" Number "80, or 443 with TLS"
        "The port that the gateway listens at, from 1 to 64999";
    REQUEST_TIMEOUT "appgw.ingress.kubernetes.io/request-timeout" Number "30"
        "How many seconds an answer of a backend may take";
    REWRITE_RULE_SET "appgw.ingress.kubernetes.io/rewrite-rule-set" Text "none"
        "A rewrite set of the gateway; AGIC does not check that it exists";
    REWRITE_CUSTOM_RESOURCE "appgw.ingress.kubernetes.io/rewrite-rule-set-custom-resource" Text "none"
        "An AzureApplicationGatewayRewrite of the Ingress's namespace; together with rewrite-rule-set neither counts";
    RULE_PRIORITY "appgw.ingress.kubernetes.io/rule-priority" Number "free numbers, from 19000 with a host and from 19500 without"
        "Which rule comes first, from 1 to 20000: the smaller number";
    SSL_REDIRECT "appgw.ingress.kubernetes.io/ssl-redirect" Flag "false"
        "Whether requests without TLS are redirected; without TLS the Ingress is ignored";
    USE_PRIVATE_IP "appgw.ingress.kubernetes.io/use-private-ip" Flag "false"
        "Whether the gateway listens at its private address; without one the Ingress is ignored";
    WAF_POLICY "appgw.ingress.kubernetes.io/waf-policy-for-path" Text "none"
        "The id of a firewall policy, for all paths of the Ingress";
    INGRESS_CLASS "kubernetes.io/ingress.class" Text "none"
        "The class: the controller's name makes the Ingress its own, whatever `spec.ingressClassName` says";
}

/// The annotation that assigns Istio's Gateways to the controller.
pub const ISTIO_CLASS: &str = "appgw.ingress.istio.io/v1alpha3";

/// The string annotations of one object.
#[derive(Clone, Debug, Default)]
pub struct Annotations(Vec<(Str, Sourced<Str>)>);

/// The result of reading an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Read<T> {
    Absent,
    /// It has a value of another form.
    Invalid(Fault),
    Value(Sourced<T>),
}

impl<T> Read<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<Sourced<T>> {
        match self {
            Read::Value(value) => Some(value),
            Read::Absent | Read::Invalid(_) => None,
        }
    }
}

impl Annotations {
    /// Reads the annotations at a place.
    pub fn at(at: Cursor<'_>) -> Self {
        let entries = at.node().and_then(Node::as_object).into_iter().flatten();
        let text = |name: &Str| {
            let at = at.field(name);
            Some((name.clone(), Sourced::new(Str::new(at.some_str()?), at.origin())))
        };
        Self(entries.filter_map(|entry| text(&entry.key)).collect())
    }

    fn find(&self, annotation: &Annotation) -> Option<&Sourced<Str>> {
        self.0.iter().find(|(name, _)| name == annotation.name).map(|(_, text)| text)
    }

    /// The string, even if it is empty.
    pub fn text(&self, annotation: &Annotation) -> Option<Sourced<Str>> {
        self.find(annotation).cloned()
    }

    /// The string, unless it is empty.
    pub fn some_text(&self, annotation: &Annotation) -> Option<Sourced<Str>> {
        self.find(annotation).filter(|text| !text.is_empty()).cloned()
    }

    fn read<T>(&self, annotation: &Annotation, parse: impl FnOnce(&str) -> Option<T>) -> Read<T> {
        let Some(text) = self.find(annotation) else { return Read::Absent };
        match parse(text) {
            Some(value) => Read::Value(Sourced::new(value, text.origin)),
            None => Read::Invalid(fault::invalid_annotation(annotation.name, text)),
        }
    }

    /// As a truth value.
    pub fn flag(&self, annotation: &Annotation) -> Read<bool> {
        self.read(annotation, go::parse_bool)
    }

    /// Whether it is present and true.
    pub fn is_true(&self, annotation: &Annotation) -> bool {
        self.flag(annotation).value().is_some_and(|flag| flag.value)
    }

    /// As a number, truncated to 32 bits.
    pub fn number(&self, annotation: &Annotation) -> Read<i64> {
        self.read(annotation, |text| Some(i64::from(go::atoi(text).ok()? as i32)))
    }

    /// As a protocol: whether it is HTTPS.
    pub fn is_https(&self, annotation: &Annotation) -> Read<bool> {
        self.read(annotation, |text| match text.to_lowercase().as_str() {
            "http" => Some(false),
            "https" => Some(true),
            _ => None,
        })
    }

    /// The items between commas, without surrounding spaces.
    pub fn items(&self, annotation: &Annotation) -> Vec<Sourced<Str>> {
        let Some(Sourced { value, origin }) = self.text(annotation) else { return Vec::new() };
        value.split(',').map(|item| Sourced::new(Str::from(item.trim().to_string()), origin)).collect()
    }
}

#[cfg(test)]
mod tests;
