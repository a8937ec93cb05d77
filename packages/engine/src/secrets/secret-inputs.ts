import type { JsonObject, JsonValue, Workflow } from "@nova/workflow";
import type { Context, Slot } from "../context/context.ts";
import { blobKey, referencesIn } from "../context/references.ts";
import { BlobMissing } from "../errors.ts";
import { type ExactValue, isRawNumber, parseExact } from "../json/exact.ts";
import { BlindRedactor, mask, Redactor } from "./redactor.ts";

/** Larger secrets (whole documents) are not looked for. */
const longestSecretBytes = 64 * 1024;

/** Keys of the initial context that the workflow's `inputs` mark with `secret: true`. */
export function secretKeys({ inputs }: Pick<Workflow, "inputs">): Set<string> {
  const properties = Object.entries((inputs?.properties ?? {}) as JsonObject);
  return new Set(properties.filter(([, schema]) => isObject(schema) && schema.secret === true).map(([key]) => key));
}

/**
 * Knows every text and number inside the secret keys of this context, in blobs too, and what else is secret. Of secrets
 * that cannot be looked for it takes everything for one: a run that has such can be closed all the same.
 */
export async function redactorFor(
  keys: ReadonlySet<string>,
  context: Context,
  read: ReadBlob,
  others: readonly string[] = [],
): Promise<Redactor> {
  const slots = keys.size === 0 ? [] : context.slots().filter(({ key }) => keys.has(key));
  let outage: unknown;
  const reading: ReadBlob = (sha256) =>
    read(sha256).catch((error) => {
      outage = error;
      throw error;
    });
  try {
    const texts = await Promise.all(slots.map(({ json }) => textsIn(json, reading)));
    return new Redactor([...texts.flat(), ...others]);
  } catch (error) {
    // What could not be read may be there in a minute.
    if (error === outage) throw error;
    return new BlindRedactor();
  }
}

/** What people may see of a context: secret keys masked. */
export function maskSlots(slots: Slot[], keys: ReadonlySet<string>): Slot[] {
  return keys.size === 0
    ? slots
    : slots.map((slot) => (keys.has(slot.key) ? { ...slot, json: JSON.stringify(mask) } : slot));
}

type ReadBlob = (sha256: string) => Promise<Uint8Array>;

async function textsIn(json: string, read: ReadBlob): Promise<string[]> {
  const blobs = referencesIn(json).filter(({ bytes }) => bytes <= longestSecretBytes);
  const inBlobs = blobs.map(async ({ sha256, type }) => {
    const text = await textUnlessErased(read(sha256));
    if (text === null) return [];
    return type === "json" ? textsIn(text, read) : [text];
  });
  return [...leavesOf(parseExact(json)), ...(await Promise.all(inBlobs)).flat()];
}

async function textUnlessErased(reading: Promise<Uint8Array>): Promise<string | null> {
  try {
    return Buffer.from(await reading).toString();
  } catch (error) {
    if (error instanceof BlobMissing) return null;
    throw error;
  }
}

/** References aside: what they say of themselves is no secret, and occurs everywhere. */
function leavesOf(value: ExactValue): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  if (isRawNumber(value)) return [value.rawJSON];
  return Object.hasOwn(value, blobKey) ? [] : Object.values(value).flatMap(leavesOf);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
