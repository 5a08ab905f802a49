//! Windows, dialogs, and the commands of the page.
//!
//! What must not be here: what is done about what the page asks.

use chancery_desktop::arguments::{self, Asked, Wanted};
use chancery_desktop::call::Call;
use chancery_desktop::desk::Desk;
use chancery_desktop::recent::Recent;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use tauri::ipc::{Channel, InvokeResponseBody};
use tauri::{AppHandle, DragDropEvent, Manager, State, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_dialog::DialogExt;

/// What each window follows, by its label, and who talks to its page.
#[derive(Default)]
struct Desks(Mutex<BTreeMap<String, (Desk, Option<tauri::async_runtime::JoinHandle<()>>)>>);

impl Desks {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, (Desk, Option<tauri::async_runtime::JoinHandle<()>>)>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn of(&self, label: &str) -> Option<Desk> {
        self.with(|desks| desks.get(label).map(|(desk, _)| desk.clone()))
    }
}

/// Opens the first window, and runs until the last is closed.
pub fn run(wanted: Wanted) -> ExitCode {
    let app = tauri::Builder::default()
        // The first of the plugins, so that a second start does nothing else.
        .plugin(tauri_plugin_single_instance::init(|app, words, folder| started_again(app, &words, &folder)))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .manage(Desks::default())
        .invoke_handler(tauri::generate_handler![listen, call])
        .setup(move |app| Ok(open_window(app.handle(), wanted)?))
        .build(tauri::generate_context!());
    match app {
        Ok(app) => {
            app.run(|_, _| {});
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("chancery-desktop: cannot open a window: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the page hears from now on. A page that was loaded again takes the place of the one before.
#[tauri::command]
fn listen(window: WebviewWindow, desks: State<'_, Desks>, channel: Channel<InvokeResponseBody>) {
    let Some(desk) = desks.of(window.label()) else { return };
    let task = tauri::async_runtime::spawn(async move {
        // As bytes: large texts are not parsed on the way.
        desk.tell(|message| channel.send(InvokeResponseBody::Raw(message.into_bytes())).is_ok()).await;
    });
    desks.with(|desks| {
        if let Some((_, told)) = desks.get_mut(window.label())
            && let Some(before) = told.replace(task)
        {
            before.abort();
        }
    });
}

/// What the page asks.
#[tauri::command]
async fn call(window: WebviewWindow, desks: State<'_, Desks>, call: Call) -> Result<Value, String> {
    let desk = desks.of(window.label()).ok_or("this window is closing")?;
    match call {
        Call::Choose { folder } => match choose(&window, folder).await {
            Some(path) => desk.open(&path).await,
            None => Ok(Value::Null),
        },
        call => desk.call(call).await,
    }
}

/// Lets the person choose.
async fn choose(window: &WebviewWindow, folder: bool) -> Option<PathBuf> {
    let (chosen, wait) = tokio::sync::oneshot::channel();
    let dialog = window.dialog().file().set_parent(window);
    // Nobody waits any more when the window is closed.
    let done = move |path: Option<tauri_plugin_dialog::FilePath>| drop(chosen.send(path));
    if folder {
        dialog.set_title("Open a folder").pick_folder(done);
    } else {
        dialog.set_title("Open a file").add_filter("YAML and JSON", &["yaml", "yml", "json"]).pick_file(done);
    }
    wait.await.ok().flatten()?.into_path().ok()
}

/// Another start of the program: what it was to open comes into a window of its own.
fn started_again(app: &AppHandle, words: &[String], folder: &str) {
    let Ok(Asked::Open(mut wanted)) = arguments::read(words.iter().skip(1).map(OsString::from)) else { return };
    wanted.path = wanted.path.map(|path| PathBuf::from(folder).join(path));
    match app.webview_windows().values().next() {
        Some(window) if wanted == Wanted::default() => drop(window.set_focus()),
        _ => drop(open_window(app, wanted)),
    }
}

fn open_window(app: &AppHandle, wanted: Wanted) -> tauri::Result<()> {
    let label = (1..).map(|number| format!("window-{number}")).find(|label| app.get_webview_window(label).is_none()).unwrap_or_default();
    let recent = app.path().app_config_dir().ok().map(|folder| folder.join("recent.json"));
    let desk = Desk::new(Recent::new(recent));
    app.state::<Desks>().with(|desks| desks.insert(label.clone(), (desk.clone(), None)));
    let window = WebviewWindowBuilder::new(app, &label, WebviewUrl::App("index.html".into()))
        .title("Chancery")
        .inner_size(1360.0, 860.0)
        .min_inner_size(480.0, 360.0)
        // What is shown is the page, wherever a link in it leads.
        .on_navigation(|url| matches!((url.scheme(), url.host_str()), ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost"))))
        .build()?;
    let dropped = desk.clone();
    let (handle, its) = (app.clone(), label);
    window.on_window_event(move |event| match event {
        WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
            if let Some(path) = paths.first().cloned() {
                let wanted = Wanted { path: Some(path), ..Wanted::default() };
                tauri::async_runtime::spawn(open(dropped.clone(), wanted));
            }
        }
        WindowEvent::Destroyed => drop(handle.state::<Desks>().with(|desks| desks.remove(&its))),
        _ => {}
    });
    tauri::async_runtime::spawn(open(desk, wanted));
    Ok(())
}

/// Follows what is wanted; says why, where that cannot be.
async fn open(desk: Desk, wanted: Wanted) {
    let opened = match (wanted.path, wanted.context) {
        (Some(path), _) => desk.open(&path).await,
        (None, Some(context)) => desk.connect(context, wanted.namespace).await,
        (None, None) => return,
    };
    if let Err(why) = opened {
        desk.notice(&why);
    }
}
