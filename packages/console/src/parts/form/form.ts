import { formatJson, listElements, listMembers, readKind, readMembers, readString } from "../../json/raw.ts";
import { texts } from "../../texts.ts";

/** The kind of one value. Numbers are texts, as in the schema, so that no digit is lost. */
export type FieldShape =
  | { kind: "text"; input: TextInput; isLong: boolean; minLength: number; maxLength: number | undefined }
  | { kind: "number"; isInteger: boolean; bounds: readonly Bound[] }
  | { kind: "boolean" }
  /** Choices as JSON texts. */
  | { kind: "choice"; values: readonly string[] }
  | { kind: "list"; element: FieldShape; minItems: number; maxItems: number | undefined }
  | { kind: "object"; fields: readonly Field[] }
  /** A value without a generated field: the user enters text, JSON or a file. For an object, the field starts as JSON. */
  | { kind: "any"; isObject?: true };

type TextInput = "text" | "date" | "time" | "datetime-local" | "email" | "url" | "password";

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

/** Limits for schemas that refer to themselves. Fields beyond these limits are edited as JSON. */
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

/** The members of a JSON schema by name, as JSON texts that are parsed on demand. */
type Schema = ReadonlyMap<string, string>;

/** Parses the named properties of a schema; empty if there are none. */
export function parseFields(schema: string): readonly Field[] {
  const shared = { left: maxFields, refs: new Map() };
  const shape = parseShape(parseSchema(schema), { root: schema, depth: 0, shared });
  return shape.kind === "object" ? shape.fields : [];
}

/** Returns whether data may have keys that the schema does not name. */
export function allowsMoreKeys(schema: string): boolean {
  return parseSchema(schema).get("additionalProperties") !== "false";
}

