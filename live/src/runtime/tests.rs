//! Tests controllers without a cluster. The kinds belong to a small gateway: Hosts, Mappings that refer to them, and a
//! computed summary.

use super::conditions::{Condition, Conditions, merged};
use super::testing::TestController;
use super::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

fn host_of(mapping: &Object) -> Vec<Id> {
    mapping.spec["host"].as_str().map(|name| Id::new("Host", "default", name)).into_iter().collect()
}

fn host(name: &str) -> Object {
    Object::new(Id::new("Host", "default", name), json!({ "hostname": name }))
}

fn mapping(name: &str, host: &str) -> Object {
    Object::new(Id::new("Mapping", "default", name), json!({ "host": host }))
}

/// Counts the Mappings of each Host into its status.
fn count_mappings(id: &Id, reading: &Reading<'_>) -> Result<Vec<Action>, String> {
    if reading.get(id).is_none() {
        return Ok(Vec::new());
    }
    let names: Vec<String> = reading.by_index("Mapping", "host", &id.text()).iter().map(|of| of.id.name.to_string()).collect();
    Ok(vec![Action::Status(id.clone(), json!({ "mappings": names }))])
}

fn host_status() -> Controller {
    Controller::new("host-status", "Host", count_mappings)
        .index("Mapping", Index::of_references("host", host_of))
        .watch("Mapping", mapper::referred(host_of))
        .writes("Host")
}

/// Computes one summary for each Host of the same name, in a separate kind, whose objects keep the names of the read
/// objects.
fn summaries() -> Controller {
    let reconcile = |id: &Id, reading: &Reading<'_>| {
        let host = id.with_kind("Host");
        if reading.get(&host).is_none() {
            return Ok(vec![Action::Delete(id.clone())]);
        }
        let names: Vec<String> = reading.by_index("Mapping", "host", &host.text()).iter().map(|of| of.id.name.to_string()).collect();
        Ok(vec![Action::Apply(Object { owner: Some(host), ..Object::new(id.clone(), json!({ "mappings": names })) })])
    };
    Controller::new("summaries", "Summary", reconcile)
        .index("Mapping", Index::of_references("host", host_of))
        .watch("Host", mapper::same_name("Summary"))
        .watch("Mapping", mapper::referred(|mapping| host_of(mapping).iter().map(|host| host.with_kind("Summary")).collect()))
        .writes("Summary")
}

fn names(status: &Value) -> Vec<&str> {
    status["mappings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn changed_reference_updates_old_and_new_host() {
    let mut test = TestController::new(vec![host_status()], [host("one"), host("two"), mapping("m", "one")]).expect("a controller");
    test.run();
    let (one, two) = (host("one").id, host("two").id);
    assert_eq!((names(&test.status(&one)), names(&test.status(&two))), (vec!["m"], vec![]));
    test.forget();
    test.event(Change::Put(mapping("m", "two")));
    assert_eq!((names(&test.status(&one)), names(&test.status(&two))), (vec![], vec!["m"]), "the old one is corrected");
    test.event(Change::Gone(mapping("m", "two").id));
    assert_eq!((names(&test.status(&one)), names(&test.status(&two))), (vec![], vec![]));
}

#[test]
fn bound_objects_survive_restart() {
    let mut test = TestController::new(vec![summaries()], [host("one"), host("two"), mapping("m", "one")]).expect("a controller");
    test.run();
    let of = |test: &TestController, name: &str| test.get(&Id::new("Summary", "default", name)).map(|of| of.spec.clone()).unwrap_or_default();
    assert_eq!(names(&of(&test, "one")), ["m"]);
    // The Mapping refers to another Host, and the process crashes before it reconciles.
    test.queue(Change::Put(mapping("m", "two")));
    let stored = test.stored(&["Host", "Mapping", "Summary"]);
    drop(test);
    let kept = stored.iter().find(|of| &*of.id.kind == "Summary" && &*of.id.name == "one").expect("a summary");
    assert!(kept.bound.contains(&mapping("m", "one").id), "it says what it was made of: {:?}", kept.bound);
    let mut cache = Cache::default();
    stored.iter().for_each(|object| _ = cache.put(object.clone()));
    let bound: Vec<&Id> = cache.bound_to(&mapping("m", "one").id, "Summary").collect();
    assert_eq!(bound, [&kept.id], "and the next process knows it before it reconciles anything");
    let mut next = TestController::new(vec![summaries()], stored).expect("a controller");
    next.run();
    assert_eq!((names(&of(&next, "one")).len(), names(&of(&next, "two"))), (0, vec!["m"]));
}

#[test]
fn missing_object_is_bound() {
    let reconcile = |id: &Id, reading: &Reading<'_>| {
        let secret = reading.get(&Id::new("Secret", "default", "tls")).is_some();
        Ok(vec![Action::Status(id.clone(), json!({ "ready": secret }))])
    };
    let controller = Controller::new("tls", "Host", reconcile).watch("Secret", mapper::referred(|_| Vec::new())).writes("Host");
    let mut test = TestController::new(vec![controller], [host("one")]).expect("a controller");
    test.run();
    assert_eq!(test.status(&host("one").id), json!({ "ready": false }));
    test.event(Change::Put(Object::new(Id::new("Secret", "default", "tls"), json!({}))));
    assert_eq!(test.status(&host("one").id), json!({ "ready": true }), "no mapper knows it, but it was read");
}

