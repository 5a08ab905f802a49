//! Caches results about single objects while their text and the options are unchanged.

use super::super::Options;
use super::annotations::Unfolded;
use super::judge::judge;
use super::previous::PreviousFetch;
use super::verdict::{CachedByObject, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor};
use chancery_base::resource::{Object, Objects};

/// Results of earlier compiles about single objects.
#[derive(Default)]
pub struct Memory {
    options: Option<Options>,
    pub(super) verdicts: CachedByObject<Verdict>,
    pub(super) unfolded: CachedByObject<Unfolded>,
    /// The previous fetch.
    pub(super) before: Option<PreviousFetch>,
}

impl core::fmt::Debug for Memory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Memory").field("objects", &self.verdicts.slots.iter().flatten().count()).finish()
    }
}

impl Memory {
    pub(super) fn prepare(&mut self, objects: &Objects, options: &Options) {
        if self.options.as_ref() != Some(options) {
            *self = Self { options: Some(options.clone()), ..Self::default() };
        }
        self.verdicts.slots.resize_with(objects.slots(), || None);
        self.unfolded.slots.resize_with(objects.slots(), || None);
    }

    pub(super) fn learn(&mut self, objects: &Objects, options: &Options, executor: &dyn Executor) {
        let new = objects.all().filter(|object| object.parent.is_none() && !object.broken && self.verdicts.lacks(object));
        let new: Vec<&Object> = new.collect();
        let verdicts = executor::map(executor, &new, |object| Box::new(judge(object, options)));
        new.into_iter().zip(verdicts).for_each(|(object, verdict)| self.verdicts.insert(object, verdict));
    }
}
