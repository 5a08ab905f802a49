//! Writes ClientTrafficPolicies: how the gateway reads requests, which client address it believes, and the headers that services and clients get.

use super::super::build::{Fields, list, named_values, number, text, truth};
use super::super::gateway::items;
use super::Converter;
use super::traffic::seconds;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

impl Converter<'_> {
    /// Writes the policies of listeners without and with TLS.
    pub(super) fn clients(&mut self) {
        self.plan.clients = [self.client(false), self.client(true)];
    }

    fn client(&self, is_tls: bool) -> Fields {
        let globals = &self.nginx.globals;
        let mut out = Fields::new();
        let (trusts, proxy) = (globals.flag("use-forwarded-headers").value, globals.flag("use-proxy-protocol").value);
        if proxy {
            let mut inner = Fields::new();
            inner.comment("use-proxy-protocol: true").set("optional", truth(false));
            out.set("proxyProtocol", inner.node());
        }
        if trusts {
            let ranges = globals.list("proxy-real-ip-cidr").value;
            let (mut forwarded, mut detection) = (Fields::new(), Fields::new());
            forwarded.comment("use-forwarded-headers: true, proxy-real-ip-cidr");
            forwarded.set("trustedCIDRs", items(ranges.iter()));
            detection.set("xForwardedFor", forwarded.node());
            out.set("clientIPDetection", detection.node());
        }
        let (mut path, mut headers, mut early) = (Fields::new(), Fields::new(), Fields::new());
        path.comment("nginx matches decoded paths").set("escapedSlashesAction", text("UnescapeAndForward"));
        out.set("path", path.node());
        let (scheme, port) = if is_tls { ("https", self.nginx.ports.https) } else { ("http", self.nginx.ports.http) };
        let mut set: Vec<(String, String)> = Vec::from([
            ("X-Forwarded-Host".to_string(), "%REQ(:AUTHORITY)%".to_string()),
            ("X-Forwarded-Port".to_string(), port.to_string()),
            ("X-Forwarded-Scheme".to_string(), scheme.to_string()),
            ("X-Real-IP".to_string(), "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%".to_string()),
            ("X-Scheme".to_string(), scheme.to_string()),
        ]);
        for (name, value) in &globals.set_headers {
            if !value.value.contains('$') {
                set.push((name.to_string(), value.value.replace('%', "%%")));
            }
        }
        set.sort();
        early.set(if trusts { "addIfAbsent" } else { "set" }, named_values(set.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
        let mut removed = Vec::from(["Proxy"]);
        if !trusts {
            removed.extend(["X-Forwarded-For", "X-Forwarded-Proto"]);
        }
        early.set("remove", items(removed));
        headers.comment("the headers that ingress-nginx sends to services").set("earlyRequestHeaders", early.node());
        let mut late: Vec<(String, String)> =
            globals.add_headers.iter().map(|(name, value)| (name.to_string(), value.value.replace('%', "%%"))).collect();
        if is_tls && globals.flag("hsts").value {
            let mut value = format!("max-age={}", globals.text("hsts-max-age").value);
            if globals.flag("hsts-include-subdomains").value {
                value.push_str("; includeSubDomains");
            }
            if globals.flag("hsts-preload").value {
                value.push_str("; preload");
            }
            late.push(("Strict-Transport-Security".to_string(), value));
        }
        if !late.is_empty() {
            let mut inner = Fields::new();
            inner.comment("hsts and add-headers of the ConfigMap");
            inner.set("set", named_values(late.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
            headers.set("lateResponseHeaders", inner.node());
        }
        headers.set("requestID", text(if globals.flag("generate-request-id").value { "PreserveOrGenerate" } else { "Preserve" }));
        let keeps = globals.flag("enable-underscores-in-headers").value || !globals.flag("ignore-invalid-headers").value;
        headers.set("withUnderscoresAction", text(if keeps { "Allow" } else { "DropHeader" }));
        out.set("headers", headers.node());
        let (mut http10, mut http1, mut http, mut timeout) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
        http10.set("useDefaultHost", truth(false));
        http1.set("http10", http10.node());
        out.set("http1", http1.node());
        http.comment("keep-alive, client-header-timeout").set("idleTimeout", text(&seconds(globals.number("keep-alive").value)));
        http.set("requestHeadersReceivedTimeout", text(&seconds(globals.number("client-header-timeout").value)));
        timeout.set("http", http.node());
        out.set("timeout", timeout.node());
        if is_tls {
            out.set_some("tls", self.protocols());
            let mut http2 = Fields::new();
            http2.set("maxConcurrentStreams", number(globals.number("http2-max-concurrent-streams").value));
            out.set("http2", http2.node());
        }
        out
    }

    /// TLS versions and ciphers of the ConfigMap.
    fn protocols(&self) -> Option<chancery_text::Node> {
        let globals = &self.nginx.globals;
        let mut out = Fields::new();
        let written = globals.text("ssl-protocols").value;
        let versions: Vec<&str> = written
            .split_whitespace()
            .filter_map(|word| match word {
                "TLSv1" => Some("1.0"),
                "TLSv1.1" => Some("1.1"),
                "TLSv1.2" => Some("1.2"),
                "TLSv1.3" => Some("1.3"),
                _ => None,
            })
            .collect();
        let (least, most) = (versions.iter().min()?, versions.iter().max()?);
        out.comment(&format!("ssl-protocols: {written}")).set("minVersion", text(least)).set("maxVersion", text(most));
        if *least != "1.3" {
            let ciphers = globals.text("ssl-ciphers").value;
            out.comment("ssl-ciphers").set("ciphers", list(super::security::ciphers(&ciphers).into_iter().map(text).collect()));
        }
        if !globals.flag("use-http2").value {
            out.comment("use-http2: false").set("alpnProtocols", items(["http/1.1"]));
        }
        Some(out.node())
    }
}
