//! Reads the annotations of an Ingress, group by group, into settings.
//!
//! ingress-nginx `internal/ingress/annotations/annotations.go`. Does not merge Ingresses; see `build`.

mod access;
pub mod forms;
mod groups;
pub mod read;
pub mod table;

pub use access::cache_durations;
pub use groups::global_proxy;
pub use read::{Annotations, Fault, Rejected};
pub use table::{ALL, Annotation, CLASS, KNOWN, PREFIX, Risk};

use super::cluster::Cluster;
use super::ingress::Ingress;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{ClientCertificates, Globals, Settings};
use chancery_base::resource::{Origin, Secret, Sourced};
use chancery_text::Str;
use core::cell::Cell;

/// The input of the groups: an Ingress with its annotations, the ConfigMap's settings, and the cluster.
pub(super) struct Reading<'a> {
    pub annotations: &'a Annotations,
    pub namespace: &'a str,
    pub name: &'a str,
    pub uid: &'a str,
    pub globals: &'a Globals,
    cluster: &'a Cluster<'a>,
    looks_up: Cell<bool>,
}

impl<'a> Reading<'a> {
    pub fn new(ingress: &'a Ingress, cluster: &'a Cluster<'a>, globals: &'a Globals) -> Self {
        let Ingress { annotations, namespace, name, uid, .. } = ingress;
        Self { annotations, namespace, name, uid, globals, cluster, looks_up: Cell::new(false) }
    }

    /// Returns the cluster, to look up another object.
    fn cluster(&self) -> &'a Cluster<'a> {
        self.looks_up.set(true);
        self.cluster
    }

    /// Whether the result depends on objects other than the Ingress and the controller's ConfigMap.
    pub fn looks_up(&self) -> bool {
        self.looks_up.get()
    }

    fn crosses_namespaces(&self) -> bool {
        self.globals.flag("allow-cross-namespace-resources").value
    }
}

/// The settings that an Ingress's annotations give.
#[derive(Clone, Debug)]
pub struct Extracted {
    pub settings: Arc<Settings>,
    /// The content of the Ingress's password file.
    pub passwords: Option<Secret<Str>>,
    pub errors: Arc<GroupErrors>,
}

/// The errors in groups of an Ingress's annotations, with the controller's messages.
#[derive(Debug, Default)]
pub struct GroupErrors {
    /// Each group that makes nginx answer 503 for the Ingress's paths or 403 for the whole host, with the reason.
    pub denials: Vec<(&'static str, String)>,
    /// Each group without effect, with its fault.
    pub faults: Vec<(&'static str, Fault)>,
}

/// The reason why the controller drops an Ingress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The controller's message.
    pub message: String,
    pub origin: Option<Origin>,
    /// The annotation that is the reason, if any.
    pub annotation: Option<&'static str>,
    pub kind: DropKind,
}

/// The kind of a reason to drop an Ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropKind {
    /// An annotation is riskier than the ConfigMap allows.
    Risk,
    /// A value has the wrong form.
    Value,
    /// A value has a forbidden word.
    Word,
    /// A host, a path or the name of a Secret has a forbidden string.
    Inspection,
    /// The Ingress has a default backend, which a flag forbids.
    CatchAll,
}

struct Extraction<'a> {
    denied: Option<Sourced<Str>>,
    errors: GroupErrors,
    reading: &'a Reading<'a>,
}

impl Extraction<'_> {
    /// Returns the group's value, or its zero value if the controller ignores the group.
    ///
    /// # Errors
    ///
    /// A value has the wrong form, and the controller drops the Ingress.
    fn group<T: Default>(&mut self, group: &'static str, value: Result<T, Fault>) -> Result<T, Dropped> {
        match value {
            Ok(value) => Ok(value),
            Err(Fault::Validation(message)) => Err(self.dropped(message)),
            Err(Fault::Missing) => Ok(T::default()),
            Err(Fault::Denied(reason)) => {
                let origin = self.origin_of(group);
                self.denied.get_or_insert_with(|| Sourced::new(Str::new(&reason), origin));
                self.errors.denials.push((group, reason));
                Ok(T::default())
            }
            Err(fault) => {
                self.errors.faults.push((group, fault));
                Ok(T::default())
            }
        }
    }

    /// Returns the origin of the first annotation of a group.
    fn origin_of(&self, group: &str) -> Option<Origin> {
        let mut own = self.reading.annotations.own();
        own.find_map(|(name, value)| table::find(name).filter(|annotation| annotation.group == group).and(value.origin))
    }

    fn dropped(&self, message: String) -> Dropped {
        let rejected = self.reading.annotations.rejected();
        let found = rejected.iter().find(|rejected| rejected.fault.text() == message);
        let origin = found.and_then(|found| found.origin).or_else(|| self.origin_of("FastCGI"));
        Dropped { message, origin, annotation: found.map(|found| found.name), kind: DropKind::Value }
    }
}

