//! Stores the objects that Contour watches (Contour `internal/dag/cache.go`), and looks them up. Does not interpret them; see `processor`.

use super::cluster::{Admitted, Cluster, Name};
use super::kinds::Kind;
use super::material;
use super::model::{Material, MaterialKind, PeerValidation, Port};
use super::settings::Settings;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::resource::{ObjectId, Origin, Secret, Sourced};
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::object_tables::Names;
use chancery_kubernetes::reason::Reason;
use chancery_kubernetes::secret;
use chancery_text::{Str, base64};
use hashbrown::HashSet;

/// The objects that Contour works on.
pub struct Source<'a> {
    pub cluster: &'a Cluster<'a>,
    /// Contour's configuration.
    pub settings: &'a Settings,
    /// HTTPProxies of its class.
    pub proxies: WatchedObjects<'a>,
    /// Ingresses of its class.
    pub ingresses: WatchedObjects<'a>,
    /// Secrets in the watched namespaces.
    pub secrets: BTreeMap<Name, Arc<Material>>,
    /// ConfigMaps with `ca.crt`.
    pub config_maps: BTreeMap<Name, Arc<Material>>,
    disabled: Vec<Str>,
}

/// The objects of one kind with Contour's class, in watched namespaces.
pub struct WatchedObjects<'a> {
    cluster: &'a Cluster<'a>,
    kind: Kind,
    others: HashSet<ObjectId>,
}

impl<'a> WatchedObjects<'a> {
    /// All of them, by namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &'a Admitted<'a>> {
        self.cluster.all(self.kind).filter(|object| !self.others.contains(&object.object.id))
    }

    /// The names of all objects of the kind, and the foreign objects. If both are unchanged, the names of the watched objects are too.
    pub fn selection(&self) -> (Option<&Arc<Names>>, &HashSet<ObjectId>) {
        (self.cluster.names(self.kind), &self.others)
    }

    /// One of them.
    pub fn get(&self, name: &Name) -> Option<&'a Admitted<'a>> {
        self.cluster.get(self.kind, &name.0, &name.1).filter(|object| !self.others.contains(&object.object.id))
    }
}

/// Why a certificate cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// It is in another namespace without a delegation to this one.
    DelegationNotPermitted,
    /// Contour's words.
    Other(Reason),
}

impl LookupError {
    /// Contour's words.
    pub fn message(&self) -> &str {
        match self {
            LookupError::DelegationNotPermitted => "certificate delegation not permitted",
            LookupError::Other(reason) => reason.as_str(),
        }
    }
}

/// A port by number or by name.
#[derive(Clone, Copy, Debug)]
pub enum PortRef<'a> {
    Number(i64),
    Name(&'a str),
}

impl<'a> Source<'a> {
    /// Selects the objects of this Contour; records the others in the ledger.
    pub fn new(cluster: &'a Cluster<'a>, settings: &'a Settings, ledger: &mut Ledger) -> Self {
        let classes = settings.at("ingress.classNames").texts();
        let watched = |object: &Admitted<'_>| settings.watch_namespaces.is_empty() || settings.watch_namespaces.contains(object.namespace());
        let ours = |kind: Kind, ledger: &mut Ledger| {
            let mut others = HashSet::default();
            for object in cluster.all(kind) {
                if !watched(object) {
                    ledger.set(object.object.id, State::Ignored(Why::NotWatched, "Contour does not watch its namespace".into()));
                    others.insert(object.object.id);
                    continue;
                }
                let class = class_of(object);
                let matches = if classes.is_empty() { matches!(class, "" | "contour") } else { classes.iter().any(|ours| *ours.value == *class) };
                if !matches {
                    others.insert(object.object.id);
                    let why = format!("its class is `{class}`, which is not this Contour's");
                    ledger.set(object.object.id, State::Ignored(Why::OtherController, why.into()));
                }
            }
            WatchedObjects { cluster, kind, others }
        };
        let proxies = ours(Kind::HttpProxy, ledger);
        let ingresses = ours(Kind::Ingress, ledger);
        let roots = settings.at("httpproxy.rootNamespaces").texts();
        let mut secret_namespaces: Vec<Str> = roots.iter().map(|root| root.value.clone()).collect();
        if !roots.is_empty() {
            for path in ["httpproxy.fallbackCertificate", "envoy.clientCertificate"] {
                secret_namespaces.extend(settings.at(path).field("namespace").some_str().map(Str::new));
            }
        }
        let seen = |object: &&Admitted<'_>| watched(object) && (secret_namespaces.is_empty() || secret_namespaces.contains(object.namespace()));
        let secrets = cluster.all(Kind::Secret).filter(seen).map(|object| (object.full_name(), Arc::new(secret_material(object)))).collect();
        let config_maps = cluster.all(Kind::ConfigMap).filter(|object| watched(object)).filter_map(config_map_material).collect();
        let disabled = settings.disabled_features.clone();
        Self { cluster, settings, proxies, ingresses, secrets, config_maps, disabled }
    }

