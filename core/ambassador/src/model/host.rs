//! Models IRHost: a host name with its certificate, its policy for insecure requests, and its Mappings.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irhost.py`.

use super::group::HttpGroup;
use super::hostglob::{globs_overlap, selector_matches};
use super::mapping::INTERNAL_MAPPING;
use super::notices::{ControllerNotice, Identity};
use super::protocol::Protocol;
use super::tls::{ContextId, TlsContext, is_tls_version};
use super::{Model, spec_of};
use crate::config::{Labels, Presence};
use crate::spec::{self, TlsConfig};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::compilation::Missing;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;

/// IRHost.
#[derive(Clone, Debug)]
pub struct Host {
    /// Who it is.
    pub identity: Identity,
    pub namespace: Str,
    /// `metadata.labels`, which Listeners select by.
    pub labels: Arc<Labels>,
    /// Host glob.
    pub hostname: Sourced<Str>,
    /// The glob without a port.
    pub sni: Str,
    /// Labels that Mappings must have.
    pub mapping_selector: Option<Sourced<MatchLabels>>,
    /// How insecure requests are handled.
    pub insecure_action: Sourced<InsecureAction>,
    /// Certificate.
    pub context: Option<ContextId>,
}

/// Labels with the values that they must have.
pub type MatchLabels = Vec<(Str, Sourced<Str>)>;

/// How insecure requests are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsecureAction {
    /// They are redirected to https.
    Redirect,
    /// They are refused.
    Reject,
    /// They are routed.
    Route,
}

impl Host {
    /// Whether a group's routes belong to this host.
    pub fn takes(&self, group: &HttpGroup, strict: bool) -> bool {
        // Probes and diagnostics are answered under every host.
        if group.founder.identity.kind == INTERNAL_MAPPING {
            return true;
        }
        let redirect_host = group.redirect.as_ref().and_then(|redirect| redirect.host.as_ref());
        let glob = group.shared.host.as_ref().or(redirect_host);
        let (has_hostname, host_match) = if group.shared.host_regex {
            (true, true)
        } else {
            (glob.is_some(), glob.is_some_and(|glob| globs_overlap(&self.hostname.value, &glob.value)))
        };
        let selector = self.mapping_selector.as_ref();
        let selected = selector.is_some_and(|selector| selector_matches(&selector.value, &group.shared.labels, strict));
        if !strict {
            return host_match || selected;
        }
        match (selector.is_some(), has_hostname) {
            (true, true) => host_match && selected,
            (true, false) => selected,
            (false, true) => host_match,
            (false, false) => false,
        }
    }
}

