//! Converts redirects that annotations ask for: `app-root`, `permanent-redirect`, `temporal-redirect`, and rewrites to a URL.

use super::super::build::{Fields, number, text};
use super::super::gateway::{PathMatch, Rule, Target, redirect};
use super::Converter;
use super::host::Host;
use super::url::Url;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::Location;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::{Node, Str};

impl Converter<'_> {
    /// Returns a status that Gateway API accepts for redirects, and reports another one.
    pub(super) fn redirect_code(&mut self, of: &Location, code: i64, origin: Option<Origin>) -> i64 {
        // Contour reads a version of Gateway API with two statuses.
        let (accepted, words): (&[i64], &str) = match self.target {
            Target::Contour => (&[301, 302], "Contour accepts 301 and 302"),
            Target::EnvoyGateway | Target::Standard => (&[301, 302, 303, 307, 308], "Gateway API accepts 301, 302, 303, 307 and 308"),
        };
        if accepted.contains(&code) {
            return code;
        }
        let near = if matches!(code, 300 | 303..=307) { 302 } else { 301 };
        self.note(of, origin, format!("the redirect status {code} becomes {near}: {words}"));
        near
    }

    pub(super) fn app_root(host: &Host<'_>, root: &Sourced<Str>) -> Rule {
        let (mut path, mut fields) = (Fields::new(), Fields::new());
        path.set("type", text("ReplaceFullPath")).set("replaceFullPath", text(&root.value));
        fields.set("path", path.node()).set("statusCode", number(302));
        Rule {
            comments: Vec::from([format!("app-root: {}", root.value)]),
            matches: Vec::from([host.on(PathMatch::Exact("/".into()))]),
            filters: Vec::from([redirect(&fields)]),
            ..Rule::default()
        }
    }

    /// The rule of `permanent-redirect` or `temporal-redirect`, without conditions.
    pub(super) fn permanent_redirect(&mut self, host: &Host<'_>, of: &Location) -> Option<Rule> {
        let to = &of.settings.redirect;
        let ingress = of.ingress.as_ref()?;
        let written = to.url.value.as_str();
        let name = if to.url.origin.is_some() && to.code.value == 302 { "temporal-redirect" } else { "permanent-redirect" };
        let comments = Vec::from([format!("{name}: {written}")]);
        let code = self.redirect_code(of, to.code.value, to.code.origin.or(to.url.origin));
        // The URL with the path and the query of the request is a redirect of Gateway API.
        let whole = written.strip_suffix("$request_uri");
        if let Some(url) = Url::read(whole.unwrap_or(written)).filter(|url| whole.is_some() && url.path.is_empty() && !url.host.contains('$')) {
            return Some(Rule { comments, filters: Vec::from([to_url(&url, code)]), ..Rule::default() });
        }
        if written.contains('$') {
            self.note(of, to.url.origin, format!("the path `{}` is not converted: `{name}: {written}` uses a variable of nginx", of.path.value));
            return None;
        }
        if written.starts_with('/') && !written.contains(['?', '#']) {
            let (mut path, mut fields) = (Fields::new(), Fields::new());
            path.set("type", text("ReplaceFullPath")).set("replaceFullPath", text(written));
            fields.set("path", path.node()).set("statusCode", number(code));
            self.note(of, to.url.origin, format!("`{name}: {written}` is converted approximately: a Gateway adds the query of the request"));
            return Some(Rule { comments, filters: Vec::from([redirect(&fields)]), ..Rule::default() });
        }
        if self.is_envoy_gateway() {
            // A redirect of Gateway API would add the query of the request.
            let headers = [("Location".to_string(), written.replace('%', "%%"))];
            let rule = self.response_rule(&ingress.namespace, &format!("{}-redirect", ingress.name), code, &headers, &host.file);
            return Some(Rule { comments, ..rule });
        }
        let url = Url::read(written).filter(|url| !url.path.contains(['?', '#']));
        let Some(url) = url else {
            self.note(of, to.url.origin, format!("the path `{}` is not converted: Gateway API has no redirect to `{written}`", of.path.value));
            return None;
        };
        self.note(of, to.url.origin, format!("`{name}: {written}` is converted approximately: a Gateway adds the query of the request"));
        Some(Rule { comments, filters: Vec::from([to_url(&url, code)]), ..Rule::default() })
    }

    /// A rewrite whose target is a URL, which nginx answers with a redirect.
    pub(super) fn rewrite_to_url(&mut self, of: &Location) -> Result<Node, String> {
        let target = of.settings.rewrite.target.value.as_str();
        if target.contains('$') {
            return Err("redirects with groups of the path, which a Gateway cannot use".into());
        }
        let url = Url::read(target).filter(|url| !url.path.contains(['?', '#'])).ok_or("is not a URL that a Gateway can redirect to")?;
        Ok(to_url(&url, 302))
    }
}

fn to_url(url: &Url, code: i64) -> Node {
    let mut fields = Fields::new();
    fields.set("scheme", text(if url.is_tls { "https" } else { "http" })).set("hostname", text(&url.host));
    if url.has_port {
        fields.set("port", number(url.port));
    }
    if !url.path.is_empty() {
        let mut path = Fields::new();
        path.set("type", text("ReplaceFullPath")).set("replaceFullPath", text(&url.path));
        fields.set("path", path.node());
    }
    fields.set("statusCode", number(code));
    redirect(&fields)
}
