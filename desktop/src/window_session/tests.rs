//! Tests of a window's messages and calls, without a window.

use super::*;
use std::sync::Mutex as Plain;
use std::time::Instant;

const GOOD: &str =
    "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: quote}\nspec: {hostname: '*', prefix: /quote/, service: quote}\n";
const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2hunter2}\n";

/// A window's state with the messages of its page.
struct Page {
    session: WindowSession,
    messages: Arc<Plain<Vec<Value>>>,
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Page {
    async fn opened() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway");
        std::fs::create_dir(&path).expect("a folder");
        std::fs::write(path.join("quote.yaml"), GOOD).expect("a file");
        std::fs::write(path.join("secret.yaml"), SECRET).expect("a file");
        let session = WindowSession::new(Recent::new(Some(folder.path().join("recent.json"))), Arc::new(|_| ()));
        let messages: Arc<Plain<Vec<Value>>> = Arc::default();
        let (talking, kept) = (session.clone(), messages.clone());
        tokio::spawn(async move {
            talking
                .send_all(move |message| {
                    kept.lock().expect("a lock").push(serde_json::from_str(&message).expect("JSON"));
                    true
                })
                .await;
        });
        session.open(&path).await.expect("it is followed");
        Self { session, messages, _folder: folder, path }
    }

    fn file(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Waits until the page received a matching message.
    async fn message(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let found = self.messages.lock().expect("a lock").iter().find(|message| message["what"] == what && is_it(message)).cloned();
            if let Some(found) = found {
                return found;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no {what}: {:?}", self.messages.lock());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn text(&self, name: &str, has: &str) -> Value {
        let name = self.file(name);
        let put = |message: &Value| {
            message["put"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|put| put["name"] == name && put["text"].as_str().is_some_and(|text| text.contains(has)))
                .cloned()
        };
        put(&self.message("inputs", |message| put(message).is_some()).await).expect("it is there")
    }
}

fn call(text: Value) -> Call {
    serde_json::from_value(text).expect("a call")
}

#[tokio::test]
async fn page_receives_inputs_without_secrets_and_changes() {
    let page = Page::opened().await;
    assert_eq!(page.message("session", |about| about["kind"] == "folder").await["title"], page.path.display().to_string());
    assert_eq!(page.text("quote.yaml", "quote").await["hidden"], false);
    let secret = page.text("secret.yaml", "password").await;
    assert!(secret["hidden"] == true && !secret.to_string().contains("hunter2"), "{secret}");
    std::fs::write(page.path.join("quote.yaml"), GOOD.replace("/quote/", "/other/")).expect("a file");
    page.text("quote.yaml", "/other/").await;
}

#[tokio::test]
async fn save_refuses_other_files_and_conflicts() {
    let page = Page::opened().await;
    page.text("quote.yaml", "quote").await;
    let (file, edited) = (page.file("quote.yaml"), GOOD.replace("/quote/", "/mine/"));
    let save = |name: &str, was: &str| call(json!({"do": "save", "name": name, "text": edited, "was": was}));
    assert_eq!(page.session.call(save(&file, "another text")).await, Ok(json!({"conflict": true})));
    assert_eq!(page.session.call(save(&file, GOOD)).await, Ok(json!({"conflict": false})));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), edited);
    let outside = page.path.join("../outside.yaml");
    std::fs::write(&outside, GOOD).expect("a file");
    assert!(page.session.call(save(&outside.display().to_string(), GOOD)).await.is_err_and(|why| why.contains("not one of the open files")));
    page.session.call(Call::Close).await.expect("it is closed");
    assert!(page.session.call(save(&file, &edited)).await.is_err());
}

#[tokio::test]
async fn inputs_with_hidden_secrets_are_not_editable() {
    let page = Page::opened().await;
    let shown = page.text("secret.yaml", "password").await["text"].as_str().expect("a text").to_owned();
    let (name, text) = (page.file("secret.yaml"), shown.replace("password", "token"));
    let draft = Call::Draft { name: name.clone(), text: Some(text.clone()) };
    for wrong in [draft, Call::Save { name, text, was: shown }] {
        assert!(page.session.call(wrong.clone()).await.is_err_and(|why| why.contains("hides secrets")), "{wrong:?}");
    }
    assert_eq!(std::fs::read_to_string(page.file("secret.yaml")).expect("a file"), SECRET);
}

