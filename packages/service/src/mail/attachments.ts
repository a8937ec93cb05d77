import type { Attachment, Email } from "postal-mime";
import { fileNameIn } from "../triggers/start.ts";
import { guardProblem, largestMailBytes, textLoad } from "./guard.ts";

export interface MailAttachment {
  name: string;
  /** The media type that the sender states, such as `application/pdf`. */
  type: string;
  bytes: Uint8Array;
  /**
   * Name of the attached mail or `winmail.dat` that contains this attachment; null for an attachment of the mail
   * itself.
   */
  inside: string | null;
}

const maxAttachments = 1_000;
/** Maximum depth of nested mails. Attached mails that are nested deeper are not unpacked. */
const maxDepth = 5;
/**
 * Limits for all attached mails together, because each level of nested mails unpacks the bytes of its inner mails
 * again.
 */
const maxUnpackedBytes = 2 * largestMailBytes;
const maxUnpackedTextBytes = 5 * 1024 * 1024;

/** Parses an attached mail, but not the mails inside that mail. */
type ReadMail = (raw: Uint8Array) => Promise<Pick<Email, "attachments">>;

interface Budget {
  bytes: number;
  textBytes: number;
}

/**
 * Unpacks the attachments of a mail. In the result, the files of an attached mail or of a `winmail.dat` follow that
 * attachment. Attachments that cannot be unpacked within the limits are only listed. Throws a `RangeError` for more
 * than 1,000 attachments in all.
 */
export async function readAttachments(attachments: readonly Attachment[], read: ReadMail): Promise<MailAttachment[]> {
  const all: MailAttachment[] = [];
  const budget = { bytes: maxUnpackedBytes, textBytes: maxUnpackedTextBytes };
  for await (const one of unpackAttachments(attachments, { read, budget, inside: null, depth: 0 })) {
    all.push(one);
    if (all.length > maxAttachments) {
      throw new RangeError(`it has more than ${maxAttachments} attachments - send them in several mails`);
    }
  }
  return all;
}

interface Unpacking {
  read: ReadMail;
  budget: Budget;
  inside: string | null;
  depth: number;
}

async function* unpackAttachments(attachments: readonly Attachment[], at: Unpacking): AsyncIterable<MailAttachment> {
  for (const [index, attachment] of attachments.entries()) {
    const one = attachmentOf(attachment, index, at.inside);
    yield one;
    if (at.depth === maxDepth) continue;
    const deeper = { ...at, inside: one.name, depth: at.depth + 1 };
    if (isMail(one.type)) yield* unpackAttachments(await attachmentsIn(one.bytes, at), deeper);
    else if (isTnef(one.bytes)) yield* unpackAttachments(tnefAttachments(one.bytes, at.budget), deeper);
  }
}

/** Returns whether `type` is a media type of mails. A `message/global` is a mail with UTF-8 headers (RFC 6532). */
function isMail(type: string): boolean {
  return type === "message/rfc822" || type === "message/global";
}

async function attachmentsIn(bytes: Uint8Array, { read, budget }: Unpacking): Promise<Attachment[]> {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (guardProblem(raw) !== undefined || !spend(budget, raw.length, textLoad(raw).textBytes)) return [];
  try {
    return (await read(raw)).attachments;
  } catch {
    // An unreadable mail adds no attachments. The mail itself stays in the list, so its content is not lost.
    return [];
  }
}

function tnefAttachments(bytes: Uint8Array, budget: Budget): Attachment[] {
  if (!spend(budget, bytes.length, 0)) return [];
  return readTnef(bytes).map(({ name, type, bytes }) => {
    return { filename: name, mimeType: type, disposition: "attachment", content: bytes };
  });
}

function spend(budget: Budget, bytes: number, textBytes: number): boolean {
  if (bytes > budget.bytes || textBytes > budget.textBytes) return false;
  budget.bytes -= bytes;
  budget.textBytes -= textBytes;
  return true;
}

function attachmentOf({ filename, mimeType, content }: Attachment, index: number, inside: string | null) {
  const name = fileNameIn((filename ?? "").toWellFormed()) || `attachment-${index + 1}`;
  const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
  const type = mimeType || "application/octet-stream";
  return { name, type, bytes, inside };
}

const signature = 0x223e9f78;
const attachmentLevel = 2;
/**
 * Ids of the attributes of an attachment. The attribute `renderingData` comes first, so it marks the start of the next
 * attachment.
 */
const renderingData = 0x00069002;
const title = 0x00018010;
const data = 0x0006800f;
const properties = 0x00069005;
/**
 * MAPI properties: the bytes, the full name (the title holds only eight letters and an extension), and the media type.
 */
const dataObject = 0x3701;
const longFileName = 0x3707;
const mimeTag = 0x370e;