    /// Whether `--disable-feature` names it: `extensionservices`, `tlsroutes`...
    pub fn is_disabled(&self, feature: &str) -> bool {
        self.disabled.iter().any(|disabled| disabled == feature)
    }

    /// The objects of a kind in watched namespaces, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &'a Admitted<'a>> {
        let watched = &self.settings.watch_namespaces;
        self.cluster.all(kind).filter(move |object| watched.is_empty() || object.namespace().is_empty() || watched.contains(object.namespace()))
    }

    /// One object in a watched namespace.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        let watched = &self.settings.watch_namespaces;
        self.cluster.get(kind, namespace, name).filter(|object| watched.is_empty() || watched.contains(object.namespace()))
    }

    /// The Gateway that it serves, if configured and present.
    pub fn gateway(&self) -> Option<&'a Admitted<'a>> {
        let at = self.settings.at("gateway.gatewayRef").some().filter(|_| !self.is_disabled("gateways"))?;
        self.get(Kind::Gateway, at.field("namespace").str(), at.field("name").str())
    }

    /// A certificate with its key, if it may be used from `target`.
    pub fn tls_secret(&self, name: &Name, target: &str) -> Result<Arc<Material>, LookupError> {
        self.permitted(name, target)?;
        self.tls_secret_of_anywhere(name)
    }

    /// A certificate with its key from any namespace: for the administrator's configuration.
    pub fn tls_secret_of_anywhere(&self, name: &Name) -> Result<Arc<Material>, LookupError> {
        let material = self.secret(name)?;
        material::check_tls(&material).map_err(LookupError::Other)?;
        Ok(material)
    }

    /// Certificates of authorities, if they may be used from `target`.
    pub fn ca_secret(&self, name: &Name, target: &str) -> Result<Arc<Material>, LookupError> {
        self.permitted(name, target)?;
        let material = self.secret(name)?;
        material::check_ca(&material).map_err(LookupError::Other)?;
        Ok(material)
    }

    /// Certificates of authorities in a ConfigMap.
    pub fn ca_config_map(&self, name: &Name) -> Result<Arc<Material>, LookupError> {
        let material = self.config_maps.get(name).ok_or_else(|| LookupError::Other("ConfigMap not found".into()))?;
        material::check_ca(material).map_err(LookupError::Other)?;
        Ok(material.clone())
    }

    /// A list of revoked certificates, if it may be used from `target`.
    pub fn crl_secret(&self, name: &Name, target: &str) -> Result<Arc<Material>, LookupError> {
        self.permitted(name, target)?;
        let material = self.secret(name)?;
        material::check_crl(&material).map_err(LookupError::Other)?;
        Ok(material)
    }

    /// Keys of tokens.
    pub fn jwks_secret(&self, name: &Name, key: &str) -> Result<Arc<Material>, LookupError> {
        let material = self.secret(name)?;
        material::check_jwks(&material, key).map_err(LookupError::Other)?;
        Ok(material)
    }

    fn secret(&self, name: &Name) -> Result<Arc<Material>, LookupError> {
        self.secrets.get(name).cloned().ok_or_else(|| LookupError::Other("Secret not found".into()))
    }

    /// How an upstream's certificate is checked.
    pub fn upstream_validation(&self, at: Cursor<'_>, ca: &Name, target: &str) -> Result<PeerValidation, LookupError> {
        let certificate = at.field("caSecret");
        let material = self.ca_secret(ca, target).map_err(|error| match error {
            LookupError::Other(reason) => LookupError::Other(format!("invalid CA Secret {}: {reason}", quoted(ca)).into()),
            other => other,
        })?;
        let Some(subject) = at.field("subjectName").text() else { return Err(LookupError::Other("missing subject alternative name".into())) };
        let mut subject_names = at.field("subjectNames").texts();
        match subject_names.first() {
            None => subject_names.push(subject),
            Some(first) if *first != subject => {
                let message = format!("first entry of SubjectNames ({}) does not match SubjectName ({})", first.value, subject.value);
                return Err(LookupError::Other(message.into()));
            }
            Some(_) => {}
        }
        Ok(PeerValidation { ca: alloc::vec![Sourced::new(material, certificate.origin())], subject_names, ..PeerValidation::default() })
    }

    fn permitted(&self, secret: &Name, target: &str) -> Result<(), LookupError> {
        if secret.0 == target {
            return Ok(());
        }
        let allows = |delegation: Cursor<'_>| {
            let targets = delegation.field("targetNamespaces");
            let everywhere = targets.len() == 1 && targets.items().all(|item| item.str() == "*");
            (everywhere || targets.items().any(|item| item.str() == target)) && delegation.field("secretName").str() == secret.1
        };
        let mut here = self.all(Kind::TlsCertificateDelegation).filter(|object| *object.namespace() == secret.0);
        let allowed = here.any(|object| object.spec().field("delegations").items().any(allows));
        if allowed { Ok(()) } else { Err(LookupError::DelegationNotPermitted) }
    }

    /// A Service with one of its TCP ports.
    pub fn service(&self, name: &Name, port: PortRef<'_>) -> Result<(&'a Admitted<'a>, Port), Reason> {
        let service = self.get(Kind::Service, &name.0, &name.1).ok_or_else(|| format!("service {} not found", quoted(name)))?;
        for item in service.spec().field("ports").items() {
            let number = item.field("port").int().unwrap_or_default();
            let its_name = item.field("name").str();
            let matches = match port {
                PortRef::Number(wanted) => {
                    number == wanted || (its_name.starts_with(|c: char| c.is_ascii_digit()) && format!("{wanted}") == its_name)
                }
                // Go reads a name that is a number as that number.
                PortRef::Name(wanted) => wanted == its_name || wanted.parse::<i64>().is_ok_and(|wanted| wanted == number),
            };
            if !matches {
                continue;
            }
            let protocol = item.field("protocol").str();
            if !matches!(protocol, "" | "TCP") {
                return Err(format!("unsupported service protocol {}", go_quoted(protocol)).into());
            }
            let target = item.field("targetPort").int_or_string().unwrap_or_else(|| format!("{number}").into());
            let port = Port { name: its_name.into(), port: number as u16, target, protocol: "TCP".into() };
            return Ok((service, port));
        }
        let wanted = match port {
            PortRef::Number(number) => format!("{number}"),
            PortRef::Name(name) => name.into(),
        };
        Err(format!("port {} on service {} not matched", go_quoted(&wanted), quoted(name)).into())
    }
}

