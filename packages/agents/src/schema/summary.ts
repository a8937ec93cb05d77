import { asReference, type BlobRef, type ExactValue, isRawNumber, type Member, parseExact } from "@nova/engine";
import type { ContextShape, ValueShape } from "@nova/python";

/** A value as models and records see it: short parts in full, and placeholders. */
export type Summary = ExactValue | Placeholder | Summary[] | { [key: string]: Summary };

export interface SummaryLimits {
  /** False to show only types and sizes. */
  samples: boolean;
  text: number;
  /** Limit of levels below the top-level values. */
  depth: number;
  members: number;
  /** Limit of items of a list; a placeholder gives the number of items that are left out. */
  items: number;
}

/** Limits for the code generator, which needs the structure of values and one item of each list. */
export const promptLimits: SummaryLimits = { samples: true, text: 80, depth: 3, members: 20, items: 1 };
/** Limits for the model that judges a result, and for records. */
export const resultLimits: SummaryLimits = { samples: true, text: 200, depth: 3, members: 30, items: 3 };

const maxCharacters = 8_000;
const maxKeys = 80;
const longestNumber = 40;
const longestKey = 200;

interface Redaction {
  secrets: ReadonlySet<string>;
  /** Keys whose values are hidden except for their type. */
  credentials?: ReadonlySet<string>;
  mask(text: string): string;
}

/** Summarises a context. If the summary would exceed `maxCharacters`, it shows less of each value. */
export function summarise(values: readonly Member[], limits: SummaryLimits, confidence: Redaction): Summary {
  const shown = values.slice(0, maxKeys);
  const summaryWith = (narrower: SummaryLimits) => summaryOf(shown, narrower, confidence);
  const wider = [limits, { ...limits, items: 1, depth: 1 }].values().map(summaryWith);
  const isShort = (summary: Summary) => JSON.stringify(summary).length <= maxCharacters;
  const summary = wider.find(isShort) ?? summaryWith({ ...limits, samples: false, depth: 0 });
  const more = values.length - shown.length;
  return more > 0 ? { ...summary, "...": new Placeholder(`${more} more keys`) } : summary;
}

function summaryOf(values: readonly Member[], limits: SummaryLimits, { secrets, credentials, mask }: Redaction) {
  const summaryOfMember = ({ key, json }: Member): Summary => {
    if (secrets.has(key)) return new Placeholder("secret");
    if (credentials?.has(key)) return new Placeholder(`${typeName(json)} of a credential`);
    return summaryOfValue(parseExact(json), limits, mask);
  };
  const summaries = values.map((member): [string, Summary] => [shortKey(mask(member.key)), summaryOfMember(member)]);
  return Object.fromEntries(summaries);
}

function typeName(json: string): string {
  const value = parseExact(json);
  if (isRawNumber(value)) return isInteger(value.rawJSON) ? "integer" : "number";
  return Array.isArray(value) ? "list" : typeof value;
}

function summaryOfValue(value: ExactValue, limits: SummaryLimits, mask: (text: string) => string): Summary {
  if (value === null) return null;
  if (typeof value === "boolean") return limits.samples ? value : new Placeholder("boolean");
  if (typeof value === "string") return textSummary(value, limits, mask);
  if (isRawNumber(value)) return numberSummary(value, limits, mask);
  const below = { ...limits, depth: limits.depth - 1 };
  if (Array.isArray(value)) {
    if (limits.depth <= 0) return new Placeholder(`list: ${value.length} items`);
    const shown: Summary[] = value.slice(0, limits.items).map((item) => summaryOfValue(item, below, mask));
    return value.length > shown.length ? [...shown, new Placeholder(`${value.length - shown.length} more`)] : shown;
  }
  const reference = referenceAt(value);
  if (reference) return blobSummary(reference);
  const entries = Object.entries(value as { [key: string]: ExactValue });
  if (limits.depth <= 0) return new Placeholder(`object: ${entries.length} keys`);
  const members = entries
    .slice(0, limits.members)
    .map(([key, member]): [string, Summary] => [shortKey(mask(plainKey(key))), summaryOfValue(member, below, mask)]);
  const rest = entries.length - members.length;
  return Object.fromEntries(rest > 0 ? [...members, ["...", new Placeholder(`${rest} more keys`)]] : members);
}

function shortKey(key: string): string {
  return key.length <= longestKey ? key : `${key.slice(0, longestKey)}... (${key.length} chars)`;
}

function textSummary(text: string, limits: SummaryLimits, mask: (text: string) => string): Summary {
  const isShown = limits.samples && text.length <= limits.text;
  return isShown ? mask(text) : new Placeholder(`string: ${text.length} chars`);
}

function numberSummary(number: { rawJSON: string }, limits: SummaryLimits, mask: (text: string) => string): Summary {
  const text = number.rawJSON;
  if (!limits.samples || text.length > longestNumber) return new Placeholder(isInteger(text) ? "integer" : "number");
  return mask(text) === text ? number : new Placeholder("secret");
}

function blobSummary({ type, bytes }: BlobRef): Placeholder {
  if (type === "text") return new Placeholder(`string: ${bytes} chars`);
  return new Placeholder(type === "bytes" ? `bytes: ${bytes} bytes` : `JSON: ${bytes} bytes`);
}

/** Stands for a hidden value in a summary. No text of the data can be a placeholder. */
export class Placeholder {
  readonly text: string;

  constructor(description: string) {
    this.text = `<${description}>`;
  }

  toJSON(): string {
    return this.text;
  }
}

/**
 * Hides texts of the data in the result of an analysis, for nodes whose data no model may see. Keeps texts and keys
 * that the analysis code itself contains, because the model wrote them. Keeps numbers, because most of them are counts
 * and sizes.
 */
export function hideTexts(found: unknown, code: string): Summary {
  const isSpelt = (text: string) => code.includes(`"${text}"`) || code.includes(`'${text}'`);
  if (typeof found === "string") return isSpelt(found) ? found : new Placeholder(`string: ${found.length} chars`);
  if (Array.isArray(found)) return found.map((item) => hideTexts(item, code));
  if (found === null || typeof found !== "object") return found as Summary;
  const nameOf = (key: string, index: number) => (isSpelt(key) ? key : `key ${index + 1}`);
  const members = Object.entries(found).map(([key, value], index) => [nameOf(key, index), hideTexts(value, code)]);
  return Object.fromEntries(members);
}

/**
 * Returns the shape of a node's input without reading blobs. For a large text, the size is its number of bytes. A large
 * JSON value has the type `object` without members, because its kind is unknown.
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

/** Returns true if Python would read the number as an integer; `850.0` is a float. */
export function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/**
 * Turns `$$blob` back into `$blob`. A key of data that looks like the key of a reference is stored with an extra `$`.
 */
export function plainKey(key: string): string {
  return /^\$\$+blob$/.test(key) ? key.slice(1) : key;
}

/** Returns the reference that an object represents; undefined for other objects. */
export function referenceAt(value: object): BlobRef | undefined {
  return Object.hasOwn(value, "$blob") ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
}
