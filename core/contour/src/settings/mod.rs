//! Computes Contour's own configuration: flags, file and ContourConfiguration over the defaults.

pub mod access_log;
pub mod convert;

mod defaults;
mod file;
mod findings;
mod flags;
mod overlay;
mod provisioned;
mod sources;
mod start;
pub mod state;
mod validate;

#[cfg(test)]
mod tests;

pub use flags::Flags;

use super::cluster::Cluster;
use super::kinds::Kind;
use super::options::Options;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{Failure, Ledger, OwnConfiguration, State};
use chancery_base::diagnostic::Findings;
use chancery_base::resource::{Object, ObjectId};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::status::{object, text};
use chancery_text::{Node, Str, Value};
pub use provisioned::ProvisionedContour;
use validate::Fault;

/// The name of the ConfigMap whose file Contour reads.
pub(super) const CONFIG_MAP: &str = "contour";

/// The configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `spec` of a ContourConfiguration, defaults put in.
    root: Node,
    /// The settings from flags and file; `None` if a ContourConfiguration is used instead.
    spec: Option<Node>,
    /// The object that its nodes belong to.
    object: ObjectId,
    /// `--watch-namespaces`; empty for all.
    pub watch_namespaces: Vec<Str>,
    /// `--disable-feature`: resources that are not watched, such as `extensionservices`.
    pub disabled_features: Vec<Str>,
    /// Whether missing objects may be elsewhere.
    pub assumes: bool,
    /// Whether the selected Gateway is only assumed to be Contour's.
    pub assumes_gateway: bool,
}

/// The name of the configuration file in the flags: its key in the ConfigMap.
pub fn file_name(options: &Options) -> Option<Str> {
    let flags = Flags::of_serve(&options.arguments).ok()?;
    let path = flags.get("config-path")?;
    Some(Str::new(path.rsplit('/').next().unwrap_or_default()))
}

impl Settings {
    /// Reads it, as Contour does before it serves.
    pub fn load(cluster: &Cluster<'_>, options: &Options, ledger: &mut Ledger, sink: &mut Findings) -> Result<Self, Failure> {
        let flags = Flags::of_serve(&options.arguments).map_err(|error| findings::failed(sink, "flags", error.into(), None))?;
        let path = flags.get("config-path").filter(|path| !path.is_empty());
        let name = flags.get("contour-config-name").filter(|name| !name.is_empty());
        if path.is_some() && name.is_some() {
            let error = "cannot specify both --contour-config and -c/--config-path";
            return Err(findings::failed(sink, "flags", error.into(), None));
        }
        let (over, object, spec) = match name {
            Some(name) => {
                let (spec, object) = configuration(cluster, &options.namespace, name, sink)?;
                (spec, object, None)
            }
            None => {
                let (file, object) = file_and_flags(cluster, &options.namespace, &flags, ledger, sink)?;
                let spec = sources::spec(&flags, &file);
                (spec.clone(), object, Some(spec))
            }
        };
        let mut root = defaults::defaults();
        overlay::overlay(&mut root, &over);
        if let Err(Fault { error, node }) = validate::spec(&root) {
            return Err(findings::failed(sink, "serve", error, node.map(|node| (object, node.id))));
        }
        let disabled_features = flags.all("disable-feature").to_vec();
        Ok(Self {
            root,
            spec,
            object,
            watch_namespaces: flags.namespaces("watch-namespaces"),
            disabled_features,
            assumes: false,
            assumes_gateway: false,
        })
    }

    /// Whether an object of the input configures Contour, or a Gateway is named.
    pub fn is_configured(&self) -> bool {
        self.object != ObjectId::BUILT_IN || self.at("gateway.gatewayRef").exists()
    }

    /// The same settings, with missing objects assumed to be elsewhere.
    #[must_use]
    pub fn assuming(self, assumes: bool) -> Self {
        Self { assumes, ..self }
    }

    /// The same with this Gateway as Contour's.
    #[must_use]
    pub fn with_gateway(mut self, gateway: Option<&Object>) -> Self {
        if let (Some(gateway), Value::Object(root)) = (gateway, &mut self.root.value) {
            let namespace = gateway.key.namespace.as_deref().unwrap_or("default");
            let reference = object(alloc::vec![("name", text(&gateway.key.name)), ("namespace", text(namespace))]);
            root.insert("gateway", object(alloc::vec![("gatewayRef", reference)]));
            self.assumes_gateway = true;
        }
        self
    }

