import { elementsOf, kindOf, membersOf } from "../../json/raw.ts";

/** What a form asks for at one place. Numbers in it are texts, as the schema has them. */
export type Shape =
  | { kind: "text"; input: TextInput; isLong: boolean; minLength: number; maxLength: number | undefined }
  | { kind: "number"; isInteger: boolean; bounds: readonly Bound[] }
  | { kind: "boolean" }
  /** Each as JSON. */
  | { kind: "choice"; values: readonly string[] }
  | { kind: "list"; element: Shape; minItems: number; maxItems: number | undefined }
  | { kind: "object"; fields: readonly Field[] }
  /** Whatever the schema says, no field is made for it: text, JSON or a file. */
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
  shape: Shape;
  /** JSON of the value that it begins with. */
  initial: string | undefined;
}

/** Deeper ones, and those behind so many others, are written as JSON: a schema may refer to itself. */
const maxDepth = 6;
const maxFields = 300;
/** A text that may be longer gets several lines. */
const shortText = 120;
const longNames = /^(comment|reason|notes?|message|text|body|description|remarks?)$/i;

const inputs: Record<string, TextInput> = {
  ...{ date: "date", time: "time", "date-time": "datetime-local" },
  ...{ email: "email", uri: "url", url: "url" },
};

/** A JSON schema, member by member: what is in them is read when it is wanted. */
type Schema = ReadonlyMap<string, string>;

/** The fields that a schema asks for; empty where it asks for none by name. */
export function fieldsOf(schema: string): readonly Field[] {
  const shape = shapeOf(schemaIn(schema), { root: schema, depth: 0, known: { left: maxFields, refs: new Map() } });
  return shape.kind === "object" ? shape.fields : [];
}

/** Whether data of this schema may have keys that it does not name. */
export function takesMore(schema: string): boolean {
  return schemaIn(schema).get("additionalProperties") !== "false";
}

interface Place {
  root: string;
  depth: number;
  /** One for all of the schema: how many fields there may still be, and what was referred to. */
  known: { left: number; refs: Map<string, Schema> };
}

function schemaIn(text: string): Schema {
  return new Map(kindOf(text) === "object" ? membersOf(text).map(({ key, text: value }) => [key, value]) : []);
}

function shapeOf(given: Schema, place: Place, key = ""): Shape {
  const { root, depth, known } = place;
  const schema = resolved(given, place);
  const listed = schema.get("enum");
  if (listed !== undefined) return { kind: "choice", values: elementsOf(listed) };
  const only = schema.get("const");
  if (only !== undefined) return { kind: "choice", values: [only] };
  const deeper = { root, depth: depth + 1, known };
  const isBeyond = depth > maxDepth || known.left-- <= 0;
  switch (isBeyond ? "any" : typeIn(schema)) {
    case "string":
      return textShape(schema, key);
    case "number":
      return { kind: "number", isInteger: false, bounds: boundsIn(schema) };
    case "integer":
      return { kind: "number", isInteger: true, bounds: boundsIn(schema) };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return {
        kind: "list",
        element: shapeOf(schemaIn(schema.get("items") ?? "{}"), deeper),
        minItems: numberIn(schema, "minItems") ?? 0,
        maxItems: numberIn(schema, "maxItems"),
      };
    case "object":
      return schema.has("properties") ? { kind: "object", fields: fieldsIn(schema, deeper) } : { kind: "any" };
    default:
      return { kind: "any" };
  }
}

function fieldsIn(schema: Schema, place: Place): Field[] {
  const required = new Set(elementsOf(schema.get("required") ?? "[]"));
  return membersOf(schema.get("properties") ?? "{}").map(({ key, text }) => {
    const given = schemaIn(text);
    const own = resolved(given, place);
    return {
      key,
      label: textIn(own, "title") ?? key,
      description: textIn(given, "description") ?? textIn(own, "description"),
      isRequired: required.has(JSON.stringify(key)),
      shape: shapeOf(given, place, key),
      initial: own.get("default"),
    };
  });
}

function textShape(schema: Schema, key: string): Shape {
  const maxLength = numberIn(schema, "maxLength");
  const input = schema.get("secret") === "true" ? "password" : (inputs[textIn(schema, "format") ?? ""] ?? "text");
  const isLong = input === "text" && ((maxLength ?? 0) > shortText || (maxLength === undefined && longNames.test(key)));
  return { kind: "text", input, isLong, minLength: numberIn(schema, "minLength") ?? 0, maxLength };
}

const boundNames = { minimum: "min", maximum: "max", exclusiveMinimum: "above", exclusiveMaximum: "below" } as const;

function boundsIn(schema: Schema): Bound[] {
  return Object.entries(boundNames).flatMap(([name, is]) => {
    const limit = schema.get(name);
    return limit !== undefined && kindOf(limit) === "number" ? [{ limit, is }] : [];
  });
}

/** The one type besides null. */
function typeIn(schema: Schema): string {
  const type = schema.get("type") ?? (schema.has("properties") ? '"object"' : "null");
  const named = kindOf(type) === "list" ? elementsOf(type).filter((one) => one !== '"null"') : [type];
  return named.length === 1 && kindOf(named[0] as string) === "text" ? JSON.parse(named[0] as string) : "any";
}

/** `$ref` within the schema itself, once: what leads on from there is written as JSON. */
function resolved(schema: Schema, { root, known: { refs } }: Place): Schema {
  const path = textIn(schema, "$ref")?.match(/^#\/((?:[^/~%]+\/)*[^/~%]+)$/)?.[1];
  if (path === undefined) return schema;
  const found = refs.get(path) ?? schemaAt(root, path.split("/"));
  refs.set(path, found);
  return found;
}

function schemaAt(root: string, path: readonly string[]): Schema {
  return path.reduce((at, name) => schemaIn(at.get(name) ?? "{}"), schemaIn(root));
}

function textIn(schema: Schema, name: string): string | undefined {
  const text = schema.get(name);
  return text !== undefined && kindOf(text) === "text" ? JSON.parse(text) : undefined;
}

function numberIn(schema: Schema, name: string): number | undefined {
  const text = schema.get(name);
  return text !== undefined && kindOf(text) === "number" ? Number(text) : undefined;
}
