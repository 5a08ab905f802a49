//! Reports settings of one Ingress that apply to a whole host.

use super::CheckInput;
use crate::build::NoticeKind;
use crate::build::www_counterpart;
use crate::codes;
use crate::ingress::Rule;
use crate::source::Counted;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Place, codes as shared};
use chancery_base::ir::nginx::{DEFAULT_SERVER, Location, Server};
use chancery_base::resource::Origin;
use hashbrown::HashSet;

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    for server in &input.built.nginx.servers {
        report_regex(input, server, sink);
        report_root_redirects(input, server, sink);
    }
    for notice in &input.built.notices {
        let taken = |what: &str| format!("{what} of this host are set by an older Ingress already, and these are ignored");
        let finding = match notice.kind {
            NoticeKind::AliasesTaken => input.notice_finding(&codes::FIRST_INGRESS_DECIDES, taken("aliases"), notice, "the aliases that apply"),
            NoticeKind::SnippetTaken => {
                input.notice_finding(&codes::FIRST_INGRESS_DECIDES, taken("server snippets"), notice, "the snippet that applies")
            }
            NoticeKind::ClientCertificatesTaken => {
                let message = "client certificates apply to the whole host as an older Ingress sets them; this Ingress cannot change that";
                input.notice_finding(&codes::FIRST_INGRESS_DECIDES, message, notice, "the Secret that applies")
            }
            NoticeKind::AliasIsHost => input.notice_finding(&codes::FIRST_INGRESS_DECIDES, notice.message.clone(), notice, "the host"),
            NoticeKind::RedirectTaken => {
                let message = "the name to redirect from has its own rules, so it is not redirected";
                input.notice_finding(&codes::FIRST_INGRESS_DECIDES, message, notice, "the host")
            }
            NoticeKind::Certificate | NoticeKind::CertificateHost => {
                let why = notice.message.replace("Error getting SSL certificate ", "cannot use the Secret ");
                let why = why.split(". Using default").next().unwrap_or_default();
                let message = format!("the host shows the controller's default certificate, and http is still redirected to https: {why}");
                input.notice_finding(&codes::DEFAULT_CERTIFICATE, message, notice, "the Secret")
            }
            _ => continue,
        };
        sink.report(finding);
    }
    for counted in &input.source.counted {
        // The hosts of an entry without a Secret show the default certificate.
        for tls in counted.ingress.tls.iter().filter(|tls| tls.secret.is_empty() && !tls.hosts.is_empty()) {
            let message = "an entry of `tls` names no Secret: its hosts show the controller's default certificate, and http is redirected to https";
            sink.report(input.finding(&codes::DEFAULT_CERTIFICATE, message, tls.hosts.first().and_then(|host| host.origin)));
        }
        report_unused_tls_hosts(input, counted, sink);
    }
}

/// Reports hosts of `tls` that no rule, alias or redirect of the Ingress has. The certificate may still be used for a rule's host, if
/// its names cover the host.
fn report_unused_tls_hosts(input: &CheckInput<'_>, counted: &Counted, sink: &mut Findings) {
    let (ingress, settings) = (&counted.ingress, &counted.settings);
    let covers = |host: &str, rule: &str| host == rule || host.strip_prefix('*').is_some_and(|end| end.starts_with('.') && rule.ends_with(end));
    for host in ingress.tls.iter().filter(|tls| !tls.secret.is_empty()).flat_map(|tls| &tls.hosts) {
        let is_served = |rule: &Rule| {
            let redirected = settings.redirect.from_to_www.value.then(|| www_counterpart(&rule.host.value));
            covers(&host.value, &rule.host.value) || redirected.is_some_and(|name| covers(&host.value, &name))
        };
        let is_alias = || settings.aliases.value.iter().any(|alias| covers(&host.value, alias));
        if host.is_empty() || ingress.rules.iter().any(is_served) || is_alias() {
            continue;
        }
        let message = format!("no rule of this Ingress has the host `{}`, so this item of `tls` has no effect", host.value);
        let finding = input.finding(&shared::FIELD_WITHOUT_EFFECT, message, host.origin);
        let without = ingress
            .rules
            .iter()
            .find(|rule| !rule.host.is_empty() && !ingress.tls.iter().flat_map(|tls| &tls.hosts).any(|host| covers(&host.value, &rule.host.value)));
        sink.report(match without {
            Some(rule) => finding.help(format!("`{}` has no item in `tls`: was it meant?", rule.host.value)),
            None => finding,
        });
    }
}

