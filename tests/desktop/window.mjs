// Drives a desktop window with WebDriver: tauri-driver starts it, WebKitWebDriver looks into it. Without CHANCERY_TAURI_DRIVER, WebKitWebDriver
// starts it.

import { spawn } from "node:child_process";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { test as run } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Ends a test that hangs.
export const test = (name, options, body = options) => run(name, { timeout: 180_000, ...(body === options ? {} : options) }, body);

// A free port.
export const free = () =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

// Waits until `look` returns something, and fails with the last result.
export async function until(look, what, patience = 60_000) {
  const begin = Date.now();
  let last;
  while (Date.now() - begin < patience) {
    try {
      last = await look();
      if (last) return last;
    } catch (error) {
      last = error.message;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what}: not within ${patience / 1000} s; last: ${JSON.stringify(last)}`);
}

// Waits until a part of the window matches a pattern, and fails with its last text.
export async function says(window, selector, pattern, what) {
  let last = "";
  const look = async () => pattern.test((last = await said(window, selector)));
  await until(look, what).catch((error) => {
    throw new Error(`${error.message}; ${selector} says: ${last.slice(-600)}`);
  });
}

// Chooses a view. Retries, because a tab moves when another tab's label changes.
export const choose = (window, view) =>
  until(async () => {
    await window.click(`#tab-${view}`);
    return window.run("return document.getElementById(arguments[0]).getAttribute('aria-selected') === 'true'", `tab-${view}`);
  }, `the view ${view} is chosen`);

const tauri = process.env.CHANCERY_TAURI_DRIVER;
// A virtual display has no graphics processor, and WebKit's replacement sometimes crashes.
const drawing = { WEBKIT_SKIA_ENABLE_CPU_RENDERING: "1" };
let closed = 0;

const element = "element-6066-11e4-a52e-4f735466cecf";

// Opens a window with these arguments and a separate home folder.
export async function open(args, env = {}) {
  const home = await mkdtemp(join(tmpdir(), "chancery-desktop-"));
  const [port, nativePort] = [await free(), await free()];
  // Allows WebDriver to drive the window; tauri-driver sets it, too.
  const driven = { TAURI_AUTOMATION: "true", TAURI_WEBVIEW_AUTOMATION: "true" };
  const where = { ...driven, HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "data"), XDG_CACHE_HOME: join(home, "cache"), SHLVL: "1", ...drawing };
  // A separate D-Bus: otherwise a closing window could receive the call as the existing instance.
  const ports = tauri ? ["--port", port, "--native-port", nativePort] : [`--port=${port}`];
  const driver = spawn("dbus-run-session", ["--", tauri ?? "WebKitWebDriver", ...ports], {
    env: { ...process.env, ...where, ...env },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  // A hanging page fails the test within a minute.
  const ask = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, signal: AbortSignal.timeout(60_000), body: body && JSON.stringify(body), headers: { "content-type": "application/json" } });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  const session = async (capabilities) => {
    await until(() => ask("GET", "/status"), "the driver answers");
    return ask("POST", "/session", { capabilities });
  };
  // Without arguments, the driver passes its own arguments, which the program refuses.
  const [application, words] = [process.env.CHANCERY_DESKTOP, args.length ? args : ["--"]];
  const options = tauri ? { "tauri:options": { application, args: words } } : { "webkitgtk:browserOptions": { binary: application, args: words } };
  const capabilities = { alwaysMatch: options };
  const started = Date.now();
  // A driver that stays would keep the tests running without a limit.
  const { sessionId } = await session(capabilities).catch((error) => {
    process.kill(-driver.pid);
    throw error;
  });
  const at = (path) => `/session/${sessionId}${path}`;
  const find = async (selector) => (await ask("POST", at("/element"), { using: "css selector", value: selector }))[element];
  const picture = async (name) => {
    if (!process.env.CHANCERY_PICTURES) return;
    await mkdir(process.env.CHANCERY_PICTURES, { recursive: true });
    await writeFile(join(process.env.CHANCERY_PICTURES, `${name}.png`), Buffer.from(await ask("GET", at("/screenshot")), "base64"));
  };
  return {
    // The start of the program, in milliseconds since 1970.
    started,
    run: (script, ...values) => ask("POST", at("/execute/sync"), { script, args: values }),
    // The result of a promise in the page.
    later: (promise) => ask("POST", at("/execute/async"), { script: `const done = arguments[arguments.length - 1]; (${promise}).then(done, (error) => done("failed: " + error));`, args: [] }),
    // Replaces a text in the editor, like its search does.
    edit: (from, to) =>
      ask("POST", at("/execute/sync"), {
        script: `
          const walker = document.createTreeWalker(document.querySelector(".cm-content"), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(arguments[0]);
            if (at < 0) continue;
            document.querySelector(".cm-content").focus();
            getSelection().setBaseAndExtent(walker.currentNode, at, walker.currentNode, at + arguments[0].length);
            document.dispatchEvent(new Event("selectionchange"));
            return document.execCommand("insertText", false, arguments[1]);
          }
          return false;`,
        args: [from, to],
      }),
    text: async (selector) => ask("GET", at(`/element/${await find(selector)}/text`)),
    click: async (selector) => ask("POST", at(`/element/${await find(selector)}/click`), {}),
    picture,
    close: async () => {
      // Saves a picture of the end state for failed tests.
      await picture(`last-${++closed}`).catch(() => {});
      await ask("DELETE", at("")).catch(() => {});
      process.kill(-driver.pid);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

// Clicks the first button that starts with this text.
export const press = (window, label) =>
  until(
    () => window.run("const it = [...document.querySelectorAll('button')].find((one) => one.textContent.trim().startsWith(arguments[0])); it?.click(); return Boolean(it);", label),
    `there is a button "${label}"`,
  );

// The text of a part of the page.
export const said = (window, selector) => window.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector);
