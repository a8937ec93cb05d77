/** An element of DER: its tag byte, its whole encoding, and its contents. */
export interface DerElement {
  tag: number;
  encoding: Buffer;
  contents: Buffer;
}

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bytes: 0x04,
  oid: 0x06,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** The ASN.1 tag `[0]`, whose contents are another element. */
  first: 0xa0,
} as const;

/** The bytes are not the DER that the reader expects. */
export class NotDer extends Error {
  override name = "NotDer";
}

/** Reads all elements in `bytes`, and none of those inside them. Throws `NotDer`. */
export function readDer(bytes: Buffer): DerElement[] {
  const found: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { start, end } = spanAt(bytes, at);
    const tag = bytes.readUInt8(at);
    found.push({ tag, encoding: bytes.subarray(at, end), contents: bytes.subarray(start, end) });
    at = end;
  }
  return found;
}

/** Returns the contents of an element with this tag. Throws `NotDer` for another element. */
export function contentsOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag === tag) return element.contents;
  throw new NotDer(`an element has the tag ${element?.tag}, not ${tag}`);
}

/** Returns where the contents of the element at `at` start and end. Lengths have at most four bytes, as few as possible. */
function spanAt(bytes: Buffer, at: number): { start: number; end: number } {
  const lengthByte = bytes[at + 1];
  if (lengthByte === undefined) throw new NotDer("an element has no length");
  const count = lengthByte < 0x80 ? 0 : lengthByte & 0x7f;
  const start = at + 2 + count;
  if (count > 4 || lengthByte === 0x80 || start > bytes.length) throw new NotDer("the length of an element is not DER");
  const length = count === 0 ? lengthByte : bytes.readUIntBE(at + 2, count);
  const isShortest = count === 0 || length >= (count === 1 ? 0x80 : 2 ** (8 * (count - 1)));
  if (!isShortest || start + length > bytes.length) throw new NotDer("the length of an element is not DER");
  return { start, end: start + length };
}

/** Encodes an element. `contents` has less than 128 bytes. */
export function derOf(tag: number, ...contents: Uint8Array[]): Buffer {
  const bytes = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, bytes.length), bytes]);
}
