import { asReference, type BlobRef, type ExactValue, isRawNumber, type Member, parseExact } from "@nova/engine";
import type { ContextShape, ValueShape } from "@nova/python";

/**
 * What is known of a node's input without reading its blobs. A large text counts its bytes as characters. A large value
 * that is JSON has the type `object` and no members: which kind it is, only reading it would tell.
 */
export function shapeOf(input: readonly Member[]): ContextShape {
  return Object.fromEntries(input.map(({ key, json }) => [key, shapeOfValue(parseExact(json))]));
}

function shapeOfValue(value: ExactValue): ValueShape {
  if (value === null) return { type: "null" };
  if (typeof value === "boolean") return { type: "boolean" };
  if (typeof value === "string") return { type: "string", size: value.length };
  if (isRawNumber(value)) return { type: isInteger(value.rawJSON) ? "integer" : "number" };
  if (Array.isArray(value)) {
    const [first] = value;
    return { type: "list", size: value.length, ...(first !== undefined && { item: shapeOfValue(first) }) };
  }
  const reference = referenceAt(value);
  return reference ? shapeOfBlob(reference) : shapeOfObject(value as { [key: string]: ExactValue });
}

function shapeOfBlob({ type, bytes }: BlobRef): ValueShape {
  return type === "json" ? { type: "object" } : { type: type === "text" ? "string" : "bytes", size: bytes };
}

function shapeOfObject(value: { [key: string]: ExactValue }): ValueShape {
  const members = Object.entries(value).map(([key, member]) => [plainKey(key), shapeOfValue(member)] as const);
  return { type: "object", size: members.length, members: Object.fromEntries(members) };
}

/** As Python reads a number: `850.0` is none. */
export function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/** Data that has the key of references carries one `$` more where it is stored. */
export function plainKey(key: string): string {
  return /^\$\$+blob$/.test(key) ? key.slice(1) : key;
}

/** The reference that an object with exact numbers is, when it is one. */
export function referenceAt(value: object): BlobRef | undefined {
  return Object.hasOwn(value, "$blob") ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
}
