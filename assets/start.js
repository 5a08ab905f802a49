// Starts the worker, and fetches the answers that the build prepared for a first visit. Does not ask the worker anything.

// If one document holds several of these pages, they share their compiled programs (`web/npm`).
export const shared = (() => {
  try {
    return window.parent[Symbol.for(`chancery ${new URL(".", import.meta.url).href}`)];
  } catch {
    // The parent has another origin.
  }
})();

const start = () => {
  const worker = new Worker("./worker.js", { type: "module", name: shared ? "shared" : "" });
  shared?.program("chancery-worker_bg.wasm").then((program) => worker.postMessage(program), () => worker.postMessage(null));
  return worker;
};

let firstAnswers = Promise.resolve("");

// Fetches the answers for a first visit.
export const fetchFirstAnswers = () => {
  firstAnswers = fetch(new URL("./first.json", import.meta.url)).then((answer) => (answer.ok ? answer.text() : "")).catch(() => "");
};

// Returns the fetched answers as JSON, or an empty string.
export const takeFirstAnswers = () => firstAnswers;

let early;

// Starts a worker that loads while the page loads.
export const startEarly = () => {
  const known = { worker: start(), failed: false };
  // The page does not listen yet and would miss an error.
  known.worker.addEventListener("error", () => (known.failed = true));
  early = known;
};

// Returns the worker that was started early, or starts another.
export const takeWorker = () => {
  const known = early;
  early = undefined;
  if (known && !known.failed) return known.worker;
  return start();
};
