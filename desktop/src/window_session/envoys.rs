//! The calls about Envoys on this machine and in discovered pods. Does not connect to them; see `chancery_live::envoys`.

use super::{Answer, Target, WindowSession, in_thread, value};
use chancery_live::envoys::{self, Reach, Search, three_way};
use chancery_live::sources::kube::{self, Client, Settings};
use chancery_web::protocol::EnvoyAt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::Mutex;

/// The largest number of pods that the page receives.
const MOST: usize = 200;

/// Discovered pods by context. A page can reach no other pods.
#[derive(Clone, Default)]
pub(super) struct Found(Arc<Mutex<BTreeMap<String, FoundIn>>>);

/// The discovered pods of one cluster.
struct FoundIn {
    client: Client,
    /// Namespace and name.
    pods: BTreeSet<(String, String)>,
}

impl WindowSession {
    /// Finds Envoys in a cluster: in the named context, else in the followed context, else in the current context.
    pub(super) async fn find_envoys(&self, context: Option<String>, search: Search) -> Answer {
        let (context, namespace) = self.cluster(context).await?;
        let settings = Settings { context: Some(context.clone()), ..Settings::default() };
        let (client, _) = kube::connect(&settings).await.map_err(|failure| failure.0)?;
        let search = Search { namespace: search.namespace.or(namespace), ..search };
        let envoys::SearchResult { envoys: mut all, is_cut } = envoys::find(&client, &search).await.map_err(|failure| failure.0)?;
        let count = all.len();
        all.truncate(MOST);
        let pods = all.iter().map(|of| (of.namespace.clone(), of.pod.clone())).collect();
        self.found.0.lock().await.insert(context.clone(), FoundIn { client, pods });
        Ok(json!({"context": context, "namespace": search.namespace, "envoys": value(&all)?, "count": count, "is_cut": is_cut}))
    }

    /// The context to search, and the namespace that the window is limited to.
    async fn cluster(&self, named: Option<String>) -> Result<(String, Option<String>), String> {
        let followed = match &*self.open.lock().await {
            Some(open) => match &open.target {
                Target::Cluster(settings) => settings.context.clone().map(|context| (context, settings.namespace.clone())),
                Target::Folder(_) => None,
            },
            None => None,
        };
        if let Some(followed) = followed.filter(|(context, _)| named.as_ref().is_none_or(|named| named == context)) {
            return Ok(followed);
        }
        let known = in_thread(|| kube::contexts(None)).await?;
        let chosen = known.into_iter().find(|of| named.as_ref().map_or(of.current, |named| *named == of.name));
        let chosen = chosen.ok_or_else(|| match &named {
            Some(named) => format!("the kubeconfig has no context `{named}`"),
            None => "the kubeconfig has no current context; choose a context".into(),
        })?;
        match chosen.problem {
            Some(problem) => Err(format!("the context `{}` cannot be used: {problem}", chosen.name)),
            None => Ok((chosen.name, None)),
        }
    }

    pub(super) async fn reach(&self, envoy: &EnvoyAt) -> Result<Reach, String> {
        match envoy {
            EnvoyAt::Local { address } => Reach::local(address),
            EnvoyAt::Pod { context, namespace, pod, port } => {
                let found = self.found.0.lock().await;
                let of = found.get(context).filter(|of| of.pods.contains(&(namespace.clone(), pod.clone())));
                let of = of.ok_or_else(|| format!("the pod {namespace}/{pod} is not a discovered Envoy of {context}; search for Envoys first"))?;
                Ok(Reach::Pod { client: of.client.clone(), namespace: namespace.clone(), pod: pod.clone(), port: *port })
            }
        }
    }

    /// Compares the source, the served configuration and an Envoy's configuration.
    pub(super) async fn drift(&self, envoy: &EnvoyAt, gateway: Option<String>) -> Answer {
        let reach = self.reach(envoy).await?;
        let source = match &*self.open.lock().await {
            Some(open) => open.session.drift_source().ok_or("the first build is not finished; try again in a moment")?,
            None => return Err("there is no source to compare with; open a folder or connect to a cluster first".into()),
        };
        let dump = envoys::config_dump(&reach).await?;
        let compared = tokio::task::spawn_blocking(move || three_way(&source, gateway.as_deref(), &dump)).await;
        let text = compared.map_err(|error| error.to_string())?.map_err(|failure| failure.0)?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// Reads statistics of an Envoy.
    pub(super) async fn stats(&self, envoy: &EnvoyAt, filter: &str) -> Answer {
        let (stats, count) = envoys::stats(&self.reach(envoy).await?, filter).await?;
        Ok(json!({"stats": stats, "count": count}))
    }

    /// Reads the state of an Envoy.
    pub(super) async fn overview(&self, envoy: &EnvoyAt) -> Answer {
        value(&envoys::overview(&self.reach(envoy).await?).await?)
    }

    /// Reads the configuration of an Envoy as text.
    pub(super) async fn dump(&self, envoy: &EnvoyAt) -> Answer {
        envoys::config_dump(&self.reach(envoy).await?).await.map(Value::String)
    }
}
