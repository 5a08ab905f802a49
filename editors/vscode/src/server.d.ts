// What `wasm-bindgen` writes for `web/src/bin/chancery-language-server.rs`.
declare module "*/chancery-language-server.js" {
  /** Loads the program. */
  export function initSync(program: { module: BufferSource }): void;
  /** Handles a list of messages, as JSON. Returns the messages for the client. */
  export function handle(messages: string): string;
}
