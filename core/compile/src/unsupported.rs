//! Recognises inputs of other programs, which no dialect reads, and names them. Does not recognise dialects; see `detect`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Dialect;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::{Input, Inputs, SourceId};
use chancery_text::{TextRange, series};

/// A kind of input that Chancery does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedInput {
    /// Its name, for example `Istio resources`.
    pub name: &'static str,
    /// The next step, if there is one.
    pub advice: Option<&'static str>,
}

const fn named(name: &'static str) -> UnsupportedInput {
    UnsupportedInput { name, advice: None }
}

const fn advised(name: &'static str, advice: &'static str) -> UnsupportedInput {
    UnsupportedInput { name, advice: Some(advice) }
}

const KUSTOMIZATION: UnsupportedInput = advised("a kustomization", "render it: `kubectl kustomize . | chancery check -`");
const VALUES: UnsupportedInput = advised("Helm values", "render the chart: `helm template CHART --values FILE | chancery check -`");
const CHART: UnsupportedInput = advised("the description of a Helm chart", "render the chart: `helm template CHART | chancery check -`");
const TEMPLATE: UnsupportedInput = advised("Helm templates", "render the chart: `helm template CHART | chancery check -`");
const WORKLOADS: UnsupportedInput = advised("workloads alone", "add the resources that route requests, for example Ingresses or HTTPRoutes");
const OTHERS: UnsupportedInput =
    advised("Kubernetes resources that route no requests", "add the resources that route requests, for example Ingresses or HTTPRoutes");
const AGENT: UnsupportedInput = advised("the configuration of a Consul agent", "use Consul's config entries and service registrations");
const NGINX: UnsupportedInput = advised("nginx configuration", "use the Ingresses that ingress-nginx reads");

/// API groups of other programs. A group includes the groups below it.
const GROUPS: &[(&str, UnsupportedInput)] = &[
    ("istio.io", named("Istio resources")),
    ("konghq.com", named("Kong resources")),
    ("traefik.io", named("Traefik resources")),
    ("traefik.containo.us", named("Traefik resources")),
    ("haproxy.org", named("HAProxy resources")),
    ("haproxy.com", named("HAProxy resources")),
    ("k8s.aws", named("AWS resources")),
    ("linkerd.io", named("Linkerd resources")),
    ("cilium.io", named("Cilium resources")),
    ("gloo.solo.io", named("Gloo resources")),
    ("nginx.org", named("resources of F5's nginx controller")),
    ("kustomize.config.k8s.io", KUSTOMIZATION),
    ("argoproj.io", advised("Argo CD resources", "render the application: `argocd app manifests NAME | chancery check -`")),
    ("fluxcd.io", advised("Flux resources", "render what they deploy: `helm template` or `kubectl kustomize`")),
    ("cert-manager.io", named("cert-manager resources")),
    ("monitoring.coreos.com", named("Prometheus resources")),
    ("apps", WORKLOADS),
    ("batch", WORKLOADS),
    ("autoscaling", WORKLOADS),
    ("apiextensions.k8s.io", named("CustomResourceDefinitions")),
    ("rbac.authorization.k8s.io", OTHERS),
    ("policy", OTHERS),
    ("storage.k8s.io", OTHERS),
    ("scheduling.k8s.io", OTHERS),
    ("admissionregistration.k8s.io", OTHERS),
    ("apiregistration.k8s.io", OTHERS),
    ("certificates.k8s.io", OTHERS),
    ("coordination.k8s.io", OTHERS),
];

/// Recognises an input by its text. Returns `None` for an input that a dialect may read.
#[must_use]
pub fn unsupported_input(text: &str) -> Option<UnsupportedInput> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return None;
    }
    let keys = TopLevel::of(text);
    if keys.has("kind") || keys.has("apiVersion") || text.contains("apiVersion:") {
        return of_resources(text, &keys);
    }
    of_files(text, &keys)
}

