//! Reads what the user brings: dropped or chosen files, archives, and pasted text.

use crate::bridge;
use crate::link;
use crate::state::App;
use chancery_core::compile::{is_envoy_config, unsupported_input};
use chancery_web::languages;
use chancery_web::protocol::SourceFile;
use js_sys::{Array, Uint8Array};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Deserialize;
use std::sync::Arc;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;

/// The largest number of bytes to read at once.
const MOST_BYTES: f64 = 64e6;

/// The files that JavaScript read. Their bytes follow separately.
#[derive(Deserialize)]
struct Read {
    names: Vec<String>,
    unread: Vec<String>,
}

/// The text of a file. Replaces bytes that are not UTF-8.
fn text_of(bytes: &[u8]) -> Arc<str> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into()
}

/// What a text contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    /// A link to exported work, or its file.
    Shared,
    /// A `curl` command.
    Curl,
    /// The configuration of a running Envoy, or a bootstrap.
    Envoy,
    Resources,
    Other,
}

/// The name of input that is only sentences. A pasted sentence may be part of a comment.
const PROSE: &str = "plain text";

fn text_kind(text: &str) -> TextKind {
    let text = text.trim();
    let is_json = text.starts_with('{');
    let has = |word: &str| text.contains(&format!("\"{word}\"")) && is_json || text.lines().any(|line| line.starts_with(&format!("{word}:")));
    let is_line = !text.contains(char::is_whitespace);
    match () {
        () if is_line && text.contains("snapshot=") || has("chancery_snapshot") => TextKind::Shared,
        () if text.starts_with("curl ") => TextKind::Curl,
        () if is_envoy_config(text) => TextKind::Envoy,
        () if has("apiVersion") || has("kind") || has("items") => TextKind::Resources,
        () if languages::is_recognised(text) || unsupported_input(text).is_some_and(|of| of.name != PROSE) => TextKind::Resources,
        () => TextKind::Other,
    }
}

/// Reads dropped files or text.
pub fn dropped(app: App, data: &web_sys::DataTransfer) {
    let text = data.get_data("text").unwrap_or_default();
    if data.files().is_some_and(|files| files.length() == 0) && !text.trim().is_empty() {
        return open_files(app, vec![SourceFile { name: "dropped.yaml".into(), text: text.into() }], Vec::new());
    }
    read(app, bridge::read_dropped(data, MOST_BYTES));
}

/// Lets the user choose files, or a folder.
pub fn choose(app: App, folder: bool) {
    app.screen.overlay.set(None);
    read(app, bridge::choose(folder, MOST_BYTES));
}

fn read(app: App, promise: js_sys::Promise) {
    spawn_local(async move {
        let Ok(read) = JsFuture::from(promise).await.map(|list| Array::from(&list)) else { return };
        let Some(Read { names, unread }) = read.get(0).as_string().and_then(|json| serde_json::from_str(&json).ok()) else { return };
        let bytes: Vec<Uint8Array> = read.iter().skip(1).filter_map(|bytes| bytes.dyn_into().ok()).collect();
        let files = names.into_iter().zip(&bytes).map(|(name, bytes)| SourceFile { name, text: text_of(&bytes.to_vec()) }).collect::<Vec<_>>();
        bytes.iter().for_each(link::release);
        match (files.is_empty(), unread.is_empty()) {
            (false, _) => open_files(app, files, unread),
            (true, false) => app.screen.say(format!("No file could be read: {}", unread.join(", "))),
            (true, true) => {}
        }
    });
}

/// Opens files: resources become tabs, exported work replaces everything, and an Envoy's configuration is opened or compared.
fn open_files(app: App, files: Vec<SourceFile>, unread: Vec<String>) {
    if app.screen.read_only {
        return app.screen.say("This view is read-only");
    }
    if let [one] = &files[..] {
        match text_kind(&one.text) {
            TextKind::Shared => return app.open(one.text.to_string()),
            // The configuration of an Envoy is compared with the user's own sources, and otherwise opened.
            TextKind::Envoy if !app.workspace.is_untouched() => return app.compare_with(one.text.to_string()),
            TextKind::Curl => return app.try_curl(one.text.to_string()),
            TextKind::Envoy | TextKind::Resources | TextKind::Other => {}
        }
    }
    app.bring(files, unread);
}

/// Opens text that is pasted into the editor, unless it is a normal edit. `whole` means that it replaces the whole file. Returns whether the editor
/// must not insert the text.
pub fn pasted(app: App, text: &str, whole: bool) -> bool {
    let untouched = app.workspace.is_untouched();
    if app.screen.read_only || !(whole || untouched) {
        return false;
    }
    match text_kind(text) {
        TextKind::Shared | TextKind::Curl | TextKind::Envoy => {}
        TextKind::Resources if untouched => {}
        TextKind::Resources | TextKind::Other => {
            if whole {
                app.replaced();
            }
            return false;
        }
    }
    open_files(app, vec![SourceFile { name: "pasted.yaml".into(), text: text.into() }], Vec::new());
    true
}

/// Formats the shown file. Comments stay.
pub fn format(app: App) {
    let workspace = app.workspace;
    let text = workspace.files.with_untracked(|files| files.get(workspace.active.get_untracked()).map(|file| file.text.clone())).unwrap_or_default();
    let promise = bridge::formatted(&text);
    spawn_local(async move {
        match JsFuture::from(promise).await.ok().and_then(|value| value.as_string()) {
            Some(text) => bridge::replace(&text),
            None => app.screen.say("Broken YAML cannot be formatted"),
        }
    });
}
