//! What one window follows, and who carries out what its page asks.
//!
//! What must not be here: windows and dialogs; the window hands in what the person chose.

mod alarm;
mod envoys;

pub use alarm::Alarm;

use crate::files::{Written, write_back};
use crate::recent::Recent;
use chancery_core::compilation::{Options, for_people};
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

/// The least time between two builds: a page shows no more than that.
const SPACING: Duration = Duration::from_millis(100);

/// What is followed, as the page is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    /// `folder` or `cluster`; empty for nothing.
    pub kind: &'static str,
    /// What distinguishes it from what was followed before.
    pub id: u64,
    /// What people call it.
    pub title: String,
    /// Where Envoys are served, if they are.
    pub xds: Option<String>,
    /// What was opened before.
    pub recent: Vec<String>,
    /// How it is compiled, in the words of options; empty for what suits people who look at a part of a configuration.
    pub options: &'static str,
}

/// Options where nothing may be assumed: of a cluster everything is there, and what is assumed must reach no Envoy.
const WHOLE: &str = "missing=error";

/// The longest that an edit waits for the first build.
const FIRST_BUILD: Duration = Duration::from_secs(5);

/// What can be followed.
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

/// What is followed.
struct Open {
    about: About,
    session: Session,
    target: Target,
}

impl Open {
    fn start(about: About, target: Target, alarm: &Alarm) -> Result<Self, String> {
        let options = if about.options == WHOLE { Options::default() } else { for_people(Options::default()) };
        let events = Events::default();
        tokio::spawn(alarm::follow(events.clone(), alarm.clone()));
        let settings = Settings { options, spacing: SPACING, recorder: None, events };
        let session = Session::start(settings, vec![target.source()]).map_err(|failure| failure.0)?;
        Ok(Self { about, session, target })
    }

    /// Refuses inputs that are not followed, and those that the page does not see as they are: its stand-ins must reach no file and no Envoy.
    fn is_editable(&self, name: &str) -> Result<(), String> {
        match self.session.build().and_then(|build| is_shown_whole(&build, name)) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("values in {name} are hidden from the page: edit it where it lies")),
            None => Err(format!("{name} is none of the files that are open")),
        }
    }
}

/// What one window follows. Clones are the same.
#[derive(Clone)]
pub struct Desk {
    open: Arc<Mutex<Option<Open>>>,
    /// Grows whenever the page must be told again what is followed.
    turns: watch::Sender<u64>,
    /// What the page is still to be told besides.
    words: Arc<(std::sync::Mutex<Vec<Value>>, Notify)>,
    recent: Recent,
    /// How many files have changes that are not saved, as the page says.
    unsaved: Arc<AtomicU32>,
    alarm: Alarm,
    found: envoys::Found,
}

/// An answer, or one sentence that says why there is none.
pub type Answer = Result<Value, String>;

impl Desk {
    /// Follows nothing yet; `alarm` takes sentences about new errors.
    #[must_use]
    pub fn new(recent: Recent, alarm: Alarm) -> Self {
        Self {
            open: Arc::default(),
            turns: watch::channel(0).0,
            words: Arc::default(),
            recent,
            unsaved: Arc::default(),
            alarm,
            found: envoys::Found::default(),
        }
    }

    /// How many files have changes that are not saved.
    #[must_use]
    pub fn unsaved(&self) -> u32 {
        self.unsaved.load(Ordering::Relaxed)
    }

