//! Checks what Contour checks before it serves (Contour `cmd/contour/serve.go`, `doServe`): namespaces, timeouts, and the services in its
//! configuration.

use super::super::cluster::Cluster;
use super::super::kinds::Kind;
use super::{Settings, findings};
use alloc::format;
use alloc::string::String;
use chancery_base::compilation::Failure;
use chancery_base::diagnostic::Findings;
use chancery_base::schema::{duration, go_quoted};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;

impl Settings {
    /// Whether Contour serves with this configuration.
    pub fn start(&self, cluster: &Cluster<'_>, sink: &mut Findings) -> Result<(), Failure> {
        let failed = |(error, at): (String, Cursor<'_>), sink: &mut Findings| {
            findings::failed(sink, "serve", error, at.node().map(|node| (at.object(), node.id)))
        };
        self.watched().map_err(|fault| failed(fault, sink))?;
        self.timeouts().map_err(|fault| failed(fault, sink))?;
        let feature = |path: &str| self.at(path).some();
        if let Some(tracing) = feature("tracing") {
            extension_service(cluster, tracing.field("extensionService"), sink)?;
        }
        if let Some(service) = feature("rateLimitService") {
            extension_service(cluster, service.field("extensionService"), sink)?;
        }
        if let Some(authorization) = feature("globalExtAuth") {
            extension_service(cluster, authorization.field("extensionRef"), sink)?;
            external_authorization(authorization).map_err(|fault| failed(fault, sink))?;
        }
        Ok(())
    }

    /// The objects in the configuration must be in watched namespaces.
    fn watched(&self) -> Result<(), (String, Cursor<'_>)> {
        if self.watch_namespaces.is_empty() {
            return Ok(());
        }
        let is_watched = |namespace: Cursor<'_>| self.watch_namespaces.iter().any(|watched| watched == namespace.str());
        let roots = self.at("httpproxy.rootNamespaces");
        if roots.items().any(|root| !is_watched(root)) {
            return Err(("not all root namespaces are being watched".into(), roots));
        }
        for (path, name) in [("httpproxy.fallbackCertificate", "fallbackCertificate"), ("envoy.clientCertificate", "clientCertificate")] {
            let namespace = self.at(path).field("namespace");
            if self.at(path).exists() && !is_watched(namespace) {
                return Err((format!("the {name} namespace ({}) must be watched", namespace.str()), namespace));
            }
        }
        Ok(())
    }

    fn timeouts(&self) -> Result<(), (String, Cursor<'_>)> {
        for (field, words) in [
            ("requestTimeout", "request timeout"),
            ("connectionIdleTimeout", "connection idle timeout"),
            ("streamIdleTimeout", "stream idle timeout"),
            ("maxConnectionDuration", "max connection duration"),
            ("delayedCloseTimeout", "delayed close timeout"),
            ("connectionShutdownGracePeriod", "connection shutdown grace period"),
        ] {
            let timeout = self.at("envoy.timeouts").field(field);
            check_timeout(timeout.str()).map_err(|error| (format!("failed to parse {words}: {error}"), timeout))?;
        }
        let connect = self.at("envoy.timeouts.connectTimeout");
        match connect.some_str().map(duration::read) {
            Some(Err(error)) => Err((format!("failed to parse connect timeout: {error}"), connect)),
            _ => Ok(()),
        }
    }
}

/// Validates a timeout (Contour `internal/timeout`).
fn check_timeout(timeout: &str) -> Result<(), Reason> {
    match timeout {
        "" | "infinity" | "infinite" => Ok(()),
        _ => match duration::read(timeout) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("unable to parse timeout string {}: {error}", go_quoted(timeout)).into()),
        },
    }
}

/// An ExtensionService that the configuration names must exist when Contour starts.
fn extension_service(cluster: &Cluster<'_>, reference: Cursor<'_>, sink: &mut Findings) -> Result<(), Failure> {
    let (namespace, name) = (reference.field("namespace").str(), reference.field("name").str());
    let Some(service) = cluster.get(Kind::ExtensionService, namespace, name) else {
        return Err(findings::no_extension_service(reference, namespace, name, sink));
    };
    let response = service.spec().at("timeoutPolicy.response");
    check_timeout(response.str()).map_err(|error| {
        let error = format!("error parsing extension service {namespace}/{name} response timeout: {error}");
        findings::failed(sink, "serve", error, response.node().map(|node| (response.object(), node.id)))
    })
}

/// Validates global authorization (Contour `internal/dag/httpproxy_processor.go`, `NewExternalAuthorization`).
fn external_authorization(authorization: Cursor<'_>) -> Result<(), (String, Cursor<'_>)> {
    let timeout = authorization.field("responseTimeout");
    check_timeout(timeout.str()).map_err(|error| (format!("Spec.Virtualhost.Authorization.ResponseTimeout is invalid: {error}"), timeout))?;
    let context = authorization.at("authPolicy.context");
    if !context.is_empty() && authorization.field("serviceType").str() == "http" {
        return Err(("Spec.Virtualhost.Authorization.AuthPolicy.Context are only applied to grpc service type".into(), context));
    }
    for (field, name) in [("allowedAuthorizationHeaders", "AllowedAuthorizationHeaders"), ("allowedUpstreamHeaders", "AllowedUpstreamHeaders")] {
        for header in authorization.at("httpSettings").field(field).items() {
            let given = ["exact", "prefix", "suffix", "contains"].iter().filter(|kind| !header.field(kind).str().is_empty()).count();
            if given != 1 {
                let rule = "one and only one of exact, prefix, suffix or contains must be set";
                return Err((format!("Spec.Virtualhost.Authorization.HTTPServerSettings.{name} is invalid: {rule}"), header));
            }
        }
    }
    Ok(())
}
