//! Creates the objects that each Gateway needs, as Contour's provisioner does.
//!
//! If a Gateway is deleted, its objects are deleted. If a Gateway cannot be provisioned now, its objects stay. A label marks the objects, so that
//! the next process finds them. Does not choose the objects; a build does.

use super::certificates::{Authority, is_generated};
use super::objects::id_of;
use super::writer::MANAGER;
use crate::lock;
use crate::runtime::{Action, Controller, Id, Object, Reading, Reconcile};
use crate::worker::build::Build;
use chancery_core::compilation::{OptionValue, Options, Outcome, Side};
use chancery_core::compile::compile;
use chancery_core::dialect::{self, contour};
use chancery_core::resource::{Inputs, ObjectId, ResourceKey};
use chancery_core::text::to_json;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The custom watch for Gateways whose wanted objects changed in a build.
pub const CREATED: &str = "created";
/// The managed kind: all objects of one Gateway.
pub const PROVISIONED: &str = "Provisioned";
/// The label of all written objects.
pub const LABEL: &str = "app.kubernetes.io/managed-by";
/// The annotation that names an object's Gateway.
pub const FOR: &str = "chancery.dev/provisioned-for";
/// The kinds of written objects.
pub const KINDS: &[&str] = &[
    "ServiceAccount",
    "Secret",
    "Service",
    "Role.rbac.authorization.k8s.io",
    "RoleBinding.rbac.authorization.k8s.io",
    "ClusterRole.rbac.authorization.k8s.io",
    "ClusterRoleBinding.rbac.authorization.k8s.io",
    "Deployment.apps",
    "DaemonSet.apps",
    "ContourConfiguration.projectcontour.io",
];

#[derive(Debug, Default)]
struct State {
    /// The wanted objects of the last build, by Gateway.
    wanted: BTreeMap<Id, BTreeMap<Id, Value>>,
    /// The written objects, by Gateway.
    written: BTreeMap<Id, BTreeSet<Id>>,
}

/// The wanted objects of the last build, and the written objects. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct WantedObjects(Arc<Mutex<State>>);

impl WantedObjects {
    /// Sets the objects that an earlier process wrote, by Gateway. The next build checks whether their Gateways still
    /// exist.
    pub fn found(&self, written: BTreeMap<Id, BTreeSet<Id>>) {
        lock(&self.0).written = written;
    }

    /// Sets the wanted objects of a build. Returns the Gateways whose objects must change.
    #[must_use]
    pub fn update(&self, build: &Build) -> Vec<Id> {
        let mut state = lock(&self.0);
        let mut next = BTreeMap::new();
        for side in &build.compilation.sides {
            next.extend(of_side(build, side));
        }
        let objects = &build.compilation.objects;
        let there: BTreeSet<Id> = objects.iter().filter(|object| object.key.kind == "Gateway").map(|object| provisioned(&object.key)).collect();
        // An existing Gateway that cannot be provisioned now keeps its objects.
        for (id, known) in state.wanted.iter().filter(|(id, _)| there.contains(*id)) {
            next.entry(id.clone()).or_insert_with(|| known.clone());
        }
        let ids: BTreeSet<Id> = next.keys().chain(state.wanted.keys()).chain(state.written.keys()).cloned().collect();
        let is_due = |id: &Id| {
            // The objects of an earlier process stay until their existing Gateway is provisioned again.
            let is_unknown = !next.contains_key(id) && there.contains(id);
            !is_unknown && (next.get(id) != state.wanted.get(id) || !next.contains_key(id) && state.written.contains_key(id))
        };
        let due = ids.into_iter().filter(|id| is_due(id)).collect();
        state.wanted = next;
        due
    }
}

/// Returns the objects of one side, by Gateway, without Gateways whose provisioning stops halfway.
fn of_side(build: &Build, side: &Side) -> BTreeMap<Id, BTreeMap<Id, Value>> {
    let stops = |owner: ObjectId| side.gateways.iter().any(|gateway| gateway.owner == Some(owner) && matches!(gateway.outcome, Outcome::Stopped(_)));
    let mut out: BTreeMap<Id, BTreeMap<Id, Value>> = BTreeMap::new();
    for created in side.answers.created.iter().flatten().filter(|created| !stops(created.owner)) {
        let Some(owner) = build.compilation.objects.get(created.owner) else { continue };
        let Ok(mut value) = serde_json::from_str::<Value>(&to_json(&created.object, false)) else { continue };
        let gateway = provisioned(&owner.key);
        value["metadata"]["labels"][LABEL] = MANAGER.into();
        value["metadata"]["annotations"][FOR] = format!("{}/{}", gateway.namespace, gateway.name).into();
        out.entry(gateway).or_default().insert(name_of(&created.key), value);
    }
    out
}

fn provisioned(gateway: &ResourceKey) -> Id {
    Id::new(PROVISIONED, gateway.namespace.as_deref().unwrap_or_default(), &gateway.name)
}