interface Place {
  root: string;
  depth: number;
  /** Shared by the whole schema: how many more fields may be created, and the resolved references. */
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
  const type = isBeyond ? "any" : readType(schema);
  switch (type) {
    case "string":
      return parseTextShape(schema, key);
    case "number":
    case "integer":
      return { kind: "number", isInteger: type === "integer", bounds: parseBounds(schema) };
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
      return schema.has("properties")
        ? { kind: "object", fields: parseProperties(schema, deeper) }
        : { kind: "any", isObject: true };
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

/** Returns the type of a schema; null does not count, and several types become "any". */
function readType(schema: Schema): string {
  const type = schema.get("type") ?? (schema.has("properties") ? '"object"' : "null");
  const named = readKind(type) === "list" ? listElements(type).filter((one) => one !== '"null"') : [type];
  return (named.length === 1 ? readString(named[0]) : undefined) ?? "any";
}

/** Follows one `$ref` within the schema. A reference to another reference is edited as JSON. */
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
  return readString(schema.get(name));
}

function readNumber(schema: Schema, name: string): number | undefined {
  const text = schema.get(name);
  return text !== undefined && readKind(text) === "number" ? Number(text) : undefined;
}

/** The current input of a form, as typed. */
export type Draft =
  | { kind: "scalar"; text: string }
  | AnyDraft
  | { kind: "list"; elements: readonly Element[] }
  /** One draft per field, in the order of the fields. */
  | { kind: "object"; members: readonly Draft[] };

export interface AnyDraft {
  kind: "any";
  mode: AnyMode;
  text: string;
  file: File | undefined;
}

export type AnyMode = "text" | "json" | "file";

export interface Element {
  id: number;
  draft: Draft;
}

let lastId = 0;

export function createElement(shape: FieldShape, json?: string): Element {
  return { id: ++lastId, draft: createDraft(shape, json) };
}

/** Creates the initial draft of a value from its default, which is JSON. */
export function createDraft(shape: FieldShape, json?: string): Draft {
  switch (shape.kind) {
    case "list": {
      const elements = json !== undefined && readKind(json) === "list" ? listElements(json) : [];
      return { kind: "list", elements: elements.map((element) => createElement(shape.element, element)) };
    }
    case "object":
      return { kind: "object", members: createDrafts(shape.fields, json) };
    case "any":
      return createAnyDraft(shape, json);
    case "choice":
    case "boolean":
      return { kind: "scalar", text: json ?? "" };
    default:
      return { kind: "scalar", text: renderDefault(shape, json) };
  }
}

function createAnyDraft({ isObject }: Extract<FieldShape, { kind: "any" }>, json: string | undefined): AnyDraft {
  if (json !== undefined && readKind(json) === "text")
    return { kind: "any", mode: "text", text: JSON.parse(json), file: undefined };
  const mode = json !== undefined || isObject ? "json" : "text";
  return { kind: "any", mode, text: json === undefined ? "" : formatJson(json), file: undefined };
}

/** Creates the initial drafts of fields from the default of their object, which is JSON. */
export function createDrafts(fields: readonly Field[], json?: string): readonly Draft[] {
  const members = json !== undefined && readKind(json) === "object" ? listMembers(json) : [];
  return fields.map(({ key, shape, initial }) =>
    createDraft(shape, members.find((one) => one.key === key)?.text ?? initial),
  );
}

function renderDefault(shape: FieldShape, json: string | undefined): string {
  if (json === undefined) return "";
  if (readKind(json) !== "text") return readKind(json) === "number" && shape.kind === "number" ? json : "";
  const text = JSON.parse(json) as string;
  return shape.kind === "text" && shape.input === "datetime-local" ? formatLocalTime(text) : text;
}

/** Formats a time for an input of type `datetime-local`, in the viewer's time zone. */
function formatLocalTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns whether a draft is empty. Empty optional values are not sent. */
export function isBlank(draft: Draft): boolean {
  switch (draft.kind) {
    case "scalar":
      return draft.text === "";
    case "any":
      return draft.mode === "file" ? draft.file === undefined : draft.text === "";
    case "list":
      return draft.elements.length === 0;
    case "object":
      return draft.members.every(isBlank);
  }
}

/** Lists all chosen files. */
export function listFiles(draft: Draft): File[] {
  if (draft.kind === "any") return draft.mode === "file" && draft.file ? [draft.file] : [];
  if (draft.kind === "list") return draft.elements.flatMap((one) => listFiles(one.draft));
  return draft.kind === "object" ? draft.members.flatMap(listFiles) : [];
}

/** The JSON of each uploaded file, which replaces the file in the context. */
type Uploaded = ReadonlyMap<File, string>;

const noUploads: Uploaded = new Map();

/** Renders the members of an object without empty optional ones. The drafts must have no problems. */
export function renderMembers(fields: readonly Field[], drafts: readonly Draft[], uploaded = noUploads): string[] {
  return fields.flatMap(({ key, shape, isRequired }, index) => {
    const draft = drafts[index];
    if (!draft || (!isRequired && isBlank(draft))) return [];
    return [`${JSON.stringify(key)}:${renderValue(shape, draft, uploaded)}`];
  });
}

/** Renders a value as JSON. Numbers keep the digits that the user typed. */
export function renderValue(shape: FieldShape, draft: Draft, uploaded = noUploads): string {
  if (draft.kind === "list") {
    const element = shape.kind === "list" ? shape.element : anything;
    return `[${draft.elements.map((one) => renderValue(element, one.draft, uploaded)).join(",")}]`;
  }
  if (draft.kind === "object") {
    const fields = shape.kind === "object" ? shape.fields : [];
    return `{${renderMembers(fields, draft.members, uploaded).join(",")}}`;
  }
  if (draft.kind === "any") {
    if (draft.mode === "file") return (draft.file && uploaded.get(draft.file)) ?? "null";
    return draft.mode === "json" ? draft.text : JSON.stringify(draft.text);
  }
  if (shape.kind !== "text") return draft.text.trim();
  return JSON.stringify(shape.input === "datetime-local" ? new Date(draft.text).toISOString() : draft.text);
}

const anything: FieldShape = { kind: "any" };

/** Sentences by path in the form: `.2.0` is the first member of the third field. */
export type Problems = ReadonlyMap<string, string>;

const words = texts.form.problems;

/** Checks drafts before they are sent. The server checks again. */
export function findProblems(fields: readonly Field[], drafts: readonly Draft[]): Problems {
  return new Map(checkMembers(fields, drafts, ""));
}

type Found = [place: string, sentence: string][];

function checkMembers(fields: readonly Field[], drafts: readonly Draft[], place: string): Found {
  return fields.flatMap(({ shape, isRequired }, index) => {
    const draft = drafts[index];
    return draft ? checkValue(shape, draft, isRequired, `${place}.${index}`) : [];
  });
}

function checkValue(shape: FieldShape, draft: Draft, isRequired: boolean, place: string): Found {
  if (draft.kind === "object") {
    if (shape.kind !== "object" || (!isRequired && isBlank(draft))) return [];
    return checkMembers(shape.fields, draft.members, place);
  }
  if (draft.kind === "list") return shape.kind === "list" ? checkList(shape, draft, isRequired, place) : [];
  const mayBeBlank = shape.kind === "text" && shape.minLength === 0 && place.endsWith("]");
  if (isBlank(draft)) return isRequired && !mayBeBlank ? [[place, words.required]] : [];
  const sentence = draft.kind === "any" ? checkAny(draft) : checkScalar(shape, draft.text);
  return sentence === undefined ? [] : [[place, sentence]];
}

function checkList(
  { element, minItems, maxItems }: Extract<FieldShape, { kind: "list" }>,
  { elements }: Extract<Draft, { kind: "list" }>,
  isRequired: boolean,
  place: string,
): Found {
  if (!isRequired && elements.length === 0) return [];
  if (elements.length < minItems) return [[place, words.fewItems(minItems)]];
  if (maxItems !== undefined && elements.length > maxItems) return [[place, words.manyItems(maxItems)]];
  return elements.flatMap(({ id, draft }) => checkValue(element, draft, true, `${place}[${id}]`));
}

function checkAny({ mode, text }: Extract<Draft, { kind: "any" }>): string | undefined {
  if (mode !== "json") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return words.json;
  }
}

