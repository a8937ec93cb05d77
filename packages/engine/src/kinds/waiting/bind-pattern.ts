import {
  asWildcard,
  checkPattern,
  isOperation,
  isRawNumber,
  type JsonObject,
  keepingDigits,
  type Leaf,
  leavesAt,
  type Matchable,
  type MatchableObject,
  numberText,
  parseExact,
  pathsInPattern,
  replaceTexts,
  templateParts,
  type WrittenJson,
} from "@nova/workflow";
import type { Context } from "../../context/context.ts";
import { findValue, type LoadJson } from "../../context/references.ts";
import type { Wake, WakeShape } from "../../ports/tasks.ts";
import { sha256 } from "../../sha256.ts";

export type Bound = { pattern: WrittenJson } | { problem: string };

/** The limit in bytes for the text of a pattern after the values of the context were inserted. */
const maxPatternBytes = 64 * 1024;

export interface BindingSource {
  input: Context;
  load: LoadJson;
  /** Returns whether the value at a path, as JSON text, must not be stored in plain text. */
  isSecret(path: string, json: string): boolean;
}

/** Puts values of the context into a pattern. No inserted value acts as an operator or a wildcard. */
export async function bindPattern(pattern: JsonObject, source: BindingSource): Promise<Bound> {
  const values = new Map<string, Leaf>();
  for (const path of pathsInPattern(pattern)) {
    const found = await leafAt(path, source);
    if ("problem" in found) return found;
    values.set(path, found.leaf);
  }
  const bound = replaceTexts(pattern, (text, operator) => fillTemplate(text, values, operator === "wildcard"));
  const text = JSON.stringify(bound);
  const [problem] = checkPattern(bound);
  if (problem) return { problem: `its event pattern, bound to the context, ${problem.message}` };
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxPatternBytes) return { pattern: keepingDigits(text) };
  return {
    problem: `its event pattern has ${bytes} bytes with its values, at most ${maxPatternBytes} - name shorter ones`,
  };
}

async function leafAt(
  path: string,
  { input, load, isSecret }: BindingSource,
): Promise<{ leaf: Leaf } | { problem: string }> {
  const its = `its event pattern names {{${path}}}`;
  const json = await findValue(input, path, load);
  const advice = "have a node before it set the key, or correct the path";
  if (json === undefined) return { problem: `${its}, which the context does not have - ${advice}` };
  if (isSecret(path, json))
    return { problem: `${its}, which is secret, and patterns are stored in the open - name an id that is not` };
  const value = parseExact(json);
  if (value === null || typeof value !== "object" || isRawNumber(value)) return { leaf: value };
  return { problem: `${its}, which is no short text, number, true, false or null - name a value inside of it` };
}

function fillTemplate(text: string, values: ReadonlyMap<string, Leaf>, isWildcard: boolean): Matchable {
  const parts = templateParts(text).map((part) =>
    part.kind === "text" ? part : { ...part, leaf: values.get(part.path) },
  );
  const [first, ...others] = parts;
  if (first && "leaf" in first && others.length === 0 && typeof first.leaf !== "string")
    return exactLeaf(first.leaf ?? null);
  return parts.map((part) => ("leaf" in part ? leafText(part.leaf ?? null, isWildcard) : part.text)).join("");
}

/**
 * Appends `.0` to a large integer that has the digits of a number that JavaScript rounded. Without the `.0`, the
 * pattern would also match other integers with the same binary64 value.
 */
function exactLeaf(leaf: Leaf): Leaf {
  if (!isRawNumber(leaf)) return leaf;
  const digits = leaf.rawJSON;
  const looksRounded =
    !Number.isSafeInteger(Number(digits)) && /^-?\d+$/.test(digits) && String(Number(digits)) === digits;
  return looksRounded ? (parseExact(`${digits}.0`) as Leaf) : leaf;
}

function leafText(leaf: Leaf, isWildcard: boolean): string {
  const text = typeof leaf === "string" ? leaf : JSON.stringify(leaf);
  return isWildcard ? asWildcard(text) : text;
}

export function matchable(pattern: WrittenJson): MatchableObject {
  return typeof pattern === "string" ? (parseExact(pattern) as MatchableObject) : pattern;
}

/** The longest list of a pattern that is indexed: a task has one index entry per element. */
const maxListed = 20;

/** A list in a pattern that holds only plain values, or templates for plain values. */
interface ExactList {
  way: string[];
  values: Leaf[];
  isTemplate: boolean;
}

/**
 * Chooses the field of an event by which the tasks of a pattern are indexed. The choice depends only on the definition
 * of the node.
 */
export function shapeOf(pattern: MatchableObject): WakeShape {
  const lists = [...exactLists(pattern, [])];
  const isSource = ({ way, values, isTemplate }: ExactList) =>
    way.join() === "source" && values.length === 1 && !isTemplate;
  const source = lists.find(isSource);
  const [best] = lists.filter((list) => list !== source).sort((one, other) => rank(one) - rank(other));
  return [source ? String(source.values[0]) : null, ...(best?.way ?? [])];
}

export function wakeOf(shape: WakeShape, bound: MatchableObject): Wake {
  const [, ...way] = shape;
  if (way.length === 0) return { shape, keys: [keyOf(shape)] };
  const values = way.reduce<Matchable>((inside, name) => (inside as MatchableObject)[name] as Matchable, bound);
  return { shape, keys: keysOf(shape, values as Leaf[]) };
}

export function keysFor(shape: WakeShape, event: MatchableObject): string[] {
  const [source, ...way] = shape;
  if (source !== null && event.source !== source) return [];
  return way.length === 0 ? [keyOf(shape)] : keysOf(shape, leavesAt(event, way));
}

function* exactLists(pattern: MatchableObject, above: string[]): Iterable<ExactList> {
  for (const [name, wanted] of Object.entries(pattern)) {
    const way = [...above, name];
    if (!Array.isArray(wanted)) yield* exactLists(wanted as MatchableObject, way);
    else if (wanted.length <= maxListed && !wanted.some(isOperation)) {
      yield { way, values: wanted as Leaf[], isTemplate: pathsInPattern({ [name]: wanted }).length > 0 };
    }
  }
}

/** Ranks a list as an index: the lowest number is best. A list with templates is the most selective. */
function rank({ way, values, isTemplate }: ExactList): number {
  return (isTemplate ? 0 : 1000) + (way[0] === "detail" ? 0 : 100) + values.length;
}

function keysOf(shape: WakeShape, leaves: readonly Leaf[]): string[] {
  return [...new Set(leaves.map((leaf) => keyOf(shape, leaf)))];
}

/**
 * Returns the index key of a value. Equal numbers have the same key. Different values may share a key, because the
 * whole pattern is compared afterwards.
 */
function keyOf(shape: WakeShape, leaf?: Leaf): string {
  const number = leaf === undefined ? undefined : numberText(leaf);
  const value = number === undefined ? leaf : Number(number);
  return sha256(JSON.stringify([shape, leaf === undefined ? [] : [typeof value, String(value)]])).slice(0, 32);
}
