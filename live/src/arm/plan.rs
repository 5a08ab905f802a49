//! Computes the document for Azure, and its differences from the gateway there. Does not send it; see `apply`.

use super::certificates;
use crate::event::{Place, PlannedPart};
use chancery_core::backend::appgw::text;
use chancery_core::compare::{AppGatewaySide, Change, ChangeKind, compare_app_gateways, parts_of_others};
use chancery_core::compilation::{AppGatewayRef, Compilation, Options, SideRef};
use chancery_core::dialect::ingress::existing;
use chancery_core::dialect::ingress::options::EXISTING_GATEWAY;
use chancery_core::ir::appgw::{Document, Gateway};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// A hash of a document without the fields that Azure adds.
pub type Fingerprint = [u8; 32];

/// The tag that names the owner of a gateway, as AGIC sets it.
const MANAGED_BY: &str = "managed-by-k8s-ingress";
const CLUSTER: &str = "ingress-for-aks-cluster-id";
const UPDATED: &str = "last-updated-by-k8s-ingress";

/// A document for Azure, compared with the present gateway.
#[derive(Clone, Debug)]
pub struct Plan {
    pub gateway: String,
    /// Whether the present gateway is known.
    pub is_compared: bool,
    /// The tag of the gateway's version that the document is merged with.
    pub etag: Option<String>,
    /// The fingerprint of the planned gateway.
    pub wanted: Fingerprint,
    /// The fingerprint of the present gateway.
    pub present: Fingerprint,
    /// The parts that differ, each with its owner.
    pub parts: Vec<PlannedPart>,
    /// The number of parts that stay unchanged because others own them.
    pub kept: usize,
    /// The number of listeners of the present gateway.
    pub listeners: usize,
    /// The listeners that the plan removes.
    pub gone: Vec<String>,
    /// The listeners of the plan.
    pub wanted_listeners: BTreeSet<String>,
    /// The number of new listeners.
    pub new_listeners: usize,
    /// The other cluster that the gateway's tags name, if any.
    pub other_cluster: Option<String>,
    /// The document, in which certificates of Secrets are names.
    pub(super) document: Value,
}

impl Plan {
    /// Returns the plan of a compilation, if it has an Application Gateway.
    #[must_use]
    pub fn of(compilation: &Compilation, options: &Options) -> Option<Self> {
        let wanted = compilation.app_gateways().next()?;
        let present = existing::of(options);
        let positions = compilation.positions();
        let (before, after) = (AppGatewaySide::existing(&present), AppGatewaySide::new(wanted, &positions));
        let mut parts: Vec<PlannedPart> = compare_app_gateways(&before, &after).iter().map(part).collect();
        let mut document = document(wanted.parts);
        let shown: Value = self::document(&present);
        // Fields that only Azure writes do not belong in the document.
        let read: Value = options.text(EXISTING_GATEWAY).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let digest = certificates_of(&mut document, &read, wanted.named.of, &mut parts);
        let named = |gateway: &Value| -> BTreeSet<String> {
            let listeners = gateway["properties"]["httpListeners"].as_array().into_iter().flatten();
            listeners.filter_map(|listener| Some(listener["name"].as_str()?.to_owned())).collect()
        };
        let (had, has) = (named(&shown), named(&document));
        let cluster = |of: &Value| of["tags"][CLUSTER].as_str().map(str::to_owned);
        let other_cluster = cluster(&shown).zip(cluster(&document)).filter(|(is, wanted)| !is.eq_ignore_ascii_case(wanted)).map(|(is, _)| is);
        document["tags"][MANAGED_BY] = concat!("chancery/", env!("CARGO_PKG_VERSION")).into();
        Some(Self {
            gateway: wanted.named.id.to_string(),
            is_compared: options.text(EXISTING_GATEWAY).is_some(),
            etag: read["etag"].as_str().map(str::to_owned),
            wanted: fingerprint(&document, &digest),
            present: fingerprint(&shown, &[]),
            kept: parts_of_others(&before, &after).len(),
            parts,
            listeners: had.len(),
            gone: had.difference(&has).cloned().collect(),
            new_listeners: has.difference(&had).count(),
            wanted_listeners: has,
            other_cluster,
            document,
        })
    }

