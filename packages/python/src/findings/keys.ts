import type { Change } from "../flow/changes.ts";
import type { Path, Paths } from "../flow/paths.ts";
import { keysOwner, mayPrecede, type Read } from "../flow/printed.ts";
import { dictMethods } from "../known/functions.ts";
import type { Program } from "../scope/program.ts";
import { type ContextShape, isComplete, shapeAt } from "../shape.ts";
import type { Node } from "../tree/nodes.ts";
import { expectsKeyError, mayBePassedBy } from "./guards.ts";
import type { Problem, Subject } from "./subject.ts";
import { findNearest, findNearKey, isSlip, isSureSlip, type NearKey, suggestInstead } from "./suggest.ts";

/** Keys that NOVA itself may set, so that no earlier node has to. */
const fromNova = /^(_data_analysis|_ai_metadata|error)$/;

/** Finds PY110 to PY112: keys that the code reads although no node has set them. */
export function findMissingKeys(subject: Subject): Problem[] {
  const { facts, program, reads } = subject;
  if (!facts.context) return [];
  const known: ContextShape = facts.context;
  const missing = reads.filter((read) => program.mayRun(read.node) && isMissing(read, known, subject));
  const seen = new Set<string>();
  return missing.flatMap((read) => {
    const name = read.path.join("\n");
    if (seen.has(name) || seen.has(read.path.slice(0, -1).join("\n"))) return [];
    const problem = describeMissing(read, known, subject);
    if (problem && problem.code !== "PY112") seen.add(name);
    return problem ? [problem] : [];
  });
}

export interface MissingKey extends NearKey {
  key: string;
  at: number;
}

/** Lists, each once, the top-level keys that the code requires and that are not in the context. */
export function findMissingTopKeys(subject: Subject): MissingKey[] {
  const known = subject.facts.context ?? {};
  const keys = Object.keys(known);
  const found = new Map<string, MissingKey>();
  for (const read of subject.reads) {
    const [key = "", ...deeper] = read.path;
    if (deeper.length > 0 || found.has(key) || !subject.program.mayRun(read.node)) continue;
    if (!isMissing(read, known, subject)) continue;
    const near = findNearKey(key, keys);
    if (!near.isSlip && (read.optional || isPerhapsSet(read, subject))) continue;
    if (read.optional ? isKnownOtherwise(read, subject) : isTolerated(read, subject)) continue;
    found.set(key, { key, at: read.node.from, ...near });
  }
  return Array.from(found.values());
}

function isPerhapsSet({ path, node }: Read, { changes }: Subject): boolean {
  return changes.some((change) => change.kind === "any" && maySet(change, path, node));
}

function isMissing({ path, node }: Read, context: ContextShape, { facts, changes }: Subject): boolean {
  const key = path.at(-1) as string;
  const isDecision = key === "branch_decision" && path.length === 1 && facts.nodeType === "decision";
  const isUnknown = isDecision || keysAt(path, context)?.includes(key) === false;
  return isUnknown && !changes.some((change) => change.kind === "set" && maySet(change, path, node));
}

/**
 * Returns all keys of the dict in which the code looks up the last key of the path; undefined if its keys are unknown.
 */
function keysAt(path: Path, context: ContextShape): string[] | undefined {
  if (path.length === 1) return Object.keys(context);
  const holder = shapeAt(context, path.slice(0, -1));
  return holder && isComplete(holder) ? Object.keys(holder.members) : undefined;
}

function describeMissing(read: Read, context: ContextShape, subject: Subject): Problem | undefined {
  const key = read.path.at(-1) as string;
  const keys = (keysAt(read.path, context) ?? []).filter((each) => each !== key);
  const at = read.node.from;
  const owner = ownerText(read.path);
  const message = `${owner} has no key "${key}" - ${suggestInstead(key, keys)}`;
  if (read.optional) {
    const near = findNearest(key, keys);
    if (near === undefined || isKnownOtherwise(read, subject)) return undefined;
    const isMeant = isSureSlip(key, near) && isUnused([...read.path.slice(0, -1), near], subject);
    return { code: isMeant ? codeOf(read) : "PY112", at, message };
  }
  if (isTolerated(read, subject)) return undefined;
  if (isPerhapsSet(read, subject) && !keys.some((each) => isSlip(key, each))) return undefined;
  return { code: isCertain(read, keys, subject) ? codeOf(read) : "PY112", at, message };
}

function codeOf({ path }: Read): "PY110" | "PY111" {
  return path.length === 1 ? "PY110" : "PY111";
}

