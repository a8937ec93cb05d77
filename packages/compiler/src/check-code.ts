import { type CodeFinding, type ContextShape, checkNodeCode, shapeOf, type ValueShape } from "@nova/python";
import { membersOf } from "@nova/workflow";

/** The facts about a node that the check of its code needs. */
export interface SentFacts {
  nodeType: "action" | "decision";
  edges?: readonly string[];
  lib: readonly string[];
  /** JSON text of the node's context. Absent: the keys that the code reads are not checked. */
  context?: string;
}

/** Finds mistakes in the code of a node without running it, given the context that the node gets. */
export async function checkCode(code: string, { context, ...facts }: SentFacts): Promise<CodeFinding[]> {
  const shape = context !== undefined && { context: readShape(context) };
  return checkNodeCode(code, { ...facts, ...shape });
}

function readShape(context: string): ContextShape {
  return Object.fromEntries(membersOf(context).map(({ key, json }) => [key, readValueShape(JSON.parse(json))]));
}

/**
 * Returns the shape of a value. A reference to a blob has the type that the reference names; the parts of the blob are
 * unknown.
 */
function readValueShape(value: unknown): ValueShape {
  const blob = (value as { $blob?: { type?: unknown; bytes?: unknown } } | null)?.$blob;
  if (typeof blob?.bytes !== "number") return shapeOf(value);
  if (blob.type === "bytes") return { type: "bytes", size: blob.bytes };
  return blob.type === "text" ? { type: "string", size: blob.bytes } : { type: "object" };
}
