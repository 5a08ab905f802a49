//! Tests the rules of the developer's guide.

use super::{Bucket, Config, Location, Overrides, Resource, Rules, Store, Support};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use alloc::{format, vec};
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::{Diagnostic, Findings, Place, codes};
use chancery_base::read::{DocumentCache, ReadOptions, read};
use chancery_base::resource::{Inputs, ObjectId, Origin};
use chancery_text::{Node, NodeId, Value, to_yaml};

fn store(kind: &str) -> Store {
    match kind {
        "Mapping" => Store::ByName("mappings"),
        "Module" => Store::Module,
        "Service" => Store::ByRkey("service"),
        _ => Store::ByKind,
    }
}

fn support(version: &str) -> Support {
    match version {
        "getambassador.io/v3alpha1" => Support::Current,
        "getambassador.io/v2" => Support::Notice("is deprecated"),
        _ => Support::Refused,
    }
}

fn resource(text: &str) -> Arc<Resource> {
    let name = text.lines().find_map(|line| line.strip_prefix("name: ")).unwrap_or("x");
    let namespace = text.lines().find_map(|line| line.strip_prefix("namespace: ")).unwrap_or("default");
    Arc::new(Resource::from_yaml(format!("{name}.{namespace}.1"), "a test", text).expect("a resource"))
}

fn load(texts: &[&str]) -> (Config, Findings) {
    let mut sink = Findings::default();
    let rules = Rules { namespace: "default", store, support, accepts: &|_| true };
    let current = texts.iter().map(|text| resource(&format!("apiVersion: getambassador.io/v3alpha1\n{text}")));
    (Config::load_all(current, &rules, &mut sink), sink)
}

fn names(bucket: Option<Bucket<'_>>) -> Vec<&str> {
    bucket.map(|bucket| bucket.iter().map(|(name, _)| name).collect()).unwrap_or_default()
}

#[test]
fn a_resource_from_yaml_and_back() {
    let text = "kind: Mapping\nname: quote\nnamespace: x\nmetadata_labels: {team: a}\nprefix: /quote/\n";
    let resource = Resource::from_yaml("quote.x.1", "Service quote, namespace x, object 1", text).expect("a resource");
    assert_eq!(resource.serialization.as_deref(), Some(text));
    assert_eq!(resource.api_version, "ambassador/v0", "the default of the guide");
    assert_eq!(resource.get("prefix").and_then(Node::as_str), Some("/quote/"));
    assert_eq!(resource.labels.get("team").map(|team| team.as_str()), Some("a"));
    assert_eq!(resource.location.to_string(), "Service quote, namespace x, object 1");
    let dict = resource.as_dict();
    let again = Resource::from_dict("quote.x.1", "elsewhere", None, &dict).expect("a resource");
    assert_eq!(again.as_dict(), dict);
    assert!(dict.get("rkey").is_none() && dict.get("location").is_none() && dict.get("serialization").is_none());
}

#[test]
fn only_a_pragma_has_no_name() {
    assert!(Resource::from_yaml("a", "", "kind: Mapping\n").is_err());
    assert!(Resource::from_yaml("a", "", "kind: Pragma\nsource: b\n").is_ok());
    assert!(Resource::from_yaml("a", "", "name: b\n").is_err());
    assert!(Resource::from_yaml("", "", "kind: Mapping\nname: b\n").is_err());
    assert!(Resource::from_yaml("a", "", "kind: [\n").is_err());
}

#[test]
fn copies_take_overrides_without_errors() {
    let mut first = Resource::from_yaml("a.1", "here", "kind: Mapping\nname: a\nprefix: /a/\n").expect("a resource");
    first.post_error(Diagnostic::new(&codes::SYNTAX, "wrong", Place::Whole));
    let copy = Resource::from_resource(&first, Overrides { rkey: Some("b.1".into()), name: Some("b".into()), ..Overrides::default() });
    assert_eq!((copy.rkey.as_str(), copy.name.as_str(), copy.errors.len()), ("b.1", "b", 0));
    assert_eq!((copy.spec, copy.location), (first.spec, first.location));
}

#[test]
fn locations_are_for_people() {
    let location = Location::Object { kind: "Service".into(), name: "ambassador".into(), namespace: Some("default".into()), number: 1 };
    assert_eq!(location.to_string(), "Service ambassador, namespace default, object 1");
}

#[test]
fn resources_are_filed_by_kind_in_order() {
    let (config, sink) = load(&["kind: Mapping\nname: b\n", "kind: Mapping\nname: a\n", "kind: Odd\nname: o\n", "kind: Service\nname: s\n"]);
    assert!(sink.is_empty());
    assert_eq!(names(config.get_config("mappings")), ["b", "a"]);
    assert_eq!(names(config.get_config("Odd")), ["o"]);
    assert_eq!(names(config.get_config("service")), ["s.default.1"]);
    assert!(config.get_config("nothing").is_none());
    assert_eq!(config.resource("a.default.1").map(|resource| resource.name.as_str()), Some("a"));
    assert!(config.resource("z").is_none());
}

