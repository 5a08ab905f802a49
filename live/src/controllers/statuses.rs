//! Writes the status of each object, with one controller for each kind that has one.
//!
//! A build is a custom watch: it names the objects whose status changes. A second custom watch reports rejections by
//! Envoys, on the objects that made the rejected resource. The controller compares with the object's present status, and
//! only writes differences. Does not send requests; see `writer`.

use super::objects::id_of;
use crate::lock;
use crate::runtime::conditions::{Condition, Conditions, merged};
use crate::runtime::{Action, Controller, Id, Object, Reading, mapper};
use crate::worker::build::Build;
use chancery_core::compilation::Side;
use chancery_core::explain::{LedgerRow, ledger};
use chancery_core::text::to_json;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The custom watch for statuses of builds.
pub const BUILD: &str = "build";

/// The custom watch for rejections by Envoys, and their ends.
pub const REJECTED: &str = "rejected";
/// The condition for a rejection, if objects of the kind have conditions.
const ACCEPTED: &str = "chancery.dev/Accepted";

/// The kinds whose statuses are written: the controller's name, and the kind.
pub const KINDS: &[(&str, &str)] = &[
    ("host-status", "Host.getambassador.io"),
    ("mapping-diagnostics", "Mapping.getambassador.io"),
    ("ingress-status", "Ingress.networking.k8s.io"),
    ("httpproxy-status", "HTTPProxy.projectcontour.io"),
    ("extensionservice-status", "ExtensionService.projectcontour.io"),
    ("contourconfiguration-status", "ContourConfiguration.projectcontour.io"),
    ("gatewayclass-status", "GatewayClass.gateway.networking.k8s.io"),
    ("gateway-status", "Gateway.gateway.networking.k8s.io"),
    ("httproute-status", "HTTPRoute.gateway.networking.k8s.io"),
    ("grpcroute-status", "GRPCRoute.gateway.networking.k8s.io"),
    ("tlsroute-status", "TLSRoute.gateway.networking.k8s.io"),
    ("tcproute-status", "TCPRoute.gateway.networking.k8s.io"),
    ("backendtlspolicy-status", "BackendTLSPolicy.gateway.networking.k8s.io"),
];

/// The wanted statuses of the last build, and the rejections of Envoys, by object. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct WantedStatuses(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    wanted: BTreeMap<Id, WantedStatus>,
    rejected: BTreeMap<Id, String>,
}

/// The wanted status of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedStatus {
    pub status: Value,
    /// The finalizers that hold it while it is used.
    pub finalizers: Vec<String>,
}

impl WantedStatuses {
    /// Sets the statuses of a build. Returns the objects whose status changed.
    #[must_use]
    pub fn update(&self, new: BTreeMap<Id, WantedStatus>) -> Vec<Id> {
        let all = &mut lock(&self.0).wanted;
        let changed = new.iter().filter(|(id, status)| all.get(*id) != Some(*status)).map(|(id, _)| id.clone()).collect();
        *all = new;
        changed
    }

    /// Sets the inputs whose resources Envoys reject. Returns the objects whose rejections changed.
    #[must_use]
    pub fn reject(&self, inputs: &BTreeMap<String, String>) -> Vec<Id> {
        let new: BTreeMap<Id, String> = inputs.iter().filter_map(|(name, why)| Some((id_of(name)?, why.clone()))).collect();
        let all = &mut lock(&self.0).rejected;
        let is_same = |id: &Id| all.get(id) == new.get(id);
        let mut changed: Vec<Id> = all.keys().chain(new.keys()).filter(|id| !is_same(id)).cloned().collect();
        changed.dedup();
        *all = new;
        changed
    }

    /// Returns the wanted status of an object, and the message of its rejection.
    fn get(&self, id: &Id) -> Option<(WantedStatus, Option<String>)> {
        let state = lock(&self.0);
        Some((state.wanted.get(id)?.clone(), state.rejected.get(id).cloned()))
    }
}

