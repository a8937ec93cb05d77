import { mayDecide, printedKeys } from "./findings/decision.ts";
import { mayBePassedBy } from "./findings/guards.ts";
import { type MissingKey, missingTopKeys, readNamedNodes } from "./findings/keys.ts";
import { readSubject } from "./findings/subject.ts";
import { actsUnseen, type Change } from "./flow/changes.ts";
import type { Path } from "./flow/paths.ts";
import { type LineColumn, Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";
import type { Node } from "./tree/nodes.ts";

type NamedId = { id: string } & LineColumn;

/** Where it is first set. */
interface SetKey extends LineColumn {
  /** Every run of the code that succeeds sets it. */
  always: boolean;
}

/** Which keys of the context a node's code sets and looks up. */
export interface CodeKeys {
  /** Those that it may set, as far as it names them. */
  sets: ReadonlyMap<string, SetKey>;
  /** It may set others as well. */
  setsMore: boolean;
  /** Those that it looks up by name. */
  reads: ReadonlySet<string>;
  /** Whether it reads the key, or may: it hands the context on, or computes keys. */
  mayRead(key: string): boolean;
  deletes: ReadonlySet<string>;
  /** Ids of the waits whose links it reads in `tasks`. */
  waits: NamedId[];
  /** Ids of the nodes whose results it reads in `outputs`. */
  results: NamedId[];
  /** Where it first asks for what all nodes have set as one dict. */
  flattens?: LineColumn;
  /** What it cannot do without, does not set before, and is not among `known`. */
  missing(known: readonly string[]): (Omit<MissingKey, "at"> & LineColumn)[];
}

/** Longer code is not looked into: what it does takes long to follow. */
const longest = 8_000;

/** Null where nothing can be said. */
export function codeKeys(source: string): CodeKeys | null {
  const program = source.length > longest ? null : Program.read(source);
  if (!program) return null;
  const subject = readSubject(program, { nodeType: "action" });
  const [isAllRead, texts] = [isHandedOn(program), textsRead(program)];
  const lines = new Lines(source);
  const printed = printedKeys(subject);
  const changes = subject.changes.filter(({ kind }) => kind !== "delete");
  const sets = new Map<string, SetKey>();
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
  for (const key of printed ?? []) note(key, 0, false);
  const named = (of: "tasks" | "outputs") =>
    readNamedNodes(program, subject.paths, of).map(({ id, at }) => ({ id, ...lines.placeOf(at) }));
  const flattened = readsFlattened(program);
  return {
    sets,
    ...(flattened && { flattens: lines.placeOf(flattened.from) }),
    setsMore: printed === undefined || changes.some((change) => changedKey(change) === undefined),
    reads: new Set(subject.reads.map(({ path: [key = ""] }) => key)),
    mayRead: (key) => isAllRead || texts.has(key),
    deletes: new Set(subject.changes.flatMap(({ kind, path }) => (kind === "delete" ? (path?.[0] ?? []) : []))),
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
  return new Set(texts.filter((text) => !isStored(text)).map(({ value }) => value));
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
  const { changes, reads } = readSubject(program, { nodeType: "action" });
  const optionals = new Map<string, boolean>();
  for (const { path, optional } of reads) {
    const name = dotPath(path);
    optionals.set(name, optional && (optionals.get(name) ?? true));
  }
  const named = (kind: "set" | "delete") =>
    changes.flatMap((change) => (change.kind === kind && change.path?.length ? [dotPath(change.path)] : []));
  return {
    reads: Array.from(optionals, ([path, optional]) => ({ path, optional })),
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
