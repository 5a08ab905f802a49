// Finds the program `chancery`. Does not start it.

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

/** The program of the settings, of this extension, or of the PATH. */
export function findProgram(context: vscode.ExtensionContext): string {
  const named = vscode.workspace.getConfiguration("chancery").get<string>("path", "");
  if (named !== "") {
    return named;
  }
  const own = path.join(context.extensionPath, "bin", process.platform === "win32" ? "chancery.exe" : "chancery");
  return fs.existsSync(own) ? own : "chancery";
}
