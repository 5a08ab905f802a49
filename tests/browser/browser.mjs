// The page in Debian's Chromium: a server of its own on loopback, and what most tests ask.
//
// What must not be here: expectations.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

// Serves the built page, and under /host/ what `hosts` says.
export async function serve(hosts = {}) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://here").pathname;
    const hosted = hosts[path];
    try {
      const body = hosted ?? (await readFile(join(dist, normalize(path === "/" ? "index.html" : path))));
      response.writeHead(200, { "content-type": hosted ? "text/html" : (kinds[extname(path === "/" ? "index.html" : path)] ?? "application/octet-stream") });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((done) => server.close(done).closeAllConnections()) };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHANCERY_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

// A page in a browser of its own kind: size, theme, address; errors of the page fail the test that asks for `errors`.
export async function open(browser, url, { width = 1440, height = 900, theme = "light", path = "", init, serviceWorkers = "block" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", serviceWorkers });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  if (init) await page.addInitScript(init);
  await page.goto(url + path);
  return { page, context, errors, close: () => context.close() };
}

// Until the first compile is shown.
export const ready = (page) => page.waitForFunction(() => /compiled in/.test(document.querySelector(".status")?.textContent ?? ""), null, { timeout: 60_000 });

// Puts files into the page, as a page that holds it would.
export async function load(page, files) {
  const generation = await page.locator(".status").textContent();
  await page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
    document.querySelector(".page").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);
  await page.waitForFunction((name) => document.querySelector(".file.active")?.textContent.includes(name), Object.keys(files)[0]);
  return generation;
}

// The line of the editor that holds a text.
export const line = (page, text) => page.locator(".cm-line", { hasText: text }).first();

export const clickLine = (page, text) => line(page, text).click({ position: { x: 40, y: 8 } });