/// Returns the time in the format of conditions.
pub type Clock = Arc<dyn Fn() -> String + Send + Sync>;

/// One controller for each kind.
#[must_use]
pub fn controllers(wanted: &WantedStatuses, clock: &Clock) -> Vec<Controller> {
    let one = |(name, kind): &(&'static str, &'static str)| {
        let (wanted, clock) = (wanted.clone(), clock.clone());
        let reconcile = move |id: &Id, reading: &Reading<'_>| Ok(reconcile(id, reading, &wanted, &clock));
        Controller::new(name, kind, reconcile)
            .custom_watch(BUILD, mapper::same_name(kind))
            .custom_watch(REJECTED, mapper::same_name(kind))
            .writes(kind)
    };
    KINDS.iter().map(one).collect()
}

fn reconcile(id: &Id, reading: &Reading<'_>, wanted: &WantedStatuses, clock: &Clock) -> Vec<Action> {
    let (Some(object), Some((mut wanted, rejected))) = (reading.get(id), wanted.get(id)) else { return Vec::new() };
    judge(&object.status, &mut wanted.status, rejected.as_deref());
    let mut out = finalizers(&object, &wanted.finalizers);
    let status = dated(&object.status, &wanted.status, object.generation, &clock());
    // Other fields of the status belong to other controllers.
    let differs = status.as_object().into_iter().flatten().any(|(name, value)| object.status.get(name) != Some(value));
    if differs && !object.deleting {
        out.push(Action::Status(id.clone(), status));
    }
    out
}

/// Adds a rejection to a status: in the kind's own form for failures, or as a condition.
fn judge(before: &Value, wanted: &mut Value, rejected: Option<&str>) {
    if let Some(parents) = wanted.get_mut("parents").and_then(Value::as_array_mut) {
        (0usize..).zip(parents).for_each(|(at, parent)| judge(&before["parents"][at], parent, rejected));
        return;
    }
    let is_known = || before["conditions"].as_array().is_some_and(|all| all.iter().any(|of| of["type"] == ACCEPTED));
    if let Some(conditions) = wanted.get_mut("conditions").and_then(Value::as_array_mut) {
        match rejected {
            Some(why) => conditions.push(json!({"type": ACCEPTED, "status": "False", "reason": "Rejected", "message": why})),
            // An earlier rejection is cleared.
            None if is_known() => conditions.push(json!({"type": ACCEPTED, "status": "True", "reason": "Accepted", "message": ""})),
            None => {}
        }
        return;
    }
    let Some(why) = rejected else { return };
    if wanted["errorReason"].is_string() {
        *wanted = json!({"state": "Error", "errorReason": why});
    } else if wanted["state"].is_string() {
        *wanted = json!({"state": "Inactive", "reason": why});
    }
}

/// A finalizer holds an object that is used. An object that is being deleted is released, because its user falls back to defaults.
fn finalizers(object: &Object, wanted: &[String]) -> Vec<Action> {
    let holds = |name: &String| object.finalizers.contains(name);
    match (object.deleting, wanted.iter().any(holds)) {
        (true, true) => vec![Action::Finalizers(object.id.clone(), object.uid.clone(), Vec::new())],
        (false, _) if !wanted.iter().all(holds) => vec![Action::Finalizers(object.id.clone(), object.uid.clone(), wanted.to_vec())],
        _ => Vec::new(),
    }
}

/// Sets the times of conditions. An unchanged condition keeps its time.
fn dated(before: &Value, wanted: &Value, generation: i64, now: &str) -> Value {
    match wanted {
        Value::Object(fields) => {
            let each = fields.iter().map(|(name, value)| {
                let old = before.get(name).unwrap_or(&Value::Null);
                let value = if name == "conditions" { conditions(old, value, generation, now) } else { dated(old, value, generation, now) };
                (name.clone(), value)
            });
            Value::Object(each.collect())
        }
        Value::Array(items) => {
            let each = items.iter().enumerate().map(|(at, item)| dated(before.get(at).unwrap_or(&Value::Null), item, generation, now));
            Value::Array(each.collect())
        }
        other => other.clone(),
    }
}

