//! Compares how several controllers treat the same Ingresses.
//!
//! Every Ingress gets the class of each controller in turn, and is otherwise unchanged. Annotations that only one controller reads therefore appear
//! as differences. Missing Services and Endpoints are assumed to exist, the same for all controllers.
//!
//! Does not interpret Ingresses (see the dialects) or route requests.

mod answer;
mod requests;
mod surroundings;

pub(super) use answer::{Answer, Ways};
pub(super) use requests::requests;
pub(super) use surroundings::assumed;

use super::proof::without;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Dialect, OptionValue, Options};
use chancery_base::resource::{Input, Inputs, Object};
use chancery_compile::compile;
use chancery_text::{Node, Str, Value, to_yaml};

/// How several controllers treat the same Ingresses.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Across {
    pub ingresses: usize,
    /// The controllers, in the order of the answers.
    pub controllers: Vec<&'static str>,
    /// Requests that they treat differently.
    pub differences: Vec<AcrossRow>,
    /// How many requests were tried on each controller.
    pub compared: usize,
    /// Services that were assumed to exist, as `NAMESPACE/NAME`.
    pub assumed: Vec<String>,
    /// Annotations that only some of the controllers read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_sided: Vec<OneSidedAnnotation>,
    /// Sentences about requests that could not be compared.
    pub limits: Vec<String>,
}

/// Requests with the same differences.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AcrossRow {
    /// The first of them, as URLs.
    pub requests: Vec<String>,
    /// How many more there are.
    pub more: usize,
    /// The results, controller by controller.
    pub answers: Vec<String>,
}

/// An annotation of Ingresses that only some controllers read.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OneSidedAnnotation {
    pub name: Str,
    /// The controllers that read it.
    pub read_by: Vec<&'static str>,
    /// The Ingresses that have it, as `NAMESPACE/NAME`.
    pub ingresses: Vec<String>,
}

/// At most this many requests of one row are named.
const MOST: usize = 8;

/// A controller that serves Ingresses.
struct Controller {
    name: &'static str,
    dialect: &'static Dialect,
    /// The class of its Ingresses.
    class: &'static str,
    /// The prefix of the `controller` in its IngressClasses.
    answers_to: &'static str,
    /// Further objects that it needs.
    extra_objects: &'static str,
}

impl Controller {
    fn answers_to(&self, controller: &str) -> bool {
        controller.starts_with(self.answers_to)
    }
}

const CONTROLLERS: [Controller; 3] = [
    Controller {
        name: "Application Gateway",
        dialect: &chancery_agic::DIALECT,
        class: "azure/application-gateway",
        answers_to: "azure/",
        extra_objects: "",
    },
    Controller { name: "Contour", dialect: &chancery_contour::DIALECT, class: "contour", answers_to: "projectcontour.io/", extra_objects: "" },
    Controller {
        name: "Emissary",
        dialect: &chancery_ambassador::DIALECT,
        class: "ambassador",
        answers_to: "getambassador.io/",
        extra_objects: LISTENERS,
    },
];

