//! Tests edits in the way of editors, tools and kubelets.

use super::reader::{EMPTIED, REFILL, Reader, SETTLE, TICK};
use super::*;
use crate::event::Events;
use crate::event::SourceState;
use crate::sources::States;
use crate::worker::intake::Intake;
use crate::worker::metrics::Metrics;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

struct Followed {
    folder: tempfile::TempDir,
    intake: Intake,
    states: States,
    _runtime: tokio::runtime::Runtime,
}

/// Marks the text of a controller: the reader skips other files of a folder.
const CLAIM: &str = "apiVersion: getambassador.io/v3alpha1 # ";

fn put(path: impl AsRef<Path>, text: &str) {
    fs::write(path, format!("{CLAIM}{text}")).expect("a file");
}

impl Followed {
    fn start(prepare: impl FnOnce(&Path), follow: &str) -> Self {
        Self::reading(prepare, follow, Reading::default())
    }

    fn reading(prepare: impl FnOnce(&Path), follow: &str, reading: Reading) -> Self {
        let out = Self::unsynced(prepare, follow, reading);
        out.until("the first look", |out| out.intake.is_synced());
        out
    }

    /// Follows a folder, and does not wait until the source is synced.
    fn unsynced(prepare: impl FnOnce(&Path), follow: &str, reading: Reading) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        prepare(folder.path());
        Self::follow(folder, follow, reading)
    }

    /// Follows the same folder again, as a new process.
    fn restart(self, edit: impl FnOnce(&Path), reading: Reading) -> Self {
        drop(self._runtime);
        edit(self.folder.path());
        Self::follow(self.folder, "", reading)
    }

    fn state(&self) -> Option<(SourceState, String)> {
        self.states.all().into_iter().next().map(|status| (status.state, status.detail.unwrap_or_default()))
    }

    fn is_in(&self, state: SourceState) -> bool {
        self.state().is_some_and(|(known, _)| known == state)
    }

    fn follow(folder: tempfile::TempDir, follow: &str, reading: Reading) -> Self {
        let (intake, states) = (Intake::new(1, Metrics::default()), States::default());
        let source = Box::new(Folder::new(folder.path().join(follow), reading));
        let outlet =
            Outlet { number: 0, name: source.name(), intake: intake.clone(), events: Events::default(), states: states.clone(), recorder: None };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        runtime.spawn(source.run(outlet));
        Self { folder, intake, states, _runtime: runtime }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the present inputs by name.
    fn texts(&self) -> BTreeMap<String, String> {
        let root = format!("{}/", self.folder.path().display());
        self.intake
            .texts()
            .into_iter()
            .map(|(name, text)| (name.trim_start_matches(&root).to_owned(), text.trim_start_matches(CLAIM).to_owned()))
            .collect()
    }

    fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            // Shorter than the interval of reading without a notification.
            assert!(begin.elapsed() < INTERVAL - Duration::from_secs(1), "{what}: {:?}", self.texts());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn is(&self, what: &str, wanted: &[(&str, &str)]) {
        let wanted: BTreeMap<String, String> = wanted.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        self.until(what, |out| out.texts() == wanted);
    }
}

#[test]
fn folder_follows_edits() {
    let followed = Followed::start(|root| put(root.join("a.yaml"), "1"), "");
    followed.is("at the beginning", &[("a.yaml", "1")]);
    put(followed.path("a.yaml"), "2");
    followed.is("written in place", &[("a.yaml", "2")]);
    put(followed.path(".a.yaml.swp"), "half");
    fs::write(followed.path("4913"), "").expect("a file");
    fs::rename(followed.path(".a.yaml.swp"), followed.path("a.yaml")).expect("a rename");
    followed.is("written elsewhere and renamed", &[("a.yaml", "half")]);
    fs::rename(followed.path("a.yaml"), followed.path("a.yaml~")).expect("a rename");
    put(followed.path("a.yaml"), "3");
    followed.is("the old one kept as a backup", &[("a.yaml", "3")]);
    fs::create_dir(followed.path("below")).expect("a folder");
    put(followed.path("below/b.yml"), "b");
    followed.is("in a new folder", &[("a.yaml", "3"), ("below/b.yml", "b")]);
    fs::rename(followed.path("below"), followed.path("under")).expect("a rename");
    followed.is("a folder under another name", &[("a.yaml", "3"), ("under/b.yml", "b")]);
    fs::remove_file(followed.path("a.yaml")).expect("a file");
    followed.is("removed", &[("under/b.yml", "b")]);
}

