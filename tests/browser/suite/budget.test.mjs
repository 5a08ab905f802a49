// How much it weighs, how fast it is, and whether everybody can use it.

import AxeBuilder from "@axe-core/playwright";
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { clickLine, dist, launch, load, open, ready, serve } from "../browser.mjs";

let browser, server;
before(async () => {
  browser = await launch();
  server = await serve();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const mappings = (count) =>
  Array.from({ length: count }, (_, at) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m${at}, namespace: shop}\nspec:\n  hostname: shop.example.com\n  prefix: /m${at}/\n  service: m${at}.shop:8080\n`).join("");

describe("budgets", () => {
  test("all bytes of the page weigh at most 700 KB, brotli", async () => {
    let sum = 0;
    for (const name of (await readdir(dist)).filter((name) => !name.startsWith("."))) {
      const bytes = await readFile(join(dist, name));
      const packed = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 } }).length;
      console.log(`${name}: ${bytes.length} bytes, ${packed} packed`);
      sum += packed;
    }
    console.log(`together: ${sum} packed`);
    assert.ok(sum <= 700_000, `${sum} bytes`);
  });

  test("a keystroke is answered soon, with 50 resources and with 1,000", async () => {
    for (const [count, most] of [[50, 500], [1000, 1500]]) {
      const { page, close } = await open(browser, server.url);
      await ready(page);
      await load(page, { "many.yaml": mappings(count) });
      await page.locator(".status", { hasText: `${count + 6} resources` }).waitFor();
      await page.click("#tab-findings");
      await clickLine(page, "prefix: /m0/");
      await page.keyboard.press("End");
      const times = [];
      for (let at = 0; at < 7; at += 1) {
        times.push(
          await page.evaluate(
            () =>
              new Promise((done) => {
                const status = document.querySelector(".status");
                const from = performance.now();
                const seen = new MutationObserver(() => {
                  seen.disconnect();
                  done(performance.now() - from);
                });
                seen.observe(status, { subtree: true, characterData: true, childList: true });
                document.execCommand("insertText", false, "x");
                setTimeout(() => done(performance.now() - from), 5000);
              }),
          ),
        );
      }
      const middle = times.sort((a, b) => a - b)[3];
      console.log(`${count} resources: ${middle.toFixed(0)} ms from keystroke to counts`);
      assert.ok(middle < most, `${middle} ms`);
      await close();
    }
  });

  test("it can be used within seconds on a slow machine", async () => {
    const context = await browser.newContext({ serviceWorkers: "block" });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    const from = Date.now();
    await page.goto(server.url);
    await page.locator(".cm-content").waitFor();
    const editor = Date.now() - from;
    await ready(page);
    console.log(`4x slowed: ${editor} ms to the editor, ${Date.now() - from} ms to the first findings`);
    // A shared machine is slower than a person's; the goal is 2 s.
    assert.ok(editor < 8000, `${editor} ms`);
    await context.close();
  });
});

describe("everyone", () => {
  for (const theme of ["light", "dark"]) {
    test(`axe finds nothing serious in any view, ${theme}`, async () => {
      const { page, close } = await open(browser, server.url, { theme });
      await ready(page);
      await clickLine(page, "prefix: /api/");
      const check = async (where) => {
        const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]).analyze();
        const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
        assert.deepEqual(serious.map((one) => `${where}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`), []);
      };
      for (const view of ["graph", "routes", "envoy", "ir", "findings"]) {
        await page.click(`#tab-${view}`);
        await page.waitForTimeout(250);
        await check(view);
      }
      await page.keyboard.press("Escape");
      await page.click("text=Examples");
      await check("examples");
      await close();
    });
  }
});