#[tokio::test]
async fn reopen_refuses_new_paths() {
    let page = Page::opened().await;
    assert!(page.session.call(Call::Reopen { path: "/etc".into() }).await.is_err());
    assert_eq!(page.session.call(Call::Reopen { path: page.path.display().to_string() }).await, Ok(Value::Null));
    assert!(page.session.open(Path::new("/does/not/exist")).await.is_err_and(|why| why.contains("/does/not/exist")));
    for wrong in [
        json!({"do": "run"}),
        json!({"do": "serve", "port": 1, "more": 1}),
        json!({"do": "serve", "port": 70000}),
        json!({"do": "save", "name": "a"}),
    ] {
        assert!(serde_json::from_value::<Call>(wrong.clone()).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn served_envoys_receive_drafts() {
    let page = Page::opened().await;
    page.text("quote.yaml", "quote").await;
    assert!(page.session.call(Call::Bootstrap).await.is_err_and(|why| why.contains("not served")));
    let address = page.session.call(Call::Serve { port: 0 }).await.expect("a port");
    let address = address.as_str().expect("an address").to_owned();
    assert!(page.session.call(Call::Serve { port: 0 }).await.is_err_and(|why| why.contains("already")));
    page.message("session", |about| about["xds"] == address && about["options"] == WHOLE).await;
    let bootstrap = page.session.call(Call::Bootstrap).await.expect("a bootstrap");
    assert!(bootstrap.as_str().is_some_and(|text| text.contains(address.rsplit(':').next().expect("a port"))));
    let version = page.message("event", |event| event["event"] == "build").await["version"].clone();
    let draft = Call::Draft { name: page.file("quote.yaml"), text: Some(GOOD.replace("service: quote", "service: draft")) };
    page.session.call(draft).await.expect("the draft is accepted");
    page.message("event", |event| event["event"] == "build" && event["version"] != version).await;
    assert!(!std::fs::read_to_string(page.file("quote.yaml")).expect("a file").contains("draft"), "the draft must not be written");
    page.session.call(Call::StopServing).await.expect("it stops");
    let taken = tokio::net::TcpListener::bind(&address).await;
    assert!(taken.is_ok(), "the port is free again");
}

/// Serves the admin interface of an Envoy with this configuration.
async fn envoy_with(configuration: &'static str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 512]).await;
            drop(stream.write_all(format!("HTTP/1.0 200 OK\r\n\r\n{configuration}").as_bytes()).await);
        }
    });
    address
}

#[tokio::test]
async fn drift_reports_missing_cluster() {
    let page = Page::opened().await;
    let address = envoy_with(r#"{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump"}]}"#).await;
    page.message("event", |event| event["event"] == "build").await;
    let drift = call(json!({"do": "drift", "envoy": {"in": "local", "address": address}}));
    let found = page.session.call(drift).await.expect("a comparison");
    let parts = found["parts"].as_array().expect("parts");
    let cluster = parts.iter().find(|part| part["kind"] == "cluster").unwrap_or_else(|| panic!("no cluster: {found}"));
    assert_eq!([&cluster["in_source"], &cluster["in_served"], &cluster["in_envoy"]], [true, true, false]);
    assert!(found["notes"].to_string().contains("no listeners"), "{found}");
    assert!(!found.to_string().contains("hunter2"));
}

#[tokio::test]
async fn envoy_calls_refuse_unknown_addresses() {
    let page = Page::opened().await;
    let far = json!({"in": "local", "address": "192.0.2.1:8001"});
    let pod = json!({"in": "pod", "context": "c", "namespace": "n", "pod": "p", "port": 8001});
    for (envoy, why) in [(far, "not on this machine"), (pod, "is not a discovered Envoy")] {
        for what in ["overview", "dump", "drift"] {
            let asked = page.session.call(call(json!({"do": what, "envoy": envoy}))).await;
            assert!(asked.as_ref().is_err_and(|said| said.contains(why)), "{what}: {asked:?}");
        }
    }
    page.session.call(Call::Close).await.expect("it is closed");
    let local = json!({"in": "local", "address": envoy_with("{}").await});
    let nothing = page.session.call(call(json!({"do": "drift", "envoy": local}))).await;
    assert!(nothing.is_err_and(|why| why.contains("open a folder or connect")));
}
