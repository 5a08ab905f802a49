// Hands the workspace's files to a language server that has no disk. Does not choose files; the server does, by the rules of the command line.

import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { toServer } from "./uris";

/** The files that the server reads, or that decide which files it reads. */
const READ = /(\.(ya?ml|json|hcl)|^chancery\.toml|^\.gitignore|^\.ignore|^Kustomization)$/i;
const WATCHED = "**/{*.yaml,*.yml,*.json,*.hcl,chancery.toml,.gitignore,.ignore,Kustomization}";
const SKIPPED = [".git", "node_modules"];
/** Larger files are left out, in bytes. */
const LARGEST_FILE = 5 << 20;
/** More files and deeper folders are left out. */
const MOST_FILES = 20_000;
const DEEPEST = 32;
/** Files that are read at the same time. */
const TOGETHER = 32;

interface Handed {
  uri: string;
  text?: string;
}

/** The files that could not be handed over, for the log. */
export interface LeftOut {
  uri: vscode.Uri;
  why: string;
}

/** Hands all files over, then each change. */
export async function handOver(client: BaseLanguageClient, subscriptions: vscode.Disposable[], leftOut: (one: LeftOut) => void): Promise<void> {
  const send = (files: Handed[]): Promise<void> => client.sendNotification("chancery/didChangeFiles", { files });
  const folders = (all: readonly vscode.WorkspaceFolder[]): Promise<Handed[]> =>
    Promise.all(all.map((folder) => readFolder(folder.uri, leftOut))).then((read) => read.flat());
  const watcher = vscode.workspace.createFileSystemWatcher(WATCHED);
  const changed = async (uri: vscode.Uri): Promise<void> => {
    if (!uri.path.split("/").some((name) => SKIPPED.includes(name))) {
      await send([(await readFile(uri, leftOut)) ?? { uri: toServer(uri) }]);
    }
  };
  subscriptions.push(
    watcher,
    watcher.onDidChange(changed),
    watcher.onDidCreate(changed),
    watcher.onDidDelete((uri) => send([{ uri: toServer(uri) }])),
    vscode.workspace.onDidChangeWorkspaceFolders(async (event) => send(await folders(event.added))),
  );
  await send(await folders(vscode.workspace.workspaceFolders ?? []));
}

async function readFolder(root: vscode.Uri, leftOut: (one: LeftOut) => void): Promise<Handed[]> {
  const found: vscode.Uri[] = [];
  const list = async (folder: vscode.Uri): Promise<[string, vscode.FileType][]> => {
    try {
      return await vscode.workspace.fs.readDirectory(folder);
    } catch (error) {
      leftOut({ uri: folder, why: String(error) });
      return [];
    }
  };
  let level = [root];
  for (let depth = 0; level.length > 0 && depth < DEEPEST; depth += 1) {
    const below: vscode.Uri[] = [];
    for (let at = 0; at < level.length; at += TOGETHER) {
      const folders = level.slice(at, at + TOGETHER);
      const listed = await Promise.all(folders.map(list));
      for (const [number, entries] of listed.entries()) {
        for (const [name, type] of entries) {
          const uri = vscode.Uri.joinPath(folders[number] ?? root, name);
          // Links to folders may lead in a circle.
          if (type === vscode.FileType.Directory) {
            below.push(...(SKIPPED.includes(name) ? [] : [uri]));
          } else if ((type & vscode.FileType.Directory) === 0 && READ.test(name)) {
            found.push(uri);
          }
        }
      }
    }
    level = below;
  }
  found.slice(MOST_FILES).forEach((uri) => leftOut({ uri, why: `the folder has more than ${MOST_FILES} files` }));
  const out: Handed[] = [];
  for (let at = 0; at < Math.min(found.length, MOST_FILES); at += TOGETHER) {
    const read = await Promise.all(found.slice(at, Math.min(at + TOGETHER, MOST_FILES)).map((uri) => readFile(uri, leftOut)));
    out.push(...read.filter((one) => one !== undefined));
  }
  return out;
}

async function readFile(uri: vscode.Uri, leftOut: (one: LeftOut) => void): Promise<Handed | undefined> {
  try {
    if ((await vscode.workspace.fs.stat(uri)).size > LARGEST_FILE) {
      leftOut({ uri, why: "it has more than 5 MB" });
      return undefined;
    }
    return { uri: toServer(uri), text: new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)) };
  } catch (error) {
    leftOut({ uri, why: String(error) });
    return undefined;
  }
}
