// Shows the server's virtual documents: parts of the gateway's configuration, converted objects. Does not write them.

import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";

/** The scheme of virtual documents. */
export const SCHEME = "chancery";

export class VirtualDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly client: () => BaseLanguageClient) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const answer = await this.client().sendRequest<{ text: string }>("chancery/content", { uri: uri.toString() });
    return answer.text;
  }
}

/** Opens a text that cannot be saved, beside the current editor. */
export async function showText(text: string, language: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content: text, language });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true, preserveFocus: false });
}
