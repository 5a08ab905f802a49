// Starts the page, and beside it the worker, so that both load at the same time. Once all is there, the page is kept for when there is no
// network.
import init from "./chancery-page.js";

// A document that holds several of these pages has compiled their programs once for all (`web/npm`).
const shared = () => {
  try {
    return window.parent[Symbol.for(`chancery ${new URL(".", import.meta.url).href}`)];
  } catch {
    // Of another origin.
  }
};
const compiled = shared();
const program = (name) => fetch(new URL(name, import.meta.url));

const worker = new Worker("./worker.js", { type: "module", name: compiled ? "given" : "" });
compiled?.worker.then((program) => worker.postMessage(program), () => worker.postMessage(null));
globalThis.chanceryWorker = worker;
init({ module_or_path: compiled ? compiled.page.catch(() => program("chancery-page_bg.wasm")) : program("chancery-page_bg.wasm") });

// Built for people to use, `version` is set; while the page is being worked on, nothing is kept.
if ("serviceWorker" in navigator && window.self === window.top && document.documentElement.dataset.version) {
  addEventListener("load", () => navigator.serviceWorker.register("./service-worker.js").catch(() => {}));
}
