// Starts the page, and beside it the worker, so that both load at the same time.
import init from "./chancery-page.js";

globalThis.chanceryWorker = new Worker("./worker.js", { type: "module" });
init();