fn conditions(before: &Value, wanted: &Value, generation: i64, now: &str) -> Value {
    let text = |of: &Value, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    let list = wanted.as_array().map(Vec::as_slice).unwrap_or_default();
    let known: Conditions = list
        .iter()
        .map(|of| (text(of, "type"), Condition { good: of["status"] == "True", reason: text(of, "reason"), message: text(of, "message") }))
        .collect();
    let Value::Array(mut out) = merged(before, &known, generation, now) else { return wanted.clone() };
    for of in &mut out {
        // Conditions may have more than the usual fields: errors and warnings, one by one.
        let more = list.iter().find(|wanted| wanted["type"] == of["type"]).and_then(Value::as_object);
        for (name, value) in more.into_iter().flatten() {
            if !of.get(name).is_some_and(|_| matches!(name.as_str(), "observedGeneration" | "lastTransitionTime")) {
                of[name] = value.clone();
            }
        }
    }
    Value::Array(out)
}

/// Returns the wanted statuses of a build.
#[must_use]
pub fn of_build(build: &Build) -> BTreeMap<Id, WantedStatus> {
    let mut statuses = BTreeMap::new();
    ambassador(build, &mut statuses);
    build.compilation.sides.iter().for_each(|side| answers(side, &mut statuses));
    let mut out: BTreeMap<Id, WantedStatus> =
        statuses.into_iter().map(|(id, status)| (id, WantedStatus { status, finalizers: Vec::new() })).collect();
    out.extend(build.compilation.sides.iter().filter_map(configuration));
    out
}

/// Returns the status of the object with a controller's own configuration.
fn configuration(side: &Side) -> Option<(Id, WantedStatus)> {
    let document: Value = serde_json::from_str(&to_json(side.answers.controller_state.as_ref()?.configuration.as_ref()?, false)).ok()?;
    let text = |name: &str| document[name].as_str().unwrap_or_default();
    let id = Id::new("ContourConfiguration.projectcontour.io", text("namespace"), text("name"));
    let finalizers = document["finalizers"].as_array().into_iter().flatten().filter_map(|of| of.as_str().map(str::to_owned)).collect();
    Some((id, WantedStatus { status: document["status"].clone(), finalizers }))
}

/// Returns the statuses that the controller itself writes.
fn answers(side: &Side, out: &mut BTreeMap<Id, Value>) {
    for of in side.answers.statuses.iter().flatten() {
        let kind = KINDS.iter().map(|(_, kind)| *kind).find(|kind| kind.split_once('.').is_some_and(|(name, _)| name == of.kind.as_str()));
        if let (Some(kind), Ok(status)) = (kind, serde_json::from_str(&to_json(&of.status, false))) {
            out.insert(Id::new(kind, &of.namespace, &of.name), status);
        }
    }
}

/// Returns Ambassador's statuses of Hosts and Mappings.
fn ambassador(build: &Build, out: &mut BTreeMap<Id, Value>) {
    for row in ledger(&build.compilation, &build.compilation.positions()) {
        let (works, detail) = (matches!(row.state, "emitted" | "merged" | "read" | LedgerRow::UNREACHED), row.detail.as_deref().unwrap_or_default());
        let id = |kind: &str| Id::new(kind, row.resource.namespace.as_deref().unwrap_or("default"), &row.resource.name);
        match &*row.resource.kind {
            "Host" if row.holder.is_none() => {
                let status = if works { json!({"state": "Ready", "errorReason": ""}) } else { json!({"state": "Error", "errorReason": detail}) };
                out.insert(id("Host.getambassador.io"), status);
            }
            "Mapping" if row.holder.is_none() => {
                let status = if works { json!({"state": "Running", "reason": ""}) } else { json!({"state": "Inactive", "reason": detail}) };
                out.insert(id("Mapping.getambassador.io"), status);
            }
            _ => {}
        }
    }
}

