import { deepestNesting, measureOf } from "@nova/engine";
import { type ExactValue, isRawNumber, parseExact, sorted } from "@nova/workflow";
import { z } from "zod";
import { jsonValuesIn } from "./json-in-text.ts";

export type ReadResult<T> = { valid: true; value: T } | ReadFailure;

/**
 * `isUnclear`: the answer is empty or ambiguous, so the model is asked again. Otherwise the answer does not fit its
 * schema.
 */
export type ReadFailure = { valid: false; problem: string; isUnclear?: true };

/** Parses an answer without thoughts, and checks it against its schema. */
export function readAnswer<T>(answer: string, schema: z.ZodType<T>): ReadResult<T> {
  const read = readObject(answer);
  if (!read.valid) return read;
  const result = schema.safeParse(JSON.parse(read.value));
  return result.success
    ? { valid: true, value: result.data }
    : { valid: false, problem: result.error.issues.map(describeIssue).join("; ") };
}

function describeIssue({ message, path }: z.core.$ZodIssue): string {
  return path.length > 0 ? `${message} at ${z.core.toDotPath(path)}` : message;
}

/** Reads a text answer as a JSON string. */
export function readText(answer: string): ReadResult<string> {
  return isEmpty(answer) ? empty : { valid: true, value: JSON.stringify(answer.toWellFormed()) };
}

/**
 * Returns the JSON text of the object in an answer, with the numbers as the model wrote them. Prose, code fences and
 * lists may surround it. Repetitions of the same object count once; several different objects are ambiguous.
 */
export function readObject(answer: string): ReadResult<string> {
  if (isEmpty(answer)) return empty;
  const values = jsonValuesIn(answer);
  if (values.some((json) => measureOf(json).depth > deepestNesting))
    return { valid: false, problem: `its JSON is nested deeper than ${deepestNesting} levels` };
  const objects = values.flatMap((json) => objectsIn(parseExact(json)));
  const byMeaning = new Map(objects.map((object) => [JSON.stringify(sorted(object)), JSON.stringify(object)]));
  const [object, ...others] = byMeaning.values();
  if (object === undefined) return { valid: false, problem: "there is no JSON object in it" };
  if (others.length === 0) return { valid: true, value: object.toWellFormed() };
  const problem = `it is ambiguous: it has ${others.length + 1} different JSON objects, and one is wanted`;
  return { valid: false, problem, isUnclear: true };
}

/** Finds the objects in a value, inside lists too. */
function objectsIn(value: ExactValue): ExactValue[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return typeof value === "object" && value !== null && !isRawNumber(value) ? [value] : [];
}

const empty: ReadFailure = { valid: false, problem: "it is empty", isUnclear: true };

function isEmpty(answer: string): boolean {
  return answer.trim() === "";
}
