// Tests of a real Envoy that the window serves. Skipped without CHANCERY_ENVOY.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choose, free, open, press, said, test, until } from "../window.mjs";

const files = (listener, upstream) => `apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: ${listener}, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all}
spec: {hostname: "*", requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: quote}
spec:
  hostname: "*"
  prefix: /quote/
  service: 127.0.0.1:${upstream}
`;

const status = async (port, path) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;

test("local Envoy follows drafts and is compared", { skip: !process.env.CHANCERY_ENVOY }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  const upstream = createServer((_, response) => response.end("hello"));
  await new Promise((done) => upstream.listen(0, "127.0.0.1", done));
  const [listener, admin] = [await free(), await free()];
  const file = join(folder, "gateway.yaml");
  await writeFile(file, files(listener, upstream.address().port));
  const window = await open([folder]);
  let envoy;
  try {
    await until(async () => /3 resources/.test(await said(window, ".status")), "the folder is compiled");
    await choose(window, "live");
    await until(async () => /Serve Envoys on port/.test(await said(window, ".live-view")), "serving is offered");
    await window.run("const port = document.querySelector('.live-port'); port.value = '0'; port.dispatchEvent(new Event('input'));");
    await press(window, "Serve");
    await until(async () => /Envoys are served on/.test(await said(window, ".live-view")), "Envoys are served");
    const text = await window.later("window.__TAURI__.core.invoke('call', { call: { do: 'bootstrap' } })");
    const bootstrap = JSON.parse(text);
    bootstrap.admin.address.socket_address.port_value = admin;
    await writeFile(join(folder, "envoy.json"), JSON.stringify(bootstrap));
    envoy = spawn(process.env.CHANCERY_ENVOY, ["-c", join(folder, "envoy.json"), "--concurrency", "1", "--use-dynamic-base-id", "-l", "off"], { stdio: "ignore" });
    await until(async () => (await status(listener, "/quote/")) === 200, "Envoy answers");
    await until(async () => /accepted/.test(await said(window, ".live-view")), "the window shows what Envoy accepted");
    await window.picture("envoy");
    await window.edit("/quote/", "/typed/");
    await until(async () => (await status(listener, "/typed/")) === 200, "Envoy follows what is typed");
    assert.equal(await status(listener, "/quote/"), 404);
    assert.match(await readFile(file, "utf8"), /\/quote\//, "nothing is written until it is saved");
    await window.run("const address = document.querySelector('.live-address'); address.value = arguments[0]; address.dispatchEvent(new Event('input'));", `127.0.0.1:${admin}`);
    await press(window, "Inspect");
    await until(async () => /Envoy 1\.\d+.*live, running for/.test(await said(window, ".live-chosen")), "the window says how Envoy is");
    await press(window, "Find drift");
    // The source is the file. The served configuration and Envoy contain the draft.
    await until(async () => /differ/.test(await said(window, ".live-chosen")), "what is typed and not saved differs from the source");
    const drift = await said(window, ".live-drift");
    assert.match(drift, /quote.*there.*missing.*missing.*typed.*missing.*there.*there/, drift);
    await window.run("document.querySelector('.live-chosen').scrollIntoView()");
    await window.picture("drift");
    await press(window, "Statistics");
    await until(async () => /server\.live/.test(await said(window, ".live-stats")), "statistics show");
    await choose(window, "try");
    await window.run("const url = document.querySelector('#view .url'); url.value = arguments[0]; url.dispatchEvent(new Event('input'));", `http://127.0.0.1:${listener}/typed/`);
    await press(window, "Send to");
    await until(async () => /as simulated/.test(await said(window, ".real")), "the answers agree");
    assert.match(await said(window, ".real-sides"), /200.*hello/s);
    await window.picture("real");
    await choose(window, "live");
    await press(window, "Stop");
    await until(async () => /Serve Envoys on port/.test(await said(window, ".live-view")), "it is served no longer");
    assert.equal(await status(listener, "/typed/"), 200, "Envoy keeps what it has");
  } finally {
    envoy?.kill();
    upstream.close();
    await window.close();
    await rm(folder, { recursive: true });
  }
});
