import { posix } from "node:path";
import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { didYouMean } from "../findings/suggest.ts";
import type { Surroundings } from "./surroundings.ts";

/** What is known around a field of a node. */
export interface NodeScope extends Surroundings {
  /** `node "read"`: how a finding begins. */
  name: string;
  path: string;
}

type Content = { text: string; file?: string } | { findings: Finding[] };

/** The text of `code` or `prompt`, or of the file that `codeFile` or `promptFile` names. */
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
  if (text.trim() === "")
    return {
      findings: [finding("NOVA401", path, `${scope.name}: ${file} is empty - write its ${field.slice(0, -4)}`)],
    };
  return { text, file };
}

/** `./a/../extract.py` -> `extract.py`; undefined for what leaves the folder. */
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
