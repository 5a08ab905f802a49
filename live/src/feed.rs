//! Gives a page the inputs, their changes, the states of sources and Envoys, and events. Does not render views; the page
//! compiles by itself.
//!
//! A page gets all inputs once, and then the inputs that changed. Stand-ins of the same form replace secrets before an
//! input leaves. A large change is split into messages that a page can handle between two frames.

use crate::arm::source::shown as shown_options;
use crate::connected::connected;
use crate::event::{Dated, Event, Events};
use crate::findings::served_findings;
use crate::sources::{States, Status};
use crate::worker::build::Build;
use crate::xds::clients::{Client, Clients};
use chancery_core::compilation::Options;
use chancery_core::explain::{Finding, with_stand_ins};
use chancery_core::redact::Redactor;
use chancery_core::resource::{Input, Inputs};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

/// The size in bytes at which a message is complete.
const LARGE: usize = 512 << 10;
/// The most events in a row before the states of sources and Envoys are sent.
const BURST: usize = 64;

/// A message for a page.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
enum Message<'a> {
    /// The shown sources, and the options of the compile.
    Session {
        /// The program that shows them.
        kind: &'static str,
        /// The displayed title.
        title: String,
        options: &'a Options,
    },
    /// The options of the compile changed.
    Options {
        /// With the options that sources set.
        options: &'a Options,
    },
    /// Inputs changed.
    Inputs(Change),
    /// An event happened.
    Event(&'a Dated),
    /// The states of all sources.
    Sources {
        /// By source and kind.
        sources: Vec<Status>,
    },
    /// All connected Envoys.
    Envoys {
        /// By node id.
        envoys: Vec<Client>,
        /// What they reject now.
        findings: Vec<Finding>,
    },
}

/// Inputs that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Change {
    /// Whether the page must forget all earlier inputs first.
    begins: bool,
    /// Whether this message completes the build.
    ends: bool,
    /// The version of the build.
    version: String,
    /// New inputs, and inputs with a new text.
    put: Vec<Text>,
    /// Names of removed inputs.
    gone: Vec<String>,
}

/// An input, with stand-ins for its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Text {
    name: String,
    text: String,
    /// Whether a stand-in replaces a part of the text.
    hidden: bool,
}

/// Makes the messages for one page.
pub struct Feed {
    builds: watch::Receiver<Option<Arc<Build>>>,
    events: Receiver<Dated>,
    states: States,
    clients: Clients,
    /// The inputs that the page has.
    known: BTreeMap<String, Arc<str>>,
    begun: bool,
    redactor: Redactor,
    queue: VecDeque<String>,
    /// The options of a server's compile, as the page last got them. Sources may change them.
    options: Option<Options>,
}

impl Feed {
    /// Creates a feed for a page without inputs. With options, the page first learns the shown sources and these
    /// options.
    #[must_use]
    pub fn new(builds: watch::Receiver<Option<Arc<Build>>>, events: &Events, states: States, clients: Clients, options: Option<Options>) -> Self {
        let (past, events) = events.follow();
        let mut feed = Self {
            builds,
            events,
            states,
            clients,
            known: BTreeMap::new(),
            begun: false,
            redactor: Redactor::default(),
            queue: VecDeque::new(),
            options,
        };
        if let Some(options) = feed.options.clone() {
            feed.say_session(&options);
        }
        let build = feed.builds.borrow_and_update().clone();
        if let Some(build) = build {
            feed.take(&build);
        }
        for dated in &past {
            feed.say(&Message::Event(dated));
        }
        feed.say_sources();
        feed.say_envoys();
        feed
    }

