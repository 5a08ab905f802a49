// Tests of the page inside a fake desktop window: its calls while the user types.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { test, visitors } from "../browser.mjs";

const site = visitors();

// A fake window that records calls, follows a folder with two files, and serves Envoys.
const host = () => {
  window.asked = [];
  const say = (channel, message) => channel.onmessage(new TextEncoder().encode(JSON.stringify(message)));
  const mapping = (name) => `apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {hostname: "*", prefix: /${name}/, service: ${name}}\n`;
  window.__TAURI__ = {
    core: {
      Channel: class {},
      invoke: async (command, { channel, call }) => {
        if (command === "call") return window.asked.push(call), call.do === "save" ? { conflict: false } : null;
        window.say = (message) => say(channel, message);
        say(channel, { what: "session", kind: "folder", id: 1, title: "/gateway", xds: "127.0.0.1:18000", recent: [], options: "missing=error" });
        say(channel, { what: "inputs", begins: true, ends: true, put: ["a", "b"].map((name) => ({ name: `/gateway/${name}.yaml`, text: mapping(name), hidden: false })), gone: [] });
      },
    },
  };
};

describe("in a window", () => {
  test("drafts of two files both reach Envoys", async () => {
    const { page, errors, close } = await site.open({ init: host });
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    await page.evaluate(async () => {
      const write = async (name) => {
        document.querySelector(`.file-name[title$="${name}"]`).click();
        await new Promise(requestAnimationFrame);
        document.querySelector(".cm-content").focus();
        document.execCommand("insertText", false, `# ${name}\n`);
      };
      await write("a.yaml");
      await write("b.yaml");
    });
    await page.waitForFunction(() => window.asked.filter((call) => call.do === "draft").length >= 2);
    const drafts = await page.evaluate(() => window.asked.filter((call) => call.do === "draft"));
    assert.deepEqual(drafts.map(({ name }) => name).sort(), ["/gateway/a.yaml", "/gateway/b.yaml"]);
    for (const { name, text } of drafts) assert.ok(text.includes(`# ${name.slice(-6)}`), text);
    assert.deepEqual(errors, []);
    await close();
  });

  for (const [button, state] of [["Undo all", "the file's text"], ["Save", "the saved text"]]) {
    test(`Envoys receive ${state} after "${button}" within a moment of writing`, async () => {
      const { page, errors, close } = await site.open({ init: host });
      await page.locator(".status", { hasText: "2 resources" }).waitFor();
      await page.evaluate(async (button) => {
        document.querySelector(".cm-content").focus();
        document.execCommand("insertText", false, "# mine\n");
        const found = () => [...document.querySelectorAll(".live-strip button")].find((one) => one.textContent === button);
        while (!found()) await new Promise(requestAnimationFrame);
        found().click();
      }, button);
      await page.waitForFunction(() => window.asked.some((call) => call.do === "draft" && call.text === null));
      // An earlier draft would arrive by now.
      await page.waitForTimeout(500);
      assert.equal(await page.evaluate(() => window.asked.filter((call) => call.do === "draft").at(-1).text), null);
      assert.deepEqual(errors, []);
      await close();
    });
  }

  test("edits stay when another program writes the file", async () => {
    const { page, close } = await site.open({ init: host });
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    await page.evaluate(() => {
      document.querySelector(".cm-content").focus();
      document.execCommand("insertText", false, "# mine\n");
    });
    await page.getByText("You changed this file").waitFor();
    await page.evaluate(() => {
      const change = (put, gone) => window.say({ what: "inputs", begins: false, ends: true, put, gone });
      change([], ["/gateway/a.yaml"]);
      change([{ name: "/gateway/a.yaml", text: "# theirs\n", hidden: false }], []);
    });
    await page.getByText("You and another program changed this file").waitFor();
    await page.locator(".cm-line", { hasText: "# mine" }).waitFor();
    await page.getByRole("button", { name: "Take theirs" }).click();
    await page.locator(".cm-line", { hasText: "# theirs" }).waitFor();
    await close();
  });

  test("window counts unsaved files and confirms links", async () => {
    const { page, errors, close } = await site.open({ init: host });
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    const unsaved = () => page.evaluate(() => window.asked.filter((call) => call.do === "unsaved").at(-1)?.files);
    assert.equal(await unsaved(), undefined);
    await page.evaluate(() => {
      document.querySelector(".cm-content").focus();
      document.execCommand("insertText", false, "# mine\n");
    });
    await page.waitForFunction(() => window.asked.some((call) => call.do === "unsaved" && call.files === 1));
    await page.getByRole("button", { name: "Undo all" }).click();
    await page.waitForFunction(() => window.asked.filter((call) => call.do === "unsaved").at(-1)?.files === 0);
    await page.evaluate(() => window.say({ what: "link", url: "chancery://open#snapshot=garbage" }));
    const sheet = page.getByRole("dialog", { name: "Open this link?" });
    await sheet.getByRole("button", { name: "Open", exact: true }).click();
    await page.locator(".toast", { hasText: "The link" }).waitFor();
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    await page.evaluate(() => window.say({ what: "menu", item: "keys" }));
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    assert.deepEqual(errors, []);
    await close();
  });
});