#[test]
fn repeated_event_reconciles_once() {
    let mut test = TestController::new(vec![host_status()], [host("one")]).expect("a controller");
    test.run();
    assert_eq!(test.reconciled.len(), 2, "once for itself, and once for the status that it wrote");
    test.forget();
    for _ in 0..10 {
        test.queue(Change::Put(mapping("m", "one")));
    }
    for number in 0..10 {
        test.queue(Change::Put(mapping(&format!("n{number}"), "one")));
    }
    test.run();
    assert_eq!(test.written.len(), 2, "eleven changes, one reconcile, and one for the status: {:?}", test.reconciled);
}

#[test]
fn failed_object_is_retried_without_delaying_others() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = tries.clone();
    let reconcile = move |id: &Id, _: &Reading<'_>| {
        if &*id.name == "bad" && counted.fetch_add(1, Relaxed) < 3 {
            return Err("not now".to_owned());
        }
        Ok(Vec::new())
    };
    let mut test = TestController::new(vec![Controller::new("c", "Host", reconcile)], [host("bad"), host("good")]).expect("a controller");
    test.run();
    assert_eq!((test.failures.len(), tries.load(Relaxed)), (1, 1));
    assert!(test.reconciled.contains(&host("good").id));
    test.pass(Duration::from_millis(49));
    assert_eq!(tries.load(Relaxed), 1, "not before its time");
    test.pass(Duration::from_millis(1));
    test.pass(Duration::from_millis(99));
    assert_eq!(tries.load(Relaxed), 2, "the pause is twice as long");
    test.pass(Duration::from_millis(1));
    assert_eq!(tries.load(Relaxed), 3);
    let mut edited = host("bad");
    edited.spec = json!({ "hostname": "fixed" });
    test.event(Change::Put(edited));
    assert_eq!((tries.load(Relaxed), test.failures.len()), (4, 3), "a change does not wait");
}

#[test]
fn mappers_find_dependent_objects() {
    let mut cache = Cache::default();
    cache.declare("Mapping", Index::of_references("host", host_of));
    let mut labelled = mapping("a", "one");
    labelled.labels.insert("team".into(), "x".into());
    labelled.owner = Some(Id::new("Route", "default", "r"));
    [host("one"), labelled.clone(), mapping("b", "one"), mapping("c", "two")].into_iter().for_each(|object| _ = cache.put(object));
    let selector = Object::new(Id::new("Gateway", "default", "g"), json!({ "team": "x" }));
    cache.put(selector.clone());
    let by = |mapper: mapper::Mapper, object: &Object, cache: &Cache| mapper(object, cache).iter().map(|id| id.name.to_string()).collect::<Vec<_>>();
    let found = |mapper: mapper::Mapper, object: &Object| by(mapper, object, &cache);
    assert_eq!(found(mapper::same_name("Summary"), &host("one")), ["one"]);
    assert_eq!(found(mapper::referring("Mapping", "host"), &host("one")), ["a", "b"]);
    assert_eq!(found(mapper::referred(host_of), &mapping("c", "two")), ["two"]);
    assert_eq!(found(mapper::owner("Route"), &labelled), ["r"]);
    assert_eq!(found(mapper::owned("Mapping"), &Object::new(Id::new("Route", "default", "r"), Value::Null)), ["a"]);
    let team = |gateway: &Object| gateway.spec["team"].as_str().map(|team| ("team".to_owned(), team.to_owned())).into_iter().collect();
    assert_eq!(found(mapper::selecting("Gateway", team), &labelled), ["g"]);
    assert!(found(mapper::selecting("Gateway", team), &mapping("b", "one")).is_empty());
    assert_eq!(found(mapper::all("Mapping"), &host("one")), ["a", "b", "c"]);
    assert_eq!(found(mapper::several([mapper::referring("Mapping", "host"), mapper::owned("Mapping")]), &host("one")), ["a", "b"]);
    cache.take(&labelled.id);
    assert_eq!(by(mapper::referring("Mapping", "host"), &host("one"), &cache), ["b"], "an index forgets deleted objects");
}

