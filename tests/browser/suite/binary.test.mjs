// Tests of `chancery play`: the page inside the command line program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { after, before, describe } from "node:test";
import { launch, open, ready, test } from "../browser.mjs";

const binary = process.env.CHANCERY_BINARY;

describe("chancery play", { skip: binary ? false : "CHANCERY_BINARY names no program that was built with the playground" }, () => {
  let browser, program, url;
  before(async () => {
    browser = await launch();
    program = spawn(binary, ["play", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: program.stdout })) {
      url = line.match(/http:\S+/)?.[0];
      if (url) break;
    }
  });
  after(async () => {
    program?.kill();
    await browser?.close();
  });

  test("program serves the page with a strict policy", async () => {
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    const { page, errors, close } = await open(browser, url);
    await ready(page);
    await page.locator(".box").first().waitFor();
    const answer = await page.request.get(url);
    assert.match(answer.headers()["content-security-policy"], /script-src 'self' 'wasm-unsafe-eval';.*frame-ancestors 'self'/);
    assert.equal((await page.request.get(`${url}%2e%2e/etc/passwd`)).status(), 404);
    assert.equal((await page.request.post(url)).status(), 405);
    assert.deepEqual(errors, []);
    await close();
  });

  test("program refuses requests with another host name", async () => {
    const status = await new Promise((done, fail) => get(url, { headers: { host: "evil.example.com" } }, (answer) => done(answer.resume().statusCode)).on("error", fail));
    assert.equal(status, 421);
  });
});
