//! Simulates the phases before the service: limits, addresses, passwords, and the authentication service.
//!
//! nginx `src/http/modules/ngx_http_access_module.c`, `ngx_http_auth_basic_module.c`, `ngx_http_auth_request_module.c`, `ngx_http_limit_req_module.c`.

use super::content::Pass;
use super::exchange::{Exchange, Kept};
use super::message::{Credentials, contains, range};
use super::password::{self, Check};
use super::scope::Scope;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

/// A refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    /// The `WWW-Authenticate` header, if the client may authenticate itself.
    pub challenge: Option<String>,
}

impl Refusal {
    fn of(status: u16) -> Self {
        Self { status, challenge: None }
    }
}

/// The results of requests that affect later requests.
#[derive(Debug, Default)]
pub struct Counted {
    /// Counted requests by zone and client, in thousandths.
    requests: BTreeMap<(String, String), i64>,
    /// Answers and connections.
    pub kept: Kept,
}

/// A check of a request: its result, or `None` if it does not apply.
type Step<'d, E> = fn(&mut E, &Scope<'d>, &'d [crate::directive::Directive]) -> Option<Result<(), Refusal>>;

impl<'d> Exchange<'_> {
    /// Checks limits by client address. All requests of a list arrive at the same moment.
    pub fn check_limits(&mut self, scope: &Scope<'d>, counted: &mut Counted) -> Result<(), Refusal> {
        let status = |name: &str| scope.value(name).and_then(|code| code.parse().ok()).unwrap_or(503);
        for directive in scope.all(&["limit_req"]) {
            let word = |key: &str| directive.args.iter().find_map(|arg| arg.strip_prefix(key));
            let zone = word("zone=").unwrap_or_default();
            let Some(limit) = self.zone(zone) else {
                self.gap(format!("the limit of the zone `{zone}` is not evaluated"));
                continue;
            };
            if limit.exempts(self) {
                continue;
            }
            let burst: i64 = word("burst=").and_then(|burst| burst.parse().ok()).unwrap_or_default();
            let excess = counted.requests.entry((zone.into(), self.remote.to_string())).or_insert(-1000);
            if *excess + 1000 > burst.saturating_mul(1000) {
                return Err(Refusal::of(status("limit_req_status")));
            }
            *excess += 1000;
        }
        Ok(())
    }

    fn zone(&self, name: &str) -> Option<Exempt> {
        let mut limits = self.nginx.servers.iter().flat_map(|server| &server.locations).map(|location| &location.settings.rate_limit);
        let found = limits.find(|limit| limit.rps.name.value == name || limit.rpm.name.value == name)?;
        Some(Exempt(found.allowlist.value.iter().map(ToString::to_string).collect()))
    }

