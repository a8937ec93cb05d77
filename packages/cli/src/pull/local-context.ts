import { asReference, type ExactValue, parseExact } from "@nova/engine";
import { demandContent } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { type ExactObject, mapMembers, mapObjects, mapValue } from "../input/exact.ts";

/** A file that a context names by `{"$file": path}`, relative to the context file. */
export interface ContextFile {
  path: string;
  bytes: Uint8Array;
}

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** The limit of all values together, because they are in memory until they are written. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * Converts a recorded context for `nova run --context`: texts and JSON in their places, bytes as files, null for erased
 * values.
 */
export async function buildLocalContext(text: string, load: Load): Promise<{ text: string; files: ContextFile[] }> {
  const files = new Map<string, ContextFile>();
  let bytesLeft = maxBytes;
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    // The reference's own numbers are not user data, so they may lose digits.
    const ref = "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
    if (!ref) return mapMembers(value, visit, plainKey);
    bytesLeft -= Math.max(0, ref.bytes);
    if (bytesLeft < 0)
      throw new InvalidInput(`the context has more than ${maxBytes} bytes (1 GB) - it is too large to pull`);
    const bytes = await load(ref.sha256);
    if (bytes === null) return null;
    demandContent(ref, bytes);
    if (ref.type === "text") return Buffer.from(bytes).toString();
    if (ref.type === "json") return mapValue(parseExact(Buffer.from(bytes).toString()), visit);
    const path = `files/${ref.sha256.slice(0, 16)}`;
    files.set(path, { path, bytes });
    return { $file: path };
  };
  return { text: `${await mapObjects(text, visit, 2)}\n`, files: [...files.values()] };
}

/** In a record a key that looks like a mark has one more `$`; a context file has the same rule for `$file`. */
function plainKey(key: string): string {
  if (/^\$\$+blob$/.test(key)) return key.slice(1);
  return /^\$+file$/.test(key) ? `$${key}` : key;
}