function checkScalar(shape: FieldShape, text: string): string | undefined {
  if (shape.kind === "number") return checkNumber(shape, text.trim());
  if (shape.kind !== "text") return undefined;
  // JSON Schema counts characters, not UTF-16 units.
  const { length } = Array.from(text);
  if (length < shape.minLength) return words.short(shape.minLength);
  if (shape.maxLength !== undefined && length > shape.maxLength) return words.long(shape.maxLength);
  const isMoment = shape.input !== "datetime-local" || !Number.isNaN(Date.parse(text));
  return isMoment ? undefined : words.moment;
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const integer = /^-?(0|[1-9]\d*)(\.0+)?$/;

function checkNumber({ isInteger, bounds }: Extract<FieldShape, { kind: "number" }>, text: string): string | undefined {
  if (!number.test(text)) return isInteger ? words.integer : words.number;
  if (isInteger && !integer.test(text)) return words.integer;
  const broken = bounds.find((bound) => !isWithin(text, bound));
  return broken && words[broken.is](broken.limit);
}

function isWithin(text: string, { limit, is }: Bound): boolean {
  const order = compareNumbers(text, limit);
  if (is === "min") return order >= 0;
  if (is === "max") return order <= 0;
  return is === "above" ? order > 0 : order < 0;
}

/** Compares integers exactly, and other numbers as floating point. */
function compareNumbers(a: string, b: string): number {
  const areWhole = [a, b].every((one) => /^-?\d+$/.test(one));
  const [x, y] = areWhole ? [BigInt(a), BigInt(b)] : [Number(a), Number(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}
