import { type MissingKey, missingTopKeys } from "./findings/keys.ts";
import { readNamedNodes } from "./findings/named-nodes.ts";
import { readSubject } from "./findings/read-subject.ts";
import type { Subject } from "./findings/subject.ts";
import type { Change } from "./flow/changes.ts";
import { knownEntries } from "./flow/dicts.ts";
import { Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";
import type { Expression } from "./tree/nodes.ts";

/** Places from 1, in UTF-16 units. */
interface NamedId {
  id: string;
  line: number;
  column: number;
}

/** Which keys of the context a node's code sets and looks up. */
export interface CodeKeys {
  /** Those that it may set, as far as it names them. */
  sets: ReadonlySet<string>;
  /** It may set others as well. */
  setsMore: boolean;
  /** Those that it looks up by name. */
  reads: ReadonlySet<string>;
  /** Ids of the waits whose links it reads in `tasks`. */
  waits: NamedId[];
  /** Ids of the nodes whose results it reads in `outputs`. */
  results: NamedId[];
  /** What it cannot do without, does not set before, and is not among `known`. Places from 1, in UTF-16 units. */
  missing(known: readonly string[]): (Omit<MissingKey, "at"> & { line: number; column: number })[];
}

/** Longer code is not looked into: what it does takes long to follow. */
const longest = 8_000;

/** Null where nothing can be said. */
export function codeKeys(source: string): CodeKeys | null {
  const program = source.length > longest ? null : Program.read(source);
  if (!program) return null;
  const subject = readSubject(program, { nodeType: "action" });
  const lines = new Lines(source);
  const printed = printedKeys(subject);
  const changed = subject.changes.filter(({ kind }) => kind !== "delete").map(changedKey);
  const sets = [...changed, ...(printed ?? [])].filter((key) => typeof key === "string");
  const named = (of: "tasks" | "outputs") =>
    readNamedNodes(program, subject.paths, of).map(({ id, at }) => ({ id, ...lines.placeOf(at) }));
  return {
    sets: new Set(sets),
    setsMore: printed === undefined || changed.includes(undefined),
    reads: new Set(subject.reads.map(({ path: [key = ""] }) => key)),
    waits: named("tasks"),
    results: named("outputs"),
    missing(known) {
      const context = Object.fromEntries(known.map((key) => [key, { type: "object" } as const]));
      const missing = missingTopKeys(readSubject(program, { nodeType: "action", context }));
      const placed = missing.map(({ at, ...one }) => ({ ...one, ...lines.placeOf(at) }));
      return placed.filter(({ line }) => !lines.isSilenced(line, "PY110"));
    },
  };
}

/** Undefined: any; null: none. */
function changedKey({ kind, path, key, whole }: Change): string | null | undefined {
  if (path) return path[0];
  if (whole === false) return null;
  return kind === "any" ? key : undefined;
}

/** Undefined where the code may print others. */
function printedKeys({ printed, program, paths }: Subject): string[] | undefined {
  if (!printed.mayPrint) return [];
  const all = printed.values?.map((value) => keysOf(value));
  return all?.every((keys) => keys !== undefined) ? all.flat() : undefined;

  function keysOf(value: Expression): string[] | undefined {
    if (paths.isContext(value)) return [];
    const entries = knownEntries(program, value);
    const updates = entries?.find(({ key }) => key === "context_updates");
    return updates ? keysOf(updates.value) : entries?.map(({ key }) => key);
  }
}
