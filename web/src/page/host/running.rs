//! Running Envoys: the chosen Envoy, its state, its drift, and requests to it. Does not reach an Envoy; the window does.

use super::call;
use super::message::{Drift, FoundEnvoys, Overview, RealAnswer, Stats};
use crate::link::{Silence, ask};
use chancery_web::protocol::{Call, EnvoyAt, Question, Way, WrittenRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;

/// An answer, or why it is missing. `None` if nothing was asked.
pub type CallResult<T> = Option<Result<T, String>>;

/// A real request.
#[derive(Clone, PartialEq)]
pub struct Sent {
    pub request: WrittenRequest,
    /// The simulated result, in words.
    pub simulated: String,
    pub answer: Result<RealAnswer, String>,
}

/// The running Envoys. Copies share them.
#[derive(Clone, Copy)]
pub struct Running {
    /// The Envoys of a cluster.
    pub found: RwSignal<CallResult<FoundEnvoys>>,
    pub chosen: RwSignal<Option<EnvoyAt>>,
    pub overview: RwSignal<CallResult<Overview>>,
    pub drift: RwSignal<CallResult<Drift>>,
    pub stats: RwSignal<CallResult<Stats>>,
    pub answer: RwSignal<Option<Sent>>,
    /// How many answers are pending.
    pub waiting: RwSignal<usize>,
}

impl Running {
    pub fn new() -> Self {
        Self {
            found: RwSignal::new(None),
            chosen: RwSignal::new(None),
            overview: RwSignal::new(None),
            drift: RwSignal::new(None),
            stats: RwSignal::new(None),
            answer: RwSignal::new(None),
            waiting: RwSignal::new(0),
        }
    }

    /// Clears everything for other inputs.
    pub fn forget(self) {
        self.found.set(None);
        self.leave();
    }

    /// Deselects the Envoy.
    pub fn leave(self) {
        self.chosen.set(None);
        self.overview.set(None);
        self.drift.set(None);
        self.stats.set(None);
        self.answer.set(None);
    }

    /// Calls the window and stores the answer, unless the user chose another Envoy meanwhile.
    fn ask<T: DeserializeOwned + Send + Sync + 'static>(self, what: Call, into: RwSignal<CallResult<T>>) {
        let chosen = self.chosen.get_untracked();
        self.waiting.update(|waiting| *waiting += 1);
        spawn_local(async move {
            let answer = call::<T>(&what).await;
            self.waiting.update(|waiting| *waiting -= 1);
            if self.chosen.get_untracked() == chosen {
                into.set(Some(answer));
            }
        });
    }

    /// Finds Envoys in a cluster. Ignores empty filters.
    pub fn find(self, context: String, selector: String, port: Option<u16>) {
        let non_empty = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        self.ask(Call::FindEnvoys { context: non_empty(context), namespace: None, selector: non_empty(selector), port }, self.found);
    }

    pub fn choose(self, envoy: EnvoyAt) {
        self.leave();
        self.chosen.set(Some(envoy));
        self.look();
    }

    /// Reads the state of the chosen Envoy.
    pub fn look(self) {
        if let Some(envoy) = self.chosen.get_untracked() {
            self.ask(Call::Overview { envoy }, self.overview);
        }
    }

    /// Compares the source, the served configuration and the Envoy's configuration.
    pub fn compare(self, gateway: String) {
        if let Some(envoy) = self.chosen.get_untracked() {
            self.ask(Call::Drift { envoy, gateway: Some(gateway).filter(|gateway| !gateway.is_empty()) }, self.drift);
        }
    }

    /// Reads statistics.
    pub fn ask_stats(self, filter: String) {
        if let Some(envoy) = self.chosen.get_untracked() {
            self.ask(Call::Stats { envoy, filter }, self.stats);
        }
    }

    /// Simulates a request, sends it, and stores both results.
    pub fn send(self, request: WrittenRequest) {
        let Some(envoy) = self.chosen.get_untracked() else { return };
        self.waiting.update(|waiting| *waiting += 1);
        spawn_local(async move {
            let sent = match ask::<Way>(Question::Try(request.clone())).await {
                Ok(way) => {
                    let what = Call::Send { envoy: envoy.clone(), request: Box::new(request.clone()), simulated: Box::new(way.ending) };
                    Some(Sent { answer: call(&what).await, request, simulated: way.headline })
                }
                Err(Silence::Refused(why)) => Some(Sent { request, simulated: String::new(), answer: Err(why) }),
                Err(Silence::Ended) => None,
            };
            self.waiting.update(|waiting| *waiting -= 1);
            if self.chosen.get_untracked() == Some(envoy) {
                self.answer.set(sent);
            }
        });
    }
}

/// An Envoy's display name.
pub fn name(envoy: &EnvoyAt) -> String {
    match envoy {
        EnvoyAt::Local { address } => address.clone(),
        EnvoyAt::Pod { namespace, pod, .. } => format!("{namespace}/{pod}"),
    }
}
