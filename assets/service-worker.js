// Keeps the page for when there is no network. It is fetched once, when it is first opened, and each worker when it is first needed; a new version,
// which `VERSION` tells apart, takes over at the next visit. What must not be here: anything about what is edited.

const VERSION = "development";
const FILES = ["./", "./style.css", "./icon.svg", "./boot.js", "./start.js", "./parts.js", "./host.js", "./worker.js", "./editor.js", "./format.js", "./codes.txt", "./first.json", "./chancery-page.js", "./chancery-page_bg.wasm"];
const NAME = `chancery ${VERSION}`;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== NAME && name.startsWith("chancery ")).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => self.clients.claim()));
});

const further = (dialect) => ["more", "seldom", "rest"].map((part) => `./chancery-worker-${dialect}_${part}.wasm`);
const worker = (dialect) => [`./chancery-worker-${dialect}.js`, `./chancery-worker-${dialect}_bg.wasm`, ...further(dialect)];

// The worker that was loaded before this one was there.
self.addEventListener("message", ({ data }) => caches.open(NAME).then((cache) => cache.addAll(worker(data))).catch(() => {}));

// A worker that is needed now is kept for later.
const keep = async (cache, request) => {
  const answer = await fetch(request);
  const [, dialect, what] = /\/chancery-worker-([a-z]+)([^/]*)$/.exec(new URL(request.url).pathname) ?? [];
  if (answer.ok && dialect) await cache.put(request, answer.clone());
  if (answer.ok && what === "_bg.wasm") cache.addAll(further(dialect)).catch(() => {});
  return answer;
};

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin) return;
  // Embedding and sharing say things behind the address; the page is the same.
  const key = event.request.mode === "navigate" ? "./" : event.request;
  event.respondWith(caches.open(NAME).then(async (cache) => (await cache.match(key, { ignoreSearch: true })) ?? keep(cache, event.request)));
});
