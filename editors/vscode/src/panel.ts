// Shows the built page beside the editor, with the files of the current folder. Does not draw anything itself.

import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { toServer } from "./uris";

/** The page reads the text again after this many milliseconds without a key press. */
const DELAY = 300;

/** What the page gets as the query of its address. */
const QUERY = "embed=graph&awaits=files&readonly";

interface Files {
  files: { name: string; uri: string; text: string; shown: boolean }[];
  dialects: string[];
}

export class Panel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private shown: vscode.Uri | undefined;
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly client: () => BaseLanguageClient,
  ) {
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor?.document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event.document)),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    this.subscriptions.forEach((one) => one.dispose());
  }

  async open(): Promise<void> {
    this.shown = vscode.window.activeTextEditor?.document.uri ?? this.shown;
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      return this.load();
    }
    const folder = vscode.Uri.joinPath(this.context.extensionUri, "page");
    const read = async (name: string): Promise<string> => new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, name)));
    let page: string;
    let worker: string;
    try {
      [page, worker] = await Promise.all([read("index.html"), read("worker.js")]);
    } catch {
      throw new Error("This build of the extension does not contain the page. `Chancery: Start the Playground` opens it in the browser.");
    }
    const panel = vscode.window.createWebviewPanel(
      "chancery.panel",
      "Chancery",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [folder] },
    );
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "icon.png");
    panel.onDidDispose(() => (this.panel = undefined));
    panel.webview.onDidReceiveMessage(async (message: { type?: string }) => {
      if (message.type === "chancery:ready") {
        await this.load();
      }
    });
    this.panel = panel;
    panel.webview.html = webviewDocument({ page, worker }, panel.webview.asWebviewUri(folder).toString(), panel.webview.cspSource);
  }

  /** Sends the files again soon after a change. */
  private follow(document: vscode.TextDocument | undefined): void {
    const isShown = document !== undefined && /^(yaml|json|hcl)$/.test(document.languageId) && !/^(chancery|output|untitled)$/.test(document.uri.scheme);
    if (this.panel === undefined || !isShown) {
      return;
    }
    this.shown = document.uri;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load().catch(() => undefined), DELAY);
  }

  /** Sends the current folder's files to the page, the current file first. */
  private async load(): Promise<void> {
    if (this.panel === undefined || this.shown === undefined) {
      return;
    }
    const answer = await this.client().sendRequest<Files>("chancery/files", { uri: toServer(this.shown) });
    const files = [...answer.files].sort((a, b) => Number(b.shown) - Number(a.shown)).map(({ name, text }) => ({ name, text }));
    const theme = vscode.window.activeColorTheme.kind === vscode.ColorThemeKind.Light ? "light" : "dark";
    await this.panel.webview.postMessage({ type: "chancery:load", files });
    await this.panel.webview.postMessage({ type: "chancery:set", theme });
  }
}

/** The webview's document: the page, whose files have the origin `source`. */
function webviewDocument({ page, worker }: { page: string; worker: string }, folder: string, source: string): string {
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const policy = [
    "default-src 'none'",
    `script-src ${source} blob: 'nonce-${nonce}' 'wasm-unsafe-eval'`,
    `style-src ${source} 'nonce-${nonce}' 'nonce-editor'`,
    `img-src ${source} blob: data:`,
    `font-src ${source}`,
    `connect-src ${source}`,
    "worker-src blob:",
    `base-uri ${source}`,
  ];
  const head = `
    <meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">
    <base href="${folder}/">
    <style nonce="${nonce}">body { padding: 0; }</style>
    <script nonce="${nonce}">
      const editor = acquireVsCodeApi();
      globalThis.chanceryEditor = { postMessage: (message) => editor.postMessage(message) };
      // A worker cannot load files of a webview: it gets its script here, and its program in the first message.
      const code = ${JSON.stringify(worker).replace(/</g, "\\u003c")};
      const PageWorker = globalThis.Worker;
      globalThis.Worker = class extends PageWorker {
        constructor(script, options) {
          super(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { ...options, name: "shared" });
          fetch(new URL("chancery-worker_bg.wasm", document.baseURI))
            .then((program) => program.arrayBuffer())
            .then((program) => WebAssembly.compile(program))
            .then((program) => this.postMessage(program));
        }
      };
    </script>`;
  return page.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, () => head).replace("<html ", `<html data-query="${QUERY}" `);
}