impl Model<'_> {
    /// HostFactory.load_all.
    pub(super) fn load_hosts(&mut self) {
        for resource in self.resources("hosts") {
            let spec: spec::Host = spec_of(resource);
            if let Ok(host) = self.host(Identity::of(resource), resource.namespace.clone(), resource.labels.clone(), &spec) {
                self.save_host(host);
            }
        }
    }

    fn save_host(&mut self, host: Host) {
        let name = host.identity.name.clone();
        if let Some(known) = self.hosts.get(&name) {
            let message = format!("Duplicate Host {name}; keeping definition from {}", known.identity.rkey);
            self.notices.overall(ControllerNotice::new(&codes::DUPLICATE_RESOURCE, message, host.identity.origin));
            return;
        }
        self.hosts.insert(name, host);
    }

    /// Adds a Host for everything if there is none: with the fallback certificate if it exists, or else cleartext only.
    pub(super) fn default_host(&mut self) {
        if !self.hosts.is_empty() {
            return;
        }
        if self.contexts.iter().any(TlsContext::has_hosts) && self.context_names.values().any(|id| self.contexts[id.0].has_hosts()) {
            // If the input has none, they may be elsewhere.
            if self.options.missing.for_other_kinds() == Missing::Error || self.resources("hosts").next().is_some() {
                let message = "No Hosts defined, but TLSContexts exist that terminate TLS. The TLSContexts are being ignored.";
                self.notices.overall(ControllerNotice::new(&codes::NO_HOSTS, message, None));
            } else {
                for context in self.contexts.iter().filter(|context| context.has_hosts()) {
                    let message = "no Host is in the input, so the TLSContext is ignored: certificates are used through Hosts";
                    self.notices
                        .warning(&context.identity, ControllerNotice::new(&codes::NO_HOSTS, message, None).help("add the Hosts to the input"));
                }
            }
        }
        const FALLBACK: &str = "fallback-self-signed-cert";
        let namespace = self.options.ambassador_namespace.clone();
        let built_in = Origin::built_in();
        let mut spec = spec::Host { hostname: Some(Sourced::new("*".into(), built_in)), ..spec::Host::default() };
        // No object references it. Emissary's installation does not contain it; Edge Stack creates it.
        let is_assumed = self.config.secret(&namespace, FALLBACK) == Presence::Assumed;
        if (!is_assumed || self.config.assume_unreferenced) && self.find_secret(FALLBACK, &namespace).0.is_good() {
            let secret = spec::SecretReference { name: Some(Sourced::new(FALLBACK.into(), built_in)), namespace: None };
            spec.tls_secret = Some(Sourced::new(secret, built_in));
        } else {
            // Without a TLS listener, no finding is needed.
            if let Some(listener) = self.listeners.values().find(|listener| listener.speaks(Protocol::Tls)) {
                let message = "no Host is in use, so Emissary serves all names without TLS: certificates come from Hosts";
                let post = ControllerNotice::new(&codes::NO_HOSTS, message, listener.identity.origin);
                self.notices.overall_notice(post.help("write a Host with `tlsSecret`, or a Listener with the protocol `HTTP`"));
            }
            let policy = spec::InsecurePolicy { action: Some(Sourced::new("Route".into(), built_in)), additional_port: None };
            let policy = spec::RequestPolicy { insecure: Some(Sourced::new(policy, built_in)) };
            spec.request_policy = Some(Sourced::new(policy, built_in));
        }
        let identity = Identity::internal("-internal", "Host", "default-host");
        if let Ok(host) = self.host(identity, namespace, Arc::default(), &spec) {
            self.save_host(host);
        }
    }

    /// A Host. One whose certificate cannot be used is dropped.
    fn host(&mut self, identity: Identity, namespace: Str, labels: Arc<Labels>, spec: &spec::Host) -> Result<Host, Reported> {
        let hostname = spec.hostname.clone().filter(|name| !name.value.is_empty());
        let hostname = hostname.unwrap_or_else(|| Sourced::new("*".into(), identity.origin.map(|origin| origin.by(Rule::Default))));
        let sni = hostname.value.rsplit_once(':').map_or(hostname.value.as_str(), |(host, _)| host).into();
        let insecure =
            spec.request_policy.as_ref().and_then(|policy| policy.value.insecure.as_ref()).and_then(|insecure| insecure.value.action.clone());
        let insecure_action = match insecure {
            Some(action) => match action.value.as_str() {
                "Reject" => Sourced::new(InsecureAction::Reject, action.origin),
                "Route" => Sourced::new(InsecureAction::Route, action.origin),
                _ => Sourced::new(InsecureAction::Redirect, action.origin),
            },
            None => Sourced::new(InsecureAction::Redirect, identity.origin.map(|origin| origin.by(Rule::Default))),
        };
        let selector = |selector: &Option<Sourced<spec::LabelSelector>>| {
            // An empty selector is ignored.
            selector.clone().filter(|s| s.value.match_labels.is_some() || s.value.match_expressions.is_some())
        };
        let mapping_selector = selector(&spec.mapping_selector).or_else(|| selector(&spec.selector));
        let mut host = Host {
            mapping_selector: mapping_selector.map(|s| s.map(|s| s.match_labels.map(|labels| labels.value.0).unwrap_or_default())),
            identity,
            namespace,
            labels,
            hostname,
            sni,
            insecure_action,
            context: None,
        };
        if let Some(secret) = &spec.tls_secret {
            let name = secret.value.name.clone().filter(|name| !name.value.is_empty());
            if let Some(name) = name {
                self.host_certificate(&mut host, spec, &name, secret.value.namespace.as_ref())?;
            }
        }
        let key = spec.acme_provider.as_ref().and_then(|acme| acme.value.private_key_secret.as_ref()).and_then(|key| key.value.name.clone());
        if let Some(key) = key.filter(|key| !key.value.is_empty()) {
            let namespace = host.namespace.clone();
            if !self.find_secret(&key.value, &namespace).0.is_good() {
                let message =
                    format!("continuing with invalid ACME private key secret {}; ACME will not be able to renew this certificate", key.value);
                self.notices.error(&host.identity, ControllerNotice::new(&codes::SECRET_NOT_FOUND, message, key.origin));
            }
        }
        Ok(host)
    }

    /// Finds or creates the TLS context of a Host.
    fn host_certificate(
        &mut self,
        host: &mut Host,
        spec: &spec::Host,
        name: &Sourced<Str>,
        namespace: Option<&Sourced<Str>>,
    ) -> Result<(), Reported> {
        let namespace = namespace.filter(|namespace| !namespace.value.is_empty());
        let in_namespace = namespace.map_or_else(|| host.namespace.clone(), |namespace| namespace.value.clone());
        if !self.find_secret(&name.value, &in_namespace).0.is_good() {
            let message = format!("no Secret `{}` with a certificate in namespace `{in_namespace}`: the Host is dropped", name.value);
            let post = ControllerNotice::new(&codes::SECRET_NOT_FOUND, message, name.origin);
            let help = "add the Secret to the input, or assume that the cluster has it (`--missing assume`)";
            return Err(self.notices.warning(&host.identity, post.help(help)));
        }
        let full_name = match namespace {
            Some(namespace) => name.clone().map(|name| Str::from(format!("{name}.{}", namespace.value))),
            None => name.clone(),
        };
        let implicit = Str::from(format!("{}-context", host.identity.name));
        let named = spec.tls_context.as_ref().and_then(|context| context.value.name.clone()).filter(|name| !name.value.is_empty());
        match (named, &spec.tls) {
            (Some(named), Some(_)) => {
                let message = format!("Host {}: both TLSContext name and TLS config specified, ignoring Host...", host.identity.name);
                Err(self.notices.error(&host.identity, ControllerNotice::new(&codes::MUTUALLY_EXCLUSIVE, message, named.origin)))
            }
            (Some(named), None) => self.use_context(host, &named, &full_name, (&name.value, &in_namespace)),
            (None, Some(tls)) => self.make_context(host, implicit, full_name, namespace.is_some(), tls.value.clone(), true),
            (None, None) if self.context_named(&implicit).is_some() => {
                let named = Sourced::new(implicit, host.identity.origin);
                self.use_context(host, &named, &full_name, (&name.value, &in_namespace))
            }
            (None, None) => self.make_context(host, implicit, full_name, namespace.is_some(), TlsConfig::default(), false),
        }
    }

    fn make_context(
        &mut self,
        host: &mut Host,
        name: Str,
        secret: Sourced<Str>,
        force_namespacing: bool,
        mut tls: TlsConfig,
        explicit: bool,
    ) -> Result<(), Reported> {
        for (field, version) in [("min_tls_version", &tls.min_tls_version), ("max_tls_version", &tls.max_tls_version)] {
            if let Some(version) = version.as_ref().filter(|version| !is_tls_version(&version.value)) {
                let message = format!("Host {}: Invalid {field} set in Host.tls: {}", host.identity.name, version.value);
                return Err(self.notices.error(&host.identity, ControllerNotice::new(&codes::INVALID_TLS_CONTEXT, message, version.origin)));
            }
        }
        tls.hosts = Some(Sourced::new(vec![host.hostname.clone()], host.hostname.origin.map(|origin| origin.by(Rule::Host))));
        tls.secret = Some(secret);
        let identity = host.identity.part("IRTLSContext", name.clone());
        let context = TlsContext { identity, namespace: host.namespace.clone(), spec: tls, force_namespacing, ..TlsContext::default() };
        match self.set_up_context(context) {
            Ok(context) => {
                host.context = Some(self.save_context(context));
                Ok(())
            }
            Err(_) if explicit => {
                let message = format!("Host {}: generated TLSContext {name} from Host.tls is not valid", host.identity.name);
                Err(self.notices.error(&host.identity, ControllerNotice::new(&codes::INVALID_TLS_CONTEXT, message, None)))
            }
            Err(_) => Ok(()),
        }
    }

    /// Warns if a Host's TLSContext is found in another namespace although the Host's own namespace has one with that name: Emissary looks
    /// TLSContexts up by their bare names, and the first one of several keeps it (python/ambassador/config/config.py).
    fn warn_of_other_namespace(&mut self, host: &Host, name: &Sourced<Str>, id: ContextId) {
        let context = &self.contexts[id.0];
        let renamed = format!("{}.{}", name.value, host.namespace);
        let own = self.contexts.iter().any(|other| *other.identity.name == *renamed);
        if context.namespace == host.namespace || !own {
            return;
        }
        let message = format!(
            "`{name}` is TLSContext `{name}` of namespace `{other}`, not the one of `{own}`: Emissary looks TLSContexts up by name in all \
             namespaces, so `{host}` gets the TLS settings and the certificate of `{other}`",
            name = name.value,
            other = context.namespace,
            own = host.namespace,
            host = host.hostname.value
        );
        let help = "give the two TLSContexts different names";
        self.notices.warning(&host.identity, ControllerNotice::new(&codes::NAME_OF_OTHER_NAMESPACE, message, name.origin).help(help));
    }

    /// Uses a TLSContext that exists, if it agrees on the Secret.
    fn use_context(
        &mut self,
        host: &mut Host,
        name: &Sourced<Str>,
        secret: &Sourced<Str>,
        (bare, secret_namespace): (&Str, &Str),
    ) -> Result<(), Reported> {
        let Some(id) = self.context_named(&name.value) else {
            let message = format!("Host {}: Specified TLSContext does not exist: {}", host.identity.name, name.value);
            return Err(self.notices.error(&host.identity, ControllerNotice::new(&codes::UNKNOWN_TLS_CONTEXT, message, name.origin)));
        };
        self.warn_of_other_namespace(host, name, id);
        match self.contexts[id.0].spec.secret.clone() {
            Some(theirs) => {
                // The reference looks up the context's Secret in the Host's namespace, whatever the context says.
                let same = theirs.value == *bare && *secret_namespace == host.namespace;
                if !same {
                    let message = format!(
                        "Secret info mismatch between Host {} (secret: {}) and TLSContext {}: (secret: {})",
                        host.identity.name, secret.value, name.value, theirs.value
                    );
                    let post = ControllerNotice::new(&codes::SECRET_MISMATCH, message, secret.origin);
                    return Err(self.notices.error(&host.identity, post));
                }
            }
            None => self.contexts[id.0].spec.secret = Some(secret.clone()),
        }
        let accepted = [host.hostname.value.clone(), host.identity.name.clone()];
        match self.contexts[id.0].spec.hosts.clone().filter(|hosts| !hosts.value.is_empty()) {
            Some(theirs) => {
                if !theirs.value.iter().any(|theirs| accepted.contains(&theirs.value)) {
                    let names: Vec<String> = theirs.value.iter().map(|name| format!("`{}`", name.value)).collect();
                    let context = &self.contexts[id.0];
                    let message = format!(
                        "TLSContext `{}` ({}) is for {}, not for `{}`; Emissary uses it for this Host anyway",
                        name.value,
                        context.namespace,
                        names.join(", "),
                        host.hostname.value
                    );
                    let help = format!("add `{}` to the `hosts` of the TLSContext, or name another TLSContext", host.hostname.value);
                    self.notices.error(&host.identity, ControllerNotice::new(&codes::HOSTS_MISMATCH, message, name.origin).help(help));
                }
            }
            None => {
                let hosts = Sourced::new(vec![host.hostname.clone()], host.hostname.origin.map(|origin| origin.by(Rule::Host)));
                self.contexts[id.0].spec.hosts = Some(hosts);
            }
        }
        host.context = Some(id);
        Ok(())
    }
}
