//! Models TLS contexts: from TLSContext resources, the old `tls` Module, and Hosts.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irtlscontext.py`, `ir/irtls.py`, `ir/ir.py` (`resolve_secret`).

use super::notices::{ControllerNotice, Identity};
use super::{Model, spec_of};
use crate::config::{Payload, Presence, Resource};
use crate::spec::{Decode, Decoder, TlsConfig};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::ir::{CertificateSource, Holder, SecretPart, SecretReference};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::{Str, Value};

/// A TLS context by its number in [`Model::contexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(pub usize);

/// IRTLSContext: certificates and settings for termination or origination.
#[derive(Clone, Debug, Default)]
pub struct TlsContext {
    /// Who it is.
    pub identity: Identity,
    /// The namespace of its secrets.
    pub namespace: Str,
    /// The written values. A Host may have set `secret`, `ca_secret` and `crl_secret`.
    pub spec: TlsConfig,
    /// The generated context that originates TLS without a certificate.
    pub is_null: bool,
    /// Whether a Host gave a namespace for its secret, so that dots in names separate it.
    pub force_namespacing: bool,
    /// Set to `false` when it turns out to be unusable.
    pub active: bool,
    /// Whether it has an error and is therefore unusable.
    pub errored: bool,
    /// Certificate shown.
    pub certificate: Option<Sourced<CertificateSource>>,
    pub private_key: Option<Sourced<CertificateSource>>,
    /// Authorities that peers are checked with.
    pub trusted_ca: Option<Sourced<CertificateSource>>,
    /// Revoked certificates.
    pub revoked: Option<Sourced<CertificateSource>>,
}

const VERSIONS: [&str; 4] = ["v1.0", "v1.1", "v1.2", "v1.3"];

/// Whether this is a supported TLS version.
pub fn is_tls_version(version: &str) -> bool {
    VERSIONS.contains(&version)
}

impl TlsContext {
    /// Whether the reference considers it to exist.
    pub fn usable(&self) -> bool {
        self.active && !self.errored
    }

    /// Whether it terminates TLS for some hosts.
    pub fn has_hosts(&self) -> bool {
        self.spec.hosts.as_ref().is_some_and(|hosts| !hosts.value.is_empty())
    }

    fn origin(&self) -> Option<Origin> {
        self.identity.origin
    }
}

/// The content of a found Secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundSecret {
    certificate: Option<SecretPart>,
    key: Option<SecretPart>,
    user: Option<SecretPart>,
    root: Option<SecretPart>,
}

impl FoundSecret {
    /// Whether it is of any use.
    pub fn is_good(&self) -> bool {
        self.certificate.is_some() || self.user.is_some()
    }
}

