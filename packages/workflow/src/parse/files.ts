import { posix } from "node:path";
import type { SharedSettings } from "../authored/kind.ts";
import type { WorkflowFields } from "../authored/workflow.ts";
import { defined } from "../defined.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { at, didYouMean } from "../findings/text.ts";
import type { WrittenPlace } from "../findings/written.ts";
import type { Exactly } from "../json/exact.ts";
import type { PythonSource } from "./read.ts";

/** The settings and files of the workflow around a node. */
export interface Surroundings {
  files: Record<string, string>;
  shared: SharedSettings;
  exactly: Exactly;
}

/** Returns the settings for all nodes. Invalid fields give the defaults, because no workflow results from them. */
export function sharedSettings(fields: WorkflowFields | undefined): SharedSettings {
  return { samples: fields?.ai?.samples ?? true, ...defined({ allow: fields?.network?.allow }) };
}

/** The context of a node's field. */
export interface NodeScope extends Surroundings, WrittenPlace {}

type Content = { text: string; file?: string } | { findings: Finding[] };

/** Returns the text of `code` or `prompt`, or of the file that `codeFile` or `promptFile` names. */
export function readFileField(field: string, value: unknown, scope: NodeScope): Content {
  if (typeof value !== "string" || value.trim() === "") return { findings: [] };
  if (!field.endsWith("File")) return { text: value };
  const path = at(scope.path, field);
  const file = pathInFolder(value);
  if (file === undefined) {
    const message = `${scope.name}: ${field} "${value}" leads out of the workflow's folder - move the file into it`;
    return { findings: [finding("NOVA405", path, message)] };
  }
  const text = Object.hasOwn(scope.files, file) ? scope.files[file] : undefined;
  if (text === undefined) return { findings: [finding("NOVA404", path, missing(field, file, scope))] };
  if (text.trim() !== "") return { text, file };
  const message = `${scope.name}: ${file} is empty - write its ${field.slice(0, -4)}`;
  return { findings: [finding("NOVA401", path, message)] };
}

/** `./a/../extract.py` -> `extract.py`; undefined for paths out of the folder. */
export function pathInFolder(path: string): string | undefined {
  const normal = posix.normalize(path.replaceAll("\\", "/"));
  const outside = normal === ".." || normal.startsWith("../") || normal.startsWith("/") || /^[A-Za-z]:/.test(normal);
  return outside || path.includes("\0") ? undefined : normal;
}

export const readableFile = /\.(py|txt|md)$/;

function missing(field: string, file: string, { name, files }: NodeScope): string {
  if (!readableFile.test(file)) return `${name}: ${field} "${file}" has to be a .py, .txt or .md file - rename it`;
  return `${name}: there is no file "${file}" in the workflow's folder${didYouMean(file, Object.keys(files)) || " - create it, or correct the name"}`;
}

const folder = "lib/";

/** Returns the modules that every node can import: path below `lib/` -> source. */
export function libOf(files: Record<string, string>): Record<string, string> {
  const modules = Object.entries(files).filter(([path]) => path.startsWith(folder) && path.endsWith(".py"));
  return Object.fromEntries(modules.map(([path, source]) => [path.slice(folder.length), source]));
}

export function pythonOfLib(lib: Record<string, string>): PythonSource[] {
  return Object.entries(lib).map(([path, code]) => ({ code, file: folder + path, path: "$" }));
}
