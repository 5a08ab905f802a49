//! From a kubeconfig, or a pod's own account, to a client.
//!
//! What must not be here: what is asked.

use super::settings::Settings;
use crate::Failure;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ListParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// How long the server may take to take a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A context of the kubeconfig: names alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Its name.
    pub name: String,
    /// The name of its cluster.
    pub cluster: String,
    /// The namespace that it names.
    pub namespace: Option<String>,
    /// Whether it is the current one.
    pub current: bool,
    /// The program that gets its credentials, where there is one.
    pub plugin: Option<String>,
    /// Why it cannot be used, as far as its text tells.
    pub problem: Option<String>,
}

/// All contexts of the kubeconfig, or of all files that `KUBECONFIG` names, in their order.
///
/// # Errors
///
/// In one sentence: which file, what to do.
pub fn contexts(kubeconfig: Option<&Path>) -> Result<Vec<Context>, Failure> {
    let (read, file) = match kubeconfig {
        Some(path) => (read(path)?, path.display().to_string()),
        None => usual_kubeconfig()?,
    };
    let current = read.current_context.clone().unwrap_or_default();
    let one = |named: &kube::config::NamedContext| {
        let of = named.context.clone().unwrap_or_default();
        let user = read.auth_infos.iter().find(|known| Some(&known.name) == of.user.as_ref());
        let plugin = user.and_then(|user| user.auth_info.as_ref()?.exec.as_ref()?.command.clone());
        let missing = || plugin.as_ref().filter(|program| !is_on_path(program));
        let problem = if !read.clusters.iter().any(|cluster| cluster.name == of.cluster) {
            Some(format!("its cluster `{}` is not in {file}", of.cluster))
        } else if of.user.is_some() && user.is_none() {
            Some(format!("its user `{}` is not in {file}", of.user.clone().unwrap_or_default()))
        } else {
            missing().map(|program| format!("the program `{program}`, which gets its credentials, is not on the PATH: install it"))
        };
        Context { current: named.name == current, name: named.name.clone(), cluster: of.cluster, namespace: of.namespace, plugin, problem }
    };
    Ok(read.contexts.iter().map(one).collect())
}

/// Whether a program can be run by this name.
fn is_on_path(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// The kubeconfig of `KUBECONFIG` or the usual place, and how to name it.
fn usual_kubeconfig() -> Result<(Kubeconfig, String), Failure> {
    let file = std::env::var("KUBECONFIG").unwrap_or_else(|_| "~/.kube/config".into());
    let read = Kubeconfig::read().map_err(|error| format!("cannot read the kubeconfig {file}: {error}"))?;
    Ok((read, file))
}

/// The namespaces of a cluster, by name.
///
/// # Errors
///
/// In one sentence: the cluster cannot be asked, or we may not list namespaces.
pub async fn namespaces(settings: &Settings) -> Result<Vec<String>, Failure> {
    let (client, _) = connect(settings).await?;
    let listed = Api::<Namespace>::all(client).list_metadata(&ListParams::default()).await;
    let listed = listed.map_err(|error| super::unreachable(&error))?;
    let mut names: Vec<String> = listed.items.into_iter().filter_map(|of| of.metadata.name).collect();
    names.sort();
    Ok(names)
}

/// A client, and the namespace that its context names.
///
/// # Errors
///
/// In one sentence: which file, which context, what to do.
pub async fn connect(settings: &Settings) -> Result<(Client, String), Failure> {
    let mut config = config(settings).await?;
    config.connect_timeout = Some(CONNECT);
    let namespace = config.default_namespace.clone();
    let client = Client::try_from(config).map_err(|error| format!("cannot set up the connection to the API server: {error}"))?;
    Ok((client, namespace))
}

async fn config(settings: &Settings) -> Result<Config, Failure> {
    let options = KubeConfigOptions { context: settings.context.clone(), ..KubeConfigOptions::default() };
    let (kubeconfig, file) = match &settings.kubeconfig {
        Some(path) => (read(path)?, path.display().to_string()),
        None => {
            // What is in a cluster has its own account, unless somebody says otherwise.
            if settings.context.is_none() && std::env::var_os("KUBECONFIG").is_none() && !usual().is_some_and(|path| path.is_file()) {
                return Config::incluster()
                    .map_err(|_| Failure("there is no kubeconfig, and this is no pod: give --kubeconfig FILE, or set KUBECONFIG".into()));
            }
            usual_kubeconfig()?
        }
    };
    let contexts: Vec<String> = kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
    let current = kubeconfig.current_context.clone().filter(|name| !name.is_empty());
    if let Some(wanted) = options.context.as_ref().or(current.as_ref())
        && !contexts.contains(wanted)
    {
        return Err(format!("there is no context `{wanted}` in {file}: it has {}; choose one by --context", list(&contexts)).into());
    }
    if options.context.is_none() && current.is_none() {
        return Err(format!("{file} has no current context: choose one by --context; it has {}", list(&contexts)).into());
    }
    let named = options.context.clone().or(current).unwrap_or_default();
    let made = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    made.map_err(|error| format!("the context `{named}` in {file} cannot be used: {error}").into())
}

fn usual() -> Option<std::path::PathBuf> {
    std::env::home_dir().map(|home| home.join(".kube/config"))
}

fn read(path: &Path) -> Result<Kubeconfig, Failure> {
    if let Err(error) = std::fs::metadata(path) {
        return Err(format!("cannot read the kubeconfig {}: {error}", path.display()).into());
    }
    Kubeconfig::read_from(path).map_err(|error| format!("{} is no kubeconfig: {error}", path.display()).into())
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
