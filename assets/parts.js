// Loads the parts of a program that were not loaded with it. The build splits programs (`split.mjs`); a function of another part waits until it is
// there, so that this cannot be done later. What must not be here: what is in a part.

// Those of workers, and of the page, by their numbers.
const PARTS = { worker: ["more", "seldom", "rest"], page: ["host"] };

const file = (program, part) => new URL(`./${program}_${part}.wasm`, import.meta.url);

// A part that could not be loaded.
export class Missing extends Error {}

// Bytes, as soon as they are there: nothing else happens in the meantime.
const fetched = (address) => {
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.overrideMimeType("text/plain; charset=x-user-defined");
  try {
    request.send();
  } catch {
    // There is no network; its status says so.
  }
  if (request.status !== 200) throw new Missing(`${address} could not be loaded`);
  return Uint8Array.from(request.responseText, (letter) => letter.charCodeAt(0));
};

// Frees the memory of bytes that have been read. Without this, it is freed when the browser collects garbage.
export const emptied = (bytes) => void bytes.buffer.transfer?.(0);

// Lets a program load its parts. What of them is needed from the beginning can be fetched before.
export const parts = (program) => {
  const names = program === "chancery-page" ? PARTS.page : PARTS.worker;
  const early = new Map();
  globalThis.loadPart = (first, number) => {
    const name = names[number];
    const module = early.get(name) ?? new WebAssembly.Module(fetched(file(program, name)));
    new WebAssembly.Instance(module, { first });
  };
  return async (name) => {
    const answer = await fetch(file(program, name));
    if (answer.ok) early.set(name, await WebAssembly.compile(await answer.arrayBuffer()));
  };
};
