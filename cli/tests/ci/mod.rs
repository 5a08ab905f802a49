//! Tests what pipelines use: coverage, replays, findings since a revision, and the scripts of the GitHub Action.

mod action;
mod coverage;
mod replay;
mod since;

use crate::Folder;
use std::process::Command;

/// A gateway with two routes.
const GATEWAY: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart}
spec: {hostname: shop.example.com, prefix: /cart/, service: cart}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: help}
spec: {hostname: shop.example.com, prefix: /help/, service: help}
";

impl Folder {
    /// Runs git in the folder. Returns its output.
    fn git(&self, args: &[&str]) -> String {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").args(who).args(args).current_dir(self.0.path()).output().expect("git runs");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    }

    /// Commits everything. Returns the commit.
    fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "change"]);
        self.git(&["rev-parse", "HEAD"])
    }
}

/// A repository with the gateway in `gateway/`, and its first commit.
fn repository() -> (Folder, String) {
    let folder = Folder::with(&[("gateway/shop.yaml", GATEWAY)]);
    folder.git(&["init", "--quiet"]);
    let base = folder.commit();
    (folder, base)
}