    /// Returns the next message as JSON, or `None` after the last message.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            tokio::select! {
                // A build's inputs come before events about the build.
                biased;
                changed = self.builds.changed() => {
                    changed.ok()?;
                    let build = self.builds.borrow_and_update().clone();
                    if let Some(build) = build {
                        self.take(&build);
                    }
                }
                event = self.events.recv() => match event {
                    Ok(dated) => self.happened(&dated),
                    // The present states contain the effects of missed events.
                    Err(RecvError::Lagged(_)) => {
                        self.say_sources();
                        self.say_envoys();
                    }
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    /// Sends an event and the events that wait behind it, then the affected states.
    fn happened(&mut self, first: &Dated) {
        let (mut sources, mut envoys) = (false, false);
        let mut next = Some(first.clone());
        for _ in 0..BURST {
            let Some(dated) = next else { break };
            match dated.event {
                Event::Source { .. } => sources = true,
                Event::Envoy { .. } | Event::Accepted { .. } | Event::Rejected { .. } | Event::Withheld { .. } | Event::Held { .. } => envoys = true,
                _ => {}
            }
            self.say(&Message::Event(&dated));
            next = self.events.try_recv().ok();
        }
        if sources {
            self.say_sources();
        }
        if envoys {
            self.say_envoys();
        }
    }

    fn say_session(&mut self, options: &Options) {
        let sources: std::collections::BTreeSet<String> = self.states.all().into_iter().map(|of| of.source).collect();
        let title = sources.into_iter().collect::<Vec<_>>().join(", ");
        self.say(&Message::Session { kind: "server", title, options: &shown_options(options) });
    }

    fn say_sources(&mut self) {
        let sources = self.states.all();
        self.say(&Message::Sources { sources });
    }

    fn say_envoys(&mut self) {
        let build = self.builds.borrow().clone();
        let envoys = connected(build.as_deref(), &self.clients);
        let findings = build.map(|build| served_findings(&build, &self.clients)).unwrap_or_default();
        self.say(&Message::Envoys { envoys, findings });
    }

    fn say(&mut self, message: &Message<'_>) {
        let text = serde_json::to_string(message).unwrap_or_default();
        self.queue.push_back(self.redactor.scrub(&text).into_owned());
    }

    /// Sends the inputs of a build that the page lacks.
    fn take(&mut self, build: &Build) {
        self.redactor = build.compilation.redactor();
        let now = build.compilation.sides.first().map(|side| &side.options);
        if let (Some(known), Some(now)) = (&self.options, now)
            && known != now
        {
            self.options = Some(now.clone());
            self.say(&Message::Options { options: &shown_options(now) });
        }
        for change in changes(&mut self.known, !self.begun, &build.version, inputs_of(build), &self.redactor) {
            self.say(&Message::Inputs(change));
        }
        self.begun = true;
    }
}

/// Returns the changes since the inputs were `known`, in at least one message of limited size. If several inputs have
/// one name, the last wins.
fn changes<'i>(
    known: &mut BTreeMap<String, Arc<str>>,
    begins: bool,
    version: &str,
    inputs: impl IntoIterator<Item = &'i Input>,
    redactor: &Redactor,
) -> Vec<Change> {
    let now: BTreeMap<&str, &Input> = inputs.into_iter().map(|input| (input.name.as_str(), input)).collect();
    let gone: Vec<String> = known.keys().filter(|name| !now.contains_key(name.as_str())).cloned().collect();
    gone.iter().for_each(|name| drop(known.remove(name)));
    let mut out = Vec::new();
    let mut change = Change { begins, gone, version: version.to_owned(), ..Change::default() };
    let mut size = 0;
    for (name, input) in now {
        if known.get(name).is_some_and(|text| Arc::ptr_eq(text, &input.text) || **text == *input.text) {
            continue;
        }
        known.insert(name.to_owned(), input.text.clone());
        if size >= LARGE {
            out.push(std::mem::replace(&mut change, Change { version: version.to_owned(), ..Change::default() }));
            size = 0;
        }
        let text = shown(input, redactor);
        size += text.text.len();
        change.put.push(text);
    }
    change.ends = true;
    out.push(change);
    out
}

/// Returns the inputs of a build without drafts. If several inputs have one name, the last wins.
fn inputs_of(build: &Build) -> impl DoubleEndedIterator<Item = &Input> {
    build.compilation.inputs.inputs.iter().chain(&build.beneath)
}

/// Whether a page gets an input without stand-ins, or `None` if the input is missing. An edited text with stand-ins must
/// reach neither the source nor an Envoy.
#[must_use]
pub fn is_shown_whole(build: &Build, name: &str) -> Option<bool> {
    let input = inputs_of(build).rfind(|input| input.name == name)?;
    Some(!shown(input, &build.compilation.redactor()).hidden)
}

