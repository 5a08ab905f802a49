//! A running Envoy whose configuration is requested: on this machine, or in a pod.
//!
//! Does not compare; see `compared`.

use crate::Unusable;
use crate::args::DriftArgs;
use chancery_live::envoys::{self, Reach, Search};
use chancery_live::sources::kube::{self, Settings};

/// The Envoy to query.
pub enum AskedEnvoy<'a> {
    /// By the address of its admin interface.
    Address(&'a str),
    /// By its pod.
    Pod {
        /// `NAMESPACE/NAME`, or with `:PORT`.
        pod: &'a str,
        /// The cluster.
        settings: Settings,
    },
}

/// Returns the Envoy that the arguments name.
pub fn asked(args: &DriftArgs) -> Option<AskedEnvoy<'_>> {
    let address = args.envoy.as_deref().map(AskedEnvoy::Address);
    address.or_else(|| {
        let settings = Settings { context: args.context.clone(), kubeconfig: args.kubeconfig.clone(), ..Settings::default() };
        Some(AskedEnvoy::Pod { pod: args.pod.as_deref()?, settings })
    })
}

impl AskedEnvoy<'_> {
    /// Its human-readable name.
    pub fn name(&self) -> String {
        match self {
            Self::Address(address) => format!("the Envoy at {address}"),
            Self::Pod { pod, .. } => format!("the Envoy in the pod {pod}"),
        }
    }

    /// Its `/config_dump`.
    pub fn dump(&self) -> Result<String, Unusable> {
        let dump = async {
            let reach = match self {
                Self::Address(address) => Reach::local(address)?,
                Self::Pod { pod, settings } => in_pod(pod, settings).await?,
            };
            envoys::config_dump(&reach).await
        };
        chancery_live::host::wait(dump).map_err(|failure| Unusable(failure.0))
    }
}

/// Returns the address of the Envoy in a pod. Detects the admin interface's port from the pod, unless it is set.
async fn in_pod(written: &str, settings: &Settings) -> Result<Reach, String> {
    let (place, port) = match written.split_once(':') {
        Some((place, port)) => (place, Some(port.parse::<u16>().map_err(|_| format!("`{port}` is no port: --pod NAMESPACE/NAME:PORT"))?)),
        None => (written, None),
    };
    let (client, own) = kube::connect(settings).await.map_err(|failure| failure.0)?;
    let (namespace, name) = place.split_once('/').map_or((own.as_str(), place), |(namespace, name)| (namespace, name));
    let port = match port {
        Some(port) => port,
        None => {
            let search = Search { namespace: Some(namespace.to_owned()), ..Search::default() };
            let found = envoys::find(&client, &search).await.map_err(|failure| failure.0)?.envoys.into_iter().find(|envoy| envoy.pod == name);
            let unknown = || {
                format!(
                    "the pod {namespace}/{name} does not run, or no Envoy was detected in it; if it is an Envoy, set the port of its admin \
                     interface: --pod {namespace}/{name}:PORT"
                )
            };
            found.ok_or_else(unknown)?.port
        }
    };
    Ok(Reach::Pod { client, namespace: namespace.to_owned(), pod: name.to_owned(), port })
}
