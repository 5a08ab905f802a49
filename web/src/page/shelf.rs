//! What the browser keeps: the work as it stands, what was put aside, the pinned state, and what can be undone.
//!
//! What must not be here: the storage itself, and what may be secret; the worker takes that out.

use crate::address;
use crate::compare::Compare;
use crate::desk::Desk;
use crate::link::ask;
use crate::requests::Requests;
use crate::screen::Screen;
use crate::storage::{self, Session};
use chancery_web::protocol::{Kept, Question, SavedRequest, SourceFile, Work};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Work that has just come, or gone, and what was there before.
#[derive(Clone, PartialEq)]
pub struct Arrival {
    /// The work before.
    pub before: Session,
    /// Whether everything was cleared.
    pub cleared: bool,
    /// Files that could not be read, by name, each with the reason.
    pub unread: Vec<String>,
}

/// What is kept. Copies are the same.
#[derive(Clone, Copy)]
pub struct Shelf {
    /// What came last, until the person goes on.
    pub arrival: RwSignal<Option<Arrival>>,
    desk: Desk,
    requests: Requests,
    compare: Compare,
    screen: Screen,
    /// Whether there is work that is not kept yet.
    unkept: StoredValue<bool>,
}

impl Shelf {
    /// With nothing to undo.
    pub fn new(desk: Desk, requests: Requests, compare: Compare, screen: Screen) -> Self {
        Self { arrival: RwSignal::new(None), desk, requests, compare, screen, unkept: StoredValue::new(false) }
    }

    /// The work with the requests that were kept.
    pub fn session(self) -> Session {
        Session::now(self.desk.work(), self.requests.saved.get_untracked())
    }

    /// The work has changed.
    pub fn changed(self) {
        self.unkept.set_value(true);
    }

    /// Keeps the work where a reload finds it.
    pub fn keep(self) {
        self.unkept.set_value(false);
        if self.screen.embedded.is_none() {
            kept_as(self.session(), |session| storage::keep_work(&session));
        }
    }

    /// Keeps the work with its files as they may be kept.
    pub fn keep_files(self, files: Vec<SourceFile>) {
        self.unkept.set_value(false);
        if self.screen.embedded.is_none() {
            let Session { when, work, requests } = self.session();
            let requests = requests.into_iter().map(|saved| SavedRequest { request: saved.request.without_credentials(), ..saved }).collect();
            storage::keep_work(&Session { when, work: Work { files, ..work }, requests });
        }
    }

    /// Keeps what is not kept yet: the page may be left while one writes.
    pub fn leave(self) {
        if self.unkept.get_value() {
            self.keep();
        }
    }

    /// Pins the state, to compare with.
    pub fn pin(self) {
        self.compare.pin(self.desk.work());
        kept_as(self.session(), |session| storage::keep_pinned(&session.work));
        self.screen.say("This state is pinned: Compare shows what changes from here");
    }

    /// Puts the work aside, unless it is an example as it came.
    pub fn put_aside(self) {
        let session = self.session();
        if !self.desk.is_untouched() || !session.requests.is_empty() {
            kept_as(session, storage::put_aside);
        }
        address::forget_shared();
    }
}

/// Hands a session on as the browser may keep it: without what may be secret.
fn kept_as(session: Session, keep: impl FnOnce(Session) + 'static) {
    let Session { when, work, requests } = session;
    spawn_local(async move {
        if let Ok(Kept { work, requests }) = ask::<Kept>(Question::Keep(Kept { work, requests })).await {
            keep(Session { when, work, requests });
        }
    });
}
