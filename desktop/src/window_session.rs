//! The state of one window: the followed inputs, and the calls of its page. Does not open windows or dialogs; see `window`.

mod alarm;
mod envoys;

pub use alarm::Alarm;

use crate::files::{Written, write_back};
use crate::recent::Recent;
use chancery_core::compilation::{Options, for_interactive_use};
use chancery_live::bootstrap::Bootstrap;
use chancery_live::engine::Settings;
use chancery_live::envoys::{Search, send};
use chancery_live::event::Events;
use chancery_live::feed::{Feed, is_shown_whole};
use chancery_live::session::Session;
use chancery_live::sources::Source;
use chancery_live::sources::folder::{Folder, Reading};
use chancery_live::sources::kube::{self, Kube};
use chancery_web::protocol::Call;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, Notify, watch};

/// The least time between two builds. A page does not need more.
const SPACING: Duration = Duration::from_millis(100);

/// The followed inputs, as the page receives them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    /// `folder` or `cluster`; empty if nothing is followed.
    pub kind: &'static str,
    pub id: u64,
    /// The display name.
    pub title: String,
    /// The address of the xDS server, if Envoys are served.
    pub xds: Option<String>,
    /// Paths that were opened before.
    pub recent: Vec<String>,
    /// A string of command line options; empty for the defaults of partial configurations.
    pub options: &'static str,
}

/// The options for complete inputs. A cluster contains every resource, and Envoys must not receive assumptions.
const WHOLE: &str = "missing=error";

/// How long an edit waits at most for the first build.
const FIRST_BUILD: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
enum Target {
    Folder(PathBuf),
    Cluster(kube::Settings),
}

impl Target {
    fn source(&self) -> Box<dyn Source> {
        match self {
            Target::Folder(path) => Box::new(Folder::new(path.clone(), Reading { with_broken: true, ..Reading::default() })),
            Target::Cluster(settings) => Box::new(Kube::new(settings.clone())),
        }
    }
}

/// The followed inputs.
struct Open {
    about: About,
    session: Session,
    target: Target,
}

impl Open {
    fn start(about: About, target: Target, alarm: &Alarm) -> Result<Self, String> {
        let options = if about.options == WHOLE { Options::default() } else { for_interactive_use(Options::default()) };
        let events = Events::default();
        tokio::spawn(alarm::follow(events.clone(), alarm.clone()));
        let settings = Settings { options, spacing: SPACING, recorder: None, events };
        let session = Session::start(settings, vec![target.source()]).map_err(|failure| failure.0)?;
        Ok(Self { about, session, target })
    }

    /// Refuses inputs that are not followed, and inputs with replaced secrets: the replacements must not reach files and Envoys.
    fn is_editable(&self, name: &str) -> Result<(), String> {
        match self.session.build().and_then(|build| is_shown_whole(&build, name)) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("the page hides secrets of {name}; edit the file in another program")),
            None => Err(format!("{name} is not one of the open files")),
        }
    }
}

/// The state of one window. Clones share it.
#[derive(Clone)]
pub struct WindowSession {
    open: Arc<Mutex<Option<Open>>>,
    /// Changes whenever the page must receive the followed inputs again.
    changes: watch::Sender<u64>,
    /// Other messages that the page has not received yet.
    messages: Arc<(std::sync::Mutex<Vec<Value>>, Notify)>,
    recent: Recent,
    /// The number of files with unsaved changes, as the page reports it.
    unsaved: Arc<AtomicU32>,
    alarm: Alarm,
    found: envoys::Found,
}

/// An answer, or an error in one sentence.
pub type Answer = Result<Value, String>;

impl WindowSession {
    /// A window that follows nothing yet. `alarm` receives sentences about new errors.
    #[must_use]
    pub fn new(recent: Recent, alarm: Alarm) -> Self {
        Self {
            open: Arc::default(),
            changes: watch::channel(0).0,
            messages: Arc::default(),
            recent,
            unsaved: Arc::default(),
            alarm,
            found: envoys::Found::default(),
        }
    }

    /// The number of files with unsaved changes.
    #[must_use]
    pub fn unsaved(&self) -> u32 {
        self.unsaved.load(Ordering::Relaxed)
    }

