//! Reports `proxy-ssl-verify` without a name: nginx then verifies certificates of services for the name `upstream_balancer`.
//!
//! nginx `src/http/ngx_http_upstream.c` (`ngx_http_upstream_ssl_name`).

use super::CheckInput;
use crate::codes;
use alloc::format;
use chancery_base::diagnostic::Findings;
use chancery_base::ir::nginx::{Location, ProxySsl, Server};
use chancery_base::resource::Origin;
use hashbrown::HashSet;

pub(super) fn check(input: &CheckInput<'_>, sink: &mut Findings) {
    let mut reported: HashSet<Option<Origin>> = HashSet::new();
    for server in &input.built.nginx.servers {
        for location in &server.locations {
            let Some(ssl) = verification(server, location).filter(|ssl| reported.insert(ssl.verify.origin)) else { continue };
            let message = format!(
                "nginx verifies the certificate of the service for the name `upstream_balancer`, so requests for {} get 502",
                if location.path.value == "/" { server.host.value.as_str().into() } else { format!("{}{}", server.host.value, location.path.value) }
            );
            let finding = input.finding(&codes::SERVICE_CERTIFICATE_REJECTED, message, ssl.verify.origin);
            sink.report(finding.help("write the name in the service's certificate in `proxy-ssl-name`"));
        }
    }
}

/// Returns the settings that make nginx verify certificates without a name, if any. Settings of the server apply if the location has none.
fn verification<'s>(server: &'s Server, location: &'s Location) -> Option<&'s ProxySsl> {
    let (own, outer) = (&location.settings.proxy_ssl, &server.proxy_ssl);
    let ssl = [own, outer].into_iter().find(|ssl| !ssl.ca_file.is_empty())?;
    let snippets = [&server.snippet, &location.settings.configuration_snippet];
    let has_name = !own.name.is_empty()
        || !outer.ca_file.is_empty() && !outer.name.is_empty()
        || snippets.iter().any(|snippet| snippet.contains("proxy_ssl_name"));
    let is_https = location.settings.backend_protocol.eq_ignore_ascii_case("HTTPS") && location.settings.denied.is_none();
    (is_https && ssl.verify.value == "on" && !has_name).then_some(ssl)
}
