//! Accepts or refuses each Ingress as the admission webhook does when the Ingress is created after all older Ingresses.
//!
//! ingress-nginx `internal/ingress/controller/controller.go` (`CheckIngress`, `checkOverlap`). Does not decide whether the running controller serves
//! an Ingress; see `source`.

use super::annotations::{self, PREFIX, Reading};
use super::build::build;
use super::cluster::Cluster;
use super::config_map::Read;
use super::ingress::Ingress;
use super::options::Options;
use super::source::{self, Counted, Source};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::Server;
use chancery_base::resource::ObjectId;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// The webhook's answer for an Ingress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub object: ObjectId,
    /// `NAMESPACE/NAME`
    pub ingress: Str,
    /// The webhook's message if it refuses the Ingress.
    pub refusal: Option<String>,
    /// Whether the running controller serves the Ingress.
    pub handled: bool,
    /// One message for each invalid path.
    pub warnings: Vec<String>,
}

/// The input of the webhook's checks.
pub struct Webhook<'a> {
    pub cluster: &'a Cluster<'a>,
    pub options: &'a Options,
    /// The ConfigMap's settings.
    pub read: &'a Read,
    pub source: &'a Source,
}

impl Webhook<'_> {
    /// Returns the webhook's answer for each Ingress, oldest first.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let counted: HashSet<ObjectId> = self.source.counted.iter().map(|counted| counted.ingress.object).collect();
        // The older Ingresses of each host. Only Ingresses of the same host can have the same path.
        let mut by_host: HashMap<Str, Vec<&Counted>> = HashMap::new();
        let mut of_ingress: HashMap<ObjectId, &Counted> = self.source.counted.iter().map(|counted| (counted.ingress.object, counted)).collect();
        let mut all = Vec::new();
        for ingress in &self.source.by_age {
            let older = self.older(ingress, &by_host);
            all.push(Verdict {
                object: ingress.object,
                ingress: ingress.key(),
                refusal: self.check(ingress, older).err(),
                handled: counted.contains(&ingress.object),
                warnings: invalid_paths(ingress),
            });
            if let Some(counted) = of_ingress.remove(&ingress.object) {
                let hosts: HashSet<&Str> = ingress.rules.iter().map(|rule| &rule.host.value).collect();
                hosts.into_iter().for_each(|host| by_host.entry(host.clone()).or_default().push(counted));
            }
        }
        all
    }

    /// Returns the older Ingresses that share a host with the Ingress, in the order in which the controller merges them.
    fn older(&self, ingress: &Ingress, by_host: &HashMap<Str, Vec<&Counted>>) -> Vec<Counted> {
        let mut seen: HashSet<ObjectId> = HashSet::new();
        let mut older = Vec::new();
        for host in ingress.rules.iter().map(|rule| &rule.host.value) {
            for counted in by_host.get(host).into_iter().flatten() {
                if seen.insert(counted.ingress.object) {
                    older.push((*counted).clone());
                }
            }
        }
        older.sort_by(|a, b| a.ingress.created.cmp(&b.ingress.created).then_with(|| b.ingress.key().cmp(&a.ingress.key())));
        older
    }

    fn check(&self, ingress: &Arc<Ingress>, mut older: Vec<Counted>) -> Result<(), String> {
        let (options, globals) = (self.options, &self.read.globals);
        if options.inspects {
            source::inspect(ingress).map_err(|dropped| format!("invalid object: {}", dropped.message))?;
        }
        if source::class(ingress, self.cluster, options).is_err() || !options.watches(&ingress.namespace) {
            return Ok(());
        }
        if options.disables_catch_all && ingress.default_backend.is_some() {
            return Err("this deployment is trying to create a catch-all ingress while DisableCatchAll flag is set to true. Remove \
                        '.spec.defaultBackend' or set DisableCatchAll flag to false"
                .into());
        }
        if globals.flag("strict-validate-path-type").value {
            let invalid = invalid_paths(ingress);
            if !invalid.is_empty() {
                return Err(format!("ingress contains invalid paths: {}", invalid.join("\n")));
            }
        }
        self.check_names(ingress)?;
        let reading = Reading::new(ingress, self.cluster, globals);
        let extracted = annotations::extract(&reading).map_err(|dropped| dropped.message)?;
        older.push(Counted::new(ingress.clone(), extracted));
        let built = build(self.cluster, options, self.read, &older);
        check_overlap(ingress, &built.nginx.servers, &older)
    }

    /// Checks annotations for other prefixes, forbidden words and forbidden snippets.
    fn check_names(&self, ingress: &Ingress) -> Result<(), String> {
        let (options, globals) = (self.options, &self.read.globals);
        let words = globals.text("annotation-value-word-blocklist");
        let prefix = format!("{}/", options.annotations_prefix);
        for (name, value) in ingress.annotations.all() {
            if options.annotations_prefix != PREFIX && name.starts_with(&format!("{PREFIX}/")) {
                return Err(format!(
                    "this deployment has a custom annotation prefix defined. Use '{}' instead of '{PREFIX}'",
                    options.annotations_prefix
                ));
            }
            if name.starts_with(&prefix)
                && !words.is_empty()
                && let Some(word) = words.trim().split(',').find(|word| value.contains(word.trim()))
            {
                return Err(format!("{name} annotation contains invalid word {word}"));
            }
            if !globals.flag("allow-snippet-annotations").value && name.ends_with("-snippet") {
                return Err(format!("{name} annotation cannot be used. Snippet directives are disabled by the Ingress administrator"));
            }
        }
        Ok(())
    }
}

/// Returns a message for each path with characters that only the type `ImplementationSpecific` allows.
pub fn invalid_paths(ingress: &Ingress) -> Vec<String> {
    let is_valid = |text: &str| text.starts_with('/') && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let wrong = ingress.paths().filter(|(_, path)| path.is_written && !path.is_implementation_specific && !is_valid(&path.path));
    let kind = |path: &super::ingress::Path| if path.written_type.is_empty() { Str::new_static("<nil>") } else { path.written_type.clone() };
    wrong.map(|(_, path)| format!("path {} cannot be used with pathType {}", path.path.value, kind(path))).collect()
}

/// Checks that no other Ingress already has a host and path of the Ingress.
fn check_overlap(ingress: &Ingress, servers: &[Arc<Server>], all: &[Counted]) -> Result<(), String> {
    let canary_of = |ingress: &Ingress| ingress.annotations.flag("canary");
    let own = canary_of(ingress);
    for (host, path) in ingress.paths().filter(|(_, path)| path.backend.service.is_some()) {
        let Some(server) = servers.iter().find(|server| server.host.value == host.value) else { continue };
        let same = server.locations.iter().filter(|location| location.path.value == path.path.value && !location.is_default);
        for location in same {
            let Some(key) = location.ingress_key().filter(|key| *key != ingress.key()) else { continue };
            let Some(other) = all.iter().find(|counted| counted.ingress.key() == key) else { continue };
            let theirs = canary_of(&other.ingress);
            let both_are = matches!((&own, &theirs), (Ok(own), Ok(theirs)) if own.value && theirs.value);
            let neither_says = matches!((&own, &theirs), (Err(annotations::Fault::Missing), Err(annotations::Fault::Missing)));
            if both_are || neither_says {
                return Err(format!("host \"{}\" and path \"{}\" is already defined in ingress {key}", host.value, path.path.value));
            }
        }
    }
    Ok(())
}