    /// Carries out a call of the page. Does not handle calls that need the window itself.
    ///
    /// # Errors
    ///
    /// The call failed; the error is a sentence for users.
    pub async fn call(&self, call: Call) -> Answer {
        match call {
            Call::Contexts => value(&in_thread(|| kube::contexts(None)).await?),
            Call::Namespaces { context } => {
                let settings = kube::Settings { context: Some(context), ..kube::Settings::default() };
                value(&kube::namespaces(&settings).await.map_err(|failure| failure.0)?)
            }
            Call::Connect { context, namespace } => self.connect(context, namespace).await,
            Call::Reopen { path } if self.recent.all().contains(&path) => self.open(Path::new(&path)).await,
            Call::Reopen { path } => Err(format!("{path} was not opened before; choose `Open a folder`")),
            Call::Choose { .. } => Err("only a window can open a dialog".into()),
            Call::Close => {
                *self.open.lock().await = None;
                self.announce_change();
                Ok(Value::Null)
            }
            Call::Save { name, text, was } => self.save(&name, text, was).await,
            Call::Draft { name, text } => self.draft(&name, text.as_deref()).await,
            Call::Serve { port } => self.serve(port).await,
            Call::StopServing => self.stop_serving().await,
            Call::Bootstrap => self.bootstrap().await,
            Call::Unsaved { files } => {
                self.unsaved.store(files, Ordering::Relaxed);
                Ok(Value::Null)
            }
            Call::FindEnvoys { context, namespace, selector, port } => self.find_envoys(context, Search { namespace, selector, port }).await,
            Call::Overview { envoy } => self.overview(&envoy).await,
            Call::Stats { envoy, filter } => self.stats(&envoy, &filter).await,
            Call::Dump { envoy } => self.dump(&envoy).await,
            Call::Drift { envoy, gateway } => self.drift(&envoy, gateway).await,
            Call::Send { envoy, request, simulated } => value(&send(&self.reach(&envoy).await?, &request, &simulated).await?),
        }
    }

    /// Sends a message to the page, now or when it loads.
    pub fn send(&self, message: Value) {
        self.messages.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        self.messages.1.notify_one();
    }

    /// Sends a sentence for the user, now or when the page loads.
    pub fn notice(&self, text: &str) {
        self.send(json!({"what": "notice", "text": text}));
    }

