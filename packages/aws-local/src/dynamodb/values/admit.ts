import { invalid, invalidParameter, malformed } from "../errors.ts";
import { type AttributeType, attributeTypes } from "./attribute-value.ts";
import { canonicalNumber, numberBytes } from "./decimal.ts";

/** DynamoDB: attributes nest at most 32 levels deep. */
const deepest = 32;

/**
 * Checks the attributes of a request, and replaces each number by its normal form. Returns the size in bytes as
 * DynamoDB counts it: names and values in UTF-8.
 */
export function admitAttributes(map: unknown, depth = 0): number {
  if (!isObject(map)) throw malformed("Start of structure or map found where not expected");
  let bytes = 0;
  for (const name in map) if (map[name] !== undefined) bytes += Buffer.byteLength(name) + admitValue(map[name], depth);
  return bytes;
}

export function admitValue(value: unknown, depth = 0): number {
  if (!isObject(value)) throw malformed("Unexpected value type in payload");
  const type = typeIn(value);
  const content = value[type];
  switch (type) {
    case "S":
      return Buffer.byteLength(textIn(content));
    case "N":
      return numberBytes(normalize(value, textIn(content)));
    case "BOOL":
      if (typeof content !== "boolean") throw malformed("Unexpected token received from parser");
      return 1;
    case "NULL":
      if (content !== true) throw invalidParameter("Null attribute value types must have the value of true");
      return 1;
    case "L":
      return listBytes(content, depth + 1);
    case "M":
      return 3 + admitAttributes(content, checkDepth(depth + 1)) + Object.keys(content as object).length;
  }
}

function normalize(value: Record<string, unknown>, text: string): string {
  const canonical = canonicalNumber(text);
  if (canonical !== text) value.N = canonical;
  return canonical;
}

function typeIn(value: Record<string, unknown>): AttributeType {
  let found: string | undefined;
  for (const type in value) {
    if (["SS", "NS", "BS"].includes(type)) throw invalid("The local DynamoDB has no sets - use a list");
    if (type === "B") throw invalid("The local DynamoDB has no bytes - use a text, or S3");
    if (value[type] == null || !(attributeTypes as readonly string[]).includes(type)) {
      delete value[type];
      continue;
    }
    if (found !== undefined) throw invalid(`Supplied AttributeValue has more than one datatypes set, ${exactlyOne}`);
    found = type;
  }
  if (found === undefined) throw invalid(`Supplied AttributeValue is empty, ${exactlyOne}`);
  return found as AttributeType;
}

const exactlyOne = "must contain exactly one of the supported datatypes";

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  throw malformed("The value of S or N is not a String");
}

function listBytes(content: unknown, depth: number): number {
  if (!Array.isArray(content)) throw malformed("Unexpected field type");
  checkDepth(depth);
  return content.reduce((sum: number, value: unknown) => sum + 1 + admitValue(value, depth), 3);
}

function checkDepth(depth: number): number {
  if (depth <= deepest) return depth;
  throw invalid("Nesting Levels have exceeded supported limits: Attributes can be nested up to 32 levels deep");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
