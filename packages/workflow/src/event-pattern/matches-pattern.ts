import { isFields, isSameLeaf, type Leaf, type Matchable, type MatchableObject } from "./leaf.ts";
import { isOperation, operatorOf } from "./operators.ts";

/**
 * Whether an event fits an EventBridge event pattern: every field of the pattern finds a value of the event that is
 * one of those it lists. Of a list in the event one element is enough, but it has to fit all fields below it.
 * Source: Amazon EventBridge User Guide, "Event patterns".
 */
export function matchesPattern(pattern: MatchableObject, event: MatchableObject): boolean {
  return fitsFields(pattern, event);
}

function fitsFields(pattern: MatchableObject, event: MatchableObject): boolean {
  return Object.entries(pattern).every(([name, wanted]) =>
    fits(wanted, Object.hasOwn(event, name) ? event[name] : undefined),
  );
}

function fits(wanted: Matchable, value: Matchable | undefined): boolean {
  if (Array.isArray(wanted)) return wanted.some((one) => fitsOne(one, leavesOf(value)));
  if (!isFields(wanted)) return false;
  const objects = objectsOf(value);
  return (objects.length === 0 ? [{}] : objects).some((object) => fitsFields(wanted, object));
}

function fitsOne(wanted: Matchable, leaves: Leaf[]): boolean {
  if (!isOperation(wanted)) return leaves.some((leaf) => isSameLeaf(wanted as Leaf, leaf));
  const [name = "", operand = null] = Object.entries(wanted)[0] ?? [];
  if (name === "exists" && operand === false) return leaves.length === 0;
  const operator = operatorOf(name);
  return operator !== undefined && leaves.some((leaf) => operator.fits(operand, leaf));
}

/** The values of an event that stand at the end of a way of names, whatever lists are on it. */
export function leavesAt(event: MatchableObject, [name = "", ...below]: readonly string[]): Leaf[] {
  const value = Object.hasOwn(event, name) ? event[name] : undefined;
  return below.length === 0 ? leavesOf(value) : objectsOf(value).flatMap((object) => leavesAt(object, below));
}

function leavesOf(value: Matchable | undefined): Leaf[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return value === undefined || isFields(value) ? [] : [value];
}

function objectsOf(value: Matchable | undefined): MatchableObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return isFields(value) ? [value] : [];
}
