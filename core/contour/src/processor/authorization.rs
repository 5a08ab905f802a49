//! Processes external authorization (Contour `internal/dag/httpproxy_processor.go`, `computeVirtualHostAuthorization`).

use super::Processing;
use super::policy;
use super::record::Record;
use crate::model::{Authorization, AuthorizationBody, HeaderNameMatch, MatchType, Timeout};
use crate::source::quoted;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

impl Processing<'_> {
    /// The authorization service for a host of an HTTPProxy in this namespace.
    pub(super) fn authorization(&self, at: Cursor<'_>, namespace: &str, record: &mut Record) -> Result<Sourced<Authorization>, Reported> {
        let reference = at.field("extensionRef");
        let version = reference.field("apiVersion").str();
        if !matches!(version, "" | "projectcontour.io/v1alpha1") {
            let what = "Spec.Virtualhost.Authorization.extensionRef specifies an unsupported resource version";
            let message = format!("{what} {}", go_quoted(version));
            return Err(record.error("AuthError", "AuthBadResourceVersion", message, reference.field("apiVersion").origin()));
        }
        let namespace = match reference.field("namespace").str() {
            "" => namespace,
            own => own,
        };
        let name = (Str::new(namespace), Str::new(reference.field("name").str()));
        let cluster = format!("extension/{}/{}", name.0, name.1);
        let Some(service) = self.graph.extensions.get(cluster.as_str()).cloned() else {
            let message = format!("Spec.Virtualhost.Authorization.ServiceRef extension service {} not found", quoted(&name));
            return Err(record.error("AuthError", "ExtensionServiceNotFound", message, reference.origin()));
        };
        let response = at.field("responseTimeout");
        let mut response_timeout = match policy::timeout(response.str()) {
            Ok(timeout) => Sourced::new(timeout, response.origin()),
            Err(why) => {
                let message = format!("Spec.Virtualhost.Authorization.ResponseTimeout is invalid: {why}");
                return Err(record.error("AuthError", "AuthResponseTimeoutInvalid", message, response.origin()));
            }
        };
        if response_timeout.value == Timeout::Default {
            response_timeout = service.timeouts.response;
        }
        let http = at.field("serviceType").str() == "http";
        let context = at.field("authPolicy").field("context");
        if http && context.has_items() {
            let message = "Spec.Virtualhost.Authorization.AuthPolicy.Context are only applied to grpc service type";
            return Err(record.error("AuthError", "AuthContextForHTTP", message, context.origin()));
        }
        let settings = at.field("httpSettings");
        let mut headers = |field: &str, name: &str| match allowed_headers(settings.field(field)) {
            Ok(headers) => Ok(headers),
            Err(why) => {
                let message = format!("Spec.Virtualhost.Authorization.HTTPServerSettings.{name} is invalid: {why}");
                Err(record.error("AuthError", "AuthBadAllowedHeader", message, settings.field(field).origin()))
            }
        };
        let allowed_request_headers = headers("allowedAuthorizationHeaders", "AllowedAuthorizationHeaders")?;
        let allowed_upstream_headers = headers("allowedUpstreamHeaders", "AllowedUpstreamHeaders")?;
        let authorization = Authorization {
            http,
            allowed_request_headers,
            allowed_upstream_headers,
            path_prefix: Sourced::new(Str::new(settings.field("pathPrefix").str()), settings.field("pathPrefix").origin()),
            service,
            response_timeout,
            fail_open: truth(at.field("failOpen")),
            body: at.field("withRequestBody").some().map(request_body),
        };
        Ok(Sourced::new(authorization, at.origin()))
    }
}

fn truth(at: Cursor<'_>) -> Sourced<bool> {
    Sourced::new(at.is_true(), at.origin())
}

/// How much of a request's body is sent along.
fn request_body(at: Cursor<'_>) -> Sourced<AuthorizationBody> {
    let max = at.field("maxRequestBytes");
    let bytes = max.u32().filter(|bytes| bytes.value != 0).unwrap_or_else(|| Sourced::new(1024, max.origin()));
    let settings =
        AuthorizationBody { max_bytes: bytes, allow_partial: truth(at.field("allowPartialMessage")), pack_as_bytes: truth(at.field("packAsBytes")) };
    Sourced::new(settings, at.origin())
}

fn allowed_headers(at: Cursor<'_>) -> Result<Vec<Sourced<HeaderNameMatch>>, Reason> {
    let fields = [("exact", MatchType::Exact), ("prefix", MatchType::Prefix), ("suffix", MatchType::Suffix), ("contains", MatchType::Contains)];
    let mut headers = Vec::new();
    for item in at.items() {
        let mut written = fields.into_iter().filter(|(field, _)| !item.field(field).str().is_empty());
        let Some((field, match_type)) = written.next() else {
            return Err("one of prefix, suffix, exact or contains is required for each allowedHeader".into());
        };
        if written.next().is_some() {
            return Err("only one of prefix, suffix, exact, and contains should be set in the allowedHeader".into());
        }
        let header = HeaderNameMatch { match_type, value: item.field(field).str().into(), ignore_case: item.field("ignoreCase").is_true() };
        headers.push(Sourced::new(header, item.origin()));
    }
    Ok(headers)
}
