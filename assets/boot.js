// Starts the page, and beside it the worker, so that both load at the same time. Once all is there, the page is kept for when there is no
// network.
import init from "./chancery-page.js";

globalThis.chanceryWorker = new Worker("./worker.js", { type: "module" });
init();

// Built for people to use, `version` is set; while the page is being worked on, nothing is kept.
if ("serviceWorker" in navigator && window.self === window.top && document.documentElement.dataset.version) {
  addEventListener("load", () => navigator.serviceWorker.register("./service-worker.js").catch(() => {}));
}