function ownerText(path: Path): string {
  const inside = path.slice(0, -1).map((key) => (key === "[]" ? "[0]" : `["${key}"]`));
  return inside.length === 0 ? "the context" : `context${inside.join("")}`;
}

/**
 * Returns whether the code itself sets this key somewhere. If so, an optional read of the key is no spelling mistake.
 */
function isKnownOtherwise({ path }: Read, { changes }: Subject): boolean {
  return changes.some((change) => change.kind === "set" && change.path?.join("\n") === path.join("\n"));
}

function isTolerated(read: Read, { program, reads }: Subject): boolean {
  const name = read.path.join("\n");
  if (reads.some((other) => other.optional && other.path.join("\n") === name)) return true;
  if (expectsKeyError(program, read.node)) return true;
  const isNamedElsewhere = program.nodes.some(
    (node) => node.kind === "text" && node.value === read.path.at(-1) && node.parent?.kind !== "subscript",
  );
  return isNamedElsewhere && asksForAnyKey(program.nodes);
}

/**
 * Returns whether the code may test for a key without naming it: `key in context`, `context.get(key)`, `set(context)`.
 */
function asksForAnyKey(nodes: readonly Node[]): boolean {
  return nodes.some((node) => {
    if (node.kind === "binary" && /^(not )?in$/.test(node.op))
      return keysOwner(node.right).kind === "name" && node.left.kind !== "text";
    if (node.kind !== "call") return false;
    if (node.callee.kind === "attribute") return /^(get|keys|issubset|issuperset)$/.test(node.callee.name);
    return node.callee.kind === "name" && /^(set|frozenset|list)$/.test(node.callee.id);
  });
}

/**
 * Returns whether a read of a missing key is certainly a mistake: every run looks up the key, or the key is a clear
 * misspelling, or it resembles a key that the code never reads.
 */
function isCertain(read: Read, keys: readonly string[], subject: Subject): boolean {
  const key = read.path.at(-1) as string;
  const isAbsent = key === "_data_analysis" && subject.facts.isRun;
  if (read.path.length === 1 && fromNova.test(key) && !isAbsent) return false;
  const isOfItem = read.path.includes("[]");
  if (!isOfItem && !mayBePassedBy(subject.program, read.node)) return true;
  const near = findNearest(key, keys);
  if (near === undefined) return false;
  return isSlip(key, near) || (!isOfItem && isUnused([...read.path.slice(0, -1), near], subject));
}

function isUnused(path: Path, { reads, program }: Subject): boolean {
  const name = path.join("\n");
  const isRead = reads.some((read) => read.path.join("\n") === name);
  const isSpelt = program.nodes.some((node) => node.kind === "text" && node.value === path.at(-1));
  return !isRead && !isSpelt;
}

/** Returns whether a change may have set the key before `read` runs. */
function maySet({ kind, path, node }: Change, wanted: Path, read: Node): boolean {
  if (kind === "delete" || !mayPrecede(node, read)) return false;
  if (!path) return true;
  if (path.length > wanted.length || !path.every((key, index) => key === wanted[index])) return false;
  return kind === "set" || path.length < wanted.length;
}

/** Finds PY113: a key that is read like an attribute, as in `context.total`. */
export function findContextAttributes({ program, paths }: Subject): Problem[] {
  return program.nodes.flatMap((node) => {
    if (node.kind !== "attribute" || !program.mayRun(node) || node.name.startsWith("__")) return [];
    if (dictMethods.has(node.name) || !paths.isContext(node.object)) return [];
    const message = `context is a dict and has no attribute "${node.name}" - write context["${node.name}"]`;
    return [{ code: "PY113" as const, at: node.from, message }];
  });
}

/**
 * Lists the nodes whose resume links (`tasks`) or results (`outputs`) the code looks up by id without tolerating their
 * absence.
 */
export function readNamedNodes(program: Program, paths: Paths, of: "tasks" | "outputs"): { id: string; at: number }[] {
  const asks = (node: Node) => node.kind === "binary" && node.right.kind === "name" && node.right.id === of;
  if (program.nodes.some(asks)) return [];
  return program.nodes.flatMap((node) => {
    if (node.kind !== "subscript" || node.stores || node.object.kind !== "name" || node.object.id !== of) return [];
    const isGiven = program.reaching(node.object).every(({ origin }) => origin.kind === "provided");
    const id = isGiven && !expectsKeyError(program, node) ? paths.key(node.index) : undefined;
    return id === undefined || id === "[]" ? [] : [{ id, at: node.index.from }];
  });
}
