//! The work: files, and how they are compiled.
//!
//! What must not be here: compiling, and what is kept.

use crate::bridge;
use crate::examples;
use chancery_core::order::Gather;
use chancery_web::protocol::{SourceFile, Work};
use leptos::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The work. Copies are the same.
#[derive(Clone, Copy)]
pub struct Desk {
    /// The files.
    pub files: RwSignal<Vec<SourceFile>>,
    /// Which of them is shown.
    pub active: RwSignal<usize>,
    /// The dialect, if the person or an example names one.
    pub dialect: RwSignal<Option<String>>,
    /// Whether the person chose the dialect. Otherwise it is detected again when other work comes.
    pub chosen: RwSignal<bool>,
    /// The gateway, if the person chose one of several.
    pub gateway: RwSignal<Option<String>>,
    /// Options besides, as a snapshot or an example brought them.
    pub options: RwSignal<Option<serde_json::Value>>,
    /// The work as it was opened.
    pub opened: RwSignal<Work>,
}

/// The file of a page that holds nothing.
fn empty() -> Vec<SourceFile> {
    vec![SourceFile { name: "gateway.yaml".into(), text: "".into() }]
}

impl Desk {
    /// With this work.
    pub fn new(work: Work) -> Self {
        Self {
            files: RwSignal::new(work.files.clone()),
            active: RwSignal::new(0),
            dialect: RwSignal::new(work.dialect.clone()),
            chosen: RwSignal::new(work.chosen),
            gateway: RwSignal::new(work.gateway.clone()),
            options: RwSignal::new(work.options.clone()),
            opened: RwSignal::new(work),
        }
    }

    /// The work as it stands.
    pub fn work(self) -> Work {
        Work {
            files: self.files.get_untracked(),
            dialect: self.dialect.get_untracked(),
            chosen: self.chosen.get_untracked(),
            options: self.options.get_untracked(),
            gateway: self.gateway.get_untracked(),
        }
    }

    /// Replaces the work. What comes names its dialect, or the one that the person chose stays.
    pub fn load(self, work: Work) {
        self.files.with_untracked(|before| before.iter().for_each(|file| bridge::forget(&file.name)));
        self.opened.set(work.clone());
        self.dialect.set(work.dialect);
        self.chosen.set(work.chosen);
        self.gateway.set(work.gateway);
        self.options.set(work.options);
        self.files.set(if work.files.is_empty() { empty() } else { work.files });
        self.active.set(0);
        self.show_active();
    }

    /// The dialect that the person chose.
    pub fn chosen_dialect(self) -> Option<String> {
        self.dialect.get_untracked().filter(|_| self.chosen.get_untracked())
    }

    /// Work that takes the place of this, with the dialect that the person chose.
    pub fn anew(self, files: Vec<SourceFile>) -> Work {
        let dialect = self.chosen_dialect();
        Work { files, chosen: dialect.is_some(), dialect, ..Work::default() }
    }

    /// Whether what is there is an example as it came, or nothing at all.
    pub fn is_untouched(self) -> bool {
        self.files.with_untracked(|files| {
            files.iter().all(|file| file.text.trim().is_empty()) || examples::ALL.iter().any(|example| example.work().files == *files)
        })
    }

    /// Shows the file of the active tab in the editor.
    pub fn show_active(self) {
        let file = self.files.with_untracked(|files| files.get(self.active.get_untracked()).cloned()).unwrap_or_default();
        bridge::show(&file.name, &file.text);
    }

    /// Shows the file of a tab.
    pub fn activate(self, at: usize) {
        self.active.set(at);
        self.show_active();
    }

    /// Shows a file's tab.
    pub fn open_file(self, name: &str) {
        let at = self.files.with_untracked(|files| files.iter().position(|file| file.name == name));
        if let Some(at) = at.filter(|at| *at != self.active.get_untracked()) {
            self.activate(at);
        }
    }

    /// The text of a file changed.
    pub fn edited(self, name: &str, text: String) {
        self.files.update(|files| {
            if let Some(file) = files.iter_mut().find(|file| file.name == name) {
                file.text = text.into();
            }
        });
    }

    /// The text of a file.
    pub fn text(self, name: &str) -> Option<String> {
        self.files.with_untracked(|files| files.iter().find(|file| file.name == name).map(|file| file.text.to_string()))
    }

    /// The name of the file that is shown.
    pub fn shown(self) -> Option<String> {
        self.files.with_untracked(|files| files.get(self.active.get_untracked()).map(|file| file.name.clone()))
    }

    /// Takes all texts out, by name, to be put back.
    pub fn take(self) -> BTreeMap<String, Arc<str>> {
        let files = self.files.try_update_untracked(std::mem::take).unwrap_or_default();
        files.into_iter().map(|file| (file.name, file.text)).gathered()
    }

    /// Puts texts back, of which those named are others, new or gone. The file that was shown stays, and so does the cursor.
    pub fn put_back(self, files: BTreeMap<String, Arc<str>>, shown: Option<String>, changed: &BTreeSet<String>) {
        let files: Vec<SourceFile> = files.into_iter().map(|(name, text)| SourceFile { name, text }).collect();
        if changed.is_empty() {
            self.files.update_untracked(|there| *there = files);
            return;
        }
        let at = files.iter().position(|file| Some(&file.name) == shown.as_ref());
        let text = at.and_then(|at| files.get(at)).map(|file| file.text.clone());
        self.files.set(if files.is_empty() { empty() } else { files });
        self.active.set(at.unwrap_or_default());
        for name in changed.iter().filter(|name| Some(*name) != shown.as_ref()) {
            bridge::forget(name);
        }
        match (text, shown) {
            (Some(text), Some(name)) if changed.contains(&name) => bridge::follow(&text),
            (Some(_), _) => {}
            (None, _) => self.show_active(),
        }
    }

    /// Adds files, under names of their own, and shows the first of them.
    pub fn add(self, more: Vec<SourceFile>) {
        let Some(last) = more.len().checked_sub(1) else { return };
        let mut at = 0;
        self.files.update(|files| {
            for mut file in more {
                let (stem, ending) =
                    file.name.rsplit_once('.').map_or((file.name.clone(), String::new()), |(stem, ending)| (stem.into(), format!(".{ending}")));
                let mut number = 2;
                while files.iter().any(|known| known.name == file.name) {
                    file.name = format!("{stem}-{number}{ending}");
                    number += 1;
                }
                files.push(file);
            }
            at = files.len() - 1 - last;
        });
        self.activate(at);
    }

    /// Closes a file; the last one becomes empty.
    pub fn close(self, at: usize) {
        self.files.update(|files| {
            if at < files.len() {
                bridge::forget(&files.remove(at).name);
            }
            if files.is_empty() {
                *files = empty();
            }
        });
        let count = self.files.with_untracked(Vec::len);
        self.active.update(|active| *active = if *active > at { *active - 1 } else { (*active).min(count - 1) });
        self.show_active();
    }
}
