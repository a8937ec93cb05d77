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
import { mapMembers, mapObjects, mapValue } from "../input/exact.ts";
import { demandContent, readBlob, readWhole } from "./recorded.ts";

/** JSON text with exact digits, or the bytes of a file. */
export type ContextValue = { json: string } | { bytes: Uint8Array; sha256: string };

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** Reads the value at a dot path of an execution's current context. Throws `InvalidInput`. */
export async function readContextValue(server: NovaClient, execution: string, key: string): Promise<ContextValue> {
  const { context, execution: record } = await readWhole(server, execution);
  const load: Load = (sha256) => readBlob(server, execution, sha256);
  const found = await valueIn({ json: context.text }, key.split("."), load);
  if (found !== undefined) {
    return "json" in found ? { json: asWritten(new RawJson(await wholeJson(found.json, load))).text } : found;
  }
  const keys = membersOf(context.text).map((member) => member.key);
  const soFar = `yet: it is ${record.status}, and values of branches arrive when all branches have ended`;
  const missing = `${execution} has no "${key}"${record.open ? ` ${soFar}` : ""}`;
  throw new InvalidInput(`${missing} - it has: ${keys.join(", ") || "nothing"}`);
}

/** Finds the value at a path; large values at any depth are loaded from their blobs. */
async function valueIn(value: ContextValue, path: readonly string[], load: Load): Promise<ContextValue | undefined> {
  if (!("json" in value)) return path.length === 0 ? value : undefined;
  const reference = referenceIn(value.json);
  if (reference) return valueIn(await loadReference(reference, load), path, load);
  const [step, ...rest] = path;
  if (step === undefined) return value;
  // Stored keys that look like a reference have one more `$`. Users write the keys without it.
  const json = (/^\$+blob$/.test(step) ? valueAt(value.json, [`$${step}`]) : undefined) ?? valueAt(value.json, [step]);
  return json === undefined ? undefined : valueIn({ json }, rest, load);
}

function referenceIn(json: string): BlobRef | undefined {
  return json.startsWith('{"$blob"') ? asReference(JSON.parse(json)) : undefined;
}

async function loadReference(reference: BlobRef, load: Load): Promise<ContextValue> {
  const { sha256, type } = reference;
  const bytes = await load(sha256);
  if (bytes === null) throw new InvalidInput(`the bytes ${sha256} were erased, so the value is gone`);
  demandContent(reference, bytes);
  if (type === "bytes") return { bytes, sha256 };
  const text = Buffer.from(bytes).toString();
  return { json: type === "json" ? text : JSON.stringify(text) };
}

/** Replaces references to large texts and lists by their content; references to bytes stay. */
async function wholeJson(json: string, load: Load): Promise<string> {
  if (!json.includes('"$blob"')) return json;
  return mapObjects(json, async function visit(value): Promise<ExactValue> {
    const reference = referenceIn(JSON.stringify(value));
    if (!reference) return mapMembers(value, visit);
    if (reference.type === "bytes") return value;
    const inside = await loadReference(reference, load);
    return mapValue(parseExact("json" in inside ? inside.json : "null"), visit);
  });
}
