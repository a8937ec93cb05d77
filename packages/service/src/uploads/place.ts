import { type BlobHome, membersOf, newFileMark, objectText, type StartFile } from "@nova/engine";
import { Conflict, Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";

/**
 * `{"$upload": id}`, anywhere in JSON text, whatever the id is. It can only be an object: inside of a string every quote
 * has a backslash before it.
 */
const named = /\{\s*"\$upload"\s*:\s*"((?:[^"\\]|\\.)*)"\s*\}/g;
const aloneNamed = new RegExp(`^${named.source}$`);
const idPattern = /^upl_[0-9A-HJKMNP-TV-Z]{26}$/;
/** Characters of what is no id, as far as a sentence quotes it. */
const longestQuoted = 40;

type Placed = { sha256: string; bytes: number };

/**
 * Makes the uploads that a context names blobs of the execution, and puts marks in their places. What is the value of a
 * key at top level is a file of that name, of which the inputs' schema says nothing. Throws `Refused`, in the same words
 * for an upload that is not there and one of another client; `Conflict` where nothing has come yet.
 */
export async function placeUploads(
  ports: Pick<ServicePorts, "uploads" | "clock">,
  home: BlobHome,
  context: string,
): Promise<{ context: string; files: StartFile[] }> {
  const ids = new Set(Array.from(context.matchAll(named), ([, id = ""]) => id));
  if (ids.size === 0) return { context, files: [] };
  const placed = new Map<string, Placed>();
  for (const id of ids) placed.set(id, await placeUpload(ports, home, id));
  const files: StartFile[] = [];
  const rest = membersOf(context).flatMap(({ key, json }) => {
    const whole = placed.get(aloneNamed.exec(json)?.[1] ?? "");
    if (whole) files.push({ key, ...whole });
    return whole
      ? []
      : [{ key, json: json.replaceAll(named, (_, id: string) => marked(placed.get(id) as Placed, files)) }];
  });
  return { context: objectText(rest), files };
}

function marked(placed: Placed, files: StartFile[]): string {
  const mark = newFileMark();
  files.push({ mark, ...placed });
  return JSON.stringify(mark);
}

async function placeUpload(
  { uploads, clock }: Pick<ServicePorts, "uploads" | "clock">,
  home: BlobHome,
  id: string,
): Promise<Placed> {
  const upload = idPattern.test(id) ? await uploads.get(id) : undefined;
  if (!upload || upload.client !== home.client || upload.expiresAt * 1000 < clock.now()) {
    throw new Refused(
      `there is no upload "${id.slice(0, longestQuoted)}" - POST /uploads, and send the bytes to the address that it answers`,
    );
  }
  const placed = await uploads.place(upload, home);
  if (!placed) throw new Conflict(`nothing has come for upload "${id}" - send its bytes to its address first`);
  if (placed.bytes === upload.bytes) return placed;
  throw new Refused(`upload "${id}" has ${placed.bytes} bytes, ${upload.bytes} were said - POST /uploads again`);
}
