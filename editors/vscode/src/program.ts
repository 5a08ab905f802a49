// Finds the program `chancery`. Does not start it.

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

const NAME = process.platform === "win32" ? "chancery.exe" : "chancery";

/** The program of the settings, of this extension, or of the PATH; none if there is none. */
export function findProgram(context: vscode.ExtensionContext): string | undefined {
  const named = vscode.workspace.getConfiguration("chancery").get<string>("path", "");
  if (named !== "") {
    return named;
  }
  const folders = [path.join(context.extensionPath, "bin"), ...(process.env["PATH"] ?? "").split(path.delimiter)];
  return folders.filter((folder) => folder !== "").map((folder) => path.join(folder, NAME)).find((file) => fs.existsSync(file));
}
