// Starts workers: one for each dialect, or the one of all. What must not be here: which one is needed.

// A document that holds several of these pages compiles their programs once for all (`web/npm`).
export const shared = (() => {
  try {
    return window.parent[Symbol.for(`chancery ${new URL(".", import.meta.url).href}`)];
  } catch {
    // Of another origin.
  }
})();

const start = (dialect) => {
  const worker = new Worker("./worker.js", { type: "module", name: shared ? `${dialect} given` : dialect });
  shared?.program(`chancery-worker-${dialect}_bg.wasm`).then((program) => worker.postMessage(program), () => worker.postMessage(null));
  return worker;
};

let answers = Promise.resolve("");

// Fetches the answers to what is asked at a first visit, which were made when the page was built.
export const expect = () => {
  answers = fetch(new URL("./first.json", import.meta.url)).then((answer) => (answer.ok ? answer.text() : "")).catch(() => "");
};

// Those answers, or nothing.
export const first = () => answers;

let early;

// Starts the worker that is likely to be needed, so that it loads beside the page.
export const prepare = (dialect) => {
  const known = { dialect, worker: start(dialect), failed: false };
  // An error that comes before the page listens would be lost.
  known.worker.addEventListener("error", () => (known.failed = true));
  early = known;
};

// Which one that is.
export const prepared = () => early?.dialect ?? "";

// The worker of a dialect.
export const take = (dialect) => {
  const known = early;
  early = undefined;
  if (known?.dialect === dialect && !known.failed) return known.worker;
  known?.worker.terminate();
  try {
    localStorage.setItem("chancery.worker", dialect);
  } catch {
    // Where nothing can be kept, the next visit guesses.
  }
  return start(dialect);
};