#[test]
fn equal_names_get_namespace_suffix() {
    let (config, sink) = load(&["kind: Mapping\nname: a\nnamespace: one\n", "kind: Mapping\nname: a\nnamespace: two\n"]);
    assert!(sink.is_empty());
    assert_eq!(names(config.get_config("mappings")), ["a", "a.two"]);
    assert_eq!(config.resource("a.two.1").map(|resource| (resource.name.as_str(), resource.key.name.as_str())), Some(("a.two", "a")));
}

#[test]
fn duplicate_resource_is_error_later_wins() {
    let (config, sink) = load(&["kind: Mapping\nname: a\nprefix: /1/\n", "kind: Mapping\nname: b\n", "kind: Mapping\nname: a\nprefix: /2/\n"]);
    assert_eq!(sink.iter().map(|finding| finding.code.name).collect::<Vec<_>>(), ["duplicate-resource"]);
    let mappings = config.get_config("mappings").expect("mappings");
    assert_eq!(names(Some(mappings)), ["a", "b"]);
    assert_eq!(mappings.get("a").and_then(|mapping| mapping.get("prefix")).and_then(Node::as_str), Some("/2/"));
    assert_eq!(mappings.get("a").map(|mapping| mapping.errors.len()), Some(1));
}

#[test]
fn modules_are_asked_for_fields_of_their_config() {
    let (config, _) = load(&["kind: Module\nname: ambassador\nconfig: {service_port: 1234}\n"]);
    let default = Node::synthesised(Value::Int(8080));
    assert_eq!(config.module_lookup("ambassador", "service_port", &default).as_i64(), Some(1234));
    assert_eq!(config.module_lookup("ambassador", "other", &default).as_i64(), Some(8080));
    assert_eq!(config.module_lookup("tls", "service_port", &default).as_i64(), Some(8080));
    assert!(config.get_module("tls").is_none());
    let loaded = config.resource("ambassador.default.1").expect("the module as loaded");
    assert!(loaded.get("config").is_some(), "what was loaded is left as it was");
}

#[test]
fn versions_are_refused_or_noticed() {
    let rules = Rules { namespace: "default", store, support, accepts: &|_| true };
    let mut sink = Findings::default();
    let texts = ["apiVersion: getambassador.io/v2\nkind: Mapping\nname: a\n", "apiVersion: other/v1\nkind: Mapping\nname: b\n"];
    let config = Config::load_all(texts.map(resource), &rules, &mut sink);
    assert_eq!(sink.iter().map(|finding| finding.code.name).collect::<Vec<_>>(), ["deprecated-version", "unsupported-version"]);
    assert_eq!(names(config.get_config("mappings")), ["a"]);
    assert_eq!(config.resources().count(), 2, "refused resources are still known");
}

#[test]
fn errors_reach_everything_that_uses_the_resource() {
    let (mut config, _) = load(&["kind: Secret\nname: cert\n", "kind: TLSContext\nname: ctx\n", "kind: Host\nname: host\n"]);
    let at = Origin::field(ObjectId::from_index(0), NodeId(3));
    config.link("ctx.default.1", "cert.default.1", Some(at));
    config.link("host.default.1", "ctx.default.1", None);
    let cert = config.resource("cert.default.1").expect("cert");
    assert_eq!(cert.is_referenced_by("ctx.default.1").and_then(|reference| reference.at), Some(at));
    assert!(cert.is_referenced_by("host.default.1").is_none());
    let mut sink = Findings::default();
    config.post_error("cert.default.1", Diagnostic::new(&codes::BAD_PEM, "no PEM", Place::Whole), &mut sink);
    let inherited = config.errors("host.default.1");
    assert_eq!(inherited.iter().map(|(resource, error)| (resource.name.as_str(), error.message.as_str())).collect::<Vec<_>>(), [("cert", "no PEM")]);
    assert_eq!(sink.len(), 1);
    config.link("cert.default.1", "host.default.1", None);
    assert_eq!(config.errors("host.default.1").len(), 1, "a circle ends");
}

#[test]
fn the_dump_is_for_people() {
    let (config, _) = load(&["kind: Mapping\nname: a\nprefix: /a/\n"]);
    let dump: String = to_yaml(&config.dump());
    assert!(dump.starts_with("mappings:\n  a:\n    prefix: /a/\n"), "{dump}");
}

#[test]
fn the_ledger_has_an_entry_for_every_object() {
    let text = "{apiVersion: v1, kind: Service, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: b}}\n";
    let inputs = Inputs::one("x", text);
    let (objects, _) = read(&inputs, &ReadOptions::default(), &mut DocumentCache::new());
    let mut ledger = Ledger::new(&objects);
    let ids: Vec<ObjectId> = objects.iter().map(|object| object.id).collect();
    assert_eq!(ledger.undecided().collect::<Vec<_>>(), ids);
    ledger.set(ids[0], State::Ignored(Why::NotWatched, "elsewhere".into()));
    ledger.emitted(ids[1], "route a");
    ledger.emitted(ids[1], "route b");
    assert_eq!(ledger.undecided().count(), 0);
    assert_eq!(ledger.get(ids[1]), &State::Emitted(Arc::new(vec!["route a".into(), "route b".into()])));
    assert_eq!(ledger.iter().map(|entry| entry.state.name()).collect::<Vec<_>>(), ["ignored", "emitted"]);
}