const headBytes = 6;
const attributeHeadBytes = 9;
const checksumBytes = 2;

export function isTnef(bytes: Uint8Array): boolean {
  return bytes.length >= headBytes && viewOf(bytes).getUint32(0, true) === signature;
}

/**
 * Reads the files in a `winmail.dat`. Outlook sends attachments in this format (TNEF) to programs that cannot read it.
 * If the file is truncated, the function returns only the attachments whose bytes are complete. `type` is empty if the
 * stream names none. Source: Microsoft, [MS-OXTNEF] 2.1.
 */
export function readTnef(bytes: Uint8Array): Omit<MailAttachment, "inside">[] {
  const files: { title: string; properties: ReadonlyMap<number, Property>; bytes?: Uint8Array }[] = [];
  for (const { id, value } of attributes(bytes)) {
    const file = files.at(-1);
    if (id === renderingData) files.push({ title: "", properties: new Map() });
    else if (file === undefined) continue;
    else if (id === title) file.title = textOf(value, "windows-1252");
    else if (id === data) file.bytes = value;
    else if (id === properties) file.properties = new Map(variableProperties(value));
  }
  return files.flatMap(({ title, properties, bytes = bytesOf(properties.get(dataObject)) }) => {
    const name = textOfProperty(properties.get(longFileName)) || title;
    return bytes ? [{ name, type: textOfProperty(properties.get(mimeTag)), bytes }] : [];
  });
}

/** A MAPI property with a value of any length. */
interface Property {
  type: number;
  value: Uint8Array;
}

function textOfProperty({ type, value }: Property = { type: text8, value: new Uint8Array() }): string {
  return textOf(value, type === text16 ? "utf-16le" : "windows-1252");
}

/**
 * Returns the bytes of a property. The bytes of an object follow the GUID of its interface. An embedded message is
 * itself a TNEF stream.
 */
function bytesOf(property: Property | undefined): Uint8Array | undefined {
  return property?.type === object ? property.value.subarray(guidBytes) : property?.value;
}

function* attributes(bytes: Uint8Array): Iterable<{ id: number; value: Uint8Array }> {
  if (!isTnef(bytes)) return;
  const view = viewOf(bytes);
  for (let start = headBytes; start + attributeHeadBytes <= bytes.length; ) {
    const from = start + attributeHeadBytes;
    const to = from + view.getUint32(start + 5, true);
    if (to + checksumBytes > bytes.length) return;
    const value = bytes.subarray(from, to);
    if (bytes[start] === attachmentLevel) yield { id: view.getUint32(start + 1, true), value };
    start = to + checksumBytes;
  }
}

/** Yields texts, bytes and objects among MAPI properties ([MS-OXTNEF] 2.1.3.4), up to the first one of unknown size. */
function* variableProperties(bytes: Uint8Array): Iterable<[id: number, property: Property]> {
  const view = viewOf(bytes);
  for (let at = 4; at + 8 <= bytes.length; ) {
    const [type, id] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    // The name of a named property comes before its value.
    at += id >= firstNamed ? namedHeadBytes(view, at + 4) : 4;
    const fixed = fixedBytes[type];
    if (fixed !== undefined) {
      at += fixed;
      continue;
    }
    // Before a value of variable size come the number of values, which is 1, and the length of the value.
    if (!variableTypes.has(type) || at + 8 > bytes.length || view.getUint32(at, true) !== 1) return;
    const [from, length] = [at + 8, view.getUint32(at + 4, true)];
    if (from + length > bytes.length) return;
    yield [id, { type, value: bytes.subarray(from, from + length) }];
    at = from + padded(length);
  }
}

const firstNamed = 0x8000;
const guidBytes = 16;

/** Returns the length of a named property's type, id, GUID, and number or name. */
function namedHeadBytes(view: DataView, guidAt: number): number {
  if (guidAt + 24 > view.byteLength) return view.byteLength;
  const isName = view.getUint32(guidAt + guidBytes, true) === 1;
  return 4 + guidBytes + 4 + 4 + (isName ? padded(view.getUint32(guidAt + 20, true)) : 0);
}

const padded = (length: number) => Math.ceil(length / 4) * 4;

/** Sizes of fixed-size MAPI values by type, padded to four bytes. */
const fixedBytes: Record<number, number> = { 2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 10: 4, 11: 4, 20: 8, 64: 8, 72: 16 };
const text8 = 0x1e;
const text16 = 0x1f;
const object = 0x0d;
const variableTypes = new Set([text8, text16, 0x102, object]);

function textOf(bytes: Uint8Array, encoding: "windows-1252" | "utf-16le"): string {
  return new TextDecoder(encoding).decode(bytes).split("\0", 1)[0] ?? "";
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
