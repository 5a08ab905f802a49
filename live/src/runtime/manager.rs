//! Plans all controllers: which object is reconciled next, and the actions that follow. Does not carry out actions; see
//! `controllers::run`.
//!
//! Events go into the cache, and mappers find the objects that depend on them, now and at their last reconciliation. Each controller has its own
//! queue. [`Manager::plan`] reconciles the next object and returns the actions; the caller carries them out and reports the result. There is no IO
//! and no clock.

use super::cache::Cache;
use super::controller::{Action, Controller, Reading};
use super::graph::Graph;
use super::object::{Id, Object};
use super::queue::Queue;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// An event about an object.
#[derive(Clone, Debug)]
pub enum Change {
    /// The object has this state now.
    Put(Object),
    /// The object was deleted.
    Gone(Id),
    /// An event without an object of the cluster: the name of the custom watch, and the data for its mapper.
    Custom(&'static str, Object),
}

/// The result of a reconciliation.
#[derive(Debug)]
pub struct Planned {
    controller: usize,
    pub name: &'static str,
    /// The reconciled object.
    pub id: Id,
    /// The requested actions, or the reason of the failure.
    pub outcome: Result<Vec<Action>, String>,
    /// The objects that the reconciler read.
    pub bound: BTreeSet<Id>,
}

struct Running {
    controller: Controller,
    queue: Queue,
    initialized: bool,
    /// The objects that this process read for each object. Objects also keep them, for the next process.
    bound: BTreeMap<Id, BTreeSet<Id>>,
    bound_by: BTreeMap<Id, BTreeSet<Id>>,
}

/// Manages all controllers.
#[derive(Default)]
pub struct Manager {
    cache: Cache,
    controllers: Vec<Running>,
}

impl Manager {
    /// Creates a manager of these controllers.
    ///
    /// # Errors
    ///
    /// Two controllers manage the same kind, or controllers form a cycle. The message names them.
    pub fn new(controllers: Vec<Controller>) -> Result<Self, String> {
        let mut managed: BTreeMap<&str, &str> = BTreeMap::new();
        for controller in &controllers {
            if let Some(other) = managed.insert(controller.managed, controller.name) {
                return Err(format!("{other} and {} both manage {}", controller.name, controller.managed));
            }
        }
        if let Some(circle) = Graph::of(&controllers).circle() {
            return Err(format!("controllers go in a circle: {}", circle.join(" -> ")));
        }
        let mut out = Self::default();
        for controller in controllers {
            for (kind, index) in &controller.indexes {
                out.cache.declare(kind, index.clone());
            }
            let (queue, bound) = (Queue::default(), BTreeMap::new());
            out.controllers.push(Running { controller, queue, initialized: false, bound, bound_by: BTreeMap::new() });
        }
        Ok(out)
    }

    /// Returns the last known state of the objects.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Handles an event.
    pub fn event(&mut self, change: Change) {
        match change {
            Change::Put(object) => {
                let before = self.cache.put(object.clone());
                // Nothing has changed: the event came twice, or reports our own write.
                if before.as_deref() == Some(&object) {
                    return;
                }
                self.changed(&object);
                if let Some(before) = before {
                    self.changed_owner(&before, &object);
                }
            }
            Change::Gone(id) => {
                if let Some(before) = self.cache.take(&id) {
                    self.changed(&before);
                }
            }
            Change::Custom(name, object) => {
                for running in &mut self.controllers {
                    for watch in running.controller.watches.iter().filter(|watch| watch.custom && watch.kind == name) {
                        (watch.mapper)(&object, &self.cache).into_iter().for_each(|id| running.queue.add(id));
                    }
                }
            }
        }
    }

