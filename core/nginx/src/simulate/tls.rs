//! Chooses the certificates that clients receive.
//!
//! ingress-nginx `rootfs/etc/nginx/lua/certificate.lua`, `internal/ingress/controller/nginx.go` (`configureCertificates`).

use alloc::string::String;
use chancery_base::ir::nginx::{Certificate, Nginx};

/// Whether a certificate's names cover a host.
fn covers(certificate: &Certificate, host: &str) -> bool {
    let wild = host.split_once('.').map(|(_, rest)| alloc::format!("*.{rest}"));
    certificate.names.iter().any(|name| name.eq_ignore_ascii_case(host) || wild.as_deref().is_some_and(|wild| name.eq_ignore_ascii_case(wild)))
}

fn listed<'n>(nginx: &'n Nginx, host: &str) -> Option<&'n Certificate> {
    let redirect = nginx.redirects.iter().find(|redirect| redirect.from.value == host);
    if let Some(redirect) = redirect {
        return redirect.certificate.as_ref();
    }
    // Names of later servers replace those names of earlier servers.
    nginx.servers.iter().rev().find_map(|server| {
        if server.aliases.value.iter().any(|alias| *alias == *host) {
            return Some(server.certificate.as_ref().filter(|certificate| covers(certificate, host)));
        }
        (server.host.value == *host).then_some(server.certificate.as_ref())
    })?
}

/// Returns the certificate of a host: for its name, or else for the wildcard of its first label.
pub fn certificate_of<'n>(nginx: &'n Nginx, host: &str) -> Option<&'n Certificate> {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let wild = host.split_once('.').map(|(_, rest)| alloc::format!("*.{rest}"));
    listed(nginx, &host).or_else(|| listed(nginx, &wild?))
}

/// Returns the name of the certificate that a client receives.
pub fn shown_name(nginx: &Nginx, sni: Option<&str>) -> String {
    let certificate = sni.and_then(|name| certificate_of(nginx, name)).unwrap_or(&nginx.default_certificate);
    certificate.shown_name.as_str().into()
}
