// Carries out the commands: asks the server, and shows its answers. Does not compute answers.

import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import type { Host } from "./host";
import type { Panel } from "./panel";
import { toEditor, toServer } from "./uris";
import { showText } from "./virtual";

/** The place that a lens names. */
interface LensPlace {
  uri: string;
  line: number;
  object: number;
}

interface DecidingLine {
  of: string;
  file: string;
  line: number;
}

interface Trial {
  gateway?: string;
  result: string;
  good: boolean;
  lines: DecidingLine[];
  notes?: string[];
}

interface Routed {
  request: { method: string; url: string };
  trials: Trial[];
}

interface Change {
  change: string;
  kind: string;
  name: string;
  fields: { path: string; before: string | null; after: string | null }[];
}

interface Differences {
  revision: string;
  changes: {
    resources: Change[];
    gateways: {
      gateway: string;
      state: string;
      parts: Change[];
      requests: { requests: string; before: { summary: string }; after: { summary: string } }[];
      limits: string[];
    }[];
  };
}

/** The place of a lens, or of the cursor, as the server names it. */
function here(place?: LensPlace): { uri: string; line: number; object?: number } | undefined {
  if (place !== undefined) {
    return place;
  }
  const editor = vscode.window.activeTextEditor;
  return editor && { uri: toServer(editor.document.uri), line: editor.selection.active.line };
}

/** Reports the reason if a command fails. */
function reporting<A extends unknown[]>(command: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await command(...args);
    } catch (error) {
      await vscode.window.showWarningMessage(`Chancery: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}

export function register(context: vscode.ExtensionContext, host: Host, client: () => BaseLanguageClient, panel: Panel): void {
  const commands: Record<string, (...args: never[]) => Promise<void>> = {
    "chancery.tryRequest": reporting((place?: LensPlace) => tryRequest(client(), place)),
    "chancery.showProduced": reporting((place?: LensPlace) => showProduced(client(), place)),
    "chancery.compareWithHead": reporting(() => compare(client())),
    "chancery.openPanel": reporting(() => panel.open()),
    "chancery.openDocument": reporting(async (uri: string) => {
      const document = await vscode.workspace.openTextDocument(toEditor(uri));
      await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
    }),
    "chancery.startPlayground": reporting(() => host.startPlayground(context)),
  };
  for (const [name, command] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, command));
  }
}

async function tryRequest(client: BaseLanguageClient, place?: LensPlace): Promise<void> {
  const at = here(place);
  if (at === undefined) {
    return;
  }
  let url = "http://example.com/";
  try {
    const object = at.object === undefined ? { line: at.line } : { object: at.object };
    url = (await client.sendRequest<Routed>("chancery/route", { uri: at.uri, ...object })).request.url;
  } catch {
    // No request reaches the object: the user types one.
  }
  const typed = await vscode.window.showInputBox({
    title: "Try a request",
    prompt: "A URL, or a curl command",
    value: url,
    ignoreFocusOut: true,
  });
  if (typed === undefined || typed.trim() === "") {
    return;
  }
  const asked = typed.trim().startsWith("curl ") ? { curl: typed } : { request: { method: "GET", url: typed.trim(), headers: [] } };
  const routed = await client.sendRequest<Routed>("chancery/route", { uri: at.uri, ...asked });
  await showTrials(routed, at.uri);
}

/** Shows the result, and the lines that decide it, each as a link. */
async function showTrials(routed: Routed, uri: string): Promise<void> {
  const items: (vscode.QuickPickItem & { line?: DecidingLine })[] = [];
  for (const trial of routed.trials) {
    const gateway = trial.gateway === undefined ? "" : `${trial.gateway}: `;
    items.push({ label: `$(${trial.good ? "check" : "error"}) ${gateway}${trial.result}`, detail: (trial.notes ?? []).join(" ") });
    for (const line of trial.lines) {
      items.push({ label: `$(arrow-small-right) ${line.of}`, description: `${line.file}:${line.line}`, line });
    }
  }
  if (items.length === 0) {
    items.push({ label: "$(error) No gateway runs" });
  }
  const title = `${routed.request.method} ${routed.request.url}`;
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder: "Choose a line to open it" });
  if (chosen?.line !== undefined) {
    const folder = vscode.workspace.getWorkspaceFolder(toEditor(uri))?.uri ?? vscode.Uri.joinPath(toEditor(uri), "..");
    const target = vscode.Uri.joinPath(folder, chosen.line.file);
    const line = new vscode.Position(chosen.line.line - 1, 0);
    await vscode.window.showTextDocument(target, { selection: new vscode.Range(line, line) });
  }
}

interface Place {
  uri: string;
  range: { start: { line: number; character: number } };
}

async function showProduced(client: BaseLanguageClient, place?: LensPlace): Promise<void> {
  const at = here(place);
  if (at === undefined) {
    return;
  }
  const params = { textDocument: { uri: at.uri }, position: { line: at.line, character: 0 } };
  const places = (await client.sendRequest<Place[] | null>("textDocument/typeDefinition", params)) ?? [];
  if (places.length === 0) {
    await vscode.window.showInformationMessage("This line produces nothing in the configuration.");
    return;
  }
  const label = (one: Place): string => decodeURIComponent(toEditor(one.uri).path.slice(1));
  const items = places.map((one) => ({ label: label(one), description: `line ${one.range.start.line + 1}`, one }));
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: "What this line produces" });
  if (chosen !== undefined) {
    const line = new vscode.Position(chosen.one.range.start.line, 0);
    const document = await vscode.workspace.openTextDocument(toEditor(chosen.one.uri));
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, selection: new vscode.Range(line, line) });
  }
}

async function compare(client: BaseLanguageClient): Promise<void> {
  const at = here();
  const uri = at?.uri ?? vscode.workspace.workspaceFolders?.map((folder) => toServer(folder.uri))[0];
  if (uri === undefined) {
    return;
  }
  const found = await client.sendRequest<Differences>("chancery/diff", { uri });
  await showText(written(found), "markdown");
}

/** Writes differences as Markdown. */
function written(found: Differences): string {
  const { resources, gateways } = found.changes;
  const out = [`# Compared with ${found.revision}`, ""];
  if (resources.length === 0 && gateways.length === 0) {
    return [...out, "Nothing differs.", ""].join("\n");
  }
  const change = (one: Change): string[] => [
    `- ${one.change} ${one.kind} \`${one.name}\``,
    ...one.fields.map((field) => `  - \`${field.path}\`: \`${field.before ?? "not set"}\` → \`${field.after ?? "not set"}\``),
  ];
  if (resources.length > 0) {
    out.push("## Resources", "", ...resources.flatMap(change), "");
  }
  for (const gateway of gateways) {
    out.push(`## Gateway ${gateway.gateway}${gateway.state === "compared" ? "" : ` (${gateway.state})`}`, "");
    if (gateway.requests.length > 0) {
      out.push("Requests that change:", "");
      out.push(...gateway.requests.map((one) => `- ${one.requests}: ${one.before.summary}; now ${one.after.summary}`), "");
    }
    out.push(...gateway.parts.flatMap(change), "", ...gateway.limits, "");
  }
  return out.join("\n");
}
