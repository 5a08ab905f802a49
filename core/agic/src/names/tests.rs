//! The names of the parts.

use super::{ListenerId, Names, PartKind, md5, rewrite_set};
use crate::environment::Environment;
use chancery_base::ir::appgw::FrontendType;
use chancery_text::Str;

fn names(prefix: &str) -> Names {
    let environment =
        Environment { subscription: "s".into(), resource_group: "g".into(), gateway: "n".into(), prefix: prefix.into(), ..Environment::default() };
    Names::new(&environment)
}

fn id(port: i64, hosts: &[&str], frontend: FrontendType) -> ListenerId {
    ListenerId::new(port, hosts.iter().map(Str::new).collect(), frontend, None)
}

#[test]
fn listener_name_is_hash_of_identity() {
    let names = names("");
    // MD5 of {"FrontendPort":443,"HostNames":["a.test","b.test","","",""],"FrontendType":"Private"}
    let private = id(443, &["a.test", "b.test"], FrontendType::Private);
    assert_eq!(names.listener(&private), "fl-bcf582a0c3f05f6837057dd13f277dbc");
    // Without hosts.
    let public = id(80, &[], FrontendType::Public);
    assert_eq!(names.rule(&public), "rr-452c578b4f742bd7a3927c3caf2b604e");
    assert_eq!(names.path_map(&public), "url-452c578b4f742bd7a3927c3caf2b604e");
    assert_eq!(names.redirect(&public), "sslr-fl-452c578b4f742bd7a3927c3caf2b604e");
    // The order of hosts matters.
    assert_ne!(names.listener(&private), names.listener(&id(443, &["b.test", "a.test"], FrontendType::Private)));
}

#[test]
fn listener_hash_escapes_ampersand_like_go() {
    assert_eq!(names("").listener(&id(80, &["a&b"], FrontendType::Public)), "fl-ef4ae5ce21028899085da51e9476e944");
}

#[test]
fn long_names_are_cut_and_get_a_hash() {
    let long = names("").pool(&alloc::format!("{}-{}", "n".repeat(40), "s".repeat(40)), "80", 8080);
    assert_eq!(long, "pool-nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn-s-84c2fadf03fde995aba7e046dff34c87");
    assert_eq!(long.len(), 80);
    assert_eq!(names("").pool("shop-web", "http", 8080), "pool-shop-web-http-bp-8080");
    // Certificates and rewrite sets are not cut.
    assert_eq!(names("").certificate("n", &"s".repeat(90)).len(), "cert-n-".len() + 90);
    assert_eq!(rewrite_set("n", &"s".repeat(90)).len(), "crd-n-".len() + 90);
}

#[test]
fn a_prefix_goes_before_every_name() {
    let names = names("blue-");
    assert_eq!(names.settings("shop-web", "80", 8080, "web"), "blue-bp-shop-web-80-8080-web");
    assert_eq!(names.default_pool(), "blue-defaultaddresspool");
    assert_eq!(names.default_probe("Https"), "blue-defaultprobe-Https");
    let id = id(80, &[], FrontendType::Public);
    assert!(names.redirect(&id).starts_with("blue-sslr-blue-fl-"));
}

#[test]
fn ids_lead_to_the_gateway() {
    let names = names("");
    let gateway = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/applicationGateways/n";
    assert_eq!(names.gateway_id(), gateway);
    assert_eq!(names.id(PartKind::Settings, "x"), alloc::format!("{gateway}/backendHttpSettingsCollection/x"));
    assert_eq!(names.path_rule_id("m", "r"), alloc::format!("{gateway}/urlPathMaps/m/pathRules/r"));
    assert_eq!(names.neighbour_id("publicIPAddresses", "p"), "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/p");
}

#[test]
fn md5_is_that_of_rfc_1321() {
    assert_eq!(md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(md5(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}
