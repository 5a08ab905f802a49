//! What to compare the current work with: the opened work, a pinned state, another browser tab, a text, or the work itself after a move to another
//! controller. Does not find the differences; see `worker`.

use crate::engine::Engine;
use crate::link::{Silence, ask};
use crate::storage;
use crate::workspace::Workspace;
use chancery_web::protocol::{Comparison, Migration, NewController, Other, Question, Work};
use gloo_events::EventListener;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;
use web_sys::{BroadcastChannel, Event, MessageEvent};

#[derive(Clone, Debug, PartialEq)]
pub enum CompareTarget {
    /// The work as it was opened.
    Opened,
    Pinned,
    /// A browser tab, by its id.
    Tab(String),
    /// A pasted or dropped text.
    Text,
    /// The work, converted for another controller.
    Moved(NewController),
}

/// Another browser tab that shows this page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tab {
    pub id: String,
    /// The names of its files.
    pub title: String,
    pub work: Work,
}

/// The comparison. Copies share it.
#[derive(Clone, Copy)]
pub struct Compare {
    pub with: RwSignal<CompareTarget>,
    pub pinned: RwSignal<Option<Work>>,
    pub text: RwSignal<String>,
    /// The tabs that answered.
    pub tabs: RwSignal<Vec<Tab>>,
    /// The differences, or why they are unknown.
    pub found: RwSignal<Option<Result<Comparison, String>>>,
    /// The new controller, with the converted work and its differences, or why there are none.
    pub moved: RwSignal<Option<(NewController, Result<Migration, String>)>>,
    workspace: Workspace,
    engine: Engine,
}

impl Compare {
    /// Compares with the pinned state, or with the opened work.
    pub fn new(workspace: Workspace, engine: Engine) -> Self {
        let pinned = storage::pinned();
        Self {
            with: RwSignal::new(if pinned.is_some() { CompareTarget::Pinned } else { CompareTarget::Opened }),
            pinned: RwSignal::new(pinned),
            text: RwSignal::new(String::new()),
            tabs: RwSignal::new(Vec::new()),
            found: RwSignal::new(None),
            moved: RwSignal::new(None),
            workspace,
            engine,
        }
    }

    pub fn pin(self, work: Work) {
        self.pinned.set(Some(work));
        self.with.set(CompareTarget::Pinned);
    }

    /// Compares with a text.
    pub fn take(self, text: String) {
        self.text.set(text);
        self.with.set(CompareTarget::Text);
    }

    /// The other state, if any.
    fn other(self) -> Option<Other> {
        match self.with.get() {
            CompareTarget::Opened => Some(Other::Work(self.workspace.opened.get())),
            CompareTarget::Pinned => self.pinned.get().map(Other::Work),
            CompareTarget::Tab(id) => self.tabs.with(|tabs| tabs.iter().find(|tab| tab.id == id).map(|tab| Other::Work(tab.work.clone()))),
            CompareTarget::Moved(_) => None,
            CompareTarget::Text => self.text.with(|text| (!text.trim().is_empty()).then(|| Other::Text(text.clone()))),
        }
    }
}

/// Compares again when either state changes, while the comparison is visible.
pub fn follow(compare: Compare) {
    call_tabs(compare);
    Effect::new(move |_| {
        let CompareTarget::Moved(to) = compare.with.get() else {
            compare.moved.set(None);
            return;
        };
        if compare.engine.generation.get() == 0 {
            return;
        }
        spawn_local(async move {
            let moved = match ask::<Migration>(Question::Move(to)).await {
                Ok(moved) => Ok(moved),
                Err(Silence::Refused(why)) => Err(why),
                Err(Silence::Ended) => return,
            };
            if compare.with.get_untracked() == CompareTarget::Moved(to) {
                compare.moved.set(Some((to, moved)));
            }
        });
    });
    Effect::new(move |_| {
        let (generation, other) = (compare.engine.generation.get(), compare.other());
        let Some(other) = other.filter(|_| generation > 0) else {
            compare.found.set(None);
            return;
        };
        spawn_local(async move {
            let found = match ask::<Comparison>(Question::Compare(other.clone())).await {
                Ok(found) => Ok(found),
                Err(Silence::Refused(why)) => Err(why),
                Err(Silence::Ended) => return,
            };
            // Ignores the answer if the user chose another state.
            if untrack(|| compare.other()).as_ref() == Some(&other) {
                compare.found.set(Some(found));
            }
        });
    });
}

/// A message between tabs of one browser.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TabMessage {
    /// Asks the other tabs to answer.
    Asked,
    Here(Tab),
}

thread_local! {
    static CHANNEL: Option<BroadcastChannel> = BroadcastChannel::new("chancery").ok();
}

fn send(message: &TabMessage) {
    if let Ok(text) = serde_json::to_string(message) {
        CHANNEL.with(|channel| channel.as_ref().map(|channel| channel.post_message(&text.into())));
    }
}

/// Answers other tabs and collects their answers.
pub fn listen(compare: Compare) {
    let id = format!("{:x}", (js_sys::Math::random() * 1e15) as u64);
    let heard = move |event: &Event| {
        let data = event.dyn_ref::<MessageEvent>().map(MessageEvent::data).unwrap_or_default();
        let said = data.as_string().and_then(|text| serde_json::from_str::<TabMessage>(&text).ok());
        match said {
            Some(TabMessage::Asked) => {
                let work = compare.workspace.work();
                let title = work.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ");
                send(&TabMessage::Here(Tab { id: id.clone(), title, work }));
            }
            Some(TabMessage::Here(tab)) => compare.tabs.update(|tabs| {
                tabs.retain(|known| known.id != tab.id);
                tabs.push(tab);
                tabs.sort_by(|a, b| a.id.cmp(&b.id));
            }),
            None => {}
        }
    };
    // The listener lives as long as the page.
    CHANNEL.with(|channel| channel.as_ref().map(|channel| EventListener::new(channel, "message", heard).forget()));
}

/// Asks the other tabs to answer.
pub fn call_tabs(compare: Compare) {
    compare.tabs.set(Vec::new());
    send(&TabMessage::Asked);
}
