//! Answers one admission review: compiles the last build's inputs with the new object, and compares the findings. Does not serve; see the parent
//! module.

use crate::lock;
use crate::worker::build::Build;
use chancery_core::check::check;
use chancery_core::compilation::Options;
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::{Policy, Severity};
use chancery_core::dialect;
use chancery_core::explain::{Finding, KnownFindings, ResourceRef, findings};
use chancery_core::resource::{Input, Inputs};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

use chancery_workspace::threads::Threads;

/// At most this many warnings are sent: `kubectl` shows each on a line.
const MOST_WARNINGS: usize = 10;
/// The API server cuts off longer warnings.
const LONGEST_WARNING: usize = 250;
/// The name of the input of an object that the last build does not have.
const NEW: &str = "(new)";

/// Reviews objects against the last build.
pub struct Reviewer {
    options: Options,
    builds: watch::Receiver<Option<Arc<Build>>>,
    deny: BTreeSet<String>,
    memory: Mutex<Option<Memory>>,
}

/// What reviews of one build share.
struct Memory {
    build: u64,
    compiler: Compiler,
    inputs: Inputs,
    known: KnownFindings,
    /// The input of each object, by its name; `None` if the input has several objects.
    inputs_of: HashMap<String, Option<usize>>,
}

impl std::fmt::Debug for Reviewer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reviewer").field("deny", &self.deny).finish_non_exhaustive()
    }
}

impl Reviewer {
    #[must_use]
    pub fn new(options: Options, builds: watch::Receiver<Option<Arc<Build>>>, deny: &[String]) -> Self {
        Self { options, builds, deny: deny.iter().cloned().collect(), memory: Mutex::new(None) }
    }

    /// Answers a review.
    ///
    /// # Errors
    ///
    /// Why it is not a review.
    pub fn review(&self, body: &[u8]) -> Result<String, String> {
        let review: Value = serde_json::from_slice(body).map_err(|_| "the body is not JSON")?;
        let request = &review["request"];
        let uid = request["uid"].as_str().ok_or("the body is not an AdmissionReview: it has no request.uid")?;
        let found = match request["operation"].as_str() {
            Some("CREATE" | "UPDATE") if request["object"].is_object() => self.findings(&request["object"]),
            _ => Vec::new(),
        };
        let name = name_of(&request["object"]);
        let denied: Vec<&Finding> = found.iter().filter(|finding| self.deny.contains(finding.code)).collect();
        let mut response = json!({ "uid": uid, "allowed": denied.is_empty() });
        let warnings = warnings(&found, name.as_deref());
        if !warnings.is_empty() {
            response["warnings"] = json!(warnings);
        }
        if let Some(first) = denied.first() {
            let more = if denied.len() > 1 { format!(" (and {} more)", denied.len() - 1) } else { String::new() };
            response["status"] = json!({ "code": 403, "reason": "Invalid", "message": format!("chancery: {}{more}", words(first, name.as_deref())) });
        }
        let answer = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response });
        serde_json::to_string(&answer).map_err(|error| error.to_string())
    }

    /// Returns the findings of an object, and the findings that it causes in other objects.
    fn findings(&self, object: &Value) -> Vec<Finding> {
        // Before the first build, other objects are unknown: everything would appear to be missing.
        let (Some(build), Some(name)) = (self.builds.borrow().clone(), name_of(object)) else { return Vec::new() };
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        let mut memory = lock(&self.memory);
        if memory.as_ref().is_none_or(|memory| memory.build != build.number) {
            let compiler = memory.take().map(|memory| memory.compiler);
            *memory = Some(Memory::of(&build, compiler.unwrap_or_else(|| Compiler::new(dialect::ALL).with_executor(&Threads)), &self.options));
        }
        let Some(memory) = memory.as_mut() else { return Vec::new() };
        let mut inputs = memory.inputs.clone();
        let text: Arc<str> = object.to_string().into();
        match memory.inputs_of.get(&name) {
            Some(Some(at)) => {
                if let Some(input) = inputs.inputs.get_mut(*at) {
                    input.text = text;
                }
            }
            // A file with several objects is not what the API server has.
            Some(None) => return Vec::new(),
            None => inputs.inputs.push(Input { name: NEW.into(), text }),
        }
        let mut known = memory.known.clone();
        let all = compiled(&mut memory.compiler, &inputs, &self.options);
        let is_own = |finding: &Finding| finding.object.as_ref().or(finding.resource.as_ref()).is_some_and(|of| of.to_string() == name);
        // `is_known` counts, so that it is asked for every finding.
        let new = all.into_iter().filter(|finding| !known.is_known(finding) | is_own(finding));
        new.filter(|finding| finding.level() != Severity::Notice || self.deny.contains(finding.code)).collect()
    }
}

impl Memory {
    fn of(build: &Build, mut compiler: Compiler, options: &Options) -> Self {
        let inputs = build.compilation.inputs.clone();
        let known = KnownFindings::of(&compiled(&mut compiler, &inputs, options));
        let mut per_input: HashMap<u32, usize> = HashMap::new();
        build.compilation.objects.iter().for_each(|object| *per_input.entry(object.source.source.0).or_default() += 1);
        let input_of = |source: u32| (per_input.get(&source) == Some(&1)).then_some(source as usize);
        let objects = build.compilation.objects.iter();
        let inputs_of = objects.map(|object| (ResourceRef::from(&object.key).to_string(), input_of(object.source.source.0))).collect();
        Self { build: build.number, compiler, inputs, known, inputs_of }
    }
}

