//! Edits as editors, tools and kubelets make them.

use super::*;
use crate::event::Events;
use crate::sources::States;
use crate::worker::intake::Intake;
use crate::worker::metrics::Metrics;
use std::fs;
use std::time::Instant;

struct Followed {
    folder: tempfile::TempDir,
    intake: Intake,
    states: States,
    _runtime: tokio::runtime::Runtime,
}

/// What makes a text one of a controller: others in a folder are passed over.
const CLAIM: &str = "apiVersion: getambassador.io/v3alpha1 # ";

fn put(path: impl AsRef<Path>, text: &str) {
    fs::write(path, format!("{CLAIM}{text}")).expect("a file");
}

impl Followed {
    fn start(prepare: impl FnOnce(&Path), follow: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        prepare(folder.path());
        let (intake, states) = (Intake::new(1, Metrics::default()), States::default());
        let source = Box::new(Folder::new(folder.path().join(follow), Reading::default()));
        let outlet =
            Outlet { number: 0, name: source.name(), intake: intake.clone(), events: Events::default(), states: states.clone(), recorder: None };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        runtime.spawn(source.run(outlet));
        let out = Self { folder, intake, states, _runtime: runtime };
        out.until("the first look", |out| out.intake.is_synced());
        out
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The texts by name, as they are now.
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
            // Less than what it takes until it is looked at unasked.
            assert!(begin.elapsed() < UNASKED - Duration::from_secs(1), "{what}: {:?}", self.texts());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn is(&self, what: &str, wanted: &[(&str, &str)]) {
        let wanted: BTreeMap<String, String> = wanted.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        self.until(what, |out| out.texts() == wanted);
    }
}

#[test]
fn edits_are_followed() {
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
fn a_config_map_that_is_mounted_is_followed() {
    use std::os::unix::fs::symlink;
    // As kubelets mount them: the files are links into a folder that is itself a link, and that link is exchanged.
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
fn a_single_file_is_followed() {
    let followed = Followed::start(|root| put(root.join("a.conf"), "1"), "a.conf");
    followed.is("at the beginning", &[("a.conf", "1")]);
    put(followed.path("new"), "2");
    fs::rename(followed.path("new"), followed.path("a.conf")).expect("a rename");
    followed.is("exchanged", &[("a.conf", "2")]);
}

#[test]
fn a_folder_that_vanishes_keeps_its_objects() {
    let prepare = |root: &Path| {
        fs::create_dir(root.join("mount")).expect("a folder");
        put(root.join("mount/a.yaml"), "1");
    };
    let followed = Followed::start(prepare, "mount");
    fs::rename(followed.path("mount"), followed.path("elsewhere")).expect("a rename");
    let state = |out: &Followed| out.states.all().first().map(|status| status.state);
    followed.until("the loss is told", |out| state(out) == Some(SourceState::Missing));
    followed.is("what it held is kept", &[("mount/a.yaml", "1")]);
    fs::rename(followed.path("elsewhere"), followed.path("mount")).expect("a rename");
    put(followed.path("mount/a.yaml"), "2");
    followed.is("it is back", &[("mount/a.yaml", "2")]);
    followed.until("that is told", |out| state(out) == Some(SourceState::Synced));
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_circles_end() {
    let prepare = |root: &Path| {
        put(root.join("a.yaml"), "1");
        std::os::unix::fs::symlink(".", root.join("circle")).expect("a link");
        std::os::unix::fs::symlink("nowhere", root.join("dangling.yaml")).expect("a link");
    };
    let followed = Followed::start(prepare, "");
    followed.is("at the beginning", &[("a.yaml", "1")]);
}

#[test]
fn a_file_that_is_written_in_place_is_not_seen_empty_and_one_that_is_emptied_goes() {
    let followed = Followed::start(|root| put(root.join("a.yaml"), "one"), "");
    let has = |out: &Followed, text: &str| out.texts().values().any(|known| known == text);
    let mut file = fs::File::create(followed.path("a.yaml")).expect("it is emptied");
    let begin = Instant::now();
    while begin.elapsed() < TICK / 2 {
        assert!(has(&followed, "one"), "what was there stays: {:?}", followed.texts());
        std::thread::sleep(Duration::from_millis(1));
    }
    std::io::Write::write_all(&mut file, format!("{CLAIM}two").as_bytes()).expect("it is written");
    followed.until("the new text", |out| has(out, "two"));
    drop(fs::File::create(followed.path("a.yaml")).expect("it is emptied"));
    followed.until("nothing is left", |out| out.texts().is_empty());
}
