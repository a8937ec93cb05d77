import { readdirSync, readFileSync } from "node:fs";
import { checkNodeCode, importableModules, type NodeFacts, shapeOf } from "@nova/python";

/** A snippet of the corpus; its first line, `# %% name {...}`, says in JSON what a node knows about its code. */
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

/** What every sandbox has, as packages/sandbox/src/template.ts lists it. */
export const template = ["pymupdf", "pandas", "requests", "pillow", "psycopg[binary]"];

const begin = /^# %% (?<name>\w+) (?<header>\{.*\})$/m;

/** Each file holds the snippets of one topic. `roundabout`: correct too, but in ways that hide what is missing from any reader. */
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
    modules: importableModules([...template, ...requirements]),
  };
}

/** Codes of the errors, in order. */
export async function errorsOf({ source, facts }: Pick<Snippet, "source" | "facts">): Promise<string[]> {
  const found = await checkNodeCode(source, facts);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
}
