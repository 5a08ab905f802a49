// Shows the built page beside the editor, with the files of the current folder. Does not draw anything itself.

import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** The page reads the text again after this many milliseconds without a key press. */
const DELAY = 300;

interface Files {
  files: { name: string; uri: string; text: string; shown: boolean }[];
  dialects: string[];
}

export class Panel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private server: http.Server | undefined;
  private timer: NodeJS.Timeout | undefined;
  private shown: vscode.Uri | undefined;
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly client: () => LanguageClient,
  ) {
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor?.document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event.document)),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    this.server?.close();
    this.subscriptions.forEach((one) => one.dispose());
  }

  async open(): Promise<void> {
    this.shown = vscode.window.activeTextEditor?.document.uri ?? this.shown;
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      return this.load();
    }
    const folder = path.join(this.context.extensionPath, "page");
    if (!fs.existsSync(path.join(folder, "index.html"))) {
      throw new Error("This build of the extension does not contain the page. `Chancery: Start the Playground` opens it in the browser.");
    }
    const address = await this.serve(folder);
    const panel = vscode.window.createWebviewPanel(
      "chancery.panel",
      "Chancery",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, retainContextWhenHidden: true },
    );
    panel.iconPath = vscode.Uri.file(path.join(this.context.extensionPath, "icon.png"));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.server?.close();
      this.server = undefined;
    });
    panel.webview.onDidReceiveMessage(async (message: { type?: string }) => {
      if (message.type === "chancery:ready") {
        await this.load();
      }
    });
    this.panel = panel;
    panel.webview.html = frame(address);
  }

  /** Sends the files again soon after a change. */
  private follow(document: vscode.TextDocument | undefined): void {
    if (this.panel === undefined || document === undefined || document.uri.scheme !== "file" || !/^(yaml|json|hcl)$/.test(document.languageId)) {
      return;
    }
    this.shown = document.uri;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load().catch(() => undefined), DELAY);
  }

  /** Sends the current folder's files to the page, the current file first. */
  private async load(): Promise<void> {
    const uri = this.shown?.toString();
    if (this.panel === undefined || uri === undefined) {
      return;
    }
    const answer = await this.client().sendRequest<Files>("chancery/files", { uri });
    const files = [...answer.files].sort((a, b) => Number(b.shown) - Number(a.shown)).map(({ name, text }) => ({ name, text }));
    const theme = vscode.window.activeColorTheme.kind === vscode.ColorThemeKind.Light ? "light" : "dark";
    await this.panel.webview.postMessage({ type: "chancery:load", files });
    await this.panel.webview.postMessage({ type: "chancery:set", theme });
  }

  /** Serves the page to this machine only. Returns its address for the webview. */
  private async serve(folder: string): Promise<string> {
    const server = http.createServer((request, response) => {
      const name = decodeURIComponent((request.url ?? "/").split("?")[0] ?? "/");
      const file = path.join(folder, name.endsWith("/") ? `${name}index.html` : name);
      const type = TYPES[path.extname(file)];
      if (!file.startsWith(folder + path.sep) || type === undefined || !fs.existsSync(file)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
      fs.createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
    this.server = server;
    const { port } = server.address() as AddressInfo;
    const outside = await vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${port}/`));
    return outside.toString(true);
  }
}

/** The webview's document: only a frame, which forwards messages in both directions. */
function frame(address: string): string {
  const origin = new URL(address).origin;
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const source = `${address.replace(/\/?$/, "/")}?embed=graph&awaits=files&readonly`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; frame-src ${origin}; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">html, body, iframe { width: 100%; height: 100%; margin: 0; padding: 0; border: 0; } body { overflow: hidden; } iframe { display: block; }</style>
<title>Chancery</title>
</head>
<body>
<iframe id="page" title="The gateway" src="${source}"></iframe>
<script nonce="${nonce}">
const host = acquireVsCodeApi();
const page = document.getElementById("page").contentWindow;
window.addEventListener("message", (event) => {
  if (event.source === page) {
    host.postMessage(event.data);
  } else {
    page.postMessage(event.data, "*");
  }
});
</script>
</body>
</html>`;
}
