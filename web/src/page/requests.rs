//! Requests: the request in the form, and saved requests that run after every edit. Does not simulate them; see `worker`.

use crate::engine::Engine;
use crate::link::{Silence, ask};
use crate::screen::Screen;
use crate::view::View;
use chancery_web::protocol::{Destination, Ending, Question, SavedRequest, Verdict, Way, WrittenRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The requests. Copies share them.
#[derive(Clone, Copy)]
pub struct Requests {
    pub form: RwSignal<WrittenRequest>,
    /// The headers as the user types them, one per line.
    pub headers: RwSignal<String>,
    /// Whether the form shows more than method and URL.
    pub wide: RwSignal<bool>,
    /// The result, or why the request is invalid.
    pub way: RwSignal<Option<Result<Way, String>>>,
    pub saved: RwSignal<Vec<SavedRequest>>,
    /// The result of each saved request.
    pub verdicts: RwSignal<Vec<Verdict>>,
    /// Requests that succeed, for an empty form and for a first visit.
    pub suggested: RwSignal<Vec<WrittenRequest>>,
    /// The services that the shown proxy of a mesh reaches.
    pub destinations: RwSignal<Vec<Destination>>,
    engine: Engine,
    screen: Screen,
}

impl Requests {
    pub fn new(saved: Vec<SavedRequest>, engine: Engine, screen: Screen) -> Self {
        Self {
            form: RwSignal::new(WrittenRequest::default()),
            headers: RwSignal::new(String::new()),
            wide: RwSignal::new(false),
            way: RwSignal::new(None),
            saved: RwSignal::new(saved),
            verdicts: RwSignal::new(Vec::new()),
            suggested: RwSignal::new(Vec::new()),
            destinations: RwSignal::new(Vec::new()),
            engine,
            screen,
        }
    }

    /// Replaces the saved requests.
    pub fn load(self, saved: Vec<SavedRequest>) {
        self.verdicts.set(Vec::new());
        self.way.set(None);
        self.fill(saved.first().map(|saved| saved.request.clone()).unwrap_or_default());
        self.saved.set(saved);
    }

    /// The placeholder of an empty form: a URL that the input serves, if any.
    pub fn hint(self) -> String {
        self.suggested.with(|all| all.first().map_or_else(|| "http://host/path".into(), |request| request.url.clone()))
    }

    /// Fills the form.
    pub fn fill(self, request: WrittenRequest) {
        self.headers.set(request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect());
        let plain = WrittenRequest { method: request.method.clone(), url: request.url.clone(), ..WrittenRequest::default() };
        if request != plain {
            self.wide.set(true);
        }
        self.form.set(request);
    }

    /// Updates the headers.
    pub fn type_headers(self, text: String) {
        let pair = |line: &str| line.split_once(':').map(|(name, value)| (name.trim().into(), value.trim().into()));
        let headers = text.lines().filter_map(pair).filter(|(name, _): &(String, String)| !name.is_empty()).collect();
        self.headers.set(text);
        self.form.update(|form| form.headers = headers);
    }

    /// Updates the URL. A `curl` command fills the whole form, and a method may precede the URL.
    pub fn type_url(self, text: String) {
        if text.trim_start().starts_with("curl ") && text.contains("://") {
            return self.take_curl(text);
        }
        self.form.update(|form| match WrittenRequest::split_method(&text) {
            Some((method, url)) => (form.method, form.url) = (method.into(), url.into()),
            None => form.url.clone_from(&text),
        });
    }

    /// Changes a part of the form that is not the URL.
    pub fn change(self, change: impl FnOnce(&mut WrittenRequest)) {
        self.form.update(change);
        self.headers.set(self.form.with_untracked(|form| form.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()));
    }

    /// Fills the form from a `curl` command.
    pub fn take_curl(self, command: String) {
        spawn_local(async move {
            match ask::<Option<WrittenRequest>>(Question::Curl(command)).await {
                Ok(Some(request)) => self.fill(request),
                Ok(None) => {}
                Err(Silence::Refused(why)) => self.screen.say(format!("The command is invalid: {why}")),
                Err(Silence::Ended) => {}
            }
        });
    }

    /// Tries a request for the route at a pointer.
    pub fn attempt(self, pointer: String) {
        spawn_local(async move {
            match ask::<Option<WrittenRequest>>(Question::Suggest(pointer)).await {
                Ok(Some(request)) => {
                    self.fill(request);
                    self.screen.show(View::Try);
                }
                Ok(None) | Err(Silence::Refused(_)) => self.screen.say("This route matches no HTTP request"),
                Err(Silence::Ended) => {}
            }
        });
    }

    /// Saves the request with its expected result.
    pub fn keep(self, expected: Ending) {
        let saved = SavedRequest { request: self.form.get_untracked(), expected };
        self.saved.update(|all| {
            all.retain(|known| known.request != saved.request);
            all.push(saved);
        });
    }

    pub fn forget(self, at: usize) {
        self.saved.update(|all| {
            if at < all.len() {
                all.remove(at);
            }
        });
    }

    /// Changes the expectation of a saved request to its current result.
    pub fn accept(self, at: usize) {
        let ending = self.verdicts.with_untracked(|verdicts| verdicts.get(at).and_then(|verdict| verdict.ending.clone()));
        self.saved.update(|all| {
            if let (Some(saved), Some(ending)) = (all.get_mut(at), ending) {
                saved.expected = ending;
            }
        });
    }

    /// How many saved requests fail, and how many there are.
    pub fn count(self) -> (usize, usize) {
        self.verdicts.with(|verdicts| (verdicts.iter().filter(|verdict| !verdict.holds).count(), verdicts.len()))
    }

    /// Runs the saved requests after each compile and each change.
    pub fn watch(self) {
        let requests = self;
        Effect::new(move |_| {
            let (generation, saved) = (requests.engine.generation.get(), requests.saved.get());
            if generation == 0 || saved.is_empty() {
                requests.verdicts.set(Vec::new());
                return;
            }
            spawn_local(async move {
                if let Ok(verdicts) = ask::<Vec<Verdict>>(Question::Judge(saved.clone())).await
                    && requests.saved.with_untracked(|now| *now == saved)
                {
                    requests.verdicts.set(verdicts);
                }
            });
        });
    }

    /// Empties the form, which fills it with a request for the shown gateway.
    pub fn begin_anew(self) {
        self.way.set(None);
        self.wide.set(false);
        self.fill(WrittenRequest::default());
    }

    /// Reads the destinations of the shown gateway after each compile of several gateways.
    fn follow_destinations(self) {
        Effect::new(move |_| {
            if self.engine.generation.get() == 0 || self.engine.compiled.with_untracked(|compiled| compiled.gateways.len() < 2) {
                return self.destinations.set(Vec::new());
            }
            self.engine.in_a_pause(move || {
                spawn_local(async move {
                    if let Ok(found) = ask::<Vec<Destination>>(Question::Destinations).await {
                        self.destinations.set(found);
                    }
                });
            });
        });
    }

    /// Simulates the form's request while the form is visible.
    pub fn follow(self) {
        self.follow_destinations();
        let requests = self;
        Effect::new(move |_| {
            let (generation, form) = (requests.engine.generation.get(), requests.form.get());
            if generation == 0 {
                return;
            }
            let untouched = form == WrittenRequest::default();
            if untouched || form.url.trim().is_empty() {
                if !untouched {
                    requests.way.set(None);
                }
                spawn_local(async move {
                    let Ok(found) = ask::<Vec<WrittenRequest>>(Question::Suggestions).await else { return };
                    if let Some(request) = found.first().filter(|_| untouched && requests.form.with_untracked(|now| *now == form)) {
                        requests.fill(request.clone());
                    }
                    requests.suggested.set(found);
                });
                return;
            }
            spawn_local(async move {
                let way = match ask::<Way>(Question::Try(form.clone())).await {
                    Ok(way) => Ok(way),
                    Err(Silence::Refused(why)) => Err(why),
                    Err(Silence::Ended) => return,
                };
                // Ignores the answer if the form changed.
                if requests.form.with_untracked(|now| *now == form) {
                    requests.way.set(Some(way));
                }
            });
        });
    }
}
