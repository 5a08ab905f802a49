//! Runs one controller without a cluster: its writes take effect at once, and come back to it as events.

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
    /// What was reconciled, in order; failures included.
    pub reconciled: Vec<Id>,
    /// What failed, and why.
    pub failures: Vec<(Id, String)>,
    /// What was written, in order.
    pub written: Vec<Action>,
}

impl TestController {
    /// Of these objects, which are there before it starts.
    ///
    /// # Errors
    ///
    /// The controllers do not go together.
    pub fn new(controllers: Vec<Controller>, objects: impl IntoIterator<Item = Object>) -> Result<Self, String> {
        let mut manager = Manager::new(controllers)?;
        objects.into_iter().for_each(|object| manager.event(Change::Put(object)));
        Ok(Self { manager, now: Instant::now(), reconciled: Vec::new(), failures: Vec::new(), written: Vec::new() })
    }

    /// Takes an event and does not reconcile yet.
    pub fn tell(&mut self, change: Change) {
        self.manager.event(change);
    }

    /// Takes an event and reconciles all that follows.
    pub fn event(&mut self, change: Change) {
        self.tell(change);
        self.run();
    }

    /// Reconciles until nothing is left to do now. Controllers that never come to rest are stopped after 10,000 steps.
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
            Action::Finalizers(id, finalizers) => match self.manager.cache().get(&id) {
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

    /// Lets time pass, and reconciles what is due then.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        self.run();
    }

    /// An object.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<Arc<Object>> {
        self.manager.cache().get(id).cloned()
    }

    /// The status of an object.
    #[must_use]
    pub fn status(&self, id: &Id) -> Value {
        self.get(id).map(|object| object.status.clone()).unwrap_or_default()
    }

    /// All objects of these kinds: what another process finds that starts now.
    #[must_use]
    pub fn stored(&self, kinds: &[&str]) -> Vec<Object> {
        kinds.iter().flat_map(|kind| self.manager.cache().list(kind)).map(|object| Object::clone(object)).collect()
    }

    /// Clears the notes of what happened.
    pub fn forget(&mut self) {
        self.reconciled.clear();
        self.failures.clear();
        self.written.clear();
    }
}
