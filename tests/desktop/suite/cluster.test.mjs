// A cluster in the window: connected to by a click, followed, broken, repaired. Skipped where there is no API server to run.

import assert from "node:assert/strict";
import { program, start } from "../cluster.mjs";
import { open, press, said, test, until } from "../window.mjs";

const group = "getambassador.io";
const crd = (kind, plural) => ({
  apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: `${plural}.${group}` },
  spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [{ name: "v3alpha1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } }] },
});
const object = (kind, name, spec) => ({ apiVersion: `${group}/v3alpha1`, kind, metadata: { name, namespace: "default" }, spec });
const at = (plural, name) => `/apis/${group}/v3alpha1/namespaces/default/${plural}/${name}`;

test("a cluster is connected to, and shows what is applied as it is applied", { skip: !program }, async () => {
  const cluster = await start();
  const window = await open([], { KUBECONFIG: cluster.kubeconfig });
  const status = () => said(window, ".status");
  try {
    for (const [kind, plural] of [["Mapping", "mappings"], ["Listener", "listeners"], ["Host", "hosts"]]) {
      await cluster.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`, crd(kind, plural));
    }
    await cluster.apply("/api/v1/namespaces/default/secrets/token", { apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, stringData: { password: "hunter2hunter2" } });
    await press(window, "Connect to a cluster");
    await until(async () => /admin.*current/s.test(await said(window, ".sheet")), "contexts show");
    assert.match(await said(window, ".sheet"), /no-such-cloud-login.*not on the PATH/);
    await window.picture("contexts");
    await window.run("[...document.querySelectorAll('.live-context')].find((it) => it.textContent.includes('admin')).querySelector('.button').click()");
    await until(async () => /Cluster.*admin.*up to date/.test(await said(window, ".live-strip")), "the cluster is followed");
    await cluster.apply(at("listeners", "http"), object("Listener", "http", { port: 8080, protocol: "HTTP", securityModel: "XFP", hostBinding: { namespace: { from: "ALL" } } }));
    await cluster.apply(at("hosts", "all"), object("Host", "all", { hostname: "*", requestPolicy: { insecure: { action: "Route" } } }));
    await cluster.apply(at("mappings", "quote"), object("Mapping", "quote", { hostname: "*", prefix: "/quote/", service: "quote" }));
    await window.click("#tab-routes");
    await until(async () => /\/quote\//.test(await said(window, "#view")), "the route shows");
    await window.picture("cluster");
    const errors = async () => Number(/(\d+) errors?/.exec(await status())?.[1]);
    const before = await errors();
    await cluster.apply(at("mappings", "quote"), object("Mapping", "quote", { hostname: "*", prefix: "/quote/", service: "quote", timeout_ms: "never" }));
    await until(async () => (await errors()) > before, "the mistake shows");
    await window.click("#tab-live");
    await window.picture("cluster-broken");
    await cluster.apply(at("mappings", "quote"), object("Mapping", "quote", { hostname: "*", prefix: "/quote/", service: "quote", timeout_ms: 1000 }));
    await until(async () => (await errors()) === before, "it is repaired");
    assert.doesNotMatch(await window.run("return document.documentElement.outerHTML"), /hunter2|aHVudGVy/);
    cluster.crash();
    await until(async () => /cannot be reached|Connection refused/i.test(await said(window, ".live-strip")), "the strip says that the cluster is gone", 60_000);
    await window.picture("cluster-gone");
    cluster.begin();
    await until(async () => /up to date/.test(await said(window, ".live-strip")), "the cluster is back", 60_000);
    await press(window, "Connect");
    await until(async () => /reader/.test(await said(window, ".sheet")), "contexts show again");
    await window.run("[...document.querySelectorAll('.live-context')].find((it) => it.textContent.includes('reader')).querySelector('.button').click()");
    await until(async () => /reader.*may not be read in full/s.test(await said(window, ".live-strip")), "what may not be read is told");
    await until(async () => /the rule that is missing: apiGroups/.test(await said(window, ".live-view")), "with the rule that is missing");
    await window.picture("forbidden");
  } finally {
    await window.close();
    await cluster.stop();
  }
});
