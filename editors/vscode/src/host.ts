// What the extension needs of its host: a machine (`extension.ts`) or a browser (`browser.ts`).

import type * as vscode from "vscode";
import type { BaseLanguageClient, LanguageClientOptions } from "vscode-languageclient";

/** A language server, before it starts. */
export interface Server {
  client: BaseLanguageClient;
  /** The worker, if the server runs inside the editor. Such a server has no disk: the extension hands files over. */
  worker?: { terminate(): unknown };
}

export interface Host {
  /** Creates the client of a language server. */
  server(context: vscode.ExtensionContext, options: LanguageClientOptions): Promise<Server>;
  /** Starts the playground. */
  startPlayground(context: vscode.ExtensionContext): Promise<void>;
}
