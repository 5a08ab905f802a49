//! What the present state is compared with: as it was opened, a state that was pinned, another tab of the browser, or a text.
//!
//! What must not be here: how a comparison looks, and what differs.

use crate::desk::Desk;
use crate::engine::Engine;
use crate::link::{Silence, ask};
use crate::storage;
use chancery_core::order::Order;
use chancery_web::protocol::{Comparison, Other, Question, Work};
use gloo_events::EventListener;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;
use web_sys::{BroadcastChannel, Event, MessageEvent};

/// What is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Against {
    /// The work as it was opened.
    Opened,
    /// The state that was pinned.
    Pinned,
    /// A tab of the browser, by its number.
    Tab(String),
    /// A text that was pasted or dropped.
    Text,
}

/// Another tab of the browser that shows this page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tab {
    /// What distinguishes it.
    pub id: String,
    /// The names of its files.
    pub title: String,
    /// What it holds.
    pub work: Work,
}

/// What is compared with. Copies are the same.
#[derive(Clone, Copy)]
pub struct Compare {
    /// Which of them.
    pub with: RwSignal<Against>,
    /// The state that was pinned.
    pub pinned: RwSignal<Option<Work>>,
    /// The text.
    pub text: RwSignal<String>,
    /// Other tabs, as far as they answered.
    pub tabs: RwSignal<Vec<Tab>>,
    /// What differs, or why it cannot be told.
    pub found: RwSignal<Option<Result<Comparison, String>>>,
    desk: Desk,
    engine: Engine,
}

impl Compare {
    /// With the pinned state, or the work as it was opened.
    pub fn new(desk: Desk, engine: Engine) -> Self {
        let pinned = storage::pinned();
        Self {
            with: RwSignal::new(if pinned.is_some() { Against::Pinned } else { Against::Opened }),
            pinned: RwSignal::new(pinned),
            text: RwSignal::new(String::new()),
            tabs: RwSignal::new(Vec::new()),
            found: RwSignal::new(None),
            desk,
            engine,
        }
    }

    /// Pins a state.
    pub fn pin(self, work: Work) {
        self.pinned.set(Some(work));
        self.with.set(Against::Pinned);
    }

    /// Takes a text to compare with.
    pub fn take(self, text: String) {
        self.text.set(text);
        self.with.set(Against::Text);
    }

    /// The other side; nothing while there is none.
    fn other(self) -> Option<Other> {
        match self.with.get() {
            Against::Opened => Some(Other::Work(self.desk.opened.get())),
            Against::Pinned => self.pinned.get().map(Other::Work),
            Against::Tab(id) => self.tabs.with(|tabs| tabs.iter().find(|tab| tab.id == id).map(|tab| Other::Work(tab.work.clone()))),
            Against::Text => self.text.with(|text| (!text.trim().is_empty()).then(|| Other::Text(text.clone()))),
        }
    }
}

/// Follows both sides while the comparison is shown.
pub fn follow(compare: Compare) {
    call_tabs(compare);
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
            // Another side was chosen meanwhile.
            if untrack(|| compare.other()).as_ref() == Some(&other) {
                compare.found.set(Some(found));
            }
        });
    });
}

/// What tabs of one browser say to each other.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TabMessage {
    /// Who is there?
    Asked,
    /// Here I am.
    Here(Tab),
}

thread_local! {
    static CHANNEL: Option<BroadcastChannel> = BroadcastChannel::new("chancery").ok();
}

fn tell(said: &TabMessage) {
    if let Ok(text) = serde_json::to_string(said) {
        CHANNEL.with(|channel| channel.as_ref().map(|channel| channel.post_message(&text.into())));
    }
}

/// Answers other tabs, and hears their answers.
pub fn listen(compare: Compare) {
    let id = format!("{:x}", (js_sys::Math::random() * 1e15) as u64);
    let heard = move |event: &Event| {
        let data = event.dyn_ref::<MessageEvent>().map(MessageEvent::data).unwrap_or_default();
        let said = data.as_string().and_then(|text| serde_json::from_str::<TabMessage>(&text).ok());
        match said {
            Some(TabMessage::Asked) => {
                let work = compare.desk.work();
                let title = work.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ");
                tell(&TabMessage::Here(Tab { id: id.clone(), title, work }));
            }
            Some(TabMessage::Here(tab)) => compare.tabs.update(|tabs| {
                tabs.retain(|known| known.id != tab.id);
                tabs.push(tab);
                tabs.order_by(|a, b| a.id.cmp(&b.id));
            }),
            None => {}
        }
    };
    // As long as the page.
    CHANNEL.with(|channel| channel.as_ref().map(|channel| EventListener::new(channel, "message", heard).forget()));
}

/// Asks other tabs who is there.
pub fn call_tabs(compare: Compare) {
    compare.tabs.set(Vec::new());
    tell(&TabMessage::Asked);
}
