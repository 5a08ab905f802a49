//! The items of the window's menu. Does not carry them out; see `window`.

use tauri::menu::{CheckMenuItemBuilder, Menu, MenuBuilder, MenuItemBuilder, SubmenuBuilder};
use tauri::{AppHandle, Wry};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    OpenFolder,
    OpenFile,
    Connect,
    Save,
    NewWindow,
    CloseWindow,
    Quit,
    Notify,
    Keys,
}

/// The id, label and shortcut of each item.
const ITEMS: [(Item, &str, &str, &str); 9] = [
    (Item::OpenFolder, "open-folder", "Open Folder…", "CmdOrCtrl+Shift+O"),
    (Item::OpenFile, "open-file", "Open File…", "CmdOrCtrl+O"),
    (Item::Connect, "connect", "Connect to a Cluster…", "CmdOrCtrl+Shift+C"),
    (Item::Save, "save", "Save", "CmdOrCtrl+S"),
    (Item::NewWindow, "new-window", "New Window", "CmdOrCtrl+Shift+N"),
    (Item::CloseWindow, "close-window", "Close Window", "CmdOrCtrl+W"),
    (Item::Quit, "quit", "Quit", "CmdOrCtrl+Q"),
    (Item::Notify, "notify", "Notify of New Errors", ""),
    (Item::Keys, "keys", "Keys", ""),
];

impl Item {
    /// The item with this id.
    pub fn named(id: &str) -> Option<Self> {
        ITEMS.iter().find(|(_, its, ..)| *its == id).map(|(item, ..)| *item)
    }

    /// The id, which the page knows too.
    pub fn id(self) -> &'static str {
        self.line().1
    }

    fn line(self) -> (Self, &'static str, &'static str, &'static str) {
        ITEMS.into_iter().find(|(item, ..)| *item == self).unwrap_or(ITEMS[0])
    }
}

/// Builds the menu; `notify` is whether notifications are on.
pub fn menu(app: &AppHandle, notify: bool) -> tauri::Result<Menu<Wry>> {
    let item = |item: Item| {
        let (_, id, label, keys) = item.line();
        let made = MenuItemBuilder::with_id(id, label);
        if keys.is_empty() { made.build(app) } else { made.accelerator(keys).build(app) }
    };
    let file = SubmenuBuilder::new(app, "File")
        .items(&[&item(Item::OpenFolder)?, &item(Item::OpenFile)?, &item(Item::Connect)?])
        .separator()
        .item(&item(Item::Save)?)
        .separator()
        .items(&[&item(Item::NewWindow)?, &item(Item::CloseWindow)?, &item(Item::Quit)?])
        .build()?;
    let (_, id, label, _) = Item::Notify.line();
    let view = SubmenuBuilder::new(app, "View").item(&CheckMenuItemBuilder::with_id(id, label).checked(notify).build(app)?).build()?;
    let help = SubmenuBuilder::new(app, "Help").item(&item(Item::Keys)?).build()?;
    let menu = MenuBuilder::new(app).item(&file);
    // On other systems, the clipboard shortcuts work without a menu.
    #[cfg(target_os = "macos")]
    let menu = menu.item(&SubmenuBuilder::new(app, "Edit").undo().redo().separator().cut().copy().paste().select_all().build()?);
    menu.items(&[&view, &help]).build()
}