/// Replaces the secrets of an input by stand-ins.
fn shown(input: &Input, redactor: &Redactor) -> Text {
    let safe = with_stand_ins(&Inputs::from(Vec::from([input.clone()])));
    let text = safe.inputs.first().map(|safe| safe.text.as_ref()).unwrap_or_default();
    let text = redactor.scrub(text).into_owned();
    Text { name: input.name.to_string(), hidden: *text != *input.text, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(all: &[(&str, &str)]) -> Vec<Input> {
        all.iter().map(|(name, text)| Input { name: (*name).into(), text: (*text).into() }).collect()
    }

    fn names(change: &Change) -> Vec<&str> {
        change.put.iter().map(|text| text.name.as_str()).collect()
    }

    #[test]
    fn feed_sends_only_changes_again() {
        let mut known = BTreeMap::new();
        let first = changes(&mut known, true, "1", &inputs(&[("a", "kind: A"), ("b", "kind: B")]), &Redactor::default());
        assert_eq!((first.len(), first[0].begins, first[0].ends, names(&first[0])), (1, true, true, vec!["a", "b"]));
        let second = changes(&mut known, false, "2", &inputs(&[("b", "kind: C"), ("c", "kind: D")]), &Redactor::default());
        assert_eq!((second[0].begins, names(&second[0]), second[0].gone.as_slice()), (false, vec!["b", "c"], &["a".to_owned()][..]));
        let third = changes(&mut known, false, "3", &inputs(&[("b", "kind: C"), ("c", "kind: D")]), &Redactor::default());
        assert_eq!((third.len(), names(&third[0]).len(), third[0].ends), (1, 0, true), "a page learns that the build is done");
    }

    #[test]
    fn feed_splits_large_changes() {
        let long = format!("kind: A\nspec: {}\n", "x".repeat(LARGE));
        let all: Vec<(String, &str)> = (0..3).map(|at| (format!("file-{at}"), long.as_str())).collect();
        let all: Vec<(&str, &str)> = all.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let sent = changes(&mut BTreeMap::new(), true, "1", &inputs(&all), &Redactor::default());
        let shape: Vec<_> = sent.iter().map(|change| (change.begins, change.ends, change.put.len())).collect();
        assert_eq!(shape, [(true, false, 1), (false, false, 1), (false, true, 1)]);
    }

    #[test]
    fn feed_sends_changed_options() {
        let text = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {}\n";
        let built = |given: &[(&'static str, &str)]| {
            let options = Options::of(&chancery_core::dialect::ingress::DIALECT);
            let inputs = Inputs::one("a.yaml", text);
            let options_told = given.iter().map(|(name, value)| (*name, (*value).into())).collect();
            let drained = crate::worker::intake::Drained { inputs, not_utf8: vec![Vec::new()], options: options_told, ..Default::default() };
            crate::worker::build::Builder::new(options).build(drained)
        };
        let (_sender, builds) = watch::channel(None);
        let options = Options::of(&chancery_core::dialect::ingress::DIALECT);
        let events = Events::default();
        let mut feed = Feed::new(builds, &events, States::default(), Clients::new(events.clone()), Some(options));
        assert!(feed.queue.pop_front().is_some_and(|first| first.contains("\"what\":\"session\"")));
        feed.queue.clear();
        feed.take(&built(&[]));
        assert!(!feed.queue.iter().any(|message| message.contains("\"what\":\"options\"")), "the page got no options yet");
        let gateway =
            r#"{"name": "gw", "id": "/gw", "properties": {"sslCertificates": [{"name": "c", "properties": {"password": "hunter2hunter2"}}]}}"#;
        feed.queue.clear();
        feed.take(&built(&[(chancery_core::dialect::ingress::options::EXISTING_GATEWAY, gateway)]));
        let message = feed.queue.front().cloned().expect("a message");
        assert!(message.contains("\"what\":\"options\"") && message.contains("existing-gateway"), "{message}");
        assert!(message.contains("sslCertificates") && !message.contains("hunter2"), "{message}");
    }

    #[test]
    fn feed_hides_values_of_secrets() {
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: hunter2hunter2\n";
        let sent =
            changes(&mut BTreeMap::new(), true, "1", &inputs(&[("s", secret), ("m", "kind: Mapping\n")]), &Redactor::new(["token-in-no-output"]));
        let by_name = |name: &str| sent[0].put.iter().find(|text| text.name == name).expect("it is sent");
        assert!(by_name("s").hidden && !by_name("s").text.contains("hunter2"), "{}", by_name("s").text);
        assert!(by_name("s").text.contains("password"), "names of keys stay");
        assert!(!by_name("m").hidden);
        let header = inputs(&[("h", "add_request_headers: {authorization: token-in-no-output}\n")]);
        let text = shown(&header[0], &Redactor::new(["token-in-no-output"]));
        assert!(text.hidden && !text.text.contains("token-in-no-output"), "{}", text.text);
    }
}
