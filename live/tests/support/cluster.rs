//! Starts a real API server: etcd and kube-apiserver of Kubernetes, in one binary that is built from Go modules on first
//! use.
//!
//! The binary is kept below the target folder, under a hash of its sources. Does not contain tests; see `cluster`.

use chancery_tests::port::free;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apiserver");

/// Returns the binary, or `None` without Go. CI must have Go.
pub fn binary() -> Option<PathBuf> {
    // Concurrent tests wait for the test that builds it.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let go = Command::new("go").arg("version").output().ok().filter(|output| output.status.success());
    let Some(go) = go else {
        assert!(std::env::var_os("CI").is_none(), "there is no Go, and this is CI: the tests on a real API server must run");
        eprintln!("\n*** SKIPPED: the tests on a real API server, as there is no Go to build it with ***\n");
        return None;
    };
    let mut what = go.stdout;
    for name in ["go.mod", "go.sum", "main.go", "kubelet.go", "build"] {
        what.extend(fs::read(Path::new(SOURCE).join(name)).expect("the sources of the API server"));
    }
    let key = chancery_core::backend::envoy::v3::Fingerprint::of(&[&what]);
    let target = std::env::var_os("CHANCERY_APISERVER").map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).to_path_buf(), PathBuf::from);
    let binary = target.join(format!("apiserver-{key}"));
    if !binary.is_file() {
        eprintln!("building an API server of Go modules: minutes, the first time");
        let part = target.join(format!("apiserver-{key}.{}", std::process::id()));
        let status = Command::new(Path::new(SOURCE).join("build")).arg(&part).status().expect("a shell");
        assert!(status.success(), "the API server could not be built");
        fs::rename(&part, &binary).expect("a rename");
    }
    Some(binary)
}

/// An API server with its etcd.
pub struct Cluster {
    binary: PathBuf,
    folder: tempfile::TempDir,
    etcd: Child,
    etcd_port: u16,
    port: u16,
    server: Option<Child>,
    issuer: Issuer<'static, KeyPair>,
}

/// A stand-in for a kubelet.
pub struct Kubelet(Child);

impl Drop for Kubelet {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill();
        let _ = self.etcd.kill();
        let _ = self.etcd.wait();
    }
}

impl Cluster {
    /// Starts a server. Returns `None` without Go.
    pub async fn start() -> Option<Self> {
        let binary = binary()?;
        let folder = tempfile::tempdir().expect("a folder");
        let (etcd_port, peer, port) = (free(), free(), free());
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let etcd = Command::new(&binary)
            .args(["etcd", "--name", "t", "--unsafe-no-fsync", "--data-dir"])
            .arg(folder.path().join("etcd"))
            .args(["--listen-client-urls", &url(etcd_port), "--advertise-client-urls", &url(etcd_port)])
            .args(["--listen-peer-urls", &url(peer), "--initial-advertise-peer-urls", &url(peer)])
            .args(["--initial-cluster", &format!("t={}", url(peer))])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("etcd");
        let issuer = authority(folder.path());
        let mut out = Self { binary, folder, etcd, etcd_port, port, server: None, issuer };
        let names = ["localhost", "127.0.0.1", "10.0.0.1", "kubernetes.default.svc"].map(str::to_owned).to_vec();
        out.certificate("server", names, "kube-apiserver", None);
        out.certificate("admin", Vec::new(), "admin", Some("system:masters"));
        let key = KeyPair::generate().expect("a key");
        fs::write(out.path("sa.key"), key.serialize_pem()).expect("a file");
        fs::write(out.path("sa.pub"), key.public_key_pem()).expect("a file");
        out.begin();
        out.ready().await;
        Some(out)
    }

    /// Returns the folder of its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a certificate and its key.
    fn certificate(&self, name: &str, names: Vec<String>, common_name: &str, organization: Option<&str>) {
        let mut params = CertificateParams::new(names).expect("names");
        params.distinguished_name.push(DnType::CommonName, common_name);
        if let Some(organization) = organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        fs::write(self.path(&format!("{name}.crt")), certificate.pem()).expect("a file");
        fs::write(self.path(&format!("{name}.key")), key.serialize_pem()).expect("a file");
    }

