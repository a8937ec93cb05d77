import {
  asWritten,
  type BlobHome,
  BlobMissing,
  Context,
  membersOf,
  objectText,
  type Ports,
  RawJson,
  wholeValue,
} from "@nova/engine";

/** AWS Lambda answers at most 6 MB; what else is in an answer needs room, too. */
const mostBytes = 4 * 1024 * 1024;

/**
 * A context with the texts and the JSON that lie in blobs put in their places, as far as there is room. Bytes, what is
 * too large and what was erased stay references: `{"$blob": {sha256, bytes, type}}`. Own keys are as they were written.
 */
export async function wholeContext(
  { blobs }: Pick<Ports, "blobs">,
  { client, root }: BlobHome,
  { text }: RawJson,
): Promise<RawJson> {
  if (!text.includes('"$blob"')) return asWritten(new RawJson(text));
  let left = mostBytes - Buffer.byteLength(text);
  const members = membersOf(text);
  const context = new Context(members.map((member) => ({ ...member, by: 0 })));
  const whole = [];
  for (const { key, json } of members) {
    const value = json.includes('"$blob"')
      ? await unlessErased(() => wholeValue(context, key, left, { home: { client, root }, blobs }))
      : null;
    if (value !== null) left -= Buffer.byteLength(value);
    whole.push({ key, json: value ?? json });
  }
  return asWritten(new RawJson(objectText(whole)));
}

/** Nothing either of what earlier releases took for JSON and is none. */
async function unlessErased(load: () => Promise<string | null>): Promise<string | null> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof BlobMissing || error instanceof SyntaxError) return null;
    throw error;
  }
}
