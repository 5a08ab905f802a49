//! Runs one controller without a cluster: its writes take effect at once, and return to it as events.

use super::controller::{Action, Controller};
use super::manager::{Change, Manager};
use super::object::{Id, Object};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A controller that runs without a cluster.
pub struct TestController {
    manager: Manager,
    now: Instant,
    /// The reconciled objects in order, including failures.
    pub reconciled: Vec<Id>,
    /// The objects whose reconciliation failed, with the reason.
    pub failures: Vec<(Id, String)>,
    /// The actions in order.
    pub written: Vec<Action>,
}

impl TestController {
    /// Starts the controllers with these existing objects.
    ///
    /// # Errors
    ///
    /// The controllers do not fit together.
    pub fn new(controllers: Vec<Controller>, objects: impl IntoIterator<Item = Object>) -> Result<Self, String> {
        let mut manager = Manager::new(controllers)?;
        objects.into_iter().for_each(|object| manager.event(Change::Put(object)));
        Ok(Self { manager, now: Instant::now(), reconciled: Vec::new(), failures: Vec::new(), written: Vec::new() })
    }

    /// Passes an event on, and does not reconcile yet.
    pub fn queue(&mut self, change: Change) {
        self.manager.event(change);
    }

    /// Passes an event on, and reconciles everything that follows.
    pub fn event(&mut self, change: Change) {
        self.queue(change);
        self.run();
    }

    /// Reconciles until no object is due now. Controllers that never finish stop after 10,000 steps.
    pub fn run(&mut self) {
        for _ in 0..10_000 {
            let Some(planned) = self.manager.plan(self.now) else { return };
            self.reconciled.push(planned.id.clone());
            let outcome = match &planned.outcome {
                Ok(actions) => {
                    actions.iter().for_each(|action| self.carry_out(action.clone()));
                    Ok(())
                }
                Err(why) => {
                    self.failures.push((planned.id.clone(), why.clone()));
                    Err(why.clone())
                }
            };
            self.manager.carried_out(&planned, outcome, self.now);
        }
    }

    fn carry_out(&mut self, action: Action) {
        self.written.push(action.clone());
        let change = match action {
            Action::Apply(object) => Change::Put(object),
            Action::Delete(id) => Change::Gone(id),
            Action::Write(id, value) => Change::Put(Object::new(id, value)),
            Action::Finalizers(id, _, finalizers) => match self.manager.cache().get(&id) {
                Some(object) if object.deleting && finalizers.is_empty() => Change::Gone(id),
                Some(object) => Change::Put(Object { finalizers, ..Object::clone(object) }),
                None => return,
            },
            Action::Status(id, status) => match self.manager.cache().get(&id) {
                Some(object) => Change::Put(Object { status, ..Object::clone(object) }),
                None => return,
            },
        };
        self.manager.event(change);
    }

    /// Lets time pass, and reconciles the objects that are due then.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        self.run();
    }

    /// Returns an object.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<Arc<Object>> {
        self.manager.cache().get(id).cloned()
    }

    /// Returns the status of an object.
    #[must_use]
    pub fn status(&self, id: &Id) -> Value {
        self.get(id).map(|object| object.status.clone()).unwrap_or_default()
    }

    /// Returns all objects of these kinds, as a new process finds them.
    #[must_use]
    pub fn stored(&self, kinds: &[&str]) -> Vec<Object> {
        kinds.iter().flat_map(|kind| self.manager.cache().list(kind)).map(|object| Object::clone(object)).collect()
    }

    /// Clears the notes of past events.
    pub fn forget(&mut self) {
        self.reconciled.clear();
        self.failures.clear();
        self.written.clear();
    }
}
