// Converts addresses between the editor and the language server, which knows only `file:` addresses. Does not read files.

import * as vscode from "vscode";

/** Schemes that both sides use unchanged. */
const KNOWN = ["file", "chancery", "untitled"];

/** The server's address of a document. A document of another scheme is at `file:///SCHEME/@AUTHORITY/PATH`. */
export function toServer(uri: vscode.Uri): string {
  if (KNOWN.includes(uri.scheme)) {
    return uri.toString();
  }
  return vscode.Uri.from({ scheme: "file", path: `/${uri.scheme}/@${uri.authority}${uri.path}` }).toString();
}

/** The editor's address of a document. */
export function toEditor(address: string): vscode.Uri {
  const uri = vscode.Uri.parse(address);
  const parts = uri.scheme === "file" ? /^\/([a-z][a-z0-9+.-]*)\/@([^/]*)(\/.*)?$/.exec(uri.path) : null;
  if (parts === null) {
    return uri;
  }
  return vscode.Uri.from({ scheme: parts[1] ?? "", authority: parts[2] ?? "", path: parts[3] ?? "/", query: uri.query, fragment: uri.fragment });
}

/** Replaces the server's addresses in Markdown. */
export function linksToEditor(markdown: string): string {
  return markdown.replace(/file:\/\/\/[^)\s]+/g, (address) => toEditor(address).toString());
}
