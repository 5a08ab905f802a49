// Starts the language server and registers the commands. Does not interpret YAML; the server does.

import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import { register } from "./commands";
import { Panel } from "./panel";
import { findProgram } from "./program";
import { SCHEME, VirtualDocuments } from "./virtual";

let client: LanguageClient | undefined;

/** The settings that the server reads. */
function settings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration("chancery");
  const others = vscode.extensions.getExtension("redhat.vscode-yaml") !== undefined;
  const yaml = all.get<string>("yamlErrors", "auto");
  return {
    dialect: all.get("dialect"),
    options: all.get("options"),
    exclude: all.get("exclude"),
    severities: all.get("severities"),
    inlayHints: all.get("inlayHints"),
    codeLens: all.get("codeLens"),
    yamlErrors: yaml === "always" || (yaml === "auto" && !others),
  };
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  const command = findProgram(context);
  const channel = vscode.window.createOutputChannel("Chancery", { log: true });
  context.subscriptions.push(channel);
  const started = new LanguageClient(
    "chancery",
    "Chancery",
    { command, args: ["lsp"], transport: TransportKind.stdio },
    {
      documentSelector: ["yaml", "json", "hcl", "helm"].map((language) => ({ scheme: "file", language })),
      initializationOptions: { commands: true, settings: settings() },
      outputChannel: channel,
      middleware: {
        workspace: {
          // `auto` is decided here, because only the client knows the other extensions.
          configuration: (params) => params.items.map((item) => (item.section === "chancery" ? settings() : null)),
        },
      },
    },
  );
  try {
    await started.start();
    client = started;
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(`Chancery does not start: ${String(error)}`, "Open Settings");
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "chancery.path");
    }
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const running = (): LanguageClient => {
    if (client === undefined) {
      throw new Error("The language server does not run. Set `chancery.path`, then run `Chancery: Restart the Language Server`.");
    }
    return client;
  };
  const documents = new VirtualDocuments(running);
  const panel = new Panel(context, running);
  context.subscriptions.push(vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents), panel);
  register(context, running, panel);
  context.subscriptions.push(
    vscode.commands.registerCommand("chancery.restart", async () => {
      await client?.stop();
      client = undefined;
      await start(context);
    }),
  );
  await start(context);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