#[cfg(unix)]
#[test]
fn folder_follows_mounted_config_map() {
    use std::os::unix::fs::symlink;
    // Kubelets mount files as links into a folder that is itself a link, and exchange that link.
    let version = |root: &Path, name: &str, text: &str| {
        fs::create_dir(root.join(name)).expect("a folder");
        put(root.join(name).join("a.yaml"), text);
        symlink(name, root.join("..data_tmp")).expect("a link");
        fs::rename(root.join("..data_tmp"), root.join("..data")).expect("a rename");
    };
    let followed = Followed::start(
        |root| {
            version(root, "..2024_1", "1");
            symlink("..data/a.yaml", root.join("a.yaml")).expect("a link");
        },
        "",
    );
    followed.is("at the beginning", &[("a.yaml", "1")]);
    version(followed.folder.path(), "..2024_2", "2");
    followed.is("exchanged", &[("a.yaml", "2")]);
    fs::remove_dir_all(followed.path("..2024_1")).expect("a folder");
    version(followed.folder.path(), "..2024_3", "3");
    followed.is("exchanged once more", &[("a.yaml", "3")]);
}

#[test]
fn source_follows_single_file() {
    let followed = Followed::start(|root| put(root.join("a.conf"), "1"), "a.conf");
    followed.is("at the beginning", &[("a.conf", "1")]);
    put(followed.path("new"), "2");
    fs::rename(followed.path("new"), followed.path("a.conf")).expect("a rename");
    followed.is("exchanged", &[("a.conf", "2")]);
}

#[test]
fn missing_folder_keeps_objects() {
    let prepare = |root: &Path| {
        fs::create_dir(root.join("mount")).expect("a folder");
        put(root.join("mount/a.yaml"), "1");
    };
    let followed = Followed::start(prepare, "mount");
    fs::rename(followed.path("mount"), followed.path("elsewhere")).expect("a rename");
    let state = |out: &Followed| out.states.all().first().map(|status| status.state);
    followed.until("the loss is reported", |out| state(out) == Some(SourceState::Missing));
    followed.is("what it held is kept", &[("mount/a.yaml", "1")]);
    fs::rename(followed.path("elsewhere"), followed.path("mount")).expect("a rename");
    put(followed.path("mount/a.yaml"), "2");
    followed.is("it is back", &[("mount/a.yaml", "2")]);
    followed.until("the return is reported", |out| state(out) == Some(SourceState::Synced));
}

#[cfg(unix)]
#[test]
fn links_in_circles_end() {
    let prepare = |root: &Path| {
        put(root.join("a.yaml"), "1");
        std::os::unix::fs::symlink(".", root.join("circle")).expect("a link");
        std::os::unix::fs::symlink("nowhere", root.join("dangling.yaml")).expect("a link");
    };
    let followed = Followed::start(prepare, "");
    followed.is("at the beginning", &[("a.yaml", "1")]);
}

#[test]
fn rewritten_file_is_never_seen_empty() {
    let followed = Followed::start(|root| put(root.join("a.yaml"), "one"), "");
    let has = |out: &Followed, text: &str| out.texts().values().any(|known| known == text);
    let mut file = fs::File::create(followed.path("a.yaml")).expect("it is emptied");
    let begin = Instant::now();
    while begin.elapsed() < TICK / 2 {
        assert!(has(&followed, "one"), "the last content stays: {:?}", followed.texts());
        std::thread::sleep(Duration::from_millis(1));
    }
    std::io::Write::write_all(&mut file, format!("{CLAIM}two").as_bytes()).expect("it is written");
    followed.until("the new text", |out| has(out, "two"));
    drop(fs::File::create(followed.path("a.yaml")).expect("it is emptied"));
    followed.until("nothing is left", |out| out.texts().is_empty());
}

/// Returns the messages about unreadable files.
fn unreadable(of: &Followed) -> Vec<String> {
    of.intake.unreadable().into_iter().map(|file| file.message).collect()
}

