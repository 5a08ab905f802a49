//! Windows, dialogs, notifications, and the commands of the page.
//!
//! What must not be here: what is done about what the page asks.

use crate::menu::{self, Item};
use chancery_desktop::arguments::{self, Command, OpenRequest};
use chancery_desktop::desk::{Alarm, Desk};
use chancery_desktop::preferences::Preferences;
use chancery_desktop::recent::Recent;
use chancery_web::protocol::Call;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::ipc::{Channel, InvokeResponseBody};
use tauri::{AppHandle, DragDropEvent, Manager, State, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_deep_link::DeepLinkExt;
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons};
use tauri_plugin_notification::NotificationExt;

/// What a window follows, and the task that talks to its page.
type Shown = (Desk, Option<tauri::async_runtime::JoinHandle<()>>);

/// All windows, by their labels.
#[derive(Default)]
struct Desks(Mutex<BTreeMap<String, Shown>>);

impl Desks {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Shown>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn of(&self, label: &str) -> Option<Desk> {
        self.with(|desks| desks.get(label).map(|(desk, _)| desk.clone()))
    }
}

/// Opens the first window, and runs until the last is closed.
pub fn run(wanted: OpenRequest) -> ExitCode {
    let app = tauri::Builder::default()
        // The first of the plugins, so that a second start does nothing else.
        .plugin(tauri_plugin_single_instance::init(|app, words, folder| started_again(app, &words, &folder)))
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .manage(Desks::default())
        .invoke_handler(tauri::generate_handler![listen, call])
        .menu(|app| menu::menu(app, preferences(app).notify))
        .on_menu_event(|app, event| {
            if let Some(item) = Item::named(event.id().as_ref()) {
                chosen(app, item);
            }
        })
        .setup(move |app| {
            // A link that comes while the program runs, from wherever the system hands it in.
            let handle = app.handle().clone();
            app.deep_link().on_open_url(move |event| {
                for link in event.urls() {
                    let _ = open_window(&handle, OpenRequest { link: Some(link.into()), ..OpenRequest::default() });
                }
            });
            Ok(open_window(app.handle(), wanted)?)
        })
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
        dialog.set_title("Open a file").add_filter("YAML, JSON and HCL", &["yaml", "yml", "json", "hcl"]).pick_file(done);
    }
    wait.await.ok().flatten()?.into_path().ok()
}

/// Another start of the program: what it was to open comes into a window of its own. The second program has refused arguments that are
/// wrong before it hands them in.
fn started_again(app: &AppHandle, words: &[String], folder: &str) {
    let Ok(Command::Open(mut wanted)) = arguments::read(words.iter().skip(1).map(OsString::from)) else { return };
    if wanted.link.is_some() {
        // It is handed in as a link besides.
        return;
    }
    wanted.path = wanted.path.map(|path| PathBuf::from(folder).join(path));
    match app.webview_windows().values().next() {
        Some(window) if wanted == OpenRequest::default() => drop(window.set_focus()),
        _ => drop(open_window(app, wanted)),
    }
}

