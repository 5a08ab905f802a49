//! Routing of requests.

use super::{Ending, Passed, Request, glob, matches, try_request};
use alloc::vec::Vec;
use chancery_base::ir::appgw::wire::Wire as _;
use chancery_base::ir::appgw::{FrontendType, Gateway};
use chancery_base::resource::ObjectId;
use chancery_text::{Limits, Str, parse};

/// Two hosts with path maps, and a catch-all.
const GATEWAY: &str = r#"{"properties": {
 "frontendIPConfigurations": [{"name": "f", "id": "/f", "properties": {"publicIPAddress": {"id": "/pip"}}}],
 "frontendPorts": [{"name": "p80", "id": "/p80", "properties": {"port": 80}}, {"name": "p443", "id": "/p443", "properties": {"port": 443}}],
 "httpListeners": [
  {"name": "all", "id": "/l/all", "properties": {"frontendIPConfiguration": {"id": "/f"}, "frontendPort": {"id": "/p80"}, "protocol": "Http"}},
  {"name": "wild", "id": "/l/wild", "properties": {"frontendIPConfiguration": {"id": "/f"}, "frontendPort": {"id": "/p80"}, "protocol": "Http",
   "hostNames": ["*.example.com"]}},
  {"name": "tls", "id": "/l/tls", "properties": {"frontendIPConfiguration": {"id": "/f"}, "frontendPort": {"id": "/p443"}, "protocol": "Https",
   "hostName": "shop.example.com"}}],
 "requestRoutingRules": [
  {"name": "last", "id": "/r/last", "properties": {"ruleType": "Basic", "priority": 300, "httpListener": {"id": "/l/all"},
   "backendAddressPool": {"id": "/b/empty"}, "backendHttpSettings": {"id": "/s/plain"}}},
  {"name": "wild", "id": "/r/wild", "properties": {"ruleType": "PathBasedRouting", "priority": 100, "httpListener": {"id": "/l/wild"}, "urlPathMap": {"id": "/m"}}},
  {"name": "tls", "id": "/r/tls", "properties": {"ruleType": "Basic", "priority": 200, "httpListener": {"id": "/l/tls"},
   "backendAddressPool": {"id": "/b/web"}, "backendHttpSettings": {"id": "/s/under"}}}],
 "urlPathMaps": [{"name": "m", "id": "/m", "properties": {"defaultRedirectConfiguration": {"id": "/d"}, "pathRules": [
  {"name": "api", "properties": {"paths": ["/api*"], "backendAddressPool": {"id": "/b/web"}, "backendHttpSettings": {"id": "/s/under"},
   "rewriteRuleSet": {"id": "/w/set"}, "firewallPolicy": {"id": "/policy"}}},
  {"name": "v2", "properties": {"paths": ["/api/v2*"], "backendAddressPool": {"id": "/b/empty"}, "backendHttpSettings": {"id": "/s/plain"}}}]}}],
 "redirectConfigurations": [{"name": "d", "id": "/d", "properties": {"redirectType": "Permanent", "targetListener": {"id": "/l/tls"},
  "includePath": true, "includeQueryString": true}}],
 "backendAddressPools": [{"name": "web", "id": "/b/web", "properties": {"backendAddresses": [{"ipAddress": "10.1.0.4"}]}},
  {"name": "empty", "id": "/b/empty", "properties": {"backendAddresses": []}}],
 "backendHttpSettingsCollection": [{"name": "plain", "id": "/s/plain", "properties": {"port": 80, "protocol": "Http"}},
  {"name": "under", "id": "/s/under", "properties": {"port": 8443, "protocol": "Https", "path": "/in/", "hostName": "inner.test"}}]}}"#;

fn gateway() -> Gateway {
    Gateway::read(&parse(GATEWAY, &Limits::default()).root.unwrap(), ObjectId::from_index(0)).unwrap()
}

fn asked<'a>(port: i64, host: &'a str, path: &'a str) -> Request<'a> {
    Request { frontend: FrontendType::Public, port, host, path, query: Some("q=1") }
}

#[test]
fn rules_and_paths_are_tried_in_order() {
    let journey = try_request(&gateway(), &asked(80, "Shop.Example.com", "/API/v2/x"));
    let taken = journey.taken.unwrap();
    assert_eq!(taken.path_rule, Some((Str::new("api"), Str::new("/api*"))), "the longer path comes later");
    assert_eq!((taken.rewrites.as_deref(), taken.policy.as_deref()), (Some("set"), Some("/policy")));
    let expected = Ending::Forwarded {
        pool: "web".into(),
        addresses: Vec::from([Str::new("10.1.0.4")]),
        is_https: true,
        port: 8443,
        host: Some("inner.test".into()),
        path: "/in/v2/x".into(),
    };
    assert_eq!(journey.ending, expected);
}

#[test]
fn unmatched_paths_go_to_the_default_pool() {
    let journey = try_request(&gateway(), &asked(80, "shop.example.com", "/x"));
    assert_eq!(journey.ending, Ending::Redirected { code: 301, location: "https://shop.example.com/x?q=1".into() });
}

#[test]
fn a_basic_listener_serves_every_remaining_host() {
    let journey = try_request(&gateway(), &asked(80, "other.test", "/"));
    assert_eq!(journey.passed, [(Str::new("wild"), Passed::Host), (Str::new("tls"), Passed::Place)]);
    assert_eq!(journey.ending, Ending::Refused { code: Some(502), why: "the pool `empty` has no addresses".into() });
}

#[test]
fn path_override_of_basic_rule_is_prepended() {
    let Ending::Forwarded { path, .. } = try_request(&gateway(), &asked(443, "shop.example.com", "/a")).ending else { panic!("it is forwarded") };
    assert_eq!(path, "/in/a");
}

#[test]
fn unserved_ports_and_unserved_hosts_have_different_answers() {
    assert!(matches!(try_request(&gateway(), &asked(81, "shop.example.com", "/")).ending, Ending::Refused { code: None, .. }));
    assert!(matches!(try_request(&gateway(), &asked(443, "other.test", "/")).ending, Ending::Refused { code: Some(404), .. }));
    let private = Request { frontend: FrontendType::Private, ..asked(80, "shop.example.com", "/") };
    assert!(matches!(try_request(&gateway(), &private).ending, Ending::Refused { code: None, .. }));
}

#[test]
fn stars_and_question_marks_stand_for_characters() {
    for (pattern, text, is) in [
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("shop?.test", "shop1.test", true),
        ("shop?.test", "shop.test", false),
        ("*", "", true),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "axxcyyb", false),
        ("", "x", false),
    ] {
        assert_eq!(glob(pattern, text), is, "{pattern} {text}");
    }
    assert!(matches("/a*", "/ab") && matches("/A", "/a") && !matches("/a", "/a/"));
}

#[test]
fn host_at_the_private_address_is_named() {
    let private = GATEWAY.replace(r#""publicIPAddress": {"id": "/pip"}"#, r#""privateIPAddress": "10.0.0.4""#);
    let private = Gateway::read(&parse(&private, &Limits::default()).root.unwrap(), ObjectId::from_index(0)).unwrap();
    let journey = try_request(&private, &asked(80, "shop.example.com", "/api"));
    assert_eq!(journey.passed.first(), Some(&(Str::new("wild"), Passed::Frontend)));
    let why = "nothing listens at port 80 of this address; it is served at the private address only".into();
    assert_eq!(journey.ending, Ending::Refused { code: None, why });
}