fn compiled(compiler: &mut Compiler, inputs: &Inputs, options: &Options) -> Vec<Finding> {
    let mut compilation = compiler.compile(inputs, options);
    let executor = compiler.executor();
    check(&mut compilation, &Policy::default(), &mut compiler.emitted, executor);
    findings(&compilation, &compilation.positions())
}

/// Returns the name of an object as findings write it.
fn name_of(object: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(Into::into);
    let metadata = &object["metadata"];
    let name = ResourceRef { kind: text(&object["kind"])?, name: text(&metadata["name"])?, namespace: text(&metadata["namespace"]) };
    Some(name.to_string())
}

fn words(finding: &Finding, own: Option<&str>) -> String {
    let of = finding.object.as_ref().or(finding.resource.as_ref()).map(ToString::to_string);
    let place = match (&finding.path, of.filter(|of| Some(of.as_str()) != own)) {
        (_, Some(other)) => format!(" (in {other})"),
        (Some(path), None) if !finding.message.contains(path.as_str()) => format!(" ({path})"),
        _ => String::new(),
    };
    let help = finding.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let text = format!("{}: {}{place}{help}", finding.code, finding.message);
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_WARNING);
    end.map_or(text.clone(), |end| format!("{}…", text.get(..end).unwrap_or_default()))
}

/// Returns warnings, errors first.
fn warnings(found: &[Finding], own: Option<&str>) -> Vec<String> {
    let mut all: Vec<&Finding> = found.iter().collect();
    all.sort_by_key(|finding| finding.level() != Severity::Error);
    let mut out: Vec<String> = all.iter().take(MOST_WARNINGS).map(|finding| format!("chancery: {}", words(finding, own))).collect();
    if all.len() > MOST_WARNINGS {
        out.push(format!("chancery: {} more findings; `chancery check` lists them", all.len() - MOST_WARNINGS));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::build::Builder;
    use crate::worker::intake::Drained;

    const GATEWAY: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: shop}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all, namespace: shop}
spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}
";

    fn reviewer(deny: &[&str]) -> Reviewer {
        let stored = "{\"apiVersion\":\"getambassador.io/v3alpha1\",\"kind\":\"Mapping\",\"metadata\":{\"name\":\"cart\",\"namespace\":\"shop\"},\
            \"spec\":{\"hostname\":\"*\",\"prefix\":\"/cart/\",\"service\":\"cart\"}}";
        let inputs: Vec<Input> =
            vec![Input { name: "gateway.yaml".into(), text: GATEWAY.into() }, Input { name: "Mapping/shop/cart".into(), text: stored.into() }];
        let drained = Drained { inputs: inputs.into(), ..Drained::default() };
        let build = Builder::new(Options::default()).build(drained);
        // The sender may go: the last value stays.
        let (_, builds) = watch::channel(Some(Arc::new(build)));
        Reviewer::new(Options::default(), builds, &deny.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn review(by: &Reviewer, name: &str, spec: &Value) -> Value {
        let object =
            json!({ "apiVersion": "getambassador.io/v3alpha1", "kind": "Mapping", "metadata": { "name": name, "namespace": "shop" }, "spec": spec });
        let review = json!({ "kind": "AdmissionReview", "request": { "uid": "7", "operation": "CREATE", "object": object } });
        let answer = by.review(review.to_string().as_bytes()).expect("a review");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["response"]["uid"], "7");
        answer["response"].clone()
    }

    #[test]
    fn review_warns_about_new_object_only() {
        let by = reviewer(&[]);
        let good = review(&by, "help", &json!({ "hostname": "*", "prefix": "/help/", "service": "help" }));
        assert_eq!((&good["allowed"], &good["warnings"]), (&Value::Bool(true), &Value::Null), "{good}");
        let wrong = json!({ "hostname": "*", "prefix": "/help/", "service": "help", "timout_ms": 5 });
        for _ in 0..2 {
            let answer = review(&by, "help", &wrong);
            let first = answer["warnings"][0].as_str().expect("a warning");
            assert!(answer["allowed"] == true && first.starts_with("chancery: unknown-field: ") && first.contains("timout_ms"), "{answer}");
        }
        // A known object is replaced, not added.
        let known = review(&by, "cart", &json!({ "hostname": "*", "prefix": "/cart/", "service": "other" }));
        assert_eq!(known["warnings"], Value::Null, "{known}");
    }

    #[test]
    fn review_denies_listed_codes_only() {
        let wrong = json!({ "hostname": "*", "prefix": "/help/", "service": "help", "timout_ms": 5 });
        let denied = review(&reviewer(&["unknown-field"]), "help", &wrong);
        assert!(denied["allowed"] == false && denied["status"]["message"].as_str().is_some_and(|text| text.contains("timout_ms")), "{denied}");
        assert_eq!(review(&reviewer(&["duplicate"]), "help", &wrong)["allowed"], true);
    }

    #[test]
    fn review_refuses_other_bodies() {
        let by = reviewer(&[]);
        assert!(by.review(b"{").is_err() && by.review(b"{}").is_err());
        let deleted = json!({ "request": { "uid": "1", "operation": "DELETE", "object": null } });
        assert!(by.review(deleted.to_string().as_bytes()).expect("a review").contains("\"allowed\":true"));
    }
}