/// Reads all groups of an Ingress's annotations.
///
/// # Errors
///
/// The controller drops the Ingress, because an annotation is too risky or has the wrong form.
pub(super) fn extract(reading: &Reading<'_>) -> Result<Extracted, Dropped> {
    let of = reading.annotations;
    let globals = reading.globals;
    let most = Risk::named(&globals.text("annotations-risk-level"));
    if let Some((annotation, value)) = of.risky(most).next() {
        let message = format!("annotation group {} contains risky annotation based on ingress configuration", annotation.group);
        return Err(Dropped { message, origin: value.origin, annotation: Some(annotation.name), kind: DropKind::Risk });
    }
    let mut all = Extraction { denied: None, errors: GroupErrors::default(), reading };
    let zone = format!("{}_{}_{}", reading.namespace, reading.name, reading.uid);
    let mut settings = Settings::default();
    let mut passwords = None;
    settings.aliases = all.group("Aliases", groups::aliases(of))?;
    if let Some((auth, file)) = all.group("BasicDigestAuth", access::basic_auth(reading).map(Some))? {
        settings.basic_auth = auth;
        passwords = file;
    }
    settings.canary = all.group("Canary", groups::canary(of))?;
    settings.client_certificates = match access::client_certificates(reading) {
        Err(Fault::Denied(reason)) => {
            let error = Sourced::new(Str::new(&reason), all.origin_of("CertificateAuth"));
            all.group::<ClientCertificates>("CertificateAuth", Err(Fault::Denied(reason)))?;
            ClientCertificates { error, ..ClientCertificates::default() }
        }
        other => all.group("CertificateAuth", other)?,
    };
    settings.client_body_buffer_size = all.group("ClientBodyBufferSize", of.text("client-body-buffer-size"))?;
    settings.custom_headers = all.group("CustomHeaders", access::custom_headers(reading))?;
    settings.configuration_snippet = all.group("ConfigurationSnippet", of.text("configuration-snippet"))?;
    settings.connection = all.group("Connection", groups::connection(of))?;
    settings.cors = groups::cors(of);
    settings.custom_http_errors = all.group("CustomHTTPErrors", groups::custom_http_errors(of))?;
    settings.disable_proxy_intercept_errors = groups::or_built_in(of.flag("disable-proxy-intercept-errors"), false);
    settings.default_backend = all.group("DefaultBackend", access::default_backend(reading).map(Some))?;
    settings.fastcgi = all.group("FastCGI", access::fastcgi(reading))?;
    settings.external_auth = all.group("ExternalAuth", access::external_auth(reading))?;
    settings.enable_global_auth = groups::or_built_in(of.flag("enable-global-auth"), true);
    settings.http2_push_preload = all.group("HTTP2PushPreload", of.flag("http2-push-preload"))?;
    settings.opentelemetry = all.group("Opentelemetry", groups::opentelemetry(of))?;
    settings.proxy = groups::proxy(of, globals);
    (settings.proxy_ssl, settings.proxy_ssl_pem) = all.group("ProxySSL", access::proxy_ssl(reading))?;
    settings.rate_limit = all.group("RateLimit", groups::rate_limit(of, globals, &zone))?;
    settings.redirect = all.group("Redirect", groups::redirect(of))?;
    settings.rewrite = groups::rewrite(of, globals);
    settings.satisfy = groups::satisfy(of);
    settings.server_snippet = all.group("ServerSnippet", of.text("server-snippet"))?;
    settings.service_upstream = match of.flag("service-upstream") {
        Err(Fault::Missing) => globals.flag("service-upstream"),
        other => groups::or_built_in(other, false),
    };
    settings.affinity = groups::affinity(of);
    settings.ssl_passthrough = all.group("SSLPassthrough", of.flag("ssl-passthrough"))?;
    settings.use_port_in_redirects = of.flag("use-port-in-redirects").unwrap_or_else(|_| globals.flag("use-port-in-redirects"));
    settings.hash_by = all.group("UpstreamHashBy", groups::hash_by(of))?;
    settings.load_balance = all.group("LoadBalancing", of.text("load-balance"))?;
    settings.upstream_vhost = all.group("UpstreamVhost", of.text("upstream-vhost"))?;
    settings.allowlist = all.group("Allowlist", groups::source_range(of, "allowlist-source-range", globals.list("whitelist-source-range")))?;
    settings.denylist = all.group("Denylist", groups::source_range(of, "denylist-source-range", globals.list("denylist-source-range")))?;
    settings.x_forwarded_prefix = all.group("XForwardedPrefix", of.text("x-forwarded-prefix"))?;
    settings.ciphers = all.group("SSLCipher", groups::ciphers(of))?;
    settings.logs = groups::logs(of);
    settings.backend_protocol = of.text("backend-protocol").unwrap_or_else(|_| Sourced::built_in(Str::new_static("HTTP")));
    settings.modsecurity = groups::modsecurity(of);
    settings.mirror = groups::mirror(of, reading.uid);
    settings.stream_snippet = all.group("StreamSnippet", of.text("stream-snippet"))?;
    settings.denied = all.denied.take();
    if !globals.flag("allow-snippet-annotations").value {
        drop_snippets(&mut settings);
    }
    Ok(Extracted { settings: Arc::new(settings), passwords, errors: Arc::new(all.errors) })
}

/// Removes the snippets, as the controller does if the ConfigMap does not allow snippets.
fn drop_snippets(settings: &mut Settings) {
    settings.configuration_snippet = Sourced::default();
    settings.server_snippet = Sourced::default();
    settings.modsecurity.snippet = Sourced::default();
    settings.external_auth.snippet = Sourced::default();
    settings.stream_snippet = Sourced::default();
}
