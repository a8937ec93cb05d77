import type { JsonObject, JsonValue } from "../workflow.ts";
import { isOperation, type Leaf, operatorOf } from "./operators.ts";

/**
 * Whether an event fits an EventBridge event pattern: every field of the pattern finds a value of the event that is
 * one of those it lists. Of a list in the event one element is enough, but it has to fit all fields below it.
 * Source: Amazon EventBridge User Guide, "Event patterns".
 */
export function matchesPattern(pattern: JsonObject, event: JsonObject): boolean {
  return fitsFields(pattern, event);
}

function fitsFields(pattern: JsonObject, event: JsonObject): boolean {
  return Object.entries(pattern).every(([name, wanted]) =>
    fits(wanted, Object.hasOwn(event, name) ? event[name] : undefined),
  );
}

function fits(wanted: JsonValue, value: JsonValue | undefined): boolean {
  if (Array.isArray(wanted)) return wanted.some((one) => fitsOne(one, leavesOf(value)));
  if (!isFields(wanted)) return false;
  const objects = objectsOf(value);
  return (objects.length === 0 ? [{}] : objects).some((object) => fitsFields(wanted, object));
}

function fitsOne(wanted: JsonValue, leaves: Leaf[]): boolean {
  if (!isOperation(wanted)) return leaves.some((leaf) => leaf === wanted);
  const [name = "", operand = null] = Object.entries(wanted)[0] ?? [];
  if (name === "exists" && operand === false) return leaves.length === 0;
  const operator = operatorOf(name);
  return operator !== undefined && leaves.some((leaf) => operator.fits(operand, leaf));
}

function leavesOf(value: JsonValue | undefined): Leaf[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return value === undefined || isFields(value) ? [] : [value];
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return isFields(value) ? [value] : [];
}

function isFields(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