/// Returns the annotation that turns all paths of the host into expressions, if any.
fn regex_annotation(location: &Location) -> Option<(&'static str, Option<Origin>)> {
    let rewrite = &location.settings.rewrite;
    if rewrite.use_regex.value {
        return Some(("use-regex", rewrite.use_regex.origin));
    }
    let rewrites = !rewrite.target.is_empty() && rewrite.target.value != location.path.value;
    rewrites.then_some(("rewrite-target", rewrite.target.origin))
}

/// Reports `use-regex` and `rewrite-target` if they turn paths of other Ingresses or exact paths into expressions.
fn report_regex(input: &CheckInput<'_>, server: &Server, sink: &mut Findings) {
    let Some((name, origin)) = server.locations.iter().find_map(regex_annotation) else { return };
    let Some(by) = origin.map(Origin::object) else { return };
    let other = |location: &&Location| {
        let own = location.ingress.as_ref().and_then(|ingress| ingress.origin);
        !location.is_default && regex_annotation(location).is_none() && own.is_some_and(|own| own.object() != by)
    };
    let others: Vec<&Location> = server.locations.iter().filter(other).collect();
    let exact = server.locations.iter().find(|location| !location.is_default && location.path_type == chancery_base::ir::nginx::PathType::Exact);
    let host = if server.host.value == DEFAULT_SERVER { "requests without another host" } else { server.host.value.as_str() };
    let mut names: Vec<&str> = others.iter().map(|location| location.path.value.as_str()).collect();
    names.dedup();
    names.truncate(3);
    let message = match (others.first(), exact) {
        (Some(_), _) => format!(
            "`{name}` turns all paths of {host} into case-insensitive prefix expressions, also the paths of other Ingresses: {}",
            names.join(", ")
        ),
        (None, Some(exact)) => format!(
            "`{name}` turns all paths of {host} into case-insensitive prefix expressions: the exact path {} also matches longer paths",
            exact.path.value
        ),
        (None, None) => return,
    };
    let finding = input.finding(&codes::REGEX_SPREADS, message, origin);
    let at = others.first().copied().or(exact).and_then(|location| location.path.origin);
    sink.report(match at {
        Some(at) => finding.related(Place::origin(at), "a path that is changed by it"),
        None => finding,
    });
}

/// Reports `app-root` and redirects that also apply to requests of other Ingresses or of no Ingress.
fn report_root_redirects(input: &CheckInput<'_>, server: &Server, sink: &mut Findings) {
    let mut seen: HashSet<Option<Origin>> = HashSet::new();
    let ingresses: HashSet<_> = server.locations.iter().filter_map(|location| location.ingress.as_ref()?.origin).map(Origin::object).collect();
    for location in &server.locations {
        let root = &location.settings.rewrite.app_root;
        if root.is_empty() || ingresses.len() < 2 || !seen.insert(root.origin) {
            continue;
        }
        let message =
            format!("`app-root` redirects `/` of the whole host {} to {}, also for the other Ingresses of the host", server.host.value, root.value);
        sink.report(input.finding(&codes::ROOT_OF_FIRST_INGRESS, message, root.origin));
    }
    let Some(generated) = server.locations.iter().find(|location| location.path.value == "/" && location.is_default) else { return };
    let url = &generated.settings.redirect.url;
    if !url.is_empty() {
        let message = format!(
            "paths of {} that no Ingress has are redirected to {} too: they take the annotations of the host's first Ingress",
            server.host.value, url.value
        );
        sink.report(input.finding(&codes::ROOT_OF_FIRST_INGRESS, message, url.origin));
    }
}
