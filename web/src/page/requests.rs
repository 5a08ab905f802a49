//! Requests that are tried: the one in the form, and those that were kept and are tried again at every edit.
//!
//! What must not be here: how they look, and what becomes of them.

use crate::engine::Engine;
use crate::link::{Silence, ask};
use crate::screen::Screen;
use crate::view::View;
use chancery_web::protocol::{Ending, Question, SavedRequest, Verdict, Way, WrittenRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Requests that are tried. Copies are the same ones.
#[derive(Clone, Copy)]
pub struct Requests {
    /// The request in the form.
    pub form: RwSignal<WrittenRequest>,
    /// Its headers as they are typed, a line each.
    pub headers: RwSignal<String>,
    /// Whether more than method and URL is shown.
    pub wide: RwSignal<bool>,
    /// What becomes of it, or why it is no request.
    pub way: RwSignal<Option<Result<Way, String>>>,
    /// Requests that were kept.
    pub saved: RwSignal<Vec<SavedRequest>>,
    /// What became of each.
    pub verdicts: RwSignal<Vec<Verdict>>,
    /// A URL that something takes, for an empty form.
    suggested: RwSignal<String>,
    engine: Engine,
    screen: Screen,
}

impl Requests {
    /// With those that were kept before.
    pub fn new(saved: Vec<SavedRequest>, engine: Engine, screen: Screen) -> Self {
        Self {
            form: RwSignal::new(WrittenRequest::default()),
            headers: RwSignal::new(String::new()),
            wide: RwSignal::new(false),
            way: RwSignal::new(None),
            saved: RwSignal::new(saved),
            verdicts: RwSignal::new(Vec::new()),
            suggested: RwSignal::new(String::new()),
            engine,
            screen,
        }
    }

    /// Those of other work.
    pub fn load(self, saved: Vec<SavedRequest>) {
        self.verdicts.set(Vec::new());
        self.way.set(None);
        self.fill(saved.first().map(|saved| saved.request.clone()).unwrap_or_default());
        self.saved.set(saved);
    }

    /// What an empty form shows: a URL of this input, if it has any.
    pub fn hint(self) -> String {
        self.suggested.with(|url| if url.is_empty() { "http://host/path".into() } else { url.clone() })
    }

    /// Puts a request into the form.
    pub fn fill(self, request: WrittenRequest) {
        self.headers.set(request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect());
        let plain = WrittenRequest { method: request.method.clone(), url: request.url.clone(), ..WrittenRequest::default() };
        if request != plain {
            self.wide.set(true);
        }
        self.form.set(request);
    }

    /// The headers were typed.
    pub fn type_headers(self, text: String) {
        let pair = |line: &str| line.split_once(':').map(|(name, value)| (name.trim().into(), value.trim().into()));
        let headers = text.lines().filter_map(pair).filter(|(name, _): &(String, String)| !name.is_empty()).collect();
        self.headers.set(text);
        self.form.update(|form| form.headers = headers);
    }

    /// The URL was typed; a `curl` command is taken whole.
    pub fn type_url(self, text: String) {
        match text.trim_start().starts_with("curl ") && text.contains("://") {
            true => self.take_curl(text),
            false => self.form.update(|form| form.url = text),
        }
    }

    /// Puts a `curl` command into the form.
    pub fn take_curl(self, command: String) {
        spawn_local(async move {
            match ask::<Option<WrittenRequest>>(Question::Curl(command)).await {
                Ok(Some(request)) => self.fill(request),
                Ok(None) => {}
                Err(Silence::Refused(why)) => self.screen.say(format!("The command cannot be read: {why}")),
                Err(Silence::Ended) => {}
            }
        });
    }

    /// Shows what becomes of a request for a route, by its place in the bootstrap.
    pub fn attempt(self, pointer: String) {
        spawn_local(async move {
            match ask::<Option<WrittenRequest>>(Question::Suggest(Some(pointer))).await {
                Ok(Some(request)) => {
                    self.fill(request);
                    self.screen.show(View::Try);
                }
                Ok(None) | Err(Silence::Refused(_)) => self.screen.say("This route takes no HTTP request"),
                Err(Silence::Ended) => {}
            }
        });
    }

    /// Keeps the request of the form: it is to end so from now on.
    pub fn keep(self, expected: Ending) {
        let saved = SavedRequest { request: self.form.get_untracked(), expected };
        self.saved.update(|all| {
            all.retain(|known| known.request != saved.request);
            all.push(saved);
        });
    }

    /// Forgets one.
    pub fn forget(self, at: usize) {
        self.saved.update(|all| {
            if at < all.len() {
                all.remove(at);
            }
        });
    }

    /// From now on it is to end as it does now.
    pub fn accept(self, at: usize) {
        let ending = self.verdicts.with_untracked(|verdicts| verdicts.get(at).and_then(|verdict| verdict.ending.clone()));
        self.saved.update(|all| {
            if let (Some(saved), Some(ending)) = (all.get_mut(at), ending) {
                saved.expected = ending;
            }
        });
    }

    /// How many do not end as expected, of how many.
    pub fn count(self) -> (usize, usize) {
        self.verdicts.with(|verdicts| (verdicts.iter().filter(|verdict| !verdict.holds).count(), verdicts.len()))
    }

    /// Tries what was kept, at each compile and whenever it changes.
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

    /// Follows the form while it is shown.
    pub fn follow(self) {
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
                    let Ok(found) = ask::<Option<WrittenRequest>>(Question::Suggest(None)).await else { return };
                    requests.suggested.set(found.as_ref().map(|request| request.url.clone()).unwrap_or_default());
                    if let Some(request) = found.filter(|_| untouched && requests.form.with_untracked(|now| *now == form)) {
                        requests.fill(request);
                    }
                });
                return;
            }
            spawn_local(async move {
                let way = match ask::<Way>(Question::Try(form.clone())).await {
                    Ok(way) => Ok(way),
                    Err(Silence::Refused(why)) => Err(why),
                    Err(Silence::Ended) => return,
                };
                // Something else was asked meanwhile.
                if requests.form.with_untracked(|now| *now == form) {
                    requests.way.set(Some(way));
                }
            });
        });
    }
}
