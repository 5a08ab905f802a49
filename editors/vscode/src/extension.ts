// The extension on a machine: the language server is the program `chancery`. Without that program it runs as WebAssembly in a worker.

import { spawn, type ChildProcess } from "node:child_process";
import * as path from "node:path";
import { Worker } from "node:worker_threads";
import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import { PortMessageReader, PortMessageWriter } from "vscode-jsonrpc/node";
import { activateOn } from "./activation";
import type { Host } from "./host";
import { findProgram } from "./program";

export { deactivate } from "./activation";

let playground: ChildProcess | undefined;

const host: Host = {
  async server(context, options) {
    const command = findProgram(context);
    if (command !== undefined) {
      return { client: new LanguageClient("chancery", "Chancery", { command, args: ["lsp"], transport: TransportKind.stdio }, options) };
    }
    const program = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, "server/chancery-language-server_bg.wasm"));
    const worker = new Worker(path.join(context.extensionPath, "dist/worker.js"));
    worker.postMessage(program);
    const transports = async () => ({ reader: new PortMessageReader(worker), writer: new PortMessageWriter(worker) });
    return { client: new LanguageClient("chancery", "Chancery", transports, options), worker };
  },
  startPlayground,
};

export function activate(context: vscode.ExtensionContext): Promise<void> {
  return activateOn(host, context);
}

/** Starts `chancery play`, and opens the address that it prints. */
async function startPlayground(context: vscode.ExtensionContext): Promise<void> {
  const command = findProgram(context);
  if (command === undefined) {
    throw new Error("The playground needs the program `chancery`. The panel shows the same page.");
  }
  playground?.kill();
  const child = spawn(command, ["play"], { stdio: ["ignore", "pipe", "pipe"] });
  playground = child;
  context.subscriptions.push({ dispose: () => child.kill() });
  const address = await new Promise<string>((resolve, reject) => {
    let seen = "";
    const read = (data: Buffer): void => {
      seen += data.toString();
      const found = /https?:\/\/[^\s]+/.exec(seen);
      if (found !== null) {
        resolve(found[0]);
      }
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", reject);
    child.on("exit", () => reject(new Error(seen.trim() || "the playground does not start")));
  });
  await vscode.env.openExternal(vscode.Uri.parse(address));
}
