import { asReference, type BlobRef, type ExactValue, isRawNumber, parseExact } from "@nova/engine";
import { demandContent } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";

/** A file that a context names by `{"$file": path}`, beside it. */
export interface ContextFile {
  path: string;
  bytes: Uint8Array;
}

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** All values together: they are in memory until they are written. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * A recorded context as `nova run --context` reads it: texts and JSON that lie in blobs are in their places, bytes are
 * files beside it, and what was erased is null.
 */
export async function localContext(text: string, load: Load): Promise<{ text: string; files: ContextFile[] }> {
  const files = new Map<string, ContextFile>();
  let bytesLeft = maxBytes;
  const visit = async (value: ExactValue): Promise<ExactValue> => {
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return Promise.all(value.map(visit));
    const ref = referenceIn(value);
    if (!ref) return objectFrom(value, visit);
    bytesLeft -= Math.max(0, ref.bytes);
    if (bytesLeft < 0) throw new InvalidInput(`the context has more than ${maxBytes} bytes (1 GB) - it is not pulled`);
    const bytes = await load(ref.sha256);
    if (bytes === null) return null;
    demandContent(ref, bytes);
    if (ref.type === "text") return Buffer.from(bytes).toString();
    if (ref.type === "json") return visit(parseExact(Buffer.from(bytes).toString()));
    const path = `files/${ref.sha256.slice(0, 16)}`;
    files.set(path, { path, bytes });
    return { $file: path };
  };
  const whole = await visit(parseExact(text));
  return { text: `${JSON.stringify(whole, null, 2)}\n`, files: [...files.values()] };
}

/** Its numbers are no values of a user: they need not keep their digits. */
function referenceIn(value: { [key: string]: ExactValue }): BlobRef | undefined {
  return "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
}

/** Keys that only look like marks carry one `$` more, here as in the chain. */
async function objectFrom(value: { [key: string]: ExactValue }, visit: (value: ExactValue) => Promise<ExactValue>) {
  const members = Object.entries(value).map(async ([key, child]) => [plainKey(key), await visit(child)] as const);
  return Object.fromEntries(await Promise.all(members));
}

function plainKey(key: string): string {
  if (/^\$\$+blob$/.test(key)) return key.slice(1);
  return /^\$+file$/.test(key) ? `$${key}` : key;
}
