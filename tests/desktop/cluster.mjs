// Starts a real API server with etcd: the program of `CHANCERY_APISERVER_PROGRAM` (live/tests/apiserver). Shared by the tests.

import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { free, until } from "./window.mjs";

export const program = process.env.CHANCERY_APISERVER_PROGRAM;

export async function start() {
  const folder = await mkdtemp(join(tmpdir(), "cluster-"));
  const path = (name) => join(folder, name);
  const openssl = (...words) => execFileSync("openssl", words, { cwd: folder, stdio: "ignore" });
  openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.crt");
  for (const [name, subject, names] of [["server", "/CN=kube-apiserver", "subjectAltName=DNS:localhost,IP:127.0.0.1"], ["admin", "/O=system:masters/CN=admin", "subjectAltName=DNS:admin"], ["reader", "/CN=reader", "subjectAltName=DNS:reader"]]) {
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    await writeFile(path(`${name}.ext`), names);
    openssl("x509", "-req", "-days", "2", "-in", `${name}.csr`, "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", `${name}.ext`, "-out", `${name}.crt`);
  }
  openssl("genrsa", "-out", "sa.key", "2048");
  openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub");
  const [etcdPort, peer, port] = [await free(), await free(), await free()];
  const url = (of) => `http://127.0.0.1:${of}`;
  const etcd = spawn(program, ["etcd", "--name", "t", "--unsafe-no-fsync", "--data-dir", path("etcd"), "--listen-client-urls", url(etcdPort), "--advertise-client-urls", url(etcdPort), "--listen-peer-urls", url(peer), "--initial-advertise-peer-urls", url(peer), "--initial-cluster", `t=${url(peer)}`], { stdio: "ignore" });
  let server;
  const begin = () => {
    server = spawn(program, ["kube-apiserver", `--etcd-servers=${url(etcdPort)}`, `--secure-port=${port}`, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer=https://kubernetes.default.svc", `--tls-cert-file=${path("server.crt")}`, `--tls-private-key-file=${path("server.key")}`, `--client-ca-file=${path("ca.crt")}`, `--service-account-key-file=${path("sa.pub")}`, `--service-account-signing-key-file=${path("sa.key")}`, "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--shutdown-watch-termination-grace-period=2s"], { stdio: "ignore" });
  };
  begin();
  const [ca, cert, key] = await Promise.all(["ca.crt", "admin.crt", "admin.key"].map((name) => readFile(path(name))));
  const ask = (method, at, body, kind = "application/json") =>
    new Promise((done, failed) => {
      const asked = request({ host: "127.0.0.1", port, method, path: at, ca, cert, key, headers: { "content-type": kind } }, (response) => {
        let text = "";
        response.on("data", (part) => (text += part));
        response.on("end", () => done({ status: response.statusCode, text }));
      });
      asked.on("error", failed);
      asked.end(body && JSON.stringify(body));
    });
  await until(async () => (await ask("GET", "/readyz")).text === "ok", "the API server is ready", 90_000);
  await until(async () => (await ask("GET", "/api/v1/namespaces/default")).status === 200, "there is a namespace");
  const context = (user) => ({ name: user, context: { cluster: "t", user, namespace: "default" } });
  const user = (name) => ({ name, user: { "client-certificate": path(`${name}.crt`), "client-key": path(`${name}.key`) } });
  const kubeconfig = path("kubeconfig");
  await writeFile(kubeconfig, JSON.stringify({
    apiVersion: "v1", kind: "Config", "current-context": "admin",
    clusters: [{ name: "t", cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority": path("ca.crt") } }],
    users: [user("admin"), user("reader"), { name: "cloud", user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "no-such-cloud-login", interactiveMode: "Never" } } }],
    contexts: [context("admin"), context("reader"), { name: "cloud", context: { cluster: "t", user: "cloud" } }],
  }));
  // Retries until the API server serves the kind: a new CRD takes a moment.
  const apply = (at, body) =>
    until(async () => {
      const { status, text } = await ask("PATCH", `${at}?fieldManager=test&force=true`, body, "application/apply-patch+yaml");
      if (status >= 300) throw new Error(text);
      return true;
    }, `${at} is applied`);
  let kubelet;
  return {
    kubeconfig,
    apply,
    // A node whose fake kubelet forwards the ports of its pods to this machine.
    node: async (name) => {
      const port = await free();
      kubelet = spawn(program, ["kubelet", `127.0.0.1:${port}`, path("server.crt"), path("server.key")], { stdio: "ignore" });
      const status = { addresses: [{ type: "InternalIP", address: "127.0.0.1" }], daemonEndpoints: { kubeletEndpoint: { Port: port } } };
      await apply(`/api/v1/nodes/${name}`, { apiVersion: "v1", kind: "Node", metadata: { name }, status });
    },
    // A running pod on that node.
    pod: async (name, node, image, ports) => {
      const at = `/api/v1/namespaces/default/pods/${name}`;
      await apply(at, { apiVersion: "v1", kind: "Pod", metadata: { name, labels: { app: name } }, spec: { nodeName: node, containers: [{ name: "c", image, ports }] } });
      const containerStatuses = [{ name: "c", ready: true, image, imageID: "", restartCount: 0, state: { running: {} } }];
      await ask("PATCH", `${at}/status`, { status: { phase: "Running", containerStatuses } }, "application/merge-patch+json");
    },
    crash: () => server.kill("SIGKILL"),
    begin,
    stop: async () => {
      kubelet?.kill("SIGKILL");
      server.kill("SIGKILL");
      etcd.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
