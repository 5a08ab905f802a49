//! Envoys that run, whoever serves them: the one that the person chose, how it is, what drifted, and a request that is sent to it.
//!
//! What must not be here: how anything looks (`envoys`, `real`), and reaching an Envoy; the window does.

use super::call;
use super::message::{Drift, FoundEnvoys, Overview, RealAnswer, Stats};
use crate::link::{Silence, ask};
use chancery_web::protocol::{Call, EnvoyAt, Question, Way, WrittenRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;

/// An answer, or why there is none; nothing while nothing was asked.
pub type Asked<T> = Option<Result<T, String>>;

/// A request that was sent for real.
#[derive(Clone, PartialEq)]
pub struct Sent {
    /// The request.
    pub request: WrittenRequest,
    /// What becomes of it by the simulation, in words.
    pub simulated: String,
    /// What came back.
    pub answer: Result<RealAnswer, String>,
}

/// Envoys that run. Copies are the same.
#[derive(Clone, Copy)]
pub struct Running {
    /// Those that were found in a cluster.
    pub found: RwSignal<Asked<FoundEnvoys>>,
    /// The one that the person looks at.
    pub chosen: RwSignal<Option<EnvoyAt>>,
    /// How it is.
    pub overview: RwSignal<Asked<Overview>>,
    /// What drifted.
    pub drift: RwSignal<Asked<Drift>>,
    /// Its statistics.
    pub stats: RwSignal<Asked<Stats>>,
    /// What came back from it.
    pub answer: RwSignal<Option<Sent>>,
    /// How many answers are waited for.
    pub waiting: RwSignal<usize>,
}

impl Running {
    /// With none chosen.
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

    /// Forgets all of it: something else is followed.
    pub fn forget(self) {
        self.found.set(None);
        self.leave();
    }

    /// Looks at no Envoy any more.
    pub fn leave(self) {
        self.chosen.set(None);
        self.overview.set(None);
        self.drift.set(None);
        self.stats.set(None);
        self.answer.set(None);
    }

    /// Asks the window, and puts the answer there unless another Envoy was chosen meanwhile.
    fn ask<T: DeserializeOwned + Send + Sync + 'static>(self, what: Call, into: RwSignal<Asked<T>>) {
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

    /// Looks for Envoys in a cluster. What is empty is not asked for.
    pub fn find(self, context: String, selector: String, port: Option<u16>) {
        let given = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        self.ask(Call::FindEnvoys { context: given(context), namespace: None, selector: given(selector), port }, self.found);
    }

    /// Looks at an Envoy.
    pub fn choose(self, envoy: EnvoyAt) {
        self.leave();
        self.chosen.set(Some(envoy));
        self.look();
    }

    /// Asks how the chosen Envoy is.
    pub fn look(self) {
        if let Some(envoy) = self.chosen.get_untracked() {
            self.ask(Call::Overview { envoy }, self.overview);
        }
    }

    /// Compares the source, what is served, and what the Envoy has.
    pub fn compare(self, gateway: String) {
        if let Some(envoy) = self.chosen.get_untracked() {
            self.ask(Call::Drift { envoy, gateway: Some(gateway).filter(|gateway| !gateway.is_empty()) }, self.drift);
        }
    }

    /// Asks for statistics.
    pub fn ask_stats(self, filter: String) {
        if let Some(envoy) = self.chosen.get_untracked() {
            self.ask(Call::Stats { envoy, filter }, self.stats);
        }
    }

    /// Simulates a request, sends it for real, and keeps both.
    pub fn send(self, request: WrittenRequest) {
        let Some(envoy) = self.chosen.get_untracked() else { return };
        self.waiting.update(|waiting| *waiting += 1);
        spawn_local(async move {
            let sent = match ask::<Way>(Question::Try(request.clone())).await {
                Ok(way) => {
                    let what = Call::Send { envoy: envoy.clone(), request: Box::new(request.clone()), simulated: Box::new(way.ending) };
                    Some(Sent { answer: call(&what).await, request, simulated: way.told })
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

/// An Envoy's name in sentences.
pub fn name(envoy: &EnvoyAt) -> String {
    match envoy {
        EnvoyAt::Local { address } => address.clone(),
        EnvoyAt::Pod { namespace, pod, .. } => format!("{namespace}/{pod}"),
    }
}