fn open_window(app: &AppHandle, wanted: OpenRequest) -> tauri::Result<()> {
    let label = (1..).map(|number| format!("window-{number}")).find(|label| app.get_webview_window(label).is_none()).unwrap_or_default();
    let recent = app.path().app_config_dir().ok().map(|folder| folder.join("recent.json"));
    let desk = Desk::new(Recent::new(recent), alarm(app, &label));
    app.state::<Desks>().with(|desks| desks.insert(label.clone(), (desk.clone(), None)));
    let window = WebviewWindowBuilder::new(app, &label, WebviewUrl::App("index.html".into()))
        .title("Chancery")
        .inner_size(1360.0, 860.0)
        .min_inner_size(480.0, 360.0)
        // What is shown is the page, wherever a link in it leads.
        .on_navigation(|url| matches!((url.scheme(), url.host_str()), ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost"))))
        .build()?;
    let dropped = desk.clone();
    let (handle, its, guarded) = (app.clone(), label, window.clone());
    window.on_window_event(move |event| match event {
        WindowEvent::CloseRequested { api, .. } if dropped.unsaved() > 0 => {
            api.prevent_close();
            ask_before_closing(&guarded, dropped.unsaved());
        }
        WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
            if let Some(path) = paths.first().cloned() {
                let wanted = OpenRequest { path: Some(path), ..OpenRequest::default() };
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
async fn open(desk: Desk, wanted: OpenRequest) {
    if let Some(link) = wanted.link {
        return desk.say(json!({"what": "link", "url": link}));
    }
    let opened = match (wanted.path, wanted.context) {
        (Some(path), _) => desk.open(&path).await,
        (None, Some(context)) => desk.connect(context, wanted.namespace).await,
        (None, None) => return,
    };
    if let Err(why) = opened {
        desk.notice(&why);
    }
}

/// Closes a window with changes that are not saved, if the person agrees.
fn ask_before_closing(window: &WebviewWindow, files: u32) {
    let changed = if files == 1 { "1 file has changes that are".to_owned() } else { format!("{files} files have changes that are") };
    let buttons = MessageDialogButtons::OkCancelCustom("Close without saving".into(), "Keep it open".into());
    let asked = window.dialog().message(format!("{changed} not saved.")).title("Close this window?").parent(window).buttons(buttons);
    let window = window.clone();
    asked.show(move |close| {
        if close {
            let _ = window.destroy();
        }
    });
}

/// Shows new errors as notifications of the system, where the person wants them and does not look at the window.
fn alarm(app: &AppHandle, label: &str) -> Alarm {
    let (app, label) = (app.clone(), label.to_owned());
    Arc::new(move |sentence| {
        let is_seen = app.get_webview_window(&label).is_none_or(|window| window.is_focused().unwrap_or(true));
        if !is_seen && preferences(&app).notify {
            // Where the system shows none, the window still shows the errors.
            let _ = app.notification().builder().title("Chancery").body(sentence).show();
        }
    })
}

fn preferences_file(app: &AppHandle) -> Option<PathBuf> {
    app.path().app_config_dir().ok().map(|folder| folder.join("preferences.json"))
}

fn preferences(app: &AppHandle) -> Preferences {
    preferences_file(app).map(|file| Preferences::read(&file)).unwrap_or_default()
}

/// An item of the menu was chosen, in the window that has the keyboard.
fn chosen(app: &AppHandle, item: Item) {
    let focused = app.webview_windows().into_values().find(|window| window.is_focused().unwrap_or_default());
    match item {
        Item::NewWindow => drop(open_window(app, OpenRequest::default())),
        Item::Quit => app.webview_windows().into_values().for_each(|window| drop(window.close())),
        Item::Notify => {
            let now = Preferences { notify: !preferences(app).notify };
            if let Some(Err(error)) = preferences_file(app).map(|file| now.write(&file)) {
                eprintln!("chancery-desktop: the choice is not kept: {error}");
            }
        }
        Item::CloseWindow => drop(focused.map(|window| window.close())),
        Item::OpenFolder | Item::OpenFile => {
            drop(focused.map(|window| tauri::async_runtime::spawn(choose_and_open(window, item == Item::OpenFolder))))
        }
        Item::Connect | Item::Save | Item::Keys => {
            if let Some(desk) = focused.and_then(|window| app.state::<Desks>().of(window.label())) {
                desk.say(json!({"what": "menu", "item": item.id()}));
            }
        }
    }
}

async fn choose_and_open(window: WebviewWindow, folder: bool) {
    let desk = window.state::<Desks>().of(window.label());
    if let (Some(path), Some(desk)) = (choose(&window, folder).await, desk) {
        open(desk, OpenRequest { path: Some(path), ..OpenRequest::default() }).await;
    }
}
