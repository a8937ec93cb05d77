import { asReference, type BlobRef, type ExactValue, isRawNumber, parseExact } from "@nova/engine";
import { demandContent } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { type ExactObject, mapMembers, mapValue } from "../input/exact.ts";

/**
 * A complete value for comparison; bytes are `{"$file": <SHA-256>}`. A key of user data that starts with `$` has one
 * more `$`, so that it differs from that mark and from forms.
 */
export type WholeValue = ExactValue;

export interface Blobs {
  /** Null if the bytes were erased. */
  load(sha256: string): Promise<Uint8Array | null>;
  /** Called for bytes, which are not loaded. */
  onBytes?(ref: BlobRef): void;
}

/** The limit of all values of one text, because they are in memory together. */
const maxBytes = 256 * 1024 * 1024;

/** Reads a recorded value from its JSON text. Throws `InvalidInput` if a part of it was erased. */
export async function wholeValue(json: string, { load, onBytes }: Blobs): Promise<WholeValue> {
  let left = maxBytes;
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    // The reference's own numbers are not user data, so they may lose digits.
    const ref = "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
    if (!ref) return mapMembers(value, visit, keyInTest);
    if (ref.type === "bytes") {
      onBytes?.(ref);
      return { $file: ref.sha256 };
    }
    left -= ref.bytes;
    if (left < 0)
      throw new InvalidInput(`a value has more than ${maxBytes} bytes (256 MB) - it is too large for a test`);
    const bytes = await load(ref.sha256);
    if (bytes === null) throw new InvalidInput("contents of the execution were erased - record another execution");
    demandContent(ref, bytes);
    const text = Buffer.from(bytes).toString();
    return ref.type === "text" ? text : mapValue(parseExact(text), visit);
  };
  return mapValue(parseExact(json), visit);
}

/** In a record a key that looks like a reference has one more `$`. */
function keyInTest(key: string): string {
  const plain = /^\$\$+blob$/.test(key) ? key.slice(1) : key;
  return plain.startsWith("$") ? `$${plain}` : plain;
}

/** The JSON text for a run; `bytesAs` replaces bytes. */
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