    /// Returns a hash of the planned gateway.
    #[must_use]
    pub fn version(&self) -> String {
        self.wanted.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the document for output: certificates by the names of their Secrets, and no key material of others.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut shown = self.document.clone();
        for certificate in shown["properties"]["sslCertificates"].as_array_mut().into_iter().flatten() {
            if let Some(fields) = certificate["properties"].as_object_mut() {
                fields.remove("password");
                fields.retain(|name, value| name != "data" || value.as_str().is_some_and(|data| data.starts_with("secret:")));
            }
        }
        shown
    }

    /// Returns the document with its certificates. `now` is for the tag with the time of the change.
    ///
    /// # Errors
    ///
    /// A certificate cannot be made.
    pub fn body(&self, compilation: &Compilation, now: &str) -> Result<String, String> {
        let mut body = self.document.clone();
        body["tags"][UPDATED] = now.into();
        let side = compilation.app_gateways().next().map(|gateway: AppGatewayRef<'_>| gateway.named.of);
        certificates::fill(&mut body, side.ok_or("there is no gateway in the configuration")?)?;
        serde_json::to_string(&body).map_err(|error| error.to_string())
    }
}

/// Returns the fingerprint of a gateway that was read.
#[must_use]
pub fn fingerprint_of(document: &Value) -> Fingerprint {
    let text = serde_json::to_string(document).unwrap_or_default();
    fingerprint(&self::document(&existing::load(&text, &mut Default::default())), &[])
}

fn document(gateway: &Gateway) -> Value {
    serde_json::from_str(&text(gateway, Document::Whole, false)).unwrap_or_default()
}

fn fingerprint(document: &Value, beside: &[u8]) -> Fingerprint {
    // A tag with the time of a change is not a difference.
    let bare: BTreeMap<_, _> = document.as_object().into_iter().flatten().filter(|(name, _)| *name != "tags").collect();
    Sha256::new().chain_update(serde_json::to_string(&bare).unwrap_or_default()).chain_update(beside).finalize().into()
}

/// Compares the certificates of Secrets with the public halves that Azure shows. Returns a hash of all.
fn certificates_of(document: &mut Value, read: &Value, side: SideRef<'_>, parts: &mut Vec<PlannedPart>) -> Vec<u8> {
    let mut digest = Sha256::new();
    let had = read["properties"]["sslCertificates"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (certificate, namespace, name) in certificates::of_secrets(document) {
        let chain = certificates::chain(side, &namespace, &name);
        chain.iter().for_each(|certificate| digest.update(certificate));
        let before = had.iter().find(|known| known["name"] == certificate["name"]);
        let Some(before) = before.filter(|known| known["properties"]["data"].is_null()) else { continue };
        let public = before["properties"]["publicCertData"].as_str().and_then(chancery_core::text::base64::decode).unwrap_or_default();
        let is_same = chain.first().is_some_and(|leaf| public.windows(leaf.len()).any(|window| window == leaf.as_ref()));
        let part = certificate["name"].as_str().unwrap_or_default();
        if !is_same && !parts.iter().any(|known| known.kind == "certificate" && known.name == part) {
            parts.push(PlannedPart {
                change: "changed".into(),
                kind: "certificate".into(),
                name: part.to_owned(),
                owner: "owned by the controller".into(),
                fields: vec![format!("the Secret {namespace}/{name} has another certificate than Azure")],
                places: Vec::new(),
            });
        }
    }
    digest.finalize().to_vec()
}

fn part(change: &Change) -> PlannedPart {
    let origins = if change.after.is_empty() { &change.before } else { &change.after };
    let place = |view: &chancery_core::explain::OriginView| {
        let span = view.span.as_ref()?;
        Some(Place {
            file: span.file.to_string(),
            line: span.line,
            column: span.column,
            object: view.resource.as_ref().map(ToString::to_string).unwrap_or_default(),
            field: view.path.clone().unwrap_or_default(),
        })
    };
    let field = |field: &chancery_core::compare::FieldChange| {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
        format!("{}: {} -> {}", field.path, side(&field.before), side(&field.after))
    };
    let name = match change.change {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        _ => "changed",
    };
    PlannedPart {
        change: name.into(),
        kind: change.kind.to_string(),
        name: change.name.to_string(),
        owner: change.note.clone().unwrap_or_default(),
        fields: change.fields.iter().map(field).collect(),
        places: origins.iter().filter_map(place).take(1).collect(),
    }
}
