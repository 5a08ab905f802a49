// Tests of a folder in the window: follow, edit and save.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choose, open, press, said, says, test, until } from "../window.mjs";

const mapping = (field, prefix = "/quote/") => `# Why this is here.
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: quote}
spec:
  hostname: "*"
  prefix: ${prefix}
  service: quote
  ${field}: 3000
`;
const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2hunter2}\n";

async function opened() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  await writeFile(join(folder, "quote.yaml"), mapping("timout_ms"));
  await writeFile(join(folder, "secret.yaml"), secret);
  const window = await open([folder]);
  const status = () => said(window, ".status");
  await until(async () => /2 resources/.test(await status()), "the folder is compiled");
  return { folder, window, status, file: join(folder, "quote.yaml"), close: () => window.close().then(() => rm(folder, { recursive: true })) };
}

test("folder shows findings until the file is fixed", async () => {
  const { window, status, file, close } = await opened();
  try {
    assert.match(await said(window, ".live-strip"), /Folder.*up to date/);
    assert.match(await status(), /1 warning/);
    assert.match(await said(window, ".selection-worst"), /timout_ms/);
    await window.picture("folder");
    await choose(window, "live");
    await says(window, ".live-view", /timout_ms/, "the timeline has the first build");
    await writeFile(file, mapping("timeout_ms"));
    await until(async () => /0 warnings/.test(await status()), "the finding is gone");
    assert.match(await said(window, ".cm-content"), /timeout_ms/, "the editor shows the file as it is");
    await says(window, ".live-view", /no longer/, "the timeline shows the fixed finding");
    assert.match(await said(window, ".live-view"), /quote\.yaml:9/);
    await window.picture("timeline");
    await press(window, "compare with the state before");
    await until(async () => /timeout|request/i.test(await said(window, "#view")), "the comparison shows");
    await window.picture("compare");
  } finally {
    await close();
  }
});

test("page receives no Secret values", async () => {
  const { window, close } = await opened();
  try {
    await press(window, "secret.yaml");
    await until(async () => /password/.test(await said(window, ".cm-content")), "the file is shown");
    assert.doesNotMatch(await window.run("return document.documentElement.outerHTML"), /hunter2/);
  } finally {
    await close();
  }
});

test("save keeps comments and detects conflicts", async () => {
  const { window, file, status, close } = await opened();
  try {
    await press(window, "rename to");
    await until(async () => /You changed this file/.test(await said(window, ".live-strip")), "the strip says that the file is changed");
    await window.picture("changed");
    await press(window, "Save");
    await until(async () => (await readFile(file, "utf8")) === mapping("timeout_ms"), "the file is written");
    await until(async () => !/You changed/.test(await said(window, ".live-strip")), "the strip is quiet again");
    await until(async () => /0 warnings/.test(await status()), "the finding is gone");
    await window.edit("Why this", "Mine: why this");
    await until(async () => /You changed this file/.test(await said(window, ".live-strip")), "the person writes");
    await writeFile(file, mapping("timeout_ms", "/theirs/"));
    await until(async () => /another program/.test(await said(window, ".live-strip")), "the strip reports the conflict");
    await window.picture("conflict");
    assert.match(await said(window, ".cm-content"), /Mine/, "what the person wrote stays");
    await press(window, "Take theirs");
    await until(async () => /theirs/.test(await said(window, ".cm-content")), "the other text is shown");
    assert.equal(await readFile(file, "utf8"), mapping("timeout_ms", "/theirs/"));
  } finally {
    await close();
  }
});

test("frozen page applies later changes on resume", async () => {
  const { window, file, status, close } = await opened();
  try {
    await press(window, "Freeze");
    await writeFile(file, mapping("timeout_ms"));
    await until(async () => /1 input changed/.test(await said(window, ".live-strip")), "the strip counts");
    assert.match(await status(), /1 warning/);
    await window.picture("frozen");
    await press(window, "Resume");
    await until(async () => /0 warnings/.test(await status()), "the page resumes");
    await until(async () => (await window.run("return document.querySelector('#tab-compare').ariaSelected")) === "true", "Compare is shown");
  } finally {
    await close();
  }
});

test("moved folder is reported and its files stay", async () => {
  const { window, folder, status } = await opened();
  try {
    await rename(folder, `${folder}-elsewhere`);
    await until(async () => !/up to date/.test(await said(window, ".live-strip")), "the strip tells");
    assert.match(await status(), /2 resources/);
    await window.picture("gone");
  } finally {
    await window.close();
    await rm(`${folder}-elsewhere`, { recursive: true });
  }
});

test("window without inputs offers to open them", async () => {
  const window = await open([]);
  try {
    await until(async () => /Open a folder.*Open a file.*Connect to a cluster/.test(await said(window, ".live-strip")), "the choices show");
    await until(async () => /[1-9]\d* resources/.test(await said(window, ".status")), "the example is compiled");
    await window.picture("start");
    await press(window, "Connect to a cluster");
    await until(async () => /cannot read the kubeconfig/.test(await said(window, ".sheet")), "the missing kubeconfig is reported");
    await window.picture("no-kubeconfig");
  } finally {
    await window.close();
  }
});