    fn take_messages(&self) -> Vec<Value> {
        std::mem::take(&mut *self.messages.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Follows a folder or a file.
    ///
    /// # Errors
    ///
    /// The path does not exist.
    pub async fn open(&self, path: &Path) -> Answer {
        let path = std::path::absolute(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        if let Err(error) = std::fs::metadata(&path) {
            return Err(format!("cannot open {}: {error}", path.display()));
        }
        self.recent.opened(&path);
        let about = About { kind: "folder", title: path.display().to_string(), ..About::default() };
        self.follow(about, Target::Folder(path)).await
    }

    /// Follows a cluster.
    ///
    /// # Errors
    ///
    /// The kubeconfig has no such context.
    pub async fn connect(&self, context: String, namespace: Option<String>) -> Answer {
        let known = in_thread(|| kube::contexts(None)).await?;
        let Some(known) = known.into_iter().find(|known| known.name == context) else {
            return Err(format!("the kubeconfig has no context `{context}`"));
        };
        if let Some(problem) = known.problem {
            return Err(format!("the context `{context}` cannot be used: {problem}"));
        }
        let title = namespace.as_ref().map_or_else(|| context.clone(), |namespace| format!("{context}, namespace {namespace}"));
        let settings = kube::Settings { context: Some(context), namespace, ..kube::Settings::default() };
        self.follow(About { kind: "cluster", title, options: WHOLE, ..About::default() }, Target::Cluster(settings)).await
    }

    async fn follow(&self, about: About, target: Target) -> Answer {
        let mut open = self.open.lock().await;
        // Free the ports of the previous session first.
        *open = None;
        let id = *self.changes.borrow() + 1;
        *open = Some(Open::start(About { id, ..about }, target, &self.alarm)?);
        self.unsaved.store(0, Ordering::Relaxed);
        drop(open);
        self.announce_change();
        Ok(Value::Null)
    }

    fn announce_change(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Writes a followed file.
    async fn save(&self, name: &str, text: String, was: String) -> Answer {
        self.first_build().await;
        let path = {
            let open = self.open.lock().await;
            let open = open.as_ref().filter(|open| matches!(open.target, Target::Folder(_))).ok_or("only files of an open folder can be saved")?;
            open.is_editable(name)?;
            PathBuf::from(name)
        };
        let written = tokio::task::spawn_blocking(move || write_back(&path, &was, &text)).await.map_err(|error| error.to_string())??;
        self.draft(name, None).await?;
        Ok(json!({"conflict": written == Written::Conflict}))
    }

    /// Waits a moment until the open source was read once. Serving it starts another read, and users continue typing.
    async fn first_build(&self) {
        let builds = self.open.lock().await.as_ref().map(|open| open.session.builds());
        if let Some(mut builds) = builds {
            let _ = tokio::time::timeout(FIRST_BUILD, builds.wait_for(Option::is_some)).await;
        }
    }

    async fn draft(&self, name: &str, text: Option<&str>) -> Answer {
        self.first_build().await;
        if let Some(open) = &*self.open.lock().await {
            if text.is_some() {
                open.is_editable(name)?;
            }
            open.session.draft(name, text);
        }
        Ok(Value::Null)
    }

    async fn serve(&self, port: u16) -> Answer {
        let mut open = self.open.lock().await;
        let current = open.as_mut().ok_or("there is nothing to serve; open a folder or connect to a cluster first")?;
        if current.about.options != WHOLE {
            *current = Open::start(About { options: WHOLE, ..current.about.clone() }, current.target.clone(), &self.alarm)?;
        }
        let address = current.session.serve_xds(port).await.map_err(|failure| failure.0)?.to_string();
        current.about.xds = Some(address.clone());
        drop(open);
        self.announce_change();
        Ok(Value::String(address))
    }

    async fn stop_serving(&self) -> Answer {
        if let Some(open) = &mut *self.open.lock().await {
            open.session.stop_xds().await;
            open.about.xds = None;
        }
        self.announce_change();
        Ok(Value::Null)
    }

    async fn bootstrap(&self) -> Answer {
        let open = self.open.lock().await;
        let xds = open.as_ref().and_then(|open| open.session.xds()).ok_or("Envoys are not served yet; choose a port first")?;
        let bootstrap = Bootstrap {
            xds: vec![xds.to_string()],
            node_id: "local".into(),
            node_cluster: "local".into(),
            admin: "127.0.0.1:8001".into(),
            delta: true,
            tls_ca: None,
            tls_cert: None,
            tls_key: None,
        };
        let made = bootstrap.json().map_err(|failure| failure.0)?;
        serde_json::to_string_pretty(&made).map(Value::String).map_err(|error| error.to_string())
    }

    /// Sends all messages to a page, until `send` returns false.
    pub async fn send_all(&self, mut send: impl FnMut(String) -> bool) {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            let (about, mut feed) = self.start_feed().await;
            if !send(session_message(&about)) {
                return;
            }
            loop {
                tokio::select! {
                    changed = changes.changed() => {
                        if changed.is_err() { return }
                        break;
                    }
                    () = self.messages.1.notified() => {
                        if !self.take_messages().into_iter().all(|message| send(message.to_string())) { return }
                    }
                    message = next(&mut feed) => match message {
                        Some(message) => if !send(message) { return },
                        None => feed = None,
                    },
                }
            }
        }
    }

    async fn start_feed(&self) -> (About, Option<Feed>) {
        let open = self.open.lock().await;
        let about = open.as_ref().map(|open| open.about.clone()).unwrap_or_default();
        (About { recent: self.recent.all(), ..about }, open.as_ref().map(|open| open.session.feed()))
    }
}

/// The followed inputs as a message.
fn session_message(about: &About) -> String {
    let mut message = serde_json::to_value(about).unwrap_or_default();
    message["what"] = "session".into();
    message.to_string()
}

async fn next(feed: &mut Option<Feed>) -> Option<String> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

fn value(of: &impl Serialize) -> Answer {
    serde_json::to_value(of).map_err(|error| error.to_string())
}

/// Runs blocking work on another thread.
async fn in_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, chancery_live::Failure> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?.map_err(|failure| failure.0)
}

#[cfg(test)]
mod tests;
