// Starts the page and, at the same time, the worker. Registers the service worker that keeps the page for use without a network.
import { fetchFirstAnswers, shared, startEarly } from "./start.js";

startEarly();

const hosted = globalThis.__TAURI__ || document.documentElement.dataset.host;

const isFirstVisit = () => {
  try {
    return !localStorage.getItem("chancery.work");
  } catch {
    return true;
  }
};
// A first visit shows the example before the worker is ready.
if (!hosted && !location.search && !location.hash && isFirstVisit()) fetchFirstAnswers();

const fetchPage = () => fetch(new URL("chancery-page_bg.wasm", import.meta.url));
const page = shared ? shared.program("chancery-page_bg.wasm").catch(fetchPage) : fetchPage();
const started = import("./chancery-page.js").then(({ default: init }) => init({ module_or_path: page }));

// If the program does not load, the document is empty except for this message.
started.catch(() => {
  const [message, again] = ["p", "button"].map((name) => document.createElement(name));
  [message.className, again.className] = ["arrived stopped", "button"];
  message.role = "alert";
  message.textContent = "This page could not be loaded.";
  again.textContent = "Try again";
  again.onclick = () => location.reload();
  message.append(again);
  document.body.append(message);
});

// Only a published page has `version`. A window or server that hosts the page always has its files, so nothing is kept there.
if (!hosted && "serviceWorker" in navigator && window.self === window.top && document.documentElement.dataset.version) {
  addEventListener("load", () => navigator.serviceWorker.register("./service-worker.js").catch(() => {}));
}
