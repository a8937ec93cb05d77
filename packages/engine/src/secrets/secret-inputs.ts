import { type ExactValue, isRawNumber, parseExact, secretKeys } from "@nova/workflow";
import { unlessErased } from "../chain/entry.ts";
import type { Context } from "../context/context.ts";
import { blobKey, referencesIn } from "../context/references.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { Secret } from "./forms.ts";
import { Redactor } from "./redactor.ts";

/** The size of the largest secret that NOVA searches. Larger secrets are whole documents. */
const longestSecretBytes = 64 * 1024;

/**
 * Builds a redactor for all texts, numbers and blobs inside the secret `keys` of this context, and for the secrets in
 * `others`. If NOVA cannot parse the secrets, the redactor treats every text as secret, so that the run can still be
 * closed.
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
    const inputs = await Promise.all(slots.map(({ json }) => secretsIn(json, reading)));
    return new Redactor([...inputs.flat(), ...others]);
  } catch (error) {
    // An outage of the store says nothing about the secrets, so the caller can try again later.
    if (error === outage) throw error;
    return new Redactor(null);
  }
}

/**
 * Builds the redactor for the secret values in `context`. The blobs of these values are stored under the home `before`.
 */
export function redactorAt(
  { blobs }: Ports,
  before: BlobHome,
  { workflow }: WorkflowVersion,
  context: Context,
  others?: readonly string[],
): Promise<Redactor> {
  return redactorFor(secretKeys(workflow), context, (sha256) => blobs.get(before, sha256), others);
}

type ReadBlob = (sha256: string) => Promise<Uint8Array>;

async function secretsIn(json: string, read: ReadBlob): Promise<Secret[]> {
  const blobs = referencesIn(json).filter(({ bytes }) => bytes <= longestSecretBytes);
  const inBlobs = blobs.map(async ({ sha256, type }) => {
    const bytes = await unlessErased(() => read(sha256));
    if (bytes === null) return [];
    if (type === "bytes") return [{ bytes }];
    const text = Buffer.from(bytes).toString();
    return type === "json" ? secretsIn(text, read) : [text];
  });
  return [...leavesOf(parseExact(json)), ...(await Promise.all(inBlobs)).flat()];
}

/**
 * Returns the texts and numbers in a value. Fields of blob references are left out, because they are not secret and
 * occur everywhere.
 */
function leavesOf(value: ExactValue): Secret[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  if (isRawNumber(value)) return [{ number: value.rawJSON }];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (Object.hasOwn(value, blobKey)) return [];
  return Object.entries(value).flatMap(([key, member]) => [...(isName(key) ? [] : [key]), ...leavesOf(member)]);
}

/**
 * Returns whether a key is an ordinary name such as `client_email`, which occurs everywhere. Any other key may be data,
 * and thus a part of the secret.
 */
function isName(key: string): boolean {
  return key.length <= 40 && /^[A-Za-z_$][\w$.-]*$/.test(key) && key.replace(/\D/g, "").length <= 4;
}
