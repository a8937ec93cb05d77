import type { NovaClient } from "@nova/client";
import {
  asReference,
  asWritten,
  type BlobRef,
  type ExactValue,
  membersOf,
  parseExact,
  RawJson,
  valueAt,
} from "@nova/engine";
import { InvalidInput } from "../errors.ts";
import { mapMembers, mapObjects, mapped } from "../input/exact.ts";
import { demandContent, readBlob, readWhole } from "./recorded.ts";

/** JSON text with the digits that were written, or the bytes of a file. */
export type ContextValue = { json: string } | { bytes: Uint8Array; sha256: string };

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** The value at a dot path of what an execution knows now, keys as they were written. Throws `InvalidInput`. */
export async function readContextValue(server: NovaClient, execution: string, key: string): Promise<ContextValue> {
  const { context, execution: record } = await readWhole(server, execution);
  const load: Load = (sha256) => readBlob(server, execution, sha256);
  const found = await valueIn({ json: context.text }, key.split("."), load);
  if (found !== undefined) {
    return "json" in found ? { json: asWritten(new RawJson(await wholeJson(found.json, load))).text } : found;
  }
  const keys = membersOf(context.text).map((member) => member.key);
  const soFar = `yet: it is ${record.status}, and values of branches come when all of them have ended`;
  const missing = `${execution} has no "${key}"${record.open ? ` ${soFar}` : ""}`;
  throw new InvalidInput(`${missing} - it has: ${keys.join(", ") || "nothing"}`);
}

/** What is large lies in a blob of its own, wherever it is in a value. */
async function valueIn(value: ContextValue, path: readonly string[], load: Load): Promise<ContextValue | undefined> {
  if (!("json" in value)) return path.length === 0 ? value : undefined;
  const reference = referenceIn(value.json);
  if (reference) return valueIn(await loaded(reference, load), path, load);
  const [step, ...rest] = path;
  if (step === undefined) return value;
  // Own keys like that of a reference are stored with one `$` more. Readers write them as their owner did.
  const json = (/^\$+blob$/.test(step) ? valueAt(value.json, [`$${step}`]) : undefined) ?? valueAt(value.json, [step]);
  return json === undefined ? undefined : valueIn({ json }, rest, load);
}

function referenceIn(json: string): BlobRef | undefined {
  return json.startsWith('{"$blob"') ? asReference(JSON.parse(json)) : undefined;
}

async function loaded(reference: BlobRef, load: Load): Promise<ContextValue> {
  const { sha256, type } = reference;
  const bytes = await load(sha256);
  if (bytes === null) throw new InvalidInput(`the bytes ${sha256} were erased - nothing is left of them`);
  demandContent(reference, bytes);
  if (type === "bytes") return { bytes, sha256 };
  const text = Buffer.from(bytes).toString();
  return { json: type === "json" ? text : JSON.stringify(text) };
}

/** Large texts and lists in it are in their places; of bytes the references stay. */
async function wholeJson(json: string, load: Load): Promise<string> {
  if (!json.includes('"$blob"')) return json;
  return mapObjects(json, async function visit(value): Promise<ExactValue> {
    const reference = referenceIn(JSON.stringify(value));
    if (!reference) return mapMembers(value, visit);
    if (reference.type === "bytes") return value;
    const inside = await loaded(reference, load);
    return mapped(parseExact("json" in inside ? inside.json : "null"), visit);
  });
}
