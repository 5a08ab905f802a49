// The extension in a browser: the language server runs as WebAssembly in a worker.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/browser";
import { activateOn } from "./activation";
import type { Host } from "./host";

export { deactivate } from "./activation";

const host: Host = {
  async server(context, options) {
    const read = (file: string) => vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, file));
    const [script, program] = await Promise.all([read("dist/worker.js"), read("server/chancery-language-server_bg.wasm")]);
    // Not by its address: VS Code refuses that if the extension is on another machine.
    const worker = new Worker(URL.createObjectURL(new Blob([new Uint8Array(script)], { type: "text/javascript" })));
    worker.postMessage(program);
    return { client: new LanguageClient("chancery", "Chancery", worker, options), worker };
  },
  startPlayground: () => Promise.reject(new Error("The playground needs the program `chancery`. The panel shows the same page.")),
};

export function activate(context: vscode.ExtensionContext): Promise<void> {
  return activateOn(host, context);
}
