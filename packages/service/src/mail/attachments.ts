import type { Attachment, Email } from "postal-mime";
import { fileNameIn } from "../triggers/file-name.ts";
import { guardProblem, largestMailBytes, textLoad } from "./guard.ts";
import { isTnef, readTnef } from "./tnef.ts";

export interface MailAttachment {
  name: string;
  /** The media type that the sender states, such as `application/pdf`. */
  type: string;
  bytes: Uint8Array;
  /** Name of the attached mail or `winmail.dat` that holds it; null for an attachment of the mail itself. */
  inside: string | null;
}

const maxAttachments = 1_000;
/** Attached mails deeper than this stay packed. */
const maxDepth = 5;
/** Limits of all attached mails together, since each may contain all of the next one. */
const maxUnpackedBytes = 2 * largestMailBytes;
const maxUnpackedTextBytes = 5 * 1024 * 1024;

/** Parses an attached mail; mails inside it stay attachments. */
type ReadMail = (raw: Uint8Array) => Promise<Pick<Email, "attachments">>;

/** The remainder of the limits. */
interface Budget {
  bytes: number;
  textBytes: number;
}

/**
 * Unpacks the attachments of a mail. The files of an attached mail or of a `winmail.dat` follow it. Attachments that
 * cannot be unpacked within the limits stay packed. Throws a `RangeError` for more than 1,000 attachments in all.
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

/** RFC 6532: a `message/global` is a mail with UTF-8 headers. */
function isMail(type: string): boolean {
  return type === "message/rfc822" || type === "message/global";
}

/** Empty if the attached mail exceeds the limits or cannot be read. */
async function attachmentsIn(bytes: Uint8Array, { read, budget }: Unpacking): Promise<Attachment[]> {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (guardProblem(raw) !== undefined || !spend(budget, raw.length, textLoad(raw).textBytes)) return [];
  try {
    return (await read(raw)).attachments;
  } catch {
    // The attached mail itself stays in the list, so its content is not lost.
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

function attachmentOf(
  { filename, mimeType, content }: Attachment,
  index: number,
  inside: string | null,
): MailAttachment {
  const name = fileNameIn((filename ?? "").toWellFormed()) || `attachment-${index + 1}`;
  const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
  const type = mimeType || "application/octet-stream";
  return { name, type, bytes, inside };
}