/// Emissary's listeners.
const LISTENERS: &str = "apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: https, namespace: default}
spec: {port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
";

/// The annotation that holds the class.
const CLASS: &str = "kubernetes.io/ingress.class";

/// Whether an object is a readable Ingress.
pub(super) fn is_ingress(object: &Object) -> bool {
    !object.broken && object.key.kind == "Ingress" && matches!(object.key.group.as_str(), "networking.k8s.io" | "extensions")
}

/// Compares all controllers. The compilation may be of any dialect, since only its objects are used.
#[must_use]
pub fn across(original: &Compilation, options: &Options) -> Across {
    let ingresses: Vec<&Object> = original.objects.iter().filter(|object| is_ingress(object)).collect();
    let asked = requests(&ingresses);
    let assumed = assumed(&original.objects, &ingresses);
    let mut answers: Vec<Vec<Answer>> = Vec::new();
    for controller in &CONTROLLERS {
        let inputs = surroundings(original, &ingresses, controller, &assumed.text);
        let word = |word: &'static str| OptionValue::Text(word.into());
        let options = options.clone().in_dialect(controller.dialect.name).with("missing", word("assume"));
        let compilation = compile(&inputs, &options, &[controller.dialect]);
        let ways = Ways::of(&compilation);
        answers.push(ways.all(&asked.all));
    }
    let mut limits = asked.limits;
    limits.extend(of_other_classes(original, &ingresses));
    limits.push(
        "Requests are generated from the hosts and paths of the Ingresses; others were not tried. Application Gateway answers by Azure's documentation."
            .into(),
    );
    limits.push("Only the results of requests were compared: timeouts, affinity, firewalls and other settings may differ.".into());
    Across {
        ingresses: ingresses.len(),
        controllers: CONTROLLERS.iter().map(|controller| controller.name).collect(),
        compared: asked.all.len(),
        differences: rows(&asked.all, &answers),
        assumed: assumed.names,
        one_sided: one_sided(&ingresses),
        limits,
    }
}

/// Describes Ingresses with a class that none of the controllers serves.
fn of_other_classes(original: &Compilation, ingresses: &[&Object]) -> Vec<String> {
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ingress in ingresses {
        let written = [&["metadata", "annotations", CLASS][..], &["spec", "ingressClassName"]];
        let Some(class) = written.into_iter().find_map(|path| ingress.root.at(path)?.as_str()) else { continue };
        let is_of = |object: &&Object| *object.key.kind == *"IngressClass" && *object.key.name == *class;
        let controller = original.objects.iter().find(is_of).and_then(|object| object.root.at(&["spec", "controller"])?.as_str());
        let is_served = |of: &Controller| of.class == class || controller.is_some_and(|controller| of.answers_to(controller));
        if !CONTROLLERS.iter().any(is_served) && class != "azure-application-gateway" {
            others.entry(class).or_default().push(&ingress.key.name);
        }
    }
    let said = |(class, names): (&str, Vec<&str>)| {
        let which = if let [name] = names[..] { format!("the Ingress `{name}`") } else { format!("{} Ingresses", names.len()) };
        format!("As written, none of these controllers serves {which} of the class `{class}`: each controller was tried with its own class.")
    };
    others.into_iter().map(said).collect()
}

/// Returns annotations that only some of the controllers read, by name.
fn one_sided(ingresses: &[&Object]) -> Vec<OneSidedAnnotation> {
    let mut found: BTreeMap<Str, Vec<String>> = BTreeMap::new();
    for ingress in ingresses {
        let annotations = ingress.root.at(&["metadata", "annotations"]).and_then(Node::as_object).into_iter().flatten();
        for annotation in annotations {
            let name = format!("{}/{}", ingress.key.namespace.as_deref().unwrap_or("default"), ingress.key.name);
            found.entry(annotation.key.clone()).or_default().push(name);
        }
    }
    let reads = |controller: &Controller, name: &str| {
        controller.dialect.annotations.iter().any(|(kind, known)| *kind == "Ingress" && known.names.contains(&name))
    };
    let of = |(name, ingresses): (Str, Vec<String>)| {
        let read_by: Vec<&'static str> = CONTROLLERS.iter().filter(|of| reads(of, &name)).map(|of| of.name).collect();
        let is_one_sided = name != CLASS && !read_by.is_empty() && read_by.len() < CONTROLLERS.len();
        is_one_sided.then_some(OneSidedAnnotation { name, read_by, ingresses })
    };
    found.into_iter().filter_map(of).collect()
}

/// Returns requests with different results, grouped by equal differences.
pub(super) fn rows(asked: &[chancery_envoy::simulate::Request], answers: &[Vec<Answer>]) -> Vec<AcrossRow> {
    let mut rows: Vec<AcrossRow> = Vec::new();
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (at, request) in asked.iter().enumerate() {
        let of: Vec<&Answer> = answers.iter().filter_map(|all| all.get(at)).collect();
        if of.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        let words: Vec<String> = of.iter().map(|answer| answer.words()).collect();
        let next = rows.len();
        let place = *places.entry(words.clone()).or_insert(next);
        if place == next {
            rows.push(AcrossRow { requests: Vec::new(), more: 0, answers: words });
        }
        let Some(row) = rows.get_mut(place) else { continue };
        let scheme = if request.tls { "https" } else { "http" };
        let url = format!("{scheme}://{}{}", request.authority, request.path);
        if row.requests.len() < MOST { row.requests.push(url) } else { row.more += 1 }
    }
    rows
}

fn surroundings(original: &Compilation, ingresses: &[&Object], controller: &Controller, assumed: &str) -> Inputs {
    let mut inputs = without(original, is_ingress);
    let own: Vec<String> = ingresses.iter().map(|object| to_yaml(&with_class(&object.root, controller.class))).collect();
    for (name, text) in
        [("ingresses.yaml", own.join("---\n")), ("assumed.yaml", assumed.to_string()), ("extra_objects.yaml", controller.extra_objects.to_string())]
    {
        inputs.push(Input { name: name.into(), text: text.into() });
    }
    Inputs { inputs, stored: original.inputs.stored.clone() }
}

/// Returns the Ingress with another class.
fn with_class(root: &Node, class: &str) -> Node {
    let mut annotations = root.at(&["metadata", "annotations"]).and_then(Node::as_object).cloned().unwrap_or_default();
    annotations.insert(CLASS, Node::synthesised(Value::String(Str::new(class))));
    let mut metadata = root.get("metadata").and_then(Node::as_object).cloned().unwrap_or_default();
    metadata.insert("annotations", Node::synthesised(Value::Object(annotations)));
    let spec = root.get("spec").and_then(Node::as_object).into_iter().flatten();
    let spec = spec.filter(|entry| entry.key != "ingressClassName").map(|entry| (entry.key.clone(), entry.value.clone())).collect();
    let mut out = root.as_object().cloned().unwrap_or_default();
    out.insert("metadata", Node::synthesised(Value::Object(metadata)));
    out.insert("spec", Node::synthesised(Value::Object(spec)));
    Node::synthesised(Value::Object(out))
}