/// Recognises Kubernetes resources by the groups of all documents.
fn of_resources(text: &str, keys: &TopLevel<'_>) -> Option<UnsupportedInput> {
    let groups: Vec<&str> = text.lines().filter_map(version_of).map(|version| version.rsplit_once('/').map_or("", |(group, _)| group)).collect();
    let known = |group: &str| GROUPS.iter().find(|(known, _)| group == *known || group.strip_suffix(known).is_some_and(|rest| rest.ends_with('.')));
    // The core group accompanies every kind of resource.
    let mut others = groups.iter().filter(|group| !group.is_empty()).map(|group| known(group));
    match others.next() {
        Some(Some((_, first))) if others.all(|other| other.is_some()) => Some(*first),
        None if keys.has("kind") && keys.value("kind") == Some("Kustomization") => Some(KUSTOMIZATION),
        None if !keys.has("kind") && keys.value("apiVersion").is_some_and(|version| matches!(version, "v1" | "v2")) && keys.has("version") => {
            Some(CHART)
        }
        _ => None,
    }
}

/// The value of a line with an `apiVersion`.
fn version_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '-', '{', '"', ',']);
    let rest = line.strip_prefix("apiVersion")?.trim_start_matches(['"', ' ']).strip_prefix(':')?;
    rest.trim_start_matches([' ', '"', '\'']).split([' ', '"', '\'', ',', '}', '\r']).next()
}

/// Recognises files that are not Kubernetes resources.
fn of_files(text: &str, keys: &TopLevel<'_>) -> Option<UnsupportedInput> {
    if keys.has("openapi") || keys.has("swagger") {
        return Some(named("an OpenAPI description"));
    }
    if keys.has("AWSTemplateFormatVersion") {
        return Some(named("an AWS CloudFormation template"));
    }
    if keys.has("services") && (keys.has("version") || has_key(text, "image") || has_key(text, "build")) && !keys.has("service") {
        return Some(named("a Docker Compose file"));
    }
    if keys.has("resources") && (keys.has("bases") || keys.has("patches") || keys.has("namePrefix") || keys.has("commonLabels")) {
        return Some(KUSTOMIZATION);
    }
    if keys.has("entryPoints") || (keys.has("http") && has_key(text, "routers")) {
        return Some(named("Traefik configuration"));
    }
    if keys.has("jobs") && keys.has("on") {
        return Some(named("a workflow of GitHub Actions"));
    }
    let agent = ["data_dir", "bootstrap_expect", "retry_join", "client_addr", "ui_config", "encrypt", "start_join", "log_level"];
    if agent.iter().filter(|key| keys.has(key)).count() + usize::from(keys.has("datacenter")) >= 2 && !keys.has("service") && !keys.has("services") {
        return Some(AGENT);
    }
    if is_terraform(text) {
        return Some(named("Terraform configuration"));
    }
    if is_nginx(text) {
        return Some(NGINX);
    }
    if is_haproxy(text) {
        return Some(named("HAProxy configuration"));
    }
    if text.contains("{{") && ["{{ .Values", "{{- ", "{{ include", "{{.Values"].iter().any(|mark| text.contains(mark)) {
        return Some(TEMPLATE);
    }
    let values = ["replicaCount", "image", "ingress", "serviceAccount", "podAnnotations", "resources", "nodeSelector", "tolerations", "affinity"];
    if values.iter().filter(|key| keys.has(key)).count() >= 2 {
        return Some(VALUES);
    }
    is_prose(text).then(|| named("plain text"))
}

/// The keys in the first column of a text, or in the outermost object of JSON.
struct TopLevel<'t> {
    entries: Vec<(&'t str, &'t str)>,
}

impl<'t> TopLevel<'t> {
    fn of(text: &'t str) -> Self {
        let is_json = text.trim_start().starts_with('{');
        // Formatted JSON indents its outermost keys like its first key.
        let first = text.lines().map(|line| (line, line.trim_start())).find(|(_, line)| line.starts_with('"'));
        let column = first.filter(|_| is_json).map_or(0, |(line, key)| line.len() - key.len());
        let entry = |line: &'t str| {
            let rest = line.get(column..)?;
            let (before, _) = line.split_at(column);
            if !before.trim().is_empty() || rest.starts_with([' ', '\t', '#', '-']) {
                return None;
            }
            let rest = rest.trim_start_matches(['"', '\'']);
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')))?;
            let (key, after) = rest.split_at(end);
            let value = after.trim_start_matches(['"', '\'', ' ']).strip_prefix([':', '='])?;
            (!key.is_empty()).then(|| (key, value.trim().trim_matches(['"', '\'', ',', ' '])))
        };
        Self { entries: text.lines().filter_map(entry).collect() }
    }

    fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(known, _)| *known == key)
    }

    fn value(&self, key: &str) -> Option<&'t str> {
        self.entries.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }
}