    /// A setting, by its path in a ContourConfiguration's `spec`.
    pub fn at(&self, path: &str) -> Cursor<'_> {
        Cursor::new(self.object, &self.root).at(path)
    }

    /// The effective settings, and those from flags and file.
    pub fn configuration(&self) -> OwnConfiguration {
        OwnConfiguration { effective: self.root.clone(), given: self.spec.clone() }
    }

    /// The settings of a Contour that the provisioner creates.
    pub fn provisioned(contour: ProvisionedContour, sink: &mut Findings) -> Result<Self, Failure> {
        let ProvisionedContour { spec, object, watch_namespaces, disabled_features } = contour;
        let mut root = defaults::defaults();
        overlay::overlay(&mut root, &spec);
        if let Err(Fault { error, node }) = validate::spec(&root) {
            return Err(findings::failed(sink, "serve", error, node.map(|node| (object, node.id))));
        }
        Ok(Self { root, spec: None, object, watch_namespaces, disabled_features, assumes: false, assumes_gateway: false })
    }
}

/// A ContourConfiguration's `spec` without values that Go's types cannot distinguish from absent ones.
pub fn tidied(spec: Option<&Node>) -> Node {
    let mut spec = spec.cloned().unwrap_or_else(defaults::empty);
    overlay::tidy(&mut spec);
    spec
}

/// `spec` of the ContourConfiguration of this name, in Contour's own namespace.
fn configuration(cluster: &Cluster<'_>, namespace: &str, name: &str, sink: &mut Findings) -> Result<(Node, ObjectId), Failure> {
    let Some(configuration) = cluster.get(Kind::ContourConfiguration, namespace, name) else {
        return Err(findings::no_configuration(cluster, namespace, name, sink));
    };
    Ok((tidied(configuration.root.get("spec")), configuration.object.id))
}

/// The file that flags lead to, checked by itself and with the flags laid over it, and the object that its nodes belong to.
fn file_and_flags(
    cluster: &Cluster<'_>,
    namespace: &str,
    flags: &Flags,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> Result<(Node, ObjectId), Failure> {
    let path = flags.get("config-path").filter(|path| !path.is_empty());
    let (file, object) = match path {
        Some(path) => read_file(cluster, namespace, path, ledger, sink)?,
        None => (defaults::empty(), ObjectId::BUILT_IN),
    };
    let format = flags.get("accesslog-format").map(|format| Node::given(format));
    let refused = |stage, words: &str, Fault { error, node }: Fault<'_>, sink: &mut Findings| {
        findings::failed(sink, stage, format!("{words}{error}"), node.map(|node| (object, node.id)))
    };
    validate::file(&file, None).map_err(|fault| refused("flags", "invalid Contour configuration: ", fault, sink))?;
    validate::file(&file, format.as_ref()).map_err(|fault| refused("invalid configuration", "", fault, sink))?;
    Ok((file, object))
}

/// The file at this path, from the ConfigMap that is mounted there.
fn read_file(cluster: &Cluster<'_>, namespace: &str, path: &str, ledger: &mut Ledger, sink: &mut Findings) -> Result<(Node, ObjectId), Failure> {
    let key = path.rsplit('/').next().unwrap_or_default();
    let map = cluster.get(Kind::ConfigMap, namespace, CONFIG_MAP);
    let Some((map, text)) = map.and_then(|map| Some((map, map.root.at(&["data", key])?))) else {
        return Err(findings::no_file(namespace, path, key, sink));
    };
    let holder = map.object.id;
    let file = cluster.files.get(&holder).copied().filter(|file| file.parent.is_some_and(|(_, node)| node == text.id));
    let object = file.map_or(holder, |file| file.id);
    if let Some(file) = file {
        ledger.set(file.id, State::Loaded);
    }
    match file::read(text.as_str().unwrap_or_default(), file) {
        Ok(root) => Ok((root, object)),
        Err(refusal) => {
            let node = refusal.node.map_or((holder, text.id), |node| (object, node));
            Err(findings::failed(sink, "flags", refusal.error, Some(node)))
        }
    }
}
