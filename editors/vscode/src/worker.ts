// Runs the language server as WebAssembly, in a worker of a browser or of Node. The first message is the program; the others are the client's.

import { handle, initSync } from "../server/chancery-language-server.js";

interface Port {
  postMessage(message: unknown): void;
  listen(heard: (message: unknown) => void): void;
}

/** The other side: in a browser the worker itself, in Node the parent's port. */
function port(): Port {
  const scope = globalThis as unknown as { postMessage?: (message: unknown) => void; onmessage?: unknown };
  if (typeof scope.postMessage === "function") {
    return {
      postMessage: (message) => scope.postMessage?.(message),
      listen: (heard) => (scope.onmessage = (event: { data: unknown }) => heard(event.data)),
    };
  }
  const { parentPort } = require("node:worker_threads") as typeof import("node:worker_threads");
  return { postMessage: (message) => parentPort?.postMessage(message), listen: (heard) => parentPort?.on("message", heard) };
}

const client = port();
let waiting: unknown[] = [];

/** Messages that arrive together are handled together: a key press before the compile that it outdates. */
function flush(): void {
  const messages = waiting;
  waiting = [];
  (JSON.parse(handle(JSON.stringify(messages))) as unknown[]).forEach((message) => client.postMessage(message));
}

let isStarted = false;
client.listen((message) => {
  if (!isStarted) {
    initSync({ module: message as BufferSource });
    isStarted = true;
    return;
  }
  if (waiting.push(message) === 1) {
    setTimeout(flush);
  }
});
