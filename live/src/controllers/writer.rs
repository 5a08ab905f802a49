//! Writes to an API server by server-side apply. Fields that others own stay, unless `take_over` is set.

use crate::runtime::{Id, Object};
use crate::sources::kube::unreachable;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The field manager.
pub const MANAGER: &str = "chancery";
/// The field manager of finalizers.
const FINALIZERS: &str = "chancery-finalizers";
/// The annotation with the source of an object.
pub const BOUND: &str = "chancery.dev/bound-references";

/// A writer.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    take_over: bool,
    /// The API of each kind, as last discovered.
    resources: BTreeMap<String, ApiResource>,
}

impl Writer {
    /// Creates a writer for this server.
    #[must_use]
    pub fn new(client: Client, take_over: bool) -> Self {
        Self { client, take_over, resources: BTreeMap::new() }
    }

    async fn api(&mut self, id: &Id) -> Result<(Api<DynamicObject>, ApiResource), String> {
        let resource = match self.resources.get(&*id.kind) {
            Some(resource) => resource.clone(),
            None => {
                let resource = self.discover(&id.kind).await?.ok_or_else(|| format!("the API server does not have the kind {}", id.kind))?;
                self.resources.insert(id.kind.to_string(), resource.clone());
                resource
            }
        };
        let api = if id.namespace.is_empty() {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), &id.namespace, &resource)
        };
        Ok((api, resource))
    }

    async fn discover(&self, kind: &str) -> Result<Option<ApiResource>, String> {
        let (name, group) = kind.split_once('.').unwrap_or((kind, ""));
        let groups = self.client.list_api_groups().await.map_err(|error| unreachable(&error))?;
        let versions = groups.groups.iter().filter(|of| of.name == group).flat_map(|of| &of.versions).map(|of| of.version.clone());
        let versions: Vec<String> = if group.is_empty() { vec!["v1".into()] } else { versions.collect() };
        for version in versions {
            let listed = if group.is_empty() {
                self.client.list_core_api_resources(&version).await
            } else {
                self.client.list_api_group_resources(&format!("{group}/{version}")).await
            };
            let listed = listed.map_err(|error| unreachable(&error))?;
            if let Some(of) = listed.resources.iter().find(|of| of.kind == name && !of.name.contains('/')) {
                let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, &version, name));
                resource.plural.clone_from(&of.name);
                return Ok(Some(resource));
            }
        }
        Ok(None)
    }

    fn params(&self) -> PatchParams {
        let params = PatchParams::apply(MANAGER);
        if self.take_over { params.force() } else { params }
    }

    /// Writes a status. A deleted object has none.
    ///
    /// # Errors
    ///
    /// The write failed. The message names a missing permission.
    pub async fn status(&mut self, id: &Id, status: &Value) -> Result<(), String> {
        let (api, resource) = self.api(id).await?;
        let body = json!({"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": &*id.name}, "status": status});
        let written = api.patch_status(&id.name, &self.params(), &Patch::Apply(&body)).await;
        written.map(drop).or_else(|error| refused(id, &resource, "/status", &error))
    }

    /// Writes an object that a controller computes.
    ///
    /// # Errors
    ///
    /// See [`Writer::status`].
    pub async fn apply(&mut self, object: &Object) -> Result<(), String> {
        let (api, resource) = self.api(&object.id).await?;
        let bound: Vec<String> = object.bound.iter().map(Id::text).collect();
        let metadata = json!({"name": &*object.id.name, "labels": object.labels, "annotations": {BOUND: bound.join("\n")}});
        let body = json!({"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": object.spec});
        let written = api.patch(&object.id.name, &self.params(), &Patch::Apply(&body)).await;
        written.map(drop).or_else(|error| refused(&object.id, &resource, "", &error))
    }

    /// Writes a complete object from a controller.
    ///
    /// # Errors
    ///
    /// See [`Writer::status`].
    pub async fn write(&mut self, id: &Id, object: &Value) -> Result<(), String> {
        let (api, resource) = self.api(id).await?;
        let written = api.patch(&id.name, &self.params(), &Patch::Apply(object)).await;
        written.map(drop).or_else(|error| refused(id, &resource, "", &error))
    }

    /// Sets our finalizers of the object with this uid. Finalizers of others stay. An object that was deleted stays deleted: an apply
    /// without a uid would create it again.
    ///
    /// # Errors
    ///
    /// See [`Writer::status`].
    pub async fn finalizers(&mut self, id: &Id, uid: &str, finalizers: &[String]) -> Result<(), String> {
        let (api, resource) = self.api(id).await?;
        let metadata = json!({"name": &*id.name, "uid": uid, "finalizers": finalizers});
        let body = json!({"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata});
        // Its own field manager, because an apply replaces all fields of its manager.
        match api.patch(&id.name, &PatchParams::apply(FINALIZERS).force(), &Patch::Apply(&body)).await {
            Err(kube::Error::Api(status)) if is_another_object(status.code, &status.message) => Ok(()),
            written => written.map(drop).or_else(|error| refused(id, &resource, "", &error)),
        }
    }

    /// Returns the objects of a kind with a label. A kind that the server does not have has none.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses the request.
    pub async fn labelled(&mut self, kind: &str, label: &str, value: &str) -> Result<Vec<Value>, String> {
        let Some(resource) = self.discover(kind).await? else { return Ok(Vec::new()) };
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let listed = api.list(&ListParams::default().labels(&format!("{label}={value}"))).await.map_err(|error| unreachable(&error))?;
        Ok(listed.items.into_iter().filter_map(|object| serde_json::to_value(object).ok()).collect())
    }

    /// Deletes an object, unless it was deleted already.
    ///
    /// # Errors
    ///
    /// See [`Writer::status`].
    pub async fn delete(&mut self, id: &Id) -> Result<(), String> {
        let (api, resource) = self.api(id).await?;
        let deleted = api.delete(&id.name, &DeleteParams::default()).await;
        deleted.map(drop).or_else(|error| refused(id, &resource, "", &error))
    }
}

/// Whether the API server refuses a forced apply because of its uid: there is no object (409), or another one (422).
fn is_another_object(code: u16, message: &str) -> bool {
    code == 409 || code == 422 && message.contains("metadata.uid")
}

fn refused(id: &Id, resource: &ApiResource, part: &str, error: &kube::Error) -> Result<(), String> {
    match error {
        // It was deleted meanwhile.
        kube::Error::Api(status) if status.code == 404 => Ok(()),
        kube::Error::Api(status) if status.code == 409 => {
            Err(format!("{id} is written by another controller: {}; --take-over writes it anyway", status.message))
        }
        kube::Error::Api(status) if status.code == 403 => Err(format!(
            "{id} may not be written; the rule that is missing: apiGroups: [\"{}\"], resources: [\"{}{part}\"], verbs: [patch]",
            resource.group, resource.plural
        )),
        error => Err(unreachable(error)),
    }
}
