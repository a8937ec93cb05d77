import { listElements, listMembers, readKind, readMembers } from "../../json/raw.ts";

/** The kind of one value. Numbers are texts, as in the schema, so that no digit is lost. */
export type FieldShape =
  | { kind: "text"; input: TextInput; isLong: boolean; minLength: number; maxLength: number | undefined }
  | { kind: "number"; isInteger: boolean; bounds: readonly Bound[] }
  | { kind: "boolean" }
  /** Choices as JSON texts. */
  | { kind: "choice"; values: readonly string[] }
  | { kind: "list"; element: FieldShape; minItems: number; maxItems: number | undefined }
  | { kind: "object"; fields: readonly Field[] }
  /** A value without a generated field: text, JSON or a file. */
  | { kind: "any" };

export type TextInput = "text" | "date" | "time" | "datetime-local" | "email" | "url" | "password";

export interface Bound {
  limit: string;
  is: "min" | "max" | "above" | "below";
}

export interface Field {
  key: string;
  label: string;
  description: string | undefined;
  isRequired: boolean;
  shape: FieldShape;
  /** The default value as JSON. */
  initial: string | undefined;
}

/** Limits for schemas that refer to themselves. Fields beyond them are edited as JSON. */
const maxDepth = 6;
const maxFields = 300;
/** A text with a larger maximum gets several lines. */
const shortText = 120;
const longNames = /^(comment|reason|notes?|message|text|body|description|remarks?)$/i;

const inputs: Record<string, TextInput> = {
  date: "date",
  time: "time",
  "date-time": "datetime-local",
  email: "email",
  uri: "url",
  url: "url",
};

/** A JSON schema by member, as JSON texts that are parsed on demand. */
type Schema = ReadonlyMap<string, string>;

/** Parses the named properties of a schema; empty if there are none. */
export function parseFields(schema: string): readonly Field[] {
  const shape = parseShape(parseSchema(schema), {
    root: schema,
    depth: 0,
    shared: { left: maxFields, refs: new Map() },
  });
  return shape.kind === "object" ? shape.fields : [];
}

/** Whether data may have keys that the schema does not name. */
export function allowsMoreKeys(schema: string): boolean {
  return parseSchema(schema).get("additionalProperties") !== "false";
}

interface Place {
  root: string;
  depth: number;
  /** Shared by the whole schema: the number of fields left, and resolved references. */
  shared: { left: number; refs: Map<string, Schema> };
}

function parseSchema(text: string): Schema {
  return readMembers(readKind(text) === "object" ? text : "{}");
}

function parseShape(unresolved: Schema, place: Place, key = ""): FieldShape {
  const { root, depth, shared } = place;
  const schema = resolveReference(unresolved, place);
  const listed = schema.get("enum");
  if (listed !== undefined) return { kind: "choice", values: listElements(listed) };
  const only = schema.get("const");
  if (only !== undefined) return { kind: "choice", values: [only] };
  const deeper = { root, depth: depth + 1, shared };
  const isBeyond = depth > maxDepth || shared.left-- <= 0;
  switch (isBeyond ? "any" : readType(schema)) {
    case "string":
      return parseTextShape(schema, key);
    case "number":
      return { kind: "number", isInteger: false, bounds: parseBounds(schema) };
    case "integer":
      return { kind: "number", isInteger: true, bounds: parseBounds(schema) };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return {
        kind: "list",
        element: parseShape(parseSchema(schema.get("items") ?? "{}"), deeper),
        minItems: readNumber(schema, "minItems") ?? 0,
        maxItems: readNumber(schema, "maxItems"),
      };
    case "object":
      return schema.has("properties") ? { kind: "object", fields: parseProperties(schema, deeper) } : { kind: "any" };
    default:
      return { kind: "any" };
  }
}

function parseProperties(schema: Schema, place: Place): Field[] {
  const required = new Set(listElements(schema.get("required") ?? "[]"));
  return listMembers(schema.get("properties") ?? "{}").map(({ key, text }) => {
    const unresolved = parseSchema(text);
    const resolved = resolveReference(unresolved, place);
    return {
      key,
      label: readText(resolved, "title") ?? key,
      description: readText(unresolved, "description") ?? readText(resolved, "description"),
      isRequired: required.has(JSON.stringify(key)),
      shape: parseShape(unresolved, place, key),
      initial: resolved.get("default"),
    };
  });
}

function parseTextShape(schema: Schema, key: string): FieldShape {
  const maxLength = readNumber(schema, "maxLength");
  const input = schema.get("secret") === "true" ? "password" : (inputs[readText(schema, "format") ?? ""] ?? "text");
  const isLong = input === "text" && ((maxLength ?? 0) > shortText || (maxLength === undefined && longNames.test(key)));
  return { kind: "text", input, isLong, minLength: readNumber(schema, "minLength") ?? 0, maxLength };
}

const boundNames = { minimum: "min", maximum: "max", exclusiveMinimum: "above", exclusiveMaximum: "below" } as const;

function parseBounds(schema: Schema): Bound[] {
  return Object.entries(boundNames).flatMap(([name, is]) => {
    const limit = schema.get(name);
    return limit !== undefined && readKind(limit) === "number" ? [{ limit, is }] : [];
  });
}

/** Returns the only type except null; "any" if there are several. */
function readType(schema: Schema): string {
  const type = schema.get("type") ?? (schema.has("properties") ? '"object"' : "null");
  const named = readKind(type) === "list" ? listElements(type).filter((one) => one !== '"null"') : [type];
  return named.length === 1 && readKind(named[0] as string) === "text" ? JSON.parse(named[0] as string) : "any";
}

/** Resolves a `$ref` within the schema once. Deeper references are edited as JSON. */
function resolveReference(schema: Schema, { root, shared: { refs } }: Place): Schema {
  const path = readText(schema, "$ref")?.match(/^#\/((?:[^/~%]+\/)*[^/~%]+)$/)?.[1];
  if (path === undefined) return schema;
  const found = refs.get(path) ?? followPath(root, path.split("/"));
  refs.set(path, found);
  return found;
}

function followPath(root: string, path: readonly string[]): Schema {
  return path.reduce((at, name) => parseSchema(at.get(name) ?? "{}"), parseSchema(root));
}

function readText(schema: Schema, name: string): string | undefined {
  const text = schema.get(name);
  return text !== undefined && readKind(text) === "text" ? JSON.parse(text) : undefined;
}

function readNumber(schema: Schema, name: string): number | undefined {
  const text = schema.get(name);
  return text !== undefined && readKind(text) === "number" ? Number(text) : undefined;
}
