// The program around the page, where there is one: a window on this machine, or a server that the page came from. Messages and answers are JSON.
//
// What must not be here: what they mean.

const core = globalThis.__TAURI__?.core;

// `window`, `server`, or nothing.
export const kind = () => (core ? "window" : document.documentElement.dataset.host === "live" ? "server" : "");

// Hears all messages from now on; `heard(text)`. `state(words)` says how the line is: empty while it is open.
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

// Asks for something to be done; the answer as JSON, or an error that says why not.
export const call = async (what) => {
  if (!core) throw "this page can only look";
  return JSON.stringify(await core.invoke("call", { call: JSON.parse(what) }));
};
