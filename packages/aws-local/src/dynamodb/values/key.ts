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

/** A range of sort keys in one partition: `from` is included, `to` is not. */
export interface SortKeyRange {
  hash: Uint8Array;
  from: Uint8Array;
  to: Uint8Array;
}

/** A key as bytes. The bytes sort as DynamoDB sorts the keys. */
export interface EncodedKey {
  hash: Uint8Array;
  /** Empty if the schema has no sort key. */
  sort: Uint8Array;
}

/** DynamoDB's limits for the parts of a key. */
const longestHashBytes = 2048;
const longestSortBytes = 1024;

/** A value that sorts after every key. */
export const lastKey: Uint8Array = Buffer.alloc(longestHashBytes + 8, 0xff);
export const noBytes: Uint8Array = new Uint8Array(0);

export function elementsOf({ hash, sort }: KeySchema): KeyElement[] {
  return sort ? [hash, sort] : [hash];
}

/**
 * Encodes the key that a request such as GetItem names. Throws if the attributes of the key are not exactly those of
 * the schema.
 */
export function encodeKey(key: AttributeMap, schema: KeySchema): EncodedKey {
  if (Object.keys(key).length !== (schema.sort ? 2 : 1)) throw keyMismatch();
  for (const { name, type } of elementsOf(schema)) {
    const value = attribute(key, name);
    if (!value || typeOf(value) !== type) throw keyMismatch();
    refuseEmpty(value, name);
  }
  return encodeChecked(key, schema);
}

function keyMismatch(): Error {
  return invalid("The provided key element does not match the schema");
}

/** Encodes the key of an item that may have further attributes. */
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

/** Encodes the key attributes. The caller has checked that they exist and have the schema's types. */
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

/**
 * Encodes a partition key. The result starts with four bytes of a digest of the key. So a scan reads partitions in no
 * meaningful order, as in the cloud.
 */
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

/**
 * Returns the FNV-1a hash of a key. A last step mixes the bits of the hash, because short keys change only its low
 * bits.
 */
function digest(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  return (sum ^ (sum >>> 13)) >>> 0;
}
