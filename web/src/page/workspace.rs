//! The work: files and how to compile them. Does not compile; see `engine`.

use crate::bridge;
use crate::examples;
use chancery_web::protocol::{SourceFile, Work};
use leptos::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The work. Copies share it.
#[derive(Clone, Copy)]
pub struct Workspace {
    pub files: RwSignal<Vec<SourceFile>>,
    /// The index of the shown file.
    pub active: RwSignal<usize>,
    /// The dialect, if the user or an example chose one.
    pub dialect: RwSignal<Option<String>>,
    /// Whether the user chose the dialect. If not, other work detects it again.
    pub chosen: RwSignal<bool>,
    /// The gateway, if the user chose one.
    pub gateway: RwSignal<Option<String>>,
    /// The options of a snapshot or an example.
    pub options: RwSignal<Option<serde_json::Value>>,
    /// The work as it was opened.
    pub opened: RwSignal<Work>,
}

/// The file of an empty page.
fn empty() -> Vec<SourceFile> {
    vec![SourceFile { name: "gateway.yaml".into(), text: "".into() }]
}

impl Workspace {
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

    /// The current work.
    pub fn work(self) -> Work {
        Work {
            files: self.files.get_untracked(),
            dialect: self.dialect.get_untracked(),
            chosen: self.chosen.get_untracked(),
            options: self.options.get_untracked(),
            gateway: self.gateway.get_untracked(),
        }
    }

    /// Replaces the work. If the new work names no dialect, the user's choice stays.
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

    /// The dialect that the user chose.
    pub fn chosen_dialect(self) -> Option<String> {
        self.dialect.get_untracked().filter(|_| self.chosen.get_untracked())
    }

    /// New work with the dialect that the user chose.
    pub fn anew(self, files: Vec<SourceFile>) -> Work {
        let dialect = self.chosen_dialect();
        Work { files, chosen: dialect.is_some(), dialect, ..Work::default() }
    }

    /// Whether the work is an unchanged example, or empty.
    pub fn is_untouched(self) -> bool {
        self.files.with_untracked(|files| {
            files.iter().all(|file| file.text.trim().is_empty()) || examples::ALL.iter().any(|example| example.work().files == *files)
        })
    }

    pub fn show_active(self) {
        let file = self.files.with_untracked(|files| files.get(self.active.get_untracked()).cloned()).unwrap_or_default();
        bridge::show(&file.name, &file.text);
    }

    /// Shows the file of a tab.
    pub fn activate(self, at: usize) {
        self.active.set(at);
        self.show_active();
    }

    /// Shows the file with this name.
    pub fn open_file(self, name: &str) {
        let at = self.files.with_untracked(|files| files.iter().position(|file| file.name == name));
        if let Some(at) = at.filter(|at| *at != self.active.get_untracked()) {
            self.activate(at);
        }
    }

    /// Updates the text of a file.
    pub fn edited(self, name: &str, text: String) {
        self.files.update(|files| {
            if let Some(file) = files.iter_mut().find(|file| file.name == name) {
                file.text = text.into();
            }
        });
    }

    pub fn text(self, name: &str) -> Option<String> {
        self.files.with_untracked(|files| files.iter().find(|file| file.name == name).map(|file| file.text.to_string()))
    }

    /// The name of the shown file.
    pub fn shown(self) -> Option<String> {
        self.files.with_untracked(|files| files.get(self.active.get_untracked()).map(|file| file.name.clone()))
    }

    /// Returns the content of all files, by name, to restore them later.
    pub fn take(self) -> BTreeMap<String, Arc<str>> {
        let files = self.files.try_update_untracked(std::mem::take).unwrap_or_default();
        files.into_iter().map(|file| (file.name, file.text)).collect()
    }

    /// Puts texts back. `changed` names the changed, new and removed files. The shown file and the cursor stay.
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

    /// Adds files with unique names, and shows the first of them.
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

    /// Closes a file. The last file becomes empty instead.
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
