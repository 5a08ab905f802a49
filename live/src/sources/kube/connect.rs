//! Creates a client from a kubeconfig or from a pod's account. Does not read resources; see `follow`.

use super::reason::innermost;
use super::settings::Settings;
use crate::Failure;
use base64ct::Encoding;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ListParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig, NamedContext};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// How long the server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A context of the kubeconfig: only names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Context {
    pub name: String,
    pub cluster: String,
    pub namespace: Option<String>,
    /// Whether it is the current context.
    pub current: bool,
    /// The program that gets its credentials, if any.
    pub plugin: Option<String>,
    /// The reason why it cannot be used, if its text shows one.
    pub problem: Option<String>,
}

/// Returns all contexts of the kubeconfig, or of all files in `KUBECONFIG`, in their order.
///
/// # Errors
///
/// One sentence that names the file and the fix.
pub fn contexts(kubeconfig: Option<&Path>) -> Result<Vec<Context>, Failure> {
    let (read, file) = match kubeconfig {
        Some(path) => (read(path)?, path.display().to_string()),
        None => usual_kubeconfig()?,
    };
    let current = read.current_context.clone().unwrap_or_default();
    let one = |named: &NamedContext| {
        let of = named.context.clone().unwrap_or_default();
        let (plugin, problem) = (plugin(&read, &of), problem(&read, &of, &file));
        Context { current: named.name == current, name: named.name.clone(), cluster: of.cluster, namespace: of.namespace, plugin, problem }
    };
    Ok(read.contexts.iter().map(one).collect())
}

/// Returns the program that gets the credentials of a context.
fn plugin(read: &Kubeconfig, of: &kube::config::Context) -> Option<String> {
    let user = read.auth_infos.iter().find(|known| Some(&known.name) == of.user.as_ref());
    user?.auth_info.as_ref()?.exec.as_ref()?.command.clone()
}

/// Returns the reason why a context cannot be used, if its text shows one.
fn problem(read: &Kubeconfig, of: &kube::config::Context, file: &str) -> Option<String> {
    let Some(cluster) = read.clusters.iter().find(|cluster| cluster.name == of.cluster) else {
        return Some(format!("its cluster `{}` is not in {file}", of.cluster));
    };
    if let Some(user) = of.user.as_ref().filter(|user| !user.is_empty() && !read.auth_infos.iter().any(|known| known.name == **user)) {
        return Some(format!("its user `{user}` is not in {file}"));
    }
    if let Some(program) = plugin(read, of).filter(|program| !is_on_path(program)) {
        return Some(format!("the program `{program}`, which gets its credentials, is not on the PATH: install it"));
    }
    let data = cluster.cluster.as_ref()?.certificate_authority_data.as_ref().filter(|data| !data.is_empty())?;
    let is_pem = base64ct::Base64::decode_vec(data.trim()).is_ok_and(|text| String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE-----"));
    (!is_pem).then(|| format!("the certificate-authority-data of its cluster `{}` is no certificate in PEM, in base64", of.cluster))
}

/// Whether `PATH` has a program of this name.
fn is_on_path(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Returns the kubeconfig from `KUBECONFIG` or the usual place, and its name for messages.
fn usual_kubeconfig() -> Result<(Kubeconfig, String), Failure> {
    let file = std::env::var("KUBECONFIG").unwrap_or_else(|_| "~/.kube/config".into());
    let read = Kubeconfig::read().map_err(|error| format!("cannot read the kubeconfig {file}: {}", innermost(&error)))?;
    Ok((read, file))
}

/// Returns the namespaces of a cluster, by name.
///
/// # Errors
///
/// One sentence: the cluster does not answer, or refuses to list namespaces.
pub async fn namespaces(settings: &Settings) -> Result<Vec<String>, Failure> {
    let (client, _) = connect(settings).await?;
    let listed = Api::<Namespace>::all(client).list_metadata(&ListParams::default()).await;
    let listed = listed.map_err(|error| super::unreachable(&error))?;
    let mut names: Vec<String> = listed.items.into_iter().filter_map(|of| of.metadata.name).collect();
    names.sort();
    Ok(names)
}

/// Returns a client, and the namespace that its context names.
///
/// # Errors
///
/// One sentence that names the file, the context, and the fix.
pub async fn connect(settings: &Settings) -> Result<(Client, String), Failure> {
    connect_to(settings).await.map(|(client, namespace, _)| (client, namespace))
}

/// Returns a client, the namespace of its context, and a description of the server.
pub(super) async fn connect_to(settings: &Settings) -> Result<(Client, String, String), Failure> {
    let (mut config, context) = config(settings).await?;
    config.connect_timeout = Some(CONNECT);
    let namespace = config.default_namespace.clone();
    let address = format!("at {}", config.cluster_url);
    let client = Client::try_from(config).map_err(|error| format!("{context} cannot be used: {}", innermost(&error)))?;
    Ok((client, namespace, address))
}

/// Returns the connection settings, and a description of their origin.
async fn config(settings: &Settings) -> Result<(Config, String), Failure> {
    let options = KubeConfigOptions { context: settings.context.clone(), ..KubeConfigOptions::default() };
    let (kubeconfig, file) = match &settings.kubeconfig {
        Some(path) => (read(path)?, path.display().to_string()),
        None => {
            // A pod uses its own account, unless the settings choose another.
            if settings.context.is_none() && std::env::var_os("KUBECONFIG").is_none() && !usual().is_some_and(|path| path.is_file()) {
                let config = Config::incluster()
                    .map_err(|_| Failure("there is no kubeconfig, and this is not a pod: give --kubeconfig FILE, or set KUBECONFIG".into()))?;
                return Ok((config, "the account of this pod".into()));
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
    let context = format!("the context `{named}` in {file}");
    let of = kubeconfig.contexts.iter().find(|context| context.name == named).and_then(|context| context.context.clone());
    if let Some(problem) = of.and_then(|of| problem(&kubeconfig, &of, &file)) {
        return Err(format!("{context} cannot be used: {problem}").into());
    }
    let made = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Ok((made.map_err(|error| format!("{context} cannot be used: {}", reason(&error)))?, context))
}

/// Describes why a context cannot be used.
fn reason(error: &kube::config::KubeconfigError) -> String {
    use kube::config::KubeconfigError::{ParseClusterUrl, ParseProxyUrl};
    match error {
        ParseClusterUrl(error) => format!("the `server` of its cluster is no URL: {error}"),
        ParseProxyUrl(error) => format!("the `proxy-url` of its cluster is no URL: {error}"),
        error => innermost(error),
    }
}

fn usual() -> Option<std::path::PathBuf> {
    std::env::home_dir().map(|home| home.join(".kube/config"))
}

fn read(path: &Path) -> Result<Kubeconfig, Failure> {
    if let Err(error) = std::fs::metadata(path) {
        return Err(format!("cannot read the kubeconfig {}: {error}", path.display()).into());
    }
    Kubeconfig::read_from(path).map_err(|error| format!("{} is no kubeconfig: {}", path.display(), innermost(&error)).into())
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