    fn changed(&mut self, object: &Object) {
        for running in &mut self.controllers {
            let managed = running.controller.managed;
            if *object.id.kind == *managed {
                running.queue.add(object.id.clone());
            }
            let watches = running.controller.watches.iter().filter(|watch| !watch.custom && *object.id.kind == *watch.kind);
            let mut watched = false;
            for watch in watches {
                watched = true;
                (watch.mapper)(object, &self.cache).into_iter().for_each(|id| running.queue.add(id));
            }
            if watched {
                // The objects whose reconciliation read this object, even if they no longer refer to it.
                let kept = self.cache.bound_to(&object.id, managed).cloned();
                let read = running.bound_by.get(&object.id).into_iter().flatten().cloned();
                let all: BTreeSet<Id> = kept.chain(read).collect();
                all.into_iter().for_each(|id| running.queue.add(id));
            }
        }
    }

    /// Notifies the owner before a change of owner, too.
    fn changed_owner(&mut self, before: &Object, now: &Object) {
        let Some(owner) = before.owner.as_ref().filter(|owner| Some(*owner) != now.owner.as_ref()) else { return };
        for running in &mut self.controllers {
            let watched = running.controller.watches.iter().any(|watch| *now.id.kind == *watch.kind);
            if watched && *owner.kind == *running.controller.managed {
                running.queue.add(owner.clone());
            }
        }
    }

    /// Reconciles the next object. Returns `None` if no object waits now.
    pub fn plan(&mut self, now: Instant) -> Option<Planned> {
        for (at, running) in self.controllers.iter_mut().enumerate() {
            if !running.initialized {
                let initialize = running.controller.initializer.as_mut();
                // The next event or pause tries it again.
                if initialize.is_some_and(|initialize| initialize(&self.cache).is_err()) {
                    continue;
                }
                running.initialized = true;
            }
            let Some(id) = running.queue.take(now) else { continue };
            let reading = Reading::new(&self.cache, &id);
            let mut outcome = running.controller.reconciler.reconcile(&id, &reading);
            let bound = reading.bound();
            running.bind(&id, &bound);
            for action in outcome.iter_mut().flatten() {
                if let Action::Apply(object) = action
                    && object.id == id
                {
                    object.bound.clone_from(&bound);
                }
            }
            return Some(Planned { controller: at, name: running.controller.name, id, outcome, bound });
        }
        None
    }

    /// Notes whether the actions were carried out. After a failure, returns the pause before the retry.
    pub fn carried_out(&mut self, planned: &Planned, outcome: Result<(), String>, now: Instant) -> Option<std::time::Duration> {
        let running = self.controllers.get_mut(planned.controller)?;
        match outcome {
            Ok(()) => {
                running.controller.reconciler.carried_out(&planned.id, planned.outcome.as_deref().unwrap_or_default());
                running.queue.done(&planned.id);
                None
            }
            Err(_) => Some(running.queue.failed(&planned.id, now)),
        }
    }

    /// Returns when to plan again without an event.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        self.controllers.iter().filter_map(|running| running.queue.next_due()).min()
    }

    /// Returns the number of waiting objects, by controller.
    #[must_use]
    pub fn waiting(&self) -> Vec<(&'static str, usize)> {
        self.controllers.iter().map(|running| (running.controller.name, running.queue.len())).collect()
    }

    /// Returns the controllers as a graph.
    #[must_use]
    pub fn graph(&self) -> Graph {
        Graph::of(self.controllers.iter().map(|running| &running.controller))
    }
}

impl Running {
    /// Notes the objects that were read for an object.
    fn bind(&mut self, id: &Id, bound: &BTreeSet<Id>) {
        for gone in self.bound.remove(id).into_iter().flatten() {
            if let Some(all) = self.bound_by.get_mut(&gone) {
                all.remove(id);
                if all.is_empty() {
                    self.bound_by.remove(&gone);
                }
            }
        }
        if bound.is_empty() {
            return;
        }
        for of in bound {
            self.bound_by.entry(of.clone()).or_default().insert(id.clone());
        }
        self.bound.insert(id.clone(), bound.clone());
    }
}