/// A name as Contour's messages quote it, `"default/web"`.
pub fn quoted(name: &Name) -> String {
    go_quoted(&format!("{}/{}", name.0, name.1))
}

/// A name that may hold a namespace, `certs/web`; else `namespace` is its namespace.
pub fn full_name(text: &str, namespace: &str) -> Name {
    match text.split_once('/') {
        Some(("", name)) => (namespace.into(), name.into()),
        Some((namespace, name)) => (namespace.into(), name.into()),
        None => (namespace.into(), text.into()),
    }
}

/// A class: annotations before the field, Contour's own annotation first.
fn class_of<'o>(object: &'o Admitted<'_>) -> &'o str {
    if !object.may_have_class() {
        return "";
    }
    let annotated = ["projectcontour.io/ingress.class", "kubernetes.io/ingress.class"].into_iter().find_map(|name| object.annotation(name));
    match annotated.map(Cursor::str) {
        Some(class) if !class.is_empty() => class,
        _ => object.spec().field("ingressClassName").str(),
    }
}

fn secret_material(object: &Admitted<'_>) -> Material {
    let data = secret::data(object.object).into_iter().filter_map(|(key, (_, value))| {
        let bytes = base64::decode(value.expose())?;
        Some((key, Secret::new(bytes)))
    });
    Material {
        kind: MaterialKind::Secret,
        namespace: object.namespace().clone(),
        name: object.name().clone(),
        secret_type: secret::secret_type(object.object),
        data: data.collect(),
        origin: Origin::field(object.object.id, object.root.id),
        assumed: object.object.assumed,
    }
}

fn config_map_material(object: &Admitted<'_>) -> Option<(Name, Arc<Material>)> {
    let certificate = object.root().field("data").field("ca.crt").some_str()?;
    let data = BTreeMap::from([(Str::new_static("ca.crt"), Secret::new(certificate.as_bytes().to_vec()))]);
    let material = Material {
        kind: MaterialKind::ConfigMap,
        namespace: object.namespace().clone(),
        name: object.name().clone(),
        secret_type: Str::new_static("Opaque"),
        data,
        origin: Origin::field(object.object.id, object.root.id),
        assumed: object.object.assumed,
    };
    Some((object.full_name(), Arc::new(material)))
}
