import { mayDecide } from "./findings/decision.ts";
import { type MissingKey, missingTopKeys, readNamedNodes } from "./findings/keys.ts";
import type { Subject } from "./findings/subject.ts";
import { readSubject } from "./findings/subject.ts";
import { type Change, readChanges } from "./flow/changes.ts";
import { knownEntries } from "./flow/dicts.ts";
import { type Path, Paths } from "./flow/paths.ts";
import { Reach } from "./flow/reach.ts";
import { readReads } from "./flow/reads.ts";
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

export interface KeySet {
  key: string;
  /** From 1; columns count UTF-16 units. */
  line: number;
  column: number;
}

/**
 * Where the code sets one of these keys, spelt out: `context["key"] = ...`; each key once. `wanted` matches a key as a
 * whole.
 */
export function keysSet(source: string, wanted: RegExp): KeySet[] {
  const program = Program.read(source);
  const lines = new Lines(source);
  const found = new Map<string, KeySet>();
  for (const node of program?.nodes ?? []) {
    if (node.kind !== "subscript" || !node.stores) continue;
    const { object, index, from } = node;
    if (object.kind !== "name" || object.id !== "context" || index.kind !== "text") continue;
    const key = index.value;
    if (wanted.test(key) && !found.has(key)) found.set(key, { key, ...lines.placeOf(from) });
  }
  return Array.from(found.values());
}

export interface ContextAccess {
  /** `optional`: nowhere taken for granted (`.get()`, `in`). */
  reads: { path: string; optional: boolean }[];
  sets: string[];
  deletes: string[];
}

/**
 * The keys of the context that code names literally, as dot paths from the top; of what is in lists, the list. Keys that
 * it computes are not in it, nor is anything where the source cannot be read.
 */
export async function contextAccess(source: string): Promise<ContextAccess> {
  const program = Program.read(source);
  if (!program) return { reads: [], sets: [], deletes: [] };
  const paths = new Paths(program);
  const changes = readChanges(program, paths, new Reach(program, paths, undefined));
  const reads = new Map<string, boolean>();
  for (const { path, optional } of readReads(program, paths)) {
    const name = dotPath(path);
    reads.set(name, optional && (reads.get(name) ?? true));
  }
  const named = (kind: "set" | "delete") =>
    changes.flatMap((change) => (change.kind === kind && change.path?.length ? [dotPath(change.path)] : []));
  return {
    reads: Array.from(reads, ([path, optional]) => ({ path, optional })),
    sets: Array.from(new Set(named("set"))),
    deletes: Array.from(new Set(named("delete"))),
  };
}

function dotPath(path: Path): string {
  const list = path.indexOf("[]");
  return (list < 0 ? path : path.slice(0, list)).join(".");
}

/** Whether the code of a decision can set `branch_decision`. False only where it is certain. */
export function setsBranchDecision(source: string, lib: Record<string, string> = {}): boolean {
  const program = Program.read(source);
  if (!program || Object.values(lib).some((module) => /branch_decision|dump/.test(module))) return true;
  return mayDecide(readSubject(program, { nodeType: "decision" }));
}
