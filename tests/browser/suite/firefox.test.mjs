// A smoke test in Firefox. Skipped without Firefox (`apt install firefox-esr`, or CHANCERY_FIREFOX).

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe } from "node:test";
import puppeteer from "puppeteer-core";
import { serve, test } from "../browser.mjs";

const firefox = process.env.CHANCERY_FIREFOX ?? "/usr/bin/firefox-esr";

describe("Firefox", { skip: existsSync(firefox) ? false : `there is no ${firefox}` }, () => {
  let browser, server;
  before(async () => {
    server = await serve();
    browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  test("Firefox shows example, finding and selection", async () => {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.setViewport({ width: 1440, height: 900 });
    await page.goto(server.url);
    await page.waitForFunction(() => document.querySelector(".status")?.textContent.includes("compiled in"));
    await page.waitForFunction(() => document.querySelectorAll(".box").length > 8);
    assert.match(await page.$eval(".status", (status) => status.textContent), /6 resources.*0 errors.*1 warning/);
    await page.click("#tab-envoy");
    await page.waitForSelector(".row");
    await page.evaluate(() => document.querySelectorAll(".row")[3].click());
    await page.waitForSelector(".row.lit, .selection-title");
    await page.click("#tab-findings");
    await page.waitForSelector(".chip.fix");
    await page.click(".chip.fix");
    await page.waitForFunction(() => /0 errors.*0 warnings/.test(document.querySelector(".status").textContent));
    assert.deepEqual(errors, []);
  });
});
