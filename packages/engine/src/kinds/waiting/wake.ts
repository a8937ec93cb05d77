import {
  isOperation,
  type Leaf,
  leavesAt,
  type Matchable,
  type MatchableObject,
  numberText,
  pathsInPattern,
} from "@nova/workflow";
import { sha256 } from "../../json/text.ts";
import type { Wake, WakeShape } from "../../ports/tasks.ts";

/** A list of more values would make as many entries for one task. */
const maxListed = 20;

/** A list of a pattern that holds plain values alone, templates of such among them. */
interface ExactList {
  way: string[];
  values: Leaf[];
  isTemplate: boolean;
}

/** By which value of an event a pattern's tasks are found. It depends on the definition alone. */
export function shapeOf(pattern: MatchableObject): WakeShape {
  const lists = [...exactLists(pattern, [])];
  const source = lists.find(
    ({ way, values, isTemplate }) => way.join() === "source" && values.length === 1 && !isTemplate,
  );
  const [best] = lists.filter((list) => list !== source).sort((one, other) => rank(one) - rank(other));
  return [source ? String(source.values[0]) : null, ...(best?.way ?? [])];
}

/** Where a task with this bound pattern is found. */
export function wakeOf(shape: WakeShape, bound: MatchableObject): Wake {
  const [, ...way] = shape;
  if (way.length === 0) return { shape, keys: [keyOf(shape)] };
  const values = way.reduce<Matchable>((inside, name) => (inside as MatchableObject)[name] as Matchable, bound);
  return { shape, keys: keysOf(shape, values as Leaf[]) };
}

/** The keys that an event makes with a shape. */
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

/** Lower is better. */
function rank({ way, values, isTemplate }: ExactList): number {
  return (isTemplate ? 0 : 1000) + (way[0] === "detail" ? 0 : 100) + values.length;
}

function keysOf(shape: WakeShape, leaves: readonly Leaf[]): string[] {
  return [...new Set(leaves.map((leaf) => keyOf(shape, leaf)))];
}

/** Numbers that are the same have the same key; what else has it the pattern tells apart. */
function keyOf(shape: WakeShape, leaf?: Leaf): string {
  const number = leaf === undefined ? undefined : numberText(leaf);
  const value = number === undefined ? leaf : Number(number);
  return sha256(JSON.stringify([shape, leaf === undefined ? [] : [typeof value, String(value)]])).slice(0, 32);
}
