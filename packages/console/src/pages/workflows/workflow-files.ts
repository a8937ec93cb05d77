import { findMember, parseObject } from "../../json/raw.ts";

/** A file that a user chose, with its text. */
export interface TextFile {
  name: string;
  text: string;
}

const named = /"(?:codeFile|promptFile|file)"\s*:\s*"([^"\n]+)"/g;

/**
 * Finds among files the definition of a workflow as JSON text, and the texts of the files that the definition names.
 * The browser gives only the last part of a path, so the function finds `nodes/read.py` as `read.py`. Returns undefined
 * if no file is a workflow.
 */
export function readWorkflowFiles(chosen: readonly TextFile[]) {
  const definitions = chosen.filter(
    ({ name, text }) => name.endsWith(".json") && parseObject(text) && findMember(text, "nodes") !== undefined,
  );
  const found = definitions.find(({ name }) => baseName(name) === "workflow.json") ?? definitions[0];
  if (!found) return undefined;
  const others = chosen.filter((one) => one !== found);
  const paths = Array.from(found.text.matchAll(named), ([, path = ""]) => path);
  const files = new Map<string, string>();
  for (const path of paths) {
    const file = others.find(({ name }) => name.endsWith(path)) ?? others.find(({ name }) => name === baseName(path));
    if (file) files.set(path, file.text);
  }
  for (const { name, text } of others) {
    const lib = /(?:^|\/)(lib\/.+\.py)$/.exec(name)?.[1];
    if (lib !== undefined) files.set(lib, text);
  }
  return { definition: found.text, files: Object.fromEntries(files) };
}

function baseName(path: string): string {
  return path.split("/").at(-1) ?? path;
}

/** Derives an id from a name: `Monthly report` becomes `monthly-report`. */
export function deriveSlug(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 64);
}
