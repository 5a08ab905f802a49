// Starts the language server and registers the commands, on every host. Does not interpret YAML; the server does.

import * as vscode from "vscode";
import type { BaseLanguageClient, LanguageClientOptions } from "vscode-languageclient";
import { register } from "./commands";
import { handOver } from "./files";
import type { Host } from "./host";
import { Panel } from "./panel";
import { linksToEditor, toEditor, toServer } from "./uris";
import { SCHEME, VirtualDocuments } from "./virtual";

const LANGUAGES = ["yaml", "json", "hcl", "helm"];

let client: BaseLanguageClient | undefined;
/** The worker, watchers and status of the running server. */
let subscriptions: vscode.Disposable[] = [];

/** The settings that the server reads. */
function settings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration("chancery");
  const others = vscode.extensions.getExtension("redhat.vscode-yaml") !== undefined;
  const yaml = all.get<string>("yamlErrors", "auto");
  const read = {
    dialect: all.get("dialect"),
    options: all.get("options"),
    exclude: all.get("exclude"),
    severities: all.get("severities"),
    inlayHints: all.get("inlayHints"),
    codeLens: all.get("codeLens"),
    yamlErrors: yaml === "always" || (yaml === "auto" && !others),
  };
  // VS Code returns proxies, and a worker accepts only plain objects.
  return JSON.parse(JSON.stringify(read)) as Record<string, unknown>;
}

function options(channel: vscode.LogOutputChannel): LanguageClientOptions {
  const schemes = new Set(["file", ...(vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme)]);
  return {
    documentSelector: [...schemes].flatMap((scheme) => LANGUAGES.map((language) => ({ scheme, language }))),
    initializationOptions: { commands: true, settings: settings() },
    outputChannel: channel,
    uriConverters: { code2Protocol: toServer, protocol2Code: toEditor },
    middleware: {
      provideHover: async (document, position, token, next) => {
        const hover = await next(document, position, token);
        hover?.contents.forEach((content) => {
          if (content instanceof vscode.MarkdownString) {
            content.value = linksToEditor(content.value);
          }
        });
        return hover;
      },
      workspace: {
        // `auto` is decided here, because only the client knows the other extensions.
        configuration: (params) => params.items.map((item) => (item.section === "chancery" ? settings() : null)),
      },
    },
  };
}

async function start(context: vscode.ExtensionContext, host: Host, channel: vscode.LogOutputChannel): Promise<void> {
  try {
    const server = await host.server(context, options(channel));
    await server.client.start();
    client = server.client;
    const { worker } = server;
    if (worker !== undefined) {
      subscriptions.push({ dispose: () => void worker.terminate() });
      const status = vscode.languages.createLanguageStatusItem("chancery.inside", LANGUAGES.map((language) => ({ language })));
      status.name = "Chancery";
      status.text = "Chancery runs inside the editor";
      status.detail = "without the program `chancery`; only the comparison with HEAD and the playground need it";
      subscriptions.push(status);
      await handOver(server.client, subscriptions, ({ uri, why }) => channel.warn(`${uri.toString()} is not read: ${why}`));
    }
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(`Chancery does not start: ${String(error)}`, "Open Settings");
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "chancery.path");
    }
  }
}

async function stop(): Promise<void> {
  await client?.stop();
  client = undefined;
  subscriptions.forEach((one) => one.dispose());
  subscriptions = [];
}

export async function activateOn(host: Host, context: vscode.ExtensionContext): Promise<void> {
  const channel = vscode.window.createOutputChannel("Chancery", { log: true });
  const running = (): BaseLanguageClient => {
    if (client === undefined) {
      throw new Error("The language server does not run. Run `Chancery: Restart the Language Server`.");
    }
    return client;
  };
  const documents = new VirtualDocuments(running);
  const panel = new Panel(context, running);
  context.subscriptions.push(channel, vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents), panel);
  register(context, host, running, panel);
  context.subscriptions.push(
    vscode.commands.registerCommand("chancery.restart", async () => {
      await stop();
      await start(context, host, channel);
    }),
  );
  await start(context, host, channel);
}

export const deactivate = stop;