/// Whether any line starts with this key.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches([' ', '-', '"', '\'', '\t']);
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
    })
}

fn is_terraform(text: &str) -> bool {
    let blocks = ["resource", "data", "provider", "module", "variable", "output", "terraform", "locals"];
    let is_block = |line: &str| {
        let Some((word, rest)) = line.split_once(' ') else { return false };
        let rest = rest.trim();
        blocks.contains(&word) && rest.ends_with('{') && (rest.starts_with('"') || matches!(word, "terraform" | "locals"))
    };
    text.lines().any(is_block)
}

fn is_nginx(text: &str) -> bool {
    let lines = || text.lines().map(str::trim);
    let opens = |words: &[&str]| lines().any(|line| line.ends_with('{') && words.iter().any(|word| line.split([' ', '{']).next() == Some(word)));
    let ends = |words: &[&str]| lines().any(|line| line.ends_with(';') && words.iter().any(|word| line.split(' ').next() == Some(word)));
    opens(&["server", "location", "http", "upstream", "events", "stream"])
        && ends(&["listen", "server_name", "proxy_pass", "root", "return", "server", "worker_connections", "include"])
}

fn is_haproxy(text: &str) -> bool {
    let starts = |words: &[&str]| text.lines().any(|line| words.iter().any(|word| line.split(' ').next() == Some(word)));
    let holds = |words: &[&str]| {
        text.lines().any(|line| line.starts_with([' ', '\t']) && words.iter().any(|word| line.split_whitespace().next() == Some(word)))
    };
    starts(&["frontend", "backend", "listen", "defaults", "global"]) && holds(&["bind", "server", "mode", "balance", "default_backend", "timeout"])
}

/// Whether a text consists of sentences: few lines have a key, a list item or a bracket.
fn is_prose(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_structure = |line: &&&str| {
        let key = line.split_once(':').is_some_and(|(key, _)| !key.trim_start_matches("- ").contains(' '));
        key || line.starts_with(['{', '}', '[', ']', '#']) || line.contains('=') || line.ends_with('{')
    };
    let structured = lines.iter().filter(is_structure).count();
    let has_sentence = lines.iter().any(|line| line.split_whitespace().count() >= 4);
    has_sentence && structured * 4 <= lines.len()
}

/// Returns the inputs that dialects may read, and a finding for each other kind of input.
pub(super) fn without_unsupported(inputs: &Inputs, dialects: &[&'static Dialect]) -> (Inputs, Vec<Diagnostic>) {
    let kinds: Vec<Option<UnsupportedInput>> = inputs.inputs.iter().map(|input| unsupported_input(&input.text)).collect();
    if kinds.iter().all(Option::is_none) {
        return (inputs.clone(), Vec::new());
    }
    let mut findings = Vec::new();
    let mut known: Vec<&'static str> = Vec::new();
    for (source, kind) in (0..).zip(&kinds) {
        let Some(UnsupportedInput { name, advice }) = kind else { continue };
        if known.contains(name) {
            continue;
        }
        known.push(name);
        let text = inputs.inputs.get(source as usize).map_or("", |input| &input.text);
        let place = Place::Text(SourceId(source), first_line(text));
        findings.push(Diagnostic::new(&codes::UNSUPPORTED_INPUT, format!("Chancery does not read {name}"), place).help(help(*advice, dialects)));
    }
    let readable = inputs.inputs.iter().zip(&kinds).map(|(input, kind)| match kind {
        Some(_) => Input { name: input.name.clone(), text: "".into() },
        None => input.clone(),
    });
    (readable.collect::<Vec<_>>().into(), findings)
}

fn help(advice: Option<&str>, dialects: &[&'static Dialect]) -> String {
    let names: Vec<&str> = dialects.iter().map(|dialect| dialect.controller).collect();
    let reads = format!("Chancery reads the resources of {}", series(&names));
    advice.map_or_else(|| reads.clone(), |advice| format!("{advice}. {reads}"))
}

/// The first line with text that is not a comment.
fn first_line(text: &str) -> TextRange {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let said = line.trim_end();
        if !said.is_empty() && !said.starts_with('#') && said != "---" {
            return TextRange { start: at, end: at + said.len() as u32 };
        }
        at += line.len() as u32;
    }
    TextRange::empty(0)
}

#[cfg(test)]
mod tests;