#[test]
fn broken_file_keeps_last_content_until_fixed() {
    let good = "\nkind: Mapping\nmetadata: {name: a}\nspec:\n  prefix: /a/\n";
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("kind: Mapping\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let broken: [(&str, Vec<u8>, &str); 7] = [
        ("binary", b"\x00\x01garbage".to_vec(), "it is not text"),
        ("UTF-16", utf16, "its text is in UTF-16, and must be in UTF-8"),
        (
            "another encoding",
            format!("{CLAIM}{good}").replace("/a/", "/\u{1}/").into_bytes().iter().map(|b| if *b == 1 { 0xe9 } else { *b }).collect(),
            "its text is not in UTF-8",
        ),
        ("a tab", format!("{CLAIM}{}", good.replace("  prefix", "\tprefix")).into_bytes(), "its document is broken at line 5"),
        ("no object", b"garbage".to_vec(), "its document is broken at line 1"),
        ("an open bracket", format!("{CLAIM}{good}---\n{CLAIM}\nkind: [\n").into_bytes(), "its document is broken at line"),
        ("JSON cut off", b"{\"kind\": \"Mapping\", \"spec\": {".to_vec(), "its document is broken at line 1"),
    ];
    let followed = Followed::start(|root| put(root.join("a.yaml"), good), "");
    let state = |out: &Followed| out.states.all().first().map(|status| status.state);
    for (what, bytes, why) in broken {
        fs::write(followed.path("a.yaml"), bytes).expect("a file");
        followed.until(what, |out| !unreadable(out).is_empty());
        let [message] = &unreadable(&followed)[..] else { panic!("{what}") };
        assert!(message.contains("a.yaml cannot be read: ") && message.contains(why) && message.ends_with("UTC, is used"), "{what}: {message}");
        followed.until(what, |out| state(out) == Some(SourceState::Error));
        followed.is(what, &[("a.yaml", good)]);
        // A text that changes back is news, although it equals the last readable version.
        put(followed.path("a.yaml"), good);
        followed.until("the file is fixed", |out| unreadable(out).is_empty() && state(out) == Some(SourceState::Synced));
        followed.is("the file is fixed", &[("a.yaml", good)]);
    }
    fs::write(followed.path("a.yaml"), "\0").expect("a file");
    followed.until("binary again", |out| !unreadable(out).is_empty());
    put(followed.path("a.yaml"), "2");
    followed.is("the content changes", &[("a.yaml", "2")]);
    fs::write(followed.path("a.yaml"), "\0").expect("a file");
    followed.until("binary again", |out| !unreadable(out).is_empty());
    fs::remove_file(followed.path("a.yaml")).expect("a file");
    followed.is("what is removed is gone", &[]);
    followed.until("no report of it", |out| unreadable(out).is_empty() && state(out) == Some(SourceState::Synced));
}

#[test]
fn never_readable_file_is_reported() {
    let broken = "\nkind: Mapping\nspec: [\n";
    let prepare = |root: &Path| {
        fs::write(root.join("binary.yaml"), b"\0\x01").expect("a file");
        put(root.join("broken.yaml"), broken);
        put(root.join("good.yaml"), "1");
        // Files of other programs are skipped, in any encoding.
        fs::write(root.join("other.json"), [0xff, 0xfe, b'{', 0, b'}', 0]).expect("a file");
    };
    let followed = Followed::start(prepare, "");
    followed.is("at the beginning", &[("broken.yaml", broken), ("good.yaml", "1")]);
    let [message] = &unreadable(&followed)[..] else { panic!("{:?}", unreadable(&followed)) };
    assert!(message.ends_with("binary.yaml cannot be read: it is not text; nothing of it is used"), "{message}");
    // The file never had a readable version.
    put(followed.path("broken.yaml"), "\nkind: Mapping\nspec: {\n");
    followed.is("broken otherwise", &[("broken.yaml", "\nkind: Mapping\nspec: {\n"), ("good.yaml", "1")]);
}

#[test]
fn editor_gets_broken_text_unchanged() {
    let followed = Followed::reading(|root| put(root.join("a.yaml"), "1"), "", Reading { with_broken: true, ..Reading::default() });
    put(followed.path("a.yaml"), "\nkind: [\n");
    followed.is("broken", &[("a.yaml", "\nkind: [\n")]);
    assert_eq!(unreadable(&followed), [""; 0]);
}

