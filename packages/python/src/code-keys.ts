import { mayBePassedBy } from "./findings/guards.ts";
import { findMissingTopKeys, readNamedNodes } from "./findings/keys.ts";
import { mayDecide, printedKeys } from "./findings/result.ts";
import { readSubject } from "./findings/subject.ts";
import { type Change, hasHiddenEffect } from "./flow/changes.ts";
import { Paths } from "./flow/paths.ts";
import { readReads } from "./flow/printed.ts";
import { type LineColumn, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";
import type { Node } from "./tree/nodes.ts";

/** The longest code, in characters, whose keys are analysed: more code would take too long. */
const longest = 8_000;

export type CodeKeys = NonNullable<ReturnType<typeof readCodeKeys>>;

/** Lists the keys of the context that a node's code sets and reads; null if the code cannot be analysed. */
export function readCodeKeys(source: string) {
  const program = source.length > longest ? null : Program.read(source);
  if (!program) return null;
  const subject = readSubject(program, { nodeType: "action" });
  const [isAllRead, texts] = [usesContextFreely(program), findTexts(program)];
  const lines = new Lines(source);
  const printed = printedKeys(subject);
  const changes = subject.changes.filter(({ kind }) => kind !== "delete");
  const named = (of: "tasks" | "outputs") =>
    readNamedNodes(program, subject.paths, of).map(({ id, at }) => ({ id, ...lines.placeOf(at) }));
  const flattened = readsFlattened(program);
  return {
    sets: findSetKeys(program, changes, printed ?? [], lines),
    ...(flattened && { flattens: lines.placeOf(flattened.from) }),
    setsMore: printed === undefined || changes.some((change) => changedKey(change) === undefined),
    reads: new Set(subject.reads.map(({ path: [key = ""] }) => key)),
    mayRead: (key: string) => isAllRead || texts.has(key),
    deletes: new Set(subject.changes.flatMap(({ kind, path }) => (kind === "delete" ? (path?.[0] ?? []) : []))),
    waits: named("tasks"),
    results: named("outputs"),
    missing(known: readonly string[]) {
      const context = Object.fromEntries(known.map((key) => [key, { type: "object" } as const]));
      const missing = findMissingTopKeys(readSubject(program, { nodeType: "action", context }));
      const placed = missing.map(({ at, ...one }) => ({ ...one, ...lines.placeOf(at) }));
      return placed.filter(({ line }) => !lines.isSilenced(line, "PY110"));
    },
  };
}

/** Maps each key to its first assignment. `always`: every successful run of the code sets it. */
function findSetKeys(program: Program, changes: readonly Change[], printed: readonly string[], lines: Lines) {
  const sets = new Map<string, LineColumn & { always: boolean }>();
  const note = (key: string, at: number, always: boolean) => {
    const first = sets.get(key) ?? { ...lines.placeOf(at), always };
    sets.set(key, { ...first, always: first.always || always });
  };
  for (const change of changes) {
    const { kind, node, path } = change;
    const key = changedKey(change);
    const isWhole = kind === "set" && path?.length === 1;
    if (key !== undefined) note(key, node.from, isWhole && !mayBePassedBy(program, node));
  }
  for (const key of printed) note(key, 0, false);
  return sets;
}

/**
 * Lists the keys of the context that code may look up; null if the code may look up any key. `"more"`: the code may
 * also read the results of nodes (`outputs`) or resume links (`tasks`).
 */
export function findLookedUpKeys(source: string): string[] | null | "more" {
  const program = source.length > longest ? null : Program.read(source);
  if (!program) return "more";
  if (program.loadsOf("outputs").length + program.loadsOf("tasks").length > 0) return "more";
  return usesContextFreely(program) ? null : [...findTexts(program)];
}

/** Returns the top-level key that a change sets; undefined if the change may set any key. */
function changedKey({ kind, path, key }: Change): string | undefined {
  return path ? path[0] : kind === "any" ? key : undefined;
}

/** Finds `outputs.get_flattened`, unless the code has bound another value to `outputs`. */
function readsFlattened(program: Program): Node | undefined {
  const use = program.loadsOf("outputs").find((load) => {
    const { parent } = load;
    const isAsked = parent?.kind === "attribute" && parent.name === "get_flattened";
    return isAsked && load.kind === "name" && program.reaching(load).every(({ origin }) => origin.kind === "provided");
  });
  return use?.parent ?? undefined;
}

/** Returns whether the code uses the context in a way other than `context["key"]`. Such code may read any key. */
function usesContextFreely(program: Program): boolean {
  return (
    program.nodes.some((node) => hasHiddenEffect(program, node)) ||
    program.loadsOf("context").some((use) => !isLiteralLookup(use.parent, use))
  );
}

function isLiteralLookup(parent: Node | null, use: Node): boolean {
  if (parent?.kind === "subscript") return parent.object === use && parent.index.kind === "text";
  if (parent?.kind === "binary") return /^(not )?in$/.test(parent.op) && parent.left.kind === "text";
  const call = parent?.kind === "attribute" && /^(get|pop)$/.test(parent.name) ? parent.parent : null;
  return call?.kind === "call" && call.callee === parent && call.args[0]?.value.kind === "text";
}

/**
 * Returns every text in the code that may be a key, except keys that are only assigned: `"text"` in `context["text"] =
 * ...`.
 */
function findTexts({ nodes }: Program): Set<string> {
  const texts = nodes.filter((node) => node.kind === "text");
  const isStored = ({ parent }: Node) =>
    parent?.kind === "subscript" && parent.stores && parent.parent?.kind !== "augment";
  return new Set(texts.filter((text) => !isStored(text)).flatMap(({ value }) => pathPrefixes(value)));
}

/** Returns a dot path and each shorter path at its start: `a`, `a.b` and `a.b.c` for `a.b.c`. */
function pathPrefixes(text: string): string[] {
  const steps = text.length > 200 ? [] : text.split(".").slice(0, 20);
  return [text, ...steps.slice(1).map((_, index) => steps.slice(0, index + 1).join("."))];
}

/** Finds the first `context["key"] = ...` of each literal key that `wanted` matches. */
export function findAssignedKeys(source: string, wanted: RegExp): ({ key: string } & LineColumn)[] {
  const program = Program.read(source);
  const lines = new Lines(source);
  const found = new Map<string, { key: string } & LineColumn>();
  for (const node of program?.nodes ?? []) {
    if (node.kind !== "subscript" || !node.stores) continue;
    const { object, index, from } = node;
    if (object.kind !== "name" || object.id !== "context" || index.kind !== "text") continue;
    const key = index.value;
    if (wanted.test(key) && !found.has(key)) found.set(key, { key, ...lines.placeOf(from) });
  }
  return Array.from(found.values());
}

/**
 * Lists the literal keys that code reads, as dot paths that end at the first list. `optional`: every read tolerates an
 * absent key.
 */
export function listContextReads(source: string): { path: string; optional: boolean }[] {
  const program = Program.read(source);
  if (!program) return [];
  const optionals = new Map<string, boolean>();
  for (const { path, optional } of readReads(program, new Paths(program))) {
    const list = path.indexOf("[]");
    const name = (list < 0 ? path : path.slice(0, list)).join(".");
    optionals.set(name, optional && (optionals.get(name) ?? true));
  }
  return Array.from(optionals, ([path, optional]) => ({ path, optional }));
}

/**
 * Returns whether a decision's code can set `branch_decision`. False means that it certainly never does; true means
 * that it may.
 */
export function setsBranchDecision(source: string, lib: Record<string, string> = {}): boolean {
  const program = Program.read(source);
  if (!program || Object.values(lib).some((module) => /branch_decision|dump/.test(module))) return true;
  return mayDecide(readSubject(program, { nodeType: "decision" }));
}
