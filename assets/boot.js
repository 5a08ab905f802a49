// Starts the page, and beside it the worker that it will likely need, so that both load at the same time. Once all is there, the page is kept for
// when there is no network.
import { parts } from "./parts.js";
import { expect, prepare, shared } from "./start.js";

const address = new URLSearchParams(location.search);
const likely = () => {
  const [example] = (address.get("example") ?? "").split("/");
  const named = new URLSearchParams(location.hash.slice(1)).get("dialect") ?? address.get("dialect");
  try {
    return named ?? (address.get("example") ? (address.get("example").includes("/") ? example : "ambassador") : localStorage.getItem("chancery.worker"));
  } catch {
    return named;
  }
};
const dialect = /^[a-z]+$/.exec(likely() ?? "")?.[0] ?? "ambassador";
prepare(dialect);

const hosted = globalThis.__TAURI__ || document.documentElement.dataset.host;

// A first visit shows the example before its engine is there.
const isFirst = () => {
  try {
    return !localStorage.getItem("chancery.work");
  } catch {
    return true;
  }
};
if (!hosted && !address.size && !location.hash && isFirst()) expect();

const program = (name) => fetch(new URL(name, import.meta.url));
const own = () => program("chancery-page_bg.wasm");
const page = () => (shared ? shared.program("chancery-page_bg.wasm").catch(own) : own());
const further = parts("chancery-page");
// The web view of the window answers a request only when the one before it is read. So the page is requested after its part is there.
const ready = hosted ? further("host").catch(() => {}) : Promise.resolve();
const begun = Promise.all([import("./chancery-page.js"), ready]).then(([{ default: init }]) => init({ module_or_path: page() }));

// Without the program there is nothing but this.
begun.catch(() => {
  const [told, again] = ["p", "button"].map((name) => document.createElement(name));
  [told.className, again.className] = ["arrived", "button"];
  told.role = "alert";
  told.textContent = "This page could not be loaded.";
  again.textContent = "Try again";
  again.onclick = () => location.reload();
  told.append(again);
  document.body.append(told);
});

// Built for people to use, `version` is set; while the page is being worked on, nothing is kept. With a program around it the page is
// always at hand, and is that program's.
if (!hosted && "serviceWorker" in navigator && window.self === window.top && document.documentElement.dataset.version) {
  addEventListener("load", () => navigator.serviceWorker.register("./service-worker.js").catch(() => {}));
  navigator.serviceWorker.ready.then(({ active }) => active.postMessage(dialect));
}
