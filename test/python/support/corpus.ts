import { readdirSync, readFileSync } from "node:fs";
import { checkNodeCode, listImportableModules, type NodeFacts, shapeOf } from "@nova/python";

/** A snippet of the corpus. Its first line, `# %% name {...}`, has the facts of its node as JSON. */
export interface Snippet {
  name: string;
  /** The name of the snippet's file, such as `wrong-key`. */
  topic: string;
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

/** The packages of every sandbox, which a test compares with those of the sandbox template. */
export const template = ["pymupdf", "pandas", "requests", "pillow", "psycopg[binary]"];

const begin = /^# %% (?<name>\w+) (?<header>\{.*\})$/m;

/**
 * Reads the snippets of a folder. `roundabout`: correct code that the checks cannot follow. `faulty`: code with one
 * mistake; the name of the file is the kind of mistake.
 */
export function readCorpus(name: "correct" | "roundabout" | "faulty", common: Header = {}): Snippet[] {
  const files = readdirSync(new URL(`${name}/`, folder)).sort();
  return files.flatMap((file) => {
    const text = readFileSync(new URL(`${name}/${file}`, folder), "utf8");
    return text.split(/^(?=# %% )/m).map((source) => snippetOf(source, file.replace(".py", ""), common));
  });
}

function snippetOf(source: string, topic: string, common: Header): Snippet {
  const { name = "", header = "" } = begin.exec(source)?.groups ?? {};
  return { name, topic, source, facts: factsOf({ ...common, ...JSON.parse(header) }) };
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

export async function errorsOf({ source, facts }: Pick<Snippet, "source" | "facts">): Promise<string[]> {
  const found = await checkNodeCode(source, facts);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
}