#[cfg(unix)]
#[test]
fn dangling_link_is_unreadable_file() {
    let prepare = |root: &Path| {
        put(root.join("real"), "1");
        std::os::unix::fs::symlink("real", root.join("a.yaml")).expect("a link");
    };
    let followed = Followed::start(prepare, "");
    fs::remove_file(followed.path("real")).expect("a file");
    followed.until("the loss is reported", |out| unreadable(out).iter().any(|message| message.contains("it is a link that leads nowhere")));
    followed.is("what it said stays", &[("a.yaml", "1")]);
    fs::remove_file(followed.path("a.yaml")).expect("a link");
    followed.is("what is removed is gone", &[]);
}

#[cfg(unix)]
#[test]
fn forbidden_file_keeps_last_content() {
    use std::os::unix::fs::PermissionsExt;
    let may = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
    let followed = Followed::start(|root| put(root.join("a.yaml"), "1"), "");
    put(followed.path("a.yaml"), "2");
    followed.is("it is read", &[("a.yaml", "2")]);
    may(&followed.path("a.yaml"), 0o000);
    if fs::read(followed.path("a.yaml")).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    followed.until("the loss is reported", |out| unreadable(out).iter().any(|message| message.contains("permission denied")));
    followed.is("what it said stays", &[("a.yaml", "2")]);
    may(&followed.path("a.yaml"), 0o644);
    followed.until("it may be read", |out| unreadable(out).is_empty());
    // A tool that renames writes another file with the same permissions.
    put(followed.path("new"), "3");
    may(&followed.path("new"), 0o000);
    fs::rename(followed.path("new"), followed.path("a.yaml")).expect("a rename");
    followed.until("the loss is reported", |out| !unreadable(out).is_empty());
    followed.is("what it said stays", &[("a.yaml", "2")]);
    may(&followed.path("a.yaml"), 0o644);
    followed.is("it may be read", &[("a.yaml", "3")]);
    assert_eq!(unreadable(&followed), [""; 0]);
}

#[cfg(unix)]
#[test]
fn named_pipe_is_skipped() {
    let prepare = |root: &Path| {
        put(root.join("a.yaml"), "1");
        let made = std::process::Command::new("mkfifo").arg(root.join("b.yaml")).status().expect("mkfifo");
        assert!(made.success());
    };
    let followed = Followed::start(prepare, "");
    followed.is("at the beginning", &[("a.yaml", "1")]);
    put(followed.path("a.yaml"), "2");
    followed.is("it continues", &[("a.yaml", "2")]);
    assert_eq!(unreadable(&followed), [""; 0]);
}

fn by_accident(grace: Duration) -> Reading {
    Reading { empty: EmptyFolder::Accident(grace), ..Reading::default() }
}

#[test]
fn folder_never_read_is_not_synced() {
    let other = "a: 1\n";
    let prepare = |root: &Path| {
        fs::create_dir(root.join("mount")).expect("a folder");
        fs::write(root.join("mount/other.yaml"), other).expect("a file");
    };
    let followed = Followed::unsynced(|_| {}, "mount", by_accident(Duration::from_secs(60)));
    followed.until("it is missing", |out| out.is_in(SourceState::Missing));
    assert!(!followed.intake.is_synced());
    prepare(followed.folder.path());
    followed.until("it is empty", |out| out.is_in(SourceState::Empty));
    assert!(!followed.intake.is_synced());
    let (_, detail) = followed.state().expect("a state");
    assert_eq!(detail, "its only file contains no resources; nothing is served until it contains resources");
    put(followed.path("mount/a.yaml"), "1");
    followed.until("it is read", |out| out.intake.is_synced());
    followed.is("it is read", &[("mount/a.yaml", "1")]);
    let intended = Followed::start(|_| {}, "");
    assert!(intended.is_in(SourceState::Synced) || intended.state().is_none(), "an empty folder may be intended");
}