#[test]
fn custom_watches_and_initializers() {
    let begun = Arc::new(AtomicU32::new(0));
    let counted = begun.clone();
    let controller = Controller::new("proxies", "Proxy", |_: &Id, _: &Reading<'_>| Ok(Vec::new()))
        .custom_watch("envoy", mapper::same_name("Proxy"))
        .initializer(move |_| if counted.fetch_add(1, Relaxed) == 0 { Err("the first time fails".into()) } else { Ok(()) });
    let mut test = TestController::new(vec![controller], []).expect("a controller");
    test.event(Change::Custom("envoy", Object::new(Id::new("envoy", "", "node-1"), Value::Null)));
    assert!(test.reconciled.is_empty(), "nothing is reconciled before it is initialized");
    test.run();
    assert_eq!(test.reconciled, [Id::new("Proxy", "", "node-1")]);
    assert_eq!(begun.load(Relaxed), 2);
}

#[test]
fn manager_refuses_cycles_and_shared_kinds() {
    let nothing = |_: &Id, _: &Reading<'_>| Ok(Vec::new());
    let controller =
        |name, managed, watched, written| Controller::new(name, managed, nothing).watch(watched, mapper::same_name(managed)).writes(written);
    let circle = Manager::new(vec![controller("one", "A", "B", "A"), controller("two", "B", "A", "B")]);
    assert!(circle.err().is_some_and(|why| why.starts_with("controllers go in a circle: A -> B -> A") || why.contains("B -> A -> B")));
    let twice = Manager::new(vec![controller("one", "A", "B", "A"), controller("two", "A", "C", "A")]);
    assert_eq!(twice.err(), Some("one and two both manage A".into()));
    assert!(Manager::new(vec![controller("one", "A", "B", "A"), controller("two", "C", "A", "C")]).is_ok(), "a chain is none");
}

#[test]
fn changed_owner_reconciles_both_owners() {
    let mut test =
        TestController::new(vec![Controller::new("c", "Route", |_: &Id, _: &Reading<'_>| Ok(Vec::new())).watch("Part", mapper::owner("Route"))], [])
            .expect("a controller");
    let part = |owner: &str| Object { owner: Some(Id::new("Route", "", owner)), ..Object::new(Id::new("Part", "", "p"), Value::Null) };
    test.event(Change::Put(part("one")));
    test.forget();
    test.event(Change::Put(part("two")));
    let reconciled: BTreeSet<&str> = test.reconciled.iter().map(|id| &*id.name).collect();
    assert_eq!(reconciled, BTreeSet::from(["one", "two"]));
}

#[test]
fn conditions_are_a_map_by_type() {
    let good = |good: bool| Conditions::from([("Valid".to_owned(), Condition { good, reason: "R".into(), message: "M".into() })]);
    let others = json!([{ "type": "Other", "status": "True", "lastTransitionTime": "t0" }]);
    let first = merged(&others, &good(true), 3, "t1");
    assert_eq!(first.as_array().map(Vec::len), Some(2), "those of others stay");
    assert_eq!((&first[1]["status"], &first[1]["lastTransitionTime"], &first[1]["observedGeneration"]), (&json!("True"), &json!("t1"), &json!(3)));
    assert_eq!(merged(&first, &good(true), 3, "t2"), first, "what stays as it is keeps its time");
    let bad = merged(&first, &good(false), 4, "t3");
    assert_eq!((&bad[1]["status"], &bad[1]["lastTransitionTime"]), (&json!("False"), &json!("t3")));
    assert_eq!(bad.as_array().map(Vec::len), Some(2), "none of a type twice");
}