/// An event of a build about an object.
#[must_use]
pub fn build_event(id: &Id) -> Object {
    Object::new(id.clone(), Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Change;
    use crate::runtime::testing::TestController;

    fn proxy(generation: i64, status: Value) -> Object {
        Object { generation, status, ..Object::new(Id::new("HTTPProxy.projectcontour.io", "default", "app"), json!({})) }
    }

    fn wants(good: &str) -> BTreeMap<Id, WantedStatus> {
        let condition = json!({"type": "Valid", "status": good, "reason": "R", "message": "M", "errors": [{"type": "E"}]});
        let status = json!({"currentStatus": "x", "conditions": [condition]});
        BTreeMap::from([(proxy(1, Value::Null).id, WantedStatus { status, finalizers: Vec::new() })])
    }

    #[test]
    fn statuses_write_only_differences() {
        let (wanted, time) = (WantedStatuses::default(), Arc::new(Mutex::new("t1".to_owned())));
        let told_time = time.clone();
        let clock: Clock = Arc::new(move || lock(&told_time).clone());
        let mut test = TestController::new(controllers(&wanted, &clock), [proxy(1, Value::Null)]).expect("controllers");
        test.run();
        assert!(test.written.is_empty(), "nothing is wanted yet");
        let rebuild = |test: &mut TestController, good: &str| {
            for id in wanted.update(wants(good)) {
                test.event(Change::Custom(BUILD, build_event(&id)));
            }
        };
        rebuild(&mut test, "True");
        assert_eq!(test.written.len(), 1);
        let status = test.status(&proxy(1, Value::Null).id);
        assert_eq!(status["conditions"][0]["lastTransitionTime"], "t1");
        assert_eq!((&status["conditions"][0]["observedGeneration"], &status["conditions"][0]["errors"][0]["type"]), (&json!(1), &json!("E")));
        *lock(&time) = "t2".into();
        rebuild(&mut test, "True");
        assert_eq!(test.written.len(), 1, "the same is not written again");
        rebuild(&mut test, "False");
        assert_eq!(test.status(&proxy(1, Value::Null).id)["conditions"][0]["lastTransitionTime"], "t2");
        // Another writer changes it, and the controller restores it.
        test.event(Change::Put(proxy(1, json!({"currentStatus": "other"}))));
        assert_eq!(test.status(&proxy(1, Value::Null).id)["currentStatus"], "x");
    }

    #[test]
    fn rejection_stays_in_status_until_accepted() {
        let (wanted, clock): (_, Clock) = (WantedStatuses::default(), Arc::new(|| "now".into()));
        let (route, mapping) = (Id::new("HTTPRoute.gateway.networking.k8s.io", "a", "r"), Id::new("Mapping.getambassador.io", "a", "m"));
        let known = [proxy(1, Value::Null), Object::new(route.clone(), json!({})), Object::new(mapping.clone(), json!({}))];
        let mut test = TestController::new(controllers(&wanted, &clock), known).expect("controllers");
        let status = |status: Value| WantedStatus { status, finalizers: Vec::new() };
        let mut all = wants("True");
        let conditions = json!([{"type": "Accepted", "status": "True", "reason": "R", "message": ""}]);
        all.insert(route.clone(), status(json!({"parents": [{"controllerName": "c", "conditions": conditions}]})));
        all.insert(mapping.clone(), status(json!({"state": "Running", "reason": ""})));
        for id in wanted.update(all) {
            test.event(Change::Custom(BUILD, build_event(&id)));
        }
        let before: Vec<Value> = [&proxy(1, Value::Null).id, &route, &mapping].map(|id| test.status(id)).to_vec();
        assert!(!before.iter().any(|status| status.to_string().contains(ACCEPTED)), "accepted objects have no such status: {before:?}");
        let reject = |test: &mut TestController, names: &[&str]| {
            let rejected = names.iter().map(|name| ((*name).to_owned(), "the Envoy e rejects c: no".to_owned())).collect();
            for id in wanted.reject(&rejected) {
                test.event(Change::Custom(REJECTED, build_event(&id)));
            }
        };
        reject(
            &mut test,
            &[
                "HTTPProxy.projectcontour.io/default/app",
                "HTTPRoute.gateway.networking.k8s.io/a/r",
                "Mapping.getambassador.io/a/m",
                "folder/file.yaml",
            ],
        );
        let condition = |of: &Value| of.as_array().and_then(|all| all.iter().find(|of| of["type"] == ACCEPTED)).cloned().unwrap_or_default();
        let ours = condition(&test.status(&proxy(1, Value::Null).id)["conditions"]);
        assert_eq!((&ours["status"], &ours["message"]), (&json!("False"), &json!("the Envoy e rejects c: no")));
        assert_eq!(condition(&test.status(&route)["parents"][0]["conditions"])["status"], "False");
        assert_eq!(test.status(&mapping), json!({"state": "Inactive", "reason": "the Envoy e rejects c: no"}));
        reject(&mut test, &[]);
        assert_eq!(condition(&test.status(&proxy(1, Value::Null).id)["conditions"])["status"], "True", "it is cleared");
        assert_eq!(condition(&test.status(&route)["parents"][0]["conditions"])["status"], "True");
        assert_eq!(test.status(&mapping), json!({"state": "Running", "reason": ""}));
    }

    #[test]
    fn used_configuration_has_finalizer_until_deletion() {
        let text = "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {name: c, namespace: projectcontour}\nspec: {}\n";
        let mut options = chancery_core::compilation::Options::of(&chancery_core::dialect::contour::DIALECT);
        let argument = chancery_core::compilation::OptionValue::List(vec!["--contour-config-name=c".into()]);
        options.insert("controller-arg", argument);
        let mut builder = crate::worker::build::Builder::new(options);
        let inputs = chancery_core::resource::Inputs::one("c.yaml", text);
        let build = builder.build(crate::worker::intake::Drained { inputs, not_utf8: vec![Vec::new()], ..Default::default() });
        let statuses = of_build(&build);
        let id = Id::new("ContourConfiguration.projectcontour.io", "projectcontour", "c");
        let (wanted, clock): (_, Clock) = (WantedStatuses::default(), Arc::new(|| "now".into()));
        let known = Object::new(id.clone(), json!({}));
        let mut test = TestController::new(controllers(&wanted, &clock), [known.clone()]).expect("controllers");
        for id in wanted.update(statuses) {
            test.event(Change::Custom(BUILD, build_event(&id)));
        }
        assert_eq!(test.get(&id).map(|object| object.finalizers.clone()), Some(vec!["projectcontour.io/configuration".to_owned()]));
        let condition = test.status(&id)["conditions"][0].clone();
        assert_eq!((&condition["type"], &condition["status"], &condition["lastTransitionTime"]), (&json!("Valid"), &json!("True"), &json!("now")));
        let held = test.get(&id).expect("an object");
        test.event(Change::Put(Object { deleting: true, ..Object::clone(&held) }));
        assert!(test.get(&id).is_none(), "it is let go");
    }

    #[test]
    fn graph_matches_committed_drawing() {
        let clock: Clock = Arc::new(String::new);
        let mut all = controllers(&WantedStatuses::default(), &clock);
        all.push(crate::controllers::provisioner::controller(&crate::controllers::provisioner::WantedObjects::default()));
        all.extend(crate::controllers::delivery::controllers(&crate::controllers::delivery::DeliveryState::default(), true));
        let drawn = crate::runtime::graph::Graph::of(&all).mermaid();
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("controllers.mmd");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&golden, &drawn).expect("a file");
        }
        let known = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(drawn, known, "run UPDATE_FIXTURES=1 cargo test -p chancery-live the_graph, and read what changes");
        assert_eq!(crate::runtime::graph::Graph::of(&all).circle(), None);
    }
}
