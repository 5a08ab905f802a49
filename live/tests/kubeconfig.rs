//! Tests each kind of wrong kubeconfig: one sentence names the file, the context and the fault, and contains no output
//! of a credentials program.

#[path = "support/config.rs"]
mod config;

use chancery_live::sources::kube::{Settings as Which, connect};
use serde_json::{Value, json};
use std::path::Path;

const TOKEN: &str = "token-of-the-plugin";

/// Returns the message about a valid kubeconfig after `change` has edited it.
async fn connect_error(folder: &Path, change: impl FnOnce(&mut Value)) -> String {
    let path = config::kubeconfig(folder, "k", "https://127.0.0.1:1");
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
    change(&mut config);
    std::fs::write(&path, config.to_string()).expect("a file");
    let failure = connect(&Which { kubeconfig: Some(path.clone()), ..Which::default() }).await.err().map(|failure| failure.0).unwrap_or_default();
    assert!(failure.lines().count() <= 1 && !failure.contains(TOKEN), "one sentence, without credentials: {failure}");
    let start = format!("the context `c` in {} cannot be used: ", path.display());
    failure.strip_prefix(&start).unwrap_or(&failure).to_owned()
}

#[tokio::test]
async fn wrong_kubeconfig_is_described_in_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let file = folder.join("k.kubeconfig");
    let shown = file.display();
    assert_eq!(connect_error(folder, |_| ()).await, "", "it is right");
    assert_eq!(
        connect_error(folder, |of| of["contexts"][0]["context"]["cluster"] = "no".into()).await,
        format!("its cluster `no` is not in {shown}")
    );
    assert_eq!(connect_error(folder, |of| of["contexts"][0]["context"]["user"] = "no".into()).await, format!("its user `no` is not in {shown}"));
    let cluster = |name: &'static str, value: &'static str| move |of: &mut Value| of["clusters"][0]["cluster"][name] = value.into();
    assert!(connect_error(folder, cluster("server", "not a url")).await.starts_with("the `server` of its cluster is no URL: "));
    assert!(
        connect_error(folder, cluster("certificate-authority", "/nowhere/ca.crt")).await.starts_with("cannot read /nowhere/ca.crt: No such file")
    );
    let data = "the certificate-authority-data of its cluster `c` is no certificate in PEM, in base64";
    assert_eq!(connect_error(folder, cluster("certificate-authority-data", "AAAA")).await, data);
    assert_eq!(connect_error(folder, cluster("certificate-authority-data", "no base64")).await, data);
    let user = |user: Value| move |of: &mut Value| of["users"][0]["user"] = user;
    let certificate = connect_error(folder, user(json!({"client-certificate": "/nowhere/a.crt", "client-key": "/nowhere/a.key"}))).await;
    assert!(certificate.starts_with("cannot read /nowhere/a.crt: No such file"), "{certificate}");
    let token = connect_error(folder, user(json!({"tokenFile": "/nowhere/token"}))).await;
    assert!(token.starts_with("cannot read the file of its token, /nowhere/token: No such file"), "{token}");
}

#[tokio::test]
async fn output_of_credentials_program_is_hidden() {
    let folder = tempfile::tempdir().expect("a folder");
    let exec = |command: &str, arguments: &[&str]| {
        let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": command, "args": arguments, "interactiveMode": "Never"});
        move |of: &mut Value| of["users"][0]["user"] = json!({ "exec": exec })
    };
    let missing = connect_error(folder.path(), exec("no-such-plugin", &[])).await;
    assert_eq!(missing, "the program `no-such-plugin`, which gets its credentials, is not on the PATH: install it");
    let failed = connect_error(folder.path(), exec("sh", &["-c", &format!("echo {TOKEN}; echo please log in >&2; exit 3")])).await;
    assert_eq!(failed, "the program that gets its credentials failed (exit status: 3): please log in");
    let nonsense = connect_error(folder.path(), exec("sh", &["-c", &format!("echo '{{\"status\": {TOKEN}'")])).await;
    assert_eq!(nonsense, "what the program that gets its credentials wrote is no ExecCredential");
}
