import { asReference, type BlobRef, type ExactValue, isRawNumber, parseExact } from "@nova/engine";
import { demandContent } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { type ExactObject, mapMembers, mapped } from "../input/exact.ts";

/**
 * A value as tests compare it: whole, with bytes as `{"$file": <SHA-256>}`. A key of somebody's data that begins with `$`
 * has one `$` more, so that it is neither that nor a form.
 */
export type WholeValue = ExactValue;

export interface Blobs {
  /** Null where it was erased. */
  load(sha256: string): Promise<Uint8Array | null>;
  /** Bytes are not loaded to be compared. */
  onBytes?(ref: BlobRef): void;
}

/** All values of one text together: they are in memory at once. */
const maxBytes = 256 * 1024 * 1024;

/** A recorded value, from its JSON text. Throws `InvalidInput` where a part of it was erased. */
export async function wholeValue(json: string, { load, onBytes }: Blobs): Promise<WholeValue> {
  let left = maxBytes;
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    // Its numbers are no values of a user: they need not keep their digits.
    const ref = "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
    if (!ref) return mapMembers(value, visit, keyInTest);
    if (ref.type === "bytes") {
      onBytes?.(ref);
      return { $file: ref.sha256 };
    }
    left -= ref.bytes;
    if (left < 0) throw new InvalidInput(`a value has more than ${maxBytes} bytes (256 MB) - it makes no test`);
    const bytes = await load(ref.sha256);
    if (bytes === null) throw new InvalidInput("contents of the execution were erased - record another one");
    demandContent(ref, bytes);
    const text = Buffer.from(bytes).toString();
    return ref.type === "text" ? text : mapped(parseExact(text), visit);
  };
  return mapped(parseExact(json), visit);
}

/** Keys that only look like references carry one `$` more in records, too. */
function keyInTest(key: string): string {
  const plain = /^\$\$+blob$/.test(key) ? key.slice(1) : key;
  return plain.startsWith("$") ? `$${plain}` : plain;
}

/** JSON text as a run is given it: `bytesAs` says what stands for bytes. */
export function textForRun(value: WholeValue, bytesAs: (sha256: string) => ExactValue): string {
  return JSON.stringify(forRun(value, bytesAs));
}

function forRun(value: WholeValue, bytesAs: (sha256: string) => ExactValue): ExactValue {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((one) => forRun(one, bytesAs));
  if (typeof value.$file === "string") return bytesAs(value.$file);
  const plain = (key: string) => (key.startsWith("$$") ? key.slice(1) : key);
  const members = Object.entries(value).map(([key, one]) => [plain(key), forRun(one, bytesAs)]);
  return Object.fromEntries(members);
}
