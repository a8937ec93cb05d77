import { deepestNesting, measureOf } from "@nova/engine";
import { type ExactValue, isRawNumber, parseExact, sorted } from "@nova/workflow";
import { z } from "zod";
import { jsonValuesIn } from "./json-in-text.ts";

export type ReadResult<T> = { valid: true; value: T } | ReadFailure;

/** `isUnclear`: the answer has no meaning yet, so the model is asked for it again; else it has one that does not fit. */
export type ReadFailure = { valid: false; problem: string; isUnclear?: true };

/** The value of an answer without thoughts, held to its schema. It comes from outside, so it is parsed like all input. */
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

/** An answer in words, as JSON text. */
export function readText(answer: string): ReadResult<string> {
  return isEmpty(answer) ? empty : { valid: true, value: JSON.stringify(answer.toWellFormed()) };
}

/**
 * The JSON text of the one object that an answer has, numbers as the model wrote them; prose, code fences and lists may
 * be around it. An object that is repeated is one. Of several that differ the model alone knows which it means.
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

/** A list has no value of its own: objects are wanted. */
function objectsIn(value: ExactValue): ExactValue[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return typeof value === "object" && value !== null && !isRawNumber(value) ? [value] : [];
}

const empty: ReadFailure = { valid: false, problem: "it is empty", isUnclear: true };

function isEmpty(answer: string): boolean {
  return answer.trim() === "";
}
