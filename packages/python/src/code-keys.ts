import { mayDecide, printedKeys } from "./findings/decision.ts";
import { mayBePassedBy } from "./findings/guards.ts";
import { missingTopKeys, readNamedNodes } from "./findings/keys.ts";
import { readSubject } from "./findings/subject.ts";
import { actsUnseen, type Change } from "./flow/changes.ts";
import { Paths } from "./flow/paths.ts";
import { readReads } from "./flow/reads.ts";
import { type LineColumn, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";
import type { Node } from "./tree/nodes.ts";

/** Longer code is not looked into: what it does takes long to follow. */
const longest = 8_000;

export type CodeKeys = NonNullable<ReturnType<typeof codeKeys>>;

/** Which keys of the context a node's code sets and looks up; null where nothing can be said. */
export function codeKeys(source: string) {
  const program = source.length > longest ? null : Program.read(source);
  if (!program) return null;
  const subject = readSubject(program, { nodeType: "action" });
  const [isAllRead, texts] = [isHandedOn(program), textsRead(program)];
  const lines = new Lines(source);
  const printed = printedKeys(subject);
  const changes = subject.changes.filter(({ kind }) => kind !== "delete");
  const named = (of: "tasks" | "outputs") =>
    readNamedNodes(program, subject.paths, of).map(({ id, at }) => ({ id, ...lines.placeOf(at) }));
  const flattened = readsFlattened(program);
  return {
    sets: setBy(program, changes, printed ?? [], lines),
    /** Where it first asks for what all nodes have set as one dict. */
    ...(flattened && { flattens: lines.placeOf(flattened.from) }),
    /** It may set others as well. */
    setsMore: printed === undefined || changes.some((change) => changedKey(change) === undefined),
    reads: new Set(subject.reads.map(({ path: [key = ""] }) => key)),
    mayRead: (key: string) => isAllRead || texts.has(key),
    deletes: new Set(subject.changes.flatMap(({ kind, path }) => (kind === "delete" ? (path?.[0] ?? []) : []))),
    waits: named("tasks"),
    results: named("outputs"),
    /** What it cannot do without, does not set before, and is not among `known`. */
    missing(known: readonly string[]) {
      const context = Object.fromEntries(known.map((key) => [key, { type: "object" } as const]));
      const missing = missingTopKeys(readSubject(program, { nodeType: "action", context }));
      const placed = missing.map(({ at, ...one }) => ({ ...one, ...lines.placeOf(at) }));
      return placed.filter(({ line }) => !lines.isSilenced(line, "PY110"));
    },
  };
}

/** Where each key is first set, and whether every run of the code that succeeds sets it. */
function setBy(program: Program, changes: readonly Change[], printed: readonly string[], lines: Lines) {
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
 * Keys of the context that code may look up; null: any. `"more"`: what other nodes have set (`outputs`), or links of waits
 * (`tasks`), as well.
 */
export function keysLookedUp(source: string): string[] | null | "more" {
  const program = source.length > longest ? null : Program.read(source);
  if (!program) return "more";
  if (program.loadsOf("outputs").length + program.loadsOf("tasks").length > 0) return "more";
  return isHandedOn(program) ? null : [...textsRead(program)];
}

/** Undefined: any. */
function changedKey({ kind, path, key }: Change): string | undefined {
  return path ? path[0] : kind === "any" ? key : undefined;
}

/** `outputs.get_flattened()`, where `outputs` is what NOVA gives. */
function readsFlattened(program: Program): Node | undefined {
  const use = program.loadsOf("outputs").find((load) => {
    const { parent } = load;
    const isAsked = parent?.kind === "attribute" && parent.name === "get_flattened";
    return isAsked && load.kind === "name" && program.reaching(load).every(({ origin }) => origin.kind === "given");
  });
  return use?.parent ?? undefined;
}

/** Whether the context is used otherwise than by a key that the code spells out. */
function isHandedOn(program: Program): boolean {
  return (
    program.nodes.some((node) => actsUnseen(program, node)) ||
    program.loadsOf("context").some((use) => !looksUpOne(use.parent, use))
  );
}

function looksUpOne(parent: Node | null, use: Node): boolean {
  if (parent?.kind === "subscript") return parent.object === use && parent.index.kind === "text";
  if (parent?.kind === "binary") return /^(not )?in$/.test(parent.op) && parent.left.kind === "text";
  const call = parent?.kind === "attribute" && /^(get|pop)$/.test(parent.name) ? parent.parent : null;
  return call?.kind === "call" && call.callee === parent && call.args[0]?.value.kind === "text";
}

/** Texts that the code has anywhere but in `context["text"] = ...`. */
function textsRead({ nodes }: Program): Set<string> {
  const texts = nodes.filter((node) => node.kind === "text");
  const isStored = ({ parent }: Node) =>
    parent?.kind === "subscript" && parent.stores && parent.parent?.kind !== "augment";
  return new Set(texts.filter((text) => !isStored(text)).flatMap(({ value }) => beginnings(value)));
}

/** A text, and the keys that it begins with where it is a dot path. */
function beginnings(text: string): string[] {
  const steps = text.length > 200 ? [] : text.split(".").slice(0, 20);
  return [text, ...steps.slice(1).map((_, index) => steps.slice(0, index + 1).join("."))];
}

/**
 * Where the code sets one of these keys, spelt out: `context["key"] = ...`; each key once. `wanted` matches a key as a
 * whole.
 */
export function keysSet(source: string, wanted: RegExp): ({ key: string } & LineColumn)[] {
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
 * The keys of the context that code reads and names literally, as dot paths from the top; of what is in lists, the list.
 * `optional`: nowhere taken for granted (`.get()`, `in`). Keys that it computes are not in it, nor is anything where the
 * source cannot be read.
 */
export function contextReads(source: string): { path: string; optional: boolean }[] {
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

/** Whether the code of a decision can set `branch_decision`. False only where it is certain. */
export function setsBranchDecision(source: string, lib: Record<string, string> = {}): boolean {
  const program = Program.read(source);
  if (!program || Object.values(lib).some((module) => /branch_decision|dump/.test(module))) return true;
  return mayDecide(readSubject(program, { nodeType: "decision" }));
}
