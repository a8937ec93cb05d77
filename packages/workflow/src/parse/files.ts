import { posix } from "node:path";
import { type ExecutorKind, executorKind, type SharedSettings, type TaskSource } from "../authored/kind.ts";
import type { WorkflowFields } from "../authored/workflow.ts";
import { defined } from "../defined.ts";
import { at, didYouMean, type Finding, finding, type WrittenPlace } from "../findings/finding.ts";
import type { Exactly, Loose } from "../json/exact.ts";
import type { NodeType } from "../workflow.ts";
import type { PythonSource, ReadNode } from "./read.ts";

export interface Surroundings {
  files: Record<string, string>;
  shared: SharedSettings;
  exactly: Exactly;
}

/**
 * Returns the workflow's settings for all nodes. For invalid fields it returns the defaults, because the definition is
 * refused anyway.
 */
export function sharedSettings(fields: WorkflowFields | undefined): SharedSettings {
  return { samples: fields?.ai?.samples ?? true, ...defined({ allow: fields?.network?.allow }) };
}

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

/**
 * Normalises a path: `./a/../extract.py` -> `extract.py`. Returns undefined for a path that leads out of the folder.
 */
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

/** Returns the modules that every node can import: the path below `lib/` of each, with its source. */
export function libOf(files: Record<string, string>): Record<string, string> {
  const modules = Object.entries(files).filter(([path]) => path.startsWith(folder) && path.endsWith(".py"));
  return Object.fromEntries(modules.map(([path, source]) => [path.slice(folder.length), source]));
}

export function pythonOfLib(lib: Record<string, string>): PythonSource[] {
  return Object.entries(lib).map(([path, code]) => ({ code, file: folder + path, path: "$" }));
}

type ReadExecutor = { source?: TaskSource } & Pick<ReadNode, "python" | "findings">;

/**
 * Reads the code or prompt of a node before the fields of the node are parsed. The code is then checked even if the
 * timeout of the node is wrong.
 */
export function readExecutor(node: Loose, type: NodeType, scope: NodeScope): ReadExecutor {
  const kind = executorKind(node.executor);
  const given = (["code", "codeFile", "prompt", "promptFile"] as const).filter((field) => node[field] !== undefined);
  if (kind === undefined) return { findings: [] };
  const wanted = kind === "code" ? (["code", "codeFile"] as const) : (["prompt", "promptFile"] as const);
  const fitting = wanted.filter((field) => given.includes(field));
  const findings = doesNotFit(kind, given, fitting, scope);
  const [field, second] = fitting;
  if (field === undefined) return { findings };
  if (second !== undefined) {
    const message = `${scope.name} has both ${field} and ${second} - keep one of them`;
    findings.push(finding("NOVA402", at(scope.path, second), message));
  }
  const content = readFileField(field, node[field], scope);
  if ("findings" in content) return { findings: [...findings, ...content.findings] };
  const { text, file } = content;
  const written = file === undefined ? {} : { file };
  const source = { prompt: text, ...written, shared: scope.shared };
  if (kind === "prompt") return { source: { kind, ...source }, findings };
  if (kind === "text") {
    const outputSchema =
      node.output_schema === undefined ? {} : { outputSchema: scope.exactly(at(scope.path, "output_schema")) };
    return { source: { kind, ...source, ...outputSchema }, findings };
  }
  const own = { id: typeof node.id === "string" ? node.id : "", type };
  const python = { node: own, code: text, path: at(scope.path, field), ...written };
  return { source: { kind, code: text, ...written, shared: scope.shared }, python, findings };
}

function doesNotFit(kind: ExecutorKind, given: string[], fitting: readonly string[], { name, path }: NodeScope) {
  const wanted = kind === "code" ? "code or codeFile" : "prompt or promptFile";
  if (given.length === 0) {
    return [finding("NOVA401", path, `${name} has no ${kind === "code" ? "code" : "prompt"} - add ${wanted}`)];
  }
  const [first] = fitting;
  const other = `add "executor": ${kind === "code" ? '"prompt" or "text"' : '"code"'}, or write ${wanted}`;
  return given.flatMap((field) => {
    if (fitting.includes(field)) return [];
    const message =
      first === undefined
        ? `${name}: the executor "${kind}" takes ${wanted}, not ${field} - ${other}`
        : `${name} has both ${first} and ${field} - its executor "${kind}" takes ${wanted}, remove ${field}`;
    return [finding(first === undefined ? "NOVA403" : "NOVA402", at(path, field), message)];
  });
}
