// Keeps the page for use without a network. All files are fetched at the first visit. A new version replaces them at the next visit.
// Never keeps what the user edits.

const VERSION = "development";
const PROGRAMS = ["chancery-page", "chancery-worker"].flatMap((name) => [`./${name}.js`, `./${name}_bg.wasm`]);
const SCRIPTS = ["boot", "bytes", "editor", "format", "host", "start", "worker"].map((name) => `./${name}.js`);
const FILES = ["./", "./style.css", "./icon.svg", "./first.json", ...SCRIPTS, ...PROGRAMS];
const NAME = `chancery ${VERSION}`;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name !== NAME && name.startsWith("chancery ");
  const removed = caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))));
  event.waitUntil(removed.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin) return;
  // Embedding and sharing add a query or a fragment to the address. The page is the same.
  const key = event.request.mode === "navigate" ? "./" : event.request;
  event.respondWith(caches.open(NAME).then(async (cache) => (await cache.match(key, { ignoreSearch: true })) ?? fetch(event.request)));
});
