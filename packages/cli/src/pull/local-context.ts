import { asReference, type ExactValue, parseExact } from "@nova/engine";
import { demandContent } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { type ExactObject, mapMembers, mapObjects, mapped } from "../input/exact.ts";

/** A file that a context names by `{"$file": path}`, beside it. */
export interface ContextFile {
  path: string;
  bytes: Uint8Array;
}

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** All values together: they are in memory until they are written. */
const maxBytes = 1024 * 1024 * 1024;

/** As `nova run --context` reads it: blobs in their places, bytes as files beside it, null for what was erased. */
export async function localContext(text: string, load: Load): Promise<{ text: string; files: ContextFile[] }> {
  const files = new Map<string, ContextFile>();
  let bytesLeft = maxBytes;
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    // Its numbers are no values of a user: they need not keep their digits.
    const ref = "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
    if (!ref) return mapMembers(value, visit, plainKey);
    bytesLeft -= Math.max(0, ref.bytes);
    if (bytesLeft < 0) throw new InvalidInput(`the context has more than ${maxBytes} bytes (1 GB) - it is not pulled`);
    const bytes = await load(ref.sha256);
    if (bytes === null) return null;
    demandContent(ref, bytes);
    if (ref.type === "text") return Buffer.from(bytes).toString();
    if (ref.type === "json") return mapped(parseExact(Buffer.from(bytes).toString()), visit);
    const path = `files/${ref.sha256.slice(0, 16)}`;
    files.set(path, { path, bytes });
    return { $file: path };
  };
  return { text: `${await mapObjects(text, visit, 2)}\n`, files: [...files.values()] };
}

/** Keys that only look like marks carry one `$` more, here as in the chain. */
function plainKey(key: string): string {
  if (/^\$\$+blob$/.test(key)) return key.slice(1);
  return /^\$+file$/.test(key) ? `$${key}` : key;
}