#[test]
fn emptied_folder_keeps_content_for_grace_period() {
    let grace = Duration::from_millis(1500);
    let followed = Followed::reading(|root| put(root.join("a.yaml"), "1"), "", by_accident(grace));
    followed.is("at the beginning", &[("a.yaml", "1")]);
    fs::remove_file(followed.path("a.yaml")).expect("a file");
    followed.until("it is reported", |out| out.is_in(SourceState::Error));
    let (_, detail) = followed.state().expect("a state");
    assert!(detail.starts_with("it has no files any more; its last content is served until "), "{detail}");
    followed.is("it is kept", &[("a.yaml", "1")]);
    put(followed.path("a.yaml"), "2");
    followed.is("the folder has files again", &[("a.yaml", "2")]);
    followed.until("it is synced", |out| out.is_in(SourceState::Synced));
    fs::write(followed.path("a.yaml"), "a: 1\n").expect("a file");
    followed.until("it is reported", |out| out.is_in(SourceState::Error));
    followed.is("it is kept", &[("a.yaml", "2")]);
    followed.until("the grace period ends", |out| out.is_in(SourceState::Empty));
    followed.is("nothing is left", &[]);
}

#[test]
fn emptied_file_is_broken_before_it_is_deleted() {
    let prepare = |root: &Path| {
        put(root.join("a.yaml"), "one");
        put(root.join("b.yaml"), "other");
    };
    let followed = Followed::start(prepare, "");
    fs::write(followed.path("a.yaml"), "").expect("a file");
    followed.until("it is reported", |out| !unreadable(out).is_empty());
    let begin = Instant::now();
    while begin.elapsed() < EMPTIED / 2 {
        assert_eq!(followed.texts().len(), 2, "it is kept");
        std::thread::sleep(Duration::from_millis(20));
    }
    let [message] = &unreadable(&followed)[..] else { panic!("{:?}", unreadable(&followed)) };
    assert!(message.contains("cannot be read: it was emptied; its last readable version"), "{message}");
    followed.is("it is taken at its word", &[("b.yaml", "other")]);
    assert_eq!(unreadable(&followed), [""; 0]);
}

const GOOD: &str = "\nkind: Mapping\nmetadata: {name: a}\nspec:\n  prefix: /a/\n";

#[test]
fn restart_with_broken_file_uses_last_good_text() {
    let state = tempfile::tempdir().expect("a folder");
    let reading = || Reading { state: Some(state.path().to_owned()), ..by_accident(Duration::from_secs(60)) };
    let broken: [(&str, &[u8]); 4] =
        [("a tab", b"kind: Mapping\n\tspec: {}\n"), ("cut off", b"{\"kind\": "), ("binary", b"\0\x01"), ("emptied", b"")];
    let mut followed = Followed::reading(|root| put(root.join("a.yaml"), GOOD), "", reading());
    followed.is("at the beginning", &[("a.yaml", GOOD)]);
    for (what, bytes) in broken {
        followed.until("it is synced", |out| out.is_in(SourceState::Synced));
        followed = followed.restart(|root| fs::write(root.join("a.yaml"), bytes).expect("a file"), reading());
        followed.until(what, |out| out.intake.is_synced() && out.is_in(SourceState::Error));
        followed.is(what, &[("a.yaml", GOOD)]);
        let (_, detail) = followed.state().expect("a state");
        assert!(detail.contains("its last readable version, read at "), "{what}: {detail}");
        put(followed.path("a.yaml"), GOOD);
    }
    followed.until("it is synced", |out| out.is_in(SourceState::Synced));
    let followed = followed.restart(|root| fs::remove_file(root.join("a.yaml")).expect("a file"), reading());
    followed.until("an emptied folder", |out| out.intake.is_synced() && out.is_in(SourceState::Error));
    followed.is("an emptied folder", &[("a.yaml", GOOD)]);
    put(followed.path("b.yaml"), "1");
    followed.is("a deleted file stays deleted", &[("b.yaml", "1")]);
}

#[test]
fn start_reports_broken_file_without_objects() {
    let prepare = |root: &Path| {
        put(root.join("a.yaml"), GOOD);
        fs::write(root.join("b.yaml"), "garbage\n").expect("a file");
        put(root.join("c.yaml"), "\nkind: [\n");
    };
    let followed = Followed::start(prepare, "");
    followed.until("it is reported", |out| out.is_in(SourceState::Error));
    let (_, detail) = followed.state().expect("a state");
    assert!(detail.contains("b.yaml cannot be read: its document is broken at line 1; nothing of it is used"), "{detail}");
    assert!(detail.contains("c.yaml is broken at line 2 and no earlier version is known; only its readable part is used"), "{detail}");
    assert_eq!(unreadable(&followed).len(), 1, "the other is an input, whose errors the build reports");
}