    /// Starts the API server.
    pub fn begin(&mut self) {
        let file = |flag: &str, name: &str| format!("--{flag}={}", self.path(name).display());
        let log = fs::File::options().create(true).append(true).open(self.path("apiserver.log")).expect("a file");
        let server = Command::new(&self.binary)
            .arg("kube-apiserver")
            .arg(format!("--etcd-servers=http://127.0.0.1:{}", self.etcd_port))
            .arg(format!("--secure-port={}", self.port))
            .args(["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"])
            .args(["--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer=https://kubernetes.default.svc"])
            .args([file("tls-cert-file", "server.crt"), file("tls-private-key-file", "server.key"), file("client-ca-file", "ca.crt")])
            .args([file("service-account-key-file", "sa.pub"), file("service-account-signing-key-file", "sa.key")])
            .args(["--authorization-mode=RBAC", "--allow-privileged=true", "--disable-admission-plugins=ServiceAccount"])
            .arg("--shutdown-watch-termination-grace-period=2s")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.server = Some(server.expect("kube-apiserver"));
    }

    /// Creates a node whose stand-in for a kubelet forwards ports of its pods to this machine. The stand-in runs until
    /// it is dropped.
    pub async fn kubelet(&self, node: &str) -> Kubelet {
        let port = free();
        let mut command = Command::new(&self.binary);
        command.arg("kubelet").arg(format!("127.0.0.1:{port}")).args([self.path("server.crt"), self.path("server.key")]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a kubelet");
        let status = json!({"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}], "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}});
        self.apply_value(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}, "status": status})).await;
        Kubelet(process)
    }

    /// Kills the API server, like a crash.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// Waits until the server answers.
    pub async fn ready(&self) {
        let begin = Instant::now();
        loop {
            let client = self.admin().await;
            let request = http::Request::get("/readyz").body(Vec::new()).expect("a request");
            if client.request_text(request).await.is_ok_and(|text| text == "ok") {
                return;
            }
            let log = || fs::read_to_string(self.path("apiserver.log")).unwrap_or_default();
            assert!(begin.elapsed() < Duration::from_secs(60), "the API server does not get ready:\n{}", log());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Writes a kubeconfig with this certificate.
    pub fn kubeconfig(&self, user: &str) -> PathBuf {
        self.kubeconfig_in(user, "default")
    }

    fn kubeconfig_in(&self, user: &str, namespace: &str) -> PathBuf {
        self.write_kubeconfig(user, user, namespace, self.port)
    }

    /// Writes the admin's kubeconfig for another port.
    pub fn kubeconfig_by(&self, file: &str, port: u16) -> PathBuf {
        self.write_kubeconfig(file, "admin", "default", port)
    }

    /// Returns the address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn write_kubeconfig(&self, file: &str, user: &str, namespace: &str, port: u16) -> PathBuf {
        let path = self.path(&format!("{file}.kubeconfig"));
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": user,
            "clusters": [{"name": "t", "cluster": {"server": format!("https://127.0.0.1:{port}"), "certificate-authority": self.path("ca.crt")}}],
            "users": [{"name": user, "user": {
                "client-certificate": self.path(&format!("{user}.crt")), "client-key": self.path(&format!("{user}.key")),
            }}],
            "contexts": [{"name": user, "context": {"cluster": "t", "user": user, "namespace": namespace}}],
        });
        // Another test may read it at the same time.
        let part = tempfile::NamedTempFile::new_in(self.folder()).expect("a file");
        fs::write(part.path(), config.to_string()).expect("a file");
        part.persist(&path).expect("a rename");
        path
    }

    /// Creates a user without permissions.
    pub fn user(&self, name: &str) -> PathBuf {
        self.certificate(name, Vec::new(), name, None);
        self.kubeconfig(name)
    }

    /// Returns the kubeconfig of a ServiceAccount, as in a pod of its namespace.
    pub fn account(&self, namespace: &str, name: &str) -> PathBuf {
        let file = format!("{namespace}-{name}");
        self.certificate(&file, Vec::new(), &format!("system:serviceaccount:{namespace}:{name}"), None);
        self.kubeconfig_in(&file, namespace)
    }

    /// Returns a client with all permissions.
    pub async fn admin(&self) -> Client {
        let config = Kubeconfig::read_from(self.kubeconfig("admin")).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await.expect("a configuration");
        Client::try_from(config).expect("a client")
    }

    /// Applies an object.
    pub async fn apply_value(&self, value: &Value) {
        let (api, name) = self.api(value).await;
        let begin = Instant::now();
        loop {
            let applied = api.patch(&name, &PatchParams::apply("test").force(), &Patch::Apply(value)).await;
            match applied {
                Ok(_) => return,
                // The server serves a CRD a moment after its creation.
                Err(error) => assert!(begin.elapsed() < Duration::from_secs(20), "{name}: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Writes the status of an object, like another controller.
    pub async fn apply_status(&self, object: &Value, status: Value) {
        let (api, name) = self.api(object).await;
        let body = json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": name}, "status": status});
        api.patch_status(&name, &PatchParams::apply("another"), &Patch::Apply(&body)).await.expect("it is written");
    }

    /// Deletes an object.
    pub async fn delete(&self, value: &Value) {
        let (api, name) = self.api(value).await;
        api.delete(&name, &kube::api::DeleteParams::default()).await.expect("it is deleted");
    }

    /// Returns the server's state of an object.
    pub async fn get(&self, value: &Value) -> Value {
        let (api, name) = self.api(value).await;
        api.get_opt(&name).await.expect("an answer").and_then(|object| serde_json::to_value(object).ok()).unwrap_or_default()
    }

    /// Returns all objects of the same kind and namespace.
    pub async fn list(&self, value: &Value) -> Vec<Value> {
        let (api, _) = self.api(value).await;
        let all = api.list(&kube::api::ListParams::default()).await.expect("a list");
        all.items.into_iter().filter_map(|object| serde_json::to_value(object).ok()).collect()
    }

    async fn api(&self, value: &Value) -> (Api<DynamicObject>, String) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text(&value["apiVersion"]), text(&value["kind"]));
        let (group, version) = version.split_once('/').unwrap_or(("", &version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
        let client = self.admin().await;
        let namespace = text(&value["metadata"]["namespace"]);
        let api = if namespace.is_empty() { Api::all_with(client, &resource) } else { Api::namespaced_with(client, &namespace, &resource) };
        (api, text(&value["metadata"]["name"]))
    }
}

/// Creates a CA, and writes its certificate into the folder.
fn authority(folder: &Path) -> Issuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params.distinguished_name.push(DnType::CommonName, "test authority");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    fs::write(folder.join("ca.crt"), certificate.pem()).expect("a file");
    Issuer::new(params, key)
}

/// Returns a CRD whose objects may have any fields.
pub fn crd(group: &str, version: &str, kind: &str, plural: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

/// A network between us and the API server that can be cut.
pub struct Relay {
    pub port: u16,
    is_cut: tokio::sync::watch::Sender<bool>,
}

impl Relay {
    /// Starts a relay to this address.
    pub async fn start(to: String) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (is_cut, cut) = tokio::sync::watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (to, mut cut) = (to.clone(), cut.clone());
                tokio::spawn(async move {
                    let Ok(mut far) = tokio::net::TcpStream::connect(to).await else { return };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                        _ = cut.wait_for(|cut| *cut) => {}
                    }
                });
            }
        });
        Self { port, is_cut }
    }

    /// Cuts all present and new connections, or lets them pass again.
    pub fn cut(&self, cut: bool) {
        self.is_cut.send_replace(cut);
    }
}
