import { readdirSync, readFileSync } from "node:fs";
import { checkNodeCode, listImportableModules, type NodeFacts, shapeOf } from "@nova/python";

/** A snippet of the corpus. Its first line, `# %% name {...}`, has the facts of its node as JSON. */
export interface Snippet {
  name: string;
  source: string;
  facts: NodeFacts;
}

interface Header {
  type?: "action" | "decision";
  edges?: string[];
  context?: Record<string, unknown>;
  lib?: string[];
  requirements?: string[];
}

const folder = new URL("../../fixtures/python-corpus/", import.meta.url);

/** The packages of every sandbox, as in packages/sandbox/src/template.ts. */
export const template = ["pymupdf", "pandas", "requests", "pillow", "psycopg[binary]"];

const begin = /^# %% (?<name>\w+) (?<header>\{.*\})$/m;

/** Reads the snippets; each file covers one topic. `roundabout`: correct code that no check can follow. */
export function readCorpus(name: "correct" | "roundabout"): Snippet[] {
  const files = readdirSync(new URL(`${name}/`, folder)).sort();
  return files.flatMap((file) => {
    const text = readFileSync(new URL(`${name}/${file}`, folder), "utf8");
    return text.split(/^(?=# %% )/m).map(snippetOf);
  });
}

function snippetOf(source: string): Snippet {
  const { name = "", header = "" } = begin.exec(source)?.groups ?? {};
  return { name, source, facts: factsOf(JSON.parse(header) as Header) };
}

function factsOf({ type = "action", edges, context, lib, requirements = [] }: Header): NodeFacts {
  const members = Object.entries(context ?? {}).map(([key, value]) => [key, shapeOf(value)] as const);
  return {
    nodeType: type,
    ...(edges && { edges }),
    ...(context && { context: Object.fromEntries(members) }),
    ...(lib && { lib }),
    modules: listImportableModules([...template, ...requirements]),
  };
}

/** Codes of the errors, in order. */
export async function errorsOf({ source, facts }: Pick<Snippet, "source" | "facts">): Promise<string[]> {
  const found = await checkNodeCode(source, facts);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
}
