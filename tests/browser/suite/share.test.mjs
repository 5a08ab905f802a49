// Tests of exported work: as a link, as a file, and on the command line.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { clickLine, line, load, open, ready, test, visitors } from "../browser.mjs";

const site = visitors();

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cli = async (...words) => {
  const program = process.env.CHANCERY_BINARY;
  const [command, args] = program ? [program, words] : ["cargo", ["run", "--quiet", "--package", "chancery", "--", ...words]];
  // Findings cause an exit code, which is not a failure here.
  return promisify(execFile)(command, args, { cwd: root, env: { ...process.env, NO_COLOR: "1" } }).catch((error) => error).then(({ stdout }) => stdout);
};

const share = async (page) => {
  await page.click(".head-end >> text=Share");
  await page.waitForFunction(() => document.querySelector(".share-link")?.value.includes("#snapshot="));
  return page.inputValue(".share-link");
};

const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData:\n  token: swordfish\n";

describe("a link", () => {
  test("link restores text, view and saved requests", async () => {
    const { page, close } = await site.visit();
    await clickLine(page, "prefix: /api/");
    await page.keyboard.press("End");
    await page.keyboard.type("shared/");
    await page.click("#tab-try");
    await page.fill(".url", "http://shop.example.com/api/shared/x");
    await page.locator(".verdict", { hasText: "api:8080, as /x" }).waitFor();
    await page.click("text=Keep as test");
    await page.locator(".kept.holds").waitFor();
    const status = (await page.locator(".status").textContent()).replace(/compiled.*/, "");
    const link = await share(page);
    await page.locator(".share .notice-line", { hasText: "It contains no key material." }).waitFor();
    await close();

    const other = await open(site.browser, link);
    await ready(other.page);
    await line(other.page, "prefix: /api/shared/").waitFor();
    assert.equal(await other.page.locator("#tab-try").getAttribute("aria-selected"), "true");
    await other.page.locator(".kept.holds", { hasText: "/api/shared/x" }).waitFor();
    assert.equal((await other.page.locator(".status").textContent()).replace(/compiled.*/, ""), status);
    assert.deepEqual(other.errors, []);
    // After an edit, the address no longer contains the work.
    await clickLine(other.page, "prefix: /api/shared/");
    await other.page.keyboard.press("End");
    await other.page.keyboard.type("x");
    await other.page.waitForFunction(() => location.hash === "");
    await other.close();

    const output = await cli("open", link);
    assert.match(output, /unknown-field/);
    assert.match(output, /✓ GET http:\/\/shop.example.com\/api\/shared\/x api:8080, as \/x\n1 request kept, all as expected/);
    const { outcome, route } = JSON.parse(await cli("route", "--format", "json", "http://shop.example.com/api/shared/x", link));
    assert.deepEqual([outcome, route.path], ["forward", "prefix /api/shared/"]);
  });

  test("link contains key material only on request", async () => {
    const { page, close } = await site.visit();
    await load(page, { "secret.yaml": secret });
    await page.locator(".status", { hasText: "1 resource" }).waitFor();
    const text = async (link) => {
      const { page, close } = await open(site.browser, link);
      await ready(page);
      await page.click("text=secret.yaml");
      const text = await page.locator(".cm-content").textContent();
      await close();
      return text;
    };
    const without = await share(page);
    await page.locator(".share .notice-line.good", { hasText: "left out" }).waitFor();
    assert.match(await text(without), /token: x{9}/);
    await page.check(".share input[type=checkbox]");
    await page.locator(".share .notice-line.bad").waitFor();
    await page.waitForFunction((without) => document.querySelector(".share-link").value !== without, without);
    assert.match(await text(await page.inputValue(".share-link")), /token: swordfish/);
    await close();
  });

  test("invalid link is refused and changes nothing", async () => {
    for (const [fragment, why] of [
      ["#snapshot=1.abc", "The link is cut off or was changed on the way"],
      ["#snapshot=2.abc", "The link was packed by a newer Chancery"],
      ["#snapshot=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "The link contains no snapshot"],
    ]) {
      const { page, close } = await site.open({ path: fragment });
      await page.locator(".toast", { hasText: why }).waitFor();
      await ready(page);
      assert.match(await page.locator(".status").textContent(), /6 resources/);
      assert.equal(await page.locator(".page img").count(), 0);
      await close();
    }
  });

  test("pasted link opens and keeps the earlier session", async () => {
    const { page, close } = await site.visit();
    const link = await share(page);
    await page.keyboard.press("Escape");
    await clickLine(page, "prefix: /api/");
    await page.keyboard.press("End");
    await page.keyboard.type("mine/");
    await line(page, "prefix: /api/mine/").waitFor();
    await page.evaluate((hash) => (location.hash = hash), new URL(link).hash);
    await page.waitForFunction(() => !document.querySelector(".cm-content").textContent.includes("/api/mine/"));
    await page.keyboard.press("Control+k");
    await page.locator(".palette-input:focus").waitFor();
    await page.keyboard.type("earlier sessions");
    await page.keyboard.press("Enter");
    await page.locator(".gallery .card").first().click();
    await line(page, "prefix: /api/mine/").waitFor();
    await close();
  });
});

describe("a snapshot", () => {
  test("snapshot downloads and opens when dropped", async () => {
    const { page, close } = await site.visit();
    await share(page);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download the snapshot")]);
    assert.equal(download.suggestedFilename(), "chancery-snapshot.json");
    const text = await readFile(await download.path(), "utf8");
    assert.match(text, /^{\n {2}"chancery_snapshot": 1/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.locator(".palette-input:focus").waitFor();
    await page.keyboard.type("Clear everything");
    await page.keyboard.press("Enter");
    await page.locator(".status", { hasText: "0 resources" }).waitFor();
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "chancery-snapshot.json"));
      document.querySelector(".page").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, text);
    await page.locator(".status", { hasText: "6 resources" }).waitFor();
    await page.locator(".file.active", { hasText: "play.yaml" }).waitFor();
    await close();
  });

  test("long link recommends the snapshot", async () => {
    const { page, close } = await site.visit();
    const words = Array.from({ length: 4000 }, (_, at) => `# ${(at * 7919) % 10007} ${(at * 104729) % 99991}\n`).join("");
    await load(page, { "long.yaml": words });
    await share(page);
    await page.locator(".share .notice-line.warn", { hasText: "some programs truncate such links" }).waitFor();
    await close();
  });
});

describe("browser storage", () => {
  test("stored work has no secrets", async () => {
    const { page, close } = await site.visit();
    await load(page, { "secret.yaml": secret });
    await page.waitForFunction(() => localStorage.getItem("chancery.work")?.includes("secret.yaml"));
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.match(kept, /token: x{9}/);
    assert.doesNotMatch(kept, /swordfish/);
    await page.click("text=secret.yaml");
    assert.match(await page.locator(".cm-content").textContent(), /token: swordfish/);
    await close();
  });
});
