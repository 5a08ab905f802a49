//! Windows, dialogs, notifications, and the commands of the page. Does not carry out calls; see `window_session`.

use crate::menu::{self, Item};
use chancery_desktop::arguments::{self, Command, OpenRequest};
use chancery_desktop::preferences::Preferences;
use chancery_desktop::recent::Recent;
use chancery_desktop::window_session::{Alarm, WindowSession};
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

/// A window's state, and the task that sends messages to its page.
type Shown = (WindowSession, Option<tauri::async_runtime::JoinHandle<()>>);

/// All windows, by label.
#[derive(Default)]
struct WindowSessions(Mutex<BTreeMap<String, Shown>>);

impl WindowSessions {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Shown>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn of(&self, label: &str) -> Option<WindowSession> {
        self.with(|sessions| sessions.get(label).map(|(session, _)| session.clone()))
    }
}

/// Opens the first window, and runs until the last window is closed.
pub fn run(requested: OpenRequest) -> ExitCode {
    let app = tauri::Builder::default()
        // This plugin must be the first, so that a second process does nothing else.
        .plugin(tauri_plugin_single_instance::init(|app, words, folder| handle_second_start(app, &words, &folder)))
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .manage(WindowSessions::default())
        .invoke_handler(tauri::generate_handler![listen, call])
        .menu(|app| menu::menu(app, preferences(app).notify))
        .on_menu_event(|app, event| {
            if let Some(item) = Item::named(event.id().as_ref()) {
                handle_menu_item(app, item);
            }
        })
        .setup(move |app| {
            // The system opens links while the program runs.
            let handle = app.handle().clone();
            app.deep_link().on_open_url(move |event| {
                for link in event.urls() {
                    let _ = open_window(&handle, OpenRequest { link: Some(link.into()), ..OpenRequest::default() });
                }
            });
            Ok(open_window(app.handle(), requested)?)
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

/// Sends messages to the page. A reloaded page replaces the previous one.
#[tauri::command]
fn listen(window: WebviewWindow, sessions: State<'_, WindowSessions>, channel: Channel<InvokeResponseBody>) {
    let Some(session) = sessions.of(window.label()) else { return };
    let task = tauri::async_runtime::spawn(async move {
        // Bytes, so that large inputs are not parsed on the way.
        session.send_all(|message| channel.send(InvokeResponseBody::Raw(message.into_bytes())).is_ok()).await;
    });
    sessions.with(|sessions| {
        if let Some((_, last)) = sessions.get_mut(window.label())
            && let Some(before) = last.replace(task)
        {
            before.abort();
        }
    });
}

/// Carries out a call of the page.
#[tauri::command]
async fn call(window: WebviewWindow, sessions: State<'_, WindowSessions>, call: Call) -> Result<Value, String> {
    let session = sessions.of(window.label()).ok_or("this window is closing")?;
    match call {
        Call::Choose { folder } => match choose(&window, folder).await {
            Some(path) => session.open(&path).await,
            None => Ok(Value::Null),
        },
        call => session.call(call).await,
    }
}

/// Lets the user choose a folder or a file.
async fn choose(window: &WebviewWindow, folder: bool) -> Option<PathBuf> {
    let (chosen, wait) = tokio::sync::oneshot::channel();
    let dialog = window.dialog().file().set_parent(window);
    // If the window was closed, the receiver is gone.
    let done = move |path: Option<tauri_plugin_dialog::FilePath>| drop(chosen.send(path));
    if folder {
        dialog.set_title("Open a folder").pick_folder(done);
    } else {
        dialog.set_title("Open a file").add_filter("YAML, JSON and HCL", &["yaml", "yml", "json", "hcl"]).pick_file(done);
    }
    wait.await.ok().flatten()?.into_path().ok()
}

/// Handles another start of the program: opens its arguments in a new window. The second process already refused invalid arguments.
fn handle_second_start(app: &AppHandle, words: &[String], folder: &str) {
    let Ok(Command::Open(mut requested)) = arguments::read(words.iter().skip(1).map(OsString::from)) else { return };
    if requested.link.is_some() {
        // The link arrives in the deep-link plugin, too.
        return;
    }
    requested.path = requested.path.map(|path| PathBuf::from(folder).join(path));
    match app.webview_windows().values().next() {
        Some(window) if requested == OpenRequest::default() => drop(window.set_focus()),
        _ => drop(open_window(app, requested)),
    }
}

fn open_window(app: &AppHandle, requested: OpenRequest) -> tauri::Result<()> {
    let label = (1..).map(|number| format!("window-{number}")).find(|label| app.get_webview_window(label).is_none()).unwrap_or_default();
    let recent = app.path().app_config_dir().ok().map(|folder| folder.join("recent.json"));
    let session = WindowSession::new(Recent::new(recent), alarm(app, &label));
    app.state::<WindowSessions>().with(|sessions| sessions.insert(label.clone(), (session.clone(), None)));
    let window = WebviewWindowBuilder::new(app, &label, WebviewUrl::App("index.html".into()))
        .title("Chancery")
        .inner_size(1360.0, 860.0)
        .min_inner_size(480.0, 360.0)
        // A window only shows the page. Other links do not open in it.
        .on_navigation(|url| matches!((url.scheme(), url.host_str()), ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost"))))
        .build()?;
    let dropped = session.clone();
    let (handle, its, guarded) = (app.clone(), label, window.clone());
    window.on_window_event(move |event| match event {
        WindowEvent::CloseRequested { api, .. } if dropped.unsaved() > 0 => {
            api.prevent_close();
            ask_before_closing(&guarded, dropped.unsaved());
        }
        WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
            if let Some(path) = paths.first().cloned() {
                let requested = OpenRequest { path: Some(path), ..OpenRequest::default() };
                tauri::async_runtime::spawn(open(dropped.clone(), requested));
            }
        }
        WindowEvent::Destroyed => drop(handle.state::<WindowSessions>().with(|sessions| sessions.remove(&its))),
        _ => {}
    });
    tauri::async_runtime::spawn(open(session, requested));
    Ok(())
}

/// Follows the requested inputs, or shows why that is impossible.
async fn open(session: WindowSession, requested: OpenRequest) {
    if let Some(link) = requested.link {
        return session.send(json!({"what": "link", "url": link}));
    }
    let opened = match (requested.path, requested.context) {
        (Some(path), _) => session.open(&path).await,
        (None, Some(context)) => session.connect(context, requested.namespace).await,
        (None, None) => return,
    };
    if let Err(why) = opened {
        session.notice(&why);
    }
}

/// Closes a window. If there are unsaved changes, asks first.
fn ask_before_closing(window: &WebviewWindow, files: u32) {
    let changed = if files == 1 { "1 file has".to_owned() } else { format!("{files} files have") };
    let buttons = MessageDialogButtons::OkCancelCustom("Close without saving".into(), "Keep it open".into());
    let asked = window.dialog().message(format!("{changed} unsaved changes.")).title("Close this window?").parent(window).buttons(buttons);
    let window = window.clone();
    asked.show(move |close| {
        if close {
            let _ = window.destroy();
        }
    });
}

/// Shows new errors as system notifications, if the user enabled them and the window has no focus.
fn alarm(app: &AppHandle, label: &str) -> Alarm {
    let (app, label) = (app.clone(), label.to_owned());
    Arc::new(move |sentence| {
        let is_seen = app.get_webview_window(&label).is_none_or(|window| window.is_focused().unwrap_or(true));
        if !is_seen && preferences(&app).notify {
            // If the system shows no notification, the window still shows the errors.
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

/// Handles a menu item for the focused window.
fn handle_menu_item(app: &AppHandle, item: Item) {
    let focused = app.webview_windows().into_values().find(|window| window.is_focused().unwrap_or_default());
    match item {
        Item::NewWindow => drop(open_window(app, OpenRequest::default())),
        Item::Quit => app.webview_windows().into_values().for_each(|window| drop(window.close())),
        Item::Notify => {
            let now = Preferences { notify: !preferences(app).notify };
            if let Some(Err(error)) = preferences_file(app).map(|file| now.write(&file)) {
                eprintln!("chancery-desktop: the preference cannot be stored: {error}");
            }
        }
        Item::CloseWindow => drop(focused.map(|window| window.close())),
        Item::OpenFolder | Item::OpenFile => {
            drop(focused.map(|window| tauri::async_runtime::spawn(choose_and_open(window, item == Item::OpenFolder))))
        }
        Item::Connect | Item::Save | Item::Keys => {
            if let Some(session) = focused.and_then(|window| app.state::<WindowSessions>().of(window.label())) {
                session.send(json!({"what": "menu", "item": item.id()}));
            }
        }
    }
}

async fn choose_and_open(window: WebviewWindow, folder: bool) {
    let session = window.state::<WindowSessions>().of(window.label());
    if let (Some(path), Some(session)) = (choose(&window, folder).await, session) {
        open(session, OpenRequest { path: Some(path), ..OpenRequest::default() }).await;
    }
}
