// Tests with broken and missing inputs: the window reports them and stays usable.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choose, open, press, said, test, until } from "../window.mjs";

const mapping = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: quote}\nspec: {hostname: '*', prefix: /quote/, service: quote}\n";
const all = (window) => said(window, "body");

// A folder for one test, and a window that is closed after it.
async function within(args, env, body) {
  const folder = await mkdtemp(join(tmpdir(), "bad-"));
  const window = await open(args(folder), env(folder));
  try {
    await body(window, folder);
  } finally {
    await window.close();
    await rm(folder, { recursive: true, force: true });
  }
}

for (const [what, payload, message] of [["garbage", "garbage", /contains no snapshot/], ["what a newer version packed", "99.abc", /was packed by a newer Chancery/]]) {
  test(`link opens after confirmation, ${what} is refused`, async () => {
    await within(() => [`chancery://open#snapshot=${payload}`], () => ({}), async (window) => {
      await until(async () => /Open this link/.test(await said(window, ".sheet")), "the window asks");
      await window.picture("link");
      await window.run("[...document.querySelectorAll('.sheet button')].find((it) => it.textContent.trim() === 'Open').click()");
      await until(async () => message.test(await all(window)), "it says what is wrong with the link");
      await until(async () => /(^|\D)[1-9]\d* resources/.test(await said(window, ".status")), "the earlier work stays");
    });
  });
}

test("missing path is reported", async () => {
  await within(() => ["/does/not/exist"], () => ({}), async (window) => {
    await until(async () => /cannot open \/does\/not\/exist/.test(await all(window)), "it is named");
    await window.picture("no-path");
  });
});

test("broken kubeconfig and context are reported", async () => {
  const broken = (folder) => ({ KUBECONFIG: join(folder, "config") });
  await within(() => ["--context", "prod"], broken, async (window, folder) => {
    await until(async () => /cannot read the kubeconfig/.test(await all(window)), "the missing kubeconfig is reported");
    await writeFile(join(folder, "config"), "{ this is: no kubeconfig");
    await press(window, "Connect to a cluster");
    await until(async () => /kubeconfig .*config/.test(await said(window, ".sheet")), "it says that it is broken");
    await window.picture("broken-kubeconfig");
    await writeFile(join(folder, "config"), JSON.stringify({ apiVersion: "v1", kind: "Config", clusters: [], users: [], contexts: [{ name: "lost", context: { cluster: "gone", user: "" } }] }));
    await press(window, "Read again");
    await until(async () => /its cluster `gone` is not in/.test(await said(window, ".sheet")), "the missing cluster is reported");
  });
});

test("unreachable cluster is retried", async () => {
  const config = { apiVersion: "v1", kind: "Config", "current-context": "far", clusters: [{ name: "far", cluster: { server: "http://127.0.0.1:1" } }], users: [{ name: "far", user: {} }], contexts: [{ name: "far", context: { cluster: "far", user: "far" } }] };
  await within(() => [], (folder) => ({ KUBECONFIG: join(folder, "config") }), async (window, folder) => {
    await writeFile(join(folder, "config"), JSON.stringify(config));
    await press(window, "Connect to a cluster");
    await until(async () => /far.*current/s.test(await said(window, ".sheet")), "the context shows");
    await window.run("document.querySelector('.live-context .button').click()");
    await until(async () => /cannot be reached/.test(await said(window, ".live-strip")), "the strip says why");
    await until(async () => /since \d\d:\d\d.*retrying/.test(await said(window, ".live-strip")), "and since when");
    await until(async () => /(^|\D)0 resources/.test(await said(window, ".status")), "nothing else is shown as if it were the cluster's");
    await window.picture("no-answer");
    await choose(window, "live");
    assert.match(await said(window, ".live-view"), /cannot be reached/);
  });
});

test("empty, binary and large files are followed", async () => {
  const large = Array.from({ length: 25 }, (_, at) => `${mapping.replace("quote}", `m${at}}`)}# ${"x".repeat(2 << 20)}\n`).join("---\n");
  await within((folder) => [folder], () => ({}), async (window, folder) => {
    await until(async () => /Folder/.test(await said(window, ".live-strip")), "it is followed");
    await writeFile(join(folder, "noise.yaml"), Buffer.from([0xff, 0xfe, 0, 1, 2, 3]));
    await writeFile(join(folder, "one.yaml"), mapping);
    await until(async () => /(^|\D)1 resource/.test(await said(window, ".status")), "the resource shows");
    await writeFile(join(folder, "large.yaml"), large);
    await until(async () => /(^|\D)26 resources/.test(await said(window, ".status")), "the large file is read", 120_000);
    await window.picture("large");
  });
});