fn name_of(key: &ResourceKey) -> Id {
    let kind = if key.group.is_empty() { key.kind.to_string() } else { format!("{}.{}", key.kind, key.group) };
    Id::new(&kind, key.namespace.as_deref().unwrap_or_default(), &key.name)
}

/// Returns the Gateway of a labelled object from the API server, and the id of the object.
#[must_use]
pub fn owner_of(kind: &str, object: &Value) -> Option<(Id, Id)> {
    let metadata = &object["metadata"];
    let gateway = id_of(&format!("{PROVISIONED}/{}", metadata["annotations"][FOR].as_str()?))?;
    Some((gateway, Id::new(kind, metadata["namespace"].as_str().unwrap_or_default(), metadata["name"].as_str()?)))
}

/// The smallest Gateway that can be provisioned.
const SAMPLE: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: default}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
";

/// Returns the permissions of the created roles, by group and resource. The creator of a role must have its permissions.
#[must_use]
pub fn granted() -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut options = Options::of(&contour::DIALECT);
    options.insert("controller", OptionValue::Text("gateway-provisioner".into()));
    let compilation = compile(&Inputs::one("sample.yaml", SAMPLE), &options, dialect::ALL);
    let created = compilation.sides.iter().flat_map(|side| side.answers.created.iter().flatten());
    let mut out: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for created in created {
        let object: Value = serde_json::from_str(&to_json(&created.object, false)).unwrap_or_default();
        for rule in object["rules"].as_array().into_iter().flatten() {
            let texts = |name: &str| rule[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
            for (group, resource) in texts("apiGroups").into_iter().flat_map(|group| texts("resources").into_iter().map(move |of| (group, of))) {
                out.entry((group.into(), resource.into())).or_default().extend(texts("verbs").into_iter().map(str::to_owned));
            }
        }
    }
    out
}

/// Returns the controller.
#[must_use]
pub fn controller(wanted: &WantedObjects) -> Controller {
    let controller = Controller::new("gateway-provisioner", PROVISIONED, Provisioner(wanted.clone()));
    let controller = controller.custom_watch(CREATED, Arc::new(|object: &Object, _| vec![object.id.clone()]));
    KINDS.iter().fold(controller, |controller, kind| controller.writes(kind))
}

struct Provisioner(WantedObjects);

impl Reconcile for Provisioner {
    fn reconcile(&mut self, id: &Id, _: &Reading<'_>) -> Result<Vec<Action>, String> {
        let state = lock(&self.0.0);
        let wanted = state.wanted.get(id);
        let written = state.written.get(id);
        let is_written = |object: &Id| written.is_some_and(|written| written.contains(object));
        // The certificates of a Gateway are created once, and again if either of them is missing.
        let is_new = wanted.into_iter().flatten().any(|(object, value)| is_generated(value) && !is_written(object));
        let authority = is_new.then(Authority::new).transpose()?;
        let mut actions = Vec::new();
        for (object, value) in wanted.into_iter().flatten() {
            let mut value = value.clone();
            match &authority {
                Some(authority) if is_generated(&value) => authority.fill(object, &mut value)?,
                None if is_generated(&value) => continue,
                _ => {}
            }
            actions.push(Action::Write(object.clone(), value));
        }
        let is_wanted = |object: &Id| wanted.is_some_and(|wanted| wanted.contains_key(object));
        let gone = written.into_iter().flatten().filter(|object| !is_wanted(object));
        actions.extend(gone.map(|object| Action::Delete(object.clone())));
        Ok(actions)
    }

    fn carried_out(&mut self, id: &Id, actions: &[Action]) {
        let mut state = lock(&self.0.0);
        let written = state.written.entry(id.clone()).or_default();
        for action in actions {
            match action {
                Action::Write(object, _) => _ = written.insert(object.clone()),
                Action::Delete(object) => _ = written.remove(object),
                Action::Apply(_) | Action::Status(..) | Action::Finalizers(..) => {}
            }
        }
        if written.is_empty() {
            state.written.remove(id);
        }
    }
}

