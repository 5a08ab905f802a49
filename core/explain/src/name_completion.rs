//! Completes names of objects that exist: Services with ports, Secrets, listeners, hosts, and the Envoy resources that a patch can change.
//!
//! A trial object with a placeholder at the cursor shows which kind of object the dialect would look up there, and in which forms it accepts a
//! name. So each dialect's own rules apply. Does not list fields; see `assist`.

use super::assist::{Completion, Completions, completions};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Dialect, Options, Relation};
use chancery_base::resource::{Inputs, Object, ResourceKey};
use chancery_compile::Compiler;
use chancery_text::Node;

/// The name that no object has.
const PLACEHOLDER: &str = "chancery-completes-this";
/// A namespace that no object has.
const ELSEWHERE: &str = "chancery-elsewhere";
/// The kind whose objects patch Envoy's resources by name.
const PATCH_POLICY: &str = "EnvoyPatchPolicy";
/// At most this many names are offered.
const MOST: usize = 500;

/// Returns what the user may type at a byte offset: names of objects that exist, then fields and values. `known` is the last compile.
#[must_use]
pub fn complete(known: &Compilation, dialects: &[&'static Dialect], text: &str, offset: u32) -> Completions {
    let mut found = completions(dialects, text, offset);
    let names = name_completions(known, dialects, text, offset);
    if !names.is_empty() {
        let before = text.get(..offset as usize).unwrap_or_default();
        let word = before.rsplit([' ', '\n', '\t', '{', '[', ',', '"', '\'']).next().unwrap_or_default();
        found.from = offset - word.len() as u32;
        found.items.splice(0..0, names);
    }
    found
}

/// Returns the names that a value at a byte offset may have. `text` is the document with the cursor; `known` is the input of the last compile.
#[must_use]
fn name_completions(known: &Compilation, dialects: &[&'static Dialect], text: &str, offset: u32) -> Vec<Completion> {
    let Some((before, after)) = text.get(..offset as usize).zip(text.get(offset as usize..)) else { return Vec::new() };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let field = line.rsplit_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")));
    let Some((key, typed)) = field.or_else(|| Some(("", line.trim_start().strip_prefix('-')?))) else { return Vec::new() };
    let key = key.trim_start_matches([' ', '-', '{', ',']).rsplit([' ', '{', ',']).next().unwrap_or_default();
    let begin = before.rfind("\n---").map_or(0, |at| before[at + 1..].find('\n').map_or(before.len(), |end| at + end + 2));
    let end = after.find("\n---").unwrap_or(after.len());
    let rest = &after[..end];
    // The rest of the cursor's line belongs to the old value, unless it closes a bracket.
    let old = rest.find(['\n', ',', '}', ']', '#']).unwrap_or(rest.len());
    let head = before.get(begin..before.len() - typed.trim_start().len()).unwrap_or_default();
    let gap = if line.ends_with(':') { " " } else { "" };
    let trial = |value: &str| format!("{head}{gap}{value}{}", &rest[old..]);
    match key {
        "sectionName" => return parts(known, dialects, &trial(PLACEHOLDER), &["spec", "listeners"]),
        "hostname" | "host" | "fqdn" => return hostnames(known),
        "name" if trial("").contains(PATCH_POLICY) => {
            if let Some(names) = patchable(known, dialects, &trial(PLACEHOLDER)) {
                return names;
            }
        }
        _ => {}
    }
    let Some(plain) = looked_up(dialects, &trial(PLACEHOLDER)) else { return Vec::new() };
    let accepts = |value: &str, namespace: Option<&str>| {
        looked_up(dialects, &trial(value))
            .is_some_and(|found| found.to.name == PLACEHOLDER && namespace.is_none_or(|name| found.to.namespace.as_deref() == Some(name)))
    };
    let is_service = plain.to.kind == "Service";
    let forms = Forms {
        port: is_service && accepts(&format!("{PLACEHOLDER}:8080"), None),
        dotted: accepts(&format!("{PLACEHOLDER}.{ELSEWHERE}"), Some(ELSEWHERE)),
        slashed: accepts(&format!("{ELSEWHERE}/{PLACEHOLDER}"), Some(ELSEWHERE)),
        anywhere: plain.anywhere,
    };
    let kind = plain.to.kind.as_str();
    let is_meant = |object: &&Object| match kind {
        "Resolver" => object.key.kind.ends_with(kind),
        // A service of a mesh may be known by its entries alone.
        "service" | "catalog" => {
            ["Service", "service", "ServiceDefaults", "ServiceResolver", "ServiceRouter", "ServiceSplitter"].contains(&&*object.key.kind)
        }
        _ => object.key.kind == kind,
    };
    let mut out: Vec<Completion> =
        known.objects.iter().filter(|object| !object.broken).filter(is_meant).flat_map(|object| forms.of(object, &plain.to)).take(MOST).collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    out.retain(|item| seen.insert(item.label.clone()));
    out
}

/// The forms in which a field accepts a name.
struct Forms {
    port: bool,
    dotted: bool,
    slashed: bool,
    anywhere: bool,
}

impl Forms {
    /// Returns the ways to write an object's name.
    fn of(&self, object: &Object, asked: &ResourceKey) -> Vec<Completion> {
        let name = &object.key.name;
        let is_here = object.key.namespace == asked.namespace || self.anywhere;
        let written = match object.key.namespace.as_deref() {
            _ if is_here => name.to_string(),
            Some(namespace) if self.dotted => format!("{name}.{namespace}"),
            Some(namespace) if self.slashed => format!("{namespace}/{name}"),
            _ => return Vec::new(),
        };
        let detail = match object.key.namespace.as_deref() {
            Some(namespace) => format!("{} in {namespace}", object.key.kind),
            None => object.key.kind.to_string(),
        };
        let item = |label: String, doc: String| Completion { insert: label.clone(), label, sort: "name", detail: detail.clone(), doc };
        if !self.port {
            return Vec::from([item(written, String::new())]);
        }
        let ports = object.root.at(&["spec", "ports"]).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default();
        let with_port = ports.iter().filter_map(|port| {
            let number = port.get("port").and_then(Node::as_i64)?;
            let doc = port.get("name").and_then(Node::as_str).map(|name| format!("Port `{name}`")).unwrap_or_default();
            Some(item(format!("{written}:{number}"), doc))
        });
        let mut out: Vec<Completion> = with_port.collect();
        out.push(item(written.clone(), String::new()));
        out
    }
}

/// Returns the reference that a trial object has because of its placeholder.
fn looked_up(dialects: &[&'static Dialect], trial: &str) -> Option<Relation> {
    let mut compiler = Compiler::new(dialects).without_memory().without_statuses();
    let compilation = compiler.compile(&Inputs::one("trial.yaml", trial), &Options::default());
    let found = compilation.sides().flat_map(|side| side.relations().into_iter());
    found.into_iter().find(|relation| relation.written.contains(PLACEHOLDER) || relation.to.name == PLACEHOLDER)
}

/// Returns the names of items of the object that a trial object refers to next to its placeholder.
fn parts(known: &Compilation, dialects: &[&'static Dialect], trial: &str, list: &[&str]) -> Vec<Completion> {
    let mut compiler = Compiler::new(dialects).without_memory().without_statuses();
    let compilation = compiler.compile(&Inputs::one("trial.yaml", trial), &Options::default());
    let parents: Vec<ResourceKey> = compilation.sides().flat_map(|side| side.relations()).map(|relation| relation.to).collect();
    let mut out = Vec::new();
    for object in known.objects.iter().filter(|object| parents.iter().any(|parent| parent.kind == object.key.kind && parent.name == object.key.name))
    {
        for item in object.root.at(list).and_then(Node::as_array).into_iter().flatten() {
            let Some(label) = item.get("name").and_then(Node::as_str).map(ToString::to_string) else { continue };
            let words =
                ["protocol", "port", "hostname"].map(|field| item.get(field).map(|node| chancery_text::to_json(node, false)).unwrap_or_default());
            let detail = words.join(" ").replace('"', "").trim().to_string();
            out.push(Completion { insert: label.clone(), label, sort: "name", detail, doc: format!("Listener of {}", object.key.name) });
        }
    }
    out
}

/// Returns the names of Envoy's resources that a patch with the placeholder as its name can change: those of the patch's type in the Envoys of its
/// target. `None` if the placeholder is not the name of a patch.
fn patchable(known: &Compilation, dialects: &[&'static Dialect], trial: &str) -> Option<Vec<Completion>> {
    let mut compiler = Compiler::new(dialects).without_memory().without_statuses();
    let compilation = compiler.compile(&Inputs::one("trial.yaml", trial), &Options::default());
    let policy = compilation.objects.iter().find(|object| object.key.kind == PATCH_POLICY)?;
    let patches = policy.root.at(&["spec", "jsonPatches"]).and_then(Node::as_array)?;
    let patch = patches.iter().find(|patch| patch.get("name").and_then(Node::as_str) == Some(PLACEHOLDER))?;
    let message = patch.get("type").and_then(Node::as_str);
    let target = policy.root.at(&["spec", "targetRef", "name"]).and_then(Node::as_str).unwrap_or_default();
    let of_gateway = format!("{}/{target}", policy.key.namespace.as_deref().unwrap_or_default());
    let is_target = |id: &str| target.is_empty() || id == of_gateway || id == target;
    let mut out: Vec<Completion> = Vec::new();
    for gateway in known.gateways().filter(|gateway| is_target(gateway.id.as_str())) {
        let resources = &gateway.ir.delivery.verbatim;
        let lists = [
            ("type.googleapis.com/envoy.config.listener.v3.Listener", "name", &resources.listeners),
            ("type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name", &resources.routes),
            ("type.googleapis.com/envoy.config.cluster.v3.Cluster", "name", &resources.clusters),
            ("type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name", &resources.endpoints),
            ("type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "name", &resources.secrets),
        ];
        for (url, key, list) in lists.into_iter().filter(|(url, ..)| message.is_none_or(|message| message == *url)) {
            let detail = url.rsplit('.').next().unwrap_or_default();
            let names = list.iter().map(|of| of.get(key).text()).filter(|name| !name.is_empty());
            out.extend(names.map(|name| Completion {
                label: name.into(),
                insert: name.into(),
                sort: "name",
                detail: format!("{detail} of {}", gateway.id.as_str()),
                doc: String::new(),
            }));
        }
    }
    out.truncate(MOST);
    Some(out)
}

/// Returns the hosts of listeners, Hosts and HTTPProxies.
fn hostnames(known: &Compilation) -> Vec<Completion> {
    let mut out: Vec<Completion> = Vec::new();
    let mut add = |name: Option<&Node>, object: &Object| {
        let Some(name) = name.and_then(Node::as_str).filter(|name| !name.is_empty() && *name != "*") else { return };
        if out.len() < MOST && !out.iter().any(|known| known.label == name) {
            let insert = if name.starts_with('*') { format!("\"{name}\"") } else { name.to_string() };
            let detail = format!("host of {} {}", object.key.kind, object.key.name);
            out.push(Completion { label: name.into(), insert, sort: "name", detail, doc: String::new() });
        }
    };
    for object in known.objects.iter().filter(|object| !object.broken) {
        match &*object.key.kind {
            "Host" => add(object.root.at(&["spec", "hostname"]), object),
            "HTTPProxy" => add(object.root.at(&["spec", "virtualhost", "fqdn"]), object),
            "Gateway" => {
                object
                    .root
                    .at(&["spec", "listeners"])
                    .and_then(Node::as_array)
                    .into_iter()
                    .flatten()
                    .for_each(|item| add(item.get("hostname"), object));
            }
            "Ingress" => {
                object.root.at(&["spec", "rules"]).and_then(Node::as_array).into_iter().flatten().for_each(|item| add(item.get("host"), object))
            }
            _ => {}
        }
    }
    out
}
