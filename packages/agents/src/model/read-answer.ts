import { z } from "zod";
import { firstJsonObject } from "./first-json.ts";

export type Read<T> = { valid: true; value: T } | { valid: false; problem: string };

/** The value of an answer's text, held to its schema; a model's answer is somebody's input like any other. */
export function readAnswer<T>(text: string, schema: z.ZodType<T>): Read<T> {
  const object = wholeOrFirst(text);
  if (object === null) {
    return { valid: false, problem: "there is no JSON object in it" };
  }
  const result = schema.safeParse(object);
  return result.success
    ? { valid: true, value: result.data }
    : { valid: false, problem: result.error.issues.map(told).join("; ") };
}

function told({ message, path }: z.core.$ZodIssue): string {
  return path.length > 0 ? `${message} at ${z.core.toDotPath(path)}` : message;
}

function wholeOrFirst(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return firstJsonObject(text);
  }
}
