// The connection to the host: the desktop window, or the server that the page came from. Messages and answers are JSON. Does not interpret them.

const core = globalThis.__TAURI__?.core;

// Returns `window`, `server`, or an empty string.
export const kind = () => (core ? "window" : document.documentElement.dataset.host === "live" ? "server" : "");

// Calls `heard(text)` for each message. Calls `state(words)` with the problem of the connection, or an empty string.
export const listen = (heard, state) => {
  if (core) {
    const channel = new core.Channel();
    const decoder = new TextDecoder();
    channel.onmessage = (bytes) => heard(decoder.decode(bytes));
    core.invoke("listen", { channel }).then(
      () => state(""),
      (error) => state(String(error)),
    );
    return;
  }
  const source = new EventSource("./api/v1/live");
  source.onopen = () => state("");
  source.onmessage = ({ data }) => heard(data);
  source.onerror = () => state("the server does not answer");
};

// Calls the host. Resolves to the result as JSON, or rejects with the reason.
export const call = async (what) => {
  if (!core) throw "this page can only look";
  return JSON.stringify(await core.invoke("call", { call: JSON.parse(what) }));
};