    /// Carries out what a page asks. What only a window can do is none of it.
    ///
    /// # Errors
    ///
    /// One sentence for people.
    pub async fn call(&self, call: Call) -> Answer {
        match call {
            Call::Contexts => value(&in_thread(|| kube::contexts(None)).await?),
            Call::Namespaces { context } => {
                let settings = kube::Settings { context: Some(context), ..kube::Settings::default() };
                value(&kube::namespaces(&settings).await.map_err(|failure| failure.0)?)
            }
            Call::Connect { context, namespace } => self.connect(context, namespace).await,
            Call::Reopen { path } if self.recent.all().contains(&path) => self.open(Path::new(&path)).await,
            Call::Reopen { path } => Err(format!("{path} was not opened before: open it by `Open a folder`")),
            Call::Choose { .. } => Err("only a window can let somebody choose".into()),
            Call::Close => {
                *self.open.lock().await = None;
                self.turn();
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

    /// Tells the page something, as soon as there is one.
    pub fn say(&self, message: Value) {
        self.words.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        self.words.1.notify_one();
    }

    /// Tells the person a sentence, as soon as there is a page.
    pub fn notice(&self, text: &str) {
        self.say(json!({"what": "notice", "text": text}));
    }

    fn said(&self) -> Vec<Value> {
        std::mem::take(&mut *self.words.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Follows a folder or a file.
    ///
    /// # Errors
    ///
    /// It is not there.
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
        // Ports that the one before holds are free for this one.
        *open = None;
        let id = *self.turns.borrow() + 1;
        *open = Some(Open::start(About { id, ..about }, target, &self.alarm)?);
        self.unsaved.store(0, Ordering::Relaxed);
        drop(open);
        self.turn();
        Ok(Value::Null)
    }

    fn turn(&self) {
        self.turns.send_modify(|turns| *turns += 1);
    }

    /// Only inputs that are followed can be written, and only those that are files.
    async fn save(&self, name: &str, text: String, was: String) -> Answer {
        self.first_build().await;
        let path = {
            let open = self.open.lock().await;
            let open =
                open.as_ref().filter(|open| matches!(open.target, Target::Folder(_))).ok_or("only files of a folder that is open are written")?;
            open.is_editable(name)?;
            PathBuf::from(name)
        };
        let written = tokio::task::spawn_blocking(move || write_back(&path, &was, &text)).await.map_err(|error| error.to_string())??;
        self.draft(name, None).await?;
        Ok(json!({"conflict": written == Written::Conflict}))
    }

    /// Waits until what is open was read once, for a moment: serving it reads it again, and nobody stops typing for that.
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
        let now = open.as_mut().ok_or("open a folder or connect to a cluster first: then there is something to serve")?;
        if now.about.options != WHOLE {
            *now = Open::start(About { options: WHOLE, ..now.about.clone() }, now.target.clone(), &self.alarm)?;
        }
        let address = now.session.serve_xds(port).await.map_err(|failure| failure.0)?.to_string();
        now.about.xds = Some(address.clone());
        drop(open);
        self.turn();
        Ok(Value::String(address))
    }

    async fn stop_serving(&self) -> Answer {
        if let Some(open) = &mut *self.open.lock().await {
            open.session.stop_xds().await;
            open.about.xds = None;
        }
        self.turn();
        Ok(Value::Null)
    }

    async fn bootstrap(&self) -> Answer {
        let open = self.open.lock().await;
        let xds = open.as_ref().and_then(|open| open.session.xds()).ok_or("Envoys are not served yet: choose a port first")?;
        let bootstrap = Bootstrap {
            xds: xds.to_string(),
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

    /// Hands a page what is followed, message by message, until `say` finds nobody there.
    pub async fn tell(&self, mut say: impl FnMut(String) -> bool) {
        let mut turns = self.turns.subscribe();
        loop {
            turns.borrow_and_update();
            let (about, mut feed) = self.begun().await;
            if !say(session_message(&about)) {
                return;
            }
            loop {
                tokio::select! {
                    turned = turns.changed() => {
                        if turned.is_err() { return }
                        break;
                    }
                    () = self.words.1.notified() => {
                        if !self.said().into_iter().all(|message| say(message.to_string())) { return }
                    }
                    message = next(&mut feed) => match message {
                        Some(message) => if !say(message) { return },
                        None => feed = None,
                    },
                }
            }
        }
    }

    async fn begun(&self) -> (About, Option<Feed>) {
        let open = self.open.lock().await;
        let about = open.as_ref().map(|open| open.about.clone()).unwrap_or_default();
        (About { recent: self.recent.all(), ..about }, open.as_ref().map(|open| open.session.feed()))
    }
}

/// What is followed, as a message.
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

/// Runs what reads files, away from what must go on.
async fn in_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, chancery_live::Failure> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?.map_err(|failure| failure.0)
}

#[cfg(test)]
mod tests;