/// A folder that is only read when the test says so.
struct Looked {
    folder: tempfile::TempDir,
    intake: Intake,
    reader: Reader,
}

impl Looked {
    fn at(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let intake = Intake::new(1, Metrics::default());
        let (events, states) = (Events::default(), States::default());
        let outlet = Outlet { number: 0, name: "gateway".into(), intake: intake.clone(), events, states, recorder: None };
        let reader = Reader::new(folder.path().to_owned(), by_accident(Duration::from_secs(600)), outlet, None);
        let mut out = Self { folder, intake, reader };
        names.iter().for_each(|name| out.put(name));
        out.sees(names, "at the beginning");
        out
    }

    fn put(&self, name: &str) {
        put(self.folder.path().join(name), name);
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).expect("a file");
    }

    /// Reads the folder, and checks the names of all inputs.
    fn sees(&mut self, wanted: &[&str], what: &str) {
        self.reader.read();
        let all = self.intake.texts();
        let names: Vec<&str> = all.keys().filter_map(|name| Path::new(name).file_name()?.to_str()).collect();
        assert_eq!(names, wanted, "{what}");
    }
}

#[test]
fn refilled_folder_keeps_files_that_are_not_back() {
    let all = ["a.yaml", "b.yaml", "c.yaml"];
    let mut looked = Looked::at(&all);
    all.iter().for_each(|name| looked.remove(name));
    looked.sees(&all, "emptied");
    std::thread::sleep(SETTLE + TICK);
    looked.sees(&all, "emptied for a while");
    for name in ["a.yaml", "b.yaml"] {
        looked.put(name);
        looked.sees(&all, "the first files are back");
    }
    std::thread::sleep(REFILL + TICK);
    looked.sees(&["a.yaml", "b.yaml"], "no more came");
    // The folder is replaced, as by a tool that creates it again.
    fs::remove_dir_all(looked.folder.path()).expect("a folder");
    looked.sees(&["a.yaml", "b.yaml"], "missing");
    std::thread::sleep(SETTLE + TICK);
    fs::create_dir(looked.folder.path()).expect("a folder");
    looked.put("b.yaml");
    looked.sees(&["a.yaml", "b.yaml"], "the first file is back");
    std::thread::sleep(SETTLE + TICK);
    looked.sees(&["a.yaml", "b.yaml"], "the second file may follow");
}

#[test]
fn replaced_file_beside_new_file_stays() {
    let mut looked = Looked::at(&["a.yaml", "b.yaml"]);
    // As `git checkout` does: it creates one file, and deletes another before it writes it again.
    looked.remove("b.yaml");
    looked.put("c.yaml");
    looked.sees(&["a.yaml", "b.yaml", "c.yaml"], "between both");
    looked.put("b.yaml");
    looked.sees(&["a.yaml", "b.yaml", "c.yaml"], "after both");
    fs::rename(looked.folder.path().join("c.yaml"), looked.folder.path().join("d.yaml")).expect("a rename");
    looked.sees(&["a.yaml", "b.yaml", "d.yaml"], "no object exists twice after a file was renamed");
}

#[test]
fn file_written_in_parts_is_read_whole() {
    let mut looked = Looked::at(&["a.yaml"]);
    let path = looked.folder.path().join("a.yaml");
    let write = |text: &str| {
        put(&path, text);
        // A stalled test does not let the file look old.
        fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(SystemTime::now() + EMPTIED)).expect("a time");
    };
    let text = |looked: &mut Looked| {
        looked.reader.read();
        looked.intake.texts().into_values().next().unwrap_or_default().trim_start_matches(CLAIM).to_owned()
    };
    write("a\nb: 2\nc: 3\n");
    assert_eq!(text(&mut looked), "a\nb: 2\nc: 3\n");
    write("1\n");
    assert_eq!(text(&mut looked), "a\nb: 2\nc: 3\n", "the rest may follow");
    write("1\nb: 3\nc: 4\n");
    assert_eq!(text(&mut looked), "1\nb: 3\nc: 4\n");
    put(&path, "1\n");
    std::thread::sleep(2 * TICK);
    assert_eq!(text(&mut looked), "1\n", "nothing followed");
}