impl Model<'_> {
    /// Looks a Secret up. A Secret that is assumed to exist holds everything but a
    /// root certificate.
    pub fn find_secret(&mut self, name: &str, namespace: &str) -> (FoundSecret, SecretReference) {
        if let Some(saved) = self.saved_secrets.get(format!("{name}.{namespace}").as_str()) {
            return saved.clone();
        }
        let found = self.look_secret_up(name, namespace);
        let reference = SecretReference { holder: Holder::Secret, namespace: namespace.into(), name: name.into(), part: SecretPart::Certificate };
        if found != FoundSecret::default() {
            self.saved_secrets.insert(name.into(), (found.clone(), reference.clone()));
        }
        (found, reference)
    }

    fn look_secret_up(&self, name: &str, namespace: &str) -> FoundSecret {
        match self.config.secret(namespace, name) {
            Presence::Known(Resource { payload: Payload::Secret(secret), .. }) => {
                let holds = |key: &str| secret.data.get(key).is_some_and(|(_, text)| holds_text(text.expose()));
                let part = |first: &str, other: &str, part: SecretPart| {
                    if holds(first) { Some(part) } else { holds(other).then(|| SecretPart::Key(other.into())) }
                };
                FoundSecret {
                    certificate: part("tls.crt", "cert-chain.pem", SecretPart::Certificate),
                    key: part("tls.key", "key.pem", SecretPart::PrivateKey),
                    user: part("user.key", "crl.pem", SecretPart::Key("user.key".into())),
                    root: holds("root-cert.pem").then(|| SecretPart::Key("root-cert.pem".into())),
                }
            }
            Presence::Assumed => FoundSecret {
                certificate: Some(SecretPart::Certificate),
                key: Some(SecretPart::PrivateKey),
                user: Some(SecretPart::Key("user.key".into())),
                root: None,
            },
            Presence::Known(_) | Presence::Withheld | Presence::Missing => FoundSecret::default(),
        }
    }

    /// A usable context by name.
    pub fn context_named(&self, name: &str) -> Option<ContextId> {
        let id = *self.context_names.get(name)?;
        self.contexts[id.0].usable().then_some(id)
    }

    /// A context by number.
    pub fn context(&self, id: ContextId) -> &TlsContext {
        &self.contexts[id.0]
    }

    /// The context that originates TLS without a certificate, made when first needed.
    pub fn null_context(&mut self) -> ContextId {
        const NAME: &str = "no-cert-upstream";
        if let Some(id) = self.context_named(NAME) {
            return id;
        }
        let context = TlsContext {
            identity: Identity::internal("ir.no-cert-upstream", "null-TLS-context", NAME),
            namespace: self.options.ambassador_namespace.clone(),
            is_null: true,
            active: true,
            ..TlsContext::default()
        };
        self.save_context(context)
    }

    /// Keeps a context under its name, unless the name is taken or its redirect port conflicts.
    pub fn save_context(&mut self, context: TlsContext) -> ContextId {
        let id = ContextId(self.contexts.len());
        let name = context.identity.name.clone();
        let mut valid = true;
        if let Some(extant) = self.context_names.get(&name) {
            let extant = &self.contexts[extant.0];
            if extant.usable() {
                let message = format!("Duplicate TLSContext {name}; keeping definition from {}", extant.identity.rkey);
                self.notices.overall(ControllerNotice::new(&codes::DUPLICATE_RESOURCE, message, context.origin()));
                valid = false;
            }
        }
        if let Some(port) = &context.spec.redirect_cleartext_from {
            match &self.redirect_cleartext_from {
                None => self.redirect_cleartext_from = Some(*port),
                Some(taken) if taken.value != port.value => {
                    let message = format!("TLSContext: {name}; configured conflicting redirect_from port: {}", port.value);
                    self.notices.overall(ControllerNotice::new(&codes::CONFLICTING_REDIRECT_PORT, message, port.origin));
                    valid = false;
                }
                Some(_) => {}
            }
        }
        self.contexts.push(context);
        if valid {
            self.context_names.insert(name, id);
        }
        id
    }

    /// Validates a context when it is read. A context with an error never becomes active.
    pub fn set_up_context(&mut self, mut context: TlsContext) -> Result<TlsContext, Reported> {
        let name = context.identity.name.clone();
        let mut problems = Vec::new();
        let has_secret = context.spec.secret.as_ref().is_some_and(|s| !s.value.is_empty());
        let has_file = context.spec.cert_chain_file.as_ref().is_some_and(|s| !s.value.is_empty());
        if has_file && context.spec.private_key_file.as_ref().is_none_or(|s| s.value.is_empty()) {
            problems.push(format!("TLSContext {name}: 'cert_chain_file' requires 'private_key_file' as well"));
        }
        if has_secret && has_file {
            problems.push(format!("TLSContext {name}: exactly one of 'secret' and 'cert_chain_file' must be present"));
        }
        let origin = context.spec.cert_chain_file.as_ref().and_then(|s| s.origin);
        let errors = problems
            .into_iter()
            .map(|message| self.notices.error(&context.identity, ControllerNotice::new(&codes::INVALID_TLS_CONTEXT, message, origin)));
        match errors.last() {
            Some(reported) => Err(reported),
            None => {
                context.active = true;
                Ok(context)
            }
        }
    }

    /// TLSModuleFactory: contexts of the `tls` Module.
    pub(super) fn load_tls_module(&mut self) {
        if let Some(module) = self.config.get_module("ambassador")
            && let Some(tls) = module.spec.get("tls").filter(|tls| is_truthy(&tls.value))
        {
            let origin = Origin::field(module.object, tls.id);
            let message = "The 'tls' field on the Ambassador module is deprecated! Please use a TLSContext instead";
            self.notices.overall(ControllerNotice::new(&codes::DEPRECATED_FIELD, message, origin));
        }
        let Some(module) = self.config.get_module("tls") else { return };
        let Some(contexts) = module.spec.as_object() else { return };
        let enabled = |node: &chancery_text::Node| node.get("enabled").is_none_or(|flag| is_truthy(&flag.value));
        let client = contexts.get("client");
        if let Some(server) = contexts.get("server").filter(|server| is_truthy(&server.value) && enabled(server)) {
            self.legacy_context("server", server, client.filter(|client| is_truthy(&client.value) && enabled(client)), module, true);
        }
        for entry in contexts.iter() {
            let key = entry.key.as_str();
            let other = ["server", "client", "name", "namespace", "metadata_labels", "location", "kind", "enabled", "apiVersion", "generation"];
            if key.starts_with('_') || other.contains(&key) {
                continue;
            }
            self.legacy_context(key, &entry.value, None, module, false);
        }
    }

    fn legacy_context(
        &mut self,
        name: &str,
        node: &chancery_text::Node,
        client: Option<&chancery_text::Node>,
        module: &crate::config::Resource,
        termination: bool,
    ) {
        let mut decoder = Decoder::new(module.object, Rule::Module);
        let from = TlsConfig::decode(node, &mut decoder).unwrap_or_default();
        let mut spec = TlsConfig {
            secret: from.secret,
            cert_chain_file: from.cert_chain_file,
            private_key_file: from.private_key_file,
            alpn_protocols: from.alpn_protocols,
            redirect_cleartext_from: from.redirect_cleartext_from.filter(|port| port.value != 0),
            ..TlsConfig::default()
        };
        let origin = Origin::new(module.object, node.id, Rule::Module);
        if spec.secret.is_none() && spec.cert_chain_file.is_none() && spec.private_key_file.is_none() {
            spec.secret = Some(Sourced::new("ambassador-certs".into(), origin.by(Rule::Default)));
        }
        if termination {
            spec.hosts = Some(Sourced::new(vec![Sourced::new("*".into(), origin.by(Rule::Default))], origin.by(Rule::Default)));
            if let Some(client) = client {
                let ca = TlsConfig::decode(client, &mut decoder).unwrap_or_default();
                spec.ca_secret = ca.secret;
                spec.cacert_chain_file = ca.cacert_chain_file;
                spec.cert_required = ca.cert_required.filter(|required| required.value);
                if spec.ca_secret.is_none() && spec.cacert_chain_file.is_none() {
                    spec.secret = Some(Sourced::new("ambassador-cacert".into(), decoder.origin(client).by(Rule::Default)));
                }
            }
        }
        let identity = Identity::of(module).part("IRTLSContext", name);
        let context = TlsContext { identity, namespace: self.options.ambassador_namespace.clone(), spec, ..TlsContext::default() };
        if let Ok(context) = self.set_up_context(context) {
            self.save_context(context);
        }
    }

    /// TLSContextFactory: TLSContext resources.
    pub(super) fn load_tls_contexts(&mut self) {
        for resource in self.resources("tls_contexts") {
            let context = TlsContext {
                identity: Identity::of(resource),
                namespace: resource.namespace.clone(),
                spec: spec_of(resource),
                ..TlsContext::default()
            };
            if let Ok(context) = self.set_up_context(context) {
                self.save_context(context);
            }
        }
    }

    /// Resolves the certificates of all contexts; unusable ones lose their name.
    pub(super) fn resolve_contexts(&mut self) {
        let named: Vec<(Str, ContextId)> = self.context_names.iter().map(|(name, id)| (name.clone(), *id)).collect();
        for (name, id) in named {
            if self.resolve_context(id).is_err() {
                self.contexts[id.0].active = false;
                self.context_names.shift_remove(&name);
            }
        }
    }

    fn resolve_context(&mut self, id: ContextId) -> Result<(), Reported> {
        if self.contexts[id.0].is_null {
            return Ok(());
        }
        let context = self.contexts[id.0].clone();
        let name = context.identity.name.clone();
        let spec = &context.spec;
        let fallback = spec.redirect_cleartext_from.as_ref().is_some_and(|port| port.value != 0)
            || spec.alpn_protocols.as_ref().is_some_and(|alpn| !alpn.value.is_empty());
        let file = |path: &Option<Sourced<Str>>| path.clone().map(|path| path.map(CertificateSource::File));
        let mut certificate = file(&spec.cert_chain_file);
        let mut private_key = file(&spec.private_key_file);
        let mut trusted_ca = file(&spec.cacert_chain_file);
        let mut revoked = file(&spec.crl_file);
        let mut secrets = Ok(());

        let any =
            [&spec.secret, &spec.cert_chain_file, &spec.private_key_file, &spec.ca_secret, &spec.cacert_chain_file, &spec.crl_secret, &spec.crl_file];
        let has_none = any.iter().all(|field| field.is_none());
        if has_none && context.has_hosts() {
            // Emissary posts three errors: no information at all, no certificate, no key.
            let message = "the TLSContext names no Secret, so Emissary ignores it, and none of its settings apply";
            let help = "to set options for a Host, write them under `tls` of the Host; or name the Secret in `secret`, and this TLSContext in `tlsContext` of the Host";
            self.contexts[id.0].errored = true;
            let identity = context.identity.clone();
            return Err(self.notices.error(&identity, ControllerNotice::new(&codes::INVALID_TLS_CONTEXT, message, None).help(help)));
        }
        if has_none {
            self.report(id, None, format!("TLSContext {name} has no certificate information at all?"), &codes::INVALID_TLS_CONTEXT);
        }
        if let Some(secret) = spec.secret.clone().filter(|secret| !secret.value.is_empty()) {
            let (found, reference) = self.secret_for(&context, &secret.value);
            if !found.is_good() {
                let message = format!("TLSContext {name} found no certificate in {}, ignoring...", describe(&reference));
                secrets = Err(self.report(id, secret.origin, message, &codes::SECRET_NOT_FOUND));
                self.contexts[id.0].spec.secret = None;
            } else if let (Some(crt), Some(key)) = (&found.certificate, &found.key) {
                certificate = Some(part_of(&reference, crt, secret.origin));
                private_key = Some(part_of(&reference, key, secret.origin));
                if let Some(root) = &found.root {
                    trusted_ca = Some(part_of(&reference, root, secret.origin));
                }
            } else {
                let message = format!("TLSContext {name} found no private key in {}", describe(&reference));
                return Err(self.report(id, secret.origin, message, &codes::SECRET_NOT_FOUND));
            }
        }
        if let Some(secret) = spec.crl_secret.clone().filter(|secret| !secret.value.is_empty()) {
            let (found, reference) = self.secret_for(&context, &secret.value);
            if found.is_good() {
                revoked = found.user.as_ref().map(|user| part_of(&reference, user, secret.origin));
            } else {
                let message = format!("TLSContext {name} found no certificate revocation list in {}", describe(&reference));
                secrets = Err(self.report(id, secret.origin, message, &codes::SECRET_NOT_FOUND));
            }
        }
        let no_termination = format!("TLSContext {name} cannot validate client certs without TLS termination");
        if let Some(secret) = spec.ca_secret.clone().filter(|secret| !secret.value.is_empty()) {
            if certificate.is_none() {
                return Err(self.report(id, secret.origin, no_termination, &codes::INVALID_TLS_CONTEXT));
            }
            let (found, reference) = self.secret_for(&context, &secret.value);
            if found.is_good() {
                trusted_ca = found.certificate.as_ref().map(|crt| part_of(&reference, crt, secret.origin));
            } else {
                let message = format!("TLSContext {name} found no validation certificate in {}", describe(&reference));
                secrets = Err(self.report(id, secret.origin, message, &codes::SECRET_NOT_FOUND));
            }
        } else if trusted_ca.is_some() && certificate.is_none() {
            let origin = trusted_ca.as_ref().and_then(|ca| ca.origin);
            return Err(self.report(id, origin, no_termination, &codes::INVALID_TLS_CONTEXT));
        }
        if let Err(reported) = secrets {
            let context = &mut self.contexts[id.0];
            (context.certificate, context.private_key, context.trusted_ca, context.revoked) = (certificate, private_key, trusted_ca, revoked);
            return if fallback { Ok(()) } else { Err(reported) };
        }
        let mut complete = Ok(());
        for (part, field) in [("cert_chain_file", &certificate), ("private_key_file", &private_key)] {
            if field.is_none() && context.has_hosts() {
                complete = Err(self.report(id, None, format!("TLSContext {name} is missing {part}"), &codes::INVALID_TLS_CONTEXT));
            }
        }
        let context = &mut self.contexts[id.0];
        (context.certificate, context.private_key, context.trusted_ca, context.revoked) = (certificate, private_key, trusted_ca, revoked);
        complete
    }

    /// A Secret as a context names it: `name.namespace` unless namespacing is off.
    fn secret_for(&mut self, context: &TlsContext, written: &str) -> (FoundSecret, SecretReference) {
        let namespacing = context.force_namespacing
            || context.spec.secret_namespacing.as_ref().map_or_else(|| self.ambassador.tls_secret_namespacing(), |flag| flag.value);
        let (name, namespace) = match written.rsplit_once('.').filter(|_| namespacing) {
            Some((name, namespace)) => (name.to_string(), namespace.to_string()),
            None => (written.to_string(), context.namespace.to_string()),
        };
        self.find_secret(&name, &namespace)
    }

    fn report(
        &mut self,
        id: ContextId,
        origin: Option<Origin>,
        message: alloc::string::String,
        code: &'static chancery_base::diagnostic::Code,
    ) -> Reported {
        self.contexts[id.0].errored = true;
        let identity = self.contexts[id.0].identity.clone();
        self.notices.error(&identity, ControllerNotice::new(code, message, origin))
    }
}

fn part_of(reference: &SecretReference, part: &SecretPart, origin: Option<Origin>) -> Sourced<CertificateSource> {
    let reference = SecretReference { part: part.clone(), ..reference.clone() };
    Sourced::new(CertificateSource::Secret(reference), origin)
}

fn describe(reference: &SecretReference) -> alloc::string::String {
    format!("secret {} in namespace {}", reference.name, reference.namespace)
}

/// Whether the reference can decode a Secret's value: PEM verbatim, anything else by base64.
fn holds_text(value: &str) -> bool {
    if value.is_empty() {
        return false;
    }
    value.starts_with("-----BEGIN")
        || chancery_text::base64::decode(value).is_some_and(|bytes| !bytes.is_empty() && core::str::from_utf8(&bytes).is_ok())
}

/// Whether Python considers a value true.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Int(value) => *value != 0,
        Value::Float(value) => *value != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}
