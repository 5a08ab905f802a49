//! Keeps work in the browser: the current work, earlier sessions, the pinned state, and the state for undo. Does not remove secrets; the worker does.

use crate::address;
use crate::compare::Compare;
use crate::link::ask;
use crate::requests::Requests;
use crate::screen::Screen;
use crate::storage::{self, Session};
use crate::workspace::Workspace;
use chancery_web::protocol::{Kept, Question, SavedRequest, SourceFile, Work};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Work that was just opened or cleared, and the work before it.
#[derive(Clone, PartialEq)]
pub struct Arrival {
    pub before: Session,
    /// Whether everything was cleared.
    pub cleared: bool,
    /// Files that could not be read: name and reason.
    pub unread: Vec<String>,
}

/// The kept work. Copies share it.
#[derive(Clone, Copy)]
pub struct BrowserStorage {
    /// The last arrival, until the user continues.
    pub arrival: RwSignal<Option<Arrival>>,
    workspace: Workspace,
    requests: Requests,
    compare: Compare,
    screen: Screen,
    /// Whether there are changes that are not stored.
    unkept: StoredValue<bool>,
}

impl BrowserStorage {
    pub fn new(workspace: Workspace, requests: Requests, compare: Compare, screen: Screen) -> Self {
        Self { arrival: RwSignal::new(None), workspace, requests, compare, screen, unkept: StoredValue::new(false) }
    }

    /// The current work with the saved requests.
    pub fn session(self) -> Session {
        Session::now(self.workspace.work(), self.requests.saved.get_untracked())
    }

    /// Marks the work as changed.
    pub fn changed(self) {
        self.unkept.set_value(true);
    }

    /// Stores the work for the next reload.
    pub fn keep(self) {
        self.unkept.set_value(false);
        if self.screen.embedded.is_none() {
            kept_as(self.session(), |session| storage::keep_work(&session));
        }
    }

    /// Stores the work with files that have no secrets.
    pub fn keep_files(self, files: Vec<SourceFile>) {
        self.unkept.set_value(false);
        if self.screen.embedded.is_none() {
            let Session { when, work, requests } = self.session();
            let requests = requests.into_iter().map(|saved| SavedRequest { request: saved.request.without_credentials(), ..saved }).collect();
            storage::keep_work(&Session { when, work: Work { files, ..work }, requests });
        }
    }

    /// Stores pending changes, because the user may leave the page.
    pub fn leave(self) {
        if self.unkept.get_value() {
            self.keep();
        }
    }

    /// Pins the current state for comparison.
    pub fn pin(self) {
        self.compare.pin(self.workspace.work());
        kept_as(self.session(), |session| storage::keep_pinned(&session.work));
        self.screen.say("This state is pinned. Compare shows all later changes");
    }

    /// Adds the work to the earlier sessions, unless it is an unchanged example.
    pub fn put_aside(self) {
        let session = self.session();
        if !self.workspace.is_untouched() || !session.requests.is_empty() {
            kept_as(session, storage::put_aside);
        }
        address::forget_shared();
    }
}

/// Passes on a session without secrets.
fn kept_as(session: Session, keep: impl FnOnce(Session) + 'static) {
    let Session { when, work, requests } = session;
    spawn_local(async move {
        if let Ok(Kept { work, requests }) = ask::<Kept>(Question::Keep(Kept { work, requests })).await {
            keep(Session { when, work, requests });
        }
    });
}
