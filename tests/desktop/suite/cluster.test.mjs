// Tests of a cluster in the window. Skipped without an API server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program, start } from "../cluster.mjs";
import { choose, free, open, press, said, test, until } from "../window.mjs";

const group = "getambassador.io";
const crd = (kind, plural) => ({
  apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: `${plural}.${group}` },
  spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [{ name: "v3alpha1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } }] },
});
const object = (kind, name, spec) => ({ apiVersion: `${group}/v3alpha1`, kind, metadata: { name, namespace: "default" }, spec });
const at = (plural, name) => `/apis/${group}/v3alpha1/namespaces/default/${plural}/${name}`;

const connect = (window, context) => window.run("[...document.querySelectorAll('.live-context')].find((it) => it.textContent.includes(arguments[0])).querySelector('.button').click()", context);
const listener = (port) => object("Listener", "http", { port, protocol: "HTTP", securityModel: "XFP", hostBinding: { namespace: { from: "ALL" } } });
const host = object("Host", "all", { hostname: "*", requestPolicy: { insecure: { action: "Route" } } });
const mapping = (spec) => object("Mapping", "quote", { hostname: "*", prefix: "/quote/", service: "quote", ...spec });
const withKinds = async (cluster) => {
  for (const [kind, plural] of [["Mapping", "mappings"], ["Listener", "listeners"], ["Host", "hosts"]]) {
    await cluster.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`, crd(kind, plural));
  }
};

test("cluster changes appear in the window", { skip: !program }, async () => {
  const cluster = await start();
  const window = await open([], { KUBECONFIG: cluster.kubeconfig });
  const status = () => said(window, ".status");
  try {
    await withKinds(cluster);
    await cluster.apply("/api/v1/namespaces/default/secrets/token", { apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, stringData: { password: "hunter2hunter2" } });
    await press(window, "Connect to a cluster");
    await until(async () => /admin.*current/s.test(await said(window, ".sheet")), "contexts show");
    assert.match(await said(window, ".sheet"), /no-such-cloud-login.*not on the PATH/);
    await window.picture("contexts");
    await connect(window, "admin");
    await until(async () => /Cluster.*admin.*up to date/.test(await said(window, ".live-strip")), "the cluster is followed");
    await cluster.apply(at("listeners", "http"), listener(8080));
    await cluster.apply(at("hosts", "all"), host);
    await cluster.apply(at("mappings", "quote"), mapping({}));
    await choose(window, "routes");
    await until(async () => /\/quote\//.test(await said(window, "#view")), "the route shows");
    await window.picture("cluster");
    const errors = async () => Number(/(\d+) errors?/.exec(await status())?.[1]);
    const before = await errors();
    await cluster.apply(at("mappings", "quote"), mapping({ timeout_ms: "never" }));
    await until(async () => (await errors()) > before, "the mistake shows");
    await choose(window, "live");
    await window.picture("cluster-broken");
    await cluster.apply(at("mappings", "quote"), mapping({ timeout_ms: 1000 }));
    await until(async () => (await errors()) === before, "it is repaired");
    assert.doesNotMatch(await window.run("return document.documentElement.outerHTML"), /hunter2|aHVudGVy/);
    cluster.crash();
    await until(async () => /cannot be reached|Connection refused/i.test(await said(window, ".live-strip")), "the strip says that the cluster is gone", 60_000);
    await window.picture("cluster-gone");
    cluster.begin();
    await until(async () => /up to date/.test(await said(window, ".live-strip")), "the cluster is back", 60_000);
    await press(window, "Connect");
    await until(async () => /reader/.test(await said(window, ".sheet")), "contexts show again");
    await connect(window, "reader");
    await until(async () => /reader.*permission is missing/s.test(await said(window, ".live-strip")), "missing permissions are reported");
    await until(async () => /the rule that is missing: apiGroups/.test(await said(window, ".live-view")), "with the rule that is missing");
    await until(async () => /(^|\D)0 resources/.test(await status()), "nothing of the other context is shown any more");
    await window.picture("forbidden");
  } finally {
    await window.close();
    await cluster.stop();
  }
});

test("Envoy in a pod is found and queried", { skip: !program || !process.env.CHANCERY_ENVOY }, async () => {
  const cluster = await start();
  const folder = await mkdtemp(join(tmpdir(), "envoy-"));
  const upstream = createServer((_, response) => response.end("hello"));
  await new Promise((done) => upstream.listen(0, "127.0.0.1", done));
  const [port, admin] = [await free(), await free()];
  await withKinds(cluster);
  await cluster.apply(at("listeners", "http"), listener(port));
  await cluster.apply(at("hosts", "all"), host);
  await cluster.apply(at("mappings", "quote"), mapping({ service: `127.0.0.1:${upstream.address().port}` }));
  await cluster.node("here");
  await cluster.pod("edge", "here", "docker.io/envoyproxy/envoy:v1.36.2", [{ name: "admin", containerPort: admin }]);
  const window = await open(["--context", "admin"], { KUBECONFIG: cluster.kubeconfig });
  let envoy;
  try {
    await until(async () => /Cluster.*admin.*up to date/.test(await said(window, ".live-strip")), "the cluster is followed");
    await choose(window, "live");
    await window.run("const port = document.querySelector('.live-port'); port.value = '0'; port.dispatchEvent(new Event('input'));");
    await press(window, "Serve");
    await until(async () => /Envoys are served on/.test(await said(window, ".live-view")), "Envoys are served");
    const bootstrap = JSON.parse(await window.later("window.__TAURI__.core.invoke('call', { call: { do: 'bootstrap' } })"));
    bootstrap.admin.address.socket_address.port_value = admin;
    await writeFile(join(folder, "envoy.json"), JSON.stringify(bootstrap));
    envoy = spawn(process.env.CHANCERY_ENVOY, ["-c", join(folder, "envoy.json"), "--concurrency", "1", "--use-dynamic-base-id", "-l", "off"], { stdio: "ignore" });
    await until(async () => (await fetch(`http://127.0.0.1:${port}/quote/`)).status === 200, "Envoy answers");
    await press(window, "Find Envoys");
    await until(async () => /default\/edge.*port/.test(await said(window, ".live-found")), "the Envoy is found");
    await window.run("document.querySelector('.live-found .button').click()");
    await until(async () => /Envoy 1\.\d+.*live/.test(await said(window, ".live-chosen")), "it says how it is");
    await press(window, "Find drift");
    await until(async () => /No drift/.test(await said(window, ".live-chosen")), "all three are the same");
    await window.run("document.querySelector('.live-chosen').scrollIntoView()");
    await window.picture("pod");
    await choose(window, "try");
    await window.run("const url = document.querySelector('#view .url'); url.value = 'http://shop.example.com/quote/'; url.dispatchEvent(new Event('input'));");
    await press(window, "Send to");
    await until(async () => /as simulated/.test(await said(window, ".real")), "the answers agree");
    assert.match(await said(window, ".real-sides"), /200.*hello/s);
    await window.picture("pod-request");
  } finally {
    envoy?.kill();
    upstream.close();
    await window.close();
    await cluster.stop();
    await rm(folder, { recursive: true });
  }
});
