import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import type { Item } from "./raw-table.ts";

/** The path to a value inside an item, through maps and lists: `["contents", "context", "text"]`. */
export type Path = readonly string[];

/** Returns the paths of all values in an item, at any depth. A map itself counts as a value only if it is empty. */
export function leavesOf(item: Item): Path[] {
  return Object.entries(item).flatMap(([name, value]) =>
    value.M && Object.keys(value.M).length > 0 ? leavesOf(value.M).map((path) => [name, ...path]) : [[name]],
  );
}

export function leafAt(item: Item | undefined, [name = "", ...rest]: Path): AttributeValue | undefined {
  const value = item?.[name];
  return rest.length === 0 ? value : leafAt(value?.M, rest);
}

/** Returns a copy of the item with `leaf` at the path. If `leaf` is undefined, the copy has no value there. */
export function withLeaf(item: Item, [name = "", ...rest]: Path, leaf: AttributeValue | undefined): Item {
  if (rest.length > 0) return { ...item, [name]: { M: withLeaf(item[name]?.M ?? {}, rest, leaf) } };
  const { [name]: _, ...others } = item;
  return leaf === undefined ? others : { ...others, [name]: leaf };
}

/** Returns another value of the same type. */
export function altered(value: AttributeValue): AttributeValue {
  if (value.S !== undefined) return { S: value.S === "" ? "x" : otherText(value.S) };
  if (value.N !== undefined) return { N: String(Number(value.N) + 1) };
  if (value.BOOL !== undefined) return { BOOL: !value.BOOL };
  return { S: "x" };
}

/** Returns one value of each other DynamoDB type. */
export function otherTypes(value: AttributeValue): AttributeValue[] {
  const all: AttributeValue[] = [
    { S: "x" },
    { N: "1" },
    { BOOL: true },
    { NULL: true as const },
    { L: [] },
    { M: {} },
    { B: Buffer.from("x") },
    { SS: ["x"] },
    { NS: ["1"] },
    { BS: [Buffer.from("x")] },
  ];
  const [type = ""] = Object.keys(value);
  return all.filter((other) => !Object.hasOwn(other, type));
}

function otherText(text: string): string {
  const last = text.at(-1) === "1" ? "2" : "1";
  return text.slice(0, -1) + last;
}

export function headIn(item: Item): Record<string, unknown> | undefined {
  return item.head?.S === undefined ? undefined : JSON.parse(item.head.S);
}

/** Returns another JSON value of the same kind. */
export function otherValue(value: unknown): unknown {
  if (typeof value === "string") return otherText(value || "x");
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return value.length > 0 ? [] : ["x"];
  if (value === null) return "x";
  const [first] = Object.keys(value as object);
  if (first === undefined) return { x: 1 };
  return { ...(value as object), [first]: otherValue((value as Record<string, unknown>)[first]) };
}

/**
 * Returns the items with correct hashes after a change. An attacker without the signing key could do the same. A
 * corrected hash replaces the old hash in all items, so later entries, joins, outer executions and records contain it,
 * too. Signatures stay unchanged.
 */
export function rehashed(items: readonly Item[]): Item[] {
  let done = items.map((item) => ({ ...item }));
  for (;;) {
    const stale = done.flatMap(staleHashes);
    if (stale.length === 0) return done;
    done = done.map((item) =>
      stale.reduce((changed, [from, to]) => JSON.parse(JSON.stringify(changed).replaceAll(from, to)), item),
    );
  }
}

/**
 * Returns each wrong hash in the item with the correct one. These are the digests of contents in the head or, if all of
 * them are correct, the hash of the entry.
 */
function staleHashes(item: Item): [from: string, to: string][] {
  const head = headIn(item);
  if (!head) return [];
  const digests = Object.entries((head.digests ?? {}) as Record<string, string>).flatMap(
    ([name, digest]): [string, string][] => {
      const text = item.contents?.M?.[name]?.M?.text?.S;
      return text === undefined || sha256(text) === digest ? [] : [[digest, sha256(text)]];
    },
  );
  if (digests.length > 0) return digests;
  const [hash, right] = [item.hash?.S ?? "", sha256(item.head?.S ?? "")];
  return hash === right || hash === "" ? [] : [[hash, right]];
}
