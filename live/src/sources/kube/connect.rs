//! From a kubeconfig, or a pod's own account, to a client.
//!
//! What must not be here: what is asked.

use super::settings::Settings;
use crate::Failure;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use std::path::Path;
use std::time::Duration;

/// How long the server may take to take a connection.
const CONNECT: Duration = Duration::from_secs(10);

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
            let file = std::env::var("KUBECONFIG").unwrap_or_else(|_| "~/.kube/config".into());
            (Kubeconfig::read().map_err(|error| Failure(format!("cannot read the kubeconfig {file}: {error}")))?, file)
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
