// Tests the extension in VS Code for browsers, driven by Chromium: node vscode.mjs EXTENSION.vsix HOST. Writes screenshots. The host is
// `machine` (with the program), `worker` (on a machine without the program), or `browser` (as on vscode.dev).

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import net from "node:net";

const tools = process.env.CHANCERY_EDITOR_TOOLS;
const require = createRequire(path.join(tools, "package.json"));
const { chromium } = require("playwright-core");
const here = path.dirname(new URL(import.meta.url).pathname);
const node = path.join(tools, "node_modules/node/bin/node");
const code = process.env.CHANCERY_CODE;
const pictures = process.env.CHANCERY_PICTURES ?? os.tmpdir();
const extension = path.resolve(process.argv[2]);
const host = process.argv[3] ?? "machine";
const PATIENCE = 60_000;

const work = fs.mkdtempSync(path.join(os.tmpdir(), "chancery-code-"));
const folder = path.join(work, "shop");
fs.mkdirSync(folder);
fs.mkdirSync(pictures, { recursive: true });
fs.copyFileSync(path.join(here, "sample.yaml"), path.join(folder, "sample.yaml"));
for (const arguments_ of [["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "one"]]) {
  spawnSync("git", arguments_, { cwd: folder });
}

const data = ["--user-data-dir", path.join(work, "data"), "--extensions-dir", path.join(work, "extensions")];
const entry = path.join(code, "out/node/entry.js");

function fail(why) {
  throw new Error(why);
}

/** The frame of the panel that shows the page. */
async function panelFrame(page) {
  for (let tries = 0; tries < 60; tries += 1) {
    for (const frame of page.frames()) {
      if ((await frame.locator("html[data-query]").count().catch(() => 0)) > 0) {
        return frame;
      }
    }
    await page.waitForTimeout(500);
  }
  return fail("the panel has no page");
}

async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Takes from the installed extension what its host does not have. */
function changeHost() {
  const folder = fs.readdirSync(path.join(work, "extensions")).find((name) => name.startsWith("chancery-dev.")) ?? fail("the extension is not installed");
  const root = path.join(work, "extensions", folder);
  if (host !== "machine") {
    fs.rmSync(path.join(root, "bin"), { recursive: true });
  }
  if (host === "browser") {
    const file = path.join(root, "package.json");
    const { main: _, ...rest } = JSON.parse(fs.readFileSync(file, "utf8"));
    fs.writeFileSync(file, JSON.stringify(rest));
  }
}

async function main() {
  const installed = spawnSync(node, [entry, ...data, "--install-extension", extension], { encoding: "utf8" });
  if (installed.status !== 0) {
    fail(`the extension cannot be installed: ${installed.stdout}${installed.stderr}`);
  }
  changeHost();
  const settings = path.join(work, "data/User");
  fs.mkdirSync(settings, { recursive: true });
  const own = { "workbench.startupEditor": "none", "workbench.secondarySideBar.defaultVisibility": "hidden", "chat.disableAIFeatures": true, "editor.codeLens": true, "editor.inlayHints.enabled": "on", "security.workspace.trust.enabled": false, "workbench.colorTheme": "Default Light Modern" };
  fs.writeFileSync(path.join(settings, "settings.json"), JSON.stringify(own));
  const port = await freePort();
  const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-workspace-trust", "--disable-telemetry", "--disable-update-check"];
  const server = spawn(node, [entry, ...data, ...flags, folder], { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  server.stdout.on("data", (text) => (log += text));
  server.stderr.on("data", (text) => (log += text));
  const browser = await chromium.launch({ executablePath: process.env.CHANCERY_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1500, height: 950 } });
  page.on("console", (message) => message.type() === "error" && (log += `${message.text()}\n`));
  page.on("response", (response) => response.status() >= 400 && (log += `${response.status()} ${response.url()}\n`));
  page.setDefaultTimeout(PATIENCE);
  const passed = [];
  const shot = (name) => page.screenshot({ path: path.join(pictures, host === "machine" ? `${name}.png` : `${host}-${name}.png`) });
  try {
    for (let tries = 0; !log.includes("HTTP server listening") && tries < 120; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`);
    await page.locator('.explorer-folders-view [aria-label^="sample.yaml"]').first().dblclick();
    await page.locator(".view-lines").first().waitFor();
    passed.push("opens");

    // Diagnostics, lenses and hints.
    await page.locator(".squiggly-warning, .squiggly-error").first().waitFor();
    passed.push("diagnostics");
    await page.locator(".codelens-decoration a", { hasText: "Try a request" }).first().waitFor();
    passed.push("lenses");
    await page.locator(".view-line", { hasText: "→" }).first().waitFor();
    passed.push("hints");
    const problem = page.locator(".notification-toast", { hasText: "Chancery" });
    if ((await problem.count()) > 0) {
      fail(`Chancery reports a problem: ${await problem.first().innerText()}`);
    }
    await shot("lenses");

    // A hover on a field.
    const field = page.locator(".view-line", { hasText: "timeout_ms" }).first();
    await field.locator("span", { hasText: "timeout_ms" }).last().hover();
    const hover = page.locator(".monaco-hover:visible", { hasText: "Default" });
    await hover.waitFor();
    await page.waitForTimeout(500);
    await shot("hover");
    passed.push("hover");

    // The fix of the misspelt field.
    const wrong = page.locator(".view-line", { hasText: "timout_ms" }).first();
    await wrong.locator("span", { hasText: "timout_ms" }).last().click();
    await page.keyboard.press("Control+.");
    const fix = page.locator(".action-widget .monaco-list-row", { hasText: /rename/i }).first();
    await fix.waitFor();
    await shot("fixes");
    await fix.click();
    await page.waitForFunction(() => ![...document.querySelectorAll(".view-line")].some((line) => line.textContent.includes("timout_ms")));
    passed.push("fix");

    // Typing: a wrong Service is reported.
    const service = page.locator(".view-line", { hasText: "service: cart:8080" }).first();
    await service.click();
    await page.keyboard.press("End");
    for (let at = 0; at < "cart:8080".length; at += 1) {
      await page.keyboard.press("Backspace");
    }
    await page.keyboard.type("ca");
    await page.keyboard.press("Control+Space");
    const offered = page.locator(".suggest-widget .monaco-list-row", { hasText: "cart:8080" }).first();
    await offered.waitFor();
    await shot("completion");
    await offered.click();
    passed.push("completion");

    // A request from a lens.
    await page.locator(".codelens-decoration a", { hasText: "Try a request" }).first().click();
    await page.locator(".quick-input-widget input").first().waitFor();
    await page.waitForTimeout(1000);
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: /goes to/ }).first().waitFor();
    await shot("request");
    await page.keyboard.press("Escape");
    passed.push("request");

    // What a line produces.
    await page.locator(".view-line", { hasText: "prefix: /cart/" }).first().click();
    await page.keyboard.press("F1");
    await page.keyboard.type("Chancery: Show What This Line Produces");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(2500);
    if (await page.locator(".quick-input-list .monaco-list-row").first().isVisible()) {
      await page.keyboard.press("Enter");
    }
    await page.locator(".tab", { hasText: /\.yaml/ }).nth(1).waitFor();
    await shot("produced");
    passed.push("produced");

    // The comparison with HEAD: the fix is a change.
    await page.keyboard.press("F1");
    await page.keyboard.type("Chancery: Compare with HEAD");
    await page.keyboard.press("Enter");
    if (host === "machine") {
      await page.locator(".tab", { hasText: "Compared with HEAD" }).first().waitFor();
    } else {
      await page.locator(".notification-toast", { hasText: "install the program" }).first().waitFor();
    }
    await page.waitForTimeout(500);
    await shot("compare");
    passed.push("compare");

    // The panel, if this build contains the page.
    await page.locator(".tab", { hasText: "sample.yaml" }).first().click();
    await page.keyboard.press("F1");
    await page.keyboard.type("Chancery: Open the Panel");
    await page.keyboard.press("Enter");
    const contains = spawnSync("unzip", ["-l", extension], { encoding: "utf8" }).stdout.includes("extension/page/index.html");
    if (contains) {
      const frame = await panelFrame(page);
      await frame.locator("svg text, .node", { hasText: "cart" }).first().waitFor();
      await page.waitForTimeout(1000);
      passed.push("panel");
    }
    await shot("panel");
    console.log(`VS Code (${host}): ${passed.join(", ")}`);
  } catch (error) {
    await shot("failed");
    console.log(`VS Code (${host}) passed: ${passed.join(", ")}`);
    console.log(log.slice(-2000));
    throw error;
  } finally {
    await browser.close();
    server.kill();
    fs.rmSync(work, { recursive: true, force: true });
  }
}

await main();
