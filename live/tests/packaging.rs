//! Tests the packages that users install: Helm accepts the chart, and the plugin of kubectl runs the program.
//!
//! Does not test the content of the manifests (`install`), or whether a cluster accepts them (`cluster`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging")
}

fn helm(arguments: &[&str]) -> Option<Output> {
    let program = std::env::var_os("CHANCERY_HELM").unwrap_or_else(|| "helm".into());
    Command::new(program).args(arguments).current_dir(packaging()).output().ok()
}

fn templated(values: &[&str]) -> String {
    let set: Vec<&str> = values.iter().flat_map(|value| ["--set", value]).collect();
    let arguments = [&["template", "c", "helm/chancery", "-n", "gateway", "--kube-version", "1.34.4"], &set[..]].concat();
    let output = helm(&arguments).expect("helm");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn helm_accepts_chart() {
    let Some(lint) = helm(&["lint", "--strict", "helm/chancery"]) else {
        assert!(std::env::var_os("CI").is_none(), "there is no helm, and this is CI: the chart must be linted");
        eprintln!("\n*** SKIPPED: the chart is not linted, as there is no helm ***\n");
        return;
    };
    assert!(lint.status.success(), "{}", String::from_utf8_lossy(&lint.stdout));
    let usual = templated(&[]);
    assert!(usual.contains("kind: ClusterRole") && usual.contains("image: \"chancery:0.1.0\"") && usual.contains("replicas: 1\n"), "{usual}");
    assert!(!usual.contains("patch]") && !usual.contains("--write-status") && !usual.contains("leases"), "{usual}");
    let all = ["writeStatus=true", "replicas=2", "onlyNamespace=apps", "extraArgs={--spacing=0}"];
    let full = templated(&all);
    assert!(!full.contains("ClusterRole") && full.contains("- --namespace=apps") && full.contains("--lease=chancery"), "{full}");
    assert!(full.contains("mappings/status") && full.contains("- \"--spacing=0\"") && full.contains("replicas: 2\n"), "{full}");
    let azure = templated(&["azure.gatewayId=sub/group/gateway", "azure.apply=true", "azure.clientId=id-of-an-identity"]);
    assert!(azure.contains("- --gateway-id=sub/group/gateway") && azure.contains("- --apply\n") && azure.contains("--lease=chancery"), "{azure}");
    assert!(azure.contains("azure.workload.identity/use: \"true\"") && azure.contains("client-id: \"id-of-an-identity\""), "{azure}");
    // The watched kinds include Azure's, whatever cluster it is.
    assert!(!usual.contains("azure.workload.identity") && !usual.contains("--gateway-id") && !usual.contains("--apply"), "{usual}");
}

#[cfg(unix)]
#[test]
fn kubectl_plugin_runs_program() {
    let folder = tempfile::tempdir().expect("a folder");
    // A link, not a script that the test writes: Linux refuses to run a file that is open for writing, and a process
    // that another test starts at that moment inherits the open file.
    std::os::unix::fs::symlink("/bin/echo", folder.path().join("chancery")).expect("a link");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let called = |arguments: &[&str]| {
        let output = Command::new(packaging().join("kubectl/kubectl-chancery")).args(arguments).env("PATH", &path).output().expect("a shell");
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(called(&["watch", "--context", "a b"]), "watch --kube --context a b\n");
    assert_eq!(called(&["check", "x.yaml"]), "check x.yaml\n");
    assert_eq!(called(&[]), "\n");
}