/// Returns an event of a build about a Gateway.
#[must_use]
pub fn build_event(id: &Id) -> Object {
    Object::new(id.clone(), json!(null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Change;
    use crate::runtime::testing::TestController;
    use crate::worker::build::Builder;
    use crate::worker::intake::Drained;
    use chancery_core::resource::Input;

    const CLASS: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\nspec: {controllerName: projectcontour.io/gateway-controller}\n";

    fn gateway(name: &str, class: &str) -> String {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  gatewayClassName: \
             {class}\n  listeners: [{{name: http, port: 80, protocol: HTTP}}]\n"
        )
    }

    fn build(texts: &[String]) -> Build {
        let inputs: Vec<Input> =
            texts.iter().enumerate().map(|(at, text)| Input { name: format!("{at}.yaml").into(), text: text.as_str().into() }).collect();
        let not_utf8 = vec![Vec::new(); inputs.len()];
        let mut options = Options::of(&contour::DIALECT);
        options.insert("controller", OptionValue::Text("gateway-provisioner".into()));
        Builder::new(options).build(Drained { inputs: Inputs::from(inputs), not_utf8, ..Drained::default() })
    }

    fn rebuild(test: &mut TestController, ids: Vec<Id>) -> (usize, Vec<String>) {
        test.forget();
        ids.iter().for_each(|id| test.event(Change::Custom(CREATED, build_event(id))));
        let writes = test.written.iter().filter(|action| matches!(action, Action::Write(..))).count();
        let deleted = test.written.iter().filter_map(|action| if let Action::Delete(id) = action { Some(id.to_string()) } else { None });
        (writes, deleted.collect())
    }

    #[test]
    fn provisioner_writes_and_deletes_objects_with_gateway() {
        let wanted = WantedObjects::default();
        let mut test = TestController::new(vec![controller(&wanted)], []).expect("controllers");
        let both = build(&[CLASS.into(), gateway("a", "c"), gateway("b", "c")]);
        let (writes, deleted) = rebuild(&mut test, wanted.update(&both));
        assert!(writes >= 10 && deleted.is_empty(), "{writes} {deleted:?}");
        for action in &test.written {
            let Action::Write(id, value) = action else { panic!("{action:?}") };
            assert!(KINDS.contains(&&*id.kind), "{id} is of a kind that is not listed");
            assert_eq!(value["metadata"]["labels"][LABEL], "chancery");
        }
        assert!(wanted.update(&both).is_empty(), "the same again is no news");
        certificates_are_made_once(&mut test);
        // Its class belongs to another controller now: Contour's provisioner ignores it, and its objects stay.
        let ignored = build(&[CLASS.into(), gateway("a", "other"), gateway("b", "c")]);
        assert!(wanted.update(&ignored).is_empty());
        let without = build(&[CLASS.into(), gateway("b", "c")]);
        let (writes, deleted) = rebuild(&mut test, wanted.update(&without));
        assert!(writes == 0 && deleted.len() >= 5 && deleted.iter().all(|id| !id.contains("-b")), "{deleted:?}");
        assert!(wanted.update(&without).is_empty(), "it is gone");
    }

    fn certificates_are_made_once(test: &mut TestController) {
        let secrets = |test: &TestController| -> Vec<Value> {
            let of = |action: &Action| if let Action::Write(id, value) = action { (&*id.kind == "Secret").then(|| value.clone()) } else { None };
            test.written.iter().filter_map(of).collect()
        };
        let made = secrets(test);
        assert_eq!(made.len(), 4, "one for Contour and one for Envoy of each of two Gateways");
        let part = |secret: &Value, name: &str| {
            use base64ct::{Base64, Encoding as _};
            Base64::decode_vec(secret["data"][name].as_str().unwrap_or_default()).expect("base64")
        };
        let (_, authority) = x509_parser::pem::parse_x509_pem(&part(&made[0], "ca.crt")).expect("PEM");
        let authority = authority.parse_x509().expect("a certificate");
        let (_, leaf) = x509_parser::pem::parse_x509_pem(&part(&made[0], "tls.crt")).expect("PEM");
        let leaf = leaf.parse_x509().expect("a certificate");
        assert_eq!(leaf.issuer(), authority.subject());
        let names = leaf.subject_alternative_name().expect("readable").expect("there").value.general_names.iter().map(ToString::to_string);
        let names = names.collect::<Vec<_>>().join(" ");
        assert!(names.contains("contour-") && names.contains(".default.svc.cluster.local"), "{names}");
        assert!(part(&made[0], "tls.key").starts_with(b"-----BEGIN PRIVATE KEY-----"));
        let owner = |action: &Action| if let Action::Write(id, value) = action { owner_of(&id.kind, value) } else { None };
        let ids: BTreeSet<Id> = test.written.iter().filter_map(owner).map(|(gateway, _)| gateway).collect();
        rebuild(test, ids.into_iter().collect());
        assert!(!test.written.is_empty() && secrets(test).is_empty(), "existing Secrets stay");
    }

    #[test]
    fn provisioner_finds_objects_of_earlier_process() {
        let wanted = WantedObjects::default();
        let object = serde_json::json!({"metadata": {"name": "envoy-old", "namespace": "default", "annotations": {FOR: "default/old"}}});
        let (owner, id) = owner_of("Service", &object).expect("an owner");
        wanted.found(BTreeMap::from([(owner, BTreeSet::from([id.clone()]))]));
        let mut test = TestController::new(vec![controller(&wanted)], []).expect("controllers");
        let (_, deleted) = rebuild(&mut test, wanted.update(&build(&[CLASS.into()])));
        assert_eq!(deleted, [id.to_string()], "its Gateway was deleted while no provisioner ran");
    }
}
