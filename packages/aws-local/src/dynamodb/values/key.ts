import { invalid, invalidParameter } from "../errors.ts";
import { type AttributeMap, type AttributeValue, attribute, contentOf, typeOf } from "./attribute-value.ts";
import { numberKey } from "./decimal.ts";

export interface KeyElement {
  name: string;
  type: "S" | "N";
}

export interface KeySchema {
  hash: KeyElement;
  sort?: KeyElement;
}

/** A stretch of sort keys in one partition: `from` is in it, `to` is not. */
export interface Stretch {
  hash: Uint8Array;
  from: Uint8Array;
  to: Uint8Array;
}

/** A key as the database orders it. */
export interface EncodedKey {
  hash: Uint8Array;
  /** Empty where the schema has no sort key. */
  sort: Uint8Array;
}

/** DynamoDB's limits. */
const longestHashBytes = 2048;
const longestSortBytes = 1024;

/** Behind every key of any kind. */
export const behindAll: Uint8Array = Buffer.alloc(longestHashBytes + 8, 0xff);
export const noBytes: Uint8Array = new Uint8Array(0);

export function elementsOf({ hash, sort }: KeySchema): KeyElement[] {
  return sort ? [hash, sort] : [hash];
}

/** A key on its own, as GetItem takes it: nothing less and nothing more than the schema. */
export function encodeKey(key: AttributeMap, schema: KeySchema): EncodedKey {
  if (Object.keys(key).length !== (schema.sort ? 2 : 1)) throw mismatch();
  for (const { name, type } of elementsOf(schema)) {
    const value = attribute(key, name);
    if (!value || typeOf(value) !== type) throw mismatch();
    refuseEmpty(value, name);
  }
  return encodeChecked(key, schema);
}

function mismatch(): Error {
  return invalid("The provided key element does not match the schema");
}

/** The key of a whole item. */
export function encodeItemKey(item: AttributeMap, schema: KeySchema): EncodedKey {
  for (const { name, type } of elementsOf(schema)) {
    const value = attribute(item, name);
    if (!value) throw invalidParameter(`Missing the key ${name} in the item`);
    const actual = typeOf(value);
    if (actual !== type) throw invalidParameter(`Type mismatch for key ${name} expected: ${type} actual: ${actual}`);
    refuseEmpty(value, name);
  }
  return encodeChecked(item, schema);
}

export function refuseEmpty(value: AttributeValue, name: string): void {
  if (contentOf(value) === "") throw invalid(`${notValid} ${emptyKey} Key: ${name}`);
}

export const notValid = "One or more parameter values are not valid.";

export const emptyKey = "The AttributeValue for a key attribute cannot contain an empty string value.";

/** The attributes must be there and be of the schema's types. */
export function encodeChecked(attributes: AttributeMap, { hash, sort }: KeySchema): EncodedKey {
  return {
    hash: encodeHash(attributes[hash.name] as AttributeValue),
    sort: sort ? encodeSort(attributes[sort.name] as AttributeValue) : noBytes,
  };
}

export function encodeSort(value: AttributeValue): Buffer {
  const bytes = encodePart(value);
  if (bytes.length <= longestSortBytes || "N" in value) return bytes;
  throw invalidParameter("Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
}

/** Four bytes of a digest come first, so that a scan meets partitions in no order that a reader could rely on. */
export function encodeHash(value: AttributeValue): Buffer {
  const bytes = encodePart(value);
  if (bytes.length > longestHashBytes) {
    throw invalidParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes");
  }
  const encoded = Buffer.allocUnsafe(4 + bytes.length);
  encoded.writeUInt32BE(digest(bytes));
  encoded.set(bytes, 4);
  return encoded;
}

function encodePart(value: AttributeValue): Buffer {
  return "N" in value ? numberKey(value.N) : Buffer.from((value as { S: string }).S);
}

/** FNV-1a, stirred once more because short keys reach its low bits only. */
function digest(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  return (sum ^ (sum >>> 13)) >>> 0;
}