    /// Checks addresses, passwords and the authentication service. All of them must allow the request, or one of them with `satisfy any`.
    pub fn check_access(&mut self, scope: &Scope<'d>, server: &'d [crate::directive::Directive]) -> Result<(), Refusal> {
        let any = scope.value("satisfy") == Some("any");
        let mut refused: Option<Refusal> = None;
        let steps: [(Step<'d, Self>, Option<Credentials>); 3] =
            [(Self::check_addresses, None), (Self::check_password, Some(Credentials::Password)), (Self::ask_service, Some(Credentials::Service))];
        for (step, credentials) in steps {
            match step(self, scope, server) {
                None => {}
                Some(Ok(())) => {
                    self.response.needed = credentials.or(self.response.needed);
                    if any {
                        return Ok(());
                    }
                }
                Some(Err(refusal)) if any && matches!(refusal.status, 401 | 403) && refused.as_ref().is_none_or(|known| known.status != 401) => {
                    refused = Some(refusal);
                }
                Some(Err(refusal)) => return Err(refusal),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Checks `allow` and `deny`: the first range that contains the client's address wins. Returns `None` if no range contains it.
    fn check_addresses(&mut self, scope: &Scope<'d>, _: &'d [crate::directive::Directive]) -> Option<Result<(), Refusal>> {
        let rules = scope.all(&["allow", "deny"]);
        let has = |text: &str| text == "all" || range(text).is_some_and(|(network, length)| contains(network, length, self.remote));
        let rule = rules.iter().find(|rule| has(rule.arg(0)))?;
        Some(if rule.name == "deny" { Err(Refusal::of(403)) } else { Ok(()) })
    }

    fn check_password(&mut self, scope: &Scope<'d>, _: &'d [crate::directive::Directive]) -> Option<Result<(), Refusal>> {
        let header = self.request.header("authorization").map(ToString::to_string);
        if let Some(realm) = scope.value("auth_digest") {
            let mut refusal = Refusal::of(401);
            refusal.challenge = Some(format!("Digest algorithm=\"MD5\", qop=\"auth\", realm=\"{realm}\", nonce=\"<opaque>\""));
            if header.is_some() {
                self.gap("credentials of digest authentication are not evaluated");
            }
            return Some(Err(refusal));
        }
        let realm = scope.value("auth_basic").filter(|realm| *realm != "off")?;
        if self.request.has_right_password {
            return Some(Ok(()));
        }
        let realm = self.evaluate(realm);
        let file = scope.value("auth_basic_user_file").unwrap_or_default();
        let checked = self.nginx.passwords.get(file).map(|file| password::check(file.expose(), header.as_deref()));
        match checked {
            Some(Check::Right) => Some(Ok(())),
            Some(Check::Unknown) => {
                self.note("the password is stored in a form that is not evaluated; it is taken to be right");
                Some(Ok(()))
            }
            None if header.is_some() => {
                self.note("the passwords are not in the input; the password is taken to be right");
                Some(Ok(()))
            }
            Some(Check::Wrong) | None => Some(Err(Refusal { status: 401, challenge: Some(format!("Basic realm=\"{realm}\"")) })),
        }
    }

    /// Queries the authentication service.
    fn ask_service(&mut self, scope: &Scope<'d>, server: &'d [crate::directive::Directive]) -> Option<Result<(), Refusal>> {
        let path = scope.value("auth_request").filter(|path| *path != "off")?;
        let location = server.iter().find(|directive| directive.name == "location" && directive.arg(0) == "=" && directive.arg(1) == path)?;
        let inner = location.inner();
        let mut branch = None;
        // Variables of this location also apply to the request.
        let flow = self.rewrite(inner, &mut branch);
        if !matches!(flow, super::rewrite::Flow::Continue) {
            self.gap("the authentication request is not evaluated");
        }
        let answer = self.request.auth.clone();
        let method = scope_of(server, inner).value("proxy_method").map_or_else(|| "GET".into(), ToString::to_string);
        let own_scope = scope_of(server, inner);
        let body = if own_scope.value("proxy_pass_request_body") == Some("off") { 0 } else { self.request.body.unwrap_or_default() };
        let key = own_scope.last("proxy_cache_key").map(|_| self.variable("tmp_cache_key"));
        let known = key.as_ref().and_then(|key| self.kept.answers.get(key)).cloned();
        let (status, headers) = match known {
            Some(known) => known,
            None => {
                let passed = self.pass_to_url(&own_scope, Pass { method, path: (path.into(), self.args.clone()), body, answer });
                let is_answer = passed.is_some();
                let (status, headers) = passed.map_or_else(|| (502, Default::default()), |answer| (answer.status, answer.headers));
                let code = format!("{status}");
                let is_valid = own_scope.all(&["proxy_cache_valid"]).iter().any(|directive| {
                    let codes = directive.args.split_last().map_or(&[] as &[_], |(_, codes)| codes);
                    codes.is_empty() && matches!(status, 200 | 301 | 302) || codes.iter().any(|known| *known == code || *known == "any")
                });
                let forbids = |(name, value): &(String, String)| match name.to_ascii_lowercase().as_str() {
                    "set-cookie" => true,
                    "cache-control" => ["no-cache", "no-store", "private"].iter().any(|word| value.to_ascii_lowercase().contains(word)),
                    _ => false,
                };
                if let Some(key) = key.filter(|_| is_answer && is_valid && !headers.iter().any(forbids)) {
                    self.kept.answers.insert(key, (status, headers.clone()));
                }
                (status, headers)
            }
        };
        self.upstream_headers = headers;
        for directive in scope.all(&["auth_request_set"]) {
            let value = self.evaluate(directive.arg(1));
            self.set(directive.arg(0), value);
        }
        Some(match status {
            200..=299 => Ok(()),
            401 => {
                let challenge = self.variable("upstream_http_www_authenticate");
                Err(Refusal { status: 401, challenge: Some(challenge).filter(|challenge| !challenge.is_empty()) })
            }
            403 => Err(Refusal::of(403)),
            _ => Err(Refusal::of(500)),
        })
    }
}

fn scope_of<'d>(server: &'d [crate::directive::Directive], location: &'d [crate::directive::Directive]) -> Scope<'d> {
    Scope::new([server, location])
}

/// Clients without a limit.
struct Exempt(alloc::vec::Vec<String>);

impl Exempt {
    fn exempts(&self, exchange: &Exchange<'_>) -> bool {
        self.0.iter().filter_map(|text| range(text)).any(|(network, length)| contains(network, length, exchange.remote))
    }
}
